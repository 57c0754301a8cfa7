//! The session's folder: opened once, used by handle, so that neither a long path nor a rename
//! matters.

use std::fs::{DirBuilder, File};
use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::time::Duration;

use glis_wire::hold::{ExitRecord, place};
use rustix::fs::{AtFlags, CWD, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

/// Other users must not read the files of a session.
const FILE_MODE: Mode = Mode::from_raw_mode(0o600);

#[derive(Debug)]
pub(crate) struct Folder(OwnedFd);

#[derive(Debug, thiserror::Error)]
pub(crate) enum LockFault {
    /// Another process has it.
    #[error("it is taken")]
    Taken,
    /// It could not even be tried.
    #[error(transparent)]
    System(io::Error),
}

impl Folder {
    /// Opens the session's folder, or makes it. It must be ours.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
        let folder = rustix::fs::openat(CWD, path, flags, Mode::empty())?;
        if rustix::fs::fstat(&folder)?.st_uid != rustix::process::geteuid().as_raw() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the folder is not ours"));
        }
        Ok(Self(folder))
    }

    /// Opens the folder below this one, or makes it.
    pub(crate) fn below(&self, name: &str) -> io::Result<Self> {
        match rustix::fs::mkdirat(&self.0, name, Mode::from_raw_mode(0o700)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(fault) => return Err(fault.into()),
        }
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
        Ok(Self(rustix::fs::openat(&self.0, name, flags, Mode::empty())?))
    }

    /// Opens a file to add to its end, or makes it.
    pub(crate) fn append(&self, name: &str) -> io::Result<File> {
        self.file(name, OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE)
    }

    pub(crate) fn read(&self, name: &str) -> io::Result<File> {
        self.file(name, OFlags::RDONLY)
    }

    pub(crate) fn anew(&self, name: &str) -> io::Result<File> {
        self.file(name, OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC)
    }

    fn file(&self, name: &str, how: OFlags) -> io::Result<File> {
        let how = how | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        Ok(File::from(rustix::fs::openat(&self.0, name, how, FILE_MODE)?))
    }

    /// Removes a file; one that is not there counts as removed.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.0, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(fault) => Err(fault.into()),
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Whether the folder itself was deleted. One that was moved elsewhere is still in use.
    pub(crate) fn is_deleted(&self) -> bool {
        rustix::fs::fstat(&self.0).is_ok_and(|facts| facts.st_nlink == 0)
    }

    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, from, &self.0, to)?)
    }

    pub(crate) fn lock(&self) -> Result<File, LockFault> {
        let file = self.file(place::LOCK, OFlags::RDWR | OFlags::CREATE);
        take(file.map_err(LockFault::System)?)
    }

    /// Puts the record of the end in its place: whole and durable, or not at all.
    pub(crate) fn write_exit(&self, record: &ExitRecord) -> io::Result<()> {
        const BEFORE: &str = "exit.json.tmp";
        let mut file = self.anew(BEFORE)?;
        file.write_all(&serde_json::to_vec(record)?)?;
        file.sync_all()?;
        self.rename(BEFORE, place::EXIT)?;
        Ok(rustix::fs::fsync(&self.0)?)
    }

    /// The record of the generation that ended last, if it can be read.
    pub(crate) fn exit_record(&self) -> Option<ExitRecord> {
        serde_json::from_reader(self.read(place::EXIT).ok()?).ok()
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

pub(crate) fn lock_at(path: &str) -> Result<File, LockFault> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = rustix::fs::openat(CWD, path, flags, FILE_MODE);
    take(File::from(file.map_err(|fault| LockFault::System(fault.into()))?))
}

/// To find out whether a lock is taken a process takes it for an instant: one look is not enough.
const LOOKS: u32 = 5;
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);

fn take(file: File) -> Result<File, LockFault> {
    for _ in 0..LOOKS {
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(Errno::WOULDBLOCK) => std::thread::sleep(BETWEEN_LOOKS),
            Err(fault) => return Err(LockFault::System(fault.into())),
        }
    }
    Err(LockFault::Taken)
}
