//! The tests of the whole: stories, frames, chaos; and sessions for them.

mod asking;
mod boxes;
mod calls;
mod chaos;
mod desk;
mod drafts;
mod forms;
mod frames;
mod hands;
mod house;
mod loops;
mod plans;
mod reader;
mod removed;
mod sizes;
mod stories;
mod trust;
mod views;

use glis_core::Status;
use glis_wire::view::{SessionRow, SessionView};

/// A session as the daemon tells it, with nothing in it that is worth telling.
const PLAIN: &str = r#"{
    "id": "", "name": "", "status": "idle", "agent": "claude", "mode": "terminal",
    "agent_session_ref": null, "resumable": true, "repo_root": "/home/ada/src/app",
    "worktree": null, "branch": null, "pid": null, "created_at": "2026-01-01T00:00:00Z",
    "last_active_at": "2026-01-01T00:00:00Z", "paused_at": null, "pause_reason": null,
    "resumed_at": null, "idle_timeout_secs": 600, "can_pause": true, "can_resume": false,
    "snapshot": null, "conversation_summary": null, "last_action": null, "pending_tasks": [],
    "queued": 0, "waiting_for": null, "auto_yes": false, "generation": 1,
    "last_accessed_at": "2026-01-02T00:00:00Z", "seen": true, "verdict": "", "operation": null, "failure": null,
    "cut_off": false, "limit_until": null, "killed": [], "warnings": [], "pause_rule": null,
    "argv": [], "model": null, "persona": null, "in_place": false, "attached": 0,
    "output_gap_at": null, "env_names": []
}"#;

/// Everything about a session, as the daemon answers with it.
pub(crate) fn whole(row: SessionRow) -> Box<SessionView> {
    let plain: SessionView = serde_json::from_str(PLAIN).unwrap();
    Box::new(SessionView { row, ..plain })
}

/// A session of this name and status.
pub(crate) fn session(name: &str, status: Status) -> SessionRow {
    let plain: SessionRow = serde_json::from_str(PLAIN).unwrap();
    SessionRow {
        id: format!("id-{name}"),
        name: name.to_owned(),
        status,
        worktree: Some(format!("/home/ada/trees/{name}")),
        branch: Some(format!("glis/{name}")),
        ..plain
    }
}
