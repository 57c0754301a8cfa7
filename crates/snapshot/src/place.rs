//! Where a worktree is, where git keeps its files, and what its HEAD says.

use crate::fault::{About as _, SnapshotFault};
use crate::git::{offline, refuse_line_break};
use crate::hash::{Format, Oid};
use crate::index::Index;
use rustix::fs::{Mode, OFlags};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A worktree with its repository.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The folder with the files.
    pub(crate) root: PathBuf,
    /// What git keeps for this worktree alone.
    pub(crate) git_dir: PathBuf,
    /// What git keeps for all worktrees of the repository.
    pub(crate) common: PathBuf,
    pub(crate) format: Format,
    pub(crate) head: Head,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    /// The branch, as `refs/heads/…`.
    pub(crate) branch: Option<String>,
    /// The commit; `None` before the first one.
    pub(crate) commit: Option<Oid>,
}

impl Place {
    /// Finds the repository of the worktree that is exactly at `root`.
    pub(crate) fn find(root: &Path) -> Result<Self, SnapshotFault> {
        Self::find_by(root, offline)
    }

    /// As [`Self::find`], also for a submodule in a worktree that was moved: its repository still
    /// names the former place.
    pub(crate) fn find_moved(root: &Path) -> Result<Self, SnapshotFault> {
        if !root.join(".git").is_file() {
            return Self::find(root);
        }
        Self::find_by(root, |root| {
            let mut command = offline(root);
            command.env("GIT_DIR", root.join(".git")).env("GIT_WORK_TREE", root);
            command
        })
    }

    /// As [`Self::find`] for a worktree of a repository that is known already, without asking git.
    /// `refs` are its branches. None where only git can tell.
    pub(crate) fn known(
        root: &Path,
        common: &Path,
        format: Format,
        refs: &HashMap<String, Oid>,
    ) -> Option<Self> {
        if common.join("reftable").is_dir() {
            return None;
        }
        let root = root.canonicalize().ok()?;
        let common = common.canonicalize().ok()?;
        let dot_git = root.join(".git");
        let git_dir = if dot_git.is_dir() {
            dot_git.canonicalize().ok().filter(|dir| *dir == common)?
        } else {
            let record = crate::admin::Record::named_by(&common, &root)?;
            record.is_at(&root).then_some(record.dir)?
        };
        let text = std::fs::read(git_dir.join("HEAD")).ok()?;
        let head = match text.strip_prefix(b"ref:") {
            Some(name) => {
                let branch = String::from_utf8_lossy(name).trim().to_owned();
                Head { commit: refs.get(&branch).copied(), branch: Some(branch) }
            }
            None => Head { branch: None, commit: Oid::from_hex(text.trim_ascii_end()) },
        };
        Some(Self { root, git_dir, common, format, head })
    }

    fn find_by(root: &Path, git: impl Fn(&Path) -> Command) -> Result<Self, SnapshotFault> {
        if !root.is_dir() {
            return Err(SnapshotFault::Gone(root.to_owned()));
        }
        let root = root.canonicalize().about(root)?;
        refuse_line_break(&root)?;
        let asked = [
            "rev-parse",
            "--path-format=absolute",
            "--absolute-git-dir",
            "--git-common-dir",
            "--show-toplevel",
            "--show-object-format",
            "HEAD^{commit}",
        ];
        let output = git(&root).args(asked).output().map_err(crate::GitFault::NotRun)?;
        // A line for each question: one more is the second half of a path to git's own files.
        if output.stdout.trim_ascii_end().split(|byte| *byte == b'\n').count() > asked.len() - 2 {
            let root = root.display();
            let message = format!("the path of the repository of {root} has a line break in it");
            return Err(crate::fault::said_by_git("worktree", &message));
        }
        let mut lines = output.stdout.split(|byte| *byte == b'\n');
        let mut path = || {
            let line = lines.next().filter(|line| line.first() == Some(&b'/'));
            line.map(|line| PathBuf::from(OsStr::from_bytes(line)))
        };
        let (git_dir, common, top) = (path(), path(), path());
        let (Some(git_dir), Some(common), Some(top)) = (git_dir, common, top) else {
            let said = String::from_utf8_lossy(&output.stderr);
            let lost = said.contains("not a git repository") && !root.join(".git").exists();
            return Err(if lost {
                SnapshotFault::Gone(root)
            } else {
                crate::fault::said_by_git("rev-parse", &said)
            });
        };
        // Without its own `.git`, git would climb to a repository further up and save that one.
        if top.canonicalize().ok().as_deref() != Some(root.as_path()) {
            return Err(SnapshotFault::Gone(root));
        }
        let word =
            |line: Option<&[u8]>| String::from_utf8_lossy(line.unwrap_or_default()).into_owned();
        let format = word(lines.next());
        let format = Format::by_name(&format)
            .ok_or_else(|| SnapshotFault::Broken(format!("unknown object format {format:?}")))?;
        let commit = lines.next().and_then(Oid::from_hex);
        let branch = branch(&git_dir, &common)?;
        Ok(Self { root, git_dir, common, format, head: Head { branch, commit } })
    }

