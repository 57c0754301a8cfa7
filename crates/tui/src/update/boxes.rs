//! Keys in a box that is open: help, a question, a text, a choice.

use super::acts::{act, call};
use super::command;
use super::{done, inline, past, search, words, wrong};
use crate::chord::{Chord, Code, Held};
use crate::command::Command;
use crate::deed::{Deed, Reply, new_session};
use crate::editor::Editor;
use crate::keymap::{Place, leaves_box};
use crate::message::{Effect, Told};
use crate::model::{AGENTS, FIELDS, Mode, Model, NewBox, UnderWay};
use crate::palette::found;
use crate::wanted::Wanted;
use glis_wire::client::NewSession;

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
    let mode = std::mem::replace(&mut model.mode, Mode::List);
    let next = match mode {
        Mode::Words(form) => return words::press(model, chord, form, effects),
        Mode::Pick { at } => return words::pick(model, chord, at),
        Mode::Search(form) => return search::press(model, chord, form, effects),
        Mode::Help { scroll } => help(chord, scroll),
        Mode::Confirm { deed, ids, question } => {
            confirm(model, chord, (deed, ids, question), effects)
        }
        Mode::Send { id } => send(model, chord, id, effects),
        Mode::AnswerWords { id, request, words } => {
            answer(model, chord, (id, request, words), effects)
        }
        Mode::New(form) => new(model, chord, form, effects),
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
        Mode::Send { id } => {
            let id = id.clone();
            Some(model.drafts.entry(id).or_default())
        }
        Mode::AnswerWords { words, .. } => Some(words),
        Mode::New(form) if form.field == 0 => Some(&mut form.prompt),
        Mode::Words(form) if form.wanted == Wanted::ResumeWords => Some(&mut form.words),
        Mode::New(_)
        | Mode::Words(_)
        | Mode::List
        | Mode::Help { .. }
        | Mode::Confirm { .. }
        | Mode::Filter
        | Mode::Asks { .. }
        | Mode::Palette { .. }
        | Mode::History
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
                keep_drafts(model, effects);
            }
        }
        Err(told) => wrong(model, told),
    }
}

/// Takes text that was pasted: it goes into a text, and nowhere else.
pub(super) fn paste(model: &mut Model, text: &str, effects: &mut Vec<Effect>) {
    match &mut model.mode {
        Mode::Send { id } => {
            let id = id.clone();
            model.drafts.entry(id).or_default().insert(text);
            keep_drafts(model, effects);
        }
        Mode::AnswerWords { words, .. } => words.insert(text),
        Mode::New(form) => {
            if let Some(field) = field(form) {
                field.insert(text);
            }
        }
        Mode::Filter => {
            model.filter.insert(&text.replace('\n', " "));
            model.put_in_order();
        }
        Mode::Palette { words, .. } | Mode::Past { words: Some(words) } => {
            words.insert(&text.replace('\n', " "));
        }
        Mode::Inline { .. } => inline::paste(model, text, effects),
        Mode::Words(form) => form.words.insert(&text.replace('\n', " ")),
        Mode::Search(form) => form.words.insert(&text.replace('\n', " ")),
        Mode::List
        | Mode::Help { .. }
        | Mode::Confirm { .. }
        | Mode::Asks { .. }
        | Mode::Past { words: None }
        | Mode::Pick { .. }
        | Mode::History => {
            let key = model.key(Place::List, Command::Send);
            done(model, format!("pasted text goes into a box: {key} sends a message"));
        }
    }
}

/// Scrolls, or closes.
fn help(chord: Chord, scroll: usize) -> Next {
    let steps =
        [(Code::PageUp, -10), (Code::PageDown, 10), (Code::Char('k'), -1), (Code::Char('j'), 1)];
    let by = steps.iter().find(|(code, _)| *code == chord.code).map(|(_, by)| *by);
    let by = by.or(vertical(chord));
    by.map_or(Next::Closes, |by| {
        Next::Stays(Mode::Help { scroll: scroll.saturating_add_signed(by) })
    })
}

fn confirm(
    model: &mut Model,
    chord: Chord,
    (deed, ids, question): (Deed, Vec<String>, String),
    effects: &mut Vec<Effect>,
) -> Next {
    match chord.text() {
        Some('y' | 'Y') => {
            for id in &ids {
                act(model, id, of_each(model, &deed, id), effects);
            }
            model.marked.clear();
            model.range = None;
            Next::Closes
        }
        Some('c') if deed == Deed::Restart => confirm(
            model,
            Chord::plain(Code::Char('y')),
            (Deed::RestartWithContext, ids, question),
            effects,
        ),
        Some('n' | 'N' | 'q') => Next::Closes,
        _ if leaves_box(chord) => Next::Closes,
        _ => Next::Stays(Mode::Confirm { deed, ids, question }),
    }
}

