//! Puts text into cells: clipped, measured as terminals show it, free of anything that controls one.

use crate::message::Told;
use crate::theme::Theme;
use glis_core::plain::in_sight;
use glis_screen::printable;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Beside a box at least so much is seen of what lies behind it, or nothing.
const MARGIN: u16 = 4;

/// Stands where a row goes on beyond what is seen.
pub(super) const CUT: &str = "┊";

pub(super) struct Pen<'b> {
    pub(super) buffer: &'b mut Buffer,
    pub(super) theme: Theme,
    /// Where the cursor is seen, if it is.
    pub(super) cursor: Option<(u16, u16)>,
}

impl<'b> Pen<'b> {
    pub(super) fn new(buffer: &'b mut Buffer, theme: Theme) -> Self {
        Self { buffer, theme, cursor: None }
    }

    /// Puts as much of a text as fits into so many columns, with a sign where something was cut off.
    /// Returns the column behind it.
    pub(super) fn put(&mut self, x: u16, y: u16, columns: u16, text: &str, style: Style) -> u16 {
        let Some(columns) = self.room(x, y, columns) else { return x };
        let text = harmless(text);
        #[cfg(test)]
        if width(&text) > columns {
            CUTS.with_borrow_mut(|all| all.push(format!("{text:?} to {columns} columns")));
        }
        let text = shortened(&text, columns);
        #[cfg(test)]
        self.note_overlap(x, y, &text);
        self.buffer.set_stringn(x, y, text, usize::from(columns), style).0
    }

    /// Rows of another terminal, which go on beyond what is seen: without a sign where they are cut, and with
    /// what no terminal shows left out.
    pub(super) fn put_cut(
        &mut self,
        x: u16,
        y: u16,
        columns: u16,
        text: &str,
        style: Style,
    ) -> u16 {
        let Some(columns) = self.room(x, y, columns) else { return x };
        self.buffer.set_stringn(x, y, printable(text), usize::from(columns), style).0
    }

    /// As many of these columns as there are; none beside the screen.
    fn room(&self, x: u16, y: u16, columns: u16) -> Option<u16> {
        let area = self.buffer.area;
        let is_seen = y < area.bottom() && x < area.right();
        is_seen.then(|| columns.min(area.right() - x))
    }

    /// The same as [`Self::put`], up to this column.
    pub(super) fn put_to(&mut self, x: u16, y: u16, end: u16, text: &str, style: Style) -> u16 {
        self.put(x, y, end.saturating_sub(x), text, style)
    }

    /// The same, with its end at column `right`.
    pub(super) fn put_right(&mut self, right: u16, y: u16, columns: u16, text: &str, style: Style) {
        let width = width(text).min(columns);
        self.put(right.saturating_sub(width), y, width, text, style);
    }

    /// A mark over whatever is there, with its end at column `right` and a blank before it.
    pub(super) fn put_over(&mut self, right: u16, y: u16, columns: u16, text: &str, style: Style) {
        let width = width(text).min(columns.saturating_sub(1));
        let x = right.saturating_sub(width + 1);
        self.clear(Rect { x, y, width: width + 1, height: 1 });
        self.put(x + 1, y, width, text, style);
    }

    /// Notes what is about to be written over, for the tests. Rules and the edges of boxes are meant to be.
    #[cfg(test)]
    fn note_overlap(&self, x: u16, y: u16, text: &str) {
        let covered: String = (x..x + width(text))
            .filter_map(|x| self.buffer.cell((x, y)))
            .map(ratatui_core::buffer::Cell::symbol)
            .collect();
        let is_line = |c: char| c == ' ' || ('\u{2500}'..='\u{257f}').contains(&c);
        if !covered.chars().all(is_line) {
            OVERLAPS.with_borrow_mut(|all| all.push(format!("{text:?} over {covered:?}")));
        }
    }

    /// What went wrong, in this style, and below it the next step.
    pub(super) fn told(&mut self, area: Rect, told: &Told, style: Style) {
        self.put(area.x, area.y, area.width, &told.message, style);
        let hint = told.hint.as_deref().unwrap_or_default();
        self.put(area.x, area.y + 1, area.width, hint, self.theme.faint());
    }

    /// A style over a whole area, behind what is written.
    pub(super) fn tint(&mut self, area: Rect, style: Style) {
        let area = area.intersection(self.buffer.area);
        self.buffer.set_style(area, style);
    }

    pub(super) fn clear(&mut self, area: Rect) {
        let area = area.intersection(self.buffer.area);
        for position in area.positions() {
            if let Some(cell) = self.buffer.cell_mut(position) {
                cell.reset();
            }
        }
    }

