//! The newest stretch of output in memory. It is also the buffer that output is read into.

use std::io;

use crate::sys::Pages;

/// As much as is read before it is written to disk in one piece, and what a follower that keeps
/// up is served from. Larger gains nothing measurable and every holder pays for it.
pub(crate) const RING_BYTES: usize = 64 * 1024;

/// Bytes by offset; the oldest are overwritten.
#[derive(Debug)]
pub(crate) struct Ring {
    pages: Pages,
    /// The offset that lies at the first byte of the pages, modulo their length.
    base: u64,
    end: u64,
    held: usize,
}

impl Ring {
    /// An empty ring whose next byte has this offset.
    pub(crate) fn new(end: u64) -> io::Result<Self> {
        Ok(Self { pages: Pages::new(RING_BYTES)?, base: end, end, held: 0 })
    }

    /// Offset of the next byte.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Oldest offset in memory; equal to the end when nothing is.
    pub(crate) fn oldest(&self) -> u64 {
        self.end - self.held as u64
    }

    /// Where the next bytes belong: the space up to the point where the ring closes.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        let at = self.position(self.end);
        &mut self.pages[at..]
    }

    /// Takes over `len` bytes that were put into the room. Says whether the ring has closed, so
    /// that what follows does not adjoin what came before.
    pub(crate) fn advance(&mut self, len: usize) -> bool {
        self.end += len as u64;
        self.held = (self.held + len).min(RING_BYTES);
        self.position(self.end) == 0
    }

    /// The bytes from this offset on, as far as they lie in one piece; `None` if they are gone.
    pub(crate) fn from(&self, offset: u64) -> Option<&[u8]> {
        if offset < self.oldest() || offset > self.end {
            return None;
        }
        let at = self.position(offset);
        let len = usize::try_from(self.end - offset).unwrap_or(RING_BYTES);
        Some(&self.pages[at..(at + len).min(RING_BYTES)])
    }

    /// Forgets everything and gives the memory back.
    pub(crate) fn rest(&mut self) {
        if self.held > 0 {
            self.pages.give_back();
            self.held = 0;
            self.base = self.end;
        }
    }

    fn position(&self, offset: u64) -> usize {
        usize::try_from((offset - self.base) % RING_BYTES as u64).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(ring: &mut Ring, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = ring.room();
            let len = room.len().min(bytes.len());
            room[..len].copy_from_slice(&bytes[..len]);
            ring.advance(len);
            bytes = &bytes[len..];
        }
    }

    fn whole(ring: &Ring) -> Vec<u8> {
        let mut out = Vec::new();
        while ring.oldest() + (out.len() as u64) < ring.end() {
            out.extend_from_slice(ring.from(ring.oldest() + out.len() as u64).unwrap());
        }
        out
    }

    #[test]
    fn the_newest_bytes_are_kept_across_the_seam() {
        let bytes: Vec<u8> = (0..251).cycle().take(RING_BYTES * 2 + 777).collect();
        let mut ring = Ring::new(1_000).unwrap();
        for part in bytes.chunks(1_001) {
            put(&mut ring, part);
        }
        assert_eq!(ring.end(), 1_000 + bytes.len() as u64);
        assert_eq!(whole(&ring), bytes[bytes.len() - RING_BYTES..]);
        assert_eq!(ring.from(ring.oldest() - 1), None);
        assert_eq!(ring.from(ring.end()), Some(&b""[..]));
    }

    #[test]
    fn a_ring_at_rest_goes_on_where_it_was() {
        let mut ring = Ring::new(0).unwrap();
        put(&mut ring, b"before");
        ring.rest();
        assert_eq!((ring.oldest(), ring.end()), (6, 6));
        put(&mut ring, b"after");
        assert_eq!(ring.from(6), Some(&b"after"[..]));
        assert_eq!(ring.from(5), None);
    }
}
