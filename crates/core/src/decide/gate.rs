//! Shutting and opening the gate: everything is paused, and what was stopped comes back.

use super::pause;
use super::returning::{resume, tell_resumed};
use crate::decision::{Decision, Reply};
use crate::draft::Draft;
use crate::effect::Effect;
use crate::event::Event;
use crate::gate::{Gate, GateCommand, GateEvent, GateSource, GateStep, GateWish, Kept, Shut};
use crate::ids::{OpId, SessionId};
use crate::pause::{OnTimeout, PauseMode, PauseStep};
use crate::reason::Why;
use crate::refusal::Refusal;
use crate::session::{AfterStop, Phase, Rest, Session};
use crate::timer::{Span, TimerKey, When};
use std::collections::BTreeSet;

pub(super) fn command(mut draft: Draft<'_>, command: GateCommand) -> Decision {
    match command {
        GateCommand::Shut(wish) => shut(&mut draft, wish),
        GateCommand::Open(kept) => open(&mut draft, &kept),
    }
    draft.decision
}

fn shut(draft: &mut Draft<'_>, wish: GateWish) {
    let op = match &draft.gate {
        Gate::Paused(shut) => {
            let each = shut.set.iter().map(|id| (id.clone(), Ok(Reply::Already))).collect();
            draft.reply(Reply::Gate { op: shut.op, already: true, each });
            return;
        }
        Gate::Pausing(shut) => {
            let (op, before) = (shut.op, shut.wish.clone());
            hasten(draft, op, &before, &wish);
            op
        }
        Gate::Open { told, .. } => {
            if *told {
                // What was on its way back has come as far as this.
                tell_resumed(draft);
            }
            let op = draft.new_op();
            let stops = stopped_by_it(draft);
            draft.house_event(GateEvent::Shut { op, wish, stops });
            op
        }
    };
    await_all(draft, op);
    each_in_hand(draft, stop_one);
    super::deferred::start(draft);
    complete(draft);
    let set = draft.gate.shut().map(|shut| shut.set.clone()).unwrap_or_default();
    let each = set.into_iter().map(|id| (id, Ok(Reply::Pending(op)))).collect();
    draft.reply(Reply::Gate { op, already: false, each });
}

fn await_all(draft: &mut Draft<'_>, op: OpId) {
    draft.house_effect(Effect::SetTimer { key: TimerKey::Gate(op), when: When::After(Span::Gate) });
}

/// Asking again may only make it more urgent. What has failed is tried again.
fn hasten(draft: &mut Draft<'_>, op: OpId, before: &GateWish, wish: &GateWish) {
    let mode = before.mode.max(wish.mode);
    let forces = [before.on_timeout, wish.on_timeout].contains(&OnTimeout::Force);
    let on_timeout = if forces { OnTimeout::Force } else { OnTimeout::Refuse };
    draft.house_event(GateEvent::Hastened { op, mode, on_timeout });
}

/// Those that run, or are about to, and not by a pause or a stop that a person asked for.
fn stopped_by_it(draft: &Draft<'_>) -> Vec<SessionId> {
    let returning = match &draft.gate {
        Gate::Open { returning, .. } => returning.clone(),
        Gate::Pausing(_) | Gate::Paused(_) => BTreeSet::new(),
    };
    let meant = |session: &&Session| match &session.phase {
        Phase::Live | Phase::Starting(_) => session.is_at_work(),
        Phase::Stopping { then: AfterStop::Restart { .. }, .. } => true,
        // It was on its way back.
        Phase::Pausing(_) | Phase::Rest(_) => returning.contains(&session.id),
        Phase::Stopping { .. } | Phase::Chore { .. } => false,
    };
    let mut ids: Vec<_> =
        draft.sessions().filter(meant).map(|session| session.id.clone()).collect();
    ids.sort();
    ids
}

/// Stops the session in hand as the gate wants it, also if it is being paused more gently.
fn stop_one(draft: &mut Draft<'_>) {
    let Some(shut) = draft.gate.shut() else { return };
    let (wish, ours) = (shut.wish.of(&draft.session), shut.set.contains(&draft.session.id));
    if ours && matches!(draft.session.phase, Phase::Pausing(_) | Phase::Starting(_)) {
        // A start that is not called off is paused once it is over.
        pause::begin(draft, wish).ok();
    }
    draft.follow();
}

