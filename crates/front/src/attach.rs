//! A session on the user's terminal: its screen, then its output as it comes, and keys back to it.

mod incoming;
mod keys;
mod passage;
mod resting;

#[cfg(test)]
mod tests;

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use glis_wire::frame::{encode_raw, encode_words};
use glis_wire::hold::{ExitRecord, Hello, Order, PROTOCOL, Report, Size, place};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType};
use rustix::stdio::stdin;

use crate::tty::{self, PLAIN_KEYS, Tty, Wake};
use incoming::{Incoming, Part};
use keys::{Keys, Typed};
use passage::{Passage, Switch};
pub use resting::{Aside, Companion, Offer, Standing};
use resting::{From, Rested, rest};

/// Ctrl+Q: no agent and no shell has a use for it, and terminals no longer stop their output.
pub const CTRL_Q: u8 = 0x11;

/// Input that the agent does not take waits here. Beyond this, the user's own terminal has to wait.
const OUTGOING_BYTES_MAX: usize = 4 * 1024 * 1024;
const INPUT_BYTES: usize = 64 * 1024;

/// An empty screen without margins or styles, and with no keyboard flags but those to come.
const CLEAR: &[u8] = b"\x1b[0m\x1b[?6l\x1b[r\x1b[<99u\x1b[=0u\x1b[H\x1b[2J";
/// What a program expects of its alternate screen: the cursor saved, and nothing to be seen.
const BEGIN_ALTERNATE: &[u8] = b"\x1b7\x1b[2J";
/// The nearest to the main screen if nobody can paint it: the cursor is where it was.
const BLANK_MAIN: &[u8] = b"\x1b[2J\x1b8";
/// A soft reset, because a hard one would leave the alternate screen and clear the shell's.
const SOFT_RESET: &[u8] = b"\x1b[!p\x1b[0m\x1b(B\x0f\x1b[r\x1b[?7h\x1b[?25h\x1b[H\x1b[2J";

/// A screen as bytes for a cleared terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Painting {
    /// The offset that it shows: output from here on continues it.
    pub at: u64,
    /// What is to be written.
    pub bytes: Vec<u8>,
}

/// Paints the session's screen as of the given offset or a later one.
pub type Repaint = Box<dyn FnMut(u64) -> io::Result<Painting>>;

/// What is to be shown.
pub struct AttachSpec {
    /// The screen as of `from`, as bytes for a cleared terminal.
    pub paint: Vec<u8>,
    /// The size that the painting was made for. If the user's terminal has another one, it is
    /// clipped at first, and painted anew once the session has the user's.
    pub paint_size: Option<Size>,
    /// The offset that the painting shows.
    pub from: u64,
    /// The folder with the holder's socket; `None` if nothing runs, and only the painting is shown.
    pub holder_dir: Option<PathBuf>,
    /// The control character that leaves, usually [`CTRL_Q`].
    pub detach: u8,
    /// What is told to who types where nothing takes keys; `None` sends them to the agent.
    pub keys_unwanted: Option<String>,
    /// Asked when a program leaves its alternate screen, or the session's size becomes ours: what
    /// is to be seen then is known only to whoever has the log. Without it, the main screen begins
    /// blank, and what was made for another size stays clipped.
    pub repaint: Option<Repaint>,
    /// Who knows what becomes of the session when its process ends, and can bring it back. Without it,
    /// the end of the process is the end of looking.
    pub companion: Option<Box<dyn Companion>>,
}

/// Why the session is no longer shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leave {
    /// The user has pressed the key, or closed the terminal.
    Detached,
    /// The agent has ended.
    Ended(Box<ExitRecord>),
    /// The holder is gone, and has not said why.
    Lost,
    /// Nothing runs, and the user has seen enough.
    NotRunning,
}

