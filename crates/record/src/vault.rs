//! Copies of the agents' own transcripts, so that deleting them does not make a session unresumable.
//!
//! A copy grows as its original does. An original that was rewritten is copied anew, and the former
//! copy stays beside it; one that has lost something changes nothing. A conversation that lies in several
//! files has a copy of each. One out of a database is copied as a whole whenever it has changed;
//! the former copy stays if it has messages that are no longer there.

use crate::durable;
use crate::location::Files;
use crate::rows::{self, State};
use glis_agent::Rows;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Name of the folder in a session's own.
const FOLDER: &str = "vault";
/// Between the name of a conversation and that of one of its further files. No name holds it.
const PART: &str = "+";
/// The end of the name of a note that says where an original lay.
const PLACE: &str = ".place";
/// How much of the end of a copy is compared with its original. A transcript that was rewritten
/// differs near its end or is shorter.
const COMPARED_BYTES: u64 = 4096;
/// As much as is copied at once.
const PIECE_BYTES: usize = 256 * 1024;

/// Before this there is the id of the conversation in every transcript.
const ID_BYTES: u64 = 1024 * 1024;

/// The copy of one transcript.
#[derive(Debug, Clone)]
pub struct Vault {
    dir: PathBuf,
    id: String,
    name: String,
}

/// How a transcript stands to its copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It has all that the copy has, and perhaps more.
    Whole,
    /// It lacks the end of what the copy has, or is of another conversation, or of none.
    Damaged,
    /// It is of this conversation, and something in it is no longer as it was.
    Rewritten,
}

impl Vault {
    /// The place for the transcript of `agent_ref` in the session whose folder is `dir`.
    pub fn of(dir: &Path, agent_ref: &str) -> Self {
        let (id, name) = (agent_ref.to_owned(), file_name(agent_ref));
        Self { dir: dir.join(FOLDER), id, name }
    }

    pub fn copy(&self) -> PathBuf {
        self.dir.join(format!("{}.jsonl", self.name))
    }

    fn note(&self) -> PathBuf {
        self.dir.join(format!("{}{PLACE}", self.name))
    }

    /// Where the original lay that the copy was taken of.
    pub fn place(&self) -> Option<PathBuf> {
        std::fs::read_to_string(self.note()).ok().map(PathBuf::from)
    }

    /// Says in which state of the database the copy was taken.
    fn state(&self) -> Option<State> {
        let path = self.dir.join(format!("{}.state", self.name));
        std::fs::read_to_string(path).ok().map(State)
    }

    fn coming(&self) -> PathBuf {
        self.dir.join(format!("{}.coming", self.name))
    }

    /// Whether there is anything to put back.
    pub fn is_filled(&self) -> bool {
        self.copy().metadata().is_ok_and(|facts| facts.len() > 0)
    }

    /// The copy of a further file of the same conversation.
    fn part(&self, original: &Path) -> Self {
        let file = file_name(&original.file_stem().unwrap_or_default().to_string_lossy());
        Self { name: format!("{}{PART}{file}", self.name), ..self.clone() }
    }

