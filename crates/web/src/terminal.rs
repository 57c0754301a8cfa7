//! A session's terminal as rows of text: the daemon paints it once, from there on its holder is read. The
//! rows that have changed go to the page, and what it types goes to the holder.

mod keys;
mod rows;

use crate::body::Body;
use crate::call::connector;
use crate::given::Given;
use crate::guard::{Caller, PROTOCOL};
use crate::reply::{Failed, Reply, wrong};
use crate::shared::Shared;
use futures_util::{SinkExt as _, StreamExt as _};
use glis_client::{Connector, Fault, Heard, Holder, Quiet};
use glis_screen::Screen;
use glis_verbs::{Complaint, documents};
use glis_wire::call::Scope;
use glis_wire::client::{Request, Response};
use glis_wire::hold::Size;
use hyper::header::{
    CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use hyper::http::request::Parts;
use hyper::http::{HeaderName, HeaderValue};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper::{Method, Response as HttpResponse, StatusCode};
use hyper_util::rt::TokioIo;
use keys::{Typed, announce};
pub(crate) use rows::Frame;
use rows::{Rows, TextRun};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use schemars::JsonSchema;
use serde::{Deserialize as _, Serialize};
use serde_json::{Value, json};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::time::sleep_until;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

type WebSocket = WebSocketStream<TokioIo<Upgraded>>;

/// Thirty pictures a second are enough for text; at a few more a busy machine keeps them.
const FRAME: Duration = Duration::from_millis(30);
/// So much of a flood is taken in before it is looked whether a frame is due.
const READS_MAX: usize = 4;
/// As terminals have it: a program that announces an update and does not end it is shown all the same.
const UPDATE_TIME: Duration = Duration::from_millis(150);
/// A terminal that has printed nothing for this long has paused: what it printed is made ready for the slider.
const QUIET_TIME: Duration = Duration::from_secs(1);
/// Less than this is gone through at once when it is asked for.
const UNREAD_BYTES: u64 = 2 * 1024 * 1024;
const UPDATE_END: &[u8] = b"\x1b[?2026l";
/// What a page may say at once: some pages of text that are pasted.
const SAID_BYTES_MAX: usize = 64 * 1024;
/// So much is read to the end and then refused with a word; beyond that the connection ends.
const READ_BYTES_MAX: usize = 1024 * 1024;
/// What waits to be written for one page: more than a frame of any terminal, in which every letter has a look
/// of its own. Without it the answers to pings would be kept for a page that asks and never reads.
const TOLD_BYTES_MAX: usize = 8 * 1024 * 1024;
/// A page that hears nothing for some of these knows that its connection is dead.
const BEAT: Duration = Duration::from_secs(15);
/// What is typed may print nothing, and a page is to know all the same that it has arrived.
const TYPED_BEAT: Duration = Duration::from_secs(1);
/// What a page has typed and its holder has not taken. More than this means that nothing is taken at all.
const TYPED_MAX: usize = 256;

/// Opens the socket of a terminal.
pub(crate) fn open(
    shared: Arc<Shared>,
    caller: Caller,
    given: Given,
    mut head: Parts,
) -> Result<Reply, Failed> {
    let Some((reply, upgrade)) = upgraded(&mut head) else {
        let (status, hint) = (StatusCode::UPGRADE_REQUIRED, "connect by a WebSocket");
        return Err(wrong(status, "usage", "a terminal is a stream of frames", hint).into());
    };
    let place = shared.streams.take(&caller.id)?;
    let config = WebSocketConfig::default()
        .max_message_size(Some(READ_BYTES_MAX))
        .max_frame_size(Some(READ_BYTES_MAX))
        .max_write_buffer_size(TOLD_BYTES_MAX);
    tokio::spawn(async move {
        let _place = place;
        let Ok(connection) = upgrade.await else { return };
        let (io, role) = (TokioIo::new(connection), Role::Server);
        let socket = WebSocket::from_raw_socket(io, role, Some(config)).await;
        show(shared, caller, given, socket).await;
    });
    Ok(reply)
}

/// The answer to who asks for a WebSocket, and what becomes of the connection behind it.
fn upgraded(head: &mut Parts) -> Option<(Reply, OnUpgrade)> {
    let says = |name: HeaderName, word: &str| {
        let values = head.headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
        values.flat_map(|value| value.split(',')).any(|said| said.trim().eq_ignore_ascii_case(word))
    };
    let is_meant = head.method == Method::GET
        && says(CONNECTION, "upgrade")
        && says(UPGRADE, "websocket")
        && says(SEC_WEBSOCKET_VERSION, "13");
    let has_protocol = says(SEC_WEBSOCKET_PROTOCOL, PROTOCOL);
    let key = head.headers.get(SEC_WEBSOCKET_KEY).filter(|_| is_meant)?;
    let accept = HeaderValue::from_str(&derive_accept_key(key.as_bytes())).ok()?;
    let upgrade = head.extensions.remove::<OnUpgrade>()?;
    let mut reply = HttpResponse::new(Body::of(""));
    *reply.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = reply.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    if has_protocol {
        headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(PROTOCOL));
    }
    Some((reply, upgrade))
}

