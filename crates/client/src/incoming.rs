//! A holder's frames, read in place: terminal bytes go from the read buffer to the terminal.
//!
//! The general decoder hands out frames that are complete and its own. Output comes in floods and
//! in large frames, so here a raw frame is given out as far as it has arrived.

use std::io;

use glis_wire::frame::{Frame, FrameFault, PAYLOAD_BYTES_MAX};
use glis_wire::hold::Report;

/// A flood is written to the terminal in pieces of up to this size.
const BUFFER_BYTES: usize = 256 * 1024;
/// Length and kind.
const HEAD_BYTES: usize = 5;
const TAG_BYTES: usize = 8;
const KIND_WORDS: u8 = 0;
const KIND_RAW: u8 = 1;

/// The next thing that a holder said.
#[derive(Debug)]
pub(crate) enum Part {
    /// Output, as a range of [`Incoming::bytes`].
    Output {
        /// Offset of the first byte.
        at: u64,
        /// Where the bytes lie.
        range: std::ops::Range<usize>,
    },
    /// A word.
    Report(Box<Report>),
    /// More must be read first.
    Nothing,
}

pub(crate) struct Incoming {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// The raw frame that is being given out: the next byte's offset, and how many are left.
    open: Option<(u64, usize)>,
}

impl Incoming {
    pub(crate) fn new() -> Self {
        Self { buffer: vec![0; BUFFER_BYTES], start: 0, end: 0, open: None }
    }

    pub(crate) fn bytes(&self, range: std::ops::Range<usize>) -> &[u8] {
        &self.buffer[range]
    }

    /// Reads once with `read`, which is given the free space. Returns how much came; 0 is the end.
    pub(crate) fn fill(
        &mut self,
        read: impl FnOnce(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.end == self.buffer.len() {
            // A word longer than the buffer; its length was found to be allowed.
            self.buffer.resize(2 * self.buffer.len(), 0);
        }
        let count = read(&mut self.buffer[self.end..])?;
        self.end += count;
        Ok(count)
    }

    /// The next part of what was read.
    pub(crate) fn next_part(&mut self) -> Result<Part, FrameFault> {
        loop {
            if let Some((at, left)) = self.open {
                let count = left.min(self.end - self.start);
                if left > 0 && count == 0 {
                    return Ok(Part::Nothing);
                }
                self.open = (count < left).then(|| (at + count as u64, left - count));
                let range = self.start..self.start + count;
                self.start += count;
                if count > 0 {
                    return Ok(Part::Output { at, range });
                }
                continue;
            }
            let rest = &self.buffer[self.start..self.end];
            let Some((head, body)) = rest.split_first_chunk::<HEAD_BYTES>() else {
                return Ok(Part::Nothing);
            };
            let follows = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
            if follows > PAYLOAD_BYTES_MAX {
                return Err(FrameFault::TooLong(follows as u64));
            }
            let length = follows.checked_sub(1).ok_or(FrameFault::Short)?;
            match head[4] {
                KIND_RAW => {
                    let left = length.checked_sub(TAG_BYTES).ok_or(FrameFault::Short)?;
                    let Some((tag, _)) = body.split_first_chunk::<TAG_BYTES>() else {
                        return Ok(Part::Nothing);
                    };
                    self.open = Some((u64::from_le_bytes(*tag), left));
                    self.start += HEAD_BYTES + TAG_BYTES;
                }
                KIND_WORDS => {
                    let Some(json) = body.get(..length) else { return Ok(Part::Nothing) };
                    let report = Report::read(&Frame::Words(json.to_vec()));
                    self.start += HEAD_BYTES + length;
                    return report.map(|report| Part::Report(Box::new(report)));
                }
                kind => return Err(FrameFault::UnknownKind(kind)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use glis_wire::frame::{encode_raw, encode_words};

    fn parts(stream: &[u8], size: usize) -> String {
        let mut incoming = Incoming::new();
        let mut said = String::new();
        let mut expected = 0;
        let mut rest = stream;
        while !rest.is_empty() {
            let came = incoming.fill(|space| {
                let count = rest.len().min(size).min(space.len());
                space[..count].copy_from_slice(&rest[..count]);
                Ok(count)
            });
            rest = &rest[came.unwrap()..];
            loop {
                match incoming.next_part().unwrap() {
                    Part::Nothing => break,
                    Part::Report(report) => write!(said, "<{report:?}>").unwrap(),
                    Part::Output { at, range } => {
                        assert!(at >= expected);
                        expected = at + range.len() as u64;
                        said.push_str(str::from_utf8(incoming.bytes(range)).unwrap());
                    }
                }
            }
        }
        said
    }

    #[test]
    fn frames_survive_any_chopping() {
        let mut stream = encode_words(&Report::Output { end: 7 });
        encode_raw(&mut stream, 5, b"hello ");
        encode_raw(&mut stream, 11, b"");
        encode_raw(&mut stream, 11, b"world");
        stream.extend(encode_words(&Report::Audience { clients: 2, attached: None }));
        for size in 1..=stream.len() {
            let said = parts(&stream, size);
            assert_eq!(
                said, "<Output { end: 7 }>hello world<Audience { clients: 2, attached: None }>",
                "{size}"
            );
        }
    }

    #[test]
    fn a_word_may_be_longer_than_the_buffer() {
        let why = "x".repeat(2 * BUFFER_BYTES);
        let stream = encode_words(&Report::Refused { order: 1, why: why.clone(), for_good: false });
        assert!(parts(&stream, 10_000).contains(&why));
    }

    #[test]
    fn nonsense_is_refused() {
        for bad in
            [&[0, 0, 0, 0, 0][..], &[2, 0, 0, 0, 9], &[2, 0, 0, 0, 1], &[255; 5], b"\x03\0\0\0\0{}"]
        {
            let mut incoming = Incoming::new();
            incoming
                .fill(|space| {
                    space[..bad.len()].copy_from_slice(bad);
                    Ok(bad.len())
                })
                .unwrap();
            assert!(incoming.next_part().is_err(), "{bad:?}");
        }
    }
}
