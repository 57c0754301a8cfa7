//! Screens, derived from the raw output when they are asked for.

use crate::panics::held;
use glis_core::SessionId;
use glis_core::pause::{Captured as What, PauseMode};
use glis_core::safe::Look;
use glis_core::session::{Phase, Session};
use glis_record::durable;
use glis_record::frames::KeyFrames;
use glis_record::output::OutputLog;
use glis_screen::{Output as _, Screen};
use glis_wire::hold::{Size, place};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Screens kept ready. Each costs some hundred kilobytes; the one unused for longest goes.
const KEPT_MAX: usize = 8;
/// For a glance at the last lines this much output is enough.
const GLANCE_BYTES: u64 = 64 * 1024;
/// As much output as a forced pause reads: a second's work, and whatever repaints itself is in it.
const HASTE_BYTES: u64 = 2 * 1024 * 1024;
/// Name of the captured screen in a session's folder.
const CAPTURE: &str = "screen.json";

/// A screen with its size and offset; on disk, as it was when the session was paused.
#[derive(Serialize, Deserialize)]
pub(crate) struct Picture {
    schema_version: u32,
    pub(crate) offset: u64,
    pub(crate) size: Size,
    pub(crate) cursor: (u16, u16),
    pub(crate) lines: Vec<String>,
    pub(crate) ansi: Vec<String>,
    /// The bytes that paint it; on disk the text that they are apart from what was cut off in them.
    #[serde(serialize_with = "as_text", deserialize_with = "of_text")]
    pub(crate) paint: Vec<u8>,
}

fn as_text<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    String::from_utf8_lossy(bytes).serialize(to)
}

fn of_text<'d, D: Deserializer<'d>>(from: D) -> Result<Vec<u8>, D::Error> {
    String::deserialize(from).map(String::into_bytes)
}

type Kept = (SessionId, Arc<Mutex<Screen>>);

#[derive(Default)]
pub(crate) struct Screens {
    kept: Mutex<Vec<Kept>>,
}

impl Screens {
    /// The session's screen as of now.
    pub(crate) fn look(&self, dir: &Path, id: &SessionId) -> io::Result<Picture> {
        let log = OutputLog::new(dir);
        let end = log.end();
        if let Some(picture) = captured(dir).filter(|picture| picture.offset == end) {
            return Ok(picture);
        }
        let screen = self.take(id);
        let mut screen = held(&screen);
        if screen.offset() > end || screen.offset() < log.oldest() || screen.offset() == 0 {
            *screen = KeyFrames::new(dir).screen_at(&log, end)?;
        } else {
            KeyFrames::new(dir).catch_up(&log, &mut screen, end)?;
        }
        Ok(picture(&screen))
    }

    /// The session's screen as it was at an offset, or at the nearest one that there is.
    pub(crate) fn look_back(&self, dir: &Path, id: &SessionId, at: u64) -> io::Result<Picture> {
        let kept = self.take(id);
        // Two that go through the same output would note the same key frames at once.
        let _turn = held(&kept);
        Ok(picture(&KeyFrames::new(dir).screen_at(&OutputLog::new(dir), at)?))
    }

    /// The same for a caller that cannot wait: of a flood only the end is read.
    fn look_in_haste(&self, dir: &Path, id: &SessionId) -> io::Result<Picture> {
        let log = OutputLog::new(dir);
        let end = log.end();
        let known = {
            let screen = self.take(id);
            let screen = held(&screen);
            screen.offset()
        };
        if end.saturating_sub(known.max(log.oldest())) <= HASTE_BYTES {
            return self.look(dir, id);
        }
        let size = log.sizes().last().map_or(Size::USUAL, |(_, size)| *size);
        Ok(picture(&Screen::tail(&log, HASTE_BYTES, end, size)?))
    }

    fn take(&self, id: &SessionId) -> Arc<Mutex<Screen>> {
        let mut kept = held(&self.kept);
        let found = kept.iter().position(|(known, _)| known == id).map(|at| kept.remove(at));
        let entry =
            found.unwrap_or_else(|| (id.clone(), Arc::new(Mutex::new(Screen::new(Size::USUAL)))));
        let screen = Arc::clone(&entry.1);
        kept.push(entry);
        if kept.len() > KEPT_MAX {
            kept.remove(0);
        }
        screen
    }
}

