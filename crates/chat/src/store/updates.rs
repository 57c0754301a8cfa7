//! What has come from the network, and how far each of it is dealt with.

use super::{Change, Look, StoreFault};
use serde::{Deserialize, Serialize};

/// A network keeps updates that nobody has asked for no longer than this.
pub(super) const UPDATES_MS: i64 = 24 * 3_600_000;

/// An update that was written down.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Update {
    pub id: i64,
    pub body: String,
    pub at: i64,
    /// It came long after it was sent.
    pub late: bool,
    pub done: bool,
    /// The session that it is for, once that is settled; none has no name.
    pub meant: Option<String>,
    /// The words of its recording.
    pub heard: Option<String>,
}

impl Look<'_> {
    /// The update behind those that were taken in, unless the network knows that they were, or has forgotten them by
    /// now.
    pub fn offset(&self, now: i64) -> Result<Option<i64>, StoreFault> {
        let known: Option<(i64, i64)> = self.meta("offset")?;
        Ok(known.filter(|(_, at)| now - at < UPDATES_MS).map(|(next, _)| next))
    }

    pub fn name_of(&self, user: i64) -> Result<Option<String>, StoreFault> {
        self.meta(&format!("name-{user}"))
    }

    /// Updates that were not dealt with yet, oldest first.
    pub fn undone(&self) -> Result<Vec<Update>, StoreFault> {
        let mut undone: Vec<Update> = self.find("update", "body ->> '$.done'", false)?;
        undone.sort_by_key(|update| (update.at, update.id));
        Ok(undone)
    }

    /// An update that was written down.
    pub fn update(&self, id: i64) -> Result<Option<Update>, StoreFault> {
        self.get("update", &id.to_string(), 0)
    }
}

impl Change<'_> {
    /// The network is to know that updates before this one were taken in; there is nothing that it does not know if
    /// there is none.
    pub fn set_offset(&self, next: Option<i64>, at: i64) -> Result<(), StoreFault> {
        match next {
            Some(next) => self.set_meta("offset", &(next, at)),
            None => self.forget_meta("offset"),
        }
    }

    /// Writes an update down. Whether it is one that was not known.
    pub fn record(&self, update: &Update) -> Result<bool, StoreFault> {
        if self.look().update(update.id)?.is_some() {
            return Ok(false);
        }
        self.put("update", &update.id.to_string(), 0, update).map(|()| true)
    }

    /// Changes what is known of an update.
    pub fn edit_update(&self, id: i64, edit: impl FnOnce(&mut Update)) -> Result<(), StoreFault> {
        self.edit(("update", &id.to_string(), 0), edit)
    }

    pub fn done(&self, id: i64) -> Result<(), StoreFault> {
        self.edit_update(id, |it| (it.done, it.meant, it.heard) = (true, None, None))
    }

    /// What was understood of something spoken.
    pub fn hear(&self, id: i64, text: &str) -> Result<(), StoreFault> {
        self.edit_update(id, |it| it.heard = Some(text.to_owned()))
    }

    pub fn note_name(&self, user: i64, name: &str) -> Result<(), StoreFault> {
        self.set_meta(&format!("name-{user}"), &name)
    }
}
