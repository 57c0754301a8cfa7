//! What the listeners have in common: several things in one line, tools in a few words.

use crate::heard::{Heard, Outcome, Said, Tally};
use glis_core::input::Sign;
use glis_core::plain::{in_one_line, is_seen};
use glis_wire::view::Voice;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Enough to recognise what a tool does; the whole of it is in the conversation.
const WHAT_CHARS_MAX: usize = 80;

const ALLOW_CHARS_MAX: usize = 16 * 1024;

/// Everything that one line says, in order.
#[derive(Debug, Default)]
pub(crate) struct Meaning {
    parts: Vec<(Option<Sign>, Option<Said>)>,
}

impl Meaning {
    pub(crate) fn sign(&mut self, sign: Sign) {
        self.parts.push((Some(sign), None));
    }

    pub(crate) fn words(&mut self, said: Said) {
        self.parts.push((None, Some(said)));
    }

    /// A message was taken, in these words.
    pub(crate) fn took(&mut self, words: impl Into<String>) {
        let words = words.into();
        let sign = Sign::TookMessage { text: Some(words.clone()) };
        self.both(sign, Said::new(Voice::User, words));
    }

    /// Lets out what the agent said up to here, if that was anything: words come in pieces.
    pub(crate) fn says(&mut self, saying: &mut String) {
        let said = std::mem::take(saying);
        if !said.trim().is_empty() {
            self.words(Said::new(Voice::Assistant, said));
        }
    }

    /// A tool begins, with what it is given. A list of what is to do is told as such: its entries are
    /// called by the text at `key`.
    pub(crate) fn tool_began(&mut self, name: &str, id: &str, input: &Value, key: &str) {
        let said = match input["todos"].as_array() {
            Some(entries) => pending(entries, key),
            None => Said { edit: edit(input), ..Said::tool(name, gist(input)) },
        };
        let what = what(name, &said.content);
        self.both(Sign::ToolBegan { tool: id.to_owned(), what }, said);
    }

    /// The turn is over, with what is to be told of it. One that was broken off is told as such, and one that
    /// ended by itself has something to tell only where it came to nothing.
    pub(crate) fn turn_over(&mut self, sign: Sign, said: Said) {
        let failed = sign == Sign::TurnEnded && !said.content.is_empty();
        let sign = if failed { Sign::TurnFailed(said.content.clone()) } else { sign };
        let outcome = (sign == Sign::TurnCut).then_some(Outcome::Interrupted);
        self.both(sign, Said { outcome, ..said });
    }

    pub(crate) fn both(&mut self, sign: Sign, said: Said) {
        self.parts.push((Some(sign), Some(said)));
    }

    /// Gives everything a place: the last sign and the last words stand at the line's end, those
    /// before them just before. Words and signs are counted apart, since what a line means may
    /// depend on what was heard elsewhere, and what it says never does. A line has more bytes than
    /// parts, so no place belongs to another line.
    pub(crate) fn heard(self, end: u64) -> Vec<Heard> {
        let mut signs = self.parts.iter().filter(|(sign, _)| sign.is_some()).count() as u64;
        let mut words = self.parts.iter().filter(|(_, said)| said.is_some()).count() as u64;
        let mut heard = Vec::new();
        for (sign, said) in self.parts {
            if said.is_some() {
                words -= 1;
                heard.push(Heard { at: end - words, sign: None, said });
            }
            if sign.is_some() {
                signs -= 1;
                heard.push(Heard { at: end - signs, sign, said: None });
            }
        }
        heard
    }
}

/// Work that outlives the turn that began it. The agent tells the end of each, whenever that is.
#[derive(Default)]
pub(crate) struct Running(BTreeSet<String>);

impl Running {
    /// Something runs on beside the turn.
    pub(crate) fn began(&mut self, id: &str, line: &mut Meaning) {
        if self.0.insert(id.to_owned()) {
            self.tell(line);
        }
    }

    pub(crate) fn has(&self, id: &str) -> bool {
        self.0.contains(id)
    }

    /// Something has ended: one of these, or another item.
    pub(crate) fn ended(&mut self, id: &str, line: &mut Meaning) {
        if self.0.remove(id) {
            self.tell(line);
        }
    }

    fn tell(&self, line: &mut Meaning) {
        line.sign(Sign::Background(u32::try_from(self.0.len()).unwrap_or(u32::MAX)));
    }
}

/// What is still to do of a list whose entries are called by the text at `key`.
pub(crate) fn pending(entries: &[Value], key: &str) -> Said {
    let is_open = |entry: &&Value| !matches!(text(entry, "/status"), "completed" | "cancelled");
    let open = entries.iter().filter(is_open).map(|entry| text(entry, key).to_owned()).collect();
    Said { tally: Some(tally(entries)), ..plan(open) }
}