async fn show(shared: Arc<Shared>, caller: Caller, given: Given, mut socket: WebSocket) {
    let has = given.number("offset");
    let name = given.name;
    // One frame waits at most: a page that is slow gets fewer, and the last one whole.
    let (send, mut frames) = mpsc::channel(1);
    let Ok(wake) = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map(Arc::new) else {
        return;
    };
    let connector = connector(&shared, &caller);
    let (types, typed) = sync_channel(TYPED_MAX);
    let follow = {
        let wake = Arc::clone(&wake);
        move || {
            let (rows, screen) = (Rows::default(), Screen::new(Size::USUAL));
            let (offset, drawn, dirty, held) = (0, None, true, None);
            let (types, ready) = (false, 0);
            let mut view =
                View { send, typed, types, wake, rows, screen, offset, drawn, dirty, held, ready };
            if let Err(fault) = view.follow(&connector, &name, has) {
                let told = Frame::Failed(Complaint::from(fault).json());
                drop(view.send.blocking_send(told.text()));
            }
        }
    };
    if std::thread::Builder::new().name("terminal".to_owned()).spawn(follow).is_err() {
        return;
    }
    let gone = shared.devices.until_gone(&caller.id, caller.scope);
    tokio::pin!(gone);
    let mut beat = Instant::now() + BEAT;
    loop {
        tokio::select! {
            frame = frames.recv() => {
                let Some(frame) = frame else { break };
                beat = Instant::now() + BEAT;
                // There is room for another.
                rustix::io::write(&*wake, &1_u64.to_ne_bytes()).ok();
                if socket.send(Message::Text(frame.into())).await.is_err() {
                    break;
                }
            }
            said = socket.next() => match said {
                Some(Ok(Message::Close(_)) | Err(_)) | None => break,
                Some(Ok(Message::Text(said))) => {
                    if let Err(why) = take(&caller, &types, &said) {
                        let told = Frame::Refused { refused: why }.text();
                        if socket.send(Message::Text(told.into())).await.is_err() {
                            break;
                        }
                        continue;
                    }
                    beat = beat.min(Instant::now() + TYPED_BEAT);
                    rustix::io::write(&*wake, &1_u64.to_ne_bytes()).ok();
                }
                Some(Ok(_)) => {}
            },
            () = sleep_until(beat.into()) => {
                beat = Instant::now() + BEAT;
                let told = Frame::Beat { beat: true }.text();
                if socket.send(Message::Text(told.into())).await.is_err() {
                    break;
                }
            }
            () = &mut gone => break,
        }
    }
    drop(frames);
    rustix::io::write(&*wake, &1_u64.to_ne_bytes()).ok();
    drop(socket.send(Message::Close(None)).await);
}

/// Takes what a page has typed. It can press whatever its program asks, so that `answer` is not enough.
fn take(caller: &Caller, types: &SyncSender<Typed>, said: &str) -> Result<(), String> {
    if caller.scope < Scope::Manage {
        let (has, needs) = (caller.scope.word(), Scope::Manage.word());
        return Err(format!("this device may `{has}`; typing needs `{needs}`"));
    }
    if said.len() > SAID_BYTES_MAX {
        let most = SAID_BYTES_MAX / 1024;
        return Err(format!(
            "at most {most} kB are typed at once, and nothing of this was; put it into a file"
        ));
    }
    let typed = serde_json::from_str(said).map_err(|_| "this is no key".to_owned())?;
    types.try_send(typed).map_err(|_| "the terminal takes no keys".to_owned())
}

/// A screen as text, and as a terminal's frames have it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Painted {
    #[serde(flatten)]
    screen: documents::Screen,
    runs: Vec<Vec<TextRun>>,
}

