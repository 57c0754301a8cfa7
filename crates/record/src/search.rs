//! Looking for words in all conversations. The index is derived: it is brought up to date when
//! it is searched, and made anew when it is lost or damaged.

use crate::conversation::read_stretch;
use glis_wire::plain::without_escapes;
use glis_wire::view::{Hit, Voice};
use rusqlite::{Connection, OptionalExtension as _, params};
use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Name of the index, beside the event log.
pub const FILE: &str = "search.db";
/// Another form of the tables is another number, and the index is made anew.
const FORM: i64 = 2;
/// How much of a conversation is read at a time.
const CHUNK_BYTES: u64 = 1024 * 1024;
/// How many words around a hit are shown.
const SNIPPET_WORDS: u32 = 12;

const TABLES: &str = "
    CREATE VIRTUAL TABLE talk USING fts5(
        content, session UNINDEXED, at UNINDEXED, voice UNINDEXED, tokenize = 'unicode61');
    CREATE TABLE read_to (session TEXT PRIMARY KEY, inode INTEGER, bytes INTEGER);
";

/// A conversation to be looked into.
pub struct Source {
    pub id: String,
    /// Its name, to be shown with the hits.
    pub name: String,
    pub file: PathBuf,
}

/// One search at a time: each may write to the index.
static TURN: Mutex<()> = Mutex::new(());

/// Finds entries that hold all the words, the best first. An index that cannot be used is made
/// anew, once.
pub fn search(
    state: &Path,
    sources: &[Source],
    words: &str,
    most: u32,
) -> Result<Vec<Hit>, String> {
    let Some(query) = query(words) else { return Err("there is no word to look for".to_owned()) };
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let path = state.join(FILE);
    attempt(&path, sources, &query, most).or_else(|_| {
        for end in ["", "-wal", "-shm", "-journal"] {
            drop(std::fs::remove_file(state.join(format!("{FILE}{end}"))));
        }
        attempt(&path, sources, &query, most).map_err(|fault| fault.to_string())
    })
}

/// Every word has to occur, as itself or as the beginning of another. Quoted, so that nothing in it
/// means anything to the index.
fn query(words: &str) -> Option<String> {
    let words = words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let quoted: Vec<_> = words.map(|word| format!("\"{word}\"*")).collect();
    (!quoted.is_empty()).then(|| quoted.join(" "))
}

