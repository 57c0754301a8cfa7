//! Options of the verbs for snapshots, merging and the trash.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum TrashVerb {
    /// List removed sessions, and until when they are kept
    List,
    /// Take a session out of the trash, as it was
    Restore {
        /// Name, id, or a unique beginning of the id
        name: String,
        /// Another name, if the former one is taken
        #[arg(long = "name", value_name = "NEW")]
        rename: Option<String>,
    },
    /// Delete for good what is past its deadline
    Empty(Empty),
}

#[derive(Debug, Args)]
pub(crate) struct Empty {
    /// Delete these, before their deadline
    #[arg(conflicts_with = "all")]
    pub(crate) names: Vec<String>,
    /// Delete everything, before its deadline
    #[arg(long)]
    pub(crate) all: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// Name, id, or a unique beginning of the id
    pub(crate) name: String,
    /// List only the files, and how many lines differ
    #[arg(long)]
    pub(crate) stat: bool,
    /// Since this snapshot, instead of since the session began
    #[arg(long, value_name = "REF")]
    pub(crate) since: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// Name, id, or a unique beginning of the id
    pub(crate) name: String,
    /// The snapshot: its ref, the beginning of its last part, or of its commit; default: as the last process left it
    #[arg(long, value_name = "REF")]
    pub(crate) snapshot: Option<String>,
    /// Restore into this folder, which must not exist yet; the session's own is not touched
    #[arg(long, value_name = "DIR")]
    pub(crate) to: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// Name, id, or a unique beginning of the id
    pub(crate) name: String,
    /// The branch to merge into; default: the one that the session began from. A branch that is checked
    /// out is never moved: then the result is glis/merge/NAME, with the line to type
    #[arg(long, value_name = "BRANCH")]
    pub(crate) into: Option<String>,
    /// Run the repository's hooks that have a say in a commit: pre-commit, prepare-commit-msg, commit-msg,
    /// post-commit. Without it none is run
    #[arg(long)]
    pub(crate) hooks: bool,
}
