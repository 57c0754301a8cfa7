//! What a daemon is found by: the state folder, the lock and the socket in it. What is deleted of
//! them while it runs is made again; where the folder itself is another, the daemon has no house.
//!
//! The lock that counts is on the folder. A file can be deleted, and a lock on a deleted file keeps
//! no process out; a folder only goes with everything in it. The file is locked as well, since earlier
//! versions look at nothing else, and since it says which process it is.

use crate::fault::DaemonFault;
use crate::mailbox::{Mail, Mailbox};
use crate::panics::held;
use crate::places::Places;
use glis_os::descriptors::{connect, short_path};
use glis_os::watch::{Change, Watch};
use glis_wire::home::{self, Home};
use rustix::fs::{AtFlags, FlockOperation, flock, statat, unlinkat};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tokio::net::UnixListener;
use tokio::sync::mpsc;
use tracing::{info, warn};

/// How long a lock may be held by a process that lets no client in: a daemon that is about to, or a
/// child of one that is gone and has not yet become another program.
const LEFTOVER_TIME: Duration = Duration::from_secs(2);
const LEFTOVER_PACE: Duration = Duration::from_millis(5);
/// Between two attempts to make something again where the disk does not let us.
const AGAIN: Duration = Duration::from_secs(1);

/// A file, whatever it is called.
type Identity = (u64, u64);

/// The place of a daemon, held as long as it runs.
pub(crate) struct Premises {
    state: PathBuf,
    folder: File,
    lock: Mutex<File>,
    /// The socket that was bound last.
    socket: Mutex<Option<Identity>>,
}

impl Premises {
    /// Takes the place of this house's daemon, unless another process has it.
    pub(crate) fn take(state: &Path) -> Result<Self, DaemonFault> {
        let begun = Instant::now();
        loop {
            if let Some(premises) = Self::try_take(state)? {
                return Ok(premises);
            }
            // A child that a former daemon was about to run has its descriptors until it runs.
            if lets_in(state) || begun.elapsed() > LEFTOVER_TIME {
                let pid = std::fs::read_to_string(state.join(home::LOCK)).unwrap_or_default();
                return Err(DaemonFault::AlreadyRunning { pid: pid.trim().to_owned() });
            }
            std::thread::park_timeout(LEFTOVER_PACE);
        }
    }

