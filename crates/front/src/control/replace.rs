//! A daemon of an older build makes way for ours: asked where it understands us, by signal where it
//! does not. Its agents run on either way.

use super::{Control, Streamed, stuck};
use crate::complaint::Complaint;
use crate::progress::Progress;
use glis_wire::build::Build;
use glis_wire::client::{PROTOCOL, Request};
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

/// A daemon that answers, of whatever build.
pub(super) struct Met {
    pub(super) control: Control,
    pub(super) build: Build,
    pub(super) protocol: u32,
}

impl Met {
    /// Whether it understands what we say.
    pub(super) fn understands(&self) -> bool {
        self.protocol == PROTOCOL
    }

    /// Has it end, in bounded time; returns when it is gone.
    pub(super) fn end(mut self) -> Result<(), Complaint> {
        let home = self.control.home().clone();
        let failed = |fault: io::Error| {
            stuck(
                &home,
                format!("the daemon {} cannot be replaced: {fault}", self.build),
                "ask again",
            )
        };
        let Some(process) = process_of(&self.control).map_err(failed)? else { return Ok(()) };
        let mut progress = Progress::new("waiting for the daemon of another build to end");
        if self.understands()
            && ask_to_end(&mut self.control)
            && is_gone(&process, ASKED_TIME, &mut progress).map_err(failed)?
        {
            return Ok(());
        }
        for (signal, time) in [(Signal::TERM, TERM_TIME), (Signal::KILL, KILL_TIME)] {
            // One that has ended meanwhile is what is wanted.
            pidfd_send_signal(&process, signal).ok();
            if is_gone(&process, time, &mut progress).map_err(failed)? {
                return Ok(());
            }
        }
        let text = format!("the daemon {} does not end, even when it is killed", self.build);
        Err(stuck(&home, text, "its disk may hang; ask again when it answers"))
    }
}

/// The process at the other end, beyond the reuse of its number; `None` if it is gone.
fn process_of(control: &Control) -> io::Result<Option<OwnedFd>> {
    let pid = socket_peercred(&control.stream)?.pid;
    let process = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(process) => process,
        Err(Errno::SRCH) => return Ok(None),
        Err(fault) => return Err(fault.into()),
    };
    // While the connection stands, the process that we are connected with has its number.
    let mut stream = [PollFd::new(&control.stream, PollFlags::IN)];
    poll(&mut stream, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
    let closed = stream.iter().any(|fd| fd.revents().contains(PollFlags::HUP));
    Ok((!closed).then_some(process))
}

/// Whether it has agreed to end.
fn ask_to_end(control: &mut Control) -> bool {
    let asked = control.ask(Request::DaemonStop { agents: false }, |streamed| match streamed {
        Streamed::Silence(since) if since > ASKED_TIME => {
            Err(Complaint::no_daemon("it does not answer".to_owned()))
        }
        Streamed::Silence(_) | Streamed::Words(_) | Streamed::Bytes(..) => Ok(()),
    });
    asked.is_ok()
}

fn is_gone(process: &impl AsFd, within: Duration, progress: &mut Progress) -> io::Result<bool> {
    let begun = Instant::now();
    let pace = Timespec { tv_sec: 1, tv_nsec: 0 };
    while begun.elapsed() < within {
        match poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&pace)) {
            Ok(0) | Err(Errno::INTR) => progress.show(begun.elapsed()),
            Ok(_) => return Ok(true),
            Err(fault) => return Err(fault.into()),
        }
    }
    Ok(false)
}
