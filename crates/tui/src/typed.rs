//! What a person does, as a session's own terminal would send it.

use crate::chord::{Chord, Code, Held};
use crate::input::{Click, Mouse};
use glis_screen::{MouseReports, Wants};

/// Bits of the kitty keyboard protocol: keys that could be mistaken, and all keys.
const DISAMBIGUATE: u8 = 1;
const ALL_KEYS: u8 = 8;
/// Beyond this the old reports of the mouse have no byte for a place.
const OLD_PLACE_MAX: u16 = 222;

pub(crate) fn key(chord: Chord, wants: Wants) -> Vec<u8> {
    if let Some(sequence) = told_apart(chord, wants) {
        return sequence.into_bytes();
    }
    let Chord { code, held } = chord;
    let mut bytes = if held.alt && !is_cursor(code) { vec![0x1b] } else { Vec::new() };
    match code {
        Code::Char(c) if held.ctrl => bytes.push(control(c)),
        Code::Char(c) => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        Code::Enter => bytes.push(b'\r'),
        Code::Esc => bytes.push(0x1b),
        Code::Tab if held.shift => bytes.extend(b"\x1b[Z"),
        Code::Tab => bytes.push(b'\t'),
        Code::Backspace if held.ctrl => bytes.push(0x08),
        Code::Backspace => bytes.push(0x7f),
        Code::Up => bytes.extend(letter('A', held, wants.cursor_keys)),
        Code::Down => bytes.extend(letter('B', held, wants.cursor_keys)),
        Code::Right => bytes.extend(letter('C', held, wants.cursor_keys)),
        Code::Left => bytes.extend(letter('D', held, wants.cursor_keys)),
        Code::Home => bytes.extend(letter('H', held, wants.cursor_keys)),
        Code::End => bytes.extend(letter('F', held, wants.cursor_keys)),
        Code::Insert => bytes.extend(number(2, held)),
        Code::Delete => bytes.extend(number(3, held)),
        Code::PageUp => bytes.extend(number(5, held)),
        Code::PageDown => bytes.extend(number(6, held)),
        Code::F(n @ 1..=4) => bytes.extend(letter(char::from(b'O' + n), held, true)),
        Code::F(n @ 5) => bytes.extend(number(n + 10, held)),
        Code::F(n @ 6..=10) => bytes.extend(number(n + 11, held)),
        Code::F(n) => bytes.extend(number(n + 12, held)),
    }
    bytes
}

/// Whether what is held along with it is told in its sequence.
fn is_cursor(code: Code) -> bool {
    !matches!(code, Code::Char(_) | Code::Enter | Code::Esc | Code::Tab | Code::Backspace)
}

/// The number of what is held, as all protocols count it.
fn held_number(held: Held) -> u8 {
    1 + u8::from(held.shift) + 2 * u8::from(held.alt) + 4 * u8::from(held.ctrl)
}

/// The form of programs that want keys told apart, for keys that have one.
fn told_apart(Chord { code, held }: Chord, wants: Wants) -> Option<String> {
    let wanted = wants.keyboard & (DISAMBIGUATE | ALL_KEYS) != 0;
    let all = wants.keyboard & ALL_KEYS != 0;
    let (key, held) = match code {
        // Shift is part of a letter here, and of what is held there.
        Code::Char(c) if c.is_uppercase() => {
            (u32::from(c.to_lowercase().next()?), Held { shift: true, ..held })
        }
        Code::Char(c) => (u32::from(c), held),
        Code::Enter => (13, held),
        Code::Esc => (27, held),
        Code::Tab => (9, held),
        Code::Backspace => (127, held),
        _ => return None,
    };
    let number = held_number(held);
    let is_text = matches!(code, Code::Char(_)) && !held.ctrl && !held.alt;
    let is_plain = is_text || number == 1 && code != Code::Esc;
    if wanted && (all || !is_plain) {
        return Some(if number == 1 {
            format!("\x1b[{key}u")
        } else {
            format!("\x1b[{key};{number}u")
        });
    }
    // xterm's way, for keys that have no form of their own.
    let own_form = is_plain || code == Code::Esc || code == Code::Tab && number == 2;
    let is_letter = matches!(code, Code::Char(_));
    (wants.other_keys > 0 && !own_form && !is_letter).then(|| format!("\x1b[27;{number};{key}~"))
}

fn control(c: char) -> u8 {
    let byte = u8::try_from(c).unwrap_or(b' ').to_ascii_uppercase();
    match byte {
        b'?' => 0x7f,
        b'@'..=b'_' => byte & 0x1f,
        b' ' => 0,
        // Control changes nothing about the rest.
        _ => byte,
    }
}

fn letter(last: char, held: Held, application: bool) -> Vec<u8> {
    match held_number(held) {
        1 if application => format!("\x1bO{last}"),
        1 => format!("\x1b[{last}"),
        number => format!("\x1b[1;{number}{last}"),
    }
    .into_bytes()
}

fn number(key: u8, held: Held) -> Vec<u8> {
    match held_number(held) {
        1 => format!("\x1b[{key}~"),
        number => format!("\x1b[{key};{number}~"),
    }
    .into_bytes()
}

