//! What clients want the agent to read, in the order in which they said it.

use std::collections::VecDeque;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::io::Errno;

/// An agent that does not read holds this much; who comes later is refused. Well above the longest
/// message that a front end lets through, so that one alone always fits.
const QUEUE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// What a frame costs besides its bytes, so that a million empty ones are not free.
const PIECE_COST: usize = 64;

/// What of it the agent has not taken yet, and the way to it.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) queue: Queue,
    /// The last message that was queued, as in [`glis_wire::hold::Hello::handed`]; nothing if one may be unread.
    pub(crate) handed: Option<u64>,
    /// The agent's, if it has pipes; a terminal is read from and written to in one place.
    pub(crate) pipe: Option<OwnedFd>,
    /// Whether it is awaited that the agent takes more.
    pub(crate) armed: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Queue {
    pieces: VecDeque<Piece>,
    cost: usize,
}

#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) client: u64,
    /// The sender's number for it, or 0.
    pub(crate) order: u64,
    bytes: Vec<u8>,
    taken: usize,
}

/// What came of an attempt to hand over input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    Done,
    /// The agent takes no more for the moment.
    Blocked,
    /// The agent will never read again.
    Closed,
}

impl Queue {
    /// Queues a frame, or says that there is no room for it.
    pub(crate) fn add(&mut self, client: u64, order: u64, bytes: Vec<u8>) -> Result<(), ()> {
        let cost = bytes.len() + PIECE_COST;
        if self.cost + cost > QUEUE_BYTES_MAX {
            return Err(());
        }
        self.cost += cost;
        self.pieces.push_back(Piece { client, order, bytes, taken: 0 });
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Hands over as much as the agent takes. `done` is told of every frame that is through.
    pub(crate) fn flow(&mut self, into: BorrowedFd<'_>, mut done: impl FnMut(&Piece)) -> Flow {
        while let Some(piece) = self.pieces.front_mut() {
            if piece.taken < piece.bytes.len() {
                match rustix::io::write(into, &piece.bytes[piece.taken..]) {
                    Ok(len) => piece.taken += len,
                    Err(Errno::INTR) => {}
                    Err(Errno::AGAIN) => return Flow::Blocked,
                    Err(_) => return Flow::Closed,
                }
            }
            if piece.taken == piece.bytes.len() {
                self.cost -= piece.bytes.len() + PIECE_COST;
                done(piece);
                self.pieces.pop_front();
            }
        }
        // One large paste must not make an idle holder keep its memory.
        self.pieces.shrink_to(0);
        Flow::Done
    }

    /// Takes everything that will not be handed over any more.
    pub(crate) fn give_up(&mut self) -> VecDeque<Piece> {
        self.cost = 0;
        std::mem::take(&mut self.pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_that_nobody_empties_refuses_in_the_end() {
        let mut queue = Queue::default();
        let taken = (0..100_000).take_while(|_| queue.add(1, 0, Vec::new()).is_ok()).count();
        assert_eq!(taken, QUEUE_BYTES_MAX / PIECE_COST);
        assert_eq!(queue.give_up().len(), taken);
        assert!(queue.add(1, 0, vec![0; 1000]).is_ok());
    }
}
