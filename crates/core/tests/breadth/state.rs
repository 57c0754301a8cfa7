//! The house with the world around it: what was dispatched, which timers are set, what runs.

use crate::rules;
use crate::steps::Step;
use glis_core::effect::Effect;
use glis_core::event::{Ending, Spot};
use glis_core::input::{Checked, Command, Done, Exit, Hearing, Outcome, Sign, Taken, Use, World};
use glis_core::leftover::Leftovers;
use glis_core::looping::LookedBack;
use glis_core::pause::Captured;
use glis_core::reason::Why;
use glis_core::refusal::ResumeFault;
use glis_core::session::{Chore, Process};
use glis_core::spec::{Mode, RefOrigin, SignSource, Spec, Takes, Traits};
use glis_core::tree::SnapshotRef;
use glis_core::verdict::{Author, Unruled, Verdict};
use glis_core::{House, Input, MessageId, Recorded, Session, SessionId, Subject, TimerKey};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::sync::Arc;

/// What the world has of a session.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    pub(crate) id: SessionId,
    spec: Spec,
    /// The generation of its process, while one lives.
    pub(crate) alive: Option<u32>,
    /// The last message that was sent to it.
    handed: Option<MessageId>,
    /// It is stopped in place.
    pub(crate) frozen: bool,
    /// The hash of what the house knows of it.
    known: u64,
}

/// The house, and what is under way around it.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) house: House,
    pub(crate) sites: [Site; 2],
    /// Dispatched and not yet told.
    pub(crate) pending: Vec<(Subject, Effect)>,
    pub(crate) timers: Vec<(Subject, TimerKey)>,
    /// A report was lost since the daemon began: what waits for it waits for the next daemon.
    pub(crate) deaf: bool,
    log: Log,
}

/// The log, last record first. A state shares it with those that it came from.
#[derive(Debug, Clone, Default)]
struct Log(Option<Arc<(Recorded, Self)>>);

impl Log {
    fn push(&mut self, recorded: Recorded) {
        let before = std::mem::take(self);
        self.0 = Some(Arc::new((recorded, before)));
    }

    fn fold(&self) -> House {
        let (mut records, mut at) = (Vec::new(), self);
        while let Some(node) = &at.0 {
            records.push(&node.0);
            at = &node.1;
        }
        let mut house = House::default();
        records.into_iter().rev().for_each(|recorded| house.apply(recorded));
        house
    }
}

pub(crate) fn agent(in_place: bool) -> Spec {
    let traits =
        Traits { refs: RefOrigin::Chosen, signs: SignSource::Structured, takes: Takes::WhenIdle };
    spec(traits, in_place)
}

pub(crate) fn command(in_place: bool) -> Spec {
    let (refs, signs, takes) = (RefOrigin::None, SignSource::Screen, Takes::Anytime);
    spec(Traits { refs, signs, takes }, in_place)
}

pub(crate) fn kept(in_place: bool) -> Spec {
    Spec { keep_process: true, ..command(in_place) }
}

fn spec(traits: Traits, in_place: bool) -> Spec {
    Spec { in_place, ..Spec::plain("it", Mode::Terminal, traits, "/r") }
}

impl State {
    pub(crate) fn new(one: &Spec, two: &Spec) -> Self {
        let site = |name: &str, spec: &Spec| Site {
            id: SessionId(name.to_owned()),
            spec: spec.clone(),
            alive: None,
            handed: None,
            frozen: false,
            known: 0,
        };
        Self {
            house: House::default(),
            sites: [site("a", one), site("b", two)],
            pending: Vec::new(),
            timers: Vec::new(),
            deaf: false,
            log: Log::default(),
        }
    }

    /// How many spells of idleness ago this one was: their numbers are only given away.
    fn ago(&self, id: &SessionId, spell: u64) -> u64 {
        self.house.session(id).map_or(0, |session| session.course.idle_spells.saturating_sub(spell))
    }

