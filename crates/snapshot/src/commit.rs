//! A worktree's files as a commit on its own branch. The worktree keeps every byte; nothing that the
//! repository configures is run, unless the caller runs it ([`Hooks`]).

use crate::fault::{About as _, SnapshotFault};
use crate::filters;
use crate::git::{GitFault, checked, git, run_in, settled};
use crate::hooks::{HookFault, Hooks, Source};
use crate::place::Place;
use crate::scratch::{Scratch, sync_dir};
use crate::submodules;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// What git leaves in a worktree's own folder while something waits to be finished there.
const UNFINISHED: [(&str, &str); 6] = [
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("BISECT_LOG", "bisect"),
];

/// The index to come, beside the index. It becomes git's lock by another name for the same file: what of the two
/// a killed commit leaves behind tells that the lock was ours.
const OWN: &str = "index.glis";

/// Where files lie in a worktree that came with a message. They are for the agent to read: every snapshot
/// holds them, ignored or not, and no commit of ours does.
pub const SENT: &str = ".glis/files";

#[derive(Debug, Clone, Copy)]
pub struct CommitRequest<'a> {
    /// The top of the worktree. No process may be writing to it.
    pub worktree: &'a Path,
    pub branch: &'a str,
    pub message: &'a str,
    /// What runs the hooks of the repository, if they are to have a say.
    pub hooks: Option<&'a dyn Hooks>,
}

/// Everything that a worktree holds and git does not ignore is in this commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    pub commit: String,
    /// Whether it was made by this call. If nothing had changed, it is the one that was there.
    pub fresh: bool,
}

