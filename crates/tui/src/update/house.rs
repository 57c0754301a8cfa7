//! Lists of the whole house: what was removed and may come back, and what the rules have answered.

use super::acts::{act, ask, of_all, refuses};
use super::{fields, said, search, words};
use crate::chord::{Chord, Code};
use crate::command::Command;
use crate::deed::{Deed, empty_trash, pause_all, resume_all};
use crate::keymap::Place;
use crate::message::{Effect, Told};
use crate::model::{Mode, Model, Reading, Sure};
use crate::wanted::Wanted;
use glis_core::Status;
use glis_core::session::Deferral;
use glis_wire::view::{SessionRow, TrashView};
use std::collections::BTreeSet;

pub(super) fn open(model: &mut Model, command: Command) {
    model.notice = None;
    if command == Command::Trash {
        model.house.trash = Reading::Loading;
        model.mode = Mode::Trash { at: 0 };
        model.effects.push(Effect::FetchTrash);
    } else {
        model.house.judged = Reading::Loading;
        model.mode = Mode::Judged { at: 0 };
        model.effects.push(Effect::FetchJudged);
    }
}

/// What was removed has come, the latest first: that is what is mostly missed.
pub(super) fn trash_arrived(model: &mut Model, result: Result<Vec<TrashView>, Told>) {
    let latest_first = result.map(|mut all| {
        all.sort_by(|one, other| other.removed_at.cmp(&one.removed_at));
        all
    });
    model.house.trash = latest_first.into();
}

/// Asks before everything is paused, or comes back: with how many that are.
pub(super) fn ask_all(model: &mut Model, command: Command) {
    if refuses(model) {
        return;
    }
    let (pause, resume) =
        (model.key(Place::List, Command::PauseAll), model.key(Place::List, Command::ResumeAll));
    let one = model.key(Place::List, Command::Resume);
    let resuming = "resuming everything";
    let ((request, line), label, question) = if command == Command::PauseAll {
        let question = match counted(model, is_at_work) {
            Some(those) => format!("Pause {those}? Nothing begins until {resume} resumes them."),
            None => format!("Nothing runs. Have nothing begin until {resume}?"),
        };
        (pause_all(), "PAUSING... everything", question)
    } else if model.house.gate == "running" {
        return said(model, format!("{pause} has stopped nothing; {one} resumes a session"));
    } else if command == Command::ResumeAllFromLog {
        let question = "Resume everything that was stopped, as the event log has it?".to_owned();
        (resume_all(true), resuming, question)
    } else {
        let question = match counted(model, is_held) {
            // What an event has told of is looked at a moment later, and counted then.
            _ if model.looking.is_behind() => format!("Resume what {pause} stopped?"),
            Some(those) => format!("Resume {those}, which {pause} stopped?"),
            None => "No session was stopped. Let everything begin again?".to_owned(),
        };
        (resume_all(false), resuming, question)
    };
    ask(model, Sure::Call { request: Box::new(request), line, label }, question);
}

/// Whether it was stopped with everything, and comes back with it.
pub(super) fn is_held(session: &SessionRow) -> bool {
    let stopped = matches!(session.status, Status::Paused | Status::Pausing);
    stopped && session.waits_to_start == Some(Deferral::Gate)
}

/// Whether an agent of it runs, or is about to.
fn is_at_work(session: &SessionRow) -> bool {
    let alive = [Status::Busy, Status::Idle, Status::Waiting, Status::Pausing, Status::Resuming];
    alive.contains(&session.status)
}

/// How many of these there are, and in how many repositories; none if there are none.
fn counted(model: &Model, which: impl Fn(&SessionRow) -> bool) -> Option<String> {
    let those: Vec<&SessionRow> = model.rows.all.values().filter(|one| which(one)).collect();
    let repos: BTreeSet<&str> = those.iter().map(|session| session.repo_root.as_str()).collect();
    let sessions = match those.len() {
        0 => return None,
        1 => "1 session".to_owned(),
        many => format!("{many} sessions"),
    };
    Some(match repos.len() {
        1 => sessions,
        many => format!("{sessions} of {many} repositories"),
    })
}

pub(super) fn press_trash(model: &mut Model, chord: Chord, at: usize) {
    if fields::closes(chord) {
        return;
    }
    let items = model.house.trash.items();
    let at = at.min(items.len().saturating_sub(1));
    model.mode = Mode::Trash { at: fields::moved(chord, at, items.len()).unwrap_or(at) };
    if chord.text() == Some('E') {
        return of_all(model, empty_trash(), "deleting what is due");
    }
    let Some(id) = model.house.trash.items().get(at).map(|item| item.id.clone()) else { return };
    match chord.code {
        Code::Enter => {
            model.mode = Mode::List;
            act(model, &id, Deed::Undelete { name: None });
        }
        Code::Char('r') => words::open_for(model, Wanted::NewName, vec![id]),
        Code::Char('D') if !refuses(model) => {
            let name = model.house.trash.items().get(at).map(|item| item.name.clone());
            let question = Deed::Discard.question(&name.unwrap_or_default()).unwrap_or_default();
            ask(model, Sure::Each { deed: Deed::Discard, ids: vec![id] }, question);
        }
        _ => {}
    }
}

pub(super) fn press_judged(model: &mut Model, chord: Chord, at: usize) {
    if fields::closes(chord) {
        return;
    }
    let items = model.house.judged.items();
    let at = at.min(items.len().saturating_sub(1));
    if chord.code != Code::Enter {
        model.mode = Mode::Judged { at: fields::moved(chord, at, items.len()).unwrap_or(at) };
        return;
    }
    let Some((id, name)) = items.get(at).map(|one| (one.session.clone(), one.name.clone())) else {
        return;
    };
    search::reach(model, id, &name);
}
