//! A house with two sessions whose daemon dies in the middle of calls, and which knows what was right.

use super::network::Network;
use super::random::Random;
use super::{GROUP, Killed, USERS, now};
use crate::bot::Bot;
use crate::desk::{Caller, Desk, who};
use crate::words;
use glis_client::{Fault, News};
use glis_core::Refusal;
use glis_wire::client::{Action, Request, Response};
use glis_wire::view::{DaemonView, Entry, FileDiffView, SessionView, Voice};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

#[derive(Default)]
struct Session {
    generation: u32,
    /// What is open: the request's name, and its words, which are never the same again.
    asks: Vec<(String, String)>,
    asked: u32,
    /// It asks questions, and not for approval.
    is_curious: bool,
    actions: u32,
    entries: Vec<Entry>,
    /// What the agent has said, with the time.
    said: Vec<String>,
    /// What it is saying, while it is at work.
    saying: Option<String>,
}

/// What an update may do.
struct Expected {
    user: i64,
    allowed: bool,
    text: String,
}

#[derive(Default)]
struct State {
    sessions: [Session; 2],
    events: Vec<Value>,
    keys: BTreeMap<String, Result<Response, Fault>>,
    expected: BTreeMap<i64, Expected>,
    pressed: BTreeMap<i64, String>,
    /// Messages that agents were given, with their key and whose they are.
    sent: Vec<(String, String, usize)>,
    answered: Vec<String>,
    /// How many sessions were put away.
    archived: usize,
    faults: u64,
    number: u32,
    well: bool,
    is_shut: bool,
    /// Asks something while its conversation is read, when what happens is told in no chat yet.
    asks_unheard: Option<usize>,
}

pub(super) struct House {
    random: Mutex<Random>,
    state: Mutex<State>,
}

/// A session as every look shows it: read once, since a look is what happens most often here.
static BLANK: OnceLock<SessionView> = OnceLock::new();

pub(super) struct Line(pub(super) Arc<House>);

