//! The box for a message, and for the files that go with it.

use super::acts::{act, refuses};
use super::{asking, drafts};
use crate::chord::Chord;
use crate::deed::Deed;
use crate::keymap::{leaves_box, submits};
use crate::model::{FileBox, Mode, Model};

/// Opens the box for a message to the session in hand, or for an answer to the question in hand.
pub(super) fn open(model: &mut Model) {
    if refuses(model) {
        return;
    }
    if let Mode::Asks { .. } = model.mode {
        asking::in_words(model);
    } else if let Some(id) = model.hand.selected.clone() {
        model.notice = None;
        model.mode = Mode::Send { id, files: Vec::new() };
    }
}

/// Opens the box for a file that is sent to the session in hand.
pub(super) fn open_file(model: &mut Model) {
    if refuses(model) {
        return;
    }
    if let Some(id) = model.hand.selected.clone() {
        model.notice = None;
        model.mode = Mode::File(Box::new(FileBox { id, ..FileBox::default() }));
    }
}

pub(super) fn press(model: &mut Model, chord: Chord, (id, files): (String, Vec<String>)) {
    if leaves_box(chord) {
        return drafts::keep(model);
    }
    if chord == Chord::ctrl('o') {
        model.mode = Mode::File(Box::new(FileBox { id, files, ..FileBox::default() }));
        return;
    }
    let draft = model.drafts.editor(&id);
    if !submits(chord) {
        draft.press(chord);
        model.mode = Mode::Send { id, files };
        return;
    }
    let text = draft.text().trim().to_owned();
    if text.is_empty() {
        // A file alone says nothing about what is to be done with it.
        if !files.is_empty() {
            model.mode = Mode::Send { id, files };
        }
        return;
    }
    model.drafts.texts.remove(&id);
    act(model, &id, Deed::Send { text, files });
    drafts::keep(model);
}

pub(super) fn press_file(model: &mut Model, chord: Chord, mut form: Box<FileBox>) {
    if leaves_box(chord) {
        // Back to the message, if there is one.
        if !form.files.is_empty() || !model.drafts.text(&form.id).is_empty() {
            model.mode = Mode::Send { id: form.id, files: form.files };
        }
        return drafts::keep(model);
    }
    if !submits(chord) {
        form.words.press(chord);
        form.fault = None;
        model.mode = Mode::File(form);
        return;
    }
    match path(model, form.words.text().trim()) {
        Ok(path) => {
            let FileBox { id, mut files, .. } = *form;
            files.push(path);
            model.mode = Mode::Send { id, files };
        }
        Err(why) => {
            form.fault = Some(why);
            model.mode = Mode::File(form);
        }
    }
}

/// The whole path of a file, from one as people write it, or as a terminal pastes what is dropped on it.
fn path(model: &Model, text: &str) -> Result<String, &'static str> {
    let text = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).unwrap_or(text);
    let home = model.folders.home.as_deref();
    let of_home = text.strip_prefix("~/").zip(home).map(|(rest, home)| format!("{home}/{rest}"));
    match (of_home, model.folders.here.as_deref()) {
        _ if text.is_empty() => Err("the path of a file"),
        (Some(path), _) => Ok(path),
        (None, _) if text.starts_with('/') => Ok(text.to_owned()),
        (None, Some(here)) => Ok(format!("{here}/{text}")),
        (None, None) => Err("an absolute path begins with /"),
    }
}
