//! All sessions together, and the two functions through which they change.

mod apply;
mod rescue;

use crate::decide;
use crate::effect::Effect;
use crate::event::{Event, Recorded};
use crate::ids::{MessageId, OpId, SessionId};
use crate::input::Input;
use crate::refusal::Refusal;
use crate::session::{Chore, Phase, Session};
use crate::status::Status;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Names this very fold: the sources that it was built from. A state that another one has written
/// down may mean something else here, however well it can be read.
pub const FOLD: &str = env!("GLIS_FOLD");

/// The state of everything: the fold of all events. It can be written down and read again by the
/// same [`FOLD`]; what is to last is the events.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct House {
    sessions: BTreeMap<SessionId, Session>,
    /// Sequence number of the last event that was applied.
    last_seq: u64,
    next_op: u64,
    next_message: u64,
}

/// What an input leads to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Decision {
    /// To be recorded and applied, in this order.
    pub events: Vec<(SessionId, Event)>,
    /// To be carried out once the events are durable.
    pub effects: Vec<(SessionId, Effect)>,
    /// What whoever asked is told.
    pub reply: Reply,
}

/// What whoever asked is told once the events are durable.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Reply {
    /// Nobody asked, or it is done.
    #[default]
    Done,
    /// It was so already.
    Already,
    /// The operation is under way; its end is an event.
    Pending(OpId),
    /// The message has this number and so many are before it.
    Queued {
        /// Its number.
        message: MessageId,
        /// How many stand before it.
        before: usize,
        /// What the session was when it arrived.
        status: Status,
    },
}

impl House {
    /// Says what `input` leads to, and changes nothing.
    pub fn decide(&self, input: Input) -> Result<Decision, Refusal> {
        decide::decide(self, input)
    }

    /// Folds a recorded event into the state.
    pub fn apply(&mut self, recorded: &Recorded) {
        self.last_seq = recorded.seq;
        self.count(&recorded.event);
        apply::apply(&mut self.sessions, recorded);
    }

    /// Sequence number of the last event that was applied.
    pub fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// All sessions that were not removed.
    pub fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.sessions.values().filter(|s| s.status() != Status::Archived)
    }

    /// All sessions, removed ones included.
    pub fn all_sessions(&self) -> impl Iterator<Item = &Session> {
        self.sessions.values()
    }

    /// The removed session that a person means: the last one of that name, or by its id.
    pub fn find_removed(&self, given: &str) -> Result<&Session, Refusal> {
        let removed = || self.sessions.values().filter(|s| s.trashed.is_some());
        let named = removed().filter(|s| s.name == given);
        if let Some(session) = named.max_by_key(|s| s.trashed.as_ref().map(|t| t.at)) {
            return Ok(session);
        }
        let mut like = removed().filter(|s| !given.is_empty() && s.id.0.starts_with(given));
        match (like.next(), like.next()) {
            (Some(session), None) => Ok(session),
            (Some(_), Some(_)) => Err(Refusal::Ambiguous { given: given.to_owned() }),
            (None, _) => Err(Refusal::NotInTrash { given: given.to_owned() }),
        }
    }

    /// Refuses a folder that a process of another session than `own` is at work in, or about to be:
    /// two that write to one worktree undo each other's work.
    pub(crate) fn check_place(&self, place: &str, own: &SessionId) -> Result<(), Refusal> {
        let at_work = |session: &Session| match &session.phase {
            Phase::Starting(_) | Phase::Live | Phase::Stopping { .. } => true,
            Phase::Pausing(_) => session.process.is_some(),
            Phase::Rest(_) | Phase::Chore { .. } => false,
        };
        let stands = |session: &Session| match &session.worktree {
            Some(worktree) => worktree == place,
            // Not made yet, which takes a moment even where there is nothing to make.
            None => session.spec.in_place && session.spec.repo_root == place,
        };
        let others = self.sessions.values().filter(|session| session.id != *own);
        match others.into_iter().find(|session| stands(session) && at_work(session)) {
            Some(other) => {
                let (place, by) = (place.to_owned(), other.name.clone());
                Err(Refusal::PlaceTaken { place, by })
            }
            None => Ok(()),
        }
    }

    /// Whether another session than `own` has this name, or is about to have it.
    pub(crate) fn is_taken(&self, name: &str, own: &SessionId) -> bool {
        self.sessions.values().filter(|session| session.id != *own).any(|session| {
            let returns_as = match &session.phase {
                Phase::Chore { chore: Chore::Return(name), .. } => Some(name),
                Phase::Chore { .. }
                | Phase::Starting(_)
                | Phase::Live
                | Phase::Pausing(_)
                | Phase::Stopping { .. }
                | Phase::Rest(_) => None,
            };
            let has = session.status() != Status::Archived && session.name == name;
            has || returns_as.is_some_and(|returns_as| returns_as == name)
        })
    }

    /// The session with exactly this id.
    pub fn session(&self, id: &SessionId) -> Option<&Session> {
        self.sessions.get(id)
    }

    /// The session that a person means: by name, by id, or by a unique beginning of the id.
    pub fn find(&self, given: &str) -> Result<&Session, Refusal> {
        if let Some(session) = self.sessions().find(|s| s.name == given) {
            return Ok(session);
        }
        if let Some(session) = self.sessions.get(&SessionId(given.to_owned())) {
            return Ok(session);
        }
        let mut like = self.sessions().filter(|s| !given.is_empty() && s.id.0.starts_with(given));
        match (like.next(), like.next()) {
            (Some(session), None) => Ok(session),
            (Some(_), Some(_)) => Err(Refusal::Ambiguous { given: given.to_owned() }),
            (None, _) => Err(Refusal::NoSuchSession { given: given.to_owned() }),
        }
    }

    pub(crate) fn next_op(&self) -> OpId {
        OpId(self.next_op)
    }

    pub(crate) fn next_message(&self) -> MessageId {
        MessageId(self.next_message)
    }

    /// Numbers are never given twice, however often the daemon dies.
    fn count(&mut self, event: &Event) {
        if let Some(OpId(op)) = event.op() {
            self.next_op = self.next_op.max(op + 1);
        }
        if let Event::MessageQueued { message: MessageId(message), .. } = event {
            self.next_message = self.next_message.max(message + 1);
        }
        if let Event::SessionRecovered { card } = event {
            let last = card.queue.iter().map(|message| message.id.0).max();
            self.next_message = self.next_message.max(last.map_or(0, |last| last + 1));
        }
    }
}
