//! The way to each holder that is supervised: commands are queued here, and told to it in order.

use crate::panics::held;
use glis_core::input::Use;
use glis_core::session::StopCause;
use glis_core::talk::Ask;
use glis_core::{MessageId, OpId, SessionId};
use glis_wire::hold::{Children, Ladder};
use std::collections::HashMap;
use std::sync::Mutex;
use tokio::sync::{mpsc, oneshot};

/// Commands that may wait for one holder. More than a few means that its connection is stuck; what
/// comes then is refused, and its sender is told.
const WAITING_MAX: usize = 64;

#[derive(Debug)]
pub(crate) enum HolderCommand {
    Deliver {
        message: MessageId,
        text: String,
    },
    Answer {
        ask: Box<Ask>,
        answer: String,
        /// Why it is a no, for an agent that takes a reason.
        reason: Option<String>,
    },
    Interrupt,
    Freeze(OpId),
    Thaw(OpId),
    Stop {
        ladder: Ladder,
        children: Children,
    },
    /// See whether anything keeps it awake that only its holder or its terminal tells.
    CheckIdle(StopCause, oneshot::Sender<Use>),
}

/// What one holder is to be told, in order. Boxed, since a channel makes room for thirty-two at once and most
/// holders are told nothing for hours.
pub(crate) type Commands = mpsc::Receiver<Box<HolderCommand>>;

#[derive(Default)]
pub(crate) struct Links {
    ways: Mutex<HashMap<SessionId, mpsc::Sender<Box<HolderCommand>>>>,
}

impl Links {
    /// Queues a command, or says why it cannot be told.
    pub(crate) fn send(&self, id: &SessionId, command: HolderCommand) -> Result<(), String> {
        let way = held(&self.ways).get(id).cloned();
        let way = way.ok_or("its process cannot be reached")?;
        way.try_send(Box::new(command)).map_err(|fault| match fault {
            mpsc::error::TrySendError::Full(_) => "too much is under way already".to_owned(),
            mpsc::error::TrySendError::Closed(_) => "its process is gone".to_owned(),
        })
    }

    /// Opens the way to the holder of a session, for the task that supervises it.
    pub(crate) fn open(&self, id: &SessionId) -> Commands {
        let (sender, receiver) = mpsc::channel(WAITING_MAX);
        held(&self.ways).insert(id.clone(), sender);
        receiver
    }

    /// Forgets the way to a holder that is not supervised any more. The way to the next one, which
    /// may be open already, stays.
    pub(crate) fn close(&self, id: &SessionId) {
        held(&self.ways).retain(|known, way| known != id || !way.is_closed());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_without_a_way_is_refused_with_the_reason() {
        let (links, id) = (Links::default(), SessionId("s".to_owned()));
        let send = || links.send(&id, HolderCommand::Interrupt);
        assert_eq!(send(), Err("its process cannot be reached".to_owned()));
        let commands = links.open(&id);
        for _ in 0..WAITING_MAX {
            assert_eq!(send(), Ok(()));
        }
        assert_eq!(send(), Err("too much is under way already".to_owned()));
        drop(commands);
        assert_eq!(send(), Err("its process is gone".to_owned()));
    }

    #[test]
    fn closing_a_way_leaves_the_next_one_open() {
        let (links, id) = (Links::default(), SessionId("s".to_owned()));
        let mut former = links.open(&id);
        former.close();
        let _next = links.open(&id);
        links.close(&id);
        assert_eq!(links.send(&id, HolderCommand::Interrupt), Ok(()));
    }
}
