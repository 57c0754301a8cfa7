//! What was typed and not sent, kept over restarts: in a file that all overviews of a home share.

use super::deliver;
use super::post::Post;
use crate::message::{Msg, Told};
use glis_wire::home::Home;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

pub(super) type Drafts = BTreeMap<String, String>;

fn file(home: &Home) -> PathBuf {
    home.state.join("drafts.json")
}

/// The drafts by session. A file that cannot be read is no reason not to begin.
pub(super) fn read(home: &Home) -> Drafts {
    readable(home).unwrap_or_default()
}

/// The same, where the file can be read.
fn readable(home: &Home) -> Option<Drafts> {
    serde_json::from_str(&fs::read_to_string(file(home)).ok()?).ok()
}

/// So many may wait for a disk. One more is lost, and no key waits: newer text comes with the next key, and the last is
/// waited for at the end. A draft that is not read again is the one that was known here.
const WISHES_MAX: usize = 64;

/// What the thread is to do, in this order.
enum Wish {
    Keep(Drafts),
    Read(String),
}

/// Writes them down beside everything else: no key waits for a disk.
pub(super) struct Keeper {
    /// What was last asked to be kept; none where the file may have changed since.
    asked: Option<Drafts>,
    wishes: Option<SyncSender<Wish>>,
    thread: Option<JoinHandle<Option<String>>>,
}

impl Keeper {
    pub(super) fn start(home: Home, read: Drafts, post: Post) -> io::Result<Self> {
        let (wishes, wished) = sync_channel(WISHES_MAX);
        let known = read.clone();
        let work = move || serve(&home, known, &wished, &post);
        let thread = std::thread::Builder::new().name("drafts".to_owned()).spawn(work)?;
        Ok(Self { asked: Some(read), wishes: Some(wishes), thread: Some(thread) })
    }

    pub(super) fn keep(&mut self, drafts: Drafts) {
        if self.asked.as_ref() != Some(&drafts) {
            self.asked = Some(drafts.clone());
            self.wish(Wish::Keep(drafts));
        }
    }

    /// Reads a draft again. If another overview has changed it, that is told.
    pub(super) fn read_again(&mut self, id: String) {
        self.asked = None;
        self.wish(Wish::Read(id));
    }

    fn wish(&mut self, wish: Wish) {
        // A thread that has ended has said why.
        if self.wishes.as_ref().is_some_and(|wishes| wishes.try_send(wish).is_err()) {
            self.asked = None;
        }
    }

    /// Keeps these last of all, and waits until that is done; why it is not, if it is not.
    pub(super) fn finish(&mut self, drafts: Drafts) -> Option<String> {
        let wishes = self.wishes.take().filter(|_| self.asked.as_ref() != Some(&drafts));
        drop(wishes.map(|wishes| wishes.send(Wish::Keep(drafts))));
        self.thread.take().and_then(|thread| thread.join().ok().flatten())
    }
}

/// Writes down what is wished, until nothing is any more. Why the last wish was not, if it was not.
fn serve(home: &Home, read: Drafts, wished: &Receiver<Wish>, post: &Post) -> Option<String> {
    let mut shared = Shared { own: read.clone(), seen: read, others: Drafts::new() };
    let mut unkept = None;
    while let Ok(wish) = wished.recv() {
        let mut wishes = std::iter::once(wish).chain(wished.try_iter()).peekable();
        while let Some(wish) = wishes.next() {
            match wish {
                // Of several in a row the newest is written.
                Wish::Keep(_) if matches!(wishes.peek(), Some(Wish::Keep(_))) => {}
                Wish::Keep(newest) => {
                    unkept = shared.change(home, newest).err().map(|fault| fault.to_string());
                    if let Some(why) = &unkept {
                        let message = format!("what you type is not kept: {why}");
                        deliver(post, Msg::Failed(Told { message, hint: None }));
                    }
                }
                Wish::Read(id) => {
                    if let Some((before, text)) = shared.read_again(home, &id) {
                        deliver(post, Msg::Draft { id, before, text });
                    }
                }
            }
        }
    }
    unkept
}

/// What is known of the file.
struct Shared {
    /// What this overview has in it.
    own: Drafts,
    /// What was last seen there, of each session that this overview has or had something for.
    seen: Drafts,
    /// What another overview has written there for the same session.
    others: Drafts,
}

impl Shared {
    /// What the file has for a session, if another overview has changed that: it is ours from here on. With what we
    /// had before.
    fn read_again(&mut self, home: &Home, id: &str) -> Option<(String, String)> {
        let there = readable(home)?.remove(id);
        if there.as_ref() == self.seen.get(id) {
            return None;
        }
        let before = self.own.remove(id).unwrap_or_default();
        set(&mut self.own, id, there.clone());
        set(&mut self.seen, id, there.clone());
        self.others.remove(id);
        Some((before, there.unwrap_or_default()))
    }

