//! The built-in rehearsal agent: JSON lines on its streams, or a terminal and a transcript in the
//! same words.

use crate::agent::Agent;
use crate::dialect::{Dialect, ENTER, Interrupt, Shown, Source, pastable, pasted, reads_alike};
use crate::heard::{Heard, Outcome, Said, Tally, Usage};
use crate::hearing::{self, json_line as line};
use crate::launch::{Approach, LaunchPlan, Places};
use crate::lines::Lines;
use crate::storage::FileLocation;
use crate::wants::said_with;
use glis_core::AskId;
use glis_core::input::Sign;
use glis_core::session::Session;
use glis_core::spec::{Mode, RefOrigin, SignSource, Takes, Traits};
use glis_core::talk::{ALLOW, Ask, AskKind, DENY};
use glis_core::verdict::Want;
use glis_wire::view::Voice;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;

const ESCAPE: u8 = 0x1b;
/// What its prompt begins with, and what it shows there for a newline.
const PROMPT: &str = ">";
const NEWLINE: &str = "\u{21b5}";
/// How it says that a turn was broken off.
const INTERRUPTED: &str = "interrupted";
/// The end of a turn that met a usage limit.
const LIMITED: &str = "limit";
/// The end of a turn that came to nothing.
const FAILED: &str = "failed";
/// What it does when it asks for permission, where others use a tool.
const APPROVE: &str = "approve";

pub(crate) struct Rehearsal;

impl Agent for Rehearsal {
    fn traits(&self, _mode: Mode, argv: &[String]) -> Traits {
        // An agent that is told to be slow or silent about its id plays one that chooses its own.
        let learns = argv.iter().any(|a| a.starts_with("late-id") || a == "never-id");
        let refs = if learns { RefOrigin::Learned } else { RefOrigin::Chosen };
        Traits { refs, signs: SignSource::Structured, takes: Takes::WhenIdle }
    }

    fn check(&self, _mode: Mode, _argv: &[String]) -> Result<(), String> {
        Ok(())
    }

    fn takes_instructions(&self) -> bool {
        // It heeds none, but what is rehearsed is a session that has them.
        true
    }

    fn tells_cost(&self, _mode: Mode) -> bool {
        true
    }

    fn launch(&self, session: &Session, how: Approach, places: &Places) -> LaunchPlan {
        let mut argv = vec![places.own_program.clone(), "rehearse".to_owned()];
        let mut option = |name: &str, value: &str| {
            argv.push(name.to_owned());
            argv.push(value.to_owned());
        };
        match (&session.agent.agent_ref, how) {
            (Some(id), Approach::Resume) => option("--resume", id),
            (Some(id), Approach::Fresh) => option("--session-id", id),
            (None, _) => {}
        }
        if let Some(model) = &session.spec.model {
            option("--model", model);
        }
        if session.spec.mode == Mode::Headless {
            argv.push("--headless".to_owned());
        }
        argv.extend(session.spec.argv.iter().cloned());
        let env = vec![("GLIS_REHEARSAL_DIR".to_owned(), places.rehearsal.clone())];
        LaunchPlan { argv, env, ..LaunchPlan::default() }
    }

    fn transcript(&self, agent_ref: &str, places: &Places) -> Option<FileLocation> {
        Some(FileLocation::At(format!("{}/{agent_ref}.jsonl", places.rehearsal)))
    }

    fn dialect(&self, mode: Mode) -> Box<dyn Dialect> {
        let (stream, transcript) = (Lines::default(), Lines::default());
        Box::new(Rehearsing {
            mode,
            stream,
            transcript,
            asks: BTreeMap::new(),
            tools: BTreeMap::new(),
            in_the_way: String::new(),
        })
    }
}

struct Rehearsing {
    mode: Mode,
    stream: Lines,
    transcript: Lines,
    /// What it asks permission for, by the name of the question.
    asks: BTreeMap<String, String>,
    /// Tools that are under way, by their ids: what they are called and what they were given.
    tools: BTreeMap<String, (String, String)>,
    /// What came in the way of the turn: when a limit ends, or an error in words.
    in_the_way: String,
}

