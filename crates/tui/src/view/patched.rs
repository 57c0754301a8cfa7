//! A line of a patch, as agents tell what they change.

use super::pen::{Lines, harmless, width};
use crate::theme::Theme;
use glis_client::labels::Tone;

/// A line of a patch, in the colour of what it does; a long one goes on below itself.
pub(super) fn patch_line(line: &str, columns: u16, theme: Theme) -> Lines {
    let style = match line.as_bytes().first() {
        Some(b'+') => theme.tone(Tone::Good),
        Some(b'-') => theme.tone(Tone::Bad),
        Some(b'@') => theme.tone(Tone::Calm),
        Some(_) | None => theme.text(),
    };
    let mut rows = vec![String::new()];
    for letter in harmless(&line.replace('\t', "    ")).chars() {
        let row = rows.last().map_or(0, |row| width(row));
        if row + width(letter.encode_utf8(&mut [0; 4])) > columns.max(2) {
            rows.push(" ".to_owned());
        }
        if let Some(row) = rows.last_mut() {
            row.push(letter);
        }
    }
    rows.into_iter().map(|row| (row, style)).collect()
}
