//! All keys, from the table that they are bound by.

use super::layout::middle;
use super::pen::{Pen, width};
use crate::keymap::Place;
use crate::model::{Mode, Model};
use ratatui_core::layout::Rect;
use ratatui_core::style::Modifier;

/// As wide as keys and the longest of their words need.
const COLUMN: u16 = 38;

enum Line {
    Gap,
    /// What the lines below it belong to.
    Head(&'static str),
    Key(String, &'static str),
}

/// The keys of the place that it was opened from come first, in their groups; of all of them those that are sought.
fn lines(model: &Model, behind: &Mode, words: &str) -> Vec<Line> {
    let own = behind.place().unwrap_or(Place::List);
    let mut places = [
        (Place::List, "all sessions"),
        (Place::Asks, "questions"),
        (Place::View, "in a view"),
        (Place::Inline, "typing into its terminal"),
        (Place::Past, "looking back"),
    ];
    places.sort_by_key(|(place, _)| *place != own);
    let mut lines: Vec<Line> = Vec::new();
    for (place, title) in places {
        let mut known: Vec<(String, &str, &str)> = model
            .keys
            .help(place)
            .into_iter()
            .map(|line| (line.keys, line.does, line.group))
            .collect();
        if place == Place::Asks {
            known.push(("1 to 9".to_owned(), "make that choice", ""));
        }
        let mut group = None;
        for (keys, does, of) in known {
            let sought = does.contains(words) || keys.contains(words) || of.contains(words);
            if does.is_empty() || !sought {
                continue;
            }
            if group != Some(of) {
                let head = if of.is_empty() { title } else { of };
                lines.extend((!lines.is_empty()).then_some(Line::Gap));
                lines.push(Line::Head(head));
                group = Some(of);
            }
            lines.push(Line::Key(keys, does));
        }
    }
    lines
}

/// Lines in columns of so many rows. No head stands alone at the foot of one, and no gap at its top.
fn in_columns(lines: Vec<Line>, rows: usize) -> Vec<Line> {
    let mut laid: Vec<Line> = Vec::new();
    for line in lines {
        let row = laid.len() % rows;
        match line {
            Line::Gap if row == 0 => continue,
            Line::Head(_) if row + 1 == rows => laid.push(Line::Gap),
            Line::Gap | Line::Head(_) | Line::Key(..) => {}
        }
        laid.push(line);
    }
    laid
}

/// Draws it over everything else, in as many columns as fit; the rest is scrolled to.
pub(super) fn draw(
    model: &Model,
    pen: &mut Pen<'_>,
    area: Rect,
    (scroll, behind, words): (usize, &Mode, Option<&str>),
) {
    let theme = model.theme;
    let lines = lines(model, behind, &words.unwrap_or_default().to_lowercase());
    let most = usize::from(area.height.saturating_sub(3)).max(2);
    let fit = usize::from(area.width.saturating_sub(4) / COLUMN).max(1);
    let columns = fit.min(lines.len().div_ceil(most)).max(1);
    // A head that goes to the next column leaves a row empty.
    let rows = most.min(lines.len().div_ceil(columns) + 1);
    let lines = in_columns(lines, rows);
    let (wide, high) = (u16::try_from(columns).unwrap_or(1), u16::try_from(rows).unwrap_or(1));
    let title = words.map_or_else(|| "keys".to_owned(), |words| format!("keys: /{words}"));
    let inner = pen.frame(middle(area, wide * COLUMN + 4, high + 2), &title);
    let of_keys = |line: &Line| if let Line::Key(keys, _) = line { width(keys) } else { 0 };
    let keys = lines.iter().map(of_keys).max().unwrap_or(0);
    let first = scroll.min(lines.len().saturating_sub(rows * columns));
    for (at, line) in lines.iter().skip(first).take(rows * columns).enumerate() {
        let (Ok(x), Ok(y)) = (u16::try_from(at / rows), u16::try_from(at % rows)) else { return };
        let (x, y) = (inner.x + x * COLUMN, inner.y + y);
        let room = COLUMN.saturating_sub(keys + 1).min(inner.right().saturating_sub(x + keys + 1));
        match line {
            Line::Gap => {}
            Line::Head(head) => {
                let bold = theme.text().add_modifier(Modifier::BOLD);
                pen.put(x, y, COLUMN.saturating_sub(2), head, bold);
            }
            Line::Key(own, does) => {
                pen.put(x, y, keys, own, theme.accent());
                pen.put(x + keys + 1, y, room, does, theme.text());
            }
        }
    }
}
