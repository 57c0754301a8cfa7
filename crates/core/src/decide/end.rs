//! Ends: a process that ended, a session that is stopped.

use super::{chore, halt, message, pause, save, start};
use crate::decision::Reply;
use crate::draft::Draft;
use crate::effect::{Effect, Urgency};
use crate::event::{Ending, Event};
use crate::ids::OpId;
use crate::input::Exit;
use crate::pause::{PauseMode, PauseStep};
use crate::reason::{FailedStep, Why};
use crate::refusal::ResumeFault;
use crate::rule::NotSafe;
use crate::session::{AfterStop, Pause, Phase, Rejection, Rest, Session, StartStep, StopCause};
use crate::spec::RefOrigin;
use crate::status::Status;
use crate::tree::{Occasion, SnapshotRef};

pub(super) fn stop(draft: &mut Draft<'_>, cause: StopCause) {
    match &draft.session.phase {
        Phase::Live => halt::suspend(draft, cause),
        Phase::Stopping { op, then: AfterStop::Restart { .. }, .. } => {
            let restart = *op;
            stop_restart(draft, restart);
        }
        // The start is being ended already; only what was to follow is called off.
        Phase::Stopping { op, then: AfterStop::Pause { .. }, .. } => {
            let pause = *op;
            draft.event(Event::PauseCancelled { op: pause });
            let op = draft.new_op();
            draft.event(Event::StopBegan { op, then: AfterStop::Rest, cause: StopCause::Asked });
        }
        Phase::Stopping { op, then: AfterStop::Rest | AfterStop::StayPaused(_), .. } => {
            // A second press means that the first was too gentle.
            let op = *op;
            draft.reply(Reply::Pending(op));
            let generation = draft.session.agent.generation;
            if draft.session.runs() {
                draft.effect(Effect::StopProcess { generation, urgency: Urgency::Kill });
            }
        }
        Phase::Starting(begun) => {
            let (start, step) = (begun.op, begun.step);
            stop_start(draft, start, step);
        }
        Phase::Pausing(under_way) => {
            let under_way = under_way.clone();
            stop_pause(draft, &under_way);
        }
        Phase::Stopping { op, then: AfterStop::Remove, .. } => {
            let removal = *op;
            stop_removal(draft, removal);
        }
        // Nothing runs. What is done with its files is cut short, and says itself how far it came.
        Phase::Chore { op, .. } => {
            let op = *op;
            draft.effect(Effect::CutShort { op });
            draft.reply(Reply::Pending(op));
        }
        // Paused it stays, as it would without the process that was kept.
        Phase::Rest(Rest::Paused(record)) if draft.session.runs() => {
            let then = AfterStop::StayPaused(record.clone());
            halt::begin(draft, then);
        }
        Phase::Rest(_) if draft.session.starts.deferred.is_some() => {
            draft.event(Event::StartForgone);
        }
        Phase::Rest(_) => {
            draft.reply(Reply::Already);
            draft.release_from_gate();
        }
    }
}

/// A stop wins over a pause that is under way: whatever that one waits for may never come.
fn stop_pause(draft: &mut Draft<'_>, under_way: &Pause) {
    draft.event(Event::PauseCancelled { op: under_way.op });
    if pause::works(under_way) {
        // A git that hangs in it would stay.
        draft.effect(Effect::CutShort { op: under_way.op });
    }
    if draft.session.runs() {
        if under_way.mode == PauseMode::Force || under_way.step == PauseStep::Ending {
            halt::begin_as(draft, AfterStop::Rest, Urgency::Kill);
        } else {
            halt::begin(draft, AfterStop::Rest);
        }
    } else if under_way.from.is_none() {
        // Its process has ended for the pause, and nothing is left to do but to say so.
        let op = draft.new_op();
        draft.event(Event::StopBegan { op, then: AfterStop::Rest, cause: StopCause::Asked });
        draft.event(Event::Suspended { op: Some(op) });
        save::after_end(draft, None);
    } else {
        draft.reply(Reply::Already);
    }
}

/// A stop wins over a restart that has not come to its start. The process is being ended already.
fn stop_restart(draft: &mut Draft<'_>, restart: OpId) {
    let op = draft.new_op();
    draft.event(Event::StartCancelled { op: restart });
    if draft.session.runs() {
        draft.event(Event::StopBegan { op, then: AfterStop::Rest, cause: StopCause::Asked });
    } else {
        draft.event(Event::Suspended { op: Some(op) });
        save_anew(draft, restart);
    }
}

