//! The script inside a prompt: what the model says, step by step.

use crate::protocol::{Turn, Voice};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the model says when no prompt holds a script.
pub const NO_SCRIPT: &str = "No script, no deed.";
/// What the model says when every step of the script is done.
pub const AFTER_THE_SCRIPT: &str = "The script is over.";
/// What the model says to a prompt without a script that follows one with a script.
pub const NOT_FOR_THE_SCRIPT: &str = "Heard, and nothing to do.";

const MARK: &str = "@@";

/// One answer of the model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Step {
    /// Text to say, at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// So many words (`word0 word1 …`), one every `delay` seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow: Option<u32>,
    /// Seconds before each slow word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<f64>,
    /// A gate to stop at in the middle of the answer: what was said so far is on the wire, the rest
    /// comes when the gate is opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold: Option<String>,
    /// A gate to stop at before the first byte of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold_first: Option<String>,
    /// Text behind the gate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<String>,
    /// A tool to call, behind all text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What the tool is given.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub input: Value,
    /// Further tools to call in the same answer, with what each is given. Only an answer that is
    /// streamed has them, as every agent wants its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<(String, Value)>,
    /// Seconds before the first byte of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<f64>,
    /// A status of HTTP to fail with: 429, 500, 529.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub err: Option<u16>,
    /// How often to fail before the rest of the step is done; always, if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    /// Seconds after which a failed request may be repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
    /// The failure is a used-up allowance that comes back at this time (seconds since 1970).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_until: Option<u64>,
    /// How the answer ends.
    pub end: End,
}

/// How an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// As the protocol wants it.
    #[default]
    Proper,
    /// The connection breaks in the middle.
    Cut,
    /// Never, until the client gives up.
    Hang,
    /// At the most that an answer may be long.
    Length,
    /// With the word that the model does not say more to this.
    Refusal,
    /// Before it begins: the conversation is too long for the model.
    TooLong,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    steps: Vec<Step>,
}

/// A prompt that holds these steps.
pub fn prompt(words: &str, steps: &[Step]) -> String {
    format!("{words} {MARK}{}{MARK}", written(steps))
}

fn written(steps: &[Step]) -> String {
    serde_json::json!({ "steps": steps }).to_string()
}

/// A script that the model has by heart, for a prompt that a person could have written.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    /// Words in the prompt.
    pub(crate) cue: String,
    pub(crate) steps: Vec<Step>,
}

/// What is due, and a name for it that stays the same when the same request comes again.
#[derive(Debug, PartialEq)]
pub(crate) struct Due {
    pub(crate) step: Step,
    pub(crate) key: String,
}

/// Says which step is due in a conversation. `Err` holds what is wrong with the script: a test with
/// a slip in it must not pass for a model that has nothing to say.
pub(crate) fn due(turns: &[Turn], parts: &[Part]) -> Result<Due, String> {
    let say = |text: &str| {
        let step = Step { text: Some(text.to_owned()), ..Step::default() };
        Ok(Due { step, key: String::new() })
    };
    let people = |turn: &&Turn| turn.voice == Voice::User && !turn.text.trim().is_empty();
    let mut script = None;
    for (at, turn) in turns.iter().enumerate().filter(|(_, turn)| people(turn)) {
        let by_heart = || parts.iter().find(|part| turn.text.contains(&part.cue));
        let text = between_marks(&turn.text).or_else(|| Some(written(&by_heart()?.steps)));
        script = text.map(|text| (at, text)).or(script);
    }
    let Some((at, text)) = script else { return say(NO_SCRIPT) };
    let after = turns.get(at + 1..).unwrap_or_default();
    let mut steps = read(&text)?;
    if after.iter().any(|turn| people(&turn)) {
        return say(NOT_FOR_THE_SCRIPT);
    }
    let done = after.iter().filter(|turn| turn.voice == Voice::Model).count();
    if done >= steps.len() {
        return say(AFTER_THE_SCRIPT);
    }
    Ok(Due { step: steps.swap_remove(done), key: format!("{done} {text}") })
}

/// The last script in a text.
fn between_marks(text: &str) -> Option<String> {
    let mut found = None;
    let mut rest = text;
    while let Some((_, behind)) = rest.split_once(MARK) {
        let Some((inside, after)) = behind.split_once(MARK) else { break };
        if inside.trim_start().starts_with('{') {
            found = Some(inside.to_owned());
            rest = after;
        } else {
            rest = behind;
        }
    }
    found
}

