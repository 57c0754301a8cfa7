//! Stories as text: one input a line, with what it leads to behind `=>`.
//!
//! The words of an input are read by [`Stage::input`]; operation, generation and message numbers
//! are filled in from the session as it is, so that a story reads as it would be told.

use crate::words::{self, IdleTimers};
use glis_core::event::{Ending, Spot};
use glis_core::input::{
    Checked, Command, Done, Exit, Hearing, IfRunning, Outcome, Sign, Taken, Use, World,
};
use glis_core::leftover::{Companion, Leftovers};
use glis_core::looping::{
    FAILURES_MAX, LookedBack, LoopChange, LoopContext, LoopEnd, LoopSpec, LoopTrace,
};
use glis_core::pause::{Captured, Moment, OnTimeout, PauseMode, PauseReason, PauseStep, PauseWish};
use glis_core::reason::Why;
use glis_core::refusal::ResumeFault;
use glis_core::safe::ScreenState;
use glis_core::session::{Process, StopCause};
use glis_core::spec::{IdleLimit, Mode, RefOrigin, SignSource, Spec, Takes, Traits};
use glis_core::talk::{Ask, AskKind};
use glis_core::tree::{Clearing, Found, Occasion, PathList, SnapshotRef};
use glis_core::triage::{Put, Snooze};
use glis_core::verdict::{Author, Unruled, Verdict, Want};
use glis_core::{
    AskId, Face, House, Input, MessageId, OpId, Origin, Phase, Recorded, Session, SessionId,
    TimerKey,
};

/// What kind of program a session runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An agent in a terminal that takes the id we choose and tells what it does.
    Agent,
    /// A headless agent that tells its id some time after its start.
    Learner,
    /// Any command: a screen and nothing else.
    Command,
    /// The same, and a pause keeps its process.
    Kept,
}

impl Kind {
    pub(crate) fn spec(self) -> Spec {
        let (mode, refs, signs, takes) = match self {
            Self::Agent => {
                (Mode::Terminal, RefOrigin::Chosen, SignSource::Structured, Takes::WhenIdle)
            }
            Self::Learner => {
                (Mode::Headless, RefOrigin::Learned, SignSource::Structured, Takes::WhenIdle)
            }
            Self::Command | Self::Kept => {
                (Mode::Terminal, RefOrigin::None, SignSource::Screen, Takes::Anytime)
            }
        };
        let plain = Spec::plain("it", mode, Traits { refs, signs, takes }, "/r");
        Spec { keep_process: self == Self::Kept, ..plain }
    }
}

/// A house with one session, `blue`, on which a story is played.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) house: House,
    pub(crate) log: Vec<Recorded>,
    kind: Kind,
    /// How far the agent's words are.
    offset: u64,
    idle_timers: IdleTimers,
}

impl Stage {
    pub(crate) fn new(kind: Kind) -> Self {
        Self {
            house: House::default(),
            log: Vec::new(),
            kind,
            offset: 100,
            idle_timers: IdleTimers::Hidden,
        }
    }

    pub(crate) fn id() -> SessionId {
        SessionId("s1".to_owned())
    }

    pub(crate) fn session(&self) -> Option<&Session> {
        self.house.session(&Self::id())
    }

    /// Plays one line and tells in words what came of it.
    pub(crate) fn play(&mut self, line: &str) -> Result<String, String> {
        if line == "crash" {
            return self.crash();
        }
        if line == "tell idle time" {
            self.idle_timers = IdleTimers::Told;
            return Ok("told".to_owned());
        }
        let input = self.input(line)?;
        // Each command is from a caller that is called like it.
        let origin = Origin::new(Face::Chat, line);
        let from = matches!(input, Input::Command(_)).then_some(&origin);
        match self.house.decide(input) {
            Err(refusal) => Ok(words::refusal(&refusal)),
            Ok(decision) => {
                let told = words::decision(&decision, self.idle_timers);
                for (session, event) in decision.events {
                    let seq = self.house.last_seq() + 1;
                    let at = i64::try_from(seq).unwrap_or(0);
                    self.log.push(self.house.record(at, session, event, from));
                }
                Ok(told)
            }
        }
    }

