//! Which names a session may have. They become branch and folder names, so little is allowed.

use serde::{Deserialize, Serialize};

/// Longest name. Branch and folder names are made from it, and both have limits.
pub const NAME_BYTES_MAX: usize = 64;

/// Why a name is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BadName {
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

/// Longest name that is made from words: what fits into a list beside everything else.
const MADE_BYTES_MAX: usize = 32;

/// A name made from a user's words: whole words, as many as fit. None if no letter in them can be
/// part of a name.
pub fn made_from(words: &str) -> Option<String> {
    let lower = words.to_ascii_lowercase();
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let mut name = String::new();
    for word in lower.split(|c: char| !allowed(c)).filter(|word| !word.is_empty()) {
        let gap = usize::from(!name.is_empty());
        if name.len() + gap + word.len() > MADE_BYTES_MAX {
            if name.is_empty() {
                name = word.chars().take(MADE_BYTES_MAX).collect();
            }
            break;
        }
        if gap > 0 {
            name.push('-');
        }
        name.push_str(word);
    }
    (!name.is_empty()).then_some(name)
}

/// The `n`th name after this one, for where it is taken: `name-2`, `name-3`.
pub fn numbered(name: &str, n: u32) -> String {
    if n < 2 { name.to_owned() } else { format!("{name}-{n}") }
}

fn has_lock_suffix(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, suffix)| suffix == "lock")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_from_whole_words() {
        for (words, name) in [
            ("Limit failed logins to five a minute.", Some("limit-failed-logins-to-five-a")),
            ("  Fix: the `README`!\nand more", Some("fix-the-readme-and-more")),
            ("/usr/bin/bash", Some("usr-bin-bash")),
            ("\u{e9}t\u{e9} 2026", Some("t-2026")),
            ("\u{4f60}\u{597d}", None),
            ("--", None),
        ] {
            assert_eq!(made_from(words).as_deref(), name, "{words:?}");
        }
        let long = made_from(&"x".repeat(100)).unwrap();
        assert_eq!(long.len(), MADE_BYTES_MAX);
        for made in [long, numbered("fix-the-readme", 2), numbered("x", 1)] {
            assert_eq!(check(&made), Ok(()), "{made}");
        }
    }

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
