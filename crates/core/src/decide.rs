//! What each input leads to.

mod appointment;
mod ask;
mod chore;
pub(crate) mod compact;
mod end;
mod frozen;
mod gate;
pub(crate) mod halt;
mod idle;
pub(crate) mod judge;
mod keep;
pub(crate) mod looping;
mod message;
pub(crate) mod pause;
mod plan;
mod recover;
pub(crate) mod returning;
pub(crate) mod save;
mod sign;
pub(crate) mod start;
mod usage_limit;

use crate::claims;
use crate::decision::{Decision, Reply};
use crate::draft::Draft;
use crate::event::Event;
use crate::house::House;
use crate::input::{Command, Hearing, Input, Outcome};
use crate::limits::Limits;
use crate::pause::{Captured, PauseReason, PauseWish};
use crate::react::{self, follow, settle, settle_house};
use crate::reason::FailedStep;
use crate::refusal::Refusal;
use crate::session::{FolderState, Phase, Session, StartStep};
use crate::subject::Subject;
use crate::timer::TimerKey;
use chore::Of;
use save::Saved;
use start::Unsaid;

impl House {
    /// Says what `input` leads to, and changes nothing.
    pub fn decide(&self, input: Input) -> Result<Decision, Refusal> {
        decide(self, input)
    }

    /// Says what several commands at once lead to, and changes nothing: one decision, to be recorded
    /// as one, and a reply for each. Those that are refused keep the others from nothing.
    pub fn decide_together(
        &self,
        commands: Vec<Command>,
    ) -> (Decision, Vec<Result<Reply, Refusal>>) {
        together(self, commands)
    }
}

fn decide(house: &House, input: Input) -> Result<Decision, Refusal> {
    match input {
        Input::Command(command) => command_of(house, command),
        Input::Outcome { session, outcome } => Ok(match Draft::of(house, &session) {
            Some(mut draft) => {
                take_outcome(&mut draft, outcome);
                settle(draft)
            }
            None => Decision::default(),
        }),
        Input::Sign { session, generation, spot, hearing, sign } => {
            Ok(match Draft::of(house, &session) {
                Some(mut draft) if draft.session.generation == generation => {
                    sign::take(&mut draft, spot, sign);
                    match hearing {
                        Hearing::Live => settle(draft),
                        Hearing::CatchingUp => draft.decision,
                    }
                }
                // A sign of a process that was replaced says nothing about the one that runs.
                Some(_) | None => Decision::default(),
            })
        }
        Input::Limits(limits) => Ok(set_limits(house, limits)),
        Input::ConfigRead(fault) => Ok(config_was_read(house, fault)),
        Input::Gate(command) => Ok(gate::command(house, command)),
        Input::GateKept { op, result } => Ok(gate::kept(house, op, result)),
        Input::Plan(command) => plan::command(house, command),
        Input::PlanOutcome { plan, outcome } => Ok(plan::outcome(house, &plan, outcome)),
        Input::AllObserved => Ok(gate::found(house)),
        Input::TimerFired { key: TimerKey::Gate(op), .. } => Ok(gate::time_is_up(house, op)),
        // No timer is set for a plan yet.
        Input::TimerFired { subject, key } => Ok(subject
            .session()
            .and_then(|session| Draft::of(house, session))
            .map(|draft| timer_fired(draft, key))
            .unwrap_or_default()),
        Input::MemoryShort => Ok(idle::make_room(house)),
        // Nothing else follows: whatever else would be done may be what broke.
        Input::Broke { session, what, why } => Ok(match Draft::of(house, &session) {
            Some(mut draft) if draft.session.barred.is_none() => {
                draft.event(Event::Barred { what, why });
                draft.decision
            }
            Some(_) | None => Decision::default(),
        }),
        Input::Observed { session, world } => Ok(match Draft::of(house, &session) {
            Some(mut draft) => {
                recover::observed(&mut draft, world);
                settle(draft)
            }
            None => Decision::default(),
        }),
    }
}

/// The configuration has changed: what waits may have a place now.
fn set_limits(house: &House, limits: Limits) -> Decision {
    if house.limits() == limits {
        return Decision::default();
    }
    let mut draft = Draft::over(house);
    draft.limits = limits;
    draft.decision.events.push((Subject::House, Event::LimitsSet(limits)));
    settle_house(draft)
}

