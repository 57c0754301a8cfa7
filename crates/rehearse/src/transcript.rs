//! The transcript: one file per conversation, one JSON object per line.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::clock;
use crate::record::{self, Body, Record};

/// One conversation's file; absent until the first user message, as with real agents.
pub(crate) struct Transcript {
    path: PathBuf,
    last: u64,
}

pub(crate) fn directory() -> PathBuf {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("GLIS_REHEARSAL_DIR")
        .or_else(|| set("XDG_STATE_HOME").map(|state| state.join("glis-rehearsal")))
        .unwrap_or_else(|| {
            set("HOME").unwrap_or_default().join(".local/state").join("glis-rehearsal")
        })
}

impl Transcript {
    pub(crate) fn exists(dir: &Path, id: &str) -> bool {
        file(dir, id).exists()
    }

    /// Prepares a conversation without creating its file.
    pub(crate) fn fresh(dir: &Path, id: &str) -> Self {
        Self { path: file(dir, id), last: 0 }
    }

    /// Takes up a conversation where its numbers stopped.
    pub(crate) fn resume(dir: &Path, id: &str) -> io::Result<Self> {
        let mut transcript = Self::fresh(dir, id);
        transcript.mend()?;
        transcript.last = transcript.records()?.iter().map(|record| record.n).max().unwrap_or(0);
        Ok(transcript)
    }

    /// Copies the conversation `from` under another id.
    pub(crate) fn copy(dir: &Path, from: &str, to: &str) -> io::Result<()> {
        fs::copy(file(dir, from), file(dir, to)).map(drop)
    }

    /// Gives `body` the next number and the present time, and writes nothing.
    pub(crate) fn number(&mut self, body: Body) -> Record {
        self.last += 1;
        Record { body, n: self.last, at: clock::now() }
    }

    /// Says what number the next record gets; ids of tools and asks are made of it.
    pub(crate) fn next_number(&self) -> u64 {
        self.last + 1
    }

    /// Appends `record` in a single write, so a reader never sees half a line.
    ///
    /// The file is opened each time: what was moved or restored under a live agent is then
    /// written where it is, not to a deleted inode.
    pub(crate) fn append(&self, record: &Record) -> io::Result<()> {
        if let Some(dir) = self.path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        }
        // Other users must not read a conversation, whatever the umask is.
        let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path)?;
        file.write_all(&record::line(record))
    }

    /// Reads what the conversation holds; lines that are no records are passed over.
    pub(crate) fn records(&self) -> io::Result<Vec<Record>> {
        let bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error),
        };
        let lines = bytes.split(|byte| *byte == b'\n');
        Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
    }

    /// Says every user message, oldest first.
    pub(crate) fn user_texts(&self) -> io::Result<Vec<String>> {
        let texts = self.records()?.into_iter().filter_map(|record| user_text(record.body));
        Ok(texts.collect())
    }

    /// Says what followed the last user message, that message included.
    pub(crate) fn last_exchange(&self) -> io::Result<Vec<Record>> {
        let mut records = self.records()?;
        let from = records.iter().rposition(|record| matches!(record.body, Body::User { .. }));
        Ok(from.map(|from| records.split_off(from)).unwrap_or_default())
    }

    /// Ends a torn last line, so the next record begins on its own.
    fn mend(&self) -> io::Result<()> {
        let mut file = OpenOptions::new().read(true).append(true).open(&self.path)?;
        if file.metadata()?.len() == 0 {
            return Ok(());
        }
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last == *b"\n" { Ok(()) } else { file.write_all(b"\n") }
    }
}

fn file(dir: &Path, id: &str) -> PathBuf {
    dir.join(format!("{id}.jsonl"))
}

fn user_text(body: Body) -> Option<String> {
    if let Body::User { text, .. } = body { Some(text) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn user(text: &str) -> Body {
        Body::User { text: text.to_owned(), id: None }
    }

    #[test]
    fn the_file_appears_with_the_first_record() {
        let dir = tempfile::tempdir().unwrap();
        let mut transcript = Transcript::fresh(dir.path(), "a");
        let record = transcript.number(user("hi"));
        assert!(!Transcript::exists(dir.path(), "a"));
        transcript.append(&record).unwrap();
        assert_eq!(transcript.records().unwrap(), [record]);
    }

    #[test]
    fn nobody_else_reads_what_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("rehearsal");
        let mut transcript = Transcript::fresh(&folder, "a");
        let record = transcript.number(user("hi"));
        transcript.append(&record).unwrap();
        Transcript::copy(&folder, "a", "b").unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder), 0o700);
        for name in ["a", "b"] {
            assert_eq!(mode(&file(&folder, name)), 0o600, "{name}");
        }
    }

    #[test]
    fn numbers_go_on_after_a_resume() {
        let dir = tempfile::tempdir().unwrap();
        let mut first = Transcript::fresh(dir.path(), "a");
        for body in [user("one"), Body::TurnStarted] {
            let record = first.number(body);
            first.append(&record).unwrap();
        }
        let mut second = Transcript::resume(dir.path(), "a").unwrap();
        assert_eq!(second.next_number(), 3);
        assert_eq!(second.number(Body::Resumed).n, 3);
        assert_eq!(second.user_texts().unwrap(), ["one"]);
        assert_eq!(second.last_exchange().unwrap().len(), 2);
    }

    #[test]
    fn a_torn_last_line_costs_only_itself() {
        let dir = tempfile::tempdir().unwrap();
        let mut first = Transcript::fresh(dir.path(), "a");
        let record = first.number(user("one"));
        first.append(&record).unwrap();
        let mut file = OpenOptions::new().append(true).open(dir.path().join("a.jsonl")).unwrap();
        file.write_all(b"{\"type\":\"te").unwrap();
        let mut second = Transcript::resume(dir.path(), "a").unwrap();
        let record = second.number(user("two"));
        second.append(&record).unwrap();
        assert_eq!(second.user_texts().unwrap(), ["one", "two"]);
    }

    #[test]
    fn a_copy_remembers_what_the_first_one_knew() {
        let dir = tempfile::tempdir().unwrap();
        let mut first = Transcript::fresh(dir.path(), "a");
        let record = first.number(user("one"));
        first.append(&record).unwrap();
        Transcript::copy(dir.path(), "a", "b").unwrap();
        let second = Transcript::resume(dir.path(), "b").unwrap();
        assert_eq!(second.user_texts().unwrap(), ["one"]);
    }
}