/// Some agents hand a prompt on inside quotes of their own, with every quote escaped once.
fn read(text: &str) -> Result<Vec<Step>, String> {
    let plain = serde_json::from_str::<Script>(text);
    let script = plain.or_else(|fault| {
        let unescaped = format!("\"{text}\"");
        let inner: String = serde_json::from_str(&unescaped).map_err(|_| fault.to_string())?;
        serde_json::from_str(&inner).map_err(|fault| fault.to_string())
    });
    script.map(|script| script.steps).map_err(|fault: String| format!("{fault}, in: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn turn(voice: Voice, text: &str) -> Turn {
        Turn { voice, text: text.to_owned() }
    }

    fn text_due(turns: &[Turn]) -> String {
        due(turns, &[]).unwrap().step.text.unwrap_or_default()
    }

    fn two() -> Turn {
        turn(Voice::User, r#"go @@{"steps":[{"text":"one"},{"text":"two"}]}@@ please"#)
    }

    #[test]
    fn each_answer_in_the_history_moves_the_script_on() {
        let (model, tool) = (turn(Voice::Model, "one"), turn(Voice::Tool, "result"));
        assert_eq!(text_due(&[two()]), "one");
        assert_eq!(text_due(&[two(), model.clone()]), "two");
        assert_eq!(text_due(&[two(), model.clone(), tool.clone()]), "two");
        assert_eq!(text_due(&[two(), model.clone(), tool, model]), AFTER_THE_SCRIPT);
    }

    #[test]
    fn a_later_prompt_ends_the_script_or_brings_its_own() {
        let plain = turn(Voice::User, "and now?");
        let other = turn(Voice::User, r#"@@{"steps":[{"text":"other"}]}@@"#);
        let model = turn(Voice::Model, "one");
        assert_eq!(text_due(&[two(), model.clone(), plain.clone()]), NOT_FOR_THE_SCRIPT);
        assert_eq!(text_due(&[two(), model, plain, other]), "other");
        assert_eq!(text_due(&[turn(Voice::User, "hello")]), NO_SCRIPT);
    }

    #[test]
    fn what_was_learned_by_heart_follows_its_cue() {
        let step = |text: &str| Step { text: Some(text.to_owned()), ..Step::default() };
        let part = Part { cue: "Sing".to_owned(), steps: vec![step("la"), step("li")] };
        let said = |turns: &[Turn]| due(turns, std::slice::from_ref(&part)).unwrap().step.text;
        let sing = turn(Voice::User, "Sing for us.");
        assert_eq!(said(&[two(), sing.clone()]).as_deref(), Some("la"));
        assert_eq!(said(&[sing.clone(), turn(Voice::Model, "la")]).as_deref(), Some("li"));
        assert_eq!(said(&[sing, two()]).as_deref(), Some("one"));
    }

    #[test]
    fn an_empty_turn_of_the_user_is_no_prompt() {
        assert_eq!(text_due(&[two(), turn(Voice::User, " \n")]), "one");
    }

    #[test]
    fn a_script_survives_the_quotes_of_an_agent() {
        let quoted = json!(two().text).to_string();
        assert_eq!(text_due(&[turn(Voice::User, &quoted)]), "one");
    }

    #[test]
    fn a_slip_in_the_script_is_told() {
        let slip = turn(Voice::User, r#"@@{"steps":[{"txet":"one"}]}@@"#);
        assert!(due(&[slip], &[]).unwrap_err().contains("txet"));
    }

    #[test]
    fn what_is_written_as_a_prompt_is_read_back() {
        let step = Step {
            tool: Some("Bash".to_owned()),
            input: json!({"command": "echo \"@\""}),
            hold: Some("gate".to_owned()),
            ..Step::default()
        };
        let text = prompt("do it", std::slice::from_ref(&step));
        assert_eq!(due(&[turn(Voice::User, &text)], &[]).unwrap().step, step);
    }

    #[test]
    fn marks_that_hold_no_script_are_words() {
        assert_eq!(between_marks("a @@ b @@ c"), None);
        assert_eq!(between_marks("@@ x @@{\"a\":1}@@"), Some("{\"a\":1}".to_owned()));
    }
}
