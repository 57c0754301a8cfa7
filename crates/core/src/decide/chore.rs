//! What is done with a session's things while nothing runs: restored, put aside, taken back,
//! deleted.

use super::halt;
use crate::decision::Reply;
use crate::draft::Draft;
use crate::effect::Effect;
use crate::event::Event;
use crate::ids::OpId;
use crate::input::{Done, IfRunning};
use crate::reason::{Verb, Why};
use crate::refusal::{InPlaceWish, Refusal};
use crate::session::{AfterStop, Chore, Phase, Rest};
use crate::tree::Occasion;
use crate::{claims, name};

pub(super) fn remove(draft: &mut Draft<'_>, running: IfRunning) -> Result<(), Refusal> {
    match &draft.session.phase {
        Phase::Chore { op, chore: Chore::PutAside, .. }
        | Phase::Stopping { op, then: AfterStop::Remove, .. } => {
            let op = *op;
            draft.reply(Reply::Pending(op));
        }
        Phase::Rest(Rest::Archived) => draft.reply(Reply::Already),
        Phase::Live | Phase::Rest(Rest::Paused(_)) if draft.session.runs() => match running {
            IfRunning::Refuse if draft.session.is_frozen() => {
                return Err(Refusal::ProcessKept { session: draft.session.name.clone() });
            }
            IfRunning::Refuse => return Err(draft.wrong_status(Verb::Remove)),
            IfRunning::Stop => halt::begin(draft, AfterStop::Remove),
        },
        Phase::Live
        | Phase::Starting(_)
        | Phase::Pausing(_)
        | Phase::Stopping { .. }
        | Phase::Chore { .. } => {
            return Err(draft.busy());
        }
        Phase::Rest(_) => {
            let op = draft.new_op();
            put_aside(draft, op);
        }
    }
    Ok(())
}

pub(super) fn put_aside(draft: &mut Draft<'_>, op: OpId) {
    draft.event(Event::RemovalBegan { op });
    again(draft);
}

pub(super) fn restore(draft: &mut Draft<'_>, snapshot: String) -> Result<(), Refusal> {
    match &draft.session.phase {
        Phase::Chore { op, chore: Chore::Restore(under_way), .. } if *under_way == snapshot => {
            let op = *op;
            draft.reply(Reply::Pending(op));
        }
        Phase::Live | Phase::Rest(Rest::Archived) => return Err(draft.wrong_status(Verb::Restore)),
        Phase::Starting(_) | Phase::Pausing(_) | Phase::Stopping { .. } | Phase::Chore { .. } => {
            return Err(draft.busy());
        }
        Phase::Rest(_) if draft.session.is_frozen() => {
            return Err(Refusal::ProcessKept { session: draft.session.name.clone() });
        }
        Phase::Rest(_) if draft.session.spec.in_place => {
            let session = draft.session.name.clone();
            return Err(Refusal::InPlace { session, wish: InPlaceWish::Restore });
        }
        Phase::Rest(_) => {
            let op = draft.new_op();
            draft.event(Event::RestoreBegan { op, snapshot });
            again(draft);
        }
    }
    Ok(())
}

/// Takes a session out of the trash, unless its name has another bearer by now.
pub(super) fn bring_back(draft: &mut Draft<'_>, name: Option<String>) -> Result<(), Refusal> {
    match &draft.session.phase {
        Phase::Chore { op, chore: Chore::Return(_), .. } => {
            let op = *op;
            draft.reply(Reply::Pending(op));
            return Ok(());
        }
        Phase::Rest(Rest::Archived) if draft.session.upkeep.trashed.is_some() => {}
        Phase::Chore { .. } => return Err(draft.busy()),
        Phase::Rest(_)
        | Phase::Starting(_)
        | Phase::Live
        | Phase::Pausing(_)
        | Phase::Stopping { .. } => return Err(draft.wrong_status(Verb::Return)),
    }
    let name = name.unwrap_or_else(|| draft.session.name.clone());
    name::check(&name).map_err(|why| Refusal::BadName { name: name.clone(), why })?;
    if claims::is_taken(draft.sessions(), &name, &draft.session.id) {
        return Err(Refusal::NameTaken { name });
    }
    let op = draft.new_op();
    draft.event(Event::ReturnBegan { op, name });
    again(draft);
    Ok(())
}

pub(super) fn empty(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    match &draft.session.phase {
        Phase::Chore { op, chore: Chore::Empty, .. } => {
            let op = *op;
            draft.reply(Reply::Pending(op));
        }
        Phase::Rest(Rest::Archived) if draft.session.upkeep.trashed.is_none() => {
            draft.reply(Reply::Already);
        }
        Phase::Rest(Rest::Archived) => {
            let op = draft.new_op();
            draft.event(Event::EmptyingBegan { op });
            again(draft);
        }
        Phase::Chore { .. } => return Err(draft.busy()),
        Phase::Rest(_)
        | Phase::Starting(_)
        | Phase::Live
        | Phase::Pausing(_)
        | Phase::Stopping { .. } => return Err(draft.wrong_status(Verb::Empty)),
    }
    Ok(())
}

/// Does the chore that is under way; also after a crash, for each may be done twice.
pub(super) fn again(draft: &mut Draft<'_>) {
    let Phase::Chore { op, chore, .. } = draft.session.phase.clone() else { return };
    draft.effect(Effect::DoChore { op, chore });
}

/// Takes in how a chore ended, if it is the one that is under way.
pub(super) fn ended(draft: &mut Draft<'_>, op: OpId, result: Result<Done, Why>) {
    let Phase::Chore { op: own, chore, .. } = &draft.session.phase else { return };
    if *own != op {
        return;
    }
    let event = match (chore, result) {
        (Chore::PutAside, Ok(Done::PutAside { place })) => Event::Archived { op, place },
        (Chore::PutAside, Err(why)) => Event::RemovalFailed { op, why },
        (Chore::Restore(_), Ok(Done::Restored { snapshot, notes })) => {
            Event::WorktreeRestored { op, snapshot, notes }
        }
        (Chore::Restore(_), Err(why)) => Event::RestoreFailed { op, why },
        (Chore::Return(_), Ok(Done::BroughtBack)) => Event::Returned { op },
        (Chore::Return(_), Err(why)) => Event::ReturnFailed { op, why },
        (Chore::Empty, Ok(Done::Emptied)) => {
            tell_emptied(draft);
            Event::Emptied { op }
        }
        (Chore::Empty, Err(why)) => Event::EmptyingFailed { op, why },
        (Chore::PutAside | Chore::Restore(_) | Chore::Return(_) | Chore::Empty, Ok(_)) => return,
    };
    draft.event(event);
}

/// Nothing is left of it, so a caller that waits for a save of it is told now.
fn tell_emptied(draft: &mut Draft<'_>) {
    let why = Why::TrashEmptied;
    if let Some(saving) = draft.session.upkeep.saving {
        let (op, occasion) = (Some(saving), Occasion::Asked);
        draft.event(Event::WorktreeNotSaved { op, occasion, why: why.clone() });
    }
    if let Some(asked) = draft.session.upkeep.compaction.asked {
        draft.event(Event::CompactionFailed { op: Some(asked), why });
    }
}
