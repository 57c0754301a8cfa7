//! Key frames: a session's screen as it was at some offsets of its output, so that the screen at any other
//! offset is derived from the few megabytes since the one before. They are derived themselves: lost or
//! damaged, they are made anew.

use crate::durable;
use crate::output::OutputLog;
use glis_screen::{Output as _, Screen};
use glis_wire::hold::Size;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// The emulator takes this in within half of a tenth of a second, also where every word has a colour. A whole
/// log then has 128 frames of some ten kilobytes.
const EVERY_BYTES: u64 = 2 * 1024 * 1024;
/// Name of their folder in that of the session.
const FOLDER: &str = "frames";

#[derive(Debug)]
pub struct KeyFrames {
    dir: PathBuf,
    every: u64,
}

impl KeyFrames {
    /// Those in the session folder `dir`, whether or not there are any.
    pub fn new(dir: &Path) -> Self {
        Self { dir: dir.join(FOLDER), every: EVERY_BYTES }
    }

    /// The screen as of `at`, or as of the nearest offset that there is.
    pub fn screen_at(&self, log: &OutputLog, at: u64) -> io::Result<Screen> {
        let (oldest, at) = (log.oldest(), at.min(log.end()));
        // Of what is missing behind an older one nothing is known.
        let mut before =
            self.noted().into_iter().rev().filter(|offset| (oldest..=at).contains(offset));
        let near = before.find_map(|offset| self.read(log, offset));
        let mut screen = match near {
            Some(screen) => screen,
            None => Screen::replay(log, oldest)?,
        };
        self.catch_up(log, &mut screen, at)?;
        Ok(screen)
    }

    /// Brings a screen to `upto`, and notes the key frames that it passes.
    pub fn catch_up(&self, log: &OutputLog, screen: &mut Screen, upto: u64) -> io::Result<()> {
        while screen.offset() < upto {
            let (before, boundary) =
                (screen.offset(), (screen.offset() / self.every + 1) * self.every);
            screen.catch_up(log, boundary.min(upto))?;
            if screen.offset() == before {
                return Ok(());
            }
            // It only makes the next question fast: a disk that takes none changes no answer.
            if screen.offset() == boundary && !self.path(boundary).exists() {
                drop(self.note(log, screen));
            }
        }
        Ok(())
    }

    fn note(&self, log: &OutputLog, screen: &Screen) -> io::Result<()> {
        durable::private_folder(&self.dir)?;
        let oldest = log.oldest();
        for gone in self.noted().range(..oldest) {
            drop(std::fs::remove_file(self.path(*gone)));
        }
        let (size, paint) = (screen.size(), screen.paint());
        let mut bytes = format!("{} {} {}\n", size.columns, size.rows, paint.len()).into_bytes();
        bytes.extend(paint);
        durable::replace(&self.dir, &name(screen.offset()), &bytes)
    }

    fn read(&self, log: &OutputLog, offset: u64) -> Option<Screen> {
        let bytes = durable::read_file(&self.path(offset)).ok()?;
        let head = bytes.iter().position(|byte| *byte == b'\n')?;
        let (head, paint) = (bytes.get(..head)?, bytes.get(head + 1..)?);
        let mut words = std::str::from_utf8(head).ok()?.split(' ');
        let (columns, rows) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let whole = words.next()?.parse() == Ok(paint.len());
        whole.then(|| Screen::repainted(log, offset, Size { columns, rows }, paint))
    }

    fn noted(&self) -> BTreeSet<u64> {
        let entries = std::fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter_map(|name| offset_of(&name)).collect()
    }

    fn path(&self, offset: u64) -> PathBuf {
        self.dir.join(name(offset))
    }
}

fn name(offset: u64) -> String {
    format!("{offset:016x}")
}

/// Of what we would have named ourselves.
fn offset_of(name: &str) -> Option<u64> {
    let offset = u64::from_str_radix(name, 16).ok()?;
    (self::name(offset) == name).then_some(offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glis_wire::hold::place;
    use std::fmt::Write as _;

    const EVERY: u64 = 100;

    fn frames(dir: &Path) -> KeyFrames {
        KeyFrames { every: EVERY, ..KeyFrames::new(dir) }
    }

    /// Lines, colours, moves of the cursor, an alternate screen, letters of several bytes.
    fn story() -> String {
        let mut text = String::new();
        for number in 0..60 {
            write!(text, "\x1b[3{}mline {number} \u{e9}\u{4e16}\x1b[0m\r\n", number % 8).unwrap();
            if number % 7 == 3 {
                text.push_str("\x1b[?1049h\x1b[2;3Hmenu\x1b[5;1H");
            }
            if number % 7 == 5 {
                text.push_str("\x1b[?1049l\x1b[4;2Hback\x1b[2J");
            }
        }
        text
    }

    fn write(dir: &Path, segments: &[(u64, &[u8])]) -> OutputLog {
        let folder = dir.join(place::OUTPUT);
        std::fs::create_dir_all(&folder).unwrap();
        for (start, bytes) in segments {
            std::fs::write(folder.join(name(*start)), bytes).unwrap();
        }
        std::fs::write(dir.join(place::SIZES), "0 40 10\n333 30 8\n1000 50 12\n").unwrap();
        OutputLog::new(dir)
    }

    #[test]
    fn a_screen_from_a_key_frame_is_the_one_from_the_beginning() {
        let dir = tempfile::tempdir().unwrap();
        let story = story();
        let log = write(dir.path(), &[(0, story.as_bytes())]);
        let frames = frames(dir.path());
        let end = story.len() as u64;
        let last = frames.screen_at(&log, u64::MAX).unwrap();
        assert_eq!((last.offset(), frames.noted().len() as u64), (end, end / EVERY));
        for at in (0..=end).step_by(17) {
            let (near, whole) =
                (frames.screen_at(&log, at).unwrap(), Screen::replay(&log, at).unwrap());
            assert_eq!(near.offset(), at);
            assert_eq!(near.ansi_lines(), whole.ansi_lines(), "at {at}");
            assert_eq!((near.cursor(), near.size()), (whole.cursor(), whole.size()), "at {at}");
            assert_eq!(near.paint(), whole.paint(), "at {at}");
        }
    }

    #[test]
    fn a_damaged_key_frame_is_passed_over_and_one_of_what_was_cut_goes() {
        let dir = tempfile::tempdir().unwrap();
        let story = story();
        let (early, late) = story.as_bytes().split_at(450);
        let log = write(dir.path(), &[(0, early), (450, late)]);
        let frames = frames(dir.path());
        let wanted = frames.screen_at(&log, 720).unwrap().ansi_lines();
        let file = frames.path(700);
        let whole = std::fs::read(&file).unwrap();
        for damaged in [&b""[..], b"40 10 99999\nx", whole.get(..whole.len() - 1).unwrap()] {
            std::fs::write(&file, damaged).unwrap();
            assert_eq!(frames.screen_at(&log, 720).unwrap().ansi_lines(), wanted);
        }
        // The oldest output goes, and with the next frame those of it.
        std::fs::remove_file(dir.path().join(place::OUTPUT).join(name(0))).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert_eq!(frames.screen_at(&log, 0).unwrap().offset(), 450 + resync(late));
        assert_eq!(frames.screen_at(&log, 720).unwrap().ansi_lines(), wanted);
        assert_eq!(frames.noted().first(), Some(&500));
    }

    /// Where text is trusted again in a log that begins in the middle.
    fn resync(bytes: &[u8]) -> u64 {
        bytes.iter().position(|byte| matches!(byte, b'\n' | 0x1b)).unwrap() as u64
    }
}
