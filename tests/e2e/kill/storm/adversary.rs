//! The adversary of a storm: kills, stops, deletes, and fills the disk, in an order that a seed decides.

use super::{Member, Storm, locked};
use crate::daemon::doors::daemons;
use crate::support::dice::Dice;
use crate::support::held::signal;
use crate::support::house::{Outcome, kill_and_wait};
use crate::support::wreck::{folder, holder_of, marked};
use rustix::process::Signal;
use std::time::Duration;

/// Whom it hits.
#[derive(Debug, Clone, Copy)]
enum Victim {
    Daemon,
    Holder,
    Agent,
}

#[derive(Debug, Clone, Copy)]
enum Blow {
    Kill(Victim),
    /// Stopped for a while.
    Stop(Victim),
    DeleteOfDaemon(&'static str),
    DeleteOfSession(&'static str),
    FillDisk,
}

const BLOWS: [Blow; 13] = [
    Blow::Kill(Victim::Daemon),
    Blow::Kill(Victim::Daemon),
    Blow::Kill(Victim::Holder),
    Blow::Kill(Victim::Agent),
    Blow::Stop(Victim::Daemon),
    Blow::Stop(Victim::Holder),
    Blow::Stop(Victim::Agent),
    Blow::DeleteOfDaemon("daemon.sock"),
    Blow::DeleteOfDaemon("daemon.lock"),
    Blow::DeleteOfSession("hold.sock"),
    Blow::DeleteOfSession("hold.lock"),
    Blow::FillDisk,
    Blow::FillDisk,
];

/// Between two blows, at most: some fall into one and the same verb.
const LULL_MS: u64 = 400;
/// How long something stays stopped, or the disk full, at most: verbs run into it, and none waits for it long.
const HOLD_MS: u64 = 1000;

impl Storm {
    /// All blows come before one comes again.
    pub(super) fn strike_on(&self, dice: &mut Dice) -> Outcome {
        let mut deck: Vec<Blow> = Vec::new();
        while self.lasts() {
            if deck.is_empty() {
                deck.extend(BLOWS);
            }
            let next = usize::try_from(dice.below(deck.len() as u64))?;
            let (blow, member) = (deck.swap_remove(next), dice.one_of(&self.members));
            let (hold, lull) = (dice.below(HOLD_MS), dice.below(LULL_MS));
            self.strike(blow, member, Duration::from_millis(hold))?;
            std::thread::sleep(Duration::from_millis(lull));
        }
        Ok(())
    }

    fn strike(&self, blow: Blow, member: &Member, hold: Duration) -> Outcome {
        match blow {
            Blow::Kill(victim) => {
                for pid in self.found(victim, member) {
                    kill_and_wait(pid)?;
                }
            }
            Blow::Stop(victim) => {
                let stopped = self.found(victim, member);
                // Each may be gone by now, or by the time that it may go on.
                for pid in &stopped {
                    signal(*pid, Signal::STOP).ok();
                }
                std::thread::sleep(hold);
                for pid in &stopped {
                    signal(*pid, Signal::CONT).ok();
                }
            }
            Blow::DeleteOfDaemon(file) => drop(std::fs::remove_file(self.house.home().join(file))),
            Blow::DeleteOfSession(file) => {
                drop(std::fs::remove_file(folder(&self.house, &member.id).join(file)));
            }
            Blow::FillDisk => {
                let Some(disk) = &self.disk else { return Ok(()) };
                let ballast = disk.fill()?;
                std::thread::sleep(hold);
                std::fs::remove_file(ballast)?;
            }
        }
        self.count(&format!("{blow:?}"));
        Ok(())
    }

    /// Who is there to be hit.
    fn found(&self, victim: Victim, member: &Member) -> Vec<i32> {
        let agents = marked(&member.id);
        match victim {
            Victim::Daemon => daemons(&self.house),
            Victim::Agent => agents,
            // An agent whose holder has just died has another parent.
            Victim::Holder => agents
                .into_iter()
                .filter_map(|agent| holder_of(agent).ok())
                .filter(|holder| self.house.processes().contains(holder))
                .collect(),
        }
    }

    pub(super) fn count(&self, what: &str) {
        *locked(&self.tally).blows.entry(what.to_owned()).or_default() += 1;
    }
}
