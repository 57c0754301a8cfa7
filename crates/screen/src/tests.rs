//! Screens painted from screens: whatever was drawn, the copy is the same and stays the same.

mod stream;

use alacritty_terminal::grid::{Cursor, Grid};
use alacritty_terminal::vte::ansi::NamedColor;

use super::*;
use crate::pen::{Style, safe_link};
use stream::{Kind, Seed};

const SMALL: Size = Size { columns: 20, rows: 6 };

fn screen(size: Size, bytes: &[u8]) -> Screen {
    let mut screen = Screen::new(size);
    screen.feed(bytes);
    screen
}

fn copy(original: &Screen) -> Screen {
    screen(original.size(), &original.paint())
}

fn cell_facts(cell: &Cell) -> String {
    let link = safe_link(cell).map(|link| format!("{} {}", link.id(), link.uri()));
    let marks: Vec<char> = cell.zerowidth().into_iter().flatten().copied().collect();
    format!("{:?} {marks:?} {:?} {:?} {link:?}", cell.c, Style::of(cell), cell.flags)
}

fn cursor_facts(cursor: &Cursor<Cell>) -> String {
    let point = cursor.point;
    let wraps = cursor.input_needs_wrap;
    format!("{point:?} {wraps} {} {:?}", cell_facts(&cursor.template), cursor.charsets)
}

fn grid_facts(name: &str, grid: &Grid<Cell>) -> Vec<String> {
    let mut facts = vec![format!("{name} cursor {}", cursor_facts(&grid.cursor))];
    if name == "shown" {
        // Behind the alternate screen, the saved cursor is the one that the switch has saved.
        facts.push(format!("{name} saved cursor {}", cursor_facts(&grid.saved_cursor)));
    }
    for (row, cells) in paint::tidy_rows(grid).iter().enumerate() {
        for (column, cell) in cells.iter().enumerate() {
            let mut cell = cell.clone();
            // Whether lines were joined cannot be painted where the cursor is about to wrap.
            let about_to_wrap = [&grid.cursor, &grid.saved_cursor].iter().any(|cursor| {
                let line = usize::try_from(cursor.point.line.0).unwrap_or(0);
                cursor.input_needs_wrap && (row == line || row + 1 == line)
            });
            if about_to_wrap {
                cell.flags.remove(Flags::WRAPLINE | Flags::LEADING_WIDE_CHAR_SPACER);
            }
            facts.push(format!("{name} {row},{column} {}", cell_facts(&cell)));
        }
    }
    facts
}

/// Everything that can be known about a screen, a line each.
fn facts(screen: &Screen) -> Vec<String> {
    let emulator = &screen.emulator;
    let colors =
        (0..=NamedColor::Cursor as usize).filter_map(|index| emulator.term.colors()[index]);
    let mut facts = vec![
        format!("mode {:?}", emulator.term.mode()),
        format!("margins {:?}", emulator.margins),
        format!("title {:?}", screen.title()),
        format!("keyboard {:?} {:?}", emulator.keyboard, emulator.main_keyboard),
        format!("other keys {}", emulator.other_keys),
        format!("cursor style {:?}", emulator.cursor_style),
        format!("charset {:?}", emulator.charset),
        format!("tabs {:?}", emulator.tabs),
        format!("foreign {:?}", emulator.foreign_modes),
        format!("colors {:?}", colors.collect::<Vec<_>>()),
        format!("unfinished {:?}", screen.unfinished.bytes()),
    ];
    facts.extend(grid_facts("shown", emulator.term.grid()));
    facts.extend(emulator.main.iter().flat_map(|main| grid_facts("main", main)));
    facts
}

/// Whether the marks of joined lines are compared as well. Those in the last row cannot be painted,
/// and appear once the row is scrolled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joints {
    Compared,
    Ignored,
}

fn assert_same(one: &Screen, other: &Screen, joints: Joints, about: &str) {
    let facts_of = |screen| {
        let mut text = facts(screen).join("\n");
        if joints == Joints::Ignored {
            for mark in ["LEADING_WIDE_CHAR_SPACER", "WRAPLINE"] {
                text = text.replace(&format!(" | {mark}"), "");
                text = text.replace(&format!("{mark} | "), "");
                text = text.replace(&format!("Flags({mark})"), "Flags(0x0)");
            }
        }
        text
    };
    let (one, other) = (facts_of(one), facts_of(other));
    let (one, other): (Vec<_>, Vec<_>) = (one.lines().collect(), other.lines().collect());
    let differences: Vec<_> = one.iter().zip(&other).filter(|(one, other)| one != other).collect();
    assert!(differences.is_empty(), "{about}: {:#?}", &differences[..differences.len().min(4)]);
    assert_eq!(one.len(), other.len(), "{about}");
}