    /// The copies of all further files of the conversation.
    pub fn parts(&self) -> Vec<Self> {
        let beginning = format!("{}{PART}", self.name);
        let entries = std::fs::read_dir(&self.dir).into_iter().flatten().filter_map(Result::ok);
        let names = entries.filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            name.strip_suffix(PLACE).filter(|name| name.starts_with(&beginning)).map(str::to_owned)
        });
        names.map(|name| Self { name, ..self.clone() }).collect()
    }

    /// The copies of a conversation's own files, in their order.
    pub fn copies(&self, files: &Files) -> Vec<PathBuf> {
        let further = files.segments.iter().map(|path| self.part(path).copy());
        std::iter::once(self.copy()).chain(further).collect()
    }

    /// Copies what the files of a conversation have beyond their copies, durably.
    pub fn keep_files(&self, files: &Files) -> io::Result<()> {
        for path in files.bases.iter().chain(&files.segments) {
            self.part(path).keep(path)?;
        }
        files.transcript.as_deref().map_or(Ok(()), |path| self.keep(path))
    }

    /// Copies what the original has beyond the copy, durably.
    pub fn keep(&self, original: &Path) -> io::Result<()> {
        let Some(mut source) = durable::open_file(original)? else { return Ok(()) };
        let length = source.metadata()?.len();
        let mut copy = match self.open() {
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => {
                self.make()?;
                self.open()?
            }
            opened => opened?,
        };
        let mut kept = copy.metadata()?.len();
        match self.compare(&source, &copy)? {
            Standing::Whole if kept == length => return Ok(()),
            Standing::Whole => {}
            Standing::Damaged => return Ok(()),
            Standing::Rewritten => {
                self.set_aside()?;
                copy = self.open()?;
                kept = 0;
            }
        }
        if kept == 0 {
            let place = original.to_string_lossy();
            let name = format!("{}{PLACE}", self.name);
            crate::durable::write(&self.dir, &name, place.as_bytes())?;
        }
        source.seek(SeekFrom::Start(kept))?;
        pour(&mut source, &mut copy)?;
        copy.sync_data()
    }

    /// How the transcript that an agent is about to go on with stands to the copy of it. One that lies
    /// elsewhere than the one that was copied, and has less in it, is not that one rewritten.
    pub fn judge(&self, original: &Path) -> io::Result<Standing> {
        let (source, copy) = (durable::open_file(original)?, durable::open_file(&self.copy())?);
        let (Some(source), Some(copy)) = (source, copy) else { return Ok(Standing::Whole) };
        let standing = self.compare(&source, &copy)?;
        let has_less = source.metadata()?.len() < copy.metadata()?.len();
        let is_another = has_less && self.place().is_some_and(|place| place != original);
        Ok(match standing {
            Standing::Rewritten if is_another => Standing::Damaged,
            Standing::Whole | Standing::Damaged | Standing::Rewritten => standing,
        })
    }

    fn compare(&self, source: &File, copy: &File) -> io::Result<Standing> {
        let (length, kept) = (source.metadata()?.len(), copy.metadata()?.len());
        if kept <= length && same_end(source, copy, kept)? {
            return Ok(Standing::Whole);
        }
        let is_cut_off = length < kept && same_end(copy, source, length)?;
        let is_foreign = !self.names_id(source)? && self.names_id(copy)?;
        Ok(if is_cut_off || is_foreign { Standing::Damaged } else { Standing::Rewritten })
    }

    fn names_id(&self, file: &File) -> io::Result<bool> {
        let mut bytes = vec![0; usize::try_from(file.metadata()?.len().min(ID_BYTES)).unwrap_or(0)];
        file.read_exact_at(&mut bytes, 0)?;
        Ok(bytes.windows(self.id.len().max(1)).any(|window| window == self.id.as_bytes()))
    }

    /// Copies a conversation out of a database, durably, if it has changed.
    pub fn keep_rows(&self, rows: &Rows) -> io::Result<()> {
        // What is only half there again is no news.
        if self.is_coming() {
            return Ok(());
        }
        let former = self.state().filter(|_| self.is_filled());
        if former.is_some() && rows::state(rows)? == former {
            return Ok(());
        }
        let Some((state, mut text)) = rows::text(rows)? else { return Ok(()) };
        if !self.dir.is_dir() {
            self.make()?;
        }
        if self.is_filled() && former.is_none_or(|former| state.lacks_of(&former)) {
            // A second name first: at no moment is there no copy.
            std::fs::hard_link(self.copy(), self.aside())?;
        }
        text.push('\n');
        durable::write(&self.dir, &format!("{}.jsonl", self.name), text.as_bytes())?;
        // Without this, the next look would only copy once more.
        durable::write(&self.dir, &format!("{}.state", self.name), state.0.as_bytes())
    }

    /// Whether the copy has messages that a conversation in a database lacks.
    pub fn had_more_than(&self, now: &State) -> bool {
        self.is_filled() && self.state().is_some_and(|kept| now.lacks_of(&kept))
    }

    /// Whether the copy was being put back into a database when something broke that off. Then what is
    /// there is not the whole.
    pub fn is_coming(&self) -> bool {
        self.coming().exists()
    }

    /// Notes that the copy is about to be put back into a database.
    pub fn comes(&self) -> io::Result<()> {
        durable::write(&self.dir, &format!("{}.coming", self.name), b"")
    }

    /// Notes that it is back, if all of it is.
    pub fn came(&self, rows: &Rows) -> io::Result<bool> {
        let Some(now) = rows::state(rows)? else { return Ok(false) };
        if self.state().is_some_and(|kept| now.lacks_of(&kept)) {
            return Ok(false);
        }
        std::fs::remove_file(self.coming())?;
        durable::sync_names(&self.dir).map(|()| true)
    }

    /// Not the folders above: a session that was taken away stays away.
    fn make(&self) -> io::Result<()> {
        std::fs::DirBuilder::new().mode(0o700).create(&self.dir)
    }

    fn open(&self) -> io::Result<File> {
        OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(self.copy())
    }

    fn set_aside(&self) -> io::Result<()> {
        std::fs::rename(self.copy(), self.aside())
    }

    /// A free name for a former copy.
    fn aside(&self) -> PathBuf {
        let former = (1_u32..).map(|n| self.dir.join(format!("{}.{n}.jsonl", self.name)));
        former.into_iter().find(|path| !path.exists()).unwrap_or_else(|| self.copy())
    }

    /// Puts the copy of a further file back if that is gone, or has not all of it: such a file only grows.
    /// What is there instead is handed to `aside` before. Otherwise as [`Vault::put_back`].
    pub fn mend(
        &self,
        home: &str,
        was: Option<&str>,
        aside: impl Fn(&Path) -> io::Result<()>,
    ) -> io::Result<()> {
        let place = self.place_in(home, was)?;
        if place.exists() {
            if !self.is_filled() || self.judge(&place)? == Standing::Whole {
                return Ok(());
            }
            aside(&place)?;
        }
        self.put_back(home, was).map(drop)
    }

    fn place_in(&self, home: &str, was: Option<&str>) -> io::Result<PathBuf> {
        let place = self.place().ok_or(io::ErrorKind::NotFound)?;
        Ok(match was.and_then(|was| place.strip_prefix(was).ok()) {
            Some(inner) => Path::new(home).join(inner),
            None => place,
        })
    }

    /// Puts the copy where the agent looks for it. What is there already is never overwritten.
    /// `home` is where the agent keeps its transcripts now, `was` where it kept them then.
    pub fn put_back(&self, home: &str, was: Option<&str>) -> io::Result<PathBuf> {
        let place = self.place_in(home, was)?;
        let folder = place.parent().ok_or(io::ErrorKind::NotFound)?;
        crate::durable::private_folder(folder)?;
        let name = place.file_name().unwrap_or_default().to_string_lossy();
        let fresh = folder.join(format!(".{name}.glis"));
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
        pour(&mut File::open(self.copy())?, &mut file)?;
        file.sync_all()?;
        let linked = std::fs::hard_link(&fresh, &place);
        std::fs::remove_file(&fresh)?;
        linked?;
        File::open(folder)?.sync_all()?;
        Ok(place)
    }
}