/// One line of the rehearsal agent, in its stream or in its transcript.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Record {
    Session {
        id: String,
    },
    Ready,
    Resumed,
    User {
        text: String,
    },
    TurnStarted,
    Text {
        text: String,
    },
    ToolStarted {
        id: String,
        tool: String,
        input: serde_json::Value,
    },
    ToolEnded {
        id: String,
        #[serde(default = "well")]
        ok: bool,
    },
    Background {
        running: u32,
    },
    Ask {
        id: String,
        kind: AskKind,
        text: String,
        folder: Option<String>,
    },
    AskGone {
        id: String,
        answer: Option<String>,
    },
    Todo {
        items: Vec<String>,
    },
    Cost {
        usd: f64,
    },
    Limit {
        reset_at: String,
    },
    Fault {
        message: String,
    },
    TurnEnded {
        #[serde(default)]
        result: String,
    },
    Error {
        message: String,
    },
}

impl Rehearsing {
    fn understand(&mut self, lines: Vec<(u64, Vec<u8>)>) -> Vec<Heard> {
        lines.into_iter().flat_map(|(at, line)| self.meaning(at, &line)).collect()
    }

    /// A line that is no word of the agent's is noise: garbage in a stream loses nothing else.
    fn meaning(&mut self, at: u64, line: &[u8]) -> Vec<Heard> {
        let Ok(line) = serde_json::from_slice::<Record>(line) else { return Vec::new() };
        if let Record::Ask { id, kind: AskKind::Approval, text, .. } = &line {
            self.asks.insert(id.clone(), text.clone());
        }
        let mut denied = None;
        if let Record::AskGone { id, answer } = &line {
            denied = self.asks.remove(id).filter(|_| answer.as_deref() == Some(DENY));
        }
        if let Record::ToolStarted { id, tool, input } = &line {
            self.tools.insert(id.clone(), (tool.clone(), given(input)));
        }
        let mut failed = None;
        if let Record::ToolEnded { id, ok } = &line {
            failed = self.tools.remove(id).filter(|_| !ok);
        }
        if let Record::Limit { reset_at: told } | Record::Fault { message: told } = &line {
            self.in_the_way.clone_from(told);
        }
        let mut heard = meaning(at, line);
        if let Some(Sign::TurnLimited { reset_at: told } | Sign::TurnFailed(told)) =
            heard.last_mut().and_then(|last| last.sign.as_mut())
        {
            *told = std::mem::take(&mut self.in_the_way);
        }
        if let (Some((tool, content)), Some(last)) = (failed, heard.last_mut()) {
            last.said = Some(Said::failed(&tool, content));
        }
        if let (Some(text), Some(last)) = (denied, heard.last_mut()) {
            last.said = Some(Said::denied(APPROVE, text));
        }
        heard
    }
}

