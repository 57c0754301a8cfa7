//! Reading a conversation: whole, its end, or on from an offset.

use super::parts::Parts;
use glis_wire::view::Entry;
use std::io;
use std::path::{Path, PathBuf};

/// Name of the file in a session's folder.
const FILE: &str = "conversation.jsonl";

/// How every line begins, and how long it is up to the end of its time.
const STAMP: &[u8] = b"{\"timestamp\":\"";
const STAMP_BYTES: usize = STAMP.len() + "2026-11-17T21:54:46.624Z\"".len();

/// The file of the session whose folder is `dir`.
pub fn file_of(dir: &Path) -> PathBuf {
    dir.join(FILE)
}

/// How many lines of the conversation in `dir` are damaged.
pub fn damaged_lines(dir: &Path) -> io::Result<usize> {
    let (mut damaged, mut torn) = (0, Vec::new());
    Parts::open(&file_of(dir))?.each_line(|_, line| {
        let faults = parse(line).1;
        damaged += usize::from(!torn.is_empty() && !is_beginning_of(&torn, line));
        torn = if faults > 0 { line.to_vec() } else { Vec::new() };
        Ok(())
    })?;
    Ok(damaged + usize::from(!torn.is_empty()))
}

/// Whether a torn line is the beginning of the one behind it: then it was written again, and nothing of
/// it is missing. When it was written is another moment.
fn is_beginning_of(torn: &[u8], next: &[u8]) -> bool {
    let torn = torn.strip_suffix(b"\n").unwrap_or(torn);
    match (torn.split_at_checked(STAMP_BYTES), next.split_at_checked(STAMP_BYTES)) {
        (Some((_, torn)), Some((_, next))) => next.starts_with(torn),
        (None, _) => match torn.strip_prefix(STAMP) {
            Some(time) => time.iter().all(|byte| b"0123456789-:.TZ\"".contains(byte)),
            None => STAMP.starts_with(torn),
        },
        (Some(_), None) => false,
    }
}

/// Shows every entry that was ever said, one at a time: a conversation may be larger than what fits
/// into memory.
pub fn each(path: &Path, mut see: impl FnMut(Entry)) -> io::Result<()> {
    Parts::open(path)?.each_line(|_, line| {
        if let Ok(entry) = serde_json::from_slice(line) {
            see(entry);
        }
        Ok(())
    })
}

/// Entries from `offset` on, in whole lines of about `bytes_max` bytes or one if that is longer, and
/// where they end: at the end of all if it lies before `offset`.
pub fn read_on(path: &Path, offset: u64, bytes_max: u64) -> io::Result<(Vec<Entry>, u64)> {
    let (from, bytes) = Parts::open(path)?.read_on(offset, bytes_max)?;
    Ok((parse(&bytes).0, from + bytes.len() as u64))
}

/// Lines of a conversation, and where they were read.
pub struct Stretch {
    /// What tells the conversation from another one at the same place.
    pub of: u64,
    pub to: u64,
    pub entries: Vec<Entry>,
}

/// As [`read_on`], of the conversation that was read to `from` before; from its beginning if that was
/// another one, or a longer one. None if there is none.
pub fn read_stretch(
    path: &Path,
    known: Option<(u64, u64)>,
    bytes_max: u64,
) -> io::Result<Option<Stretch>> {
    let parts = Parts::open(path)?;
    let Some(of) = parts.identity()? else { return Ok(None) };
    let from = known.filter(|(known, to)| *known == of && *to <= parts.end()).map_or(0, |k| k.1);
    let (at, bytes) = parts.read_on(from, bytes_max)?;
    let to = at + bytes.len() as u64;
    Ok(Some(Stretch { of, to, entries: parse(&bytes).0 }))
}

/// Entries in the last `bytes_max` bytes, and how many lines among them are damaged.
pub fn read_tail(path: &Path, bytes_max: u64) -> io::Result<(Vec<Entry>, usize)> {
    let parts = Parts::open(path)?;
    let from = parts.end().saturating_sub(bytes_max);
    let (mut entries, mut damaged) = (Vec::new(), 0);
    // The line in which the last bytes begin is cut in half, unless one begins right there.
    parts.each_line_from(from, |_, line| {
        let (one, torn) = parse(line);
        entries.extend(one);
        damaged += torn;
        Ok(())
    })?;
    Ok((entries, damaged))
}

/// Parses whole lines; damaged ones are counted and left out.
pub fn parse(bytes: &[u8]) -> (Vec<Entry>, usize) {
    let mut damaged = 0;
    let lines = bytes.split(|&b| b == b'\n').filter(|line| !line.is_empty());
    let entries = lines.filter_map(|line| {
        let entry = serde_json::from_slice(line).ok();
        damaged += usize::from(entry.is_none());
        entry
    });
    (entries.collect(), damaged)
}
