//! Saving the worktree beside any pause: at the end of a turn, of a process, or because somebody
//! asks. None of these holds anything up.

use super::{Draft, end};
use crate::effect::Effect;
use crate::event::Event;
use crate::house::Reply;
use crate::ids::OpId;
use crate::input::Outcome;
use crate::refusal::Refusal;
use crate::safe::ScreenState;
use crate::session::{AfterStop, Phase};
use crate::status::Status;
use crate::tree::Occasion;

pub(super) fn asked(draft: &mut Draft) -> Result<(), Refusal> {
    let put_aside = draft.session.status() == Status::Archived;
    if put_aside || draft.session.worktree.is_none() {
        return Err(draft.wrong_status("snapshot"));
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

/// After a start of the daemon: what somebody waits for is done again, and so is what the end of a
/// process had led to, if nobody has seen it done.
pub(super) fn again(draft: &mut Draft) {
    if let Some(op) = draft.session.saving {
        save(draft, Some(op), Occasion::Asked);
    }
    if draft.session.is_left_unsaved() {
        save(draft, None, Occasion::ProcessEnded);
    }
}

/// Saves what a process has left; `op` waits for it.
pub(super) fn after_end(draft: &mut Draft, op: Option<OpId>) {
    save(draft, op, Occasion::ProcessEnded);
}

fn save(draft: &mut Draft, op: Option<OpId>, occasion: Occasion) {
    let generation = draft.session.generation;
    draft.effect(Effect::SaveWorktree { op, occasion, generation });
}

/// Saves what a turn or a process has left, if this decision has seen the end of one.
pub(super) fn if_something_ended(draft: &mut Draft) {
    if draft.session.worktree.is_none() {
        return;
    }
    let (mut turn, mut process) = (false, false);
    for (_, event) in &draft.decision.events {
        turn |= turn_ended(event);
        process |= matches!(event, Event::ProcessEnded { .. });
    }
    match &draft.session.phase {
        Phase::Live if turn => save(draft, None, Occasion::TurnEnded),
        Phase::Rest(_) if process => save(draft, None, Occasion::ProcessEnded),
        Phase::Live
        | Phase::Rest(_)
        | Phase::Starting(_)
        // A pause saves by itself; what is being stopped is saved when it has ended.
        | Phase::Pausing(_)
        | Phase::Stopping { .. }
        | Phase::Chore { .. } => {}
    }
}

/// Whether the agent has come to a point at which its files are worth keeping.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other event ends a turn")]
fn turn_ended(event: &Event) -> bool {
    match event {
        Event::TurnEnded { .. } => true,
        Event::ScreenJudged { state } => match state {
            ScreenState::AtPrompt { .. } | ScreenState::Asking { .. } | ScreenState::Silent => true,
            ScreenState::Flowing => false,
        },
        _ => false,
    }
}

/// Takes in how a save ended.
#[expect(clippy::wildcard_enum_match_arm, reason = "`take_outcome` sends only these two here")]
pub(super) fn ended(draft: &mut Draft, outcome: Outcome) {
    match outcome {
        Outcome::WorktreeSaved { op, occasion, generation, snapshot }
            if op.is_some() && op == awaited_by_stop(draft) =>
        {
            draft.event(Event::WorktreeSaved { op: None, occasion, generation, snapshot });
            end::go_on(draft);
        }
        Outcome::WorktreeNotSaved { op, occasion, why }
            if op.is_some() && op == awaited_by_stop(draft) =>
        {
            draft.event(Event::WorktreeNotSaved { op: None, occasion, why });
            end::go_on(draft);
        }
        Outcome::WorktreeSaved { op, occasion, generation, snapshot } => {
            if op.is_some() && op != draft.session.saving {
                return;
            }
            // One that changes nothing is news only to whoever asked for it.
            let news = draft.session.snapshot.as_ref() != Some(&snapshot)
                || draft.session.unsaved.is_some()
                || occasion == Occasion::ProcessEnded;
            if op.is_some() || news {
                draft.event(Event::WorktreeSaved { op, occasion, generation, snapshot });
            }
        }
        Outcome::WorktreeNotSaved { op, occasion, why }
            if op.map_or(draft.session.unsaved.as_ref() != Some(&why), |op| {
                draft.session.saving == Some(op)
            }) =>
        {
            draft.event(Event::WorktreeNotSaved { op, occasion, why });
        }
        _ => {}
    }
}

/// The stop that goes on once what its process left is saved.
fn awaited_by_stop(draft: &Draft) -> Option<OpId> {
    match &draft.session.phase {
        Phase::Stopping { op, then: AfterStop::Restart { .. } | AfterStop::Remove, .. }
            if draft.session.process.is_none() =>
        {
            Some(*op)
        }
        Phase::Stopping { .. }
        | Phase::Starting(_)
        | Phase::Live
        | Phase::Pausing(_)
        | Phase::Rest(_)
        | Phase::Chore { .. } => None,
    }
}
