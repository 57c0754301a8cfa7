//! Chats that sessions are used from.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Chats that sessions are used from.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChatConfig {
    pub telegram: TelegramConfig,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct TelegramConfig {
    pub token_file: Option<String>,
    pub allowed_users: Vec<i64>,
    pub allowed_chats: Vec<i64>,
    pub repo: Option<String>,
    pub repos: BTreeMap<String, String>,
    pub topics: bool,
    pub voice_command: Vec<String>,
    pub api_url: String,
}

impl Default for TelegramConfig {
    fn default() -> Self {
        Self {
            token_file: None,
            allowed_users: Vec::new(),
            allowed_chats: Vec::new(),
            repo: None,
            repos: BTreeMap::new(),
            topics: true,
            voice_command: Vec::new(),
            api_url: "https://api.telegram.org".to_owned(),
        }
    }
}

impl TelegramConfig {
    /// Whether a bot is set up at all.
    pub fn is_set(&self) -> bool {
        self.token_file.is_some() || !self.allowed_users.is_empty()
    }

    /// What is wrong with values that are of the right kind, by the key.
    pub(crate) fn unfit(&self) -> Vec<(&'static str, String)> {
        let mut unfit = Vec::new();
        if self.allowed_users.iter().any(|user| *user <= 0) {
            let why = "a user's number is above zero; groups are in allowed_chats".to_owned();
            unfit.push(("chat.telegram.allowed_users", why));
        }
        // Without TLS the token would be readable on its way.
        let is_local = ["http://127.0.0.1", "http://localhost", "http://[::1]"]
            .iter()
            .any(|begin| self.api_url.starts_with(begin));
        if !self.api_url.starts_with("https://") && !is_local {
            let why = "api_url must begin with https://, or be on this machine".to_owned();
            unfit.push(("chat.telegram.api_url", why));
        }
        unfit
    }
}

#[cfg(test)]
mod tests {
    use crate::Config;

    #[test]
    fn a_token_is_not_sent_in_the_open() {
        let lines = |url: &str| {
            let text = format!("[chat.telegram]\napi_url = \"{url}\"\n");
            Config::parse(&text).map_err(|faults| faults.iter().map(|f| f.line).collect::<Vec<_>>())
        };
        assert_eq!(lines("http://example.org").err(), Some(vec![2]));
        assert!(lines("http://127.0.0.1:8081").is_ok() && lines("https://example.org").is_ok());
        let users = Config::parse("[chat.telegram]\nallowed_users = [7, -100]\n");
        assert_eq!(users.unwrap_err()[0].line, 2);
    }
}
