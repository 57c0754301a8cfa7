//! Whether the bot of a chat works, where one is set up, and why not.

use super::finding::finding;
use crate::locks::is_taken;
use glis_config::TelegramConfig;
use glis_wire::home::{CHAT_DAMAGED, CHAT_LOCK, CHAT_STATUS};
use glis_wire::view::{Finding, Health};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// What there is to tell of it; nothing where none is set up.
pub(super) fn examine(state: &Path, config: &TelegramConfig) -> Vec<Finding> {
    if !config.is_set() {
        return Vec::new();
    }
    let mut findings = vec![bot(state, config)];
    let named = std::iter::once(("repo", config.repo.as_ref()));
    let others = config.repos.iter().map(|(name, path)| (name.as_str(), Some(path)));
    for (name, path) in named.chain(others).filter_map(|(name, path)| Some((name, path?))) {
        let place = expand(path);
        if !place.is_dir() {
            let message = format!("`{name}` of [chat.telegram] is no folder: {}", place.display());
            let hint = "set it to a repository; until then `/new` makes nothing there";
            findings.push(finding("chat", Health::Warning, message, Some(hint)));
        }
    }
    findings.extend(damaged(state).into_iter().map(|name| {
        let message = format!("what the bot knew was damaged and is kept as {name}");
        let hint =
            "the bot has begun anew; remove the file, and its companions, if you do not need it";
        finding("chat", Health::Warning, message, Some(hint))
    }));
    findings
}

/// The names of the files that a bot has put aside.
fn damaged(state: &Path) -> Vec<String> {
    let names = std::fs::read_dir(state).into_iter().flatten().flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_own = |name: &String| {
        name.starts_with(CHAT_DAMAGED) && !name.ends_with("-wal") && !name.ends_with("-shm")
    };
    names.filter(is_own).collect()
}

/// Whether the bot itself works.
fn bot(state: &Path, config: &TelegramConfig) -> Finding {
    let told = |health, message: String, hint| finding("chat", health, message, hint);
    let text = std::fs::read_to_string(state.join(CHAT_STATUS)).unwrap_or_default();
    let read: Value = serde_json::from_str(&text).unwrap_or_default();
    let word = |name: &str| read.get(name).and_then(Value::as_str);
    if !is_taken(&state.join(CHAT_LOCK)) {
        let message = "the bot of [chat.telegram] does not run".to_owned();
        if let Some((why, hint)) = unfit(config) {
            return told(Health::Bad, format!("{message}, and cannot: {why}"), Some(hint));
        }
        let start = "`glis chat` runs it, `glis daemon install --chat` makes it a service";
        return match word("trouble") {
            Some(trouble) => {
                let hint = word("hint").map(|hint| format!("{hint}; then {start}"));
                let message = format!("{message}; when it last did: {trouble}");
                told(Health::Warning, message, Some(hint.as_deref().unwrap_or(start)))
            }
            None => told(Health::Warning, message, Some(start)),
        };
    }
    match (word("trouble"), word("name")) {
        (Some(trouble), Some(name)) => {
            let message = format!("the bot @{name} works, but: {trouble}");
            told(Health::Warning, message, word("hint"))
        }
        (Some(trouble), None) => {
            told(Health::Bad, format!("the bot does not work: {trouble}"), word("hint"))
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