#[test]
fn a_painted_copy_is_the_same_screen_and_stays_it() {
    for kind in Kind::ALL {
        for number in 0..150 {
            let mut seed = Seed::new(number);
            let mut original = Screen::new(seed.size());
            original.feed(&kind.stream(&mut seed));
            if seed.one_in(3) {
                original.resize(seed.size());
                original.feed(&kind.stream(&mut seed));
            }
            let mut copy = copy(&original);
            assert_same(&original, &copy, Joints::Compared, &format!("{kind:?} {number} at once"));
            let rest = kind.stream(&mut seed);
            original.feed(&rest);
            copy.feed(&rest);
            if kind.is_continuable() {
                assert_same(&original, &copy, Joints::Ignored, &format!("{kind:?} {number} later"));
            }
        }
    }
}

#[test]
fn a_copy_made_at_any_byte_goes_on_seamlessly() {
    for kind in Kind::ALL.into_iter().filter(|kind| kind.is_continuable()) {
        let mut seed = Seed::new(7);
        let stream = kind.stream(&mut seed);
        for cut in 0..stream.len().min(600) {
            let (head, tail) = stream.split_at(cut);
            let mut whole = screen(SMALL, head);
            let mut copy = copy(&whole);
            whole.feed(tail);
            copy.feed(tail);
            assert_same(&whole, &copy, Joints::Ignored, &format!("{kind:?} cut at {cut}"));
        }
    }
}

#[test]
fn chopping_a_stream_changes_nothing() {
    for kind in Kind::ALL {
        let mut seed = Seed::new(11);
        let stream = kind.stream(&mut seed);
        let whole = screen(SMALL, &stream);
        let mut chopped = Screen::new(SMALL);
        let mut rest = &stream[..];
        while !rest.is_empty() {
            let (head, tail) = rest.split_at(seed.below(9).min(rest.len() - 1) + 1);
            chopped.feed(head);
            rest = tail;
        }
        assert_same(&whole, &chopped, Joints::Compared, &format!("{kind:?}"));
    }
}

#[test]
fn garbage_in_any_size_does_no_harm() {
    for number in 0..400_u16 {
        let mut seed = Seed::new(number.into());
        let mut screen = Screen::new(Size { columns: number % 7, rows: number % 5 });
        for _ in 0..6 {
            screen.feed(&seed.garbage(400));
            screen.feed(&Kind::Wild.stream(&mut seed));
            let copy = copy(&screen);
            assert_eq!(screen.size(), copy.size());
            for line in screen.lines() {
                assert!(!line.chars().any(char::is_control), "{line:?}");
            }
            screen.resize(seed.size());
        }
    }
}

#[test]
fn nothing_in_a_painting_makes_a_terminal_answer() {
    for number in 0..200 {
        let mut seed = Seed::new(number);
        let mut original = Screen::new(SMALL);
        original.feed(&Kind::Wild.stream(&mut seed));
        original.feed(b"\x18");
        let text = String::from_utf8(original.paint()).unwrap();
        for part in text.split('\x1b').skip(1) {
            let asks = part.starts_with('Z')
                || part.starts_with(']') && part.contains('?')
                || part.starts_with('P')
                || part.starts_with('[')
                    && part
                        .trim_start_matches(|c: char| !c.is_ascii_alphabetic())
                        .starts_with(['c', 'n', 't'])
                || part.starts_with("[?") && part.contains("$p")
                || part == "[?u";
            assert!(!asks, "{part:?}");
        }
    }
}

#[test]
fn lines_are_plain_text() {
    let text = "a\tb\x1b[31mred\x1b[0m\r\n\x1b[8mhidden\x1b[0m!\r\n\u{4f60}\u{597d} e\u{301}  \r\n\u{202e}x";
    let screen = screen(SMALL, text.as_bytes());
    let lines = screen.lines();
    assert_eq!(lines, ["a       bred", "      !", "\u{4f60}\u{597d} e\u{301}", "x", "", ""]);
    assert_eq!(screen.cursor(), (1, 3));
}

