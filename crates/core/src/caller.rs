//! Who a call is from.

use serde::{Deserialize, Serialize};

/// What a person or a script uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Face {
    /// The command line.
    #[default]
    Cli,
    /// The terminal's own screen.
    Tui,
    /// The page in a browser.
    Web,
    /// A chat.
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
    /// By which face.
    pub face: Face,
    /// Who uses it, as the face knows: a user of this machine, a device, a chat.
    pub who: String,
}
