//! Who belongs to a session: found in the process table, because a process group alone loses everything
//! that took a session or a group of its own.

use glis_os::process::{self, Stat, own_pid};
use glis_wire::hold::{MARK, Process};

/// A command line longer than this is of no use to a reader.
const COMMAND_CHARS_MAX: usize = 200;

/// The verbs of this program whose processes belong to the house and not to a session. An agent
/// that runs `glis` while the daemon is down becomes the daemon's ancestor, and its environment
/// the daemon's: stopping that session must not end the daemon and with it every answer.
const HOUSE_VERBS: [&str; 2] = ["daemon", "hold"];

/// What makes a process one of a session's.
#[derive(Debug, Clone)]
pub(crate) struct Family {
    mark: String,
    /// The agent, whose group, session and descendants belong to it. Its number must be pinned:
    /// alive, or not yet waited for. `None` leaves the mark as the only sign.
    agent: Option<i32>,
}

impl Family {
    /// The processes that carry the session's mark, and their descendants.
    pub(crate) fn marked(session: &str) -> Self {
        Self { mark: format!("{MARK}={session}"), agent: None }
    }

    /// The processes of the session whose agent is this child of ours.
    pub(crate) fn of_agent(session: &str, agent: i32) -> Self {
        Self { agent: Some(agent), ..Self::marked(session) }
    }

    /// Every process that belongs to the family at this moment, zombies included. Never this
    /// process, never the first one. One that became another user's by `sudo` or the like belongs
    /// to it as well: if it cannot be signalled, that is told.
    pub(crate) fn members(&self) -> Vec<Stat> {
        let own = own_pid();
        let others = process::all().filter(|pid| *pid != own && *pid > 1);
        let mut table: Vec<Stat> = others.filter_map(process::stat).collect();
        table.sort_unstable_by_key(|process| process.pid);
        let mut belongs: Vec<bool> = table
            .iter()
            .map(|process| self.claims(process, own) && !is_house(process.pid))
            .collect();
        // Descent is followed until no other process turns up.
        let mut grew = true;
        while grew {
            grew = false;
            for at in (0..table.len()).filter(|at| !belongs[*at]).collect::<Vec<_>>() {
                let parent = table.binary_search_by_key(&table[at].parent, |other| other.pid);
                if parent.is_ok_and(|parent| belongs[parent]) && !is_house(table[at].pid) {
                    belongs[at] = true;
                    grew = true;
                }
            }
        }
        let members = table.into_iter().zip(belongs).filter(|(_, belongs)| *belongs);
        members.map(|(process, _)| process).collect()
    }

    fn claims(&self, process: &Stat, own: i32) -> bool {
        let by_number = self.agent.is_some_and(|agent| {
            process.group == agent || process.session == agent || process.parent == own
        });
        by_number || (!process.is_over() && process::carries(process.pid, &self.mark))
    }
}

/// What identifies a process of this boot.
pub(crate) fn mark_of(pid: i32) -> Option<Process> {
    let start_ticks = process::stat(pid)?.start_ticks;
    Some(Process { pid, start_ticks, boot_id: process::boot_id()? })
}

/// A process' command line as a person would read it.
pub(crate) fn command_of(pid: i32) -> String {
    process::words_of(pid).join(" ").chars().take(COMMAND_CHARS_MAX).collect()
}

/// Whether this is a daemon or a holder of this program.
fn is_house(pid: i32) -> bool {
    process::runs_own(pid, &HOUSE_VERBS)
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn this_process_is_in_the_table_and_in_no_family() {
        let own = own_pid();
        assert!(process::all().any(|pid| pid == own));
        assert!(Family::of_agent("no-session", own).members().iter().all(|one| one.pid != own));
        assert!(mark_of(own).unwrap().start_ticks > 0);
    }

    #[test]
    fn a_process_is_found_by_its_mark_alone() {
        let session = format!("mark-{}", own_pid());
        let mut command = Command::new("cat");
        command.env(MARK, &session).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut sleeper = command.spawn().unwrap();
        // Its environment is there for certain once it has said something.
        sleeper.stdin.as_mut().unwrap().write_all(b"!").unwrap();
        sleeper.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let pid = i32::try_from(sleeper.id()).unwrap();
        let found = Family::marked(&session).members();
        let shorter = Family::marked(session.trim_end_matches(char::is_numeric)).members();
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        assert_eq!(found.iter().map(|one| one.pid).collect::<Vec<_>>(), vec![pid]);
        assert!(!command_of(own_pid()).is_empty());
        assert!(shorter.is_empty());
    }
}
