//! Whether the bot of a chat works, where one is set up.

use super::finding::finding;
use crate::locks::is_taken;
use glis_config::TelegramConfig;
use glis_wire::home::{CHAT_LOCK, CHAT_STATUS};
use glis_wire::view::{Finding, Health};
use serde_json::Value;
use std::path::Path;

/// What there is to tell of it; nothing where none is set up.
pub(super) fn examine(state: &Path, config: &TelegramConfig) -> Option<Finding> {
    if !config.is_set() {
        return None;
    }
    let told = |health, message: String, hint| Some(finding("chat", health, message, hint));
    if !is_taken(&state.join(CHAT_LOCK)) {
        let message = "the bot of [chat.telegram] does not run".to_owned();
        return told(Health::Warning, message, Some("`glis chat` runs it"));
    }
    let text = std::fs::read_to_string(state.join(CHAT_STATUS)).unwrap_or_default();
    let read: Value = serde_json::from_str(&text).unwrap_or_default();
    let word = |name: &str| read.get(name).and_then(Value::as_str);
    match (word("trouble"), word("name")) {
        (Some(trouble), _) => {
            let hint = "its messages wait and are sent when this is over; one bot per token";
            told(Health::Bad, format!("the bot does not work: {trouble}"), Some(hint))
        }
        (None, Some(name)) => told(Health::Good, format!("the bot @{name} works"), None),
        (None, None) => told(Health::Warning, "the bot is just starting".to_owned(), None),
    }
}
