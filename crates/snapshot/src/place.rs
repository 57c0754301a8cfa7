//! Where a worktree is, where git keeps its files, and what its HEAD says.

use crate::fault::{About as _, SnapshotFault};
use crate::git::offline;
use crate::hash::{Format, Oid};
use crate::index::Index;
use rustix::fs::{Mode, OFlags};
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

/// What HEAD says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    /// The branch, as `refs/heads/…`.
    pub(crate) branch: Option<String>,
    /// The commit; `None` before the first one.
    pub(crate) commit: Option<Oid>,
}

/// The top of the worktree that a folder is in; none only if it is in no repository at all.
pub fn top_of(dir: &Path) -> Result<Option<PathBuf>, SnapshotFault> {
    if !dir.is_dir() {
        return Err(SnapshotFault::Gone(dir.to_owned()));
    }
    let asked = ["rev-parse", "--show-toplevel"];
    let output = offline(dir).args(asked).output().map_err(crate::GitFault::NotRun)?;
    if output.status.success() {
        let line = output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout);
        return Ok(Some(PathBuf::from(OsStr::from_bytes(line))));
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let dir = dir.canonicalize().about(dir)?;
    let none = said.contains("not a git repository")
        && !dir.ancestors().any(|dir| is_something(&dir.join(".git")));
    if none { Ok(None) } else { Err(crate::fault::said_by_git("rev-parse", &said)) }
}

/// Whether there is more than an empty folder.
fn is_something(path: &Path) -> bool {
    match std::fs::read_dir(path) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => path.symlink_metadata().is_ok(),
    }
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

    fn find_by(root: &Path, git: impl Fn(&Path) -> Command) -> Result<Self, SnapshotFault> {
        if !root.is_dir() {
            return Err(SnapshotFault::Gone(root.to_owned()));
        }
        let root = root.canonicalize().about(root)?;
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
