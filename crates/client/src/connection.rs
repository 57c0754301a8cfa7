//! One connection to a daemon: a call and its response, and what is streamed in between.

use crate::fault::{Fault, Stuck};
use crate::room::blame;
use crate::surroundings::{environment, limits};
use crate::wake;
use crate::watcher::{PATIENCE, Waiting, Watcher};
use glis_wire::build::Build;
use glis_wire::call::{Origin, Scope};
use glis_wire::client::{Call, Greeting, PROTOCOL, Request, Response};
use glis_wire::frame::{Decoder, Frame, HEAD_BYTES, encode_words};
use glis_wire::home::{self, Home};
use glis_wire::size;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// A daemon greets at once, whatever it is doing; one that does not is stuck.
const GREETING_TIME: Duration = Duration::from_secs(10);

/// A connection to the daemon of a house.
#[derive(Debug)]
pub struct Client {
    home: Home,
    stream: UnixStream,
    decoder: Decoder,
    daemon: Greeting,
    origin: Origin,
    scope: Scope,
    /// Names the next call that changes something.
    key: Option<String>,
    /// Who has to be there and read what the call is made for.
    reader: Option<BorrowedFd<'static>>,
    /// Whose going away ends a call.
    asker: Option<UnixStream>,
}

/// What arrives before the final response.
#[derive(Debug)]
pub enum Streamed {
    /// Words: a step, an event, a line of a conversation.
    Words(Response),
    /// Output bytes from this offset on.
    Bytes(u64, Vec<u8>),
    /// Nothing for a second; this long since the call.
    Silence(Duration),
}

impl Client {
    /// Connects to the daemon that is there, of whatever build; `None` if there is none.
    pub(crate) fn meet(
        home: &Home,
        own: &Build,
        watcher: &mut dyn Watcher,
    ) -> Result<Option<Self>, Fault> {
        let Ok(mut stream) = open_socket(home) else { return Ok(None) };
        let greeting = Greeting { protocol: PROTOCOL, build: own.clone(), log_id: None };
        // A daemon that is just ending may close the socket again: then there is none.
        if stream.write_all(&encode_words(&greeting)).is_err() {
            return Ok(None);
        }
        let mut client = Self {
            home: home.clone(),
            stream,
            decoder: Decoder::default(),
            daemon: greeting,
            origin: Origin::default(),
            scope: Scope::default(),
            key: None,
            reader: None,
            asker: None,
        };
        let Some(frame) = client.greeting(watcher)? else { return Ok(None) };
        client.daemon = frame.words().map_err(|fault| Fault::Garbled(fault.to_string()))?;
        Ok(Some(client))
    }

    /// The daemon's first words; `None` if it closes the connection instead.
    fn greeting(&mut self, watcher: &mut dyn Watcher) -> Result<Option<Frame>, Fault> {
        let begun = Instant::now();
        loop {
            match self.next(Some(PATIENCE)) {
                Ok(frame) => return Ok(frame),
                Err(fault) if !is_timeout(&fault) => return Ok(None),
                Err(_) if begun.elapsed() < GREETING_TIME => {
                    wake::if_stopped(&self.home, watcher);
                    watcher.waiting(Waiting::Greeting, begun.elapsed());
                }
                Err(_) => break,
            }
        }
        let pid = std::fs::read_to_string(self.home.state.join(home::LOCK)).unwrap_or_default();
        let what = Stuck::Silent { pid: pid.trim().to_owned(), after: GREETING_TIME };
        Err(stuck(&self.home, what))
    }

    /// The house that this daemon serves.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// The daemon's build.
    pub(crate) fn build(&self) -> &Build {
        &self.daemon.build
    }

    /// The name of the daemon's event log. Under another name, numbers mean other events.
    pub fn log_id(&self) -> Option<&str> {
        self.daemon.log_id.as_deref()
    }

    /// Whether the daemon understands what we say.
    pub(crate) fn understands(&self) -> bool {
        self.daemon.protocol == PROTOCOL
    }

    /// From now on calls are from there, and may do so much.
    #[must_use]
    pub(crate) fn called_by(mut self, origin: Origin, scope: Scope) -> Self {
        (self.origin, self.scope) = (origin, scope);
        self
    }

    /// Names the next call that changes something: said again within a day, it changes nothing and gets
    /// the first response.
    pub fn name_next(&mut self, key: impl Into<String>) -> &mut Self {
        self.key = Some(key.into());
        self
    }

    /// From now on a call ends as soon as the other end of `reader` is closed.
    #[must_use]
    pub fn for_reader(mut self, reader: BorrowedFd<'static>) -> Self {
        self.reader = Some(reader);
        self
    }

    /// From now on a call ends as soon as the other end of `asker` is closed.
    #[must_use]
    pub fn for_asker(mut self, asker: UnixStream) -> Self {
        self.asker = Some(asker);
        self
    }

    /// Makes a call and waits for the final response.
    pub fn call(&mut self, request: Request) -> Result<Response, Fault> {
        self.call_seeing(request, |_| Ok(()))
    }

    /// As [`Client::call`]; everything before the final response goes to `see`, but for the parts of a list, which
    /// are put together.
    pub fn call_seeing<E: From<Fault>>(
        &mut self,
        request: Request,
        mut see: impl FnMut(Streamed) -> Result<(), E>,
    ) -> Result<Response, E> {
        self.ask(request)?;
        let begun = Instant::now();
        let mut parts = Vec::new();
        loop {
            match self.hear(begun)? {
                Streamed::Words(Response::Rows(rows)) => parts.extend(rows),
                Streamed::Words(answer) if answer.is_final() => {
                    let whole = usable(answer.after(parts));
                    return Ok(whole.map_err(|fault| blame(&self.home, fault))?);
                }
                streamed @ (Streamed::Words(_) | Streamed::Bytes(..) | Streamed::Silence(_)) => {
                    see(streamed)?;
                }
            }
        }
    }

