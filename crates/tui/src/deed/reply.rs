//! An answer to what an agent asks.

use glis_core::plain::shell_word;
use glis_core::talk::{ALLOW_FOR_SESSION, AskKind};

/// An answer by one key, or in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    Allow,
    AllowForSession,
    Deny,
    DenyBecause(String),
    /// One of the choices, which was picked by its digit.
    Choice(String),
    Words(String),
    /// The message that may not have arrived is sent again.
    SendAgain,
    Drop,
}

impl Reply {
    /// The answer that an event tells of.
    pub(crate) fn of_word(word: &str) -> Self {
        match word {
            "allow" => Self::Allow,
            ALLOW_FOR_SESSION => Self::AllowForSession,
            "deny" => Self::Deny,
            words => Self::Words(words.to_owned()),
        }
    }

    /// What it means to a question of this kind: a word that is typed to an approval is an answer as any key is, and
    /// a message that may not have arrived is sent again or not.
    pub(crate) fn about(self, kind: AskKind) -> Self {
        match (kind, self) {
            (AskKind::Approval, Self::Words(words)) => Self::of_word(&words),
            (AskKind::Doubt, Self::Allow) => Self::SendAgain,
            (AskKind::Doubt, Self::Deny) => Self::Drop,
            (AskKind::Approval | AskKind::Question | AskKind::Doubt, other) => other,
        }
    }

    /// Whether something happens by it that the question asks for. What a person typed was thought about.
    pub(crate) fn lets_happen(&self) -> bool {
        match self {
            Self::Allow | Self::AllowForSession | Self::Choice(_) | Self::SendAgain => true,
            Self::Deny | Self::DenyBecause(_) | Self::Words(_) | Self::Drop => false,
        }
    }

    /// What became of the question.
    pub(crate) fn past(&self) -> &'static str {
        match self {
            Self::Allow => "allowed",
            Self::AllowForSession => "allowed for the session",
            Self::Deny | Self::DenyBecause(_) => "denied",
            Self::Choice(_) | Self::Words(_) => "answered",
            Self::SendAgain => "sent again",
            Self::Drop => "dropped",
        }
    }

    /// The word that the daemon is told.
    pub(crate) fn word(&self) -> &str {
        match self {
            Self::Allow | Self::SendAgain => "allow",
            Self::AllowForSession => ALLOW_FOR_SESSION,
            Self::Deny | Self::DenyBecause(_) | Self::Drop => "deny",
            Self::Choice(words) | Self::Words(words) => words,
        }
    }

    pub(super) fn reason(&self) -> Option<String> {
        if let Self::DenyBecause(reason) = self { Some(reason.clone()) } else { None }
    }

    pub(super) fn typed(&self) -> String {
        match self {
            Self::Allow | Self::SendAgain => "allow".to_owned(),
            Self::AllowForSession => "allow --for-session".to_owned(),
            Self::Deny | Self::Drop => "deny".to_owned(),
            Self::DenyBecause(reason) => format!("deny --reason {}", shell_word(reason)),
            Self::Choice(words) | Self::Words(words) => shell_word(words),
        }
    }
}