    fn try_take(state: &Path) -> Result<Option<Self>, DaemonFault> {
        let folder = File::open(state)?;
        match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Ok(None),
            // Some file systems have no locks for folders. Then the file has to do.
            Err(fault) => warn!("{}: not locked: {fault}", state.display()),
        }
        let Some(lock) = take_file(state)? else { return Ok(None) };
        let premises = Self {
            state: state.to_owned(),
            folder,
            lock: Mutex::new(lock),
            socket: Mutex::default(),
        };
        // A daemon of an earlier version whose lock file was deleted still answers at its socket.
        if !premises.is_in_place() || lets_in(state) {
            return Ok(None);
        }
        Ok(Some(premises))
    }

    /// Opens the door: at another name first, so that the place is never empty. What was there is
    /// stale, since we have the lock.
    pub(crate) fn listen(&self) -> io::Result<UnixListener> {
        let fresh = format!("{}.{}", home::SOCKET, std::process::id());
        unlinkat(&self.folder, &fresh, AtFlags::empty()).ok();
        let listener = UnixListener::bind(short_path(&self.folder, &fresh))?;
        let bound = statat(&self.folder, &fresh, AtFlags::SYMLINK_NOFOLLOW)?;
        *held(&self.socket) = Some((bound.st_dev, bound.st_ino));
        rustix::fs::renameat(&self.folder, &fresh, &self.folder, home::SOCKET)?;
        Ok(listener)
    }

    /// Keeps everything in place for as long as there is a place; returns why there is none.
    /// `listeners` gets the sockets that take the place of deleted ones.
    pub(crate) async fn guard(
        &self,
        home: &Home,
        places: &Places,
        mailbox: &Mailbox,
        listeners: mpsc::Sender<UnixListener>,
    ) -> String {
        let watch = match self.watch(home) {
            Ok(watch) => watch,
            // Moved before it could be watched.
            Err(_) if !self.is_in_place() => return self.moved(),
            Err(fault) => {
                warn!("cannot watch {}: {fault}", self.state.display());
                return std::future::pending().await;
            }
        };
        // What was deleted before it was watched.
        let mut look = true;
        drop(mailbox.mail.send(Mail::LookAtLog).await);
        loop {
            if look && !self.is_in_place() {
                return self.moved();
            }
            if look && let Err(fault) = self.mend(&listeners).await {
                warn!("not mended: {fault}");
                tokio::time::sleep(AGAIN).await;
                continue;
            }
            let Ok(changes) = watch.next().await else { return std::future::pending().await };
            let is = |change: &Change, names: &[&str]| match change {
                Change::Entry(name) => names.iter().any(|known| name == known),
                Change::Folder => true,
            };
            look = changes.iter().any(|change| is(change, &[home::SOCKET, home::LOCK]));
            if changes.iter().any(|change| is(change, &[home::EVENTS])) {
                drop(mailbox.mail.send(Mail::LookAtLog).await);
            }
            if changes.iter().any(|change| is(change, &[home::CONFIG])) {
                places.refresh().await;
            }
        }
    }

    /// What is told of a house that is no longer there.
    pub(crate) fn moved(&self) -> String {
        format!("the state folder {} was moved, replaced or deleted", self.state.display())
    }

    fn watch(&self, home: &Home) -> io::Result<Watch> {
        let watch = Watch::new()?;
        watch.entries_of(&self.state)?;
        // The folder moves with any folder above it. One that may not be looked into is left out.
        for above in self.state.ancestors().skip(1) {
            watch.place_of(above).ok();
        }
        // Without a folder there is no configuration, and a request looks for it anyway.
        watch.entries_of(&home.config).ok();
        Ok(watch)
    }

    /// Makes again what is no longer there, or no longer ours.
    async fn mend(&self, listeners: &mpsc::Sender<UnixListener>) -> io::Result<()> {
        if self.found(home::LOCK) != Some(identity(&held(&self.lock))?) {
            let taken = take_file(&self.state)?.ok_or_else(|| {
                io::Error::other(format!("another process has locked {}", home::LOCK))
            })?;
            *held(&self.lock) = taken;
            info!("{} was gone and is made again", home::LOCK);
        }
        if self.found(home::SOCKET) != *held(&self.socket) {
            let listener = self.listen()?;
            info!("{} was gone and is made again", home::SOCKET);
            drop(listeners.send(listener).await);
        }
        Ok(())
    }

    fn found(&self, name: &str) -> Option<Identity> {
        let facts = statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some((facts.st_dev, facts.st_ino))
    }

    /// Whether the state folder is still the one that was locked.
    pub(crate) fn is_in_place(&self) -> bool {
        let there = self.state.symlink_metadata().map(|facts| (facts.dev(), facts.ino()));
        matches!((there, identity(&self.folder)), (Ok(there), Ok(ours)) if there == ours)
    }

    /// Gives the place up. The socket goes first: the next command starts a daemon, which waits
    /// for the lock. In another folder of the same name nothing is ours.
    pub(crate) fn leave(&self) {
        if self.found(home::SOCKET) == *held(&self.socket) {
            unlinkat(&self.folder, home::SOCKET, AtFlags::empty()).ok();
        }
        flock(&*held(&self.lock), FlockOperation::Unlock).ok();
        flock(&self.folder, FlockOperation::Unlock).ok();
    }
}

/// The file that says who the daemon is, locked and ours; `None` if another process has it.
fn take_file(state: &Path) -> io::Result<Option<File>> {
    let path = state.join(home::LOCK);
    loop {
        let mut options = File::options();
        let mut file =
            options.read(true).write(true).create(true).truncate(false).mode(0o600).open(&path)?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Ok(None);
        }
        // Deleted between the opening and the locking: it would keep no process out.
        let there = path.symlink_metadata().map(|facts| (facts.dev(), facts.ino()));
        if there.is_ok_and(|there| identity(&file).is_ok_and(|ours| ours == there)) {
            file.set_len(0)?;
            writeln!(file, "{}", std::process::id())?;
            return Ok(Some(file));
        }
    }
}

fn identity(file: &File) -> io::Result<Identity> {
    let facts = file.metadata()?;
    Ok((facts.dev(), facts.ino()))
}

/// Whether a process answers at the socket.
fn lets_in(state: &Path) -> bool {
    connect(state, home::SOCKET).is_ok()
}
