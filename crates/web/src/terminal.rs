//! A session's terminal as rows of text: the daemon paints it once, from there on its holder is read. The
//! rows that have changed go to the page, and what it types goes to the holder.

mod keys;
mod rows;

use crate::call::connector;
use crate::guard::Caller;
use crate::reply::{Reply, wrong};
use crate::shared::Shared;
use axum::extract::FromRequestParts as _;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::IntoResponse as _;
use glis_client::{Connector, Fault, Heard, Holder, Quiet};
use glis_screen::Screen;
use glis_wire::call::Scope;
use glis_wire::hold::Size;
use keys::Typed;
use rows::Rows;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use serde_json::{Value, json};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// Thirty pictures a second are enough for text.
const FRAME: Duration = Duration::from_millis(33);
/// So much of a flood is taken in before it is looked whether a frame is due.
const READS_MAX: usize = 4;
/// What a page may say at once: a page of text that is pasted.
const SAID_BYTES_MAX: usize = 64 * 1024;
/// What a page has typed and its holder has not taken. More than this means that nothing is taken at all.
const TYPED_MAX: usize = 256;

/// Opens the socket of a terminal.
pub(crate) async fn open(
    shared: Arc<Shared>,
    caller: Caller,
    name: String,
    mut head: Parts,
) -> Reply {
    let Ok(upgrade) = WebSocketUpgrade::from_request_parts(&mut head, &()).await else {
        let (status, hint) = (StatusCode::UPGRADE_REQUIRED, "connect by a WebSocket");
        return wrong(status, "usage", "a terminal is a stream of frames", hint);
    };
    let upgrade = upgrade.max_message_size(SAID_BYTES_MAX).max_frame_size(SAID_BYTES_MAX);
    upgrade.on_upgrade(move |socket| show(shared, caller, name, socket)).into_response()
}

