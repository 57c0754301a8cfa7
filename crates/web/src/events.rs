//! What happens, as it happens: one connection to the daemon, and a stream of server-sent events for each
//! page.

use crate::body::{Body, Received};
use crate::call;
use crate::given::{Given, usage};
use crate::guard::Caller;
use crate::hub::{self, Joined};
use crate::places::Place;
use crate::reply::{Failed, Reply};
use crate::shared::Shared;
use glis_client::{Connector, Fault, Quiet, Streamed};
use glis_verbs::Complaint;
use glis_wire::client::{Request, Response as Answer};
use hyper::body::Bytes;
use hyper::http::header::CONTENT_TYPE;
use hyper::http::request::Parts;
use hyper::http::{HeaderName, HeaderValue, Response};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, timeout};

/// A page that hears nothing for some of these knows that its connection is dead.
const BEAT: Duration = Duration::from_secs(15);
/// A page that takes nothing for this long is cut off; it comes again and goes on where it was.
const STALL_TIME: Duration = Duration::from_secs(30);
/// Events that wait for one page to take them.
const WAITING_MAX: usize = 64;
const LAST_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The stream for one page.
pub(crate) async fn stream(
    shared: &Arc<Shared>,
    caller: &Caller,
    head: &Parts,
    given: &Given,
) -> Result<Reply, Failed> {
    let from = from(head, given)?;
    let place = shared.streams.take(&caller.id)?;
    let hub = Arc::clone(&shared.hub);
    let joined = tokio::task::spawn_blocking(move || hub.join());
    let joined = joined.await.unwrap_or_else(|_| Err(Fault::Lost(String::new())));
    let joined = joined.map_err(Complaint::from)?;
    let (send, receive) = mpsc::channel(WAITING_MAX);
    let page = Page { send, connector: call::connector(shared, caller), _place: place };
    let log = given.text("log");
    tokio::spawn(async move { drop(page.tell(joined, from, log).await) });
    let (shared, caller) = (Arc::clone(shared), caller.clone());
    let gone = Box::pin(async move { shared.devices.until_gone(&caller.id, caller.scope).await });
    let mut reply = Response::new(Body::Events(Received { events: receive, gone }));
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    // Proxies are known to collect a stream before they pass it on.
    reply.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(reply)
}

/// The number of the first event that is wanted. A browser that connects again says what it had last.
fn from(head: &Parts, given: &Given) -> Result<u64, Complaint> {
    let Some(last) = head.headers.get(LAST_ID) else {
        return Ok(given.number("from").unwrap_or(1).max(1));
    };
    let last = last.to_str().ok().and_then(|last| last.parse::<u64>().ok());
    last.map(|last| last.saturating_add(1)).ok_or_else(|| usage("Last-Event-ID is no number"))
}

struct Page {
    send: mpsc::Sender<Bytes>,
    connector: Connector,
    _place: Place,
}

/// The page is gone, or does not read.
struct Gone;

impl Page {
    async fn tell(&self, joined: Joined, from: u64, log: Option<String>) -> Result<(), Gone> {
        let Joined { mut news, next, log_id } = joined;
        let hello = format!("retry: 1000\nevent: hello\ndata: {}\n\n", json!({"log_id": log_id}));
        self.send(Bytes::from(hello)).await?;
        // Numbers of another log, or numbers that this one has not reached, mean nothing here.
        let anew = log.is_some_and(|log| log != log_id) || from > next;
        let from = if anew { 1 } else { from };
        if anew {
            self.send(hub::anew(&log_id)).await?;
        }
        if from < next {
            self.catch_up(from, next).await?;
        }
        let mut beat = interval(BEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        beat.reset();
        loop {
            tokio::select! {
                told = news.recv() => match told {
                    Ok(told) => self.send(told).await?,
                    // It has missed some: it comes again, and gets them from the log.
                    Err(RecvError::Lagged(_) | RecvError::Closed) => return Err(Gone),
                },
                _ = beat.tick() => self.send(Bytes::from_static(b"event: beat\ndata: {}\n\n")).await?,
                () = self.send.closed() => return Err(Gone),
            }
        }
    }

    /// Tells what happened before the page came, from the log.
    async fn catch_up(&self, from: u64, until: u64) -> Result<(), Gone> {
        let (connector, send, runtime) =
            (self.connector.clone(), self.send.clone(), Handle::current());
        let tell = move || -> Result<(), Gone> {
            let mut client = connector.connect(&mut Quiet).map_err(|_| Gone)?;
            client.call_seeing(Request::Events { from, follow: false }, |streamed| {
                let Streamed::Words(Answer::Event(event)) = streamed else { return Ok(()) };
                let seq = event.get("seq").and_then(Value::as_u64).ok_or(Gone)?;
                if seq >= until {
                    return Ok(());
                }
                runtime.block_on(give(&send, hub::event(seq, &event)))
            })?;
            Ok(())
        };
        tokio::task::spawn_blocking(tell).await.unwrap_or(Err(Gone))
    }

    async fn send(&self, bytes: Bytes) -> Result<(), Gone> {
        give(&self.send, bytes).await
    }
}

/// Gives a page something, as long as it takes anything.
async fn give(send: &mpsc::Sender<Bytes>, bytes: Bytes) -> Result<(), Gone> {
    match timeout(STALL_TIME, send.send(bytes)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(Gone),
    }
}

impl From<Fault> for Gone {
    fn from(_: Fault) -> Self {
        Self
    }
}
