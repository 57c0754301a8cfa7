//! The bytes that bring a cleared terminal to the state of a screen.

use std::fmt::Write as _;

use alacritty_terminal::grid::{Cursor, Dimensions as _, Grid};
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::TermMode;
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::{CharsetIndex, CursorShape, NamedColor, StandardCharset};

use crate::emulator::{Emulator, Keyboard};
use crate::pen::{Links, Pen, Style, is_blank};

/// Modes that are off in a fresh terminal, and how they are switched on.
const MODES: [(TermMode, &str); 10] = [
    (TermMode::APP_CURSOR, "\x1b[?1h"),
    (TermMode::APP_KEYPAD, "\x1b="),
    (TermMode::MOUSE_REPORT_CLICK, "\x1b[?1000h"),
    (TermMode::MOUSE_DRAG, "\x1b[?1002h"),
    (TermMode::MOUSE_MOTION, "\x1b[?1003h"),
    (TermMode::FOCUS_IN_OUT, "\x1b[?1004h"),
    (TermMode::UTF8_MOUSE, "\x1b[?1005h"),
    (TermMode::SGR_MOUSE, "\x1b[?1006h"),
    (TermMode::BRACKETED_PASTE, "\x1b[?2004h"),
    (TermMode::LINE_FEED_NEW_LINE, "\x1b[20h"),
];

/// All four character sets as they are in a fresh terminal.
const ASCII: &str = "\x1b(B\x1b)B\x1b*B\x1b+B";

/// Paints everything that the emulator knows. Nothing in it makes a terminal answer.
pub(super) fn paint(emulator: &Emulator) -> String {
    let mut out = String::with_capacity(16 * 1024);
    // Whatever the terminal was used for before: no margins, no insertion, no wrapping, and no
    // cursor that jumps about while the screen is drawn.
    out.push_str(ASCII);
    out.push_str("\x1b[0m\x0f\x1b[4l\x1b[20l\x1b[?6l\x1b[r\x1b[?7l\x1b[?25l");
    paint_settings(&mut out, emulator);
    let grid = emulator.term.grid();
    if let Some(main) = &emulator.main {
        paint_cells(&mut out, main);
        paint_keyboard(&mut out, &emulator.main_keyboard);
        out.push_str("\x1b[?7h");
        paint_cursor(&mut out, main, &main.cursor, 0);
        // The switch saves the main screen's cursor, and clears with its colour; hence once more.
        out.push_str("\x1b[?1049h\x1b[?7l\x1b[0m\x1b]8;;\x1b\\\x1b[2J");
        out.push_str(ASCII);
        if emulator.main_keyboard != Keyboard::default() {
            // Where both screens share their flags, those of the main screen end here.
            out.push_str("\x1b[=0u");
        }
    }
    paint_cells(&mut out, grid);
    paint_keyboard(&mut out, &emulator.keyboard);
    paint_tabs(&mut out, emulator);
    if grid.saved_cursor != Cursor::default() {
        out.push_str("\x1b[?7h");
        let mut pen = paint_cursor(&mut out, grid, &grid.saved_cursor, 0);
        out.push_str("\x1b7");
        pen.lift(&mut out);
        out.push_str(ASCII);
    }
    paint_modes(&mut out, emulator);
    out
}

fn paint_settings(out: &mut String, emulator: &Emulator) {
    if let Some(title) = &emulator.title {
        let _ = write!(out, "\x1b]2;{}\x1b\\", super::printable(title));
    }
    let colors = emulator.term.colors();
    for index in 0..=NamedColor::Cursor as usize {
        let Some(rgb) = colors[index] else { continue };
        let _ = match index {
            0..=255 => write!(out, "\x1b]4;{index};"),
            _ => write!(out, "\x1b]{};", index - 256 + 10),
        };
        let _ = write!(out, "rgb:{:02x}/{:02x}/{:02x}\x1b\\", rgb.r, rgb.g, rgb.b);
    }
    if let Some(style) = emulator.cursor_style {
        let steady = match style.shape {
            CursorShape::Block | CursorShape::HollowBlock | CursorShape::Hidden => 2,
            CursorShape::Underline => 4,
            CursorShape::Beam => 6,
        };
        let _ = write!(out, "\x1b[{} q", steady - u8::from(style.blinking));
    }
    if emulator.other_keys > 0 {
        let _ = write!(out, "\x1b[>4;{}m", emulator.other_keys);
    }
}

