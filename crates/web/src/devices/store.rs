//! The file of the devices: only ours to read, changed as a whole, by one process at a time.

use super::{Book, Refused};
use rustix::fs::{FileType, FlockOperation, Mode, OFlags, flock, fstat, lstat, open, stat};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// Its name in the state folder.
pub(crate) const NAME: &str = "devices.json";
/// Ten thousand devices are a few megabytes; more is no file of ours.
const BYTES_MAX: u64 = 16 * 1024 * 1024;

/// As the daemon makes it: whoever is first makes the folder that both use.
const FOLDER_MODE: u32 = 0o700;

#[derive(Debug, Clone)]
pub(crate) struct Store {
    folder: PathBuf,
}

/// Why it cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreFault {
    /// The system does not let us.
    #[error("{path}: {why}")]
    Io { path: String, why: String },
    /// Another user could have written it, or can read it.
    #[error("{0} belongs to another user, is a link, or is open to others; it is not used")]
    NotOurs(String),
    #[error("{path} is damaged: {why}")]
    Damaged { path: String, why: String },
    /// The change is not possible.
    #[error(transparent)]
    Refused(#[from] Refused),
}

impl Store {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// What distinguishes this file from one that was changed: every change makes another file.
    pub(crate) fn stamp(&self) -> Option<(u64, i64, u64)> {
        let found = stat(self.path()).ok()?;
        Some((found.st_ino, found.st_mtime, found.st_mtime_nsec))
    }

    /// Everything that is kept; nothing where there is no file.
    pub(crate) fn read(&self) -> Result<Book, StoreFault> {
        match self.open(OFlags::RDONLY) {
            Ok(file) => {
                self.check_folder()?;
                self.parse(file)
            }
            Err(Errno::NOENT) => Ok(Book::default()),
            Err(fault) => Err(self.fault(fault)),
        }
    }

