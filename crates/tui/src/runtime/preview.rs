//! Follows the terminal of one session: the daemon paints it once, from there on its holder is read.

use super::post::{Arrived, Painted, Post};
use super::{Setup, deliver};
use crate::message::{Msg, PreviewNews, Told};
use glis_client::{Client, Connector, Fault, Heard, Holder};
use glis_wire::hold::Size;
use rustix::event::PollFlags;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};

/// More than a person types, and than most pastes hold.
const WAITING_BYTES_MAX: usize = 4 * 1024 * 1024;

pub(super) struct Follower {
    connector: Connector,
    post: Post,
    /// Counts the wishes, so that an answer to a former one is not taken for the last.
    number: u64,
    followed: Option<Followed>,
}

struct Followed {
    session: String,
    holder: Holder,
    size: Size,
    /// Whether something was typed into it from here.
    typed: bool,
    _client: Client,
}

impl Follower {
    pub(super) fn new(setup: &Setup, post: Post) -> Self {
        let connector = setup.connector.clone();
        Self { connector, post, number: 0, followed: None }
    }

    /// Follows this session from now on, and no other.
    pub(super) fn follow(&mut self, session: Option<String>) {
        self.followed = None;
        self.number += 1;
        let Some(session) = session else { return };
        let (connector, post) = (self.connector.clone(), self.post.clone());
        let number = self.number;
        let serve = move || match paint(&connector, &session, number) {
            Ok(painted) => post.send(Arrived::Painted(Box::new(painted))),
            Err(fault) => {
                let news = PreviewNews::Refused(fault.into());
                deliver(&post, Msg::Preview { session, news });
            }
        };
        // Without a thread the preview stays empty, which is true.
        drop(std::thread::Builder::new().name("paint".to_owned()).spawn(serve));
    }

    /// The screen has come: from here on the holder is read. Nothing if another session is wanted by now.
    pub(super) fn begin(&mut self, painted: Painted) -> Vec<Msg> {
        let Painted { session, number, screen, client } = painted;
        if number != self.number {
            return Vec::new();
        }
        let glis_client::Painted { bytes, from, size, holder_dir, .. } = screen;
        // Without a holder the last screen is all there is. It is not resized: that would be attaching.
        let holder = holder_dir.and_then(|dir| Holder::follow(&dir, from).ok());
        self.followed = holder.map(|holder| Followed {
            session: session.clone(),
            holder,
            size,
            typed: false,
            _client: client,
        });
        let painted = PreviewNews::Painted { bytes, from, size };
        let ended = self.followed.is_none().then_some(PreviewNews::Ended);
        let told = |news| Msg::Preview { session: session.clone(), news };
        std::iter::once(painted).chain(ended).map(told).collect()
    }

    pub(super) fn holder(&self) -> Option<BorrowedFd<'_>> {
        self.followed.as_ref().map(|followed| followed.holder.as_fd())
    }

    /// What to wait for there.
    pub(super) fn wanted(&self) -> PollFlags {
        let waits = self.followed.as_ref().is_some_and(|followed| followed.holder.waiting() > 0);
        if waits { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN }
    }

    /// Types into its terminal. From then on who sits here counts as attached, with the size that the
    /// terminal has: nothing is drawn anew for it.
    pub(super) fn type_in(&mut self, session: &str, bytes: &[u8]) -> Result<(), Told> {
        let refused = |message: &str| Told { message: message.to_owned(), hint: None };
        let followed = self.followed.as_mut().filter(|followed| followed.session == session);
        let Some(followed) = followed else {
            return Err(refused("not typed: its terminal is not there yet"));
        };
        if followed.holder.waiting() > WAITING_BYTES_MAX {
            return Err(refused("not typed: its programs read nothing"));
        }
        if !followed.typed {
            followed.typed = true;
            followed.holder.resize(followed.size);
        }
        followed.holder.write(bytes);
        followed.holder.send().map_err(|fault| refused(&fault.to_string()))
    }

    /// Gives its terminal this size. Who has it on all of the screen counts as attached.
    pub(super) fn fit(&mut self, session: &str, size: Size) {
        let followed = self.followed.as_mut().filter(|followed| followed.session == session);
        if let Some(followed) = followed {
            (followed.typed, followed.size) = (true, size);
            followed.holder.resize(size);
            // What cannot be sent now is sent with what is read next.
            drop(followed.holder.send());
        }
    }

    pub(super) fn read(&mut self) -> Vec<Msg> {
        let Some(followed) = &mut self.followed else { return Vec::new() };
        let mut found = Vec::new();
        let lives = followed.read(&mut found).unwrap_or(false);
        let session = followed.session.clone();
        if !lives {
            found.push(PreviewNews::Ended);
            self.followed = None;
        }
        let told = |news| Msg::Preview { session: session.clone(), news };
        found.into_iter().map(told).collect()
    }
}

impl Followed {
    /// Reads once, which is up to 256 KiB of a flood: then the keys are looked at again. Whether there may be more to
    /// come.
    fn read(&mut self, found: &mut Vec<PreviewNews>) -> io::Result<bool> {
        if !self.holder.read()? {
            return Ok(false);
        }
        loop {
            match self.holder.hear()? {
                Heard::Nothing => break,
                Heard::Ended(_) => return Ok(false),
                Heard::Output { at, bytes } => {
                    found.push(PreviewNews::Output { at, bytes: bytes.to_vec() });
                }
                Heard::Resized { size, .. } => {
                    self.size = size;
                    found.push(PreviewNews::Resized(size));
                }
            }
        }
        self.holder.send().map(|()| true)
    }
}

fn paint(connector: &Connector, session: &str, number: u64) -> Result<Painted, Fault> {
    let mut client = connector.look()?;
    let screen = client.paint(session)?;
    Ok(Painted { session: session.to_owned(), number, screen, client })
}
