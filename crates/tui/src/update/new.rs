//! The box for a new session or a loop: what is typed there is begun, or kept for later.

use super::acts::{call, refuses};
use super::{drafts, fields, repository};
use crate::chord::Chord;
use crate::deed::new_session;
use crate::editor::Editor;
use crate::keymap::{leaves_box, submits};
use crate::model::{Mode, Model, NEW_DRAFT, NewBox, Repeat, UnderWay};

/// Opens the box for a new session, with what was typed into it and not begun.
pub(super) fn open(model: &mut Model, repeat: Repeat) {
    if refuses(model) {
        return;
    }
    let hint = "start glis inside one, or `glis new --repo DIR`";
    let Some(repo) = repository(model, hint) else { return };
    let prompt = model.drafts.texts.get(NEW_DRAFT).cloned().unwrap_or_default();
    let form = NewBox::of(repo, prompt, repeat);
    model.notice = None;
    model.mode = Mode::New(Box::new(form));
}

pub(super) fn press(model: &mut Model, chord: Chord, mut form: Box<NewBox>) {
    if leaves_box(chord) {
        keep_prompt(model, form.prompt);
        return;
    }
    if submits(chord) {
        return begin(model, form);
    }
    form.fault = None;
    fields::press(&mut *form, chord);
    model.mode = Mode::New(form);
}

/// Begins what was asked for, or shows what is wrong with it.
fn begin(model: &mut Model, mut form: Box<NewBox>) {
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
    call(model, under_way, request, line);
    model.drafts.texts.remove(NEW_DRAFT);
    drafts::keep(model);
}

/// What a new session is to be told is kept for the next time.
fn keep_prompt(model: &mut Model, prompt: Editor) {
    if model.drafts.text(NEW_DRAFT) != prompt.text() {
        *model.drafts.editor(NEW_DRAFT) = prompt;
        drafts::keep(model);
    }
}
