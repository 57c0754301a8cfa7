//! The user's terminal: taken over while a session is shown, and given back in every way of leaving.
//!
//! Four ways lead out. Returning and unwinding drop the guard; a panic that aborts is met by a
//! hook; signals arrive as bytes and become an orderly exit; and for the signal that cannot be
//! caught, a small process waits that survives us and does the same.

mod sys;

use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, Once, PoisonError};
use std::thread::ThreadId;

use glis_os::Signals;
use glis_wire::hold::Size;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Signal;
use rustix::stdio::{stdin, stdout};
use rustix::termios::{OptionalActions, QueueSelector, Termios};

use sys::Watchdog;

/// Everything that makes a terminal send more than plain keys, off: mouse, focus, paste marks,
/// colour and size notices, special keys. The keyboard stack of the main screen is not touched:
/// each screen has its own.
macro_rules! plain_keys {
    () => {
        concat!(
            "\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l",
            "\x1b[?1004l\x1b[?2004l\x1b[?2031l\x1b[?2048l\x1b[?1l\x1b>\x1b[>4m\x1b[<99u\x1b[=0u",
        )
    };
}

/// See [`plain_keys`].
pub const PLAIN_KEYS: &[u8] = plain_keys!().as_bytes();

/// The user's title is kept, and the shell's screen stays behind the alternate one.
const TAKE: &[u8] = b"\x1b[22;0t\x1b[?1049h\x1b[0m\x1b[H\x1b[2J";

/// Undoes whatever a program may have left: first an unfinished sequence and an unfinished update
/// are ended, then modes, margins and styles, then the alternate screen is left.
const GIVE_BACK: &[u8] = concat!(
    "\x18\x1b\\\x1b[?2026l",
    plain_keys!(),
    "\x1b[0m\x1b]8;;\x1b\\\x1b(B\x1b)B\x0f\x1b[4l\x1b[20l\x1b[?6l\x1b[r\x1b[?7h\x1b[?5l\x1b[0 q",
    "\x1b[?1049l\x1b[23;0t\x1b[0m\x1b[?25h",
)
.as_bytes();

/// A terminal that reads nothing for so long will not read at all; leaving must not hang on it.
const GIVE_BACK_WAIT: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };

/// What a program exits with that ends by a panic.
const PANICKED: i32 = 101;

const ENDING: [Signal; 4] = [Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT];

/// What has to be restored, for the hook that runs when the guard will not, and the thread whose guard it is.
static TAKEN: Mutex<Option<(Termios, ThreadId)>> = Mutex::new(None);
static HOOK: Once = Once::new();

/// A signal that concerns the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// The terminal's size may have changed.
    Resized,
    /// We were stopped, and the shell may have used the terminal in the meantime.
    Continued,
    /// We are to end, by the signal of this number.
    End(i32),
}

/// Whether a signal wants us to end, for code that has to put things in order first. While it
/// lives, such signals only are noted.
pub struct Ending {
    signals: Signals,
    came: Cell<Option<u8>>,
}

impl Ending {
    /// From now on.
    pub fn catch() -> io::Result<Self> {
        Ok(Self { signals: Signals::catch(&ENDING, &[])?, came: Cell::new(None) })
    }

    pub fn wait(&self) -> u8 {
        loop {
            if let Some(signal) = self.came() {
                return signal;
            }
            // An interrupted wait means that it is there.
            let _ = poll(&mut [PollFd::new(&self.signals, PollFlags::IN)], None);
        }
    }

    /// The signal that has come is dealt with: the next one is waited for.
    pub fn forget(&self) {
        self.came.set(None);
    }

    /// The first signal that has come.
    pub fn came(&self) -> Option<u8> {
        if self.came.get().is_none() {
            let number = |signal: Signal| u8::try_from(signal.as_raw()).ok();
            self.came.set(self.signals.next().and_then(number));
        }
        self.came.get()
    }
}

/// The terminal while it is ours. Dropping it gives it back.
pub struct Tty {
    raw: Termios,
    /// Signals that arrived while something was written.
    woken: VecDeque<Wake>,
    signals: Signals,
    // After the signals, because fields are dropped in order and it goes last.
    _watchdog: Watchdog,
}