    /// The daemon dies: what is left is the log.
    fn crash(&mut self) -> Result<String, String> {
        let before = std::mem::take(&mut self.house);
        for recorded in &self.log {
            self.house.apply(recorded);
        }
        if self.house == before {
            Ok("as before".to_owned())
        } else {
            Err("the fold differs".into())
        }
    }

    fn op(&self) -> OpId {
        self.session().and_then(Session::operation).map_or(OpId(999), |(op, _)| op)
    }

    /// The timer that the operation under way waits for.
    fn awaited(&self) -> TimerKey {
        let starts = matches!(self.session().map(|s| &s.phase), Some(Phase::Starting(_)));
        if starts { TimerKey::Ready(self.op()) } else { TimerKey::SafeState(self.op()) }
    }

    /// The spell of idleness that is meant: the present one, or the one before it.
    fn spell(&self, words: &str) -> u64 {
        let spells = self.session().map_or(0, |session| session.course.idle_spells);
        if words.trim() == "before" { spells.saturating_sub(1) } else { spells }
    }

    /// What came of a compaction.
    fn compacted(&self, verb: &str, rest: &str) -> Option<Outcome> {
        let (op, why) = (self.compaction(rest), no());
        let original = "conversation.1.jsonl".to_owned();
        Some(match verb {
            "compacted" => Outcome::Compacted { op, entries: 70, original },
            "uncompacted" => Outcome::NotCompacted { op, why },
            "early" => Outcome::CompactionEarly { wait: std::time::Duration::from_secs(60) },
            _ => return None,
        })
    }

    /// The compaction that was asked for, unless it is one by itself.
    fn compaction(&self, rest: &str) -> Option<OpId> {
        self.session().and_then(|s| s.upkeep.compaction.asked).filter(|_| rest.is_empty())
    }

    fn generation(&self) -> u32 {
        self.session().map_or(0, |session| session.agent.generation)
    }

    /// The message that stands first, or the last one that stood there.
    fn message(&self) -> MessageId {
        self.session().and_then(|s| s.talk.queue.front()).map_or(MessageId(999), |m| m.id)
    }

    /// The snapshot that is due, or the first one if none is.
    fn moment(&self) -> Moment {
        match self.session().map(|s| &s.phase) {
            Some(Phase::Pausing(pause)) if pause.step == PauseStep::Sealing => Moment::AfterStop,
            _ => Moment::BeforeStop,
        }
    }

    pub(crate) fn input(&mut self, line: &str) -> Result<Input, String> {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        if let Some(command) = self.command(verb, rest) {
            return Ok(Input::Command(command));
        }
        let session = Self::id();
        if let Some(input) = crate::budgets::input(verb, rest) {
            return Ok(input);
        }
        if let Some(outcome) = self
            .trouble(verb, rest)
            .or_else(|| self.compacted(verb, rest))
            .or_else(|| (verb == "looked").then(|| Outcome::LookedBack(self.looked_back(rest))))
            .or_else(|| self.outcome(verb, rest))
        {
            return Ok(Input::Outcome { session, outcome });
        }
        if let Some(world) = self.world(verb, rest) {
            return Ok(Input::Observed { session, world });
        }
        if verb == "retry" {
            return Ok(Input::TimerFired {
                subject: session.into(),
                key: TimerKey::Retry(self.message()),
            });
        }
        if line == "rested long" {
            return Ok(Input::TimerFired { subject: session.into(), key: TimerKey::Compact });
        }
        if line == "step overdue" {
            return Ok(Input::TimerFired {
                subject: session.into(),
                key: TimerKey::Step(self.op()),
            });
        }
        if let Some(at) = line.strip_prefix("it is ").and_then(|at| at.parse().ok()) {
            let key = TimerKey::ResumeAt(at);
            return Ok(Input::TimerFired { subject: session.into(), key });
        }
        if let Some(at) = line.strip_prefix("snooze over at ").and_then(|at| at.parse().ok()) {
            let key = TimerKey::Snooze(at);
            return Ok(Input::TimerFired { subject: session.into(), key });
        }
        if line == "memory short" {
            return Ok(Input::MemoryShort);
        }
        if let Some(spell) = line.strip_prefix("idle time over") {
            let key = TimerKey::Idle(self.spell(spell));
            return Ok(Input::TimerFired { subject: session.into(), key });
        }
        if line == "verdict overdue" {
            return Ok(Input::TimerFired { subject: session.into(), key: TimerKey::Verdict });
        }
        if verb == "alarm" {
            return Ok(Input::TimerFired { subject: session.into(), key: self.awaited() });
        }
        if let Some(sign) = sign(line) {
            self.offset += 1;
            let on_screen = matches!(sign, Sign::Screen(_));
            let spot = if on_screen { Spot::Screen } else { Spot::Stream(self.offset) };
            let (generation, hearing) = (self.generation(), Hearing::Live);
            return Ok(Input::Sign { session, generation, spot, hearing, sign });
        }
        Err(format!("no such line: {line:?}"))
    }

