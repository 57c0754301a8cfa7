//! The devices as a running server knows them: what another process changes counts at once.

use super::store::{NAME, Store, StoreFault};
use super::{Book, Paired, Refused};
use glis_os::watch::{Change, Watch};
use glis_wire::call::Scope;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

type Stamp = Option<(u64, i64, u64)>;

/// The devices, read again whenever their file is another.
pub(crate) struct Devices {
    store: Store,
    known: Mutex<Option<(Stamp, Arc<Book>)>>,
    changes: watch::Sender<()>,
    /// Wrong codes since this server began.
    wrong: AtomicU32,
}

impl Devices {
    pub(crate) fn new(store: Store) -> Self {
        let (known, changes, wrong) = (Mutex::default(), watch::Sender::new(()), AtomicU32::new(0));
        Self { store, known, changes, wrong }
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

    /// Exchanges a code for a device and its secret. A code is too long to be guessed, so wrong ones shut nobody
    /// out; they are counted.
    pub(crate) fn redeem(&self, now: i64, code: &str) -> Result<Paired, StoreFault> {
        // Looked at first without a change of the file: anybody can bring wrong codes, and many.
        match Book::clone(&*self.now()?).redeem(now, code) {
            Ok(_) => {
                self.wrong.store(0, Ordering::Relaxed);
                self.store.change(|book| {
                    let redeemed = book.redeem(now, code)?;
                    book.wrong = 0;
                    Ok(redeemed)
                })
            }
            Err(refused) => {
                if refused == Refused::WrongCode {
                    self.count_wrong()?;
                }
                Err(refused.into())
            }
        }
    }

    /// Counts a wrong code. It is written at the first, the second, the fourth and so on.
    fn count_wrong(&self) -> Result<(), StoreFault> {
        let count = self.wrong.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        if !count.is_power_of_two() {
            return Ok(());
        }
        self.store.change(|book| {
            book.wrong = book.wrong.saturating_add(count - count / 2);
            Ok(())
        })
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
        let watch = Watch::new()?;
        watch.entries_of(self.store.folder())?;
        loop {
            let concerns_us = |change: &Change| match change {
                Change::Entry(name) => name == NAME,
                Change::Folder => true,
            };
            if watch.next().await?.iter().any(concerns_us) {
                self.changes.send_replace(());
            }
        }
    }
}
