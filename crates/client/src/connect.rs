//! Connecting: to the daemon of this build, or to one that runs, of whatever build.

use crate::connection::{Client, open_socket, stuck};
use crate::fault::{Fault, Stuck};
use crate::replace::end;
use crate::room::{blame, is_full};
use crate::start::{START_PACE, Started, Starter, start_daemon, turn_to_start};
use crate::wake;
use crate::watcher::{Quiet, Waiting, Watcher};
use glis_wire::build::Build;
use glis_wire::call::{Origin, Scope};
use glis_wire::home::{Home, KEEPER, SOCKET};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::cmp::Ordering;
use std::fs::File;
use std::time::{Duration, Instant};

/// A daemon that is neither reachable nor gone in this time needs a person to look at it.
const START_TIME: Duration = Duration::from_secs(20);

/// Between two attempts to start a daemon where another has the place; and for so long is one waited for that ends.
const ELSEWHERE_TIME: Duration = Duration::from_secs(1);

/// Makes connections to the daemon of one house, for one program.
#[derive(Debug, Clone)]
pub struct Connector {
    /// The house.
    pub home: Home,
    /// The build that the program is of.
    pub build: Build,
    /// Who the calls are from.
    pub origin: Origin,
    /// What they may do.
    pub scope: Scope,
    /// How a daemon is started where there is none.
    pub starter: Starter,
}

impl Connector {
    /// Connects, and starts the daemon if there is none. One of an older build is replaced.
    pub fn connect(&self, watcher: &mut dyn Watcher) -> Result<Client, Fault> {
        self.meet_or_start(watcher).map_err(|fault| blame(&self.home, fault))
    }

    fn meet_or_start(&self, watcher: &mut dyn Watcher) -> Result<Client, Fault> {
        if let Some(client) = self.meet(watcher)?
            && self.is_own(&client)?
        {
            return Ok(client);
        }
        // Of many that come at once, one starts the daemon and the others wait here.
        let turn = turn_to_start(&self.home, watcher)?;
        let begun = Instant::now();
        let mut started = None;
        while begun.elapsed() < START_TIME {
            match self.meet(watcher)? {
                Some(client) if self.is_own(&client)? => {
                    drop(turn);
                    return Ok(client);
                }
                Some(older) => end(older, watcher)?,
                // It was ready, and is gone: it had something to write down, as the next one would.
                None if started == Some(Started::Here) && is_full(&self.home.state) => {
                    return Err(Fault::NoRoom { state: self.home.state.clone() });
                }
                None => {}
            }
            started = Some(start_daemon(&self.home, &self.starter, watcher)?);
            if started == Some(Started::Elsewhere) {
                // Another daemon has the lock and no open socket: it is just coming or going, or it
                // was stopped.
                wake::if_stopped(&self.home, watcher);
                watcher.waiting(Waiting::ComingOrGoing, begun.elapsed());
                self.await_turn(begun);
            }
        }
        Err(stuck(&self.home, Stuck::StartedUnreachable))
    }

    /// Waits while another daemon has the place and no socket. A process that is started meanwhile
    /// could only say so: one a second is enough to notice what the lock does not tell.
    fn await_turn(&self, begun: Instant) {
        let until = Instant::now() + ELSEWHERE_TIME;
        let is_over = || Instant::now() > until || begun.elapsed() > START_TIME;
        while !is_over() && has_daemon(&self.home) && !has_socket(&self.home) {
            std::thread::sleep(START_PACE);
        }
    }

    /// Connects to a daemon that runs, of whatever build; `None` if there is none. Nothing is started
    /// or replaced for a call that only looks at the daemon.
    pub fn connect_running(&self, watcher: &mut dyn Watcher) -> Result<Option<Client>, Fault> {
        match self.meet_running(watcher)? {
            Some(client) if client.understands() => Ok(Some(client)),
            Some(client) => Err(Fault::OtherProtocol { daemon: client.build().clone() }),
            None => Ok(None),
        }
    }

    /// Connects to a daemon that runs, for who looks at what it keeps: nobody's look brings a daemon back that somebody
    /// has stopped.
    pub fn look(&self) -> Result<Client, Fault> {
        let running = self.connect_running(&mut Quiet)?;
        running.ok_or_else(|| Fault::Lost("it does not run".to_owned()))
    }

    /// Ends a daemon that runs and does not understand us. Whether there was one.
    pub fn end_foreign(&self, watcher: &mut dyn Watcher) -> Result<bool, Fault> {
        match self.meet_running(watcher)? {
            Some(client) if !client.understands() => end(client, watcher).map(|()| true),
            Some(_) | None => Ok(false),
        }
    }

    /// Has nothing start a daemon by itself, where the last one died while something went on.
    pub fn dismiss_keeper(&self) {
        std::fs::remove_file(self.home.state.join(KEEPER)).ok();
    }

    /// Whether the daemon that was there has ended in good order: it takes its socket with it, before its lock, and one
    /// that died leaves it behind.
    pub fn has_left(&self) -> bool {
        let until = Instant::now() + ELSEWHERE_TIME;
        while has_daemon(&self.home) && Instant::now() < until {
            std::thread::sleep(START_PACE);
        }
        !self.home.state.join(SOCKET).exists()
    }

    fn meet_running(&self, watcher: &mut dyn Watcher) -> Result<Option<Client>, Fault> {
        let begun = Instant::now();
        while begun.elapsed() < START_TIME {
            let met = self.meet(watcher)?;
            if met.is_some() || !has_daemon(&self.home) {
                return Ok(met);
            }
            // It is coming or going, or makes a socket again that was deleted, or was stopped.
            wake::if_stopped(&self.home, watcher);
            watcher.waiting(Waiting::ComingOrGoing, begun.elapsed());
            std::thread::sleep(START_PACE);
        }
        Err(stuck(&self.home, Stuck::RunsUnreachable))
    }

    fn meet(&self, watcher: &mut dyn Watcher) -> Result<Option<Client>, Fault> {
        let met = Client::meet(&self.home, &self.build, watcher)?;
        Ok(met.map(|client| client.called_by(self.origin.clone(), self.scope)))
    }

    /// Whether a daemon is of our build. An older one is to be replaced; a newer one stays.
    fn is_own(&self, client: &Client) -> Result<bool, Fault> {
        match client.build().cmp(&self.build) {
            Ordering::Equal => Ok(client.understands()),
            Ordering::Less => Ok(false),
            Ordering::Greater => {
                Err(Fault::NewerDaemon { daemon: client.build().clone(), own: self.build.clone() })
            }
        }
    }
}

/// Whether a daemon listens.
pub(crate) fn has_socket(home: &Home) -> bool {
    open_socket(home).is_ok()
}

/// Whether a process has the place of this house's daemon, reachable or not.
pub(crate) fn has_daemon(home: &Home) -> bool {
    let folder = File::open(&home.state);
    folder.is_ok_and(|folder| {
        flock(folder, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK)
    })
}
