//! A text that is typed, as much of it as there is room for.

use super::pen::{Pen, harmless, width};
use crate::editor::Editor;
use ratatui_core::layout::Rect;

/// As wide as a text that is typed is pleasant to read.
pub(super) const BOX_COLUMNS: u16 = 76;

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