    /// Changes it. A refusal changes as much of it as it says.
    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&mut Book) -> Result<T, Refused>,
    ) -> Result<T, StoreFault> {
        std::fs::DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(&self.folder).ok();
        self.check_folder()?;
        let _turn = self.turn()?;
        let mut book = self.read()?;
        let former = book.clone();
        let done = change(&mut book);
        if book != former {
            self.write(&book).map_err(|fault| self.io(&fault))?;
        }
        Ok(done?)
    }

    /// The file itself, locked. Every change puts another file in its place, so the lock counts only
    /// if it is still the same file.
    fn turn(&self) -> Result<File, StoreFault> {
        loop {
            let file = match self.open(OFlags::RDWR | OFlags::CREATE) {
                Ok(file) => file,
                Err(fault) => return Err(self.fault(fault)),
            };
            match flock(&file, FlockOperation::LockExclusive) {
                Ok(()) => {}
                Err(Errno::INTR) => continue,
                Err(fault) => return Err(self.fault(fault)),
            }
            let held = fstat(&file).map(|held| (held.st_dev, held.st_ino));
            let there = stat(self.path()).map(|there| (there.st_dev, there.st_ino));
            if held.is_ok() && held == there {
                return Ok(file);
            }
        }
    }

    fn parse(&self, file: File) -> Result<Book, StoreFault> {
        let found = fstat(&file).map_err(|fault| self.fault(fault))?;
        let regular = FileType::from_raw_mode(found.st_mode).is_file();
        let open_to_others = found.st_mode & 0o077 != 0;
        if !regular || open_to_others || found.st_uid != geteuid().as_raw() {
            return Err(StoreFault::NotOurs(self.path().display().to_string()));
        }
        let mut text = String::new();
        file.take(BYTES_MAX).read_to_string(&mut text).map_err(|fault| self.io(&fault))?;
        if text.is_empty() {
            return Ok(Book::default());
        }
        serde_json::from_str(&text).map_err(|fault| StoreFault::Damaged {
            path: self.path().display().to_string(),
            why: fault.to_string(),
        })
    }

    /// A folder that others can write to could have any file put in it, and a link leads wherever who made
    /// it likes. The daemon uses neither.
    fn check_folder(&self) -> Result<(), StoreFault> {
        let found = lstat(&self.folder).map_err(|fault| self.fault(fault))?;
        let is_folder = FileType::from_raw_mode(found.st_mode).is_dir();
        if !is_folder || found.st_uid != geteuid().as_raw() || found.st_mode & 0o022 != 0 {
            return Err(StoreFault::NotOurs(self.folder.display().to_string()));
        }
        Ok(())
    }

    fn open(&self, how: OFlags) -> Result<File, Errno> {
        let flags = how | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        open(self.path(), flags, Mode::RUSR | Mode::WUSR).map(File::from)
    }

    fn write(&self, book: &Book) -> io::Result<()> {
        let fresh = self.folder.join(format!("{NAME}.new"));
        // Only who has the turn comes here; what lies there was left by one that died.
        std::fs::remove_file(&fresh).ok();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mut file = File::from(open(&fresh, flags, Mode::RUSR | Mode::WUSR)?);
        file.write_all(serde_json::to_string_pretty(book)?.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&fresh, self.path())?;
        File::open(&self.folder)?.sync_all()
    }

    fn path(&self) -> PathBuf {
        self.folder.join(NAME)
    }

    fn fault(&self, fault: Errno) -> StoreFault {
        if fault == Errno::LOOP {
            return StoreFault::NotOurs(self.path().display().to_string());
        }
        self.io(&fault.into())
    }

    fn io(&self, fault: &io::Error) -> StoreFault {
        StoreFault::Io { path: self.path().display().to_string(), why: fault.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glis_wire::call::Scope;
    use std::os::unix::fs::PermissionsExt as _;

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path());
        (folder, store)
    }

    fn token(store: &Store, name: &str) -> Result<String, StoreFault> {
        store.change(|book| book.token(1_800_000_000, name, Scope::Watch)).map(|(_, secret)| secret)
    }

    #[test]
    fn a_change_is_found_again_and_only_ours_to_read() {
        let (folder, store) = store();
        assert_eq!(store.read().unwrap(), Book::default());
        token(&store, "ci").unwrap();
        assert_eq!(store.read().unwrap().devices.len(), 1);
        let mode = std::fs::metadata(folder.path().join(NAME)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_folder_that_is_missing_is_made_for_us_alone() {
        let (folder, _) = store();
        let made = folder.path().join("state");
        token(&Store::new(&made), "ci").unwrap();
        assert_eq!(std::fs::metadata(made).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn changes_at_once_are_all_made() {
        let (_folder, store) = store();
        std::thread::scope(|scope| {
            for number in 0..16 {
                let store = &store;
                scope.spawn(move || token(store, &number.to_string()).unwrap());
            }
        });
        assert_eq!(store.read().unwrap().devices.len(), 16);
    }

    #[test]
    fn a_link_an_open_file_and_garbage_are_not_used() {
        let (folder, store) = store();
        let path = folder.path().join(NAME);
        token(&store, "ci").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(store.read(), Err(StoreFault::NotOurs(_))));
        std::fs::rename(&path, folder.path().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink("elsewhere", &path).unwrap();
        assert!(matches!(store.read(), Err(StoreFault::NotOurs(_))));
        assert!(matches!(token(&store, "other"), Err(StoreFault::NotOurs(_))));
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "{").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert!(matches!(store.read(), Err(StoreFault::Damaged { .. })));
        assert!(matches!(token(&store, "ci"), Err(StoreFault::Damaged { .. })));
    }

    #[test]
    fn a_folder_that_others_write_to_is_not_used() {
        let (folder, store) = store();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(token(&store, "ci"), Err(StoreFault::NotOurs(_))));
    }

    #[test]
    fn every_change_has_a_stamp_of_its_own() {
        let (_folder, store) = store();
        assert_eq!(store.stamp(), None);
        token(&store, "one").unwrap();
        let first = store.stamp();
        token(&store, "two").unwrap();
        assert_ne!(store.stamp(), first);
    }
}
