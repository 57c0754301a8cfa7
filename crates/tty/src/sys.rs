//! The one module of this crate that speaks to libc directly: the watchdog's process.
#![expect(unsafe_code, reason = "fork cannot be had without it")]
#![expect(
    clippy::multiple_unsafe_ops_per_block,
    reason = "what runs after a fork is one stretch of system calls"
)]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::pipe::{PipeFlags, pipe_with};

/// The pipe to the watchdog; -1 if there is none, or if it was told goodbye.
static LEASH: AtomicI32 = AtomicI32::new(-1);

/// A process that outlives ours when we are killed, and then puts the terminal in order.
pub(super) struct Watchdog {
    /// Closed by the kernel when we die, whichever way.
    _leash: OwnedFd,
    pid: libc::pid_t,
}

impl Watchdog {
    /// Starts it. `tty` must still be in the state that is to be restored.
    pub(super) fn start(tty: BorrowedFd<'_>, reset: &'static [u8]) -> io::Result<Self> {
        let mut original = MaybeUninit::<libc::termios>::zeroed();
        // SAFETY: the descriptor is open, and the structure lives through the call.
        if unsafe { libc::tcgetattr(tty.as_raw_fd(), original.as_mut_ptr()) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the call has succeeded and filled it.
        let original = unsafe { original.assume_init() };
        let (watched, leash) = pipe_with(PipeFlags::CLOEXEC)?;
        // SAFETY: the child calls nothing but system calls until it exits: no allocation, no
        // lock, nothing that another thread could have left half done.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            // SAFETY: this is the child, and the descriptors are open in it.
            0 => unsafe { watch(watched.as_raw_fd(), tty.as_raw_fd(), &original, reset) },
            pid => {
                LEASH.store(leash.as_raw_fd(), Ordering::SeqCst);
                Ok(Self { _leash: leash, pid })
            }
        }
    }
}

/// Tells the watchdog that the terminal is in order already. Putting it in order twice would move
/// the cursor over what was printed in between.
pub(super) fn say_goodbye() {
    let leash = LEASH.swap(-1, Ordering::SeqCst);
    if leash != -1 {
        // SAFETY: the number is that of the open pipe until the watchdog's owner is dropped, and
        // that takes it out first. If the reader is gone, there is nothing to tell.
        unsafe { libc::write(leash, b".".as_ptr().cast(), 1) };
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        say_goodbye();
        // SAFETY: the process is our child and was not waited for. It exits at the byte above.
        while unsafe { libc::waitpid(self.pid, ptr::null_mut(), 0) } == -1
            && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
        {}
    }
}

/// The watchdog's life: waits for a goodbye or for our end.
///
/// # Safety
/// Only in a freshly forked child; both descriptors must be open.
unsafe fn watch(watched: RawFd, tty: RawFd, original: &libc::termios, reset: &[u8]) -> ! {
    // Far above what a process has open by itself, so that neither copy hits the other.
    const HIGH: RawFd = 10;
    // SAFETY: system calls on descriptors that are open, as promised; the buffer and the
    // structure outlive them. All others are closed, because a descriptor that lives on here
    // would keep a connection open that our parent has closed.
    unsafe {
        // A session of its own: no signal of the terminal or of the parent's group arrives, and
        // the terminal's settings may be changed from outside its own session.
        libc::setsid();
        for number in [
            libc::SIGINT,
            libc::SIGQUIT,
            libc::SIGTERM,
            libc::SIGHUP,
            libc::SIGTTOU,
            libc::SIGPIPE,
            libc::SIGTSTP,
        ] {
            libc::signal(number, libc::SIG_IGN);
        }
        let watched = libc::fcntl(watched, libc::F_DUPFD, HIGH);
        let tty = libc::fcntl(tty, libc::F_DUPFD, HIGH);
        if watched == -1 || tty == -1 || libc::dup2(watched, 0) == -1 || libc::dup2(tty, 1) == -1 {
            libc::_exit(1);
        }
        libc::syscall(libc::SYS_close_range, 2, libc::c_uint::MAX, 0);
        let mut byte = 0_u8;
        loop {
            match libc::read(0, ptr::from_mut(&mut byte).cast(), 1) {
                1.. => libc::_exit(0),
                0 => break,
                _ if *libc::__errno_location() == libc::EINTR => {}
                _ => break,
            }
        }
        // A shell that was quicker has its own settings by now, and they are not raw.
        let mut now = *original;
        libc::tcgetattr(1, &raw mut now);
        if now.c_lflag & (libc::ICANON | libc::ECHO | libc::ISIG) == 0 {
            libc::tcsetattr(1, libc::TCSANOW, original);
        }
        libc::write(1, reset.as_ptr().cast(), reset.len());
        libc::_exit(0)
    }
}
