//! Which chats hear of which sessions, and how much of a conversation they were told.

use super::{BOUND_TO_MESSAGES, Change, Look, StoreFault};
use rusqlite::{Row, params};

/// A chat that hears of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Follow {
    /// The session's id.
    pub session: String,
    /// The chat.
    pub chat: i64,
    /// The topic of this session.
    pub thread: Option<i64>,
    /// Who last spoke to it there: whom its questions are for.
    pub user: i64,
    /// The session's name.
    pub name: String,
    /// The last entry that was told.
    pub told: Mark,
}

/// An entry of a conversation, to be found again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mark {
    /// When it was written; nothing before is told, whatever becomes of the file.
    pub at: String,
    /// A sum over all of it.
    pub sum: i64,
}

/// Of so many messages it is known whose words they show.
const SAID_KEPT: i64 = 2000;

const FIELDS: &str = "session, chat, thread, user, name, told_at, told_sum";

fn follow(row: &Row<'_>) -> rusqlite::Result<Follow> {
    Ok(Follow {
        session: row.get(0)?,
        chat: row.get(1)?,
        thread: row.get(2)?,
        user: row.get(3)?,
        name: row.get(4)?,
        told: Mark { at: row.get(5)?, sum: row.get(6)? },
    })
}

impl Look<'_> {
    /// The chats that hear of this session.
    pub fn follows_of(&self, session: &str) -> Result<Vec<Follow>, StoreFault> {
        let sql = format!("SELECT {FIELDS} FROM follows WHERE session = ?1 ORDER BY chat");
        let mut rows = self.db.prepare_cached(&sql)?;
        let found = rows.query_map([session], follow)?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Every session that a chat hears of, once.
    pub fn followed(&self) -> Result<Vec<String>, StoreFault> {
        let mut rows = self.db.prepare_cached("SELECT DISTINCT session FROM follows")?;
        let found = rows.query_map([], |row| row.get(0))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// Every chat that hears of anything, or has something to come.
    pub fn chats(&self) -> Result<Vec<i64>, StoreFault> {
        let sql = "SELECT chat FROM follows UNION SELECT chat FROM outbox UNION SELECT chat FROM plans \
                   UNION SELECT chat FROM chats UNION SELECT chat FROM cards";
        let mut rows = self.db.prepare_cached(sql)?;
        let found = rows.query_map([], |row| row.get(0))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// The session whose words this message shows.
    pub fn said_by(&self, chat: i64, message: i64) -> Result<Option<String>, StoreFault> {
        let sql = "SELECT session FROM said WHERE chat = ?1 AND message = ?2";
        let mut rows = self.db.prepare_cached(sql)?;
        let mut found = rows.query(params![chat, message])?;
        Ok(found.next()?.map(|row| row.get(0)).transpose()?)
    }

    /// The session whose topic this is.
    pub fn of_topic(&self, chat: i64, thread: i64) -> Result<Option<String>, StoreFault> {
        let sql = "SELECT session FROM follows WHERE chat = ?1 AND thread = ?2 LIMIT 1";
        let mut rows = self.db.prepare_cached(sql)?;
        let mut found = rows.query(params![chat, thread])?;
        Ok(found.next()?.map(|row| row.get(0)).transpose()?)
    }
}

/// Where it is kept which number a group has now.
const MOVED: &str = "moved-";

impl Look<'_> {
    /// The groups that have other numbers now: the old one and the new.
    pub fn moves(&self) -> Result<Vec<(i64, i64)>, StoreFault> {
        let sql = format!("SELECT key, value FROM meta WHERE key GLOB '{MOVED}*'");
        let mut rows = self.db.prepare_cached(&sql)?;
        let mut found = rows.query([])?;
        let mut moves = Vec::new();
        while let Some(row) = found.next()? {
            let (key, to): (String, String) = (row.get(0)?, row.get(1)?);
            let from = key.strip_prefix(MOVED).and_then(|from| from.parse().ok());
            moves.extend(from.zip(to.parse().ok()));
        }
        Ok(moves)
    }

    /// Whether the network was not yet asked for the topic that a session is to have.
    pub fn is_topic_on_its_way(&self, chat: i64, session: &str) -> Result<bool, StoreFault> {
        let sql = "SELECT 1 FROM outbox \
                   WHERE chat = ?1 AND json_extract(what, '$.topic.session') = ?2";
        Ok(self.db.prepare_cached(sql)?.exists(params![chat, session])?)
    }
}

impl Change<'_> {
    /// A chat hears of a session from now on. What it was told already stays told.
    pub fn follow(&self, follow: &Follow) -> Result<(), StoreFault> {
        let sql = "INSERT INTO follows VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
                   ON CONFLICT DO UPDATE SET user = ?4, name = ?5, thread = coalesce(?3, thread)";
        self.db.prepare_cached(sql)?.execute(params![
            follow.session,
            follow.chat,
            follow.thread,
            follow.user,
            follow.name,
            follow.told.at,
            follow.told.sum
        ])?;
        Ok(())
    }

    /// A session has this topic of a chat.
    pub fn set_topic(&self, session: &str, chat: i64, thread: i64) -> Result<(), StoreFault> {
        let sql = "UPDATE follows SET thread = ?3 WHERE session = ?1 AND chat = ?2";
        self.db.prepare_cached(sql)?.execute(params![session, chat, thread])?;
        Ok(())
    }

    /// A topic is gone: what was for it is for its chat. The names of the sessions whose it was.
    pub fn leave_topic(&self, chat: i64, thread: i64) -> Result<Vec<String>, StoreFault> {
        let names = {
            let sql = "SELECT name FROM follows WHERE chat = ?1 AND thread = ?2";
            let mut rows = self.db.prepare_cached(sql)?;
            let found = rows.query_map(params![chat, thread], |row| row.get(0))?;
            found.collect::<Result<Vec<String>, _>>()?
        };
        for table in ["follows", "outbox", "cards", "plans"] {
            let sql = format!("UPDATE {table} SET thread = NULL WHERE chat = ?1 AND thread = ?2");
            self.db.prepare_cached(&sql)?.execute(params![chat, thread])?;
        }
        Ok(names)
    }

    /// A chat was told everything up to this entry.
    pub fn set_told(&self, session: &str, chat: i64, mark: &Mark) -> Result<(), StoreFault> {
        let sql = "UPDATE follows SET told_at = ?3, told_sum = ?4 WHERE session = ?1 AND chat = ?2";
        self.db.prepare_cached(sql)?.execute(params![session, chat, mark.at, mark.sum])?;
        Ok(())
    }

    /// A message shows what a session says.
    pub fn note_said(&self, chat: i64, message: i64, session: &str) -> Result<(), StoreFault> {
        let sql = "INSERT OR REPLACE INTO said VALUES (?1, ?2, ?3)";
        self.db.prepare_cached(sql)?.execute(params![chat, message, session])?;
        let old = "DELETE FROM said WHERE rowid < (SELECT max(rowid) FROM said) - ?1";
        self.db.prepare_cached(old)?.execute([SAID_KEPT])?;
        Ok(())
    }

    /// A group has another number. Its messages have others there: what is asked is shown again.
    pub fn move_chat(&self, from: i64, to: i64) -> Result<(), StoreFault> {
        self.set_meta(&format!("{MOVED}{from}"), &to.to_string())?;
        for gone in [
            "cards WHERE chat = ?1",
            "said WHERE chat = ?1",
            &format!("outbox WHERE chat = ?1 AND {BOUND_TO_MESSAGES}"),
        ] {
            self.db.prepare_cached(&format!("DELETE FROM {gone}"))?.execute([from])?;
        }
        let bound = "UPDATE buttons SET bound = json_set(bound, '$.chat', ?2) \
                     WHERE json_extract(bound, '$.chat') = ?1";
        self.db.prepare_cached(bound)?.execute([from, to])?;
        for table in ["follows", "plans", "chats", "outbox"] {
            // What is known of it under its new number is the newer.
            let sql = format!("UPDATE OR IGNORE {table} SET chat = ?2 WHERE chat = ?1");
            self.db.prepare_cached(&sql)?.execute([from, to])?;
            self.db
                .prepare_cached(&format!("DELETE FROM {table} WHERE chat = ?1"))?
                .execute([from])?;
        }
        Ok(())
    }

    /// A chat hears of nothing any more.
    pub fn forget_chat(&self, chat: i64) -> Result<(), StoreFault> {
        for table in ["follows", "outbox", "plans", "chats", "cards", "said"] {
            let sql = format!("DELETE FROM {table} WHERE chat = ?1");
            self.db.prepare_cached(&sql)?.execute([chat])?;
        }
        Ok(())
    }

    /// No chat hears of this session any more.
    pub fn unfollow(&self, session: &str) -> Result<(), StoreFault> {
        self.db.prepare_cached("DELETE FROM follows WHERE session = ?1")?.execute([session])?;
        Ok(())
    }
}
