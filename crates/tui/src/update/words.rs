//! Boxes for what a deed still needs: a line of words, or one of the snapshots.

use super::acts::{act, ask, meant, refuses};
use super::{fields, remarks, said, tabs};
use crate::chord::{Chord, Code};
use crate::deed::{Deed, Reply};
use crate::editor::Editor;
use crate::keymap::{leaves_box, submits};
use crate::message::{Fetched, Tab};
use crate::model::{Mode, Model, Page, Sure, WordsBox};
use crate::remarks::Comment;
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
pub(super) fn press(model: &mut Model, chord: Chord, mut form: Box<WordsBox>) -> Option<Reply> {
    // Who answers a question, or denies it, is still at it.
    if let Some((id, request)) = form.ask() {
        model.mode = Mode::Asks { at: Some((id.to_owned(), request.to_owned())) };
    }
    if let Wanted::Remark { .. } = form.wanted {
        model.mode = Mode::View { words: None };
    }
    if leaves_box(chord) {
        return None;
    }
    let is_done = if form.takes_lines() { submits(chord) } else { chord.code == Code::Enter };
    if !is_done {
        form.words.press(chord);
        form.fault = None;
        model.mode = Mode::Words(form);
        return None;
    }
    let text = form.words.text().trim();
    if form.takes_lines() && text.is_empty() {
        return None;
    }
    if let Wanted::Remark { comment } = form.wanted {
        remarks::comment(model, Comment { words: text.to_owned(), ..comment });
        return None;
    }
    match form.wanted.deed(text) {
        Ok(Deed::Answer { answer, .. }) => return Some(answer),
        Ok(deed) => {
            for id in &form.ids {
                act(model, id, deed.clone());
            }
            model.list.unmark();
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
    if refuses(model) || model.hand.selected.is_none() {
        return;
    }
    if model.shown_tab() != Tab::Snapshots {
        tabs::show_tab(model, Tab::Snapshots);
    }
    model.mode = Mode::Pick { at: 0 };
}

pub(super) fn pick(model: &mut Model, chord: Chord, at: usize) {
    let names: Vec<String> = match &model.pane.page {
        Page::Shown(Fetched::Snapshots(all)) => all.iter().map(|s| s.name.clone()).collect(),
        Page::Empty | Page::Loading => {
            model.mode = if leaves_box(chord) { Mode::List } else { Mode::Pick { at } };
            return;
        }
        Page::Shown(_) | Page::Fault(_) => return,
    };
    let at = at.min(names.len().saturating_sub(1));
    match chord.code {
        Code::Enter => restore(model, names.get(at)),
        Code::Char('d') => copy(model, names.get(at)),
        _ if fields::closes(chord) => {}
        _ => model.mode = Mode::Pick { at: fields::moved(chord, at, names.len()).unwrap_or(at) },
    }
}

fn restore(model: &mut Model, name: Option<&String>) {
    let (Some(id), Some(name)) = (model.hand.selected.clone(), name) else {
        return said(model, "there is no snapshot".to_owned());
    };
    let deed = Deed::Restore { snapshot: name.clone() };
    let session = model.session().map(|session| session.name.clone()).unwrap_or_default();
    if let Some(question) = deed.question(&session) {
        ask(model, Sure::Each { deed, ids: vec![id] }, question);
    }
}

fn copy(model: &mut Model, name: Option<&String>) {
    if let (Some(id), Some(name)) = (model.hand.selected.clone(), name) {
        open_for(model, Wanted::CopyTo { snapshot: name.clone() }, vec![id]);
    }
}
