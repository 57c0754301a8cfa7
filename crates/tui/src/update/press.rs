//! A key: for the box that is open, else for the command that it is bound to.

use super::{PREFIX_MS, boxes, command, inline, said};
use crate::chord::Chord;
use crate::command::Command;
use crate::keymap::{Meaning, Place};
use crate::message::Effect;
use crate::model::{Mode, Model, Prefix};

/// Takes a key.
pub(super) fn press(model: &mut Model, chord: Chord, effects: &mut Vec<Effect>) {
    let place = match &model.mode {
        Mode::List => Place::List,
        Mode::Asks { .. } => Place::Asks,
        Mode::Past { words: None } => Place::Past,
        Mode::Inline { .. } => return inline::press(model, chord, effects),
        Mode::Past { words: Some(_) }
        | Mode::Help { .. }
        | Mode::Confirm { .. }
        | Mode::Send { .. }
        | Mode::File(_)
        | Mode::AnswerWords { .. }
        | Mode::New(_)
        | Mode::Plan(_)
        | Mode::Filter
        | Mode::Palette { .. }
        | Mode::Words(_)
        | Mode::Pick { .. }
        | Mode::Search(_)
        | Mode::Trash { .. }
        | Mode::Judged { .. }
        | Mode::History => return boxes::press(model, chord, effects),
    };
    let mut keys = model.prefix.take().map_or_else(Vec::new, |prefix| prefix.keys);
    let is_second = !keys.is_empty();
    keys.push(chord);
    match model.keys.meaning(place, &keys) {
        Meaning::Does(command) => command::run(model, command, effects),
        Meaning::Begins => {
            model.prefix = Some(Prefix { keys, until: model.now.ms + PREFIX_MS });
        }
        Meaning::Unbound if is_second => {
            let keys = keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
            let help = model.key(Place::List, Command::Help);
            said(model, format!("`{keys}` means nothing; {help} shows all keys"));
        }
        Meaning::Unbound if place == Place::Asks => {
            let digit = chord.text().and_then(|letter| letter.to_digit(10));
            if let Some(digit) = digit.and_then(|digit| usize::try_from(digit).ok()) {
                command::choose(model, digit, effects);
            }
        }
        Meaning::Unbound => {}
    }
}
