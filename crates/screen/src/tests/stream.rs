//! Streams as programs write them, made from a seed.

use std::fmt::Write as _;

use glis_wire::hold::Size;

/// A small generator of numbers: the same seed gives the same stream everywhere.
pub(super) struct Seed(u64);

impl Seed {
    pub(super) fn new(number: u64) -> Self {
        Self(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap_or(0)
    }

    pub(super) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    pub(super) fn size(&mut self) -> Size {
        let columns = u16::try_from(1 + self.below(40)).unwrap_or(1);
        let rows = u16::try_from(1 + self.below(12)).unwrap_or(1);
        Size { columns, rows }
    }

    pub(super) fn garbage(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next().to_le_bytes()[0]).collect()
    }
}

/// The ways in which a program uses its terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    Coloured,
    Redraw,
    Alternate,
    Wide,
    Margins,
    Modes,
    Wild,
}

const WORDS: [&str; 10] = [
    "cargo",
    "ok",
    " ",
    "   ",
    "a long line of words that wraps",
    "\r\n",
    "\n",
    "\t",
    "\u{2500}\u{2502}",
    "~",
];
const WIDE: [&str; 8] = [
    "\u{4f60}\u{597d}",
    "\u{1f600}",
    "e\u{301}",
    "\u{2764}\u{fe0f}",
    "\u{d55c}",
    "x",
    " ",
    "\u{0e01}\u{0e33}",
];
const STYLES: [&str; 22] = [
    "1",
    "2",
    "3",
    "4",
    "4:2",
    "4:3",
    "4:4",
    "4:5",
    "7",
    "8",
    "9",
    "22",
    "24",
    "27",
    "31",
    "97",
    "44",
    "105",
    "38;5;200",
    "48;2;1;2;3",
    "58:2::9:8:7",
    "0",
];
const MOVES: [&str; 12] = ["A", "B", "C", "D", "E", "F", "G", "d", "3C", "2B", "5D", "H"];
const EDITS: [&str; 14] =
    ["K", "1K", "2K", "J", "1J", "2J", "2P", "3@", "X", "4X", "L", "M", "2S", "T"];
const MARGIN_EDITS: [&str; 8] =
    ["\x1bM", "\x1bD", "\x1b7", "\x1b8", "\x1b[r", "\n\n", "\x1b[?6h", "\x1b[?6l"];
const MODES: [&str; 32] = [
    "\x1b[?1h",
    "\x1b[?1l",
    "\x1b[?25l",
    "\x1b[?25h",
    "\x1b[?1000h",
    "\x1b[?1002h",
    "\x1b[?1003h",
    "\x1b[?1003l",
    "\x1b[?1004h",
    "\x1b[?1006h",
    "\x1b[?2004h",
    "\x1b[?2004l",
    "\x1b[?7l",
    "\x1b[?7h",
    "\x1b[4h",
    "\x1b[4l",
    "\x1b=",
    "\x1b>",
    "\x1b[>1u",
    "\x1b[>15u",
    "\x1b[<u",
    "\x1b[=3;2u",
    "\x1b[5 q",
    "\x1b[0 q",
    "\x1b]2;title \u{e9}\x07",
    "\x1b(0qx\x1b(B",
    "\x1b)0\x0e",
    "\x0f",
    "\x1b[>4;2m",
    "\x1b]4;3;rgb:11/22/33\x1b\\",
    "\x1b[?1016h",
    "\x1b[3g\x1b[5G\x1bH",
];
const ASKING: [&str; 8] = [
    "\x1b[c",
    "\x1b[6n",
    "\x1b[?u",
    "\x1b]11;?\x07",
    "\x1b[?2026$p",
    "\x1b[18t",
    "\x1bZ",
    "\x1b[?2026h",
];

