//! A box that text is typed into.

use crate::chord::{Chord, Code};

/// A text, and the place in it where the next character goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Editor {
    text: String,
    /// A byte offset on a character's boundary.
    at: usize,
}

impl Editor {
    pub(crate) const fn new() -> Self {
        Self { text: String::new(), at: 0 }
    }

    /// With this text, at its end.
    pub(crate) fn with(text: &str) -> Self {
        Self { text: text.to_owned(), at: text.len() }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Puts text in where the cursor is. Nothing in it can control a terminal.
    pub(crate) fn insert(&mut self, text: &str) {
        let clean: String =
            text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
        self.text.insert_str(self.at, &clean);
        self.at += clean.len();
    }

    /// Does what a key means in a text. Whether it means anything there.
    pub(crate) fn press(&mut self, chord: Chord) -> bool {
        if let Some(c) = chord.text() {
            self.insert(c.encode_utf8(&mut [0; 4]));
            return true;
        }
        match (chord.code, chord.held.ctrl) {
            (Code::Backspace, false) => self.remove(self.before()),
            (Code::Backspace | Code::Char('w'), true) => self.remove(self.word_before()),
            (Code::Delete, _) | (Code::Char('d'), true) => self.cut(self.after()),
            (Code::Left, _) | (Code::Char('b'), true) => self.at = self.before(),
            (Code::Right, _) | (Code::Char('f'), true) => self.at = self.after(),
            (Code::Home, _) | (Code::Char('a'), true) => self.at = self.line_start(),
            (Code::End, _) | (Code::Char('e'), true) => self.at = self.line_end(),
            (Code::Up, _) => self.move_line(self.line_start().checked_sub(1)),
            (Code::Down, _) => {
                let end = self.line_end();
                self.move_line((end < self.text.len()).then_some(end + 1));
            }
            (Code::Char('u'), true) => self.remove(self.line_start()),
            (Code::Char('k'), true) => self.cut(self.line_end()),
            (Code::Char('j'), true) | (Code::Enter, _) => self.insert("\n"),
            _ => return false,
        }
        true
    }

    /// The line and the column, counted in characters, that the cursor is in.
    pub(crate) fn cursor(&self) -> (usize, usize) {
        let before = self.head();
        let line = before.matches('\n').count();
        (line, before.rsplit('\n').next().unwrap_or_default().chars().count())
    }

    fn head(&self) -> &str {
        self.text.get(..self.at).unwrap_or_default()
    }

    fn tail(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn before(&self) -> usize {
        self.at - self.head().chars().next_back().map_or(0, char::len_utf8)
    }

    fn after(&self) -> usize {
        self.at + self.tail().chars().next().map_or(0, char::len_utf8)
    }

    fn word_before(&self) -> usize {
        let trimmed = self.head().trim_end();
        trimmed.rfind(char::is_whitespace).map_or(0, |at| {
            at + trimmed.get(at..).and_then(|c| c.chars().next()).map_or(1, char::len_utf8)
        })
    }

    fn line_start(&self) -> usize {
        self.head().rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        self.tail().find('\n').map_or(self.text.len(), |at| self.at + at)
    }

    /// To the same column of the line that holds this place.
    fn move_line(&mut self, within: Option<usize>) {
        let Some(within) = within else { return };
        let (_, column) = self.cursor();
        self.at = within;
        let start = self.line_start();
        let line = self.text.get(start..self.line_end()).unwrap_or_default();
        self.at = start + line.chars().take(column).map(char::len_utf8).sum::<usize>();
    }

    fn cut(&mut self, end: usize) {
        self.text.drain(self.at..end);
    }

    fn remove(&mut self, from: usize) {
        self.text.drain(from..self.at);
        self.at = from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &str) -> (String, (usize, usize)) {
        let mut editor = Editor::default();
        for key in keys.split(' ') {
            match Chord::parse(key) {
                Some(chord) => assert!(editor.press(chord), "{key}"),
                None => editor.insert(key),
            }
        }
        (editor.text().to_owned(), editor.cursor())
    }

    #[test]
    fn text_is_typed_and_taken_back() {
        assert_eq!(typed("hello space world ctrl+w you"), ("hello you".into(), (0, 9)));
        assert_eq!(typed("añb backspace left delete"), ("a".into(), (0, 1)));
        assert_eq!(typed("ab enter cd up x down y"), ("abx\ncdy".into(), (1, 3)));
        assert_eq!(typed("ab home c end d ctrl+u"), (String::new(), (0, 0)));
        assert_eq!(typed("日本 left ctrl+k backspace backspace"), (String::new(), (0, 0)));
    }

    #[test]
    fn nothing_that_controls_a_terminal_gets_in() {
        let mut editor = Editor::default();
        editor.insert("a\u{1b}[2Jb\u{7}\nc");
        assert_eq!(editor.text(), "a[2Jb\nc");
    }
}
