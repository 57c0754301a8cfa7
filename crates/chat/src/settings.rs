//! What the configuration says while the bot runs. Who is let in counts at once. Anything else, or another token, has
//! the bot begin anew.

use crate::home;
use crate::policy::{Lists, Policy};
use crate::telegram::{Token, read_token};
use crate::time;
use crate::told::Told;
use glis_config::{Config, Mark, TelegramConfig};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// An editor may write a file in several goes: what is not on a list is forgotten only when the list has stayed.
const STAYS: Duration = Duration::from_secs(10);

/// The configuration as its file has it.
pub(crate) struct Settings {
    file: PathBuf,
    /// Where systemd puts a token.
    credentials: Option<PathBuf>,
    /// What the bot was begun with.
    begun: (TelegramConfig, Token),
    held: Mutex<Held>,
}

struct Held {
    mark: Mark,
    config: TelegramConfig,
    policy: Arc<Policy>,
    /// Who was let in before the lists became others, and when they last did, until they have stayed.
    before: Option<(Arc<Policy>, Duration)>,
    /// What is wrong with the file; then what it said before counts.
    fault: Option<String>,
}

impl Settings {
    /// Reads the configuration and the token, to begin with.
    pub(crate) fn open(file: PathBuf, credentials: Option<PathBuf>) -> Result<Self, Told> {
        let mark = Mark::of(&file);
        let config = Config::read(&file);
        let config = config
            .map_err(|fault| Told::new(&fault.to_string(), "`glis config check` has more"))?
            .chat
            .telegram;
        let policy = policy(&config);
        if policy.is_nobodys() {
            let hint = "set `allowed_users` in [chat.telegram] to your number";
            return Err(Told::new("no user may use the bot", hint));
        }
        let token = token(&config, credentials.as_deref())?;
        let begun = (config.clone(), token);
        let (policy, fault) = (Arc::new(policy), None);
        // Who was let in by an earlier process is not known here: it is as if the lists had just changed.
        let before = Some((Arc::clone(&policy), time::passed()));
        let held = Mutex::new(Held { mark, config, policy, before, fault });
        Ok(Self { file, credentials, begun, held })
    }

    /// What the bot was begun with.
    pub(crate) fn begun(&self) -> &(TelegramConfig, Token) {
        &self.begun
    }

    /// Who is let in now, and was a moment ago.
    pub(crate) fn lists(&self) -> Lists {
        let held = self.look();
        let before = held.before.as_ref().filter(|_| !held.have_stayed());
        Lists {
            now: Arc::clone(&held.policy),
            before: before.map(|(policy, _)| Arc::clone(policy)),
        }
    }

    /// What is wrong, while the bot goes on.
    pub(crate) fn trouble(&self) -> Option<String> {
        let held = self.look();
        let nobody = held.policy.is_nobodys().then(|| "no user may use the bot".to_owned());
        held.fault.clone().map(|fault| format!("{fault}; what it said before counts")).or(nobody)
    }

    /// Whether the lists have changed and stayed so since, until that is heeded.
    pub(crate) fn has_other_lists(&self) -> bool {
        self.look().have_stayed()
    }

    /// Lists that have changed and stayed were heeded.
    pub(crate) fn heed_lists(&self) {
        let mut held = self.look();
        if held.have_stayed() {
            held.before = None;
        }
    }

    /// Whether something else is said than the bot was begun with, and it can begin with that.
    pub(crate) fn wants_anew(&self) -> bool {
        let (begun, known) = &self.begun;
        let is_other = |(config, token): &(TelegramConfig, Token)| {
            token != known || without_lists(config) != without_lists(begun)
        };
        self.next().is_some_and(|next| is_other(&next))
    }

    /// Whether a bot can begin with what is said now.
    pub(crate) fn can_begin(&self) -> bool {
        self.next().is_some()
    }

    /// What a bot would begin with now, if it could.
    fn next(&self) -> Option<(TelegramConfig, Token)> {
        let held = self.look();
        if held.policy.is_nobodys() || held.fault.is_some() {
            return None;
        }
        let config = held.config.clone();
        drop(held);
        let token = token(&config, self.credentials.as_deref()).ok()?;
        Some((config, token))
    }