#[test]
fn what_is_one_picture_is_as_wide_as_one() {
    let family = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}";
    let shaded = "\u{1f44d}\u{1f3fd}";
    // Twenty columns, filled to the edge by a program that knows that.
    let line = format!("{family}{shaded}{:16}\r\n|", "");
    let shown = screen(SMALL, line.as_bytes());
    let lines = shown.lines();
    assert_eq!((lines[0].trim_end(), lines[1].as_str()), (&*format!("{family}{shaded}"), "|"));
    assert_same(&shown, &copy(&shown), Joints::Compared, "pictures");
    let apart = screen(SMALL, "\u{1f468}\u{1f469}a\u{200d}\u{1f467}|".as_bytes());
    assert_eq!(apart.lines()[0], "\u{1f468}\u{1f469}a\u{200d}\u{1f467}|");
}

#[test]
fn coloured_lines_hold_colours_and_nothing_else() {
    let link = "\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\";
    let text = format!("\x1b[1;31mhot\x1b[0m {link}\r\n\x1b[44m  \x1b[0m");
    let lines = screen(SMALL, text.as_bytes()).ansi_lines();
    assert_eq!(lines[0], "\x1b[0;1;31mhot\x1b[0m link");
    assert_eq!(lines[1], "\x1b[0;44m  \x1b[0m");
    assert_eq!(lines[2], "");
}

#[test]
fn only_web_links_are_offered() {
    let link = |uri: &str| format!("\x1b]8;id=7;{uri}\x1b\\text\x1b]8;;\x1b\\");
    let painted =
        |uri: &str| String::from_utf8(screen(SMALL, link(uri).as_bytes()).paint()).unwrap();
    assert!(
        painted("HTTPS://example.org/?a=1;b").contains("id=7;HTTPS://example.org/?a=1;b\x1b\\")
    );
    for other in ["file:///etc/passwd", "javascript:alert(1)", "x-apple:y", "https:/"] {
        assert!(!painted(other).contains("id=7"), "{other}");
    }
}

#[test]
fn the_screen_behind_the_alternate_one_is_painted_too() {
    let mut original = screen(SMALL, b"shell$ vim\x1b[?1049h\x1b[Htext");
    let mut copy = copy(&original);
    for screen in [&mut original, &mut copy] {
        assert_eq!(screen.lines()[0], "text");
        screen.feed(b"\x1b[?1049l");
        assert_eq!(screen.lines()[0], "shell$ vim");
        assert_eq!(screen.cursor(), (10, 0));
    }
}

#[test]
fn deep_stacks_and_piles_of_marks_stay_small() {
    let mut screen = Screen::new(SMALL);
    for _ in 0..10_000 {
        screen.feed("\x1b[>1u\x1b[22t\u{301}\x1b]0;title\x07".as_bytes());
    }
    assert!(screen.paint().len() < 4096);
    screen.feed(b"\x1b[<60000u\x1b[23;0t");
    assert_eq!(screen.emulator.keyboard, emulator::Keyboard::default());
}

/// Output as it lies in a folder: stretches with their first offsets, and sizes.
struct Kept(Vec<(u64, Vec<u8>)>, Vec<(u64, Size)>);

fn kept(stretches: &[(u64, &[u8])], sizes: &[(u64, u16, u16)]) -> Kept {
    let stretches = stretches.iter().map(|&(at, bytes)| (at, bytes.to_vec())).collect();
    let sizes = sizes.iter().map(|&(at, columns, rows)| (at, Size { columns, rows })).collect();
    Kept(stretches, sizes)
}

impl Output for Kept {
    fn oldest(&self) -> u64 {
        self.0.first().map_or(0, |(at, _)| *at)
    }

    fn end(&self) -> u64 {
        self.0.last().map_or(0, |(at, bytes)| at + bytes.len() as u64)
    }

    fn sizes(&self) -> Vec<(u64, Size)> {
        self.1.clone()
    }

    fn read(&self, from: u64, max: usize) -> io::Result<Chunk> {
        for (start, bytes) in &self.0 {
            let at = from.max(*start);
            let skip = usize::try_from(at - start).expect("test output is short");
            if let Some(rest) = bytes.get(skip..).filter(|rest| !rest.is_empty()) {
                return Ok(Chunk { at, bytes: rest[..rest.len().min(max)].to_vec() });
            }
        }
        Ok(Chunk { at: from, bytes: Vec::new() })
    }
}

