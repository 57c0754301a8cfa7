//! Requests from inside a session. A terminal that shows itself feeds itself for ever, and so do two
//! that show each other.

use crate::panics::held;
use glis_core::event::{Event, Recorded};
use glis_core::session::Session;
use glis_core::{Refusal, SessionId};
use glis_os::process::{parent_of, runs, start_ticks, variables_of};
use glis_wire::hold::MARK;
use std::sync::Arc;
use std::sync::Mutex;

/// More ancestors than this has no process; a circle cannot be excluded while they come and go.
const ANCESTORS_MAX: usize = 256;

/// The processes inside sessions that show other sessions. A terminal that shows a session reads
/// from its holder and outlives the daemon; the next daemon does not know of it.
#[derive(Default)]
pub(crate) struct Watches(Mutex<Vec<Watch>>);

struct Watch {
    pid: i32,
    began: u64,
    /// The sessions that the process runs in: one, or one inside the other.
    inside: Vec<SessionId>,
    shown: Shown,
}

#[derive(PartialEq, Eq)]
enum Shown {
    /// The output of a session.
    Session(SessionId),
    /// What happens to all of them.
    Events,
}

impl Watches {
    /// Notes that a process shows a session, unless output would come back to where it came from.
    /// `sessions` are all that may run.
    pub(super) fn begin(
        &self,
        sessions: &[Arc<Session>],
        target: &Session,
        pid: i32,
    ) -> Result<(), Refusal> {
        let inside = around(pid, sessions);
        if inside.is_empty() {
            return Ok(());
        }
        if inside.contains(&target.id) {
            return Err(Refusal::AttachedToItself { session: target.name.clone() });
        }
        let mut watches = held(&self.0);
        watches.retain(|watch| runs(watch.pid, watch.began));
        if let Some(shown) = reached(&watches, &target.id).iter().find(|id| inside.contains(id)) {
            let name_of = |id: &SessionId| {
                let found = sessions.iter().find(|session| session.id == *id);
                found.map_or_else(|| id.0.clone(), |session| session.name.clone())
            };
            let session = target.name.clone();
            return Err(Refusal::ShowsCaller { session, inside: name_of(shown) });
        }
        if let Some(began) = start_ticks(pid) {
            watches.push(Watch { pid, began, inside, shown: Shown::Session(target.id.clone()) });
        }
        Ok(())
    }

    /// Notes that a process follows the events. True if it runs in a session.
    pub(super) fn begin_events(&self, sessions: &[Arc<Session>], pid: i32) -> bool {
        let inside = around(pid, sessions);
        let Some(began) = start_ticks(pid).filter(|_| !inside.is_empty()) else { return false };
        let mut watches = held(&self.0);
        watches.retain(|watch| runs(watch.pid, watch.began));
        watches.push(Watch { pid, began, inside, shown: Shown::Events });
        true
    }

    /// Whether an event tells of nothing but that events were printed: that the screen of a session
    /// moved in which they are followed, or came to rest again.
    pub(super) fn is_echo(&self, recorded: &Recorded) -> bool {
        if !matches!(recorded.event, Event::ScreenJudged { .. }) {
            return false;
        }
        let watches = held(&self.0);
        let mut followers = watches.iter().filter(|watch| watch.shown == Shown::Events);
        followers.any(|watch| watch.inside.iter().any(|id| recorded.subject.is(id)))
    }
}

/// The sessions whose output is part of that of `from`, because a process inside it shows them, or
/// shows one that does.
fn reached(watches: &[Watch], from: &SessionId) -> Vec<SessionId> {
    let mut found = vec![from.clone()];
    let mut next = 0;
    while let Some(at) = found.get(next).cloned() {
        let shown = watches.iter().filter(|watch| watch.inside.contains(&at));
        for watch in shown {
            if let Shown::Session(target) = &watch.shown
                && !found.contains(target)
            {
                found.push(target.clone());
            }
        }
        next += 1;
    }
    found
}

/// The sessions that a process runs in: it, or one that it descends from, carries the mark or is
/// the agent or its holder. A cleared environment or a session of its own does not hide it.
fn around(pid: i32, sessions: &[Arc<Session>]) -> Vec<SessionId> {
    let mut family = Vec::new();
    let mut marks = Vec::new();
    let mut at = pid;
    while at > 1 && family.len() < ANCESTORS_MAX {
        family.push(at);
        marks.extend(mark_of(at));
        let Some(parent) = parent_of(at) else { break };
        at = parent;
    }
    let is_around = |session: &&Arc<Session>| {
        // A process may ask before it is on record that it runs: then the mark alone tells.
        let agent = session.process().map(|agent| agent.pid);
        let holder = || agent.and_then(parent_of).filter(|parent| *parent > 1);
        marks.contains(&session.id)
            || agent.is_some_and(|agent| family.contains(&agent))
            || holder().is_some_and(|holder| family.contains(&holder))
    };
    sessions.iter().filter(is_around).map(|session| session.id.clone()).collect()
}

/// The session that the environment of a process names.
fn mark_of(pid: i32) -> Option<SessionId> {
    let (_, id) = variables_of(pid)?.into_iter().find(|(name, _)| name == MARK)?;
    Some(SessionId(id.to_string_lossy().into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> SessionId {
        SessionId(name.to_owned())
    }

    #[test]
    fn what_is_shown_by_way_of_others_is_reached() {
        let watch = |inside: &str, target: &str| Watch {
            pid: 0,
            began: 0,
            inside: vec![id(inside)],
            shown: Shown::Session(id(target)),
        };
        let watches = [watch("a", "b"), watch("b", "c"), watch("c", "d"), watch("d", "b")];
        assert_eq!(reached(&watches, &id("a")), ["a", "b", "c", "d"].map(id));
        assert_eq!(reached(&watches, &id("c")), ["c", "d", "b"].map(id));
        assert_eq!(reached(&watches, &id("x")), [id("x")]);
    }
}
