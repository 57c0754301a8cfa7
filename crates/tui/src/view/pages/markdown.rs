//! What agents write in Markdown, with its structure as attributes of the text. Only signs of emphasis, code and lists
//! are left out; everything else stands as it was written.

use crate::model::Row;
use crate::theme::Theme;
use crate::view::pen::{harmless, width, wrapped};
use glis_client::labels::Tone;
use ratatui_core::style::{Modifier, Style};
use unicode_width::UnicodeWidthChar as _;

/// The rows of a text, of at most so many columns.
pub(super) fn rows(text: &str, columns: u16, theme: Theme) -> Vec<Row> {
    let code = theme.tone(Tone::Calm);
    let mut rows = Vec::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let bare = line.trim_start();
        let sign = ["```", "~~~"].into_iter().find(|sign| bare.starts_with(sign));
        match (fence, sign) {
            (Some(open), Some(sign)) if open == sign => fence = None,
            (None, Some(sign)) => fence = Some(sign),
            (Some(_), _) => {
                let parts = wrapped(line, columns.saturating_sub(2));
                let parts = if parts.is_empty() { vec![String::new()] } else { parts };
                rows.extend(parts.into_iter().map(|part| vec![(format!("  {part}"), code)]));
            }
            (None, None) => rows.extend(line_rows(line, columns, theme)),
        }
    }
    rows
}

/// A line outside of code: a heading, a point of a list, a quotation, or words.
fn line_rows(line: &str, columns: u16, theme: Theme) -> Vec<Row> {
    let words = line.trim_start();
    let indent = line.len() - words.len();
    let hashes = words.len() - words.trim_start_matches('#').len();
    if (1..=6).contains(&hashes) && words.chars().nth(hashes) == Some(' ') {
        let bold = theme.text().add_modifier(Modifier::BOLD);
        let title = words.trim_start_matches('#').trim();
        return flow(&spans(title, bold, theme), ("", ""), columns, bold);
    }
    if let Some(quoted) = words.strip_prefix('>') {
        let faint = theme.faint();
        return flow(&spans(quoted.trim_start(), faint, theme), ("│ ", "│ "), columns, faint);
    }
    let (mark, rest) = point(words);
    let lead = format!("{}{mark}", " ".repeat(indent.min(12)));
    let below = " ".repeat(usize::from(width(&lead)));
    flow(&spans(rest, theme.text(), theme), (&lead, &below), columns, theme.text())
}

/// The mark of a point of a list, as it is shown, and its words.
fn point(words: &str) -> (String, &str) {
    if let Some(rest) = ["- ", "* ", "+ "].iter().find_map(|sign| words.strip_prefix(sign)) {
        return ("• ".to_owned(), rest);
    }
    let digits = words.len() - words.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, rest) = words.split_at_checked(digits).unwrap_or(("", words));
    match rest.strip_prefix(". ").filter(|_| (1..=3).contains(&digits)) {
        Some(rest) => (format!("{number}. "), rest),
        None => (String::new(), words),
    }
}

/// A text in parts: what is in code, what is bold, what is in italics, and the rest.
fn spans(text: &str, plain: Style, theme: Theme) -> Row {
    let mut found: Row = Vec::new();
    let mut rest = text;
    let mut before = None;
    while let Some(first) = rest.chars().next() {
        let (style, sign) = match first {
            '`' => (theme.tone(Tone::Calm), "`"),
            '*' if rest.starts_with("**") => (plain.add_modifier(Modifier::BOLD), "**"),
            '*' => (plain.add_modifier(Modifier::ITALIC), "*"),
            _ => (plain, ""),
        };
        let inside = Some(sign).filter(|sign| !sign.is_empty()).and_then(|sign| {
            let (inside, after) = rest.strip_prefix(sign)?.split_once(sign)?;
            // A sign that is not next to a word is one of arithmetic, or none at all.
            let hugs = !inside.is_empty() && (sign == "`" || inside.trim() == inside);
            let begins = before.is_none_or(|c: char| !c.is_alphanumeric());
            (hugs && begins).then_some((inside, after))
        });
        if let Some((inside, after)) = inside {
            found.push((inside.to_owned(), style));
            (rest, before) = (after, Some(' '));
            continue;
        }
        let (taken, after) = rest.split_at(sign.len().max(first.len_utf8()));
        match found.last_mut() {
            Some((text, style)) if *style == plain => text.push_str(taken),
            _ => found.push((taken.to_owned(), plain)),
        }
        (rest, before) = (after, Some(first));
    }
    found
}

