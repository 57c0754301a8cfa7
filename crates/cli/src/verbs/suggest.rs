//! `auto-yes suggest`: the smallest rules that would have answered what people have allowed lately.

use super::Out;
use crate::control;
use glis_approve::{Request as Asked, Rule, Verdict, Why, barred, commands};
use glis_client::Streamed;
use glis_config::AutoYesConfig;
use glis_core::talk::{ALLOW, ALLOW_FOR_SESSION, DENY};
use glis_core::verdict::Want;
use glis_verbs::Complaint;
use glis_wire::client::{Request, Response};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// So many answers are looked at, the last ones: what was allowed before them is hardly lately.
const ANSWERS_MAX: usize = 1000;

/// What stands where a secret was taken out of an event.
const GONE: &str = "[redacted]";

/// Lists a rule for each command that people have allowed and that no rule reads.
pub(super) fn suggest(config: &AutoYesConfig, out: &Out) -> Result<(), Complaint> {
    let mut answers = Answers::default();
    control::connect()?.call_seeing(Request::Events { from: 1, follow: false }, |streamed| {
        if let Streamed::Words(Response::Event(event)) = streamed {
            answers.note(&event);
        }
        Ok::<(), Complaint>(())
    })?;
    let found = suggestions(config, &answers.given);
    out.document(&found.iter().map(document).collect::<Vec<_>>(), || match found.as_slice() {
        [] => "nothing to suggest: no command that was allowed lately can have a rule".to_owned(),
        some => some.iter().map(in_toml).collect::<Vec<_>>().join("\n\n"),
    })
}

/// What people have said to requests to run a command, oldest first.
#[derive(Default)]
struct Answers {
    /// What is not answered yet: the session and the request, and the line.
    open: BTreeMap<(String, String), String>,
    given: Vec<Answer>,
}

struct Answer {
    line: String,
    allowed: bool,
}

impl Answers {
    fn note(&mut self, event: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let session = text(&event["session"]);
        match event["event"].as_str() {
            Some("asked") => {
                let wants = serde_json::from_value(event["ask"]["wants"].clone());
                if let Ok(Some(Want::Command { line, .. })) = wants {
                    self.open.insert((session, text(&event["ask"]["id"])), line);
                }
            }
            // An answer of the rules is from nobody.
            Some("answer_began") if !event["from"].is_null() => {
                let Some(line) = self.open.remove(&(session, text(&event["ask"]))) else { return };
                let answer = text(&event["answer"]);
                let allowed = [ALLOW, ALLOW_FOR_SESSION].contains(&answer.as_str());
                if allowed || answer == DENY {
                    self.given.push(Answer { line, allowed });
                }
            }
            Some(_) | None => {}
        }
    }
}

/// A rule that is not there yet.
struct Suggestion {
    rule: Rule,
    /// How often a person has allowed what it is about.
    asked: usize,
}

/// The rules for what was allowed and never denied, what was asked most often first.
fn suggestions(config: &AutoYesConfig, given: &[Answer]) -> Vec<Suggestion> {
    let late = given.get(given.len().saturating_sub(ANSWERS_MAX)..).unwrap_or_default();
    let denied: BTreeSet<&str> =
        late.iter().filter(|answer| !answer.allowed).map(|answer| answer.line.as_str()).collect();
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for answer in late.iter().filter(|answer| !denied.contains(answer.line.as_str())) {
        *lines.entry(&answer.line).or_default() += 1;
    }
    let mut found: Vec<Suggestion> = Vec::new();
    for (line, asked) in lines {
        let Some(rule) = rule_for(config, line) else { continue };
        match found.iter_mut().find(|known| known.rule == rule) {
            Some(known) => known.asked += asked,
            None => found.push(Suggestion { rule, asked }),
        }
    }
    found.sort_by_key(|suggestion| Reverse(suggestion.asked));
    found
}

/// The rule that a line lacks, if one is enough and the configuration may hold it.
fn rule_for(config: &AutoYesConfig, line: &str) -> Option<Rule> {
    // What was taken out of a line cannot be asked for.
    if line.contains(GONE) || is_read(config, line) {
        return None;
    }
    let rules = commands(line).ok()?.into_iter();
    let mut rules = rules.filter_map(|command| Rule::literal(&command.words));
    rules.find(|rule| {
        let mut with = config.clone();
        with.rule.push(rule.clone());
        rule.check().is_ok() && barred(rule).is_none() && is_read(&with, line)
    })
}

