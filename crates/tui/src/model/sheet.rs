//! A page of the session in hand, laid out for the columns that it has; and the hand in it.

use super::Towards;
use crate::theme::Theme;
use ratatui_core::style::Style;
use std::collections::BTreeSet;
use std::ops::Range;

/// A row of a page: texts, each in its style.
pub(crate) type Row = Vec<(String, Style)>;

/// What a row of a page is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowOf {
    Nothing,
    /// An entry of a conversation, by its number.
    Entry(usize),
    /// A file of a diff, by its number: in the list of them.
    Listed(usize),
    /// A file of a diff, by its number.
    File(usize),
    /// A line of such a file.
    Line(usize, usize),
}

/// What a page is laid out for. Another one is laid out anew.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LaidFor {
    pub(crate) columns: u16,
    pub(crate) theme: Theme,
    /// Counts the changes of what is shown.
    pub(crate) change: u64,
    /// Ages are told in minutes.
    pub(crate) minute: i64,
}

#[derive(Default)]
pub(crate) struct Sheet {
    pub(crate) laid_for: Option<LaidFor>,
    pub(crate) rows: Vec<Row>,
    /// What each of them is of.
    pub(crate) of: Vec<RowOf>,
    /// The rows at which turns, or files, begin.
    pub(crate) parts: Vec<usize>,
    /// The rows at which hunks begin.
    pub(crate) hunks: Vec<usize>,
    /// So many entries of a conversation are laid out: more of them go on below.
    pub(crate) entries: usize,
}

impl Sheet {
    pub(crate) fn push(&mut self, row: Row, of: RowOf) {
        self.rows.push(row);
        self.of.push(of);
    }

    pub(crate) fn of_row(&self, row: usize) -> RowOf {
        self.of.get(row).copied().unwrap_or(RowOf::Nothing)
    }

    /// The first row of something.
    pub(crate) fn row_of(&self, wanted: RowOf) -> Option<usize> {
        self.of.iter().position(|of| *of == wanted)
    }

    pub(crate) fn text(&self, row: usize) -> String {
        let parts = self.rows.get(row).into_iter().flatten();
        parts.map(|(text, _)| text.as_str()).collect()
    }
}

/// The hand in a page.
#[derive(Default)]
pub(crate) struct Reader {
    /// The row that it is at.
    pub(crate) at: usize,
    /// Words that are sought.
    pub(crate) words: String,
    /// The row where a selection began.
    pub(crate) from: Option<usize>,
    /// The hand is on its way to the beginning, which has to be read first.
    pub(crate) rises: bool,
    /// Entries that were opened.
    pub(crate) open: BTreeSet<usize>,
}

impl Reader {
    /// The rows that are selected; the one in hand if none are.
    pub(crate) fn selected(&self) -> Range<usize> {
        let from = self.from.unwrap_or(self.at);
        from.min(self.at)..from.max(self.at) + 1
    }
}

/// The next of some rows behind a row, or the one before it; round and round.
pub(crate) fn turned(rows: &[usize], at: usize, by: Towards) -> Option<usize> {
    let found = match by {
        Towards::Newer => rows.iter().find(|row| **row > at).or(rows.first()),
        Towards::Older => rows.iter().rfind(|row| **row < at).or(rows.last()),
    };
    found.copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_gone_through_round_and_round() {
        let rows = [3, 7, 20];
        let next = |at| turned(&rows, at, Towards::Newer);
        let former = |at| turned(&rows, at, Towards::Older);
        assert_eq!((next(0), next(3), next(20)), (Some(3), Some(7), Some(3)));
        assert_eq!(
            (former(20), former(3), turned(&[], 1, Towards::Older)),
            (Some(7), Some(20), None)
        );
    }
}
