//! The cards of sessions, in their own folders: read when the log is gone.

use glis_core::{Card, SessionId};
use glis_record::durable;
use glis_wire::home::Home;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

const NAME: &str = "card.json";

/// Whether a session's folder is made for its card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Folder {
    /// The session has just been made.
    Make,
    /// A folder that is gone was deleted, which is told elsewhere and not to be covered up.
    Find,
}

/// Puts a card into its session's folder.
pub(crate) fn write(dir: &Path, folder: Folder, card: &Card) -> io::Result<()> {
    match folder {
        Folder::Make => durable::private_folder(dir)?,
        Folder::Find if !dir.is_dir() => return Ok(()),
        Folder::Find => {}
    }
    durable::replace(dir, NAME, &serde_json::to_vec(card)?)
}

pub(crate) fn sessions_folder(home: &Home) -> PathBuf {
    home.state.join("sessions")
}

/// Every card that can be read, of removed sessions too.
pub(crate) fn read(home: &Home) -> BTreeMap<SessionId, Card> {
    let mut cards = BTreeMap::new();
    for (root, within) in [(home.trash(), "session"), (sessions_folder(home), "")] {
        let Ok(entries) = std::fs::read_dir(root) else { continue };
        for entry in entries.flatten() {
            let file = entry.path().join(within).join(NAME);
            let bytes = durable::read_file(&file).unwrap_or_default();
            let Ok(card) = serde_json::from_slice::<Card>(&bytes) else { continue };
            let id = SessionId(entry.file_name().to_string_lossy().into_owned());
            cards.insert(id, card);
        }
    }
    cards
}
