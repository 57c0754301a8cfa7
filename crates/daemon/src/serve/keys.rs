//! Calls with a key: a repeat within a day changes nothing and gets the first response, also from the
//! next daemon.
//!
//! A call is written down before it is carried out, and its response before it is told. Whether a daemon that died
//! over one had begun it is seen in the log (`cut_short`).

use crate::clock;
use crate::panics::held;
use crate::pools::{Kind, Pools};
use glis_core::Refusal;
use glis_wire::client::{Request, Response, Trouble};
use glis_wire::frame::Frame;
use rusqlite::{Connection, OptionalExtension as _, params};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use tokio::sync::Notify;
use tracing::warn;

/// Name of the file in the state folder.
const FILE: &str = "calls.db";
/// How long a key is known. A phone that comes back out of a tunnel, or a chat that delivers late, has
/// repeated itself by then.
const KNOWN_MS: i64 = 24 * 60 * 60 * 1000;
/// Keys that are known at most; beyond that the oldest go. A person who presses a button every ten
/// seconds for a day has fewer.
const KEYS_MAX: u32 = 10_000;
/// No key that a face makes is longer.
const KEY_BYTES_MAX: usize = 256;

const TABLE: &str = "CREATE TABLE IF NOT EXISTS calls (
    key TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    request TEXT NOT NULL,
    response TEXT,
    seq INTEGER NOT NULL DEFAULT 0
) STRICT;";

/// The keys that the calls of one house had.
pub(crate) struct Keys {
    path: PathBuf,
    pools: Pools,
    /// Keys of calls that this daemon is carrying out.
    under_way: Mutex<HashSet<String>>,
    ended: Notify,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Known {
    /// Nothing: the call is to be carried out.
    First,
    /// This response was given, or is all that can be said.
    Said(Box<Response>),
    /// A daemon has died over it. What it has led to, if anything, is in the log behind this event.
    CutShort(u64),
}

/// What stands in the file about a key.
enum Row {
    Fresh,
    Begun { request: String, response: Option<String>, seq: i64 },
}

impl Keys {
    pub(crate) fn new(state: &Path, pools: Pools) -> Self {
        let (under_way, ended) = (Mutex::default(), Notify::new());
        Self { path: state.join(FILE), pools, under_way, ended }
    }

    /// Says whether a call is the first under its key, and takes note of it then. A repeat of a call
    /// that is being carried out waits for its response. `last` is the log's last event.
    pub(crate) async fn begin(&self, key: &str, request: &Request, last: u64) -> Known {
        if key.is_empty() || key.len() > KEY_BYTES_MAX {
            let message = format!("a key has from 1 to {KEY_BYTES_MAX} bytes");
            return trouble(Trouble::BadInput, message);
        }
        let Ok(request) = serde_json::to_string(request) else {
            return trouble(Trouble::Internal, "the call cannot be written down".to_owned());
        };
        loop {
            let ended = self.ended.notified();
            tokio::pin!(ended);
            // From here on no end is missed.
            ended.as_mut().enable();
            if !held(&self.under_way).insert(key.to_owned()) {
                ended.await;
                continue;
            }
            let known = self.look_up(key, &request, last).await;
            if let Known::Said(_) = known {
                self.leave(key);
            }
            return known;
        }
    }

    /// Takes note of the response to a call that was the first under its key. What there was not may be there
    /// when the call comes again: nothing was done, so that the key is free.
    pub(crate) async fn end(&self, key: &str, response: &Response) {
        if let Ok(text) = serde_json::to_string(response) {
            let (path, asked) = (self.path.clone(), key.to_owned());
            let was_missing = matches!(
                response,
                Response::Refused(Refusal::NoSuchSession { .. } | Refusal::NoSuchTask { .. })
            );
            let kept = self.pools.run(Kind::Ask, move || {
                let db = open(&path)?;
                if was_missing {
                    return db.execute("DELETE FROM calls WHERE key = ?1", [asked]);
                }
                db.execute("UPDATE calls SET response = ?2 WHERE key = ?1", params![asked, text])
            });
            if let Err(fault) = kept.await {
                warn!("the response to call {key} is not kept: {fault}");
            }
        }
        self.leave(key);
    }

    /// The call is not being carried out any more.
    fn leave(&self, key: &str) {
        held(&self.under_way).remove(key);
        self.ended.notify_waiters();
    }

