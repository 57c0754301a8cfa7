//! A daemon of an older build makes way for ours: asked where it understands us, by signal where it
//! does not. Its agents run on either way.

use crate::connection::{Client, Streamed, stuck};
use crate::fault::{Fault, Stuck};
use crate::watcher::{Waiting, Watcher};
use glis_wire::client::Request;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::socket_peercred;
use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

/// A daemon that is asked to end closes its log, which takes milliseconds; one that is stuck is not
/// waited for any longer.
const ASKED_TIME: Duration = Duration::from_secs(10);
/// The same after SIGTERM, which it may not have understood while it was busy.
const TERM_TIME: Duration = Duration::from_secs(10);
/// After SIGKILL only a disk that hangs keeps a process.
const KILL_TIME: Duration = Duration::from_secs(5);

/// Has a daemon end, in bounded time; returns when it is gone.
pub(crate) fn end(mut client: Client, watcher: &mut dyn Watcher) -> Result<(), Fault> {
    let (home, daemon) = (client.home().clone(), client.build().clone());
    let failed = |fault: io::Error| {
        let why = fault.to_string();
        stuck(&home, Stuck::NotReplaced { daemon: daemon.clone(), why })
    };
    let Some(process) = process_of(&client).map_err(failed)? else { return Ok(()) };
    if client.understands()
        && ask_to_end(&mut client)
        && is_gone(&process, ASKED_TIME, watcher).map_err(failed)?
    {
        return Ok(());
    }
    for (signal, time) in [(Signal::TERM, TERM_TIME), (Signal::KILL, KILL_TIME)] {
        // One that has ended meanwhile is what is wanted.
        pidfd_send_signal(&process, signal).ok();
        if is_gone(&process, time, watcher).map_err(failed)? {
            return Ok(());
        }
    }
    Err(stuck(&home, Stuck::Unkillable { daemon: daemon.clone() }))
}

/// The process at the other end, beyond the reuse of its number; `None` if it is gone.
fn process_of(client: &Client) -> io::Result<Option<OwnedFd>> {
    let pid = socket_peercred(client)?.pid;
    let process = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(process) => process,
        Err(Errno::SRCH) => return Ok(None),
        Err(fault) => return Err(fault.into()),
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

fn is_gone(process: &impl AsFd, within: Duration, watcher: &mut dyn Watcher) -> io::Result<bool> {
    let begun = Instant::now();
    let pace = Timespec { tv_sec: 1, tv_nsec: 0 };
    while begun.elapsed() < within {
        match poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&pace)) {
            Ok(0) | Err(Errno::INTR) => watcher.waiting(Waiting::Replaced, begun.elapsed()),
            Ok(_) => return Ok(true),
            Err(fault) => return Err(fault.into()),
        }
    }
    Ok(false)
}