impl Tty {
    /// Puts the terminal on standard input and output into raw mode and shows its alternate
    /// screen, empty. An error if either is no terminal.
    pub fn take() -> io::Result<Self> {
        if !is_terminal() {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "standard input and output must be a terminal",
            ));
        }
        let original = rustix::termios::tcgetattr(stdin())?;
        let watchdog = Watchdog::start(stdin(), GIVE_BACK)?;
        let caught = [&ENDING[..], &[Signal::WINCH, Signal::CONT]].concat();
        let signals = Signals::catch(&caught, &[Signal::TSTP, Signal::TTOU])?;
        restore_on_panic();
        let mut raw = original.clone();
        raw.make_raw();
        *TAKEN.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((original, std::thread::current().id()));
        let mut tty = Self { raw, woken: VecDeque::new(), signals, _watchdog: watchdog };
        tty.apply_raw()?;
        tty.write_all(TAKE)?;
        Ok(tty)
    }

    /// Readable as soon as [`Self::wake`] has something to say.
    pub fn signals(&self) -> BorrowedFd<'_> {
        self.signals.as_fd()
    }

    /// The next signal that has arrived, if any.
    pub fn wake(&mut self) -> Option<Wake> {
        self.woken.pop_front().or_else(|| self.read_wake())
    }

    /// Leaves a signal for the next [`Self::wake`].
    pub fn put_back(&mut self, wake: Wake) {
        self.woken.push_front(wake);
    }

    /// Writes all bytes, waiting for the terminal as long as it takes.
    ///
    /// Only a signal that is to end the process cuts this short: [`io::ErrorKind::Interrupted`].
    pub fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            rest = write_some(rest)?;
            if rest.is_empty() {
                break;
            }
            while let Some(wake) = self.read_wake() {
                self.woken.push_back(wake);
            }
            if self.woken.iter().any(|wake| matches!(wake, Wake::End(_))) {
                return Err(io::ErrorKind::Interrupted.into());
            }
        }
        Ok(())
    }

    fn read_wake(&self) -> Option<Wake> {
        self.signals.next().map(|signal| match signal {
            Signal::WINCH => Wake::Resized,
            Signal::CONT => Wake::Continued,
            ending => Wake::End(ending.as_raw()),
        })
    }

    /// Puts the terminal into raw mode again, after something else had it.
    pub fn apply_raw(&self) -> io::Result<()> {
        // What was typed before is kept: it was meant for the session that is about to appear.
        Ok(rustix::termios::tcsetattr(stdin(), OptionalActions::Now, &self.raw)?)
    }

    /// Gives the terminal back and ends the process as the signal demands.
    pub fn end_by(self, signal: i32) -> ! {
        drop(self);
        std::process::exit(128 + signal)
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        give_back();
    }
}

/// Whether standard input and output are a terminal.
pub fn is_terminal() -> bool {
    rustix::termios::isatty(stdin()) && rustix::termios::isatty(stdout())
}

/// The size of the terminal on standard output. One that does not know its own size has the usual.
pub fn size() -> io::Result<Size> {
    let size = rustix::termios::tcgetwinsize(stdout())?;
    if size.ws_col == 0 || size.ws_row == 0 {
        return Ok(Size::USUAL);
    }
    Ok(Size { columns: size.ws_col, rows: size.ws_row })
}

/// Writes until the terminal or a signal has had enough, and returns the rest.
fn write_some(bytes: &[u8]) -> io::Result<&[u8]> {
    match rustix::io::write(stdout(), bytes) {
        Ok(count) => Ok(&bytes[count..]),
        Err(Errno::INTR) => Ok(bytes),
        Err(Errno::AGAIN) => {
            // Another process has made the shared terminal non-blocking.
            let mut ready = [PollFd::from_borrowed_fd(stdout(), PollFlags::OUT)];
            match poll(&mut ready, None) {
                Ok(_) | Err(Errno::INTR) => Ok(bytes),
                Err(fault) => Err(fault.into()),
            }
        }
        Err(fault) => Err(fault.into()),
    }
}

fn give_back() {
    let Some((original, _)) = TAKEN.lock().unwrap_or_else(PoisonError::into_inner).take() else {
        return;
    };
    let mut ready = [PollFd::from_borrowed_fd(stdout(), PollFlags::OUT)];
    let writable = poll(&mut ready, Some(&GIVE_BACK_WAIT)).is_ok_and(|count| count > 0);
    if writable {
        // The terminal may be gone altogether; then there is nothing to put in order.
        let mut rest = GIVE_BACK;
        while let Ok(left) = write_some(rest)
            && !left.is_empty()
        {
            rest = left;
        }
    }
    // Reports of the mouse and the like that are still on their way would be typed into the shell.
    let _ = rustix::termios::tcflush(stdin(), QueueSelector::IFlush);
    let _ = rustix::termios::tcsetattr(stdin(), OptionalActions::Now, &original);
    sys::say_goodbye();
}

/// Dropping does nothing where a panic aborts. The message must land on the shell's screen.
#[expect(clippy::exit, reason = "the thread that would have to return is another one")]
fn restore_on_panic() {
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
            let by = taken.as_ref().map(|(_, by)| *by);
            drop(taken);
            give_back();
            before(panic);
            // Who has the terminal would go on drawing on what is the shell's again.
            if by.is_some_and(|by| by != std::thread::current().id()) {
                std::process::exit(PANICKED);
            }
        }));
    });
}

/// The editor of who has not chosen one: it is everywhere.
const USUAL: &str = "vi";

/// Has the user's own editor, `$VISUAL` or `$EDITOR`, change a file. The terminal must be the editor's meanwhile.
pub fn edit(file: &Path) -> io::Result<()> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let editor = set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| USUAL.to_owned());
    let failed = |fault: io::Error| io::Error::other(format!("{editor}: {fault}"));
    // An interrupt is for the editor, and not for us who wait for it.
    let _ending = Ending::catch().map_err(failed)?;
    // The variable is a line for a shell, with options and quotes.
    let line = format!("{editor} \"$1\"");
    let status = Command::new("sh").args(["-c", &line, "glis"]).arg(file).status();
    if status.map_err(failed)?.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("`{editor}` failed: the text is as it was")))
}