fn time() -> String {
    let at = jiff::Timestamp::from_millisecond(now()).unwrap();
    at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// The update that a call is for: its key says so.
fn update_of(key: &str) -> &str {
    key.split('-').nth(2).unwrap_or_default()
}

fn done(session: SessionView) -> Response {
    Response::Done { session: Box::new(session), already: false }
}

impl State {
    fn view(&self, at: usize) -> SessionView {
        let session = &self.sessions[at];
        let mut view = BLANK.get_or_init(|| words::tests::session("s", "idle")).clone();
        view.name = format!("s{at}");
        view.id = format!("id-{}", view.name);
        view.generation = session.generation;
        view.last_action = Some(format!("thing {}", session.actions));
        view.saying.clone_from(&session.saying);
        if self.is_shut {
            view.status = glis_core::Status::Suspended;
        }
        if session.saying.is_some() {
            view.status = glis_core::Status::Busy;
        }
        if !session.asks.is_empty() {
            view.status = glis_core::Status::Waiting;
            let asks = session.asks.iter().map(|(request, text)| {
                let kind = if session.is_curious { "question" } else { "approval" };
                json!({"request": request, "kind": kind, "text": text, "choices": null})
            });
            view.asks = serde_json::from_value(asks.collect()).unwrap();
        }
        view
    }

    fn event(&mut self, at: usize, mut event: Value) {
        event["seq"] = json!(self.events.len() + 1);
        event["at"] = json!(time());
        event["session"] = json!(format!("id-s{at}"));
        self.events.push(event);
    }

    fn find(given: &str) -> Option<usize> {
        (0..2).find(|at| given == format!("s{at}") || given == format!("id-s{at}"))
    }

    /// Carries a call out. Who may not is caught here.
    fn carry_out(&mut self, caller: &Caller, request: &Request) -> Result<Response, Fault> {
        let Request::Act { session, action } = request else {
            panic!("not asked for by anyone: {request:?}");
        };
        let id: i64 = update_of(&caller.key).parse().unwrap();
        let expected = &self.expected[&id];
        assert!(expected.allowed && expected.user == caller.user, "for a stranger: {caller:?}");
        let at = Self::find(session).unwrap();
        if let Action::Send { text, files } = action {
            assert_eq!(expected.text, *text, "other words than were said");
            for file in files {
                let content = std::fs::read_to_string(file).unwrap();
                assert_eq!(content, super::network::content(&format!("file {id}")));
            }
            self.sent.push((update_of(&caller.key).to_owned(), text.clone(), at));
            let (session, status) = (Box::new(self.view(at)), glis_core::Status::Idle);
            return Ok(Response::Queued {
                session,
                message: 1,
                before: 0,
                status,
                idle_secs: None,
            });
        }
        if let Action::Remove { .. } = action {
            self.archived += 1;
            return Ok(done(self.view(at)));
        }
        let Action::Answer { ask: Some(ask), answer, .. } = action else {
            assert!(matches!(action, Action::Pause { .. }), "not asked for by anyone: {action:?}");
            return Ok(done(self.view(at)));
        };
        let open = self.sessions[at].asks.iter().position(|(name, _)| name == ask);
        let Some(open) = open else {
            let session = session.clone();
            return Err(Fault::Refused(Refusal::NothingAsked { session }));
        };
        let (request, text) = self.sessions[at].asks.remove(open);
        let shown = &self.pressed[&id];
        // A part is enough for a no.
        let is_no = answer == "deny" && shown.contains("Not all of it is shown");
        assert!(is_no || shown.contains(&text), "answered {text:?}, and the card said {shown:?}");
        assert!(!self.answered.contains(&text), "answered twice: {text}");
        self.answered.push(text);
        let from = json!({"face": "chat", "who": who(caller.user)});
        let began =
            json!({"event": "answer_began", "ask": request, "answer": answer, "from": from});
        self.event(at, began);
        self.event(at, json!({"event": "ask_gone", "ask": request}));
        Ok(done(self.view(at)))
    }
}

impl House {
    pub(super) fn new(seed: u64) -> Self {
        Self { random: Mutex::new(Random::new(seed ^ 0xaaaa)), state: Mutex::default() }
    }

    fn below(&self, most: usize) -> usize {
        self.random.lock().unwrap().below(most)
    }

    pub(super) fn expect(&self, id: i64, user: i64, allowed: bool, text: &str) {
        let expected = Expected { user, allowed, text: text.to_owned() };
        self.state.lock().unwrap().expected.insert(id, expected);
    }

    pub(super) fn pressed(&self, id: i64, card: String) {
        self.state.lock().unwrap().pressed.insert(id, card);
    }

    pub(super) fn say(&self, at: usize) {
        let mut state = self.state.lock().unwrap();
        state.number += 1;
        let text = format!("<final {at}/{}>", state.number);
        let entry = |voice, content: &str| Entry {
            timestamp: time(),
            voice,
            content: content.to_owned(),
            metadata: serde_json::Map::new(),
        };
        let session = &mut state.sessions[at];
        session.saying = None;
        session.actions += 1;
        session.entries.push(entry(Voice::Tool, "Bash: ls"));
        session.entries.push(entry(Voice::Assistant, &text));
        session.said.push(text);
        state.event(at, json!({"event": "tool_began", "tool": "Bash"}));
        state.event(at, json!({"event": "turn_ended"}));
        state.event(at, json!({"event": "worktree_saved"}));
    }

    /// An agent uses a tool.
    pub(super) fn work(&self, at: usize) {
        self.begin_work(at);
        self.write(at, Voice::Tool, "Bash: ls");
    }

    /// An agent uses a tool that does not stand in its conversation yet.
    pub(super) fn begin_work(&self, at: usize) {
        let mut state = self.state.lock().unwrap();
        let session = &mut state.sessions[at];
        session.actions += 1;
        session.saying = Some(String::new());
        state.event(at, json!({"event": "tool_began", "tool": "Bash"}));
    }

    /// An agent says something, and is not done with it.
    pub(super) fn speak(&self, at: usize) {
        let mut state = self.state.lock().unwrap();
        let session = &mut state.sessions[at];
        let began = session.saying.is_none();
        session.saying.get_or_insert_default().push_str("and then ");
        if began {
            state.event(at, json!({"event": "turn_began"}));
        }
    }

    /// An agent says something within its turn.
    pub(super) fn explain(&self, at: usize, text: &str) {
        self.write(at, Voice::Assistant, text);
    }

    fn write(&self, at: usize, voice: Voice, text: &str) {
        let (content, metadata) = (text.to_owned(), serde_json::Map::new());
        let entry = Entry { timestamp: time(), voice, content, metadata };
        self.state.lock().unwrap().sessions[at].entries.push(entry);
    }

    pub(super) fn ask(&self, at: usize) {
        self.ask_with(at, "");
    }

    /// Asks a question with these words behind it.
    pub(super) fn wonder(&self, at: usize, more: &str) {
        self.state.lock().unwrap().sessions[at].is_curious = true;
        self.ask_with(at, more);
    }

    /// Asks something with these words behind it.
    pub(super) fn ask_with(&self, at: usize, more: &str) {
        let mut state = self.state.lock().unwrap();
        state.number += 1;
        let number = state.number;
        let session = &mut state.sessions[at];
        if session.asks.len() >= 3 {
            return;
        }
        session.asked += 1;
        let request = format!("ask-{}", session.asked);
        session.asks.push((request.clone(), format!("may I {number}?{more}")));
        state.event(at, json!({"event": "asked", "ask": {"id": request}}));
    }

    /// Asks while somebody switches to it: the event has passed before that is written down.
    pub(super) fn ask_unheard(&self, at: usize) {
        self.state.lock().unwrap().asks_unheard = Some(at);
    }

    pub(super) fn answer_elsewhere(&self, at: usize) {
        let mut state = self.state.lock().unwrap();
        let Some((request, text)) = state.sessions[at].asks.pop() else { return };
        state.answered.push(text);
        state.event(at, json!({"event": "ask_gone", "ask": request}));
    }

    /// A new process: the names of questions come again.
    pub(super) fn restart(&self, at: usize) {
        let mut state = self.state.lock().unwrap();
        let session = &mut state.sessions[at];
        session.generation += 1;
        session.asks.clear();
        session.asked = 0;
        session.saying = None;
        state.event(at, json!({"event": "process_ended"}));
    }

    pub(super) fn event(&self, seq: u64) -> Option<News> {
        let state = self.state.lock().unwrap();
        let at = usize::try_from(seq).unwrap().checked_sub(1)?;
        Some(News::Event { seq, event: state.events.get(at)?.clone() })
    }

    pub(super) fn sent(&self) -> Vec<String> {
        self.state.lock().unwrap().sent.iter().map(|(_, text, _)| text.clone()).collect()
    }

    /// Which session was told something last.
    pub(super) fn told_last(&self) -> Option<usize> {
        self.state.lock().unwrap().sent.last().map(|(_, _, at)| *at)
    }

    pub(super) fn answered(&self) -> usize {
        self.state.lock().unwrap().answered.len()
    }

    pub(super) fn archived(&self) -> usize {
        self.state.lock().unwrap().archived
    }

    pub(super) fn faults(&self) -> u64 {
        self.state.lock().unwrap().faults
    }

    pub(super) fn shut(&self) {
        self.state.lock().unwrap().is_shut = true;
    }

    pub(super) fn be_well(&self) {
        self.state.lock().unwrap().well = true;
    }

    /// Whether a call goes wrong: before it has any effect, or after.
    fn dies(&self) -> Option<bool> {
        let roll = self.below(24);
        let mut state = self.state.lock().unwrap();
        if state.well || roll > 5 {
            return None;
        }
        state.faults += 1;
        drop(state);
        match roll {
            0 => std::panic::panic_any(Killed),
            1 | 2 => Some(false),
            _ => Some(true),
        }
    }

    fn lost() -> Fault {
        Fault::Lost("the daemon was killed".to_owned())
    }

    /// What must hold when everything is well again. How many texts and answers there were.
    pub(super) fn check(&self, network: &Network, bot: &Bot, seed: u64) -> (usize, usize) {
        let state = self.state.lock().unwrap();
        let mut texts = 0;
        for (at, session) in state.sessions.iter().enumerate() {
            for chat in USERS.into_iter().chain([GROUP]) {
                let words = network.words_of(chat).join("\n");
                let first = session.said.iter().position(|text| words.contains(text.as_str()));
                let Some(first) = first else { continue };
                // From the first one that this chat was told, it was told all, in order.
                let mut last = 0;
                for text in &session.said[first..] {
                    let found = words.find(text.as_str());
                    let found = found.unwrap_or_else(|| {
                        panic!("seed {seed}: {text} of s{at} never came to {chat}")
                    });
                    assert!(found >= last, "seed {seed}: {text} came before its time");
                    last = found;
                    texts += 1;
                }
            }
            for follow in bot.store().look().follows_of(&format!("id-s{at}")).unwrap() {
                let words = network.words_of(follow.chat).join("\n");
                for (_, text) in &session.asks {
                    assert!(words.contains(text.as_str()), "seed {seed}: {text} was never shown");
                }
            }
        }
        let mut keys: Vec<&String> = state.sent.iter().map(|(key, ..)| key).collect();
        let all = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), all, "seed {seed}: a message was sent twice");
        assert_eq!(network.early(), 0, "seed {seed}: requests during a ban");
        assert_eq!(network.previews(), 0, "seed {seed}: a picture stays");
        (texts, state.answered.len())
    }
}

