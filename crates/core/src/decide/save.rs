//! Saving the worktree beside any pause: at the end of a turn, of a process, or on request.
//! None of these holds anything up.

use crate::decision::Reply;
use crate::draft::Draft;
use crate::effect::Effect;
use crate::event::Event;
use crate::ids::OpId;
use crate::reason::{Verb, Why};
use crate::refusal::Refusal;
use crate::safe::ScreenState;
use crate::session::{Phase, Session};
use crate::status::Status;
use crate::tree::{Occasion, SnapshotRef};

pub(super) fn asked(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    let put_aside = draft.session.status() == Status::Archived;
    if put_aside || draft.session.place.worktree.is_none() {
        return Err(draft.wrong_status(Verb::Snapshot));
    }
    if matches!(draft.session.phase, Phase::Chore { .. }) {
        return Err(draft.busy());
    }
    if let Some(op) = draft.session.upkeep.saving {
        draft.reply(Reply::Pending(op));
        return Ok(());
    }
    let op = draft.new_op();
    draft.event(Event::SaveBegan { op });
    save(draft, Some(op), Occasion::Asked);
    Ok(())
}

/// After a start of the daemon: what a caller waits for is done again, and so is what the end of a
/// process had led to, if it is not known to be done.
pub(super) fn again(draft: &mut Draft<'_>) {
    if let Some(op) = draft.session.upkeep.saving {
        save(draft, Some(op), Occasion::Asked);
    }
    if draft.session.is_left_unsaved() {
        save(draft, None, Occasion::ProcessEnded);
    }
}

/// Saves what a process has left; `op` waits for it.
pub(super) fn after_end(draft: &mut Draft<'_>, op: Option<OpId>) {
    save(draft, op, Occasion::ProcessEnded);
}

pub(super) fn save(draft: &mut Draft<'_>, op: Option<OpId>, occasion: Occasion) {
    let generation = draft.session.agent.generation;
    draft.effect(Effect::SaveWorktree { op, occasion, generation });
}

/// Whether what came of a save is told: always to the caller that waits for it, else if it is new.
pub(super) fn is_news(
    session: &Session,
    op: Option<OpId>,
    occasion: Occasion,
    result: &Result<SnapshotRef, Why>,
) -> bool {
    if op.is_some() {
        return op == session.upkeep.saving;
    }
    match result {
        Ok(snapshot) => {
            session.saved.snapshot.as_ref() != Some(snapshot)
                || session.upkeep.unsaved.is_some()
                || occasion == Occasion::ProcessEnded
        }
        Err(why) => session.upkeep.unsaved.as_ref() != Some(why),
    }
}

/// Saves what a turn or a process has left, if this decision has seen the end of one.
pub(super) fn if_something_ended(draft: &mut Draft<'_>) {
    if draft.session.place.worktree.is_none() {
        return;
    }
    let (mut turn, mut process) = (false, false);
    for event in draft.own_events() {
        turn |= turn_ended(event);
        process |= matches!(event, Event::ProcessEnded { .. });
    }
    // A pause saves by itself; what is being stopped is saved when it has ended.
    if turn && draft.session.phase == Phase::Live {
        save(draft, None, Occasion::TurnEnded);
    } else if process && matches!(draft.session.phase, Phase::Rest(_)) {
        save(draft, None, Occasion::ProcessEnded);
    }
}

/// Whether the agent has come to a point at which its files are worth keeping.
fn turn_ended(event: &Event) -> bool {
    let rests = |state: &ScreenState| *state != ScreenState::Flowing;
    matches!(event, Event::TurnEnded { .. })
        || matches!(event, Event::ScreenJudged { state } if rests(state))
}
