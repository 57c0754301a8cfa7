//! The one module of this crate that speaks to libc directly: what rustix lacks.
#![expect(unsafe_code, reason = "raw system calls live here and nowhere else")]

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Signal;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

/// Where the handler writes the numbers of signals; -1 while they are not wanted.
static SIGNAL_PIPE: AtomicI32 = AtomicI32::new(-1);

/// Signals as bytes in a pipe, so that one `poll` waits for them and for everything else.
pub struct Signals {
    reader: OwnedFd,
    _writer: OwnedFd,
    /// What each of them did before.
    before: Vec<(Signal, libc::sigaction)>,
}

impl Signals {
    /// Takes over the `wanted` ones, and ignores others, until dropped.
    pub fn catch(wanted: &[Signal], ignored: &[Signal]) -> io::Result<Self> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        SIGNAL_PIPE.store(writer.as_raw_fd(), Ordering::SeqCst);
        let mut caught = Self { reader, _writer: writer, before: Vec::new() };
        let handler = note_signal as extern "C" fn(i32) as libc::sighandler_t;
        for signal in wanted {
            caught.before.push((*signal, set_action(*signal, handler)?));
        }
        for signal in ignored {
            caught.before.push((*signal, set_action(*signal, libc::SIG_IGN)?));
        }
        Ok(caught)
    }

    /// The next signal that has come, if any.
    pub fn next(&self) -> Option<Signal> {
        let mut byte = [0];
        let read = rustix::io::read(&self.reader, &mut byte);
        Signal::from_named_raw(byte[0].into()).filter(|_| read == Ok(1))
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for (signal, action) in &self.before {
            // SAFETY: the action was returned by the same call for the same signal.
            unsafe { libc::sigaction(signal.as_raw(), action, ptr::null_mut()) };
        }
        SIGNAL_PIPE.store(-1, Ordering::SeqCst);
    }
}

extern "C" fn note_signal(number: i32) {
    let pipe = SIGNAL_PIPE.load(Ordering::SeqCst);
    let byte = u8::try_from(number).unwrap_or(0);
    // SAFETY: the location of errno is always valid for the calling thread.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above. It is put back for the code that we interrupted.
    let kept = unsafe { *errno };
    // SAFETY: `write` may be called in a handler; the byte outlives the call. A full pipe loses
    // the signal, after thousands that were not read.
    unsafe { libc::write(pipe, ptr::from_ref(&byte).cast(), 1) };
    // SAFETY: as above.
    unsafe { *errno = kept };
}

fn set_action(signal: Signal, handler: libc::sighandler_t) -> io::Result<libc::sigaction> {
    let mut before = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: all zeroes is a valid `sigaction`: no flags and an empty mask. Calls are not
    // restarted, so that a write to a terminal that hangs returns.
    let mut action: libc::sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    action.sa_sigaction = handler;
    // SAFETY: both point to structures of the right type that live through the call.
    if unsafe { libc::sigaction(signal.as_raw(), &raw const action, before.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has succeeded and filled it.
    Ok(unsafe { before.assume_init() })
}

/// Has a program start in a session of its own, away from this process's terminal and group.
pub fn in_own_session(command: &mut Command) {
    let begin = || rustix::process::setsid().map(drop).map_err(io::Error::from);
    // SAFETY: between fork and exec only setsid is called, and it is async-signal-safe.
    unsafe { command.pre_exec(begin) };
}

/// Ends the process at once: no destructors, no buffers, no goodbye.
pub fn exit_now(code: u8) -> ! {
    // SAFETY: _exit takes any number and does not return.
    unsafe { libc::_exit(i32::from(code)) }
}
