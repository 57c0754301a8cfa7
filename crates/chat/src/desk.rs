//! The way to the daemon. A trait, so that the bot can be played through without one.

use glis_client::{Client, Connector, Fault, Quiet, Streamed};
use glis_wire::client::{Request, Response};
use glis_wire::view::{Entry, FileDiffView};
use std::time::Duration;

/// A daemon that went away is there again in a moment: the next connection starts one.
const PAUSE: Duration = Duration::from_millis(500);
/// So often a call is made that a daemon's end cuts short. The next daemon goes on with what the last one died of, and
/// may die of it as well.
const TRIES: u32 = 8;

/// Who a call is from, and what it is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The user, as the network knows them.
    pub user: i64,
    /// Names the change. The same name again gets the first answer.
    pub key: String,
}

/// What a bot asks of the daemon.
pub trait Desk: Send + Sync {
    /// Makes a call. One that changes something has the caller's key.
    fn call(&self, caller: &Caller, request: Request) -> Result<Response, Fault>;
    fn conversation(&self, session: &str) -> Result<Vec<Entry>, Fault>;
    /// What a session has changed: the files, and the patch.
    fn diff(&self, session: &str) -> Result<(Vec<FileDiffView>, String), Fault>;
}

pub struct Daemon {
    connector: Connector,
}

impl Daemon {
    /// Calls go through this connector; each has its own user's name.
    pub fn new(connector: Connector) -> Self {
        Self { connector }
    }

    fn connect(&self, who: &str) -> Result<Client, Fault> {
        let mut connector = self.connector.clone();
        who.clone_into(&mut connector.origin.who);
        connector.connect(&mut Quiet)
    }

    /// Does something on a connection; once more if the daemon ends in the middle of it.
    fn patiently<T>(act: impl Fn() -> Result<T, Fault>) -> Result<T, Fault> {
        let mut tried = 1;
        loop {
            match act() {
                Err(fault) if fault.is_lost() && tried < TRIES => {
                    tried += 1;
                    std::thread::sleep(PAUSE);
                }
                answer => return answer,
            }
        }
    }
}

/// What events and the command line show of a user.
pub fn who(user: i64) -> String {
    format!("telegram {user}")
}

/// The user that is shown so.
pub(crate) fn user_of(who: &str) -> Option<i64> {
    who.strip_prefix("telegram ")?.parse().ok()
}

impl Desk for Daemon {
    fn call(&self, caller: &Caller, request: Request) -> Result<Response, Fault> {
        Self::patiently(|| {
            let mut client = self.connect(&who(caller.user))?;
            client.name_next(&caller.key);
            client.call(request.clone())
        })
    }

    fn conversation(&self, session: &str) -> Result<Vec<Entry>, Fault> {
        Self::patiently(|| {
            let mut entries = Vec::new();
            let request = Request::Log { session: session.to_owned(), follow: false, from: None };
            self.connect("bot")?.call_seeing(request, |streamed| {
                if let Streamed::Words(Response::Entry(entry)) = streamed {
                    entries.push(entry);
                }
                Ok::<(), Fault>(())
            })?;
            Ok(entries)
        })
    }

    fn diff(&self, session: &str) -> Result<(Vec<FileDiffView>, String), Fault> {
        Self::patiently(|| {
            let mut patch = Vec::new();
            let request = Request::Diff { session: session.to_owned(), since: None, patch: true };
            let answer = self.connect("bot")?.call_seeing(request, |streamed| {
                if let Streamed::Bytes(_, part) = streamed {
                    patch.extend(part);
                }
                Ok::<(), Fault>(())
            })?;
            let Response::Diff { files, .. } = answer else { return Err(Fault::unfit()) };
            Ok((files, String::from_utf8_lossy(&patch).into_owned()))
        })
    }
}
