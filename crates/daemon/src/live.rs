//! What is known about a session beside the log, and forgotten with the daemon.

use crate::access::KNOWN_MAX;
use crate::exit::recorded_end;
use crate::panics::held;
use glis_agent::Shown;
use glis_core::SessionId;
use glis_core::merge::Unmerged;
use glis_record::conversation::{self, Digest};
use glis_record::output::OutputLog;
use glis_wire::home::Home;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::watch;

/// What is known of one session.
#[derive(Debug, Clone, Default, PartialEq)]
struct Known {
    /// Terminals that follow its output.
    audience: u32,
    /// What its screen was last seen to show, where it has an empty prompt when it waits for a message.
    shown: Option<Shown>,
    gap: Gap,
    /// What had to be done to end its process.
    end_notes: Vec<String>,
    digest: Option<Box<(u64, Digest)>>,
    /// Memory that its processes held when it was last looked at before a suspension.
    held_bytes: u64,
    /// Why its work for a plan is not merged.
    unmerged: Option<Box<Unmerged>>,
    /// What its agent is in the middle of saying.
    saying: String,
    /// The folder that its agent has last told to work in.
    folder: Option<PathBuf>,
}

/// So much of what an agent is saying is told; the rest once it is said.
const SAYING_BYTES_MAX: usize = 32 * 1024;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Gap {
    /// It was not looked for yet.
    #[default]
    Unknown,
    None,
    /// It is, from this offset on.
    At(u64),
}

/// What is known of all sessions.
pub(crate) struct Live {
    home: Home,
    known: Mutex<HashMap<SessionId, Known>>,
    /// Grows whenever a conversation does.
    talk: watch::Sender<u64>,
    /// Memory that suspended sessions have given back since this daemon began.
    given_back: AtomicU64,
}

impl Live {
    pub(crate) fn new(home: Home) -> Self {
        Self {
            home,
            known: Mutex::default(),
            talk: watch::Sender::new(0),
            given_back: AtomicU64::new(0),
        }
    }

    /// Tells those who follow a conversation that one has grown.
    pub(crate) fn conversation_grew(&self) {
        self.talk.send_modify(|length| *length += 1);
    }

    /// Changes whenever a conversation grows.
    pub(crate) fn growth(&self) -> watch::Receiver<u64> {
        self.talk.subscribe()
    }

    /// How many terminals follow a session's output.
    pub(crate) fn audience(&self, id: &SessionId) -> u32 {
        held(&self.known).get(id).map_or(0, |known| known.audience)
    }

    pub(crate) fn set_audience(&self, id: &SessionId, audience: u32) {
        held(&self.known).entry(id.clone()).or_default().audience = audience;
    }

    /// Notes what the screen of an agent shows that has an empty prompt when it waits for a message.
    /// Returns what it showed before.
    pub(crate) fn note_prompt(&self, id: &SessionId, shown: &Shown) -> Option<Shown> {
        held(&self.known).entry(id.clone()).or_default().shown.replace(shown.clone())
    }

    /// Whether its prompt holds text that was not sent.
    pub(crate) fn has_draft(&self, id: &SessionId) -> bool {
        held(&self.known).get(id).is_some_and(|known| known.shown == Some(Shown::Draft))
    }

    /// Whether somebody is at its terminal, or has typed there what was not sent: then it is not
    /// suspended, however long it is idle.
    pub(crate) fn is_at_hand(&self, id: &SessionId) -> bool {
        let has_more = |known: &Known| known.shown.as_ref().is_some_and(|s| *s != Shown::Prompt);
        held(&self.known).get(id).is_some_and(|known| known.audience > 0 || has_more(known))
    }

    /// Notes how much memory a session holds that may be about to be suspended.
    pub(crate) fn note_held(&self, id: &SessionId, bytes: u64) {
        held(&self.known).entry(id.clone()).or_default().held_bytes = bytes;
    }

    /// It is suspended, and gives its memory back.
    pub(crate) fn give_back(&self, id: &SessionId) {
        let held = held(&self.known).get_mut(id).map(|known| std::mem::take(&mut known.held_bytes));
        self.given_back.fetch_add(held.unwrap_or_default(), Ordering::Relaxed);
    }

    /// How much all have given back since this daemon began.
    pub(crate) fn given_back(&self) -> u64 {
        self.given_back.load(Ordering::Relaxed)
    }

    /// Why a session's work for a plan is not merged, while that waits for a person.
    pub(crate) fn unmerged(&self, id: &SessionId) -> Option<Unmerged> {
        held(&self.known).get(id)?.unmerged.as_deref().cloned()
    }

    pub(crate) fn set_unmerged(&self, id: &SessionId, why: Option<Unmerged>) {
        held(&self.known).entry(id.clone()).or_default().unmerged = why.map(Box::new);
    }

    /// What an agent is in the middle of saying, from its beginning on.
    pub(crate) fn saying(&self, id: &SessionId) -> Option<String> {
        let table = held(&self.known);
        let saying = &table.get(id)?.saying;
        (!saying.is_empty()).then(|| saying.clone())
    }

    pub(crate) fn set_saying(&self, id: &SessionId, words: &str) {
        let mut most = words.len().min(SAYING_BYTES_MAX);
        while !words.is_char_boundary(most) {
            most -= 1;
        }
        let words = words.get(..most).unwrap_or_default();
        let mut table = held(&self.known);
        match table.get_mut(id) {
            Some(known) => known.saying.replace_range(.., words),
            None if words.is_empty() => {}
            None => {
                let known = Known { saying: words.to_owned(), ..Known::default() };
                table.insert(id.clone(), known);
            }
        }
    }

