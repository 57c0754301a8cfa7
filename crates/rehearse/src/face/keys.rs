//! Keys: what the bytes of a raw terminal mean.

use std::time::{Duration, Instant};

/// A key, or a paste, which is one key however long.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Key {
    Char(char),
    Enter,
    Backspace,
    /// Control-U: the line is to be empty.
    Clear,
    Escape,
    ControlC,
    ControlD,
    Paste(String),
}

/// Reads bytes as keys; keeps what is incomplete.
#[derive(Default)]
pub(crate) struct Keys {
    state: State,
    /// The bytes of a character that is not complete.
    partial: Vec<u8>,
}

#[derive(Default)]
enum State {
    #[default]
    Ground,
    /// An escape: the key itself, or the beginning of a sequence.
    Escape(Instant),
    Sequence(Vec<u8>),
    /// ESC O: one byte follows.
    SingleShift,
    Paste(Vec<u8>),
}

/// A terminal sends a sequence in one go; an escape that stays alone this long is the key.
const ESCAPE_WAIT: Duration = Duration::from_millis(50);

const PASTE_BEGIN: &[u8] = b"200";
const PASTE_END: &[u8] = b"\x1b[201~";

impl Keys {
    pub(crate) fn read(&mut self, bytes: &[u8], now: Instant) -> Vec<Key> {
        let mut keys = Vec::new();
        for byte in bytes {
            self.step(*byte, now, &mut keys);
        }
        keys
    }

    /// When a lone escape becomes the key.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        if let State::Escape(since) = self.state { Some(since + ESCAPE_WAIT) } else { None }
    }

    /// Settles a lone escape as the key.
    pub(crate) fn settle(&mut self) -> Option<Key> {
        if !matches!(self.state, State::Escape(_)) {
            return None;
        }
        self.state = State::Ground;
        Some(Key::Escape)
    }

    fn step(&mut self, byte: u8, now: Instant, keys: &mut Vec<Key>) {
        match std::mem::take(&mut self.state) {
            State::Ground => self.ground(byte, now, keys),
            State::Escape(_) => match byte {
                b'[' => self.state = State::Sequence(Vec::new()),
                b'O' => self.state = State::SingleShift,
                // Nothing else is ours, so it was the key and then another one.
                _ => {
                    keys.push(Key::Escape);
                    self.ground(byte, now, keys);
                }
            },
            State::Sequence(mut seen) => match byte {
                b'~' if seen == PASTE_BEGIN => self.state = State::Paste(Vec::new()),
                // Arrows and the like: understood, and of no use here.
                0x40..=0x7e => {}
                _ => {
                    seen.push(byte);
                    self.state = State::Sequence(seen);
                }
            },
            State::SingleShift => {}
            State::Paste(mut text) => {
                text.push(byte);
                if let Some(text) = text.strip_suffix(PASTE_END) {
                    keys.push(Key::Paste(pasted(text)));
                } else {
                    self.state = State::Paste(text);
                }
            }
        }
    }

    fn ground(&mut self, byte: u8, now: Instant, keys: &mut Vec<Key>) {
        if byte < 0x80 {
            // A character that was cut short will not be completed any more.
            self.partial.clear();
        }
        match byte {
            0x1b => self.state = State::Escape(now),
            b'\r' | b'\n' => keys.push(Key::Enter),
            0x03 => keys.push(Key::ControlC),
            0x04 => keys.push(Key::ControlD),
            0x15 => keys.push(Key::Clear),
            0x08 | 0x7f => keys.push(Key::Backspace),
            b'\t' => keys.push(Key::Char('\t')),
            0x00..0x20 => {}
            0x20..0x80 => keys.push(Key::Char(char::from(byte))),
            0x80.. => {
                self.partial.push(byte);
                match std::str::from_utf8(&self.partial) {
                    Ok(text) => {
                        keys.extend(text.chars().map(Key::Char));
                        self.partial.clear();
                    }
                    // Incomplete is worth waiting for; wrong is not.
                    Err(error) if error.error_len().is_none() => {}
                    Err(_) => self.partial.clear(),
                }
            }
        }
    }
}

/// Terminals paste a newline as a carriage return, programs as themselves, and some as both.
fn pasted(text: &[u8]) -> String {
    String::from_utf8_lossy(text).replace("\r\n", "\n").replace('\r', "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: &[Key]) {
        let mut keys = Keys::default();
        assert_eq!(keys.read(bytes, Instant::now()), expected);
        // A slow line delivers byte by byte, and that must change nothing.
        let mut keys = Keys::default();
        let slowly: Vec<Key> =
            bytes.iter().flat_map(|byte| keys.read(&[*byte], Instant::now())).collect();
        assert_eq!(slowly, expected);
    }

    #[test]
    fn text_is_read_character_by_character() {
        check("aé✓\r".as_bytes(), &[Key::Char('a'), Key::Char('é'), Key::Char('✓'), Key::Enter]);
    }

    #[test]
    fn a_paste_is_one_key_and_keeps_its_newlines() {
        check(
            b"\x1b[200~one\rtwo\r\n\x1b[31mthree\x1b[201~\r",
            &[Key::Paste("one\ntwo\n\x1b[31mthree".to_owned()), Key::Enter],
        );
    }

    #[test]
    fn arrows_are_passed_over() {
        check(b"\x1b[A\x1b[1;5C\x1bOPx", &[Key::Char('x')]);
    }

    #[test]
    fn broken_characters_are_dropped() {
        check(b"\xff\xc3a", &[Key::Char('a')]);
    }

    #[test]
    fn an_escape_that_stays_alone_is_the_key() {
        let mut keys = Keys::default();
        assert_eq!(keys.read(b"\x1b", Instant::now()), []);
        assert!(keys.deadline().is_some());
        assert_eq!(keys.settle(), Some(Key::Escape));
        assert_eq!(keys.deadline(), None);
        assert_eq!(keys.settle(), None);
    }

    #[test]
    fn an_escape_before_text_is_the_key_too() {
        check(b"\x1bx", &[Key::Escape, Key::Char('x')]);
    }
}
