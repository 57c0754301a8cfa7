//! A text that is typed, as much of it as there is room for.

use super::pen::{Pen, harmless, width};
use crate::editor::Editor;
use crate::model::{Mode, Model};
use ratatui_core::layout::Rect;

/// As wide as a text that is typed is pleasant to read.
pub(super) const BOX_COLUMNS: u16 = 76;

/// The rows of a box for a line: the edges, the line, air, and what can be typed.
pub(super) const WORDS_ROWS: u16 = 5;

pub(super) enum Value<'v> {
    /// A text, and what counts while there is none.
    Text(&'v Editor, &'v str),
    Choice(&'v str),
}

/// Draws a field: the word before it, which takes so many columns, and what it has in it.
pub(super) fn field(
    pen: &mut Pen<'_>,
    place: Rect,
    (word, columns): (&str, u16),
    in_hand: bool,
    value: &Value<'_>,
) {
    let theme = pen.theme;
    let style = if in_hand { theme.accent() } else { theme.faint() };
    pen.put(place.x, place.y, columns, word, style);
    let x = place.x + columns;
    let place = Rect { x, width: place.width.saturating_sub(columns), ..place };
    match value {
        Value::Choice(choice) => {
            let text = if in_hand { format!("‹ {choice} ›") } else { (*choice).to_owned() };
            pen.put(x, place.y, place.width, &text, theme.text());
        }
        Value::Text(editor, usual) => {
            if editor.text().is_empty() {
                // Beside the cursor, so that it is not taken for what was typed.
                pen.put_to(x + u16::from(in_hand), place.y, place.right(), usual, theme.faint());
            }
            let cursor = pen.cursor;
            edit(pen, place, editor);
            pen.cursor = if in_hand { pen.cursor } else { cursor };
        }
    }
}

/// Tells on the lower edge of a box how much more there is.
pub(super) fn more(pen: &mut Pen<'_>, inner: Rect, more: usize) {
    if more > 0 {
        let (text, style) = (format!(" ↓ {more} more "), pen.theme.faint());
        pen.put_right(inner.right(), inner.bottom(), inner.width, &text, style);
    }
}

/// How many of so many rows the box takes that answers the question above it: half of them where it is long.
pub(super) fn answer_rows(model: &Model, rows: u16) -> u16 {
    let wanted = match &model.mode {
        Mode::Words(form) if form.takes_lines() => text_rows(&form.words, &[]),
        Mode::Words(form) if form.ask().is_some() => WORDS_ROWS,
        _ => return 0,
    };
    wanted.min((rows / 2).max(WORDS_ROWS)).min(rows)
}

/// The rows of a box for a text: its lines, the files that go with it, and the edges.
pub(super) fn text_rows(editor: &Editor, files: &[String]) -> u16 {
    let lines = editor.text().split('\n').count().max(3);
    u16::try_from(lines + files.len() + 2).unwrap_or(u16::MAX)
}

/// The part of a text around its cursor, which is seen.
pub(super) fn edit(pen: &mut Pen<'_>, area: Rect, editor: &Editor) {
    let style = pen.theme.text();
    let (line, column) = editor.cursor();
    let first = line.saturating_sub(usize::from(area.height.saturating_sub(1)));
    for (y, (at, text)) in
        (area.y..area.bottom()).zip(editor.text().split('\n').enumerate().skip(first))
    {
        let before = harmless(&text.chars().take(column).collect::<String>());
        let text = harmless(text);
        // A line that is longer than its place is moved so far that its cursor is seen.
        let hidden = if at == line {
            width(&before).saturating_sub(area.width.saturating_sub(1))
        } else {
            0
        };
        let mut gone = 0;
        let shown: String = text
            .chars()
            .skip_while(|c| {
                let skip = gone < hidden;
                gone += if skip { width(c.encode_utf8(&mut [0; 4])) } else { 0 };
                skip
            })
            .collect();
        pen.put(area.x, y, area.width, &shown, style);
        if at == line {
            let x = area.x + width(&before).saturating_sub(gone.min(width(&before)));
            pen.cursor = Some((x.min(area.right().saturating_sub(1)), y));
        }
    }
}
