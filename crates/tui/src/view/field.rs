//! A text that is typed, as much of it as there is room for.

use super::pen::{Pen, harmless, width};
use crate::editor::Editor;
use crate::model::{Mode, Model};
use ratatui_core::layout::Rect;

/// As wide as a text that is typed is pleasant to read.
pub(super) const BOX_COLUMNS: u16 = 76;

/// The rows of a box for a line: the edges, the line, air, and what can be typed.
pub(super) const WORDS_ROWS: u16 = 5;

/// What a field of a box has in it.
pub(super) enum Value<'v> {
    /// A text, and what counts while there is none.
    Text(&'v Editor, &'v str),
    /// What is chosen.
    Choice(&'v str),
}

/// Draws what a field has in it. Returns the place of the cursor.
pub(super) fn value(
    pen: &mut Pen<'_>,
    place: Rect,
    in_hand: bool,
    value: &Value<'_>,
) -> Option<(u16, u16)> {
    let theme = pen.theme;
    match value {
        Value::Choice(choice) => {
            let text = if in_hand { format!("‹ {choice} ›") } else { (*choice).to_owned() };
            pen.put(place.x, place.y, place.width, &text, theme.text());
            None
        }
        Value::Text(editor, usual) => {
            if editor.text().is_empty() {
                // Beside the cursor, so that it is not taken for what was typed.
                let beside = u16::from(in_hand);
                let room = place.width.saturating_sub(beside);
                pen.put(place.x + beside, place.y, room, usual, theme.faint());
            }
            edit(pen, place, editor)
        }
    }
}

/// How many of so many rows the box takes that answers the question above it: half of them where it is long.
pub(super) fn answer_rows(model: &Model, rows: u16) -> u16 {
    let wanted = if let Mode::AnswerWords { words, .. } = &model.mode {
        text_rows(words, &[])
    } else if matches!(model.mode, Mode::Words(_)) && model.shown_ask().is_some() {
        WORDS_ROWS
    } else {
        return 0;
    };
    wanted.min((rows / 2).max(WORDS_ROWS)).min(rows)
}

/// The rows of a box for a text: its lines, the files that go with it, and the edges.
pub(super) fn text_rows(editor: &Editor, files: &[String]) -> u16 {
    let lines = editor.text().split('\n').count().max(3);
    u16::try_from(lines + files.len() + 2).unwrap_or(u16::MAX)
}

/// The part of a text around its cursor.
pub(super) fn edit(pen: &mut Pen<'_>, area: Rect, editor: &Editor) -> Option<(u16, u16)> {
    let style = pen.theme.text();
    let (line, column) = editor.cursor();
    let first = line.saturating_sub(usize::from(area.height.saturating_sub(1)));
    let mut cursor = None;
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
            cursor = Some((x.min(area.right().saturating_sub(1)), y));
        }
    }
    cursor
}
