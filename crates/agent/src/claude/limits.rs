//! What Claude Code tells of a usage limit, or of another error that ends a turn: never in its answers, but in
//! records of its own.

use crate::hearing::text;
use serde_json::Value;

/// How it calls a limit, in every record that has one.
pub(super) const LIMIT: &str = "rate_limit";

/// When a limit ends, in seconds since 1970; empty if it is not told, as with a key.
pub(super) fn resets_at(about: &Value) -> String {
    about.get("resetsAt").filter(|at| at.is_number()).map(Value::to_string).unwrap_or_default()
}

/// What a line of its transcript tells of a limit that has ended a turn. What the model said has other
/// marks, whatever it says.
pub(super) fn written(words: &Value) -> Option<String> {
    let own = words["isApiErrorMessage"] == true && text(words, "/error") == LIMIT;
    own.then(|| resets_at(&words["apiErrorParams"]["rate_limit_info"]))
}

/// Why a turn came to nothing, by the hook that ends it: as it was said, else by its name.
pub(super) fn failure(words: &Value) -> String {
    if text(words, "/hook_event_name") != "StopFailure" {
        return String::new();
    }
    let told = ["/last_assistant_message", "/error"].map(|key| text(words, key));
    told.into_iter().find(|word| !word.is_empty()).unwrap_or("unknown").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_its_own_error_tells_of_a_limit() {
        let info = json!({"rate_limit_info": {"status": "rejected", "resetsAt": 1_795_210_488}});
        let own = json!({"error": "rate_limit", "isApiErrorMessage": true, "apiErrorParams": info});
        assert_eq!(written(&own).as_deref(), Some("1795210488"));
        let without = json!({"error": "rate_limit", "isApiErrorMessage": true});
        assert_eq!(written(&without).as_deref(), Some(""));
        let other = json!({"error": "overloaded", "isApiErrorMessage": true});
        assert_eq!(written(&other), None);
        let said = json!({"message": {"content": [{"type": "text", "text": "error: rate_limit"}]}});
        assert_eq!(written(&said), None);
    }
}
