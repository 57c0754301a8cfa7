//! Ending an agent although the log cannot be written: a full disk is no reason to let it run on.
//!
//! Nothing of it is on record. The next daemon that can write finds the agent ended, and records what
//! it finds; that is never a pause.

use super::state::ServerState;
use crate::holder::{AT_ONCE, await_former, evict, is_held, meet, order_end};
use crate::pools::Kind;
use crate::sweep::sweep;
use glis_core::pause::PauseMode;
use glis_core::{Command, Session};
use glis_wire::client::{Response, Trouble};
use glis_wire::hold::{Children, Ladder};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::timeout;
use tracing::warn;

/// What a holder needs beside its ladder: to hear of it, to see who is left, and to tell.
const BESIDE_LADDER: Duration = Duration::from_secs(6);

/// How an agent is ended by a command, if it is ended whatever happens.
pub(super) fn ladder_of(state: &ServerState, command: &Command) -> Option<Ladder> {
    let terminate_ms = state.settings.now().pause.terminate_secs.saturating_mul(1000);
    if matches!(command, Command::Stop { .. }) {
        return Some(Ladder { interrupt_ms: 0, terminate_ms });
    }
    let forced = matches!(command, Command::Pause { wish, .. } if wish.mode == PauseMode::Force);
    forced.then_some(AT_ONCE)
}

/// Ends a session's processes without the log, and tells what was done.
pub(super) async fn end(state: &ServerState, session: &Session, ladder: Ladder) -> Response {
    let dir = state.home.session(&session.id.0);
    let granted = Duration::from_millis(u64::from(ladder.terminate_ms)) + BESIDE_LADDER;
    let asked = async {
        let (peer, _) = meet(&dir).await.ok()?;
        order_end(peer, ladder, Children::StopAll).await.ok()
    };
    drop(timeout(granted, asked).await);
    let (own, home, runtime) = (session.clone(), state.home.clone(), Handle::current());
    let sweep = move || {
        await_former(&dir);
        if is_held(&dir, &own) {
            drop(evict(&runtime, &home, &own));
        }
        sweep(&dir, &own)
    };
    let left = state.pools.run_blocking(Kind::End, sweep).await;
    let trouble = left.map_or_else(|why| Some(why.into()), |left| left.trouble());
    let process = session.process().map(|process| (process.pid, process.start_ticks));
    let alive = process.filter(|(pid, ticks)| glis_os::process::runs(*pid, *ticks));
    let name = &session.name;
    let done = match (process, alive, trouble) {
        (_, Some((pid, _)), _) => format!("the agent of `{name}` could not be ended (pid {pid})"),
        (_, None, Some(why)) => format!("the agent of `{name}` has ended, but: {why}"),
        (Some((pid, _)), None, None) => {
            format!(
                "`{name}` runs no more: its agent (pid {pid}) and all that it started have ended"
            )
        }
        (None, None, None) => format!("`{name}` runs no process"),
    };
    let message = format!(
        "{done}. That could not be written down, and its worktree was not saved: the event log \
         cannot be written. Once it can, the session is shown as it is found"
    );
    warn!(session = %session.id, "{message}");
    Response::Trouble { kind: Trouble::Storage, message }
}
