//! The server: one thread per connection, loopback only, ended with its owner.

use crate::control;
use crate::gates::Gates;
use crate::http::{self, Reply, Request};
use crate::ledger::{Ledger, Outcome, Received};
use crate::perform::{Manner, fail, perform};
use crate::protocol::{Failure, Purpose, Question};
use crate::script::{Part, Step, due};
use serde_json::{Value, json};
use std::io::{self, BufReader, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// An agent that takes longer than this for its next request is lost.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running model server. It ends when this is dropped.
pub struct Model {
    address: SocketAddr,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

struct Shared {
    ledger: Ledger,
    gates: Gates,
    /// What the model knows by heart.
    parts: Mutex<Vec<Part>>,
    connections: Mutex<Vec<TcpStream>>,
    ending: AtomicBool,
    /// Part of every id that this server gives out.
    seed: u128,
}

impl Model {
    /// Starts on a free port of loopback.
    pub fn start() -> io::Result<Self> {
        Self::start_at(0)
    }

    /// Starts on this port of loopback.
    pub fn start_at(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let shared = Arc::new(Shared {
            ledger: Ledger::default(),
            gates: Gates::default(),
            parts: Mutex::default(),
            connections: Mutex::default(),
            ending: AtomicBool::new(false),
            seed: now.as_micros(),
        });
        let for_listener = Arc::clone(&shared);
        let listener = std::thread::spawn(move || accept(&listener, &for_listener));
        Ok(Self { address, shared, listener: Some(listener) })
    }

    /// Where it listens, as the beginning of a URL without a slash at its end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Gives the model a script for every prompt that holds these words and no script of its own.
    pub fn learn(&self, cue: &str, steps: &[Step]) {
        self.shared.parts().push(Part { cue: cue.to_owned(), steps: steps.to_vec() });
    }

    /// Everything that was received so far.
    pub fn requests(&self) -> Vec<Received> {
        self.shared.ledger.all()
    }

    /// The requests of the conversations themselves, without what agents ask beside them.
    pub fn turns(&self) -> Vec<Received> {
        let all = self.requests().into_iter();
        all.filter(|received| received.purpose == Purpose::Turn).collect()
    }

    /// Waits for a request like this, among those that were received already too.
    pub fn until(&self, wanted: impl Fn(&Received) -> bool) -> Result<Received, String> {
        self.shared.ledger.until(wanted, PATIENCE).ok_or_else(|| {
            let came = self.requests().into_iter().map(|received| {
                format!("{} {} {:?}", received.target, received.prompt(), received.outcome)
            });
            format!("no such request came; these did: {:#?}", came.collect::<Vec<_>>())
        })
    }

    /// Waits for the request of a conversation whose last prompt holds these words.
    pub fn until_prompt(&self, words: &str) -> Result<Received, String> {
        self.until(|received| {
            received.purpose == Purpose::Turn && received.prompt().contains(words)
        })
    }

    /// Waits until an answer stands before this gate: all that comes before it is on the wire.
    pub fn until_held(&self, gate: &str) -> Result<(), String> {
        let held = self.shared.gates.held(gate, PATIENCE);
        if held { Ok(()) } else { Err(format!("no answer came to the gate {gate}")) }
    }

    /// Waits until no answer stands before this gate: it was opened, or the clients went away.
    pub fn until_left(&self, gate: &str) -> Result<(), String> {
        let left = self.shared.gates.left(gate, PATIENCE);
        if left { Ok(()) } else { Err(format!("an answer still stands before the gate {gate}")) }
    }

    /// Opens a gate, for good.
    pub fn open(&self, gate: &str) {
        self.shared.gates.open(gate);
    }

    /// Serves until the process ends.
    pub fn serve(mut self) {
        if let Some(listener) = self.listener.take() {
            drop(listener.join());
        }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.shared.ending.store(true, Ordering::SeqCst);
        self.shared.gates.close();
        // Wakes the listener, which then sees that the server ends.
        drop(TcpStream::connect(self.address));
        if let Some(listener) = self.listener.take() {
            drop(listener.join());
        }
        for connection in self.shared.connections().drain(..) {
            drop(connection.shutdown(Shutdown::Both));
        }
    }
}

impl Shared {
    fn connections(&self) -> std::sync::MutexGuard<'_, Vec<TcpStream>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn parts(&self) -> std::sync::MutexGuard<'_, Vec<Part>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming().map_while(Result::ok) {
        if shared.ending.load(Ordering::SeqCst) {
            return;
        }
        drop(stream.set_nodelay(true));
        if let Ok(copy) = stream.try_clone() {
            shared.connections().push(copy);
        }
        let shared = Arc::clone(shared);
        // A client that goes away in the middle is the business of the test, not ours.
        std::thread::spawn(move || drop(converse(&stream, &shared)));
    }
}

/// Answers the requests of one connection, one after the other.
fn converse(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let result = loop {
        let mut early = stream.try_clone()?;
        let go_on = || early.write_all(b"HTTP/1.1 100 Continue\r\n\r\n");
        let request = match http::read(&mut reader, go_on) {
            Ok(Some(request)) => request,
            Ok(None) => break Ok(()),
            Err(fault) => break Err(fault),
        };
        let mut reply = Reply::new(stream.try_clone()?);
        if let Some(answered) = control::answer(&request, &shared.ledger, &shared.gates, &mut reply)
        {
            answered?;
            continue;
        }
        match attend(&request, shared, &mut reply) {
            Ok(Outcome::Answered | Outcome::Failed(_)) => {}
            Ok(Outcome::Cut | Outcome::ClientGone) => break Ok(()),
            Err(fault) => break Err(fault),
        }
    };
    // Copies of the stream are kept elsewhere: only this closes the connection.
    drop(stream.shutdown(Shutdown::Both));
    result
}

fn attend(request: &Request, shared: &Shared, reply: &mut Reply) -> io::Result<Outcome> {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let question = Question::read(request, &body);
    let number = shared.ledger.enter(request, &body, question.as_ref());
    let answered = match &question {
        Some(question) => answer(question, &body, number, shared, reply),
        None => beside(request, reply),
    };
    shared.ledger.close(number, *answered.as_ref().unwrap_or(&Outcome::ClientGone));
    answered
}

fn answer(
    question: &Question,
    body: &Value,
    number: usize,
    shared: &Shared,
    reply: &mut Reply,
) -> io::Result<Outcome> {
    let tag = format!("{:x}{number:04}", shared.seed);
    let mut speaker = question.speaker(body, &tag);
    let manner = if question.streams { Manner::Streamed } else { Manner::Whole };
    if question.purpose == Purpose::Side {
        let step = Step { text: Some(question.side_answer()), ..Step::default() };
        return perform(&step, &tag, manner, speaker.as_mut(), reply, &shared.gates);
    }
    let known = due(&question.turns, &shared.parts());
    let due = match known {
        Ok(due) => due,
        Err(fault) => {
            let body = json!({"error": {"type": "invalid_request_error", "message": fault}});
            reply.json(400, &[], &body)?;
            return Ok(Outcome::Failed(400));
        }
    };
    if let Some(status) = due.step.err {
        let before = shared.ledger.failed_before(&due.key);
        if due.step.times.is_none_or(|times| before < times) {
            let (retry_after, limit_until) = (due.step.retry_after, due.step.limit_until);
            return fail(Failure { status, retry_after, limit_until }, speaker.as_ref(), reply);
        }
    }
    perform(&due.step, &tag, manner, speaker.as_mut(), reply, &shared.gates)
}

/// What agents ask besides: whether anybody is there, which models there are, how long a text is.
fn beside(request: &Request, reply: &mut Reply) -> io::Result<Outcome> {
    let path = request.path();
    let model = json!({"id": "stub-model", "object": "model", "created": 1, "owned_by": "stub"});
    let body = if path.ends_with("/count_tokens") {
        json!({"input_tokens": crate::protocol::TOKENS_IN})
    } else if path.ends_with(":countTokens") {
        json!({"totalTokens": crate::protocol::TOKENS_IN})
    } else if path.ends_with("/models") {
        json!({"object": "list", "data": [model], "models": []})
    } else if request.method == "HEAD" {
        reply.head()?;
        return Ok(Outcome::Answered);
    } else {
        let body =
            json!({"error": {"type": "not_found_error", "message": "the stub knows no such path"}});
        reply.json(404, &[], &body)?;
        return Ok(Outcome::Failed(404));
    };
    reply.json(200, &[], &body)?;
    Ok(Outcome::Answered)
}
