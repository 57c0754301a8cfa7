//! Which part of the session in hand is shown.

use super::move_on;
use crate::message::Tab;
use crate::model::Model;

pub(super) fn turn_tab(model: &mut Model, by: usize) {
    let at = Tab::ALL.iter().position(|tab| *tab == model.pane.tab).unwrap_or(0);
    if let Some(tab) = Tab::ALL.get((at + by) % Tab::ALL.len()) {
        show_tab(model, *tab);
    }
}

/// Shows what has this number, counted from 0.
pub(super) fn show_nth(model: &mut Model, at: u8) {
    if let Some(tab) = Tab::ALL.get(usize::from(at)) {
        show_tab(model, *tab);
    }
}

pub(super) fn show_tab(model: &mut Model, tab: Tab) {
    model.pane.tab = tab;
    move_on(model);
    model.pane.preview.follow_at = Some(model.now.ms);
}
