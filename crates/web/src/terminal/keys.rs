//! What a page types, as the bytes that a terminal would send for it, and who it is that types.

use glis_client::{Connector, Quiet};
use glis_screen::Wants;
use glis_verbs::Complaint;
use glis_wire::client::{Action, Request};
use serde::Deserialize;

/// Something typed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(super) enum Typed {
    Letters {
        text: String,
    },
    /// What was pasted: a program that wants to is told where it begins and ends.
    Pasted {
        paste: String,
    },
    Pressed(Press),
}

/// A key, as browsers call it, with what is held down along with it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Press {
    key: String,
    #[serde(default)]
    shift: bool,
    #[serde(default)]
    alt: bool,
    #[serde(default)]
    ctrl: bool,
}

/// Tells the daemon that somebody types. Keys go to the holder, past the daemon, and can press whatever an agent asks:
/// the daemon is told before the first of them, and writes it down. Why it does not have it, otherwise.
pub(super) fn announce(connector: &Connector, name: &str) -> Result<(), String> {
    let request = Request::Act { session: name.to_owned(), action: Action::BeginTyping };
    let announced = connector.connect(&mut Quiet).and_then(|mut client| client.call(request));
    announced.map(drop).map_err(|fault| {
        let why = Complaint::from(fault).message;
        format!("the key was not sent, since the daemon could not be told of it: {why}")
    })
}

impl Typed {
    /// The bytes for a program that wants its keys like this; none for what has none.
    pub(super) fn bytes(&self, wants: Wants) -> Vec<u8> {
        match self {
            Self::Letters { text } => text.clone().into_bytes(),
            Self::Pasted { paste } => marked(paste, wants),
            Self::Pressed(press) => press.bytes(wants),
        }
    }
}

impl Press {
    /// As xterm sends it.
    fn bytes(&self, wants: Wants) -> Vec<u8> {
        match self.key.as_str() {
            "ArrowUp" => self.cursor('A', wants),
            "ArrowDown" => self.cursor('B', wants),
            "ArrowRight" => self.cursor('C', wants),
            "ArrowLeft" => self.cursor('D', wants),
            "Home" => self.cursor('H', wants),
            "End" => self.cursor('F', wants),
            "Insert" => self.numbered(2),
            "Delete" => self.numbered(3),
            "PageUp" => self.numbered(5),
            "PageDown" => self.numbered(6),
            "F1" => self.function('P'),
            "F2" => self.function('Q'),
            "F3" => self.function('R'),
            "F4" => self.function('S'),
            "F5" => self.numbered(15),
            "F6" => self.numbered(17),
            "F7" => self.numbered(18),
            "F8" => self.numbered(19),
            "F9" => self.numbered(20),
            "F10" => self.numbered(21),
            "F11" => self.numbered(23),
            "F12" => self.numbered(24),
            "Tab" if self.shift => b"\x1b[Z".to_vec(),
            "Tab" => self.meta(b"\t"),
            // Agents take a line feed for a new line of a message that goes on; a shell takes either.
            "Enter" if self.shift || self.ctrl => self.meta(b"\n"),
            "Enter" => self.meta(b"\r"),
            "Escape" => self.meta(b"\x1b"),
            "Backspace" if self.ctrl => self.meta(b"\x08"),
            "Backspace" => self.meta(b"\x7f"),
            letter => {
                let mut letters = letter.chars();
                match (letters.next(), letters.next()) {
                    (Some(one), None) if self.ctrl => {
                        control(one).map_or_else(Vec::new, |byte| self.meta(&[byte]))
                    }
                    (Some(_), None) => self.meta(letter.as_bytes()),
                    (_, Some(_)) | (None, _) => Vec::new(),
                }
            }
        }
    }

    /// Alt is an escape before the key.
    fn meta(&self, bytes: &[u8]) -> Vec<u8> {
        let escape: &[u8] = if self.alt { b"\x1b" } else { b"" };
        [escape, bytes].concat()
    }

    /// xterm's number for what is held down; none for nothing.
    fn held(&self) -> Option<u8> {
        let held = u8::from(self.shift) + 2 * u8::from(self.alt) + 4 * u8::from(self.ctrl);
        (held > 0).then_some(held + 1)
    }

    fn cursor(&self, end: char, wants: Wants) -> Vec<u8> {
        match self.held() {
            Some(held) => format!("\x1b[1;{held}{end}").into_bytes(),
            None if wants.cursor_keys => format!("\x1bO{end}").into_bytes(),
            None => format!("\x1b[{end}").into_bytes(),
        }
    }