    /// A loop: its first word says what an iteration knows of the others, its second how many there are.
    fn loop_command(&self, verb: &str, rest: &str) -> Option<Command> {
        let session = Self::id();
        match verb {
            "loop" => {
                let agent_ref = (self.kind == Kind::Agent).then(|| "ref-1".to_owned());
                let looped = looped(rest).map(Box::new);
                let spec = Spec { looped, prompt: some_last(rest), ..self.kind.spec() };
                let (name, spec) = ("blue".to_owned(), Box::new(spec));
                Some(Command::New { id: session, name, spec, agent_ref })
            }
            "set" => {
                let change = LoopChange { max: Some(rest.parse().ok()), ..LoopChange::default() };
                Some(Command::SetLoop { session, change })
            }
            _ => None,
        }
    }

    pub(crate) fn command(&self, verb: &str, rest: &str) -> Option<Command> {
        let session = Self::id();
        let some = (!rest.is_empty()).then(|| rest.to_owned());
        Some(match verb {
            "new" => {
                let agent_ref = (self.kind == Kind::Agent).then(|| "ref-1".to_owned());
                let spec = Spec { prompt: some, ..self.kind.spec() };
                Command::New {
                    id: session,
                    name: "blue".to_owned(),
                    spec: Box::new(spec),
                    agent_ref,
                }
            }
            "send" => Command::Send { session, text: rest.to_owned() },
            "pause" => {
                let (rest, clearing) = match rest {
                    "and clear" => ("", Clearing::IfAllIsSaved),
                    "and clear all" => ("", Clearing::Always),
                    "as usual" => ("", Clearing::IfPossible),
                    _ => (rest, Clearing::Keep),
                };
                let (mode, on_timeout) = match rest {
                    "interrupt" => (PauseMode::Interrupt, OnTimeout::Refuse),
                    "firmly" => (PauseMode::Interrupt, OnTimeout::Force),
                    "force" => (PauseMode::Force, OnTimeout::Force),
                    _ => (PauseMode::Boundary, OnTimeout::Refuse),
                };
                Command::Pause { session, wish: wish(mode, on_timeout, clearing), until: None }
            }
            "pause-until" => {
                let wish = wish(PauseMode::Boundary, OnTimeout::Refuse, Clearing::Keep);
                Command::Pause { session, wish, until: Some(rest.parse().ok()?) }
            }
            "cancel" => Command::CancelPause { session },
            "resume" => Command::Resume { session, prompt: some },
            "restart" => {
                let agent_ref = (self.kind == Kind::Agent).then(|| "ref-2".to_owned());
                Command::Restart { session, agent_ref, prompt: some }
            }
            "stop" => Command::Stop { session, cause: StopCause::Asked },
            "timeout" => {
                let secs = rest.parse().map(|minutes: u64| IdleLimit::Secs(minutes * 60));
                let other = if rest == "usual" { IdleLimit::Usual } else { IdleLimit::Never };
                Command::LimitIdle { session, limit: secs.unwrap_or(other) }
            }
            "rm" => {
                let stop = rest == "and stop";
                let running = if stop { IfRunning::Stop } else { IfRunning::Refuse };
                Command::Remove { session, running }
            }
            "snapshot" => Command::Snapshot { session },
            "compact" => Command::Compact { session },
            "restore" => Command::Restore { session, snapshot: "snap-1".to_owned() },
            "return" => Command::Return { session, name: some },
            "empty" => Command::Empty { session },
            "acknowledge" => Command::Acknowledge { session },
            "answer" => {
                let (rest, reason) = rest.split_once(" because ").unwrap_or((rest, ""));
                let (answer, ask) = rest.split_once(" to ").unwrap_or((rest, ""));
                let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
                let (ask, reason) = (some(ask).map(AskId), some(reason));
                Command::Answer { session, ask, answer: answer.to_owned(), reason }
            }
            "typing" => Command::BeginTyping { session },
            "auto-yes" => Command::SetAutoYes { session, on: rest == "on" },
            "triage" => Command::Triage { session, put: put(rest) },
            _ => return self.loop_command(verb, rest),
        })
    }

