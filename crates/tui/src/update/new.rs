//! The box for a new session or a loop: what is typed there is begun, or kept for later.

use super::acts::{call, refuses};
use super::{drafts, fields, repository};
use crate::chord::Chord;
use crate::deed::new_session;
use crate::editor::Editor;
use crate::keymap::{leaves_box, submits};
use crate::message::{Effect, Told};
use crate::model::{Mode, Model, NEW_DRAFT, NewBox, Repeat, UnderWay};

/// Opens the box for a new session, with what was typed into it and not begun.
pub(super) fn open(model: &mut Model, repeat: Repeat) {
    if refuses(model) {
        return;
    }
    let prompt = model.drafts.texts.get(NEW_DRAFT).cloned().unwrap_or_default();
    let refused = model.drafts.refused.take().filter(|form| form.repeat() == repeat);
    let form = if let Some(form) = refused {
        let mut form = *form;
        form.prompt = prompt;
        form
    } else {
        let Some(repo) = repository(model, "start glis inside one") else { return };
        NewBox::of((repo, model.repositories()), prompt, repeat)
    };
    model.notice = None;
    model.mode = Mode::New(Box::new(form));
    model.effects.push(Effect::FindChoices);
}

/// What was asked for in the box was refused: it is open again, or the next time.
pub(super) fn refused(model: &mut Model, mut form: Box<NewBox>, told: &Told) {
    if model.mode == Mode::List {
        form.fault = Some(told.message.clone());
        model.drafts.texts.remove(NEW_DRAFT);
        model.mode = Mode::New(form);
    } else {
        let text = form.prompt.text().to_owned();
        model.drafts.give_back(NEW_DRAFT, &text);
        model.drafts.refused = Some(form);
    }
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
    form.fault = None;
    let under_way = UnderWay { id: None, name, deed: None, label, prompt, form: Some(form) };
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