/// Whether rules read a line whole, so that only its place is left to be looked at.
fn is_read(config: &AutoYesConfig, line: &str) -> bool {
    let told = config.judge().map(|judge| judge.verdict(Asked::Command(line), None));
    told == Ok(Verdict::Manual(Why::NoPlace))
}

fn document(suggestion: &Suggestion) -> Value {
    let Suggestion { rule, asked } = suggestion;
    json!({
        "asked": asked,
        "program": rule.program,
        "arguments": rule.arguments,
        "match": rule.r#match,
        "toml": in_toml(suggestion),
    })
}

/// As the configuration has it. What the lexer reads is printable ASCII, which is written there as in JSON.
fn in_toml(suggestion: &Suggestion) -> String {
    let Suggestion { rule, asked } = suggestion;
    let times = if *asked == 1 { "once".to_owned() } else { format!("{asked} times") };
    format!(
        "# asked {times}\n[[auto_yes.rule]]\nprogram = {}\narguments = {}\nmatch = {}",
        json!(rule.program),
        json!(rule.arguments),
        json!(rule.r#match),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use glis_core::redact::redact;

    fn answer(line: &str, answer: &str) -> [Value; 2] {
        let wants = json!({"command": {"line": line, "folder": "/x"}});
        let asked = json!({"event": "asked", "session": "s", "ask": {"id": line, "wants": wants}});
        let from = json!({"face": "cli", "who": "me"});
        let began = json!({"event": "answer_began", "session": "s", "ask": line, "answer": answer, "from": from});
        [asked, began]
    }

    fn told(config: &str, given: &[(&str, &str)]) -> Vec<String> {
        let mut answers = Answers::default();
        for event in given.iter().flat_map(|(line, said)| answer(line, said)) {
            answers.note(&event);
        }
        let config = glis_config::Config::parse(config).unwrap().auto_yes;
        let found = suggestions(&config, &answers.given);
        let text = found.iter().map(in_toml).collect::<Vec<_>>().join("\n");
        // What is suggested is a configuration, and one that is used.
        assert!(glis_config::Config::parse(&text).is_ok(), "{text}");
        assert_eq!(glis_config::unused(&text), []);
        found.iter().map(|one| format!("{} {}", one.asked, json!(one.rule.r#match))).collect()
    }

    #[test]
    fn what_a_person_allowed_is_suggested_to_the_word() {
        let given = [
            ("cargo run --bin x", ALLOW),
            ("cargo run --bin x 2>&1 | tail -5", ALLOW_FOR_SESSION),
            ("black --check 'a b'", ALLOW),
            ("ls && make deploy", ALLOW),
        ];
        assert_eq!(
            told("", &given),
            [r#"2 ["cargo run --bin x"]"#, r#"1 ["black --check 'a b'"]"#, r#"1 ["make deploy"]"#,]
        );
    }

    #[test]
    fn nothing_is_suggested_that_was_denied_is_answered_or_may_not_be_a_rule() {
        for line in [
            "cat a.txt | head -5",
            "cat /etc/passwd",
            "bash -c id",
            "python3 a.py",
            "npm exec x",
            "docker run x",
            "find . -exec id",
            "git -C x status",
            "touch /etc/x",
            "a | b",
            "a && b",
            "a; b",
            "a > b",
            &redact(&format!("curl -H 'ghp_{}'", "a1".repeat(20))),
        ] {
            assert_eq!(told("", &[(line, ALLOW)]), [""; 0], "{line}");
        }
        assert_eq!(told("", &[("touch a", ALLOW), ("touch a", DENY), ("touch a", ALLOW)]), [""; 0]);
        assert_eq!(told("[auto_yes]\nsets = [\"cargo\"]\n", &[("cargo test", ALLOW)]), [""; 0]);
        assert_eq!(told("", &[("cargo test", ALLOW)]), [r#"1 ["cargo test"]"#]);
        let mut answers = Answers::default();
        let [asked, mut began] = answer("touch a", ALLOW);
        began["from"] = Value::Null;
        answers.note(&asked);
        answers.note(&began);
        assert!(answers.given.is_empty(), "rules have answered that");
    }
}
