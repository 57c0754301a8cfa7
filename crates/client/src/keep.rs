//! The keeper: waits until its daemon is gone, and starts the next one unless somebody else does.
//!
//! A daemon has one while something goes on by itself. It is the keeper of its house as long as `keeper` in the state
//! folder has its number: the keeper of a later daemon takes the place over, and whoever stops the daemon for good takes
//! it away.

use crate::connect::{has_daemon, has_socket};
use crate::fault::Fault;
use crate::start::{Starter, start_daemon, turn_to_start};
use crate::watcher::Quiet;
use glis_wire::home::{Home, KEEPER};
use rustix::fs::Mode;
use std::io::{self, Read as _};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// So long nothing is started: a person, a service or another command may be about to.
const FIRST_WAIT: Duration = Duration::from_secs(2);
/// Each wait is twice as long as the one before, up to eight and a half minutes: a disk that is full, or a fault in the
/// configuration, lasts longer than a moment.
const DOUBLINGS_MAX: u32 = 8;
/// A daemon that has lived for so long was not ended by its start.
const LASTING: Duration = Duration::from_secs(60);
/// How many daemons were started in a row by keepers, each of which died soon. Handed on from one to the next.
const STARTED: &str = "GLIS_KEPT";

/// Keeps the daemon at whose pipe this process reads. `umask` is what the next one is to find, in octal digits.
pub fn keep(home: &Home, umask: &str) -> io::Result<()> {
    let place = Place::take(home)?;
    let began = Instant::now();
    if !is_orphaned()? {
        place.leave();
        return Ok(());
    }
    rustix::process::umask(Mode::from_raw_mode(u32::from_str_radix(umask, 8).unwrap_or(0o077)));
    let told = std::env::var(STARTED).ok().and_then(|told| told.parse().ok());
    let mut started: u32 = told.filter(|_| began.elapsed() < LASTING).unwrap_or(0);
    loop {
        std::thread::sleep(wait(started));
        if !place.is_ours() {
            return Ok(());
        }
        if has_socket(home) {
            place.leave();
            return Ok(());
        }
        started = started.saturating_add(1);
        // Why one does not start is in the log, and the next attempt may do better.
        bring_back(home, started).ok();
    }
}

/// Waits for the word of the daemon. Whether it died without one.
fn is_orphaned() -> io::Result<bool> {
    loop {
        match io::stdin().read(&mut [0]) {
            Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {}
            read => return read.map(|bytes| bytes == 0),
        }
    }
}

fn wait(started: u32) -> Duration {
    FIRST_WAIT * (1 << started.min(DOUBLINGS_MAX))
}

/// Starts a daemon as any command does, if none has the place. One that has it and does not answer is coming, going or
/// stopped: none of that is ours to end.
fn bring_back(home: &Home, started: u32) -> Result<(), Fault> {
    let _turn = turn_to_start(home, &mut Quiet)?;
    if !has_daemon(home) {
        let env = vec![(STARTED.to_owned(), started.to_string())];
        start_daemon(
            home,
            &Starter { program: glis_os::process::installed_program(), env },
            &mut Quiet,
        )?;
    }
    Ok(())
}

/// The place of the house's keeper.
struct Place {
    file: PathBuf,
    own: String,
}

impl Place {
    fn take(home: &Home) -> io::Result<Self> {
        let (file, own) = (home.state.join(KEEPER), std::process::id().to_string());
        let fresh = home.state.join(format!("{KEEPER}.{own}"));
        std::fs::write(&fresh, &own)?;
        std::fs::rename(&fresh, &file)?;
        Ok(Self { file, own })
    }

    /// Whether no other has taken it, nobody has taken it away, and the house is there.
    fn is_ours(&self) -> bool {
        std::fs::read_to_string(&self.file).is_ok_and(|pid| pid == self.own)
    }

    fn leave(&self) {
        if self.is_ours() {
            std::fs::remove_file(&self.file).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_that_dies_at_once_is_started_less_and_less_often() {
        let secs = [0, 1, 2, 8, 9, u32::MAX].map(|started| wait(started).as_secs());
        assert_eq!(secs, [2, 4, 8, 512, 512, 512]);
    }
}
