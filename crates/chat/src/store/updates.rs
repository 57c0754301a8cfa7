//! What has come from the network, and how far each of it is dealt with.

use super::{Change, KEPT_MS, Look, StoreFault};
use rusqlite::{OptionalExtension as _, Row, params};

/// A network keeps updates that nobody has asked for no longer than this.
pub(super) const UPDATES_MS: i64 = 24 * 3_600_000;

/// An update that was written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Update {
    /// Its number.
    pub id: i64,
    /// All of it.
    pub body: String,
    /// It came long after it was sent.
    pub late: bool,
}

impl Look<'_> {
    /// The update behind those that were taken in, unless the network knows that they were, or has forgotten them by
    /// now.
    pub fn offset(&self, now: i64) -> Result<Option<i64>, StoreFault> {
        let kept = self.meta("offset")?;
        let parsed = kept
            .as_deref()
            .and_then(|kept| kept.split_once(' '))
            .and_then(|(next, at)| Some((next.parse::<i64>().ok()?, at.parse::<i64>().ok()?)));
        Ok(parsed.filter(|(_, at)| now - at < UPDATES_MS).map(|(next, _)| next))
    }

    /// The log and its last event before anything was done for an update.
    pub fn began(&self, update: i64) -> Result<Option<(String, u64)>, StoreFault> {
        let kept = self.meta(&began_of(update))?;
        Ok(kept.and_then(|kept| {
            let (last, log_id) = kept.split_once(' ')?;
            Some((log_id.to_owned(), last.parse().ok()?))
        }))
    }

    /// What a user is called.
    pub fn name_of(&self, user: i64) -> Result<Option<String>, StoreFault> {
        self.meta(&name_of(user))
    }

    /// The session that an update is for, if that was settled; none has no name.
    pub fn meant(&self, update: i64) -> Result<Option<String>, StoreFault> {
        self.meta(&meant_by(update))
    }

    /// Updates that were not dealt with yet, oldest first.
    pub fn undone(&self) -> Result<Vec<Update>, StoreFault> {
        let sql = "SELECT id, body, late FROM updates WHERE done = 0 ORDER BY at, id";
        let mut rows = self.db.prepare_cached(sql)?;
        let found = rows.query_map([], update)?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// An update that was written down.
    pub fn update(&self, id: i64) -> Result<Option<Update>, StoreFault> {
        let sql = "SELECT id, body, late FROM updates WHERE id = ?1";
        Ok(self.db.prepare_cached(sql)?.query_row([id], update).optional()?)
    }
}

impl Change<'_> {
    /// The network is to know that updates before this one were taken in; there is nothing that it does not know if
    /// there is none.
    pub fn set_offset(&self, next: Option<i64>, now: i64) -> Result<(), StoreFault> {
        match next {
            Some(next) => self.set_meta("offset", &format!("{next} {now}")),
            None => self.forget_meta("offset"),
        }
    }

    /// Writes an update down. Whether it is one that was not known.
    pub fn record(&self, update: &Update, now: i64) -> Result<bool, StoreFault> {
        let sql = "INSERT OR IGNORE INTO updates (id, at, body, late) VALUES (?1, ?2, ?3, ?4)";
        let mut insert = self.db.prepare_cached(sql)?;
        let fresh = insert.execute(params![update.id, now, update.body, update.late])?;
        let old = "DELETE FROM updates WHERE done = 1 AND at < ?1";
        self.db.prepare_cached(old)?.execute([now - KEPT_MS])?;
        Ok(fresh > 0)
    }

    /// An update is dealt with.
    pub fn done(&self, id: i64) -> Result<(), StoreFault> {
        self.db.prepare_cached("UPDATE updates SET done = 1 WHERE id = ?1")?.execute([id])?;
        let kept = [meant_by(id), began_of(id), answered_by(id), heard_in(id)];
        kept.iter().try_for_each(|key| self.forget_meta(key))
    }

    /// What is done for an update begins behind this event of this log.
    pub fn note_began(
        &self,
        update: i64,
        (log_id, last): &(String, u64),
    ) -> Result<(), StoreFault> {
        self.set_meta(&began_of(update), &format!("{last} {log_id}"))
    }

    /// A user is called so.
    pub fn note_name(&self, user: i64, name: &str) -> Result<(), StoreFault> {
        if self.look().name_of(user)?.as_deref() == Some(name) {
            return Ok(());
        }
        self.set_meta(&name_of(user), name)
    }

    /// An update is for this session, whichever is the current one when it is dealt with.
    pub fn mean(&self, update: i64, session: &str) -> Result<(), StoreFault> {
        self.set_meta(&meant_by(update), session)
    }

    /// An update that came late is carried out after all.
    pub fn take_up(&self, id: i64) -> Result<(), StoreFault> {
        let sql = "UPDATE updates SET done = 0, late = 0 WHERE id = ?1";
        self.db.prepare_cached(sql)?.execute([id])?;
        Ok(())
    }

    /// Counts something that was not let in.
    pub fn count_stranger(&self) -> Result<(), StoreFault> {
        let known = self.look().meta("strangers")?.and_then(|text| text.parse().ok());
        let count: u64 = known.unwrap_or(0);
        self.set_meta("strangers", &(count + 1).to_string())
    }
}

/// Where it is kept what the log was before something was done for an update.
fn began_of(update: i64) -> String {
    format!("began-{update}")
}

/// Where it is kept that an update has answered a question.
pub(crate) fn answered_by(update: i64) -> String {
    format!("answered-{update}")
}

/// Where the words of a recording are kept until they are sent.
pub(crate) fn heard_in(update: i64) -> String {
    format!("heard-{update}")
}

/// Where it is kept what a user is called.
fn name_of(user: i64) -> String {
    format!("name-{user}")
}

/// Where it is kept which session an update is for.
fn meant_by(update: i64) -> String {
    format!("meant-{update}")
}

fn update(row: &Row<'_>) -> rusqlite::Result<Update> {
    Ok(Update { id: row.get(0)?, body: row.get(1)?, late: row.get(2)? })
}