/// A stop wins over a removal that has not come to the trash, in the same way.
fn stop_removal(draft: &mut Draft<'_>, removal: OpId) {
    draft.event(Event::RemovalFailed { op: removal, why: Why::StoppedInstead });
    if draft.session.runs() {
        let op = draft.new_op();
        draft.event(Event::StopBegan { op, then: AfterStop::Rest, cause: StopCause::Asked });
    } else {
        save_anew(draft, removal);
    }
}

/// What an operation was saving when it was called off is saved beside everything else. A git that
/// hangs in it would stay.
fn save_anew(draft: &mut Draft<'_>, former: OpId) {
    draft.effect(Effect::CutShort { op: former });
    save::after_end(draft, None);
}

/// Takes in what came of a save. A stop that has waited for it goes on, also if it has failed.
pub(super) fn saved(
    draft: &mut Draft<'_>,
    op: Option<OpId>,
    occasion: Occasion,
    generation: u32,
    result: Result<SnapshotRef, Why>,
) {
    let awaited = op.is_some() && op == awaits_save(draft);
    if !awaited && !save::is_news(&draft.session, op, occasion, &result) {
        return;
    }
    let op = op.filter(|_| !awaited);
    draft.event(match result {
        Ok(snapshot) => Event::WorktreeSaved { op, occasion, generation, snapshot },
        Err(why) => Event::WorktreeNotSaved { op, occasion, why },
    });
    if awaited {
        go_on(draft);
    }
}

/// The stop that goes on once what its process left is saved.
fn awaits_save(draft: &Draft<'_>) -> Option<OpId> {
    if let Phase::Stopping { op, then, .. } = &draft.session.phase {
        Some(*op).filter(|_| then.saves_first() && !draft.session.runs())
    } else {
        None
    }
}

/// The process is gone and what it left was saved, or cannot be: what the stop was for follows.
/// Neither touches the worktree's files, so that nothing is lost where saving failed.
fn go_on(draft: &mut Draft<'_>) {
    let Phase::Stopping { op, then, .. } = draft.session.phase.clone() else { return };
    match then {
        AfterStop::Rest | AfterStop::Pause { .. } | AfterStop::StayPaused(_) => {}
        AfterStop::Restart { agent_ref, prompt } => {
            draft.event(Event::Suspended { op: None });
            start::begin_anew(draft, op, agent_ref, prompt);
        }
        AfterStop::Remove => {
            draft.event(Event::Suspended { op: None });
            chore::put_aside(draft, op);
        }
    }
}

/// A stop wins over a start that is under way.
fn stop_start(draft: &mut Draft<'_>, start: OpId, step: StartStep) {
    let op = draft.new_op();
    draft.event(Event::StartCancelled { op: start });
    if step == StartStep::Check {
        draft.event(Event::Suspended { op: Some(op) });
        halt::look_no_further(draft, start);
    } else {
        halt::call_off(draft, (start, step), op, AfterStop::Rest);
    }
}

pub(super) fn process_ended(draft: &mut Draft<'_>, generation: u32, exit: Exit) {
    if draft.session.agent.generation != generation || !draft.session.expects_process() {
        return;
    }
    let former = draft.session.clone();
    message::doubt_in_flight(draft);
    let Exit { ending, ordered, left, last_words } = exit;
    let trouble = left.trouble();
    let end = End { ending: &ending, last_words: &last_words };
    let left = Box::new(left);
    draft.event(Event::ProcessEnded { generation, ending: ending.clone(), ordered, left });
    match &draft.session.phase {
        Phase::Starting(begun) => {
            let (op, cause) = (begun.op, begun.cause);
            let fault = match former.rejected() {
                Some(Rejection::Conversation(why)) => ResumeFault::Rejected(why.clone()),
                Some(Rejection::Start(why)) => {
                    ResumeFault::NotReady(Why::RefusedToBegin(why.clone()).to_string())
                }
                None => ResumeFault::NotReady(Why::ended_at_start(&end.in_full()).to_string()),
            };
            if draft.session.spec.traits.refs == RefOrigin::None {
                // A short command can be over before anybody hears of its beginning.
                draft.event(Event::StartEnded { op, cause });
                by_itself(draft, &former, end);
            } else {
                draft.event(Event::StartFailed { op, fault });
            }
        }
        Phase::Pausing(under_way) => {
            let (op, step) = (under_way.op, under_way.step);
            if let Some(why) = trouble {
                // What is still there may still write: that is no pause.
                draft.event(Event::PauseFailed { op, step: FailedStep::EndAll, why });
                return;
            }
            let unasked = !ordered && under_way.step == PauseStep::Boundary;
            if unasked && draft.session.spec.traits.refs == RefOrigin::None {
                // It came to its own end before anybody disturbed it.
                let doing = NotSafe::Ended(end.told()).to_string();
                draft.event(Event::PauseRefused { op, doing });
                by_itself(draft, &former, end);
            } else {
                let former = former_step(&former).unwrap_or(step);
                pause::process_is_gone(draft, former);
            }
        }
        Phase::Stopping { op, awaited, then: AfterStop::Rest, .. } => {
            let (op, awaited) = (*op, *awaited);
            draft.event(Event::Suspended { op: Some(op) });
            draft.wake = awaited;
        }
        Phase::Stopping { op, then: AfterStop::StayPaused(_), .. } => {
            let op = *op;
            draft.event(Event::Paused { op });
        }
        Phase::Stopping { op, then: AfterStop::Pause { reason, clearing }, .. } => {
            let (op, reason, clearing) = (*op, *reason, *clearing);
            pause::begin_after_start(draft, op, reason, clearing);
        }
        Phase::Stopping {
            op,
            then: then @ (AfterStop::Restart { .. } | AfterStop::Remove),
            ..
        } => {
            let (op, removes) = (*op, *then == AfterStop::Remove);
            match (removes, trouble) {
                // What is still there may still write into what would be put aside.
                (true, Some(why)) => draft.event(Event::RemovalFailed { op, why }),
                (true | false, _) => save::after_end(draft, Some(op)),
            }
        }
        Phase::Live => by_itself(draft, &former, end),
        Phase::Rest(_) | Phase::Chore { .. } => {}
    }
}

