//! The agent itself: what it holds and what it says.

mod life;
mod wait;

use std::collections::VecDeque;
use std::io;
use std::process::Child;
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::args::Misbehaviour;
use crate::face::{Face, Input, Message, Mode};
use crate::record::{AskKind, Body, Manner, Notice};
use crate::script::Ignored;
use crate::sys::RawMode;
use crate::transcript::Transcript;
use glis_os::Signals;

/// How the agent introduces itself.
pub(crate) struct Hello {
    pub(crate) id: String,
    pub(crate) model: String,
    pub(crate) resumed: bool,
}

pub(crate) struct Agent {
    face: Box<dyn Face>,
    raw: Option<RawMode>,
    transcript: Transcript,
    hello: Hello,
    greeting: Greeting,
    signals: Signals,
    /// Signals that came while something else was being done.
    noted: Vec<Signal>,
    stdin: Stdin,
    queue: VecDeque<Message>,
    phase: Phase,
    asking: Asking,
    deaf: Deaf,
    transcribes: Transcribes,
    /// So many messages are lost before the next one is taken.
    swallows: u32,
    /// The process group of the tool under way.
    tool: Option<Pid>,
    helpers: Vec<Helper>,
    /// Memory that is used for nothing.
    ballast: Vec<u8>,
}

/// Whether the id has been told.
enum Greeting {
    Told,
    /// Due at this time, or when the first turn begins.
    Late(Instant),
    Never,
    /// Nothing is said at all, not even that it is ready.
    Withheld,
}

#[derive(PartialEq)]
enum Stdin {
    Open,
    Ended,
}

/// What the agent is doing, and whether it was told to stop.
#[derive(PartialEq)]
enum Phase {
    Idle,
    Busy,
    Interrupted,
    Leaving,
}

#[derive(PartialEq)]
enum Asking {
    Nothing,
    Asked(String),
    Answered(String),
}

/// What the agent pretends not to hear.
#[derive(Default)]
struct Deaf {
    to_interrupts: bool,
    to_terminate: bool,
}

/// Whether messages reach the transcript, or kill the agent before they do.
#[derive(PartialEq)]
enum Transcribes {
    Faithfully,
    DiesFirst,
}

/// A child that outlives the turn that started it.
pub(crate) struct Helper {
    pub(crate) child: Child,
    pub(crate) kind: HelperKind,
}

/// Whose child it is when the agent goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum HelperKind {
    /// Counted, and taken along.
    Background,
    Orphan,
}

impl Agent {
    /// Makes an agent and begins to listen for signals; it says nothing yet.
    pub(crate) fn new(
        face: Box<dyn Face>,
        raw: Option<RawMode>,
        transcript: Transcript,
        hello: Hello,
        misbehaviours: &[Misbehaviour],
    ) -> io::Result<Self> {
        let heeded = [Signal::INT, Signal::TERM, Signal::CHILD, Signal::WINCH];
        let mut agent = Self {
            face,
            raw,
            transcript,
            hello,
            greeting: Greeting::Told,
            signals: Signals::catch(&heeded, &[])?,
            noted: Vec::new(),
            stdin: Stdin::Open,
            queue: VecDeque::new(),
            phase: Phase::Idle,
            asking: Asking::Nothing,
            deaf: Deaf::default(),
            transcribes: Transcribes::Faithfully,
            swallows: 0,
            tool: None,
            helpers: Vec::new(),
            ballast: Vec::new(),
        };
        for fault in misbehaviours {
            agent.adopt(*fault);
        }
        Ok(agent)
    }

    /// Records `body` and says it aloud, in this order: what was said is never forgotten.
    pub(crate) fn record(&mut self, body: Body) -> io::Result<()> {
        let record = self.transcript.number(body);
        if self.transcribes == Transcribes::DiesFirst {
            self.show(|face, out| face.record(&record, out))?;
            glis_os::exit_now(1);
        }
        self.transcript.append(&record)?;
        self.show(|face, out| face.record(&record, out))
    }

    pub(crate) fn say(&mut self, text: impl Into<String>) -> io::Result<()> {
        self.record(Body::Text { text: text.into(), manner: Manner::Whole })
    }

