//! Every verb and option, as they are typed.

mod house;
mod keep;
mod key;
mod make;

use super::execute::Execute;
use super::plan::PlanVerb;
use super::values::{Choices, duration, one_of, status};
use super::web::Web;
use clap::{Args, Parser, Subcommand};
use glis_core::pause::{OnTimeout, PauseMode, PauseReason};
use glis_wire::view::CostBy;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) use house::{ConfigVerb, DaemonVerb, Doctor, RepoVerb};
pub(crate) use keep::{Diff, Empty, Merge, Restore, TrashVerb};
pub(crate) use make::{How, Loop, New};

/// Keeps AI coding agents alive: pause anything, resume anything, lose nothing.
#[derive(Debug, Parser)]
#[command(name = "glis", version, about, after_help = EXIT_CODES, disable_help_subcommand = false)]
pub(crate) struct Cli {
    /// Print one JSON document on standard output (streams: one line each)
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Name this change: repeated under the same key within a day it changes nothing and gets the first
    /// answer, also over a restart of the daemon
    #[arg(long, global = true, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// Without a verb, on a terminal: look at everything, change nothing
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Without a verb: the list as lines of text, one a session, printed again when it changes
    #[arg(long)]
    pub(crate) plain: bool,
    #[command(subcommand)]
    pub(crate) verb: Option<Verb>,
}

const EXIT_CODES: &str = "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no such session, \
task or run, 4 refused in this state, 5 agent not in a safe state, 6 cannot be resumed, 7 busy or \
timed out, 8 the daemon cannot be reached, 130 interrupted.\n\n\
GLIS_HOME=DIR (an absolute path) moves all files of glis into DIR.";

