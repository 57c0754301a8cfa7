//! Looking back in a terminal: scrolling, searching, copying, and back to what is live.

use super::{said, wrong};
use crate::chord::{Chord, Code};
use crate::command::Command;
use crate::editor::Editor;
use crate::keymap::{Place, leaves_box};
use crate::message::{Effect, Tab, Told};
use crate::model::{Mode, Model, Past, Shown, Towards};
use crate::view;
use glis_screen::Run;

/// The rows that are seen of it.
fn height(model: &Model) -> usize {
    view::content(model).map_or(1, |area| usize::from(area.height)).max(1)
}

/// Begins to look back, by so many rows. A screen that is still on its way is waited for: whoever presses
/// the key right behind a start, a suspension or a move in the list means it as well.
pub(super) fn begin(model: &mut Model, rows: usize) {
    let Some(session) = model.hand.selected.clone() else { return };
    let refused = matches!(model.pane.preview.shown, Shown::Refused(_));
    if refused || model.shown_tab() != Tab::Terminal || view::content(model).is_none() {
        return;
    }
    model.pane.past = Some(Past::of(session, rows));
    model.mode = Mode::Past { words: None };
    fetch(model);
}

/// Asks for the rows as soon as there is a screen to look back from; one that cannot be shown ends it.
pub(super) fn fetch(model: &mut Model) {
    let Some(past) = model.pane.past.as_mut().filter(|past| !past.asked) else { return };
    match &model.pane.preview.shown {
        Shown::Nothing => {}
        Shown::Screen(screen, _) => {
            past.asked = true;
            let (upto, size) = (model.pane.preview.at, screen.size());
            model.effects.push(Effect::FetchPast { session: past.session.clone(), upto, size });
        }
        Shown::Refused(_) => leave(model),
    }
}

pub(super) fn arrived(model: &mut Model, session: &str, result: Result<Vec<Vec<Run>>, Told>) {
    let height = height(model);
    let Some(past) = model.pane.past.as_mut().filter(|past| past.session == session) else {
        return;
    };
    match result {
        Ok(rows) => {
            past.below = past.below.min(rows.len().saturating_sub(height));
            past.rows = Some(rows);
            if past.below == 0 {
                leave(model);
                said(model, "nothing has scrolled out of sight".to_owned());
            }
        }
        Err(told) => {
            leave(model);
            wrong(model, told);
        }
    }
}

/// Back to what is live.
pub(super) fn leave(model: &mut Model) {
    model.pane.past = None;
    if let Mode::Past { .. } = model.mode {
        model.mode = Mode::List;
    }
}

/// Another session or view is in hand: its past is not looked at.
pub(super) fn keep(model: &mut Model) {
    let stays = model.pane.past.as_ref().is_some_and(|past| {
        Some(&past.session) == model.hand.selected.as_ref()
            && model.shown_tab() == Tab::Terminal
            && matches!(model.mode, Mode::Past { .. } | Mode::Help { .. })
    });
    if !stays {
        leave(model);
    }
}

/// Moves by so many rows, towards the present if the number is positive. The present ends it.
pub(super) fn scroll(model: &mut Model, by: isize) {
    let height = height(model);
    let Some(past) = &mut model.pane.past else { return };
    if !past.scroll(by, height) {
        leave(model);
    }
}

/// Carries a command out that means something else here than in the list. Whether it does.
pub(super) fn run(model: &mut Model, command: Command) -> bool {
    match command {
        Command::Down => scroll(model, 1),
        Command::Up => scroll(model, -1),
        Command::ScrollDown => scroll(model, page(model)),
        Command::ScrollUp => scroll(model, -page(model)),
        Command::HalfDown => scroll(model, (page(model) / 2).max(1)),
        Command::HalfUp => scroll(model, -(page(model) / 2).max(1)),
        Command::Top => scroll(model, isize::MIN / 2),
        Command::Bottom | Command::Close => leave(model),
        Command::Filter => model.mode = Mode::Past { words: Some(Editor::default()) },
        Command::NextFound => seek(model, Towards::Older),
        Command::FormerFound => seek(model, Towards::Newer),
        Command::MarkRange => select(model),
        Command::Copy => copy(model),
        _ => return false,
    }
    true
}

/// A row of the page before stays in sight.
fn page(model: &Model) -> isize {
    isize::try_from(height(model).saturating_sub(1).max(1)).unwrap_or(1)
}

fn select(model: &mut Model) {
    let rows = height(model);
    if let Some(past) = &mut model.pane.past {
        let last = past.selected(rows).end.saturating_sub(1);
        past.from = if past.from.is_some() { None } else { Some(last) };
    }
}

fn seek(model: &mut Model, towards: Towards) {
    let rows = height(model);
    let Some(past) = &mut model.pane.past else { return };
    if past.words.is_empty() {
        let key = model.key(Place::Past, Command::Filter);
        return said(model, format!("{key} searches for words"));
    }
    if !past.seek(towards, rows) {
        let words = past.words.clone();
        said(model, format!("no match for `{words}`"));
    }
}

fn copy(model: &mut Model) {
    let rows = height(model);
    let Some(past) = &mut model.pane.past else { return };
    let selected = past.selected(rows);
    past.from = None;
    let (count, text) = (selected.len(), past.text(selected));
    super::copy(model, text, count);
}

/// Takes a key while words are typed that are to be sought.
pub(super) fn press(model: &mut Model, chord: Chord, mut words: Editor) {
    if chord.code == Code::Enter {
        if let Some(past) = &mut model.pane.past {
            words.text().clone_into(&mut past.words);
            past.found = None;
        }
        model.mode = Mode::Past { words: None };
        return seek(model, Towards::Older);
    }
    words.press(chord);
    model.mode = Mode::Past { words: (!leaves_box(chord)).then_some(words) };
}
