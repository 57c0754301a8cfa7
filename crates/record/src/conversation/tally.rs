//! How far an agent's list of tasks is, as entries tell it.

use glis_agent::Tally;
use glis_wire::view::Entry;

/// What the entries that tell it have it under.
pub(super) const TALLY: &str = "tally";

/// How far the list is that an entry tells of, if it does.
pub(super) fn tally_of(entry: &Entry) -> Option<Tally> {
    serde_json::from_value(entry.metadata.get(TALLY)?.clone()).ok()
}