    /// What comes of an effect that hangs, or that leaves something behind.
    fn trouble(&self, verb: &str, rest: &str) -> Option<Outcome> {
        let (op, generation, why) = (self.op(), self.generation(), no());
        Some(match (verb, rest) {
            ("undeliverable", _) => {
                Outcome::Undeliverable { message: self.message(), why: why.to_string() }
            }
            ("capture", "overdue") => Outcome::CaptureOverdue { op, why },
            ("save", "overdue") => Outcome::SnapshotOverdue { op, moment: self.moment(), why },
            ("frozen", _) => Outcome::Frozen { op, result: Ok(()) },
            ("unfrozen", _) => Outcome::Frozen { op, result: Err(why) },
            ("thawed", _) => Outcome::Thawed { op, result: Ok(()) },
            ("unthawed", _) => Outcome::Thawed { op, result: Err(why) },
            ("swept", "with 9 left") => Outcome::Swept { op, left: stuck() },
            ("swept", _) => Outcome::Swept { op, left: Leftovers::default() },
            ("folderless", _) => Outcome::FolderLost,
            ("back" | "stays", _) => returns(rest)?,
            ("ended", "with 9 left") => {
                Outcome::ProcessEnded { generation, exit: Exit { left: stuck(), ..exit("") } }
            }
            _ => return None,
        })
    }

    fn looked_at(&self, rest: &str, usage: Use) -> Outcome {
        Outcome::UseChecked { spell: self.spell(rest), cause: cause(rest), usage }
    }

    fn outcome(&self, verb: &str, rest: &str) -> Option<Outcome> {
        let (op, generation, why) = (self.op(), self.generation(), no());
        let fault = ResumeFault::System(why.to_string());
        Some(match verb {
            "made" => Outcome::WorktreeMade {
                op,
                worktree: "/w".to_owned(),
                branch: None,
                notes: Vec::new(),
            },
            "unmade" => Outcome::WorktreeFailed { op, why },
            "checked" => checked(op, rest, Vec::new()),
            "unheard" => checked(op, "", vec![self.message()]),
            "unfit" => Outcome::StartChecked { op, result: Err(fault) },
            "started" => {
                Outcome::ProcessStarted { op, generation, process: process(), began_at: 0 }
            }
            "unstarted" => Outcome::ProcessNotStarted { op, fault },
            "delivered" => Outcome::Delivered { message: self.message() },
            "undelivered" => {
                Outcome::NotDelivered { message: self.message(), why: why.to_string() }
            }
            "untaken" => Outcome::NotTaken { message: self.message() },
            "judged" => self.judged(rest)?,
            "given" => Outcome::AnswerGiven { ask: AskId(rest.to_owned()) },
            "ungiven" => Outcome::AnswerNotGiven { ask: AskId(rest.to_owned()), why },
            "unused" => self.looked_at(rest, Use::Free),
            "used" => self.looked_at(rest, Use::InUse),
            "savable" => Outcome::SaveChecked { op, result: Ok(()) },
            "unsavable" => Outcome::SaveChecked { op, result: Err(why) },
            "captured" => Outcome::TerminalCaptured { op, screen_at: 7 },
            "uncaptured" => {
                let talk = rest == "conversation";
                let what = if talk { Captured::Conversation } else { Captured::Screen };
                Outcome::CaptureFailed { op, what, why }
            }
            "uninterrupted" => Outcome::NotInterrupted { generation, why },
            "saved" => Outcome::SnapshotTaken {
                op,
                moment: self.moment(),
                result: Ok(Taken {
                    snapshot: Some(snapshot(op.0)),
                    left_out: PathList::of((rest == "without .env").then(|| ".env".to_owned())),
                    warning: None,
                }),
            },
            "unsaved" => Outcome::SnapshotTaken { op, moment: self.moment(), result: Err(why) },
            "ended" => Outcome::ProcessEnded { generation, exit: exit(rest) },
            "aside" => chore(op, Done::PutAside { place: "/trash".to_owned() }),
            "unaside" | "unrestored" | "unreturned" | "unemptied" => {
                Outcome::ChoreEnded { op, result: Err(why) }
            }
            "cleared" => Outcome::WorktreeCleared { op, result: Ok(None) },
            "uncleared" => Outcome::WorktreeCleared { op, result: Err(why) },
            "restored" => chore(op, Done::Restored { snapshot: snapshot(1), notes: Vec::new() }),
            "returned" => chore(op, Done::BroughtBack),
            "emptied" => chore(op, Done::Emptied),
            "kept" => Outcome::WorktreeSaved {
                op: self.asked_for(rest),
                occasion: occasion(rest),
                generation,
                result: Ok(snapshot(70)),
            },
            "unkept" => Outcome::WorktreeSaved {
                op: self.asked_for(rest),
                occasion: occasion(rest),
                generation,
                result: Err(why),
            },
            _ => return None,
        })
    }