/// Lets this follow for every session, each of which sees what was decided for those before it.
fn each_in_hand(draft: &mut Draft<'_>, mut each: impl FnMut(&mut Draft<'_>)) {
    let mut ids: Vec<_> = draft.sessions().map(|session| session.id.clone()).collect();
    ids.sort();
    for id in ids {
        if draft.turn_to(&id).is_ok() {
            each(draft);
        }
    }
}

fn open(draft: &mut Draft<'_>, kept: &Kept) {
    let Some(shut) = draft.gate.shut().cloned() else {
        // It stopped nothing: whom a person has paused stays paused.
        let op = draft.new_op();
        draft.reply(Reply::Gate { op, already: true, each: Vec::new() });
        return;
    };
    let source = match kept {
        Kept::Set(_) => GateSource::Snapshot,
        Kept::Missing => GateSource::Missing,
        Kept::FromLog => GateSource::Log,
    };
    let listed = |id: &SessionId| match kept {
        Kept::Set(ids) => ids.contains(id),
        Kept::Missing | Kept::FromLog => true,
    };
    // While it is being shut, nothing was written down yet.
    let paused = matches!(draft.gate, Gate::Paused(_));
    let meant = |id: &&SessionId| !paused || listed(id);
    let set: BTreeSet<SessionId> = shut.set.iter().filter(meant).cloned().collect();
    let comes = |session: &&Session| set.contains(&session.id) && comes_back(session);
    let mut resumes: Vec<_> = draft.sessions().filter(comes).map(|s| s.id.clone()).collect();
    resumes.sort();
    let op = draft.new_op();
    draft.house_event(GateEvent::Opened { op, source, resumes: resumes.clone() });
    draft.house_effect(Effect::DropGate {
        before: op,
        source: if paused { source } else { GateSource::Snapshot },
    });
    let mut each = Vec::new();
    each_in_hand(draft, |draft| {
        if set.contains(&draft.session.id) {
            let reply = bring_back(draft, resumes.contains(&draft.session.id));
            each.push((draft.session.id.clone(), reply));
        }
        draft.follow();
    });
    super::deferred::start(draft);
    complete(draft);
    super::plan::work::begin_ready(draft);
    draft.reply(Reply::Gate { op, already: false, each });
}

/// Whether there is something to resume, or will be once its pause is over.
fn comes_back(session: &Session) -> bool {
    match &session.phase {
        Phase::Rest(Rest::Paused(_)) | Phase::Stopping { then: AfterStop::Pause { .. }, .. } => {
            true
        }
        Phase::Pausing(pause) => {
            !matches!(pause.step, PauseStep::Boundary | PauseStep::Interrupting)
        }
        Phase::Rest(_)
        | Phase::Starting(_)
        | Phase::Live
        | Phase::Stopping { .. }
        | Phase::Chore { .. } => false,
    }
}

/// Calls off its pause, or resumes it. One that can do neither yet is resumed once it is paused.
fn bring_back(draft: &mut Draft<'_>, comes: bool) -> Result<Reply, Refusal> {
    if matches!(draft.session.phase, Phase::Rest(Rest::Paused(_))) {
        return resume(draft);
    }
    if !comes && matches!(draft.session.phase, Phase::Pausing(_)) {
        pause::cancel(draft)?;
    }
    Ok(Reply::Done)
}

/// The time for everything to stop is over. Those that have not are named, and stop all the same.
pub(super) fn time_is_up(mut draft: Draft<'_>, op: OpId) -> Decision {
    let due = matches!(&draft.gate, Gate::Pausing(shut) if shut.op == op && !shut.overdue);
    if due {
        let at_work = draft.stirring().filter(|session| session.is_at_work());
        let mut stuck: Vec<_> = at_work.map(|session| session.id.clone()).collect();
        stuck.sort();
        draft.house_event(GateEvent::Overdue { op, stuck });
    }
    // What could not be written down is tried again.
    complete(&mut draft);
    draft.decision
}

/// What is paused is on the disk, or cannot be.
pub(super) fn kept(mut draft: Draft<'_>, op: OpId, result: Result<(), Why>) -> Decision {
    let due = matches!(&draft.gate, Gate::Pausing(shut)
        if shut.op == op && shut.step == GateStep::Keeping);
    if let (true, Gate::Pausing(shut)) = (due, &draft.gate) {
        let active = shut.set.iter().cloned().collect();
        // What is removed meanwhile is ended first, also where its process only stood still.
        let stirs = draft.stirring().any(Session::is_at_work);
        match if stirs { result.and(Err(Why::FoundRunning)) } else { result } {
            Ok(()) => draft.house_event(GateEvent::Paused { op, active }),
            Err(why) => {
                draft.house_event(GateEvent::NotKept { op, why });
                await_all(&mut draft, op);
            }
        }
    }
    draft.decision
}

