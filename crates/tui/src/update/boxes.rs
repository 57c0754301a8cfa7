//! Keys in a box that is open: help, a question, a text, a choice.

use super::acts::{act, of_all, refuses};
use super::command;
use super::{
    asking, drafts, fields, house, inline, new, past, plan, reader, said, search, send, words,
    wrong,
};
use crate::chord::{Chord, Code, Held};
use crate::command::Command;
use crate::deed::Deed;
use crate::editor::Editor;
use crate::keymap::{Meaning, Place, leaves_box, submits};
use crate::message::{Effect, Told};
use crate::model::{Field, Mode, Model, Sure};
use crate::palette::found;
use crate::wanted::Wanted;

/// Takes a key where a box is open. It closes, unless what takes the key opens it again.
pub(super) fn press(model: &mut Model, chord: Chord) {
    if chord == EDITOR_KEY
        && let Some(text) = text_in_hand(model).map(|editor| editor.text().to_owned())
    {
        return model.effects.push(Effect::Edit { text });
    }
    // The question that is answered in words is scrolled above them.
    if let (Some(_), None, Meaning::Does(command @ (Command::ScrollUp | Command::ScrollDown))) =
        (model.mode.shown_ask(), chord.text(), model.keys.meaning(Place::Asks, &[chord]))
    {
        return asking::scroll(model, command);
    }
    match std::mem::take(&mut model.mode) {
        Mode::Words(form) => {
            if let Some(reply) = words::press(model, chord, form) {
                asking::answer(model, reply);
            }
        }
        Mode::Pick { at } => words::pick(model, chord, at),
        Mode::Trash { at } => house::press_trash(model, chord, at),
        Mode::Judged { at } => house::press_judged(model, chord, at),
        Mode::Search(form) => search::press(model, chord, form),
        Mode::Help { scroll, behind, words } => help(model, chord, (scroll, behind, words)),
        Mode::Confirm { sure, question } => confirm(model, chord, (sure, question)),
        Mode::Send { id, files } => send::press(model, chord, (id, files)),
        Mode::File(form) => send::press_file(model, chord, form),
        Mode::New(form) => new::press(model, chord, form),
        Mode::Plan(form) => plan::press(model, chord, form),
        Mode::Filter => filter(model, chord),
        Mode::Palette { words, at } => palette(model, chord, (words, at)),
        Mode::History { words } => history(model, chord, words),
        Mode::List => {}
        Mode::View { words } => reader::press(model, chord, words.unwrap_or_default()),
        Mode::Past { words } => past::press(model, chord, words.unwrap_or_default()),
        stays @ (Mode::Asks { .. } | Mode::Inline { .. }) => model.mode = stays,
    }
}

/// Opens the text in hand in the user's own editor, in every box that has one of several lines.
const EDITOR_KEY: Chord =
    Chord { code: Code::Char('g'), held: Held { ctrl: true, alt: false, shift: false } };

/// The text that is typed into, where it may have several lines.
fn text_in_hand(model: &mut Model) -> Option<&mut Editor> {
    match &mut model.mode {
        Mode::Send { id, .. } => Some(model.drafts.editor(id)),
        Mode::New(form) if form.field == Field::Prompt => Some(&mut form.prompt),
        Mode::Words(form) if form.takes_lines() || form.wanted == Wanted::ResumeWords => {
            Some(&mut form.words)
        }
        _ => None,
    }
}

/// Saves the filter that is typed, or forgets it where it was saved.
const SAVE_KEY: Chord =
    Chord { code: Code::Char('s'), held: Held { ctrl: true, alt: false, shift: false } };

pub(super) fn edited(model: &mut Model, result: Result<String, Told>) {
    match result {
        Ok(text) => {
            if let Some(editor) = text_in_hand(model) {
                *editor = Editor::with(text.trim_end());
            }
            if let Mode::Send { .. } = model.mode {
                drafts::keep(model);
            }
        }
        Err(told) => wrong(model, told),
    }
}

/// Takes text that was pasted: it goes into a text, and nowhere else.
pub(super) fn paste(model: &mut Model, text: &str) {
    match &mut model.mode {
        Mode::Send { id, .. } => {
            model.drafts.editor(id).insert(text);
            drafts::keep(model);
        }
        Mode::New(form) => fields::paste(&mut **form, text),
        Mode::Plan(form) => fields::paste(&mut **form, text),
        Mode::Filter => {
            model.list.filter.insert(&text.replace('\n', " "));
            model.put_in_order();
        }
        Mode::Palette { words, .. }
        | Mode::History { words }
        | Mode::Help { words: Some(words), .. }
        | Mode::Past { words: Some(words) }
        | Mode::View { words: Some(words) } => {
            words.insert(&text.replace('\n', " "));
        }
        Mode::Inline { .. } => inline::paste(model, text),
        Mode::Words(form) if form.takes_lines() => form.words.insert(text),
        Mode::Words(form) => form.words.insert(&text.replace('\n', " ")),
        // A terminal pastes the path of a file that is dropped on it.
        Mode::File(form) => form.words.insert(text.trim()),
        Mode::Search(form) => form.words.insert(&text.replace('\n', " ")),
        _ => {
            let key = model.key(Place::List, Command::Send);
            said(model, format!("pasted text goes into a box: {key} sends a message"));
        }
    }
}