    /// What a look back at the iteration has shown: that something `new` was left, unless told else.
    fn looked_back(&self, words: &str) -> LookedBack {
        let iteration = self
            .session()
            .and_then(|s| s.ahead.looped.as_ref())
            .map_or(0, |looped| looped.iteration);
        let tree = if words == "same" { "same".to_owned() } else { iteration.to_string() };
        LookedBack {
            iteration,
            reached: (words == "reached").then_some(LoopEnd::Until),
            left: Some(LoopTrace { tree, words: String::new() }),
            cost_micros: if words == "costly" { 9_000_000 } else { 0 },
            agent_ref: (self.kind == Kind::Agent).then(|| format!("ref-{}", iteration + 1)),
            note: None,
        }
    }

    /// `ASK VERDICT`: on the question as it is; with `of another` behind it, on one of the same name,
    /// with `of the last process` on one that the process before this has asked.
    fn judged(&self, words: &str) -> Option<Outcome> {
        let (words, generation) = match words.strip_suffix(" of the last process") {
            Some(words) => (words, self.generation() - 1),
            None => (words, self.generation()),
        };
        let (id, verdict) = words.split_once(' ')?;
        let (verdict, changed) = match verdict.strip_suffix(" of another") {
            Some(verdict) => (verdict, true),
            None => (verdict, false),
        };
        let open = self.session()?.asked().iter().find(|ask| ask.id.0 == id).cloned();
        let ask = open.unwrap_or_else(|| Ask::new(AskId(id.to_owned()), AskKind::Approval, "?"));
        let ask = if changed { ask.summed("another".to_owned()) } else { ask };
        let (rule, author) = ("ls".to_owned(), Author::Glis);
        let verdict = match verdict {
            "accept" => Verdict::Accept { rule, author },
            "reject" => Verdict::Reject { rule, author },
            _ => Verdict::manual(Unruled::NoRule),
        };
        Some(Outcome::Judged { generation, ask, verdict })
    }

    /// The operation that waits for a save.
    fn asked_for(&self, words: &str) -> Option<OpId> {
        if words == "after the stop" {
            return Some(self.op());
        }
        words.strip_prefix("for ").and_then(|op| op.parse().ok()).map(OpId)
    }

    fn world(&self, verb: &str, rest: &str) -> Option<World> {
        let generation = self.generation();
        Some(match (verb, rest) {
            ("found", "alive") => alive(generation, false),
            ("found", "untouched") => alive(generation, true),
            ("found", "later") => alive(generation + 2, false),
            ("found", "later exit") => World::Ended { generation: generation + 2, exit: exit("0") },
            ("found", "gone") => World::Gone { left: Leftovers::default() },
            ("found", "gone with 9 left") => World::Gone { left: stuck() },
            ("found", told) => {
                let told = told.trim_start_matches("exit ");
                World::Ended { generation, exit: Exit { ordered: false, ..exit(told) } }
            }
            _ => return None,
        })
    }
}

