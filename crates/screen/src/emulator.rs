//! The terminal emulator, and what it knows but does not tell.
//!
//! Wraps the emulator's handler: everything that draws is passed on, everything that would answer
//! is dropped, and what the emulator keeps to itself (title, margins, tab stops, the screen behind
//! the alternate one, keyboard modes) is noted on the way.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::{Dimensions, Grid};
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::term::{Config, Osc52, Term, TermMode};
use alacritty_terminal::vte::ansi::{
    Attr, CharsetIndex, ClearMode, CursorShape, CursorStyle, Handler, Hyperlink, KeyboardModes,
    KeyboardModesApplyBehavior, LineClearMode, Mode, ModifyOtherKeys, NamedPrivateMode,
    PrivateMode, Rgb, StandardCharset, TabulationClearMode,
};
use glis_wire::hold::Size;

/// Deeper stacks are a program's mistake; the oldest entry goes, as the protocols demand.
const STACK_DEPTH_MAX: usize = 64;
/// More marks than any script stacks on one letter.
const MARKS_MAX: usize = 32;
/// Makes one picture of the two that it stands between.
const JOINER: char = '\u{200d}';
/// Pictures begin here, but for a few.
const PICTURES: char = '\u{2600}';
/// They give the picture before them another shade.
const SHADES: RangeInclusive<char> = '\u{1f3fb}'..='\u{1f3ff}';
/// A window title is one line of a screen; the rest would only travel for nothing.
const TITLE_CHARS_MAX: usize = 512;
/// Modes that the emulator does not know, that change what a terminal sends, and that make no
/// terminal answer when they are set.
const FOREIGN_MODES: [u16; 4] = [9, 1015, 1016, 2031];

/// The mode that a program sets for as long as what it draws is one update.
const SYNCHRONIZED: u16 = 2026;

/// The kitty keyboard flags of one screen: those saved by pushes, and those in force.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Keyboard {
    pub(super) saved: Vec<u8>,
    pub(super) flags: u8,
}

pub(super) struct Emulator {
    pub(super) term: Term<VoidListener>,
    /// The main screen while the alternate one is shown: the emulator does not give it out.
    pub(super) main: Option<Grid<Cell>>,
    /// First row inside the margins, and first row below them.
    pub(super) margins: (usize, usize),
    pub(super) title: Option<String>,
    titles: Vec<Option<String>>,
    pub(super) keyboard: Keyboard,
    pub(super) main_keyboard: Keyboard,
    pub(super) other_keys: u8,
    /// `None` as long as no program has asked for a style.
    pub(super) cursor_style: Option<CursorStyle>,
    pub(super) charset: CharsetIndex,
    pub(super) tabs: Vec<bool>,
    pub(super) foreign_modes: BTreeSet<u16>,
    /// How many updates were announced as one.
    pub(super) updates: u64,
    /// Whether the last of them is still under way.
    pub(super) is_midway: bool,
}

impl Emulator {
    /// `past` is how many rows are kept of what scrolls out of sight.
    pub(super) fn new(size: Size, past: usize) -> Self {
        let osc52 = Osc52::Disabled;
        let config = Config { scrolling_history: past, osc52, ..Config::default() };
        let size = Cells::new(size);
        Self {
            term: Term::new(config, &size, VoidListener),
            main: None,
            margins: (0, size.rows),
            title: None,
            titles: Vec::new(),
            keyboard: Keyboard::default(),
            main_keyboard: Keyboard::default(),
            other_keys: 0,
            cursor_style: None,
            charset: CharsetIndex::G0,
            tabs: usual_tabs(size.columns),
            foreign_modes: BTreeSet::new(),
            updates: 0,
            is_midway: false,
        }
    }

    pub(super) fn resize(&mut self, size: Size) {
        let size = Cells::new(size);
        let (columns, rows) = (size.columns, size.rows);
        if (columns, rows) == (self.term.columns(), self.term.screen_lines()) {
            return;
        }
        if let Some(main) = &mut self.main {
            main.resize(true, rows, columns);
            settle(main);
        }
        self.term.resize(size);
        settle(self.term.grid_mut());
        self.margins = (0, rows);
        let old = self.tabs.len();
        self.tabs.truncate(columns);
        self.tabs.extend(usual_tabs(columns).into_iter().skip(old));
    }

    pub(super) fn is_alternate(&self) -> bool {
        self.term.mode().contains(TermMode::ALT_SCREEN)
    }

