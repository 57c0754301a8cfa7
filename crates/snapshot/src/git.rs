//! The one place that runs `git`. Agents can write to the repositories we work in, so nothing of a
//! repository's own (hooks, monitors, pagers) may run on our behalf.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// What went wrong with a call of git.
#[derive(Debug, thiserror::Error)]
pub enum GitFault {
    /// There is no git, or it cannot be run.
    #[error("cannot run git: {0}")]
    NotRun(#[source] std::io::Error),
    #[error("git {verb}: {message}")]
    Refused {
        /// The first word of the command.
        verb: String,
        /// The last thing it said.
        message: String,
    },
    #[error("{} is not in a git repository", .0.display())]
    NoRepository(PathBuf),
}

/// Settings for every call: nothing that the repository configures is executed, nothing is locked
/// that an agent might need at the same moment, nothing is cleaned up behind our back.
const SETTINGS: [&str; 9] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.ext.allow=never",
    "advice.detachedHead=false",
    // Git does not sync these by itself, and what we say is saved must be on the disk.
    "core.fsync=objects,derived-metadata,reference",
    "core.fsyncMethod=fsync",
];

/// Variables that would send git to another repository than the one we name.
pub const MISLEADING: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

/// Variables that make git run a program or write a log of its own.
const MEDDLING: [&str; 9] = [
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
    "GIT_SSH_COMMAND",
    "GIT_PROXY_COMMAND",
    "GIT_ASKPASS",
    "GIT_TRACE",
    "GIT_TRACE2",
    "GIT_TRACE2_EVENT",
    "GIT_CONFIG_PARAMETERS",
];

/// How often git is asked again while another git makes a worktree, and after what time. That git
/// writes the file right after it made it; where it was killed in between, the error is told.
const HALF_MADE_TRIES: u32 = 20;
const HALF_MADE_PAUSE: Duration = Duration::from_millis(10);

/// A call of git in `dir`, ready for its arguments.
pub fn git(dir: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(dir).stdin(Stdio::null());
    for name in MISLEADING.into_iter().chain(MEDDLING) {
        command.env_remove(name);
    }
    command.env("GIT_OPTIONAL_LOCKS", "0").env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0");
    command.envs(crate::task::variable());
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    command
}

/// A call that takes names as they are, and never goes to the network for an object that a partial
/// clone left out.
pub(crate) fn offline(dir: &Path) -> Command {
    let mut command = git(dir);
    command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_LITERAL_PATHSPECS", "1");
    command
}

/// Runs git in `dir` and returns what it prints, without the last newline.
pub fn run<S: AsRef<OsStr>>(dir: &Path, args: &[S]) -> Result<String, GitFault> {
    let output = bytes(git(dir).args(args), args)?;
    let text = String::from_utf8_lossy(&output);
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}

/// A call for files that others than we will use. Only a shell can set the umask of a child without
/// setting that of all our threads. What the call reads and prints is to be set again.
pub(crate) fn with_umask(call: &Command, umask: u32) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", "umask \"$0\" && exec \"$@\"", &format!("{umask:04o}")]);
    shell.arg(call.get_program()).args(call.get_args()).stdin(Stdio::null());
    if let Some(dir) = call.get_current_dir() {
        shell.current_dir(dir);
    }
    for (name, value) in call.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
}

/// As [`run`], under another umask.
pub(crate) fn run_with_umask(dir: &Path, args: &[&str], umask: u32) -> Result<String, GitFault> {
    let output = bytes(&mut with_umask(git(dir).args(args), umask), args)?;
    let text = String::from_utf8_lossy(&output);
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}

/// Runs git on a repository by the folder of its own files, without looking for a worktree.
pub(crate) fn run_in<S: AsRef<OsStr>>(git_dir: &Path, args: &[S]) -> Result<Vec<u8>, GitFault> {
    bytes(offline(git_dir).env("GIT_DIR", git_dir).args(args), args)
}

fn bytes<S: AsRef<OsStr>>(command: &mut Command, args: &[S]) -> Result<Vec<u8>, GitFault> {
    let verb = args.first().map(|arg| arg.as_ref().to_string_lossy()).unwrap_or_default();
    checked(settled(command)?, &verb)
}

