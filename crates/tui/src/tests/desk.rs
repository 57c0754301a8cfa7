//! A model to play with: keys go in, what is to be done and what is shown come out.

use super::session;
use crate::chord::Chord;
use crate::input::Input;
use crate::keymap::{KeyMap, Keys};
use crate::message::{Effect, Listed, Msg, News, Now, Seen};
use crate::model::{Folders, Model};
use crate::theme::{Depth, Ground, Theme};
use crate::update::{painted, update};
use crate::view;
use glis_core::Status;
use glis_wire::client::{Action, Request};
use glis_wire::view::SessionRow;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use std::collections::BTreeMap;
use unicode_width::UnicodeWidthStr as _;

/// Five minutes after the sessions were last active.
const BEGIN: Now = Now { ms: 0, wall_secs: 1_767_225_900 };

/// A model, and the clock that it is told.
pub(super) struct Desk {
    pub(super) model: Model,
    now: Now,
}

impl Desk {
    pub(super) fn new(sessions: Vec<SessionRow>) -> Self {
        Self::with(sessions, (80, 24), Ground::Dark)
    }

    pub(super) fn with(sessions: Vec<SessionRow>, size: (u16, u16), ground: Ground) -> Self {
        let model = Model {
            size,
            theme: Theme { depth: Depth::Indexed, ground },
            keys: KeyMap::with(&Keys::new()).unwrap(),
            folders: Folders {
                here: Some("/home/ada/src/app".to_owned()),
                home: Some("/home/ada".to_owned()),
            },
            ..Model::new(BEGIN, BTreeMap::new())
        };
        let mut desk = Self { model, now: BEGIN };
        desk.tell(Msg::Listed(Listed {
            sessions,
            more: 0,
            last_seq: 7,
            gate: "running".to_owned(),
        }));
        desk.pass(100);
        desk
    }

    /// One message, painted, and what is to be done for it.
    pub(super) fn tell(&mut self, msg: Msg) -> Vec<Effect> {
        let effects = self.take(msg);
        painted(&mut self.model);
        effects
    }

    /// One message of several that are painted together.
    fn take(&mut self, msg: Msg) -> Vec<Effect> {
        let mut effects = update(&mut self.model, self.now, msg);
        // What is looked up beside is no part of any story.
        let is_beside =
            |one: &Effect| matches!(one, Effect::CountChanges { .. } | Effect::FindBase { .. });
        effects.retain(|effect| !is_beside(effect));
        effects
    }

    /// Time passes.
    pub(super) fn pass(&mut self, ms: u64) -> Vec<Effect> {
        self.now.ms += ms;
        self.tell(Msg::Time)
    }

    /// Keys as they are written, each painted; what is no key are letters that come at once.
    pub(super) fn press(&mut self, keys: &str) -> String {
        let mut told = Vec::new();
        for word in keys.split(' ') {
            told.extend(self.typed(word).iter().filter_map(describe));
        }
        told.join(", ")
    }

    /// One key, or letters, and all that is to be done for it.
    pub(super) fn typed(&mut self, word: &str) -> Vec<Effect> {
        let chords: Vec<Chord> = match Chord::parse(word) {
            Some(chord) => vec![chord],
            None => word.chars().filter_map(|c| Chord::parse(&c.to_string())).collect(),
        };
        self.at_once(chords)
    }

    /// Keys that are read together.
    pub(super) fn at_once(&mut self, chords: Vec<Chord>) -> Vec<Effect> {
        let keys = chords.into_iter().map(|chord| Msg::Input(Input::Key(chord)));
        let effects = keys.flat_map(|key| self.take(key)).collect();
        painted(&mut self.model);
        effects
    }

    /// A session has this status by an event.
    pub(super) fn event(&mut self, name: &str, status: Status) -> Vec<Effect> {
        let seq = self.model.house.last_seq + 1;
        self.tell(Msg::Event(Box::new(News {
            seq,
            session: Some(format!("id-{name}")),
            name: "something".to_owned(),
            status: Some(status),
            step: None,
            answer: None,
        })))
    }

    /// A session was looked at again.
    pub(super) fn seen(&mut self, view: SessionRow) {
        self.tell(Msg::Seen(vec![Seen::There(Box::new(view))]));
    }

    pub(super) fn selected(&self) -> &str {
        self.model.session().map_or("", |session| session.name.as_str())
    }

    pub(super) fn buffer(&self) -> Buffer {
        let (width, height) = self.model.size;
        let mut buffer = Buffer::empty(Rect { x: 0, y: 0, width, height });
        view::draw(&self.model, &mut buffer);
        buffer
    }

