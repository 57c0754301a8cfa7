//! What every part that acts for sessions goes by.

use crate::environments::Environments;
use crate::settings::Settings;
use glis_wire::home::Home;
use std::sync::Arc;

/// The same for all of them.
pub(crate) struct Common {
    pub(crate) home: Home,
    pub(crate) settings: Arc<Settings>,
    pub(crate) environments: Arc<Environments>,
    /// The mode of the user's own files.
    pub(crate) umask: u32,
}