/// Runs git, again if it met a worktree that another git was just making: every call that looks at
/// all worktrees dies if it reads the new one's `commondir` in the moment in which that is empty.
pub(crate) fn settled(command: &mut Command) -> Result<Output, GitFault> {
    let mut tries = HALF_MADE_TRIES;
    loop {
        let output = command.output().map_err(GitFault::NotRun)?;
        tries = tries.saturating_sub(1);
        if output.status.success() || tries == 0 || !met_half_made(&output.stderr) {
            return Ok(output);
        }
        std::thread::sleep(HALF_MADE_PAUSE);
    }
}

/// Whether git died of a `commondir` that was empty: nothing went wrong, yet nothing was read.
fn met_half_made(said: &[u8]) -> bool {
    let said = String::from_utf8_lossy(said);
    said.lines().any(|line| {
        line.starts_with("fatal: failed to read ") && line.ends_with("/commondir: Success")
    })
}

/// What a call printed, if it went well.
pub(crate) fn checked(output: Output, verb: &str) -> Result<Vec<u8>, GitFault> {
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let message =
        said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no reason given");
    Err(GitFault::Refused {
        verb: verb.to_owned(),
        message: message.trim_start_matches("fatal: ").to_owned(),
    })
}

/// Refuses a path that git's answers, which are lines, could not be understood about.
pub(crate) fn refuse_line_break(path: &Path) -> Result<(), GitFault> {
    if !path.as_os_str().as_bytes().contains(&b'\n') {
        return Ok(());
    }
    let shown = path.to_string_lossy();
    let message = format!("{shown:?} has a line break in it, and such a path cannot be used");
    Err(GitFault::Refused { verb: "worktree".to_owned(), message })
}

/// What a refusal means. A git that did not run has refused nothing.
pub(crate) fn unless_not_run(fault: GitFault, meant: impl FnOnce() -> GitFault) -> GitFault {
    match fault {
        GitFault::NotRun(_) => fault,
        GitFault::Refused { .. } | GitFault::NoRepository(_) => meant(),
    }
}

/// Only one of our threads makes a worktree in a repository at a time: git itself takes no lock.
#[derive(Debug)]
pub(crate) struct Turn(PathBuf);

static TAKEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
static GIVEN_BACK: Condvar = Condvar::new();

impl Turn {
    /// Waits until no other thread makes one in this repository.
    pub(crate) fn take(common: &Path) -> Self {
        let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken = GIVEN_BACK
            .wait_while(taken, |taken| taken.contains(common))
            .unwrap_or_else(PoisonError::into_inner);
        taken.insert(common.to_owned());
        Self(common.to_owned())
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        TAKEN.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
        GIVEN_BACK.notify_all();
    }
}

/// The worktrees that a folder belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    /// The one that it is in.
    pub top: PathBuf,
    /// The main one of its repository.
    pub main: PathBuf,
}

/// The worktree that `dir` is in, and the main one of its repository.
pub fn roots(dir: &Path) -> Result<Roots, GitFault> {
    let top = run(dir, &["rev-parse", "--show-toplevel"])
        .map_err(|fault| unless_not_run(fault, || GitFault::NoRepository(dir.to_owned())))?;
    let top = PathBuf::from(top);
    // The first one is the main worktree, unless the repository is bare and has none.
    let first = listed(run(dir, &LIST)?.as_bytes()).into_iter().next();
    let main = first.filter(|first| !first.bare).map_or_else(|| top.clone(), |first| first.path);
    Ok(Roots { top, main })
}

/// The call that [`listed`] reads.
pub(crate) const LIST: [&str; 4] = ["worktree", "list", "--porcelain", "-z"];

/// A worktree, as git lists it.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    pub(crate) path: PathBuf,
    /// The full name of the branch that it stands on.
    pub(crate) branch: Option<Vec<u8>>,
    pub(crate) locked: Option<Vec<u8>>,
    /// It is a repository without files.
    pub(crate) bare: bool,
}

/// All worktrees of a repository, as git has listed them.
pub(crate) fn listed(list: &[u8]) -> Vec<Listed> {
    let mut all = Vec::new();
    for line in list.split(|byte| *byte == 0) {
        if let Some(path) = line.strip_prefix(b"worktree ") {
            let path = PathBuf::from(OsStr::from_bytes(path));
            all.push(Listed { path, ..Listed::default() });
            continue;
        }
        let Some(last) = all.last_mut() else { continue };
        if let Some(branch) = line.strip_prefix(b"branch ") {
            last.branch = Some(branch.to_vec());
        } else if let Some(owner) = line.strip_prefix(b"locked ") {
            last.locked = Some(owner.to_vec());
        } else if line == b"bare" {
            last.bare = true;
        }
    }
    all
}
