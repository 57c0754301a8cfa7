//! How wide a text is on a terminal, and as much of it as fits.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The columns that a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// As much of a text as fits into so many columns, with a sign where something was cut off.
pub(crate) fn shortened(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut short = beginning(text, columns.saturating_sub(1));
    short.push('\u{2026}');
    short
}

/// As much of a text as fits into so many columns.
pub(crate) fn beginning(text: &str, columns: usize) -> String {
    let mut taken = 0;
    let fits = |c: &char| {
        taken += c.width().unwrap_or(0);
        taken <= columns
    };
    text.chars().take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_as_wide_as_a_terminal_shows_it() {
        for (text, columns) in [("", 0), ("plain", 5), ("Grüße", 5), ("日本", 4), ("e\u{301}", 1)]
        {
            assert_eq!(width(text), columns, "{text}");
        }
    }

    #[test]
    fn what_does_not_fit_is_cut_between_characters() {
        assert_eq!(shortened("日本語", 6), "日本語");
        assert_eq!(shortened("日本語", 5), "日本\u{2026}");
        assert_eq!(shortened("日本語", 4), "日\u{2026}");
        assert_eq!(beginning("日本語", 3), "日");
        assert_eq!(beginning("abc", 2), "ab");
        assert_eq!(beginning("ae\u{301}b", 2), "ae\u{301}");
    }
}
