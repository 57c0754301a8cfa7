//! What an agent is seen to do.

use crate::ids::AskId;
use crate::safe::ScreenState;
use crate::talk::Ask;
use serde::{Deserialize, Serialize};

/// Whether a sign is heard as it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hearing {
    /// As it is given.
    Live,
    /// Afterwards, before it was told what the world looks like. It is accounted for, but nothing
    /// follows from it until then.
    CatchingUp,
}

/// What an agent was seen to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sign {
    /// It told its session id.
    RefKnown(String),
    Ready,
    /// It took a message: this one, or what it was last handed if it does not say.
    TookMessage {
        text: Option<String>,
    },
    TurnBegan,
    ToolBegan {
        tool: String,
        what: String,
    },
    ToolEnded(String),
    Background(u32),
    TurnEnded,
    /// It let go of its turn before it was done with it.
    TurnCut,
    /// An error has ended its turn, in its own words: it is not logged in, say.
    TurnFailed(String),
    Asked(Ask),
    AskGone(AskId),
    /// Its usage limit is reached. It may try again by itself.
    LimitReached {
        reset_at: String,
    },
    /// Its turn has ended because its usage limit is reached: seconds since 1970 at which that ends,
    /// or what else the agent tells.
    TurnLimited {
        reset_at: String,
    },
    /// Its screen has come to another state.
    Screen(ScreenState),
    /// It rejects the session id it was given.
    RefRejected(String),
    /// It does not begin, whatever conversation it was given: its configuration is broken, say.
    StartRefused(String),
    /// It refuses to begin, for this reason, and has not looked at what it was handed.
    MessageRefused(String),
}

impl Sign {
    /// Whether its turn is over, however it came to that.
    pub fn ends_turn(&self) -> bool {
        matches!(
            self,
            Self::TurnEnded | Self::TurnCut | Self::TurnFailed(_) | Self::TurnLimited { .. }
        )
    }
}
