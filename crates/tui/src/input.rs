//! What a terminal sends, understood: keys, mouse, pasted text, answers to what was asked of it.

use crate::chord::{Chord, Code, Held};

/// Longer than any key or answer; what is longer is none.
const SEQUENCE_BYTES_MAX: usize = 64;
/// A paste that is never ended must not grow for ever; the first part of it is taken.
const PASTE_BYTES_MAX: usize = 1024 * 1024;
const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    Key(Chord),
    /// An escape and this key right behind it: with alt held, or one after the other.
    Meta(Chord),
    Pasted(String),
    Mouse(Mouse),
    /// The terminal's window is the one that is typed into, or is not any more.
    Focus(Focus),
    /// The colour of its background: red, green, blue.
    Background(u8, u8, u8),
    /// It has answered everything that it was asked.
    Answered,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Focus {
    Here,
    Elsewhere,
}

/// What was done with the mouse, at this column and row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mouse {
    pub(crate) what: Click,
    pub(crate) column: u16,
    pub(crate) row: u16,
    /// The report's own number: the button, what is held, whether it moves.
    pub(crate) number: u16,
}

impl Mouse {
    /// With shift held the mouse is ours, whatever an agent has asked for.
    pub(crate) fn is_ours(self) -> bool {
        self.number & MOUSE_SHIFT != 0
    }
}

/// Shift in a report of the mouse; alt and control are the next two bits.
const MOUSE_SHIFT: u16 = 0b100;
const MOUSE_HELD: u16 = 0b1_1100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Click {
    Pressed,
    Dragged,
    Released,
    WheelUp,
    WheelDown,
    OtherPressed,
    OtherReleased,
    /// It moves with another button, or with none.
    Moved,
}

/// Takes bytes in whatever pieces they come.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    held_back: Vec<u8>,
    paste: Option<Vec<u8>>,
}

enum Read {
    /// It took so many bytes, and means this, or nothing.
    Whole(usize, Option<Input>),
    Open,
}

impl Reader {
    /// What these bytes say, with those that came before.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Vec<Input> {
        self.held_back.extend_from_slice(bytes);
        let mut found = Vec::new();
        while !self.held_back.is_empty() {
            if self.paste.is_some() {
                if !self.read_paste(&mut found) {
                    break;
                }
                continue;
            }
            if self.held_back.starts_with(PASTE_BEGINS) {
                self.held_back.drain(..PASTE_BEGINS.len());
                self.paste = Some(Vec::new());
                continue;
            }
            match read_one(&self.held_back) {
                Read::Whole(taken, input) => {
                    found.extend(input);
                    self.held_back.drain(..taken.clamp(1, self.held_back.len()));
                }
                Read::Open if self.held_back.len() > SEQUENCE_BYTES_MAX => self.held_back.clear(),
                Read::Open => break,
            }
        }
        found
    }

    /// Whether a key may be half read. An escape alone is one that nothing follows.
    pub(crate) fn waits(&self) -> bool {
        self.paste.is_none() && !self.held_back.is_empty()
    }

    /// Nothing more comes for now: what was held back is what it looks like.
    pub(crate) fn give_up(&mut self) -> Vec<Input> {
        let held_back = std::mem::take(&mut self.held_back);
        match held_back.as_slice() {
            [0x1b] => vec![Input::Key(Chord::plain(Code::Esc))],
            [0x1b, b'['] => vec![Input::Meta(Chord::plain(Code::Char('[')))],
            _ => Vec::new(),
        }
    }

    /// Whether the paste has ended.
    fn read_paste(&mut self, found: &mut Vec<Input>) -> bool {
        let Some(paste) = &mut self.paste else { return true };
        let end = self.held_back.windows(PASTE_ENDS.len()).position(|part| part == PASTE_ENDS);
        // The mark of the end may be split: so much is kept back.
        let whole = self.held_back.len().saturating_sub(PASTE_ENDS.len() - 1);
        let take = end.unwrap_or(whole);
        let room = PASTE_BYTES_MAX.saturating_sub(paste.len());
        paste.extend(self.held_back.iter().take(take.min(room)));
        self.held_back.drain(..take);
        if end.is_none() {
            return false;
        }
        self.held_back.drain(..PASTE_ENDS.len());
        let paste = self.paste.take().unwrap_or_default();
        found.push(Input::Pasted(
            String::from_utf8_lossy(&paste).replace("\r\n", "\n").replace('\r', "\n"),
        ));
        true
    }
}