/// Letters seek among what was done; what leaves any box leaves this one.
fn history(model: &mut Model, chord: Chord, mut words: Editor) {
    if !leaves_box(chord) && !submits(chord) {
        words.press(chord);
        model.mode = Mode::History { words };
    }
}

/// Scrolls, seeks behind the key that filters, and closes by any other key.
fn help(
    model: &mut Model,
    chord: Chord,
    (scroll, behind, words): (usize, Box<Mode>, Option<Editor>),
) {
    if let Some(mut words) = words {
        model.mode = match chord {
            _ if leaves_box(chord) || submits(chord) => *behind,
            _ => {
                words.press(chord);
                Mode::Help { scroll: 0, behind, words: Some(words) }
            }
        };
        return;
    }
    if model.keys.meaning(Place::List, &[chord]) == Meaning::Does(Command::Filter) {
        model.mode = Mode::Help { scroll: 0, behind, words: Some(Editor::default()) };
        return;
    }
    let steps =
        [(Code::PageUp, -10), (Code::PageDown, 10), (Code::Char('k'), -1), (Code::Char('j'), 1)];
    let by = steps.iter().find(|(code, _)| *code == chord.code).map(|(_, by)| *by);
    let by = by.or(vertical(chord));
    model.mode = match by {
        Some(by) => Mode::Help { scroll: scroll.saturating_add_signed(by), behind, words: None },
        None => *behind,
    };
}

fn confirm(model: &mut Model, chord: Chord, (sure, question): (Sure, String)) {
    let is_undo = model.keys.meaning(Place::List, &[chord]) == Meaning::Does(Command::Undo);
    let is_in_trash = matches!(sure, Sure::Each { deed: Deed::Discard, .. });
    match (chord.text(), sure) {
        (Some('y' | 'Y'), sure) => carry_out(model, sure),
        (_, sure @ Sure::Undo { .. }) if is_undo => carry_out(model, sure),
        (Some('c'), Sure::Each { deed: Deed::Restart { with_context: false }, ids }) => {
            carry_out(model, Sure::Each { deed: Deed::Restart { with_context: true }, ids });
        }
        (Some('n' | 'N' | 'q'), _) => {}
        _ if leaves_box(chord) => {}
        (_, sure) => {
            model.mode = Mode::Confirm { sure, question };
            return;
        }
    }
    if is_in_trash {
        // What is deleted for good was asked about there.
        model.mode = Mode::Trash { at: 0 };
    }
}

/// Does what a person has said yes to.
fn carry_out(model: &mut Model, sure: Sure) {
    match sure {
        Sure::Each { deed, ids } => {
            for id in &ids {
                act(model, id, of_each(model, &deed, id));
            }
            model.list.unmark();
        }
        Sure::Call { request, line, label } => of_all(model, (*request, line), label),
        Sure::Undo { ticket } => command::undo_now(model, ticket),
    }
}

/// Of several that are removed or begun anew, each in its own way.
fn of_each(model: &Model, deed: &Deed, id: &str) -> Deed {
    match (deed, model.rows.all.get(id)) {
        (Deed::Remove { .. }, Some(session)) => command::removal(session),
        (Deed::Restart { with_context: false } | Deed::RestartTask { .. }, Some(session)) => {
            command::restart(session)
        }
        (deed, _) => deed.clone(),
    }
}

fn vertical(chord: Chord) -> Option<isize> {
    if chord.code == Code::Up {
        return Some(-1);
    }
    (chord.code == Code::Down).then_some(1)
}

fn filter(model: &mut Model, chord: Chord) {
    if leaves_box(chord) {
        model.list.filter = Editor::default();
        return model.put_in_order();
    }
    if submits(chord) {
        return;
    }
    if chord == SAVE_KEY || chord == Chord::plain(Code::Tab) {
        let text = model.list.filter.text().trim().to_owned();
        if chord == SAVE_KEY {
            if !text.is_empty() && !refuses(model) {
                let keep = !model.list.saved.has(&text);
                model.effects.push(Effect::KeepFilter { words: text, keep });
            }
        } else if let Some(next) = model.list.saved.behind(&text) {
            model.list.filter = Editor::with(next);
            model.put_in_order();
        }
        model.mode = Mode::Filter;
        return;
    }
    if let Some(by) = vertical(chord) {
        command::step(model, by);
    } else {
        model.list.filter.press(chord);
        model.put_in_order();
    }
    model.mode = Mode::Filter;
}

fn palette(model: &mut Model, chord: Chord, (mut words, mut at): (Editor, usize)) {
    if leaves_box(chord) {
        return;
    }
    let found = found(model, words.text());
    if submits(chord) {
        if let Some(found) = found.get(at) {
            if let Some((id, _)) = &found.session {
                model.hand.selected = Some(id.clone());
                model.list.unmark();
            }
            command::run(model, found.command);
        }
        return;
    }
    if let Some(by) = vertical(chord) {
        at = at.saturating_add_signed(by).min(found.len().saturating_sub(1));
    } else {
        words.press(chord);
        at = 0;
    }
    model.mode = Mode::Palette { words, at };
}
