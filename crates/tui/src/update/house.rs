//! Lists of the whole house: what was removed and may come back, and what the rules have answered.

use super::acts::{act, ask, of_all, refuses};
use super::{said, words};
use crate::chord::{Chord, Code};
use crate::command::Command;
use crate::deed::{Deed, empty_trash, pause_all, resume_all, resume_all_from_log};
use crate::editor::Editor;
use crate::keymap::{Place, leaves_box};
use crate::message::{Effect, Told};
use crate::model::{Listing, Mode, Model, Sure};
use crate::wanted::Wanted;
use glis_core::Status;
use glis_core::session::Deferral;
use glis_wire::view::{SessionView, TrashView};
use std::collections::BTreeSet;

/// As many lines as a key that scrolls goes on.
const PAGE: usize = 10;

/// Opens the trash, or what the rules have said.
pub(super) fn open(model: &mut Model, command: Command, effects: &mut Vec<Effect>) {
    model.notice = None;
    if command == Command::Trash {
        model.trash = Listing::Loading;
        model.mode = Mode::Trash { at: 0 };
        effects.push(Effect::FetchTrash);
    } else {
        model.judged = Listing::Loading;
        model.mode = Mode::Judged { at: 0 };
        effects.push(Effect::FetchJudged);
    }
}

/// What was removed has come, the latest first: that is what is mostly missed.
pub(super) fn trash_arrived(model: &mut Model, result: Result<Vec<TrashView>, Told>) {
    let latest_first = result.map(|mut all| {
        all.sort_by(|one, other| other.removed_at.cmp(&one.removed_at));
        all
    });
    model.trash = latest_first.into();
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
    } else if model.gate == "running" {
        return said(model, format!("{pause} has stopped nothing; {one} resumes a session"));
    } else if command == Command::ResumeAllFromLog {
        let question = "Resume everything that was stopped, as the event log has it?".to_owned();
        (resume_all_from_log(), resuming, question)
    } else {
        let question = match counted(model, is_held) {
            // What an event has told of is looked at a moment later, and counted then.
            _ if model.is_behind() => format!("Resume what {pause} stopped?"),
            Some(those) => format!("Resume {those}, which {pause} stopped?"),
            None => "No session was stopped. Let everything begin again?".to_owned(),
        };
        (resume_all(), resuming, question)
    };
    ask(model, Sure::Call { request: Box::new(request), line, label }, question);
}

/// Whether it was stopped with everything, and comes back with it.
pub(super) fn is_held(session: &SessionView) -> bool {
    let stopped = matches!(session.status, Status::Paused | Status::Pausing);
    stopped && session.waits_to_start == Some(Deferral::Gate)
}

/// Whether an agent of it runs, or is about to.
fn is_at_work(session: &SessionView) -> bool {
    match session.status {
        Status::Busy | Status::Idle | Status::Waiting | Status::Pausing | Status::Resuming => true,
        Status::Created
        | Status::Paused
        | Status::Suspended
        | Status::Interrupted
        | Status::Completed
        | Status::Failed
        | Status::Archived => false,
    }
}

/// How many of these there are, and in how many repositories; none if there are none.
fn counted(model: &Model, which: impl Fn(&SessionView) -> bool) -> Option<String> {
    let those: Vec<&SessionView> = model.sessions.values().filter(|one| which(one)).collect();
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

/// Where a key leads in a list of so many; none if it does not move.
fn moved(chord: Chord, at: usize, count: usize) -> Option<usize> {
    let last = count.saturating_sub(1);
    let to = match chord.code {
        Code::Down | Code::Char('j') => at + 1,
        Code::Up | Code::Char('k') => at.saturating_sub(1),
        Code::PageDown => at + PAGE,
        Code::PageUp => at.saturating_sub(PAGE),
        Code::Home | Code::Char('g') => 0,
        Code::End | Code::Char('G') => last,
        Code::Char(_)
        | Code::Enter
        | Code::Esc
        | Code::Tab
        | Code::Backspace
        | Code::Delete
        | Code::Insert
        | Code::Left
        | Code::Right
        | Code::F(_) => return None,
    };
    Some(to.min(last))
}

fn closes(chord: Chord) -> bool {
    leaves_box(chord) || chord.text() == Some('q')
}

/// Takes a key in the trash.
pub(super) fn press_trash(model: &mut Model, chord: Chord, at: usize, effects: &mut Vec<Effect>) {
    if closes(chord) {
        return;
    }
    let items = model.trash.items();
    let at = at.min(items.len().saturating_sub(1));
    model.mode = Mode::Trash { at: moved(chord, at, items.len()).unwrap_or(at) };
    if chord.text() == Some('E') {
        return of_all(model, empty_trash(), "deleting what is due", effects);
    }
    let Some(id) = model.trash.items().get(at).map(|item| item.id.clone()) else { return };
    match chord.code {
        Code::Enter => {
            model.mode = Mode::List;
            act(model, &id, Deed::Undelete { name: None }, effects);
        }
        Code::Char('r') => words::open_for(model, Wanted::NewName, vec![id]),
        Code::Char('D') if !refuses(model) => {
            let name = model.trash.items().get(at).map(|item| item.name.clone());
            let question = Deed::Discard.question(&name.unwrap_or_default()).unwrap_or_default();
            ask(model, Sure::Each { deed: Deed::Discard, ids: vec![id] }, question);
        }
        Code::Char(_)
        | Code::Esc
        | Code::Tab
        | Code::Backspace
        | Code::Delete
        | Code::Insert
        | Code::Up
        | Code::Down
        | Code::Left
        | Code::Right
        | Code::Home
        | Code::End
        | Code::PageUp
        | Code::PageDown
        | Code::F(_) => {}
    }
}

/// Takes a key among what the rules have said.
pub(super) fn press_judged(model: &mut Model, chord: Chord, at: usize) {
    if closes(chord) {
        return;
    }
    let items = model.judged.items();
    let at = at.min(items.len().saturating_sub(1));
    if chord.code != Code::Enter {
        model.mode = Mode::Judged { at: moved(chord, at, items.len()).unwrap_or(at) };
        return;
    }
    let Some((id, name)) = items.get(at).map(|one| (one.session.clone(), one.name.clone())) else {
        return;
    };
    if !model.sessions.contains_key(&id) {
        return said(model, format!("`{name}` is in the trash"));
    }
    if !model.ids().any(|listed| *listed == id) {
        model.filter = Editor::default();
        model.put_in_order();
    }
    model.selected = Some(id);
}
