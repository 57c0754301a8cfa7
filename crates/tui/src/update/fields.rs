//! A key in a box with several fields or a list: it walks through them, chooses, or types.

use crate::chord::{Chord, Code};
use crate::keymap::leaves_box;
use crate::model::Fields;

/// As many lines as a key that scrolls goes on.
const PAGE: usize = 10;

/// Takes a key that neither closes the box nor sends it off.
pub(super) fn press(form: &mut impl Fields, chord: Chord) {
    let is_text = form.text_in_hand().is_some();
    // In a text of several lines these keys move in it.
    let is_line = !form.has_lines();
    match (chord.code, chord.held.shift) {
        (Code::Tab, false) => form.step(1),
        (Code::Tab, true) => form.step(-1),
        (Code::Down, _) if is_line => form.step(1),
        (Code::Up, _) if is_line => form.step(-1),
        (Code::Left, _) if !is_text => form.turn(-1),
        (Code::Right | Code::Char(' '), _) if !is_text => form.turn(1),
        _ => {
            if let Some(text) = form.text_in_hand() {
                text.press(chord);
            }
        }
    }
}

/// Takes text that was pasted: as one line, where the field has but one.
pub(super) fn paste(form: &mut impl Fields, text: &str) {
    let text = if form.has_lines() { text.to_owned() } else { text.replace('\n', " ") };
    if let Some(field) = form.text_in_hand() {
        field.insert(&text);
    }
}

/// Where a key leads in a list of so many; none if it does not move.
pub(super) fn moved(chord: Chord, at: usize, count: usize) -> Option<usize> {
    let last = count.saturating_sub(1);
    let to = match chord.code {
        Code::Down | Code::Char('j') => at + 1,
        Code::Up | Code::Char('k') => at.saturating_sub(1),
        Code::PageDown => at + PAGE,
        Code::PageUp => at.saturating_sub(PAGE),
        Code::Home | Code::Char('g') => 0,
        Code::End | Code::Char('G') => last,
        _ => return None,
    };
    Some(to.min(last))
}

pub(super) fn closes(chord: Chord) -> bool {
    leaves_box(chord) || chord.text() == Some('q')
}
