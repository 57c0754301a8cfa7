//! What is said of a usage limit, and of a session that is paused for one.

use glis_core::Status;
use glis_core::pause::PauseReason;
use glis_wire::view::{SessionRow, SessionView};

/// Whether it is paused for a usage limit.
fn is_parked(s: &SessionRow) -> bool {
    s.status == Status::Paused && s.pause_reason == Some(PauseReason::RateLimit)
}

/// What `show` says of a limit that is reached.
pub(super) fn reached(s: &SessionView) -> Option<String> {
    Some(match s.limit_until.as_deref()? {
        "unknown" => "reached; the agent does not say until when".to_owned(),
        until => format!("reached, until {until}"),
    })
}

/// What `show` says of when it goes on.
pub(super) fn resumes(s: &SessionView) -> Option<String> {
    let name = &s.name;
    match &s.resume_at {
        Some(at) if is_parked(s) => {
            Some(format!("by itself, at {at}  (glis resume {name} tries again now)"))
        }
        Some(at) => Some(format!("by itself, at {at}")),
        None => is_parked(s).then(|| format!("not by itself  (glis resume {name} goes on)")),
    }
}

/// What `ls` says where it does not go on by itself.
pub(super) fn stays(s: &SessionRow) -> Option<String> {
    (is_parked(s) && s.resume_at.is_none()).then(|| match s.limit_until.as_deref() {
        None | Some("unknown") => "usage limit; glis resume goes on".to_owned(),
        Some(until) => format!("usage limit until {until}; glis resume goes on"),
    })
}
