//! What keys are about.

use crate::message::Lead;
use glis_wire::view::{SessionRow, WaitingFor};

#[derive(Default)]
pub(crate) struct Hand {
    /// The session, by its id.
    pub(crate) selected: Option<String>,
    /// The entry of a conversation that is to be in sight once it is there: session and time.
    pub(crate) sought: Option<(String, String)>,
    /// A session that is taken in hand once it was looked at: id and name.
    pub(crate) reached: Option<(String, String)>,
    pub(crate) ask: Option<InHand>,
    /// What led to that.
    pub(crate) lead: Option<Lead>,
    /// How far that is scrolled.
    pub(crate) ask_scroll: usize,
    /// The plan that was begun here: its task that runs is in hand until a key is pressed.
    pub(crate) plan: Option<String>,
}

/// A question, as it was shown: it keeps its place when it goes away, until a key moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InHand {
    /// Whose it is: id, name and agent.
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) agent: String,
    pub(crate) repo: String,
    pub(crate) ask: WaitingFor,
    /// How many questions stand above it.
    pub(crate) place: usize,
    /// How many rows of it were painted, from the first on.
    pub(crate) seen: usize,
    /// A yes counts from then on: what came under the hand by itself, or under a key that is held, was not read yet.
    pub(crate) counts_from: u64,
    /// How somebody has answered it, as the events tell.
    pub(crate) answered: Option<String>,
}

impl InHand {
    /// A question that nothing was seen of yet.
    pub(crate) fn of(session: &SessionRow, ask: &WaitingFor, place: usize) -> Self {
        Self {
            id: session.id.clone(),
            name: session.name.clone(),
            agent: session.agent.clone(),
            repo: session.repo_root.clone(),
            ask: ask.clone(),
            place,
            seen: 0,
            counts_from: 0,
            answered: None,
        }
    }

    /// Whether it is this one, by session and request.
    pub(crate) fn is(&self, (id, request): (&str, &str)) -> bool {
        self.id == id && self.ask.request == request
    }
}