    /// Asks and waits; no answer means that the turn was interrupted, or that the input has ended.
    pub(crate) fn ask(&mut self, kind: AskKind, text: &str) -> io::Result<Option<String>> {
        let id = self.fresh_id("ask");
        self.asking = Asking::Asked(id.clone());
        let folder = std::env::current_dir().ok().map(|dir| dir.to_string_lossy().into_owned());
        self.record(Body::Ask { id: id.clone(), kind, text: text.to_owned(), folder })?;
        let mode = match kind {
            AskKind::Approval => Mode::Approval(text.to_owned()),
            AskKind::Question => Mode::Question,
        };
        self.show(|face, out| face.mode(mode, out))?;
        let answer = loop {
            if let Asking::Answered(answer) = &self.asking {
                break Some(answer.clone());
            }
            if self.is_interrupted() || self.stdin == Stdin::Ended {
                break None;
            }
            self.wait(None, None)?;
        };
        self.asking = Asking::Nothing;
        self.show(|face, out| face.mode(Mode::Working, out))?;
        self.record(Body::AskGone { id, answer: answer.clone() })?;
        Ok(answer)
    }

    /// Makes an id that no resume of this conversation makes again.
    pub(crate) fn fresh_id(&self, what: &str) -> String {
        format!("{what}-{}", self.transcript.next_number())
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.phase == Phase::Interrupted
    }

    pub(crate) fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    pub(crate) fn ignore(&mut self, what: Ignored) {
        match what {
            Ignored::Interrupts => self.deaf.to_interrupts = true,
            Ignored::Terminate => self.deaf.to_terminate = true,
            Ignored::Nothing => self.deaf = Deaf::default(),
        }
    }

    /// Lets `tool` be killed along when the agent is told to terminate.
    pub(crate) fn set_tool(&mut self, tool: Option<Pid>) {
        self.tool = tool;
    }

    /// Keeps so much memory. Pages are given out as they are written to.
    pub(crate) fn weigh(&mut self, bytes: usize) {
        self.ballast = vec![1; bytes];
    }

    /// Keeps `helper` until it ends, so that it is reaped and, where that matters, reported.
    pub(crate) fn add_helper(&mut self, helper: Helper) -> io::Result<()> {
        let kind = helper.kind;
        self.helpers.push(helper);
        self.report_background(kind)
    }

    fn adopt(&mut self, fault: Misbehaviour) {
        match fault {
            Misbehaviour::NoTranscript => self.transcribes = Transcribes::DiesFirst,
            Misbehaviour::LateId(wait) => self.greeting = Greeting::Late(Instant::now() + wait),
            Misbehaviour::NeverId => self.greeting = Greeting::Never,
            Misbehaviour::IgnoreInt => self.deaf.to_interrupts = true,
            Misbehaviour::IgnoreTerm => self.deaf.to_terminate = true,
            // One that came back has no more of that.
            Misbehaviour::Swallow(count) => {
                self.swallows = if self.hello.resumed { 0 } else { count };
            }
            Misbehaviour::MuteResume => {
                if self.hello.resumed {
                    self.greeting = Greeting::Withheld;
                }
            }
            // These show before there is an agent, or at its keys.
            Misbehaviour::ChangeId
            | Misbehaviour::RefuseResume
            | Misbehaviour::ExitAtOnce(_)
            | Misbehaviour::JoinedEnter => {}
        }
    }

    /// Tells the id if that is still owed.
    fn greet_late(&mut self) -> io::Result<()> {
        if !matches!(self.greeting, Greeting::Late(_)) {
            return Ok(());
        }
        self.greeting = Greeting::Told;
        let session = self.session();
        self.show(|face, out| face.notice(&session, out))
    }

    fn session(&self) -> Notice {
        let Hello { id, model, resumed } = &self.hello;
        Notice::Session { id: id.clone(), model: model.clone(), resumed: *resumed }
    }

    fn report_background(&mut self, kind: HelperKind) -> io::Result<()> {
        match kind {
            HelperKind::Orphan => Ok(()),
            HelperKind::Background => {
                let background = |helper: &&Helper| helper.kind == HelperKind::Background;
                let running = self.helpers.iter().filter(background).count();
                self.record(Body::Background { running })
            }
        }
    }

    fn reap(&mut self) -> io::Result<()> {
        let mut ended = Vec::new();
        self.helpers.retain_mut(|helper| {
            let lives = matches!(helper.child.try_wait(), Ok(None));
            if !lives {
                ended.push(helper.kind);
            }
            lives
        });
        ended.into_iter().try_for_each(|kind| self.report_background(kind))
    }

    /// Kills what an honest agent does not leave behind.
    fn kill_company(&self) {
        let background = self.helpers.iter().filter(|it| it.kind == HelperKind::Background);
        for pid in background.map(|it| Pid::from_child(&it.child)).chain(self.tool) {
            // It may have ended just now, and that is as good.
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}