    fn enter_alternate(&mut self) {
        if self.is_alternate() {
            return;
        }
        let mut main = self.term.grid().clone();
        main.saved_cursor = main.cursor.clone();
        self.main = Some(main);
        self.main_keyboard = std::mem::take(&mut self.keyboard);
        let mode = NamedPrivateMode::SwapScreenAndSetRestoreCursor;
        Handler::set_private_mode(&mut self.term, mode.into());
        mark_written(self.term.grid_mut());
        self.term.grid_mut().reset_region(..);
    }

    fn leave_alternate(&mut self) {
        if !self.is_alternate() {
            return;
        }
        self.main = None;
        self.keyboard = std::mem::take(&mut self.main_keyboard);
        let mode = NamedPrivateMode::SwapScreenAndSetRestoreCursor;
        Handler::unset_private_mode(&mut self.term, mode.into());
        // A change of size moves a cursor with its text, and forgets the saved one.
        let grid = self.term.grid_mut();
        grid.saved_cursor = grid.cursor.clone();
        self.keep_within_margins();
    }

    /// With the origin at the margins, a cursor outside them could not be placed by anybody.
    fn keep_within_margins(&mut self) {
        let row = usize::try_from(self.term.grid().cursor.point.line.0).unwrap_or(0);
        let (top, below) = self.margins;
        if self.term.mode().contains(TermMode::ORIGIN) && !(top..below).contains(&row) {
            self.move_rows(0, self.column());
        }
    }

    /// The emulator adds the upper margin to every row while the origin is there; relative
    /// movements must take it off beforehand.
    fn origin_row(&self) -> i32 {
        let top = if self.term.mode().contains(TermMode::ORIGIN) { self.margins.0 } else { 0 };
        i32::try_from(top).unwrap_or(0)
    }

    fn row(&self) -> i32 {
        self.term.grid().cursor.point.line.0 - self.origin_row()
    }

    fn move_rows(&mut self, delta: i32, column: usize) {
        let row = self.row().saturating_add(delta).max(0);
        Handler::goto(&mut self.term, row, column);
    }

    fn column(&self) -> usize {
        self.term.grid().cursor.point.column.0
    }

    /// The cell of the last character before the cursor.
    fn last_cell(&mut self) -> &mut Cell {
        let grid = self.term.grid_mut();
        let line = grid.cursor.point.line;
        let mut column = grid.cursor.point.column.0;
        if !grid.cursor.input_needs_wrap {
            column = column.saturating_sub(1);
        }
        if grid[line][Column(column)].flags.contains(Flags::WIDE_CHAR_SPACER) {
            column = column.saturating_sub(1);
        }
        &mut grid[line][Column(column)]
    }

    /// Adds a character to the one before it where both are one picture. A program that paints such a line
    /// counts it as one; counted as several, the line would wrap, and all below would be in another
    /// row than it is believed to be.
    fn joined(&mut self, c: char) -> bool {
        if c < PICTURES || self.column() == 0 {
            return false;
        }
        let cell = self.last_cell();
        let joins = cell.zerowidth().is_some_and(|marks| marks.last() == Some(&JOINER));
        let shades = SHADES.contains(&c) && cell.c >= PICTURES;
        if joins || shades {
            cell.push_zerowidth(c);
            self.limit_marks();
        }
        joins || shades
    }

    /// Zero-width characters pile up in their cell without a limit, which is memory for nothing.
    fn limit_marks(&mut self) {
        let cell = self.last_cell();
        if cell.zerowidth().is_none_or(|marks| marks.len() <= MARKS_MAX) {
            return;
        }
        let kept: Vec<char> =
            cell.zerowidth().into_iter().flatten().copied().take(MARKS_MAX).collect();
        let (color, link) = (cell.underline_color(), cell.hyperlink());
        cell.extra = None;
        cell.set_underline_color(color);
        cell.set_hyperlink(link);
        for mark in kept {
            cell.push_zerowidth(mark);
        }
    }
}

/// Passes handler calls on as they are.
macro_rules! passed_on {
    ($($name:ident($($arg:ident: $kind:ty),*);)*) => {
        $(fn $name(&mut self, $($arg: $kind),*) { Handler::$name(&mut self.term, $($arg),*); })*
    };
}