fn read_one(bytes: &[u8]) -> Read {
    match bytes {
        [0x1b, b'[', rest @ ..] => csi(rest),
        [0x1b, b'O', last, ..] => {
            let code = cursor_key(*last).or_else(|| f_key(*last));
            Read::Whole(3, code.map(|code| Input::Key(Chord::plain(code))))
        }
        [0x1b, b']' | b'P' | b'_' | b'^', ..] => string(bytes),
        [0x1b] | [0x1b, b'O'] => Read::Open,
        [0x1b, 0x1b, ..] => Read::Whole(1, Some(Input::Key(Chord::plain(Code::Esc)))),
        [0x1b, rest @ ..] => match character(rest) {
            Read::Whole(taken, Some(Input::Key(chord))) if chord.text().is_some() => {
                Read::Whole(taken + 1, Some(Input::Meta(chord)))
            }
            Read::Whole(taken, Some(Input::Key(chord))) => {
                Read::Whole(taken + 1, Some(Input::Key(with_alt(chord))))
            }
            Read::Whole(taken, input) => Read::Whole(taken + 1, input),
            Read::Open => Read::Open,
        },
        bytes => character(bytes),
    }
}

fn with_alt(chord: Chord) -> Chord {
    Chord { held: Held { alt: true, ..chord.held }, ..chord }
}

/// A byte of the old kind, or one character.
fn character(bytes: &[u8]) -> Read {
    let Some(&first) = bytes.first() else { return Read::Open };
    let chord = match first {
        b'\r' => Chord::plain(Code::Enter),
        b'\t' => Chord::plain(Code::Tab),
        0x7f | 0x08 => Chord::plain(Code::Backspace),
        0 => Chord::ctrl(' '),
        1..=26 => Chord::ctrl(char::from(first + b'a' - 1)),
        0x1b => return Read::Whole(1, None),
        0x1c..=0x1f => Chord::ctrl(char::from(first + 0x40)),
        _ => return utf8(bytes, first),
    };
    Read::Whole(1, Some(Input::Key(chord)))
}

fn utf8(bytes: &[u8], first: u8) -> Read {
    let length = match first {
        0x20..0x80 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..=0xf7 => 4,
        _ => return Read::Whole(1, None),
    };
    let Some(whole) = bytes.get(..length) else { return Read::Open };
    match str::from_utf8(whole).ok().and_then(|text| text.chars().next()) {
        Some(c) => Read::Whole(length, Some(Input::Key(Chord::plain(Code::Char(c))))),
        None => Read::Whole(1, None),
    }
}

/// What comes after `ESC [`.
fn csi(rest: &[u8]) -> Read {
    let end = rest.iter().position(|byte| (0x40..=0x7e).contains(byte));
    let Some(end) = end else { return Read::Open };
    let taken = 2 + end + 1;
    let (Some(last), Some(Ok(inner))) = (rest.get(end), rest.get(..end).map(str::from_utf8)) else {
        return Read::Whole(taken, None);
    };
    let input = match last {
        b'M' | b'm' if inner.starts_with('<') => mouse(inner, *last == b'M').map(Input::Mouse),
        b'c' if inner.starts_with('?') => Some(Input::Answered),
        b'u' => kitty(inner).map(Input::Key),
        b'Z' => Some(Input::Key(shifted(Code::Tab))),
        b'~' => tilde(inner).map(Input::Key),
        b'I' if inner.is_empty() => Some(Input::Focus(Focus::Here)),
        b'O' if inner.is_empty() => Some(Input::Focus(Focus::Elsewhere)),
        _ => cursor_key(*last)
            .or_else(|| f_key(*last))
            .map(|code| Input::Key(Chord { code, held: held(inner.split(';').nth(1)) })),
    };
    Read::Whole(taken, input)
}

fn shifted(code: Code) -> Chord {
    Chord { code, held: Held { shift: true, ..Held::default() } }
}

fn cursor_key(last: u8) -> Option<Code> {
    Some(match last {
        b'A' => Code::Up,
        b'B' => Code::Down,
        b'C' => Code::Right,
        b'D' => Code::Left,
        b'H' => Code::Home,
        b'F' => Code::End,
        b'M' => Code::Enter,
        _ => return None,
    })
}

/// The first four in their old form.
fn f_key(last: u8) -> Option<Code> {
    (b'P'..=b'S').contains(&last).then(|| Code::F(last - b'P' + 1))
}

