//! A session on the user's terminal: its screen, then its output as it comes, and keys back to it.

mod company;
mod keys;
mod passage;
mod resting;

#[cfg(test)]
mod tests;

use std::io;
use std::path::PathBuf;

use glis_client::{Heard, Holder};
use glis_wire::hold::{ExitRecord, Size};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::stdio::stdin;

use crate::tty::{self, PLAIN_KEYS, Tty, Wake};
use crate::width::beginning;
use company::Aside;
pub use company::Company;
pub(crate) use company::{painted_anew, scene_of};
use keys::{Keys, Typed};
use passage::{Passage, Switch};
use resting::{From, Rested, rest};

/// Input that the agent does not take waits here. Beyond this, the user's own terminal has to wait.
const OUTGOING_BYTES_MAX: usize = 4 * 1024 * 1024;
const INPUT_BYTES: usize = 64 * 1024;

/// An empty screen without margins or styles, and with no keyboard flags but those to come.
const CLEAR: &[u8] = b"\x1b[0m\x1b[?6l\x1b[r\x1b[<99u\x1b[=0u\x1b[H\x1b[2J";
/// What a program expects of its alternate screen: the cursor saved, and nothing to be seen.
const BEGIN_ALTERNATE: &[u8] = b"\x1b7\x1b[2J";
/// The nearest to the main screen if it cannot be painted: the cursor is where it was.
const BLANK_MAIN: &[u8] = b"\x1b[2J\x1b8";
/// A soft reset, because a hard one would leave the alternate screen and clear the shell's.
const SOFT_RESET: &[u8] = b"\x1b[!p\x1b[0m\x1b(B\x0f\x1b[r\x1b[?7h\x1b[?25h\x1b[H\x1b[2J";

/// A screen as bytes for a cleared terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Painting {
    /// The offset that it shows: output from here on continues it.
    pub at: u64,
    pub bytes: Vec<u8>,
}

/// Paints the session's screen as of the given offset or a later one.
pub type Repaint = Box<dyn FnMut(u64) -> io::Result<Painting>>;

/// A session's screen, and the way to what follows it.
pub struct Scene {
    pub painting: Painting,
    /// The size that the painting was made for. If the user's terminal has another one, it is
    /// clipped at first, and painted anew once the session has the user's.
    pub size: Option<Size>,
    /// The folder with the holder's socket; `None` if nothing is believed to run.
    pub holder_dir: Option<PathBuf>,
}

impl Scene {
    /// Connects to the holder, if there is one.
    fn follow(&self) -> io::Result<Option<Holder>> {
        match self.holder_dir.as_deref().map(|dir| Holder::follow(dir, self.painting.at)) {
            Some(Err(fault)) if !Holder::is_absence(&fault) => Err(fault),
            met => Ok(met.and_then(Result::ok)),
        }
    }
}

pub struct AttachSpec {
    pub scene: Scene,
    /// What is told to who types where nothing takes keys; `None` sends them to the agent.
    pub keys_unwanted: Option<String>,
    /// Asked when a program leaves its alternate screen, or the session's size becomes ours: what
    /// is to be seen then is known only to the daemon. Without it, the main screen begins
    /// blank, and what was made for another size stays clipped.
    pub repaint: Option<Repaint>,
    /// Who knows what becomes of the session when its process ends, and can bring it back. Without it,
    /// the end of the process is the end of looking.
    pub companion: Option<Company>,
}

/// Why the session is no longer shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leave {
    /// The user has pressed the key, or closed the terminal.
    Detached,
    Ended(Box<ExitRecord>),
    /// The holder is gone, and has not said why.
    Lost,
    /// A pause has stopped its process in place.
    Kept,
    /// Nothing runs, and the user has seen enough.
    NotRunning,
}

/// Shows a session until the user leaves, or until it ends and no daemon can say what becomes of it. The
/// terminal is as before afterwards.
pub fn attach(spec: AttachSpec) -> io::Result<Leave> {
    let AttachSpec { scene, keys_unwanted, repaint, mut companion } = spec;
    let holder = scene.follow()?;
    if holder.is_none() && scene.holder_dir.is_some() && companion.is_none() {
        return Ok(Leave::Lost);
    }
    let (tty, shown) = (Tty::take()?, scene.painting.at);
    let mut terminal = Terminal { tty, passage: Passage::default(), repaint, skip_to: 0, shown };
    let mut keys = Keys::default();
    let mut view = View { painting: scene.painting, size: scene.size, holder };
    let left = loop {
        let kept = match companion.as_mut().map(Company::until_kept) {
            Some(kept) => kept?,
            None => None,
        };
        let shown = look_at(&mut terminal, &mut keys, view, (keys_unwanted.as_deref(), kept));
        let (from, companion) = match (shown, &mut companion) {
            (Ok(Leave::Ended(record)), Some(companion)) => {
                (From::Process(Some(record.generation)), companion)
            }
            (Ok(Leave::Lost | Leave::Kept), Some(companion)) => (From::Process(None), companion),
            (Ok(Leave::NotRunning), Some(companion)) => (From::Nothing, companion),
            (shown, _) => break shown,
        };
        view = match rest(&mut terminal, &mut keys, companion, from) {
            Ok(Rested::Again(next)) => next,
            Ok(Rested::Left) => break Ok(Leave::NotRunning),
            Err(fault) => break Err(fault),
        };
        terminal.begin_anew(view.painting.at)?;
    };
    match left {
        // Only a signal that ends us interrupts; it is waiting to be read.
        Err(fault) if fault.kind() == io::ErrorKind::Interrupted => end(terminal.tty),
        done => done,
    }
}

