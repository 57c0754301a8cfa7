//! The line between the list and the session, with a mark of how much of the list is seen.

use super::layout::Layout;
use super::list::seen;
use super::pen::Pen;
use crate::model::Model;

/// Draws it.
pub(super) fn draw(model: &Model, pen: &mut Pen<'_>, layout: &Layout) {
    let (list, Some(detail)) = (layout.list, layout.detail) else { return };
    let style = model.theme.line();
    if list.height == 0 {
        return;
    }
    let (seen, lines) = seen(model, list);
    if detail.y > list.y {
        let line = "─".repeat(usize::from(list.width));
        pen.put(list.x, detail.y - 1, list.width, &line, style);
        if seen.len() < lines {
            let up = if seen.start > 0 { "↑" } else { " " };
            let down = if seen.end < lines { "↓" } else { " " };
            let mark = format!("{up}{down}");
            pen.put_over(list.right(), detail.y - 1, 4, &mark, model.theme.accent());
        }
        return;
    }
    // The part of the rule beside which the list is seen.
    let rows = usize::from(list.height);
    let part = |line: usize| (line * rows).checked_div(lines).unwrap_or(0);
    let thumb = if seen.len() < lines { part(seen.start)..part(seen.end).max(1) } else { 0..0 };
    for (row, y) in (detail.y..detail.bottom()).enumerate() {
        let (line, style) =
            if thumb.contains(&row) { ("┃", model.theme.faint()) } else { ("│", style) };
        pen.put(list.right(), y, 1, line, style);
    }
}