/// `pin`, `unpin`, `label a`, `unlabel a`, `snooze T`, `snooze change`, `wake`.
fn put(told: &str) -> Put {
    let (verb, rest) = told.split_once(' ').unwrap_or((told, ""));
    let some = |wanted: &str| if verb == wanted { vec![rest.to_owned()] } else { Vec::new() };
    match verb {
        "pin" => Put::Pinned(true),
        "unpin" => Put::Pinned(false),
        "snooze" => Put::Snoozed(Some(rest.parse().map_or(Snooze::Change, Snooze::Until))),
        "wake" => Put::Snoozed(None),
        _ => Put::Labels { add: some("label"), remove: some("unlabel") },
    }
}

fn alive(generation: u32, untouched: bool) -> World {
    World::Alive { generation, process: process(), began_at: 0, untouched }
}

/// `at T, T`, or only the second time, which is what the clock shows: when a session goes on after a
/// limit, if it may.
fn returns(told: &str) -> Option<Outcome> {
    let (at, now) = told.strip_prefix("at ").map_or((None, told), |times| {
        times.split_once(", ").map_or((None, times), |(at, now)| (Some(at), now))
    });
    let at = at.map(str::parse).transpose().ok()?;
    Some(Outcome::ReturnPlanned { at, now: now.parse().ok()? })
}

/// `STATUS`, with what was said last behind a colon. An end without a status was ordered.
fn exit(told: &str) -> Exit {
    let (status, last_words) = told.split_once(": ").unwrap_or((told, ""));
    let (ending, ordered) = (ending(status), status.is_empty());
    Exit {
        ending,
        ordered,
        last_words: last_words.to_owned(),
        ..Exit::unseen(Leftovers::default())
    }
}

/// A look before a start: how the worktree was found, or what was forgotten with bars in between.
fn checked(op: OpId, told: &str, unheard: Vec<MessageId>) -> Outcome {
    let texts = told.split('|').filter(|text| !text.is_empty() && found(text).is_none());
    let forgotten = texts.map(str::to_owned).collect();
    let checked = Checked { found: found(told), forgotten, unheard, ..Checked::default() };
    Outcome::StartChecked { op, result: Ok(checked) }
}

fn wish(mode: PauseMode, on_timeout: OnTimeout, clearing: Clearing) -> PauseWish {
    PauseWish { mode, reason: PauseReason::User, on_timeout, clearing }
}

fn chore(op: OpId, done: Done) -> Outcome {
    Outcome::ChoreEnded { op, result: Ok(done) }
}

/// Plays a story and compares every line that says what it leads to.
pub(crate) fn check(kind: Kind, story: &str) -> Result<Stage, String> {
    let mut stage = Stage::new(kind);
    for line in story.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (input, expected) = line.split_once("=>").unwrap_or((line, ""));
        let told = stage.play(input.trim())?;
        let expected = expected.trim();
        if !expected.is_empty() && told != expected {
            return Err(format!(
                "\n  line      {input}\n  expected  {expected}\n  but       {told}\n"
            ));
        }
    }
    Ok(stage)
}

