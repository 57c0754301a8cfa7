//! The configuration file: what may be set, and what holds without it.

mod auto_yes;
mod branch;
mod chat;
mod explain;
mod fault;
mod idle;
mod keys;
mod leaf;
mod limit;
mod limits;
mod looped;
mod mark;
mod memory;
mod notify;
mod plan;
mod read;
pub mod regular;
mod trash;
mod verdict;
pub mod whole;

pub use auto_yes::{AutoYesConfig, unused};
pub use chat::{ChatConfig, TelegramConfig};
pub use explain::{DOCUMENTED, Setting, explain};
pub use fault::Fault;
pub use idle::IdleConfig;
pub use keys::{KeysConfig, Written};
pub use limit::{Clock, LimitConfig, Quiet, Until};
pub use limits::LimitsConfig;
pub use looped::LoopConfig;
pub use mark::Mark;
pub use memory::MemoryConfig;
pub use notify::{Notice, NotifyConfig};
pub use plan::PlanConfig;
pub use read::{Unread, line_of, text_of};
pub use trash::TrashConfig;
pub use verdict::in_words_of_core;

use glis_agent::context::Form;
use glis_core::pause::OnTimeout;
use glis_core::safe::Patterns;
use glis_wire::hold::Children;
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
    /// The agent of `new` without `--agent`.
    pub default_agent: Option<String>,
    /// Where worktrees lie, and what they get.
    pub worktree: WorktreeConfig,
    /// How a pause goes.
    pub pause: PauseConfig,
    /// When idle sessions are suspended.
    pub idle: IdleConfig,
    /// Whether sessions go on by themselves after a usage limit.
    pub limit: LimitConfig,
    /// What happens when the machine runs short of memory.
    pub memory: MemoryConfig,
    /// How many agents run at once.
    pub limits: LimitsConfig,
    /// What a screen tells.
    pub screen: ScreenConfig,
    /// What is kept of the output.
    pub output: OutputConfig,
    /// When snapshots are taken, and how long they are kept.
    pub snapshot: SnapshotConfig,
    /// How long what was removed is kept.
    pub trash: TrashConfig,
    /// How commands are resumed.
    pub command: CommandConfig,
    /// How agents are resumed.
    pub resume: ResumeConfig,
    /// How long conversations are made short.
    pub compact: CompactConfig,
    /// How loops are looked back at.
    #[serde(rename = "loop")]
    pub looped: LoopConfig,
    /// How plans are executed.
    pub plan: PlanConfig,
    /// What the user is told of, and how.
    pub notify: NotifyConfig,
    /// What rules answer for a person.
    pub auto_yes: AutoYesConfig,
    /// Other keys for the overview.
    pub keys: KeysConfig,
    /// Chats that sessions are used from.
    pub chat: ChatConfig,
    /// What fresh worktrees get, by the path of the repository.
    pub repository: BTreeMap<String, RepositoryConfig>,
    /// Manners that `new --persona` gives to an agent, by name.
    pub persona: BTreeMap<String, Persona>,
}

/// How long conversations are made short.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct CompactConfig {
    /// Whether that happens by itself, where a session is paused or suspended and not used.
    pub automatic: bool,
    /// A program that writes the summary, with its arguments; none: an extract is made without one.
    pub command: Vec<String>,
    /// How long it may take.
    pub secs_max: u32,
}

/// A manner that an agent is given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Persona {
    /// The agent that has it.
    pub agent: Option<String>,
    /// The model that it uses.
    pub model: Option<String>,
    /// Words added to the agent's own instructions.
    pub system_prompt: Option<String>,
    /// What the agent may do unasked, in its own words.
    pub permission_mode: Option<String>,
    /// Further arguments, before those of `new`.
    pub args: Vec<String>,
}

/// How commands are resumed.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct CommandConfig {
    /// A command that is resumed is told what was said and done before.
    pub resume_prompt: bool,
}

/// How agents are resumed.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ResumeConfig {
    /// How much an agent is told that does not remember: `restart --with-context`, and commands.
    pub prompt: Form,
    /// Whether agents that died while no daemon ran are resumed when it starts.
    pub interrupted: bool,
}