#[test]
fn a_replay_applies_every_size_at_its_offset() {
    let log = kept(&[(0, b"abcdef"), (6, b"\x1b[2J\x1b[Hxyz")], &[(0, 4, 2), (6, 10, 3)]);
    assert_eq!(Screen::replay(&log, 6).unwrap().size(), Size { columns: 10, rows: 3 });
    let early = Screen::replay(&log, 5).unwrap();
    assert_eq!(
        (early.size(), early.lines()),
        (Size { columns: 4, rows: 2 }, vec!["abcd".into(), "e".into()])
    );
    let mut late = early;
    late.catch_up(&log, u64::MAX).unwrap();
    assert_eq!((late.offset(), late.lines()[0].as_str()), (16, "xyz"));
    assert_eq!(late.lines(), Screen::replay(&log, 16).unwrap().lines());
}

#[test]
fn lost_bytes_end_the_sequence_they_were_part_of() {
    let log = kept(&[(0, b"ab\x1b]0;title that never"), (90, b" ends\r\nc")], &[]);
    let screen = Screen::replay(&log, 97).unwrap();
    assert_eq!((screen.offset(), screen.lines()[0].as_str()), (97, "ab ends"));
    assert_eq!(screen.lines()[1], "");
    assert_eq!(screen.size(), Size::USUAL);
}

#[test]
fn a_log_that_begins_in_the_middle_is_read_from_a_safe_place_on() {
    let log = kept(&[(50, b"2;31mold\x1b[1mnew")], &[(0, 20, 6)]);
    assert_eq!(Screen::replay(&log, 99).unwrap().lines()[0], "new");
}

#[test]
fn a_tail_needs_only_the_end_of_the_log() {
    let mut text = vec![b'x'; 5000];
    text.extend_from_slice(b"\x1b[H\x1b[2Jprompt> ");
    let log = kept(&[(0, &text)], &[(0, 20, 6)]);
    let screen = Screen::tail(&log, 40, u64::MAX, SMALL).unwrap();
    assert_eq!((screen.lines()[0].as_str(), screen.offset()), ("prompt>", log.end()));
}

#[test]
fn rows_that_scrolled_away_are_kept_where_that_is_wanted() {
    let mut screen = Screen::with_past(SMALL, 100);
    let lines: Vec<_> = (1..=9).map(|n| format!("\x1b[31mline\x1b[0m {n} 日\r\n")).collect();
    screen.feed(lines.concat().as_bytes());
    let text = |rows: &[Vec<Run>]| -> Vec<String> {
        rows.iter().map(|row| row.iter().map(|(text, _)| text.as_str()).collect()).collect()
    };
    let rows = screen.rows_with_past();
    assert_eq!((rows.len(), text(&rows)[0].as_str()), (9, "line 1 日"));
    assert_eq!(rows[0][0].1.text, Colour::Indexed(1));
    // Behind the alternate screen the past is still there.
    screen.feed(b"\x1b[?1049h\x1b[Hfull screen");
    let rows = text(&screen.rows_with_past());
    assert_eq!(
        (rows[0].as_str(), rows.last().map(String::as_str)),
        ("line 1 日", Some("full screen"))
    );
    assert_eq!(Screen::new(SMALL).rows_with_past(), Vec::<Vec<Run>>::new());
}

#[test]
fn what_programs_ask_of_their_terminal_is_told() {
    let mut screen = Screen::new(SMALL);
    assert_eq!(screen.wants(), Wants::default());
    screen.feed(b"\x1b[?1h\x1b[?2004h\x1b[?1000h\x1b[?1002h\x1b[?1006h\x1b[>5u");
    let Wants { keyboard, cursor_keys, paste_marks, mouse, mouse_numbers, .. } = screen.wants();
    assert_eq!((keyboard, cursor_keys, paste_marks), (5, true, true));
    assert_eq!((mouse, mouse_numbers), (MouseReports::Drags, true));
    screen.feed(b"\x1b[?1002l\x1b[?1000l");
    assert_eq!(screen.wants().mouse, MouseReports::None);
}

#[test]
fn an_update_that_is_announced_is_under_way_until_its_end() {
    let mut screen = screen(SMALL, b"before");
    assert!(!screen.announces_updates());
    screen.feed(b"\x1b[?2026hhalf");
    assert_eq!(screen.update_under_way(), Some(1));
    screen.feed(b"\x1b[?2026hstill the same");
    assert_eq!(screen.update_under_way(), Some(1));
    screen.feed(b"\x1b[?2026l");
    assert_eq!(screen.update_under_way(), None);
    screen.feed(b"\x1b[?2026h");
    assert_eq!(screen.update_under_way(), Some(2));
}