/// What is missing here on purpose: every request that a terminal would answer, the bell, and the
/// clipboard. This screen has no user in front of it.
impl Handler for Emulator {
    passed_on! {
        goto(line: i32, column: usize);
        insert_blank(count: usize);
        move_forward(columns: usize);
        move_backward(columns: usize);
        put_tab(count: u16);
        backspace();
        carriage_return();
        linefeed();
        newline();
        scroll_up(rows: usize);
        scroll_down(rows: usize);
        insert_blank_lines(rows: usize);
        delete_lines(rows: usize);
        erase_chars(count: usize);
        delete_chars(count: usize);
        move_backward_tabs(count: u16);
        move_forward_tabs(count: u16);
        save_cursor_position();
        clear_line(mode: LineClearMode);
        clear_screen(mode: ClearMode);
        reverse_index();
        terminal_attribute(attribute: Attr);
        set_mode(mode: Mode);
        unset_mode(mode: Mode);
        set_keypad_application_mode();
        unset_keypad_application_mode();
        configure_charset(index: CharsetIndex, charset: StandardCharset);
        set_color(index: usize, color: Rgb);
        reset_color(index: usize);
        decaln();
        set_hyperlink(link: Option<Hyperlink>);
    }

    fn input(&mut self, c: char) {
        if c.is_ascii() {
            Handler::input(&mut self.term, c);
            return;
        }
        if self.joined(c) {
            return;
        }
        let before = self.term.grid().cursor.point;
        Handler::input(&mut self.term, c);
        if self.term.grid().cursor.point == before {
            self.limit_marks();
        }
    }

    fn goto_line(&mut self, line: i32) {
        let column = self.column();
        Handler::goto(&mut self.term, line, column);
    }

    fn goto_col(&mut self, column: usize) {
        self.move_rows(0, column);
    }

    fn move_up(&mut self, rows: usize) {
        let column = self.column();
        self.move_rows(-i32::try_from(rows).unwrap_or(i32::MAX), column);
    }

    fn move_down(&mut self, rows: usize) {
        let column = self.column();
        self.move_rows(i32::try_from(rows).unwrap_or(i32::MAX), column);
    }

    fn move_up_and_cr(&mut self, rows: usize) {
        self.move_rows(-i32::try_from(rows).unwrap_or(i32::MAX), 0);
    }

    fn move_down_and_cr(&mut self, rows: usize) {
        self.move_rows(i32::try_from(rows).unwrap_or(i32::MAX), 0);
    }

    fn set_horizontal_tabstop(&mut self) {
        let column = self.column();
        self.tabs[column] = true;
        Handler::set_horizontal_tabstop(&mut self.term);
    }

    fn clear_tabs(&mut self, mode: TabulationClearMode) {
        match mode {
            TabulationClearMode::Current => {
                let column = self.column();
                self.tabs[column] = false;
            }
            TabulationClearMode::All => self.tabs.fill(false),
        }
        Handler::clear_tabs(&mut self.term, mode);
    }

    fn set_scrolling_region(&mut self, top: usize, bottom: Option<usize>) {
        let rows = self.term.screen_lines();
        let bottom = bottom.unwrap_or(rows).min(rows);
        // Margins around nothing are ignored, as terminals do; the emulator would obey.
        if top == 0 || top >= bottom {
            return;
        }
        self.margins = (top - 1, bottom);
        Handler::set_scrolling_region(&mut self.term, top, Some(bottom));
    }

    fn set_private_mode(&mut self, mode: PrivateMode) {
        match mode.raw() {
            47 | 1047 | 1049 => self.enter_alternate(),
            1048 => self.save_cursor_position(),
            3 => {
                self.margins = (0, self.term.screen_lines());
                Handler::set_private_mode(&mut self.term, mode);
            }
            12 => self.cursor_style.get_or_insert_default().blinking = true,
            SYNCHRONIZED => {
                self.updates += u64::from(!self.is_midway);
                self.is_midway = true;
            }
            raw if FOREIGN_MODES.contains(&raw) => {
                self.foreign_modes.insert(raw);
            }
            _ => Handler::set_private_mode(&mut self.term, mode),
        }
    }

