//! What Gemini CLI prints for one message, and what the relay says around it.

use crate::dialect::{Dialect, GONE, Interrupt, Shown, Source};
use crate::heard::{Heard, Said, Usage};
use crate::hearing::{Meaning, as_said, as_text, gist, json_line, text};
use crate::lines::Lines;
use glis_core::input::Sign;
use glis_core::plain::{in_one_line, without_escapes};
use glis_core::talk::Ask;
use glis_wire::view::Voice;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// With these begins what it takes for a command.
const MARKS: [char; 2] = ['/', '?'];
/// By this the entries of its lists are called.
const ENTRY: &str = "/description";

/// It puts one of these behind its own error if the model was refused with the status 429.
const REFUSED: [&str; 2] = [
    "]\nPlease wait and try again later.",
    "]\nPossible quota limitations in place or slow response times detected.",
];

#[derive(Default)]
pub(super) struct Stream {
    lines: Lines,
    turn: Turn,
    transcript: Lines,
    /// What was read there, by its id: it is written again when there is more to it.
    read: BTreeSet<String>,
}

/// What was heard in the turn that is under way.
#[derive(Default)]
struct Turn {
    /// It said anything at all.
    began: bool,
    /// It repeated the message that it was given.
    took: bool,
    /// What it is saying: words come in pieces.
    saying: String,
    /// It came to its own end.
    result: Option<Value>,
    /// Tools that are under way, by their ids: what they are called and what they were given.
    tools: BTreeMap<String, (String, String)>,
}

impl Stream {
    fn understand(&mut self, words: &Value) -> Meaning {
        let mut line = Meaning::default();
        match (text(words, "/type"), text(words, "/event")) {
            ("relay", "ready") => {
                line.sign(Sign::RefKnown(text(words, "/id").to_owned()));
                line.sign(Sign::Ready);
            }
            ("relay", "rejected") => line.sign(Sign::RefRejected(text(words, "/why").to_owned())),
            ("relay", "turn_over") => self.turn_over(words, &mut line),
            (kind, _) => self.part_of_turn(kind, words, &mut line),
        }
        line
    }

    fn part_of_turn(&mut self, kind: &str, words: &Value, line: &mut Meaning) {
        match (kind, text(words, "/role")) {
            ("init", _) => {
                self.turn.began = true;
                line.sign(Sign::RefKnown(text(words, "/session_id").to_owned()));
                line.sign(Sign::TurnBegan);
            }
            ("message", "user") => {
                self.turn.took = true;
                line.took(as_said(text(words, "/content")));
            }
            ("message", _) => self.turn.saying.push_str(text(words, "/content")),
            ("tool_use", _) => {
                line.says(&mut self.turn.saying);
                let (name, id) = (text(words, "/tool_name"), text(words, "/tool_id"));
                line.tool_began(name, id, &words["parameters"], ENTRY);
                let given = (name.to_owned(), gist(&words["parameters"]));
                self.turn.tools.insert(id.to_owned(), given);
            }
            ("tool_result", _) => {
                let noted = self.turn.tools.remove(text(words, "/tool_id"));
                let failed = text(words, "/status") == "error";
                if let Some((name, content)) = noted.filter(|_| failed) {
                    line.words(Said::failed(&name, content));
                }
                line.sign(Sign::ToolEnded(text(words, "/tool_id").to_owned()));
            }
            ("error", _) => line.words(Said::new(Voice::System, text(words, "/message"))),
            ("result", _) => self.turn.result = Some(words.clone()),
            _ => {}
        }
    }

    /// What a line of its transcript means, as the output would have told it. Whether a turn is over
    /// is not to be seen there: tools are written down when they are done.
    fn written(&mut self, words: &Value) -> Meaning {
        let mut line = Meaning::default();
        let (kind, said) = (text(words, "/type"), content(&words["content"]));
        let is_new = self.read.insert(text(words, "/id").to_owned());
        match kind {
            // Results of tools have no words.
            "user" if is_new && !said.is_empty() => {
                line.took(as_said(&said));
                line.sign(Sign::TurnBegan);
            }
            "gemini" => {
                if is_new && !said.trim().is_empty() {
                    line.words(Said::new(Voice::Assistant, said));
                }
                let calls = words["toolCalls"].as_array().map(Vec::as_slice).unwrap_or_default();
                for call in
                    calls.iter().filter(|call| self.read.insert(text(call, "/id").to_owned()))
                {
                    let (name, id) = (text(call, "/name"), text(call, "/id"));
                    line.tool_began(name, id, &call["args"], ENTRY);
                    if text(call, "/status") == "error" {
                        line.words(Said::failed(name, gist(&call["args"])));
                    }
                }
            }
            _ => {}
        }
        line
    }

