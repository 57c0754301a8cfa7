//! What holds in every state, and of every event and effect that leads to one.

use crate::reasons;
use crate::state::State;
use glis_core::effect::Effect;
use glis_core::gate::GateStep;
use glis_core::pause::PauseStep;
use glis_core::session::AfterStop;
use glis_core::talk::Delivery;
use glis_core::{Event, Gate, House, Phase, Recorded, Session, Subject};
use std::collections::BTreeSet;

type Verdict = Result<(), String>;

fn must(holds: bool, otherwise: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// Judges an event by the session that it is recorded for.
pub(crate) fn event(before: &Session, event: &Event) -> Verdict {
    let id = &before.id;
    if let Event::Paused { op } = event {
        if let Phase::Stopping { then: AfterStop::StayPaused(_), .. } = &before.phase {
            return must(!before.runs(), || format!("{id}: stopped with a process"));
        }
        let Phase::Pausing(pause) = &before.phase else {
            return Err(format!("{id}: paused out of {:?}", before.phase));
        };
        must(pause.op == *op, || format!("{id}: another pause has ended"))?;
        let may_run = before.spec.keep_process && pause.step == PauseStep::Sealing;
        must(!before.runs() || may_run, || format!("{id}: paused with a process"))?;
        must(before.starts.leftovers.trouble().is_none(), || {
            format!("{id}: paused with leftovers")
        })?;
        let saved = match pause.step {
            PauseStep::Saving => pause.from.is_some(),
            PauseStep::Sealing | PauseStep::Clearing => true,
            PauseStep::Boundary
            | PauseStep::Interrupting
            | PauseStep::Capturing
            | PauseStep::Freezing
            | PauseStep::Ending => false,
        };
        must(saved, || format!("{id}: paused and not saved, at {:?}", pause.step))?;
    }
    if let Event::EndBegan { .. } | Event::FreezeBegan { .. } = event {
        let saved = !reasons::step_of(before).is_some_and(|step| step != PauseStep::Saving);
        must(saved, || format!("{id}: ended before it was saved"))?;
    }
    if let Some((op, _)) = event.ends() {
        let under_way = before.operation().is_some_and(|(own, _)| own == op);
        let asked = [before.upkeep.saving, before.upkeep.compaction.asked].contains(&Some(op));
        // A stop that finds nothing to wait for is over as soon as it has begun.
        let at_once = matches!(event, Event::Suspended { .. });
        must(under_way || asked || at_once, || format!("{id}: {op:?} ends and was not under way"))?;
    }
    Ok(())
}

/// Judges an event by the gate as it was, and by the house as it is.
pub(crate) fn gate_event(before: &Gate, house: &House, recorded: &Recorded) -> Verdict {
    reasons::judge_gate(before, house, recorded)?;
    reasons::judge_limits(before, house, recorded)
}

/// Judges an effect by what is durable when it is dispatched.
pub(crate) fn effect(house: &House, subject: &Subject, effect: &Effect) -> Verdict {
    if *subject == Subject::House {
        let reason = reasons::house_has_reason(house, effect);
        return must(reason, || format!("{effect:?} has no durable reason in {:?}", house.gate()));
    }
    let session = subject.session().and_then(|id| house.session(id));
    let Some(session) = session else { return Err(format!("{effect:?} for {subject}")) };
    must(reasons::has_reason(session, effect), || {
        format!("{effect:?} has no durable reason in {:?}", session.phase)
    })
}

/// Judges the house as it stands.
pub(crate) fn house(house: &House) -> Verdict {
    let mut names = BTreeSet::new();
    for session in house.sessions() {
        must(names.insert(&session.name), || format!("two are named {}", session.name))?;
    }
    let mut folders = BTreeSet::new();
    for session in house.all_sessions() {
        stands(session)?;
        if session.runs() && !session.is_frozen() {
            let folder = session.place.worktree.as_ref();
            must(folders.insert(folder), || format!("two are at work in {folder:?}"))?;
        }
    }
    Ok(())
}

fn stands(session: &Session) -> Verdict {
    let id = &session.id;
    if let Phase::Rest(_) | Phase::Chore { .. } = &session.phase {
        let kept = session.spec.keep_process && session.is_frozen();
        must(!session.runs() || kept, || format!("{id}: rests with a process"))?;
    }
    let ahead = session.talk.queue.iter().skip(1).all(|m| m.delivery != Delivery::Sent);
    must(ahead, || format!("{id}: more than one message on its way"))?;
    must(session.starts.set_aside.is_none() || session.operation().is_some(), || {
        format!("{id}: something is set aside and no restart is under way")
    })
}

/// Judges whether everything that is under way can come to an end: something was dispatched for it, a
/// timer is set, or a process runs that can end.
pub(crate) fn goes_on(state: &State) -> Verdict {
    for site in &state.sites {
        let Some(session) = state.house.session(&site.id) else { continue };
        if session.operation().is_none() {
            continue;
        }
        let dispatched = state.pending.iter().any(|(subject, _)| subject.is(&site.id));
        let timed = state.timers.iter().any(|(subject, _)| subject.is(&site.id));
        must(dispatched || timed || site.alive.is_some(), || {
            format!("{}: nothing will ever end {:?}", site.id, session.phase)
        })?;
    }
    let at_work = state.house.all_sessions().filter(|session| session.is_at_work()).count();
    if state.house.gate().shut().is_none() && !state.house.limits().are_reached_by(at_work) {
        let waits = state.house.all_sessions().find(|session| {
            session.starts.deferred.is_some() && matches!(session.phase, Phase::Rest(_))
        });
        must(waits.is_none(), || format!("{waits:?} waits for nothing"))?;
    }
    if let Gate::Pausing(shut) = state.house.gate() {
        let about_it = |(subject, _): &(Subject, _)| *subject == Subject::House;
        let kept = state.pending.iter().any(about_it);
        let at_work = state.house.all_sessions().any(Session::is_at_work);
        // What could not be written down waits for a person.
        let waits = shut.step == GateStep::Stopping && state.house.last_seq() > 0;
        must(kept || at_work || waits, || format!("nothing will ever end {shut:?}"))?;
    }
    Ok(())
}
