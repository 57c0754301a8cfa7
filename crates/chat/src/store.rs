//! `chat.db`: everything that a bot knows. It is killed at any moment and goes on from here.
//!
//! An update is written down before it is acted on. What is to be sent stands here until the network has it. What
//! follows from an update or an event is written in one go with the note that it was dealt with, so that
//! nothing is dealt with twice and nothing is left out.
//!
//! It is one table of documents, found by their kind, key and chat. There are some thousands at most, so that looking
//! through all of a kind takes a moment.

mod cards;
mod follows;
mod outbox;
mod updates;

pub use cards::{Card, CardState, Seen};
pub use follows::{Follow, Mark, PlanFollow};
pub use updates::Update;

use crate::time;
use glis_wire::home::CHAT_DAMAGED as DAMAGED;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, Params, ToSql, Transaction, params};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name of the file in the state folder.
pub const FILE: &str = "chat.db";
/// Another form of the table is another number. One of another build is left alone: nothing was released before this one.
const FORM: i64 = 5;
/// All statements of this file and of those below it: none is made ready twice.
const STATEMENTS: usize = 64;
/// What was dealt with is known for so long; no network repeats an update after a day.
const UPDATES_KEPT_MS: i64 = 48 * 3_600_000;
/// Buttons of which only `expired` could be said for so long say `unknown` from then on.
const BUTTONS_KEPT_MS: i64 = 60 * 24 * 3_600_000;
/// So many cards are known, open or not: the buttons of old ones that are closed count for nothing.
const CARDS_KEPT: i64 = 1000;
/// Of so many messages it is known whose words they show.
const SAID_KEPT: i64 = 2000;

const TABLE: &str = "
    CREATE TABLE IF NOT EXISTS docs (
        id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, key TEXT, chat INTEGER NOT NULL,
        body TEXT NOT NULL, UNIQUE (kind, key, chat)) STRICT;
    CREATE INDEX IF NOT EXISTS docs_of_session ON docs (kind, body ->> '$.session');
