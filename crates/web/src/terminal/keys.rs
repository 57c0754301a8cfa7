//! What a page types, as the bytes that a terminal would send for it, and who it is that types.

use crate::Told;
use glis_client::{Connector, Fault, Quiet};
use glis_screen::Wants;
use glis_wire::client::{Action, Request};
use serde::Deserialize;

/// Something typed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Typed {
    /// Letters.
    Text(String),
    /// A key with a name, as browsers call it.
    Key(String),
    /// A letter with Ctrl held.
    Ctrl(char),
    /// What was pasted: a program that wants to is told where it begins and ends.
    Paste(String),
}

/// Who types on a connection. Keys go to the holder, past the daemon, and can press whatever an agent
/// asks: the daemon is told before the first of them, and writes it down.
pub(super) struct Typist {
    pub(super) explain: fn(Fault) -> Told,
    /// Once a connection: an event for each key would be a log of keys.
    pub(super) told: bool,
}

impl Typist {
    /// Tells the daemon, unless it knows. Why it does not have it, otherwise.
    pub(super) fn announce(&mut self, connector: &Connector, name: &str) -> Result<(), String> {
        if self.told {
            return Ok(());
        }
        let request = Request::Act { session: name.to_owned(), action: Action::BeginTyping };
        let announced = connector.connect(&mut Quiet).and_then(|mut client| client.call(request));
        announced.map_err(|fault| {
            let why = (self.explain)(fault).message;
            format!("the key was not sent, since the daemon could not be told of it: {why}")
        })?;
        self.told = true;
        Ok(())
    }
}

impl Typed {
    /// The bytes for a program that wants its keys like this; none for what has none.
    pub(super) fn bytes(&self, wants: Wants) -> Vec<u8> {
        match self {
            Self::Text(text) => text.clone().into_bytes(),
            Self::Key(name) => key(name, wants).to_vec(),
            Self::Ctrl(letter) => ctrl(*letter).into_iter().collect(),
            Self::Paste(text) => paste(text, wants),
        }
    }
}

fn key(name: &str, wants: Wants) -> &'static [u8] {
    let arrow = |usual, application| if wants.cursor_keys { application } else { usual };
    match name {
        "Enter" => b"\r",
        "Tab" => b"\t",
        "Escape" => b"\x1b",
        "Backspace" => b"\x7f",
        "ArrowUp" => arrow(b"\x1b[A", b"\x1bOA"),
        "ArrowDown" => arrow(b"\x1b[B", b"\x1bOB"),
        "ArrowRight" => arrow(b"\x1b[C", b"\x1bOC"),
        "ArrowLeft" => arrow(b"\x1b[D", b"\x1bOD"),
        "Home" => arrow(b"\x1b[H", b"\x1bOH"),
        "End" => arrow(b"\x1b[F", b"\x1bOF"),
        "Insert" => b"\x1b[2~",
        "Delete" => b"\x1b[3~",
        "PageUp" => b"\x1b[5~",
        "PageDown" => b"\x1b[6~",
        _ => b"",
    }
}

/// The letters from `@` to `_` have a control character each.
fn ctrl(letter: char) -> Option<u8> {
    let letter = u8::try_from(letter).ok()?.to_ascii_uppercase();
    (b'@'..=b'_').contains(&letter).then_some(letter & 0x1f)
}

fn paste(text: &str, wants: Wants) -> Vec<u8> {
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
            (r#"{"key":"Enter"}"#, "\r", "\r"),
            (r#"{"key":"F5"}"#, "", ""),
            (r#"{"ctrl":"c"}"#, "\x03", "\x03"),
            (r#"{"ctrl":"é"}"#, "", ""),
            (r#"{"paste":"a\nb\u001b[201~"}"#, "a\rb[201~", "\x1b[200~a\rb[201~\x1b[201~"),
        ] {
            assert_eq!(bytes(said, usual), plain, "{said}");
            assert_eq!(bytes(said, own), wanted, "{said}");
        }
        for wrong in ["{}", "[]", r#"{"text":1}"#, r#"{"keys":"x"}"#, r#"{"ctrl":"ab"}"#] {
            assert!(serde_json::from_str::<Typed>(wrong).is_err(), "{wrong}");
        }
    }
}
