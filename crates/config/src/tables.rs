//! The tables of the file whose keys stand for themselves. What each means is said in `documented.toml`, from which
//! people are told as well; a test finds every key there.

use glis_agent::context::Form;
use glis_core::limits::{Limits, Over};
use glis_core::pause::OnTimeout;
use glis_core::safe::Patterns;
use glis_wire::hold::Children;
use serde::{Deserialize, Serialize};

/// Where worktrees lie, and what they get.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct WorktreeConfig {
    pub branch_prefix: String,
    pub place: Option<String>,
    pub copy: Vec<String>,
    pub link: Vec<String>,
    pub submodules: bool,
    pub setup_secs_max: u32,
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

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct PauseConfig {
    pub safe_state_secs: u64,
    pub interrupt_secs: u32,
    pub terminate_secs: u32,
    pub on_timeout: OnTimeout,
    pub remove_worktree: bool,
    pub remove_below_percent: u64,
    pub save_secs: u32,
    pub force_secs: u32,
    pub all_secs: u64,
    pub children: Children,
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

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScreenConfig {
    pub prompts: Vec<String>,
    pub questions: Vec<String>,
}

impl Default for ScreenConfig {
    fn default() -> Self {
        let Patterns { prompts, questions } = Patterns::default();
        Self { prompts, questions }
    }
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct OutputConfig {
    pub megabytes_max: u64,
}

impl Default for OutputConfig {
    fn default() -> Self {
        Self { megabytes_max: 256 }
    }
}

/// What the daemon tells about itself.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogConfig {
    pub level: LogLevel,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    Error,
    Warn,
    #[default]
    Info,
    Debug,
    Trace,
}

/// When snapshots are taken, and how long they are kept.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct SnapshotConfig {
    pub at_turn_end: bool,
    pub gap_secs: u64,
    pub file_megabytes_max: u64,
    pub keep_latest: usize,
    pub keep_days: u64,
    pub keep_max: usize,
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

/// How long what was removed is kept.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrashConfig {
    pub days: u32,
}

impl Default for TrashConfig {
    fn default() -> Self {
        Self { days: 30 }
    }
}

#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct CommandConfig {
    pub resume_prompt: bool,
}

#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ResumeConfig {
    pub prompt: Form,
    pub interrupted: bool,
}

/// How long conversations are made short.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct CompactConfig {
    pub automatic: bool,
    pub command: Vec<String>,
    pub secs_max: u32,
}

impl Default for CompactConfig {
    fn default() -> Self {
        // A model that reads a hundred thousand words answers within a minute or two.
        Self { automatic: true, command: Vec::new(), secs_max: 300 }
    }
}

/// How loops are looked back at.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct LoopConfig {
    pub until_secs: u32,
}

impl Default for LoopConfig {
    fn default() -> Self {
        // A whole test suite, as for a set-up.
        Self { until_secs: 600 }
    }
}

/// How many agents run at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConcurrencyConfig {
    pub warn: u32,
    pub live: u32,
    pub over: Over,
}

impl Default for ConcurrencyConfig {
    fn default() -> Self {
        let Limits { live, over, .. } = Limits::default();
        Self { warn: 10, live, over }
    }
}

impl ConcurrencyConfig {
    /// What the house goes by.
    pub fn limits(self) -> Limits {
        Limits { live: self.live, over: self.over, ..Limits::default() }
    }
}

/// What the user is told of, and how.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct NotifyConfig {
    pub on: Vec<Notice>,
    pub command: Option<String>,
    pub desktop: bool,
}

impl Default for NotifyConfig {
    fn default() -> Self {
        let on = vec![Notice::Waiting, Notice::Finished, Notice::Failed, Notice::Limit];
        Self { on, command: None, desktop: true }
    }
}

/// What the user can be told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    Waiting,
    /// A turn has ended, or a command has.
    Finished,
    Failed,
    /// A usage limit is reached.
    Limit,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct PlanConfig {
    pub accept_secs: u32,
    pub accept_in: AcceptIn,
    pub retries: u32,
    pub wait_for_limits: bool,
    pub clean: bool,
}

impl Default for PlanConfig {
    fn default() -> Self {
        // A whole test suite fits; what takes longer hangs.
        let (accept_secs, accept_in) = (60 * 60, AcceptIn::Worktree);
        Self { accept_secs, accept_in, retries: 2, wait_for_limits: true, clean: false }
    }
}

/// Where the `accept` of a task is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AcceptIn {
    /// In the worktree of the task: what is built there already is built.
    Worktree,
    /// In a checkout of the commit that is judged, and of nothing else.
    Clean,
}

/// What happens when the machine runs short of memory.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct MemoryConfig {
    pub enabled: bool,
    pub pressure_percent: u32,
    pub window_secs: u32,
    pub available_percent: u32,
}

impl Default for MemoryConfig {
    fn default() -> Self {
        Self { enabled: true, pressure_percent: 10, window_secs: 10, available_percent: 10 }
    }
}

impl MemoryConfig {
    /// What is wrong with values that are of the right kind, by the key.
    pub(crate) fn unfit(&self) -> impl Iterator<Item = (&'static str, String)> {
        let percent = |key, value: u32| {
            let why = || format!("{key} is a part of a hundred, from 1 to 99");
            (!(1..100).contains(&value)).then(|| (key, why()))
        };
        // The kernel measures no longer than that, and tells everybody only of even windows.
        let windows = [2, 4, 6, 8, 10];
        let window = (!windows.contains(&self.window_secs))
            .then(|| ("memory.window_secs", "memory.window_secs is 2, 4, 6, 8 or 10".to_owned()));
        let pressure = percent("memory.pressure_percent", self.pressure_percent);
        let available = percent("memory.available_percent", self.available_percent);
        [window, pressure, available].into_iter().flatten()
    }
}
