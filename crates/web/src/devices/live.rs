//! The devices as a running server knows them: what another process changes counts at once.

use super::store::{NAME, Store, StoreFault};
use super::{Book, Refused};
use glis_wire::call::Scope;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::unix::AsyncFd;
use tokio::sync::watch;

/// Some events with the longest names that files can have.
const BUFFER_BYTES: usize = 4096;

type Stamp = Option<(u64, i64, u64)>;

/// The devices, read again whenever their file is another.
pub(crate) struct Devices {
    store: Store,
    known: Mutex<Option<(Stamp, Arc<Book>)>>,
    changes: watch::Sender<()>,
}

impl Devices {
    pub(crate) fn new(store: Store) -> Self {
        Self { store, known: Mutex::default(), changes: watch::Sender::new(()) }
    }

    /// The devices as they are this moment.
    pub(crate) fn now(&self) -> Result<Arc<Book>, StoreFault> {
        let stamp = self.store.stamp();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, book)) = known.as_ref().filter(|(former, _)| *former == stamp) {
            return Ok(Arc::clone(book));
        }
        let book = Arc::new(self.store.read()?);
        *known = Some((stamp, Arc::clone(&book)));
        Ok(book)
    }

    /// Whether this device would be let in again, with as much as it was.
    pub(crate) fn still_has(&self, id: &str, scope: Scope) -> bool {
        self.now().is_ok_and(|book| book.still_has(id, scope))
    }

    /// Returns when it would not be any more.
    pub(crate) async fn until_gone(&self, id: &str, scope: Scope) {
        let mut changes = self.changes.subscribe();
        while self.still_has(id, scope) {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    pub(crate) fn change<T>(
        &self,
        change: impl FnOnce(&mut Book) -> Result<T, Refused>,
    ) -> Result<T, StoreFault> {
        self.store.change(change)
    }

    /// Notes that a device was used, once a day. Where that fails it is let in all the same.
    pub(crate) fn note_use(&self, now: i64, id: &str) {
        let is_to_be_noted = |book: Arc<Book>| {
            book.devices.iter().any(|device| device.id == id && device.is_to_be_noted(now))
        };
        if self.now().is_ok_and(is_to_be_noted) {
            let noted = self.store.change(|book| {
                book.note_use(now, id);
                Ok(())
            });
            drop(noted);
        }
    }

    /// Tells whoever was let in before that the file has changed, for as long as it is polled.
    pub(crate) async fn watch(&self) -> io::Result<()> {
        let fd = watched(&self.store)?;
        loop {
            let mut ready = fd.readable().await?;
            if concerns_us(fd.get_ref())? {
                self.changes.send_replace(());
            }
            ready.clear_ready();
        }
    }
}

#[expect(
    deprecated,
    reason = "its successor is unsafe for descriptors that may be closed; an `OwnedFd` is not"
)]
fn watched(store: &Store) -> io::Result<AsyncFd<OwnedFd>> {
    let fd = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
    let what = WatchFlags::DELETE | WatchFlags::MOVED_FROM | WatchFlags::MOVED_TO;
    inotify::add_watch(&fd, store.folder(), what | WatchFlags::CLOSE_WRITE | WatchFlags::ATTRIB)?;
    AsyncFd::new(fd)
}

/// Reads what has happened. Whether any of it is about the file.
fn concerns_us(fd: &OwnedFd) -> io::Result<bool> {
    let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
    let mut reader = Reader::new(fd, &mut buffer);
    let mut found = false;
    loop {
        match reader.next() {
            Ok(event) => {
                let named =
                    event.file_name().is_some_and(|name| name.to_bytes() == NAME.as_bytes());
                found |= named || event.events().contains(ReadFlags::QUEUE_OVERFLOW);
            }
            Err(Errno::AGAIN) => return Ok(found),
            Err(Errno::INTR) => {}
            Err(fault) => return Err(fault.into()),
        }
    }
}
