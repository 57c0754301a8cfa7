//! Being told by the kernel what happens to folders, so that nothing has to be looked at again and
//! again.

use super::polled::polled;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use std::ffi::OsString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// One event with the longest name that a file can have, some times over.
const BUFFER_BYTES: usize = 4096;

#[derive(Debug)]
pub struct Watch(AsyncFd<OwnedFd>);

/// What has happened.
#[derive(Debug, PartialEq, Eq)]
pub enum Change {
    /// Something with this name in a watched folder is gone, is another, was written, or has other rights.
    Entry(OsString),
    /// A watched folder itself is gone or has moved, or more has happened than the kernel remembers.
    Folder,
}

impl Watch {
    /// It belongs to the runtime that this is called in.
    pub fn new() -> io::Result<Self> {
        let fd = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        polled(fd, Interest::READABLE).map(Self)
    }

    pub fn entries_of(&self, folder: &Path) -> io::Result<()> {
        // A file that is only made anew replaced nothing: what was there had to go before.
        let entries = WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::ATTRIB;
        self.add(folder, entries | WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF)
    }

    /// Watches whether a folder goes or moves, whatever happens in it.
    pub fn place_of(&self, folder: &Path) -> io::Result<()> {
        self.add(folder, WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF)
    }

    fn add(&self, folder: &Path, what: WatchFlags) -> io::Result<()> {
        // One folder may be watched for two reasons.
        let flags = what | WatchFlags::MASK_ADD | WatchFlags::ONLYDIR;
        inotify::add_watch(self.0.get_ref(), folder, flags)?;
        Ok(())
    }

    /// What has happened since this was last asked; waits until something has.
    pub async fn next(&self) -> io::Result<Vec<Change>> {
        loop {
            let mut ready = self.0.readable().await?;
            let changes = read(self.0.get_ref())?;
            ready.clear_ready();
            if !changes.is_empty() {
                return Ok(changes);
            }
        }
    }
}

fn read(fd: &OwnedFd) -> io::Result<Vec<Change>> {
    let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
    let mut reader = Reader::new(fd, &mut buffer);
    let mut changes = Vec::new();
    loop {
        match reader.next() {
            Ok(event) if event.events().contains(ReadFlags::IGNORED) => {}
            Ok(event) => changes.push(event.file_name().map_or(Change::Folder, |name| {
                Change::Entry(OsString::from_vec(name.to_bytes().to_vec()))
            })),
            Err(Errno::AGAIN) => return Ok(changes),
            Err(Errno::INTR) => {}
            Err(fault) => return Err(fault.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_happens_in_a_folder_and_to_it_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let (home, elsewhere) = (dir.path().join("home"), dir.path().join("elsewhere"));
        std::fs::create_dir(&home).unwrap();
        let watch = Watch::new().unwrap();
        watch.entries_of(&home).unwrap();
        std::fs::write(home.join("a"), "x").unwrap();
        std::fs::remove_file(home.join("a")).unwrap();
        let entry = || Change::Entry("a".into());
        assert_eq!(watch.next().await.unwrap(), [entry(), entry()]);
        std::fs::rename(&home, &elsewhere).unwrap();
        assert_eq!(watch.next().await.unwrap(), [Change::Folder]);
    }
}
