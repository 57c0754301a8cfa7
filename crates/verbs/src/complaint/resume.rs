//! Complaints about a session whose process cannot be started.

use super::{Complaint, Kind};
use glis_core::refusal::{ResumeFault, Site};

/// A session that cannot be resumed.
pub(super) struct Unresumable {
    pub(super) session: String,
    pub(super) agent: String,
    pub(super) agent_ref: Option<String>,
    pub(super) site: Site,
}

pub(super) fn not_resumable(who: &Unresumable, why: &ResumeFault) -> Complaint {
    told(Kind::NotResumable(why.word()), "cannot be resumed", who, why)
}

/// The first start of a session that was just made.
pub(super) fn not_started(who: &Unresumable, why: &ResumeFault) -> Complaint {
    told(Kind::Failed, "was made, but not started", who, why)
}

fn told(kind: Kind, what: &str, who: &Unresumable, why: &ResumeFault) -> Complaint {
    let Unresumable { session, agent, agent_ref, site } = who;
    let mend = match why {
        ResumeFault::NoRef | ResumeFault::Rejected(_) => None,
        ResumeFault::WrongRoot(_) => Some(
            "move away what is there and resume again: the worktree is then restored from its snapshot \
             (or, if the repository was moved, move it back)",
        ),
        ResumeFault::NoDirectory(_) => Some(match site {
            Site::Worktree => "no snapshot holds it; bring it back with `git worktree add`",
            Site::InPlace => {
                "it works in your own folder: put that back, or make it anew, and resume"
            }
        }),
        ResumeFault::NotInstalled(_) => Some("install it or fix PATH, and resume again"),
        ResumeFault::WrongVersion(_) => Some("install another version and resume again"),
        ResumeFault::NoTranscript(_) => Some("put the file back and resume again"),
        ResumeFault::Locked(_) => Some("end that process, then resume again"),
        ResumeFault::NotReady(_) => Some("`glis screen` shows what it said; nothing was lost"),
        ResumeFault::System(_) => Some("nothing was lost; retry"),
        ResumeFault::NotRestored(_) => Some(
            "nothing was lost; repair the repository and resume again, or see `glis snapshots` \
                  for what else `glis restore` can bring back",
        ),
        ResumeFault::NoTerminal(_) => {
            Some("nothing was lost; `glis doctor` shows what is missing; then resume again")
        }
    };
    let id = agent_ref.as_deref().unwrap_or("none");
    let restart = format!("`glis restart {session}` begins a fresh conversation");
    let hint = mend.map_or(restart.clone(), |mend| format!("{mend}; {restart}"));
    let lead = lead(agent, why);
    Complaint::new(
        kind,
        format!("{lead}: session `{session}` {what}: {why} (agent {agent}, session id {id})"),
    )
    .hint(hint)
}

/// The step of a resume that failed.
fn lead(agent: &str, why: &ResumeFault) -> String {
    match why {
        ResumeFault::NoDirectory(_) | ResumeFault::WrongRoot(_) => {
            "failed to recreate worktree".to_owned()
        }
        ResumeFault::NotRestored(_) => "failed to restore stash".to_owned(),
        ResumeFault::NoTerminal(_) => "failed to create tmux session".to_owned(),
        ResumeFault::NoTranscript(_) => "failed to replay context".to_owned(),
        _ => format!("failed to start {agent}"),
    }
}
