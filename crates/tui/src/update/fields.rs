//! A key in a box with several fields: it walks through them, chooses, or types.

use crate::chord::{Chord, Code};
use crate::model::Fields;

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
