//! A session whose process has ended while a terminal is attached: the last screen stays, a line tells
//! what became of it, one key resumes it and another leaves. It goes on if it is resumed elsewhere.

use super::{INPUT_BYTES, Painting, Terminal, View, keys::Keys, read_input};
use crate::attach::keys::Typed;
use crate::tty::{PLAIN_KEYS, Wake};
use glis_client::Holder;
use glis_wire::hold::Size;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::stdio::stdin;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const CTRL_C: u8 = 0x03;

/// A user who is typing when the session is paused has not seen that yet: keys count only after this.
const TYPING_TIME: Duration = Duration::from_secs(1);

/// The holder tells of an end before the daemon has taken it in. That takes a moment.
const SETTLING_TIME: Duration = Duration::from_millis(100);

/// How a session stands that is looked at.
pub struct Standing {
    /// Its screen.
    pub painting: Painting,
    /// The size that it was painted for.
    pub size: Size,
    /// The folder with the holder's socket, if a process is believed to live.
    pub holder_dir: Option<PathBuf>,
    /// Which start of its process this is about.
    pub generation: u32,
    /// What became of it, in a line.
    pub line: String,
    /// What can be done about it.
    pub offer: Offer,
}

/// What can be done about a session that does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    /// It can be brought back.
    Resume,
    /// It can only be left.
    Leave,
}

/// Something done beside the terminal, by another thread.
pub struct Aside {
    /// Can be read, or hangs up, when it is done.
    pub done: OwnedFd,
}

/// Who knows what becomes of a session.
pub trait Companion {
    /// How it stands now.
    fn look(&mut self) -> io::Result<Standing>;
    /// Waits until it is otherwise than it was at the last look.
    fn until_changed(&mut self) -> io::Result<Aside>;
    /// Brings it back.
    fn resume(&mut self) -> io::Result<Aside>;
    /// Why it was not brought back, once that is known.
    fn not_resumed(&mut self) -> Option<String>;
    /// Waits until a pause has stopped its process in place, which that cannot tell itself; `None` where
    /// no pause does so.
    fn until_kept(&mut self) -> io::Result<Option<Aside>>;
}

/// What was shown before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    /// A process that has ended, with its generation if it has told of its end itself.
    Process(Option<u32>),
    /// No process that could be typed to.
    Nothing,
}

/// How looking at a session at rest ended.
pub(super) enum Rested {
    /// The user has seen enough.
    Left,
    /// A process lives again.
    Again(View),
}

/// Shows a session at rest until it runs again or the user leaves. A process that has told of its end
/// is over, whatever the daemon still believes.
pub(super) fn rest(
    terminal: &mut Terminal,
    keys: &mut Keys,
    companion: &mut dyn Companion,
    from: From,
) -> io::Result<Rested> {
    // No program takes the mouse or special keys now, and plain ones are easier to understand.
    terminal.tty.write_all(PLAIN_KEYS)?;
    let (ended, patience) = match from {
        From::Process(ended) => (ended, TYPING_TIME),
        From::Nothing => (None, Duration::ZERO),
    };
    let keys_from = Instant::now() + patience;
    Resting { terminal, keys, companion, ended, keys_from }.run()
}

struct Resting<'t> {
    terminal: &'t mut Terminal,
    keys: &'t mut Keys,
    companion: &'t mut dyn Companion,
    ended: Option<u32>,
    keys_from: Instant,
}

/// What ended a wait.
enum News {
    /// The session is otherwise, or may be.
    Changed,
    /// The resume that was asked for is over.
    Resumed,
    /// The user wants it back.
    Resume,
    /// The user wants to leave.
    Leave,
    /// Time has passed, or the terminal has another size: the line is to be told again.
    Redraw,
}