/// Why nothing was committed. Nothing has changed.
#[derive(Debug, thiserror::Error)]
pub enum CommitFault {
    /// The worktree stands on another branch, or on none.
    #[error("{} is not on the branch {branch}, but on {}", .worktree.display(),
        .found.as_deref().unwrap_or("no branch"))]
    OffBranch { worktree: PathBuf, branch: String, found: Option<String> },
    /// A merge or the like waits to be finished.
    #[error("a {what} is not finished in {}", .worktree.display())]
    Unfinished { worktree: PathBuf, what: &'static str },
    /// A folder is a repository of its own, whose files no commit of this one can hold.
    #[error("{path} is a repository of its own, so its files would not be in the commit")]
    Nested { path: String },
    /// A submodule holds what no commit of this repository can hold, or is at a commit that nobody else has.
    #[error("the submodule {path} has changes that would not be in the commit")]
    Submodule { path: String },
    #[error(transparent)]
    Hook(#[from] HookFault),
    /// Something else kept it.
    #[error(transparent)]
    Snapshot(#[from] SnapshotFault),
}

impl From<GitFault> for CommitFault {
    fn from(fault: GitFault) -> Self {
        Self::Snapshot(fault.into())
    }
}

/// Commits everything that differs from HEAD and is not ignored. Killed at any step it can be
/// repeated: until the branch moves, at the end, only the index knows of it.
pub fn commit_work(request: &CommitRequest<'_>) -> Result<Committed, CommitFault> {
    let place = Place::find(request.worktree)?;
    check_stand(&place, request.branch)?;
    let scratch = Scratch::create(&place.common, place.format, &[])?;
    let index = Index::copy(&place, &scratch)?;
    let mut adding = git(&place.root);
    filters::only_of_the_user(&mut adding, &place.root)?;
    adding.args(["-c", "core.splitIndex=false", "-c", "advice.addEmbeddedRepo=false"]);
    adding.args(["add", "--all", "--", "."]).env("GIT_INDEX_FILE", &index.copy);
    checked(settled(&mut adding)?, "add")?;
    index.leave_out_sent(&place)?;
    index.refuse_nested(&place)?;
    let mut tree = index.say(&place, &["write-tree"])?;
    let head = place.head.commit.map(|commit| commit.to_string());
    let committed = match &head {
        Some(head) => crate::git::run(&place.root, &["rev-parse", &format!("{head}^{{tree}}")])?,
        None => String::new(),
    };
    let hooks = request.hooks.filter(|_| tree != committed);
    let mut message = request.message.to_owned();
    if let Some(hooks) = hooks {
        hooks.before(&index.copy)?;
        index.refuse_nested(&place)?;
        tree = index.say(&place, &["write-tree"])?;
        message = hooks.message(&message, Source::Work)?;
    }
    if tree == committed {
        index.install(&place)?;
        return Ok(Committed { commit: head.unwrap_or_default(), fresh: false });
    }
    let mut args = vec!["commit-tree", &tree, "-m", &message];
    args.extend(head.iter().flat_map(|head| ["-p", head.as_str()]));
    let commit = crate::git::run(&place.root, &args)?;
    // The index first: what a kill leaves is staged, as if by the agent itself. The other way round
    // the next commit of the agent would take everything back.
    index.install(&place)?;
    let full = format!("refs/heads/{}", request.branch);
    // Nothing at all: there must be no such branch yet.
    let former = head.as_deref().unwrap_or_default();
    let why = "commit: work of a session";
    run_in(&place.git_dir, &["update-ref", "-m", why, &full, &commit, former])?;
    if let Some(hooks) = hooks {
        hooks.after();
    }
    Ok(Committed { commit, fresh: true })
}

/// Whether a worktree has anything that its HEAD has not, beside what git ignores and what came with a message.
pub fn is_changed(worktree: &Path) -> Result<bool, SnapshotFault> {
    let mut asked = git(worktree);
    filters::only_of_the_user(&mut asked, worktree)?;
    asked.args(["status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty"]);
    let sent = format!(":(exclude,top){SENT}");
    let said = checked(settled(asked.args(["--", ".", &sent]))?, "status")?;
    let mut links = submodules::links(worktree)?.into_iter();
    let in_one = links.try_fold(false, |changed, link| {
        Ok::<_, GitFault>(changed || submodules::is_changed(&worktree.join(link.path))?)
    })?;
    Ok(!said.is_empty() || in_one)
}

/// Makes a worktree what its HEAD has, beside what git ignores and what came with a message. Whoever wants the
/// rest has saved it.
pub fn discard_changes(worktree: &Path) -> Result<(), SnapshotFault> {
    for (verb, args) in
        [("reset", &["--hard", "--quiet"][..]), ("clean", &["-f", "-d", "-q", "-e", SENT][..])]
    {
        let mut call = git(worktree);
        filters::only_of_the_user(&mut call, worktree)?;
        checked(settled(call.arg(verb).args(args))?, verb)?;
    }
    for link in submodules::links(worktree)? {
        let submodule = worktree.join(link.path);
        if submodules::is_repository(&submodule) && submodules::is_changed(&submodule)? {
            discard_changes(&submodule)?;
        }
    }
    Ok(())
}

fn check_stand(place: &Place, branch: &str) -> Result<(), CommitFault> {
    let worktree = place.root.clone();
    if let Some((_, what)) =
        UNFINISHED.into_iter().find(|(name, _)| place.git_dir.join(name).exists())
    {
        return Err(CommitFault::Unfinished { worktree, what });
    }
    let found = place.head.branch.as_deref().map(|full| full.trim_start_matches("refs/heads/"));
    if found == Some(branch) {
        return Ok(());
    }
    let found = found.map(str::to_owned);
    Err(CommitFault::OffBranch { worktree, branch: branch.to_owned(), found })
}

/// A copy of a worktree's index, and what that was when it was copied.
struct Index {
    copy: PathBuf,
    former: Option<Vec<u8>>,
}

impl Index {
    fn copy(place: &Place, scratch: &Scratch) -> Result<Self, SnapshotFault> {
        let copy = scratch.path().join("index");
        let former = read(&place.git_dir.join("index"))?;
        if let Some(bytes) = &former {
            fs::write(&copy, bytes).about(&copy)?;
            same_time(&place.git_dir.join("index"), &copy)?;
        }
        Ok(Self { copy, former })
    }

    /// What git says with this index.
    fn say(&self, place: &Place, args: &[&str]) -> Result<String, GitFault> {
        let mut call = git(&place.root);
        call.args(args).env("GIT_INDEX_FILE", &self.copy);
        let said = checked(settled(&mut call)?, args.first().copied().unwrap_or_default())?;
        Ok(String::from_utf8_lossy(&said).trim_end_matches('\n').to_owned())
    }

    /// Takes what came with a message out again, unless the branch has such a folder of its own. A pathspec
    /// would not do: `git add` refuses one that excludes what is ignored.
    fn leave_out_sent(&self, place: &Place) -> Result<(), GitFault> {
        let has_own = |head: String| {
            let asked = format!("{head}:{SENT}");
            crate::git::run(&place.root, &["rev-parse", "--verify", "--quiet", &asked]).is_ok()
        };
        let sent = place.root.join(SENT).is_dir();
        if sent && !place.head.commit.is_some_and(|commit| has_own(commit.to_string())) {
            self.say(place, &["rm", "-r", "--cached", "--quiet", "--ignore-unmatch", "--", SENT])?;
        }
        Ok(())
    }

    /// A repository inside the worktree is added as the name of a commit that only it has. One that
    /// HEAD knows already is a submodule, and may move to a commit that others have.
    fn refuse_nested(&self, place: &Place) -> Result<(), CommitFault> {
        let Some(head) = &place.head.commit else { return Ok(()) };
        let asked = ["diff-index", "--cached", "--raw", "-z", "--no-renames", &head.to_string()];
        let said = self.say(place, &asked)?;
        let mut words = said.split('\0');
        while let (Some(facts), Some(path)) = (words.next(), words.next()) {
            if facts.starts_with(":000000 160000") {
                return Err(CommitFault::Nested { path: path.to_owned() });
            }
        }
        let links = submodules::listed(git(&place.root).env("GIT_INDEX_FILE", &self.copy))?;
        if let Some(path) = submodules::first_lost(&place.root, &links)? {
            let path = path.to_string_lossy().into_owned();
            return Err(CommitFault::Submodule { path });
        }
        Ok(())
    }

    /// Puts the copy in the index's place, by git's own lock. An index that has changed meanwhile
    /// stays as it is, and nothing is committed.
    fn install(&self, place: &Place) -> Result<(), SnapshotFault> {
        let path = place.git_dir.join("index");
        let bytes = fs::read(&self.copy).about(&self.copy)?;
        if self.former.as_ref() == Some(&bytes) {
            return Ok(());
        }
        let own = place.git_dir.join(OWN);
        let lock = place.git_dir.join("index.lock");
        forget_own(&own, &lock)?;
        let mut file = File::create_new(&own).about(&own)?;
        file.write_all(&bytes).and_then(|()| file.sync_all()).about(&own)?;
        same_time(&self.copy, &own)?;
        let written = fs::hard_link(&own, &lock).about(&lock).and_then(|()| {
            let written = if read(&path)? == self.former {
                fs::rename(&lock, &path).about(&path)
            } else {
                let why = "another git is at work there; try again".to_owned();
                Err(SnapshotFault::InTheWay { path: path.clone(), why })
            };
            if written.is_err() {
                drop(fs::remove_file(&lock));
            }
            written
        });
        // It is the index now, or nothing.
        drop(fs::remove_file(&own));
        written.and_then(|()| sync_dir(&place.git_dir))
    }
}

/// Removes what a commit has left that was killed. A lock that is the same file as ours was ours; any other is
/// that of a git which may live.
fn forget_own(own: &Path, lock: &Path) -> Result<(), SnapshotFault> {
    let Ok(ours) = fs::symlink_metadata(own) else { return Ok(()) };
    let is_ours = |met: fs::Metadata| (met.dev(), met.ino()) == (ours.dev(), ours.ino());
    if fs::symlink_metadata(lock).is_ok_and(is_ours) {
        fs::remove_file(lock).about(lock)?;
    }
    fs::remove_file(own).about(own)
}

/// Gives a copy of an index the time of the index. Git knows seconds, and by this one whether a file may have been
/// changed in the very second that the index tells of: then it looks at the bytes.
fn same_time(index: &Path, copy: &Path) -> Result<(), SnapshotFault> {
    let time = fs::metadata(index).and_then(|facts| facts.modified()).about(index)?;
    File::options().write(true).open(copy).and_then(|file| file.set_modified(time)).about(copy)
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, SnapshotFault> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).about(path),
    }
}
