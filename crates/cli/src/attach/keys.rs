//! What the user types: everything belongs to the agent, except the key that leaves.

/// Ctrl+Q: no agent and no shell has a use for it, and terminals no longer stop their output.
const CTRL_Q: u8 = 0x11;

/// Longer than any key; what is longer is no key.
const SEQUENCE_BYTES_MAX: usize = 48;

/// What became of some input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Typed {
    /// All of it is for the agent.
    Input,
    /// So many bytes are for the agent; then comes the key that leaves.
    Detach { before: usize },
}

/// Follows the input closely enough to tell a key from the same byte inside a paste.
#[derive(Debug, Default)]
pub(super) struct Keys {
    pasting: bool,
    sequence: Vec<u8>,
}

impl Keys {
    /// Looks at input as it was read. Sequences may be split over several calls.
    pub(super) fn look(&mut self, bytes: &[u8]) -> Typed {
        // A sequence that began earlier was passed on already.
        let mut began = 0;
        for (index, &byte) in bytes.iter().enumerate() {
            if byte == CTRL_Q && !self.pasting {
                self.sequence.clear();
                return Typed::Detach { before: index };
            }
            if byte == 0x1b {
                self.sequence.clear();
                began = index;
            } else if self.sequence.is_empty() {
                continue;
            }
            self.sequence.push(byte);
            if self.is_open() {
                continue;
            }
            let sequence = std::mem::take(&mut self.sequence);
            match &sequence[..] {
                b"\x1b[200~" => self.pasting = true,
                b"\x1b[201~" => self.pasting = false,
                other if !self.pasting && is_ctrl_q(other) => {
                    return Typed::Detach { before: began };
                }
                _ => {}
            }
        }
        Typed::Input
    }

    fn is_open(&self) -> bool {
        match &self.sequence[..] {
            [_] | [_, b'['] => true,
            [_, b'[', .., last] => {
                !(0x40..=0x7e).contains(last) && self.sequence.len() < SEQUENCE_BYTES_MAX
            }
            _ => false,
        }
    }
}

/// Whether the sequence is how a terminal with an extended keyboard mode reports the key that
/// otherwise sends [`CTRL_Q`].
fn is_ctrl_q(sequence: &[u8]) -> bool {
    let letter = u32::from(b'q');
    let Some(inner) = sequence.strip_prefix(b"\x1b[").and_then(|rest| str::from_utf8(rest).ok())
    else {
        return false;
    };
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<u32>().ok());
    if let Some(inner) = inner.strip_suffix('u') {
        // kitty: key:shifted:base ; modifiers:event ; text
        let mut fields = inner.split(';');
        let mut key = fields.next().unwrap_or("").split(':');
        let (named, base) = (number(key.next()), number(key.nth(1)));
        let mut modifiers = fields.next().unwrap_or("").split(':');
        let held = number(modifiers.next());
        let released = number(modifiers.next()) == Some(3);
        return (named == Some(letter) || base == Some(letter)) && is_control(held) && !released;
    }
    // xterm's modifyOtherKeys: 27 ; modifiers ; key
    let mut fields = inner.strip_suffix('~').unwrap_or("").split(';');
    fields.next() == Some("27")
        && is_control(number(fields.next()))
        && number(fields.next()) == Some(letter)
}

/// Control alone; the two locks do not count as held keys.
fn is_control(modifiers: Option<u32>) -> bool {
    const CONTROL: u32 = 4;
    const LOCKS: u32 = 64 | 128;
    modifiers.is_some_and(|held| held.wrapping_sub(1) & !LOCKS == CONTROL)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(parts: &[&[u8]]) -> Typed {
        let mut keys = Keys::default();
        let mut last = Typed::Input;
        for part in parts {
            last = keys.look(part);
        }
        last
    }

    #[test]
    fn the_key_detaches_wherever_it_stands() {
        assert_eq!(look(&[b"\x11"]), Typed::Detach { before: 0 });
        assert_eq!(look(&[b"ab\x11cd"]), Typed::Detach { before: 2 });
        assert_eq!(look(&[b"\x1b[A\x11"]), Typed::Detach { before: 3 });
        assert_eq!(look(&[b"\x1b", b"\x11"]), Typed::Detach { before: 0 });
    }

    #[test]
    fn a_paste_may_contain_the_key() {
        assert_eq!(look(&[b"\x1b[200~a\x11b\x1b[113;5u\x1b[201~"]), Typed::Input);
        assert_eq!(look(&[b"\x1b[20", b"0~", b"\x11"]), Typed::Input);
        assert_eq!(look(&[b"\x1b[200~", b"x\x1b[2", b"01~", b"\x11"]), Typed::Detach { before: 0 });
        assert_eq!(look(&[b"\x1b[200~\x1b[A\x11"]), Typed::Input);
    }

    #[test]
    fn extended_keyboards_have_their_own_spelling_of_the_key() {
        for spelling in [
            "\x1b[113;5u",
            "\x1b[113;5:1u",
            "\x1b[113;5:2u",
            "\x1b[113:81;5u",
            "\x1b[113;69u",
            "\x1b[113;133u",
            "\x1b[1081::113;5u",
            "\x1b[27;5;113~",
        ] {
            assert_eq!(
                look(&[b"x", spelling.as_bytes()]),
                Typed::Detach { before: 0 },
                "{spelling:?}"
            );
        }
        for other in [
            "\x1b[113u",
            "\x1b[113;1u",
            "\x1b[113;6u",
            "\x1b[113;5:3u",
            "\x1b[119;5u",
            "\x1b[113;5~",
            "\x1b[27;5;9~",
            "\x1b[<0;113;5M",
        ] {
            assert_eq!(look(&[other.as_bytes()]), Typed::Input, "{other:?}");
        }
    }

    #[test]
    fn endless_sequences_are_forgotten() {
        let mut keys = Keys::default();
        keys.look(b"\x1b[");
        for _ in 0..1000 {
            keys.look(b"1;");
        }
        assert!(keys.sequence.len() <= SEQUENCE_BYTES_MAX);
        assert_eq!(keys.look(b"\x1b[113;5u"), Typed::Detach { before: 0 });
    }
}
