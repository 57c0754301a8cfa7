//! Whether the bot of a chat works, where one is set up, and why not.

use super::finding::finding;
use crate::locks::is_taken;
use glis_config::TelegramConfig;
use glis_wire::home::{CHAT_LOCK, CHAT_STATUS};
use glis_wire::view::{Finding, Health};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// What there is to tell of it; nothing where none is set up.
pub(super) fn examine(state: &Path, config: &TelegramConfig) -> Option<Finding> {
    if !config.is_set() {
        return None;
    }
    let told = |health, message: String, hint| Some(finding("chat", health, message, hint));
    let text = std::fs::read_to_string(state.join(CHAT_STATUS)).unwrap_or_default();
    let read: Value = serde_json::from_str(&text).unwrap_or_default();
    let word = |name: &str| read.get(name).and_then(Value::as_str);
    if !is_taken(&state.join(CHAT_LOCK)) {
        let message = "the bot of [chat.telegram] does not run".to_owned();
        if let Some((why, hint)) = unfit(config) {
            return told(Health::Bad, format!("{message}, and cannot: {why}"), Some(hint));
        }
        let message = match word("trouble") {
            Some(trouble) => format!("{message}; when it last did: {trouble}"),
            None => message,
        };
        let hint = "`glis chat` runs it, `glis daemon install --chat` makes it a service";
        return told(Health::Warning, message, Some(hint));
    }
    match (word("trouble"), word("name")) {
        (Some(trouble), Some(name)) => {
            let hint = "`glis config check` has more";
            told(Health::Warning, format!("the bot @{name} works, but: {trouble}"), Some(hint))
        }
        (Some(trouble), None) => {
            let hint = "its messages wait and are sent when this is over; one bot per token";
            told(Health::Bad, format!("the bot does not work: {trouble}"), Some(hint))
        }
        (None, Some(name)) => told(Health::Good, format!("the bot @{name} works"), None),
        (None, None) => told(Health::Warning, "the bot is just starting".to_owned(), None),
    }
}

/// What would keep a bot from starting, and what to do about it. A token may also come from systemd, so that a
/// missing `token_file` is none.
fn unfit(config: &TelegramConfig) -> Option<(String, &'static str)> {
    if config.allowed_users.is_empty() {
        let hint = "set `allowed_users` in [chat.telegram] to your number";
        return Some(("no user may use it".to_owned(), hint));
    }
    let path = expand(config.token_file.as_deref()?);
    match std::fs::metadata(&path) {
        Err(fault) => {
            let why =
                format!("the token's file {} cannot be read: {}", path.display(), fault.kind());
            Some((why, "put the token that @BotFather gave you there, with mode 600"))
        }
        Ok(found) if found.permissions().mode() & 0o077 != 0 => {
            let why = format!("the token's file {} can be read by others", path.display());
            Some((why, "`chmod 600` it"))
        }
        Ok(_) => None,
    }
}

/// A path in which `~/` means the user's home.
fn expand(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest),
        _ => PathBuf::from(path),
    }
}
