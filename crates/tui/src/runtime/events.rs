//! The list is read once; from then on events tell what has changed. Only the words of sessions that work, which no
//! event tells, are looked at again.

use super::post::Post;
use super::{Setup, deliver};
use crate::message::{Listed, Msg, News};
use glis_client::{Connector, Fault, News as ClientNews, Quiet, Subscription};
use glis_wire::client::{Request, Response};
use std::io;
use std::time::Duration;

/// Before a daemon that could not be reached is tried again.
const PACE: Duration = Duration::from_secs(1);

/// Follows the house for as long as the program lives.
pub(super) fn start(setup: &Setup, post: Post) -> io::Result<()> {
    let connector = setup.connector.clone();
    let follow = move || loop {
        let fault = follow(&connector, &post);
        deliver(&post, Msg::Lost(fault.into()));
        std::thread::sleep(PACE);
    };
    std::thread::Builder::new().name("events".to_owned()).spawn(follow).map(drop)
}

/// Until something goes wrong.
fn follow(connector: &Connector, post: &Post) -> Fault {
    loop {
        let (listed, log_id, last_seq) = match begin(connector) {
            Ok(begun) => begun,
            Err(fault) => return fault,
        };
        deliver(post, listed);
        // What happens between the number and the list is in the list, and told once more: no harm.
        let mut events = Subscription::new(connector.clone(), Some(log_id), last_seq + 1);
        loop {
            match events.next_or_end() {
                Ok(None) => {
                    await_daemon(connector, post);
                    break;
                }
                Ok(Some(ClientNews::Event { seq, event })) => {
                    deliver(post, Msg::Event(Box::new(News::read(seq, &event))));
                }
                // Its numbers mean other events now: the list is read again.
                Ok(Some(ClientNews::Anew { .. })) => break,
                Err(fault) => {
                    deliver(post, Msg::Lost(fault.into()));
                    std::thread::sleep(PACE);
                }
            }
        }
    }
}

/// Waits for another daemon, after one that has ended in good order: it makes way for a newer one, or was stopped,
/// and who stopped it does not want it back by itself.
fn await_daemon(connector: &Connector, post: &Post) {
    // One that makes way is followed by the next within this time.
    for waited in 0_u32.. {
        if connector.connect_running(&mut Quiet).is_ok_and(|daemon| daemon.is_some()) {
            return;
        }
        if waited == 1 {
            deliver(post, Msg::Stopped);
        }
        std::thread::sleep(PACE);
    }
}

/// The list, the name of the log, and the number of an event that the list is at least as new as.
fn begin(connector: &Connector) -> Result<(Msg, String, u64), Fault> {
    let mut client = connector.connect(&mut Quiet)?;
    let Response::Daemon(daemon) = client.call(Request::DaemonStatus)? else {
        return Err(Fault::unfit());
    };
    let list = client.call(Request::List { all: false })?;
    let Response::Sessions { rows, more } = list else { return Err(Fault::unfit()) };
    let (last_seq, gate) = (daemon.last_seq, daemon.gate.state.clone());
    let listed = Listed { sessions: rows, more, last_seq, gate };
    Ok((Msg::Listed(listed), daemon.log_id, last_seq))
}
