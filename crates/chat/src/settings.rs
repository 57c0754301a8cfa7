//! What the configuration says while the bot runs. Who is let in counts at once. Anything else, or another token, has
//! the bot begin anew.

use crate::home;
use crate::policy::Policy;
use crate::telegram::{Token, read_token};
use crate::thread::{failed, locked};
use glis_config::{Config, Mark, TelegramConfig};
use glis_verbs::Complaint;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

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
    /// What is wrong with the file; then what it said before counts.
    fault: Option<String>,
}

impl Settings {
    /// Reads the configuration and the token, to begin with.
    pub(crate) fn open(file: PathBuf, credentials: Option<PathBuf>) -> Result<Self, Complaint> {
        let mark = Mark::of(&file);
        let config = Config::read(&file);
        let config = config
            .map_err(|fault| failed(fault.to_string(), "`glis config check` has more"))?
            .chat
            .telegram;
        let policy = Arc::new(policy(&config));
        if policy.is_nobodys() {
            let hint = "set `allowed_users` in [chat.telegram] to your number";
            return Err(failed("no user may use the bot", hint));
        }
        let token = token(&config, credentials.as_deref())?;
        let begun = (config.clone(), token);
        let held = Mutex::new(Held { mark, config, policy, fault: None });
        Ok(Self { file, credentials, begun, held })
    }

    pub(crate) fn begun(&self) -> &(TelegramConfig, Token) {
        &self.begun
    }

    /// Who is let in now.
    pub(crate) fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.look().policy)
    }

    /// What is wrong, while the bot goes on.
    pub(crate) fn trouble(&self) -> Option<String> {
        let held = self.look();
        let nobody = held.policy.is_nobodys().then(|| "no user may use the bot".to_owned());
        held.fault.clone().map(|fault| format!("{fault}; what it said before counts")).or(nobody)
    }

    /// Whether something else is said than the bot was begun with, and it can begin with that.
    pub(crate) fn wants_anew(&self) -> bool {
        let (begun, known) = &self.begun;
        self.next().is_some_and(|(config, token)| {
            token != *known || without_lists(&config) != without_lists(begun)
        })
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
        let mut held = locked(&self.held);
        let mark = Mark::of(&self.file);
        if mark == held.mark {
            return held;
        }
        held.mark = mark;
        match Config::read(&self.file) {
            Ok(config) => {
                held.fault = None;
                held.config = config.chat.telegram;
                held.policy = Arc::new(policy(&held.config));
            }
            Err(fault) => held.fault = Some(fault.to_string()),
        }
        held
    }
}

fn policy(config: &TelegramConfig) -> Policy {
    Policy::new(&config.allowed_users, &config.allowed_chats)
}

fn token(config: &TelegramConfig, credentials: Option<&Path>) -> Result<Token, Complaint> {
    let file = config.token_file.as_deref().map(home::expand);
    let read = read_token(file.as_deref(), credentials);
    read.map_err(|fault| {
        failed(fault.to_string(), "docs/chat.md has how to get a token, in a minute")
    })
}

fn without_lists(config: &TelegramConfig) -> TelegramConfig {
    let (allowed_users, allowed_chats) = (Vec::new(), Vec::new());
    TelegramConfig { allowed_users, allowed_chats, ..config.clone() }
}

#[cfg(test)]
mod tests;
