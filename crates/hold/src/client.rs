//! One connection. Who reads slowly loses nothing that is on disk, and costs next to nothing.
//!
//! A follower has a cursor instead of a queue: it is sent the next stretch whenever its socket
//! takes one. What was cut from the log before it got there is skipped. Reports do queue, and
//! who lets too many of them pile up is dropped.

use std::io::IoSlice;
use std::os::fd::OwnedFd;

use glis_wire::frame::{Decoder, encode_words, raw_head};
use glis_wire::hold::{ExitRecord, Report, Size};
use rustix::io::Errno;

use crate::output::Output;

/// The rest of one frame of output and this much in reports: more is a client that does not read.
const PENDING_BYTES_MAX: usize = 128 * 1024;

/// Frames sent in one go. The agent's output must not wait while one client catches up.
const FRAMES_PER_TURN: usize = 4;

#[derive(Debug)]
pub(crate) struct Client {
    /// Its number; never used twice.
    pub(crate) id: u64,
    pub(crate) socket: OwnedFd,
    /// Cuts what it says into frames.
    pub(crate) decoder: Decoder,
    /// The next offset that it is owed, if it follows the output.
    pub(crate) cursor: Option<u64>,
    /// The length of the log that it wants to hear of.
    pub(crate) watch: Option<u64>,
    /// The size that it has last told, and whether it waits to be applied.
    size: Option<(Size, Due)>,
    /// Whether its socket takes more.
    pub(crate) room: Room,
    pub(crate) knows_end: bool,
    pub(crate) broken: bool,
    /// Whether it takes nothing any more. What it has said before it went still counts: a
    /// client that says "stop" and hangs up means it.
    deaf: bool,
    pending: Vec<u8>,
    sent: usize,
}

/// What is known about the room in a client's socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// Nothing waits to be sent, so it can be tried.
    Supposed,
    /// It was full; the loop is asked to say when it is not.
    Awaited,
    /// The loop has said so.
    Found,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    Yes,
    No,
}

impl Client {
    pub(crate) fn new(id: u64, socket: OwnedFd) -> Self {
        Self {
            id,
            socket,
            decoder: Decoder::default(),
            cursor: None,
            watch: None,
            size: None,
            room: Room::Supposed,
            knows_end: false,
            broken: false,
            deaf: false,
            pending: Vec::new(),
            sent: 0,
        }
    }

    pub(crate) fn resize(&mut self, size: Size) {
        self.size = Some((size, Due::Yes));
    }

    /// Whether it shows the terminal to a user who can type into it.
    pub(crate) fn is_attached(&self) -> bool {
        self.cursor.is_some() && self.size.is_some()
    }

    /// It has typed something: its size is the one that counts.
    pub(crate) fn is_active(&mut self) {
        if let Some((_, due)) = &mut self.size {
            *due = Due::Yes;
        }
    }

    /// The size to apply on its behalf; asking settles it.
    pub(crate) fn size_due(&mut self) -> Option<Size> {
        let (size, due) = self.size.as_mut()?;
        (std::mem::replace(due, Due::No) == Due::Yes).then_some(*size)
    }

    pub(crate) fn tell(&mut self, report: &Report) {
        if self.deaf {
            return;
        }
        if self.pending.len() - self.sent > PENDING_BYTES_MAX {
            self.broken = true;
            return;
        }
        self.pending.extend_from_slice(&encode_words(report));
    }

    /// Whether it has all that it is owed.
    pub(crate) fn is_satisfied(&self, end: u64) -> bool {
        self.deaf || (self.knows_end && !self.is_behind(end))
    }

    /// Whether anything is still to be sent.
    pub(crate) fn is_behind(&self, end: u64) -> bool {
        !self.pending.is_empty() || self.lags(end)
    }

    /// Sends what is due, as far as the socket takes it. Says whether anything went out.
    pub(crate) fn serve(&mut self, output: &mut Output, ended: Option<&ExitRecord>) -> bool {
        let mut progress = false;
        for _ in 0..FRAMES_PER_TURN {
            if self.deaf || !self.flush(&mut progress) {
                return progress;
            }
            if !self.lags(output.end()) {
                match ended.filter(|_| !self.knows_end) {
                    Some(record) => {
                        self.knows_end = true;
                        self.tell(&Report::Ended(record.clone()));
                        continue;
                    }
                    None => return progress,
                }
            }
            if !self.send_stretch(output, &mut progress) {
                return progress;
            }
        }
        progress
    }

    fn lags(&self, end: u64) -> bool {
        self.cursor.is_some_and(|cursor| cursor < end)
    }

    /// Sends the queue. Says whether it is empty afterwards.
    fn flush(&mut self, progress: &mut bool) -> bool {
        while self.sent < self.pending.len() {
            match rustix::io::write(&self.socket, &self.pending[self.sent..]) {
                Ok(len) => {
                    self.sent += len;
                    *progress = true;
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return false,
                Err(_) => {
                    self.go_deaf();
                    return false;
                }
            }
        }
        self.pending = Vec::new();
        self.sent = 0;
        true
    }

    /// Sends the next stretch straight from where it lies; only the rest of a frame that was
    /// taken in part is copied. Says whether the socket took all of it.
    fn send_stretch(&mut self, output: &mut Output, progress: &mut bool) -> bool {
        let end = output.end();
        let Some(stretch) = self.cursor.and_then(|cursor| output.stretch(cursor)) else {
            // All that was left is lost to the disk.
            self.cursor = Some(end);
            return true;
        };
        let head = raw_head(stretch.at, stretch.bytes.len());
        let parts = [IoSlice::new(&head), IoSlice::new(stretch.bytes)];
        match rustix::io::writev(&self.socket, &parts) {
            Ok(len) => {
                *progress = true;
                self.cursor = Some(stretch.at + stretch.bytes.len() as u64);
                if len < head.len() {
                    self.pending.extend_from_slice(&head[len..]);
                }
                let rest = stretch.bytes.get(len.saturating_sub(head.len())..).unwrap_or_default();
                self.pending.extend_from_slice(rest);
                rest.is_empty()
            }
            Err(Errno::AGAIN | Errno::INTR) => false,
            Err(_) => {
                self.go_deaf();
                false
            }
        }
    }

    fn go_deaf(&mut self) {
        self.deaf = true;
        self.pending = Vec::new();
        self.sent = 0;
        self.cursor = None;
        self.watch = None;
    }
}
