//! Reading a conversation: whole, its end, or on from an offset.

use glis_wire::view::Entry;
use serde_json::Value;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// What the agent's session id is noted by.
pub(super) const AGENT_REF: &str = "agent_session_ref";
/// Name of the file in a session's folder.
const FILE: &str = "conversation.jsonl";

/// The file of the session whose folder is `dir`.
pub fn file_of(dir: &Path) -> PathBuf {
    dir.join(FILE)
}

/// How many lines of the conversation in `dir` are damaged.
pub fn damaged_lines(dir: &Path) -> io::Result<usize> {
    let file = match File::open(file_of(dir)) {
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(0),
        opened => opened?,
    };
    let mut damaged = 0;
    for line in BufReader::new(file).split(b'\n') {
        damaged += parse(&line?).1;
    }
    Ok(damaged)
}

/// Shows every entry, one at a time: a conversation may be larger than anybody wants to hold.
pub fn each(path: &Path, mut see: impl FnMut(Entry)) -> io::Result<()> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(fault) => return Err(fault),
    };
    for line in BufReader::new(file).split(b'\n') {
        if let Ok(entry) = serde_json::from_slice(&line?) {
            see(entry);
        }
    }
    Ok(())
}

/// The agent's session id that an entry was said under.
pub fn under(entry: &Entry) -> Option<&str> {
    entry.metadata.get(AGENT_REF).and_then(Value::as_str)
}

/// Whole lines from `offset` on, up to about `bytes_max` bytes or one line if that is longer, and
/// how many bytes they were.
pub fn read_on(path: &Path, offset: u64, bytes_max: u64) -> io::Result<(Vec<Entry>, u64)> {
    let Ok(mut file) = File::open(path) else { return Ok((Vec::new(), 0)) };
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    loop {
        let read = (&mut file).take(bytes_max).read_to_end(&mut bytes)?;
        let whole = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        if whole > 0 || read == 0 {
            bytes.truncate(whole);
            return Ok((parse(&bytes).0, whole as u64));
        }
    }
}

/// Entries in the last `bytes_max` bytes, and how many lines among them are damaged.
pub fn read_tail(path: &Path, bytes_max: u64) -> io::Result<(Vec<Entry>, usize)> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), 0)),
        Err(fault) => return Err(fault),
    };
    let from = file.metadata()?.len().saturating_sub(bytes_max);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    // The first line is cut in half unless the whole file was read.
    let skip =
        if from == 0 { 0 } else { bytes.iter().position(|&b| b == b'\n').map_or(0, |p| p + 1) };
    Ok(parse(bytes.get(skip..).unwrap_or_default()))
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
