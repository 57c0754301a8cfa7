//! The terminal face: lines above, one footer below, which says what the agent is up to.

use std::time::Instant;

use super::keys::{Key, Keys};
use super::{Face, Goodbye, Input, Message, Mode};
use crate::record::{ALLOW, AskKind, Body, DENY, Manner, Notice, Outcome, Record};

#[cfg(test)]
mod tests;

/// A person, or a program that plays one, at a terminal.
pub(crate) struct Terminal {
    columns: usize,
    mode: Mode,
    keys: Keys,
    /// What is typed at the prompt; typing ahead while the agent works lands here too.
    draft: String,
    answer: String,
    /// The line that pieces of text are being added to, which stands right above the footer.
    streamed: String,
    /// One interrupt at the prompt was seen; the next one leaves.
    leaving: bool,
    /// An Enter that is read together with a paste is lost.
    loses_joined_enter: bool,
}

/// Tool output is shown to this many lines; the transcript has all of it.
const OUTPUT_LINES_MAX: usize = 10;

const CLEAR_LINE: &str = "\r\x1b[K";

impl Terminal {
    pub(crate) fn new(columns: usize) -> Self {
        Self {
            columns,
            mode: Mode::Idle,
            keys: Keys::default(),
            draft: String::new(),
            answer: String::new(),
            streamed: String::new(),
            leaving: false,
            loses_joined_enter: false,
        }
    }

    /// One that loses an Enter which it reads together with a paste.
    pub(crate) fn losing_joined_enter(self) -> Self {
        Self { loses_joined_enter: true, ..self }
    }

    fn footer(&self) -> String {
        match &self.mode {
            Mode::Idle => format!("> {}", self.tail(&self.draft)),
            Mode::Working => {
                let status = "* Working… (esc to interrupt)";
                status.chars().take(self.columns.saturating_sub(1)).collect()
            }
            Mode::Approval(text) => format!("Allow: {} [y/n] ", plain(text).replace('\n', "↵")),
            Mode::Question => format!("answer> {}", self.tail(&self.answer)),
        }
    }

    /// Cuts `text` to what fits beside the prompt: a footer that wraps cannot be cleared.
    fn tail(&self, text: &str) -> String {
        let mut room = self.columns.saturating_sub("answer> ".len() + 1);
        let mut shown = Vec::new();
        for c in plain(text).replace('\n', "↵").chars().rev() {
            // Without tables of widths, everything unusual counts as wide.
            let width = if c.is_ascii() { 1 } else { 2 };
            if width > room {
                break;
            }
            room -= width;
            shown.push(c);
        }
        shown.into_iter().rev().collect()
    }

    fn redraw(&self, out: &mut Vec<u8>) {
        out.extend(CLEAR_LINE.as_bytes());
        out.extend(self.footer().as_bytes());
    }

    /// Prints `text` above the footer.
    fn print(&mut self, text: &str, out: &mut Vec<u8>) {
        self.streamed.clear();
        out.extend(CLEAR_LINE.as_bytes());
        for line in plain(text).split('\n') {
            out.extend(line.as_bytes());
            out.extend(b"\r\n");
        }
        out.extend(self.footer().as_bytes());
    }

    fn print_piece(&mut self, piece: &str, out: &mut Vec<u8>) {
        let longer = format!("{} {piece}", self.streamed);
        if self.streamed.is_empty() || longer.chars().count() >= self.columns {
            self.print(piece, out);
            piece.clone_into(&mut self.streamed);
            return;
        }
        // Up to the line that grows, and down again with the footer.
        out.extend(format!("{CLEAR_LINE}\x1b[A{CLEAR_LINE}{longer}\r\n").as_bytes());
        out.extend(self.footer().as_bytes());
        self.streamed = longer;
    }

    fn title(&self, out: &mut Vec<u8>) {
        let word = match self.mode {
            Mode::Idle => "idle",
            Mode::Working => "working",
            Mode::Approval(_) | Mode::Question => "waiting",
        };
        out.extend(format!("\x1b]2;rehearsal: {word}\x07").as_bytes());
    }

