//! What was typed and not sent, kept over restarts: in a file that all overviews of a home share.

use super::deliver;
use super::post::Post;
use crate::message::{Msg, Told};
use glis_wire::home::Home;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// Drafts by session.
pub(super) type Drafts = BTreeMap<String, String>;

fn file(home: &Home) -> PathBuf {
    home.state.join("drafts.json")
}

/// The drafts by session. A file that cannot be read is no reason not to begin.
pub(super) fn read(home: &Home) -> Drafts {
    let text = fs::read_to_string(file(home)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Writes them down beside everything else: no key waits for a disk.
pub(super) struct Keeper {
    /// What was last asked to be kept.
    asked: Drafts,
    wishes: Option<Sender<Drafts>>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    pub(super) fn start(home: Home, read: Drafts, post: Post) -> io::Result<Self> {
        let (wishes, wished) = channel();
        let known = read.clone();
        let work = move || serve(&home, known, &wished, &post);
        let thread = std::thread::Builder::new().name("drafts".to_owned()).spawn(work)?;
        Ok(Self { asked: read, wishes: Some(wishes), thread: Some(thread) })
    }

    pub(super) fn keep(&mut self, drafts: Drafts) {
        if drafts != self.asked {
            self.asked.clone_from(&drafts);
            // A thread that has ended has said why.
            drop(self.wishes.as_ref().map(|wishes| wishes.send(drafts)));
        }
    }

    /// Waits until everything is written down.
    pub(super) fn finish(&mut self) {
        self.wishes = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn serve(home: &Home, mut known: Drafts, wished: &Receiver<Drafts>, post: &Post) {
    while let Ok(wish) = wished.recv() {
        let newest = wished.try_iter().last().unwrap_or(wish);
        match change(home, &known, &newest) {
            Ok(()) => known = newest,
            Err(fault) => {
                let message = format!("what you type is not kept: {fault}");
                deliver(post, Msg::Failed(Told { message, hint: None }));
            }
        }
    }
}

/// Changes in the file what has changed here; what another overview has written there stays. Written beside
/// and renamed, so that a crash leaves the former or the new ones.
fn change(home: &Home, known: &Drafts, newest: &Drafts) -> io::Result<()> {
    let mut private = fs::File::options();
    private.write(true).create(true).mode(0o600);
    let lock = private.open(home.state.join("drafts.lock"))?;
    lock.lock()?;
    let mut drafts = read(home);
    drafts.retain(|id, _| !known.contains_key(id) || newest.contains_key(id));
    let changed = newest.iter().filter(|(id, text)| known.get(*id) != Some(*text));
    drafts.extend(changed.map(|(id, text)| (id.clone(), text.clone())));
    let beside = home.state.join("drafts.new");
    let mut out = private.truncate(true).open(&beside)?;
    out.write_all(serde_json::to_string(&drafts).map_err(io::Error::other)?.as_bytes())?;
    out.sync_all()?;
    fs::rename(beside, file(home))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drafts(all: &[(&str, &str)]) -> Drafts {
        all.iter().map(|(id, text)| ((*id).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn two_overviews_keep_what_the_other_has_written() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::under(dir.path());
        let none = Drafts::new();
        let (one, other) = (drafts(&[("a", "half")]), drafts(&[("b", "a thought"), ("c", "x")]));
        change(&home, &none, &one).unwrap();
        change(&home, &none, &other).unwrap();
        assert_eq!(read(&home), drafts(&[("a", "half"), ("b", "a thought"), ("c", "x")]));
        // Each takes away its own alone.
        change(&home, &other, &drafts(&[("b", "a whole thought")])).unwrap();
        assert_eq!(read(&home), drafts(&[("a", "half"), ("b", "a whole thought")]));
        change(&home, &one, &none).unwrap();
        assert_eq!(read(&home), drafts(&[("b", "a whole thought")]));
    }
}