/// Shows a session until the user leaves, or until it ends where nobody knows what becomes of it. The
/// terminal is as before afterwards.
pub fn attach(spec: AttachSpec) -> io::Result<Leave> {
    let AttachSpec { paint, paint_size, from, holder_dir, detach, .. } = spec;
    let AttachSpec { keys_unwanted, repaint, mut companion, .. } = spec;
    let socket = match holder_dir.as_deref().map(connect) {
        None => None,
        Some(Ok(socket)) => Some(socket),
        Some(Err(fault)) if is_absence(&fault) && companion.is_some() => None,
        Some(Err(fault)) if is_absence(&fault) => return Ok(Leave::Lost),
        Some(Err(fault)) => return Err(fault),
    };
    let tty = Tty::take()?;
    let mut terminal =
        Terminal { tty, passage: Passage::default(), repaint, skip_to: 0, shown: from };
    let mut keys = Keys::new(detach);
    let mut view = View { paint, paint_size, from, socket };
    let left = loop {
        let shown = look_at(&mut terminal, &mut keys, view, keys_unwanted.as_deref());
        let (from, companion) = match (shown, &mut companion) {
            (Ok(Leave::Ended(record)), Some(companion)) => {
                (From::Process(Some(record.generation)), companion)
            }
            (Ok(Leave::Lost), Some(companion)) => (From::Process(None), companion),
            (Ok(Leave::NotRunning), Some(companion)) => (From::Nothing, companion),
            (shown, _) => break shown,
        };
        view = match rest(&mut terminal, &mut keys, companion.as_mut(), from) {
            Ok(Rested::Again(next)) => next,
            Ok(Rested::Left) => break Ok(Leave::NotRunning),
            Err(fault) => break Err(fault),
        };
        terminal.begin_anew(view.from)?;
    };
    match left {
        // Only a signal that ends us interrupts; it is waiting to be read.
        Err(fault) if fault.kind() == io::ErrorKind::Interrupted => end(terminal.tty),
        done => done,
    }
}

/// What is shown at first, and what follows it.
struct View {
    paint: Vec<u8>,
    paint_size: Option<Size>,
    from: u64,
    socket: Option<OwnedFd>,
}

/// Shows a session while its process lives. Of one that has none, the last screen is painted.
fn look_at(
    terminal: &mut Terminal,
    keys: &mut Keys,
    view: View,
    keys_unwanted: Option<&str>,
) -> io::Result<Leave> {
    let View { paint, paint_size, from, socket } = view;
    let Some(socket) = socket else {
        terminal.paint(&paint)?;
        return Ok(Leave::NotRunning);
    };
    let (incoming, outgoing) = (Incoming::new(), Vec::new());
    let mut attached =
        Attached { terminal, keys, keys_unwanted, socket, incoming, outgoing, from, paint_size };
    attached.terminal.paint(&paint)?;
    attached.tell_unwanted()?;
    attached.serve()
}

/// The user's terminal, with what stands between it and the session's output.
struct Terminal {
    tty: Tty,
    passage: Passage,
    repaint: Option<Repaint>,
    /// Output before this offset is part of a painting already.
    skip_to: u64,
    /// Output before this offset has been shown, or skipped.
    shown: u64,
}

impl Terminal {
    /// Shows output that begins at offset `at`.
    fn show(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mut at = at;
        let mut rest = bytes;
        self.shown = at + bytes.len() as u64;
        while !rest.is_empty() {
            let known = usize::try_from(self.skip_to.saturating_sub(at)).unwrap_or(usize::MAX);
            if known > 0 {
                let known = known.min(rest.len());
                rest = &rest[known..];
                at += known as u64;
                continue;
            }
            let passed = self.passage.pass(rest, |run| self.tty.write_all(run))?;
            rest = &rest[passed.taken..];
            at += passed.taken as u64;
            if let Some(switch) = passed.switch {
                self.switch(switch, at)?;
            }
        }
        Ok(())
    }

    /// Shows a painting. Its switch to the alternate screen is treated like a program's.
    fn paint(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let passed = self.passage.pass(rest, |run| self.tty.write_all(run))?;
            rest = &rest[passed.taken..];
            if passed.switch == Some(Switch::ToAlternate) {
                self.tty.write_all(BEGIN_ALTERNATE)?;
            }
        }
        Ok(())
    }

    fn switch(&mut self, switch: Switch, at: u64) -> io::Result<()> {
        match switch {
            Switch::ToAlternate => self.tty.write_all(BEGIN_ALTERNATE),
            Switch::Reset => {
                self.tty.write_all(PLAIN_KEYS)?;
                self.tty.write_all(SOFT_RESET)
            }
            Switch::ToMain => match self.paint_anew(at)? {
                Painted::Yes => Ok(()),
                // A session that cannot be repainted is still better shown than left.
                Painted::No => self.tty.write_all(BLANK_MAIN),
            },
        }
    }

    /// Another process is shown from here on.
    fn begin_anew(&mut self, from: u64) -> io::Result<()> {
        self.passage = Passage::default();
        (self.skip_to, self.shown) = (0, from);
        self.tty.write_all(CLEAR)
    }

    /// Says something in the last line, where output soon goes over it.
    fn tell(&mut self, text: &str) -> io::Result<()> {
        let columns = usize::from(tty::size()?.columns);
        let text: String = text.chars().take(columns).collect();
        let line = format!("\x1b7\x1b[999;1H\x1b[0;7m{text}\x1b[0m\x1b[K\x1b8");
        self.tty.write_all(line.as_bytes())
    }

    /// Shows the whole screen as of `at` or later; output up to there is skipped.
    fn paint_anew(&mut self, at: u64) -> io::Result<Painted> {
        match self.repaint.as_mut().map(|repaint| repaint(at)) {
            Some(Ok(painting)) if painting.at >= at => {
                self.skip_to = painting.at;
                // A sequence that is not complete yet is part of the painting as well.
                self.passage = Passage::default();
                self.tty.write_all(CLEAR)?;
                self.paint(&painting.bytes)?;
                Ok(Painted::Yes)
            }
            Some(Ok(_) | Err(_)) | None => Ok(Painted::No),
        }
    }
}

