//! The terminal of the session in hand, inside ours.

use super::pen::{CUT, Pen};
use crate::command::Command;
use crate::keymap::Place;
use crate::model::{Mode, Model, Past, Shown};
use glis_client::labels::Tone;
use glis_screen::{Colour, Look, Screen};
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};

pub(super) fn draw(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    let theme = model.theme;
    // It needs no screen: that is drawn anew after a suspension, and what is looked at stays.
    if let (Some(past), Mode::Past { .. }) = (&model.pane.past, &model.mode) {
        return look_back(model, past, pen, area);
    }
    match &model.pane.preview.shown {
        Shown::Nothing => {}
        Shown::Refused(told) => pen.told(area, told, theme.tone(Tone::Attention)),
        Shown::Screen(screen, _) => {
            let window = window(model, screen, area);
            show(screen, window, pen, area);
            cut(screen, window, pen, area);
        }
    }
}

/// The column and row of a terminal that are shown first: the rows around its cursor, the columns from the
/// left, or those around the cursor while keys go there.
fn window(model: &Model, screen: &Screen, area: Rect) -> (u16, u16) {
    let (column, row) = screen.cursor();
    let inline = matches!(model.mode, Mode::Inline { .. });
    // Beside the mark that it goes on.
    let first_column = if inline { column.saturating_sub(area.width.saturating_sub(2)) } else { 0 };
    (first_column, row.saturating_sub(area.height.saturating_sub(1)))
}

/// The cell of the session's own terminal at a place of ours.
pub(super) fn cell_at(model: &Model, area: Rect, column: u16, row: u16) -> Option<(u16, u16)> {
    let Shown::Screen(screen, _) = &model.pane.preview.shown else { return None };
    let (first_column, first_row) = window(model, screen, area);
    let (x, y) = (column.checked_sub(area.x)? + first_column, row.checked_sub(area.y)? + first_row);
    let size = screen.size();
    (x < size.columns && y < size.rows).then_some((x, y))
}

/// The place of the session's own cursor, where it is seen.
pub(super) fn cursor_at(model: &Model, area: Rect) -> Option<(u16, u16)> {
    let screen = model.pane.preview.live()?;
    seen_cursor(screen, window(model, screen, area), area)
}

/// The place of a terminal's cursor, where it is seen.
fn seen_cursor(
    screen: &Screen,
    (first_column, first_row): (u16, u16),
    area: Rect,
) -> Option<(u16, u16)> {
    let (column, row) = screen.cursor();
    let place = (area.x + column.checked_sub(first_column)?, area.y + row.checked_sub(first_row)?);
    (screen.shows_cursor() && area.contains(place.into())).then_some(place)
}

/// Rows that have scrolled out of sight, with a mark that says so.
fn look_back(model: &Model, past: &Past, pen: &mut Pen<'_>, area: Rect) {
    let theme = model.theme;
    let Some(rows) = &past.rows else {
        pen.put(area.x, area.y, area.width, "…", theme.faint());
        return;
    };
    let no_colour = theme.depth == crate::theme::Depth::None;
    let height = usize::from(area.height);
    let first = past.first(height);
    let selected = past.from.map(|_| past.selected(height));
    for (y, (at, row)) in (area.y..area.bottom()).zip(rows.iter().enumerate().skip(first)) {
        let mut x = area.x;
        for (text, look) in row {
            let room = area.right().saturating_sub(x);
            x = pen.put_cut(x, y, room, text, style_of(*look, no_colour));
        }
        let line = Rect { x: area.x, y, width: area.width, height: 1 };
        if selected.as_ref().is_some_and(|rows| rows.contains(&at)) || past.found == Some(at) {
            pen.tint(line, theme.lifted());
        }
    }
    let back = model.key(Place::Past, Command::Close);
    let mark = format!(" ↓ {} below · {} rows · {back} back to live ", past.below, rows.len());
    let style = theme.tone(Tone::Attention).add_modifier(Modifier::REVERSED);
    pen.put_over(area.right(), area.bottom().saturating_sub(1), area.width, &mark, style);
}

/// Shows as much as there is room for, from this column and row on.
fn show(screen: &Screen, (first_column, first_row): (u16, u16), pen: &mut Pen<'_>, area: Rect) {
    if area.height == 0 {
        return;
    }
    let no_colour = pen.theme.depth == crate::theme::Depth::None;
    screen.each_cell(|column, row, text, look| {
        let Some(y) = row.checked_sub(first_row).filter(|y| *y < area.height) else { return };
        let Some(column) = column.checked_sub(first_column) else { return };
        if column >= area.width || text == " " && look == Look::default() {
            return;
        }
        // A wide character that would stick out is left out.
        if column + 1 == area.width && super::pen::width(text) > 1 {
            return;
        }
        if let Some(cell) = pen.buffer.cell_mut((area.x + column, area.y + y)) {
            cell.set_symbol(text).set_style(style_of(look, no_colour));
        }
    });
    let cursor = seen_cursor(screen, (first_column, first_row), area);
    if let Some(cell) = cursor.and_then(|place| pen.buffer.cell_mut(place)) {
        cell.set_style(Style::new().add_modifier(Modifier::REVERSED));
    }
}

/// A mark at the edge of each row that goes on beyond it.
fn cut(screen: &Screen, (first_column, first_row): (u16, u16), pen: &mut Pen<'_>, area: Rect) {
    let right = area.right().saturating_sub(1);
    let line = pen.theme.line();
    screen.each_cell(|column, row, text, _| {
        let x = match column.checked_sub(first_column) {
            None => area.x,
            Some(column) if column >= area.width => right,
            Some(_) => return,
        };
        let y = row.checked_sub(first_row).filter(|y| *y < area.height && text != " ");
        if let Some(cell) = y.and_then(|y| pen.buffer.cell_mut((x, area.y + y))) {
            cell.set_symbol(CUT).set_style(line);
        }
    });
}

/// The rows that are seen, as wide as the terminal is.
pub(super) fn whole_rows(model: &Model, area: Rect) -> Option<Vec<String>> {
    let Shown::Screen(screen, _) = &model.pane.preview.shown else { return None };
    let (_, first) = window(model, screen, area);
    let mut rows = vec![String::new(); usize::from(area.height)];
    screen.each_cell(|_, row, text, _| {
        let row = row.checked_sub(first).and_then(|row| rows.get_mut(usize::from(row)));
        if let Some(row) = row {
            row.push_str(text);
        }
    });
    Some(rows.into_iter().map(|row| row.trim_end().to_owned()).collect())
}

fn style_of(look: Look, no_colour: bool) -> Style {
    let mut style = Style::new();
    if !no_colour {
        style = style.fg(colour_of(look.text)).bg(colour_of(look.behind));
    }
    let modifiers = [
        (look.bold, Modifier::BOLD),
        (look.faint, Modifier::DIM),
        (look.italic, Modifier::ITALIC),
        (look.underlined, Modifier::UNDERLINED),
        (look.inverse, Modifier::REVERSED),
        (look.struck, Modifier::CROSSED_OUT),
    ];
    let set = modifiers.into_iter().filter(|(is_set, _)| *is_set);
    set.fold(style, |style, (_, modifier)| style.add_modifier(modifier))
}

fn colour_of(colour: Colour) -> Color {
    match colour {
        Colour::Own => Color::Reset,
        Colour::Indexed(index) => Color::Indexed(index),
        Colour::Rgb(red, green, blue) => Color::Rgb(red, green, blue),
    }
}