/// Where worktrees lie, and what they get.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct WorktreeConfig {
    /// What a session's branch is called, before its name.
    pub branch_prefix: String,
    /// Folder for worktrees; the usual one if unset.
    pub place: Option<String>,
    /// Ignored files that every fresh worktree gets a copy of.
    pub copy: Vec<String>,
    /// Ignored files or folders that every fresh worktree gets a link to.
    pub link: Vec<String>,
    /// Whether every fresh worktree gets the submodules that the main checkout has.
    pub submodules: bool,
    /// How long a set-up command may take.
    pub setup_secs_max: u32,
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

/// When snapshots are taken, and how long they are kept.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct SnapshotConfig {
    /// Whether running sessions are saved when a turn ends.
    pub at_turn_end: bool,
    /// How much time passes at least between two of those.
    pub gap_secs: u64,
    /// Larger files are listed and not kept.
    pub file_megabytes_max: u64,
    /// So many of the latest stay, however old they are.
    pub keep_latest: usize,
    /// Of the others, those younger than this,
    pub keep_days: u64,
    /// up to so many in all.
    pub keep_max: usize,
}

/// What a fresh worktree of one repository gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provisions {
    /// Ignored files to copy.
    pub copy: Vec<String>,
    /// Ignored files or folders to link to.
    pub link: Vec<String>,
    /// A command for the shell, run in it.
    pub setup: Option<String>,
    /// How long that may take.
    pub setup_secs_max: u32,
}

/// How a pause goes.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct PauseConfig {
    /// How long an interrupted agent may take to come to a safe state.
    pub safe_state_secs: u64,
    /// How long it may take after SIGINT.
    pub interrupt_secs: u32,
    /// How long it may take after SIGTERM.
    pub terminate_secs: u32,
    /// What becomes of a pause whose safe state does not come in time.
    pub on_timeout: OnTimeout,
    /// Whether a pause removes the worktree, where a snapshot holds all of it.
    pub remove_worktree: bool,
    /// It is removed as well where less than so many percent of its disk are free.
    pub remove_below_percent: u64,
    /// How long each step of a pause may take (the screen, the snapshot) before it is called off.
    pub save_secs: u32,
    /// The same for a forced pause, which goes on without it.
    pub force_secs: u32,
    /// How long `pause --all` waits for everything to stop.
    pub all_secs: u64,
    /// What becomes of the processes that an agent has started.
    pub children: Children,
}

/// What a screen tells.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScreenConfig {
    /// What the last line of a program that waits for a message ends in.
    pub prompts: Vec<String>,
    /// What a program that asks has on its screen.
    pub questions: Vec<String>,
}

/// What is kept of the output.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct OutputConfig {
    /// Megabytes of raw output kept per session.
    pub megabytes_max: u64,
}

impl Default for WorktreeConfig {
    fn default() -> Self {
        Self {
            branch_prefix: "glis/".to_owned(),
            place: None,
            copy: Vec::new(),
            link: Vec::new(),
            submodules: true,
            setup_secs_max: 600,
        }
    }
}

impl Default for CompactConfig {
    fn default() -> Self {
        // A model that reads a hundred thousand words answers within a minute or two.
        Self { automatic: true, command: Vec::new(), secs_max: 300 }
    }
}

impl Default for ScreenConfig {
    fn default() -> Self {
        let Patterns { prompts, questions } = Patterns::default();
        Self { prompts, questions }
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
            remove_below_percent: 0,
            save_secs: 300,
            force_secs: 30,
            all_secs: 30,
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
    /// Larger files are listed and not kept.
    pub fn file_bytes_max(&self) -> u64 {
        self.file_megabytes_max.saturating_mul(1024 * 1024)
    }
}

impl Default for OutputConfig {
    fn default() -> Self {
        Self { megabytes_max: 256 }
    }
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

    /// How long a step of a pause may take.
    pub fn save_time(&self) -> Duration {
        Duration::from_secs(self.pause.save_secs.into())
    }

    /// How long `pause --all` waits for everything to stop.
    pub fn all_time(&self) -> Duration {
        Duration::from_secs(self.pause.all_secs)
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