impl Kind {
    pub(super) const ALL: [Self; 8] = [
        Self::Plain,
        Self::Coloured,
        Self::Redraw,
        Self::Alternate,
        Self::Wide,
        Self::Margins,
        Self::Modes,
        Self::Wild,
    ];

    /// Whether a copy must behave the same later as well. Where wide characters were cut in
    /// halves, terminals differ in what overwriting a half does.
    pub(super) fn is_continuable(self) -> bool {
        !matches!(self, Self::Wild)
    }

    pub(super) fn stream(self, seed: &mut Seed) -> Vec<u8> {
        let mut out = String::new();
        for _ in 0..5 + seed.below(60) {
            self.piece(seed, &mut out);
        }
        // Sometimes the stream stops in the middle of something.
        let keep = if seed.one_in(2) { out.len() } else { seed.below(out.len() + 1) };
        out.into_bytes()[..keep].to_vec()
    }

    fn piece(self, seed: &mut Seed, out: &mut String) {
        match (self, seed.below(4)) {
            (Self::Plain, _) | (Self::Coloured, 2..) | (_, 0) => out.push_str(seed.pick(&WORDS)),
            (Self::Coloured, 1) | (Self::Redraw, 2) => style(seed, out),
            (Self::Redraw | Self::Alternate, 1) => goto(seed, out),
            (Self::Redraw, _) => csi(seed, out, &EDITS),
            (Self::Alternate, 2) => {
                out.push_str(seed.pick(&[
                    "\x1b[?1049h",
                    "\x1b[?1049l",
                    "\x1b[?47h",
                    "\x1b[31;44m",
                ]));
            }
            (Self::Alternate, _) => csi(seed, out, &MOVES),
            (Self::Wide, 1) => {
                out.push_str(seed.pick(&["\r\n", "\x1b[31;1m", "\x1b[m", "\x1b[H\x1b[2J"]));
            }
            (Self::Wide, _) => out.push_str(seed.pick(&WIDE)),
            (Self::Margins, 1) => {
                let (top, height) = (1 + seed.below(6), 1 + seed.below(6));
                let _ = write!(out, "\x1b[{top};{}r", top + height);
            }
            (Self::Margins, 2) => out.push_str(seed.pick(&MARGIN_EDITS)),
            (Self::Margins, _) => csi(seed, out, &["2S", "T", "L", "M", "A", "B", "3G", "2E"]),
            (Self::Modes, 1) => link(seed, out),
            (Self::Modes, _) => out.push_str(seed.pick(&MODES)),
            (Self::Wild, _) => wild(seed, out),
        }
    }
}

fn wild(seed: &mut Seed, out: &mut String) {
    match seed.below(12) {
        0 => out.push_str(seed.pick(&ASKING)),
        1 => {
            out.push_str(seed.pick(&[
                "\x1bc",
                "\x1b#8",
                "\x1b[?3l",
                "\x1b[?1048h",
                "\x1b[?1048l",
                "\x1b[22;0t",
                "\x1b[23;0t",
            ]));
        }
        2 => out.push_str(seed.pick(&WIDE)),
        3 => csi(seed, out, &EDITS),
        other => {
            let kind = Kind::ALL[other % 7];
            kind.piece(seed, out);
        }
    }
}

fn style(seed: &mut Seed, out: &mut String) {
    let _ = write!(out, "\x1b[{};{}m", seed.pick(&STYLES), seed.pick(&STYLES));
}

fn goto(seed: &mut Seed, out: &mut String) {
    let _ = write!(out, "\x1b[{};{}H", seed.below(14), seed.below(44));
}

fn csi(seed: &mut Seed, out: &mut String, endings: &[&str]) {
    out.push_str("\x1b[");
    out.push_str(seed.pick(endings));
}

fn link(seed: &mut Seed, out: &mut String) {
    let uri = seed.pick(&["https://example.org/a;b", "file:///x", ""]);
    let _ = write!(out, "\x1b]8;id={};{uri}\x1b\\", seed.below(3));
}
