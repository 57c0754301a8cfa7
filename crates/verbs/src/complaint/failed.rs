//! What is said of a step that failed.

use super::{Complaint, Kind};
use glis_core::reason::{FailedStep, Why};

/// The steps of a pause lead with words of their own, and name what they are about here.
pub(super) fn told(session: &str, step: &FailedStep, why: &Why, unsent: &[String]) -> Complaint {
    let what = match step {
        FailedStep::Capture => Some("the screen could not be saved"),
        FailedStep::Conversation => Some("it could not be synced to disk"),
        FailedStep::Stash => Some("the snapshot of the worktree failed"),
        FailedStep::Interrupt => Some("the agent could not be reached"),
        _ => None,
    };
    let message = match what {
        Some(what) => format!("failed to {step}: `{session}`: {what}: {why}"),
        None => format!("failed to {step} of `{session}`: {why}"),
    };
    if !unsent.is_empty() {
        // The session is gone: nothing else would tell what was said to it.
        let message = format!("{message}; its agent never got: {}", unsent.join("\n"));
        return Complaint::new(Kind::Failed, message).hint(format!(
            "there is no session `{session}` any more; fix the cause, then `glis new {session} --prompt \
             TEXT` tries again"
        ));
    }
    let hint = if *step == FailedStep::Interrupt {
        format!("`glis pause {session} --mode force` stops it as it is")
    } else if *why == Why::NoRepository {
        "`git init` in its folder makes snapshots possible".to_owned()
    } else {
        "nothing was lost; fix the cause and retry".to_owned()
    };
    Complaint::new(Kind::Failed, message).hint(hint)
}
