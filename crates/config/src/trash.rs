//! How long what was removed is kept, as configured.

use serde::{Deserialize, Serialize};

/// How long what was removed is kept.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrashConfig {
    /// How long what was removed is kept at least.
    pub days: u32,
}

impl Default for TrashConfig {
    fn default() -> Self {
        Self { days: 30 }
    }
}
