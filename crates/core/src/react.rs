//! What follows by itself after any decision: an ordered list of rules, a file each.

mod deliver;
mod idle;
mod pause;
mod save;
mod wake;

use crate::decision::Decision;
use crate::draft::Draft;

/// Each sees what those before it have decided: a pause that goes on keeps everything else back, a
/// save is of what has ended and not of what is woken, what is woken is handed nothing yet, and only
/// what is handed nothing is idle.
const REACTIONS: [fn(&mut Draft<'_>); 5] =
    [pause::go_on_if_safe, save::if_something_ended, wake::if_wanted, deliver::next, idle::watch];

/// Lets everything follow for the session in hand.
pub(crate) fn follow(draft: &mut Draft<'_>) {
    for react in REACTIONS {
        react(draft);
    }
}

/// Lets everything follow that has become possible, and ends the draft.
pub(crate) fn settle(mut draft: Draft<'_>) -> Decision {
    follow(&mut draft);
    draft.decision
}