fn paint_cells(out: &mut String, grid: &Grid<Cell>) {
    let rows = tidy_rows(grid);
    let mut pen = Pen::new(Links::Written);
    // How much of the row was written already, by wrapping into it.
    let mut begun = 0;
    for (index, row) in rows.iter().enumerate() {
        let last = row.len() - 1;
        let wraps = row[last].flags.contains(Flags::WRAPLINE);
        let end = if wraps { last + 1 } else { filled(row) };
        let start = begun + row[begun..].iter().take_while(|cell| is_blank(cell)).count();
        if start < end {
            let _ = write!(out, "\x1b[{};{}H", index + 1, start + 1);
        }
        begun = 0;
        for (column, cell) in row.iter().enumerate().take(end).skip(start) {
            let final_cell = column + width(cell) > last;
            if wraps && final_cell {
                out.push_str("\x1b[?7h");
            }
            // A placeholder is written by the terminal itself when the wide character after it wraps.
            if cell.flags.intersects(Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER) {
                continue;
            }
            pen.cell(out, cell);
            if is_doubtful(cell) && !final_cell {
                let _ = write!(out, "\x1b[{}G", column + width(cell) + 1);
            }
        }
        if wraps {
            // Only a character that wraps leaves the mark by which lines are joined again when
            // the terminal gets wider or text is copied.
            let next = &rows[index + 1][0];
            out.push_str("\x1b[?7h");
            pen.cell(out, next);
            out.push_str("\x1b[?7l");
            begun = width(next);
        }
    }
    pen.lift(out);
}

/// One past the last cell that is worth writing.
pub(super) fn filled(row: &[Cell]) -> usize {
    row.iter().rposition(|cell| !is_blank(cell)).map_or(0, |last| last + 1)
}

pub(super) fn width(cell: &Cell) -> usize {
    if cell.flags.contains(Flags::WIDE_CHAR) { 2 } else { 1 }
}

/// Terminals disagree about the width of these, so the column is said again after them.
fn is_doubtful(cell: &Cell) -> bool {
    cell.c >= '\u{1f000}' || cell.zerowidth().is_some_and(|marks| !marks.is_empty())
}

/// The rows without halves of wide characters, tabulators, and marks that cannot be painted.
pub(super) fn tidy_rows(grid: &Grid<Cell>) -> Vec<Vec<Cell>> {
    let lines = i32::try_from(grid.screen_lines()).unwrap_or(i32::MAX);
    let mut rows: Vec<Vec<Cell>> = (0..lines)
        .map(|line| {
            let row = &grid[Line(line)];
            (0..grid.columns()).map(|column| row[Column(column)].clone()).collect()
        })
        .collect();
    for row in &mut rows {
        tidy_row(row);
    }
    for index in 0..rows.len() {
        let last = rows[index].len() - 1;
        let next = rows.get(index + 1).map(|row| row[0].clone());
        let cell = &mut rows[index][last];
        if next.is_none() {
            cell.flags.remove(Flags::WRAPLINE);
        }
        let before_wide = next.is_some_and(|next| {
            next.flags.contains(Flags::WIDE_CHAR)
                && Style::of(&next) == Style::of(cell)
                && super::pen::safe_link(&next) == super::pen::safe_link(cell)
        });
        if !before_wide || !cell.flags.contains(Flags::WRAPLINE) {
            cell.flags.remove(Flags::LEADING_WIDE_CHAR_SPACER);
        }
    }
    rows
}

fn tidy_row(row: &mut [Cell]) {
    let last = row.len() - 1;
    for column in 0..row.len() {
        let followed =
            row.get(column + 1).is_some_and(|next| next.flags.contains(Flags::WIDE_CHAR_SPACER));
        let leader = column.checked_sub(1).map(|before| row[before].clone());
        let cell = &mut row[column];
        if cell.c.is_control() {
            cell.c = ' ';
        }
        if column != last {
            cell.flags.remove(Flags::WRAPLINE | Flags::LEADING_WIDE_CHAR_SPACER);
        }
        if cell.flags.contains(Flags::WIDE_CHAR) && !followed {
            cell.clear_wide();
        }
        if cell.flags.contains(Flags::WIDE_CHAR_SPACER) {
            if let Some(leader) = leader.filter(|leader| leader.flags.contains(Flags::WIDE_CHAR)) {
                follow(cell, &leader);
            } else {
                cell.flags.remove(Flags::WIDE_CHAR_SPACER);
                cell.clear_wide();
            }
        }
    }
}