/// Gives the rows of a screen as runs, in place of the same with control sequences. Whatever else is answered stays as
/// it is.
pub(crate) fn as_runs(document: Value) -> Value {
    let screen = document.get("ansi").map(|_| documents::Screen::deserialize(&document));
    let Some(Ok(mut screen)) = screen else { return document };
    let size = Size { columns: screen.columns, rows: screen.rows };
    let ansi = screen.ansi.take().unwrap_or_default();
    json!(Painted { runs: rows::rows(&repainted(size, &ansi)), screen })
}

/// A screen that has these rows.
fn repainted(size: Size, ansi: &[String]) -> Screen {
    let mut screen = Screen::new(size);
    for (row, line) in ansi.iter().enumerate() {
        screen.feed(format!("\x1b[{};1H", row + 1).as_bytes());
        screen.feed(line.as_bytes());
    }
    screen
}

/// One page's view of one terminal, on a thread of its own.
struct View {
    send: mpsc::Sender<String>,
    /// What the page has typed.
    typed: Receiver<Typed>,
    /// The daemon knows that it types. Told once a connection: an event for each key would be a log of keys.
    types: bool,
    /// Written to when a frame was taken, when something was typed, or when the page has gone.
    wake: Arc<OwnedFd>,
    rows: Rows,
    screen: Screen,
    offset: u64,
    /// When the last picture was due.
    drawn: Option<Instant>,
    dirty: bool,
    /// The update that is half drawn, and since when.
    held: Option<(u64, Instant)>,
    /// Up to here the daemon has gone through the output.
    ready: u64,
}

impl View {
    /// Shows the terminal until its process has ended or the page has gone. Of a page that has a screen
    /// already, `has` is its offset.
    fn follow(&mut self, connector: &Connector, name: &str, has: Option<u64>) -> Result<(), Fault> {
        let mut client = connector.connect(&mut Quiet)?;
        let painted = client.paint(name)?;
        if let Some(at) = has.filter(|at| *at <= painted.from) {
            let request = Request::Screen { session: name.to_owned(), at: Some(at) };
            if let Response::Screen(seen) = client.call(request)?
                && seen.offset == at
            {
                self.rows.suppose(&repainted(seen.size, &seen.ansi));
            }
        }
        self.screen = Screen::new(painted.size);
        self.screen.feed(&painted.bytes);
        (self.offset, self.ready) = (painted.from, painted.from);
        let holder = painted.holder_dir.and_then(|dir| Holder::follow(&dir, self.offset).ok());
        if let Some(mut holder) = holder {
            let mut lives = true;
            while lives && !self.send.is_closed() {
                self.draw();
                self.pass_on(connector, name, &mut holder);
                if self.wait(&holder) {
                    self.make_past_ready(connector, name);
                }
                lives = self.read(&mut holder).unwrap_or(false);
            }
        }
        // The last picture is waited for: nothing comes after it.
        if let Some(frame) = self.rows.frame(&self.screen, self.offset) {
            drop(self.send.blocking_send(frame));
        }
        let ended = Frame::Ended { ended: true, offset: self.offset };
        drop(self.send.blocking_send(ended.text()));
        Ok(())
    }

    /// Hands over what was typed, once the daemon knows who types. What it refuses does not get to the
    /// terminal.
    fn pass_on(&mut self, connector: &Connector, name: &str, holder: &mut Holder) {
        let Ok(first) = self.typed.try_recv() else { return };
        let announced = if self.types { Ok(()) } else { announce(connector, name) };
        self.types = announced.is_ok();
        if let Err(why) = announced {
            // What came with it was meant to follow it.
            self.typed.try_iter().for_each(drop);
            drop(self.send.blocking_send(Frame::Refused { refused: why }.text()));
            return;
        }
        for typed in std::iter::once(first).chain(self.typed.try_iter()) {
            holder.write(&typed.bytes(self.screen.wants()));
        }
    }

    /// How long a picture of what is new has still to wait.
    fn due(&mut self) -> Option<Duration> {
        let began = |number| match self.held {
            Some((known, since)) if known == number => since,
            Some(_) | None => Instant::now(),
        };
        self.held = self.screen.update_under_way().map(|number| (number, began(number)));
        let paced = self.drawn.map(|drawn| FRAME.saturating_sub(drawn.elapsed()));
        let whole = self.held.map(|(_, since)| UPDATE_TIME.saturating_sub(since.elapsed()));
        self.dirty.then(|| paced.max(whole).unwrap_or_default())
    }

