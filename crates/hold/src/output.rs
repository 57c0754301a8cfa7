//! The way of the agent's output: one buffer, one write to disk, and from there to the clients.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use crate::folder::Folder;
use crate::log::{Log, LogGap};
use crate::ring::{RING_BYTES, Ring};

/// Everything is on disk by then and the memory is of more use elsewhere.
const REST_AFTER: Duration = Duration::from_secs(5);

/// The agent's output from its first byte to its last.
#[derive(Debug)]
pub(crate) struct Output {
    /// The terminal or the pipe; `None` once nothing can come any more.
    pub(crate) source: Option<OwnedFd>,
    ring: Ring,
    log: Log,
    /// Where output is put that is no longer in memory; empty most of the time.
    scratch: Vec<u8>,
    quiet_since: Option<Instant>,
}

/// Bytes to be sent, and where they begin.
#[derive(Debug)]
pub(crate) struct Stretch<'a> {
    /// Offset of the first byte.
    pub(crate) at: u64,
    pub(crate) bytes: &'a [u8],
}

impl Output {
    /// There is no source yet; the offsets go on where the log ends.
    pub(crate) fn new(log: Log) -> std::io::Result<Self> {
        let ring = Ring::new(log.end())?;
        Ok(Self { source: None, ring, log, scratch: Vec::new(), quiet_since: None })
    }

    /// A log in another folder that goes on where this one ends, with the last of what it held.
    pub(crate) fn log_in(&self, folder: Folder, bytes_max: u64) -> std::io::Result<Log> {
        self.log.moved_to(folder, bytes_max)
    }

    /// Keeps what comes from here on in another log; the former one is gone.
    pub(crate) fn go_on_in(&mut self, log: Log) {
        self.log = log;
    }

    /// Offset of the next byte.
    pub(crate) fn end(&self) -> u64 {
        self.ring.end()
    }

    /// Oldest offset that can be had.
    pub(crate) fn oldest(&self) -> u64 {
        self.log.oldest().min(self.ring.oldest())
    }

    /// Reads what is there, as far as it fits into one piece, and writes it to disk at once.
    pub(crate) fn drain(&mut self) -> Result<(), LogGap> {
        let from = self.ring.end();
        while let Some(source) = &self.source {
            match rustix::io::read(source, self.ring.room()) {
                Ok(0) => self.source = None,
                Ok(len) => {
                    if self.ring.advance(len) {
                        break;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                // A terminal whose other end is closed says so with an error.
                Err(_) => self.source = None,
            }
        }
        match self.ring.from(from) {
            Some(bytes) if !bytes.is_empty() => {
                self.quiet_since = Some(Instant::now());
                self.log.append(bytes)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Adds bytes that do not come from the agent.
    pub(crate) fn put(&mut self, mut bytes: &[u8]) -> Result<(), LogGap> {
        let mut outcome = Ok(());
        while !bytes.is_empty() {
            let room = self.ring.room();
            let (part, rest) = bytes.split_at(room.len().min(bytes.len()));
            room[..part.len()].copy_from_slice(part);
            self.ring.advance(part.len());
            outcome = outcome.and(self.log.append(part));
            bytes = rest;
        }
        self.quiet_since = Some(Instant::now());
        outcome
    }

    /// The next stretch at or after this offset; what was cut or lost is skipped.
    pub(crate) fn stretch(&mut self, from: u64) -> Option<Stretch<'_>> {
        let mut at = from.max(self.oldest());
        while at < self.end() {
            if at >= self.ring.oldest() {
                return self.ring.from(at).map(|bytes| Stretch { at, bytes });
            }
            self.scratch.resize(RING_BYTES, 0);
            let len = self.log.read(at, &mut self.scratch);
            if len > 0 {
                return Some(Stretch { at, bytes: &self.scratch[..len] });
            }
            let next = self.log.begins_after(at).unwrap_or(u64::MAX);
            at = next.min(self.ring.oldest());
        }
        None
    }

    /// When [`Self::rest`] is due.
    pub(crate) fn rest_at(&self) -> Option<Instant> {
        self.quiet_since.map(|since| since + REST_AFTER)
    }

    /// Gives back the memory of output that no client will ask for soon. What the disk did not take
    /// stays.
    pub(crate) fn rest(&mut self) {
        self.quiet_since = None;
        self.scratch = Vec::new();
        if !self.log.is_broken() {
            self.ring.rest();
        }
    }

    pub(crate) fn sync(&self) -> std::io::Result<()> {
        self.log.sync()
    }
}
