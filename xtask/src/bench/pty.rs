//! A program on a terminal of its own, with us as the person in front of it.
#![expect(
    unsafe_code,
    reason = "only the child itself can take the terminal, between fork and exec"
)]

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use glis_wire::hold::Size;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::proc;

/// Every terminal of the bench has this size, so that no peer pays for a resize.
pub(crate) const SIZE: Winsize = Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };

/// A client answers a hang-up at once or not at all.
const HANG_UP_WAIT: Duration = Duration::from_millis(500);

/// A program and the terminal it runs on.
pub(crate) struct Terminal {
    master: File,
    child: Child,
    buffer: Vec<u8>,
}

/// What a look at the terminal brought.
pub(crate) enum Seen<'a> {
    Bytes(&'a [u8]),
    Nothing,
    Ended,
}

impl Terminal {
    /// Starts `command` as the leader of a session whose terminal is a fresh one.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        Self::start_with(command, Size { columns: SIZE.ws_col, rows: SIZE.ws_row })
    }

    /// The same, on a terminal of this size.
    pub(crate) fn start_with(command: &mut Command, size: Size) -> Result<Self> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).context("no terminal to be had")?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let slave: OwnedFd = ioctl_tiocgptpeer(&master, flags)?;
        tcsetwinsize(&master, Winsize { ws_col: size.columns, ws_row: size.rows, ..SIZE })?;
        command.stdin(Stdio::from(slave.try_clone()?)).stdout(Stdio::from(slave.try_clone()?));
        command.stderr(Stdio::from(slave));
        let lead = || {
            rustix::process::setsid()?;
            rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
            Ok::<(), io::Error>(())
        };
        // SAFETY: `lead` makes two system calls, takes no lock and allocates nothing.
        unsafe { command.pre_exec(lead) };
        let child = command.spawn().with_context(|| format!("{command:?}"))?;
        // The command keeps its ends of the terminal open as long as it lives; the end of the child
        // must show.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Self { master: File::from(master), child, buffer: vec![0; 65536] })
    }

    /// The program's own number.
    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap_or(0)
    }

    /// What the program has written, waiting for it at most `wait`.
    pub(crate) fn look(&mut self, wait: Duration) -> Result<Seen<'_>> {
        let wait = Timespec::try_from(wait)?;
        let mut fds = [PollFd::from_borrowed_fd(self.master.as_fd(), PollFlags::IN)];
        match poll(&mut fds, Some(&wait)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(Seen::Nothing),
            Ok(_) => {}
            Err(failure) => return Err(failure.into()),
        }
        // A terminal whose other end is closed reads as an error, not as an end.
        let count = self.master.read(&mut self.buffer).unwrap_or(0);
        Ok(self
            .buffer
            .get(..count)
            .filter(|seen| !seen.is_empty())
            .map_or(Seen::Ended, Seen::Bytes))
    }

    /// Reads and forgets until the program is gone. Without a poll: this loop is the floor that
    /// others stand on.
    pub(crate) fn forget_all(&mut self) {
        while self.master.read(&mut self.buffer).is_ok_and(|count| count > 0) {}
    }

    /// Presses keys.
    pub(crate) fn press(&mut self, keys: &[u8]) -> Result<()> {
        Ok(self.master.write_all(keys)?)
    }

    /// Looks until `marker` has come by; says whether it has within `limit`.
    pub(crate) fn await_marker(&mut self, marker: &[u8], limit: Duration) -> Result<bool> {
        let began = Instant::now();
        let mut search = Search::new(marker);
        loop {
            let left = limit.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Ok(false);
            }
            match self.look(left)? {
                Seen::Bytes(bytes) if search.feed(bytes) => return Ok(true),
                Seen::Bytes(_) | Seen::Nothing => {}
                Seen::Ended => return Ok(false),
            }
        }
    }

    /// Takes in what comes until nothing has come for `quiet`, at most `limit` long.
    pub(crate) fn await_quiet(&mut self, quiet: Duration, limit: Duration) -> Result<()> {
        let began = Instant::now();
        while began.elapsed() < limit {
            match self.look(quiet)? {
                Seen::Bytes(_) => {}
                Seen::Nothing | Seen::Ended => return Ok(()),
            }
        }
        Ok(())
    }

    /// Takes the terminal away, as a closed window does, and sees the program off.
    pub(crate) fn hang_up(self) -> Result<()> {
        let Self { master, mut child, buffer: _ } = self;
        drop(master);
        if proc::wait_at_most(&mut child, HANG_UP_WAIT)?.is_none() {
            child.kill()?;
            child.wait()?;
        }
        Ok(())
    }
}

/// Looks for a marker in a stream that comes in pieces.
struct Search {
    marker: Vec<u8>,
    tail: Vec<u8>,
}

impl Search {
    fn new(marker: &[u8]) -> Self {
        Self { marker: marker.to_vec(), tail: Vec::new() }
    }

    /// Says whether the marker has been completed by `bytes`.
    fn feed(&mut self, bytes: &[u8]) -> bool {
        // Markers begin with a byte that no stream holds: most pieces need this glance only.
        let first = self.marker.first().copied().unwrap_or_default();
        if self.tail.is_empty() && !bytes.contains(&first) {
            return false;
        }
        self.tail.extend_from_slice(bytes);
        if self.tail.windows(self.marker.len()).any(|window| window == self.marker) {
            return true;
        }
        let cut = self.tail.len().saturating_sub(self.marker.len() - 1);
        self.tail.drain(..cut);
        if !self.tail.contains(&first) {
            self.tail.clear();
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::Search;

    #[test]
    fn a_marker_cut_anywhere_is_found() {
        let text = b"abc@mark@def";
        for cut in 0..=text.len() {
            let mut search = Search::new(b"@mark@");
            let (head, tail) = text.split_at(cut);
            assert!(search.feed(head) | search.feed(tail), "cut at {cut}");
        }
    }

    #[test]
    fn half_a_marker_is_none() {
        let mut search = Search::new(b"@mark@");
        assert!(!search.feed(b"@mar"));
        assert!(!search.feed(b"x@ma"));
        assert!(search.feed(b"rk@"));
    }
}