    /// Reads the file if it is another one than before.
    fn look(&self) -> MutexGuard<'_, Held> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let mark = Mark::of(&self.file);
        if mark == held.mark {
            return held;
        }
        held.mark = mark;
        match Config::read(&self.file) {
            Ok(config) => {
                held.fault = None;
                held.config = config.chat.telegram;
                let policy = policy(&held.config);
                if policy != *held.policy {
                    let former = std::mem::replace(&mut held.policy, Arc::new(policy));
                    // Of several goes the lists before the first count.
                    let former = held.before.take().map_or(former, |(before, _)| before);
                    held.before = Some((former, time::passed()));
                }
            }
            Err(fault) => held.fault = Some(fault.to_string()),
        }
        held
    }
}

impl Held {
    /// Whether the lists have changed, and then stayed for long enough.
    fn have_stayed(&self) -> bool {
        let age = |at: Duration| time::passed().saturating_sub(at);
        self.before.as_ref().is_some_and(|(_, at)| age(*at) >= STAYS)
    }
}

fn policy(config: &TelegramConfig) -> Policy {
    Policy::new(&config.allowed_users, &config.allowed_chats).unwrap_or_else(Policy::nobody)
}

fn token(config: &TelegramConfig, credentials: Option<&Path>) -> Result<Token, Told> {
    let file = config.token_file.as_deref().map(home::expand);
    let read = read_token(file.as_deref(), credentials);
    read.map_err(|fault| {
        Told::new(&fault.to_string(), "README has how to get a token, in a minute")
    })
}

fn without_lists(config: &TelegramConfig) -> TelegramConfig {
    let (allowed_users, allowed_chats) = (Vec::new(), Vec::new());
    TelegramConfig { allowed_users, allowed_chats, ..config.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    struct Files(tempfile::TempDir);

    impl Files {
        fn new() -> Self {
            let files = Self(tempfile::tempdir().unwrap());
            files.write("allowed_users = [7]");
            files.token('a');
            files
        }

        fn write(&self, keys: &str) {
            let token = self.0.path().join("token");
            let text = format!("[chat.telegram]\ntoken_file = '{}'\n{keys}\n", token.display());
            // Another file each time: two within a moment have the same times.
            std::fs::write(self.0.path().join("fresh"), text).unwrap();
            std::fs::rename(self.0.path().join("fresh"), self.config()).unwrap();
        }

        fn token(&self, letter: char) {
            let path = self.0.path().join("token");
            let token = format!("123456789:{}", letter.to_string().repeat(35));
            std::fs::write(&path, token).unwrap();
            std::fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
        }

        fn config(&self) -> PathBuf {
            self.0.path().join("config.toml")
        }

        fn open(&self) -> Result<Settings, Told> {
            Settings::open(self.config(), None)
        }
    }

    #[test]
    fn who_is_let_in_counts_at_once_and_a_broken_file_changes_nothing() {
        let files = Files::new();
        let settings = files.open().unwrap();
        let speaks = |chat| settings.lists().now.speaks_in(chat);
        assert!(speaks(7) && !speaks(8));
        files.write("allowed_users = [8]\nallowed_chats = [-5]");
        assert!(!speaks(7) && speaks(8) && speaks(-5));
        assert!(!settings.wants_anew() && settings.trouble().is_none());
        files.write("allowed_users = nobody");
        assert!(speaks(8) && settings.trouble().is_some());
        assert!(!settings.wants_anew());
        // As an editor leaves it for a moment.
        std::fs::write(files.config(), "").unwrap();
        assert!(!speaks(8) && !speaks(-5) && !settings.wants_anew());
        assert_eq!(settings.trouble().as_deref(), Some("no user may use the bot"));
        assert!(!settings.has_other_lists(), "it has not stayed so");
        assert!(settings.lists().before.is_some_and(|before| before.speaks_in(7)));
        files.write("allowed_users = [7]");
        assert!(speaks(7) && settings.trouble().is_none());
    }

    #[test]
    fn with_anything_else_it_begins_anew_if_it_can() {
        let files = Files::new();
        let settings = files.open().unwrap();
        files.write("allowed_users = [7]\nrepo = '/other'");
        assert!(settings.wants_anew());
        files.write("allowed_users = []\nrepo = '/other'");
        assert!(!settings.wants_anew(), "there is nobody to begin for");
        files.write("allowed_users = [7]");
        assert!(!settings.wants_anew());
        files.token('b');
        assert!(settings.wants_anew());
        std::fs::remove_file(files.0.path().join("token")).unwrap();
        assert!(!settings.wants_anew(), "there is nothing to begin with");
        assert!(files.open().is_err_and(|told| told.message.contains("cannot be read")));
    }
}