fn meaning(at: u64, line: Record) -> Vec<Heard> {
    let sign = |sign| vec![Heard { at, sign: Some(sign), said: None }];
    match line {
        Record::Session { id } => sign(Sign::RefKnown(id)),
        Record::Ready => sign(Sign::Ready),
        Record::Resumed => Vec::new(),
        Record::User { text } => {
            let sign = Some(Sign::TookMessage { text: Some(text.clone()) });
            vec![Heard { at, sign, said: Some(Said::new(Voice::User, text)) }]
        }
        Record::TurnStarted => sign(Sign::TurnBegan),
        Record::Text { text } => {
            vec![Heard { at, sign: None, said: Some(Said::new(Voice::Assistant, text)) }]
        }
        Record::ToolStarted { id, tool, input } => {
            let content = given(&input);
            let what = hearing::what(&tool, &content);
            let new = input.get("new").or_else(|| input.get("text"));
            let texts =
                json!({"file_path": input["path"], "old_string": input["old"], "new_string": new});
            let edit = new.and_then(|_| hearing::edit(&texts));
            let said = Said { edit, ..Said::tool(&tool, content) };
            vec![Heard { at, sign: Some(Sign::ToolBegan { tool: id, what }), said: Some(said) }]
        }
        Record::ToolEnded { id, .. } => sign(Sign::ToolEnded(id)),
        Record::Background { running } => sign(Sign::Background(running)),
        Record::Ask { id, kind, text, folder } => {
            let (wants, input) = (wants(&text, folder), beside(kind, &text));
            let text = if input.is_some() { text.split(" | ").next() } else { Some(&*text) };
            let ask = Ask::new(AskId(id), kind, text.unwrap_or_default()).wanting(wants);
            sign(Sign::Asked(said_with(ask, &input.unwrap_or_default())))
        }
        Record::AskGone { id, .. } => sign(Sign::AskGone(AskId(id))),
        Record::Todo { items } => {
            let mut said = Said::new(Voice::Assistant, format!("To do: {}", items.join("; ")));
            let (pending, tally) = counted(items);
            (said.pending, said.tally) = (Some(pending), Some(tally));
            vec![Heard { at, sign: None, said: Some(said) }]
        }
        Record::Cost { usd } => {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "told as such"
            )]
            let cost_micros = Some((usd * 1e6).round() as u64);
            let usage = Usage { cost_micros, ..Usage::default() };
            let said = Said { usage: Some(usage), ..Said::new(Voice::System, "the bill") };
            vec![Heard { at, sign: None, said: Some(said) }]
        }
        Record::Limit { reset_at } => sign(Sign::LimitReached { reset_at }),
        Record::Fault { message } => {
            vec![Heard { at, sign: None, said: Some(Said::new(Voice::System, message)) }]
        }
        Record::TurnEnded { result } if result == INTERRUPTED => {
            let said = Said { outcome: Some(Outcome::Interrupted), ..Said::new(Voice::System, "") };
            vec![Heard { at, sign: Some(Sign::TurnCut), said: Some(said) }]
        }
        Record::TurnEnded { result } if result == LIMITED => {
            sign(Sign::TurnLimited { reset_at: String::new() })
        }
        Record::TurnEnded { result } if result == FAILED => sign(Sign::TurnFailed(String::new())),
        Record::TurnEnded { .. } => sign(Sign::TurnEnded),
        Record::Error { message } => sign(Sign::RefRejected(message)),
    }
}

/// Older lines do not tell how a tool ended.
fn well() -> bool {
    true
}

/// What a tool was given, for a person.
fn given(input: &serde_json::Value) -> String {
    input.as_str().map_or_else(|| input.to_string(), ToOwned::to_owned)
}

/// What of a list is to do, and how far it is: `[x]` before an item says that it is done, `[~]` that it
/// is worked on.
fn counted(items: Vec<String>) -> (Vec<String>, Tally) {
    let status = |item: &String| match item.split_whitespace().next() {
        Some("[x]") => "completed",
        Some("[~]") => "in_progress",
        Some(_) | None => "open",
    };
    let tally = Tally::of(items.iter().map(status));
    (items.into_iter().filter(|item| status(item) != "completed").collect(), tally)
}

/// What it wants to do, by the words that it asks with.
fn wants(text: &str, folder: Option<String>) -> Option<Want> {
    if let Some(line) = text.strip_prefix("run ") {
        return Some(Want::Command { line: line.to_owned(), folder });
    }
    let path = text.strip_prefix("edit ")?.split(" | ").next()?;
    Some(Want::Edit { paths: vec![path.to_owned()] })
}

/// What it says with a question: the text of an edit, as in `edit PATH | FORMER | NEW`, or what can be
/// chosen, as in `Which colour | red | blue`.
fn beside(kind: AskKind, text: &str) -> Option<serde_json::Value> {
    let mut parts = text.split(" | ");
    let first = parts.next()?;
    if kind == AskKind::Approval {
        let (path, former, new) = (first.strip_prefix("edit ")?, parts.next()?, parts.next()?);
        return Some(json!({"file_path": path, "old_string": former, "new_string": new}));
    }
    let options: Vec<_> = parts.map(|label| json!({"label": label})).collect();
    let question = json!({"question": first, "options": options});
    (!options.is_empty()).then(|| json!({"questions": [question]}))
}

