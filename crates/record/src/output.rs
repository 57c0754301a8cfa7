//! A session's raw output as its holder left it on disk, addressed by byte offset.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use glis_screen::{Chunk, Output};
use glis_wire::hold::{Size, place};

/// A listing may be outdated at once, because the holder cuts old files while we read. Each new
/// listing starts later, so a few of them always get ahead of the holder.
const LISTINGS_MAX: usize = 8;

/// Reads the output of one session. Holds no file open, so that the holder's cuts free their space.
#[derive(Debug, Clone)]
pub struct OutputLog {
    dir: PathBuf,
}

struct Segment {
    start: u64,
    path: PathBuf,
}

impl OutputLog {
    /// The log in the session folder `dir`, whether or not anything was written yet.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// Where bytes are missing that the disk did not take: the last hole between two files, or the
    /// end of the last one if the agent is known to have printed up to `known_end`. What was cut at
    /// the beginning is no hole.
    pub fn gap(&self, known_end: u64) -> Option<u64> {
        let segments = self.segments().ok()?;
        let mut gap = None;
        for (index, segment) in segments.iter().enumerate() {
            // A file that is cut at this moment was whole.
            let Ok(about) = fs::metadata(&segment.path) else { continue };
            let end = segment.start + about.len();
            let next = segments.get(index + 1).map_or(known_end, |next| next.start);
            if end < next {
                gap = Some(end);
            }
        }
        gap
    }

    fn read_listed(&self, from: u64, max: usize) -> io::Result<Chunk> {
        let segments = self.segments()?;
        let holding = segments.partition_point(|segment| segment.start <= from).saturating_sub(1);
        for (index, segment) in segments.iter().enumerate().skip(holding) {
            let at = from.max(segment.start);
            let next = segments.get(index + 1).map_or(u64::MAX, |next| next.start);
            let room = usize::try_from(next.saturating_sub(at)).unwrap_or(usize::MAX);
            let bytes = read_at(&segment.path, at - segment.start, max.min(room))?;
            if !bytes.is_empty() {
                return Ok(Chunk { at, bytes });
            }
        }
        Ok(Chunk { at: from, bytes: Vec::new() })
    }

    fn segments(&self) -> io::Result<Vec<Segment>> {
        let entries = match fs::read_dir(self.dir.join(place::OUTPUT)) {
            Ok(entries) => entries,
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(fault) => return Err(fault),
        };
        let mut segments = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if let Some(start) = start_of_name(&path) {
                segments.push(Segment { start, path });
            }
        }
        segments.sort_by_key(|segment| segment.start);
        Ok(segments)
    }
}

impl Output for OutputLog {
    fn oldest(&self) -> u64 {
        self.segments().ok().and_then(|all| all.first().map(|first| first.start)).unwrap_or(0)
    }

    fn end(&self) -> u64 {
        for _ in 0..LISTINGS_MAX {
            let Ok(segments) = self.segments() else { return 0 };
            let Some(last) = segments.last() else { return 0 };
            if let Ok(about) = fs::metadata(&last.path) {
                return last.start + about.len();
            }
        }
        0
    }

    fn sizes(&self) -> Vec<(u64, Size)> {
        let text = fs::read_to_string(self.dir.join(place::SIZES)).unwrap_or_default();
        // A line without its end is being written at this moment, and its number may be cut short.
        let mut sizes: Vec<_> = text
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'))
            .filter_map(size_of_line)
            .collect();
        sizes.sort_by_key(|&(at, _)| at);
        sizes
    }

    fn read(&self, from: u64, max: usize) -> io::Result<Chunk> {
        for _ in 0..LISTINGS_MAX {
            match self.read_listed(from, max) {
                Err(fault) if fault.kind() == io::ErrorKind::NotFound => {}
                done => return done,
            }
        }
        Err(io::Error::new(io::ErrorKind::NotFound, "the log is cut faster than it can be read"))
    }
}

fn read_at(path: &Path, skip: u64, max: usize) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let rest = file.metadata()?.len().saturating_sub(skip);
    let mut bytes = vec![0; max.min(usize::try_from(rest).unwrap_or(usize::MAX))];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], skip + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {}
            Err(fault) => return Err(fault),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

/// Only what a holder would have named: other files in the folder are none of ours.
fn start_of_name(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?;
    let proper = name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    proper.then(|| u64::from_str_radix(name, 16).ok()).flatten()
}

fn size_of_line(line: &str) -> Option<(u64, Size)> {
    let mut words = line.split_ascii_whitespace();
    let at = words.next()?.parse().ok()?;
    let columns = words.next()?.parse().ok()?;
    let rows = words.next()?.parse().ok()?;
    words.next().is_none().then_some((at, Size { columns, rows }))
}

#[cfg(test)]
pub mod tests;
