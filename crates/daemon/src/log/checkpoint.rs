//! A checkpoint: the fold of the log up to one of its records, so that a start reads only what
//! follows. It is a shortcut and nothing else: whatever is wrong with it, it is thrown away and the
//! whole log is folded.

use super::mark::Mark;
use super::row::{FNV_START, fnv};
use glis_core::House;
use glis_core::house::FOLD;
use glis_record::durable;
use std::io;
use std::path::Path;

pub(crate) const NAME: &str = "checkpoint";

/// Form of the file. The form of the state within has the name of the fold that wrote it.
const FORM: &str = "glis-checkpoint-1";

/// The state after a record of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    pub(crate) house: House,
    /// The record that it ends with, and all before it.
    pub(crate) mark: Mark,
}

impl Checkpoint {
    /// Reads the one in this folder, if there is one that this program has written. Else says why it
    /// does not count.
    pub(crate) fn read(folder: &Path) -> Result<Option<Self>, String> {
        let bytes = durable::read_file(&folder.join(NAME)).map_err(|fault| fault.to_string())?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let (head, rest) = line(&bytes).ok_or("it is damaged")?;
        let (mark, body) = line(rest).ok_or("it is damaged")?;
        let mut words = head.split(' ');
        if words.next() != Some(FORM) || words.next() != Some(FOLD) {
            return Err("another version of the program has written it".to_owned());
        }
        let sum = words.next().and_then(|word| u64::from_str_radix(word, 16).ok());
        if sum != Some(sum_of(mark, body)) {
            return Err("it is damaged".to_owned());
        }
        let house: House = serde_json::from_slice(body).map_err(|fault| fault.to_string())?;
        let mark = Mark::read(mark).filter(|mark| mark.seq == house.last_seq());
        let mark = mark.ok_or("it contradicts itself")?;
        Ok(Some(Self { house, mark }))
    }

    /// Which record the one in this folder ends with, if it can be read.
    pub(crate) fn mark(folder: &Path) -> Option<Mark> {
        Self::read(folder).ok().flatten().map(|checkpoint| checkpoint.mark)
    }

    /// Puts it into this folder, in place of the former one. It costs what the state is large, however
    /// long the log.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        let (mark, house) = (self.mark.words(), serde_json::to_vec(&self.house)?);
        let mut bytes = format!("{FORM} {FOLD} {:016x}\n{mark}\n", sum_of(&mark, &house));
        bytes.reserve(house.len());
        let mut bytes = bytes.into_bytes();
        bytes.extend_from_slice(&house);
        durable::private_folder(folder)?;
        durable::write(folder, NAME, &bytes)
    }
}

fn line(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let (line, rest) = bytes.split_at_checked(end)?;
    Some((std::str::from_utf8(line).ok()?, rest.get(1..)?))
}

fn sum_of(mark: &str, house: &[u8]) -> u64 {
    fnv(fnv(fnv(FNV_START, mark.as_bytes()), &[0]), house)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fill;
    use glis_core::{Recorded, SessionId};

    fn some() -> Checkpoint {
        let mut house = House::default();
        for (seq, event) in (1..).zip(fill::born(1)) {
            house.apply(&Recorded::new(seq, 7, SessionId("s".to_owned()).into(), event));
        }
        let seq = house.last_seq();
        Checkpoint { house, mark: Mark { seq, sum: -5, chain: u64::MAX } }
    }

    #[test]
    fn what_was_written_is_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("backup");
        assert_eq!(Checkpoint::read(&folder), Ok(None));
        some().write(&folder).unwrap();
        assert_eq!(Checkpoint::read(&folder), Ok(Some(some())));
    }

    #[test]
    fn one_that_differs_anywhere_does_not_count() {
        let dir = tempfile::tempdir().unwrap();
        some().write(dir.path()).unwrap();
        let whole = std::fs::read(dir.path().join(NAME)).unwrap();
        for at in 0..whole.len() {
            let mut bent = whole.clone();
            bent[at] ^= 1;
            std::fs::write(dir.path().join(NAME), &bent).unwrap();
            assert!(Checkpoint::read(dir.path()).is_err(), "a bit at {at}");
            std::fs::write(dir.path().join(NAME), &whole[..at]).unwrap();
            assert!(!matches!(Checkpoint::read(dir.path()), Ok(Some(_))), "cut at {at}");
        }
    }

    #[test]
    fn one_of_another_fold_does_not_count() {
        let dir = tempfile::tempdir().unwrap();
        some().write(dir.path()).unwrap();
        let bytes = std::fs::read(dir.path().join(NAME)).unwrap();
        let text = String::from_utf8(bytes).unwrap().replacen(FOLD, "0123456789abcdef", 1);
        std::fs::write(dir.path().join(NAME), text).unwrap();
        assert!(Checkpoint::read(dir.path()).is_err_and(|why| why.contains("another version")));
    }
}