const RESUME_KINDS: &str = "Why a session cannot be resumed (exit code 6), as `kind` in the JSON of \
the error: no_ref, rejected, wrong_root, no_directory, not_restored, not_installed, wrong_version, \
no_transcript, no_terminal, locked, not_ready, system.";

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Show the whole promise in a minute: offline, in a temporary home and repository
    Demo,
    /// Start a session in its own worktree, on its own branch
    New(New),
    /// Run an agent on the same prompt repeatedly, until a condition holds
    Loop(Loop),
    /// List sessions, latest activity first: what lives, and at most 200 that came to rest in the last seven days
    Ls {
        /// Include all others, also removed ones
        #[arg(long)]
        all: bool,
        /// Only those that ask something, or of which nobody has said how they go on
        #[arg(long)]
        needs_me: bool,
        /// Only those with this label
        #[arg(long)]
        label: Option<String>,
        /// Only those with these words in name, agent, branch, state, repository or `#label`
        #[arg(long, value_name = "WORDS")]
        filter: Option<String>,
    },
    /// Show everything about one session
    Show(Named),
    /// Show the agent's terminal: the screen as it is, then live; ctrl+q detaches. When its process ends,
    /// the last screen stays: `r` resumes, `q` leaves
    Attach(Named),
    /// Send one message: stored first, delivered once and in order; wakes a suspended session
    Send {
        /// Name, id, or a unique beginning of the id
        name: String,
        /// The message; `-` reads standard input, and after `--` anything is a message. An empty one
        /// presses Enter in a plain program
        #[arg(allow_hyphen_values = true)]
        text: String,
        /// A file to copy into the worktree and to name in the message; may be given several times
        #[arg(long, value_name = "FILE")]
        file: Vec<PathBuf>,
    },
    /// Wait until the session is in one of these states
    Wait(Wait),
    /// Stop an agent and keep everything
    Pause(Pause),
    /// Bring an agent back, in its own conversation
    #[command(after_help = RESUME_KINDS)]
    Resume(Resume),
    /// Start a fresh conversation in the same worktree
    Restart(Restart),
    /// End the process and keep the session (suspended)
    Stop(Named),
    /// Show or set how long a session may be idle before it is suspended; the next message wakes it
    Timeout {
        /// Name, id, or a unique beginning of the id
        name: String,
        /// 1 to 120 minutes, a time such as `90s` or `2h`, or `off` to never suspend it
        #[arg(allow_hyphen_values = true)]
        minutes: Option<String>,
    },
    /// Give a session labels, or take some away; the overview, the page and `ls` find it by them
    Label {
        /// Name, id, or a unique beginning of the id
        name: String,
        /// `+auth` or `auth` comes, `-auth` goes
        #[arg(required = true, allow_hyphen_values = true, value_name = "+LABEL|-LABEL")]
        labels: Vec<String>,
    },
    /// Have a session use no more than this before it is paused and you are asked; `resume` grants as much again
    Budget {
        /// Name, id, or a unique beginning of the id
        name: String,
        /// `usd=5`, `tokens=200k`, `time=2h` at work, or several with commas between; `off`. It counts from now on
        budget: String,
    },
    /// Keep a session first in its group, and in the list however long it rests
    Pin {
        /// Name, id, or a unique beginning of the id
        name: String,
        /// Let go of it
        #[arg(long)]
        off: bool,
    },
    /// Have a session need nobody for a while: it stands with those at rest, and goes on
    Snooze {
        /// Name, id, or a unique beginning of the id
        name: String,
        /// So long (`2h`, `3d`), a time of day (`18:00`), `change` (until it asks or comes to an end), or `off`
        until: String,
    },
    /// Move a session to the trash; nothing is deleted
    Rm(Rm),
    /// Answer what a session asks
    Answer(Answer),
    /// Have rules answer what a session asks, try a command, or see what was answered
    AutoYes(AutoYes),
    /// Confirm that you know of a damaged record or a bar; `show` and `doctor` list them
    Acknowledge {
        /// Names, ids, or unique beginnings of ids
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        names: Vec<String>,
        /// All sessions that are flagged
        #[arg(long)]
        all: bool,
    },
    /// Print the conversation
    Log {
        /// Name, id, or a unique beginning of the id
        name: String,
        /// Keep printing as it grows
        #[arg(long, short)]
        follow: bool,
        /// Start behind what was read before: at `next` of the former read, which --json prints
        #[arg(long, value_name = "OFFSET")]
        from: Option<u64>,
    },
    /// Search all conversations, also of removed sessions
    Search {
        /// All of them must occur; after `--` also words that begin with a hyphen
        #[arg(required = true)]
        words: Vec<String>,
        /// Maximum number of results
        #[arg(long, default_value_t = 50)]
        most: u32,
    },
    /// Add up what agents have used, as far as they tell; also of sessions in the trash
    Cost {
        /// Only from this day on: `today`, or a date such as 2026-11-18
        #[arg(long, value_name = "DAY")]
        since: Option<String>,
        /// By what
        #[arg(long, value_parser = one_of(COST_BY), default_value = "session")]
        by: CostBy,
    },
    /// List the filters that were kept, for `ls --filter`, the overview and the page
    Filters {
        /// Keep these words
        #[arg(long, value_name = "WORDS", conflicts_with = "forget")]
        keep: Option<String>,
        /// Forget these
        #[arg(long, value_name = "WORDS")]
        forget: Option<String>,
    },
    /// List the agents that a session can have, whether they are installed, and the personas of the configuration
    Agents,
    /// Print the terminal's screen as text, running or not
    Screen {
        /// Name, id, or a unique beginning of the id
        name: String,
        /// With colours
        #[arg(long)]
        ansi: bool,
        /// As it was when the output had reached this offset
        #[arg(long, value_name = "OFFSET")]
        at: Option<u64>,
    },
    /// Print the raw bytes that the agent wrote
    Output {
        /// Name, id, or a unique beginning of the id
        name: String,
        /// First offset
        #[arg(long, default_value_t = 0)]
        from: u64,
        /// Keep printing as it grows
        #[arg(long, short)]
        follow: bool,
    },
    /// Print what has happened, one JSON object a line
    Events {
        /// First sequence number
        #[arg(long, default_value_t = 1)]
        from: u64,
        /// Keep printing as it happens
        #[arg(long, short)]
        follow: bool,
    },
    /// Save the worktree as it is, without disturbing the agent
    Snapshot(Named),
    /// Sum up a long conversation of a session at rest; the latest entries stay, the whole file is kept
    /// beside, and `log` and `search` still show every word
    Compact(Named),
    /// List the snapshots of a session: when, why, what changed since the one before
    Snapshots(Named),
    /// Show what a session has changed: committed, staged, written and untracked
    Diff(Diff),
    /// Restore a worktree from a snapshot; what is there is moved aside
    Restore(Restore),
    /// Commit a session's work on its branch and merge that, without touching any checkout
    Merge(Merge),
    /// List, restore or delete removed sessions
    Trash {
        #[command(subcommand)]
        verb: TrashVerb,
    },
    /// Look for problems and say how to fix them
    Doctor(Doctor),
    /// Check, show or change the plan of a repository, `.glis/plan.toml`
    Plan {
        #[command(subcommand)]
        verb: PlanVerb,
    },
    /// Have a plan executed, and show how it goes; Ctrl+C pauses, and closing the window does not
    Execute(Execute),
    /// List the runs of a task, or of all tasks of this repository
    Runs {
        /// The task's id
        task: Option<String>,
    },
    /// Merge the work of a task as it is: after a review, or although it was not accepted
    Accept(TaskName),
    /// Judge the work of a task again
    Judge(TaskName),
    /// Do not take the work of a task; what needs it waits
    Reject(TaskName),
    /// Leave a task out; what needs it goes on
    Skip(TaskName),
    /// Say where a repository is now
    Repo {
        #[command(subcommand)]
        verb: RepoVerb,
    },
    /// Show or check the configuration file; works without the daemon
    Config {
        #[command(subcommand)]
        verb: ConfigVerb,
    },
    /// Serve a page and an API for this house, on this machine alone
    Web(Web),
    /// Control the daemon, which otherwise starts by itself
    Daemon {
        #[command(subcommand)]
        verb: DaemonVerb,
    },
    /// Run the bot of `[chat.telegram]`, in the foreground: sessions and approvals from a phone
    Chat,
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, for `man -l -`
    Man,
}

