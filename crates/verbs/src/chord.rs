//! Keys as they are pressed and as they are written: `j`, `ctrl+x`, `shift+tab`.

use std::fmt;

/// A key with what is held along with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Chord {
    pub code: Code,
    pub held: Held,
}

/// What is held. Shift is part of a letter, and counts for other keys only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Held {
    pub ctrl: bool,
    pub alt: bool,
    pub shift: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    Char(char),
    Enter,
    Esc,
    Tab,
    Backspace,
    Delete,
    Insert,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    /// F1 and its neighbours, by their number.
    F(u8),
}

/// Keyboards have so many of them.
const F_KEYS: u8 = 12;

/// The keys that are written as a word.
const NAMED: [(&str, Code); 15] = [
    ("space", Code::Char(' ')),
    ("enter", Code::Enter),
    ("esc", Code::Esc),
    ("tab", Code::Tab),
    ("backspace", Code::Backspace),
    ("delete", Code::Delete),
    ("insert", Code::Insert),
    ("up", Code::Up),
    ("down", Code::Down),
    ("left", Code::Left),
    ("right", Code::Right),
    ("home", Code::Home),
    ("end", Code::End),
    ("pgup", Code::PageUp),
    ("pgdn", Code::PageDown),
];

impl Chord {
    pub fn plain(code: Code) -> Self {
        Self { code, held: Held::default() }
    }

    /// With control held.
    pub fn ctrl(c: char) -> Self {
        Self { code: Code::Char(c), held: Held { ctrl: true, ..Held::default() } }
    }

    /// The character that this key types into a text, if it does.
    pub fn text(self) -> Option<char> {
        let Code::Char(c) = self.code else { return None };
        (!self.held.ctrl && !self.held.alt).then_some(c)
    }

    /// Reads a chord as it is written in a key map.
    pub fn parse(text: &str) -> Option<Self> {
        let mut held = Held::default();
        let mut rest = text;
        loop {
            if let Some(after) = rest.strip_prefix("ctrl+") {
                (held.ctrl, rest) = (true, after);
            } else if let Some(after) = rest.strip_prefix("alt+") {
                (held.alt, rest) = (true, after);
            } else if let Some(after) = rest.strip_prefix("shift+") {
                (held.shift, rest) = (true, after);
            } else {
                break;
            }
        }
        if let Some((_, code)) = NAMED.iter().find(|(name, _)| *name == rest) {
            return Some(Self { code: *code, held });
        }
        let number = rest.strip_prefix('f').and_then(|number| number.parse::<u8>().ok());
        if let Some(number) = number.filter(|number| (1..=F_KEYS).contains(number)) {
            return Some(Self { code: Code::F(number), held });
        }
        let mut chars = rest.chars();
        let only = chars.next().filter(|c| !c.is_control() && !held.shift)?;
        chars.next().is_none().then_some(Self { code: Code::Char(only), held })
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Held { ctrl, alt, shift } = self.held;
        for (is_held, word) in [(ctrl, "ctrl+"), (alt, "alt+"), (shift, "shift+")] {
            if is_held {
                f.write_str(word)?;
            }
        }
        if let Some((name, _)) = NAMED.iter().find(|(_, code)| *code == self.code) {
            return f.write_str(name);
        }
        match self.code {
            Code::Char(c) => write!(f, "{c}"),
            Code::F(number) => write!(f, "f{number}"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for text in [
            "j",
            "G",
            "?",
            "ctrl+x",
            "shift+tab",
            "alt+enter",
            "space",
            "pgdn",
            "@",
            "+",
            "f",
            "f5",
        ] {
            assert_eq!(Chord::parse(text).map(|chord| chord.to_string()).as_deref(), Some(text));
        }
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for text in ["", "ctrl+", "jj", "shift+j", "hyper+x", "f13", "\u{1b}"] {
            assert_eq!(Chord::parse(text), None, "{text:?}");
        }
    }
}