    /// What is shown, as text.
    pub(super) fn frame(&self) -> String {
        let buffer = self.buffer();
        let row = |y: u16| {
            let mut text = String::new();
            let mut x = 0;
            while let Some(cell) = buffer.cell((x, y)) {
                text.push_str(cell.symbol());
                // The second half of a wide character shows nothing.
                x += u16::try_from(cell.symbol().width()).unwrap_or(1).max(1);
            }
            text.trim_end().to_owned()
        };
        (0..buffer.area.height).map(row).collect::<Vec<_>>().join("\n")
    }
}

/// What of an effect a story tells.
fn describe(effect: &Effect) -> Option<String> {
    Some(match effect {
        Effect::Quit => "quit".to_owned(),
        Effect::Suspend => "suspend".to_owned(),
        Effect::StartDaemon => "start the daemon".to_owned(),
        Effect::Attach { id } => format!("attach {id}"),
        Effect::Call { request, .. } => call(request),
        Effect::Type { session, bytes } => {
            format!("type {session} {:?}", String::from_utf8_lossy(bytes))
        }
        Effect::Search { words } => format!("search {words:?}"),
        Effect::FetchTrash => "trash".to_owned(),
        Effect::FetchJudged => "judged".to_owned(),
        Effect::ReadPlan { repo, file } => format!("read plan {repo} {file:?}"),
        Effect::Edit { text } => format!("edit {text:?}"),
        Effect::Copy(text) => format!("copy {text:?}"),
        Effect::FetchPast { session, upto, .. } => format!("past {session} {upto}"),
        Effect::KeepFilter { words, keep: true } => format!("keep {words:?}"),
        Effect::KeepFilter { words, keep: false } => format!("forget {words:?}"),
        Effect::KeepDrafts(drafts) => format!("keep {} drafts", drafts.len()),
        Effect::Redraw
        | Effect::Look(_)
        | Effect::LookAt(_)
        | Effect::Follow(_)
        | Effect::LookAtPlans(_)
        | Effect::FindChoices
        | Effect::FindBase { .. }
        | Effect::Fit { .. }
        | Effect::FindLead { .. }
        | Effect::Fetch { .. }
        | Effect::CountChanges { .. }
        | Effect::ReadDraft { .. }
        | Effect::Notify { .. } => return None,
    })
}

fn call(request: &Request) -> String {
    if let Request::Act { session, action } = request {
        if let Action::Send { text, files } = action {
            let files = files.iter().map(|file| format!(" + {file}"));
            return format!("send {session} {text:?}{}", files.collect::<String>());
        }
        if let Action::Answer { ask, answer, .. } = action {
            return format!("answer {session} {} {answer}", ask.as_deref().unwrap_or("-"));
        }
        let json = serde_json::to_value(action).unwrap();
        let word = json.as_object().and_then(|fields| fields.keys().next().cloned());
        let word = word.unwrap_or_else(|| json.as_str().unwrap_or("?").to_owned());
        return format!("{word} {session}");
    }
    if let Request::New(wanted) = request {
        let looped = wanted.looped.as_ref();
        let looped = looped.map(|spec| format!(" loop {:?} {:?}", spec.max, spec.until));
        let (name, agent, prompt) = (&wanted.name, &wanted.agent, &wanted.prompt);
        return format!("new {name:?} {agent:?} {prompt:?}{}", looped.unwrap_or_default());
    }
    serde_json::to_value(request).unwrap().to_string()
}

/// A few sessions of two repositories.
pub(super) fn few() -> Vec<SessionRow> {
    let mut waiting = session("fix-login", Status::Waiting);
    let ask = serde_json::json!({
        "request": "r1", "kind": "approval", "text": "Bash: rm -rf target",
        "wants": {"command": {"line": "rm -rf target && cargo build", "folder": "/home/ada/src/app"}},
    });
    waiting.waiting_for = serde_json::from_value(ask).unwrap();
    waiting.asks = waiting.waiting_for.iter().cloned().collect();
    let mut busy = session("docs", Status::Busy);
    busy.last_action = Some("reading README.md".to_owned());
    busy.queued = 2;
    busy.memory_bytes = Some(212 * 1024 * 1024);
    let mut paused = session("api", Status::Paused);
    paused.repo_root = "/home/ada/src/server".to_owned();
    paused.paused_at = Some("2026-01-01T00:00:00Z".to_owned());
    paused.pause_reason = Some(glis_core::pause::PauseReason::User);
    paused.last_action = Some("edit src/api.rs".to_owned());
    paused.pending_tasks =
        ["write tests", "update docs", "ship", "rest"].map(ToOwned::to_owned).to_vec();
    (paused.can_pause, paused.can_resume) = (false, true);
    let mut failed = session("日本語", Status::Failed);
    failed.repo_root = "/home/ada/src/server".to_owned();
    failed.failure = Some("the agent is not installed".to_owned());
    vec![busy, waiting, paused, failed]
}
