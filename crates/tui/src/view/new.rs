//! The box for a new session, or a loop.

use super::field::{self, BOX_COLUMNS, Value};
use super::layout::middle;
use super::pen::Pen;
use crate::model::{Field, Model, NewBox, Repeat, folder_of};
use glis_client::labels::Tone;
use ratatui_core::layout::Rect;

/// The longest word before a field, and a blank or two.
const WORDS: u16 = 10;
/// A prompt has at least so many rows where there is room, and at most so many.
const PROMPT_ROWS: (u16, u16) = (3, 8);
const EDGE: u16 = 2;

pub(super) fn draw(model: &Model, pen: &mut Pen<'_>, area: Rect, form: &NewBox) {
    let columns = BOX_COLUMNS.min(area.width.saturating_sub(2));
    let lines = u16::try_from(form.prompt.text().split('\n').count()).unwrap_or(u16::MAX);
    let fields = form.fields();
    // The others have a row each, and so has what is wrong.
    let others = u16::try_from(fields.len()).unwrap_or(0);
    let most = area.height.saturating_sub(1 + EDGE);
    let prompt = lines.clamp(PROMPT_ROWS.0, PROMPT_ROWS.1).min(most.saturating_sub(others)).max(1);
    let rows = (prompt + others).min(most) + EDGE;
    let repo = form.repository().unwrap_or_else(|_| "another repository".to_owned());
    let repo = folder_of(&repo);
    let kind = match form.repeat() {
        Repeat::Once => "session",
        Repeat::Loop => "loop",
    };
    let inner = pen.frame(middle(area, columns, rows), &format!("new {kind} in {repo}"));
    let mut y = inner.y;
    // What is wrong is said, however many fields there are.
    let room = inner.height.saturating_sub(u16::from(form.fault.is_some())).max(1);
    let bottom = inner.y + room.min(inner.height);
    let first = hidden(form, &fields, prompt, room);
    let mut shown = 0;
    for field in fields.iter().copied().skip(first) {
        if y >= bottom {
            break;
        }
        shown += 1;
        let height = if field == Field::Prompt { prompt } else { 1 };
        let height = height.min(bottom - y);
        let usual = form.usual(field);
        let chosen = form.shown(field, model.house.agents.as_ref());
        let value = match form.text(field) {
            Some(editor) => Value::Text(editor, &usual),
            None => Value::Choice(&chosen),
        };
        let (place, word) = (Rect { y, height, ..inner }, (field.word(), WORDS));
        field::field(pen, place, word, form.field == field, &value);
        y += height;
    }
    field::more(pen, inner, fields.len().saturating_sub(first + shown));
    let fault = form.fault.as_deref().unwrap_or_default();
    if y < inner.bottom() {
        pen.put_to(inner.x + WORDS, y, inner.right(), fault, pen.theme.tone(Tone::Bad));
    }
}

/// How many of the first fields have no room, so that the one in hand has.
fn hidden(form: &NewBox, fields: &[Field], prompt: u16, rows: u16) -> usize {
    let at = fields.iter().position(|field| *field == form.field).unwrap_or(0);
    let fits = |first: usize| {
        let shown = u16::try_from(at + 1 - first).unwrap_or(u16::MAX);
        let more = if first == 0 { prompt - 1 } else { 0 };
        shown + more <= rows
    };
    (0..=at).find(|first| fits(*first)).unwrap_or(at)
}
