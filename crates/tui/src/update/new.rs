//! The box for a new session or a loop: what is typed there is begun, or kept for later.

use super::acts::{call, refuses};
use super::{drafts, fields, plan, repository};
use crate::chord::Chord;
use crate::command::Command;
use crate::deed::new_session;
use crate::editor::Editor;
use crate::keymap::{leaves_box, submits};
use crate::message::Effect;
use crate::model::{Mode, Model, NEW_DRAFT, NewBox, Repeat, UnderWay};

/// Opens the box for a plan, or for a new session, with what was typed into it and not begun.
pub(super) fn open(model: &mut Model, command: Command, effects: &mut Vec<Effect>) {
    if command == Command::Execute {
        return plan::open(model, effects);
    }
    if refuses(model) {
        return;
    }
    let hint = "start glis inside one, or `glis new --repo DIR`";
    let Some(repo) = repository(model, hint) else { return };
    let prompt = model.drafts.get(NEW_DRAFT).cloned().unwrap_or_default();
    let repeat = if command == Command::NewLoop { Repeat::Loop } else { Repeat::Once };
    let form = NewBox::of(repo, prompt, repeat);
    model.notice = None;
    model.mode = Mode::New(Box::new(form));
}

/// Takes a key in the box.
pub(super) fn press(
    model: &mut Model,
    chord: Chord,
    mut form: Box<NewBox>,
    effects: &mut Vec<Effect>,
) {
    if leaves_box(chord) {
        keep_prompt(model, form.prompt, effects);
        return;
    }
    if submits(chord) {
        return begin(model, form, effects);
    }
    form.fault = None;
    fields::press(&mut *form, chord);
    model.mode = Mode::New(form);
}

/// Begins what was asked for, or shows what is wrong with it.
fn begin(model: &mut Model, mut form: Box<NewBox>, effects: &mut Vec<Effect>) {
    let wanted = match form.wanted() {
        Ok(wanted) => wanted,
        Err((field, why)) => {
            (form.field, form.fault) = (field, Some(why));
            model.mode = Mode::New(form);
            return;
        }
    };
    let name = wanted.name.clone().unwrap_or_else(|| "a session".to_owned());
    let label = if wanted.looped.is_some() { "beginning the loop" } else { "making the session" };
    let prompt = wanted.prompt.clone();
    let (request, line) = new_session(wanted);
    let under_way = UnderWay { id: None, name, deed: None, label, prompt };
    call(model, under_way, request, line, effects);
    model.drafts.remove(NEW_DRAFT);
    drafts::keep(model, effects);
}

/// What a new session is to be told is kept for the next time.
fn keep_prompt(model: &mut Model, prompt: Editor, effects: &mut Vec<Effect>) {
    if model.draft(NEW_DRAFT) != prompt.text() {
        model.drafts.insert(NEW_DRAFT.to_owned(), prompt);
        drafts::keep(model, effects);
    }
}
