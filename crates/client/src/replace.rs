//! A daemon of an older build makes way for ours: asked where it understands us, by signal where it
//! does not. Its agents run on either way.

use crate::connection::{Client, Streamed, stuck};
use crate::fault::{Fault, Stuck};
use crate::watcher::{Waiting, Watcher};
use glis_os::Handle;
use glis_os::descriptors::peer;
use glis_wire::client::Request;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Signal;
use std::io;
use std::time::{Duration, Instant};

/// A daemon that is asked to end closes its log, which takes milliseconds; one that is stuck is not
/// waited for any longer.
const ASKED_TIME: Duration = Duration::from_secs(10);
/// The same after SIGTERM, which it may not have understood while it was busy.
const TERM_TIME: Duration = Duration::from_secs(10);
/// After SIGKILL only a disk that hangs keeps a process.
const KILL_TIME: Duration = Duration::from_secs(5);

/// How often a person hears that it is waited for.
const PACE: Duration = Duration::from_secs(1);

/// Has a daemon end, in bounded time; returns when it is gone.
pub(crate) fn end(mut client: Client, watcher: &mut dyn Watcher) -> Result<(), Fault> {
    let (home, daemon) = (client.home().clone(), client.build().clone());
    let failed = |fault: io::Error| {
        let why = fault.to_string();
        stuck(&home, Stuck::NotReplaced { daemon: daemon.clone(), why })
    };
    let Some(process) = process_of(&client).map_err(failed)? else { return Ok(()) };
    if client.understands() && ask_to_end(&mut client) && is_gone(&process, ASKED_TIME, watcher) {
        return Ok(());
    }
    for (signal, time) in [(Signal::TERM, TERM_TIME), (Signal::KILL, KILL_TIME)] {
        // One that has ended meanwhile is what is wanted.
        process.signal(signal);
        if is_gone(&process, time, watcher) {
            return Ok(());
        }
    }
    Err(stuck(&home, Stuck::Unkillable { daemon: daemon.clone() }))
}

/// The process at the other end, beyond the reuse of its number; `None` if it is gone.
fn process_of(client: &Client) -> io::Result<Option<Handle>> {
    let process = match Handle::open(peer(client)?.pid) {
        Err(fault) if Errno::from_io_error(&fault) == Some(Errno::SRCH) => return Ok(None),
        opened => opened?,
    };
    // While the connection stands, the process that we are connected with has its number.
    let mut stream = [PollFd::new(client, PollFlags::IN)];
    poll(&mut stream, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
    let closed = stream.iter().any(|fd| fd.revents().contains(PollFlags::HUP));
    Ok((!closed).then_some(process))
}

/// Whether it has agreed to end.
fn ask_to_end(client: &mut Client) -> bool {
    let asked =
        client.call_seeing(Request::DaemonStop { agents: false }, |streamed| match streamed {
            Streamed::Silence(since) if since > ASKED_TIME => {
                Err(Fault::Lost("it does not answer".to_owned()))
            }
            Streamed::Silence(_) | Streamed::Words(_) | Streamed::Bytes(..) => Ok(()),
        });
    asked.is_ok()
}

fn is_gone(process: &Handle, within: Duration, watcher: &mut dyn Watcher) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < within {
        if process.ends_within(PACE) {
            return true;
        }
        watcher.waiting(Waiting::Replaced, begun.elapsed());
    }
    false
}
