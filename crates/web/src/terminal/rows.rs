//! Rows of a screen as a page gets them: runs of text that look alike, and only the rows that have changed.

use glis_screen::{Colour, Look, Screen};
use serde_json::{Map, Value, json};

#[derive(Default)]
pub(super) struct Rows {
    known: Vec<Value>,
    cursor: Value,
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
        let changed: Vec<Value> = now
            .iter()
            .enumerate()
            .filter(|(at, row)| self.known.get(*at) != Some(row))
            .map(|(at, row)| json!([at, row]))
            .collect();
        let cursor = if screen.shows_cursor() { json!([column, row]) } else { Value::Null };
        if changed.is_empty() && cursor == self.cursor {
            return None;
        }
        let mut frame = json!({
            "offset": offset,
            "size": {"columns": size.columns, "rows": size.rows},
            "cursor": cursor,
            "rows": changed,
        });
        // Wide letters fill two columns, and marks none.
        if letters != usize::from(column) {
            frame["letters"] = json!(letters);
        }
        (self.known, self.cursor) = (now, cursor);
        Some(frame.to_string())
    }
}

/// Every row as runs: `[text]`, or `[text, look]`.
pub(super) fn rows(screen: &Screen) -> Vec<Value> {
    drawn(screen, screen.cursor()).0
}

/// Every row as runs, and how many letters stand before a place in its row.
fn drawn(screen: &Screen, place: (u16, u16)) -> (Vec<Value>, usize) {
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
    runs: Vec<Value>,
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
            self.runs.push(if look.is_empty() { json!([text]) } else { json!([text, look]) });
        }
    }

    /// Without what nobody sees at its end.
    fn finish(mut self) -> Value {
        if self.look == Look::default() {
            self.text.truncate(self.text.trim_end().len());
        }
        self.close();
        Value::from(self.runs)
    }
}

/// A look in short: `f` and `b` are colours, `s` has a letter for each style.
fn described(look: Look) -> Map<String, Value> {
    let mut short = Map::new();
    for (name, colour) in [("f", look.text), ("b", look.behind)] {
        let value = match colour {
            Colour::Own => continue,
            Colour::Indexed(index) => json!(index),
            Colour::Rgb(red, green, blue) => json!(format!("#{red:02x}{green:02x}{blue:02x}")),
        };
        short.insert(name.to_owned(), value);
    }
    let styles = [
        (look.bold, 'b'),
        (look.faint, 'f'),
        (look.italic, 'i'),
        (look.underlined, 'u'),
        (look.inverse, 'r'),
        (look.struck, 's'),
    ];
    let letters: String = styles.iter().filter(|(is, _)| *is).map(|(_, letter)| *letter).collect();
    if !letters.is_empty() {
        short.insert("s".to_owned(), json!(letters));
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use glis_wire::hold::Size;

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
