//! Colours: two palettes for two kinds of background, as deep as the terminal can show them.

use glis_client::labels::Tone;
use ratatui_core::style::{Color, Modifier, Style};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Depth {
    #[default]
    None,
    Sixteen,
    Indexed,
    True,
}

impl Depth {
    /// As the environment tells, which is handed in as a look-up.
    pub(crate) fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        if set("NO_COLOR").is_some() {
            return Self::None;
        }
        let term = set("TERM").unwrap_or_default();
        let deep = set("COLORTERM").is_some_and(|kind| kind == "truecolor" || kind == "24bit");
        match term.as_str() {
            "dumb" => Self::None,
            _ if deep || term.ends_with("-direct") => Self::True,
            _ if term.contains("256color") || term.contains("kitty") => Self::Indexed,
            _ => Self::Sixteen,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Ground {
    #[default]
    Dark,
    Light,
}

impl Ground {
    pub(crate) fn of(red: u8, green: u8, blue: u8) -> Self {
        if luminance(Rgb(red, green, blue)) > 0.35 { Self::Light } else { Self::Dark }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rgb(u8, u8, u8);

/// One palette. Everything that is written stands on the terminal's own background or on `lifted`.
struct Palette {
    text: Rgb,
    faint: Rgb,
    accent: Rgb,
    good: Rgb,
    calm: Rgb,
    attention: Rgb,
    bad: Rgb,
    /// Behind the selected row and the bars.
    lifted: Rgb,
    line: Rgb,
}

const DARK: Palette = Palette {
    text: Rgb(0xd8, 0xde, 0xe9),
    faint: Rgb(0x9a, 0xa5, 0xb8),
    accent: Rgb(0x8f, 0xbc, 0xff),
    good: Rgb(0x8f, 0xd4, 0x9a),
    calm: Rgb(0x7f, 0xd0, 0xd8),
    attention: Rgb(0xf0, 0xc6, 0x6b),
    bad: Rgb(0xff, 0x8f, 0x8f),
    lifted: Rgb(0x2b, 0x33, 0x42),
    line: Rgb(0x4a, 0x54, 0x66),
};

const LIGHT: Palette = Palette {
    text: Rgb(0x1f, 0x25, 0x30),
    faint: Rgb(0x55, 0x5e, 0x6e),
    accent: Rgb(0x1f, 0x4f, 0xa8),
    good: Rgb(0x1c, 0x66, 0x32),
    calm: Rgb(0x0b, 0x60, 0x6c),
    attention: Rgb(0x7a, 0x4d, 0x00),
    bad: Rgb(0xa8, 0x1e, 0x1e),
    lifted: Rgb(0xe2, 0xe7, 0xf0),
    line: Rgb(0xb4, 0xbc, 0xc8),
};

/// The styles that everything is drawn with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Theme {
    pub(crate) depth: Depth,
    pub(crate) ground: Ground,
}

impl Theme {
    fn palette(self) -> &'static Palette {
        match self.ground {
            Ground::Dark => &DARK,
            Ground::Light => &LIGHT,
        }
    }

    fn colour(self, rgb: Rgb, sixteen: Color) -> Color {
        match self.depth {
            Depth::None => Color::Reset,
            Depth::Sixteen => sixteen,
            Depth::Indexed => Color::Indexed(nearest(rgb)),
            Depth::True => Color::Rgb(rgb.0, rgb.1, rgb.2),
        }
    }

    fn fg(self, rgb: Rgb, sixteen: Color) -> Style {
        Style::new().fg(self.colour(rgb, sixteen))
    }

    /// Few colours have none for it.
    fn quiet(self, rgb: Rgb) -> Style {
        match self.depth {
            Depth::None | Depth::Sixteen => Style::new().add_modifier(Modifier::DIM),
            Depth::Indexed | Depth::True => self.fg(rgb, Color::Reset),
        }
    }

    pub(crate) fn text(self) -> Style {
        self.fg(self.palette().text, Color::Reset)
    }

    /// What is there for who looks closer.
    pub(crate) fn faint(self) -> Style {
        self.quiet(self.palette().faint)
    }

    /// Keys, titles, what is chosen.
    pub(crate) fn accent(self) -> Style {
        self.fg(self.palette().accent, Color::Blue).add_modifier(Modifier::BOLD)
    }

    pub(crate) fn line(self) -> Style {
        self.quiet(self.palette().line)
    }

    /// The selected row, and bars. Without colours they are told by being turned over.
    pub(crate) fn lifted(self) -> Style {
        match self.depth {
            Depth::None | Depth::Sixteen => Style::new().add_modifier(Modifier::REVERSED),
            Depth::Indexed | Depth::True => {
                Style::new().bg(self.colour(self.palette().lifted, Color::Reset))
            }
        }
    }

    pub(crate) fn tone(self, tone: Tone) -> Style {
        let palette = self.palette();
        match tone {
            Tone::Good => self.fg(palette.good, Color::Green),
            Tone::Calm => self.fg(palette.calm, Color::Cyan),
            Tone::Attention => self.fg(palette.attention, Color::Yellow),
            Tone::Bad => self.fg(palette.bad, Color::Red),
            Tone::Faint => self.faint(),
        }
    }
}

/// The nearest of the 256 that every terminal shows alike: the cube and the greys. It is asked for with every text that
/// is drawn, so neither is searched.
fn nearest(rgb: Rgb) -> u8 {
    const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let step = |part: u8| match part {
        0..48 => 0,
        48..115 => 1,
        115.. => (part - 35) / 40,
    };
    let shade = |at: u8| STEPS.get(usize::from(at)).copied().unwrap_or(0);
    let (red, green, blue) = (step(rgb.0), step(rgb.1), step(rgb.2));
    let cube = Rgb(shade(red), shade(green), shade(blue));
    let mean = (u16::from(rgb.0) + u16::from(rgb.1) + u16::from(rgb.2)) / 3;
    let at = u8::try_from(mean.saturating_sub(3) / 10).unwrap_or(u8::MAX).min(23);
    let grey = 8 + 10 * at;
    let distance = |other: Rgb| {
        let part = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
        part(rgb.0, other.0) + part(rgb.1, other.1) + part(rgb.2, other.2)
    };
    if distance(cube) <= distance(Rgb(grey, grey, grey)) {
        16 + 36 * red + 6 * green + blue
    } else {
        232 + at
    }
}

/// Relative luminance, as the rules for accessible pages define it.
fn luminance(Rgb(red, green, blue): Rgb) -> f64 {
    let part = |value: u8| {
        let value = f64::from(value) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(red) + 0.7152 * part(green) + 0.0722 * part(blue)
}

/// Whether what a cell holds can be read on the backgrounds that terminals of this kind have.
#[cfg(test)]
pub(crate) fn legible(cell: &ratatui_core::buffer::Cell, ground: Ground) -> bool {
    let rgb = |colour: Color, usual: Rgb| {
        if let Color::Rgb(red, green, blue) = colour { Rgb(red, green, blue) } else { usual }
    };
    let is_line = |c: char| c.is_whitespace() || ('\u{2500}'..='\u{257f}').contains(&c);
    let (behind, before) = match ground {
        Ground::Dark => (Rgb(0x28, 0x2c, 0x34), DARK.text),
        Ground::Light => (Rgb(0xee, 0xee, 0xee), LIGHT.text),
    };
    let (text, behind) = (luminance(rgb(cell.fg, before)), luminance(rgb(cell.bg, behind)));
    let ratio = (text.max(behind) + 0.05) / (text.min(behind) + 0.05);
    ratio >= 4.5 || cell.symbol().chars().all(is_line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contrast(one: Rgb, other: Rgb) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    fn of_index(index: u8) -> Rgb {
        let step = |at: u8| [0, 95, 135, 175, 215, 255][usize::from(at)];
        if index < 232 {
            let at = index - 16;
            return Rgb(step(at / 36), step(at / 6 % 6), step(at % 6));
        }
        let grey = 8 + 10 * (index - 232);
        Rgb(grey, grey, grey)
    }

    /// On the backgrounds that terminals usually have, on the selected row, and as one of 256.
    #[test]
    fn everything_can_be_read_in_both_themes() {
        let grounds = [
            (DARK, [Rgb(0, 0, 0), Rgb(0x1e, 0x1e, 0x2e), Rgb(0x28, 0x2c, 0x34)]),
            (LIGHT, [Rgb(0xff, 0xff, 0xff), Rgb(0xfa, 0xfa, 0xfa), Rgb(0xee, 0xee, 0xee)]),
        ];
        for (palette, grounds) in grounds {
            let Palette { text, faint, accent, good, calm, attention, bad, lifted, .. } = palette;
            for colour in [text, faint, accent, good, calm, attention, bad] {
                for ground in grounds.into_iter().chain([lifted]) {
                    let ratio = contrast(colour, ground);
                    assert!(ratio >= 4.5, "{colour:?} on {ground:?}: {ratio:.2}");
                    let (colour, ground) = (nearest(colour), nearest(ground));
                    let ratio = contrast(of_index(colour), of_index(ground));
                    assert!(ratio >= 4.5, "{colour:?} on {ground:?} of 256: {ratio:.2}");
                }
            }
        }
    }

    #[test]
    fn the_environment_tells_how_many_colours_there_are() {
        let depth = |set: &[(&str, &str)]| {
            Depth::of(|name| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(depth(&[("TERM", "xterm-256color")]), Depth::Indexed);
        assert_eq!(depth(&[("TERM", "xterm-256color"), ("NO_COLOR", "1")]), Depth::None);
        assert_eq!(depth(&[("TERM", "xterm"), ("COLORTERM", "truecolor")]), Depth::True);
        assert_eq!(depth(&[("TERM", "linux")]), Depth::Sixteen);
        assert_eq!(depth(&[("TERM", "dumb")]), Depth::None);
    }

    #[test]
    fn a_background_is_light_or_dark() {
        assert_eq!(Ground::of(0xff, 0xff, 0xff), Ground::Light);
        assert_eq!(Ground::of(0xfd, 0xf6, 0xe3), Ground::Light);
        assert_eq!(Ground::of(0x28, 0x2c, 0x34), Ground::Dark);
    }
}
