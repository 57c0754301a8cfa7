//! The visible screen of a session, derived from its raw output: bytes in, cells, text and paint out.
#![forbid(unsafe_code)]

mod cells;
mod emulator;
mod paint;
mod pen;
mod unfinished;
mod wants;

#[cfg(test)]
mod tests;

use std::io;
use std::time::Duration;

use alacritty_terminal::grid::Dimensions as _;
use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::{Processor, Timeout};
use glis_wire::hold::Size;

pub use cells::{Colour, Look, Run};
use emulator::Emulator;
use pen::{Links, Pen};
use unfinished::Unfinished;
pub use wants::{MouseReports, Wants};

/// Large enough that opening files costs nothing beside parsing, small enough to be forgotten.
const READ_BYTES: usize = 256 * 1024;
/// Where a log begins in the middle, text is trusted from the next line or sequence on. One that
/// is further away than this means that the output has neither.
const RESYNC_BYTES_MAX: usize = 4096;

/// A session's raw output, addressed by byte offset, wherever it lies.
pub trait Output {
    /// The oldest offset that still exists; 0 if nothing does.
    fn oldest(&self) -> u64;

    /// The offset after the last byte; 0 if nothing was written.
    fn end(&self) -> u64;

    /// The terminal's size over time, oldest first: from which offset on, and which size. Empty for
    /// what never had a terminal.
    fn sizes(&self) -> Vec<(u64, Size)>;

    /// Up to `max` bytes from `from` on, or from the next offset that still exists. Fewer bytes than
    /// wanted are not the end; only an empty answer is.
    fn read(&self, from: u64, max: usize) -> io::Result<Chunk>;
}

/// Bytes that lie together in the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Offset of the first byte. Later than what was asked for where bytes were cut or lost.
    pub at: u64,
    /// The bytes; none at the end of the output.
    pub bytes: Vec<u8>,
}

/// What a person sitting before the session's terminal would see. Answers nothing that the
/// session's programs ask their terminal.
pub struct Screen {
    emulator: Emulator,
    parser: Processor<Unsynchronized>,
    unfinished: Unfinished,
    offset: u64,
    /// Lines end with a line feed alone, as in a pipe. In a terminal that would leave the cursor in
    /// its column, and its driver sees to that.
    from_pipes: bool,
}

impl Screen {
    /// An empty screen at offset 0. Sizes that no terminal has are brought into bounds.
    pub fn new(size: Size) -> Self {
        Self::with_past(size, 0)
    }

    /// The same, with so many rows kept of what scrolls out of sight.
    pub fn with_past(size: Size, rows: usize) -> Self {
        Self {
            emulator: Emulator::new(size, rows),
            parser: Processor::new(),
            unfinished: Unfinished::default(),
            offset: 0,
            from_pipes: false,
        }
    }

    /// The screen as of `upto`, from all output that still exists.
    pub fn replay(log: &impl Output, upto: u64) -> io::Result<Self> {
        let oldest = log.oldest();
        let sizes = log.sizes();
        let first = sizes.first().map_or(Size::USUAL, |&(_, size)| size);
        let mut screen = Self::new(size_at(&sizes, oldest).unwrap_or(first));
        // What comes from pipes was never given a size.
        screen.from_pipes = sizes.is_empty();
        screen.start_at(log, oldest)?;
        screen.catch_up(log, upto)?;
        Ok(screen)
    }

    /// The screen that [`Self::paint`] has painted at an offset of this log.
    pub fn repainted(log: &impl Output, offset: u64, size: Size, paint: &[u8]) -> Self {
        let mut screen = Self::new(size);
        screen.feed(paint);
        screen.offset = offset;
        screen.from_pipes = log.sizes().is_empty();
        screen
    }

    /// The screen as of `upto` as far as the last `bytes_max` bytes tell: cheap, and right for
    /// whatever repaints itself now and then.
    pub fn tail(log: &impl Output, bytes_max: u64, upto: u64, size: Size) -> io::Result<Self> {
        let mut screen = Self::new(size);
        let upto = upto.min(log.end());
        screen.start_at(log, upto.saturating_sub(bytes_max).max(log.oldest()))?;
        screen.follow(log, upto, &[])?;
        Ok(screen)
    }

    /// Goes on to `upto`, or to the end of the log where that comes first.
    pub fn catch_up(&mut self, log: &impl Output, upto: u64) -> io::Result<()> {
        self.follow(log, upto, &log.sizes())
    }