/// What is shown at first, and what follows it.
struct View {
    painting: Painting,
    size: Option<Size>,
    holder: Option<Holder>,
}

/// Shows a session while its process lives. Of one that has none, the last screen is painted.
fn look_at(
    terminal: &mut Terminal,
    keys: &mut Keys,
    view: View,
    (keys_unwanted, kept): (Option<&str>, Option<Aside>),
) -> io::Result<Leave> {
    let View { painting, size: paint_size, holder } = view;
    let Some(mut holder) = holder else {
        terminal.paint(&painting.bytes)?;
        return Ok(Leave::NotRunning);
    };
    holder.resize(tty::size()?);
    let mut attached = Attached { terminal, keys, keys_unwanted, kept, holder, paint_size };
    attached.terminal.paint(&painting.bytes)?;
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

    /// Heeds the signals that have come. Whether the terminal may have another size.
    fn heed(&mut self) -> io::Result<bool> {
        let mut resized = false;
        while let Some(wake) = self.tty.wake() {
            match wake {
                Wake::Resized => resized = true,
                Wake::Continued => self.tty.apply_raw()?,
                Wake::End(signal) => {
                    self.tty.put_back(Wake::End(signal));
                    return Err(io::ErrorKind::Interrupted.into());
                }
            }
        }
        Ok(resized)
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
        let text = beginning(text, columns);
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

/// Whether the screen could be painted.
enum Painted {
    Yes,
    No,
}

struct Attached<'t> {
    terminal: &'t mut Terminal,
    keys: &'t mut Keys,
    keys_unwanted: Option<&'t str>,
    /// Done when its process was stopped in place: then nothing takes keys, and nothing tells so.
    kept: Option<Aside>,
    holder: Holder,
    /// The size that what is shown was made for, if it is known.
    paint_size: Option<Size>,
}

impl Attached<'_> {
    fn serve(&mut self) -> io::Result<Leave> {
        let mut input = vec![0; INPUT_BYTES];
        loop {
            let ready = self.wait()?;
            if self.terminal.heed()? {
                self.holder.resize(tty::size()?);
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
            if ready.kept {
                return Ok(Leave::Kept);
            }
            self.holder.send()?;
        }
    }

    fn wait(&self) -> io::Result<Ready> {
        let mut towards = PollFlags::IN;
        if self.holder.waiting() > 0 {
            towards |= PollFlags::OUT;
        }
        let input = if self.holder.waiting() < OUTGOING_BYTES_MAX {
            PollFlags::IN
        } else {
            PollFlags::empty()
        };
        let mut waiting = vec![
            PollFd::from_borrowed_fd(self.terminal.tty.signals(), PollFlags::IN),
            PollFd::new(&self.holder, towards),
            PollFd::from_borrowed_fd(stdin(), input),
        ];
        waiting.extend(self.kept.as_ref().map(|kept| PollFd::new(&kept.done, PollFlags::IN)));
        match poll(&mut waiting, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(fault) => return Err(fault.into()),
        }
        let came = PollFlags::IN | PollFlags::HUP | PollFlags::ERR;
        let came = |at: usize| waiting.get(at).is_some_and(|fd| fd.revents().intersects(came));
        Ok(Ready { holder: came(1), input: came(2), kept: came(3) })
    }

    fn take_input(&mut self, input: &mut [u8]) -> io::Result<Option<Leave>> {
        let Some(count) = read_input(input)? else { return Ok(None) };
        if count == 0 {
            return Ok(Some(Leave::Detached));
        }
        match self.keys.look(&input[..count]) {
            Typed::Input if self.keys_unwanted.is_some() => self.tell_unwanted().map(|()| None),
            Typed::Input => {
                self.holder.write(&input[..count]);
                Ok(None)
            }
            Typed::Detach { before } => {
                if before > 0 && self.keys_unwanted.is_none() {
                    self.holder.write(&input[..before]);
                    self.holder.send()?;
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
        if !self.holder.read()? {
            return Ok(Some(Leave::Lost));
        }
        loop {
            let (at, size) = match self.holder.hear()? {
                Heard::Nothing => return Ok(None),
                Heard::Ended(record) => return Ok(Some(Leave::Ended(record))),
                Heard::Output { at, bytes } => {
                    self.terminal.show(at, bytes)?;
                    continue;
                }
                Heard::Resized { at, size } => (at, size),
            };
            self.fit(at, size)?;
        }
    }

    /// The session has another size. Where it is ours, what is shown was made for another and is
    /// painted anew: not every program does that by itself.
    fn fit(&mut self, at: u64, size: Size) -> io::Result<()> {
        let former = self.paint_size.replace(size);
        if former != Some(size) && size == tty::size()? {
            // It cannot be painted: it stays as it is.
            let (Painted::Yes | Painted::No) =
                self.terminal.paint_anew(at.max(self.terminal.shown))?;
        }
        Ok(())
    }
}

struct Ready {
    holder: bool,
    input: bool,
    kept: bool,
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
