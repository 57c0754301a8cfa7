//! The rights of what a restore makes among git's own files. The process that restores may be a
//! stricter one than the process that made them first, and others may have to read them.

use crate::fault::{About as _, SnapshotFault};
use crate::git::with_umask;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

/// The rights that files do not get, whatever our own process would deny them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Umask(u32);

impl Umask {
    /// The one under which a folder gets these rights. Its owner is never shut out.
    pub(crate) fn of_folder(rights: u32) -> Self {
        Self(0o077 & !rights)
    }

    /// The call, as it is, under this umask.
    pub(crate) fn over(self, call: &Command) -> Command {
        with_umask(call, self.0)
    }

    /// What may be done with a program.
    pub(crate) fn program(self) -> u32 {
        0o777 & !self.0
    }

    /// Makes a folder and those above it that are missing.
    pub(crate) fn make_folders(self, folder: &Path) -> Result<(), SnapshotFault> {
        if folder.is_dir() {
            return Ok(());
        }
        folder.parent().map_or(Ok(()), |above| self.make_folders(above))?;
        fs::create_dir(folder).about(folder)?;
        set(folder, 0o777 & !self.0)
    }

    /// Writes a file and makes the folders that it is in. One that is there keeps its rights.
    pub(crate) fn write(self, path: &Path, bytes: &[u8]) -> Result<(), SnapshotFault> {
        path.parent().map_or(Ok(()), |folder| self.make_folders(folder))?;
        let is_new = fs::symlink_metadata(path).is_err();
        fs::write(path, bytes).about(path)?;
        if is_new { self.open_up(path) } else { Ok(()) }
    }

    /// Gives a file that was made for our own eyes the rights that it is to have.
    pub(crate) fn open_up(self, file: &Path) -> Result<(), SnapshotFault> {
        set(file, 0o666 & !self.0)
    }
}

/// Sets what may be done with a file or a folder.
pub(crate) fn set(path: &Path, rights: u32) -> Result<(), SnapshotFault> {
    fs::set_permissions(path, Permissions::from_mode(rights)).about(path)
}