/// How far a list is.
pub(crate) fn tally(entries: &[Value]) -> Tally {
    Tally::of(entries.iter().map(|entry| text(entry, "/status")))
}

/// What is still to do.
pub(crate) fn plan(open: Vec<String>) -> Said {
    let told = Said::tool("plan", open.join("; "));
    Said { pending: Some(open), ..told }
}

/// What a tool does, in a few words.
pub(crate) fn what(tool: &str, content: &str) -> String {
    in_one_line(&format!("{tool} {content}")).chars().take(WHAT_CHARS_MAX).collect()
}

/// What a person is asked to allow, in full: a decision on half a command is none. Only what is too
/// long to be read is cut, and shows that it was.
pub(crate) fn to_allow(tool: &str, content: &str) -> String {
    let mut whole = format!("{tool} {content}");
    if let Some((end, _)) = whole.char_indices().nth(ALLOW_CHARS_MAX) {
        whole.truncate(end);
        whole.push('\u{2026}');
    }
    whole
}

/// What a tool is given, as far as a person wants to see it: the command, the file, or all of it.
pub(crate) fn gist(input: &Value) -> String {
    let telling = ["command", "cmd", "file_path", "path", "pattern", "url", "query", "description"];
    let found = telling.iter().find_map(|key| input.get(key));
    let telling = found.unwrap_or(input);
    let words: Option<Vec<&str>> =
        telling.as_array().and_then(|words| words.iter().map(Value::as_str).collect());
    let text = telling.as_str().map(ToOwned::to_owned);
    text.or_else(|| Some(words?.join(" "))).unwrap_or_else(|| telling.to_string())
}

/// A dialog has its question within so many lines; what is longer is not read there anyway.
const QUESTION_LINES_MAX: usize = 12;

/// The whole question of a dialog on a screen, from the line that it is known by to its choices.
pub(crate) fn question(lines: &[String], names: &[&str]) -> Option<String> {
    let named = |line: &String| names.iter().any(|name| line.contains(name));
    let at = lines.iter().position(named)?;
    let is_choice = |line: &str| {
        let first = line.trim_start().chars().next();
        first.is_some_and(|c| "\u{203a}\u{276f}".contains(c))
            || line.trim_start().starts_with("1. ")
    };
    let asked = lines.iter().skip(at).map(|line| line.trim());
    let asked = asked.take(QUESTION_LINES_MAX).take_while(|line| !is_choice(line));
    let whole: Vec<&str> = asked.filter(|line| !line.is_empty()).collect();
    // The name may be a choice itself.
    let name = lines.get(at).map(|line| line.trim().to_owned());
    if whole.is_empty() { name } else { Some(whole.join(" ")) }
}

/// Longer texts are seen among the changes of a session alone: the latest words are read from the end of a conversation.
const EDIT_BYTES_MAX: usize = 4 * 1024;

/// The texts of a change of files, of a tool that makes one.
pub(crate) fn edit(input: &Value) -> Option<Value> {
    let texts = ["old_string", "new_string", "content", "new_source", "edits", "changes"];
    let names_file =
        ["file_path", "notebook_path", "changes"].iter().any(|key| input.get(key).is_some());
    let given = texts.iter().filter_map(|key| Some(((*key).to_owned(), input.get(key)?.clone())));
    let found: Map<_, _> = given.filter(|_| names_file).collect();
    let found = (!found.is_empty()).then(|| Value::from(found));
    found.filter(|found| found.to_string().len() <= EDIT_BYTES_MAX)
}

/// A text of a JSON object, empty if it is not there.
pub(crate) fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Something before a mark that would make a command of a message. Agents skip usual blanks when they
/// look for such a mark, and some ask about characters that have no width.
const BLANK: char = '\u{2800}';

