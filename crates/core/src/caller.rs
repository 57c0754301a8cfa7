//! Who a call is from.

use serde::{Deserialize, Serialize};

/// What a person or a script uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Face {
    #[default]
    Cli,
    /// The terminal's own screen.
    Tui,
    /// The page in a browser.
    Web,
    Chat,
}

impl Face {
    /// Whether it serves people elsewhere. Its environment is none of theirs, and does not come along
    /// with their calls.
    pub fn is_service(self) -> bool {
        match self {
            Self::Cli | Self::Tui => false,
            Self::Web | Self::Chat => true,
        }
    }
}

/// Who a call is from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    pub face: Face,
    /// Who uses it, as the face knows: a user of this machine, a device, a chat.
    pub who: String,
    /// The call's key, where it has one: what it led to is found by that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl Origin {
    /// A call without a key.
    pub fn new(face: Face, who: impl Into<String>) -> Self {
        Self { face, who: who.into(), key: None }
    }
}