    /// Sends a picture if one is due and the last one was taken.
    fn draw(&mut self) {
        if self.due() != Some(Duration::ZERO) {
            return;
        }
        let Ok(place) = self.send.try_reserve() else { return };
        if let Some(frame) = self.rows.frame(&self.screen, self.offset) {
            place.send(frame);
        }
        // The next one is due a frame after this one was, not after it came: else each is late by what the
        // one before took. After a pause there is nothing to make up for.
        let now = Instant::now();
        let beat = self.drawn.map(|drawn| drawn + FRAME).filter(|due| now < *due + FRAME);
        (self.dirty, self.drawn) = (false, Some(beat.unwrap_or(now)));
    }

    /// Has the daemon go through what was printed since: it notes what makes every jump into the past short.
    /// Nothing of its answer is wanted, and it may take seconds after a flood: it is not waited for.
    fn make_past_ready(&mut self, connector: &Connector, name: &str) {
        self.ready = self.offset;
        let (connector, session) = (connector.clone(), name.to_owned());
        let look = move || {
            let looked = connector
                .connect(&mut Quiet)
                .and_then(|mut client| client.call(Request::Screen { session, at: None }));
            // Who asks for the past then waits for it, as without this.
            drop(looked);
        };
        drop(std::thread::Builder::new().name("past".to_owned()).spawn(look));
    }

    /// Waits until there is something to read, a picture is due, or a picture was taken. Whether nothing of that
    /// happened for a while after much had.
    fn wait(&mut self, holder: &Holder) -> bool {
        // One that waits to be taken wakes us when it is.
        let due = self.due().filter(|_| self.send.capacity() > 0);
        let due = due.map(|due| due + Duration::from_millis(1));
        let unread = self.offset.saturating_sub(self.ready) > UNREAD_BYTES;
        let for_quiet = due.is_none() && unread;
        let due = due.or(for_quiet.then_some(QUIET_TIME));
        let limit = due.and_then(|due| Timespec::try_from(due).ok());
        let wanted =
            if holder.waiting() > 0 { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        let mut waiting = [PollFd::new(holder, wanted), PollFd::new(&*self.wake, PollFlags::IN)];
        let woken = poll(&mut waiting, limit.as_ref());
        if woken.is_err_and(|fault| fault != Errno::INTR) {
            // Nothing can be waited for: the next look finds out why.
            std::thread::sleep(FRAME);
        }
        let mut count = [0; 8];
        rustix::io::read(&*self.wake, &mut count).ok();
        for_quiet && woken == Ok(0)
    }

    /// Reads what the holder has said, up to a bound. Whether its process lives.
    fn read(&mut self, holder: &mut Holder) -> io::Result<bool> {
        for _ in 0..READS_MAX {
            if !holder.read()? {
                return Ok(false);
            }
            let mut came = false;
            loop {
                match holder.hear()? {
                    Heard::Nothing => break,
                    Heard::Ended(_) => return Ok(false),
                    Heard::Output { at, bytes } => self.take(at, bytes),
                    Heard::Resized { size, .. } => self.screen.resize(size),
                }
                (came, self.dirty) = (true, true);
            }
            holder.send()?;
            if !came {
                break;
            }
        }
        Ok(true)
    }

    /// Takes output. Where an update ends in the middle of it, a picture that is due shows that one: who
    /// announces one update after the other would always be found half way.
    fn take(&mut self, at: u64, mut bytes: &[u8]) {
        if at > self.offset {
            self.screen.skip_to(at);
        }
        self.offset = at;
        while !bytes.is_empty() {
            let (whole, rest) = bytes.split_at(self.end_of_update(bytes));
            self.screen.feed(whole);
            (self.offset, self.dirty, bytes) = (self.offset + whole.len() as u64, true, rest);
            if !rest.is_empty() {
                self.draw();
            }
        }
    }

    /// The bytes up to the end of an update, or all.
    fn end_of_update(&self, bytes: &[u8]) -> usize {
        if !self.screen.announces_updates() {
            return bytes.len();
        }
        let found = bytes.windows(UPDATE_END.len()).position(|part| part == UPDATE_END);
        found.map_or(bytes.len(), |at| at + UPDATE_END.len())
    }
}