#[derive(Debug, Args)]
pub(crate) struct Named {
    /// Name, id, or a unique beginning of the id
    pub(crate) name: String,
}

#[derive(Debug, Args)]
pub(crate) struct TaskName {
    /// The task's id
    pub(crate) task: String,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct AutoYes {
    #[command(subcommand)]
    pub(crate) verb: Option<AutoYesVerb>,
    /// Name, id, or a unique beginning of the id
    #[arg(required = true)]
    pub(crate) name: Option<String>,
    /// Whether rules answer
    #[arg(value_parser = one_of(SWITCH), required = true)]
    pub(crate) switch: Option<bool>,
}

const SWITCH: Choices<bool> = &[
    ("on", "Rules answer what they allow or reject; the rest is asked", true),
    ("off", "Everything is asked", false),
];

#[derive(Debug, Subcommand)]
pub(crate) enum AutoYesVerb {
    /// Say what the rules would say about a command, and why; nothing is run, and no daemon is needed
    Test {
        /// The command line, as one word
        #[arg(allow_hyphen_values = true)]
        command: String,
        /// The folder that it would run in; default: this one
        #[arg(long = "in", value_name = "DIR")]
        folder: Option<PathBuf>,
    },
    /// List what the rules have said: when, about what, by which rule
    Log {
        /// Only of this session
        name: Option<String>,
        /// Only what `auto-yes log` has not listed yet
        #[arg(long)]
        new: bool,
    },
    /// Print the smallest rules that would have answered what you allowed lately, to be added to config.toml
    Suggest,
}

#[derive(Debug, Args)]
pub(crate) struct Wait {
    /// Name, id, or a unique beginning of the id
    pub(crate) name: String,
    /// The states to wait for
    #[arg(long = "for", value_delimiter = ',', required = true, value_parser = status)]
    pub(crate) states: Vec<glis_core::Status>,
    /// Give up after this time, such as 30s
    #[arg(long, value_parser = duration)]
    pub(crate) timeout: Option<Duration>,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that is typed")]
pub(crate) struct Pause {
    /// Names, ids, or unique beginnings of ids
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub(crate) names: Vec<String>,
    /// Everything that runs; nothing starts until `resume --all`
    #[arg(long)]
    pub(crate) all: bool,
    /// When to stop the agent; default: interrupt, with --all: boundary
    #[arg(long, value_parser = one_of(MODES))]
    pub(crate) mode: Option<PauseMode>,
    /// What everything is paused for
    #[arg(long, value_parser = one_of(REASONS), requires = "all", default_value = "user")]
    pub(crate) reason: PauseReason,
    /// Cancel a pause that is still waiting
    #[arg(long, conflicts_with = "mode")]
    pub(crate) cancel: bool,
    /// Remove the worktree afterwards, if its snapshot holds all of it; a resume restores it
    #[arg(long, conflicts_with = "cancel")]
    pub(crate) remove_worktree: bool,
    /// Remove it even with files that are in no snapshot, such as ignored ones
    #[arg(long, requires = "remove_worktree")]
    pub(crate) force: bool,
    /// Keep the worktree, whatever the session or the configuration says
    #[arg(long, conflicts_with_all = ["cancel", "remove_worktree"])]
    pub(crate) keep_worktree: bool,
    /// What to do if the agent does not reach a safe state in time; default: as configured
    #[arg(long, value_parser = one_of(ON_TIMEOUT), conflicts_with = "cancel")]
    pub(crate) on_timeout: Option<OnTimeout>,
    /// Resume it by itself after so long, such as 2h or 30m; shown as `resume_at`
    #[arg(long = "for", value_name = "TIME", conflicts_with_all = ["cancel", "all"], value_parser = duration)]
    pub(crate) lasts: Option<Duration>,
}

const MODES: Choices<PauseMode> = &[
    ("boundary", "After the current turn", PauseMode::Boundary),
    ("interrupt", "Interrupt the turn, wait for a safe state", PauseMode::Interrupt),
    ("force", "At once, safe or not", PauseMode::Force),
];

const COST_BY: Choices<CostBy> = &[
    ("session", "What each session has used, the dearest first", CostBy::Session),
    ("repo", "The same by repository", CostBy::Repo),
    ("agent", "The same by agent", CostBy::Agent),
    ("day", "What each day has used", CostBy::Day),
];

const REASONS: Choices<PauseReason> = &[
    ("user", "Because you want it", PauseReason::User),
    ("shutdown", "Because the machine goes down", PauseReason::Shutdown),
];

const ON_TIMEOUT: Choices<OnTimeout> = &[
    ("refuse", "Give up the pause; the agent keeps running", OnTimeout::Refuse),
    ("force", "Stop it all the same, and say so", OnTimeout::Force),
];

#[derive(Debug, Args)]
pub(crate) struct Rm {
    /// Name, id, or a unique beginning of the id
    pub(crate) name: String,
    /// Stop it first if it runs; everything is saved and kept
    #[arg(long)]
    pub(crate) stop: bool,
}

#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of `resume` that no other implies"
)]
pub(crate) struct Resume {
    /// Names, ids, or unique beginnings of ids
    #[arg(required_unless_present_any = ["all", "interrupted", "paused"])]
    #[arg(conflicts_with_all = ["all", "interrupted", "paused"])]
    pub(crate) names: Vec<String>,
    /// Everything that `pause --all` has stopped
    #[arg(long, conflicts_with_all = ["interrupted", "paused"])]
    pub(crate) all: bool,
    /// All sessions that are interrupted: by a crash, a kill, or a restart of the machine
    #[arg(long, conflicts_with = "paused")]
    pub(crate) interrupted: bool,
    /// All sessions that are paused; asks first, with their number
    #[arg(long)]
    pub(crate) paused: bool,
    /// Only those of the repository that this folder is in
    #[arg(long, value_name = "DIR", requires = "paused")]
    pub(crate) repo: Option<PathBuf>,
    /// Do not ask
    #[arg(long, requires = "paused")]
    pub(crate) yes: bool,
    /// Go by the event log, where the list of what was stopped is damaged
    #[arg(long, requires = "all")]
    pub(crate) from_log: bool,
    /// The first message after it is back
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) prompt: Option<String>,
    /// Answer what a session asks that waits, so that it goes on
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["all", "interrupted", "paused", "prompt"])]
    pub(crate) answer: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Restart {
    /// Name, id, or a unique beginning of the id
    pub(crate) name: String,
    /// Tell the fresh agent what the former one was doing
    #[arg(long)]
    pub(crate) with_context: bool,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Answer {
    /// Name, id, or a unique beginning of the id
    pub(crate) name: String,
    /// `allow`, `deny`, or the text for a question
    #[arg(allow_hyphen_values = true, value_name = "ANSWER")]
    pub(crate) words: String,
    /// Which request, if several are open
    #[arg(long)]
    pub(crate) request: Option<String>,
    /// With `allow`: the very same request is not asked about again in this session
    #[arg(long)]
    pub(crate) for_session: bool,
    /// With `deny`: why. An agent that takes no reason with a no gets it as the next message
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "for_session")]
    pub(crate) reason: Option<String>,
}

#[cfg(test)]
mod tests;