#[derive(Debug, thiserror::Error)]
enum SearchFault {
    #[error("the search index: {0}")]
    Index(#[from] rusqlite::Error),
    #[error("a conversation: {0}")]
    File(#[from] io::Error),
}

fn attempt(
    path: &Path,
    sources: &[Source],
    query: &str,
    most: u32,
) -> Result<Vec<Hit>, SearchFault> {
    let mut index = open(path)?;
    for source in sources {
        catch_up(&mut index, source)?;
    }
    forget_others(&index, sources)?;
    let sql = format!(
        "SELECT session, at, voice, content, snippet(talk, 0, '', '', '\u{2026}', {SNIPPET_WORDS})
         FROM talk WHERE talk MATCH ?1 ORDER BY rank LIMIT ?2"
    );
    let mut found = index.prepare(&sql)?;
    let rows = found.query_map(params![query, most], |row| {
        let session: String = row.get(0)?;
        let name = sources.iter().find(|source| source.id == session);
        Ok(Hit {
            name: name.map(|source| source.name.clone()).unwrap_or_default(),
            session,
            at: row.get(1)?,
            voice: voice(&row.get::<_, String>(2)?),
            content: row.get(3)?,
            snippet: row.get(4)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn open(path: &Path) -> Result<Connection, SearchFault> {
    // Made by us, so that other users cannot read it.
    File::options().create(true).append(true).mode(0o600).open(path)?;
    let index = Connection::open(path)?;
    // What is lost in a power cut is read again.
    index.pragma_update(None, "synchronous", "OFF")?;
    let form: i64 = index.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if form == 0 {
        index.execute_batch(TABLES)?;
        index.pragma_update(None, "user_version", FORM)?;
    } else if form != FORM {
        return Err(rusqlite::Error::InvalidQuery.into());
    }
    Ok(index)
}

/// Reads what a conversation has beyond what is indexed of it.
fn catch_up(index: &mut Connection, source: &Source) -> Result<(), SearchFault> {
    let mut known: Option<(u64, u64)> = index
        .query_row("SELECT inode, bytes FROM read_to WHERE session = ?1", [&source.id], |row| {
            let number = |at| row.get::<_, i64>(at).map(i64::cast_unsigned);
            Ok((number(0)?, number(1)?))
        })
        .optional()?;
    let work = index.transaction()?;
    loop {
        let Some(stretch) = read_stretch(&source.file, known, CHUNK_BYTES)? else { return Ok(()) };
        // What is at an end was read before; what is another conversation begins anew.
        let goes_on = known.filter(|(of, to)| *of == stretch.of && *to <= stretch.to);
        if goes_on.is_none() {
            work.execute("DELETE FROM talk WHERE session = ?1", [&source.id])?;
        }
        for entry in &stretch.entries {
            work.execute(
                "INSERT INTO talk (content, session, at, voice) VALUES (?1, ?2, ?3, ?4)",
                // A word may be coloured in the middle.
                params![
                    without_escapes(&entry.content),
                    source.id,
                    entry.timestamp,
                    word(entry.voice)
                ],
            )?;
        }
        let is_over = goes_on.is_some_and(|(_, to)| to == stretch.to);
        known = Some((stretch.of, stretch.to));
        if is_over {
            break;
        }
    }
    if let Some((of, to)) = known {
        work.execute(
            "INSERT OR REPLACE INTO read_to (session, inode, bytes) VALUES (?1, ?2, ?3)",
            params![source.id, of.cast_signed(), to.cast_signed()],
        )?;
    }
    work.commit()?;
    Ok(())
}

/// What is no longer there is no longer found.
fn forget_others(index: &Connection, sources: &[Source]) -> Result<(), SearchFault> {
    let there = |id: &str| sources.iter().any(|source| source.id == id && source.file.exists());
    let mut known = index.prepare("SELECT session FROM read_to")?;
    let known: Vec<String> = known.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for gone in known.iter().filter(|id| !there(id)) {
        index.execute("DELETE FROM talk WHERE session = ?1", [gone])?;
        index.execute("DELETE FROM read_to WHERE session = ?1", [gone])?;
    }
    Ok(())
}

fn word(voice: Voice) -> &'static str {
    match voice {
        Voice::User => "user",
        Voice::Assistant => "assistant",
        Voice::System => "system",
        Voice::Tool => "tool",
    }
}

fn voice(word: &str) -> Voice {
    match word {
        "user" => Voice::User,
        "assistant" => Voice::Assistant,
        "tool" => Voice::Tool,
        _ => Voice::System,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glis_wire::view::Entry;
    use std::io::Write as _;

    struct Rig {
        dir: tempfile::TempDir,
        sources: Vec<Source>,
    }

    impl Rig {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let source = |id: &str| Source {
                id: id.to_owned(),
                name: format!("name of {id}"),
                file: dir.path().join(format!("{id}.jsonl")),
            };
            let sources = vec![source("1"), source("2")];
            Self { dir, sources }
        }

        fn say(&self, at: usize, content: &str) {
            let mut file =
                File::options().create(true).append(true).open(&self.sources[at].file).unwrap();
            let entry = Entry {
                timestamp: "2026-01-01T00:00:00Z".to_owned(),
                voice: Voice::Assistant,
                content: content.to_owned(),
                metadata: serde_json::Map::new(),
            };
            writeln!(file, "{}", serde_json::to_string(&entry).unwrap()).unwrap();
        }

        fn find(&self, words: &str) -> Vec<String> {
            let hits = search(self.dir.path(), &self.sources, words, 10).unwrap();
            hits.into_iter().map(|hit| format!("{}: {}", hit.name, hit.content)).collect()
        }
    }

    #[test]
    fn all_words_are_found_wherever_they_were_said_and_as_soon_as_they_were() {
        let rig = Rig::new();
        rig.say(0, "the quick brown fox");
        rig.say(1, "a slow brown bear");
        assert_eq!(rig.find("brown FOX"), ["name of 1: the quick brown fox"]);
        assert_eq!(rig.find("brow").len(), 2);
        rig.say(1, "another fox");
        assert_eq!(rig.find("fox").len(), 2);
        assert_eq!(rig.find("fox").len(), 2, "and each once");
        assert!(rig.find("wolf").is_empty());
    }

    #[test]
    fn a_word_is_found_however_it_was_coloured() {
        let rig = Rig::new();
        rig.say(0, "er\u{1b}[1;31mror\u{1b}[0m in \u{1b}[4mmain\u{1b}[0m");
        assert_eq!(rig.find("error"), ["name of 1: error in main"]);
        assert!(rig.find("31m").is_empty());
    }

    #[test]
    fn nothing_that_is_typed_means_anything_but_itself() {
        let rig = Rig::new();
        rig.say(0, "x OR y \"quoted\" a-b c*d");
        for words in ["x AND y", "\"quoted", "a-b", "c*d", "NEAR(x y)", "content:x", "' ; --x"] {
            drop(rig.find(words));
        }
        assert_eq!(rig.find("a-b").len(), 1);
        assert!(search(rig.dir.path(), &rig.sources, " -\" ", 10).is_err());
    }

    #[test]
    fn a_damaged_or_foreign_index_is_made_anew() {
        let rig = Rig::new();
        rig.say(0, "the quick brown fox");
        assert_eq!(rig.find("fox").len(), 1);
        std::fs::write(rig.dir.path().join(FILE), "garbage".repeat(10_000)).unwrap();
        assert_eq!(rig.find("fox").len(), 1);
        Connection::open(rig.dir.path().join(FILE))
            .unwrap()
            .pragma_update(None, "user_version", 99)
            .unwrap();
        assert_eq!(rig.find("fox").len(), 1);
    }

    #[test]
    fn what_was_rewritten_or_removed_is_forgotten() {
        let rig = Rig::new();
        rig.say(0, "the quick brown fox");
        rig.say(1, "the other fox");
        assert_eq!(rig.find("fox").len(), 2);
        std::fs::remove_file(&rig.sources[0].file).unwrap();
        assert_eq!(rig.find("fox").len(), 1);
        std::fs::write(&rig.sources[1].file, "").unwrap();
        rig.say(1, "a bear");
        assert!(rig.find("fox").is_empty());
        assert_eq!(rig.find("bear").len(), 1);
    }

    #[test]
    fn a_line_that_is_being_written_and_a_damaged_one_hide_nothing() {
        let rig = Rig::new();
        rig.say(0, "first fox");
        let mut file = File::options().append(true).open(&rig.sources[0].file).unwrap();
        file.write_all(b"\xff\xfe broken\n").unwrap();
        rig.say(0, "second fox");
        file.write_all(b"{\"timestamp\":\"t\",\"type\":\"user\",\"content\":\"third").unwrap();
        assert_eq!(rig.find("fox").len(), 2);
        file.write_all(b" fox\"}\n").unwrap();
        assert_eq!(rig.find("fox").len(), 3);
    }
}