/// Whether somebody could paint the screen.
enum Painted {
    Yes,
    No,
}

struct Attached<'t> {
    terminal: &'t mut Terminal,
    keys: &'t mut Keys,
    keys_unwanted: Option<&'t str>,
    socket: OwnedFd,
    incoming: Incoming,
    outgoing: Vec<u8>,
    from: u64,
    /// The size that what is shown was made for, if it is known.
    paint_size: Option<Size>,
}

impl Attached<'_> {
    fn serve(&mut self) -> io::Result<Leave> {
        let mut input = vec![0; INPUT_BYTES];
        loop {
            let ready = self.wait()?;
            while let Some(wake) = self.terminal.tty.wake() {
                self.heed(wake)?;
            }
            // Keys before output: leaving must be possible in the middle of a flood.
            if ready.input
                && let Some(leave) = self.take_input(&mut input)?
            {
                return Ok(leave);
            }
            if ready.holder
                && let Some(leave) = self.take_frames()?
            {
                return Ok(leave);
            }
            self.send()?;
        }
    }

    fn wait(&self) -> io::Result<Ready> {
        let mut towards = PollFlags::IN;
        if !self.outgoing.is_empty() {
            towards |= PollFlags::OUT;
        }
        let input = if self.outgoing.len() < OUTGOING_BYTES_MAX {
            PollFlags::IN
        } else {
            PollFlags::empty()
        };
        let mut waiting = [
            PollFd::from_borrowed_fd(self.terminal.tty.signals(), PollFlags::IN),
            PollFd::new(&self.socket, towards),
            PollFd::from_borrowed_fd(stdin(), input),
        ];
        match poll(&mut waiting, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(fault) => return Err(fault.into()),
        }
        let came = PollFlags::IN | PollFlags::HUP | PollFlags::ERR;
        let [_, holder, input] = waiting;
        Ok(Ready {
            holder: holder.revents().intersects(came),
            input: input.revents().intersects(came),
        })
    }

    fn heed(&mut self, wake: Wake) -> io::Result<()> {
        match wake {
            Wake::Resized => {
                let size = tty::size()?;
                self.order(&Order::Resize(size));
            }
            Wake::Continued => self.terminal.tty.apply_raw()?,
            Wake::End(signal) => {
                self.terminal.tty.put_back(Wake::End(signal));
                return Err(io::ErrorKind::Interrupted.into());
            }
        }
        Ok(())
    }

    fn take_input(&mut self, input: &mut [u8]) -> io::Result<Option<Leave>> {
        let Some(count) = read_input(input)? else { return Ok(None) };
        if count == 0 {
            return Ok(Some(Leave::Detached));
        }
        match self.keys.look(&input[..count]) {
            Typed::Input if self.keys_unwanted.is_some() => self.tell_unwanted().map(|()| None),
            Typed::Input => {
                encode_raw(&mut self.outgoing, 0, &input[..count]);
                Ok(None)
            }
            Typed::Detach { before } => {
                if before > 0 && self.keys_unwanted.is_none() {
                    encode_raw(&mut self.outgoing, 0, &input[..before]);
                    self.send()?;
                }
                Ok(Some(Leave::Detached))
            }
        }
    }

    /// Says that keys go nowhere.
    fn tell_unwanted(&mut self) -> io::Result<()> {
        self.keys_unwanted.map_or(Ok(()), |text| self.terminal.tell(text))
    }

    fn take_frames(&mut self) -> io::Result<Option<Leave>> {
        let socket = &self.socket;
        let came = self
            .incoming
            .fill(|space| Ok(rustix::net::recv(socket, space, RecvFlags::DONTWAIT)?.1));
        match came {
            Ok(0) => return Ok(Some(Leave::Lost)),
            Ok(_) => {}
            Err(fault) if fault.kind() == io::ErrorKind::ConnectionReset => {
                return Ok(Some(Leave::Lost));
            }
            Err(fault) if is_patience(&fault) => return Ok(None),
            Err(fault) => return Err(fault),
        }
        loop {
            match self.incoming.next_part().map_err(io::Error::other)? {
                Part::Nothing => return Ok(None),
                Part::Output { at, range } => self.terminal.show(at, self.incoming.bytes(range))?,
                Part::Report(report) => {
                    if let Some(leave) = self.hear(*report)? {
                        return Ok(Some(leave));
                    }
                }
            }
        }
    }

    fn hear(&mut self, report: Report) -> io::Result<Option<Leave>> {
        match report {
            Report::Hello(Hello { ended: Some(record), .. }) | Report::Ended(record) => {
                Ok(Some(Leave::Ended(Box::new(record))))
            }
            Report::Hello(Hello { protocol, .. }) if protocol != PROTOCOL => Err(io::Error::other(
                format!("the session's holder speaks protocol {protocol}, not {PROTOCOL}"),
            )),
            Report::Hello(_) => {
                // The size first, so that what follows is made for this terminal.
                self.order(&Order::Resize(tty::size()?));
                self.order(&Order::Follow { from: self.from });
                Ok(None)
            }
            Report::Output { .. }
            | Report::Wrote { .. }
            | Report::Refused { .. }
            | Report::Audience { .. }
            | Report::Environment { .. }
            | Report::FolderLost { .. }
            | Report::Gap { .. } => Ok(None),
            Report::Resized { at, size } => self.fit(at, size).map(|()| None),
        }
    }

    /// The session has another size. Where it is ours, what is shown was made for another and is
    /// painted anew: not every program does that by itself.
    fn fit(&mut self, at: u64, size: Size) -> io::Result<()> {
        let former = self.paint_size.replace(size);
        if former != Some(size) && size == tty::size()? {
            // Nobody who could paint it: it stays as it is.
            let (Painted::Yes | Painted::No) =
                self.terminal.paint_anew(at.max(self.terminal.shown))?;
        }
        Ok(())
    }

    fn order(&mut self, order: &Order) {
        self.outgoing.extend_from_slice(&encode_words(order));
    }

    /// Sends what the holder takes at once. If it takes nothing, we still listen to it and to keys.
    fn send(&mut self) -> io::Result<()> {
        let mut sent = 0;
        while sent < self.outgoing.len() {
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            match rustix::net::send(&self.socket, &self.outgoing[sent..], flags) {
                Ok(count) => sent += count,
                Err(Errno::INTR) => {}
                // A holder that hangs up has said its last words; reading will find them.
                Err(Errno::PIPE | Errno::CONNRESET) => sent = self.outgoing.len(),
                Err(Errno::AGAIN) => break,
                Err(fault) => return Err(fault.into()),
            }
        }
        self.outgoing.drain(..sent);
        Ok(())
    }
}

