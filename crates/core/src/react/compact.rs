//! The conversation of a session that has come to rest is made short when it is not used.

use crate::decide::compact;
use crate::draft::Draft;
use crate::event::Event;

/// Begins to wait if this decision has brought the session to rest.
pub(super) fn if_it_rests(draft: &mut Draft<'_>) {
    let rests = |event: &Event| {
        matches!(event, Event::Paused { .. } | Event::Suspended { .. } | Event::Returned { .. })
    };
    if draft.own_events().any(rests) {
        compact::arm(draft);
    }
}
