//! What Codex says in the same words on pipes and in its rollout.

use crate::hearing::text;
use serde_json::Value;

/// What of a plan is still to do.
pub(super) fn open_steps(plan: &Value) -> Vec<String> {
    let steps = plan.as_array().into_iter().flatten();
    let open = steps.filter(|step| text(step, "/status") != "completed");
    open.map(|step| text(step, "/step").to_owned()).collect()
}

/// When it says that it can be used again: in words only.
pub(super) fn again_at(message: &str) -> String {
    let time = message.split_once("try again at ").map_or("", |(_, time)| time);
    time.trim_end_matches('.').to_owned()
}
