//! Saving the worktree beside any pause: at the end of a turn, of a process, or on request.
//! None of these holds anything up.

use crate::decision::Reply;
use crate::draft::Draft;
use crate::effect::Effect;
use crate::event::Event;
use crate::ids::OpId;
use crate::reason::{Verb, Why};
use crate::refusal::Refusal;
use crate::session::Phase;
use crate::status::Status;
use crate::tree::{Occasion, SnapshotRef};

pub(super) fn asked(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    let put_aside = draft.session.status() == Status::Archived;
    if put_aside || draft.session.worktree.is_none() {
        return Err(draft.wrong_status(Verb::Snapshot));
    }
    if matches!(draft.session.phase, Phase::Chore { .. }) {
        return Err(draft.busy());
    }
    if let Some(op) = draft.session.saving {
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
    if let Some(op) = draft.session.saving {
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

pub(crate) fn save(draft: &mut Draft<'_>, op: Option<OpId>, occasion: Occasion) {
    let generation = draft.session.generation;
    draft.effect(Effect::SaveWorktree { op, occasion, generation });
}

/// Takes in that a save has succeeded.
pub(super) fn succeeded(draft: &mut Draft<'_>, saved: Saved) {
    let Saved { op, occasion, generation, snapshot } = saved;
    if op.is_some() && op != draft.session.saving {
        return;
    }
    // One that changes nothing is news only to the caller that asked for it.
    let news = draft.session.snapshot.as_ref() != Some(&snapshot)
        || draft.session.unsaved.is_some()
        || occasion == Occasion::ProcessEnded;
    if op.is_some() || news {
        draft.event(Event::WorktreeSaved { op, occasion, generation, snapshot });
    }
}

/// Takes in that a save has failed.
pub(super) fn failed(draft: &mut Draft<'_>, op: Option<OpId>, occasion: Occasion, why: Why) {
    let news = match op {
        Some(op) => draft.session.saving == Some(op),
        None => draft.session.unsaved.as_ref() != Some(&why),
    };
    if news {
        draft.event(Event::WorktreeNotSaved { op, occasion, why });
    }
}

/// What a save has come to.
pub(super) struct Saved {
    pub(super) op: Option<OpId>,
    pub(super) occasion: Occasion,
    pub(super) generation: u32,
    pub(super) snapshot: SnapshotRef,
}
