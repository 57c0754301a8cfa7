//! What the measured programs print: three kinds of terminal output, the same bytes in every run.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

/// A kind of output.
#[derive(Clone, Copy)]
pub(crate) enum Stream {
    /// A build log: words in lines.
    Plain,
    /// A test runner: words in colours of all three depths.
    Colour,
    /// A full-screen program that paints every row anew by cursor addressing.
    Tui,
}

/// A stream that lies in a file.
pub(crate) struct Load {
    pub(crate) name: &'static str,
    pub(crate) file: PathBuf,
    pub(crate) mb: f64,
}

impl Load {
    /// Writes all streams of `size` bytes into `folder`.
    pub(crate) fn store_all(folder: &Path, size: usize) -> Result<Vec<Self>> {
        let store = |stream: Stream| {
            let (name, bytes) = (stream.name(), stream.generate(size));
            let file = folder.join(name);
            fs::write(&file, &bytes)?;
            Ok(Self { name, file, mb: bytes.len() as f64 / 1e6 })
        };
        Stream::ALL.into_iter().map(store).collect()
    }
}

/// The payload draws it last when it has filled its screen.
pub(crate) const DRAWN: &str = "@drawn-to-here@";

/// The payload prints it when the stream is over. Markers begin with a byte that no stream holds.
pub(crate) const END: &str = "@end-of-stream@";

const WORDS: &[&str] = &[
    "compiling",
    "linking",
    "ok",
    "passed",
    "failed",
    "expected",
    "found",
    "note:",
    "help:",
    "fn",
    "let",
    "match",
    "struct",
    "session",
    "holder",
    "snapshot",
    "->",
    "=>",
    "{",
    "}",
    "0x7f",
    "src/lib.rs:42:17",
    "warning:",
    "unused",
    "in",
    "of",
    "the",
    "naïve",
    "…",
    "│",
    "finished",
    "running",
    "12.5%",
    "tests",
    "ms",
    "(cached)",
];

impl Stream {
    pub(crate) const ALL: [Self; 3] = [Self::Plain, Self::Colour, Self::Tui];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Colour => "colour",
            Self::Tui => "tui",
        }
    }

    /// About `size` bytes of it, whole lines or whole pictures.
    pub(crate) fn generate(self, size: usize) -> Vec<u8> {
        let mut dice = Dice(0x5eed + self as u64);
        let mut text = String::with_capacity(size + 16384);
        while text.len() < size {
            match self {
                Self::Plain => plain_line(&mut dice, &mut text),
                Self::Colour => coloured_line(&mut dice, &mut text),
                Self::Tui => picture(&mut dice, &mut text),
            }
        }
        text.push_str("\x1b[0m\x1b[?25h\r\n");
        text.into_bytes()
    }

    /// `count` lines of coloured words.
    pub(crate) fn coloured_lines(count: usize) -> Vec<u8> {
        let mut dice = Dice(0x11e5);
        let mut text = String::new();
        for _ in 0..count {
            coloured_line(&mut dice, &mut text);
        }
        text.into_bytes()
    }
}

/// A small generator of numbers (xorshift): the streams need variety, not chance.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn word(&mut self) -> &'static str {
        let at = usize::try_from(self.below(WORDS.len() as u64)).unwrap_or(0);
        WORDS.get(at).copied().unwrap_or("word")
    }
}

fn plain_line(dice: &mut Dice, text: &mut String) {
    for _ in 0..=dice.below(15) {
        text.push_str(dice.word());
        text.push(' ');
    }
    text.push_str("\r\n");
}

fn coloured_line(dice: &mut Dice, text: &mut String) {
    for _ in 0..=dice.below(15) {
        coloured_word(dice, text);
        text.push(' ');
    }
    text.push_str("\r\n");
}

fn coloured_word(dice: &mut Dice, text: &mut String) {
    let (kind, shade, word) = (dice.below(10), dice.below(256), dice.word());
    let written = match kind {
        0..3 => write!(text, "\x1b[{}m{word}\x1b[0m", 31 + shade % 7),
        3..5 => write!(text, "\x1b[1;38;5;{shade}m{word}\x1b[0m"),
        5 => write!(text, "\x1b[38;2;{shade};120;{}m{word}\x1b[39m", 255 - shade),
        _ => write!(text, "{word}"),
    };
    // Writing into a string cannot fail.
    written.ok();
}

/// One synchronized repaint of 40 rows of up to 119 columns.
fn picture(dice: &mut Dice, text: &mut String) {
    text.push_str("\x1b[?2026h\x1b[?25l\x1b[H");
    for row in 1..=40 {
        write!(text, "\x1b[{row};1H\x1b[48;5;{}m", 232 + dice.below(20)).ok();
        for _ in 0..=dice.below(6) {
            coloured_word(dice, text);
            text.push(' ');
        }
        text.push_str("\x1b[0m\x1b[K");
    }
    write!(text, "\x1b[40;{}H\x1b[?25h\x1b[?2026l", 1 + dice.below(100)).ok();
}

#[cfg(test)]
mod tests {
    use super::{END, Stream};

    #[test]
    fn streams_are_the_same_every_time_and_hold_no_marker() {
        for stream in Stream::ALL {
            let bytes = stream.generate(200_000);
            assert!(bytes.len() >= 200_000 && bytes.len() < 220_000, "{}", stream.name());
            assert_eq!(bytes, stream.generate(200_000), "{}", stream.name());
            assert!(!bytes.contains(&END.as_bytes()[0]), "{}", stream.name());
        }
        assert_eq!(Stream::coloured_lines(50).split(|byte| *byte == b'\n').count(), 51);
    }
}
