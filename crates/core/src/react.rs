//! What follows by itself after any decision: an ordered list of rules, a file each.

mod appointment;
mod compact;
pub(crate) mod deferred;
mod deliver;
pub(crate) mod gate;
mod idle;
mod judge;
mod looping;
mod pause;
pub(crate) mod plan;
mod save;
mod usage_limit;
mod wake;

use crate::decision::Decision;
use crate::draft::Draft;

/// Each sees what those before it have decided: what a shut gate or a limit pauses may be safe, a pause
/// that goes on keeps everything else back, a save is of what has ended and not of what is woken, what
/// is woken is handed nothing yet, and only what is handed nothing is idle.
const REACTIONS: [fn(&mut Draft<'_>); 19] = [
    gate::stop_if_shut,
    usage_limit::park,
    plan::stop_if_paused,
    plan::stop_with_session,
    plan::pause_if_failed,
    looping::pause_if_wanted,
    pause::go_on_if_safe,
    save::if_something_ended,
    gate::return_if_open,
    looping::go_on,
    wake::if_wanted,
    deliver::next,
    plan::end_if_done,
    plan::limit_time,
    judge::what_is_asked,
    idle::watch,
    usage_limit::plan,
    appointment::watch,
    compact::if_it_rests,
];

/// Lets everything follow for the session in hand.
pub(crate) fn follow(draft: &mut Draft<'_>) {
    for react in REACTIONS {
        react(draft);
    }
}

/// Lets everything follow that has become possible, and ends the draft.
pub(crate) fn settle(mut draft: Draft<'_>) -> Decision {
    follow(&mut draft);
    settle_house(draft)
}

/// Lets follow for the house what has become possible, and ends the draft.
pub(crate) fn settle_house(mut draft: Draft<'_>) -> Decision {
    deferred::start(&mut draft);
    gate::complete(&mut draft);
    plan::begin_ready(&mut draft);
    draft.decision
}
