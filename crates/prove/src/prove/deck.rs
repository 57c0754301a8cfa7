//! The acts, as cards that are drawn in a random order.

use super::chance::Chance;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Victim {
    Daemon,
    Holder,
    Both,
    /// The daemon, and every git that works for it.
    DaemonAndGit,
}

impl Victim {
    pub(super) fn story(self) -> &'static str {
        match self {
            Self::Daemon => "the daemon",
            Self::Holder => "the holder",
            Self::Both => "the daemon and the holder",
            Self::DaemonAndGit => "the daemon and its git",
        }
    }
}

/// What is under way at the kill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    Turn,
    Pause,
    /// A pause of a session in the middle of its turn.
    PauseInTurn,
    Resume,
    Send,
    Snapshot,
    PauseAll,
    /// It is paused, and nothing is under way.
    Paused,
}

impl Doing {
    pub(super) fn story(self) -> &'static str {
        match self {
            Self::Turn => "a turn of",
            Self::Pause => "the pause of",
            Self::PauseInTurn => "a pause in the middle of a turn of",
            Self::Resume => "the resume of",
            Self::Send => "a message to",
            Self::Snapshot => "a snapshot of",
            Self::PauseAll => "`pause --all`, seen at",
            Self::Paused => "the paused state of",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wreck {
    /// By git, by force.
    Removed,
    /// Its folder, behind git's back.
    Deleted,
    /// By glis itself, at the pause.
    Cleared,
}

/// What happens to a session whose holder is stopped, as by SIGSTOP or a disk that hangs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stall {
    /// It is paused between two turns.
    Pause,
    /// It is paused by force in the middle of a turn.
    ForcedPause,
    Stop,
    /// The daemon is killed as well, and the next one has to pause it although its holder does not
    /// answer.
    DaemonDies,
    /// The holder goes on in the middle of the pause.
    Passing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thing {
    DaemonSocket,
    DaemonLock,
    /// And the daemon is killed, so that the next one has to find the holder.
    HolderSocket,
    HolderLock,
    /// Everything that glis keeps about one session outside its log.
    SessionFolder,
}

/// How the daemon ends whose log is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LogLoss {
    /// In good order, before it: nothing is missing in the copies.
    AfterAStop,
    /// By a kill, after it: what has happened since the last copy is nowhere but with the agents.
    BeforeAKill,
}

impl Thing {
    pub(super) fn story(self) -> &'static str {
        match self {
            Self::DaemonSocket => "the daemon's socket",
            Self::DaemonLock => "the daemon's lock",
            Self::HolderSocket => "its holder's socket",
            Self::HolderLock => "its holder's lock",
            Self::SessionFolder => "its session folder",
        }
    }
}

/// What can be done to a house.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Kill(Doing, Victim),
    Wreck(Wreck),
    /// Another program writes into the worktree of a paused session.
    Foreign,
    FullDisk,
    Stall(Stall),
    /// A file or folder of the house is deleted.
    Delete(Thing),
    /// The event log is deleted.
    LoseLog(LogLoss),
}

/// Every act, the likelier ones more than once.
const ACTS: [Act; 38] = [
    Act::Kill(Doing::Turn, Victim::Daemon),
    Act::Kill(Doing::Turn, Victim::Holder),
    Act::Kill(Doing::Turn, Victim::Both),
    Act::Kill(Doing::Pause, Victim::Daemon),
    Act::Kill(Doing::Pause, Victim::Holder),
    Act::Kill(Doing::Pause, Victim::Both),
    Act::Kill(Doing::Pause, Victim::DaemonAndGit),
    Act::Kill(Doing::PauseInTurn, Victim::Daemon),
    Act::Kill(Doing::PauseInTurn, Victim::Holder),
    Act::Kill(Doing::PauseInTurn, Victim::Both),
    Act::Kill(Doing::Resume, Victim::Daemon),
    Act::Kill(Doing::Resume, Victim::Both),
    Act::Kill(Doing::Send, Victim::Daemon),
    Act::Kill(Doing::Send, Victim::Both),
    Act::Kill(Doing::Snapshot, Victim::Daemon),
    Act::Kill(Doing::Snapshot, Victim::DaemonAndGit),
    Act::Kill(Doing::PauseAll, Victim::Daemon),
    Act::Kill(Doing::Paused, Victim::Daemon),
    Act::Wreck(Wreck::Removed),
    Act::Wreck(Wreck::Removed),
    Act::Wreck(Wreck::Deleted),
    Act::Wreck(Wreck::Cleared),
    Act::Foreign,
    Act::FullDisk,
    Act::FullDisk,
    Act::FullDisk,
    Act::Stall(Stall::Pause),
    Act::Stall(Stall::ForcedPause),
    Act::Stall(Stall::Stop),
    Act::Stall(Stall::DaemonDies),
    Act::Stall(Stall::Passing),
    Act::Delete(Thing::DaemonSocket),
    Act::Delete(Thing::DaemonLock),
    Act::Delete(Thing::HolderSocket),
    Act::Delete(Thing::HolderLock),
    Act::Delete(Thing::SessionFolder),
    Act::LoseLog(LogLoss::AfterAStop),
    Act::LoseLog(LogLoss::BeforeAKill),
];

/// The next act: all of them in some order, and then all in another one, so that none is left to
/// luck.
pub(super) fn draw(deck: &mut Vec<Act>, chance: &mut Chance) -> Act {
    if deck.is_empty() {
        deck.extend(ACTS);
    }
    deck.swap_remove(chance.below(deck.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_act_comes_before_any_comes_again() {
        let (mut deck, mut chance) = (Vec::new(), Chance::from(3));
        for _ in 0..2 {
            let drawn: Vec<Act> = ACTS.iter().map(|_| draw(&mut deck, &mut chance)).collect();
            let times = |all: &[Act], act: &Act| all.iter().filter(|one| *one == act).count();
            for act in &ACTS {
                assert_eq!(times(&drawn, act), times(&ACTS, act), "{act:?}");
            }
            assert_ne!(drawn, ACTS);
        }
    }
}
