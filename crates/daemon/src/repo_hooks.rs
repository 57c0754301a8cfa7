//! The hooks of a repository, run for a user who wants that: in the session's worktree, within their time,
//! their output kept.

use crate::child::LINE_BYTES;
use crate::environments::Env;
use crate::shell_line::{End, ShellLine};
use glis_core::plain::shell_word;
use glis_snapshot::git::MISLEADING;
use glis_snapshot::{HookFault, Hooks, Source};
use std::fs;
use std::path::{Path, PathBuf};
use tracing::warn;

/// What the last hook printed, in the session's folder.
const LOG: &str = "hooks.log";
/// Names the processes of the last one, which a daemon that died has left behind.
const MARK: &str = "hooks.mark";
/// The message that hooks may change.
const MESSAGE: &str = "hooks.message";

/// What is needed to run them.
#[derive(Debug)]
pub(crate) struct RepoHooks {
    pub(crate) env: Env,
    pub(crate) worktree: PathBuf,
    /// The session's own folder.
    pub(crate) dir: PathBuf,
    /// As long as a set-up command may take.
    pub(crate) secs_max: u32,
    /// The mode of the user's own files.
    pub(crate) umask: u32,
}

impl RepoHooks {
    /// Runs a hook as git would, if there is one of this name.
    fn run(&self, name: &'static str, args: &str, index: Option<&Path>) -> Result<(), HookFault> {
        let mut env = self.env.clone();
        // None of these is meant for this repository.
        env.retain(|(name, _)| !MISLEADING.contains(&name.as_str()));
        // Nobody is there to edit anything.
        env.push(("GIT_EDITOR".to_owned(), ":".to_owned()));
        if let Some(index) = index {
            env.push(("GIT_INDEX_FILE".to_owned(), index.to_string_lossy().into_owned()));
        }
        let line = ShellLine {
            command: format!("exec git hook run --ignore-missing {name} -- {args}"),
            env,
            worktree: self.worktree.clone(),
            dir: self.dir.clone(),
            mark: MARK,
            log: self.dir.join(LOG),
            secs_max: self.secs_max,
            told_bytes_max: LINE_BYTES,
            umask: self.umask,
        };
        let (end, last) = line.run(None).map_err(|fault| refused(name, &fault))?;
        match end {
            End::Well => Ok(()),
            End::Failed(status) => {
                Err(refused(name, &format!("{status}; its last output: {last}")))
            }
            End::TooLate | End::CutShort | End::Replaced => {
                Err(refused(name, &format!("no end after {} s", self.secs_max)))
            }
        }
    }
}

impl Hooks for RepoHooks {
    fn before(&self, index: &Path) -> Result<(), HookFault> {
        self.run("pre-commit", "", Some(index))
    }

    fn message(&self, text: &str, source: Source) -> Result<String, HookFault> {
        let (prepare, judge) = ("prepare-commit-msg", "commit-msg");
        let file = self.dir.join(MESSAGE);
        fs::write(&file, format!("{text}\n")).map_err(|fault| refused(prepare, &fault))?;
        let quoted = quoted(&file);
        let source = match source {
            Source::Work => "message",
            Source::Merge => "merge",
        };
        self.run(prepare, &format!("{quoted} {source}"), None)?;
        self.run(judge, &quoted, None)?;
        let told = fs::read_to_string(&file).map_err(|fault| refused(judge, &fault))?;
        let told = told.trim_end();
        if told.is_empty() {
            return Err(refused(judge, &"it has left no message"));
        }
        Ok(told.to_owned())
    }

    fn after(&self) {
        if let Err(fault) = self.run("post-commit", "", None) {
            warn!("{}: {fault}", self.worktree.display());
        }
    }
}

fn refused(name: &'static str, said: &dyn ToString) -> HookFault {
    HookFault { name, said: said.to_string() }
}

/// A path as one word of a shell.
fn quoted(path: &Path) -> String {
    shell_word(&path.to_string_lossy())
}
