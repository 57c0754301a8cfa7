//! What a conversation comes down to, and whether there is anything to make short.

use super::answer::{Answer, trouble};
use super::state::ServerState;
use crate::pools::Kind;
use glis_core::session::{Phase, Rest, Session};
use glis_record::conversation::{self, Plan};
use glis_wire::client::Response;
use glis_wire::view::CompactionView;
use std::io;
use std::path::Path;

/// What a session's conversation comes down to.
pub(super) async fn show(state: &ServerState, given: &str) -> Answer {
    let session = state.find(given).await?;
    let (id, dir) = (session.id.0.clone(), state.views.folder_of(&session));
    let view = state.pools.run_blocking(Kind::Ask, move || view(id, &dir)).await;
    let view = view.map_err(trouble)?.map_err(trouble)?;
    Ok(Response::Compaction(Box::new(view)))
}

fn view(id: String, dir: &Path) -> io::Result<CompactionView> {
    let path = conversation::file_of(dir);
    let (mut entries, mut recent) = (0, Vec::new());
    conversation::each(&path, |entry| {
        entries += 1;
        recent.push(entry);
        // Of a short conversation all of it is told, of a long one the end.
        if recent.len() > conversation::WORTH {
            recent.remove(0);
        }
    })?;
    let kept = conversation::compacted(dir)?;
    if entries >= conversation::WORTH {
        recent.drain(..recent.len().saturating_sub(conversation::RECENT));
    }
    let history = kept.as_ref().map(|kept| kept.summary.clone()).unwrap_or_default();
    let summary = match kept {
        Some(kept) => kept,
        None => conversation::extract(&path)?,
    };
    Ok(CompactionView {
        id,
        summary: summary.summary,
        key_decisions: summary.key_decisions,
        current_state: summary.current_state,
        pending_tasks: summary.pending_tasks,
        recent_messages: recent,
        compacted_history: history,
        entries,
    })
}

/// Answers at once where a session at rest has a short conversation: there is nothing to do, and
/// nothing is written.
pub(super) async fn refuse_needless(state: &ServerState, session: &Session) -> Answer<()> {
    if !matches!(&session.phase, Phase::Rest(rest) if !matches!(rest, Rest::Archived | Rest::Created))
    {
        return Ok(());
    }
    let dir = state.views.folder_of(session);
    let look = move || Plan::of(&dir).map(|plan| plan.is_worth_it());
    match state.pools.run_blocking(Kind::Ask, look).await {
        Ok(Ok(false)) => Err(state.done(&state.known(&session.id).await?, true).await.into()),
        // What cannot be looked at fails with its reason.
        Ok(Ok(true) | Err(_)) | Err(_) => Ok(()),
    }
}
