//! Copies of the log's records, in files that only grow, for the day when the log is gone.
//!
//! A copy is a line with a sum before it. What was copied once is not read again, so a copy costs
//! what has happened since the last one. Each log has a folder of its own, by its name: numbers of
//! another log mean other records.

use super::row::{FNV_START, fnv};
use glis_core::Recorded;
use glis_record::durable;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Records in a file. The last file is read when copying begins, so it is not to be long.
const FILE_RECORDS: usize = 4096;
/// Says that the copies are complete: written when the log is closed in order.
const COMPLETE: &str = "complete";

/// Copies of one log, open for more.
pub(crate) struct Backup {
    folder: PathBuf,
    /// The last file, and how many records it has.
    file: Option<(File, usize)>,
    /// How many records there are in all.
    count: usize,
    last: u64,
}

/// Everything that there is of copies.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Copied {
    pub(crate) records: Vec<Recorded>,
    /// Whether nothing is missing: they were made when the log was closed.
    pub(crate) complete: bool,
}

impl Backup {
    /// Opens the copies of the log with this name below `root`. What a power cut has left of an
    /// unfinished line is cut off.
    pub(crate) fn open(root: &Path, log_id: &str) -> io::Result<Self> {
        let folder = root.join(log_id);
        durable::private_folder(&folder)?;
        let files = files(&folder)?;
        let mut backup = Self { folder, file: None, count: 0, last: 0 };
        for path in files.iter().rev() {
            let bytes = std::fs::read(path)?;
            let (records, sound) = lines(&bytes);
            let file = File::options().append(true).open(path)?;
            if sound < bytes.len() && backup.file.is_none() {
                file.set_len(sound as u64)?;
            }
            backup.file.get_or_insert((file, records.len()));
            if let Some(last) = records.last() {
                backup.last = last.seq;
                break;
            }
        }
        let full = files.len().saturating_sub(1) * FILE_RECORDS;
        backup.count = full + backup.file.as_ref().map_or(0, |(_, count)| *count);
        Ok(backup)
    }

    /// The number of the last record that is copied.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    /// Copies these records, which follow the last ones, durably.
    pub(crate) fn append(&mut self, records: &[Recorded]) -> io::Result<()> {
        let known = self.last;
        let mut records = records.iter().filter(|recorded| recorded.seq > known).peekable();
        while let Some(first) = records.peek() {
            let full = self.file.as_ref().is_none_or(|(_, count)| *count >= FILE_RECORDS);
            if full {
                let path = self.folder.join(format!("{:020}.jsonl", first.seq));
                let file = File::options().create(true).append(true).mode(0o600).open(path)?;
                self.file = Some((file, 0));
            }
            let Some((file, count)) = self.file.as_mut() else { return Ok(()) };
            let (mut bytes, mut last) = (Vec::new(), self.last);
            let room = FILE_RECORDS.saturating_sub(*count);
            let mut taken = 0;
            while taken < room
                && let Some(recorded) = records.next()
            {
                write_line(&mut bytes, recorded)?;
                last = recorded.seq;
                taken += 1;
            }
            file.write_all(&bytes)?;
            file.sync_data()?;
            if full {
                durable::sync_names(&self.folder)?;
            }
            *count += taken;
            self.count += taken;
            self.last = last;
        }
        Ok(())
    }

    /// Says that every record of the log is copied, and forgets copies of former logs: this one holds
    /// all that they did.
    pub(crate) fn complete(&self) -> io::Result<()> {
        let words = format!("{} {}\n", self.last, self.count);
        durable::write(&self.folder, COMPLETE, words.as_bytes())
    }

    /// Deletes the copies of former logs.
    pub(crate) fn forget_others(&self) -> io::Result<()> {
        let Some(root) = self.folder.parent() else { return Ok(()) };
        for other in folders(root)?.into_iter().filter(|path| *path != self.folder) {
            std::fs::remove_dir_all(other)?;
        }
        Ok(())
    }
}

/// From here on the log goes beyond its copies.
pub(crate) fn begun(root: &Path) {
    for folder in folders(root).unwrap_or_default() {
        drop(std::fs::remove_file(folder.join(COMPLETE)));
    }
}

/// The copies that reach furthest.
pub(crate) fn read(root: &Path) -> Copied {
    let all = folders(root).unwrap_or_default().into_iter().map(|folder| read_one(&folder));
    let end = |copied: &Copied| copied.records.last().map_or(0, |recorded| recorded.seq);
    all.max_by_key(end).unwrap_or_default()
}

fn read_one(folder: &Path) -> Copied {
    let mut records: Vec<Recorded> = Vec::new();
    for path in files(folder).unwrap_or_default() {
        let (found, _) = lines(&std::fs::read(path).unwrap_or_default());
        let last = records.last().map_or(0, |recorded| recorded.seq);
        records.extend(found.into_iter().filter(|recorded| recorded.seq > last));
    }
    let said = std::fs::read_to_string(folder.join(COMPLETE)).unwrap_or_default();
    let last = records.last().map_or(0, |recorded| recorded.seq);
    let complete = !records.is_empty() && said == format!("{last} {}\n", records.len());
    Copied { records, complete }
}