    fn press(&mut self, key: Key, out: &mut Vec<u8>) -> Option<Input> {
        if key == Key::ControlC {
            return self.interrupted(out);
        }
        self.leaving = false;
        match (&self.mode, key) {
            (Mode::Idle, Key::ControlD) if self.draft.is_empty() => {
                Some(Input::Leave(Goodbye::Politely))
            }
            (Mode::Working | Mode::Approval(_) | Mode::Question, Key::Escape) => {
                Some(Input::Interrupt)
            }
            (Mode::Approval(_), Key::Char(c @ ('y' | 'n' | 'Y' | 'N'))) => {
                out.extend(format!("{c}\r\n").as_bytes());
                self.mode = Mode::Working;
                let answer = match c {
                    'y' | 'Y' => ALLOW,
                    _ => DENY,
                };
                Some(Input::Answer { id: None, answer: answer.to_owned() })
            }
            (Mode::Approval(_), _) => None,
            (Mode::Question, Key::Enter) => {
                out.extend(b"\r\n");
                self.mode = Mode::Working;
                Some(Input::Answer { id: None, answer: std::mem::take(&mut self.answer) })
            }
            (Mode::Idle | Mode::Working, Key::Enter) => {
                let text = std::mem::take(&mut self.draft);
                if text.trim().is_empty() {
                    return None;
                }
                // Keys in the same breath are for the turn this begins.
                self.mode = Mode::Working;
                Some(Input::Message(Message { text, id: None }))
            }
            (Mode::Question, key) => {
                type_into(&mut self.answer, key);
                self.redraw(out);
                None
            }
            (Mode::Idle, key) => {
                type_into(&mut self.draft, key);
                self.redraw(out);
                None
            }
            (Mode::Working, key) => {
                type_into(&mut self.draft, key);
                None
            }
        }
    }
}

impl Face for Terminal {
    fn greet(&mut self, session: &Notice, last: &[Record], out: &mut Vec<u8>) {
        out.extend(b"\x1b[?2004h");
        if let Notice::Session { id, model, .. } = session {
            self.print(&format!("rehearsal agent · {model} · session {id}"), out);
        }
        for record in last {
            self.record(record, out);
        }
    }

    fn greet_without_id(&mut self, out: &mut Vec<u8>) {
        out.extend(b"\x1b[?2004h");
        self.print("rehearsal agent", out);
    }

    fn record(&mut self, record: &Record, out: &mut Vec<u8>) {
        if let Body::Text { text, manner: Manner::Piece } = &record.body {
            self.print_piece(text, out);
        } else if let Some(text) = describe(&record.body) {
            self.print(&text, out);
        }
    }

    fn notice(&mut self, notice: &Notice, out: &mut Vec<u8>) {
        let text = match notice {
            Notice::Session { id, .. } => format!("session {id}"),
            Notice::Error { message, .. } | Notice::Complaint { message, .. } => message.clone(),
        };
        self.print(&text, out);
    }

    fn mode(&mut self, mode: Mode, out: &mut Vec<u8>) {
        match self.mode {
            // What was asked and not answered stays on the screen.
            Mode::Approval(_) | Mode::Question => out.extend(b"\r\n"),
            Mode::Idle | Mode::Working => {}
        }
        self.answer.clear();
        self.leaving = false;
        self.mode = mode;
        self.title(out);
        self.redraw(out);
    }

    fn take(&mut self, bytes: &[u8], now: Instant, out: &mut Vec<u8>) -> Vec<Input> {
        let mut keys = self.keys.read(bytes, now);
        if self.loses_joined_enter && keys.iter().any(|key| matches!(key, Key::Paste(_))) {
            keys.retain(|key| *key != Key::Enter);
        }
        keys.into_iter().filter_map(|key| self.press(key, out)).collect()
    }

    fn ended(&mut self) -> Vec<Input> {
        vec![Input::Leave(Goodbye::Politely)]
    }

