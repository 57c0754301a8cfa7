//! `chat.db`: everything that a bot knows. It is killed at any moment and goes on from here.
//!
//! An update is written down before it is acted on. What is to be sent stands here until the network has it. What
//! follows from an update or an event is written in one go with the note that it was dealt with, so that
//! nothing is dealt with twice and nothing is left out.

mod cards;
mod follows;
mod plans;
mod updates;

pub use cards::{Card, CardState, Seen};
pub use follows::{Follow, Mark};
pub use plans::PlanFollow;
pub use updates::Update;
pub(crate) use updates::{answered_by, heard_in};

use crate::button::{Bound, Button};
use crate::outbox::{Item, Lane, What, Worn};
use glis_wire::home::CHAT_DAMAGED as DAMAGED;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OptionalExtension as _, Transaction, params};
use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name of the file in the state folder.
pub const FILE: &str = "chat.db";
/// Another form of the tables is another number.
const FORM: i64 = 3;
/// All statements of this file and of those below it: none is made ready twice.
const STATEMENTS: usize = 64;
/// What was dealt with is known for so long; no network repeats an update after a day.
const KEPT_MS: i64 = 48 * 3_600_000;

/// What of the outbox is of use only beside messages that were sent before, or is asked for anew.
const BOUND_TO_MESSAGES: &str = "(json_extract(what, '$.edit') IS NOT NULL \
     OR json_extract(what, '$.used') IS NOT NULL OR json_extract(what, '$.ack') IS NOT NULL OR json_extract(what, '$.clear') IS NOT NULL \
     OR json_extract(what, '$.post.card') IS NOT NULL)";

const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS updates (
        id INTEGER PRIMARY KEY, at INTEGER NOT NULL, body TEXT NOT NULL,
        late INTEGER NOT NULL, done INTEGER NOT NULL DEFAULT 0) STRICT;
    CREATE TABLE IF NOT EXISTS outbox (
        id INTEGER PRIMARY KEY AUTOINCREMENT, chat INTEGER NOT NULL, thread INTEGER,
        lane TEXT NOT NULL, what TEXT NOT NULL, worn TEXT NOT NULL, expires INTEGER,
        speaker TEXT) STRICT;
    CREATE TABLE IF NOT EXISTS said (
        chat INTEGER NOT NULL, message INTEGER NOT NULL, session TEXT NOT NULL,
        UNIQUE (chat, message)) STRICT;
    CREATE TABLE IF NOT EXISTS buttons (
        nonce TEXT PRIMARY KEY, card TEXT NOT NULL, bound TEXT NOT NULL,
        deadline INTEGER NOT NULL, used_by INTEGER) STRICT;
    CREATE INDEX IF NOT EXISTS buttons_of_card ON buttons (card);
    CREATE TABLE IF NOT EXISTS cards (
        card TEXT PRIMARY KEY, chat INTEGER NOT NULL, thread INTEGER, session TEXT NOT NULL,
        request TEXT NOT NULL, generation INTEGER NOT NULL, shown TEXT NOT NULL,
        message INTEGER, state TEXT NOT NULL, fate TEXT, user INTEGER NOT NULL DEFAULT 0,
        seen TEXT NOT NULL DEFAULT 'all') STRICT;
    CREATE TABLE IF NOT EXISTS chats (
        chat INTEGER PRIMARY KEY, current TEXT, banned_until INTEGER) STRICT;
    CREATE TABLE IF NOT EXISTS follows (
        session TEXT NOT NULL, chat INTEGER NOT NULL, thread INTEGER, user INTEGER NOT NULL,
        name TEXT NOT NULL, told_at TEXT NOT NULL, told_sum INTEGER NOT NULL,
        PRIMARY KEY (session, chat)) STRICT;
    CREATE TABLE IF NOT EXISTS plans (
        plan TEXT NOT NULL, chat INTEGER NOT NULL, thread INTEGER, user INTEGER NOT NULL,
        place TEXT NOT NULL, told TEXT NOT NULL, PRIMARY KEY (plan, chat)) STRICT;
