//! What a holder does when its own files are taken away: it puts back what it needs to be found by.
//!
//! The kernel says when something in the folder was deleted or renamed; nothing is looked at in
//! between.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use glis_os::process::own_pid;
use glis_wire::hold::{Report, place};

use crate::folder::{Folder, LockFault};
use crate::holder::Holder;
use crate::{complain, family, mending, socket};

/// A folder that cannot be made now may be possible later; for ever is not tried.
const ATTEMPTS: u32 = 5;
const AGAIN: Duration = Duration::from_secs(2);

impl Holder {
    pub(crate) fn mend(&mut self) {
        self.mending.at = None;
        let outcome = if self.folder.is_deleted() { self.remake() } else { self.put_back() };
        if let Err(fault) = outcome {
            complain("the session's files could not be put back", &fault);
            self.mending.failed += 1;
            let goes_on = self.mending.failed < ATTEMPTS;
            self.mending.at = goes_on.then(|| Instant::now() + AGAIN);
        }
    }

    /// The folder is there, and a file in it may not be.
    fn put_back(&mut self) -> io::Result<()> {
        if !self.folder.has(place::LOCK) {
            let lock = own_lock(&self.folder)?;
            self.locks.push((String::new(), lock));
        }
        if !self.folder.has(place::SOCKET) {
            let listener = socket::listen(&self.folder)?;
            self.listen_on(listener)?;
        }
        Ok(())
    }

    /// The folder is gone with everything in it. Another one takes its place, so that the agent can
    /// be reached and what it says is kept from here on.
    fn remake(&mut self) -> io::Result<()> {
        let path = Path::new(&self.facts.dir);
        // The folder of all sessions may be gone with it. Where the whole home was deleted, it stays
        // deleted: a daemon that begins there anew asks for the folder.
        if !path.ancestors().nth(2).is_some_and(Path::is_dir) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let folder = Folder::open(path)?;
        // First of all: a daemon that begins in a home that was deleted must not miss a log for it.
        drop(folder.append(place::REMADE)?);
        let lock = own_lock(&folder)?;
        let end = self.output.end();
        let below = folder.below(place::OUTPUT)?;
        let log = self.output.log_in(below, self.facts.log_bytes_max)?;
        let listener = socket::listen(&folder)?;
        self.locks.push((String::new(), lock));
        self.listen_on(listener)?;
        self.output.go_on_in(log);
        if let Some(errors) = &mut self.errors {
            errors.begin_anew();
        }
        self.folder = folder;
        mending::watch(&self.folder);
        self.complain_in_folder()?;
        if let Some(size) = self.facts.size {
            self.note_size(size);
        }
        self.mending.folder_lost = true;
        self.clients.tell_all(&Report::FolderLost { at: end });
        Ok(())
    }
}

/// Takes the session's lock, and writes down whose it is.
pub(crate) fn own_lock(folder: &Folder) -> io::Result<std::fs::File> {
    let mut lock = folder.lock().map_err(|fault| match fault {
        LockFault::Taken => io::Error::from(io::ErrorKind::WouldBlock),
        LockFault::System(fault) => fault,
    })?;
    sign(&mut lock);
    Ok(lock)
}

/// Writes down who holds a lock: a daemon that finds it taken and gets no answer has to know whose it
/// is.
pub(crate) fn sign(lock: &mut std::fs::File) {
    use std::io::Write as _;
    let mark = family::mark_of(own_pid());
    let text = mark.and_then(|mark| serde_json::to_vec(&mark).ok()).unwrap_or_default();
    // A disk that is full has no room for it; the lock holds all the same.
    drop(lock.set_len(0).and_then(|()| lock.write_all(&text)));
}
