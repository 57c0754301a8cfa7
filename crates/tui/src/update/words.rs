//! Boxes for what a deed still needs: a line of words, or one of the snapshots.

use super::acts::{act, ask, meant, refuses};
use super::{said, tabs};
use crate::chord::{Chord, Code};
use crate::deed::{Deed, Reply};
use crate::editor::Editor;
use crate::keymap::leaves_box;
use crate::message::{Effect, Fetched, Tab};
use crate::model::{Mode, Model, Page, Sure, WordsBox};
use crate::wanted::Wanted;

/// Asks for the words that are wanted, for each session that is meant.
pub(super) fn open(model: &mut Model, wanted: Wanted) {
    let ids = meant(model);
    open_for(model, wanted, ids);
}

/// The same, for these sessions.
pub(super) fn open_for(model: &mut Model, wanted: Wanted, ids: Vec<String>) {
    if refuses(model) || ids.is_empty() {
        return;
    }
    model.notice = None;
    let words = Editor::default();
    model.mode = Mode::Words(Box::new(WordsBox { wanted, ids, words, fault: None }));
}

/// Takes a key in the box for words. The answer to a question, where they are one.
pub(super) fn press(
    model: &mut Model,
    chord: Chord,
    mut form: Box<WordsBox>,
    effects: &mut Vec<Effect>,
) -> Option<Reply> {
    // Who denies a question is still at it.
    if let (Wanted::WhyNot { request }, Some(id)) = (&form.wanted, form.ids.first()) {
        model.mode = Mode::Asks { at: Some((id.clone(), request.clone())) };
    }
    if leaves_box(chord) {
        return None;
    }
    if chord.code != Code::Enter {
        form.words.press(chord);
        form.fault = None;
        model.mode = Mode::Words(form);
        return None;
    }
    match form.wanted.deed(form.words.text().trim()) {
        Ok(Deed::Answer { answer, .. }) => return Some(answer),
        Ok(deed) => {
            for id in &form.ids {
                act(model, id, deed.clone(), effects);
            }
            model.marked.clear();
            model.range = None;
        }
        Err(why) => {
            form.fault = Some(why);
            model.mode = Mode::Words(form);
        }
    }
    None
}

/// Shows the snapshots of the session in hand, to choose one of them.
pub(super) fn choose_snapshot(model: &mut Model) {
    if refuses(model) || model.selected.is_none() {
        return;
    }
    if model.shown_tab() != Tab::Snapshots {
        tabs::show_tab(model, Tab::Snapshots);
    }
    model.mode = Mode::Pick { at: 0 };
}

/// Takes a key while a snapshot is chosen.
pub(super) fn pick(model: &mut Model, chord: Chord, at: usize) {
    let names: Vec<String> = match &model.page {
        Page::Shown(Fetched::Snapshots(all)) => all.iter().map(|s| s.name.clone()).collect(),
        Page::Empty | Page::Loading => {
            model.mode = if leaves_box(chord) { Mode::List } else { Mode::Pick { at } };
            return;
        }
        Page::Shown(_) | Page::Fault(_) => return,
    };
    let last = names.len().saturating_sub(1);
    let at = at.min(last);
    let to = match chord.code {
        Code::Down | Code::Char('j') => (at + 1).min(last),
        Code::Up | Code::Char('k') => at.saturating_sub(1),
        Code::Home | Code::Char('g') => 0,
        Code::End | Code::Char('G') => last,
        Code::Enter => return restore(model, names.get(at)),
        Code::Char('d') => return copy(model, names.get(at)),
        Code::Esc | Code::Char('q') => return,
        _ if leaves_box(chord) => return,
        Code::Char(_)
        | Code::Tab
        | Code::Backspace
        | Code::Delete
        | Code::Insert
        | Code::Left
        | Code::Right
        | Code::PageUp
        | Code::PageDown
        | Code::F(_) => at,
    };
    model.mode = Mode::Pick { at: to };
}

fn restore(model: &mut Model, name: Option<&String>) {
    let (Some(id), Some(name)) = (model.selected.clone(), name) else {
        return said(model, "there is no snapshot".to_owned());
    };
    let deed = Deed::Restore { snapshot: name.clone() };
    let session = model.session().map(|session| session.name.clone()).unwrap_or_default();
    if let Some(question) = deed.question(&session) {
        ask(model, Sure::Each { deed, ids: vec![id] }, question);
    }
}

fn copy(model: &mut Model, name: Option<&String>) {
    if let (Some(id), Some(name)) = (model.selected.clone(), name) {
        open_for(model, Wanted::CopyTo { snapshot: name.clone() }, vec![id]);
    }
}
