//! The agent's one waiting place: stdin, signals, clocks and a tool's pipe, all in one poll.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::Signal;
use rustix::stdio::{stdin, stdout};

use super::{Agent, Asking, Greeting, Input, Phase, Stdin};
use crate::face::{Face, Goodbye, Mode};
use crate::record::Notice;
use crate::sys;

/// A pipe that says it is writable takes this much without blocking (`PIPE_BUF`).
const WRITE_MAX: usize = 4096;

const NO_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

impl Agent {
    /// Waits until something happens, `until` at the latest, and heeds it.
    ///
    /// Says whether `also` is worth reading. May return early: callers look at what they wait
    /// for and come back.
    pub(crate) fn wait(
        &mut self,
        until: Option<Instant>,
        also: Option<BorrowedFd<'_>>,
    ) -> io::Result<bool> {
        // What was noted while writing must be acted on before it is waited for.
        if self.heed_signals()? {
            return Ok(false);
        }
        let late = if let Greeting::Late(due) = self.greeting { Some(due) } else { None };
        let deadline = [until, self.face.deadline(), late].into_iter().flatten().min();
        let timeout = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let timeout = timeout.and_then(|left| Timespec::try_from(left).ok());
        let mut fds = vec![PollFd::new(&self.signals, PollFlags::IN)];
        let stdin = stdin();
        if self.stdin == Stdin::Open {
            fds.push(PollFd::new(&stdin, PollFlags::IN));
        }
        if let Some(also) = &also {
            fds.push(PollFd::new(also, PollFlags::IN));
        }
        sys::wait(&mut fds, timeout.as_ref())?;
        let mut ready = fds.iter().map(sys::is_ready);
        let signalled = ready.next().unwrap_or(false);
        let typed = self.stdin == Stdin::Open && ready.next().unwrap_or(false);
        let also = also.is_some() && ready.next().unwrap_or(false);
        drop(ready);
        drop(fds);
        if signalled {
            self.note_signals();
            self.heed_signals()?;
        }
        if typed {
            self.read_stdin()?;
        }
        self.heed_clocks()?;
        Ok(also)
    }

    /// Heeds what has already happened, and waits for nothing.
    pub(crate) fn glance(&mut self) -> io::Result<()> {
        self.wait(Some(Instant::now()), None).map(drop)
    }

    /// Works silently until then, or until interrupted.
    pub(crate) fn work_until(&mut self, until: Instant) -> io::Result<()> {
        while !self.is_interrupted() && Instant::now() < until {
            self.wait(Some(until), None)?;
        }
        Ok(())
    }

    /// Has the face put something on stdout, and writes it.
    pub(crate) fn show(
        &mut self,
        shown: impl FnOnce(&mut dyn Face, &mut Vec<u8>),
    ) -> io::Result<()> {
        let mut out = Vec::new();
        shown(self.face.as_mut(), &mut out);
        self.put(&out)
    }