/// A fault of the configuration is told once, and that it is mended once.
fn config_was_read(house: &House, fault: Option<String>) -> Decision {
    let mut decision = Decision::default();
    if house.config_fault() != fault.as_deref() {
        let event = fault.map_or(Event::ConfigMended, |fault| Event::ConfigBroke { fault });
        decision.events.push((Subject::House, event));
    }
    decision
}

fn timer_fired(mut draft: Draft<'_>, key: TimerKey) -> Decision {
    match key {
        TimerKey::SafeState(op) => pause::time_is_up(&mut draft, op),
        // Of the two at most one is under way.
        TimerKey::Step(op) => {
            pause::step_is_overdue(&mut draft, op);
            start::making_is_overdue(&mut draft, op);
        }
        TimerKey::Ready(op) => start::time_is_up(&mut draft, op),
        // It is of the house.
        TimerKey::Gate(_) => {}
        TimerKey::Verdict => judge::time_is_up(&mut draft),
        TimerKey::Compact => compact::is_due(&mut draft),
        // Whatever has happened to it meanwhile, it waits no longer for this.
        TimerKey::Retry(message) => {
            if draft.session.queue.front().is_none_or(|m| m.id != message) {
                return Decision::default();
            }
        }
        TimerKey::Idle(spell) => idle::time_is_up(&mut draft, spell),
        TimerKey::ResumeAt(at) if draft.session.is_parked_until(at) => {
            usage_limit::is_due(&mut draft);
        }
        // It is resumed as if a user had asked for it.
        TimerKey::ResumeAt(at) if draft.session.appointment() == Some(at) => {
            appointment::is_due(&mut draft, at);
        }
        TimerKey::ResumeAt(_) => return Decision::default(),
    }
    settle(draft)
}

fn command_of(house: &House, command: Command) -> Result<Decision, Refusal> {
    if let Command::New { id, name, spec, agent_ref } = &command {
        return start::create(house, id, name, spec, agent_ref.as_deref());
    }
    let session = command.session();
    let unknown = || Refusal::NoSuchSession { given: session.0.clone() };
    let mut draft = Draft::of(house, session).ok_or_else(unknown)?;
    obey(&mut draft, command)?;
    Ok(settle(draft))
}

/// Each sees the house as it will be after those before it.
fn together(house: &House, commands: Vec<Command>) -> (Decision, Vec<Result<Reply, Refusal>>) {
    let mut known = commands.iter().filter_map(|command| Draft::of(house, command.session()));
    let Some(mut draft) = known.next() else {
        let unknown =
            |command: &Command| Err(Refusal::NoSuchSession { given: command.session().0.clone() });
        return (Decision::default(), commands.iter().map(unknown).collect());
    };
    let mut replies = Vec::new();
    for command in commands {
        let id = command.session().clone();
        let obeyed = draft.turn_to(&id).and_then(|()| obey(&mut draft, command));
        replies.push(obeyed.map(|()| {
            follow(&mut draft);
            std::mem::take(&mut draft.decision.reply)
        }));
    }
    draft.reply(Reply::Done);
    (settle_house(draft), replies)
}

/// Does what is asked of the session in hand.
fn obey(draft: &mut Draft<'_>, command: Command) -> Result<(), Refusal> {
    if starts_process(&draft.session, &command)
        && let Some(place) = &draft.session.worktree
    {
        claims::check_place(draft.stirring(), place, &draft.session.id)?;
    }
    match command {
        // It is decided on apart, since no session is there yet.
        Command::New { .. } => {}
        Command::Send { text, .. } => message::send(draft, text)?,
        Command::Pause { mode, reason, on_timeout, clearing, .. } => {
            usage_limit::take_over(draft);
            looping::ask_to_pause(draft, PauseWish { mode, reason, on_timeout, clearing })?;
            draft.release_from_gate();
        }
        // It would run on although nothing may.
        Command::CancelPause { .. } if draft.gate.shut().is_some() => {
            return Err(draft.is_shut());
        }
        Command::PauseUntil { mode, on_timeout, clearing, until, .. } => {
            let reason = PauseReason::User;
            usage_limit::take_over(draft);
            looping::ask_to_pause(draft, PauseWish { mode, reason, on_timeout, clearing })?;
            draft.release_from_gate();
            appointment::make(draft, until);
        }
        Command::CancelPause { .. } if looping::withdraw(draft) => {}
        Command::CancelPause { .. } => pause::cancel(draft)?,
        Command::Resume { prompt, .. } => {
            if !looping::resume(draft, prompt.as_ref())? {
                start::resume(draft, prompt)?;
            }
        }
        Command::Restart { agent_ref, prompt, .. } => looping::restart(draft, agent_ref, prompt)?,
        Command::Stop { cause, .. } => {
            let judged = react::plan::stop_judging(draft);
            looping::stop(draft);
            end::stop(draft, cause);
            if judged {
                react::plan::stop_plan(draft);
                // Its agent may have ended before; something is stopped all the same.
                if draft.decision.reply == Reply::Already {
                    draft.reply(Reply::Done);
                }
            }
        }
        Command::LimitIdle { limit, .. } => idle::limit(draft, limit)?,
        Command::Remove { running, .. } => {
            chore::remove(draft, running)?;
            react::plan::stop_judging(draft);
            looping::stop(draft);
        }
        Command::Snapshot { .. } => save::asked(draft)?,
        Command::Compact { .. } => compact::asked(draft)?,
        Command::Restore { snapshot, .. } => chore::restore(draft, snapshot)?,
        Command::Return { name, .. } => chore::bring_back(draft, name)?,
        Command::Empty { .. } => chore::empty(draft)?,
        Command::Acknowledge { .. } => acknowledge(draft),
        Command::Answer { ask, answer, reason, .. } => ask::answer(draft, ask, answer, reason)?,
        Command::SetAutoYes { on, .. } => judge::set(draft, on),
        Command::BeginTyping { .. } => begin_typing(draft),
        Command::SetLoop { change, .. } => looping::set(draft, change)?,
    }
    Ok(())
}

