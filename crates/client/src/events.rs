//! Following events, over the ends of daemons and connections: every event once, in order.

use crate::connect::Connector;
use crate::connection::{Client, Streamed, usable};
use crate::fault::Fault;
use crate::watcher::Quiet;
use glis_wire::client::{Request, Response};
use serde_json::Value;

/// What a subscription brings.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// An event, as the contract describes it.
    Event {
        /// Its number in this log.
        seq: u64,
        /// All of it.
        event: Value,
    },
    /// The log has another name than before, or than the subscriber knew: what was known of numbers is
    /// void, and events follow from the first one on.
    Anew {
        /// The name of the log.
        log_id: String,
    },
}

/// Follows the events of a house, from one on. A connection that breaks is made again, which starts a
/// daemon where there is none.
#[derive(Debug)]
pub struct Subscription {
    connector: Connector,
    /// The log that `next` counts in; the first connection names it where it is not known.
    log_id: Option<String>,
    /// The number of the next event.
    next: u64,
    connection: Option<Client>,
}

impl Subscription {
    /// Follows from event `from` on, of the log with this name if the subscriber knows one.
    pub fn new(connector: Connector, log_id: Option<String>, from: u64) -> Self {
        Self { connector, log_id, next: from.max(1), connection: None }
    }

    /// Where to go on another time: the name of the log, and the number of the next event.
    pub fn position(&self) -> (Option<&str>, u64) {
        (self.log_id.as_deref(), self.next)
    }

    /// Waits for what comes next. After a fault the subscription is as before: it can be asked again.
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator ends with its first fault, and this goes on"
    )]
    pub fn next(&mut self) -> Result<News, Fault> {
        loop {
            if let Some(news) = self.next_or_end()? {
                return Ok(news);
            }
        }
    }

    /// The same, and nothing when the daemon has ended in good order: whoever asks again starts one.
    pub fn next_or_end(&mut self) -> Result<Option<News>, Fault> {
        loop {
            let mut client = if let Some(client) = self.connection.take() {
                client
            } else {
                let (client, anew) = self.begin()?;
                if let Some(log_id) = anew {
                    self.connection = Some(client);
                    return Ok(Some(News::Anew { log_id }));
                }
                client
            };
            match client.listen() {
                Ok(Streamed::Words(Response::Event(event))) => {
                    self.connection = Some(client);
                    let seq = event.get("seq").and_then(Value::as_u64);
                    let seq =
                        seq.ok_or_else(|| Fault::Garbled("an event has no seq".to_owned()))?;
                    self.next = seq + 1;
                    return Ok(Some(News::Event { seq, event }));
                }
                // What follows is told by the next daemon.
                Ok(Streamed::Words(Response::End)) => {
                    if self.connector.has_left() {
                        return Ok(None);
                    }
                }
                Err(fault) if fault.is_lost() => {
                    if self.connector.has_left() {
                        return Ok(None);
                    }
                }
                Ok(Streamed::Words(words)) if words.is_final() => {
                    usable(words)?;
                }
                Ok(Streamed::Words(_) | Streamed::Bytes(..) | Streamed::Silence(_)) => {
                    self.connection = Some(client);
                }
                Err(fault) => return Err(fault),
            }
        }
    }

    /// Connects and asks for the events. The name of the log, if what was known of it is void.
    fn begin(&mut self) -> Result<(Client, Option<String>), Fault> {
        let mut client = self.connector.connect(&mut Quiet)?;
        let log_id = client.log_id().map(ToOwned::to_owned);
        let known = std::mem::replace(&mut self.log_id, log_id.clone());
        let anew = log_id.filter(|id| known.is_some_and(|known| known != *id));
        if anew.is_some() {
            self.next = 1;
        }
        client.ask(Request::Events { from: self.next, follow: true })?;
        Ok((client, anew))
    }
}