/// A message that stays one, whatever mark it begins with, and also where it is one of these words alone.
pub(crate) fn as_text<'t>(text: &'t str, marks: &[char], words: &[&str]) -> Cow<'t, str> {
    let bare = text.trim_start_matches(|c| !is_seen(c));
    let alone = bare.trim_end_matches(|c| !is_seen(c));
    if bare.starts_with(marks) || words.contains(&alone) {
        // Some agents ask about what is not seen, and then wait for a person.
        let lead: String = text.chars().take_while(|c| !is_seen(*c)).collect();
        let blanks: String = lead.chars().filter(|c| c.is_whitespace()).collect();
        Cow::Owned(format!("{BLANK}{blanks}{bare}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// A message as it was before [`as_text`].
pub(crate) fn as_said(text: &str) -> &str {
    text.strip_prefix(BLANK).unwrap_or(text)
}

/// What is answered to each of some questions, given by the names that each has. One text answers one
/// question; for several it is a JSON object with all of them, so that none gets an answer that was
/// meant for another.
pub(crate) fn answers<const N: usize>(
    questions: &[[&str; N]],
    words: &str,
) -> Result<Vec<Value>, String> {
    let each: Map<String, Value> = serde_json::from_str(words).unwrap_or_default();
    let is_empty =
        |answer: &Value| answer.as_str().map_or(answer.is_null(), |text| text.trim().is_empty());
    let answer = |names: &[&str; N]| names.iter().find_map(|name| each.get(*name)).cloned();
    let found: Option<Vec<Value>> =
        questions.iter().map(|names| answer(names).filter(|answer| !is_empty(answer))).collect();
    match (found, questions) {
        (Some(found), _) => Ok(found),
        (None, [_]) => Ok(vec![json!(words)]),
        (None, _) => {
            let first = questions.iter().filter_map(|names| names.first());
            let form: Vec<String> =
                first.map(|name| format!("{}: \u{2026}", json!(name))).collect();
            let form = form.join(", ");
            Err(format!(
                "it asks several things, and takes a JSON object with an answer to each: {{{form}}}"
            ))
        }
    }
}

/// Words on a line of their own.
pub(crate) fn json_line(words: &Value) -> Vec<u8> {
    let mut bytes = words.to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_of_an_edit_are_kept_where_they_are_short() {
        let with = |text: &str| {
            edit(
                &json!({"file_path": "a", "old_string": "x", "new_string": text, "replace_all": true}),
            )
        };
        assert_eq!(with("y"), Some(json!({"old_string": "x", "new_string": "y"})));
        assert_eq!(with(&"y".repeat(EDIT_BYTES_MAX)), None);
        assert_eq!(edit(&json!({"content": "a note of no file"})), None);
        assert_eq!(edit(&json!({"file_path": "only read"})), None);
    }

    #[test]
    fn signs_and_words_of_a_line_have_places_of_their_own_and_the_last_is_its_end() {
        let mut line = Meaning::default();
        line.sign(Sign::TurnBegan);
        line.sign(Sign::TurnEnded);
        line.words(Said::new(Voice::Assistant, "words"));
        let places: Vec<u64> = line.heard(100).iter().map(|heard| heard.at).collect();
        assert_eq!(places, [99, 100, 100]);
    }

    #[test]
    fn a_mark_at_the_beginning_makes_no_command() {
        for text in ["/status", " /status", "!ls"] {
            let safe = as_text(text, &['/', '!'], &[]);
            assert!(!safe.trim_start().starts_with(['/', '!']), "{safe}");
            assert_eq!(as_said(&safe), text);
        }
        assert_eq!(as_text("a/b !", &['/', '!'], &["a/b"]), "a/b !");
        for lead in ["\u{feff}", " \u{200b} ", "\u{ad}\u{fe0f}"] {
            let safe = as_text(&format!("{lead}!ls"), &['!'], &[]).into_owned();
            assert!(
                safe.starts_with(BLANK) && safe.ends_with("!ls") && !safe.contains(lead.trim()),
                "{safe:?}"
            );
        }
    }

    #[test]
    fn each_question_gets_an_answer_of_its_own() {
        let one = [["Colour?"]];
        assert_eq!(answers(&one, "red"), Ok(vec![json!("red")]));
        assert_eq!(answers(&one, r#"{"Colour?":"red"}"#), Ok(vec![json!("red")]));
        assert_eq!(answers(&one, r#"{"a":1}"#), Ok(vec![json!(r#"{"a":1}"#)]));
        let two = [["Colour?", "c"], ["Size?", "s"]];
        let both = Ok(vec![json!("red"), json!(["L", "XL"])]);
        assert_eq!(answers(&two, r#"{"Colour?":"red","s":["L","XL"]}"#), both);
        for half in ["red", r#"{"Colour?":"red"}"#, r#"{"Colour?":"red","Size?":" "}"#, "{}", ""] {
            let why = answers(&two, half).unwrap_err();
            assert!(why.ends_with("{\"Colour?\": \u{2026}, \"Size?\": \u{2026}}"), "{half}: {why}");
        }
    }

    #[test]
    fn the_gist_of_a_tool_is_what_it_runs_or_touches() {
        assert_eq!(gist(&json!({"description": "list", "command": "ls -l"})), "ls -l");
        assert_eq!(gist(&json!({"command": ["ls", "-l"]})), "ls -l");
        assert_eq!(gist(&json!({"file_path": "a.txt", "content": "x"})), "a.txt");
        assert_eq!(gist(&json!({"n": 1})), "{\"n\":1}");
    }
}
