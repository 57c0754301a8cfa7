//! The one connection that all pages share: it follows the events from where they are when the first page
//! comes.

use glis_client::{Connector, Fault, News, Quiet, Subscription};
use glis_verbs::Complaint;
use glis_wire::client::{Request, Response};
use hyper::body::Bytes;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::broadcast;

/// What a page may be behind; one that falls further behind reads the log instead.
const BEHIND_MAX: usize = 4096;
/// Before a daemon that could not be reached is tried again.
const PACE: Duration = Duration::from_secs(1);

/// Follows the events, for all pages.
pub(crate) struct Hub {
    connector: Connector,
    followed: Mutex<Option<Followed>>,
}

struct Followed {
    /// What every page is told, as it is written.
    news: broadcast::Sender<Bytes>,
    /// The number of the next event, and the log that it counts in.
    next: u64,
    log_id: String,
}

/// A place among those who are told.
pub(crate) struct Joined {
    pub(crate) news: broadcast::Receiver<Bytes>,
    /// The number of the first event that will be told.
    pub(crate) next: u64,
    pub(crate) log_id: String,
}

pub(crate) fn event(seq: u64, event: &Value) -> Bytes {
    Bytes::from(format!("id: {seq}\ndata: {event}\n\n"))
}

pub(crate) fn anew(log_id: &str) -> Bytes {
    let data = json!({"log_id": log_id});
    // The number that is known from before means nothing any more.
    Bytes::from(format!("id: 0\nevent: anew\ndata: {data}\n\n"))
}

fn lost(told: &Complaint) -> Bytes {
    let data = json!({"kind": told.kind.word(), "message": told.message, "hint": told.hint});
    Bytes::from(format!("event: lost\ndata: {data}\n\n"))
}

impl Hub {
    pub(crate) fn new(connector: Connector) -> Self {
        Self { connector, followed: Mutex::default() }
    }

    /// Takes a place. The first one finds out where the events are.
    pub(crate) fn join(self: &Arc<Self>) -> Result<Joined, Fault> {
        if let Some(joined) = self.followed().as_ref().map(Followed::join) {
            return Ok(joined);
        }
        let mut client = self.connector.connect(&mut Quiet)?;
        let Response::Daemon(daemon) = client.call(Request::DaemonStatus)? else {
            return Err(Fault::unfit());
        };
        let mut followed = self.followed();
        if let Some(followed) = followed.as_ref() {
            return Ok(followed.join());
        }
        let (next, log_id) = (daemon.last_seq + 1, daemon.log_id);
        let begun = Followed { news: broadcast::Sender::new(BEHIND_MAX), next, log_id };
        let joined = begun.join();
        let subscription =
            Subscription::new(self.connector.clone(), Some(begun.log_id.clone()), next);
        let hub = Arc::clone(self);
        let follow = move || hub.follow(subscription);
        let thread = std::thread::Builder::new().name("events".to_owned()).spawn(follow);
        thread.map_err(|fault| Fault::Lost(fault.to_string()))?;
        *followed = Some(begun);
        Ok(joined)
    }

    /// Tells what happens, for as long as the process lives.
    fn follow(&self, mut subscription: Subscription) {
        loop {
            match subscription.next() {
                Ok(News::Event { seq, event: told }) => {
                    self.tell(event(seq, &told), |followed| followed.next = seq + 1);
                }
                Ok(News::Anew { log_id }) => {
                    let news = anew(&log_id);
                    self.tell(news, |followed| (followed.next, followed.log_id) = (1, log_id));
                }
                Err(fault) => {
                    self.tell(lost(&fault.into()), |_| ());
                    self.find();
                }
            }
        }
    }

    /// Waits until the daemon answers again, and says so: there need not be any event that would.
    fn find(&self) {
        loop {
            std::thread::sleep(PACE);
            if self.connector.connect(&mut Quiet).is_ok() {
                return self.tell(Bytes::from_static(b"event: found\ndata: {}\n\n"), |_| ());
            }
        }
    }

    /// Tells something and moves on, as one: who joins gets it either way, and once.
    fn tell(&self, news: Bytes, go_on: impl FnOnce(&mut Followed)) {
        if let Some(followed) = self.followed().as_mut() {
            go_on(followed);
            // Nobody may be there to hear it.
            drop(followed.news.send(news));
        }
    }

    fn followed(&self) -> MutexGuard<'_, Option<Followed>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Followed {
    fn join(&self) -> Joined {
        let (news, next, log_id) = (self.news.subscribe(), self.next, self.log_id.clone());
        Joined { news, next, log_id }
    }
}