    /// The index, read with a single open: git replaces the file as a whole, so this is one state.
    pub(crate) fn index(&self) -> Result<Index, SnapshotFault> {
        let path = self.git_dir.join("index");
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let mut file = match rustix::fs::open(&path, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(rustix::io::Errno::NOENT) => return Ok(Index::empty(self.format)),
            Err(errno) => return Err(errno).about(&path),
        };
        let meta = file.metadata().about(&path)?;
        let mut raw = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or_default());
        file.read_to_end(&mut raw).about(&path)?;
        let mtime_ns = meta.mtime() * 1_000_000_000 + meta.mtime_nsec();
        let broken = |damage: crate::index::Damaged| SnapshotFault::Broken(damage.to_string());
        let index = Index::parse(raw, self.format, mtime_ns).map_err(broken)?;
        if !index.split {
            return Ok(index);
        }
        let (raw, base_mtime_ns) = self.joined_index(&index.raw)?;
        Index::parse(raw, self.format, mtime_ns.min(base_mtime_ns)).map_err(broken)
    }

    /// Lets git put a split index together, in a copy.
    fn joined_index(&self, raw: &[u8]) -> Result<(Vec<u8>, i64), SnapshotFault> {
        let scratch = crate::scratch::Scratch::create(&self.common, self.format, &[])?;
        let copy = scratch.path().join("index");
        std::fs::write(&copy, raw).about(&copy)?;
        let output = offline(&self.root)
            .env("GIT_DIR", &self.git_dir)
            .env("GIT_WORK_TREE", &self.root)
            .env("GIT_INDEX_FILE", &copy)
            .args(["-c", "core.splitIndex=false", "update-index", "--no-split-index"])
            .output()
            .map_err(crate::GitFault::NotRun)?;
        crate::git::checked(output, "update-index")?;
        let shared = std::fs::read_dir(&self.git_dir).about(&self.git_dir)?.flatten();
        let oldest = shared
            .filter(|entry| entry.file_name().as_bytes().starts_with(b"sharedindex."))
            .filter_map(|entry| entry.metadata().ok())
            .map(|meta| meta.mtime() * 1_000_000_000 + meta.mtime_nsec())
            .min();
        Ok((std::fs::read(&copy).about(&copy)?, oldest.unwrap_or_default()))
    }
}

/// The top of the worktree that `dir` is in; `None` only if it is in no repository at all. A
/// repository that git refuses, and a folder that is not there, are faults.
pub fn top_of(dir: &Path) -> Result<Option<PathBuf>, SnapshotFault> {
    if !dir.is_dir() {
        return Err(SnapshotFault::Gone(dir.to_owned()));
    }
    let from = dir.canonicalize().about(dir)?;
    let output = offline(&from)
        .args(["rev-parse", "--show-toplevel"])
        .output()
        .map_err(|error| cannot_stand(&from, error))?;
    if output.status.success() {
        let line = output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout);
        return Ok(Some(PathBuf::from(OsStr::from_bytes(line))));
    }
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("not a git repository") && !is_below_git(&from)? {
        return Ok(None);
    }
    Err(crate::fault::said_by_git("rev-parse", &said))
}

/// Whether git cannot be run at all, or only not in this folder.
fn cannot_stand(dir: &Path, error: std::io::Error) -> SnapshotFault {
    match std::fs::read_dir(dir) {
        Err(why) => crate::fault::said_by_system(dir, why),
        Ok(_) => crate::GitFault::NotRun(error).into(),
    }
}

/// Whether there is a `.git` in a folder or above it, as far as git looks: to the end of the file
/// system. An empty folder of that name never was a repository.
fn is_below_git(dir: &Path) -> Result<bool, SnapshotFault> {
    let device = dir.metadata().about(dir)?.dev();
    for folder in dir.ancestors() {
        if folder.metadata().is_ok_and(|meta| meta.dev() != device) {
            break;
        }
        let at = folder.join(".git");
        let is_empty = || std::fs::read_dir(&at).is_ok_and(|mut inside| inside.next().is_none());
        match at.symlink_metadata() {
            Ok(meta) if meta.is_dir() && is_empty() => {}
            Ok(_) => return Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).about(folder),
        }
    }
    Ok(false)
}

/// The branch that HEAD stands on.
fn branch(git_dir: &Path, common: &Path) -> Result<Option<String>, SnapshotFault> {
    if common.join("reftable").is_dir() {
        let said = crate::git::run_in(git_dir, &["symbolic-ref", "--quiet", "HEAD"]);
        return Ok(said.ok().map(|name| String::from_utf8_lossy(&name).trim_end().to_owned()));
    }
    let path = git_dir.join("HEAD");
    let text = std::fs::read(&path).about(&path)?;
    let name = text.strip_prefix(b"ref:").map(|name| String::from_utf8_lossy(name));
    Ok(name.map(|name| name.trim().to_owned()))
}