    /// Names the state: what is known of each session, and what is under way. The numbers that the next
    /// operation and the next message will have are not in it.
    pub(crate) fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for site in &self.sites {
            (site.known, site.alive, self.is_untouched(site), site.frozen).hash(&mut hasher);
        }
        let mut gate = Writer(DefaultHasher::new());
        let (at, places) = (self.house.gate(), self.house.limits());
        io::Write::write_fmt(&mut gate, format_args!("{at:?} {places:?}")).ok();
        gate.0.finish().hash(&mut hasher);
        // In whatever order it was dispatched.
        let told = |(subject, effect): &(Subject, Effect)| {
            let mut hasher = Writer(DefaultHasher::new());
            let effect = match (effect, subject.session()) {
                (Effect::CheckIdle { spell, cause }, Some(id)) => {
                    &Effect::CheckIdle { spell: self.ago(id, *spell), cause: *cause }
                }
                (_, _) => effect,
            };
            io::Write::write_fmt(&mut hasher, format_args!("{subject} {effect:?}")).ok();
            hasher.0.finish()
        };
        let pending = self.pending.iter().map(told).fold(0_u64, u64::wrapping_add);
        let since = |(subject, key): &(Subject, TimerKey)| match (subject, key) {
            (Subject::Session(id), TimerKey::Idle(spell)) => {
                (subject.clone(), TimerKey::Idle(self.ago(id, *spell)))
            }
            _ => (subject.clone(), *key),
        };
        let mut timers: Vec<_> = self.timers.iter().map(since).collect();
        timers.sort();
        (pending, timers, self.deaf).hash(&mut hasher);
        hasher.finish()
    }

    /// Judges what is so whatever has happened.
    pub(crate) fn judge(&self) -> Result<(), String> {
        rules::house(&self.house)?;
        if self.deaf { Ok(()) } else { rules::goes_on(self) }
    }

    pub(crate) fn take(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::New(who) => {
                let site = self.site(*who)?;
                let (id, spec) = (site.id.clone(), Box::new(site.spec.clone()));
                let agent_ref = (spec.traits.refs == RefOrigin::Chosen).then(|| "ref".to_owned());
                let name = id.0.clone();
                self.feed(Input::Command(Command::New { id, name, spec, agent_ref }))
            }
            Step::Command(command) => self.feed(Input::Command(command.clone())),
            Step::Gate(command) => self.feed(Input::Gate(command.clone())),
            Step::Limits(limits) => self.feed(Input::Limits(*limits)),
            Step::Done(at) => match self.pending.remove(*at) {
                (Subject::Session(session), effect) => {
                    let told = self.perform(&session, &effect);
                    self.report(session, told)
                }
                (_, effect) => self.report_gate(&effect, Ok(())),
            },
            Step::Lost(at) => {
                self.deaf |= match self.pending.remove(*at) {
                    (Subject::Session(session), effect) => {
                        self.perform(&session, &effect).is_some()
                    }
                    (_, effect) => matches!(effect, Effect::KeepGate { .. }),
                };
                Ok(())
            }
            Step::Failed(at) => match self.pending.remove(*at) {
                (Subject::Session(session), effect) => self.report(session, failed(&effect)),
                (_, effect) => self.report_gate(&effect, Err("no".to_owned())),
            },
            Step::Fires(at) => {
                let (subject, key) = self.timers.remove(*at);
                self.feed(Input::TimerFired { subject, key })
            }
            Step::MemoryShort => self.feed(Input::MemoryShort),
            Step::Sign(who, sign) => self.sign(*who, sign.clone()),
            Step::Dies(who) => self.dies(*who),
            Step::Crash => self.crash(),
            Step::PowerCut => {
                for site in &mut self.sites {
                    site.alive = None;
                }
                self.crash()
            }
        }
    }

    fn site(&self, who: usize) -> Result<&Site, String> {
        self.sites.get(who).ok_or_else(|| format!("no session {who}"))
    }

    fn sign(&mut self, who: usize, sign: Sign) -> Result<(), String> {
        let site = self.site(who)?;
        let Some(generation) = site.alive else { return Ok(()) };
        // A screen has no offsets, which would make every state another one.
        let (session, spot, hearing) = (site.id.clone(), Spot::Screen, Hearing::Live);
        self.feed(Input::Sign { session, generation, spot, hearing, sign })
    }

    fn dies(&mut self, who: usize) -> Result<(), String> {
        let Some(site) = self.sites.get_mut(who) else { return Ok(()) };
        let Some(generation) = site.alive.take() else { return Ok(()) };
        let exit = Exit { ending: Ending::Signalled(9), ..Exit::unseen(Leftovers::default()) };
        let session = site.id.clone();
        self.report(session, Some(Outcome::ProcessEnded { generation, exit }))
    }

    fn report(&mut self, session: SessionId, outcome: Option<Outcome>) -> Result<(), String> {
        match outcome {
            Some(outcome) => self.feed(Input::Outcome { session, outcome }),
            None => Ok(()),
        }
    }

    fn report_gate(&mut self, effect: &Effect, result: Result<(), String>) -> Result<(), String> {
        let Effect::KeepGate { op } = effect else { return Ok(()) };
        self.feed(Input::GateKept { op: *op, result: result.map_err(Into::into) })
    }

    /// What was only in memory is gone. The next daemon folds the log and looks at the world.
    fn crash(&mut self) -> Result<(), String> {
        self.pending.clear();
        self.timers.clear();
        self.deaf = false;
        if self.log.fold() != self.house {
            return Err("the fold of the log is not the state".to_owned());
        }
        for who in 0..self.sites.len() {
            let site = self.site(who)?;
            let (session, alive) = (site.id.clone(), site.alive);
            let untouched = self.is_untouched(site);
            if self.house.session(&session).is_none() {
                continue;
            }
            let world = match alive {
                Some(generation) => {
                    World::Alive { generation, process: process(), began_at: 0, untouched }
                }
                None => World::Gone { left: Leftovers::default() },
            };
            self.feed(Input::Observed { session, world })?;
        }
        self.feed(Input::AllObserved)
    }

    /// Takes an input all the way, and judges what it leads to.
    fn feed(&mut self, input: Input) -> Result<(), String> {
        let Ok(decision) = self.house.decide(input) else { return Ok(()) };
        let mut touched = BTreeSet::new();
        for (subject, event) in decision.events {
            let before = subject.session().and_then(|id| self.house.session(id)).cloned();
            let gate = self.house.gate().clone();
            let recorded = Recorded::new(self.house.last_seq() + 1, 0, subject, event);
            self.house.apply(&recorded);
            if let Some(before) = &before {
                rules::event(before, &recorded.event)?;
            }
            rules::gate_event(&gate, &self.house, &recorded)?;
            touched.insert(recorded.subject.clone());
            self.log.push(recorded);
        }
        for (subject, effect) in decision.effects {
            rules::effect(&self.house, &subject, &effect)?;
            if let Effect::SetTimer { key, .. } = effect {
                if !self.timers.contains(&(subject.clone(), key)) {
                    self.timers.push((subject, key));
                }
            } else if let Effect::DropTimer { key } = effect {
                self.timers.retain(|timer| *timer != (subject.clone(), key));
            } else if !self.pending.contains(&(subject.clone(), effect.clone())) {
                self.pending.push((subject, effect));
            }
        }
        touched.iter().try_for_each(|about| self.know(about))
    }

    /// Whether what is on its way to it was never sent.
    fn is_untouched(&self, site: &Site) -> bool {
        let sent = self.house.session(&site.id).and_then(Session::in_flight);
        sent.map(|sent| sent.id) != site.handed
    }

    /// Hashes what the house knows of a session that something has happened to.
    fn know(&mut self, about: &Subject) -> Result<(), String> {
        for site in self.sites.iter_mut().filter(|site| about.is(&site.id)) {
            if let Some(session) = self.house.session(&site.id) {
                let mut hasher = Writer(DefaultHasher::new());
                let mut session = session.clone();
                session.course.idle_spells = 0;
                serde_json::to_writer(&mut hasher, &session).map_err(|fault| fault.to_string())?;
                site.known = hasher.0.finish();
            }
        }
        Ok(())
    }

    /// Carries an effect out; says what is told of it.
    #[expect(clippy::too_many_lines, reason = "every effect is named once")]
    fn perform(&mut self, session: &SessionId, effect: &Effect) -> Option<Outcome> {
        let site = self.sites.iter_mut().find(|site| site.id == *session)?;
        let (name, commit) = ("snap".to_owned(), "c".to_owned());
        let snapshot = || SnapshotRef { name: name.clone(), commit: commit.clone(), changed: None };
        Some(match effect {
            Effect::MakeWorktree { op } => Outcome::WorktreeMade {
                op: *op,
                worktree: if site.spec.in_place { "/r".to_owned() } else { format!("/{session}") },
                branch: None,
                notes: Vec::new(),
            },
            Effect::CheckStart { op } => {
                Outcome::StartChecked { op: *op, result: Ok(Checked::default()) }
            }
            Effect::StartProcess { op, generation } => {
                (site.alive, site.handed, site.frozen) = (Some(*generation), None, false);
                let (op, generation) = (*op, *generation);
                Outcome::ProcessStarted { op, generation, process: process(), began_at: 0 }
            }
            Effect::Deliver { message, .. } => {
                site.handed = Some(*message);
                Outcome::Delivered { message: *message }
            }
            Effect::GiveAnswer { ask, .. } => Outcome::AnswerGiven { ask: ask.id.clone() },
            Effect::Judge { generation, ask } => {
                let verdict = Verdict::Accept { rule: "ls".to_owned(), author: Author::Glis };
                Outcome::Judged { generation: *generation, ask: ask.clone(), verdict }
            }
            Effect::StopProcess { generation, .. } => {
                site.alive.take_if(|alive| alive == generation)?;
                let exit = Exit { ordered: true, ..Exit::unseen(Leftovers::default()) };
                Outcome::ProcessEnded { generation: *generation, exit }
            }
            Effect::PlanReturn => Outcome::ReturnPlanned { at: Some(1), now: 1 },
            Effect::CheckSave { op } => Outcome::SaveChecked { op: *op, result: Ok(()) },
            Effect::CheckIdle { spell, cause } => {
                Outcome::UseChecked { spell: *spell, cause: *cause, usage: Use::Free }
            }
            Effect::CaptureTerminal { op } => Outcome::TerminalCaptured { op: *op, screen_at: 0 },
            Effect::TakeSnapshot { op, moment } => Outcome::SnapshotTaken {
                op: *op,
                moment: *moment,
                result: Ok(Taken { snapshot: Some(snapshot()), ..Taken::default() }),
            },
            Effect::Freeze { op, generation } => {
                site.alive.filter(|alive| alive == generation)?;
                site.frozen = true;
                Outcome::Frozen { op: *op, result: Ok(()) }
            }
            Effect::Thaw { op, generation } => {
                site.alive.filter(|alive| alive == generation)?;
                site.frozen = false;
                Outcome::Thawed { op: *op, result: Ok(()) }
            }
            Effect::Sweep { op } => Outcome::Swept { op: *op, left: Leftovers::default() },
            Effect::DoChore { op, chore } => Outcome::ChoreEnded {
                op: *op,
                result: Ok(match chore {
                    Chore::PutAside => Done::PutAside { place: "/t".to_owned() },
                    Chore::Restore(_) => Done::Restored { snapshot: snapshot(), notes: Vec::new() },
                    Chore::Return(_) => Done::BroughtBack,
                    Chore::Empty => Done::Emptied,
                }),
            },
            Effect::SaveWorktree { op, occasion, generation } => Outcome::WorktreeSaved {
                op: *op,
                occasion: *occasion,
                generation: *generation,
                result: Ok(snapshot()),
            },
            Effect::LookBack { iteration } => Outcome::LookedBack(LookedBack {
                iteration: *iteration,
                reached: None,
                left: None,
                cost_micros: 0,
                agent_ref: None,
                note: None,
            }),
            Effect::Compact { op } => {
                Outcome::Compacted { op: *op, entries: 1, original: "long".to_owned() }
            }
            Effect::ClearWorktree { op } => Outcome::WorktreeCleared { op: *op, result: Ok(None) },
            Effect::Interrupt { .. }
            | Effect::CutSetUpShort
            | Effect::CutLineShort
            | Effect::CutShort { .. }
            | Effect::DropTimer { .. }
            | Effect::KeepGate { .. }
            | Effect::DropGate { .. }
            | Effect::BeginRun { .. }
            | Effect::JudgeRun { .. }
            | Effect::MergeRun { .. }
            | Effect::SetTimer { .. } => return None,
        })
    }
}

