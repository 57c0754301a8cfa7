//! The worktree is saved when a turn or a process has ended.

use crate::decide::save::save;
use crate::draft::Draft;
use crate::event::Event;
use crate::safe::ScreenState;
use crate::session::Phase;
use crate::tree::Occasion;

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
fn turn_ended(event: &Event) -> bool {
    let rests = |state: &ScreenState| *state != ScreenState::Flowing;
    matches!(event, Event::TurnEnded { .. })
        || matches!(event, Event::ScreenJudged { state } if rests(state))
}