/// Of several that are removed, each is stopped if it runs.
fn of_each(model: &Model, deed: &Deed, id: &str) -> Deed {
    use glis_core::input::IfRunning;
    let Deed::Remove { .. } = deed else { return deed.clone() };
    let runs = model.sessions.get(id).is_some_and(|session| session.pid.is_some());
    Deed::Remove { running: if runs { IfRunning::Stop } else { IfRunning::Refuse } }
}

/// Up or down, if it is one of them.
fn vertical(chord: Chord) -> Option<isize> {
    if chord.code == Code::Up {
        return Some(-1);
    }
    (chord.code == Code::Down).then_some(1)
}

fn is_submit(chord: Chord) -> bool {
    chord == Chord::plain(Code::Enter)
}

fn send(model: &mut Model, chord: Chord, id: String, effects: &mut Vec<Effect>) -> Next {
    if leaves_box(chord) {
        keep_drafts(model, effects);
        return Next::Closes;
    }
    let draft = model.drafts.entry(id.clone()).or_default();
    if !is_submit(chord) {
        draft.press(chord);
        return Next::Stays(Mode::Send { id });
    }
    let text = draft.text().trim().to_owned();
    if text.is_empty() {
        return Next::Closes;
    }
    model.drafts.remove(&id);
    keep_drafts(model, effects);
    act(model, &id, Deed::Send { text }, effects);
    Next::Closes
}

/// What is typed and not sent is kept for the next time.
pub(super) fn keep_drafts(model: &mut Model, effects: &mut Vec<Effect>) {
    model.drafts.retain(|_, draft| !draft.text().is_empty());
    let drafts = model.drafts.iter().map(|(id, draft)| (id.clone(), draft.text().to_owned()));
    effects.push(Effect::KeepDrafts(drafts.collect()));
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
    if !is_submit(chord) {
        words.press(chord);
        return Next::Stays(Mode::AnswerWords { id, request, words });
    }
    let text = words.text().trim().to_owned();
    if text.is_empty() {
        return Next::Stays(back);
    }
    model.mode = back;
    command::answer(model, Reply::Words(text), effects);
    Next::Stays(std::mem::replace(&mut model.mode, Mode::List))
}

fn field(form: &mut NewBox) -> Option<&mut Editor> {
    match form.field {
        0 => Some(&mut form.prompt),
        1 => Some(&mut form.name),
        3 => Some(&mut form.base),
        _ => None,
    }
}

fn new(model: &mut Model, chord: Chord, mut form: Box<NewBox>, effects: &mut Vec<Effect>) -> Next {
    if leaves_box(chord) {
        return Next::Closes;
    }
    if is_submit(chord) {
        let text =
            |editor: &Editor| Some(editor.text().trim().to_owned()).filter(|t| !t.is_empty());
        let wanted = NewSession {
            name: text(&form.name),
            agent: AGENTS.get(form.agent).copied().flatten().map(ToOwned::to_owned),
            prompt: text(&form.prompt),
            repo: form.repo.clone(),
            base: text(&form.base),
            ..NewSession::default()
        };
        let name = wanted.name.clone().unwrap_or_else(|| "a session".to_owned());
        let (request, line) = new_session(wanted);
        let under_way = UnderWay { id: None, name, deed: None, label: "making the session" };
        call(model, under_way, request, line, effects);
        return Next::Closes;
    }
    let turn = |at: usize, by: usize, of: usize| (at + by) % of;
    match (chord.code, chord.held.shift) {
        (Code::Tab, false) => form.field = turn(form.field, 1, FIELDS.len()),
        (Code::Tab, true) => form.field = turn(form.field, FIELDS.len() - 1, FIELDS.len()),
        (Code::Down, _) if form.field != 0 => form.field = turn(form.field, 1, FIELDS.len()),
        (Code::Up, _) if form.field != 0 => form.field -= 1,
        (Code::Left, _) if form.field == 2 => {
            form.agent = turn(form.agent, AGENTS.len() - 1, AGENTS.len());
        }
        (Code::Right | Code::Char(' '), _) if form.field == 2 => {
            form.agent = turn(form.agent, 1, AGENTS.len());
        }
        _ => {
            if let Some(field) = field(&mut form) {
                field.press(chord);
            }
        }
    }
    Next::Stays(Mode::New(form))
}

fn filter(model: &mut Model, chord: Chord) -> Next {
    if leaves_box(chord) {
        model.filter = Editor::default();
        model.put_in_order();
        return Next::Closes;
    }
    if is_submit(chord) {
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
    if is_submit(chord) {
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