    /// Takes output that follows directly on what was fed before.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.from_pipes {
            for line in bytes.split_inclusive(|b| *b == b'\n') {
                self.parser.advance(&mut self.emulator, line);
                if line.ends_with(b"\n") {
                    self.parser.advance(&mut self.emulator, b"\r");
                }
            }
        } else {
            self.parser.advance(&mut self.emulator, bytes);
        }
        self.unfinished.feed(bytes);
        self.offset += bytes.len() as u64;
    }

    /// Gives the terminal another size.
    pub fn resize(&mut self, size: Size) {
        self.emulator.resize(size);
    }

    /// The offset of the first byte that was not fed yet.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Goes on at `offset` although bytes are missing before it: a sequence that they might have
    /// ended is given up.
    pub fn skip_to(&mut self, offset: u64) {
        /// "Cancel": ends any sequence, and does nothing else.
        const CANCEL: u8 = 0x18;
        self.parser.advance(&mut self.emulator, &[CANCEL]);
        self.unfinished.clear();
        self.offset = offset;
    }

    pub fn size(&self) -> Size {
        let bounded = |cells: usize| u16::try_from(cells).unwrap_or(u16::MAX);
        let term = &self.emulator.term;
        Size { columns: bounded(term.columns()), rows: bounded(term.screen_lines()) }
    }

    /// Every row as plain text, without spaces at its end. Hidden text is not shown.
    pub fn lines(&self) -> Vec<String> {
        paint::tidy_rows(self.emulator.term.grid()).iter().map(|row| text_of(row)).collect()
    }

    /// Column and row of the cursor, counted from 0.
    pub fn cursor(&self) -> (u16, u16) {
        let point = self.emulator.term.grid().cursor.point;
        let row = u16::try_from(point.line.0).unwrap_or(0);
        (u16::try_from(point.column.0).unwrap_or(u16::MAX), row)
    }

    /// The window title that the session's programs have chosen.
    pub fn title(&self) -> Option<String> {
        self.emulator.title.as_deref().map(printable)
    }

    /// Every row with its colours and styles, and with no other control sequence. Each row begins
    /// and ends without style.
    pub fn ansi_lines(&self) -> Vec<String> {
        let rows = paint::tidy_rows(self.emulator.term.grid());
        rows.iter().map(|row| colored_text_of(row)).collect()
    }

    /// The bytes that, written to a cleared terminal of the same size, make it show this screen
    /// and behave like it: followed by the output from [`Self::offset`] on, nothing is missing.
    pub fn paint(&self) -> Vec<u8> {
        let mut bytes = paint::paint(&self.emulator).into_bytes();
        bytes.extend_from_slice(self.unfinished.bytes());
        bytes
    }

    /// Positions an untouched screen. In the middle of a log, the first bytes may be the rest of
    /// anything, so the first line or sequence that begins after them is sought.
    fn start_at(&mut self, log: &impl Output, offset: u64) -> io::Result<()> {
        self.offset = offset;
        if offset > 0 {
            let chunk = log.read(offset, RESYNC_BYTES_MAX)?;
            let safe = chunk.bytes.iter().position(|byte| matches!(byte, b'\n' | 0x1b));
            self.offset = chunk.at + safe.unwrap_or(0) as u64;
        }
        Ok(())
    }

    fn follow(&mut self, log: &impl Output, upto: u64, sizes: &[(u64, Size)]) -> io::Result<()> {
        loop {
            if let Some(size) = size_at(sizes, self.offset) {
                self.resize(size);
            }
            let change = sizes.iter().map(|&(at, _)| at).find(|&at| at > self.offset);
            let stop = change.map_or(upto, |at| at.min(upto));
            let wanted = usize::try_from(stop.saturating_sub(self.offset)).unwrap_or(usize::MAX);
            if wanted == 0 {
                return Ok(());
            }
            let chunk = log.read(self.offset, wanted.min(READ_BYTES))?;
            if chunk.bytes.is_empty() {
                return Ok(());
            }
            if chunk.at > self.offset {
                self.skip_to(chunk.at.min(stop));
                continue;
            }
            self.feed(&chunk.bytes);
        }
    }
}

/// The text without anything that could control a terminal or reorder what is read: control
/// characters become spaces, marks of direction disappear.
pub fn printable(text: &str) -> String {
    text.chars()
        .filter(|c| !matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
        .map(|c| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c })
        .collect()
}

/// Updates announced as one are still parsed as they come: the offset must mean what was drawn.
#[derive(Default)]
struct Unsynchronized;

impl Timeout for Unsynchronized {
    fn set_timeout(&mut self, _: Duration) {}

    fn clear_timeout(&mut self) {}

    fn pending_timeout(&self) -> bool {
        false
    }
}

fn size_at(sizes: &[(u64, Size)], offset: u64) -> Option<Size> {
    sizes.iter().rev().find(|&&(at, _)| at <= offset).map(|&(_, size)| size)
}

fn text_of(row: &[Cell]) -> String {
    let mut text = String::with_capacity(row.len());
    for cell in row.iter().filter(|cell| !cell.flags.contains(Flags::WIDE_CHAR_SPACER)) {
        if cell.flags.contains(Flags::HIDDEN) {
            text.extend(std::iter::repeat_n(' ', paint::width(cell)));
            continue;
        }
        text.push(cell.c);
        text.extend(cell.zerowidth().into_iter().flatten());
    }
    let mut text = printable(&text);
    text.truncate(text.trim_end().len());
    text
}

fn colored_text_of(row: &[Cell]) -> String {
    let mut text = String::with_capacity(row.len());
    let mut pen = Pen::new(Links::LeftOut);
    for cell in row.iter().take(paint::filled(row)) {
        if !cell.flags.contains(Flags::WIDE_CHAR_SPACER) {
            pen.dip(&mut text, cell);
            let mut cluster = String::from(cell.c);
            cluster.extend(cell.zerowidth().into_iter().flatten());
            text.push_str(&printable(&cluster));
        }
    }
    pen.lift(&mut text);
    text
}
