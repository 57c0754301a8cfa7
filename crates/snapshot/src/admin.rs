//! Git's own records of its worktrees, `worktrees/NAME` in the repository: read, and put right where
//! git itself would refuse or be too late.

use crate::fault::{About as _, SnapshotFault};
use crate::scratch::{sync_dir, write_durably};
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Why the lock of a worktree inside a worktree is there.
pub(crate) const NESTED_REASON: &str = "nested in a worktree of glis";

/// What git keeps about one worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) dir: PathBuf,
    /// Where the worktree is said to be; `None` if git was killed before it wrote that.
    pub(crate) path: Option<PathBuf>,
    /// Why it is locked, if it is.
    pub(crate) lock: Option<String>,
}

impl Record {
    fn read(dir: PathBuf) -> Self {
        let text = fs::read(dir.join("gitdir")).unwrap_or_default();
        let file = Path::new(OsStr::from_bytes(text.trim_ascii_end()));
        let path = (!text.is_empty()).then(|| dir.join(file));
        let path = path.and_then(|file| file.parent().map(Path::to_owned));
        let lock = fs::read(dir.join("locked")).ok();
        let lock = lock.map(|text| String::from_utf8_lossy(text.trim_ascii_end()).into_owned());
        Self { dir, path, lock }
    }

    /// The record that the worktree at `path` names as its own, if that is one of this repository.
    pub(crate) fn named_by(common: &Path, path: &Path) -> Option<Self> {
        let text = fs::read(path.join(".git")).ok()?;
        let to = text.strip_prefix(b"gitdir: ")?.trim_ascii_end();
        let dir = path.join(OsStr::from_bytes(to)).canonicalize().ok()?;
        let ours = common.join("worktrees").canonicalize().ok()?;
        (dir.parent() == Some(ours.as_path())).then(|| Self::read(dir))
    }

    /// Whether it speaks of this place. The two may be written differently, with links on the way.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        let Some(said) = self.path.as_deref() else { return false };
        let above = |path: &Path| path.parent().and_then(|above| above.canonicalize().ok());
        said == path
            || said.file_name() == path.file_name()
                && above(said).is_some_and(|said| above(path) == Some(said))
    }

    pub(crate) fn is_locked_for(&self, reason: &str) -> bool {
        self.lock.as_deref() == Some(reason)
    }

    /// Locks it for this reason, in place of any other.
    pub(crate) fn relock(&self, reason: &str) -> Result<(), SnapshotFault> {
        // What a kill left of an earlier try.
        drop(fs::remove_file(self.dir.join("locked.lock")));
        write_durably(&self.dir.join("locked"), format!("{reason}\n").as_bytes())
    }

    /// Says that the worktree is at `path`.
    pub(crate) fn point_to(&self, path: &Path) -> Result<(), SnapshotFault> {
        drop(fs::remove_file(self.dir.join("gitdir.lock")));
        let line = [path.join(".git").as_os_str().as_bytes(), b"\n"].concat();
        write_durably(&self.dir.join("gitdir"), &line)
    }

    /// Makes git forget the worktree.
    pub(crate) fn forget(&self) -> Result<(), SnapshotFault> {
        delete_tree(&self.dir)?;
        self.dir.parent().map_or(Ok(()), sync_dir)
    }
}

pub(crate) fn records(common: &Path) -> Vec<Record> {
    let entries = fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
    entries.map(|entry| Record::read(entry.path())).collect()
}

/// Deletes whatever is at a place. What is gone already is gone.
pub(crate) fn delete_tree(path: &Path) -> Result<(), SnapshotFault> {
    let is_folder = match fs::symlink_metadata(path) {
        Ok(meta) => meta.is_dir(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).about(path),
    };
    if !is_folder {
        return fs::remove_file(path).about(path);
    }
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            // Some tools write-protect their folders, Go's store of modules for one.
            open_up(path);
            fs::remove_dir_all(path).about(path)
        }
        done => done.about(path),
    }
}

/// Lets us into all folders. What cannot be opened shows when it is to be deleted.
fn open_up(folder: &Path) {
    drop(fs::set_permissions(folder, Permissions::from_mode(0o700)));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}
