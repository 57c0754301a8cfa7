//! The one module that speaks to the operating system in its own words.
#![expect(unsafe_code, reason = "signal handlers and sessions need raw calls, and live here only")]

use std::io::{self, PipeReader, Read as _};
use std::os::fd::{AsFd, BorrowedFd, IntoRawFd as _};
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::stdio::{stdin, stdout};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

/// A signal the agent heeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Signal {
    Interrupt,
    Terminate,
    ChildEnded,
    Resized,
}

/// Signals as a readable pipe, so that one poll waits for them together with everything else.
pub(crate) struct Signals {
    reader: PipeReader,
}

/// Where the handler writes; it may touch nothing but atomics and async-signal-safe calls.
static WAKE: AtomicI32 = AtomicI32::new(-1);

extern "C" fn note(signal: libc::c_int) {
    // Every signal that is listened for has a number below 32.
    let byte = u8::try_from(signal).unwrap_or(0);
    // SAFETY: the location of errno is always valid for the calling thread.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above; the interrupted code must find its errno unchanged.
    let saved = unsafe { *errno };
    let fd = WAKE.load(Ordering::Relaxed);
    // SAFETY: write is async-signal-safe, and the byte outlives the call. A full pipe loses the
    // byte, but then unread wake-ups abound.
    unsafe { libc::write(fd, (&raw const byte).cast(), 1) };
    // SAFETY: as above.
    unsafe { *errno = saved };
}

impl Signals {
    /// Begins to listen; the process's former handlers are gone from then on.
    pub(crate) fn listen() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        unblock(&reader)?;
        unblock(&writer)?;
        WAKE.store(writer.into_raw_fd(), Ordering::Relaxed);
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGCHLD, libc::SIGWINCH] {
            handle(signal)?;
        }
        Ok(Self { reader })
    }

    /// Says which signals came since the last call.
    pub(crate) fn drain(&mut self) -> Vec<Signal> {
        let mut bytes = [0; 64];
        let mut signals = Vec::new();
        while let Ok(count @ 1..) = self.reader.read(&mut bytes) {
            signals.extend(bytes.iter().take(count).filter_map(|byte| named(*byte)));
        }
        signals
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }
}

fn named(byte: u8) -> Option<Signal> {
    match libc::c_int::from(byte) {
        libc::SIGINT => Some(Signal::Interrupt),
        libc::SIGTERM => Some(Signal::Terminate),
        libc::SIGCHLD => Some(Signal::ChildEnded),
        libc::SIGWINCH => Some(Signal::Resized),
        _ => None,
    }
}

fn unblock(fd: &impl AsFd) -> io::Result<()> {
    Ok(fcntl_setfl(fd, fcntl_getfl(fd)? | OFlags::NONBLOCK)?)
}

fn handle(signal: libc::c_int) -> io::Result<()> {
    // SAFETY: all-zero is a valid sigaction: no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    let handler: extern "C" fn(libc::c_int) = note;
    action.sa_sigaction = handler as libc::sighandler_t;
    // Without SA_RESTART on purpose: a write that a slow reader blocks has to give way.
    // SAFETY: `action` is complete, and `note` is async-signal-safe.
    let done = unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Makes `command` start in a session of its own, away from this process's terminal and group.
pub(crate) fn detach(command: &mut Command) {
    let begin = || rustix::process::setsid().map(drop).map_err(io::Error::from);
    // SAFETY: between fork and exec only setsid is called, and it is async-signal-safe.
    unsafe { command.pre_exec(begin) };
}

/// Ends the process at once: no destructors, no buffers, no goodbye.
pub(crate) fn exit_now(code: u8) -> ! {
    // SAFETY: _exit takes any number and does not return.
    unsafe { libc::_exit(i32::from(code)) }
}

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
