//! The screen cell by cell, for a face that draws it inside its own.

use crate::{Screen, printable};
use alacritty_terminal::grid::{Dimensions as _, Grid};
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::{Color, NamedColor};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Colour {
    #[default]
    Own,
    /// One of the 256; the first 16 are the terminal's own choice.
    Indexed(u8),
    Rgb(u8, u8, u8),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a style that terminals combine freely")]
pub struct Look {
    pub text: Colour,
    pub behind: Colour,
    pub bold: bool,
    pub faint: bool,
    pub italic: bool,
    pub underlined: bool,
    pub inverse: bool,
    pub struck: bool,
}

/// A stretch of a row that looks alike.
pub type Run = (String, Look);

impl Screen {
    /// Every row that is kept, those out of sight first: of the main screen, then what is shown. Blanks at a
    /// row's end are left out, and so are empty rows at the very end.
    pub fn rows_with_past(&self) -> Vec<Vec<Run>> {
        let grid = self.emulator.term.grid();
        let kept = self.emulator.main.as_ref().unwrap_or(grid);
        let past = i32::try_from(kept.history_size()).unwrap_or(i32::MAX);
        let shown = i32::try_from(grid.screen_lines()).unwrap_or(i32::MAX);
        let above = (-past..0).map(|line| runs_of(kept, Line(line)));
        let mut rows: Vec<_> =
            above.chain((0..shown).map(|line| runs_of(grid, Line(line)))).collect();
        let filled = rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1);
        rows.truncate(filled);
        rows
    }

    /// Shows every cell that holds a character, row by row: its column, its row, its text, its look. The
    /// second half of a wide character is not shown. No text can control a terminal.
    pub fn each_cell(&self, mut see: impl FnMut(u16, u16, &str, Look)) {
        let grid = self.emulator.term.grid();
        let mut text = String::new();
        for row in 0..grid.screen_lines() {
            let cells = &grid[Line(i32::try_from(row).unwrap_or(i32::MAX))];
            for column in 0..grid.columns() {
                let cell = &cells[Column(column)];
                if cell.flags.intersects(SPACERS) {
                    continue;
                }
                text.clear();
                write_text(cell, &mut text);
                let bounded = |cells: usize| u16::try_from(cells).unwrap_or(u16::MAX);
                see(bounded(column), bounded(row), &text, look_of(cell));
            }
        }
    }

    /// Whether the session's programs want their cursor seen.
    pub fn shows_cursor(&self) -> bool {
        self.emulator.term.mode().contains(TermMode::SHOW_CURSOR)
    }
}

/// What belongs to the character beside it.
const SPACERS: Flags = Flags::WIDE_CHAR_SPACER.union(Flags::LEADING_WIDE_CHAR_SPACER);

/// The text of a cell, which can control no terminal.
fn write_text(cell: &Cell, text: &mut String) {
    let hidden = cell.flags.contains(Flags::HIDDEN);
    text.push(if hidden || cell.c.is_control() { ' ' } else { cell.c });
    if !hidden && let Some(marks) = cell.zerowidth() {
        let marks: String = marks.iter().collect();
        text.push_str(&printable(&marks));
    }
}

fn runs_of(grid: &Grid<Cell>, line: Line) -> Vec<Run> {
    let cells = &grid[line];
    let is_filled = |column: &usize| {
        let cell = &cells[Column(*column)];
        cell.c != ' ' || look_of(cell) != Look::default()
    };
    let filled = (0..grid.columns()).rfind(is_filled).map_or(0, |last| last + 1);
    let mut runs: Vec<Run> = Vec::new();
    for cell in (0..filled).map(|column| &cells[Column(column)]) {
        if cell.flags.intersects(SPACERS) {
            continue;
        }
        let look = look_of(cell);
        match runs.last_mut() {
            Some((text, known)) if *known == look => write_text(cell, text),
            _ => {
                let mut text = String::new();
                write_text(cell, &mut text);
                runs.push((text, look));
            }
        }
    }
    runs
}

fn look_of(cell: &Cell) -> Look {
    let has = |flag: Flags| cell.flags.intersects(flag);
    let (text, dim) = colour_of(cell.fg);
    Look {
        text,
        behind: colour_of(cell.bg).0,
        bold: has(Flags::BOLD),
        faint: dim || has(Flags::DIM),
        italic: has(Flags::ITALIC),
        underlined: has(Flags::ALL_UNDERLINES),
        inverse: has(Flags::INVERSE),
        struck: has(Flags::STRIKEOUT),
    }
}

/// A colour of the emulator, and whether it is the dim form of it.
fn colour_of(colour: Color) -> (Colour, bool) {
    match colour {
        Color::Spec(rgb) => (Colour::Rgb(rgb.r, rgb.g, rgb.b), false),
        Color::Indexed(index) => (Colour::Indexed(index), false),
        Color::Named(named) => match named as usize {
            index @ 0..16 => (Colour::Indexed(u8::try_from(index).unwrap_or(0)), false),
            _ => (Colour::Own, is_dim(named)),
        },
    }
}

fn is_dim(named: NamedColor) -> bool {
    named == NamedColor::DimForeground
}