    /// Writes `bytes` to stdout; a slow reader does not make the agent deaf to signals.
    pub(crate) fn put(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let stdout = stdout();
        while !bytes.is_empty() {
            let mut fds =
                [PollFd::new(&self.signals, PollFlags::IN), PollFd::new(&stdout, PollFlags::OUT)];
            sys::wait(&mut fds, None)?;
            let [signalled, writable] = fds.each_ref().map(sys::is_ready);
            if signalled {
                self.note_signals();
            }
            if !writable {
                continue;
            }
            let chunk = bytes.get(..WRITE_MAX).unwrap_or(bytes);
            match rustix::io::write(stdout.as_fd(), chunk) {
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Takes signals in; to terminate is the one thing that does not wait for its turn.
    fn note_signals(&mut self) {
        self.noted.extend(std::iter::from_fn(|| self.signals.next()));
        if self.noted.contains(&Signal::TERM) && !self.deaf.to_terminate {
            self.terminate();
        }
    }

    /// Goes at once, mid-turn or not, and puts the terminal right on the way.
    fn terminate(&mut self) -> ! {
        self.kill_company();
        let mut out = Vec::new();
        self.face.farewell(&mut out);
        let stdout = stdout();
        let mut fds = [PollFd::new(&stdout, PollFlags::OUT)];
        // A reader that is stuck must not keep a terminated agent alive.
        if sys::wait(&mut fds, Some(&NO_WAIT)).is_ok() && fds.iter().all(sys::is_ready) {
            let _ = rustix::io::write(stdout.as_fd(), &out);
        }
        if let Some(raw) = &self.raw {
            raw.leave();
        }
        // 128 + SIGTERM, as shells count it.
        glis_os::exit_now(143)
    }

    /// Acts on the noted signals, and says whether there were any.
    fn heed_signals(&mut self) -> io::Result<bool> {
        let noted = std::mem::take(&mut self.noted);
        for signal in &noted {
            match *signal {
                Signal::INT => {
                    let mut out = Vec::new();
                    let input = self.face.interrupted(&mut out);
                    self.put(&out)?;
                    input.into_iter().try_for_each(|input| self.accept(input))?;
                }
                Signal::CHILD => self.reap()?,
                Signal::WINCH if self.raw.is_some() => {
                    let columns = sys::columns();
                    self.show(|face, out| face.resize(columns, out))?;
                }
                // To terminate was heard while deaf to it, or else the agent would be gone.
                _ => {}
            }
        }
        Ok(!noted.is_empty())
    }

    fn heed_clocks(&mut self) -> io::Result<()> {
        let now = Instant::now();
        if self.face.deadline().is_some_and(|due| due <= now) {
            let mut out = Vec::new();
            let inputs = self.face.tick(&mut out);
            self.put(&out)?;
            inputs.into_iter().try_for_each(|input| self.accept(input))?;
        }
        if matches!(self.greeting, Greeting::Late(due) if due <= now) {
            self.greet_late()?;
        }
        Ok(())
    }

    fn read_stdin(&mut self) -> io::Result<()> {
        let mut bytes = [0; 16384];
        let mut out = Vec::new();
        let inputs = match rustix::io::read(stdin(), &mut bytes) {
            Ok(count @ 1..) => {
                let bytes = bytes.get(..count).unwrap_or_default();
                self.face.take(bytes, Instant::now(), &mut out)
            }
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => return Ok(()),
            // A terminal that hung up reads as an error, and means the same as an end.
            Ok(_) | Err(_) => {
                self.stdin = Stdin::Ended;
                self.face.ended()
            }
        };
        self.put(&out)?;
        inputs.into_iter().try_for_each(|input| self.accept(input))
    }

    fn accept(&mut self, input: Input) -> io::Result<()> {
        // A message that waits to be taken makes the agent as good as busy.
        let busy = matches!(self.phase, Phase::Busy | Phase::Interrupted) || !self.queue.is_empty();
        match input {
            Input::Message(_) if self.swallows > 0 => {
                self.swallows -= 1;
                return self.show(|face, out| face.mode(Mode::Idle, out));
            }
            Input::Message(message) => self.queue.push_back(message),
            Input::Interrupt if busy && !self.deaf.to_interrupts => {
                self.phase = Phase::Interrupted;
            }
            // Too late: the turn has ended by itself.
            Input::Interrupt => {}
            Input::Leave(Goodbye::ByInterrupt) if self.deaf.to_interrupts => {}
            Input::Leave(_) if busy => self.stdin = Stdin::Ended,
            Input::Leave(_) => self.phase = Phase::Leaving,
            Input::Answer { id, answer } => return self.accept_answer(id, answer),
            Input::Unreadable(message) => return self.object("bad_input", message),
        }
        Ok(())
    }

    fn accept_answer(&mut self, id: Option<String>, answer: String) -> io::Result<()> {
        match &self.asking {
            Asking::Asked(asked) if id.as_ref().is_none_or(|id| id == asked) => {
                self.asking = Asking::Answered(answer);
                Ok(())
            }
            Asking::Nothing | Asking::Asked(_) | Asking::Answered(_) => {
                let id = id.unwrap_or_default();
                self.object("unknown_ask", format!("nothing is asked under the id `{id}`"))
            }
        }
    }

    fn object(&mut self, kind: &str, message: String) -> io::Result<()> {
        let complaint = Notice::Complaint { kind: kind.to_owned(), message };
        self.show(|face, out| face.notice(&complaint, out))
    }
}