/// Keys go to the holder past the daemon, so this is all that tells who pressed an approval. Where nothing
/// runs, or a pause has stopped it in place, nothing takes them.
fn begin_typing(draft: &mut Draft<'_>) {
    if draft.session.runs() && !draft.session.is_frozen() {
        draft.event(Event::TypingBegan);
    } else {
        draft.reply(Reply::Already);
    }
}

fn acknowledge(draft: &mut Draft<'_>) {
    let lost = draft.session.damage.is_some() || draft.session.folder == FolderState::Lost;
    let (damaged, barred) = (lost, draft.session.barred.is_some());
    if damaged {
        draft.event(Event::DamageAcknowledged);
    }
    if barred {
        draft.event(Event::BarLifted);
    }
    if !damaged && !barred {
        draft.reply(Reply::Already);
    }
}

/// Whether a command brings up a process where none runs.
fn starts_process(session: &Session, command: &Command) -> bool {
    match command {
        Command::Resume { .. } | Command::Restart { .. } => {
            matches!(session.phase, Phase::Rest(_))
        }
        Command::Send { .. } => session.wakes(),
        Command::New { .. }
        | Command::Pause { .. }
        | Command::PauseUntil { .. }
        | Command::CancelPause { .. }
        | Command::Stop { .. }
        | Command::LimitIdle { .. }
        | Command::Remove { .. }
        | Command::Snapshot { .. }
        | Command::Compact { .. }
        | Command::Restore { .. }
        | Command::Return { .. }
        | Command::Empty { .. }
        | Command::Acknowledge { .. }
        | Command::SetAutoYes { .. }
        | Command::BeginTyping { .. }
        | Command::SetLoop { .. }
        | Command::Answer { .. } => false,
    }
}

