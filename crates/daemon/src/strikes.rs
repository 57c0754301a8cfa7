//! What the daemon was doing when it died, for the one that comes after it. What takes the daemon
//! down twice is not tried a third time.
//!
//! Work is noted in a file before it begins and struck out when it ends: two writes, no sync. A
//! process that dies leaves the file as it was; only a power cut loses it, which is no fault of the work.
//! Nor is it the fault of any work if the daemon is killed from outside. So notes count only where
//! the daemon ended itself (an abort, a fault of memory), which marks the first byte of the file.

use crate::panics::held;
use glis_core::SessionId;
use glis_record::durable;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use tracing::warn;

/// Name of the file with what is under way.
const NOTES: &str = "under-way";
/// Name of the file with what has taken the daemon down once.
const STRIKES: &str = "strikes.json";
/// What the first byte of the notes is after an end of the daemon's own making.
const DIED: u8 = b'!';
/// Room for a session's id and some words.
const NOTE_BYTES: usize = 128;
/// More is never under way at once.
const NOTES_MAX: usize = 64;
/// So often a death may be chance.
const STRIKES_MAX: u32 = 2;

/// How often some work was under way when the daemon died of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Strike {
    pub(crate) what: String,
    count: u32,
}

/// The notes of this daemon, and what it knows of former ones.
pub(crate) struct Strikes {
    state: PathBuf,
    notes: Option<File>,
    taken: Mutex<[bool; NOTES_MAX]>,
    known: Mutex<BTreeMap<String, Strike>>,
}

pub(crate) struct Note(Option<usize>);

impl Strikes {
    /// Reads what a former daemon left, and begins anew. `mark` has the first byte of a file set
    /// when this process ends itself.
    pub(crate) fn open(state: &Path, mark: fn(&File) -> io::Result<()>) -> Self {
        let path = state.join(NOTES);
        let left = durable::read_file(&path).unwrap_or_default();
        let mut known = read(state);
        if left.first() == Some(&DIED) {
            count(&mut known, &left);
            keep(state, &known);
        }
        let fresh = || {
            let mut options = File::options();
            options.write(true).create(true).truncate(true).mode(0o600);
            let file = options.open(&path)?;
            file.set_len((NOTE_BYTES * (NOTES_MAX + 1)) as u64)?;
            mark(&file)?;
            Ok::<_, io::Error>(file)
        };
        let notes = fresh().inspect_err(|fault| {
            warn!("what is under way cannot be noted: {fault}");
        });
        Self {
            state: state.to_owned(),
            notes: notes.ok(),
            taken: Mutex::new([false; NOTES_MAX]),
            known: Mutex::new(known),
        }
    }

    /// Sessions whose work has taken the daemon down too often.
    pub(crate) fn out(&self) -> Vec<(SessionId, Strike)> {
        let known = held(&self.known);
        let out = known.iter().filter(|(_, strike)| strike.count >= STRIKES_MAX);
        out.map(|(id, strike)| (SessionId(id.clone()), strike.clone())).collect()
    }

    /// Forgets them: the log knows.
    pub(crate) fn forget_out(&self) {
        let mut known = held(&self.known);
        known.retain(|_, strike| strike.count < STRIKES_MAX);
        keep(&self.state, &known);
    }

    /// Whether work on this session may be what the daemon died of.
    pub(crate) fn is_suspect(&self, session: &SessionId) -> bool {
        held(&self.known).contains_key(&session.0)
    }

    pub(crate) fn begin(&self, session: &SessionId, what: &str) -> Note {
        let mut taken = held(&self.taken);
        let free = taken.iter().position(|taken| !taken);
        if let (Some(at), Some(notes)) = (free, &self.notes) {
            taken[at] = true;
            let mut note = format!("{session} {what}").into_bytes();
            note.resize(NOTE_BYTES, 0);
            notes.write_all_at(&note, offset(at)).ok();
        }
        Note(free)
    }

    /// It is over, well or not, and the daemon lives.
    pub(crate) fn end(&self, session: &SessionId, note: Note) {
        if let (Note(Some(at)), Some(notes)) = (note, &self.notes) {
            notes.write_all_at(&[0], offset(at)).ok();
            held(&self.taken)[at] = false;
        }
        let mut known = held(&self.known);
        if known.remove(&session.0).is_some() {
            keep(&self.state, &known);
        }
    }
}

fn offset(at: usize) -> u64 {
    ((at + 1) * NOTE_BYTES) as u64
}

/// Counts everything that was under way.
fn count(known: &mut BTreeMap<String, Strike>, left: &[u8]) {
    for note in left.chunks(NOTE_BYTES).skip(1).filter(|note| note.first() != Some(&0)) {
        let text = String::from_utf8_lossy(note);
        let Some((session, what)) = text.trim_end_matches('\0').split_once(' ') else { continue };
        let fresh = Strike { what: what.to_owned(), count: 0 };
        let strike = known.entry(session.to_owned()).or_insert(fresh);
        what.clone_into(&mut strike.what);
        strike.count += 1;
        warn!("the daemon died of itself while it was to {what} of {session}");
    }
}

fn read(state: &Path) -> BTreeMap<String, Strike> {
    let bytes = durable::read_file(&state.join(STRIKES)).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

fn keep(state: &Path, known: &BTreeMap<String, Strike>) {
    let kept = serde_json::to_vec(known)
        .map_err(io::Error::from)
        .and_then(|bytes| durable::write(state, STRIKES, &bytes));
    if let Err(fault) = kept {
        warn!("{STRIKES}: {fault}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> SessionId {
        SessionId(name.to_owned())
    }

    const UNMARKED: fn(&File) -> io::Result<()> = |_| Ok(());

    fn die(state: &Path) {
        let notes = File::options().write(true).open(state.join(NOTES)).unwrap();
        notes.write_all_at(&[DIED], 0).unwrap();
    }

    #[test]
    fn what_is_under_way_at_two_deaths_is_out() {
        let dir = tempfile::tempdir().unwrap();
        let first = Strikes::open(dir.path(), UNMARKED);
        first.begin(&id("a"), "save");
        first.begin(&id("b"), "save");
        let over = first.begin(&id("c"), "save");
        first.end(&id("c"), over);
        die(dir.path());
        let second = Strikes::open(dir.path(), UNMARKED);
        assert!(
            second.is_suspect(&id("a")) && !second.is_suspect(&id("c")) && second.out().is_empty()
        );
        let over = second.begin(&id("a"), "save");
        second.end(&id("a"), over);
        second.begin(&id("b"), "save");
        die(dir.path());
        let third = Strikes::open(dir.path(), UNMARKED);
        let out: Vec<_> = third.out().into_iter().map(|(id, strike)| (id.0, strike.what)).collect();
        assert_eq!(out, [("b".to_owned(), "save".to_owned())]);
        third.forget_out();
        assert!(!Strikes::open(dir.path(), UNMARKED).is_suspect(&id("b")));
    }

    #[test]
    fn being_killed_is_held_against_nothing() {
        let dir = tempfile::tempdir().unwrap();
        for _ in 0..5 {
            let strikes = Strikes::open(dir.path(), UNMARKED);
            assert!(!strikes.is_suspect(&id("a")));
            strikes.begin(&id("a"), "save");
        }
    }
}
