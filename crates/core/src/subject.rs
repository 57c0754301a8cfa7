//! What a fact or an effect is about: the house, one session, or a plan.

use crate::ids::{PlanId, SessionId};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// What a fact or an effect is about.
///
/// It is stored as one text. A session's is its id, as in every log before there were others; the rest
/// begin with a colon, which no id does.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    House,
    Session(SessionId),
    Plan(PlanId),
}

const HOUSE: &str = ":house";
const PLAN: &str = ":plan:";

impl Subject {
    pub fn session(&self) -> Option<&SessionId> {
        match self {
            Self::Session(id) => Some(id),
            Self::House | Self::Plan(_) => None,
        }
    }

    pub fn is(&self, session: &SessionId) -> bool {
        self.session() == Some(session)
    }

    pub fn stored(&self) -> Cow<'_, str> {
        match self {
            Self::House => Cow::Borrowed(HOUSE),
            Self::Session(id) => Cow::Borrowed(&id.0),
            Self::Plan(id) => Cow::Owned(format!("{PLAN}{}", id.0)),
        }
    }

    /// What was stored as this text.
    pub fn of(stored: String) -> Self {
        match (stored.as_str(), stored.strip_prefix(PLAN)) {
            (HOUSE, _) => Self::House,
            (_, Some(plan)) => Self::Plan(PlanId(plan.to_owned())),
            (_, None) => Self::Session(SessionId(stored)),
        }
    }
}

impl From<SessionId> for Subject {
    fn from(id: SessionId) -> Self {
        Self::Session(id)
    }
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.stored())
    }
}

impl Serialize for Subject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.stored())
    }
}

impl<'de> Deserialize<'de> for Subject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_stored_as_one_text_and_a_session_by_its_id() {
        for (subject, stored) in [
            (Subject::House, ":house"),
            (Subject::Session(SessionId("0199".to_owned())), "0199"),
            (Subject::Plan(PlanId("spring".to_owned())), ":plan:spring"),
        ] {
            assert_eq!(subject.stored(), stored);
            assert_eq!(Subject::of(stored.to_owned()), subject);
        }
    }
}