/// Parts of a text in rows of at most so many columns, broken between words where that can be.
fn flow(
    spans: &[(String, Style)],
    (first, below): (&str, &str),
    columns: u16,
    plain: Style,
) -> Vec<Row> {
    let room = usize::from(columns.saturating_sub(width(first)).max(2));
    let mut letters: Vec<(char, Style)> = Vec::new();
    for (text, style) in spans {
        letters.extend(harmless(text).chars().map(|c| (c, *style)));
    }
    let mut rows = Vec::new();
    let mut rest = letters.as_slice();
    loop {
        let fits = fitting(rest, room);
        let (head, tail) = rest.split_at(fits);
        let lead = if rows.is_empty() { first } else { below };
        rows.push(joined(lead, head, plain));
        rest = tail;
        if rest.is_empty() {
            return rows;
        }
    }
}

/// How many letters go into so many columns.
fn fitting(letters: &[(char, Style)], room: usize) -> usize {
    let (mut taken, mut blank) = (0, None);
    for (at, (c, _)) in letters.iter().enumerate() {
        taken += c.width().unwrap_or(0);
        if taken > room {
            return blank.unwrap_or(at.max(1));
        }
        if *c == ' ' {
            blank = Some(at + 1);
        }
    }
    letters.len()
}

fn joined(lead: &str, letters: &[(char, Style)], plain: Style) -> Row {
    let mut row: Row = Vec::new();
    if !lead.is_empty() {
        row.push((lead.to_owned(), plain));
    }
    for (c, style) in letters {
        match row.last_mut() {
            Some((text, known)) if known == style => text.push(*c),
            _ => row.push((c.to_string(), *style)),
        }
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::{Depth, Ground};

    const THEME: Theme = Theme { depth: Depth::Indexed, ground: Ground::Dark };

    /// Rows with the attributes written out: `<b…>`, `<i…>`, `<c…>`.
    fn told(text: &str, columns: u16) -> String {
        let part = |(text, style): &(String, Style)| match () {
            () if *style == THEME.tone(Tone::Calm) => format!("<c{text}>"),
            () if style.add_modifier.contains(Modifier::BOLD) => format!("<b{text}>"),
            () if style.add_modifier.contains(Modifier::ITALIC) => format!("<i{text}>"),
            () => text.clone(),
        };
        let rows = rows(text, columns, THEME);
        rows.iter()
            .map(|row| row.iter().map(part).collect::<String>())
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn structure_becomes_attributes_and_nothing_else_is_lost() {
        assert_eq!(told("I **must** run `make x`, *now*", 80), "I <bmust> run <cmake x>, <inow>");
        assert_eq!(
            told("2 * 3 * 4, snake_case, a**b**c, `open", 80),
            "2 * 3 * 4, snake_case, a**b**c, `open"
        );
        assert_eq!(
            told("# Plan\n- one\n  * two\n10. ten\n> said", 80),
            "<bPlan>\n• one\n  • two\n10. ten\n│ said"
        );
        assert_eq!(told("```sh\nls **x**\n\n```\nafter", 80), "<c  ls **x**>\n<c  >\nafter");
        assert_eq!(told("a <script> & [link](http://x)", 80), "a <script> & [link](http://x)");
    }

    #[test]
    fn rows_are_broken_between_words_below_their_point() {
        assert_eq!(told("- one **two three** four", 12), "• one <btwo >\n  <bthree> four");
        assert_eq!(told("日本語日本語", 4), "日本\n語日\n本語");
        assert_eq!(told("a\u{202e}b", 20), r"a\u{202e}b");
        assert_eq!(told("", 20), "");
        assert_eq!(told("a\n\nb", 20), "a\n\nb");
    }
}