/// Gives the second half of a wide character the style of the first.
fn follow(cell: &mut Cell, leader: &Cell) {
    let wraps = cell.flags & Flags::WRAPLINE;
    *cell = Cell { c: ' ', extra: None, ..leader.clone() };
    cell.flags.remove(Flags::WIDE_CHAR);
    cell.flags.insert(Flags::WIDE_CHAR_SPACER | wraps);
    cell.set_underline_color(leader.underline_color());
    cell.set_hyperlink(leader.hyperlink());
}

/// The whole stack, so that what a program takes off later uncovers what it had put below.
fn paint_keyboard(out: &mut String, keyboard: &Keyboard) {
    let mut levels = keyboard.saved.iter().chain([&keyboard.flags]);
    if let Some(base) = levels.next().filter(|&&base| base != 0) {
        let _ = write!(out, "\x1b[={base}u");
    }
    for flags in levels {
        let _ = write!(out, "\x1b[>{flags}u");
    }
}

fn paint_tabs(out: &mut String, emulator: &Emulator) {
    if emulator.tabs.iter().enumerate().all(|(column, &stop)| stop == (column % 8 == 0)) {
        return;
    }
    out.push_str("\x1b[3g");
    for (column, _) in emulator.tabs.iter().enumerate().filter(|&(_, &stop)| stop) {
        let _ = write!(out, "\x1b[{}G\x1bH", column + 1);
    }
}

fn paint_modes(out: &mut String, emulator: &Emulator) {
    let mode = *emulator.term.mode();
    for (flag, on) in MODES {
        if mode.contains(flag) {
            out.push_str(on);
        }
    }
    for foreign in &emulator.foreign_modes {
        let _ = write!(out, "\x1b[?{foreign}h");
    }
    if !mode.contains(TermMode::ALTERNATE_SCROLL) {
        out.push_str("\x1b[?1007l");
    }
    let (top, below) = emulator.margins;
    if (top, below) != (0, emulator.term.screen_lines()) {
        let _ = write!(out, "\x1b[{};{below}r", top + 1);
    }
    let origin = mode.contains(TermMode::ORIGIN);
    if origin {
        out.push_str("\x1b[?6h");
    }
    // Only with wrapping on does every terminal remember that the last column was just written.
    out.push_str("\x1b[?7h");
    let grid = emulator.term.grid();
    paint_cursor(out, grid, &grid.cursor, if origin { top } else { 0 });
    if !mode.contains(TermMode::LINE_WRAP) {
        out.push_str("\x1b[?7l");
    }
    if mode.contains(TermMode::INSERT) {
        out.push_str("\x1b[4h");
    }
    if emulator.charset == CharsetIndex::G1 {
        out.push('\x0e');
    }
    if mode.contains(TermMode::SHOW_CURSOR) {
        out.push_str("\x1b[?25h");
    }
}

/// Places the cursor and gives it the style that the next character will have.
fn paint_cursor(out: &mut String, grid: &Grid<Cell>, cursor: &Cursor<Cell>, origin: usize) -> Pen {
    let row = usize::try_from(cursor.point.line.0).unwrap_or(0);
    let _ = write!(out, "\x1b[{};{}H", row.saturating_sub(origin) + 1, cursor.point.column.0 + 1);
    let mut pen = Pen::new(Links::Written);
    if cursor.input_needs_wrap
        && let Some(cells) = tidy_rows(grid).get(row)
    {
        // Only writing into the last column leaves the cursor about to wrap.
        let mut column = cursor.point.column.0;
        if cells[column].flags.contains(Flags::WIDE_CHAR_SPACER) {
            column -= 1;
            out.push_str("\x1b[D");
        }
        pen.cell(out, &cells[column]);
    }
    pen.dip(out, &cursor.template);
    paint_charsets(out, cursor);
    pen
}

fn paint_charsets(out: &mut String, cursor: &Cursor<Cell>) {
    for (index, designator) in [
        (CharsetIndex::G0, '('),
        (CharsetIndex::G1, ')'),
        (CharsetIndex::G2, '*'),
        (CharsetIndex::G3, '+'),
    ] {
        if cursor.charsets[index] == StandardCharset::SpecialCharacterAndLineDrawing {
            let _ = write!(out, "\x1b{designator}0");
        }
    }
}
