//! Options of the verbs that make a session.

use crate::verbs::values::{Choices, count, dollars, idle_limit, one_of, setting};
use clap::Args;
use glis_core::looping::{FAILURES_MAX, LoopChange, LoopContext};
use glis_core::spec::IdleLimit;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct New {
    /// The session's name: lower-case letters, digits, `.`, `_`, `-`; made from the prompt, the program
    /// or the agent if not given
    pub(crate) name: Option<String>,
    /// The first message
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) prompt: Option<String>,
    /// For a command in a terminal: a pause stops its process in place instead of ending it, and a resume
    /// goes on in the same process. Its memory stays taken
    #[arg(long, conflicts_with_all = ["headless", "remove_worktree_on_pause"])]
    pub(crate) keep_process: bool,
    #[command(flatten)]
    pub(crate) how: How,
}

/// What `new` and `loop` have in common.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that is typed")]
pub(crate) struct How {
    /// The agent: `claude`, `codex`, `gemini`, `opencode`, `rehearsal`, or `command` with a program
    /// after `--`. If not given: a program after `--`, what the configuration has as `default_agent`, or
    /// the first one that is installed of claude, codex, opencode, gemini
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// A folder in the repository; default: this one
    #[arg(long)]
    pub(crate) repo: Option<PathBuf>,
    /// Revision to begin from; default: the current one
    #[arg(long)]
    pub(crate) base: Option<String>,
    /// Work in the repository itself, without a worktree; nothing there is ever removed
    #[arg(long)]
    pub(crate) in_place: bool,
    /// Without a terminal
    #[arg(long)]
    pub(crate) headless: bool,
    /// A persona from the configuration: model, instructions, permissions, arguments
    #[arg(long)]
    pub(crate) persona: Option<String>,
    /// Model
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Suspend the session after so much idle time: minutes, `90s`, `2h` (1m to 120m), or `off`; 10m
    /// without it, and never for a command. The next message wakes it
    #[arg(long, value_name = "TIME", value_parser = idle_limit)]
    pub(crate) idle_timeout: Option<IdleLimit>,
    /// What it may use before it is paused and you are asked: `usd=5`, `tokens=200k`, `time=2h` at work, or several with
    /// commas between; `off` whatever is configured
    #[arg(long, value_name = "BUDGET")]
    pub(crate) budget: Option<String>,
    /// Have rules answer what it asks, where they allow it; off without this
    #[arg(long)]
    pub(crate) auto_yes: bool,
    /// Remove the worktree at every pause, if a snapshot holds all of it; a resume restores it
    #[arg(long, conflicts_with_all = ["keep_worktree_on_pause", "in_place"])]
    pub(crate) remove_worktree_on_pause: bool,
    /// Keep the worktree at every pause, whatever the configuration says
    #[arg(long)]
    pub(crate) keep_worktree_on_pause: bool,
    /// A program and its arguments; behind --agent or --persona further arguments for the agent
    #[arg(last = true)]
    pub(crate) argv: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Loop {
    /// The session's name: lower-case letters, digits, `.`, `_`, `-`; with --set that of a loop
    pub(crate) name: String,
    /// What the agent is told at the beginning of every iteration
    #[arg(long, allow_hyphen_values = true, required_unless_present_any = ["spec", "set"])]
    pub(crate) prompt: Option<String>,
    /// Instead: a file of the repository with a check list. The agent is told to do its next open item;
    /// the file comes along as it is, committed or not
    #[arg(long, value_name = "FILE", conflicts_with = "prompt")]
    pub(crate) spec: Option<PathBuf>,
    /// Maximum number of iterations; without it and --until a person ends it
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) max: Option<u32>,
    /// A line for `sh -c` in its worktree, run after every iteration: when it succeeds, the loop is done
    #[arg(long, value_name = "CMD", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,
    /// What an iteration knows of those before it
    #[arg(long, value_parser = one_of(CONTEXTS), default_value = "fresh")]
    pub(crate) context: LoopContext,
    /// Commit the work of every iteration on the session's branch
    #[arg(long, conflicts_with = "in_place")]
    pub(crate) auto_commit: bool,
    /// Pause it once it has cost so many dollars, where the agent tells what it costs
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    pub(crate) max_cost: Option<u64>,
    /// Pause it after so many iterations in a row that failed
    #[arg(long, value_name = "N", value_parser = count, default_value_t = FAILURES_MAX)]
    pub(crate) max_failures: u32,
    /// Change a limit of a loop, running or paused: max=N, max-cost=DOLLARS, max-failures=N, until=CMD;
    /// `none` lifts it. May be given several times
    #[arg(
        long,
        value_name = "LIMIT=VALUE",
        value_parser = setting,
        conflicts_with_all = ["prompt", "spec", "max", "until", "context", "auto_commit", "max_cost",
                              "max_failures"]
    )]
    pub(crate) set: Vec<LoopChange>,
    #[command(flatten)]
    pub(crate) how: How,
}

const CONTEXTS: Choices<LoopContext> = &[
    ("fresh", "Nothing but its files: each begins a conversation of its own", LoopContext::Fresh),
    ("continue", "The whole conversation", LoopContext::Continue),
];
