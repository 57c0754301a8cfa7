//! The headless face: JSON lines in, JSON lines out.

use std::time::Instant;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Face, Goodbye, Input, Message, Mode};
use crate::record::{Notice, Record, line};

/// A peer that speaks JSON lines.
#[derive(Default)]
pub(crate) struct Headless {
    unread: Vec<u8>,
    idle: bool,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Request {
    User { text: String, id: Option<Value> },
    Interrupt,
    Answer { id: String, answer: String },
}

impl Face for Headless {
    fn greet(&mut self, session: &Notice, _last: &[Record], out: &mut Vec<u8>) {
        out.extend(line(session));
    }

    fn greet_without_id(&mut self, _out: &mut Vec<u8>) {}

    fn record(&mut self, record: &Record, out: &mut Vec<u8>) {
        out.extend(line(record));
    }

    fn notice(&mut self, notice: &Notice, out: &mut Vec<u8>) {
        out.extend(line(notice));
    }

    fn mode(&mut self, mode: Mode, out: &mut Vec<u8>) {
        self.idle = mode == Mode::Idle;
        if self.idle {
            out.extend(line(&json!({ "type": "ready" })));
        }
    }

    fn take(&mut self, bytes: &[u8], _now: Instant, _out: &mut Vec<u8>) -> Vec<Input> {
        self.unread.extend_from_slice(bytes);
        let Some(last) = self.unread.iter().rposition(|byte| *byte == b'\n') else {
            return Vec::new();
        };
        let rest = self.unread.split_off(last + 1);
        let whole = std::mem::replace(&mut self.unread, rest);
        let inputs: Vec<Input> = whole.split(|byte| *byte == b'\n').filter_map(read).collect();
        // A signal that comes before the turn has begun is for the turn all the same.
        self.idle &= !inputs.iter().any(|input| matches!(input, Input::Message(_)));
        inputs
    }

    fn ended(&mut self) -> Vec<Input> {
        read(&std::mem::take(&mut self.unread)).into_iter().collect()
    }

    fn interrupted(&mut self, _out: &mut Vec<u8>) -> Option<Input> {
        Some(if self.idle { Input::Leave(Goodbye::ByInterrupt) } else { Input::Interrupt })
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }

    fn tick(&mut self, _out: &mut Vec<u8>) -> Vec<Input> {
        Vec::new()
    }

    fn resize(&mut self, _columns: usize, _out: &mut Vec<u8>) {}

    fn noise(&mut self, out: &mut Vec<u8>) {
        out.extend(b"> \n");
    }

    fn flood_line(&mut self, text: &str, out: &mut Vec<u8>) {
        out.extend(line(&json!({ "type": "text", "text": text })));
    }

    fn recover(&mut self, out: &mut Vec<u8>) {
        out.push(b'\n');
    }

    fn farewell(&mut self, _out: &mut Vec<u8>) {}
}

fn read(bytes: &[u8]) -> Option<Input> {
    let bytes = bytes.trim_ascii();
    if bytes.is_empty() {
        return None;
    }
    Some(match serde_json::from_slice(bytes) {
        Ok(Request::User { text, id }) => Input::Message(Message { text, id }),
        Ok(Request::Interrupt) => Input::Interrupt,
        Ok(Request::Answer { id, answer }) => Input::Answer { id: Some(id), answer },
        Err(error) => Input::Unreadable(error.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(face: &mut Headless, text: &str) -> Vec<Input> {
        face.take(text.as_bytes(), Instant::now(), &mut Vec::new())
    }

    fn message(text: &str, id: Option<Value>) -> Input {
        Input::Message(Message { text: text.to_owned(), id })
    }

    #[test]
    fn lines_may_arrive_in_pieces() {
        let mut face = Headless::default();
        assert_eq!(take(&mut face, "{\"type\":\"us"), []);
        assert_eq!(
            take(&mut face, "er\",\"text\":\"a\"}\n{\"type\":\"interrupt\"}\n{"),
            [message("a", None), Input::Interrupt]
        );
        assert_eq!(face.unread, b"{");
    }

    #[test]
    fn a_last_line_needs_no_newline() {
        let mut face = Headless::default();
        assert_eq!(take(&mut face, r#"{"type":"user","text":"a","id":"x"}"#), []);
        assert_eq!(face.ended(), [message("a", Some("x".into()))]);
    }

    #[test]
    fn nonsense_is_complained_about_and_blank_lines_are_not() {
        let mut face = Headless::default();
        assert!(matches!(take(&mut face, "\n  \nhello\n").as_slice(), [Input::Unreadable(_)]));
    }

    #[test]
    fn an_interrupt_means_leaving_only_when_idle() {
        let mut face = Headless::default();
        let mut out = Vec::new();
        face.mode(Mode::Idle, &mut out);
        assert_eq!(face.interrupted(&mut out), Some(Input::Leave(Goodbye::ByInterrupt)));
        face.mode(Mode::Working, &mut out);
        assert_eq!(face.interrupted(&mut out), Some(Input::Interrupt));
        assert_eq!(String::from_utf8_lossy(&out), "{\"type\":\"ready\"}\n");
    }
}
