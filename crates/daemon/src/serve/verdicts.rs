//! What the rules have said of what agents asked: picked out of the log here, and which of it a person
//! has seen.

use super::answer::Answer;
use super::state::ServerState;
use crate::peer::Peer;
use crate::pools::Kind;
use crate::view;
use glis_core::redact::redact;
use glis_core::{Event, Recorded, SessionId};
use glis_record::durable;
use glis_wire::call::Face;
use glis_wire::client::Response;
use glis_wire::view::VerdictView;
use std::collections::BTreeMap;
use std::path::Path;

/// Events that are looked through at once.
const EVENTS_READ: u32 = 500;

/// The file in the state folder with the log's name and the number of the last event that a list of all
/// sessions has shown. Looking is no event, and without this file everything is new again.
const SEEN: &str = "verdicts-seen";

/// Tells every verdict of one session or of all, and notes that a person has seen them.
pub(super) async fn tell(
    state: &ServerState,
    peer: &mut Peer,
    given: Option<&str>,
    fresh: bool,
    by: Face,
) -> Answer {
    let only = match given {
        Some(given) => Some(state.find(given).await?.id),
        None => None,
    };
    let (folder, log_id) = (state.home.state.clone(), state.mailbox.log_id());
    let asked = (folder.clone(), log_id.clone());
    let seen = state.pools.run(Kind::Look, move || seen(&asked.0, &asked.1)).await;
    let mut names = Names::default();
    let (mut next, mut last) = (1, seen);
    loop {
        let batch = state.mailbox.read(next, EVENTS_READ).await;
        let Some(end) = batch.last() else { break };
        next = end.seq + 1;
        for recorded in &batch {
            names.note(recorded);
            let Some(view) = names.verdict(recorded, seen) else { continue };
            if only.as_ref().is_some_and(|only| only.0 != view.session) || (fresh && !view.new) {
                continue;
            }
            last = last.max(recorded.seq);
            peer.send(&Response::Verdict(Box::new(view))).await?;
        }
    }
    // A list of one session says nothing about the others, and what a service reads nobody may have seen.
    if only.is_none() && !by.is_service() && last > seen {
        let note = move || durable::replace(&folder, SEEN, format!("{log_id} {last}").as_bytes());
        // Should it fail, they are shown as new once more.
        drop(state.pools.run(Kind::Look, note).await);
    }
    Ok(Response::End)
}

/// The last event that was shown. Under another name of the log its number means nothing.
fn seen(folder: &Path, log_id: &str) -> u64 {
    let known = durable::read_file(&folder.join(SEEN)).unwrap_or_default();
    let known = String::from_utf8(known).unwrap_or_default();
    let number = |(log, seq): (&str, &str)| seq.trim().parse().ok().filter(|_| log == log_id);
    known.split_once(' ').and_then(number).unwrap_or_default()
}

/// What sessions are called, as far as the log was read. A session that was removed for good has a name
/// only there.
#[derive(Default)]
struct Names(BTreeMap<SessionId, String>);

impl Names {
    fn note(&mut self, recorded: &Recorded) {
        let Some(id) = recorded.subject.session() else { return };
        let (Event::SessionCreated { name, .. } | Event::ReturnBegan { name, .. }) =
            &recorded.event
        else {
            return;
        };
        self.0.insert(id.clone(), name.clone());
    }

    /// The verdict that an event tells of, for a person.
    fn verdict(&self, recorded: &Recorded, seen: u64) -> Option<VerdictView> {
        let id = recorded.subject.session()?;
        let Event::AskJudged { ask, text, verdict } = &recorded.event else { return None };
        Some(VerdictView {
            at: view::time(recorded.at),
            session: id.0.clone(),
            name: self.0.get(id).unwrap_or(&id.0).clone(),
            request: ask.0.clone(),
            text: redact(text).into_owned(),
            verdict: verdict.clone(),
            new: recorded.seq > seen,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_counts_for_its_own_log() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(seen(folder.path(), "a"), 0);
        for (text, shown) in [("a 7", 7), ("b 7", 0), ("a x", 0), ("7", 0), ("", 0)] {
            std::fs::write(folder.path().join(SEEN), text).unwrap();
            assert_eq!(seen(folder.path(), "a"), shown, "{text}");
        }
    }
}