    /// Changes in the file what has changed here; what another overview has written there stays, before our
    /// own where it is for the same session. Written beside and renamed, so that a crash leaves the former
    /// or the new ones.
    fn change(&mut self, home: &Home, newest: Drafts) -> io::Result<()> {
        let mut private = fs::File::options();
        private.write(true).create(true).mode(0o600);
        let lock = private.open(home.state.join("drafts.lock"))?;
        lock.lock()?;
        let mut drafts = read(home);
        let own: BTreeSet<&String> = self.own.keys().chain(newest.keys()).collect();
        for id in own.into_iter().filter(|id| self.own.get(*id) != newest.get(*id)) {
            let there = drafts.remove(id);
            if there.as_ref() != self.seen.get(id) {
                set(&mut self.others, id, there);
            }
            let parts = [self.others.get(id), newest.get(id)].into_iter().flatten();
            let whole: Vec<&str> = parts.map(String::as_str).collect();
            let whole = Some(whole.join("\n")).filter(|whole| !whole.is_empty());
            set(&mut self.seen, id, whole.clone());
            set(&mut drafts, id, whole);
        }
        let beside = home.state.join("drafts.new");
        let mut out = private.truncate(true).open(&beside)?;
        out.write_all(serde_json::to_string(&drafts).map_err(io::Error::other)?.as_bytes())?;
        out.sync_all()?;
        fs::rename(beside, file(home))?;
        self.own = newest;
        Ok(())
    }
}

fn set(drafts: &mut Drafts, id: &str, text: Option<String>) {
    match text {
        Some(text) => drafts.insert(id.to_owned(), text),
        None => drafts.remove(id),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drafts(all: &[(&str, &str)]) -> Drafts {
        all.iter().map(|(id, text)| ((*id).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn what_another_overview_has_sent_is_not_offered_again() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::under(dir.path());
        let begin = || Shared { own: read(&home), seen: read(&home), others: Drafts::new() };
        let mut one = begin();
        one.change(&home, drafts(&[("a", "half"), ("b", "x")])).unwrap();
        let mut other = begin();
        assert_eq!(other.read_again(&home, "a"), None, "nothing has changed");
        one.change(&home, drafts(&[("b", "x")])).unwrap();
        let changed = Some(("half".to_owned(), String::new()));
        assert_eq!(other.read_again(&home, "a"), changed);
        // What is typed from here on is kept, and nothing of the other comes back with it.
        other.change(&home, drafts(&[("a", "half"), ("b", "x")])).unwrap();
        assert_eq!(read(&home), drafts(&[("a", "half"), ("b", "x")]));
        assert_eq!(one.read_again(&home, "a"), Some((String::new(), "half".to_owned())));
        // A file that cannot be read tells nothing.
        fs::write(file(&home), "{").unwrap();
        assert_eq!(one.read_again(&home, "a"), None);
    }

    #[test]
    fn two_overviews_keep_what_the_other_has_written() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::under(dir.path());
        let begin = || Shared { own: read(&home), seen: read(&home), others: Drafts::new() };
        let (mut one, mut other) = (begin(), begin());
        one.change(&home, drafts(&[("a", "half")])).unwrap();
        other.change(&home, drafts(&[("b", "a thought"), ("c", "x")])).unwrap();
        assert_eq!(read(&home), drafts(&[("a", "half"), ("b", "a thought"), ("c", "x")]));
        // Each takes away its own alone.
        other.change(&home, drafts(&[("b", "a whole thought")])).unwrap();
        assert_eq!(read(&home), drafts(&[("a", "half"), ("b", "a whole thought")]));
        // Both have something for the same session, and go on with it.
        other.change(&home, drafts(&[("a", "m")])).unwrap();
        assert_eq!(read(&home), drafts(&[("a", "half\nm")]));
        other.change(&home, drafts(&[("a", "mine")])).unwrap();
        assert_eq!(read(&home), drafts(&[("a", "half\nmine")]));
        other.change(&home, Drafts::new()).unwrap();
        assert_eq!(read(&home), drafts(&[("a", "half")]));
        one.change(&home, Drafts::new()).unwrap();
        assert_eq!(read(&home), Drafts::new());
        // What was there at the beginning is ours to change.
        one.change(&home, drafts(&[("a", "old")])).unwrap();
        let mut third = begin();
        third.change(&home, drafts(&[("a", "older")])).unwrap();
        assert_eq!(read(&home), drafts(&[("a", "older")]));
    }
}