/// `1;5`: the second number tells what is held, plus one. The locks do not count.
fn held(field: Option<&str>) -> Held {
    let number = field.and_then(|field| field.split(':').next()?.parse::<u8>().ok()).unwrap_or(1);
    let bits = number.saturating_sub(1);
    Held { shift: bits & 1 != 0, alt: bits & 2 != 0, ctrl: bits & 4 != 0 }
}

fn tilde(inner: &str) -> Option<Chord> {
    let mut fields = inner.split(';');
    let number = fields.next()?.parse::<u8>().ok()?;
    let second = fields.next();
    if number == 27 {
        // xterm's modifyOtherKeys: 27 ; modifiers ; key.
        return of_number(fields.next()?.parse().ok()?, held(second));
    }
    let code = match number {
        1 | 7 => Code::Home,
        2 => Code::Insert,
        3 => Code::Delete,
        4 | 8 => Code::End,
        5 => Code::PageUp,
        6 => Code::PageDown,
        // The numbers have gaps where old keyboards had.
        11..=15 => Code::F(number - 10),
        17..=21 => Code::F(number - 11),
        23 | 24 => Code::F(number - 12),
        _ => return None,
    };
    Some(Chord { code, held: held(second) })
}

/// kitty: `key:shifted:base ; modifiers:event ; text`. With control held the key of a Latin keyboard
/// counts, whatever letters are on this one.
fn kitty(inner: &str) -> Option<Chord> {
    let mut fields = inner.split(';');
    let mut keys = fields.next()?.split(':');
    let key = keys.next()?.parse::<u32>().ok()?;
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<u32>().ok());
    let (upper, base) = (number(keys.next()), number(keys.next()));
    let modifiers = fields.next();
    let is_release = modifiers.and_then(|field| field.split(':').nth(1)) == Some("3");
    if is_release {
        return None;
    }
    let held = held(modifiers);
    let latin = base.filter(|_| held.ctrl || held.alt);
    let letter = upper.filter(|_| held.shift && !held.ctrl);
    of_number(latin.or(letter).unwrap_or(key), held)
}

fn of_number(key: u32, held: Held) -> Option<Chord> {
    let code = match key {
        9 => Code::Tab,
        13 | 57414 => Code::Enter,
        27 => Code::Esc,
        8 | 127 => Code::Backspace,
        // Keys that have no place in Unicode are numbered from here on: none that we know.
        57344..=63743 => return None,
        _ => {
            let c = char::from_u32(key).filter(|c| !c.is_control())?;
            let c = if held.shift && !held.ctrl { c.to_uppercase().next().unwrap_or(c) } else { c };
            return Some(Chord { code: Code::Char(c), held: Held { shift: false, ..held } });
        }
    };
    Some(Chord { code, held })
}

fn mouse(inner: &str, pressed: bool) -> Option<Mouse> {
    let mut numbers = inner.trim_start_matches('<').split(';').map(str::parse::<u16>);
    let number = numbers.next()?.ok()?;
    let (column, row) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    let what = match number & !MOUSE_HELD {
        0 if pressed => Click::Pressed,
        0 => Click::Released,
        32 => Click::Dragged,
        64 => Click::WheelUp,
        65 => Click::WheelDown,
        33.. => Click::Moved,
        _ if pressed => Click::OtherPressed,
        _ => Click::OtherReleased,
    };
    Some(Mouse { what, column: column.saturating_sub(1), row: row.saturating_sub(1), number })
}

/// An answer that is ended by `ESC \` or by a bell.
fn string(bytes: &[u8]) -> Read {
    let bell = bytes.iter().position(|byte| *byte == 7).map(|at| (at, 1));
    let ended = bytes.windows(2).skip(1).position(|two| two == b"\x1b\\").map(|at| (at + 1, 2));
    let Some((end, length)) = bell.into_iter().chain(ended).min() else { return Read::Open };
    let inner = bytes.get(2..end).and_then(|inner| str::from_utf8(inner).ok()).unwrap_or_default();
    Read::Whole(end + length, background(inner))
}

/// `11;rgb:1e1e/1e1e/1e1e`, with one to four digits each.
fn background(inner: &str) -> Option<Input> {
    let mut parts = inner.strip_prefix("11;rgb:")?.split('/').map(|part| {
        let value = u32::from_str_radix(part, 16).ok()?;
        let most = 16_u32.checked_pow(u32::try_from(part.len()).ok()?)? - 1;
        u8::try_from(value * 255 / most.max(1)).ok()
    });
    Some(Input::Background(parts.next()??, parts.next()??, parts.next()??))
}

#[cfg(test)]
mod tests;
