//! What Codex says in the same words on pipes and in its rollout.

use crate::heard::Said;
use crate::hearing::{pending, text};
use serde_json::Value;

/// What of a plan is still to do, and how far it is.
pub(super) fn planned(plan: &Value) -> Said {
    pending(plan.as_array().map(Vec::as_slice).unwrap_or_default(), "/step")
}

/// What it last told of how much is used up.
#[derive(Default)]
pub(super) struct Windows {
    /// When those that are full begin anew.
    resets_at: Option<i64>,
    /// Of the one that is used most.
    pub(super) percent: Option<u8>,
}

impl Windows {
    /// Takes in what it tells with every answer. Its keys are written in two ways.
    pub(super) fn learn(&mut self, told: &Value) {
        let windows = ["primary", "secondary"].map(|name| &told[name]);
        let of = |window: &Value, long: &str, short: &str| {
            window.get(long).or_else(|| window.get(short)).cloned().unwrap_or_default()
        };
        let used = |window: &&Value| of(window, "used_percent", "usedPercent").as_f64();
        let full = windows.into_iter().filter(|window| used(window).is_some_and(|u| u >= 100.0));
        // Both have to begin anew before anything is answered.
        let resets = full.filter_map(|window| of(window, "resets_at", "resetsAt").as_i64()).max();
        if told["primary"].is_object() {
            self.resets_at = resets;
            let most = windows.iter().filter_map(used).reduce(f64::max);
            self.percent = most.and_then(|most| format!("{:.0}", most.floor()).parse().ok());
        }
    }

    /// When it can be used again after this error, if that is a usage limit: a number if it told one,
    /// otherwise its own words.
    pub(super) fn again_at(&mut self, error: &Value) -> Option<String> {
        let resets_at = self.resets_at.take();
        if !is_limit(error) {
            return None;
        }
        let words = text(error, "/message").split_once("try again ").map_or("", |(_, time)| time);
        let words = words.trim_start_matches("at ").trim_end_matches('.');
        Some(resets_at.map_or_else(|| words.to_owned(), |at| at.to_string()))
    }
}

/// Whether an error that has ended a turn is a usage limit, by its kind and not by its words.
fn is_limit(error: &Value) -> bool {
    let kind = error.get("codexErrorInfo").or_else(|| error.get("codex_error_info"));
    let Some(kind) = kind else { return false };
    // It gave up after having tried again and again.
    let refused = ["/responseTooManyFailedAttempts/httpStatusCode"]
        .into_iter()
        .chain(["/response_too_many_failed_attempts/http_status_code"])
        .any(|status| kind.pointer(status).is_some_and(|status| *status == 429));
    refused || *kind == "usageLimitExceeded" || *kind == "usage_limit_exceeded"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn window(used: f64, at: i64) -> Value {
        json!({"used_percent": used, "window_minutes": 300, "resets_at": at})
    }

    #[test]
    fn a_limit_is_known_by_its_kind_and_not_by_its_words() {
        let words = "You\u{2019}ve hit your usage limit, try again at 6:24 AM.";
        let again = |error: Value| Windows::default().again_at(&error);
        let limit = json!({"message": words, "codex_error_info": "usage_limit_exceeded"});
        assert_eq!(again(limit).as_deref(), Some("6:24 AM"));
        assert_eq!(again(json!({"message": words, "codex_error_info": "other"})), None);
        assert_eq!(again(json!({"message": words})), None);
        let refused = json!({"responseTooManyFailedAttempts": {"httpStatusCode": 429}});
        assert_eq!(again(json!({"codexErrorInfo": refused})).as_deref(), Some(""));
        let broken = json!({"responseTooManyFailedAttempts": {"httpStatusCode": 503}});
        assert_eq!(again(json!({"codexErrorInfo": broken})), None);
    }

    #[test]
    fn the_window_that_is_full_says_when_and_the_later_one_of_two() {
        let limit = json!({"message": "", "codexErrorInfo": "usageLimitExceeded"});
        let mut windows = Windows::default();
        windows.learn(&json!({"primary": window(100.0, 5), "secondary": window(40.0, 9)}));
        assert_eq!((windows.again_at(&limit).as_deref(), windows.percent), (Some("5"), Some(100)));
        windows.learn(&json!({"primary": window(100.0, 5), "secondary": window(100.0, 9)}));
        assert_eq!(windows.again_at(&limit).as_deref(), Some("9"));
        windows.learn(&json!({"primary": window(99.0, 5), "secondary": null}));
        assert_eq!((windows.again_at(&limit).as_deref(), windows.percent), (Some(""), Some(99)));
    }
}
