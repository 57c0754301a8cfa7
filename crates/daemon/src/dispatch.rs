//! Sends every effect to the part of the daemon that carries it out. The only file that knows them all.

use crate::compact::Compactor;
use crate::controller::Act;
use crate::gate::GateStore;
use crate::jobs::Jobs;
use crate::judging::Judging;
use crate::keeper::Keeper;
use crate::launch::Launcher;
use crate::links::{HolderCommand, Links};
use crate::lookback::LookBack;
use crate::plans::Plans;
use crate::pools::Kind;
use crate::provision::Provision;
use crate::returns;
use crate::screens::{self, Screens};
use crate::settings::Settings;
use crate::supervise::Supervisor;
use crate::sweep::sweep;
use crate::timers::Timers;
use crate::trees::Trees;
use glis_core::effect::{Effect, Urgency};
use glis_core::input::Outcome;
use glis_core::leftover::Leftovers;
use glis_core::pause::Captured;
use glis_core::refusal::ResumeFault;
use glis_core::session::{Phase, Session, StopCause};
use glis_core::{House, Input, OpId, Plan, Recorded, SessionId, Subject};
use glis_wire::hold::{Children, Ladder};
use glis_wire::home::Home;
use std::sync::Arc;
use tracing::warn;

/// The parts of the daemon that carry effects out.
pub(crate) struct Dispatcher {
    pub(crate) home: Home,
    pub(crate) settings: Arc<Settings>,
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) trees: Arc<Trees>,
    pub(crate) compactor: Arc<Compactor>,
    pub(crate) look_back: Arc<LookBack>,
    pub(crate) provision: Arc<Provision>,
    pub(crate) launcher: Arc<Launcher>,
    pub(crate) supervisor: Arc<Supervisor>,
    pub(crate) links: Arc<Links>,
    pub(crate) screens: Arc<Screens>,
    pub(crate) timers: Arc<Timers>,
    pub(crate) gate: Arc<GateStore>,
    pub(crate) judging: Judging,
    pub(crate) plans: Arc<Plans>,
    pub(crate) keeper: Arc<Keeper>,
}

impl Act for Arc<Dispatcher> {
    fn carry_out(&self, effect: Effect, session: &Session) {
        let id = session.id.clone();
        match effect {
            Effect::MakeWorktree { op } => self.trees.make(session, op),
            Effect::CutSetUpShort => self.provision.cut_short(&id),
            Effect::CutLineShort => self.jobs.lines.cut_short(&id),
            Effect::CheckStart { op } => self.check_start(session, op),
            Effect::StartProcess { op, generation } => self.start(session, op, generation),
            Effect::Deliver { message, text, .. } => {
                let failed = |why| Outcome::NotDelivered { message, why };
                self.order(id, HolderCommand::Deliver { message, text }, failed);
            }
            Effect::GiveAnswer { ask, answer, reason, .. } => {
                let (asked, ask) = (ask.id.clone(), Box::new(ask));
                let failed = |why: String| Outcome::AnswerNotGiven { ask: asked, why: why.into() };
                self.order(id, HolderCommand::Answer { ask, answer, reason }, failed);
            }
            Effect::Judge { generation, ask } => self.judging.judge(session, generation, ask),
            Effect::Interrupt { generation } => {
                let failed = |why: String| Outcome::NotInterrupted { generation, why: why.into() };
                self.order(id, HolderCommand::Interrupt, failed);
            }
            Effect::StopProcess { generation, urgency } => self.stop(session, generation, urgency),
            Effect::Freeze { op, .. } => {
                let failed = |why: String| Outcome::Frozen { op, result: Err(why.into()) };
                self.order(id, HolderCommand::Freeze(op), failed);
            }
            Effect::Thaw { op, .. } => {
                let failed = |why: String| Outcome::Thawed { op, result: Err(why.into()) };
                self.order(id, HolderCommand::Thaw(op), failed);
            }
            Effect::CaptureTerminal { op } => self.capture(session, op),
            Effect::SetTimer { key, when } => self.timers.set(id.into(), key, when),
            Effect::DropTimer { key } => self.timers.drop_timer(id.into(), key),
            Effect::CheckIdle { spell, cause } => self.supervisor.check_idle(id, spell, cause),
            Effect::PlanReturn => {
                let (at, now) = returns::plan(&self.settings.now(), session);
                self.jobs.report(id, Outcome::ReturnPlanned { at, now });
            }
            Effect::CutShort { op } => self.jobs.bounds.cut_short(op),
            Effect::Sweep { op } => self.sweep(session, op),
            Effect::CheckSave { op } => self.trees.check_save(session, op),
            Effect::TakeSnapshot { op, moment } => self.trees.take_snapshot(session, op, moment),
            Effect::SaveWorktree { op, occasion, generation } => {
                self.trees.save_worktree(session, op, occasion, generation);
            }
            Effect::Compact { op } => self.compactor.compact(session, op),
            Effect::LookBack { iteration } => self.look_back.look(session, iteration),
            Effect::ClearWorktree { op } => self.trees.clear(session, op),
            Effect::DoChore { op, chore } => self.trees.do_chore(session, op, chore),
            Effect::KeepGate { .. }
            | Effect::DropGate { .. }
            | Effect::BeginRun { .. }
            | Effect::JudgeRun { .. }
            | Effect::MergeRun { .. } => stray(&effect),
        }
    }

