//! What threads have found out, on its way to the one loop: a bounded queue, and a pipe that wakes it.

use crate::message::Msg;
use glis_client::Client;
use rustix::pipe::{PipeFlags, pipe_with};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// As much as may wait. A thread that has more waits itself: nothing is lost.
const WAITING_MAX: usize = 1024;

pub(super) enum Arrived {
    Msg(Box<Msg>),
    Painted(Box<Painted>),
}

/// A session's screen, and the way to its holder.
pub(super) struct Painted {
    pub(super) session: String,
    pub(super) number: u64,
    pub(super) screen: glis_client::Painted,
    /// As long as it is open the daemon knows who shows the session.
    pub(super) client: Client,
}

#[derive(Clone)]
pub(super) struct Post {
    queue: SyncSender<Arrived>,
    wake: Arc<OwnedFd>,
}

impl Post {
    /// Hands something over. When the loop has ended, so has the program.
    pub(super) fn send(&self, arrived: Arrived) {
        if self.queue.send(arrived).is_ok() {
            // A full pipe wakes as well as one byte more.
            let _ = rustix::io::write(&*self.wake, b".");
        }
    }
}

pub(super) struct PostBox {
    queue: Receiver<Arrived>,
    woken: OwnedFd,
}

impl PostBox {
    pub(super) fn next(&self) -> Option<Arrived> {
        self.queue.try_recv().ok()
    }

    /// Readable when there is something.
    pub(super) fn woken(&self) -> &OwnedFd {
        &self.woken
    }

    /// Takes what woke us, before the queue is read.
    pub(super) fn quiet(&self) {
        let mut bytes = [0_u8; 256];
        while rustix::io::read(&self.woken, &mut bytes).is_ok_and(|count| count == bytes.len()) {}
    }
}

pub(super) fn open() -> io::Result<(Post, PostBox)> {
    let (woken, wake) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    let (send, queue) = sync_channel(WAITING_MAX);
    Ok((Post { queue: send, wake: Arc::new(wake) }, PostBox { queue, woken }))
}
