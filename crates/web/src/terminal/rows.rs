//! Rows of a screen as a page gets them: runs of text that look alike, and only the rows that have changed.

use glis_screen::{Colour, Look, Screen};
use glis_verbs::complaint::Failure;
use glis_wire::hold::Size;
use schemars::JsonSchema;
use serde::Serialize;

/// What a page is told of a terminal.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Frame<'r> {
    /// The rows that have changed, each with its number.
    Rows {
        /// The offset of the output that they are as of.
        offset: u64,
        size: Size,
        /// Column and row, counted from 0; none if it is hidden.
        cursor: Option<(u16, u16)>,
        /// How many letters stand before the cursor, where that is not its column.
        #[serde(skip_serializing_if = "Option::is_none")]
        letters: Option<usize>,
        rows: Vec<(usize, &'r [TextRun])>,
    },
    /// Its process has ended.
    Ended {
        ended: bool,
        offset: u64,
    },
    Beat {
        beat: bool,
    },
    /// What was typed is not passed on, and why.
    Refused {
        refused: String,
    },
    Failed(Failure),
}

impl Frame<'_> {
    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Text that looks alike.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum TextRun {
    Plain((String,)),
    Dressed(String, Short),
}

/// A look in short.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Short {
    /// The colour of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    f: Option<Ink>,
    /// The colour behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    b: Option<Ink>,
    /// A letter for each style: bold, faint, italic, underlined, reversed, struck.
    #[serde(skip_serializing_if = "String::is_empty")]
    s: String,
}

/// A number of the palette, or `#rrggbb`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Ink {
    Indexed(u8),
    Rgb(String),
}

#[derive(Default)]
pub(super) struct Rows {
    known: Vec<Vec<TextRun>>,
    cursor: Option<(u16, u16)>,
    size: (u16, u16),
}

impl Rows {
    /// The page has this screen already, from before its connection broke.
    pub(super) fn suppose(&mut self, screen: &Screen) {
        let size = screen.size();
        (self.size, self.known) = ((size.columns, size.rows), rows(screen));
    }

    /// What the page has to be told so that it shows this screen; none if it does.
    pub(super) fn frame(&mut self, screen: &Screen, offset: u64) -> Option<String> {
        let size = screen.size();
        let fresh = (size.columns, size.rows);
        if self.size != fresh {
            (self.size, self.known) = (fresh, Vec::new());
        }
        let (column, row) = screen.cursor();
        let (now, letters) = drawn(screen, (column, row));
        let rows: Vec<_> = now
            .iter()
            .enumerate()
            .filter(|(at, row)| self.known.get(*at) != Some(row))
            .map(|(at, row)| (at, row.as_slice()))
            .collect();
        let cursor = screen.shows_cursor().then_some((column, row));
        if rows.is_empty() && cursor == self.cursor {
            return None;
        }
        // Wide letters fill two columns, and marks none.
        let letters = Some(letters).filter(|letters| *letters != usize::from(column));
        let frame = Frame::Rows { offset, size, cursor, letters, rows }.text();
        (self.known, self.cursor) = (now, cursor);
        Some(frame)
    }
}

/// Every row as runs: `[text]`, or `[text, look]`.
pub(super) fn rows(screen: &Screen) -> Vec<Vec<TextRun>> {
    drawn(screen, screen.cursor()).0
}

/// Every row as runs, and how many letters stand before a place in its row.
fn drawn(screen: &Screen, place: (u16, u16)) -> (Vec<Vec<TextRun>>, usize) {
    let mut rows: Vec<Row> = Vec::new();
    rows.resize_with(usize::from(screen.size().rows), Row::default);
    let mut letters = 0;
    screen.each_cell(|column, row, text, look| {
        if row == place.1 && column < place.0 {
            letters += text.chars().count();
        }
        if let Some(row) = rows.get_mut(usize::from(row)) {
            row.add(text, look);
        }
    });
    (rows.into_iter().map(Row::finish).collect(), letters)
}

