//! When a person last looked at a session. It is kept in the session's folder and not in the log:
//! looking is no event, and nothing is lost with it.

use glis_core::SessionId;
use glis_core::session::WallMs;
use jiff::Timestamp;
use std::collections::HashMap;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Name of the file in a session's folder: the time, RFC 3339.
const FILE: &str = "accessed";

/// Repeated looks are noted once in this time.
const PACE_MS: WallMs = 60_000;

/// What files tell is remembered of so many sessions in silence: more than a list shows unless it is of all.
pub(crate) const KNOWN_MAX: usize = 512;

/// The times that this daemon knows; the files are read once and written rarely.
#[derive(Default)]
pub(crate) struct Accesses {
    known: Mutex<HashMap<SessionId, Known>>,
}

#[derive(Clone, Copy, Default)]
struct Known {
    last: Option<WallMs>,
    written: Option<WallMs>,
}

impl Accesses {
    /// When a person last looked, if anybody has.
    pub(crate) fn last(&self, dir: &Path, id: &SessionId) -> Option<WallMs> {
        self.known(dir, id).last
    }

    /// Notes a look at this time, at something that came to an end then. What is returned writes it down, where that is
    /// due.
    pub(crate) fn note(
        &self,
        dir: &Path,
        id: &SessionId,
        (now, ended_at): (Timestamp, Option<WallMs>),
    ) -> Option<impl FnOnce() + Send + use<>> {
        let at = now.as_millisecond();
        let mut known = self.known(dir, id);
        known.last = Some(at);
        // A clock that was set back must not keep it from being written for ever; and what was seen now is new to
        // nobody, also after a restart.
        let is_first = |written| ended_at.is_some_and(|ended| (written..=at).contains(&ended));
        let due = known
            .written
            .is_none_or(|written| is_first(written) || (at - written).abs() >= PACE_MS);
        if due {
            known.written = Some(at);
        }
        self.table().insert(id.clone(), known);
        let path = dir.join(FILE);
        due.then_some(move || {
            let mut options = std::fs::File::options();
            let file = options.write(true).create(true).truncate(true).mode(0o600).open(path);
            // A folder that is gone or full has worse to tell than this.
            drop(file.and_then(|mut file| write!(file, "{now}")));
        })
    }

    /// Lets go of what is written down, where it is of many.
    pub(crate) fn forget(&self) {
        let mut table = self.table();
        if table.len() > KNOWN_MAX {
            table.retain(|_, known| known.last != known.written);
            table.shrink_to_fit();
        }
    }

    fn known(&self, dir: &Path, id: &SessionId) -> Known {
        if let Some(known) = self.table().get(id) {
            return *known;
        }
        let text = std::fs::read_to_string(dir.join(FILE)).ok();
        let last = text.and_then(|text| text.trim().parse::<Timestamp>().ok());
        let last = last.map(Timestamp::as_millisecond);
        let known = Known { last, written: last };
        self.table().insert(id.clone(), known);
        known
    }

    fn table(&self) -> MutexGuard<'_, HashMap<SessionId, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_is_written_down_once_a_minute_and_known_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let (accesses, id) = (Accesses::default(), SessionId("s".to_owned()));
        let at = |secs: i64| Timestamp::from_second(1_800_000_000 + secs).unwrap();
        let written = || std::fs::read_to_string(dir.path().join(FILE)).ok();
        assert_eq!(accesses.last(dir.path(), &id), None);
        accesses.note(dir.path(), &id, (at(0), None)).unwrap()();
        let first = written();
        assert!(first.is_some());
        for secs in [1, 30, 59] {
            assert!(accesses.note(dir.path(), &id, (at(secs), None)).is_none());
        }
        assert_eq!(accesses.last(dir.path(), &id), Some(at(59).as_millisecond()));
        assert_eq!(written(), first);
        accesses.note(dir.path(), &id, (at(60), None)).unwrap()();
        assert_ne!(written(), first);
        // Another daemon knows what was written.
        let next = Accesses::default();
        assert_eq!(next.last(dir.path(), &id), Some(at(60).as_millisecond()));
        assert!(next.note(dir.path(), &id, (at(61), None)).is_none());
        // It has come to an end that was not looked at: this look is kept, and the next one waits.
        let ended = Some(at(61).as_millisecond());
        next.note(dir.path(), &id, (at(62), ended)).unwrap()();
        assert!(next.note(dir.path(), &id, (at(63), ended)).is_none());
        // The clock was set back.
        assert!(next.note(dir.path(), &id, (at(-7200), None)).is_some());
    }

    #[test]
    fn a_folder_that_is_gone_stays_gone() {
        let dir = tempfile::tempdir().unwrap();
        let gone = dir.path().join("gone");
        let (accesses, id) = (Accesses::default(), SessionId("s".to_owned()));
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        accesses.note(&gone, &id, (now, None)).unwrap()();
        assert!(!gone.exists());
        assert_eq!(accesses.last(&gone, &id), Some(now.as_millisecond()));
    }
}
