//! The picture on the terminal: what is different from the last one is written, and nothing else.

use crate::model::Model;
use crate::view;
use ratatui_core::buffer::{Buffer, Cell};
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier, Style};
use std::fmt::Write as _;

/// Everything between these is shown at once, by terminals that know them.
const BEGIN: &str = "\x1b[?2026h";
const END: &str = "\x1b[0m\x1b[?2026l";

/// What is on the terminal, and what is to be.
pub(super) struct Canvas {
    shown: Buffer,
    next: Buffer,
    cursor: Option<(u16, u16)>,
}

impl Canvas {
    pub(super) fn new(columns: u16, rows: u16) -> Self {
        let area = Rect { x: 0, y: 0, width: columns, height: rows };
        Self { shown: Buffer::empty(area), next: Buffer::empty(area), cursor: None }
    }

    /// The terminal was cleared: nothing is on it.
    pub(super) fn forget(&mut self) {
        self.shown.reset();
        self.cursor = None;
    }

    /// Another size. What clears the terminal for it.
    pub(super) fn resize(&mut self, columns: u16, rows: u16) -> Vec<u8> {
        *self = Self::new(columns, rows);
        b"\x1b[0m\x1b[?25l\x1b[H\x1b[2J".to_vec()
    }

    /// Draws the model. What is to be written for it.
    pub(super) fn draw(&mut self, model: &Model) -> Vec<u8> {
        self.next.reset();
        let cursor = view::draw(model, &mut self.next);
        let mut out = String::new();
        write_cells(&self.shown.diff(&self.next), &mut out);
        if cursor != self.cursor || (cursor.is_some() && !out.is_empty()) {
            match cursor {
                Some((x, y)) => {
                    let _ = write!(out, "\x1b[{};{}H\x1b[?25h", y + 1, x + 1);
                }
                None => out.push_str("\x1b[?25l"),
            }
        }
        self.cursor = cursor;
        std::mem::swap(&mut self.shown, &mut self.next);
        if out.is_empty() { Vec::new() } else { format!("{BEGIN}{out}{END}").into_bytes() }
    }
}

fn write_cells(cells: &[(u16, u16, &Cell)], out: &mut String) {
    let mut style = None;
    let mut behind = None;
    for &(x, y, cell) in cells {
        if behind != Some((x, y)) {
            let _ = write!(out, "\x1b[{};{}H", y + 1, x + 1);
        }
        if style != Some(cell.style()) {
            write_style(cell.style(), out);
            style = Some(cell.style());
        }
        out.push_str(cell.symbol());
        // Terminals disagree about the width of some characters: the place is said again after them.
        behind = cell.symbol().is_ascii().then_some((x + 1, y));
    }
}

fn write_style(style: Style, out: &mut String) {
    out.push_str("\x1b[0");
    let modifiers = [
        (Modifier::BOLD, 1),
        (Modifier::DIM, 2),
        (Modifier::ITALIC, 3),
        (Modifier::UNDERLINED, 4),
        (Modifier::REVERSED, 7),
        (Modifier::CROSSED_OUT, 9),
    ];
    for (modifier, code) in modifiers {
        if style.add_modifier.contains(modifier) {
            let _ = write!(out, ";{code}");
        }
    }
    write_colour(style.fg, 0, out);
    write_colour(style.bg, 10, out);
    out.push('m');
}

/// `more` is what the codes of the background are higher by.
fn write_colour(colour: Option<Color>, more: u8, out: &mut String) {
    let named = match colour {
        None | Some(Color::Reset) => return,
        Some(Color::Indexed(index)) => {
            let _ = write!(out, ";{};5;{index}", 38 + more);
            return;
        }
        Some(Color::Rgb(red, green, blue)) => {
            let _ = write!(out, ";{};2;{red};{green};{blue}", 38 + more);
            return;
        }
        Some(Color::Black) => 30,
        Some(Color::Red) => 31,
        Some(Color::Green) => 32,
        Some(Color::Yellow) => 33,
        Some(Color::Blue) => 34,
        Some(Color::Magenta) => 35,
        Some(Color::Cyan) => 36,
        Some(Color::Gray) => 37,
        Some(Color::DarkGray) => 90,
        Some(Color::LightRed) => 91,
        Some(Color::LightGreen) => 92,
        Some(Color::LightYellow) => 93,
        Some(Color::LightBlue) => 94,
        Some(Color::LightMagenta) => 95,
        Some(Color::LightCyan) => 96,
        Some(Color::White) => 97,
    };
    let _ = write!(out, ";{}", named + more);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keymap::{KeyMap, Keys};
    use crate::message::{Listed, Msg, Now};
    use crate::theme::{Depth, Ground, Theme};
    use crate::update::update;

    fn model() -> Model {
        Model {
            size: (80, 24),
            theme: Theme { depth: Depth::Indexed, ground: Ground::Dark },
            keys: KeyMap::with(&Keys::new()).unwrap(),
            ..Model::new(Now::default(), std::collections::BTreeMap::new())
        }
    }

    fn drawn(canvas: &mut Canvas, model: &Model) -> String {
        String::from_utf8(canvas.draw(model)).unwrap()
    }

    #[test]
    fn a_picture_is_shown_at_once_and_only_what_has_changed() {
        let (mut model, mut canvas) = (model(), Canvas::new(80, 24));
        let first = drawn(&mut canvas, &model);
        assert!(first.starts_with(BEGIN) && first.ends_with(END), "{first:?}");
        assert!(!first.contains("\x1b[2J"), "nothing is cleared, so nothing flickers");
        assert_eq!(drawn(&mut canvas, &model), "", "nothing has changed");
        update(
            &mut model,
            Now::default(),
            Msg::Listed(Listed {
                sessions: Vec::new(),
                more: 0,
                last_seq: 1,
                gate: "paused".to_owned(),
            }),
        );
        let second = drawn(&mut canvas, &model);
        assert!(second.contains("PAUSED") && second.len() < first.len() * 2, "{second:?}");
        assert!(canvas.resize(40, 12).ends_with(b"\x1b[2J"), "another size is drawn from nothing");
    }

    #[test]
    fn the_place_is_said_again_behind_what_terminals_disagree_about() {
        let mut next = Buffer::empty(Rect { x: 0, y: 0, width: 12, height: 1 });
        next.set_string(0, 0, "ab❤️cd日e", Style::new());
        let shown = Buffer::empty(next.area);
        let mut out = String::new();
        write_cells(&shown.diff(&next), &mut out);
        assert_eq!(out, "\x1b[1;1H\x1b[0mab❤️\x1b[1;5Hcd日\x1b[1;9He");
    }

    #[test]
    fn colours_are_told_as_deep_as_they_are() {
        let told = |colour: Color| {
            let mut out = String::new();
            write_style(Style::new().fg(colour).bg(colour).add_modifier(Modifier::BOLD), &mut out);
            out
        };
        assert_eq!(told(Color::Reset), "\x1b[0;1m");
        assert_eq!(told(Color::Red), "\x1b[0;1;31;41m");
        assert_eq!(told(Color::LightBlue), "\x1b[0;1;94;104m");
        assert_eq!(told(Color::Indexed(140)), "\x1b[0;1;38;5;140;48;5;140m");
        assert_eq!(told(Color::Rgb(1, 2, 3)), "\x1b[0;1;38;2;1;2;3;48;2;1;2;3m");
    }
}