#[expect(clippy::too_many_lines, reason = "every outcome is named once")]
fn take_outcome(draft: &mut Draft<'_>, outcome: Outcome) {
    match outcome {
        Outcome::WorktreeMade { op, worktree, branch, notes } => {
            start::worktree_made(draft, Event::WorktreeMade { op, worktree, branch, notes });
        }
        Outcome::WorktreeFailed { op, why } => start::worktree_failed(draft, op, why),
        Outcome::StartChecked { op, found, set_up, forgotten, unheard } => {
            let checked = Event::StartChecked { op, found, set_up };
            start::checked(draft, op, checked, Unsaid { forgotten, unheard });
        }
        Outcome::StartUnfit { op, fault } => start::failed(draft, op, StartStep::Check, fault),
        Outcome::ProcessNotStarted { op, fault } => start::not_started(draft, op, fault),
        Outcome::ProcessStarted { op, generation, process, began_at } => {
            start::process_started(draft, op, generation, process, began_at);
        }
        Outcome::Delivered { message } => message::delivered(draft, message),
        Outcome::Undeliverable { message, why } => message::undeliverable(draft, message, why),
        Outcome::NotDelivered { message, why } => message::not_delivered(draft, message, why),
        Outcome::NotTaken { message } => message::not_taken(draft, message),
        Outcome::AnswerGiven { ask } => ask::given(draft, &ask),
        Outcome::AnswerNotGiven { ask, why } => ask::not_given(draft, ask, why),
        Outcome::NotInUse { spell, cause } => idle::not_in_use(draft, spell, cause),
        Outcome::InUse { spell, cause } => idle::in_use(draft, spell, cause),
        Outcome::ReturnPlanned { at, now } => usage_limit::planned(draft, at, now),
        Outcome::Judged { generation, ask, verdict } => {
            if generation == draft.session.generation {
                judge::judged(draft, &ask, verdict);
            }
        }
        Outcome::CanSave { op } => pause::can_save(draft, op),
        Outcome::CannotSave { op, why } => pause::cannot_save(draft, op, why),
        Outcome::TerminalCaptured { op, screen_at } => pause::captured(draft, op, screen_at),
        Outcome::CaptureFailed { op, what, why } => {
            let failed = match what {
                Captured::Screen => FailedStep::Capture,
                Captured::Conversation => FailedStep::Conversation,
            };
            pause::failed(draft, op, failed, why);
        }
        Outcome::NotInterrupted { generation, why } => {
            pause::not_interrupted(draft, generation, why);
        }
        Outcome::CaptureOverdue { op, why } => pause::capture_overdue(draft, op, why),
        Outcome::SnapshotTaken { op, moment, snapshot, left_out, warning } => {
            pause::saved(draft, op, moment, pause::Taken { snapshot, left_out, warning });
        }
        Outcome::SnapshotFailed { op, moment, why } => pause::not_saved(draft, op, moment, why),
        Outcome::SnapshotOverdue { op, moment, why } => {
            pause::save_overdue(draft, op, moment, why);
        }
        Outcome::ProcessFrozen { op } => frozen::frozen(draft, op),
        Outcome::NotFrozen { op, why } => frozen::not_frozen(draft, op, why),
        Outcome::Thawed { op } => keep::thawed(draft, op),
        Outcome::NotThawed { op, why } => keep::not_thawed(draft, op, &why),
        Outcome::Swept { op, left } => pause::swept(draft, op, left),
        Outcome::FolderLost => {
            if draft.session.folder == FolderState::Whole && draft.session.runs() {
                draft.event(Event::FolderLost);
            }
        }
        Outcome::ProcessEnded { generation, exit } => end::process_ended(draft, generation, exit),
        Outcome::WorktreeCleared { op, leftover } => {
            pause::cleared(draft, op, Event::WorktreeCleared { op, leftover });
        }
        Outcome::WorktreeStays { op, why } => {
            pause::cleared(draft, op, Event::WorktreeStays { op, why });
        }
        Outcome::WorktreeSaved { op, occasion, generation, snapshot } => {
            end::saved(draft, Saved { op, occasion, generation, snapshot });
        }
        Outcome::WorktreeNotSaved { op, occasion, why } => {
            end::not_saved(draft, op, occasion, why);
        }
        Outcome::PutAside { op, place } => {
            chore::ended(draft, op, Of::PutAside, Event::Archived { op, place });
        }
        Outcome::NotPutAside { op, why } => {
            chore::ended(draft, op, Of::PutAside, Event::RemovalFailed { op, why });
        }
        Outcome::WorktreeRestored { op, snapshot, notes } => {
            chore::ended(draft, op, Of::Restore, Event::WorktreeRestored { op, snapshot, notes });
        }
        Outcome::NotRestored { op, why } => {
            chore::ended(draft, op, Of::Restore, Event::RestoreFailed { op, why });
        }
        Outcome::BroughtBack { op } => {
            chore::ended(draft, op, Of::Return, Event::Returned { op });
        }
        Outcome::NotBroughtBack { op, why } => {
            chore::ended(draft, op, Of::Return, Event::ReturnFailed { op, why });
        }
        Outcome::Compacted { op, entries, original } => {
            compact::succeeded(draft, op, entries, original);
        }
        Outcome::LookedBack(look) => looping::looked_back(draft, look),
        Outcome::NotCompacted { op, why } => compact::failed(draft, op, why),
        Outcome::CompactionEarly { wait } => compact::too_early(draft, wait),
        Outcome::Emptied { op } => chore::emptied(draft, op),
        Outcome::NotEmptied { op, why } => {
            chore::ended(draft, op, Of::Empty, Event::EmptyingFailed { op, why });
        }
    }
}
