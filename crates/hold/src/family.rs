//! Who belongs to a session: found in `/proc`, because a process group alone loses everything
//! that took a session or a group of its own.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;

use glis_wire::hold::{MARK, ProcessMark};
use glis_wire::stat::Stat;

/// A command line longer than this is of no use to a reader.
const COMMAND_CHARS_MAX: usize = 200;

/// The verbs of this program whose processes belong to the house and not to a session. An agent
/// that runs `glis` while the daemon is down becomes the daemon's ancestor, and its environment
/// the daemon's: stopping that session must not end the daemon and with it every answer.
const HOUSE_VERBS: [&[u8]; 2] = [b"daemon", b"hold"];

/// One line of the process table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    /// Process id.
    pub(crate) pid: i32,
    /// Its parent.
    pub(crate) parent: i32,
    /// Its process group.
    pub(crate) group: i32,
    /// Its session.
    pub(crate) session: i32,
    /// Start in clock ticks since boot.
    pub(crate) start_ticks: u64,
    /// Ended, and not yet waited for.
    pub(crate) zombie: bool,
    /// Stopped where it is.
    pub(crate) stopped: bool,
}

impl Process {
    /// Whether the process of this number is still the one that was seen. One that got another
    /// parent or group meanwhile counts as a stranger until it is found again.
    pub(crate) fn is_unchanged(&self) -> bool {
        let Self { zombie, stopped, .. } = *self;
        look(self.pid).is_some_and(|now| Self { zombie, stopped, ..now } == *self)
    }
}

/// What makes a process one of a session's.
#[derive(Debug, Clone)]
pub(crate) struct Family {
    mark: Vec<u8>,
    /// The agent, whose group, session and descendants belong to it. Its number must be pinned:
    /// alive, or not yet waited for. `None` leaves the mark as the only sign.
    agent: Option<i32>,
}

impl Family {
    /// The processes that carry the session's mark, and their descendants.
    pub(crate) fn marked(session: &str) -> Self {
        Self { mark: format!("{MARK}={session}").into_bytes(), agent: None }
    }

    /// The processes of the session whose agent is this child of ours.
    pub(crate) fn of_agent(session: &str, agent: i32) -> Self {
        Self { agent: Some(agent), ..Self::marked(session) }
    }

    /// Every process that belongs to the family at this moment, zombies included. Never this
    /// process, never the first one. One that became another user's by `sudo` or the like belongs
    /// to it as well: if it cannot be signalled, that is told.
    pub(crate) fn members(&self) -> Vec<Process> {
        let own = own_pid();
        let table: Vec<Process> =
            table().into_iter().filter(|process| process.pid != own && process.pid > 1).collect();
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

    fn claims(&self, process: &Process, own: i32) -> bool {
        let by_number = self.agent.is_some_and(|agent| {
            process.group == agent || process.session == agent || process.parent == own
        });
        by_number || (!process.zombie && carries(process.pid, &self.mark))
    }
}

/// The id of this process.
pub(crate) fn own_pid() -> i32 {
    rustix::process::getpid().as_raw_pid()
}

/// What identifies a process of this boot.
pub(crate) fn mark_of(pid: i32) -> Option<ProcessMark> {
    let boot_id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let start_ticks = look(pid)?.start_ticks;
    Some(ProcessMark { pid, start_ticks, boot_id: boot_id.trim().to_owned() })
}

/// A process' command line as a person would read it.
pub(crate) fn command_of(pid: i32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line);
    line.trim_end_matches('\0').replace('\0', " ").chars().take(COMMAND_CHARS_MAX).collect()
}

/// The short name of a process, which also a dead one has.
pub(crate) fn name_of(pid: i32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned()
}

/// A process' working directory.
pub(crate) fn cwd_of(pid: i32) -> Option<String> {
    let path = fs::read_link(format!("/proc/{pid}/cwd")).ok()?;
    Some(path.to_string_lossy().into_owned())
}

