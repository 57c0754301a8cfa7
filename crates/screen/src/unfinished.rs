//! The bytes of an escape sequence that has begun and not ended yet.
//!
//! A log is cut at any byte. A painting of the screen as of an offset must end with the beginning of
//! the sequence that the offset splits, or the rest of it would appear as text.

/// Longer strings (pictures, clipboards) are not worth repeating; a stand-in swallows their rest.
const KEPT_BYTES_MAX: usize = 64 * 1024;

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    Escape,
    Csi,
    /// An operating system command, which a bell may end.
    Command,
    /// A device control, privacy, application or start-of-string text.
    Text,
    /// An escape inside a string: its end, or the next sequence.
    StringEscape,
}

/// Follows a stream just closely enough to know whether it is inside a sequence.
#[derive(Debug, Default, Clone)]
pub(super) struct Unfinished {
    state: State,
    /// The string that a [`State::StringEscape`] would end.
    string: State,
    kept: Vec<u8>,
    too_long: bool,
}

impl Unfinished {
    /// Follows `bytes`.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        if self.state == State::Ground && !self.kept.is_empty() {
            // A character was split. Where it goes on, it is looked at as a whole.
            let more = rest.iter().take_while(|&&byte| is_continuation(byte)).take(3).count();
            let (head, tail) = rest.split_at(more);
            self.kept.extend_from_slice(head);
            rest = tail;
            if !rest.is_empty() || split_character(&self.kept) == 0 {
                self.kept.clear();
            }
        }
        while let Some((&byte, after)) = rest.split_first() {
            if self.state == State::Ground {
                let Some(escape) = rest.iter().position(|&byte| byte == 0x1b) else {
                    let split = split_character(rest);
                    self.kept.extend_from_slice(&rest[rest.len() - split..]);
                    return;
                };
                self.begin(State::Escape, &[0x1b]);
                rest = &rest[escape + 1..];
            } else {
                self.step(byte);
                rest = after;
            }
        }
    }

    /// What a terminal must be given so that the following bytes continue the sequence.
    pub(super) fn bytes(&self) -> &[u8] {
        match (self.too_long, self.state, self.string) {
            (false, _, _) => &self.kept,
            // A command number that no terminal knows, ended by whatever would have ended the
            // real one; and a privacy message, which is ignored up to its end.
            (true, State::Command, _) => b"\x1b]7777777;",
            (true, State::StringEscape, State::Command) => b"\x1b]7777777;\x1b",
            (true, State::StringEscape, _) => b"\x1b^\x1b",
            (true, _, _) => b"\x1b^",
        }
    }

    /// Forgets the sequence: its rest is lost.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    fn begin(&mut self, state: State, bytes: &[u8]) {
        self.state = state;
        self.too_long = false;
        self.kept.clear();
        self.kept.extend_from_slice(bytes);
    }

    fn push(&mut self, byte: u8) {
        if self.kept.len() < KEPT_BYTES_MAX {
            self.kept.push(byte);
        } else {
            self.too_long = true;
        }
    }

    fn step(&mut self, byte: u8) {
        match (self.state, byte) {
            (State::StringEscape, b'\\') => self.clear(),
            (State::StringEscape, _) => {
                self.begin(State::Escape, &[0x1b]);
                self.step(byte);
            }
            (_, 0x18 | 0x1a) | (State::Command, 0x07) => self.clear(),
            (State::Command | State::Text, 0x1b) => {
                self.string = self.state;
                self.state = State::StringEscape;
                self.push(byte);
            }
            (_, 0x1b) => self.begin(State::Escape, &[0x1b]),
            // Control characters inside a sequence were carried out already: once is enough.
            (State::Escape | State::Csi, 0x00..=0x1f | 0x7f..) => {}
            (State::Escape, b'[') if self.kept.len() == 1 => self.enter(State::Csi, byte),
            (State::Escape, b']') if self.kept.len() == 1 => self.enter(State::Command, byte),
            (State::Escape, b'P' | b'X' | b'^' | b'_') if self.kept.len() == 1 => {
                self.enter(State::Text, byte);
            }
            (State::Command | State::Text, _)
            | (State::Escape, 0x20..=0x2f)
            | (State::Csi, 0x20..=0x3f) => self.push(byte),
            (State::Escape | State::Csi | State::Ground, _) => self.clear(),
        }
    }

    fn enter(&mut self, state: State, byte: u8) {
        self.state = state;
        self.push(byte);
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// How many bytes at the end of `bytes` are the beginning of a longer character.
fn split_character(bytes: &[u8]) -> usize {
    let tail = bytes.len().saturating_sub(3);
    for (back, &byte) in bytes[tail..].iter().rev().enumerate() {
        if is_continuation(byte) {
            continue;
        }
        let length = match byte {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => 1,
        };
        return if back + 1 < length { back + 1 } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(stream: &[u8]) -> Vec<u8> {
        let mut whole = Unfinished::default();
        whole.feed(stream);
        let mut single = Unfinished::default();
        for byte in stream {
            single.feed(&[*byte]);
        }
        assert_eq!(whole.bytes(), single.bytes(), "{stream:?} depends on its chopping");
        whole.bytes().to_vec()
    }

    #[test]
    fn only_the_open_sequence_is_kept() {
        for (stream, open) in [
            (&b"plain"[..], &b""[..]),
            (b"a\x1b", b"\x1b"),
            (b"a\x1b[31", b"\x1b[31"),
            (b"a\x1b[31mb", b""),
            (b"\x1b[3\n1", b"\x1b[31"),
            (b"\x1b]0;tit", b"\x1b]0;tit"),
            (b"\x1b]0;tit\x1b", b"\x1b]0;tit\x1b"),
            (b"\x1b]0;tit\x1b\\", b""),
            (b"\x1b]0;tit\x07", b""),
            (b"\x1b]0;tit\x1b[", b"\x1b["),
            (b"\x1bP1$r", b"\x1bP1$r"),
            (b"\x1b(", b"\x1b("),
            (b"\x1b(0", b""),
            (b"\x1b[1\x18", b""),
            ("x\u{20ac}".as_bytes(), b""),
            (b"x\xe2\x82", b"\xe2\x82"),
            (b"x\xe2\x82z", b""),
            (b"x\xf0", b"\xf0"),
        ] {
            assert_eq!(after(stream), open, "{stream:?}");
        }
    }

    #[test]
    fn an_endless_string_is_replaced_by_one_that_is_ignored() {
        let mut stream = b"\x1bPq".to_vec();
        stream.resize(KEPT_BYTES_MAX + 10, b'x');
        assert_eq!(after(&stream), b"\x1b^");
        stream.extend_from_slice(b"\x1b\\");
        assert_eq!(after(&stream), b"");
    }
}
