//! Cells turned into text with colours: only what changes from cell to cell is said.

use std::fmt::Write as _;

use alacritty_terminal::term::cell::{Cell, Flags, Hyperlink};
use alacritty_terminal::vte::ansi::{Color, NamedColor};

/// What terminals accept as a link; longer ones are cut by some and refused by others.
const LINK_BYTES_MAX: usize = 2083;

/// Flags that are a matter of style and not of the cell's place in its row.
const STYLE: Flags = Flags::INVERSE
    .union(Flags::BOLD)
    .union(Flags::ITALIC)
    .union(Flags::DIM)
    .union(Flags::HIDDEN)
    .union(Flags::STRIKEOUT)
    .union(Flags::ALL_UNDERLINES);

/// Whether links are written along with the colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    Written,
    LeftOut,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Style {
    fg: Color,
    bg: Color,
    flags: Flags,
    underline: Option<Color>,
}

impl Style {
    pub(super) fn of(cell: &Cell) -> Self {
        Self {
            fg: cell.fg,
            bg: cell.bg,
            flags: cell.flags & STYLE,
            underline: cell.underline_color(),
        }
    }

    fn plain() -> Self {
        Self::of(&Cell::default())
    }
}

/// Writes cells one after the other.
pub(super) struct Pen {
    style: Style,
    link: Option<Hyperlink>,
    links: Links,
}

impl Pen {
    /// A pen on a terminal without any style set.
    pub(super) fn new(links: Links) -> Self {
        Self { style: Style::plain(), link: None, links }
    }

    /// Writes the cell's character with its marks.
    pub(super) fn cell(&mut self, out: &mut String, cell: &Cell) {
        self.dip(out, cell);
        out.push(cell.c);
        out.extend(cell.zerowidth().into_iter().flatten());
    }

    /// Takes the style of the cell without writing it.
    pub(super) fn dip(&mut self, out: &mut String, cell: &Cell) {
        let style = Style::of(cell);
        if style != self.style {
            write_style(out, &style);
            self.style = style;
        }
        if self.links == Links::Written {
            let link = safe_link(cell);
            if link != self.link {
                write_link(out, link.as_ref());
                self.link = link;
            }
        }
    }

    /// Leaves the terminal without any style set.
    pub(super) fn lift(&mut self, out: &mut String) {
        self.dip(out, &Cell::default());
    }
}

/// The cell's link, if it is one that a person may be offered to click.
pub(super) fn safe_link(cell: &Cell) -> Option<Hyperlink> {
    let link = cell.hyperlink()?;
    let uri = link.uri();
    let known = ["http://", "https://"].iter().any(|scheme| {
        uri.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    });
    let clean = |text: &str| text.len() <= LINK_BYTES_MAX && !text.chars().any(char::is_control);
    (known && clean(uri) && clean(link.id())).then_some(link)
}

fn write_link(out: &mut String, link: Option<&Hyperlink>) {
    // Writing to a string cannot fail.
    let _ = match link {
        Some(link) => write!(out, "\x1b]8;id={};{}\x1b\\", link.id(), link.uri()),
        None => write!(out, "\x1b]8;;\x1b\\"),
    };
}

fn write_style(out: &mut String, style: &Style) {
    out.push_str("\x1b[0");
    for (flag, code) in [
        (Flags::BOLD, ";1"),
        (Flags::DIM, ";2"),
        (Flags::ITALIC, ";3"),
        (Flags::UNDERLINE, ";4"),
        (Flags::DOUBLE_UNDERLINE, ";4:2"),
        (Flags::UNDERCURL, ";4:3"),
        (Flags::DOTTED_UNDERLINE, ";4:4"),
        (Flags::DASHED_UNDERLINE, ";4:5"),
        (Flags::INVERSE, ";7"),
        (Flags::HIDDEN, ";8"),
        (Flags::STRIKEOUT, ";9"),
    ] {
        if style.flags.contains(flag) {
            out.push_str(code);
        }
    }
    write_color(out, style.fg, 30);
    write_color(out, style.bg, 40);
    // With colons, because a terminal that does not know the code would take what follows a
    // semicolon for codes of their own.
    let _ = match style.underline {
        Some(Color::Spec(rgb)) => write!(out, ";58:2::{}:{}:{}", rgb.r, rgb.g, rgb.b),
        Some(Color::Indexed(index)) => write!(out, ";58:5:{index}"),
        Some(Color::Named(_)) | None => Ok(()),
    };
    out.push('m');
}

/// `base` is 30 for the foreground and 40 for the background.
fn write_color(out: &mut String, color: Color, base: u16) {
    let _ = match color {
        Color::Spec(rgb) => write!(out, ";{};2;{};{};{}", base + 8, rgb.r, rgb.g, rgb.b),
        Color::Indexed(index) => write!(out, ";{};5;{index}", base + 8),
        Color::Named(name) => match name as u16 {
            index @ 0..=7 => write!(out, ";{}", base + index),
            index @ 8..=15 => write!(out, ";{}", base + 60 + index - 8),
            // The default colours, which the reset at the beginning has chosen already.
            _ => Ok(()),
        },
    };
}

/// Whether the cell looks and behaves like one that was never written.
pub(super) fn is_blank(cell: &Cell) -> bool {
    cell.c == ' '
        && cell.flags.is_empty()
        && cell.fg == Color::Named(NamedColor::Foreground)
        && cell.bg == Color::Named(NamedColor::Background)
        && cell.zerowidth().is_none_or(<[char]>::is_empty)
        && cell.underline_color().is_none()
        && safe_link(cell).is_none()
}