/// Plays each line by itself after the same beginning.
pub(crate) fn check_each(kind: Kind, beginning: &str, table: &str) -> Result<(), String> {
    let stage = check(kind, beginning)?;
    let mut faults = String::new();
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (input, expected) = line.split_once("=>").ok_or("a line without =>")?;
        let told = stage.clone().play(input.trim())?;
        if told != expected.trim() {
            let fault = format!("\n{} => {told}\n  not{expected}", input.trim());
            faults.push_str(&fault);
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

fn snapshot(number: u64) -> SnapshotRef {
    SnapshotRef { name: format!("snap-{number}"), commit: "c".into(), changed: None }
}

fn found(words: &str) -> Option<Found> {
    Some(match words {
        "untouched" => Found::Untouched,
        "changed" => {
            Found::Changed { snapshot: snapshot(80), paths: PathList::of(["a.rs".to_owned()]) }
        }
        "restored" => Found::Restored { snapshot: snapshot(1), notes: Vec::new() },
        _ => return None,
    })
}

/// `after turn`, `after end`, `after the stop`, or `for N`: for whoever asked by that operation.
fn occasion(words: &str) -> Occasion {
    match words {
        "after turn" => Occasion::TurnEnded,
        "after end" | "after the stop" => Occasion::ProcessEnded,
        _ => Occasion::Asked,
    }
}

/// A process that could not be ended.
fn stuck() -> Leftovers {
    let one = Companion { pid: 9, command: "make".to_owned(), ..Companion::default() };
    Leftovers { stuck: vec![one], ..Leftovers::default() }
}

/// What a look was for: the time that is over, or memory.
fn cause(words: &str) -> StopCause {
    if words == "for memory" { StopCause::Memory } else { StopCause::Idle }
}

fn process() -> Process {
    Process { pid: 7, start_ticks: 1, boot_id: "b".to_owned() }
}

fn ending(words: &str) -> Ending {
    words.parse().map_or(Ending::Unknown, Ending::Exited)
}

fn sign(line: &str) -> Option<Sign> {
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    let own = rest.to_owned();
    let ask = |kind| Ask::new(AskId(own.clone()), kind, format!("{own}?"));
    Some(match (verb, rest) {
        ("told", _) => Sign::RefKnown(own),
        ("ready", _) => Sign::Ready,
        ("took", "") => Sign::TookMessage { text: None },
        ("took", _) => Sign::TookMessage { text: Some(own) },
        ("turn", "began") => Sign::TurnBegan,
        ("turn", "ended") => Sign::TurnEnded,
        ("turn", "cut") => Sign::TurnCut,
        ("limited", _) => Sign::TurnLimited { reset_at: own },
        ("tool", _) => Sign::ToolBegan { tool: own.clone(), what: own },
        ("tooled", _) => Sign::ToolEnded(own),
        ("background", _) => Sign::Background(rest.parse().ok()?),
        ("inquires", _) => Sign::Asked(ask(AskKind::Question)),
        ("asks", _) if own.starts_with("choice") => {
            Sign::Asked(ask(AskKind::Approval).among(["allow", "deny"]))
        }
        ("asks", _) if own.ends_with(" anew") => {
            let name = own.trim_end_matches(" anew").to_owned();
            Sign::Asked(Ask::new(AskId(name), AskKind::Approval, "something else"))
        }
        ("asks", _) if own.starts_with("dialog") => {
            Sign::Asked(ask(AskKind::Question).among::<&str>([]))
        }
        ("asks", "nowhere") => Sign::Asked(
            ask(AskKind::Approval).wanting(Some(Want::Command { line: own, folder: None })),
        ),
        ("asks", "yes-only") => Sign::Asked(ask(AskKind::Approval).among(["allow"])),
        ("asks", "reasonable") => Sign::Asked(ask(AskKind::Approval).with_reasons()),
        ("asks", _) => Sign::Asked(ask(AskKind::Approval)),
        ("unasks", _) => Sign::AskGone(AskId(own)),
        ("limit", _) => Sign::LimitReached { reset_at: own },
        ("refuses", _) => Sign::MessageRefused(own),
        ("rejects", _) => Sign::RefRejected("unknown id".to_owned()),
        ("balks", _) => Sign::StartRefused("broken configuration".to_owned()),
        ("screen", "flowing") => Sign::Screen(ScreenState::Flowing),
        ("screen", "silent") => Sign::Screen(ScreenState::Silent),
        ("screen", "prompt") => Sign::Screen(ScreenState::AtPrompt { pattern: "$ ".to_owned() }),
        ("screen", _) => Sign::Screen(ScreenState::Asking { pattern: "? ".to_owned(), line: own }),
        _ => return None,
    })
}

/// `fresh` or `continue`, how many iterations at most or `on`, and the words.
fn looped(words: &str) -> Option<LoopSpec> {
    let mut words = words.split(' ');
    let context = match words.next()? {
        "continue" => LoopContext::Continue,
        _ => LoopContext::Fresh,
    };
    Some(LoopSpec {
        max: words.next().and_then(|max| max.parse().ok()),
        until: None,
        context,
        auto_commit: false,
        max_cost_micros: Some(5_000_000),
        max_failures: FAILURES_MAX,
        file: None,
    })
}

fn some_last(words: &str) -> Option<String> {
    words.splitn(3, ' ').nth(2).map(str::to_owned)
}

fn no() -> Why {
    Why::from("no".to_owned())
}