/// The files of copies, oldest first.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn folders(root: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(root) {
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    Ok(paths.into_iter().filter(|path| path.is_dir()).collect())
}

fn write_line(bytes: &mut Vec<u8>, recorded: &Recorded) -> io::Result<()> {
    let json = serde_json::to_vec(recorded)?;
    write!(bytes, "{:016x} ", fnv(FNV_START, &json))?;
    bytes.extend_from_slice(&json);
    bytes.push(b'\n');
    Ok(())
}

/// The records in a file, damaged lines left out, and where its last sound line ends.
fn lines(bytes: &[u8]) -> (Vec<Recorded>, usize) {
    let (mut records, mut at, mut sound) = (Vec::new(), 0, 0);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        at += line.len();
        if let Some(recorded) = record(line) {
            records.push(recorded);
            sound = at;
        }
    }
    (records, sound)
}

fn record(line: &[u8]) -> Option<Recorded> {
    let (sum, json) = line.strip_suffix(b"\n")?.split_at_checked(16)?;
    let sum = u64::from_str_radix(std::str::from_utf8(sum).ok()?, 16).ok()?;
    let json = json.strip_prefix(b" ")?;
    (sum == fnv(FNV_START, json)).then_some(())?;
    serde_json::from_slice(json).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::tests::record;

    fn records(range: std::ops::RangeInclusive<u64>) -> Vec<Recorded> {
        range.map(record).collect()
    }

    #[test]
    fn what_was_copied_in_pieces_is_read_as_a_whole() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read(dir.path()), Copied::default());
        for (first, last) in [(1, 10), (11, 5000), (5001, 9000)] {
            let mut backup = Backup::open(dir.path(), "a").unwrap();
            assert_eq!(backup.last(), first - 1);
            backup.append(&records(first..=last)).unwrap();
        }
        let copied = read(dir.path());
        assert_eq!((copied.records.len(), copied.complete), (9000, false));
        assert!(copied.records.iter().zip(1..).all(|(recorded, seq)| recorded.seq == seq));
        let backup = Backup::open(dir.path(), "a").unwrap();
        backup.complete().unwrap();
        assert!(read(dir.path()).complete);
        begun(dir.path());
        assert!(!read(dir.path()).complete);
    }

    #[test]
    fn a_copy_costs_what_is_new_and_reads_one_file() {
        let dir = tempfile::tempdir().unwrap();
        let mut backup = Backup::open(dir.path(), "a").unwrap();
        backup.append(&records(1..=9000)).unwrap();
        let sizes = |dir: &Path| -> Vec<u64> {
            let files = files(&dir.join("a")).unwrap();
            files.iter().map(|path| path.metadata().unwrap().len()).collect()
        };
        let before = sizes(dir.path());
        // Whatever is wrong with the former files is not even looked at.
        std::fs::write(&files(&dir.path().join("a")).unwrap()[0], "gone").unwrap();
        let mut backup = Backup::open(dir.path(), "a").unwrap();
        backup.append(&records(9001..=9001)).unwrap();
        let after = sizes(dir.path());
        assert_eq!((after.len(), after[1]), (3, before[1]));
        assert!(after[2] - before[2] < 1000, "{after:?}");
    }

    #[test]
    fn a_torn_line_is_cut_off_and_a_damaged_one_left_out() {
        let dir = tempfile::tempdir().unwrap();
        Backup::open(dir.path(), "a").unwrap().append(&records(1..=3)).unwrap();
        let path = files(&dir.path().join("a")).unwrap().remove(0);
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let found = read(dir.path()).records;
            assert_eq!(found, records(1..=found.len() as u64), "a beginning, cut at {cut}");
        }
        std::fs::write(&path, &whole[..whole.len() - 5]).unwrap();
        Backup::open(dir.path(), "a").unwrap().append(&records(3..=4)).unwrap();
        assert_eq!(read(dir.path()).records, records(1..=4));
    }

    #[test]
    fn the_copies_that_reach_furthest_count_until_the_others_are_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        Backup::open(dir.path(), "old").unwrap().append(&records(1..=8)).unwrap();
        let mut fresh = Backup::open(dir.path(), "fresh").unwrap();
        fresh.append(&records(1..=5)).unwrap();
        assert_eq!(read(dir.path()).records.len(), 8);
        fresh.append(&records(6..=9)).unwrap();
        fresh.forget_others().unwrap();
        assert_eq!(folders(dir.path()).unwrap(), [dir.path().join("fresh")]);
        assert_eq!(read(dir.path()).records.len(), 9);
    }
}