/// The TCP ports that a process listens on.
pub(crate) fn ports_of(pid: i32) -> Vec<u16> {
    let Ok(open) = fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
    let sockets: Vec<String> = open
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok()?.into_os_string().into_string().ok())
        .filter_map(|link| Some(link.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    if sockets.is_empty() {
        return Vec::new();
    }
    let mut ports = Vec::new();
    for table in ["tcp", "tcp6"] {
        let text = fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        let listening = text.lines().filter_map(listening_port);
        ports.extend(listening.filter(|(_, inode)| sockets.contains(inode)).map(|(port, _)| port));
    }
    ports.sort_unstable();
    ports.dedup();
    ports
}

/// Port and socket of a line of `/proc/net/tcp`, if it listens.
fn listening_port(line: &str) -> Option<(u16, String)> {
    const LISTENS: &str = "0A";
    let mut fields = line.split_ascii_whitespace();
    let (_, port) = fields.nth(1)?.rsplit_once(':')?;
    let state = fields.nth(1)?;
    // Queues, timer, retransmissions, user and timeouts lie in between.
    let inode = fields.nth(5)?;
    (state == LISTENS).then_some((u16::from_str_radix(port, 16).ok()?, inode.to_owned()))
}

/// The process table, by ascending process id.
fn table() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut table: Vec<Process> = pids.filter_map(look).collect();
    table.sort_unstable_by_key(|process| process.pid);
    table
}

/// One process as it is now.
fn look(pid: i32) -> Option<Process> {
    parse_stat(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
}

fn parse_stat(pid: i32, stat: &[u8]) -> Option<Process> {
    let stat = Stat::parse(stat)?;
    let Stat { parent, group, session, start_ticks, .. } = stat;
    let (zombie, stopped) = (stat.is_over(), stat.is_stopped());
    Some(Process { pid, parent, group, session, start_ticks, zombie, stopped })
}

fn carries(pid: i32, mark: &[u8]) -> bool {
    let folder = format!("/proc/{pid}");
    // Of another user's process only root can read it.
    let own = rustix::process::geteuid().as_raw();
    if own != 0 && !fs::metadata(&folder).is_ok_and(|folder| folder.uid() == own) {
        return false;
    }
    let environ = fs::read(folder + "/environ").unwrap_or_default();
    environ.split(|byte| *byte == 0).any(|entry| entry == mark)
}

/// Whether this is a daemon or a holder of this program, of whatever version.
fn is_house(pid: i32) -> bool {
    let Ok(line) = fs::read(format!("/proc/{pid}/cmdline")) else { return false };
    let verb = line.split(|byte| *byte == 0).nth(1).unwrap_or_default();
    HOUSE_VERBS.contains(&verb)
        && program_of("self")
            .is_some_and(|own| program_of(&pid.to_string()).is_some_and(|other| own == other))
}

/// The file name of a process' program, also after an upgrade has replaced the file.
fn program_of(pid: &str) -> Option<Vec<u8>> {
    let path = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    let name = path.file_name()?.as_bytes();
    Some(name.strip_suffix(b" (deleted)").unwrap_or(name).to_vec())
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_name_full_of_brackets_does_not_shift_the_fields() {
        let line = b"7 (a) b) (c\n) S 3 4 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 987 0";
        let process = parse_stat(7, line).unwrap();
        assert_eq!((process.parent, process.group, process.session), (3, 4, 5));
        assert_eq!((process.start_ticks, process.zombie), (987, false));
    }

    #[test]
    fn the_ports_that_a_process_listens_on_are_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(ports_of(own_pid()).contains(&port));
        drop(listener);
        assert!(!ports_of(own_pid()).contains(&port));
    }

    #[test]
    fn this_process_is_in_the_table_and_in_no_family() {
        let own = own_pid();
        assert!(table().iter().any(|process| process.pid == own));
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