/// Pasted text. Nothing in it can end the paste early.
pub(crate) fn paste(text: &str, wants: Wants) -> Vec<u8> {
    let text: String =
        text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    let text = text.replace('\n', "\r");
    if wants.paste_marks { format!("\x1b[200~{text}\x1b[201~").into_bytes() } else { text.into() }
}

/// A report of the mouse at a place of the session's terminal; none if its programs want none of it.
pub(crate) fn mouse(mouse: Mouse, (column, row): (u16, u16), wants: Wants) -> Option<Vec<u8>> {
    let least = match mouse.what {
        Click::Pressed
        | Click::Released
        | Click::WheelUp
        | Click::WheelDown
        | Click::OtherPressed
        | Click::OtherReleased => MouseReports::Clicks,
        Click::Dragged => MouseReports::Drags,
        Click::Moved => MouseReports::Moves,
    };
    if wants.mouse < least {
        return None;
    }
    let released = matches!(mouse.what, Click::Released | Click::OtherReleased);
    let (x, y) = (column.saturating_add(1), row.saturating_add(1));
    if wants.mouse_numbers {
        let end = if released { 'm' } else { 'M' };
        return Some(format!("\x1b[<{};{x};{y}{end}", mouse.number).into_bytes());
    }
    let number = if released { mouse.number | 0b11 } else { mouse.number };
    let byte = |value: u16| u8::try_from(value + 32).ok();
    if x > OLD_PLACE_MAX || y > OLD_PLACE_MAX {
        return None;
    }
    Some(vec![0x1b, b'[', b'M', byte(number)?, byte(x)?, byte(y)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{Input, Reader};

    const KEYS: [&str; 30] = [
        "j",
        "G",
        "é",
        "日",
        "ctrl+c",
        "ctrl+x",
        "ctrl+space",
        "alt+x",
        "ctrl+]",
        "enter",
        "esc",
        "tab",
        "shift+tab",
        "backspace",
        "up",
        "ctrl+right",
        "home",
        "end",
        "shift+pgdn",
        "delete",
        "insert",
        "pgup",
        "f1",
        "f4",
        "f5",
        "f6",
        "f10",
        "f11",
        "ctrl+f12",
        "alt+up",
    ];

    /// What is typed here means the same to a program there.
    #[test]
    fn a_key_is_read_back_as_itself_whatever_the_programs_want() {
        let plain = Wants::default();
        let kitty = Wants { keyboard: DISAMBIGUATE, ..plain };
        let application = Wants { cursor_keys: true, other_keys: 2, ..plain };
        let all = Wants { keyboard: DISAMBIGUATE | ALL_KEYS, ..plain };
        for wants in [plain, kitty, application, all] {
            for text in KEYS {
                let chord = Chord::parse(text).unwrap();
                let mut reader = Reader::default();
                let mut found = reader.read(&key(chord, wants));
                found.extend(reader.give_up());
                // An old program cannot tell it from an escape before the key.
                let meta = Chord { held: Held { alt: false, ..chord.held }, ..chord };
                let same = found == [Input::Key(chord)] || found == [Input::Meta(meta)];
                assert!(
                    same && (chord.held.alt || meta == chord),
                    "{text} for {wants:?}: {found:?}"
                );
            }
        }
    }

    #[test]
    fn keys_that_only_new_programs_can_tell_apart() {
        let enter = Chord::parse("shift+enter").unwrap();
        let plain = Wants::default();
        assert_eq!(key(enter, plain), b"\r");
        assert_eq!(key(enter, Wants { keyboard: 1, ..plain }), b"\x1b[13;2u");
        assert_eq!(key(enter, Wants { other_keys: 1, ..plain }), b"\x1b[27;2;13~");
        let up = Chord::parse("up").unwrap();
        assert_eq!(key(up, Wants { cursor_keys: true, ..plain }), b"\x1bOA");
    }

    #[test]
    fn a_paste_cannot_end_itself() {
        let marks = Wants { paste_marks: true, ..Wants::default() };
        assert_eq!(paste("a\nb\x1b[201~c", marks), b"\x1b[200~a\rb[201~c\x1b[201~");
        assert_eq!(paste("a\nb", Wants::default()), b"a\rb");
    }

    #[test]
    fn the_mouse_is_told_as_it_was_asked_for() {
        let press = Mouse { what: Click::Pressed, column: 40, row: 20, number: 0 };
        let none = Wants::default();
        assert_eq!(mouse(press, (4, 2), none), None);
        let old = Wants { mouse: MouseReports::Clicks, ..none };
        assert_eq!(mouse(press, (4, 2), old).as_deref(), Some(&b"\x1b[M %#"[..]));
        let new = Wants { mouse_numbers: true, ..old };
        assert_eq!(mouse(press, (4, 2), new).as_deref(), Some(&b"\x1b[<0;5;3M"[..]));
        let drag = Mouse { what: Click::Dragged, number: 32, ..press };
        assert_eq!(mouse(drag, (4, 2), new), None);
        let release = Mouse { what: Click::Released, ..press };
        assert_eq!(mouse(release, (4, 2), new).as_deref(), Some(&b"\x1b[<0;5;3m"[..]));
    }
}