";

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreFault {
    #[error("chat.db: {0}")]
    Sql(#[from] rusqlite::Error),
    #[error("chat.db: {0}")]
    Io(#[from] std::io::Error),
    #[error("chat.db is damaged: {0}")]
    Damaged(String),
    #[error("chat.db was written by another glis (form {0}); moved away, a new one is begun")]
    OtherForm(i64),
    /// What stands in it makes no sense.
    #[error("chat.db holds something that cannot be read: {0}")]
    Garbled(#[from] serde_json::Error),
}

impl StoreFault {
    /// Whether the file itself is broken: then no patience helps.
    pub fn is_damage(&self) -> bool {
        let Self::Sql(fault) = self else { return matches!(self, Self::Damaged(_)) };
        let code = fault.sqlite_error_code();
        matches!(code, Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
    }
}

pub struct Store {
    db: Connection,
    /// The wall clock, in milliseconds.
    pub(crate) clock: fn() -> i64,
}

/// How far the events of the house were read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    pub log_id: String,
    pub next: u64,
}

impl Store {
    /// Opens the file in this folder, and makes it where there is none. One that is damaged is put aside, and the new
    /// one knows under which name.
    pub fn open(state: &Path) -> Result<Self, StoreFault> {
        match Self::open_file(state) {
            Err(fault) if fault.is_damage() => {
                let aside = put_aside(&state.join(FILE))?;
                let mut store = Self::open_file(state)?;
                store.change(|change| change.set_meta(PUT_ASIDE, &aside))?;
                Ok(store)
            }
            opened => opened,
        }
    }

    fn open_file(state: &Path) -> Result<Self, StoreFault> {
        DirBuilder::new().recursive(true).mode(0o700).create(state)?;
        let path = state.join(FILE);
        // Its companions get the same rights.
        let mut options = File::options();
        let options = options.write(true).create(true).truncate(false).mode(0o600);
        options.open(&path)?;
        let db = Connection::open(&path)?;
        db.busy_timeout(Duration::from_secs(10))?;
        db.pragma_update(None, "journal_mode", "WAL")?;
        db.pragma_update(None, "synchronous", "FULL")?;
        // All of it is looked at: it is small, and what is broken would come to light in the middle of something.
        let whole: String = db.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        if whole != "ok" {
            return Err(StoreFault::Damaged(whole));
        }
        Self::prepare(db)
    }

    /// The name of the file that was put aside for this one, as long as nobody was told.
    pub fn put_aside(&self) -> Result<Option<String>, StoreFault> {
        self.look().meta(PUT_ASIDE)
    }

    /// Takes no change, as a disk without room, or takes them again.
    #[cfg(test)]
    pub(crate) fn refuse(&self, refuses: bool) {
        self.db.pragma_update(None, "query_only", refuses).unwrap();
    }

    /// One that is forgotten, for tests.
    pub fn in_memory() -> Result<Self, StoreFault> {
        Self::prepare(Connection::open_in_memory()?)
    }

    fn prepare(mut db: Connection) -> Result<Self, StoreFault> {
        db.set_prepared_statement_cache_capacity(STATEMENTS);
        // Otherwise a statement is made anew for each value that is looked for.
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        let form: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
        match form {
            FORM => {}
            0 => {
                let whole = db.transaction()?;
                whole.execute_batch(TABLE)?;
                whole.pragma_update(None, "user_version", FORM)?;
                whole.commit()?;
            }
            other => return Err(StoreFault::OtherForm(other)),
        }
        Ok(Self { db, clock: time::wall_ms })
    }

    /// Several changes that are made together or not at all.
    pub fn change<T>(
        &mut self,
        change: impl FnOnce(&Change<'_>) -> Result<T, StoreFault>,
    ) -> Result<T, StoreFault> {
        let inner = self.db.transaction()?;
        let change_of = Change { db: &inner, clock: self.clock };
        let done = change(&change_of)?;
        inner.commit()?;
        Ok(done)
    }

    pub fn look(&self) -> Look<'_> {
        Look { db: &self.db }
    }
}

/// What can be looked up.
pub struct Look<'s> {
    db: &'s Connection,
}

/// What can be changed, within one transaction.
pub struct Change<'s> {
    db: &'s Transaction<'s>,
    clock: fn() -> i64,
}

#[derive(Default, Serialize, Deserialize)]
struct ChatFacts {
    chat: i64,
    /// The session that is talked to there.
    current: Option<String>,
    /// Nothing may go there before this time of the wall clock, and how long that was from the beginning.
    ban: Option<(i64, u64)>,
}

impl Look<'_> {
    /// The documents of a kind of which a column, or something in the body, is this, in the order in which they came.
    fn find<T: DeserializeOwned>(
        &self,
        kind: &str,
        column: &str,
        value: impl ToSql,
    ) -> Result<Vec<T>, StoreFault> {
        let sql = format!("SELECT body FROM docs WHERE kind = ?1 AND {column} = ?2 ORDER BY id");
        let mut rows = self.db.prepare_cached(&sql)?;
        let found = rows.query_map(params![kind, value], |row| row.get::<_, String>(0))?;
        found.map(|body| Ok(serde_json::from_str(&body?)?)).collect()
    }

    fn get<T: DeserializeOwned>(
        &self,
        kind: &str,
        key: &str,
        chat: i64,
    ) -> Result<Option<T>, StoreFault> {
        let sql = "SELECT body FROM docs WHERE kind = ?1 AND key = ?2 AND chat = ?3";
        let mut rows = self.db.prepare_cached(sql)?;
        let mut found = rows.query(params![kind, key, chat])?;
        let body = found.next()?.map(|row| row.get::<_, String>(0)).transpose()?;
        Ok(body.map(|body| serde_json::from_str(&body)).transpose()?)
    }

    /// Something that there is one of, by its name.
    pub fn meta<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, StoreFault> {
        self.get("meta", key, 0)
    }

    /// How far the events were read.
    pub fn position(&self) -> Result<Option<Position>, StoreFault> {
        self.meta("position")
    }

    pub fn current(&self, chat: i64) -> Result<Option<String>, StoreFault> {
        Ok(self.get::<ChatFacts>("chat", "", chat)?.and_then(|chat| chat.current))
    }

    /// Every chat of which anything is known.
    pub fn chats(&self) -> Result<Vec<i64>, StoreFault> {
        let mut rows = self.db.prepare_cached("SELECT DISTINCT chat FROM docs WHERE chat != 0")?;
        let found = rows.query_map([], |row| row.get(0))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// For how much longer a chat is banned, by a clock that may have been set back since: never for longer than the
    /// ban was.
    pub fn ban(&self, chat: i64, now: i64) -> Result<u64, StoreFault> {
        let ban = self.get::<ChatFacts>("chat", "", chat)?.and_then(|chat| chat.ban);
        Ok(ban.map_or(0, |(until, whole)| u64::try_from(until - now).unwrap_or(0).min(whole)))
    }
}

/// Where it is kept which file was put aside.
pub(crate) const PUT_ASIDE: &str = "put-aside";

/// Gives a damaged file another name, beside the old one, with its companions. Returns the name.
fn put_aside(path: &Path) -> Result<String, StoreFault> {
    let name = format!("{DAMAGED}{}", jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S"));
    for companion in ["-wal", "-shm", ""] {
        let from = PathBuf::from(format!("{}{companion}", path.display()));
        if from.exists() {
            std::fs::rename(from, path.with_file_name(format!("{name}{companion}")))?;
        }
    }
    Ok(name)
}

impl Change<'_> {
    /// When it is made.
    pub fn now(&self) -> i64 {
        (self.clock)()
    }

    /// The same looks, within the change.
    pub fn look(&self) -> Look<'_> {
        Look { db: self.db }
    }

    fn run(&self, sql: &str, values: impl Params) -> Result<(), StoreFault> {
        self.db.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }

    /// Keeps a document, in the place of one of the same name.
    fn put<T: Serialize>(
        &self,
        kind: &str,
        key: &str,
        chat: i64,
        doc: &T,
    ) -> Result<(), StoreFault> {
        let sql = "INSERT INTO docs (kind, key, chat, body) VALUES (?1, ?2, ?3, ?4) \
                   ON CONFLICT (kind, key, chat) DO UPDATE SET body = ?4";
        self.run(sql, params![kind, key, chat, serde_json::to_string(doc)?])
    }

    /// Changes a document, if there is one of this name.
    fn edit<T: Serialize + DeserializeOwned>(
        &self,
        (kind, key, chat): (&str, &str, i64),
        edit: impl FnOnce(&mut T),
    ) -> Result<(), StoreFault> {
        let Some(mut doc) = self.look().get(kind, key, chat)? else { return Ok(()) };
        edit(&mut doc);
        self.put(kind, key, chat, &doc)
    }

    fn remove(&self, kind: &str, key: &str, chat: i64) -> Result<(), StoreFault> {
        let sql = "DELETE FROM docs WHERE kind = ?1 AND key = ?2 AND chat = ?3";
        self.run(sql, params![kind, key, chat])
    }

    /// Keeps something that there is one of, under a name.
    pub fn set_meta<T: Serialize>(&self, key: &str, value: &T) -> Result<(), StoreFault> {
        self.put("meta", key, 0, value)
    }

    /// What was kept under a name is not needed any more.
    pub fn forget_meta(&self, key: &str) -> Result<(), StoreFault> {
        self.remove("meta", key, 0)
    }

    /// Forgets what is too old to be of use.
    pub fn forget_old(&self, now: i64) -> Result<(), StoreFault> {
        let last = "id NOT IN (SELECT id FROM docs WHERE kind = ?1 ORDER BY id DESC LIMIT ?2)";
        for (kind, old, value) in [
            ("update", "body ->> '$.done' AND body ->> '$.at' < ?2", now - UPDATES_KEPT_MS),
            ("keyboard", "body ->> '$.deadline' < ?2", now - BUTTONS_KEPT_MS),
            ("card", &format!("body ->> '$.state' = 'closed' AND {last}"), CARDS_KEPT),
            ("said", last, SAID_KEPT),
        ] {
            let sql = format!("DELETE FROM docs WHERE kind = ?1 AND {old}");
            self.run(&sql, params![kind, value])?;
        }
        Ok(())
    }

    /// Everything up to there was read.
    pub fn set_position(&self, position: &Position) -> Result<(), StoreFault> {
        self.set_meta("position", position)
    }

    fn edit_chat(&self, chat: i64, edit: impl FnOnce(&mut ChatFacts)) -> Result<(), StoreFault> {
        let known = self.look().get("chat", "", chat)?;
        let mut known = known.unwrap_or(ChatFacts { chat, ..ChatFacts::default() });
        edit(&mut known);
        self.put("chat", "", chat, &known)
    }

    /// A chat has another current session, or none.
    pub fn set_current(&self, chat: i64, session: Option<&str>) -> Result<(), StoreFault> {
        self.edit_chat(chat, |chat| chat.current = session.map(str::to_owned))
    }

    /// A session is no chat's current one any more.
    pub fn forget_current(&self, session: &str) -> Result<(), StoreFault> {
        let chats: Vec<ChatFacts> = self.look().find("chat", "body ->> '$.current'", session)?;
        chats.into_iter().try_for_each(|chat| self.set_current(chat.chat, None))
    }

    /// Nothing may go to this chat for so long, by the wall clock.
    pub fn set_ban(&self, chat: i64, now: i64, left: u64) -> Result<(), StoreFault> {
        self.edit_chat(chat, |chat| chat.ban = Some((now.saturating_add_unsigned(left), left)))
    }

    /// This bot goes on here. Nothing that another one has seen and shown on the network is its own: updates and
    /// messages have other numbers, and people choose anew which sessions they hear of.
    pub fn begin_as(&self, bot: i64) -> Result<(), StoreFault> {
        let known: Option<i64> = self.look().meta("bot")?;
        if known.is_some_and(|known| known != bot) {
            self.run("DELETE FROM docs", [])?;
        }
        self.set_meta("bot", &bot)
    }

    /// A chat hears of nothing any more.
    pub fn forget_chat(&self, chat: i64) -> Result<(), StoreFault> {
        self.run("DELETE FROM docs WHERE chat = ?1", [chat])
    }
}

#[cfg(test)]
mod tests;
