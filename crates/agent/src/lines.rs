//! Cuts a stream of bytes into lines and remembers where each one ends.

use serde_json::Value;

/// Longest line that is kept; what is longer is skipped whole, since half a line means nothing.
const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A stream that arrives in pieces.
#[derive(Debug, Default)]
pub struct Lines {
    pending: Vec<u8>,
    /// The line that is being fed is not kept: it is too long, or its beginning is missing.
    skips: bool,
    next: Option<u64>,
}

impl Lines {
    /// Takes bytes that begin at `offset`; returns the lines that are complete now, without their
    /// ends, each with the offset just behind it.
    pub fn feed(&mut self, offset: u64, bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
        let mut found = Vec::new();
        let mut at = offset;
        if self.next.is_some_and(|next| next != offset) {
            // Something is missing in between, and with it the middle of a line.
            self.pending.clear();
            self.skips = true;
        }
        self.next = Some(offset + bytes.len() as u64);
        for part in bytes.split_inclusive(|&b| b == b'\n') {
            at += part.len() as u64;
            if self.pending.len() + part.len() > LINE_BYTES_MAX {
                self.skips = true;
                self.pending.clear();
            }
            if !self.skips {
                self.pending.extend_from_slice(part);
            }
            if part.ends_with(b"\n") {
                if !std::mem::take(&mut self.skips) {
                    let mut line = std::mem::take(&mut self.pending);
                    while line.last().is_some_and(|b| matches!(b, b'\n' | b'\r')) {
                        line.pop();
                    }
                    found.push((at, line));
                }
                self.pending.clear();
            }
        }
        found
    }

    /// Takes bytes as [`feed`](Self::feed) does; returns the lines that are JSON. What is none is
    /// noise: garbage in a stream loses nothing else.
    pub fn words(&mut self, offset: u64, bytes: &[u8]) -> Vec<(u64, Value)> {
        let lines = self.feed(offset, bytes).into_iter();
        lines.filter_map(|(end, line)| Some((end, serde_json::from_slice(&line).ok()?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_however_they_are_chopped() {
        let text = b"one\r\ntwo\n\nfour";
        for size in 1..text.len() {
            let mut lines = Lines::default();
            let mut found = Vec::new();
            let mut at = 100;
            for part in text.chunks(size) {
                found.extend(lines.feed(at, part));
                at += part.len() as u64;
            }
            assert_eq!(
                found,
                vec![(105, b"one".to_vec()), (109, b"two".to_vec()), (110, b"".to_vec())]
            );
        }
    }

    #[test]
    fn an_endless_line_costs_bounded_memory_and_is_skipped() {
        let mut lines = Lines::default();
        let piece = vec![b'x'; 1024 * 1024];
        let mut at = 0;
        for _ in 0..6 {
            assert!(lines.feed(at, &piece).is_empty());
            at += piece.len() as u64;
        }
        assert!(lines.pending.len() <= LINE_BYTES_MAX);
        assert!(lines.feed(at, b"\n").is_empty());
        assert_eq!(lines.feed(at + 1, b"next\n"), vec![(at + 6, b"next".to_vec())]);
    }

    #[test]
    fn garbage_between_words_takes_nothing_with_it() {
        let mut lines = Lines::default();
        let words = lines.words(0, b"{\"a\":1}\n\xff garbage\n[2]\n");
        assert_eq!(words, vec![(8, serde_json::json!({"a": 1})), (22, serde_json::json!([2]))]);
    }

    #[test]
    fn two_halves_with_a_gap_between_them_are_no_line() {
        let mut lines = Lines::default();
        assert!(lines.feed(0, b"{\"a\":").is_empty());
        assert_eq!(lines.feed(100, b"1}\nwhole\n"), vec![(109, b"whole".to_vec())]);
    }
}