impl Resting<'_> {
    fn run(&mut self) -> io::Result<Rested> {
        let mut resume: Option<Aside> = None;
        let mut failure: Option<String> = None;
        loop {
            let standing = self.companion.look()?;
            let line = failure.clone().unwrap_or_else(|| standing.line.clone());
            let offer = if resume.is_some() { None } else { Some(standing.offer) };
            let is_believed_alive = standing.holder_dir.is_some();
            if let Some(view) = self.alive(standing)? {
                return Ok(Rested::Again(view));
            }
            let changed = self.companion.until_changed()?;
            loop {
                self.terminal.tell(&self.worded(&line, offer))?;
                let settling = is_believed_alive.then_some(SETTLING_TIME);
                match self.wait(&changed, resume.as_ref(), settling)? {
                    News::Changed => break,
                    News::Redraw if is_believed_alive => break,
                    News::Leave => return Ok(Rested::Left),
                    News::Resume if offer == Some(Offer::Resume) => {
                        failure = None;
                        resume = Some(self.companion.resume()?);
                        break;
                    }
                    News::Redraw | News::Resume => {}
                    News::Resumed => {
                        resume = None;
                        failure = self.companion.not_resumed();
                        break;
                    }
                }
            }
        }
    }

    /// The session as it goes on, if a process of it can be reached that is not known to be over.
    fn alive(&self, standing: Standing) -> io::Result<Option<View>> {
        let Standing { painting, size, holder_dir, generation, .. } = standing;
        let Some(dir) = holder_dir.filter(|_| self.ended != Some(generation)) else {
            return Ok(None);
        };
        match Holder::follow(&dir, painting.at) {
            Ok(holder) => Ok(Some(View {
                paint: painting.bytes,
                paint_size: Some(size),
                from: painting.at,
                holder: Some(holder),
            })),
            Err(fault) if Holder::is_absence(&fault) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    fn takes_keys(&self) -> bool {
        Instant::now() >= self.keys_from
    }

    /// The keys come first: what does not fit into the line is cut.
    fn worded(&self, line: &str, offer: Option<Offer>) -> String {
        match offer.filter(|_| self.takes_keys()) {
            Some(Offer::Resume) => format!("r resumes, q leaves | {line}"),
            Some(Offer::Leave) => format!("q leaves | {line}"),
            None => line.to_owned(),
        }
    }

    fn wait(
        &mut self,
        changed: &Aside,
        resume: Option<&Aside>,
        settling: Option<Duration>,
    ) -> io::Result<News> {
        let mut input = vec![0; INPUT_BYTES];
        loop {
            let typing = (!self.takes_keys())
                .then(|| self.keys_from.saturating_duration_since(Instant::now()));
            let patience = typing.into_iter().chain(settling).min();
            let patience = patience.and_then(|time| Timespec::try_from(time).ok());
            let mut waiting = vec![
                PollFd::from_borrowed_fd(self.terminal.tty.signals(), PollFlags::IN),
                PollFd::from_borrowed_fd(stdin(), PollFlags::IN),
                PollFd::new(&changed.done, PollFlags::IN),
            ];
            waiting.extend(resume.map(|aside| PollFd::new(&aside.done, PollFlags::IN)));
            let ready = match poll(&mut waiting, patience.as_ref()) {
                Ok(ready) => ready,
                Err(Errno::INTR) => 0,
                Err(fault) => return Err(fault.into()),
            };
            let came: Vec<bool> = waiting.iter().map(|fd| !fd.revents().is_empty()).collect();
            drop(waiting);
            if let Some(news) = self.heed_signals()? {
                return Ok(news);
            }
            if came.get(1) == Some(&true)
                && let Some(news) = self.heed_keys(&mut input)?
            {
                return Ok(news);
            }
            if came.get(3) == Some(&true) {
                return Ok(News::Resumed);
            }
            if came.get(2) == Some(&true) {
                return Ok(News::Changed);
            }
            if ready == 0 && patience.is_some() {
                return Ok(News::Redraw);
            }
        }
    }

    fn heed_signals(&mut self) -> io::Result<Option<News>> {
        let mut news = None;
        while let Some(wake) = self.terminal.tty.wake() {
            match wake {
                Wake::Resized => news = Some(News::Redraw),
                Wake::Continued => self.terminal.tty.apply_raw()?,
                Wake::End(signal) => {
                    self.terminal.tty.put_back(Wake::End(signal));
                    return Err(io::ErrorKind::Interrupted.into());
                }
            }
        }
        Ok(news)
    }

    fn heed_keys(&mut self, input: &mut [u8]) -> io::Result<Option<News>> {
        let Some(count) = read_input(input)? else { return Ok(None) };
        let typed = input.get(..count).unwrap_or_default();
        // The key that leaves is nothing that anybody types to an agent.
        if count == 0 || matches!(self.keys.look(typed), Typed::Detach { .. }) {
            return Ok(Some(News::Leave));
        }
        if !self.takes_keys() {
            return Ok(None);
        }
        let news = typed.iter().find_map(|byte| match *byte {
            b'q' | CTRL_C => Some(News::Leave),
            b'r' => Some(News::Resume),
            _ => None,
        });
        Ok(news)
    }
}
