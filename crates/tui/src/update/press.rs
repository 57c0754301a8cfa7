//! A key: for the box that is open, else for the command that it is bound to.

use super::{PREFIX_MS, asking, boxes, command, inline, said};
use crate::chord::{Chord, Code};
use crate::command::Command;
use crate::keymap::{Meaning, Place};
use crate::model::{Mode, Model, Prefix};

/// After a box that did not open letters mean nothing for so long, and after each of them again: they were typed
/// for it, and nobody types slower. An escape would have left it, and ends that.
const DEAF_MS: u64 = 700;

fn is_deaf_to(model: &Model, chord: Chord) -> bool {
    let is_typed = chord.text().is_some() || matches!(chord.code, Code::Enter | Code::Backspace);
    is_typed && model.now.ms < model.keyboard.deaf_until
}

/// Whether a key with alt means something of its own here. Many terminals tell it as an escape and the key, and so
/// do two keys that follow each other quickly.
pub(super) fn takes_alt(model: &Model, chord: Chord) -> bool {
    let is_bound = |place: Place| {
        let before = model.keyboard.prefix.iter().flat_map(|prefix| prefix.keys.clone());
        let keys: Vec<Chord> = before.chain(std::iter::once(chord)).collect();
        model.keys.meaning(place, &keys) != Meaning::Unbound
    };
    matches!(model.mode, Mode::Inline { .. }) || model.mode.place().is_some_and(is_bound)
}

pub(super) fn press(model: &mut Model, chord: Chord) {
    if matches!(model.mode, Mode::Inline { .. }) {
        return inline::press(model, chord);
    }
    let Some(place) = model.mode.place() else { return boxes::press(model, chord) };
    if is_deaf_to(model, chord) {
        model.keyboard.deaf_until = model.now.ms + DEAF_MS;
        return;
    }
    if chord.code == Code::Esc {
        model.keyboard.deaf_until = 0;
    }
    let mut keys = model.keyboard.prefix.take().map_or_else(Vec::new, |prefix| prefix.keys);
    let is_second = !keys.is_empty();
    keys.push(chord);
    match model.keys.meaning(place, &keys) {
        Meaning::Does(command) => {
            command::run(model, command);
            if command.takes_words() && matches!(model.mode, Mode::List | Mode::Asks { .. }) {
                model.keyboard.deaf_until = model.now.ms + DEAF_MS;
            }
        }
        Meaning::Begins => {
            model.keyboard.prefix = Some(Prefix { keys, until: model.now.ms + PREFIX_MS });
        }
        Meaning::Unbound if is_second => {
            let keys = keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
            let help = model.key(Place::List, Command::Help);
            said(model, format!("`{keys}` means nothing; {help} shows all keys"));
        }
        Meaning::Unbound if place == Place::Asks => {
            let digit = chord.text().and_then(|letter| letter.to_digit(10));
            if let Some(digit) = digit.and_then(|digit| usize::try_from(digit).ok()) {
                asking::choose(model, digit);
            }
        }
        Meaning::Unbound => {}
    }
}