    async fn look_up(&self, key: &str, request: &str, last: u64) -> Known {
        let (path, key, asked) = (self.path.clone(), key.to_owned(), request.to_owned());
        let now = (clock::now().as_millisecond(), last.cast_signed());
        let row = self.pools.run(Kind::Ask, move || {
            note(&path, &key, &asked, now).or_else(|fault| {
                put_aside(&path, fault)?;
                note(&path, &key, &asked, now)
            })
        });
        match row.await {
            Ok(Row::Fresh) => Known::First,
            Ok(Row::Begun { request: first, .. }) if first != request => trouble(
                Trouble::BadInput,
                "this key was used for another call; a key names one call".to_owned(),
            ),
            Ok(Row::Begun { response, seq, .. }) => {
                let said = response.and_then(|text| {
                    Response::read(&Frame::Words(text.into_bytes())).ok().map(Box::new)
                });
                said.map_or(Known::CutShort(seq.cast_unsigned()), Known::Said)
            }
            Err(fault) => trouble(
                Trouble::Storage,
                format!("the call's key cannot be kept, so nothing was done: {fault}"),
            ),
        }
    }
}

fn trouble(kind: Trouble, message: String) -> Known {
    Known::Said(Box::new(Response::Trouble { kind, message }))
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    let db = Connection::open(path)?;
    db.pragma_update(None, "synchronous", "FULL")?;
    db.execute_batch(TABLE)?;
    if db.prepare("SELECT seq FROM calls").is_err() {
        db.execute_batch("ALTER TABLE calls ADD COLUMN seq INTEGER NOT NULL DEFAULT 0")?;
    }
    Ok(db)
}

/// Takes note of a call, unless its key is known. What is too old or too much goes.
fn note(path: &Path, key: &str, request: &str, (now, last): (i64, i64)) -> rusqlite::Result<Row> {
    let mut db = open(path)?;
    let tx = db.transaction()?;
    tx.execute("DELETE FROM calls WHERE at < ?1", [now - KNOWN_MS])?;
    let query = "SELECT request, response, seq FROM calls WHERE key = ?1";
    let begun = tx.query_row(query, [key], |row| {
        Ok(Row::Begun { request: row.get(0)?, response: row.get(1)?, seq: row.get(2)? })
    });
    if let Some(begun) = begun.optional()? {
        return Ok(begun);
    }
    let insert = "INSERT INTO calls (key, at, request, seq) VALUES (?1, ?2, ?3, ?4)";
    tx.execute(insert, params![key, now, request, last])?;
    let surplus = "DELETE FROM calls WHERE key IN \
                   (SELECT key FROM calls ORDER BY at DESC, key LIMIT -1 OFFSET ?1)";
    tx.execute(surplus, [KEYS_MAX])?;
    tx.commit()?;
    Ok(Row::Fresh)
}

/// A damaged file is kept under another name, and keys are known from now on.
fn put_aside(path: &Path, fault: rusqlite::Error) -> rusqlite::Result<()> {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    let code = fault.sqlite_error_code();
    if !matches!(code, Some(DatabaseCorrupt | NotADatabase)) {
        return Err(fault);
    }
    let kept = path.with_extension(format!("damaged-{}", clock::now().as_millisecond()));
    warn!("{fault}; {} is kept as {}", path.display(), kept.display());
    std::fs::rename(path, &kept).map_err(|_| fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stop(session: &str) -> Request {
        Request::Show { session: session.to_owned() }
    }

    fn run<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
    }

    #[test]
    fn a_repeat_gets_the_first_response_also_from_the_next_daemon() {
        let dir = tempfile::tempdir().unwrap();
        run(async {
            let keys = Keys::new(dir.path(), Pools::default());
            assert_eq!(keys.begin("k", &stop("x"), 0).await, Known::First);
            keys.end("k", &Response::End).await;
            let end = Known::Said(Box::new(Response::End));
            assert_eq!(keys.begin("k", &stop("x"), 0).await, end);
            assert_eq!(
                Keys::new(dir.path(), Pools::default()).begin("k", &stop("x"), 0).await,
                end
            );
            let Known::Said(other) = keys.begin("k", &stop("y"), 0).await else { panic!() };
            assert!(matches!(*other, Response::Trouble { kind: Trouble::BadInput, .. }));
            assert_eq!(keys.begin("l", &stop("y"), 0).await, Known::First);
            let missing = Refusal::NoSuchSession { given: "y".to_owned() };
            keys.end("l", &Response::Refused(missing)).await;
            assert_eq!(keys.begin("l", &stop("y"), 0).await, Known::First);
        });
    }

    #[test]
    fn a_repeat_of_what_is_being_carried_out_waits_for_its_response() {
        let dir = tempfile::tempdir().unwrap();
        run(async {
            let keys = Keys::new(dir.path(), Pools::default());
            assert_eq!(keys.begin("k", &stop("x"), 0).await, Known::First);
            let asked = stop("x");
            let repeat = keys.begin("k", &asked, 0);
            let end = keys.end("k", &Response::End);
            let (said, ()) = tokio::join!(biased; repeat, end);
            assert_eq!(said, Known::Said(Box::new(Response::End)));
        });
    }

    #[test]
    fn what_a_daemon_died_over_is_known_with_where_the_log_ended() {
        let dir = tempfile::tempdir().unwrap();
        let old = Connection::open(dir.path().join(FILE)).unwrap();
        old.execute_batch(&TABLE.replace(",\n    seq INTEGER NOT NULL DEFAULT 0", "")).unwrap();
        run(async {
            for (last, known) in [(7, Known::First), (9, Known::CutShort(7))] {
                let keys = Keys::new(dir.path(), Pools::default());
                assert_eq!(keys.begin("k", &stop("x"), last).await, known);
            }
        });
    }

    #[test]
    fn keys_are_forgotten_after_a_day_and_a_damaged_file_is_kept_aside() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(FILE);
        let is_fresh =
            |key: &str, at| matches!(note(&path, key, "r", (at, 0)).unwrap(), Row::Fresh);
        assert!(is_fresh("k", 5));
        assert!(!is_fresh("k", KNOWN_MS + 5));
        assert!(is_fresh("k", KNOWN_MS + 6));
        for at in 0..20 {
            assert!(is_fresh(&format!("k{at}"), KNOWN_MS + 10));
        }
        std::fs::write(&path, "no database, and longer than a page of one is".repeat(200)).unwrap();
        run(async {
            assert_eq!(
                Keys::new(dir.path(), Pools::default()).begin("k", &stop("x"), 0).await,
                Known::First
            );
        });
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
