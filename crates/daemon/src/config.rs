//! The configuration file: what may be set, and what holds without it.

use glis_agent::context::Form;
use glis_core::pause::OnTimeout;
use glis_core::safe::Patterns;
use glis_snapshot::Keep;
use glis_wire::hold::Children;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Why a snapshot at the end of a turn was taken. Only these are ever thinned out.
pub(crate) const TURN_ENDED: &str = "a turn ended";

/// Larger files are no configuration.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// A terabyte of output for one session is a typing error.
const MEGABYTES_MAX: u64 = 1_000_000;

/// Everything that can be set. Unknown keys are refused, so that a typing error is not silence.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    pub(crate) default_agent: Option<String>,
    pub(crate) worktree: WorktreeConfig,
    pub(crate) pause: PauseConfig,
    pub(crate) screen: ScreenConfig,
    pub(crate) output: OutputConfig,
    pub(crate) snapshot: SnapshotConfig,
    pub(crate) trash: TrashConfig,
    pub(crate) command: CommandConfig,
    pub(crate) resume: ResumeConfig,
    /// What fresh worktrees get, by the path of the repository.
    pub(crate) repository: BTreeMap<String, RepositoryConfig>,
    /// Manners that `new --persona` gives to an agent, by name.
    pub(crate) persona: BTreeMap<String, Persona>,
}

