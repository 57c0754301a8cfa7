//! Questions that an agent asks with what may be answered to each, in its own form.

use glis_core::talk::AskKind;
use glis_wire::view::WaitingFor;
use serde_json::Value;

/// One question of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Listed<'a> {
    pub question: &'a str,
    /// What it is about, in a word or two.
    pub header: Option<&'a str>,
    pub options: Vec<Offered<'a>>,
    /// Whether more than one of that may be.
    pub takes_several: bool,
}

/// Something that may be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Offered<'a> {
    pub label: &'a str,
    pub about: Option<&'a str>,
}

/// What it asks, as the agent lists it: one question, or a form of several.
pub fn questions(ask: &WaitingFor) -> Vec<Listed<'_>> {
    let all = ask.input.as_ref().and_then(|input| input.get("questions")?.as_array());
    let all = all.into_iter().flatten().filter(|_| ask.kind == AskKind::Question);
    all.map(listed).collect()
}

fn listed(question: &Value) -> Listed<'_> {
    let options = question.get("options").and_then(Value::as_array).into_iter().flatten();
    let offered = |option| {
        Some(Offered { label: text(option, "label")?, about: text(option, "description") })
    };
    Listed {
        question: text(question, "question").unwrap_or_default(),
        header: text(question, "header"),
        options: options.filter_map(offered).collect(),
        takes_several: question.get("multiSelect") == Some(&Value::Bool(true)),
    }
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str().filter(|text| !text.is_empty())
}
