//! The keeper: a process that starts the next daemon where this one dies while something goes on by itself.
//!
//! It reads from a pipe of ours and does nothing else. A byte tells it that nobody needs it; the end of the pipe tells it
//! that this process is gone, however it died.

use crate::pools::{Kind, Pools};
use crate::tasks::beside;
use glis_core::House;
use glis_os::Handle;
use std::io::{self, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::sync::watch;
use tracing::{info, warn};

/// Before another one is started where one was killed or does not start.
const AGAIN: Duration = Duration::from_secs(1);

/// Who sees to it that the daemon comes back where it dies while something goes on by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is on its own, away from the terminal that it was started in: a keeper of ours does.
    Alone,
    /// Whoever runs it in the foreground does: a service, or a person.
    Attended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    No,
    Yes,
    /// The daemon ends, and is not to come back.
    NoMore,
}

/// Has a keeper run for as long as one is needed.
pub(crate) struct Keeper {
    wanted: watch::Sender<Wanted>,
}

impl Keeper {
    /// It belongs to the runtime that this is called in. The next daemon is to find the umask that this one has found.
    pub(crate) fn new(standing: Standing, pools: Pools, umask: u32) -> Self {
        if standing == Standing::Attended {
            return Self { wanted: watch::Sender::new(Wanted::NoMore) };
        }
        let (wanted, changes) = watch::channel(Wanted::No);
        beside(look_after(changes, pools, umask));
        Self { wanted }
    }

    /// Looks whether something goes on by itself.
    pub(crate) fn look(&self, house: &House) {
        let now = if house.goes_on_by_itself() { Wanted::Yes } else { Wanted::No };
        self.wanted.send_if_modified(|wanted| {
            let changed = *wanted != Wanted::NoMore && *wanted != now;
            if changed {
                *wanted = now;
            }
            changed
        });
    }

    /// The daemon ends in good order: nothing is started for it.
    pub(crate) async fn dismiss(&self) {
        self.wanted.send_replace(Wanted::NoMore);
        // Whoever looks after it has told it then.
        self.wanted.closed().await;
    }
}

async fn look_after(mut wanted: watch::Receiver<Wanted>, pools: Pools, umask: u32) {
    loop {
        match wanted.wait_for(|wanted| *wanted != Wanted::No).await.map(|wanted| *wanted) {
            Ok(Wanted::Yes) => {}
            Ok(Wanted::No | Wanted::NoMore) | Err(_) => return,
        }
        let started = pools.run_blocking(Kind::Start, move || start(umask)).await;
        let started = started.map_err(io::Error::other).flatten().and_then(Process::of);
        let mut keeper = match started {
            Ok(keeper) => keeper,
            Err(fault) => {
                warn!("the keeper does not start: {fault}");
                tokio::time::sleep(AGAIN).await;
                continue;
            }
        };
        let was_killed = tokio::select! {
            () = keeper.ended() => true,
            _ = wanted.wait_for(|wanted| *wanted != Wanted::Yes) => false,
        };
        if was_killed {
            info!("the keeper was killed; another one is started");
            tokio::time::sleep(AGAIN).await;
        } else {
            keeper.dismiss();
            beside(async move { keeper.ended().await });
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the keeper is started here and nowhere else")]
fn start(umask: u32) -> io::Result<Child> {
    let mut command = Command::new(glis_os::process::OWN_PROGRAM);
    command
        .args(["keep", &format!("{umask:o}")])
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if crate::failpoint::is_for_this_daemon() {
        command.env_remove(crate::failpoint::VARIABLE);
    }
    command.spawn()
}

struct Process {
    child: Child,
    handle: Handle,
}

impl Process {
    fn of(child: Child) -> io::Result<Self> {
        let handle = Handle::of(&child)?;
        Ok(Self { child, handle })
    }

    /// One that is stopped reads it when it goes on.
    fn dismiss(&mut self) {
        if let Some(mut pipe) = self.child.stdin.take() {
            // One that has just been killed needs no word.
            pipe.write_all(b".").ok();
        }
    }

    async fn ended(&mut self) {
        drop(self.handle.ended().await);
        drop(self.child.wait());
    }
}
