//! What waits to be sent.

use super::{Change, Look, StoreFault};
use crate::outbox::{Item, Lane, What};
use rusqlite::params;

impl Look<'_> {
    /// What waits to be sent from this number on.
    pub fn waiting(&self, from: u64) -> Result<Vec<Item>, StoreFault> {
        let sql = "SELECT id, body FROM docs WHERE kind = 'item' AND id >= ?1 ORDER BY id";
        let mut rows = self.db.prepare_cached(sql)?;
        let found = rows.query_map([from.cast_signed()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let item = |row: rusqlite::Result<(i64, String)>| {
            let (id, body) = row?;
            Ok(Item { id: id.unsigned_abs(), ..serde_json::from_str(&body)? })
        };
        found.map(item).collect()
    }

    /// Whether something like this waits to be sent.
    pub fn has_waiting(&self, fits: impl Fn(&Item) -> bool) -> Result<bool, StoreFault> {
        Ok(self.waiting(0)?.iter().any(fits))
    }

    /// Whether this still waits to be sent.
    pub fn waits(&self, id: u64) -> Result<bool, StoreFault> {
        Ok(self
            .db
            .prepare_cached("SELECT 1 FROM docs WHERE id = ?1")?
            .exists([id.cast_signed()])?)
    }

    /// The session whose words this message shows.
    pub fn said_by(&self, chat: i64, message: i64) -> Result<Option<String>, StoreFault> {
        self.get("said", &message.to_string(), chat)
    }

    /// The message that shows what a session does.
    pub fn preview(&self, chat: i64, session: &str) -> Result<Option<i64>, StoreFault> {
        Ok(self.get::<Option<i64>>("preview", session, chat)?.flatten())
    }
}

impl Change<'_> {
    /// Adds something to be sent.
    pub fn push(
        &self,
        (chat, thread): (i64, Option<i64>),
        lane: Lane,
        what: What,
    ) -> Result<(), StoreFault> {
        self.push_item(&Item::new(0, chat, thread, lane, what))
    }

    /// Adds something to be sent; its number is given here, and it expires by the wall clock.
    pub fn push_item(&self, item: &Item) -> Result<(), StoreFault> {
        let sql = "INSERT INTO docs (kind, chat, body) VALUES ('item', ?1, ?2)";
        self.run(sql, params![item.chat, serde_json::to_string(item)?])
    }

    /// Something is sent, or need not be any more.
    pub fn sent(&self, id: u64) -> Result<(), StoreFault> {
        self.run("DELETE FROM docs WHERE id = ?1", [id.cast_signed()])
    }

    /// What is like this need not be sent any more.
    pub fn unsend(&self, fits: impl Fn(&Item) -> bool) -> Result<(), StoreFault> {
        let waiting = self.look().waiting(0)?;
        waiting.iter().filter(|item| fits(item)).try_for_each(|item| self.sent(item.id))
    }

    /// Something is to be sent in another form.
    pub fn reshape(&self, item: &Item) -> Result<(), StoreFault> {
        let body = serde_json::to_string(item)?;
        self.run("UPDATE docs SET body = ?2 WHERE id = ?1", params![item.id.cast_signed(), body])
    }

    /// A message shows what a session says.
    pub fn note_said(&self, chat: i64, message: i64, session: &str) -> Result<(), StoreFault> {
        self.put("said", &message.to_string(), chat, &session)
    }

    /// A message shows what a session does; none as long as its number is not known.
    pub fn set_preview(
        &self,
        chat: i64,
        session: &str,
        message: Option<i64>,
    ) -> Result<(), StoreFault> {
        self.put("preview", session, chat, &message)
    }

    pub fn forget_preview(&self, chat: i64, session: &str) -> Result<(), StoreFault> {
        self.remove("preview", session, chat)
    }
}
