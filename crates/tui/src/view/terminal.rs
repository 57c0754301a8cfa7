//! The terminal of the session in hand, inside ours.

use super::pen::Pen;
use crate::model::{Model, Shown};
use glis_client::labels::Tone;
use glis_screen::{Colour, Look, Screen};
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};

/// Draws it.
pub(super) fn draw(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    let theme = model.theme;
    match &model.preview.shown {
        Shown::Nothing => {}
        Shown::Refused(told) => {
            pen.put(area.x, area.y, area.width, &told.message, theme.tone(Tone::Attention));
            let hint = told.hint.as_deref().unwrap_or_default();
            pen.put(area.x, area.y + 1, area.width, hint, theme.faint());
        }
        Shown::Screen(screen, _) => show(screen, pen, area),
    }
}

/// Shows as much as there is room for: the rows around the cursor, the columns from the left.
fn show(screen: &Screen, pen: &mut Pen<'_>, area: Rect) {
    if area.height == 0 {
        return;
    }
    let (cursor_column, cursor_row) = screen.cursor();
    let first = cursor_row.saturating_sub(area.height.saturating_sub(1));
    let no_colour = pen.theme.depth == crate::theme::Depth::None;
    screen.each_cell(|column, row, text, look| {
        let Some(y) = row.checked_sub(first).filter(|y| *y < area.height) else { return };
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
    let place = (area.x + cursor_column, area.y + cursor_row - first);
    let is_seen = screen.shows_cursor() && cursor_column < area.width;
    if let Some(cell) = pen.buffer.cell_mut(place).filter(|_| is_seen) {
        cell.set_style(Style::new().add_modifier(Modifier::REVERSED));
    }
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
