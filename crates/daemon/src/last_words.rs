//! What a process wrote last, for a person: on its standard error, or on the screen it had.

use crate::reading::read_from;
use glis_core::plain::without_escapes;
use glis_record::output::OutputLog;
use glis_screen::{Output as _, Screen, printable};
use glis_wire::hold::{ExitRecord, Size, place};
use std::path::Path;

/// A complaint has its point in its last lines. More would hide it, and is kept in the log for ever.
const LINES_MAX: usize = 6;
/// Gemini CLI tells in a line of 330 that a folder is not trusted, and what to do.
const LINE_CHARS_MAX: usize = 400;
/// What stands before this is the complaint, however long the help is that follows.
const HELP: &str = "usage";
/// Where these lines are looked for.
const BYTES_MAX: u64 = 16 * 1024;

/// The last lines of a process that ended by itself, on one line; nothing of one that was told to.
pub(crate) fn last_words(dir: &Path, record: &ExitRecord) -> String {
    if record.ordered {
        return String::new();
    }
    match record.errors_began {
        Some(began) => {
            let path = dir.join(place::ERRORS);
            let end = path.metadata().map_or(0, |facts| facts.len());
            let began = began.max(end.saturating_sub(BYTES_MAX));
            let bytes = read_from(&path, began).unwrap_or_default();
            last_lines(&String::from_utf8_lossy(&bytes))
        }
        None => on_screen(dir, record),
    }
}

/// The last lines of a text that was written for a terminal, on one line.
pub(crate) fn last_lines(text: &str) -> String {
    joined(without_escapes(text).lines())
}

/// Only what has had a terminal has a size.
fn on_screen(dir: &Path, record: &ExitRecord) -> String {
    let log = OutputLog::new(dir);
    let Some(size) = log.sizes().last().map(|(_, size)| *size) else { return String::new() };
    // As high as it needs to be: what has scrolled away was said too.
    let mut screen = Screen::new(Size { rows: size.rows.max(200), ..size });
    let from = record.log_end.saturating_sub(BYTES_MAX);
    // A holder of an earlier version does not say where this run began.
    let Some(from) = record.log_began.map(|began| began.max(from)) else { return String::new() };
    let length = usize::try_from(record.log_end.saturating_sub(from)).unwrap_or_default();
    let Ok(stretch) = log.read(from, length) else { return String::new() };
    screen.feed(&stretch.bytes);
    let lines = screen.lines();
    joined(lines.iter().map(String::as_str))
}

fn joined<'l>(lines: impl Iterator<Item = &'l str>) -> String {
    let lines: Vec<String> =
        lines.map(|line| cut(undrawn(&printable(line)))).filter(|line| !line.is_empty()).collect();
    // Pictures made of characters say nothing; if there are no words at all, they are what there is.
    let (mut lines, pictures): (Vec<_>, Vec<_>) = lines.into_iter().partition(|l| has_word(l));
    if lines.is_empty() {
        lines = pictures;
    }
    let is_help = |line: &String| {
        line.get(..HELP.len()).is_some_and(|start| start.eq_ignore_ascii_case(HELP))
    };
    let help = lines.iter().rposition(is_help).filter(|at| *at > 0 && at + LINES_MAX < lines.len());
    let end = help.unwrap_or(lines.len());
    lines.get(end.saturating_sub(LINES_MAX)..end).unwrap_or_default().join(" | ")
}

/// A line up to its last whole word that has room, and a mark if that is not all of it.
fn cut(line: String) -> String {
    let Some((end, _)) = line.char_indices().nth(LINE_CHARS_MAX) else { return line };
    let room = line.get(..end).unwrap_or_default();
    let whole = room.rsplit_once(char::is_whitespace).map_or(room, |(words, _)| words);
    format!("{}\u{2026}", whole.trim_end())
}

/// A line without frames and blocks, which are drawn around the words and beside them.
fn undrawn(line: &str) -> String {
    let is_drawn = |c: char| ('\u{2500}'..='\u{259f}').contains(&c);
    let bare: String = line.chars().map(|c| if is_drawn(c) { ' ' } else { c }).collect();
    if bare.trim().is_empty() { line.trim().to_owned() } else { bare.trim().to_owned() }
}

/// Whether a line has a word or a number in it: two letters or digits in a row.
fn has_word(line: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric();
    line.chars().zip(line.chars().skip(1)).any(|(a, b)| is_letter(a) && is_letter(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_is_its_last_lines_without_colours_and_controls() {
        let text = "one\n\ntwo\n\u{1b}[31mthree\u{1b}[0m\r\nfour\u{7}\nfive\nsix\nseven\n";
        let told = last_lines(text);
        assert_eq!(told, "two | three | four | five | six | seven");
    }

    #[test]
    fn a_complaint_before_a_long_help_is_told_and_not_the_help() {
        let help = "  -d, --debug\n".repeat(20);
        let told =
            last_lines(&format!("Invalid values:\n  Given: \"x\"\nUsage: it [options]\n{help}"));
        assert_eq!(told, "Invalid values: | Given: \"x\"");
        // Nothing else was said, or all of it is short enough.
        assert!(last_lines(&format!("Usage: it [options]\n{help}")).starts_with("-d, --debug"));
        assert_eq!(
            last_lines("error: x\nusage: it\ntry --help\n"),
            "error: x | usage: it | try --help"
        );
    }

    #[test]
    fn pictures_are_left_out_where_there_are_words() {
        let art = " \u{2590}\u{259b}\u{2588}\u{259c}\u{258c}  Claude Code v2.1.325\n\
                   \u{259d}\u{259c}\u{2588}\u{2588}\u{259b}\u{2598}\n * \u{2598}\u{2598} \u{259d}\u{259d} *\n\
                   \u{2500}\u{2500}\u{2500}\u{2500}\n\u{2502} Error: no key \u{2502}\n ( ) _ / \\ \n";
        assert_eq!(last_lines(art), "Claude Code v2.1.325 | Error: no key");
        assert_eq!(last_lines(" /\\_/\\ \n ( o o )\n"), "/\\_/\\ | ( o o )");
    }

    #[test]
    fn a_long_line_is_cut() {
        let told = joined(["x".repeat(10_000).as_str()].into_iter());
        assert_eq!(told, format!("{}\u{2026}", "x".repeat(LINE_CHARS_MAX)));
        let told = joined(["word ".repeat(1000).as_str()].into_iter());
        assert!(told.ends_with("word word\u{2026}") && told.len() < LINE_CHARS_MAX + 4, "{told}");
    }
}