    /// The folder that its agent has last told to work in.
    pub(crate) fn folder(&self, id: &SessionId) -> Option<PathBuf> {
        held(&self.known).get(id).and_then(|known| known.folder.clone())
    }

    /// Notes what it tells; an agent that tells nothing may be anywhere.
    pub(crate) fn set_folder(&self, id: &SessionId, folder: Option<&str>) {
        held(&self.known).entry(id.clone()).or_default().folder = folder.map(PathBuf::from);
    }

    /// Notes what had to be done to end a process. The last word counts.
    pub(crate) fn note_end(&self, id: &SessionId, note: String) {
        held(&self.known).entry(id.clone()).or_default().end_notes = vec![note];
    }

    /// What had to be done to end a process; asked for once, with its end.
    pub(crate) fn take_end_notes(&self, id: &SessionId) -> Vec<String> {
        let mut table = held(&self.known);
        table.get_mut(id).map(|known| std::mem::take(&mut known.end_notes)).unwrap_or_default()
    }

    /// Notes that output is missing from this offset on.
    pub(crate) fn note_gap(&self, id: &SessionId, at: u64) {
        held(&self.known).entry(id.clone()).or_default().gap = Gap::At(at);
    }

    /// From where on output is missing, if any is: as the holder has told, or as what lies on disk
    /// tells a daemon that was not there.
    pub(crate) fn gap_at(&self, id: &SessionId) -> Option<u64> {
        let known = held(&self.known).get(id).map(|known| known.gap).unwrap_or_default();
        match known {
            Gap::At(at) => return Some(at),
            Gap::None => return None,
            Gap::Unknown => {}
        }
        let dir = self.home.session(&id.0);
        let found = OutputLog::new(&dir).gap(recorded_end(&dir));
        // A holder that has told of one meanwhile knows better; the next question hears it.
        let mut table = held(&self.known);
        let known = table.entry(id.clone()).or_default();
        if known.gap == Gap::Unknown {
            known.gap = found.map_or(Gap::None, Gap::At);
        }
        found
    }

    /// What the conversation comes down to; read again only when it has grown.
    pub(crate) fn digest(&self, id: &SessionId) -> Digest {
        let path = conversation::file_of(&self.home.session(&id.0));
        let len = path.metadata().map_or(0, |facts| facts.len());
        if len == 0 {
            return Digest::default();
        }
        let former = held(&self.known).get(id).and_then(|known| known.digest.clone());
        if let Some((known, digest)) = former.as_deref()
            && *known == len
        {
            return digest.clone();
        }
        let mut digest = Digest::of(&path);
        // A long turn may have pushed the last account out of what is looked at.
        let former = former.and_then(|former| former.1.account);
        digest.account = digest.account.or(former).or_else(|| conversation::account(&path));
        held(&self.known).entry(id.clone()).or_default().digest =
            Some(Box::new((len, digest.clone())));
        digest
    }

    /// Lets go of what files tell again, where that is of so many sessions that only a list of all can have asked.
    pub(crate) fn forget(&self) {
        let mut table = held(&self.known);
        if table.len() <= KNOWN_MAX {
            return;
        }
        for known in table.values_mut() {
            known.digest = None;
            // One that its holder has told of may be on no disk.
            if known.gap == Gap::None {
                known.gap = Gap::Unknown;
            }
        }
        table.retain(|_, known| *known != Known::default());
        table.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live() -> (Live, SessionId, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let live = Live::new(Home::under(folder.path()));
        (live, SessionId("s".to_owned()), folder)
    }

    #[test]
    fn the_last_word_about_an_end_is_told_once() {
        let (live, id, _folder) = live();
        live.note_end(&id, "it was woken".to_owned());
        live.note_end(&id, "it was ended".to_owned());
        assert_eq!(live.take_end_notes(&id), ["it was ended"]);
        assert!(live.take_end_notes(&id).is_empty());
    }

    #[test]
    fn what_an_agent_is_saying_is_told_from_its_beginning_up_to_a_limit() {
        let (live, id, _folder) = live();
        live.set_saying(&id, "");
        assert_eq!(live.saying(&id), None);
        live.set_saying(&id, "Once upon");
        assert_eq!(live.saying(&id).as_deref(), Some("Once upon"));
        live.set_saying(&id, &format!("x{}", "\u{e9}".repeat(SAYING_BYTES_MAX)));
        let told = live.saying(&id).unwrap();
        assert_eq!((told.len(), told.starts_with("x\u{e9}")), (SAYING_BYTES_MAX - 1, true));
        live.set_saying(&id, "");
        assert_eq!(live.saying(&id), None);
    }

    #[test]
    fn of_many_sessions_only_what_no_file_tells_is_remembered() {
        let (live, id, _folder) = live();
        let other = |n: usize| SessionId(n.to_string());
        live.set_audience(&id, 1);
        live.note_gap(&id, 7);
        for n in 1..KNOWN_MAX {
            live.gap_at(&other(n));
        }
        live.forget();
        assert_eq!(held(&live.known).len(), KNOWN_MAX, "that many may stay");
        live.gap_at(&other(0));
        live.forget();
        assert_eq!((live.audience(&id), live.gap_at(&id)), (1, Some(7)));
        assert_eq!(held(&live.known).len(), 1);
    }

    #[test]
    fn a_gap_that_a_holder_tells_of_stays_known() {
        let (live, id, _folder) = live();
        assert_eq!(live.gap_at(&id), None, "nothing was ever printed");
        live.note_gap(&id, 7);
        assert_eq!(live.gap_at(&id), Some(7));
    }
}