/// What is told of an effect that could not be carried out.
fn failed(effect: &Effect) -> Option<Outcome> {
    let why = Why::from("no".to_owned());
    let fault = || ResumeFault::System("no".to_owned());
    Some(match effect {
        Effect::MakeWorktree { op } => Outcome::WorktreeFailed { op: *op, why },
        Effect::CheckStart { op } => Outcome::StartChecked { op: *op, result: Err(fault()) },
        Effect::StartProcess { op, .. } => Outcome::ProcessNotStarted { op: *op, fault: fault() },
        Effect::Deliver { message, .. } => {
            Outcome::NotDelivered { message: *message, why: "no".to_owned() }
        }
        Effect::GiveAnswer { ask, .. } => Outcome::AnswerNotGiven { ask: ask.id.clone(), why },
        Effect::Judge { generation, ask } => {
            let verdict = Verdict::manual(Unruled::NoRule);
            Outcome::Judged { generation: *generation, ask: ask.clone(), verdict }
        }
        Effect::Interrupt { generation } => {
            Outcome::NotInterrupted { generation: *generation, why }
        }
        Effect::PlanReturn => Outcome::ReturnPlanned { at: None, now: 1 },
        Effect::CheckSave { op } => Outcome::SaveChecked { op: *op, result: Err(why) },
        Effect::CheckIdle { spell, cause } => {
            Outcome::UseChecked { spell: *spell, cause: *cause, usage: Use::InUse }
        }
        Effect::CaptureTerminal { op } => {
            Outcome::CaptureFailed { op: *op, what: Captured::Screen, why }
        }
        Effect::TakeSnapshot { op, moment } => {
            Outcome::SnapshotTaken { op: *op, moment: *moment, result: Err(why) }
        }
        Effect::Freeze { op, .. } => Outcome::Frozen { op: *op, result: Err(why) },
        Effect::Thaw { op, .. } => Outcome::Thawed { op: *op, result: Err(why) },
        Effect::Sweep { op } => {
            let left = Leftovers { unclear: Some("no".to_owned()), ..Leftovers::default() };
            Outcome::Swept { op: *op, left }
        }
        Effect::DoChore { op, .. } => Outcome::ChoreEnded { op: *op, result: Err(why) },
        Effect::SaveWorktree { op, occasion, generation } => Outcome::WorktreeSaved {
            op: *op,
            occasion: *occasion,
            generation: *generation,
            result: Err(why),
        },
        Effect::Compact { op } => Outcome::NotCompacted { op: *op, why },
        Effect::ClearWorktree { op } => Outcome::WorktreeCleared { op: *op, result: Err(why) },
        // A process is ended in the end, and the rest cannot fail.
        Effect::LookBack { .. }
        | Effect::StopProcess { .. }
        | Effect::CutSetUpShort
        | Effect::CutLineShort
        | Effect::CutShort { .. }
        | Effect::DropTimer { .. }
        | Effect::KeepGate { .. }
        | Effect::DropGate { .. }
        | Effect::BeginRun { .. }
        | Effect::JudgeRun { .. }
        | Effect::MergeRun { .. }
        | Effect::SetTimer { .. } => return None,
    })
}

fn process() -> Process {
    Process { pid: 1, start_ticks: 1, boot_id: "b".to_owned() }
}

/// Hashes what is written to it.
struct Writer(DefaultHasher);

impl io::Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