    fn carry_out_for_house(&self, effect: Effect, house: &House) {
        if let Effect::KeepGate { op } = effect {
            self.gate.keep(house, op);
        } else if let Effect::DropGate { before, source } = effect {
            self.gate.discard(before, source);
        } else if let Effect::SetTimer { key, when } = effect {
            self.timers.set(Subject::House, key, when);
        } else {
            stray(&effect);
        }
    }

    fn carry_out_for_plan(&self, effect: Effect, plan: &Plan, house: &House) {
        if let Effect::BeginRun { run } = effect {
            self.plans.begin(house, plan, &run);
        } else if let Effect::JudgeRun { run } = effect {
            self.plans.judge(house, plan, &run);
        } else if let Effect::MergeRun { run } = effect {
            self.plans.merge(house, plan, &run);
        } else if let Effect::SetTimer { key, when } = effect {
            self.timers.set(Subject::Plan(plan.id.clone()), key, when);
        } else {
            stray(&effect);
        }
    }

    fn take_note(&self, events: &[Recorded], house: &House) {
        self.plans.take_note(events, house);
        self.keeper.look(house);
    }
}

/// An effect about the wrong subject would be missed, so it is told.
fn stray(effect: &Effect) {
    // Its name alone: what it carries may be a person's words.
    let whole = format!("{effect:?}");
    let name = whole.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    warn!("nothing carries out {name} about this");
}

impl Dispatcher {
    /// Tells a holder something; where that cannot be, `failed` is what came of it.
    fn order(&self, id: SessionId, command: HolderCommand, failed: impl FnOnce(String) -> Outcome) {
        if let Err(why) = self.links.send(&id, command) {
            self.jobs.report(id, failed(why));
        }
    }

    fn check_start(&self, session: &Session, op: OpId) {
        // A set-up that was cut short left a note, and may run again: such have places of their own.
        let kind = if session.starts.notes.is_empty() { Kind::Tree } else { Kind::Make };
        let what = (kind, "look at its worktree");
        let told = move |result| Outcome::StartChecked { op, result };
        let failed = move |why| told(Err(ResumeFault::System(why)));
        let launcher = Arc::clone(&self.launcher);
        self.jobs
            .in_turn(session, what, failed, move |session| Some(told(launcher.check(session))));
    }

    fn start(&self, session: &Session, op: OpId, generation: u32) {
        let what = (Kind::Start, "start its process");
        let failed = move |why| Outcome::ProcessNotStarted { op, fault: ResumeFault::System(why) };
        let (launcher, supervisor) = (Arc::clone(&self.launcher), Arc::clone(&self.supervisor));
        let (links, mailbox) = (Arc::clone(&self.links), self.jobs.mailbox.clone());
        self.jobs.blocking(session, what, failed, move |session| {
            let hello = match launcher.begin(session, generation) {
                Ok(hello) => hello,
                Err(fault) => return Some(Outcome::ProcessNotStarted { op, fault }),
            };
            // Open before the process is on record: commands wait until its holder is met.
            let commands = links.open(&session.id);
            let process = hello.process.clone();
            let began_at = hello.began_at;
            let outcome = Outcome::ProcessStarted { op, generation, process, began_at };
            mailbox.tell_blocking(Input::Outcome { session: session.id.clone(), outcome });
            supervisor.begin(Box::new(session.clone()), commands);
            None
        });
    }

    fn capture(&self, session: &Session, op: OpId) {
        let what = (Kind::Start, "keep its screen");
        let failed = move |why: String| Outcome::CaptureFailed {
            op,
            what: Captured::Screen,
            why: why.into(),
        };
        let (kept, dir) = (Arc::clone(&self.screens), self.home.session(&session.id.0));
        self.jobs.blocking(session, what, failed, move |session| {
            Some(match screens::capture(&kept, &dir, session) {
                Ok(screen_at) => Outcome::TerminalCaptured { op, screen_at },
                Err((what, fault)) => {
                    Outcome::CaptureFailed { op, what, why: fault.to_string().into() }
                }
            })
        });
    }

    /// Looks for what an earlier process has left, and ends it.
    fn sweep(&self, session: &Session, op: OpId) {
        let what = (Kind::Start, "end what it left");
        let failed = move |why| {
            let left = Leftovers { unclear: Some(why), ..Leftovers::default() };
            Outcome::Swept { op, left }
        };
        let dir = self.home.session(&session.id.0);
        self.jobs.blocking(session, what, failed, move |session| {
            Some(Outcome::Swept { op, left: sweep(&dir, session) })
        });
    }

    fn stop(&self, session: &Session, generation: u32, urgency: Urgency) {
        if let Phase::Stopping { cause: StopCause::Idle | StopCause::Memory, .. } = &session.phase {
            self.supervisor.live.give_back(&session.id);
        }
        let ms = |secs: u32| secs.saturating_mul(1000);
        let config = self.settings.now();
        let pause = &config.pause;
        let ladder = match urgency {
            Urgency::Quiet => Ladder { interrupt_ms: 0, terminate_ms: ms(pause.terminate_secs) },
            Urgency::Interrupt => Ladder {
                interrupt_ms: ms(pause.interrupt_secs),
                terminate_ms: ms(pause.terminate_secs),
            },
            Urgency::Kill => Ladder { interrupt_ms: 0, terminate_ms: 0 },
        };
        let pauses = matches!(session.phase, Phase::Pausing(_));
        let children = if pauses { pause.children } else { Children::StopAll };
        self.supervisor.stop(session, generation, ladder, children);
    }
}
