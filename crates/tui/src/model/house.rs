//! The daemon and what it has of no single session.

use super::Reading;
use crate::message::{Agents, Judged, Told};
use glis_wire::view::TrashView;

pub(crate) struct House {
    pub(crate) access: Access,
    pub(crate) link: Link,
    /// Whether anything may start: `running`, `pausing`, `paused`.
    pub(crate) gate: String,
    pub(crate) last_seq: u64,
    /// The agents that a session can have, once that is known.
    pub(crate) agents: Option<Agents>,
    /// What was removed, as of when that was last looked at.
    pub(crate) trash: Reading<Vec<TrashView>>,
    /// What the rules have said, newest first, as of when that was last looked at.
    pub(crate) judged: Reading<Vec<Judged>>,
}

impl Default for House {
    fn default() -> Self {
        Self {
            access: Access::Full,
            link: Link::Connecting,
            gate: "running".to_owned(),
            last_seq: 0,
            agents: None,
            trash: Reading::Empty,
            judged: Reading::Empty,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Full,
    ReadOnly,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Link {
    Connecting,
    Live,
    Lost(Told),
    /// The daemon was stopped on purpose: it is started by a person, and not by us.
    Stopped,
}
