//! How the next process of a session begins: afresh, or by the conversation that there is.

use crate::adapters::Adapters;
use crate::vault::Vault;
use crate::{conversation, durable, whereabouts};
use glis_agent::{Agent, Approach, Places};
use glis_core::refusal::ResumeFault;
use glis_core::session::Session;
use glis_wire::view::Voice;
use std::path::{Path, PathBuf};

/// How a process begins, and by what.
pub(super) struct Found {
    pub(super) approach: Approach,
    pub(super) transcript: Option<PathBuf>,
    pub(super) vault: Option<Vault>,
    /// A transcript without a message, which keeps the agent from beginning under its id.
    pub(super) in_the_way: Option<PathBuf>,
}

/// How the next process begins. A session id whose transcript is gone, from its place and from the
/// vault, is an error, unless the agent never said anything under it: then there is nothing that
/// could be missing.
pub(super) fn find(
    adapters: &Adapters,
    session: &Session,
    agent: &dyn Agent,
    places: &Places,
    said: &SaidSoFar,
) -> Result<Found, ResumeFault> {
    let fresh =
        Found { approach: Approach::Fresh, transcript: None, vault: None, in_the_way: None };
    let resume = |transcript, vault| Found {
        approach: Approach::Resume,
        transcript,
        vault,
        in_the_way: None,
    };
    let Some(id) = &session.agent_ref else { return Ok(fresh) };
    let Some(place) = agent.transcript(id, places) else {
        // Nothing to look at: what ran before under an id goes on under it.
        return Ok(if session.ran { resume(None, None) } else { fresh });
    };
    let spoke = said.agent_spoke;
    // Of an agent that has spoken, whatever is there is what there is.
    let is_useful =
        |path: &Path| spoke || agent.holds_messages(&durable::read_file(path).unwrap_or_default());
    let found = whereabouts::find(&place);
    if let Some(transcript) = found.clone().filter(|path| is_useful(path)) {
        return Ok(resume(Some(transcript), None));
    }
    let vault = Vault::of(&adapters.home.session(&session.id.0), id);
    if found.is_none() && vault.is_filled() && is_useful(&vault.copy()) {
        return Ok(resume(Some(vault.copy()), Some(vault)));
    }
    if spoke {
        return Err(ResumeFault::NoTranscript(whereabouts::told(&place)));
    }
    Ok(Found { in_the_way: found, ..fresh })
}

/// What the conversation under the present session id of the agent holds.
#[derive(Default)]
pub(super) struct SaidSoFar {
    pub(super) messages: Vec<String>,
    agent_spoke: bool,
}

pub(super) fn said(adapters: &Adapters, session: &Session) -> SaidSoFar {
    let file = conversation::file_of(&adapters.home.session(&session.id.0));
    let current = session.agent_ref.as_deref();
    let mut found = SaidSoFar::default();
    let read = conversation::each(&file, |entry| {
        let of = entry.metadata.get("agent_session_ref").and_then(|id| id.as_str());
        if of != current {
            return;
        }
        match entry.voice {
            // What was said again is one message.
            Voice::User if found.messages.contains(&entry.content) => {}
            Voice::User => found.messages.push(entry.content),
            Voice::Assistant | Voice::Tool => found.agent_spoke = true,
            Voice::System => {}
        }
    });
    // What cannot be read may have been anything.
    found.agent_spoke |= read.is_err();
    found
}