fn picture(screen: &Screen) -> Picture {
    Picture {
        schema_version: 1,
        offset: screen.offset(),
        size: screen.size(),
        cursor: screen.cursor(),
        lines: screen.lines(),
        ansi: screen.ansi_lines(),
        paint: screen.paint(),
    }
}

/// The screen from the last stretch of output alone, and of nothing before `from`: cheap however much
/// there is, and no former process has painted on it.
fn glimpse(dir: &Path, from: u64) -> io::Result<Screen> {
    let log = OutputLog::new(dir);
    let size = log.sizes().last().map_or(Size::USUAL, |(_, size)| *size);
    let end = log.end();
    Screen::tail(&log, GLANCE_BYTES.min(end.saturating_sub(from)), end, size)
}

pub(crate) fn glance(dir: &Path, from: u64) -> io::Result<Vec<String>> {
    Ok(glimpse(dir, from)?.lines())
}

/// What tells whether a program waits.
pub(crate) fn look_at_cursor(dir: &Path, from: u64) -> io::Result<Look> {
    let screen = glimpse(dir, from)?;
    let (column, row) = screen.cursor();
    Ok(Look::at(&screen.lines(), (usize::from(column), usize::from(row))))
}

/// The last row with anything in it, counted from 1, as far as the captured screen and what was
/// printed since tell. `None` where they do not, or where the main screen is hidden.
pub(crate) fn last_row(dir: &Path) -> Option<usize> {
    let captured = captured(dir)?;
    let log = OutputLog::new(dir);
    // A capture is of the last pause. What came after it may have been killed at any length.
    let since = log.end().checked_sub(captured.offset).filter(|since| *since <= GLANCE_BYTES)?;
    let size = log.sizes().last().map_or(Size::USUAL, |(_, size)| *size);
    let stretch = log.read(captured.offset, usize::try_from(since).ok()?).ok()?;
    let whole = stretch.at == captured.offset && stretch.bytes.len() as u64 == since;
    let hides = |bytes: &[u8]| bytes.windows(8).any(|bytes| bytes == b"\x1b[?1049h");
    if !whole || size != captured.size || hides(&captured.paint) || hides(&stretch.bytes) {
        return None;
    }
    let mut screen = Screen::new(size);
    screen.feed(&captured.paint);
    screen.feed(&stretch.bytes);
    let row = screen.lines().iter().rposition(|line| !line.is_empty())?;
    Some(row + 1)
}

/// Keeps the screen, durably, and returns the offset it shows.
pub(crate) fn capture(
    screens: &Screens,
    dir: &Path,
    session: &Session,
) -> Result<u64, (What, io::Error)> {
    let talk = durable::sync(&glis_record::conversation::file_of(dir));
    talk.map_err(|fault| (What::Conversation, fault))?;
    capture_screen(screens, session, dir).map_err(|fault| (What::Screen, fault))
}

fn capture_screen(screens: &Screens, session: &Session, dir: &Path) -> io::Result<u64> {
    durable::private_folder(dir)?;
    let hastes = matches!(&session.phase, Phase::Pausing(pause) if pause.mode == PauseMode::Force);
    let look = if hastes { Screens::look_in_haste } else { Screens::look };
    let picture = look(screens, dir, &session.id)?;
    sync_output(dir)?;
    durable::write(dir, CAPTURE, &serde_json::to_vec(&picture)?)?;
    Ok(picture.offset)
}

fn captured(dir: &Path) -> Option<Picture> {
    serde_json::from_slice(&std::fs::read(dir.join(CAPTURE)).ok()?).ok()
}

/// What the agent has printed so far must not be lost to a power cut after the pause.
fn sync_output(dir: &Path) -> io::Result<()> {
    let folder = dir.join(place::OUTPUT);
    let Ok(segments) = std::fs::read_dir(&folder) else { return Ok(()) };
    for segment in segments {
        // Mostly all but the last are on disk already, and cost nothing. One may be cut meanwhile.
        durable::sync(&segment?.path())?;
    }
    Ok(())
}