    fn interrupted(&mut self, out: &mut Vec<u8>) -> Option<Input> {
        if self.mode != Mode::Idle {
            return Some(Input::Interrupt);
        }
        if self.leaving {
            return Some(Input::Leave(Goodbye::ByInterrupt));
        }
        self.leaving = true;
        self.draft.clear();
        self.print("(^C again to exit)", out);
        None
    }

    fn deadline(&self) -> Option<Instant> {
        self.keys.deadline()
    }

    fn tick(&mut self, out: &mut Vec<u8>) -> Vec<Input> {
        let key = self.keys.settle();
        key.and_then(|key| self.press(key, out)).into_iter().collect()
    }

    fn resize(&mut self, columns: usize, out: &mut Vec<u8>) {
        self.columns = columns;
        // The terminal may have wrapped the growing line; it is left as it is.
        self.streamed.clear();
        self.redraw(out);
    }

    fn noise(&mut self, out: &mut Vec<u8>) {
        self.print("> ", out);
    }

    fn flood_line(&mut self, line: &str, out: &mut Vec<u8>) {
        out.extend(CLEAR_LINE.as_bytes());
        out.extend(line.as_bytes());
        out.extend(b"\r\n");
    }

    fn recover(&mut self, out: &mut Vec<u8>) {
        self.streamed.clear();
        // Ends an open sequence, undoes character sets and soft modes, and asks for pastes again.
        out.extend(b"\x18\x0f\x1b[!p\x1b(B\x1b[m\x1b[?2004h\r\n");
        self.title(out);
        self.redraw(out);
    }

    fn farewell(&mut self, out: &mut Vec<u8>) {
        out.extend(b"\x1b[?2004l\r\n");
    }
}

fn type_into(line: &mut String, key: Key) {
    match key {
        Key::Char(c) => line.push(c),
        Key::Paste(text) => line.push_str(&text),
        Key::Backspace => drop(line.pop()),
        Key::Clear => line.clear(),
        Key::Enter | Key::Escape | Key::ControlC | Key::ControlD => {}
    }
}

/// Says what a person sees of `body`, if anything.
fn describe(body: &Body) -> Option<String> {
    match body {
        Body::User { text, .. } => Some(format!("> {}", text.replace('\n', "\n  "))),
        Body::Text { text, .. } => Some(text.clone()),
        Body::ToolStarted { tool, input, .. } => Some(format!("● {tool} {input}")),
        Body::ToolEnded { output, ok, .. } => Some(tool_result(if *ok { "done" } else { "failed" }, output)),
        Body::Ask { kind: AskKind::Question, text, .. } => Some(format!("Question: {text}")),
        Body::Todo { items } => {
            Some(items.iter().map(|item| format!("☐ {item}")).collect::<Vec<_>>().join("\n"))
        }
        Body::Cost { usd } => Some(format!("This conversation has cost ${usd}.")),
        Body::Limit { reset_at } => Some(format!("Usage limit reached. It resets at {reset_at}.")),
        Body::Background { running } => Some(format!("background: {running} running")),
        Body::TurnEnded { result: Outcome::Interrupted } => Some("Interrupted.".to_owned()),
        Body::TurnEnded { result: Outcome::Refused } => Some("Refused.".to_owned()),
        Body::Resumed => Some("(resumed)".to_owned()),
        Body::Fault { message } => Some(format!("Error: {message}")),
        Body::TurnEnded { result: Outcome::Done | Outcome::Limit | Outcome::Failed }
        | Body::TurnStarted
        // The footer asks for approval, and its answer stays beside it.
        | Body::Ask { kind: AskKind::Approval, .. }
        | Body::AskGone { .. } => None,
    }
}

fn tool_result(ending: &str, output: &str) -> String {
    let mut lines = vec![format!("  {ending}")];
    lines.extend(output.lines().take(OUTPUT_LINES_MAX).map(|line| format!("  | {line}")));
    if output.lines().count() > OUTPUT_LINES_MAX {
        lines.push("  | …".to_owned());
    }
    lines.join("\n")
}

/// Takes the teeth out of `text`: control characters other than newlines become dots.
fn plain(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' => '\n',
            '\t' => ' ',
            c if c.is_control() => '·',
            c => c,
        })
        .collect()
}