";

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreFault {
    /// What the database says.
    #[error("chat.db: {0}")]
    Sql(#[from] rusqlite::Error),
    /// What the system says.
    #[error("chat.db: {0}")]
    Io(#[from] std::io::Error),
    /// It is damaged.
    #[error("chat.db is damaged: {0}")]
    Damaged(String),
    /// A newer program has written it.
    #[error("chat.db was written by a newer glis (form {0})")]
    Newer(i64),
    /// Who is let in has just changed, and may be about to change back.
    #[error(
        "the lists of who is let in have just changed; what comes waits until they have stayed"
    )]
    Unsettled,
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

/// What a bot knows.
pub struct Store {
    db: Connection,
    /// Where its file is, and which one it is; nowhere for one in memory.
    file: Option<(PathBuf, u64)>,
}

/// How far the events of the house were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The name of the log.
    pub log_id: String,
    /// The next event.
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
        let number = options.open(&path)?.metadata()?.ino();
        let db = Connection::open(&path)?;
        db.busy_timeout(Duration::from_secs(10))?;
        db.pragma_update(None, "journal_mode", "WAL")?;
        db.pragma_update(None, "synchronous", "FULL")?;
        // All of it is looked at: it is small, and what is broken would come to light in the middle of something.
        let whole: String = db.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        if whole != "ok" {
            return Err(StoreFault::Damaged(whole));
        }
        Ok(Self { file: Some((path, number)), ..Self::prepare(db)? })
    }

    /// Whether its file is still the one that it has.
    pub fn has_its_file(&self) -> bool {
        self.file.as_ref().is_none_or(|(path, number)| {
            std::fs::metadata(path).is_ok_and(|facts| facts.ino() == *number)
        })
    }

    /// Writes its file again where none is any more: what is known is still here.
    pub fn write_again(&self) -> Result<(), StoreFault> {
        let Some((path, _)) = self.file.as_ref().filter(|(path, _)| !path.exists()) else {
            return Ok(());
        };
        let fresh = path.with_extension("new");
        // Of an earlier attempt.
        drop(std::fs::remove_file(&fresh));
        let private = File::options().write(true).create_new(true).mode(0o600).open(&fresh)?;
        self.db.execute("VACUUM INTO ?1", [fresh.to_string_lossy()])?;
        private.sync_all()?;
        // Those of the old one are not the new one's.
        for companion in ["-wal", "-shm"] {
            drop(std::fs::remove_file(format!("{}{companion}", path.display())));
        }
        Ok(std::fs::rename(fresh, path)?)
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

    fn prepare(db: Connection) -> Result<Self, StoreFault> {
        db.set_prepared_statement_cache_capacity(STATEMENTS);
        // Otherwise a statement is made anew for each value that is looked for.
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        let form: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if form > FORM {
            return Err(StoreFault::Newer(form));
        }
        db.execute_batch(TABLES)?;
        if form == 1 {
            // A button of each card tells whose it is.
            db.execute_batch(
                "ALTER TABLE outbox ADD COLUMN speaker TEXT;
                 ALTER TABLE cards ADD COLUMN user INTEGER NOT NULL DEFAULT 0;
                 UPDATE cards SET user = coalesce((SELECT json_extract(bound, '$.user')
                     FROM buttons WHERE buttons.card = cards.card), user);",
            )?;
        }
        if (1..3).contains(&form) {
            db.execute_batch("ALTER TABLE cards ADD COLUMN seen TEXT NOT NULL DEFAULT 'all';")?;
        }
        db.pragma_update(None, "user_version", FORM)?;
        Ok(Self { db, file: None })
    }

    /// Several changes that are made together or not at all.
    pub fn change<T>(
        &mut self,
        change: impl FnOnce(&Change<'_>) -> Result<T, StoreFault>,
    ) -> Result<T, StoreFault> {
        let inner = self.db.transaction()?;
        let change_of = Change { db: &inner };
        let done = change(&change_of)?;
        inner.commit()?;
        Ok(done)
    }

    /// Looks, and changes nothing.
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
}

impl Look<'_> {
    /// A word that is kept under a name.
    pub fn meta(&self, key: &str) -> Result<Option<String>, StoreFault> {
        let sql = "SELECT value FROM meta WHERE key = ?1";
        Ok(self.db.prepare_cached(sql)?.query_row([key], |row| row.get(0)).optional()?)
    }

    /// How far the events were read.
    pub fn position(&self) -> Result<Option<Position>, StoreFault> {
        let (log_id, next) = (self.meta("log_id")?, self.meta("next")?);
        let next = next.and_then(|text| text.parse().ok());
        Ok(log_id.zip(next).map(|(log_id, next)| Position { log_id, next }))
    }

    /// What waits to be sent from this number on. Times to expire are those of the wall clock.
    pub fn waiting(&self, from: u64) -> Result<Vec<Item>, StoreFault> {
        let sql = "SELECT id, chat, thread, lane, what, worn, expires, speaker FROM outbox \
                   WHERE id >= ?1 ORDER BY id";
        let mut rows = self.db.prepare_cached(sql)?;
        let mut found = rows.query([stored(from)])?;
        let mut items = Vec::new();
        while let Some(row) = found.next()? {
            let (lane, what, worn): (String, String, String) =
                (row.get(3)?, row.get(4)?, row.get(5)?);
            let what: What = serde_json::from_str(&what)?;
            let lane: Lane = serde_json::from_str(&lane)?;
            let worn: Worn = serde_json::from_str(&worn)?;
            let id: i64 = row.get(0)?;
            let expires: Option<i64> = row.get(6)?;
            let item = Item::new(id.unsigned_abs(), row.get(1)?, row.get(2)?, lane, what);
            let (expires, speaker) = (expires.map(i64::unsigned_abs), row.get(7)?);
            items.push(Item { worn, expires, speaker, ..item });
        }
        Ok(items)
    }

    /// Whether words of agents wait to be sent to this chat.
    pub fn has_words_waiting(&self, chat: i64) -> Result<bool, StoreFault> {
        let sql = "SELECT 1 FROM outbox WHERE chat = ?1 AND lane = ?2 \
                   AND json_extract(what, '$.clear') IS NULL";
        let lane = serde_json::to_string(&Lane::Final)?;
        Ok(self.db.prepare_cached(sql)?.exists(params![chat, lane])?)
    }

    /// Whether this still waits to be sent.
    pub fn waits(&self, id: u64) -> Result<bool, StoreFault> {
        let sql = "SELECT 1 FROM outbox WHERE id = ?1";
        Ok(self.db.prepare_cached(sql)?.exists([stored(id)])?)
    }

    /// A button.
    pub fn button(&self, nonce: &str) -> Result<Option<Button>, StoreFault> {
        let sql = "SELECT bound, used_by FROM buttons WHERE nonce = ?1";
        let mut rows = self.db.prepare_cached(sql)?;
        let row = rows.query_row([nonce], |row| Ok((row.get(0)?, row.get(1)?)));
        let Some((bound, used_by)) = row.optional()? else { return Ok(None) };
        let bound: String = bound;
        Ok(Some(Button { bound: serde_json::from_str(&bound)?, used_by }))
    }

    /// The current session of a chat.
    pub fn current(&self, chat: i64) -> Result<Option<String>, StoreFault> {
        let sql = "SELECT current FROM chats WHERE chat = ?1";
        Ok(self.db.prepare_cached(sql)?.query_row([chat], |row| row.get(0)).optional()?.flatten())
    }

    /// Chats to which nothing may go before a time of the wall clock.
    pub fn bans(&self) -> Result<Vec<(i64, i64)>, StoreFault> {
        let sql = "SELECT chat, banned_until FROM chats WHERE banned_until IS NOT NULL";
        let mut rows = self.db.prepare_cached(sql)?;
        let found = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// For how much longer a chat is banned, by a clock that may have been set back since: never for longer than
    /// the ban was.
    pub fn ban_left(&self, chat: i64, until: i64, now: i64) -> Result<u64, StoreFault> {
        let whole = self.meta(&ban_of(chat))?.and_then(|ms| ms.parse().ok());
        Ok(u64::try_from(until - now).unwrap_or(0).min(whole.unwrap_or(u64::MAX)))
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

/// Where the length of a chat's ban is kept.
fn ban_of(chat: i64) -> String {
    format!("ban-{chat}")
}

/// A number as it is stored.
fn stored(id: u64) -> i64 {
    i64::try_from(id).unwrap_or(i64::MAX)
}

impl Change<'_> {
    /// The same looks, within the change.
    pub fn look(&self) -> Look<'_> {
        Look { db: self.db }
    }

    /// Keeps a word under a name.
    pub fn set_meta(&self, key: &str, value: &str) -> Result<(), StoreFault> {
        let sql = "INSERT INTO meta VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2";
        self.db.prepare_cached(sql)?.execute([key, value])?;
        Ok(())
    }

    /// What was kept under a name is not needed any more.
    pub fn forget_meta(&self, key: &str) -> Result<(), StoreFault> {
        self.db.prepare_cached("DELETE FROM meta WHERE key = ?1")?.execute([key])?;
        Ok(())
    }

    /// This bot goes on here. What another one has seen and shown on the network is not its own: its updates and
    /// its messages have numbers of theirs. What agents ask is shown again, by this one.
    pub fn begin_as(&self, bot: i64) -> Result<(), StoreFault> {
        let known = self.look().meta("bot")?;
        if known.is_some_and(|known| known != bot.to_string()) {
            self.db.execute_batch(&format!(
                "DELETE FROM updates; DELETE FROM cards; DELETE FROM said;
                 DELETE FROM outbox WHERE {BOUND_TO_MESSAGES};
                 DELETE FROM buttons WHERE json_extract(bound, '$.act.run_late') IS NOT NULL;
                 DELETE FROM meta WHERE key = 'offset' OR key GLOB 'preview-*'
                     OR key GLOB 'began-*' OR key GLOB 'answered-*' OR key GLOB 'meant-*'
                     OR key GLOB 'heard-*';"
            ))?;
        }
        self.set_meta("bot", &bot.to_string())
    }

    /// Everything up to there was read.
    pub fn set_position(&self, position: &Position) -> Result<(), StoreFault> {
        self.set_meta("log_id", &position.log_id)?;
        self.set_meta("next", &position.next.to_string())
    }

    /// Adds something to be sent; `expires` is a time of the wall clock.
    pub fn push(
        &self,
        to: (i64, Option<i64>),
        lane: Lane,
        what: &What,
        expires: Option<i64>,
    ) -> Result<(), StoreFault> {
        self.push_by(None, to, (lane, what), expires)
    }

    /// The same as what this session says.
    pub fn push_by(
        &self,
        speaker: Option<&str>,
        (chat, thread): (i64, Option<i64>),
        (lane, what): (Lane, &What),
        expires: Option<i64>,
    ) -> Result<(), StoreFault> {
        let sql = "INSERT INTO outbox (chat, thread, lane, what, worn, expires, speaker) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let (lane, what) = (serde_json::to_string(&lane)?, serde_json::to_string(what)?);
        let worn = serde_json::to_string(&Worn::Not)?;
        let values = params![chat, thread, lane, what, worn, expires, speaker];
        self.db.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }

    /// Something is sent, or need not be any more.
    pub fn sent(&self, id: u64) -> Result<(), StoreFault> {
        self.db.prepare_cached("DELETE FROM outbox WHERE id = ?1")?.execute([stored(id)])?;
        Ok(())
    }

    /// Something is to be sent in another form.
    pub fn reshape(&self, item: &Item) -> Result<(), StoreFault> {
        let sql = "UPDATE outbox SET thread = ?2, what = ?3, worn = ?4 WHERE id = ?1";
        let (what, worn) = (serde_json::to_string(&item.what)?, serde_json::to_string(&item.worn)?);
        self.db.prepare_cached(sql)?.execute(params![stored(item.id), item.thread, what, worn])?;
        Ok(())
    }

    /// Keeps a button of a card.
    pub fn add_button(&self, card: &str, nonce: &str, bound: &Bound) -> Result<(), StoreFault> {
        let sql = "INSERT INTO buttons (nonce, card, bound, deadline) VALUES (?1, ?2, ?3, ?4)";
        let text = serde_json::to_string(bound)?;
        self.db.prepare_cached(sql)?.execute(params![nonce, card, text, bound.deadline])?;
        // Those of which only `expired` could be said for so long say `unknown` from now on.
        let old = "DELETE FROM buttons WHERE deadline < ?1";
        self.db.prepare_cached(old)?.execute([bound.deadline - 30 * KEPT_MS])?;
        Ok(())
    }

    /// A button was pressed: it and the others of its card are used up, by this update.
    pub fn use_up(&self, nonce: &str, update: i64) -> Result<(), StoreFault> {
        let sql = "UPDATE buttons SET used_by = ?2 WHERE used_by IS NULL AND card = \
                   (SELECT card FROM buttons WHERE nonce = ?1)";
        self.db.prepare_cached(sql)?.execute(params![nonce, update])?;
        Ok(())
    }

    /// A button was pressed that counts again, by this update.
    pub fn note_press(&self, nonce: &str, update: i64) -> Result<(), StoreFault> {
        let sql = "UPDATE buttons SET used_by = ?2 WHERE nonce = ?1";
        self.db.prepare_cached(sql)?.execute(params![nonce, update])?;
        Ok(())
    }

    /// A chat has another current session, or none.
    pub fn set_current(&self, chat: i64, session: Option<&str>) -> Result<(), StoreFault> {
        let sql = "INSERT INTO chats (chat, current) VALUES (?1, ?2) \
                   ON CONFLICT DO UPDATE SET current = ?2";
        self.db.prepare_cached(sql)?.execute(params![chat, session])?;
        Ok(())
    }

    /// A session is no chat's current one any more.
    pub fn forget_current(&self, session: &str) -> Result<(), StoreFault> {
        let sql = "UPDATE chats SET current = NULL WHERE current = ?1";
        self.db.prepare_cached(sql)?.execute([session])?;
        Ok(())
    }

    /// Nothing may go to this chat before that time of the wall clock.
    pub fn set_ban(&self, chat: i64, now: i64, left: u64) -> Result<(), StoreFault> {
        let sql = "INSERT INTO chats (chat, banned_until) VALUES (?1, ?2) \
                   ON CONFLICT DO UPDATE SET banned_until = ?2";
        let until = now.saturating_add_unsigned(left);
        self.db.prepare_cached(sql)?.execute(params![chat, until])?;
        self.set_meta(&ban_of(chat), &left.to_string())
    }
}

#[cfg(test)]
mod tests;
