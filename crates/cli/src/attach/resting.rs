//! A session whose process has ended while a terminal is attached: the last screen stays, a line tells
//! what became of it, one key resumes it and another leaves. It goes on if it is resumed elsewhere.

use super::company::{Aside, Company, Offer, Standing};
use super::{INPUT_BYTES, Scene, Terminal, View, keys::Keys, read_input};
use crate::attach::keys::Typed;
use crate::tty::PLAIN_KEYS;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::stdio::stdin;
use std::io;
use std::time::{Duration, Instant};

const CTRL_C: u8 = 0x03;

/// A user who is typing when the session is paused has not seen that yet: keys count only after this.
const TYPING_TIME: Duration = Duration::from_secs(1);

/// The holder tells of an end before the daemon has taken it in. That takes a moment.
const SETTLING_TIME: Duration = Duration::from_millis(100);

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
    Again(View),
}

/// Shows a session at rest until it runs again or the user leaves. A process that has told of its end
/// is over, whatever the daemon still believes.
pub(super) fn rest(
    terminal: &mut Terminal,
    keys: &mut Keys,
    companion: &mut Company,
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
    companion: &'t mut Company,
    ended: Option<u32>,
    keys_from: Instant,
}

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
            let is_believed_alive = standing.scene.holder_dir.is_some();
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
        let Standing { scene, generation, .. } = standing;
        if self.ended == Some(generation) {
            return Ok(None);
        }
        let holder = scene.follow()?;
        let Scene { painting, size, .. } = scene;
        Ok(holder.map(|holder| View { painting, size, holder: Some(holder) }))
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
            if self.terminal.heed()? {
                return Ok(News::Redraw);
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