/// Every session was told what the world looks like: what the former daemon had begun goes on.
pub(super) fn found(mut draft: Draft<'_>) -> Decision {
    match draft.gate.clone() {
        Gate::Open { .. } => {
            let source = GateSource::Snapshot;
            draft.house_effect(Effect::DropGate { before: draft.house.next_op(), source });
            super::deferred::start(&mut draft);
        }
        // The log has lost its end, and an agent was found that runs: it has to be stopped first.
        Gate::Pausing(Shut { op, step: GateStep::Keeping, .. })
            if draft.stirring().any(Session::is_at_work) =>
        {
            draft.house_event(GateEvent::NotKept { op, why: Why::FoundRunning });
            await_all(&mut draft, op);
            each_in_hand(&mut draft, |draft| {
                draft.follow();
            });
        }
        Gate::Pausing(Shut { op, step: GateStep::Keeping, .. }) => {
            draft.house_effect(Effect::KeepGate { op });
        }
        Gate::Pausing(Shut { op, overdue, .. }) => {
            if !overdue {
                await_all(&mut draft, op);
            }
            each_in_hand(&mut draft, |draft| {
                draft.follow();
            });
        }
        Gate::Paused(_) => {}
    }
    complete(&mut draft);
    super::plan::work::go_on(&mut draft);
    draft.decision
}

/// Pauses the session in hand if it runs although the gate is shut.
pub(super) fn stop_if_shut(draft: &mut Draft<'_>) {
    let Some(shut) = draft.gate.shut() else { return };
    if draft.session.phase != Phase::Live || !may_be_tried(draft) {
        return;
    }
    let mut wish = shut.wish.of(&draft.session);
    // An agent that did not heed an interrupt is waited for.
    if draft.own_events().any(|event| matches!(event, Event::PauseRefused { .. })) {
        wish.mode = PauseMode::Boundary;
    }
    if !shut.set.contains(&draft.session.id) || shut.step == GateStep::Keeping {
        let session = draft.session.id.clone();
        draft.house_event(GateEvent::Joined { session });
    }
    pause::begin_by_itself(draft, wish);
}

/// A pause that has failed would fail again at once. At the end of a turn it may succeed.
fn may_be_tried(draft: &Draft<'_>) -> bool {
    let failed = draft.gate.shut().is_some_and(|shut| shut.failed.contains(&draft.session.id));
    let just_failed =
        |event: &Event| matches!(event, Event::PauseFailed { .. } | Event::PauseBarred { .. });
    let ended = |event: &Event| matches!(event, Event::TurnEnded { .. });
    !failed || (draft.own_events().any(ended) && !draft.own_events().any(just_failed))
}

/// What was paused too late to be called off comes back now that it is paused.
pub(super) fn return_if_open(draft: &mut Draft<'_>) {
    let Gate::Open { returning: set, .. } = &draft.gate else { return };
    let paused = matches!(draft.session.phase, Phase::Rest(Rest::Paused(_)));
    if paused && set.contains(&draft.session.id) {
        // One that cannot be resumed is left as it is.
        resume(draft).ok();
    }
}

/// Goes on with the gate, once what it waits for is so.
pub(super) fn complete(draft: &mut Draft<'_>) {
    match &draft.gate {
        Gate::Pausing(shut) if shut.step == GateStep::Stopping => {
            let op = shut.op;
            // Also one that was at rest is on record as paused first, if it is paused by this.
            let saves = |session: &Session| {
                shut.set.contains(&session.id) && matches!(session.phase, Phase::Pausing(_))
            };
            if !draft.stirring().any(|session| session.is_at_work() || saves(session)) {
                draft.house_event(GateEvent::Stopped { op });
                draft.house_effect(Effect::KeepGate { op });
            }
        }
        Gate::Open { returning: set, told: true, .. } if set.is_empty() => {
            tell_resumed(draft);
        }
        // Whom a person has taken out of it is not to be brought back by the file either.
        Gate::Paused(shut) => {
            let (op, changed) = (shut.op, has_changed(draft));
            if changed {
                draft.house_effect(Effect::KeepGate { op });
            }
        }
        Gate::Pausing(_) | Gate::Open { .. } => {}
    }
}

/// Whether this decision has changed what comes back.
fn has_changed(draft: &Draft<'_>) -> bool {
    draft
        .house_events()
        .any(|event| matches!(event, GateEvent::Joined { .. } | GateEvent::Released { .. }))
}