#[derive(Default)]
struct Row {
    runs: Vec<TextRun>,
    text: String,
    look: Look,
}

impl Row {
    fn add(&mut self, text: &str, look: Look) {
        if look != self.look {
            self.close();
            self.look = look;
        }
        self.text.push_str(text);
    }

    fn close(&mut self) {
        if !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            let look = described(self.look);
            let is_plain = look == Short::default();
            self.runs.push(if is_plain {
                TextRun::Plain((text,))
            } else {
                TextRun::Dressed(text, look)
            });
        }
    }

    /// Without what nobody sees at its end.
    fn finish(mut self) -> Vec<TextRun> {
        if self.look == Look::default() {
            self.text.truncate(self.text.trim_end().len());
        }
        self.close();
        self.runs
    }
}

fn described(look: Look) -> Short {
    let ink = |colour| match colour {
        Colour::Own => None,
        Colour::Indexed(index) => Some(Ink::Indexed(index)),
        Colour::Rgb(r, g, b) => Some(Ink::Rgb(format!("#{r:02x}{g:02x}{b:02x}"))),
    };
    let styles = [
        (look.bold, 'b'),
        (look.faint, 'f'),
        (look.italic, 'i'),
        (look.underlined, 'u'),
        (look.inverse, 'r'),
        (look.struck, 's'),
    ];
    let s = styles.iter().filter(|(is, _)| *is).map(|(_, letter)| *letter).collect();
    Short { f: ink(look.text), b: ink(look.behind), s }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn frame(rows: &mut Rows, screen: &Screen) -> Value {
        let frame = rows.frame(screen, screen.offset());
        frame.map_or(Value::Null, |frame| serde_json::from_str(&frame).unwrap())
    }

    #[test]
    fn only_what_has_changed_is_told() {
        let mut screen = Screen::new(Size { columns: 20, rows: 3 });
        let mut rows = Rows::default();
        screen.feed(b"one\r\ntwo");
        let first = frame(&mut rows, &screen);
        assert_eq!(first["rows"], json!([[0, [["one"]]], [1, [["two"]]], [2, []]]));
        assert_eq!((&first["cursor"], &first["offset"]), (&json!([3, 1]), &json!(8)));
        assert_eq!(frame(&mut rows, &screen), Value::Null);
        screen.feed(b"\x1b[31;1m!\x1b[0m\x1b[?25l");
        let second = frame(&mut rows, &screen);
        assert_eq!(second["rows"], json!([[1, [["two"], ["!", {"f": 1, "s": "b"}]]]]));
        assert_eq!(second["cursor"], Value::Null);
        screen.resize(Size { columns: 10, rows: 3 });
        assert_eq!(frame(&mut rows, &screen)["rows"].as_array().unwrap().len(), 3);
    }

    #[test]
    fn a_cursor_behind_wide_letters_and_marks_tells_how_many_they_are() {
        let mut screen = Screen::new(Size { columns: 20, rows: 2 });
        let mut rows = Rows::default();
        screen.feed("日本語".as_bytes());
        let wide = frame(&mut rows, &screen);
        assert_eq!((&wide["cursor"], &wide["letters"]), (&json!([6, 0]), &json!(3)));
        screen.feed("\r\ne\u{301}x".as_bytes());
        let marked = frame(&mut rows, &screen);
        assert_eq!((&marked["cursor"], &marked["letters"]), (&json!([2, 1]), &json!(3)));
        screen.feed(b"\r\nplain");
        assert_eq!(frame(&mut rows, &screen)["letters"], Value::Null);
    }

    #[test]
    fn markup_and_controls_are_text_and_nothing_else() {
        let mut screen = Screen::new(Size { columns: 60, rows: 1 });
        screen.feed("<img src=x onerror=alert(1)> \x1b]0;title\x07\x1b[6n\u{202e}x".as_bytes());
        let told = frame(&mut Rows::default(), &screen);
        assert_eq!(told["rows"][0][1], json!([["<img src=x onerror=alert(1)> x"]]));
    }
}
