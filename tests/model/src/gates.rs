//! Gates: where an answer stops until the test lets it go on.

use std::collections::BTreeMap;
use std::net::TcpStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How an answer left its gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passage {
    /// The gate was opened.
    Opened,
    /// The client went away first.
    ClientGone,
}

#[derive(Debug, Default, Clone, Copy)]
struct Gate {
    open: bool,
    /// Answers that stand before it.
    waiting: usize,
}

#[derive(Default)]
struct State {
    gates: BTreeMap<String, Gate>,
    /// Clients that went away while their answer stood before a gate, by ticket.
    gone: Vec<u64>,
    tickets: u64,
    closed: bool,
}

/// All gates of a server. A gate that was opened stays open: an agent that repeats its request must
/// not be stopped a second time by surprise.
#[derive(Clone, Default)]
pub(crate) struct Gates(Arc<(Mutex<State>, Condvar)>);

impl Gates {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        self.0.1.notify_all();
    }

    /// Stops here until the gate is opened or the client at the other end of `stream` is gone.
    pub(crate) fn pass(&self, name: &str, stream: &TcpStream) -> Passage {
        let ticket = {
            let mut state = self.state();
            state.tickets += 1;
            state.gates.entry(name.to_owned()).or_default().waiting += 1;
            state.tickets
        };
        self.changed();
        self.watch(ticket, stream);
        let mut state = self.state();
        let passage = loop {
            if state.gates.get(name).is_some_and(|gate| gate.open) {
                break Passage::Opened;
            }
            if state.closed || state.gone.contains(&ticket) {
                break Passage::ClientGone;
            }
            state = self.0.1.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        if let Some(gate) = state.gates.get_mut(name) {
            gate.waiting -= 1;
        }
        drop(state);
        self.changed();
        passage
    }

    /// A client sends nothing while it waits for its answer, so a look at its next byte ends when
    /// it hangs up.
    fn watch(&self, ticket: u64, stream: &TcpStream) {
        let Ok(stream) = stream.try_clone() else { return };
        let gates = self.clone();
        std::thread::spawn(move || {
            if matches!(stream.peek(&mut [0]), Ok(0) | Err(_)) {
                gates.state().gone.push(ticket);
                gates.changed();
            }
        });
    }

    pub(crate) fn open(&self, name: &str) {
        self.state().gates.entry(name.to_owned()).or_default().open = true;
        self.changed();
    }

    /// Lets every answer go, since the server ends.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.changed();
    }

    /// Waits until an answer stands before the gate.
    pub(crate) fn held(&self, name: &str, patience: Duration) -> bool {
        self.until(patience, |gate| gate.waiting > 0, name)
    }

    /// Waits until no answer stands before the gate any more.
    pub(crate) fn left(&self, name: &str, patience: Duration) -> bool {
        self.until(patience, |gate| gate.waiting == 0, name)
    }

    fn until(&self, patience: Duration, wanted: impl Fn(Gate) -> bool, name: &str) -> bool {
        let end = Instant::now() + patience;
        let mut state = self.state();
        loop {
            if wanted(state.gates.get(name).copied().unwrap_or_default()) {
                return true;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self.0.1.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Every gate that was heard of: its name, whether it is open, how many answers wait.
    pub(crate) fn list(&self) -> Vec<(String, bool, usize)> {
        let state = self.state();
        state.gates.iter().map(|(name, gate)| (name.clone(), gate.open, gate.waiting)).collect()
    }
}
