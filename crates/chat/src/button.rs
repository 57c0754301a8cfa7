//! Buttons: each is a random word that stands for one act, in one chat, by one user, until a time, once.

use glis_core::plan::Ruling;
use glis_core::talk::DENY;
use serde::{Deserialize, Serialize};

/// What a button is bound to. A press counts if everything here fits, and not otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// The chat that shows it.
    pub chat: i64,
    /// The user whom it is for.
    pub user: i64,
    /// Up to when, in milliseconds of the wall clock.
    pub deadline: i64,
    /// What it does.
    pub act: Act,
}

/// What a button does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// Answers this request of this start of this session.
    Answer {
        /// The session's id.
        session: String,
        /// The request.
        request: String,
        /// The start of its process that asks it.
        generation: u32,
        /// What was asked, so that another question of the same name is told from it.
        asked: String,
        /// The answer.
        answer: String,
    },
    /// Makes this session the current one.
    Switch {
        /// The session's id.
        session: String,
    },
    /// Resumes this session.
    Resume {
        /// The session's id.
        session: String,
    },
    /// Resumes everything that was paused as one.
    ResumeAll,
    /// Begins this session anew.
    Restart {
        /// The session's id.
        session: String,
    },
    /// Pauses this session whatever it does.
    ForcePause {
        /// The session's id.
        session: String,
    },
    /// Puts this session into the trash.
    Archive {
        /// The session's id.
        session: String,
    },
    /// Executes the plan of the repository here.
    ExecutePlan {
        /// A folder of it.
        place: String,
    },
    /// Pauses it.
    PausePlan {
        /// A folder of it.
        place: String,
    },
    /// Goes on with a task of it.
    ResumeTask {
        /// A folder of the repository.
        place: String,
        /// The task's id.
        task: String,
    },
    /// Begins another run of a task.
    RestartTask {
        /// A folder of the repository.
        place: String,
        /// The task's id.
        task: String,
    },
    /// Says what becomes of a task.
    RuleTask {
        /// A folder of the repository.
        place: String,
        /// The task's id.
        task: String,
        /// What.
        ruling: Ruling,
    },
    /// Carries out what came late.
    RunLate {
        /// The update that brought it.
        update: i64,
        /// The session that it is for.
        #[serde(default)]
        session: Option<String>,
    },
    /// Leaves everything as it is.
    Leave,
}

/// The one button that resumes a session.
pub fn resume_key(session: &str) -> Vec<Vec<(String, Act)>> {
    vec![vec![("Resume".to_owned(), Act::Resume { session: session.to_owned() })]]
}

/// The one button that resumes everything.
pub fn resume_all_key() -> Vec<Vec<(String, Act)>> {
    vec![vec![("Resume all".to_owned(), Act::ResumeAll)]]
}

/// A button as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Button {
    /// What it is bound to.
    pub bound: Bound,
    /// The update whose press it was last used by, or that used another button of the same card.
    pub used_by: Option<i64>,
}

/// Stands for the update of a press at buttons whose card is shown once more, at another message.
pub const SHOWN_AGAIN: i64 = -2;

/// Why a press counts for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stale {
    /// There is no such button, or no more.
    Unknown,
    /// It was pressed before.
    Used,
    /// What it answers is not asked any more, and nobody has answered it.
    Gone,
    /// What it asks is shown once more, at another message.
    ShownAgain,
    /// Its time is over.
    Expired,
    /// It is another user's, or another chat's.
    NotYours,
}

impl Button {
    /// Whether this press counts. The same press seen again, after a crash, counts still: what it does has a
    /// name of its own, and is not done twice.
    pub fn press(&self, update: i64, chat: i64, user: i64, now: i64) -> Result<&Act, Stale> {
        if (self.bound.chat, self.bound.user) != (chat, user) {
            return Err(Stale::NotYours);
        }
        match self.used_by {
            Some(by) if by == update => Ok(&self.bound.act),
            Some(SHOWN_AGAIN) => Err(Stale::ShownAgain),
            Some(_) if self.bound.act.is_for_once() => Err(Stale::Used),
            Some(_) | None if now > self.bound.deadline => Err(Stale::Expired),
            Some(_) | None => Ok(&self.bound.act),
        }
    }
}

impl Act {
    /// Whether it answers an agent: the card of its question loses its buttons when the answer has arrived.
    pub fn is_answer(&self) -> bool {
        matches!(self, Self::Answer { .. })
    }

    /// Whether it is a no to an agent: that can be said without having seen all that was asked.
    pub fn is_denial(&self) -> bool {
        matches!(self, Self::Answer { answer, .. } if answer == DENY)
    }

    /// The session that it does something with.
    pub fn session(&self) -> Option<&str> {
        match self {
            Self::Answer { session, .. }
            | Self::Switch { session }
            | Self::Resume { session }
            | Self::Restart { session }
            | Self::ForcePause { session }
            | Self::Archive { session } => Some(session),
            Self::RunLate { session, .. } => session.as_deref(),
            Self::ResumeAll
            | Self::ExecutePlan { .. }
            | Self::PausePlan { .. }
            | Self::ResumeTask { .. }
            | Self::RestartTask { .. }
            | Self::RuleTask { .. }
            | Self::Leave => None,
        }
    }

    /// What it is called where it ends something that goes on: long after the press, that may not be meant any more.
    pub fn ends(&self) -> Option<String> {
        match self {
            Self::Restart { .. } => Some("Restart".to_owned()),
            Self::ForcePause { .. } => Some("Pause all the same".to_owned()),
            Self::Archive { .. } => Some("Archive".to_owned()),
            Self::RestartTask { task, .. } => Some(format!("Restart {task}")),
            Self::Answer { .. }
            | Self::Switch { .. }
            | Self::Resume { .. }
            | Self::ResumeAll
            | Self::ExecutePlan { .. }
            | Self::PausePlan { .. }
            | Self::ResumeTask { .. }
            | Self::RuleTask { .. }
            | Self::RunLate { .. }
            | Self::Leave => None,
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
mod tests {
    use super::*;

    #[test]
    fn a_press_counts_once_in_its_place_for_its_user_in_time() {
        let bound = Bound { chat: 7, user: 7, deadline: 100, act: Act::Leave };
        let fresh = Button { bound: bound.clone(), used_by: None };
        assert_eq!(fresh.press(1, 7, 7, 100), Ok(&Act::Leave));
        assert_eq!(fresh.press(1, 7, 7, 101), Err(Stale::Expired));
        assert_eq!(fresh.press(1, 8, 7, 0), Err(Stale::NotYours));
        assert_eq!(fresh.press(1, 7, 8, 0), Err(Stale::NotYours));
        let used = Button { bound, used_by: Some(1) };
        assert_eq!(used.press(2, 7, 7, 0), Err(Stale::Used));
        assert_eq!(used.press(1, 7, 7, 999), Ok(&Act::Leave));
        assert_eq!(used.press(1, 7, 8, 0), Err(Stale::NotYours));
        let act = Act::Switch { session: "s".to_owned() };
        let listed = Button { bound: Bound { act: act.clone(), ..used.bound }, used_by: Some(1) };
        assert_eq!(listed.press(2, 7, 7, 100), Ok(&act));
        assert_eq!(listed.press(2, 7, 7, 101), Err(Stale::Expired));
    }

    #[test]
    fn words_of_buttons_fit_and_differ() {
        let (one, other) = (nonce(), nonce());
        assert!(one.len() <= 64 && one != other && one.is_ascii());
    }
}
