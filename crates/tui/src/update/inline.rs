//! Typing into a session's own terminal: it gets every key but the one that ends this.

use super::acts::refuses;
use super::{said, send, tabs, wrong};
use crate::chord::Chord;
use crate::command::Command;
use crate::input::Mouse;
use crate::keymap::{Meaning, Place};
use crate::message::{Effect, Tab, Told};
use crate::model::{Mode, Model};
use crate::{typed, view};
use glis_core::spec::Mode as SessionMode;

/// Rows of a terminal below which nothing sensible can be typed.
const ROWS_MIN: u16 = 3;

/// Hands the keys to the session in hand.
pub(super) fn begin(model: &mut Model) {
    if refuses(model) {
        return;
    }
    let Some(session) = model.session() else { return };
    let id = session.id.clone();
    // What is typed at once must be no command: words for it are a message.
    if session.mode == SessionMode::Headless {
        return send::open(model);
    }
    if model.pane.tab != Tab::Terminal {
        tabs::show_tab(model, Tab::Terminal);
    }
    if view::content(model).is_none_or(|area| area.height < ROWS_MIN) {
        let message = "there is no room for its terminal here".to_owned();
        let hint = format!("{} attaches to it", model.key(Place::List, Command::Attach));
        return wrong(model, Told { message, hint: Some(hint) });
    }
    model.notice = None;
    model.mode = Mode::Inline { id };
}

/// Takes a key. What is typed where nothing runs goes nowhere, and is no command of ours either.
pub(super) fn press(model: &mut Model, chord: Chord) {
    if let Meaning::Does(_) = model.keys.meaning(Place::Inline, &[chord]) {
        return end(model);
    }
    let Some(wants) = model.pane.preview.live().map(glis_screen::Screen::wants) else {
        return nowhere(model);
    };
    type_in(model, typed::key(chord, wants));
}

pub(super) fn paste(model: &mut Model, text: &str) {
    let Some(wants) = model.pane.preview.live().map(glis_screen::Screen::wants) else {
        return nowhere(model);
    };
    type_in(model, typed::paste(text, wants));
}

/// Takes what was done with the mouse over the session's terminal. Whether its programs have asked for it.
pub(super) fn point(model: &mut Model, mouse: Mouse, place: (u16, u16)) -> bool {
    let wants = model.pane.preview.live().map(glis_screen::Screen::wants);
    let Some(bytes) = wants.and_then(|wants| typed::mouse(mouse, place, wants)) else {
        return false;
    };
    type_in(model, bytes);
    true
}

/// The keys are ours again. The terminal is followed anew: who only looks does not count as attached.
pub(super) fn end(model: &mut Model) {
    model.mode = Mode::List;
    model.pane.preview.follow_at = Some(model.now.ms);
}

fn nowhere(model: &mut Model) {
    let back = model.key(Place::Inline, Command::Close);
    said(model, format!("not typed: nothing runs here; {back} takes the keys back"));
}

fn type_in(model: &mut Model, bytes: Vec<u8>) {
    let Mode::Inline { id } = &model.mode else { return };
    if model.pane.preview.session.as_ref() == Some(id) && !bytes.is_empty() {
        model.effects.push(Effect::Type { session: id.clone(), bytes });
    }
}

/// The session that has the keys stays in hand. One that is gone takes no keys, and they do nothing else
/// either until they are taken back.
pub(super) fn keep(model: &mut Model) {
    let Mode::Inline { id } = &model.mode else { return };
    if model.hand.selected.as_ref() != Some(id) && model.rows.all.contains_key(id) {
        model.hand.selected = Some(id.clone());
    }
}
