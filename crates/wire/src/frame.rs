//! Frames: a length, a kind, a payload. Words travel as JSON, terminal bytes travel raw.
//!
//! ```text
//! u32 LE: length of what follows │ u8: kind │ payload
//!   kind 0  words: one JSON document
//!   kind 1  raw:   u64 LE tag │ bytes
//! ```
//! A raw frame's tag is the offset of its first byte on the way from a holder, and the number of
//! the order on the way to it.

use serde::{Serialize, de::DeserializeOwned};

/// The largest payload that either side accepts. Longer messages are refused before they are read.
pub const PAYLOAD_BYTES_MAX: usize = 8 * 1024 * 1024;

/// What comes before the JSON of a frame of words.
pub const HEAD_BYTES: usize = 5;
const TAG_BYTES: usize = 8;
const KIND_WORDS: u8 = 0;
const KIND_RAW: u8 = 1;

/// One frame as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// A JSON document, not parsed yet.
    Words(Vec<u8>),
    /// Bytes with their address or order number.
    Raw {
        /// Offset of the first byte, or the number of the order that the bytes belong to.
        tag: u64,
        /// The bytes, untouched.
        bytes: Vec<u8>,
    },
}

/// Why a peer's bytes are not frames. The connection is closed; nothing else is affected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameFault {
    /// The announced length is beyond [`PAYLOAD_BYTES_MAX`].
    #[error("a frame of {0} bytes is longer than the limit")]
    TooLong(u64),
    /// A kind that this version does not know.
    #[error("unknown frame kind {0}")]
    UnknownKind(u8),
    /// A frame too short for its kind.
    #[error("a frame ends before its head is complete")]
    Short,
    /// The JSON does not have the expected form.
    #[error("words not understood: {0}")]
    Words(String),
}

impl Frame {
    /// Parses the words of this frame.
    pub fn words<T: DeserializeOwned>(&self) -> Result<T, FrameFault> {
        match self {
            Self::Words(json) => {
                serde_json::from_slice(json).map_err(|fault| FrameFault::Words(fault.to_string()))
            }
            Self::Raw { .. } => Err(FrameFault::Words("raw bytes where words belong".to_owned())),
        }
    }
}

/// Encodes one JSON document as a frame.
#[expect(clippy::expect_used, reason = "the types of this crate always serialize")]
pub fn encode_words<T: Serialize>(words: &T) -> Vec<u8> {
    let mut out = vec![0; HEAD_BYTES];
    serde_json::to_writer(&mut out, words).expect("wire types have string keys only");
    fill_head(&mut out, KIND_WORDS);
    out
}

/// Appends a raw frame to `out`.
pub fn encode_raw(out: &mut Vec<u8>, tag: u64, bytes: &[u8]) {
    out.extend_from_slice(&raw_head(tag, bytes.len()));
    out.extend_from_slice(bytes);
}

/// The head of a raw frame, for a sender that writes the bytes from where they lie.
pub fn raw_head(tag: u64, len: usize) -> [u8; HEAD_BYTES + TAG_BYTES] {
    let mut head = [0; HEAD_BYTES + TAG_BYTES];
    let follows = u32::try_from(1 + TAG_BYTES + len).unwrap_or(u32::MAX);
    head[..4].copy_from_slice(&follows.to_le_bytes());
    head[4] = KIND_RAW;
    head[HEAD_BYTES..].copy_from_slice(&tag.to_le_bytes());
    head
}

fn fill_head(out: &mut [u8], kind: u8) {
    let follows = u32::try_from(out.len() - 4).unwrap_or(u32::MAX);
    out[..4].copy_from_slice(&follows.to_le_bytes());
    out[4] = kind;
}

/// Cuts a stream of bytes into frames, however the stream was chopped on its way.
#[derive(Debug, Default)]
pub struct Decoder {
    pending: Vec<u8>,
    taken: usize,
}

impl Decoder {
    /// Adds bytes as they were read.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.taken > 0 {
            self.pending.drain(..self.taken);
            self.taken = 0;
        }
        self.pending.extend_from_slice(bytes);
    }

    /// Whether [`Self::next_frame`] has something to say without more bytes.
    pub fn has_frame(&self) -> bool {
        let rest = &self.pending[self.taken..];
        rest.split_first_chunk::<4>().is_some_and(|(head, rest)| {
            let follows = u32::from_le_bytes(*head) as usize;
            follows == 0 || follows > PAYLOAD_BYTES_MAX || rest.len() >= follows
        })
    }

    /// The next whole frame; `None` until more bytes arrive.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, FrameFault> {
        let rest = &self.pending[self.taken..];
        let Some((head, _)) = rest.split_first_chunk::<4>() else { return Ok(None) };
        let follows = u32::from_le_bytes(*head) as usize;
        if follows > PAYLOAD_BYTES_MAX {
            return Err(FrameFault::TooLong(follows as u64));
        }
        if follows == 0 {
            return Err(FrameFault::Short);
        }
        let Some(body) = rest.get(4..4 + follows) else { return Ok(None) };
        let frame = parse(body)?;
        self.taken += 4 + follows;
        if self.taken == self.pending.len() {
            self.pending.clear();
            self.taken = 0;
            // One large frame must not make an idle connection hold its memory for ever.
            self.pending.shrink_to(16 * 1024);
        }
        Ok(Some(frame))
    }
}

fn parse(body: &[u8]) -> Result<Frame, FrameFault> {
    match body.split_first() {
        Some((&KIND_WORDS, json)) => Ok(Frame::Words(json.to_vec())),
        Some((&KIND_RAW, rest)) => {
            let (tag, bytes) = rest.split_first_chunk::<TAG_BYTES>().ok_or(FrameFault::Short)?;
            Ok(Frame::Raw { tag: u64::from_le_bytes(*tag), bytes: bytes.to_vec() })
        }
        Some((&kind, _)) => Err(FrameFault::UnknownKind(kind)),
        None => Err(FrameFault::Short),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_survive_any_chopping() {
        let mut stream = encode_words(&"hello");
        encode_raw(&mut stream, 7, b"\x00\xff bytes");
        for cut in 1..stream.len() {
            let mut decoder = Decoder::default();
            let mut got = Vec::new();
            for part in stream.chunks(cut) {
                decoder.feed(part);
                assert_eq!(decoder.has_frame(), {
                    let mut twin = Decoder::default();
                    twin.feed(&decoder.pending[decoder.taken..]);
                    twin.next_frame().unwrap().is_some()
                });
                while let Some(frame) = decoder.next_frame().unwrap() {
                    got.push(frame);
                }
            }
            assert_eq!(
                got,
                vec![
                    Frame::Words(b"\"hello\"".to_vec()),
                    Frame::Raw { tag: 7, bytes: b"\x00\xff bytes".to_vec() }
                ]
            );
        }
    }

    #[test]
    fn a_huge_length_is_refused_before_any_memory_is_taken() {
        let mut decoder = Decoder::default();
        decoder.feed(&u32::MAX.to_le_bytes());
        assert!(matches!(decoder.next_frame(), Err(FrameFault::TooLong(_))));
    }

    #[test]
    fn nonsense_is_refused() {
        for bad in [vec![0, 0, 0, 0], vec![1, 0, 0, 0, 9], vec![2, 0, 0, 0, 1, 0]] {
            let mut decoder = Decoder::default();
            decoder.feed(&bad);
            assert!(decoder.has_frame(), "{bad:?}");
            assert!(decoder.next_frame().is_err(), "{bad:?}");
        }
    }
}