/// What stands at the prompt on its screen, if that shows one.
fn typed(lines: &[String]) -> Option<&str> {
    let last = lines.iter().rev().find(|line| !line.is_empty())?;
    last.strip_prefix(PROMPT).map(str::trim)
}

impl Dialect for Rehearsing {
    fn hear(&mut self, offset: u64, bytes: &[u8]) -> Vec<Heard> {
        match self.mode {
            Mode::Headless => {
                let lines = self.stream.feed(offset, bytes);
                self.understand(lines)
            }
            Mode::Terminal => Vec::new(),
        }
    }

    fn read(&mut self, offset: u64, bytes: &[u8]) -> Vec<Heard> {
        if offset == 0 {
            self.transcript = Lines::default();
        }
        let lines = self.transcript.feed(offset, bytes);
        self.understand(lines)
    }

    fn say(&self, text: &str) -> Vec<u8> {
        match self.mode {
            Mode::Terminal => pasted(text),
            Mode::Headless => line(&json!({"type": "user", "text": text})),
        }
    }

    fn interrupt(&self) -> Interrupt {
        Interrupt::Bytes(match self.mode {
            Mode::Terminal => vec![ESCAPE],
            Mode::Headless => line(&json!({"type": "interrupt"})),
        })
    }

    fn answer(&self, ask: &Ask, answer: &str) -> Result<Vec<u8>, String> {
        Ok(match (self.mode, ask.kind, answer) {
            (Mode::Headless, _, _) => {
                line(&json!({"type": "answer", "id": ask.id.0, "answer": answer}))
            }
            (Mode::Terminal, AskKind::Approval, ALLOW) => b"y".to_vec(),
            (Mode::Terminal, AskKind::Approval, _) => b"n".to_vec(),
            (Mode::Terminal, AskKind::Question | AskKind::Doubt, text) => {
                [&pasted(text), ENTER].concat()
            }
        })
    }

    fn shows(&self, lines: &[String]) -> Shown {
        match (self.mode, typed(lines)) {
            (Mode::Terminal, Some("")) => Shown::Prompt,
            (Mode::Terminal, Some(_)) => Shown::Draft,
            (Mode::Terminal, None) | (Mode::Headless, _) => Shown::Other,
        }
    }

    fn holds(&self, text: &str, lines: &[String]) -> bool {
        let text = pastable(text).replace('\r', NEWLINE);
        typed(lines).is_some_and(|typed| reads_alike(typed, &text))
    }

    fn source(&self) -> Source {
        match self.mode {
            Mode::Terminal => Source::Transcript,
            Mode::Headless => Source::Stream,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_heard_between_garbage_and_each_has_its_place() {
        let mut dialect = Rehearsal.dialect(Mode::Headless);
        let heard = dialect.hear(
            10,
            b"\xff\xfe noise\n{\"type\":\"session\",\"id\":\"a\",\"n\":1}\n{\"type\":\"user\",\"text\":\"hi\"}\n",
        );
        assert_eq!(heard.len(), 2);
        assert_eq!(heard[0].sign, Some(Sign::RefKnown("a".to_owned())));
        assert_eq!(heard[1].sign, Some(Sign::TookMessage { text: Some("hi".to_owned()) }));
        assert!(heard[0].at < heard[1].at && heard[0].at > 10);
    }

    #[test]
    fn a_terminal_is_listened_to_through_its_transcript() {
        let mut dialect = Rehearsal.dialect(Mode::Terminal);
        let words = b"{\"type\":\"turn_started\"}\n";
        assert!(dialect.hear(0, words).is_empty());
        assert_eq!(dialect.read(0, words)[0].sign, Some(Sign::TurnBegan));
    }
}
