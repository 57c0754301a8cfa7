//! What agents are doing, shown while they do it: a picture that the next one replaces, and that goes with the
//! words. It is made when an agent begins something, and now and then while it speaks.

use super::turn::{lead, since};
use super::{Bot, Dealt};
use crate::outbox::Picture;
use crate::store::{Follow, Mark, StoreFault};
use crate::text::clean;
use crate::thread::locked;
use crate::wakeup::Wakeup;
use crate::words;
use glis_client::Fault;
use glis_core::Status;
use glis_wire::view::{Entry, SessionView, Voice};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

/// So much of what an agent does is shown.
const PICTURE_CHARS: usize = 1500;

/// The sessions whose agents are at work.
#[derive(Default)]
pub(super) struct Watch {
    /// Wakes who looks at them when one begins something.
    wakeup: Wakeup,
    at_work: Mutex<AtWork>,
}

#[derive(Default)]
struct AtWork {
    /// Counts stretches of work: what was seen of one is not shown in the next.
    stretches: u64,
    sessions: BTreeMap<String, Work>,
}

/// An agent's work since its words were last told.
struct Work {
    stretch: u64,
    /// What was read of its conversation, once it was.
    read: Option<Read>,
}

#[derive(Clone)]
struct Read {
    /// The last thing that it had done by then.
    last_action: Option<String>,
    /// What it had done, as each chat is shown it.
    done: BTreeMap<i64, String>,
    /// It was read twice: an action may be known before it stands in the conversation.
    is_sure: bool,
}

impl Watch {
    /// What is known of those that are at work.
    fn all(&self) -> Vec<(String, u64, Option<Read>)> {
        let at_work = locked(&self.at_work);
        let each = at_work.sessions.iter();
        each.map(|(id, work)| (id.clone(), work.stretch, work.read.clone())).collect()
    }

    fn begin(&self, session: &str) {
        let mut at_work = locked(&self.at_work);
        if let Some(work) = at_work.sessions.get_mut(session) {
            // The same tool again is no other action.
            work.read = None;
        } else {
            at_work.stretches += 1;
            let stretch = at_work.stretches;
            at_work.sessions.insert(session.to_owned(), Work { stretch, read: None });
        }
        drop(at_work);
        self.wakeup.wake();
    }

    fn end(&self, session: &str, is_meant: impl FnOnce(&Work) -> bool) {
        let mut at_work = locked(&self.at_work);
        if at_work.sessions.get(session).is_some_and(is_meant) {
            at_work.sessions.remove(session);
        }
    }
}

impl Bot {
    /// A session's agent is at work, or goes on with it.
    pub(super) fn begins_work(&self, session: &str) {
        self.watch.begin(session);
    }

    /// Its words are about to be told: nothing of what was before them is shown behind them.
    pub(super) fn ends_work(&self, session: &str) {
        self.watch.end(session, |_| true);
    }

    /// Waits until an agent begins something, or for so long if any is at work.
    pub fn await_work(&self, most: Duration) {
        let most = (!locked(&self.watch.at_work).sessions.is_empty()).then_some(most);
        // Agents have no other time than the real one.
        self.watch.wakeup.wait_really(most);
    }

    /// Looks at those that are at work, and has it shown.
    pub fn look_on(&self) -> Dealt {
        for (session, stretch, read) in self.watch.all() {
            let shown = match self.look_at(&session) {
                Ok(shown) if shown.status == Status::Busy => shown,
                Ok(_) | Err(Fault::Refused(_)) => {
                    self.watch.end(&session, |work| work.stretch == stretch);
                    continue;
                }
                Err(fault) => return Err(fault.into()),
            };
            let follows = self.with_current_marked(&session)?;
            let known = read.filter(|read| read.last_action == shown.last_action);
            let read = match known {
                Some(read) if read.is_sure => read,
                known => self.read_work(&shown, &follows, known.as_ref())?,
            };
            self.sketch(&shown, stretch, &follows, read);
        }
        // Once for all of them: the first would be shown alone.
        (self.its.wake)();
        Ok(())
    }

    /// The chats that hear of a session, each with whether it is the one that they talk to.
    fn with_current_marked(&self, session: &str) -> Result<Vec<(Follow, bool)>, StoreFault> {
        let store = self.store();
        let look = store.look();
        let marked = |follow: Follow| {
            let is_current = look.current(follow.chat)?.as_deref() == Some(session);
            Ok((follow, is_current))
        };
        look.follows_of(session)?.into_iter().map(marked).collect()
    }

    fn read_work(
        &self,
        shown: &SessionView,
        follows: &[(Follow, bool)],
        known: Option<&Read>,
    ) -> Result<Read, Fault> {
        let entries = self.read(&shown.id)?.unwrap_or_default();
        let done = |(follow, _): &(Follow, bool)| (follow.chat, done_since(&entries, &follow.told));
        let done: BTreeMap<i64, String> = follows.iter().map(done).collect();
        let is_sure = known.is_some_and(|known| known.done == done);
        Ok(Read { last_action: shown.last_action.clone(), done, is_sure })
    }

    /// Has it shown at once or never, unless its words were told meanwhile.
    fn sketch(&self, shown: &SessionView, stretch: u64, follows: &[(Follow, bool)], read: Read) {
        let mut at_work = locked(&self.watch.at_work);
        let Some(work) = at_work.sessions.get_mut(&shown.id).filter(|it| it.stretch == stretch)
        else {
            return;
        };
        let saying = clean(whole_words(shown.saying.as_deref().unwrap_or_default()));
        let mut pictures = locked(&self.pictures);
        for (follow, is_current) in follows {
            let done = read.done.get(&follow.chat).map_or("", String::as_str);
            let text = end_of(&format!("{done}\n{}", saying.trim()));
            if !text.is_empty() {
                let text = lead(follow, *is_current).and(&text);
                let (thread, session) = (follow.thread, follow.session.clone());
                let picture = Picture { thread, session, is_current: *is_current, text };
                pictures.entry(follow.chat).or_default().push(picture);
            }
        }
        work.read = Some(read);
    }
}

/// What an agent has done and said since a chat was told, a line for each tool.
fn done_since(entries: &[Entry], told: &Mark) -> String {
    let lines = since(entries, told).iter().filter_map(|entry| match entry.voice {
        Voice::Assistant => Some(clean(entry.content.trim())),
        Voice::Tool => Some(words::tool(entry)),
        Voice::User | Voice::System => None,
    });
    end_of(&lines.collect::<Vec<_>>().join("\n"))
}

/// The end of it is what is going on.
fn end_of(all: &str) -> String {
    let skip = all.chars().count().saturating_sub(PICTURE_CHARS);
    all.chars().skip(skip).collect::<String>().trim().to_owned()
}

/// What is said up to a word that may go on: half of a secret does not look like one.
fn whole_words(saying: &str) -> &str {
    let ends = |(_, c): &(usize, char)| !c.is_ascii_graphic();
    let end = saying.char_indices().rev().find(ends).map_or(0, |(at, c)| at + c.len_utf8());
    saying.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests;