    fn function(&self, end: char) -> Vec<u8> {
        match self.held() {
            Some(held) => format!("\x1b[1;{held}{end}").into_bytes(),
            None => format!("\x1bO{end}").into_bytes(),
        }
    }

    fn numbered(&self, number: u8) -> Vec<u8> {
        let held = self.held().map_or_else(String::new, |held| format!(";{held}"));
        format!("\x1b[{number}{held}~").into_bytes()
    }
}

/// The control character of a key: the letters from `@` to `_` have one each, and what stands for some of them on
/// keyboards that have no such letter.
fn control(letter: char) -> Option<u8> {
    match u8::try_from(letter).ok()?.to_ascii_uppercase() {
        letter @ b'@'..=b'_' => Some(letter & 0x1f),
        b' ' | b'2' => Some(0),
        digit @ b'3'..=b'7' => Some(digit - b'3' + 0x1b),
        b'/' | b'-' => Some(0x1f),
        b'8' | b'?' => Some(0x7f),
        _ => None,
    }
}

fn marked(text: &str, wants: Wants) -> Vec<u8> {
    // A mark inside would end it early, and the rest would be typed.
    let text = text.replace('\x1b', "").replace("\r\n", "\r").replace('\n', "\r");
    if wants.paste_marks {
        format!("\x1b[200~{text}\x1b[201~").into_bytes()
    } else {
        text.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(said: &str, wants: Wants) -> String {
        let typed: Typed = serde_json::from_str(said).unwrap();
        String::from_utf8(typed.bytes(wants)).unwrap()
    }

    #[test]
    fn keys_are_what_a_terminal_sends() {
        let (usual, own) =
            (Wants::default(), Wants { cursor_keys: true, paste_marks: true, ..Wants::default() });
        for (said, plain, wanted) in [
            (r#"{"text":"é"}"#, "é", "é"),
            (r#"{"key":"ArrowUp"}"#, "\x1b[A", "\x1bOA"),
            (r#"{"key":"ArrowLeft","ctrl":true}"#, "\x1b[1;5D", "\x1b[1;5D"),
            (r#"{"key":"Home","shift":true,"alt":true}"#, "\x1b[1;4H", "\x1b[1;4H"),
            (r#"{"key":"Enter"}"#, "\r", "\r"),
            (r#"{"key":"Enter","shift":true}"#, "\n", "\n"),
            (r#"{"key":"Enter","alt":true}"#, "\x1b\r", "\x1b\r"),
            (r#"{"key":"Tab","shift":true}"#, "\x1b[Z", "\x1b[Z"),
            (r#"{"key":"F2"}"#, "\x1bOQ", "\x1bOQ"),
            (r#"{"key":"F2","shift":true}"#, "\x1b[1;2Q", "\x1b[1;2Q"),
            (r#"{"key":"F5"}"#, "\x1b[15~", "\x1b[15~"),
            (r#"{"key":"F12","ctrl":true}"#, "\x1b[24;5~", "\x1b[24;5~"),
            (r#"{"key":"PageUp","shift":true}"#, "\x1b[5;2~", "\x1b[5;2~"),
            (r#"{"key":"Backspace","alt":true}"#, "\x1b\x7f", "\x1b\x7f"),
            (r#"{"key":"Hyper"}"#, "", ""),
            (r#"{"key":"c","ctrl":true}"#, "\x03", "\x03"),
            (r#"{"key":"C","ctrl":true,"alt":true}"#, "\x1b\x03", "\x1b\x03"),
            (r#"{"key":" ","ctrl":true}"#, "\0", "\0"),
            (r#"{"key":"/","ctrl":true}"#, "\x1f", "\x1f"),
            (r#"{"key":"é","ctrl":true}"#, "", ""),
            (r#"{"key":"b","alt":true}"#, "\x1bb", "\x1bb"),
            (r#"{"paste":"a\nb\u001b[201~"}"#, "a\rb[201~", "\x1b[200~a\rb[201~\x1b[201~"),
        ] {
            assert_eq!(bytes(said, usual), plain, "{said}");
            assert_eq!(bytes(said, own), wanted, "{said}");
        }
        let both = r#"{"text":"a","key":"b"}"#;
        for wrong in ["{}", "[]", r#"{"text":1}"#, r#"{"keys":"x"}"#, r#"{"ctrl":"a"}"#, both] {
            assert!(serde_json::from_str::<Typed>(wrong).is_err(), "{wrong}");
        }
    }
}
