//! A conversation in parts: what was compacted lies in files of its own, and every word keeps its
//! offset.
//!
//! An offset counts the bytes of all lines that were ever appended. The first line of a compacted file
//! is ours and not counted; it tells at which offset the file goes on, and which file has what came
//! before.

use super::carried::Carried;
use super::summary::Summary;
use glis_wire::view::Entry;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// What the first line of a compacted file is known by.
pub(super) const COMPACTED: &str = "compacted";
/// How the names of all parts begin.
pub(super) const PART: &str = "conversation.";
/// A summary is much shorter; a longer line is none of ours.
const HEAD_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Each part has hundreds of entries. More parts than this are a circle that was made by hand.
const PARTS_MAX: usize = 10_000;

/// What the first line of a compacted file tells.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Head {
    /// The file that has everything before.
    pub(super) original: String,
    /// The offset of what follows this line.
    pub(super) base: u64,
    /// What all entries before come down to for those who go on.
    pub(super) carried: Carried,
    /// What was said, in short.
    pub(super) summary: Summary,
}

/// One file of a conversation.
pub(super) struct Part {
    pub(super) file: File,
    pub(super) head: Option<Head>,
    /// How many bytes its first line has, if that is ours.
    pub(super) head_bytes: u64,
    /// The offsets that it has.
    pub(super) base: u64,
    pub(super) end: u64,
}

impl Part {
    fn open(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let (head, head_bytes) = head_of(&mut file)?;
        let base = head.as_ref().map_or(0, |head| head.base);
        let end = base + file.metadata()?.len().saturating_sub(head_bytes);
        Ok(Self { file, head, head_bytes, base, end })
    }

    /// Its lines, beginning at an offset of it.
    pub(super) fn lines_from(&self, offset: u64) -> io::Result<impl io::BufRead + use<'_>> {
        let from = offset.clamp(self.base, self.end);
        let mut file = &self.file;
        file.seek(SeekFrom::Start(self.head_bytes + (from - self.base)))?;
        Ok(BufReader::new(file).take(self.end - from))
    }
}

/// The first line, if it is ours, and its length.
fn head_of(file: &mut File) -> io::Result<(Option<Head>, u64)> {
    let mut line = Vec::new();
    let read = BufReader::new(&mut *file).take(HEAD_BYTES_MAX).read_until(b'\n', &mut line)?;
    if line.last() != Some(&b'\n') {
        return Ok((None, 0));
    }
    let entry = serde_json::from_slice::<Entry>(&line).ok();
    let head = entry.and_then(|mut entry| entry.metadata.remove(COMPACTED));
    let head = head.and_then(|head| serde_json::from_value(head).ok());
    let bytes = if head.is_some() { read as u64 } else { 0 };
    Ok((head, bytes))
}

/// All files of a conversation, the oldest first.
#[derive(Default)]
pub(super) struct Parts(Vec<Part>);

impl Parts {
    /// The parts of the conversation whose latest one is at `path`. One that was deleted hides those
    /// before it and nothing else.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut parts: Vec<Part> = Vec::new();
        let mut next = path.to_owned();
        while parts.len() < PARTS_MAX {
            let mut part = match Part::open(&next) {
                Err(fault) if fault.kind() == io::ErrorKind::NotFound => break,
                opened => opened?,
            };
            if let Some(later) = parts.last() {
                part.end = part.end.min(later.base);
            }
            let before = part.head.as_ref().map(|head| head.original.clone());
            parts.push(part);
            match before {
                Some(name) if name.starts_with(PART) && !name.contains('/') => {
                    next = path.with_file_name(name);
                }
                Some(_) | None => break,
            }
        }
        parts.reverse();
        Ok(Self(parts))
    }

    /// What all entries that are there come down to; what is gone was carried on by the part behind it.
    pub(super) fn carried(&self) -> io::Result<Carried> {
        let first = self.0.first().and_then(|part| part.head.as_ref());
        let mut carried = first.map_or_else(Carried::default, |head| head.carried.clone());
        self.each_line(|_, line| {
            if let Ok(entry) = serde_json::from_slice(line) {
                carried.take(&entry);
            }
            Ok(())
        })?;
        Ok(carried)
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, Part> {
        self.0.iter()
    }

    /// The one that is appended to.
    pub(super) fn last(&self) -> Option<&Part> {
        self.0.last()
    }

    /// Where the next entry will be.
    pub(super) fn end(&self) -> u64 {
        self.last().map_or(0, |part| part.end)
    }

    /// What tells this conversation from another one at the same place: its oldest file, which stays
    /// whatever is compacted.
    pub(super) fn identity(&self) -> io::Result<Option<u64>> {
        self.0.first().map(|part| Ok(part.file.metadata()?.ino())).transpose()
    }

    /// Shows every line, with the offset that it begins at.
    pub(super) fn each_line(
        &self,
        see: impl FnMut(u64, &[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        self.each_line_from(0, see)
    }

    /// The same with those that begin at an offset or behind it.
    pub(super) fn each_line_from(
        &self,
        from: u64,
        mut see: impl FnMut(u64, &[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        for part in self.iter().filter(|part| from < part.end) {
            // One byte earlier: a line that begins right at the offset is known by the end before it.
            let mut at = if from > part.base { from - 1 } else { part.base };
            let mut lines = part.lines_from(at)?;
            if from > part.base {
                at += lines.skip_until(b'\n')? as u64;
            }
            let mut line = Vec::new();
            loop {
                line.clear();
                let read = lines.read_until(b'\n', &mut line)?;
                if read == 0 {
                    break;
                }
                see(at, line.strip_suffix(b"\n").unwrap_or(&line))?;
                at += read as u64;
            }
        }
        Ok(())
    }

    /// Whole lines from `offset` on, about `bytes_max` bytes or one line if that is longer, and the
    /// offset that they begin at: a later one than was asked for where a part is gone.
    pub(super) fn read_on(&self, offset: u64, bytes_max: u64) -> io::Result<(u64, Vec<u8>)> {
        let Some(part) = self.iter().find(|part| offset < part.end) else {
            return Ok((offset.min(self.end()), Vec::new()));
        };
        let from = offset.max(part.base);
        let mut lines = part.lines_from(from)?;
        let mut bytes = Vec::new();
        loop {
            let read = (&mut lines).take(bytes_max.max(1)).read_to_end(&mut bytes)?;
            let whole = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
            if whole > 0 || read == 0 {
                bytes.truncate(whole);
                return Ok((from, bytes));
            }
        }
    }
}
