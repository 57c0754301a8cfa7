//! Boxes over everything else: a question, a text, a choice.

use super::field::{BOX_COLUMNS, edit};
use super::layout::middle;
use super::pen::{Pen, width, wrapped};
use super::{finder, help};
use crate::deed::Deed;
use crate::editor::Editor;
use crate::model::{AGENTS, End, FIELDS, Mode, Model, NewBox, WordsBox};
use glis_client::labels::Tone;
use ratatui_core::layout::Rect;

/// Draws the box that is open. Returns the place of the cursor in it.
pub(super) fn draw(model: &Model, pen: &mut Pen<'_>, area: Rect) -> Option<(u16, u16)> {
    match &model.mode {
        Mode::List | Mode::Asks { .. } | Mode::Past { words: None } | Mode::Pick { .. } => None,
        Mode::Past { words: Some(words) } => bottom_cursor(words, area),
        Mode::Inline { .. } => {
            let content = super::content(model)?;
            super::terminal::cursor_at(model, content)
        }
        Mode::Help { scroll } => {
            help::draw(model, pen, area, *scroll);
            None
        }
        Mode::Filter => bottom_cursor(&model.filter, area),
        Mode::Confirm { question, deed, .. } => {
            let keys = if *deed == Deed::Restart {
                "y yes   c yes, told what was done   n no"
            } else {
                "y yes   n no"
            };
            confirm(model, pen, area, question, keys);
            None
        }
        Mode::Send { id } => {
            let name = model.sessions.get(id).map_or(id.as_str(), |session| &session.name);
            let empty = Editor::default();
            let draft = model.drafts.get(id).unwrap_or(&empty);
            text_box(pen, area, &format!("message to {name}"), draft)
        }
        Mode::AnswerWords { id, words, .. } => {
            let name = model.sessions.get(id).map_or(id.as_str(), |session| &session.name);
            text_box(pen, area, &format!("answer to {name}"), words)
        }
        Mode::New(form) => new(model, pen, area, form),
        Mode::Palette { words, at } => finder::palette(model, pen, area, words, *at),
        Mode::Search(form) => finder::search(model, pen, area, form),
        Mode::Words(form) => words(model, pen, area, form),
        Mode::History => {
            history(model, pen, area);
            None
        }
    }
}

fn bottom_cursor(words: &Editor, area: Rect) -> Option<(u16, u16)> {
    let x = area.x + 2 + width(words.text());
    let row = area.bottom().checked_sub(2)?;
    (x < area.right()).then_some((x, row))
}

fn confirm(model: &Model, pen: &mut Pen<'_>, area: Rect, question: &str, keys: &str) {
    let columns = BOX_COLUMNS.min(area.width.saturating_sub(2));
    let lines = wrapped(question, columns.saturating_sub(4));
    let rows = u16::try_from(lines.len()).unwrap_or(1) + 4;
    let inner = pen.frame(middle(area, columns, rows), "sure?");
    for (y, line) in (inner.y..).zip(&lines) {
        pen.put(inner.x, y, inner.width, line, model.theme.text());
    }
    let y = inner.bottom().saturating_sub(1);
    pen.put(inner.x, y, inner.width, keys, model.theme.accent());
}

fn text_box(pen: &mut Pen<'_>, area: Rect, title: &str, editor: &Editor) -> Option<(u16, u16)> {
    let columns = BOX_COLUMNS.min(area.width.saturating_sub(2));
    let lines = u16::try_from(editor.text().split('\n').count()).unwrap_or(u16::MAX);
    let rows = lines.max(3).saturating_add(2).min(area.height.saturating_sub(2));
    let inner = pen.frame(middle(area, columns, rows), title);
    edit(pen, inner, editor)
}

fn new(model: &Model, pen: &mut Pen<'_>, area: Rect, form: &NewBox) -> Option<(u16, u16)> {
    let theme = model.theme;
    let columns = BOX_COLUMNS.min(area.width.saturating_sub(2));
    let prompt = u16::try_from(form.prompt.text().split('\n').count()).unwrap_or(1).clamp(3, 8);
    let rows = (prompt + 6).min(area.height.saturating_sub(1));
    let repo = form.repo.rsplit('/').next().unwrap_or_default();
    let inner = pen.frame(middle(area, columns, rows), &format!("new session in {repo}"));
    let mut cursor = None;
    let mut y = inner.y;
    for (at, field) in FIELDS.into_iter().enumerate() {
        let height = if at == 0 { prompt } else { 1 };
        let in_hand = form.field == at;
        let style = if in_hand { theme.accent() } else { theme.faint() };
        pen.put(inner.x, y, 8, field, style);
        let place = Rect { x: inner.x + 8, y, width: inner.width.saturating_sub(8), height };
        let editor = match at {
            0 => Some(&form.prompt),
            1 => Some(&form.name),
            3 => Some(&form.base),
            _ => None,
        };
        if let Some(editor) = editor {
            let found = edit(pen, place, editor);
            cursor = if in_hand { found } else { cursor };
            if editor.text().is_empty() && !in_hand {
                let usual = ["", "made from the prompt", "", "the current commit"];
                let usual = usual.get(at).copied().unwrap_or_default();
                pen.put(place.x, place.y, place.width, usual, theme.faint());
            }
        } else {
            let agent = AGENTS.get(form.agent).copied().flatten().unwrap_or("as configured");
            let text = if in_hand { format!("‹ {agent} ›") } else { agent.to_owned() };
            pen.put(place.x, place.y, place.width, &text, theme.text());
        }
        y += height + u16::from(at == 0);
    }
    cursor
}

/// The box for the words that a deed still needs.
fn words(model: &Model, pen: &mut Pen<'_>, area: Rect, form: &WordsBox) -> Option<(u16, u16)> {
    let theme = model.theme;
    let columns = BOX_COLUMNS.min(area.width.saturating_sub(2));
    let names: Vec<&str> = form
        .ids
        .iter()
        .filter_map(|id| model.sessions.get(id))
        .map(|session| session.name.as_str())
        .collect();
    let inner = pen.frame(middle(area, columns, 5), &form.wanted.title(&names.join(", ")));
    let cursor = edit(pen, Rect { height: 1, ..inner }, &form.words);
    let (text, style) = match &form.fault {
        Some(why) => (why.as_str(), theme.tone(Tone::Bad)),
        None => (form.wanted.hint(), theme.faint()),
    };
    pen.put(inner.x, inner.y + 2, inner.width, text, style);
    cursor
}

fn history(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    let theme = model.theme;
    let columns = BOX_COLUMNS.max(area.width * 3 / 4).min(area.width.saturating_sub(2));
    let rows = u16::try_from(model.history.len().max(1)).unwrap_or(u16::MAX).saturating_add(2);
    let inner = pen.frame(
        middle(area, columns, rows.min(area.height.saturating_sub(2))),
        "done here, as commands",
    );
    if model.history.is_empty() {
        pen.put(inner.x, inner.y, inner.width, "nothing yet", theme.faint());
    }
    let first = model.history.len().saturating_sub(usize::from(inner.height));
    for (y, done) in (inner.y..inner.bottom()).zip(model.history.iter().skip(first)) {
        let (mark, tone) = match done.end {
            End::NotYet => ("…", Tone::Attention),
            End::Well => ("✓", Tone::Good),
            End::Badly => ("✗", Tone::Bad),
            End::Undone => ("↶", Tone::Faint),
        };
        pen.put(inner.x, y, 1, mark, theme.tone(tone));
        pen.put(
            inner.x + 2,
            y,
            inner.width.saturating_sub(2),
            &done.line.replace('\n', " "),
            theme.text(),
        );
    }
}
