//! Words that are sought in all conversations, and the way to where they were said.

use super::tabs;
use crate::chord::{Chord, Code};
use crate::keymap::leaves_box;
use crate::message::{Effect, Tab, Told};
use crate::model::{Mode, Model, Reading, SearchBox};
use glis_wire::view::Hit;

/// Takes a key in the box. The first `enter` seeks, the next one goes to what was found.
pub(super) fn press(model: &mut Model, chord: Chord, mut form: Box<SearchBox>) {
    if leaves_box(chord) {
        return;
    }
    let last = form.sought.items().len().saturating_sub(1);
    let words = form.words.text().trim().to_owned();
    match chord.code {
        Code::Up => form.at = form.at.saturating_sub(1),
        Code::Down => form.at = (form.at + 1).min(last),
        Code::Enter if form.sought_words != words => {
            if !words.is_empty() {
                (form.at, form.sought) = (0, Reading::Loading);
                form.sought_words.clone_from(&words);
                model.effects.push(Effect::Search { words });
            }
        }
        Code::Enter => {
            if let Some(hit) = form.sought.items().get(form.at).cloned() {
                return go_to(model, &hit);
            }
        }
        _ => {
            form.words.press(chord);
        }
    }
    model.mode = Mode::Search(form);
}

pub(super) fn arrived(model: &mut Model, words: &str, result: Result<Vec<Hit>, Told>) {
    if let Mode::Search(form) = &mut model.mode
        && form.sought_words == words
    {
        form.sought = result.into();
    }
}

/// To the conversation of a session, where something was said.
fn go_to(model: &mut Model, hit: &Hit) {
    model.hand.sought = Some((hit.session.clone(), hit.at.clone()));
    reach(model, hit.session.clone(), &hit.name);
}

/// Takes a session in hand that the filter may hide. One that is not listed rests for longer than the list goes back, or
/// is in the trash: a look tells.
pub(super) fn reach(model: &mut Model, id: String, name: &str) {
    if !model.rows.all.contains_key(&id) {
        if model.rows.more == 0 || model.hand.reached.is_some() {
            return super::said(model, format!("`{name}` is in the trash"));
        }
        model.looking.stale.insert(id.clone());
        model.hand.reached = Some((id, name.to_owned()));
        return;
    }
    if !model.list.ids().any(|listed| *listed == id) {
        model.list.filter = crate::editor::Editor::default();
        model.put_in_order();
    }
    let is_sought = model.hand.sought.as_ref().is_some_and(|(sought, _)| *sought == id);
    model.hand.selected = Some(id);
    if is_sought {
        tabs::show_tab(model, Tab::Conversation);
    }
}
