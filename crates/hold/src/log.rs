//! The session's output on disk: files named by the offset of their first byte.
//!
//! Offsets never go back, over any number of generations. What could not be written is missing
//! between two files, so the names tell what is lost.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;

use rustix::fs::Dir;

use crate::folder::Folder;

/// Below this, files would be opened and removed all the time for nothing.
const SEGMENT_BYTES_MIN: u64 = 64 * 1024;

/// The cap is kept to within this part of it, because whole files are removed.
const SEGMENTS_USUAL: u64 = 16;

/// As much as is copied at once.
const COPY_BYTES: usize = 64 * 1024;

/// The log of one session, open at its end.
#[derive(Debug)]
pub(crate) struct Log {
    folder: Folder,
    segments: VecDeque<Segment>,
    /// The last segment, open for writing; `None` while there is none that the next byte adjoins.
    file: Option<File>,
    end: u64,
    bytes: u64,
    bytes_max: u64,
    broken: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Segment {
    start: u64,
    len: u64,
}

impl Segment {
    fn end(self) -> u64 {
        self.start + self.len
    }

    fn name(self) -> String {
        format!("{:016x}", self.start)
    }
}

impl Log {
    /// Finds the segments that are there. `at_least` is an offset known to be used up already.
    pub(crate) fn open(folder: Folder, bytes_max: u64, at_least: u64) -> io::Result<Self> {
        let mut segments = Vec::new();
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            let Some(start) = offset_named(entry.file_name().to_bytes()) else { continue };
            let mut segment = Segment { start, len: 0 };
            segment.len = folder.read(&segment.name())?.metadata()?.len();
            segments.push(segment);
        }
        segments.sort_unstable_by_key(|segment| segment.start);
        let written = segments.last().map_or(0, |last| last.end());
        let end = written.max(at_least);
        let file = match segments.last() {
            Some(last) if last.end() == end => Some(folder.append(&last.name())?),
            Some(_) | None => None,
        };
        let bytes = segments.iter().map(|segment| segment.len).sum();
        Ok(Self { folder, segments: segments.into(), file, end, bytes, bytes_max, broken: false })
    }

    /// A log in another folder that goes on where this one ends. The file that is written to is open,
    /// so that its bytes are there though it was deleted: they come along, and with them the screen.
    pub(crate) fn moved_to(&self, folder: Folder, bytes_max: u64) -> io::Result<Self> {
        let last = self.segments.back().filter(|last| last.end() == self.end);
        let start = last.map_or(self.end, |last| last.start);
        let mut log = Self::open(folder, bytes_max, start)?;
        if let Some(file) = self.file.as_ref().filter(|_| log.end == start) {
            // It is open for writing alone.
            let deleted = glis_os::descriptors::reopened(file)?;
            let mut piece = vec![0; COPY_BYTES];
            while log.end < self.end {
                let len = deleted.read_at(&mut piece, log.end - start)?;
                if len == 0 {
                    break;
                }
                log.append(&piece[..len]).map_err(|gap| gap.why)?;
            }
        }
        if log.end < self.end {
            log.abandon();
            log.end = self.end;
        }
        Ok(log)
    }

    /// Offset of the next byte.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    pub(crate) fn oldest(&self) -> u64 {
        self.segments.front().map_or(self.end, |segment| segment.start)
    }

    /// Whether the last bytes did not reach the disk.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    /// Adds bytes. The offset advances whether or not they could be written; a failure is told
    /// when it begins and not again before writing has worked.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), LogGap> {
        let outcome = self.write(bytes);
        let written = *outcome.as_ref().unwrap_or_else(|(written, _)| written);
        let at = self.end + written as u64;
        self.end += bytes.len() as u64;
        match outcome {
            Ok(_) => {
                self.broken = false;
                Ok(())
            }
            Err((_, why)) => {
                let known = std::mem::replace(&mut self.broken, true);
                self.abandon();
                if known { Ok(()) } else { Err(LogGap { at, why }) }
            }
        }
    }

    /// Reads from this offset on: how much was put into `into`. Nothing at all means that the
    /// byte is not on disk.
    pub(crate) fn read(&self, offset: u64, into: &mut [u8]) -> usize {
        let after = self.segments.partition_point(|segment| segment.start <= offset);
        let Some(segment) = after.checked_sub(1).and_then(|at| self.segments.get(at)) else {
            return 0;
        };
        let Some(left) = segment.end().checked_sub(offset).filter(|left| *left > 0) else {
            return 0;
        };
        let len = usize::try_from(left).unwrap_or(usize::MAX).min(into.len());
        let file = self.folder.read(&segment.name());
        file.and_then(|file| file.read_at(&mut into[..len], offset - segment.start)).unwrap_or(0)
    }

    /// The first offset after this one that a file begins with.
    pub(crate) fn begins_after(&self, offset: u64) -> Option<u64> {
        let after = self.segments.partition_point(|segment| segment.start <= offset);
        self.segments.get(after).map(|segment| segment.start)
    }

    /// Makes what was written durable, and the name that it is found by.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.as_ref().map_or(Ok(()), File::sync_data)?;
        Ok(rustix::fs::fsync(&self.folder)?)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<usize, (usize, io::Error)> {
        self.begin_segment().map_err(|why| (0, why))?;
        let (Some(file), Some(segment)) = (&mut self.file, self.segments.back_mut()) else {
            return Err((0, io::ErrorKind::NotFound.into()));
        };
        let mut written = 0;
        while written < bytes.len() {
            match file.write(&bytes[written..]) {
                Ok(0) => return Err((written, io::ErrorKind::WriteZero.into())),
                Ok(len) => {
                    written += len;
                    segment.len += len as u64;
                    self.bytes += len as u64;
                }
                Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {}
                Err(fault) => return Err((written, fault)),
            }
        }
        Ok(written)
    }

    /// Sees to it that the last segment is open, not full, and adjoined by the next byte.
    fn begin_segment(&mut self) -> io::Result<()> {
        let limit = (self.bytes_max / SEGMENTS_USUAL).max(SEGMENT_BYTES_MIN);
        if self.file.is_some() && self.segments.back().is_some_and(|last| last.len <= limit) {
            return Ok(());
        }
        let segment = Segment { start: self.end, len: 0 };
        self.file = Some(self.folder.append(&segment.name())?);
        self.segments.push_back(segment);
        self.cut();
        Ok(())
    }

    /// After a failure the next byte does not adjoin: its segment begins anew, and an empty one
    /// is not left behind, because one would come with every attempt.
    fn abandon(&mut self) {
        self.file = None;
        if let Some(last) = self.segments.back().copied().filter(|last| last.len == 0) {
            self.segments.pop_back();
            drop(self.folder.remove(&last.name()));
        }
    }

    /// Removes the oldest files until the cap is kept. The last one always stays.
    fn cut(&mut self) {
        while self.bytes > self.bytes_max && self.segments.len() > 1 {
            let Some(oldest) = self.segments.pop_front() else { return };
            self.bytes -= oldest.len;
            // A file that cannot be removed is found again by the next generation.
            drop(self.folder.remove(&oldest.name()));
        }
    }
}

/// Output that did not reach the disk.
#[derive(Debug)]
pub(crate) struct LogGap {
    pub(crate) at: u64,
    pub(crate) why: io::Error,
}

fn offset_named(name: &[u8]) -> Option<u64> {
    let name = std::str::from_utf8(name).ok().filter(|name| name.len() == 16)?;
    let plain = name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if plain { u64::from_str_radix(name, 16).ok() } else { None }
}

#[cfg(test)]
#[path = "log/tests.rs"]
mod tests;