struct Ready {
    holder: bool,
    input: bool,
}

/// Ends the process by the signal that is waiting to be read.
fn end(mut tty: Tty) -> ! {
    loop {
        if let Some(Wake::End(signal)) = tty.wake() {
            tty.end_by(signal);
        }
    }
}

/// Reads what was typed: `None` if there is nothing after all, 0 if the terminal is gone.
fn read_input(input: &mut [u8]) -> io::Result<Option<usize>> {
    match rustix::io::read(stdin(), input) {
        Ok(count) => Ok(Some(count)),
        Err(Errno::INTR | Errno::AGAIN) => Ok(None),
        Err(Errno::IO) => Ok(Some(0)),
        Err(fault) => Err(fault.into()),
    }
}

/// Connects to the holder of the session in `dir`. The path is taken through the open folder,
/// because the address of a socket has room for 107 bytes and folders may be deeper.
fn connect(dir: &Path) -> io::Result<OwnedFd> {
    use std::os::fd::AsRawFd as _;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::open(dir, flags, Mode::empty())?;
    let path = format!("/proc/self/fd/{}/{}", folder.as_raw_fd(), place::SOCKET);
    let kind = SocketType::STREAM;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)?;
    rustix::net::connect(&socket, &SocketAddrUnix::new(path.as_str())?)?;
    Ok(socket)
}

fn is_absence(fault: &io::Error) -> bool {
    matches!(fault.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
}

fn is_patience(fault: &io::Error) -> bool {
    matches!(fault.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
