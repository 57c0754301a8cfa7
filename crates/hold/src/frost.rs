//! How far an agent is stopped in place.

use std::time::Instant;

/// How far an agent is stopped in place.
#[derive(Debug, Default)]
pub(crate) struct Frost {
    pub(crate) state: State,
    /// Whom we have stopped, in this order: number and start.
    pub(crate) stopped: Vec<(i32, u64)>,
}

#[derive(Debug, Default, Clone, Copy)]
pub(crate) enum State {
    #[default]
    None,
    /// It is being stopped, because this client has asked so by this order.
    Spreading { client: u64, order: u64, until: Instant, look_at: Instant },
    /// Nothing of it moves; looked at again at this time, if there is a reason.
    Whole { look_at: Option<Instant> },
}

impl Frost {
    /// When something is due.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        match self.state {
            State::None => None,
            State::Spreading { look_at, .. } => Some(look_at),
            State::Whole { look_at } => look_at,
        }
    }

    /// Whether the agent is stopped, or is being stopped.
    pub(crate) fn is_there(&self) -> bool {
        !matches!(self.state, State::None)
    }

    /// Something has happened to a child: somebody else may have let it go on.
    pub(crate) fn look_again(&mut self) {
        if let State::Whole { look_at } = &mut self.state {
            *look_at = Some(Instant::now());
        }
    }
}
