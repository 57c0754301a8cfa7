//! The configuration file: what may be set, and what holds without it.

mod auto_yes;
mod branch;
mod budget;
mod chat;
mod explain;
mod fault;
mod idle;
mod keys;
mod leaf;
mod mark;
mod read;
pub mod regular;
mod tables;
mod usage_limit;
mod verdict;
pub mod whole;

pub use auto_yes::{AutoYesConfig, unused};
pub use budget::BudgetConfig;
pub use chat::{ChatConfig, TelegramConfig};
pub use explain::{DOCUMENTED, Setting, explain, outdated};
pub use fault::Fault;
pub use idle::IdleConfig;
pub use keys::{KeysConfig, Written};
pub use mark::Mark;
pub use read::{Unread, line_of, text_of};
pub use tables::{
    AcceptIn, CommandConfig, CompactConfig, ConcurrencyConfig, LogConfig, LogLevel, LoopConfig,
    MemoryConfig, Notice, NotifyConfig, OutputConfig, PauseConfig, PlanConfig, ResumeConfig,
    ScreenConfig, SnapshotConfig, TrashConfig, WorktreeConfig,
};
pub use usage_limit::{Clock, Quiet, Until, UsageLimitConfig};
pub use verdict::in_words_of_core;

use glis_core::safe::Patterns;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// A terabyte of output for one session is a typing error.
const MEGABYTES_MAX: u64 = 1_000_000;

/// Everything that can be set. Unknown keys are refused, so that a typing error is not silence.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    pub default_agent: Option<String>,
    pub worktree: WorktreeConfig,
    pub pause: PauseConfig,
    pub idle: IdleConfig,
    #[serde(alias = "limit")]
    pub usage_limit: UsageLimitConfig,
    pub budget: BudgetConfig,
    pub memory: MemoryConfig,
    #[serde(alias = "limits")]
    pub concurrency: ConcurrencyConfig,
    pub screen: ScreenConfig,
    pub output: OutputConfig,
    pub log: LogConfig,
    pub snapshot: SnapshotConfig,
    pub trash: TrashConfig,
    pub command: CommandConfig,
    pub resume: ResumeConfig,
    pub compact: CompactConfig,
    #[serde(rename = "loop")]
    pub looped: LoopConfig,
    pub plan: PlanConfig,
    pub notify: NotifyConfig,
    pub auto_yes: AutoYesConfig,
    pub keys: KeysConfig,
    pub chat: ChatConfig,
    /// By the path of the repository.
    pub repository: BTreeMap<String, RepositoryConfig>,
    /// Manners that `new --persona` gives to an agent, by name.
    pub persona: BTreeMap<String, Persona>,
}

/// A manner that an agent is given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Persona {
    pub agent: Option<String>,
    pub model: Option<String>,
    /// Words added to the agent's own instructions.
    pub system_prompt: Option<String>,
    /// What the agent may do unasked, in its own words.
    pub permission_mode: Option<String>,
    /// Further arguments, before those of `new`.
    pub args: Vec<String>,
}

/// What fresh worktrees of one repository get beside what all get.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct RepositoryConfig {
    /// Ignored files that they get a copy of.
    pub copy: Vec<String>,
    /// Ignored files or folders that they get a link to.
    pub link: Vec<String>,
    /// A command for the shell, run in the fresh worktree.
    pub setup: Option<String>,
}

/// What a fresh worktree of one repository gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provisions {
    pub copy: Vec<String>,
    /// Ignored files or folders to link to.
    pub link: Vec<String>,
    /// A command for the shell, run in it.
    pub setup: Option<String>,
    /// How long that may take.
    pub setup_secs_max: u32,
}

impl Config {
    /// What is wrong with values that are of the right kind, by the key.
    pub(crate) fn unfit(&self) -> Vec<(&'static str, String)> {
        let mut unfit = Vec::new();
        if self.output.megabytes_max > MEGABYTES_MAX {
            let why = format!("megabytes_max may be {MEGABYTES_MAX} at most");
            unfit.push(("output.megabytes_max", why));
        }
        if let Some(place) = &self.worktree.place
            && !Path::new(place).is_absolute()
        {
            // The daemon stands nowhere in particular, so that nothing can be meant from there.
            let why = format!("worktree.place must begin with a slash, not as {place:?} does");
            unfit.push(("worktree.place", why));
        }
        let prefix = &self.worktree.branch_prefix;
        if !branch::may_begin_with(prefix) {
            let why = format!("worktree.branch_prefix {prefix:?} begins no name of a branch");
            unfit.push(("worktree.branch_prefix", why));
        }
        unfit.extend(self.auto_yes.unfit());
        unfit.extend(self.memory.unfit());
        unfit.extend(self.chat.telegram.unfit());
        unfit
    }

    /// How long an interrupted agent may take to come to a safe state.
    pub fn safe_state_time(&self) -> Duration {
        Duration::from_secs(self.pause.safe_state_secs)
    }

    /// How long a step of a forced pause may take.
    pub fn force_time(&self) -> Duration {
        Duration::from_secs(self.pause.force_secs.into())
    }

    /// What on a screen means that a program waits.
    pub fn patterns(&self) -> Patterns {
        let ScreenConfig { prompts, questions } = self.screen.clone();
        Patterns { prompts, questions }
    }

    /// The persona of this name, or what there is instead.
    pub fn persona(&self, name: Option<&str>) -> Result<Persona, String> {
        let Some(name) = name else { return Ok(Persona::default()) };
        self.persona.get(name).cloned().ok_or_else(|| {
            let known: Vec<_> = self.persona.keys().map(String::as_str).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            format!("there is no persona {name:?} in the configuration; known: {known}")
        })
    }

    /// What fresh worktrees of a repository get: what all get, and what its own section says.
    pub fn provisions(&self, repo_root: &str) -> Provisions {
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

    /// Bytes of raw output kept per session.
    pub fn output_bytes_max(&self) -> u64 {
        self.output.megabytes_max.max(1).saturating_mul(1024 * 1024)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glis_agent::context::Form;
    use glis_core::pause::OnTimeout;

    fn read(text: &str) -> Result<Config, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        Config::read(&path).map_err(|unread| unread.to_string())
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
    fn one_fault_does_not_hide_the_next() {
        let text = "[pause]\nsave_state = 1\n\n[trash]\ndays = \"x\"\n\n[pauze]\n";
        let lines = |text| -> Vec<usize> {
            Config::parse(text).unwrap_err().iter().map(|fault| fault.line).collect()
        };
        assert_eq!(lines(text), [2, 5, 7]);
        assert_eq!(lines("a = \nb = 1\nc = [\n"), [1, 3]);
        assert_eq!(lines("[output]\nmegabytes_max = 1000001\n[worktree]\nplace = \"x\"\n"), [2, 4]);
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
    fn a_byte_order_mark_does_no_harm() {
        assert!(read("\u{feff}default_agent = \"command\"\n").is_ok());
    }
}