    /// Makes a call. What is said to it is heard one by one.
    pub(crate) fn ask(&mut self, request: Request) -> Result<(), Fault> {
        let own = request.needs_environment() && !self.origin.face.is_service();
        let env = own.then(environment);
        let limits = if own { limits() } else { Vec::new() };
        let key = if request.scope() > Scope::Watch { self.key.take() } else { None };
        let (from, scope) = (self.origin.clone(), self.scope);
        let frame = encode_words(&Call { request, env, limits, key, from, scope });
        // What the daemon would refuse unread is not sent.
        if let Some(refused) = size::refuse(frame.get(HEAD_BYTES..).unwrap_or_default()) {
            return usable(refused).map(drop);
        }
        self.stream.write_all(&frame).map_err(|fault| self.lost(&fault))
    }

    /// The next thing that is said to a call that was made at this time.
    pub(crate) fn hear(&mut self, begun: Instant) -> Result<Streamed, Fault> {
        self.heard(begun, Some(PATIENCE))
    }

    /// The next thing that is said, however long that takes: nothing is looked at in between.
    pub(crate) fn listen(&mut self) -> Result<Streamed, Fault> {
        self.heard(Instant::now(), None)
    }

    fn heard(&mut self, begun: Instant, patience: Option<Duration>) -> Result<Streamed, Fault> {
        if !self.decoder.has_frame() && !self.has_news(patience)? {
            return Ok(Streamed::Silence(begun.elapsed()));
        }
        match self.next(patience) {
            Ok(Some(Frame::Raw { tag, bytes })) => Ok(Streamed::Bytes(tag, bytes)),
            Ok(Some(frame)) => {
                let words = Response::read(&frame);
                let words = words.map_err(|fault| Fault::Garbled(fault.to_string()))?;
                Ok(Streamed::Words(words))
            }
            Ok(None) => Err(self.lost(&io::ErrorKind::UnexpectedEof.into())),
            Err(fault) if is_timeout(&fault) => Ok(Streamed::Silence(begun.elapsed())),
            Err(fault) => Err(self.lost(&fault)),
        }
    }

    /// Waits until the daemon says something; whether it did. A reader who is gone is noticed without a line to
    /// write: a pipe tells by an error that nothing has its other end, a socket or a terminal by a hang-up. What a
    /// reader follows has no end of its own, and may be silent for long.
    fn has_news(&self, patience: Option<Duration>) -> Result<bool, Fault> {
        let (other, patience) = match (self.reader, &self.asker) {
            (Some(reader), _) => (reader, None),
            (None, Some(asker)) => (asker.as_fd(), patience),
            (None, None) => return Ok(true),
        };
        let patience = patience.and_then(|patience| Timespec::try_from(patience).ok());
        let mut waiting = [
            PollFd::new(&self.stream, PollFlags::IN),
            PollFd::from_borrowed_fd(other, PollFlags::empty()),
        ];
        let ready = loop {
            match poll(&mut waiting, patience.as_ref()) {
                Ok(ready) => break ready,
                Err(Errno::INTR) => {}
                Err(fault) => return Err(self.lost(&fault.into())),
            }
        };
        let [_, other] = waiting;
        let gone = other.revents().intersects(PollFlags::ERR | PollFlags::HUP);
        if gone { Err(Fault::ReaderGone) } else { Ok(ready > 0) }
    }

    /// Waits until the daemon closes the connection, which it does by ending.
    pub fn until_closed(&mut self) {
        while let Ok(Some(_)) = self.next(None) {}
    }

    fn lost(&self, fault: &io::Error) -> Fault {
        blame(&self.home, Fault::Lost(fault.to_string()))
    }

    fn next(&mut self, timeout: Option<Duration>) -> io::Result<Option<Frame>> {
        self.stream.set_read_timeout(timeout)?;
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let found = self.decoder.next_frame();
            if let Some(frame) = found.map_err(|f| io::Error::new(io::ErrorKind::InvalidData, f))? {
                return Ok(Some(frame));
            }
            match self.stream.read(&mut buffer) {
                Ok(0) => return Ok(None),
                Ok(read) => self.decoder.feed(buffer.get(..read).unwrap_or_default()),
                Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {}
                Err(fault) => return Err(fault),
            }
        }
    }
}

impl AsFd for Client {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

/// A response, unless it says that what was asked for was not done.
pub fn usable(answer: Response) -> Result<Response, Fault> {
    if let Response::Refused(refusal) = answer {
        Err(Fault::Refused(refusal))
    } else if let Response::Unusable { message, hint } = answer {
        Err(Fault::Unusable { message, hint })
    } else if let Response::Trouble { kind, message } = answer {
        Err(Fault::Trouble { kind, message })
    } else {
        Ok(answer)
    }
}

/// Something takes longer than it ever should.
pub(crate) fn stuck(home: &Home, what: Stuck) -> Fault {
    Fault::Stuck { what, log: home.state.join(home::DAEMON_LOG) }
}

fn is_timeout(fault: &io::Error) -> bool {
    matches!(fault.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

pub(crate) fn open_socket(home: &Home) -> io::Result<UnixStream> {
    glis_os::descriptors::connect(&home.state, home::SOCKET)
}
