//! What is looked for among all sessions in every decision, found without a look at each of them: a
//! plan leaves a session behind for every task that is done.

use crate::ids::SessionId;
use crate::session::Session;
use crate::status::Status;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Which sessions do something, which go on by themselves, and which have a name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Index {
    stirring: BTreeSet<SessionId>,
    going_on: BTreeSet<SessionId>,
    named: BTreeSet<(String, SessionId)>,
}

/// What the index has of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    stirs: bool,
    goes_on: bool,
    name: Option<String>,
    /// The name that it is about to have.
    returns_as: Option<String>,
}

impl Entry {
    pub(crate) fn of(session: &Session) -> Self {
        let returns_as = session.returns_as().cloned();
        let name = (session.status() != Status::Archived).then(|| session.name.clone());
        let goes_on = session.goes_on_by_itself();
        Self { stirs: session.stirs(), goes_on, name, returns_as }
    }

    fn names(&self) -> impl Iterator<Item = &String> {
        self.name.iter().chain(&self.returns_as)
    }
}

impl Index {
    /// A session has become something else.
    pub(crate) fn change(&mut self, id: &SessionId, was: &Entry, is: &Entry) {
        if was == is {
            return;
        }
        if is.stirs {
            self.stirring.insert(id.clone());
        } else {
            self.stirring.remove(id);
        }
        if is.goes_on {
            self.going_on.insert(id.clone());
        } else {
            self.going_on.remove(id);
        }
        for name in was.names() {
            self.named.remove(&(name.clone(), id.clone()));
        }
        for name in is.names() {
            self.named.insert((name.clone(), id.clone()));
        }
    }

    /// Whether it has what a look at every session finds.
    pub(crate) fn is_of<'s>(&self, sessions: impl Iterator<Item = &'s Session>) -> bool {
        let mut fresh = Self::default();
        for session in sessions {
            fresh.change(&session.id, &Entry::default(), &Entry::of(session));
        }
        *self == fresh
    }

    /// Sessions of which something is under way, or which wait for their turn.
    pub(crate) fn stirring(&self) -> impl Iterator<Item = &SessionId> {
        self.stirring.iter()
    }

    pub(crate) fn goes_on(&self) -> bool {
        !self.going_on.is_empty()
    }

    /// Sessions that have this name, or are about to.
    pub(crate) fn named(&self, name: &str) -> impl Iterator<Item = &SessionId> {
        let first = (name.to_owned(), SessionId(String::new()));
        self.named.range(first..).take_while(move |entry| entry.0 == name).map(|entry| &entry.1)
    }
}
