//! Which names a session may have. They become branch and folder names, so little is allowed.

use serde::{Deserialize, Serialize};

/// Longest name. Branch and folder names are made from it, and both have limits.
pub const NAME_BYTES_MAX: usize = 64;

/// Why a name is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BadName {
    /// There is nothing.
    Empty,
    /// Longer than [`NAME_BYTES_MAX`].
    TooLong,
    /// It must begin with a letter or digit: `-` would read as an option, `.` as a hidden file.
    BadStart,
    /// Only lower-case letters, digits, `.`, `_` and `-`.
    BadCharacter,
    /// `..`, a trailing `.` or `.lock` means something else to git.
    ReservedForm,
}

/// Checks a session's name before anything else sees it.
pub fn check(name: &str) -> Result<(), BadName> {
    let first = name.bytes().next().ok_or(BadName::Empty)?;
    if name.len() > NAME_BYTES_MAX {
        return Err(BadName::TooLong);
    }
    if !(first.is_ascii_lowercase() || first.is_ascii_digit()) {
        return Err(BadName::BadStart);
    }
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b);
    if !name.bytes().all(allowed) {
        return Err(BadName::BadCharacter);
    }
    if name.contains("..") || name.ends_with('.') || has_lock_suffix(name) {
        return Err(BadName::ReservedForm);
    }
    Ok(())
}

fn has_lock_suffix(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, suffix)| suffix == "lock")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_names_pass() {
        for name in ["a", "fix-login", "x.y_z-1", "0", &"a".repeat(64)] {
            assert_eq!(check(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn names_that_git_or_a_shell_would_misread_are_refused() {
        for (name, why) in [
            ("", BadName::Empty),
            ("-rf", BadName::BadStart),
            ("--upload-pack=x", BadName::BadStart),
            ("../../x", BadName::BadStart),
            (".hidden", BadName::BadStart),
            ("a/b", BadName::BadCharacter),
            ("a b", BadName::BadCharacter),
            ("a\0b", BadName::BadCharacter),
            ("dorm\u{1f43f}", BadName::BadCharacter),
            ("Upper", BadName::BadStart),
            ("a..b", BadName::ReservedForm),
            ("a.lock", BadName::ReservedForm),
            ("a.", BadName::ReservedForm),
            (&"a".repeat(4096), BadName::TooLong),
        ] {
            assert_eq!(check(name), Err(why), "{name}");
        }
    }
}
