//! All keys, from the table that they are bound by.

use super::layout::middle;
use super::pen::{Pen, width};
use crate::keymap::{HelpLine, Place};
use crate::model::{Mode, Model};
use ratatui_core::layout::Rect;

/// As wide as keys and the longest of their words need.
const COLUMN: u16 = 38;

/// The keys of the place that it was opened from come first.
fn lines(model: &Model, behind: &Mode) -> Vec<HelpLine> {
    let own = behind.place().unwrap_or(Place::List);
    let mut places = [
        (Place::List, "all sessions"),
        (Place::Asks, "questions"),
        (Place::Inline, "typing into its terminal"),
        (Place::View, "in a view"),
        (Place::Past, "looking back"),
    ];
    places.sort_by_key(|(place, _)| *place != own);
    let head = |does: &'static str| HelpLine { keys: String::new(), does };
    let mut lines: Vec<HelpLine> = Vec::new();
    for (place, title) in places {
        // What comes first needs no title.
        if !lines.is_empty() {
            lines.extend([head(""), head(title)]);
        }
        lines.extend(model.keys.help(place).into_iter().filter(|line| !line.does.is_empty()));
        if place == Place::Asks {
            lines.push(HelpLine { keys: "1 to 9".to_owned(), does: "make that choice" });
        }
    }
    lines
}

/// Draws it over everything else, in as many columns as fit; the rest is scrolled to.
pub(super) fn draw(model: &Model, pen: &mut Pen<'_>, area: Rect, (scroll, behind): (usize, &Mode)) {
    let lines = lines(model, behind);
    let rows = usize::from(area.height.saturating_sub(3)).max(1);
    let fit = usize::from(area.width.saturating_sub(4) / COLUMN).max(1);
    let columns = fit.min(lines.len().div_ceil(rows));
    let rows = rows.min(lines.len().div_ceil(columns));
    let (wide, high) = (u16::try_from(columns).unwrap_or(1), u16::try_from(rows).unwrap_or(1));
    let inner = pen.frame(middle(area, wide * COLUMN + 4, high + 2), "keys");
    let keys = lines.iter().map(|line| width(&line.keys)).max().unwrap_or(0);
    let first = scroll.min(lines.len().saturating_sub(rows * columns));
    for (at, line) in lines.iter().skip(first).take(rows * columns).enumerate() {
        let (Ok(x), Ok(y)) = (u16::try_from(at / rows), u16::try_from(at % rows)) else { return };
        let (x, y) = (inner.x + x * COLUMN, inner.y + y);
        pen.put(x, y, keys, &line.keys, model.theme.accent());
        let room = COLUMN.saturating_sub(keys + 2).min(inner.right().saturating_sub(x + keys + 2));
        if line.keys.is_empty() {
            pen.put(x, y, COLUMN.saturating_sub(2), line.does, model.theme.faint());
        } else {
            pen.put(x + keys + 2, y, room, line.does, model.theme.text());
        }
    }
}
