//! The terminal and waiting, as the agent uses them.

use std::io;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::stdio::{stdin, stdout};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

/// The terminal's settings from before; `leave` brings them back.
pub(crate) struct RawMode {
    before: Termios,
}

impl RawMode {
    /// Takes every key as it comes; fails when stdin is no terminal.
    pub(crate) fn enter() -> io::Result<Self> {
        let before = tcgetattr(stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        // Not `Flush`: what was typed before the agent was up belongs to the agent.
        tcsetattr(stdin(), OptionalActions::Now, &raw)?;
        Ok(Self { before })
    }

    pub(crate) fn leave(&self) {
        // A terminal that is gone needs no settings.
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.before);
    }
}

/// Says how wide the terminal is.
pub(crate) fn columns() -> usize {
    // A pty without a size says 0; 80 is what terminals assume then.
    let columns = tcgetwinsize(stdout()).map_or(0, |size| size.ws_col);
    if columns == 0 { 80 } else { usize::from(columns) }
}

/// Waits for `fds`, at most `timeout`; a signal counts as a wake-up with nothing ready.
pub(crate) fn wait(fds: &mut [PollFd<'_>], timeout: Option<&Timespec>) -> io::Result<()> {
    match poll(fds, timeout) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// What `wait` found for one descriptor: bytes, an end or an error, all of which a read tells.
pub(crate) fn is_ready(fd: &PollFd<'_>) -> bool {
    fd.revents().intersects(PollFlags::IN | PollFlags::OUT | PollFlags::HUP | PollFlags::ERR)
}