impl Desk for Line {
    fn call(&self, caller: &Caller, request: Request) -> Result<Response, Fault> {
        let dies = self.0.dies();
        if dies == Some(false) {
            return Err(House::lost());
        }
        let mut state = self.0.state.lock().unwrap();
        let answer = if let Request::Show { session } | Request::Wait { session, .. } = &request {
            match State::find(session) {
                Some(at) => Ok(Response::Session(Box::new(state.view(at)))),
                None => Err(Fault::Refused(Refusal::NoSuchSession { given: session.clone() })),
            }
        } else if let Request::List { .. } = &request {
            Ok(Response::Sessions { rows: vec![state.view(0).row, state.view(1).row], more: 0 })
        } else if request == Request::DaemonStatus {
            let daemon: DaemonView = serde_json::from_value(json!({
                "pid": 1, "version": "0", "build": 0, "home": "/", "sessions": 2,
                "uptime_secs": 1, "log_id": "log", "last_seq": state.events.len(),
                "gate": if state.is_shut { "paused" } else { "running" },
            }))
            .unwrap();
            Ok(Response::Daemon(daemon))
        } else if let Some(known) = state.keys.get(&caller.key) {
            known.clone()
        } else {
            let answer = state.carry_out(caller, &request);
            state.keys.insert(caller.key.clone(), answer.clone());
            answer
        };
        drop(state);
        match dies {
            Some(_) if self.0.below(3) == 0 => std::panic::panic_any(Killed),
            Some(_) => Err(House::lost()),
            None => answer,
        }
    }

    fn conversation(&self, session: &str) -> Result<Vec<Entry>, Fault> {
        if self.0.dies().is_some() {
            return Err(House::lost());
        }
        let mut state = self.0.state.lock().unwrap();
        if let Some(at) = state.asks_unheard.take() {
            state.sessions[at].asks.push(("ask-unheard".to_owned(), "may I, unheard?".to_owned()));
        }
        Ok(state.sessions[State::find(session).unwrap()].entries.clone())
    }

    fn diff(&self, _: &str) -> Result<(Vec<FileDiffView>, String), Fault> {
        Ok((Vec::new(), String::new()))
    }
}