/// How far the pause was when its process ended.
fn former_step(former: &Session) -> Option<PauseStep> {
    if let Phase::Pausing(pause) = &former.phase { Some(pause.step) } else { None }
}

/// The end was not ordered. A command is judged by its exit status; an agent's lies, so its own signs
/// count.
fn by_itself(draft: &mut Draft<'_>, former: &Session, end: End<'_>) {
    let first = draft.session.agent.generation == 1;
    match (draft.session.spec.traits.refs, end.ending) {
        (RefOrigin::None, Ending::Exited(0)) => draft.event(Event::Completed),
        (RefOrigin::None, Ending::Exited(_) | Ending::Signalled(_)) => {
            draft.event(Event::Failed { why: end.told() });
        }
        (RefOrigin::Chosen | RefOrigin::Learned, Ending::Exited(_) | Ending::Signalled(_))
            if first && !former.is_ready() =>
        {
            let ended = Why::EndedEarly(end.in_full().to_string());
            draft.event(Event::Failed { why: reason(former, ended) });
        }
        (RefOrigin::Chosen | RefOrigin::Learned, Ending::Exited(_) | Ending::Signalled(_))
            if former.refuses_to_work() =>
        {
            let told = former.rejected().map(Rejection::why).unwrap_or_default();
            let told = if end.last_words.is_empty() { told } else { end.last_words };
            draft.event(Event::Failed { why: Why::refused_and_ended(&end.told(), told) });
        }
        (RefOrigin::Chosen | RefOrigin::Learned, Ending::Exited(0))
            if !former.turn().open && !former.turn().due =>
        {
            draft.event(Event::Suspended { op: None });
        }
        // The machine took nothing from it: it waited for a message, and the next one brings it back.
        (RefOrigin::Chosen | RefOrigin::Learned, Ending::Reboot)
            if former.status() == Status::Idle && !draft.session.is_asked_about() =>
        {
            draft.event(Event::Suspended { op: None });
        }
        (
            RefOrigin::None | RefOrigin::Chosen | RefOrigin::Learned,
            Ending::Exited(_) | Ending::Signalled(_) | Ending::Unknown | Ending::Reboot,
        ) => {
            // Who is killed says nothing about it.
            let complained = matches!(end.ending, Ending::Exited(status) if *status != 0);
            let ended = if former.is_ready() && !complained { end.told() } else { end.in_full() };
            draft.event(Event::Interrupted { why: reason(former, ended) });
        }
    }
}

/// That we ended it says nothing; why we did does.
fn reason(former: &Session, ended: Why) -> Why {
    match former.rejected().map(Rejection::why) {
        Some(why) if former.is_ready() => Why::from(why.to_owned()),
        Some(why) => Why::RefusedToBegin(why.to_owned()),
        None => ended,
    }
}

/// How a process ended, and what it said last.
#[derive(Clone, Copy)]
struct End<'e> {
    ending: &'e Ending,
    last_words: &'e str,
}

impl End<'_> {
    fn told(self) -> Why {
        self.ending.told()
    }

    /// Of a process that never got ready its last words are all that can say why.
    fn in_full(self) -> Why {
        self.told().with_last_words(self.last_words)
    }
}