    /// The process is gone, and with it the turn. One that came to no result of its own was cut off,
    /// whatever its exit status says.
    fn turn_over(&mut self, words: &Value, line: &mut Meaning) {
        line.says(&mut self.turn.saying);
        let turn = std::mem::take(&mut self.turn);
        if !turn.began {
            // It never came to look at the message. Mostly the relay ends then; one that does not
            // would wait for words that never come.
            let why = in_one_line(&without_escapes(text(words, "/why")));
            if words["goes_on"] == true {
                line.sign(Sign::RefRejected(why.clone()));
            }
            line.both(Sign::MessageRefused(why.clone()), Said::new(Voice::System, why));
            return;
        }
        if !turn.took {
            line.sign(Sign::TookMessage { text: None });
        }
        let (mut said, sign) = match &turn.result {
            Some(result) => {
                let fault = text(result, "/error/message");
                let limited = text(result, "/status") == "error" && is_limit(fault);
                let reset_at = String::new();
                let over = if limited { Sign::TurnLimited { reset_at } } else { Sign::TurnEnded };
                (Said::new(Voice::System, fault), over)
            }
            None => (Said::new(Voice::System, ""), Sign::TurnCut),
        };
        said.usage = turn.result.as_ref().and_then(usage);
        line.turn_over(sign, said);
    }
}

/// Whether the error that a turn has ended with is a usage limit, which its kind does not tell. What
/// the model says never comes as an error.
fn is_limit(fault: &str) -> bool {
    fault.starts_with("[API Error: ") && REFUSED.iter().any(|words| fault.contains(words))
}

/// Words, or parts that have some.
pub(super) fn content(content: &Value) -> String {
    let parts = content.as_array().into_iter().flatten().map(|part| text(part, "/text"));
    content.as_str().map_or_else(|| parts.collect(), ToOwned::to_owned)
}

fn usage(result: &Value) -> Option<Usage> {
    let number = |key: &str| result.pointer(&format!("/stats/{key}"))?.as_u64();
    let (tokens_in, tokens_out) = (number("input_tokens")?, number("output_tokens")?);
    Some(Usage { tokens_in, tokens_out, ..Usage::default() })
}

impl Dialect for Stream {
    fn hear(&mut self, offset: u64, bytes: &[u8]) -> Vec<Heard> {
        let words = self.lines.words(offset, bytes).into_iter();
        words.flat_map(|(end, words)| self.understand(&words).heard(end)).collect()
    }

    fn read(&mut self, offset: u64, bytes: &[u8]) -> Vec<Heard> {
        let words = self.transcript.words(offset, bytes).into_iter();
        words.flat_map(|(end, words)| self.written(&words).heard(end)).collect()
    }

    /// What begins with one of its marks it does for a command, if there is such, and has forgotten
    /// when it is resumed.
    fn say(&self, text: &str) -> Vec<u8> {
        json_line(&json!({"type": "message", "text": as_text(text, &MARKS, &[])}))
    }

    fn saying(&self) -> Option<&str> {
        Some(&self.turn.saying)
    }

    fn interrupt(&self) -> Interrupt {
        Interrupt::Bytes(json_line(&json!({"type": "interrupt"})))
    }

    fn answer(&self, _ask: &Ask, _answer: &str) -> Result<Vec<u8>, String> {
        Err(GONE.to_owned())
    }

    fn shows(&self, _lines: &[String]) -> Shown {
        Shown::Other
    }

    fn source(&self) -> Source {
        Source::Stream
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signs(lines: &[Value]) -> Vec<Sign> {
        let mut stream = Stream::default();
        let bytes: Vec<u8> = lines.iter().flat_map(json_line).collect();
        stream.hear(0, &bytes).into_iter().filter_map(|heard| heard.sign).collect()
    }

    #[test]
    fn only_an_error_of_its_own_is_a_limit() {
        let fault = "[API Error: You have exhausted your daily quota on this model.]\n\
                     Please wait and try again later. To increase your limits, request more";
        let init = json!({"type": "init", "session_id": "a"});
        let over = json!({"type": "relay", "event": "turn_over"});
        let failed = json!({"type": "result", "status": "error", "error": {"message": fault}});
        let limited = Sign::TurnLimited { reset_at: String::new() };
        assert_eq!(signs(&[init.clone(), failed, over.clone()]).last(), Some(&limited));
        let said = json!({"type": "message", "role": "assistant", "content": fault});
        let well = json!({"type": "result", "status": "success"});
        assert_eq!(signs(&[init.clone(), said, well, over.clone()]).last(), Some(&Sign::TurnEnded));
        let other = json!({"type": "result", "status": "error",
            "error": {"message": "[API Error: the package ratelimit is broken]"}});
        let failed = Sign::TurnFailed("[API Error: the package ratelimit is broken]".to_owned());
        assert_eq!(signs(&[init, other, over]).last(), Some(&failed));
    }
}