fn same_end(source: &File, copy: &File, kept: u64) -> io::Result<bool> {
    let from = kept.saturating_sub(COMPARED_BYTES);
    let length = usize::try_from(kept - from).unwrap_or_default();
    let (mut ours, mut theirs) = (vec![0; length], vec![0; length]);
    copy.read_exact_at(&mut ours, from)?;
    match source.read_exact_at(&mut theirs, from) {
        Err(fault) if fault.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| ours == theirs),
    }
}

fn pour(source: &mut File, into: &mut File) -> io::Result<()> {
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let read = source.read(&mut piece)?;
        if read == 0 {
            return Ok(());
        }
        into.write_all(piece.get(..read).unwrap_or_default())?;
    }
}

/// An id as a part of a file's name.
pub fn file_name(id: &str) -> String {
    id.chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' })
        .take(128)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &Path) -> String {
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn a_copy_grows_with_its_original_and_survives_a_rewrite() {
        let dir = tempfile::tempdir().unwrap();
        let original = dir.path().join("t.jsonl");
        let vault = Vault::of(dir.path(), "a/../b");
        let keep = |text: &str| {
            std::fs::write(&original, text).unwrap();
            let standing = vault.judge(&original).unwrap();
            vault.keep(&original).unwrap();
            (standing, read(&vault.copy()))
        };
        vault.keep(&original).unwrap();
        assert!(!vault.is_filled());
        let whole = "a/../b one\ntwo\n";
        for text in ["a/../b one\n", whole, whole] {
            assert_eq!(keep(text), (Standing::Whole, text.to_owned()));
        }
        // What lost its end, all of it, or belongs to another session takes nothing from the copy.
        for text in ["a/../b one\n", "", "garbage", "c one\ntwo\nthree\n"] {
            assert_eq!(keep(text), (Standing::Damaged, whole.to_owned()), "{text:?}");
        }
        let other = "a/../b other\n";
        assert_eq!(keep(other), (Standing::Rewritten, other.to_owned()));
        assert_eq!(read(&dir.path().join("vault/a____b.1.jsonl")), whole);
    }

    #[test]
    fn a_copy_of_rows_is_taken_anew_and_forgets_no_message() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        let rows = Rows {
            database: glis_agent::Database::At(path.to_string_lossy().into_owned()),
            id: "a".to_owned(),
            state: "SELECT sum(length(said)) || char(10) || group_concat(n, char(10)) FROM words \
                    WHERE id = ?1 HAVING count(*) > 0",
            text: "SELECT group_concat(said, ' ') FROM words WHERE id = ?1 HAVING count(*) > 0",
            ending: "",
            take_back: &[],
        };
        let vault = Vault::of(dir.path(), "a");
        vault.keep_rows(&rows).unwrap();
        assert!(!vault.is_filled());
        let database = rusqlite::Connection::open(&path).unwrap();
        let change = |change: &str| database.execute_batch(change).unwrap();
        change("CREATE TABLE words (id TEXT, n INTEGER, said TEXT)");
        let inode = || std::os::unix::fs::MetadataExt::ino(&vault.copy().metadata().unwrap());
        for (by, text) in [
            ("INSERT INTO words VALUES ('a', 1, 'one')", "one\n"),
            ("INSERT INTO words VALUES ('a', 2, 'two')", "one two\n"),
            ("UPDATE words SET said = '2' WHERE n = 2", "one 2\n"),
        ] {
            change(by);
            vault.keep_rows(&rows).unwrap();
            assert_eq!(read(&vault.copy()), text);
        }
        let written = inode();
        vault.keep_rows(&rows).unwrap();
        assert_eq!(inode(), written, "nothing has changed, nothing is written");
        assert!(!dir.path().join("vault/a.1.jsonl").exists(), "no message was lost");
        let had_more = || vault.had_more_than(&rows::state(&rows).unwrap().unwrap());
        assert!(!had_more());
        change("DELETE FROM words WHERE n = 2; INSERT INTO words VALUES ('a', 3, 'three')");
        assert!(had_more());
        vault.keep_rows(&rows).unwrap();
        assert_eq!(read(&vault.copy()), "one three\n");
        assert_eq!(read(&dir.path().join("vault/a.1.jsonl")), "one 2\n");

        // On its way back it counts when all of it has come.
        vault.comes().unwrap();
        change("DELETE FROM words WHERE n = 3");
        vault.keep_rows(&rows).unwrap();
        assert_eq!(read(&vault.copy()), "one three\n");
        assert!(!vault.came(&rows).unwrap() && vault.is_coming());
        change("INSERT INTO words VALUES ('a', 3, 'three')");
        assert!(vault.came(&rows).unwrap() && !vault.is_coming());
        change("DELETE FROM words");
        vault.keep_rows(&rows).unwrap();
        assert_eq!(read(&vault.copy()), "one three\n", "what is gone does not empty its copy");
        assert!(!vault.came(&rows).unwrap());
    }

    #[test]
    fn what_was_lost_is_put_back_and_nothing_is_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        let original = home.join("projects/x/t.jsonl");
        std::fs::create_dir_all(original.parent().unwrap()).unwrap();
        std::fs::write(&original, "said\n").unwrap();
        let vault = Vault::of(dir.path(), "id");
        vault.keep(&original).unwrap();
        let was = home.to_str().unwrap();
        std::fs::write(&original, "newer\n").unwrap();
        assert!(vault.put_back(was, Some(was)).is_err());
        assert_eq!(read(&original), "newer\n");
        std::fs::remove_dir_all(&home).unwrap();
        assert_eq!(vault.put_back(was, Some(was)).unwrap(), original);
        assert_eq!(read(&original), "said\n");
        let moved = dir.path().join("moved");
        let place = vault.put_back(moved.to_str().unwrap(), Some(was)).unwrap();
        assert_eq!(place, moved.join("projects/x/t.jsonl"));
        assert_eq!(std::fs::read_dir(place.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn each_file_of_a_conversation_has_its_copy() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        std::fs::create_dir(&home).unwrap();
        let write = |name: &str, text: &str| {
            std::fs::write(home.join(name), text).unwrap();
            home.join(name)
        };
        let files = Files {
            transcript: Some(write("r-id.jsonl", "id one\n")),
            segments: vec![write("r-id_1.jsonl", "id two\n")],
            bases: vec![write("r-other.jsonl", "other\n")],
        };
        let vault = Vault::of(dir.path(), "id");
        vault.keep_files(&files).unwrap();
        write("r-id_1.jsonl", "id two\nthree\n");
        vault.keep_files(&files).unwrap();
        assert_eq!(Vault::of(dir.path(), "i").parts().len(), 0, "of this conversation only");
        let was = home.to_str().unwrap();
        let kept = vault.copies(&files).iter().map(|copy| read(copy)).collect::<String>();
        assert_eq!(kept, "id one\nid two\nthree\n");
        let mend = || {
            let aside = |path: &Path| std::fs::rename(path, path.with_extension("aside"));
            vault.parts().iter().try_for_each(|part| part.mend(was, Some(was), aside)).unwrap();
            [&files.segments[0], &files.bases[0]].map(|path| read(path))
        };
        let whole = ["id two\nthree\n", "other\n"];
        std::fs::remove_file(&files.bases[0]).unwrap();
        for damaged in ["id two\n", "", "id else\nand other words\n"] {
            write("r-id_1.jsonl", damaged);
            assert_eq!(mend(), whole, "{damaged:?}");
            assert_eq!(read(&home.join("r-id_1.aside")), damaged);
        }
        let grown = write("r-id_1.jsonl", "id two\nthree\nfour\n");
        assert_eq!(mend(), ["id two\nthree\nfour\n", "other\n"], "{}", grown.display());
    }
}