async fn show(shared: Arc<Shared>, caller: Caller, name: String, mut socket: WebSocket) {
    // One frame waits at most: a page that is slow gets fewer, and the last one whole.
    let (send, mut frames) = mpsc::channel(1);
    let Ok(wake) = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map(Arc::new) else {
        return;
    };
    let (connector, explain) = (connector(&shared, &caller), shared.setup.explain);
    let (types, typed) = sync_channel(TYPED_MAX);
    let follow = {
        let wake = Arc::clone(&wake);
        move || {
            let rows = Rows::default();
            let mut view = View { send, typed, wake, rows, drawn: None, dirty: true };
            if let Err(fault) = view.follow(&connector, &name) {
                let told = explain(fault);
                let told = json!({"error": {"kind": told.kind, "message": told.message}});
                drop(view.send.blocking_send(told.to_string()));
            }
        }
    };
    if std::thread::Builder::new().name("terminal".to_owned()).spawn(follow).is_err() {
        return;
    }
    let mut changes = shared.devices.changes();
    changes.mark_changed();
    loop {
        tokio::select! {
            frame = frames.recv() => {
                let Some(frame) = frame else { break };
                // There is room for another.
                rustix::io::write(&*wake, &1_u64.to_ne_bytes()).ok();
                if socket.send(Message::Text(frame.into())).await.is_err() {
                    break;
                }
            }
            said = socket.recv() => match said {
                Some(Ok(Message::Close(_)) | Err(_)) | None => break,
                Some(Ok(Message::Text(said))) => {
                    if let Err(why) = take(&caller, &types, &said) {
                        let told = json!({"refused": why}).to_string();
                        drop(socket.send(Message::Text(told.into())).await);
                        break;
                    }
                    rustix::io::write(&*wake, &1_u64.to_ne_bytes()).ok();
                }
                Some(Ok(_)) => {}
            },
            _ = changes.changed() => {
                let book = shared.devices.now();
                if !book.is_ok_and(|book| book.still_has(&caller.id, caller.scope)) {
                    break;
                }
            }
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
    let typed = serde_json::from_str(said).map_err(|_| "this is no key".to_owned())?;
    types.try_send(typed).map_err(|_| "the terminal takes no keys".to_owned())
}

/// Gives the rows of a screen as a terminal's frames have them, in place of the same with control
/// sequences.
pub(crate) fn as_runs(document: &mut Value) {
    let number = |name: &str| document[name].as_u64().and_then(|number| u16::try_from(number).ok());
    let (Some(columns), Some(rows)) = (number("columns"), number("rows")) else { return };
    let ansi = document.as_object_mut().and_then(|document| document.remove("ansi"));
    let mut screen = Screen::new(Size { columns, rows });
    for (row, line) in ansi.iter().filter_map(Value::as_array).flatten().enumerate() {
        screen.feed(format!("\x1b[{};1H", row + 1).as_bytes());
        screen.feed(line.as_str().unwrap_or_default().as_bytes());
    }
    document["runs"] = Value::from(rows::rows(&screen));
}

/// One page's view of one terminal, on a thread of its own.
struct View {
    send: mpsc::Sender<String>,
    /// What the page has typed.
    typed: Receiver<Typed>,
    /// Written to when a frame was taken, when something was typed, or when the page has gone.
    wake: Arc<OwnedFd>,
    rows: Rows,
    drawn: Option<Instant>,
    dirty: bool,
}

impl View {
    /// Shows the terminal until its process has ended or the page has gone.
    fn follow(&mut self, connector: &Connector, name: &str) -> Result<(), Fault> {
        let mut client = connector.connect(&mut Quiet)?;
        let painted = client.paint(name)?;
        let mut screen = Screen::new(painted.size);
        screen.feed(&painted.bytes);
        let mut offset = painted.from;
        let holder = painted.holder_dir.and_then(|dir| Holder::follow(&dir, offset).ok());
        if let Some(mut holder) = holder {
            let mut lives = true;
            while lives && !self.send.is_closed() {
                self.draw(&screen, offset);
                for typed in self.typed.try_iter() {
                    holder.write(&typed.bytes(screen.wants()));
                }
                self.wait(&holder);
                lives =
                    read(&mut holder, &mut screen, &mut offset, &mut self.dirty).unwrap_or(false);
            }
        }
        self.dirty = true;
        // The last picture is waited for: nothing comes after it.
        if let Some(frame) = self.rows.frame(&screen, offset) {
            drop(self.send.blocking_send(frame));
        }
        drop(self.send.blocking_send(json!({"ended": true, "offset": offset}).to_string()));
        Ok(())
    }

    /// Sends a picture if one is due and the last one was taken.
    fn draw(&mut self, screen: &Screen, offset: u64) {
        if !self.dirty || self.drawn.is_some_and(|drawn| drawn.elapsed() < FRAME) {
            return;
        }
        let Ok(place) = self.send.try_reserve() else { return };
        if let Some(frame) = self.rows.frame(screen, offset) {
            place.send(frame);
        }
        (self.dirty, self.drawn) = (false, Some(Instant::now()));
    }

    /// Waits until there is something to read, a picture is due, or a picture was taken.
    fn wait(&self, holder: &Holder) {
        let left = self.drawn.map(|drawn| FRAME.saturating_sub(drawn.elapsed()));
        // One that waits to be taken wakes us when it is.
        let due = left.filter(|_| self.dirty && self.send.capacity() > 0);
        let due = due.map(|due| due + Duration::from_millis(1));
        let limit = due.and_then(|due| Timespec::try_from(due).ok());
        let wanted =
            if holder.waiting() > 0 { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        let mut waiting = [PollFd::new(holder, wanted), PollFd::new(&*self.wake, PollFlags::IN)];
        match poll(&mut waiting, limit.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            // Nothing can be waited for: the next look finds out why.
            Err(_) => std::thread::sleep(FRAME),
        }
        let mut count = [0; 8];
        rustix::io::read(&*self.wake, &mut count).ok();
    }
}

/// Reads what the holder has said, up to a bound. Whether its process lives.
fn read(
    holder: &mut Holder,
    screen: &mut Screen,
    offset: &mut u64,
    dirty: &mut bool,
) -> io::Result<bool> {
    for _ in 0..READS_MAX {
        if !holder.read()? {
            return Ok(false);
        }
        let mut came = false;
        loop {
            match holder.hear()? {
                Heard::Nothing => break,
                Heard::Ended(_) => return Ok(false),
                Heard::Output { at, bytes } => {
                    if at > *offset {
                        screen.skip_to(at);
                    }
                    screen.feed(bytes);
                    *offset = at + bytes.len() as u64;
                }
                Heard::Resized { size, .. } => screen.resize(size),
            }
            (came, *dirty) = (true, true);
        }
        holder.send()?;
        if !came {
            break;
        }
    }
    Ok(true)
}
