//! Keys in a box that is open: help, a question, a text, a choice.

use super::acts::{act, of_all};
use super::command;
use super::{
    asking, drafts, fields, house, inline, new, past, plan, said, search, send, words, wrong,
};
use crate::chord::{Chord, Code, Held};
use crate::command::Command;
use crate::deed::{Deed, Reply};
use crate::editor::Editor;
use crate::keymap::{Meaning, Place, leaves_box, submits};
use crate::message::{Effect, Told};
use crate::model::{Field, Mode, Model, Sure};
use crate::palette::found;
use crate::wanted::Wanted;

/// What a key leads to in a box.
enum Next {
    Stays(Mode),
    Closes,
}

/// Takes a key where a box is open.
pub(super) fn press(model: &mut Model, chord: Chord, effects: &mut Vec<Effect>) {
    if chord == EDITOR_KEY
        && let Some(editor) = text_in_hand(model)
    {
        effects.push(Effect::Edit { text: editor.text().to_owned() });
        return;
    }
    // The question that is answered in words is scrolled above them.
    if let (Some(_), None, Meaning::Does(command @ (Command::ScrollUp | Command::ScrollDown))) =
        (model.shown_ask(), chord.text(), model.keys.meaning(Place::Asks, &[chord]))
    {
        return asking::scroll(model, command);
    }
    let mode = std::mem::replace(&mut model.mode, Mode::List);
    let next = match mode {
        Mode::Words(form) => {
            if let Some(reply) = words::press(model, chord, form, effects) {
                asking::answer(model, reply, effects);
            }
            return;
        }
        Mode::Pick { at } => return words::pick(model, chord, at),
        Mode::Trash { at } => return house::press_trash(model, chord, at, effects),
        Mode::Judged { at } => return house::press_judged(model, chord, at),
        Mode::Search(form) => return search::press(model, chord, form, effects),
        Mode::Help { scroll, behind } => help(chord, scroll, behind),
        Mode::Confirm { sure, question } => confirm(model, chord, (sure, question), effects),
        Mode::Send { id, files } => return send::press(model, chord, (id, files), effects),
        Mode::File(form) => return send::press_file(model, chord, form, effects),
        Mode::AnswerWords { id, request, words } => {
            answer(model, chord, (id, request, words), effects)
        }
        Mode::New(form) => return new::press(model, chord, form, effects),
        Mode::Plan(form) => return plan::press(model, chord, form, effects),
        Mode::Filter => filter(model, chord),
        Mode::Palette { words, at } => palette(model, chord, (words, at), effects),
        Mode::List | Mode::History => Next::Closes,
        Mode::Past { words } => {
            past::press(model, chord, words.unwrap_or_default());
            return;
        }
        Mode::Asks { at } => Next::Stays(Mode::Asks { at }),
        Mode::Inline { id } => Next::Stays(Mode::Inline { id }),
    };
    if let Next::Stays(mode) = next {
        model.mode = mode;
    }
}

/// Opens the text in hand in the user's own editor, in every box that has one of several lines.
const EDITOR_KEY: Chord =
    Chord { code: Code::Char('g'), held: Held { ctrl: true, alt: false, shift: false } };

/// The text that is typed into, where it may have several lines.
fn text_in_hand(model: &mut Model) -> Option<&mut Editor> {
    match &mut model.mode {
        Mode::Send { id, .. } => {
            let id = id.clone();
            Some(model.drafts.entry(id).or_default())
        }
        Mode::AnswerWords { words, .. } => Some(words),
        Mode::New(form) if form.field == Field::Prompt => Some(&mut form.prompt),
        Mode::Words(form) if form.wanted == Wanted::ResumeWords => Some(&mut form.words),
        Mode::New(_)
        | Mode::Plan(_)
        | Mode::File(_)
        | Mode::Words(_)
        | Mode::List
        | Mode::Help { .. }
        | Mode::Confirm { .. }
        | Mode::Filter
        | Mode::Asks { .. }
        | Mode::Palette { .. }
        | Mode::History
        | Mode::Trash { .. }
        | Mode::Judged { .. }
        | Mode::Pick { .. }
        | Mode::Search(_)
        | Mode::Inline { .. }
        | Mode::Past { .. } => None,
    }
}

/// The user is back from an editor.
pub(super) fn edited(model: &mut Model, result: Result<String, Told>, effects: &mut Vec<Effect>) {
    match result {
        Ok(text) => {
            if let Some(editor) = text_in_hand(model) {
                *editor = Editor::with(text.trim_end());
            }
            if let Mode::Send { .. } = model.mode {
                drafts::keep(model, effects);
            }
        }
        Err(told) => wrong(model, told),
    }
}

/// Takes text that was pasted: it goes into a text, and nowhere else.
pub(super) fn paste(model: &mut Model, text: &str, effects: &mut Vec<Effect>) {
    match &mut model.mode {
        Mode::Send { id, .. } => {
            let id = id.clone();
            model.drafts.entry(id).or_default().insert(text);
            drafts::keep(model, effects);
        }
        Mode::AnswerWords { words, .. } => words.insert(text),
        Mode::New(form) => fields::paste(&mut **form, text),
        Mode::Plan(form) => fields::paste(&mut **form, text),
        Mode::Filter => {
            model.filter.insert(&text.replace('\n', " "));
            model.put_in_order();
        }
        Mode::Palette { words, .. } | Mode::Past { words: Some(words) } => {
            words.insert(&text.replace('\n', " "));
        }
        Mode::Inline { .. } => inline::paste(model, text, effects),
        Mode::Words(form) => form.words.insert(&text.replace('\n', " ")),
        // A terminal pastes the path of a file that is dropped on it.
        Mode::File(form) => form.words.insert(text.trim()),
        Mode::Search(form) => form.words.insert(&text.replace('\n', " ")),
        Mode::List
        | Mode::Help { .. }
        | Mode::Confirm { .. }
        | Mode::Asks { .. }
        | Mode::Past { words: None }
        | Mode::Pick { .. }
        | Mode::Trash { .. }
        | Mode::Judged { .. }
        | Mode::History => {
            let key = model.key(Place::List, Command::Send);
            said(model, format!("pasted text goes into a box: {key} sends a message"));
        }
    }
}