    fn unset_private_mode(&mut self, mode: PrivateMode) {
        match mode.raw() {
            47 | 1047 | 1049 => self.leave_alternate(),
            1048 => self.restore_cursor_position(),
            3 => {
                self.margins = (0, self.term.screen_lines());
                Handler::unset_private_mode(&mut self.term, mode);
            }
            12 => self.cursor_style.get_or_insert_default().blinking = false,
            SYNCHRONIZED => self.is_midway = false,
            raw if FOREIGN_MODES.contains(&raw) => {
                self.foreign_modes.remove(&raw);
            }
            _ => Handler::unset_private_mode(&mut self.term, mode),
        }
    }

    fn restore_cursor_position(&mut self) {
        Handler::restore_cursor_position(&mut self.term);
        self.keep_within_margins();
    }

    fn set_active_charset(&mut self, index: CharsetIndex) {
        self.charset = index;
        Handler::set_active_charset(&mut self.term, index);
    }

    fn set_cursor_style(&mut self, style: Option<CursorStyle>) {
        self.cursor_style = style;
    }

    fn set_cursor_shape(&mut self, shape: CursorShape) {
        self.cursor_style.get_or_insert_default().shape = shape;
    }

    fn set_title(&mut self, title: Option<String>) {
        self.title = title.map(|title| title.chars().take(TITLE_CHARS_MAX).collect());
    }

    fn push_title(&mut self) {
        push_bounded(&mut self.titles, self.title.clone());
    }

    fn pop_title(&mut self) {
        if let Some(title) = self.titles.pop() {
            self.title = title;
        }
    }

    fn push_keyboard_mode(&mut self, mode: KeyboardModes) {
        push_bounded(&mut self.keyboard.saved, self.keyboard.flags);
        self.keyboard.flags = mode.bits();
    }

    fn pop_keyboard_modes(&mut self, count: u16) {
        for _ in 0..usize::from(count).min(STACK_DEPTH_MAX + 1) {
            self.keyboard.flags = self.keyboard.saved.pop().unwrap_or(0);
        }
    }

    fn set_keyboard_mode(&mut self, mode: KeyboardModes, behavior: KeyboardModesApplyBehavior) {
        let flags = &mut self.keyboard.flags;
        match behavior {
            KeyboardModesApplyBehavior::Replace => *flags = mode.bits(),
            KeyboardModesApplyBehavior::Union => *flags |= mode.bits(),
            KeyboardModesApplyBehavior::Difference => *flags &= !mode.bits(),
        }
    }

    fn set_modify_other_keys(&mut self, mode: ModifyOtherKeys) {
        self.other_keys = mode as u8;
    }

    fn reset_state(&mut self) {
        Handler::reset_state(&mut self.term);
        self.main = None;
        self.margins = (0, self.term.screen_lines());
        self.title = None;
        self.titles.clear();
        self.keyboard = Keyboard::default();
        self.main_keyboard = Keyboard::default();
        self.other_keys = 0;
        self.cursor_style = None;
        self.charset = CharsetIndex::G0;
        self.tabs = usual_tabs(self.term.columns());
        self.foreign_modes.clear();
    }
}

struct Cells {
    columns: usize,
    rows: usize,
}

impl Cells {
    fn new(size: Size) -> Self {
        let size = size.clamped();
        Self { columns: usize::from(size.columns), rows: usize::from(size.rows) }
    }
}

impl Dimensions for Cells {
    fn total_lines(&self) -> usize {
        self.rows
    }

    fn screen_lines(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.columns
    }
}

/// Puts right what resizing leaves behind: a cursor that is about to wrap can only be in the last
/// column.
fn settle(grid: &mut Grid<Cell>) {
    mark_written(grid);
    let last = grid.columns() - 1;
    for cursor in [&mut grid.cursor, &mut grid.saved_cursor] {
        cursor.input_needs_wrap &= cursor.point.column.0 == last;
    }
}

/// Rows are cleared only as far as they are thought to be written, and resizing makes the emulator
/// think wrongly: colours would stay behind.
fn mark_written(grid: &mut Grid<Cell>) {
    let lines = i32::try_from(grid.screen_lines()).unwrap_or(i32::MAX);
    for line in 0..lines {
        // Borrowing the whole row for change is what marks it.
        let _: &mut [Cell] = &mut grid[Line(line)][..];
    }
}

fn usual_tabs(columns: usize) -> Vec<bool> {
    (0..columns).map(|column| column % 8 == 0).collect()
}

fn push_bounded<T>(stack: &mut Vec<T>, value: T) {
    if stack.len() >= STACK_DEPTH_MAX {
        stack.remove(0);
    }
    stack.push(value);
}
