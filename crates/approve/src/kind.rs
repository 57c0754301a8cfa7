//! What a word of a command may be, as a rule writes it.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "Written", into = "Written")]
pub enum Kind {
    /// A path that stays in the worktree.
    Path,
    Number,
    /// Any word that is no flag, and no `@file`.
    Word,
    /// One of these words, and no other.
    OneOf(Vec<String>),
}

/// The form in a file: `"word"`, `"=test"` or `{ one_of = ["test", "check"] }`.
#[derive(Deserialize, Serialize)]
#[serde(
    untagged,
    expecting = "expected \"path\", \"number\", \"word\", \"=test\" or { one_of = [\"test\", \"check\"] }"
)]
enum Written {
    Text(String),
    Choice { one_of: Vec<String> },
}

impl TryFrom<Written> for Kind {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let text = match written {
            Written::Choice { one_of } => return Ok(Self::OneOf(one_of)),
            Written::Text(text) => text,
        };
        match text.as_str() {
            "path" => Ok(Self::Path),
            "number" => Ok(Self::Number),
            "word" => Ok(Self::Word),
            other => match other.strip_prefix('=') {
                Some(literal) => Ok(Self::OneOf(vec![literal.to_owned()])),
                None => Err(format!(
                    "unknown kind {other:?}, expected \"path\", \"number\", \"word\", or \"={other}\" for that very word"
                )),
            },
        }
    }
}

impl From<Kind> for Written {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Path => Self::Text("path".to_owned()),
            Kind::Number => Self::Text("number".to_owned()),
            Kind::Word => Self::Text("word".to_owned()),
            Kind::OneOf(words) => match words.as_slice() {
                [word] => Self::Text(format!("={word}")),
                _ => Self::Choice { one_of: words },
            },
        }
    }
}

impl Kind {
    /// The words that it lists, if it lists any.
    pub(crate) fn choices(&self) -> Option<&[String]> {
        match self {
            Self::OneOf(words) => Some(words),
            Self::Path | Self::Number | Self::Word => None,
        }
    }

    /// Whether a word is of this kind, as far as that can be told without a disk.
    pub(crate) fn fits(&self, word: &str) -> bool {
        // Some programs read further words from a file that is written as `@file`.
        let (flag, file) = (word.starts_with('-'), word.starts_with('@'));
        match self {
            Self::Path => !flag && !file && !word.is_empty(),
            Self::Number => !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()),
            Self::Word => !flag && !file,
            Self::OneOf(words) => words.iter().any(|one| one == word),
        }
    }
}
