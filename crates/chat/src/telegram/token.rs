//! The bot's token: read from a file that only its owner reads, and never shown.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// No token is longer; a longer file is none.
const BYTES_MAX: u64 = 4096;
/// Name of the token among the credentials that systemd hands over.
const CREDENTIAL: &str = "glis-telegram-token";

/// A bot's token. It has neither `Debug` nor `Display`: no log can hold it by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenFault {
    /// It is not said where it is.
    #[error("no token: set `token_file` in [chat.telegram]")]
    Unset,
    /// The file cannot be read.
    #[error("the token's file {path} cannot be read: {why}")]
    Unread { path: PathBuf, why: String },
    /// Others can read it.
    #[error("the token's file {0} can be read by others: `chmod 600` it")]
    Open(PathBuf),
    #[error("the token's file {0} does not hold a bot's token")]
    Shapeless(PathBuf),
}

impl Token {
    /// A token, if it looks like one: a number, a colon, and letters.
    pub fn new(text: &str) -> Option<Self> {
        let (number, letters) = text.trim().split_once(':')?;
        let is_letter = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        let fits = number.chars().all(|c| c.is_ascii_digit()) && letters.chars().all(is_letter);
        let long = !number.is_empty() && letters.len() >= 30;
        (fits && long).then(|| Self(text.trim().to_owned()))
    }

    /// For the address of a request, and nothing else.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

/// Reads the token from this file, else from systemd's credentials, whose folder is handed in.
pub fn read_token(file: Option<&Path>, credentials: Option<&Path>) -> Result<Token, TokenFault> {
    let credential = credentials.map(|folder| folder.join(CREDENTIAL));
    let path = file.map(Path::to_owned).or(credential).ok_or(TokenFault::Unset)?;
    let unread = |why: std::io::Error| TokenFault::Unread {
        path: path.clone(),
        why: why.kind().to_string(),
    };
    let opened = File::open(&path).map_err(unread)?;
    let mode = opened.metadata().map_err(unread)?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(TokenFault::Open(path));
    }
    let mut text = String::new();
    opened.take(BYTES_MAX).read_to_string(&mut text).map_err(unread)?;
    Token::new(&text).ok_or(TokenFault::Shapeless(path))
}

#[cfg(test)]
mod tests;