    /// A box with a title. Returns what is inside.
    pub(super) fn frame(&mut self, area: Rect, title: &str) -> Rect {
        let whole = self.buffer.area;
        // Single letters beside a box that is almost as wide as the screen would look like a mistake.
        let narrow = whole.width.saturating_sub(area.width) <= 2 * MARGIN;
        self.clear(if narrow { Rect { x: whole.x, width: whole.width, ..area } } else { area });
        let (line, accent) = (self.theme.line(), self.theme.accent());
        let (right, bottom) = (area.right().saturating_sub(1), area.bottom().saturating_sub(1));
        let edge = "─".repeat(usize::from(area.width.saturating_sub(2)));
        self.put(area.x, area.y, area.width, &format!("╭{edge}╮"), line);
        self.put(area.x, bottom, area.width, &format!("╰{edge}╯"), line);
        for y in area.y + 1..bottom {
            self.put(area.x, y, 1, "│", line);
            self.put(right, y, 1, "│", line);
        }
        let room = area.width.saturating_sub(4);
        self.put(area.x + 2, area.y, room, &format!(" {title} "), accent);
        Rect {
            x: area.x + 2,
            y: area.y + 1,
            width: area.width.saturating_sub(4),
            height: area.height.saturating_sub(2),
        }
    }
}

#[cfg(test)]
thread_local! {
    static OVERLAPS: std::cell::RefCell<Vec<String>> = const { std::cell::RefCell::new(Vec::new()) };
    static CUTS: std::cell::RefCell<Vec<String>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// What had no room, whole, since this was last asked.
#[cfg(test)]
pub(crate) fn cuts() -> Vec<String> {
    CUTS.take()
}

/// What was written over something else since this was last asked.
#[cfg(test)]
pub(crate) fn overlaps() -> Vec<String> {
    OVERLAPS.take()
}

/// A text in one line that hides nothing: what is not seen, or turns the direction of letters, is written out.
pub(super) fn harmless(text: &str) -> String {
    in_sight(text).replace(['\n', '\t'], " ")
}

pub(super) fn width(text: &str) -> u16 {
    u16::try_from(text.width()).unwrap_or(u16::MAX)
}

/// As much of a text as fits, with a sign where something was cut off.
pub(super) fn shortened(text: &str, columns: u16) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut taken = 0;
    let room = usize::from(columns.saturating_sub(1));
    let fits = |c: &char| {
        taken += c.width().unwrap_or(0);
        taken <= room
    };
    let mut short: String = text.chars().take_while(fits).collect();
    if columns > 0 {
        short.push('…');
    }
    short
}

/// The end of a path that is longer than its place: its name tells more than where it lies.
pub(super) fn ending(path: &str, columns: u16) -> String {
    let mut rest = path;
    let mut told = path.to_owned();
    while width(&told) > columns {
        let Some((_, shorter)) = rest.split_once('/') else { break };
        rest = shorter;
        told = format!("…/{rest}");
    }
    told
}

/// A text in lines of at most so many columns, broken between words where that can be.
pub(super) fn wrapped(text: &str, columns: u16) -> Vec<String> {
    let columns = usize::from(columns.max(1));
    let mut lines = Vec::new();
    for line in text.lines() {
        let line = harmless(&line.replace('\t', "    "));
        let mut rest = line.as_str();
        loop {
            let fits = break_at(rest, columns);
            let (head, tail) = rest.split_at(fits);
            lines.push(head.trim_end().to_owned());
            rest = tail;
            if rest.is_empty() {
                break;
            }
        }
    }
    lines
}

pub(super) type Lines = Vec<(String, Style)>;

/// A text in lines of at most so many columns, each behind the same mark.
pub(super) fn styled(mark: &str, text: &str, columns: u16, style: Style) -> Lines {
    let lines = wrapped(text, columns.saturating_sub(width(mark))).into_iter();
    lines.map(|line| (format!("{mark}{line}"), style)).collect()
}

/// The first of its lines, with a sign where there are more.
pub(super) fn beginning(text: &str, columns: u16, rows: usize) -> Vec<String> {
    let mut lines = wrapped(text, columns);
    if lines.len() > rows {
        lines.truncate(rows);
        let room = columns.saturating_sub(2);
        if let Some(last) = lines.last_mut() {
            *last = format!("{} …", shortened(last, room));
        }
    }
    lines
}

fn break_at(text: &str, columns: usize) -> usize {
    let mut taken = 0;
    let mut blank = None;
    for (at, c) in text.char_indices() {
        taken += c.width().unwrap_or(0);
        if taken > columns {
            // A character that is wider than the line still has to go somewhere.
            return blank
                .filter(|at| *at > 0)
                .unwrap_or(at.max(c.len_utf8() * usize::from(at == 0)));
        }
        if c == ' ' {
            blank = Some(at + 1);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words_and_lose_nothing() {
        assert_eq!(wrapped("one two three", 8), ["one two", "three"]);
        assert_eq!(wrapped("unbreakable", 4), ["unbr", "eaka", "ble"]);
        assert_eq!(wrapped("日本語", 1).len(), 3);
        assert_eq!(wrapped("a\n\nb", 9), ["a", "", "b"]);
        assert_eq!(wrapped("", 9), Vec::<String>::new());
    }

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(shortened("日本語", 4), "日…");
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(shortened("abc", 0), "");
        assert_eq!(beginning("one two three four", 9, 2), ["one two", "three …"]);
        assert_eq!(beginning("one two three", 9, 2), ["one two", "three"]);
    }
}