/// Scrolls, or closes.
fn help(chord: Chord, scroll: usize, behind: Box<Mode>) -> Next {
    let steps =
        [(Code::PageUp, -10), (Code::PageDown, 10), (Code::Char('k'), -1), (Code::Char('j'), 1)];
    let by = steps.iter().find(|(code, _)| *code == chord.code).map(|(_, by)| *by);
    let by = by.or(vertical(chord));
    Next::Stays(match by {
        Some(by) => Mode::Help { scroll: scroll.saturating_add_signed(by), behind },
        None => *behind,
    })
}

fn confirm(
    model: &mut Model,
    chord: Chord,
    (sure, question): (Sure, String),
    effects: &mut Vec<Effect>,
) -> Next {
    let is_undo = model.keys.meaning(Place::List, &[chord]) == Meaning::Does(Command::Undo);
    let back = if let Sure::Each { deed: Deed::Discard, .. } = sure {
        // What is deleted for good was asked about in the trash.
        Next::Stays(Mode::Trash { at: 0 })
    } else {
        Next::Closes
    };
    match (chord.text(), sure) {
        (Some('y' | 'Y'), sure) => carry_out(model, sure, effects),
        (_, sure @ Sure::Undo { .. }) if is_undo => carry_out(model, sure, effects),
        (Some('c'), Sure::Each { deed: Deed::Restart, ids }) => {
            carry_out(model, Sure::Each { deed: Deed::RestartWithContext, ids }, effects);
        }
        (Some('n' | 'N' | 'q'), _) => {}
        _ if leaves_box(chord) => {}
        (_, sure) => return Next::Stays(Mode::Confirm { sure, question }),
    }
    back
}

/// Does what a person has said yes to.
fn carry_out(model: &mut Model, sure: Sure, effects: &mut Vec<Effect>) {
    match sure {
        Sure::Each { deed, ids } => {
            for id in &ids {
                act(model, id, of_each(model, &deed, id), effects);
            }
            model.marked.clear();
            model.range = None;
        }
        Sure::Call { request, line, label } => of_all(model, (*request, line), label, effects),
        Sure::Undo { ticket } => command::undo_now(model, ticket, effects),
    }
}

/// Of several that are removed or begun anew, each in its own way.
fn of_each(model: &Model, deed: &Deed, id: &str) -> Deed {
    match (deed, model.sessions.get(id)) {
        (Deed::Remove { .. }, Some(session)) => command::removal(session),
        (Deed::Restart | Deed::RestartTask { .. }, Some(session)) => command::restart(session),
        (deed, _) => deed.clone(),
    }
}

/// Up or down, if it is one of them.
fn vertical(chord: Chord) -> Option<isize> {
    if chord.code == Code::Up {
        return Some(-1);
    }
    (chord.code == Code::Down).then_some(1)
}

fn answer(
    model: &mut Model,
    chord: Chord,
    (id, request, mut words): (String, String, Editor),
    effects: &mut Vec<Effect>,
) -> Next {
    let back = Mode::Asks { at: Some((id.clone(), request.clone())) };
    if leaves_box(chord) {
        return Next::Stays(back);
    }
    if !submits(chord) {
        words.press(chord);
        return Next::Stays(Mode::AnswerWords { id, request, words });
    }
    let text = words.text().trim().to_owned();
    if text.is_empty() {
        return Next::Stays(back);
    }
    model.mode = back;
    asking::answer(model, Reply::Words(text), effects);
    Next::Stays(std::mem::replace(&mut model.mode, Mode::List))
}

fn filter(model: &mut Model, chord: Chord) -> Next {
    if leaves_box(chord) {
        model.filter = Editor::default();
        model.put_in_order();
        return Next::Closes;
    }
    if submits(chord) {
        return Next::Closes;
    }
    if let Some(by) = vertical(chord) {
        command::step(model, by, &mut Vec::new());
    } else {
        model.filter.press(chord);
        model.put_in_order();
    }
    Next::Stays(Mode::Filter)
}

fn palette(
    model: &mut Model,
    chord: Chord,
    (mut words, mut at): (Editor, usize),
    effects: &mut Vec<Effect>,
) -> Next {
    if leaves_box(chord) {
        return Next::Closes;
    }
    let found = found(model, words.text());
    if submits(chord) {
        if let Some(found) = found.get(at) {
            if let Some((id, _)) = &found.session {
                model.selected = Some(id.clone());
                model.marked.clear();
                model.range = None;
            }
            command::run(model, found.command, effects);
        }
        // The command may have opened a box of its own.
        return Next::Stays(std::mem::replace(&mut model.mode, Mode::List));
    }
    if let Some(by) = vertical(chord) {
        at = at.saturating_add_signed(by).min(found.len().saturating_sub(1));
    } else {
        words.press(chord);
        at = 0;
    }
    Next::Stays(Mode::Palette { words, at })
}
