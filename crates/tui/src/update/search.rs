//! Words that are sought in all conversations, and the way to where they were said.

use super::tabs;
use crate::chord::{Chord, Code};
use crate::keymap::leaves_box;
use crate::message::{Effect, Tab, Told};
use crate::model::{Mode, Model, SearchBox, Sought};
use glis_wire::view::Hit;

/// Takes a key in the box. The first `enter` seeks, the next one goes to what was found.
pub(super) fn press(
    model: &mut Model,
    chord: Chord,
    mut form: Box<SearchBox>,
    effects: &mut Vec<Effect>,
) {
    if leaves_box(chord) {
        return;
    }
    let last = form.hits().len().saturating_sub(1);
    let words = form.words.text().trim().to_owned();
    match chord.code {
        Code::Up => form.at = form.at.saturating_sub(1),
        Code::Down => form.at = (form.at + 1).min(last),
        Code::Enter if form.sought_words != words => {
            if !words.is_empty() {
                (form.at, form.sought) = (0, Sought::UnderWay);
                form.sought_words.clone_from(&words);
                effects.push(Effect::Search { words });
            }
        }
        Code::Enter => {
            if let Some(hit) = form.hits().get(form.at).cloned() {
                return go_to(model, &hit);
            }
        }
        Code::Char(_)
        | Code::Esc
        | Code::Tab
        | Code::Backspace
        | Code::Delete
        | Code::Insert
        | Code::Left
        | Code::Right
        | Code::Home
        | Code::End
        | Code::PageUp
        | Code::PageDown
        | Code::F(_) => {
            form.words.press(chord);
        }
    }
    model.mode = Mode::Search(form);
}

/// What was found has come.
pub(super) fn arrived(model: &mut Model, words: &str, result: Result<Vec<Hit>, Told>) {
    if let Mode::Search(form) = &mut model.mode
        && form.sought_words == words
    {
        form.sought = result.map_or_else(Sought::Fault, Sought::Found);
    }
}

/// To the conversation of a session, where something was said.
fn go_to(model: &mut Model, hit: &Hit) {
    if !model.sessions.contains_key(&hit.session) {
        return super::said(model, format!("`{}` is in the trash", hit.name));
    }
    if !model.ids().any(|id| *id == hit.session) {
        model.filter = crate::editor::Editor::default();
        model.put_in_order();
    }
    model.selected = Some(hit.session.clone());
    tabs::show_tab(model, Tab::Conversation);
    model.sought_entry = Some((hit.session.clone(), hit.at.clone()));
}
