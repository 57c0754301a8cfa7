//! What has scrolled out of a terminal: rows, where they are looked at, and what is sought in them.

use glis_screen::Run;

/// The past of one session's terminal, as it was when it was asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Past {
    pub(crate) session: String,
    /// Whether the rows were asked for: not before the screen is known from which it is looked back.
    pub(crate) asked: bool,
    /// None while it is on its way.
    pub(crate) rows: Option<Vec<Vec<Run>>>,
    /// How many rows lie below what is seen.
    pub(crate) below: usize,
    pub(crate) words: String,
    /// The row that holds them.
    pub(crate) found: Option<usize>,
    /// The row where a selection began.
    pub(crate) from: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Towards {
    Older,
    Newer,
}

impl Past {
    /// Of this session; the rows are still to come. A page is scrolled back as soon as they do.
    pub(crate) fn of(session: String, below: usize) -> Self {
        Self { session, below, ..Self::default() }
    }

    fn count(&self) -> usize {
        self.rows.as_ref().map_or(0, Vec::len)
    }

    /// The first of so many rows that are seen.
    pub(crate) fn first(&self, height: usize) -> usize {
        self.count().saturating_sub(height + self.below)
    }

    /// Moves towards the present by so many rows, or away from it. False if the present is reached.
    pub(crate) fn scroll(&mut self, by: isize, height: usize) -> bool {
        let most = self.count().saturating_sub(height);
        if self.rows.is_some() && by > 0 && self.below == 0 {
            return false;
        }
        let below = self.below.saturating_add_signed(by.saturating_neg());
        self.below = if self.rows.is_some() { below.min(most) } else { below };
        self.below > 0 || by < 0
    }

    /// Looks for words, round and round, and moves so that they are seen. False if they are nowhere.
    pub(crate) fn seek(&mut self, towards: Towards, height: usize) -> bool {
        let words = self.words.to_lowercase();
        let first = self.first(height);
        let Some(rows) = &self.rows else { return false };
        let holds = |at: &usize| rows.get(*at).is_some_and(|row| text_of(row).contains(&words));
        let found = match towards {
            Towards::Older => {
                let end = self.found.unwrap_or((first + height).min(rows.len()));
                (0..end).rfind(holds).or_else(|| (end..rows.len()).rfind(holds))
            }
            Towards::Newer => {
                let begin = self.found.map_or(first, |at| at + 1);
                (begin..rows.len()).find(holds).or_else(|| (0..begin).find(holds))
            }
        };
        let Some(found) = found.filter(|_| !words.is_empty()) else { return false };
        self.found = Some(found);
        let seen = first..first + height;
        if !seen.contains(&found) {
            // In the middle, so that what stands around it is seen as well.
            self.below = rows.len().saturating_sub(found + height / 2 + 1);
            self.below = self.below.min(rows.len().saturating_sub(height));
        }
        true
    }

    /// The rows that are selected: between where it began and the edge that is moved, else what is seen.
    pub(crate) fn selected(&self, height: usize) -> std::ops::Range<usize> {
        let first = self.first(height);
        let last = (first + height).min(self.count());
        match self.from {
            Some(from) if from < first => from..last,
            Some(from) => first..(from + 1).min(self.count()),
            None => first..last,
        }
    }

    pub(crate) fn text(&self, rows: std::ops::Range<usize>) -> String {
        let all = self.rows.as_deref().unwrap_or_default();
        let shown = all.get(rows).unwrap_or_default();
        let text = |row: &Vec<Run>| row.iter().map(|(text, _)| text.as_str()).collect::<String>();
        shown.iter().map(text).collect::<Vec<_>>().join("\n")
    }
}

fn text_of(row: &[Run]) -> String {
    row.iter().map(|(text, _)| text.as_str()).collect::<String>().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glis_screen::Look;

    fn past(rows: usize) -> Past {
        let row = |n: usize| vec![(format!("row {n}"), Look::default())];
        Past { rows: Some((0..rows).map(row).collect()), ..Past::default() }
    }

    #[test]
    fn it_scrolls_between_its_beginning_and_the_present() {
        let mut past = past(30);
        assert!(past.scroll(-10, 10));
        assert_eq!(past.first(10), 10);
        assert!(past.scroll(-100, 10));
        assert_eq!(past.first(10), 0);
        assert!(past.scroll(19, 10));
        assert!(!past.scroll(5, 10), "the present is reached");
    }

    #[test]
    fn words_are_sought_upwards_and_down_again() {
        let mut past = past(30);
        past.words = "ROW 1".to_owned();
        assert!(past.seek(Towards::Older, 10));
        assert_eq!((past.found, past.first(10)), (Some(19), 15));
        assert!(past.seek(Towards::Older, 10));
        assert_eq!(past.found, Some(18));
        assert!(past.seek(Towards::Newer, 10));
        assert!(past.seek(Towards::Newer, 10), "round to the first");
        assert_eq!(past.found, Some(1));
        assert!(past.seek(Towards::Older, 10));
        assert_eq!(past.found, Some(19));
        past.words = "nowhere".to_owned();
        assert!(!past.seek(Towards::Older, 10));
    }

    #[test]
    fn what_is_seen_or_selected_is_its_text() {
        let mut past = past(5);
        assert_eq!(past.text(past.selected(2)), "row 3\nrow 4");
        past.from = Some(4);
        past.scroll(-1, 2);
        assert_eq!(past.text(past.selected(2)), "row 2\nrow 3\nrow 4");
    }
}