/// A manner that an agent is given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Persona {
    pub(crate) agent: Option<String>,
    pub(crate) model: Option<String>,
    /// Words added to the agent's own instructions.
    pub(crate) system_prompt: Option<String>,
    /// What the agent may do unasked, in its own words.
    pub(crate) permission_mode: Option<String>,
    /// Further arguments, before those of `new`.
    pub(crate) args: Vec<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct CommandConfig {
    /// A command that is resumed is told what was said and done before.
    pub(crate) resume_prompt: bool,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ResumeConfig {
    /// How much an agent is told that does not remember: `restart --with-context`, and commands.
    pub(crate) prompt: Form,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct WorktreeConfig {
    /// What a session's branch is called, before its name.
    pub(crate) branch_prefix: String,
    /// Folder for worktrees; the usual one if unset.
    pub(crate) place: Option<String>,
    /// Ignored files that every fresh worktree gets a copy of.
    pub(crate) copy: Vec<String>,
    /// Ignored files or folders that every fresh worktree gets a link to.
    pub(crate) link: Vec<String>,
    /// How long a set-up command may take.
    pub(crate) setup_secs_max: u32,
}

/// What fresh worktrees of one repository get beside what all get.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RepositoryConfig {
    pub(crate) copy: Vec<String>,
    pub(crate) link: Vec<String>,
    /// A command for the shell, run in the fresh worktree.
    pub(crate) setup: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SnapshotConfig {
    /// Whether running sessions are saved when a turn ends.
    pub(crate) at_turn_end: bool,
    /// How much time passes at least between two of those.
    pub(crate) gap_secs: u64,
    /// Larger files are listed and not kept.
    pub(crate) file_megabytes_max: u64,
    /// So many of the latest stay, however old they are.
    pub(crate) keep_latest: usize,
    /// Of the others, those younger than this,
    pub(crate) keep_days: u64,
    /// up to so many in all.
    pub(crate) keep_max: usize,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TrashConfig {
    /// How long what was removed is kept at least.
    pub(crate) days: u32,
}

/// What a fresh worktree of one repository gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Provisions {
    pub(crate) copy: Vec<String>,
    pub(crate) link: Vec<String>,
    pub(crate) setup: Option<String>,
    pub(crate) setup_secs_max: u32,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PauseConfig {
    /// How long an interrupted agent may take to come to a safe state.
    pub(crate) safe_state_secs: u64,
    /// How long it may take after SIGINT.
    pub(crate) interrupt_secs: u32,
    /// How long it may take after SIGTERM.
    pub(crate) terminate_secs: u32,
    /// What becomes of a pause whose safe state does not come in time.
    pub(crate) on_timeout: OnTimeout,
    /// Whether a pause removes the worktree, where a snapshot holds all of it.
    pub(crate) remove_worktree: bool,
    /// How long each step of a pause may take (the screen, the snapshot) before it is called off.
    pub(crate) save_secs: u32,
    /// The same for a forced pause, which goes on without it.
    pub(crate) force_secs: u32,
    /// What becomes of the processes that an agent has started.
    pub(crate) children: Children,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ScreenConfig {
    pub(crate) prompts: Option<Vec<String>>,
    pub(crate) questions: Option<Vec<String>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OutputConfig {
    /// Megabytes of raw output kept per session.
    pub(crate) megabytes_max: u64,
}

impl Default for WorktreeConfig {
    fn default() -> Self {
        Self {
            branch_prefix: "glis/".to_owned(),
            place: None,
            copy: Vec::new(),
            link: Vec::new(),
            setup_secs_max: 600,
        }
    }
}

impl Default for PauseConfig {
    fn default() -> Self {
        Self {
            safe_state_secs: 30,
            interrupt_secs: 5,
            terminate_secs: 5,
            on_timeout: OnTimeout::Refuse,
            remove_worktree: false,
            save_secs: 300,
            force_secs: 30,
            children: Children::StopAll,
        }
    }
}

impl Default for SnapshotConfig {
    fn default() -> Self {
        Self {
            at_turn_end: true,
            gap_secs: 60,
            file_megabytes_max: 100,
            keep_latest: 20,
            keep_days: 14,
            keep_max: 200,
        }
    }
}

impl SnapshotConfig {
    pub(crate) fn file_bytes_max(&self) -> u64 {
        self.file_megabytes_max.saturating_mul(1024 * 1024)
    }

    pub(crate) fn keep(&self) -> Keep {
        Keep {
            why: TURN_ENDED,
            // The last one is what a session is brought back from.
            latest: self.keep_latest.max(1),
            younger_than: Duration::from_secs(self.keep_days.saturating_mul(24 * 60 * 60)),
            number_max: self.keep_max,
        }
    }
}

impl Default for TrashConfig {
    fn default() -> Self {
        Self { days: 30 }
    }
}

impl Default for OutputConfig {
    fn default() -> Self {
        Self { megabytes_max: 256 }
    }
}

/// The configuration as its file has it. What is changed there counts from the next request on, or
/// from when its folder tells; a file with a fault changes nothing.
pub(crate) struct Settings {
    path: PathBuf,
    held: Mutex<Held>,
}

struct Held {
    mark: Mark,
    config: Arc<Config>,
    fault: Option<String>,
}

/// By what a file is known to be another one than before; nothing if it is not there.
type Mark = Option<(u64, u64, i64, i64, i64, i64)>;

fn mark(path: &Path) -> Mark {
    let facts = std::fs::metadata(path).ok()?;
    let (modified, changed) = (facts.mtime_nsec(), facts.ctime_nsec());
    Some((facts.ino(), facts.len(), facts.mtime(), modified, facts.ctime(), changed))
}

impl Settings {
    /// Reads the file for the first time.
    pub(crate) fn read(path: PathBuf) -> Result<Self, String> {
        // Marked first: what is changed while it is read is read again.
        let mark = mark(&path);
        let config = Arc::new(Config::read(&path)?);
        Ok(Self { path, held: Mutex::new(Held { mark, config, fault: None }) })
    }

    /// What counts.
    pub(crate) fn now(&self) -> Arc<Config> {
        Arc::clone(&self.held().config)
    }

    /// What is wrong with the file as it is. Then the former one counts.
    pub(crate) fn fault(&self) -> Option<String> {
        self.held().fault.clone()
    }

    /// Looks at the file, beside everything else, and reads it if it has changed. A caller
    /// that only wants to know a value never waits for a disk.
    pub(crate) async fn refresh(self: Arc<Self>) {
        drop(tokio::task::spawn_blocking(move || self.look()).await);
    }

    fn look(&self) {
        let mark = mark(&self.path);
        if mark == self.held().mark {
            return;
        }
        let read = Config::read(&self.path);
        let mut held = self.held();
        held.mark = mark;
        held.fault = match read {
            Ok(config) => {
                held.config = Arc::new(config);
                None
            }
            Err(fault) => {
                crate::diary(&format!("{fault}; the former configuration is used"));
                Some(fault)
            }
        };
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Config {
    /// Reads the file; a missing one means that everything is as usual.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        match std::fs::metadata(path) {
            Err(fault) if fault.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(fault) => return Err(format!("cannot read {shown}: {fault}")),
            Ok(facts) if facts.len() > FILE_BYTES_MAX => {
                return Err(format!("{shown} is too large for a configuration file"));
            }
            // A pipe would be waited at for ever.
            Ok(facts) if !facts.is_file() => {
                return Err(format!("cannot read {shown}: it is not a file; move it away"));
            }
            Ok(_) => {}
        }
        let text = std::fs::read_to_string(path)
            .map_err(|fault| format!("cannot read {shown}: {fault}"))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let config: Self = toml::from_str(text).map_err(|fault| {
            let line = fault.span().map_or(1, |span| line_of(text, span.start));
            // The command that starts the daemon shows one line of it.
            let why = fault.message().split_whitespace().collect::<Vec<_>>().join(" ");
            format!("{shown}:{line}: {why}")
        })?;
        if config.output.megabytes_max > MEGABYTES_MAX {
            let line = text.find("megabytes_max").map_or(1, |at| line_of(text, at));
            return Err(format!("{shown}:{line}: megabytes_max may be {MEGABYTES_MAX} at most"));
        }
        if let Some(place) = &config.worktree.place
            && !Path::new(place).is_absolute()
        {
            // The daemon stands nowhere in particular, so that nothing can be meant from there.
            let line = text.find("place").map_or(1, |at| line_of(text, at));
            let why = format!("worktree.place must begin with a slash, not as {place:?} does");
            return Err(format!("{shown}:{line}: {why}"));
        }
        Ok(config)
    }

    pub(crate) fn safe_state_time(&self) -> Duration {
        Duration::from_secs(self.pause.safe_state_secs)
    }

    /// How long a step of a pause may take.
    pub(crate) fn save_time(&self) -> Duration {
        Duration::from_secs(self.pause.save_secs.into())
    }

    /// How long a step of a forced pause may take.
    pub(crate) fn force_time(&self) -> Duration {
        Duration::from_secs(self.pause.force_secs.into())
    }

    pub(crate) fn patterns(&self) -> Patterns {
        let usual = Patterns::default();
        Patterns {
            prompts: self.screen.prompts.clone().unwrap_or(usual.prompts),
            questions: self.screen.questions.clone().unwrap_or(usual.questions),
        }
    }

    /// The persona of this name, or what there is instead.
    pub(crate) fn persona(&self, name: Option<&str>) -> Result<Persona, String> {
        let Some(name) = name else { return Ok(Persona::default()) };
        self.persona.get(name).cloned().ok_or_else(|| {
            let known: Vec<_> = self.persona.keys().map(String::as_str).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            format!("there is no persona {name:?} in the configuration; known: {known}")
        })
    }

    /// What fresh worktrees of a repository get: what all get, and what its own section says.
    pub(crate) fn provisions(&self, repo_root: &str) -> Provisions {
        let home = std::env::var("HOME").unwrap_or_default();
        let is_it = |path: &str| match path.strip_prefix("~/") {
            Some(rest) => Path::new(&home).join(rest) == Path::new(repo_root),
            None => Path::new(path) == Path::new(repo_root),
        };
        let own = self.repository.iter().find(|(path, _)| is_it(path)).map(|(_, own)| own);
        let own = own.cloned().unwrap_or_default();
        Provisions {
            copy: [self.worktree.copy.clone(), own.copy].concat(),
            link: [self.worktree.link.clone(), own.link].concat(),
            setup: own.setup,
            setup_secs_max: self.worktree.setup_secs_max,
        }
    }

    pub(crate) fn output_bytes_max(&self) -> u64 {
        self.output.megabytes_max.max(1).saturating_mul(1024 * 1024)
    }
}

/// The line of a place in a text, counted from 1.
fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        Config::read(&path)
    }

    #[test]
    fn nothing_needs_to_be_set() {
        let config = read("").unwrap();
        assert_eq!(config.pause.on_timeout, OnTimeout::Refuse);
        assert!(!config.pause.remove_worktree);
        assert_eq!(config.worktree.branch_prefix, "glis/");
        assert_eq!(config.resume.prompt, Form::Full);
        assert_eq!(config.safe_state_time(), Duration::from_secs(30));
    }

    #[test]
    fn faults_are_told_with_their_line() {
        let told = |text: &str| {
            let fault = read(text).unwrap_err();
            assert_eq!(fault.lines().count(), 1, "{fault}");
            fault.rsplit_once("config.toml:").unwrap().1.to_owned()
        };
        let unknown = told("[pause]\nsafe_state_secs = 5\nsave_state = 1\n");
        assert!(unknown.starts_with("3: ") && unknown.contains("save_state"), "{unknown}");
        let text = told("[pause]\nsafe_state_secs = \"x\"\n");
        assert!(text.starts_with("2: invalid type"), "{text}");
        let torn = told("[pause\n");
        assert!(torn.starts_with("1: "), "{torn}");
        let form = told("[resume]\nprompt = \"long\"\n");
        assert_eq!(form, "2: unknown variant `long`, expected `full` or `short`");
        let much = told("\n[output]\nmegabytes_max = 1000001\n");
        assert_eq!(much, "3: megabytes_max may be 1000000 at most");
    }

    #[test]
    fn the_most_that_may_be_kept_is_a_number() {
        let config = read("[output]\nmegabytes_max = 1000000\n").unwrap();
        assert_eq!(config.output_bytes_max(), 1_000_000 * 1024 * 1024);
    }

    #[test]
    fn a_persona_is_known_by_its_name() {
        let config =
            read("[persona.critic]\nagent = \"claude\"\nmodel = \"opus\"\nargs = [\"-x\"]\n");
        let config = config.unwrap();
        assert_eq!(config.persona(Some("critic")).unwrap().model.as_deref(), Some("opus"));
        assert_eq!(config.persona(None), Ok(Persona::default()));
        let told = config.persona(Some("poet")).unwrap_err();
        assert!(told.ends_with("known: critic"), "{told}");
        assert!(read("[persona.critic]\nmodle = \"opus\"\n").is_err());
    }

    #[test]
    fn a_changed_file_counts_and_a_broken_one_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        let settings = Settings::read(path.clone()).unwrap();
        assert_eq!(settings.now().default_agent, None);
        let agent = |name: &str| {
            std::fs::write(&path, format!("default_agent = \"{name}\"\n")).unwrap();
            settings.look();
            settings.now().default_agent.clone()
        };
        assert_eq!(agent("one").as_deref(), Some("one"));
        assert_eq!(agent("two").as_deref(), Some("two"));
        std::fs::write(&path, "default_agent = 3\n").unwrap();
        settings.look();
        assert_eq!(settings.now().default_agent.as_deref(), Some("two"));
        assert!(settings.fault().is_some_and(|fault| fault.contains("config.toml:1: ")));
        assert_eq!(agent("three").as_deref(), Some("three"));
        assert_eq!(settings.fault(), None);
        std::fs::remove_file(&path).unwrap();
        settings.look();
        assert_eq!(settings.now().default_agent, None);
    }

    #[test]
    fn a_byte_order_mark_does_no_harm() {
        assert!(read("\u{feff}default_agent = \"command\"\n").is_ok());
    }
}
