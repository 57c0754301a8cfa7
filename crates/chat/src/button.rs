//! Buttons: each is a random word that stands for one act, in one chat, by one user, until a time, once.

use crate::command::PlanVerb;
use glis_core::talk::DENY;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The buttons below a message. A press counts if everything here fits, and not otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keyboard {
    /// The card that they are below, or a name of their own.
    pub card: String,
    pub chat: i64,
    pub user: i64,
    /// Up to when, in milliseconds of the wall clock.
    pub deadline: i64,
    /// What each does, by the word that stands for it.
    pub acts: BTreeMap<String, Act>,
    /// The update whose press they were last used by.
    pub used_by: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// Answers this request of this start of this session.
    Answer {
        session: String,
        request: String,
        /// The start of its process that asks it.
        generation: u32,
        /// What was asked, so that another question of the same name is told from it.
        asked: String,
        answer: String,
    },
    /// Makes this session the current one.
    Switch { session: String },
    /// Resumes this session.
    Resume { session: String },
    /// Resumes everything that was paused as one.
    ResumeAll,
    /// Begins this session anew.
    Restart { session: String },
    /// Pauses this session whatever it does.
    ForcePause { session: String },
    /// Puts this session into the trash.
    Archive { session: String },
    /// Does something with a plan, or a task of it, in the repository of this folder.
    Plan { place: String, verb: PlanVerb },
    /// Carries out what came late.
    RunLate { update: i64, session: Option<String> },
    /// Leaves everything as it is.
    Leave,
}

/// Rows of buttons: what stands on each, and what it does.
pub type Keys = Vec<Vec<(String, Act)>>;

pub fn resume_key(session: &str) -> Keys {
    vec![vec![("Resume".to_owned(), Act::Resume { session: session.to_owned() })]]
}

/// The one button that resumes everything.
pub fn resume_all_key() -> Keys {
    vec![vec![("Resume all".to_owned(), Act::ResumeAll)]]
}

/// A button that does something, beside one that leaves it.
pub fn confirm(label: &str, act: Act) -> Keys {
    vec![vec![(label.to_owned(), act), ("Leave it".to_owned(), Act::Leave)]]
}

/// Stands for the update of a press at buttons that count for nothing any more.
pub const VOID: i64 = -1;
/// Stands for the update of a press at buttons whose card is shown once more, at another message.
pub const SHOWN_AGAIN: i64 = -2;

/// Why a press counts for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stale {
    Unknown,
    Used,
    /// What it answers is not asked any more, and nobody has answered it.
    Gone,
    /// What it asks is shown once more, at another message.
    ShownAgain,
    Expired,
    /// It is another user's, or another chat's.
    NotYours,
}

impl Keyboard {
    /// Whether a press of the button with this word counts. The same press seen again, after a crash, counts still:
    /// what it does has a name of its own, and is not done twice.
    pub fn press(&self, nonce: &str, update: i64, by: (i64, i64), now: i64) -> Result<&Act, Stale> {
        let act = self.acts.get(nonce).ok_or(Stale::Unknown)?;
        if (self.chat, self.user) != by {
            return Err(Stale::NotYours);
        }
        match self.used_by {
            Some(by) if by == update => Ok(act),
            Some(SHOWN_AGAIN) => Err(Stale::ShownAgain),
            Some(_) if act.is_for_once() => Err(Stale::Used),
            Some(_) | None if now > self.deadline => Err(Stale::Expired),
            Some(_) | None => Ok(act),
        }
    }
}

impl Act {
    /// Whether it is a no to an agent: that can be said without having seen all that was asked.
    pub fn is_denial(&self) -> bool {
        matches!(self, Self::Answer { answer, .. } if answer == DENY)
    }

    pub fn session(&self) -> Option<&str> {
        match self {
            Self::Answer { session, .. }
            | Self::Switch { session }
            | Self::Resume { session }
            | Self::Restart { session }
            | Self::ForcePause { session }
            | Self::Archive { session } => Some(session),
            Self::RunLate { session, .. } => session.as_deref(),
            _ => None,
        }
    }

    /// What it is called where it ends something that goes on: long after the press, that may not be meant any more.
    pub fn ends(&self) -> Option<String> {
        match self {
            Self::Restart { .. } => Some("Restart".to_owned()),
            Self::ForcePause { .. } => Some("Pause all the same".to_owned()),
            Self::Archive { .. } => Some("Archive".to_owned()),
            Self::Plan { verb: PlanVerb::Restart { task }, .. } => Some(format!("Restart {task}")),
            _ => None,
        }
    }

    /// Whether the first press of a card's buttons is the last that counts. A list can be used again.
    pub fn is_for_once(&self) -> bool {
        !matches!(self, Self::Switch { .. })
    }
}

/// A word for a button that no one can guess: 122 random bits in 32 letters. Networks take 64 bytes.
pub fn nonce() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

#[cfg(test)]
mod tests;
