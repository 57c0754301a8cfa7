//! What became of a session whose process has ended while a terminal was attached, in a line.

use super::plain;
use glis_core::Status;
use glis_core::pause::PauseReason;
use glis_wire::view::SessionView;

/// What `attach` says in the last line of the screen.
pub(crate) fn resting(s: &SessionView) -> String {
    let (name, verdict) = (&s.name, &s.verdict);
    let told = match s.status {
        Status::Paused => {
            let rule = s.pause_rule.as_ref().map_or(String::new(), |rule| format!(" ({rule})"));
            let why = s.pause_reason.map_or("", reason);
            let kept = if s.process_kept { ", its process kept," } else { "" };
            format!("`{name}` is paused{kept} {why}{rule}")
        }
        Status::Suspended | Status::Interrupted | Status::Completed => {
            format!("`{name}` is {}: {verdict}", s.status.word())
        }
        Status::Failed => {
            format!("`{name}` has failed: {}", s.failure.as_deref().unwrap_or(verdict))
        }
        Status::Archived => format!("`{name}` was removed; it is in the trash"),
        Status::Pausing => format!("`{name}` is being paused"),
        Status::Resuming if s.operation.as_deref() == Some("restart") => {
            format!("`{name}` is being restarted")
        }
        Status::Resuming => format!("`{name}` is being resumed"),
        Status::Created | Status::Busy | Status::Idle | Status::Waiting => {
            format!("the process of `{name}` has ended")
        }
    };
    plain(&told)
}

fn reason(reason: PauseReason) -> &'static str {
    match reason {
        PauseReason::User => "by a user, with `glis pause`",
        PauseReason::UserInterrupt => "by a user who interrupted its run",
        PauseReason::Resource => "by glis, because memory or processes ran short",
        PauseReason::Error => "by glis, because something failed",
        PauseReason::IdleTimeout => "by glis, because it was idle for long",
        PauseReason::Global => "by a user, with all other sessions",
        PauseReason::RateLimit => "by glis, because the agent's usage limit is reached",
        PauseReason::Budget => "by glis, because the budget is used up",
        PauseReason::Shutdown => "by glis, because the machine shuts down",
        PauseReason::Crash => "by the end of its process",
    }
}
