//! Verbs about the house as a whole: its daemon, its configuration, its health.

use crate::verbs::values::duration;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Subcommand)]
pub(crate) enum RepoVerb {
    /// Have its sessions and plans know where it is now; commands about plans find that out by themselves
    Moved {
        /// Where it was
        old: PathBuf,
        /// Where it is
        new: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigVerb {
    /// Print every key with its value, and whether that is the default or from which line of the file
    Show,
    /// Print where the file is
    Path,
    /// Print every fault of the file, each with its line
    Check,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DaemonVerb {
    /// Start it, if it does not run
    Start,
    /// End it; the agents keep running
    Stop {
        /// Suspend the agents first
        #[arg(long)]
        agents: bool,
    },
    /// Say whether it runs
    Status,
    /// Print the last lines that it has told about itself, also when it does not run
    Log {
        /// How many
        #[arg(long, value_name = "N", default_value_t = 50)]
        lines: usize,
    },
    /// Make it a service of your systemd, which starts at your login; the agents outlive it
    Install {
        /// The bot of `[chat.telegram]` too, as a service of its own
        #[arg(long)]
        chat: bool,
    },
    /// End and remove that service; the agents keep running
    Uninstall,
    /// Run the daemon in the foreground
    Run {
        /// In a session of its own
        #[arg(long, hide = true)]
        detached: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Break a temporary home on purpose, and show that nothing is lost
    #[arg(long)]
    pub(crate) prove: bool,
    /// How long to continue, such as 30s
    #[arg(long = "for", value_parser = duration, default_value = "30s", requires = "prove")]
    pub(crate) time: Duration,
    /// Repeat the order of an earlier run, by the number that it printed
    #[arg(long, requires = "prove")]
    pub(crate) seed: Option<u64>,
}
