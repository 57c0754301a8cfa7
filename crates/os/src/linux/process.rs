//! Processes as `/proc` tells of them. What has ended, or may not be looked at, is unknown.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// This very program, whatever has become of its file.
pub const OWN_PROGRAM: &str = "/proc/self/exe";

/// What follows the path of a file that was deleted.
const DELETED: &str = " (deleted)";

/// More than most files of `/proc` have.
const USUAL_BYTES: usize = 512;

/// One line of the process table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    pub pid: i32,
    /// The letter for its state.
    state: u8,
    pub parent: i32,
    pub group: i32,
    /// Its session, as the kernel means it.
    pub session: i32,
    /// The device number of its terminal; 0 if it has none.
    pub(super) terminal: u32,
    /// The process group in the foreground of that terminal.
    pub(super) foreground: i32,
    /// The processor time that it has used, in user and system mode.
    times: [u64; 2],
    /// When it began, in clock ticks since the machine did.
    pub start_ticks: u64,
}

impl Stat {
    /// Reads the line. The process's name may contain anything, brackets and line ends included, so
    /// fields are counted from the last bracket.
    fn parse(pid: i32, line: &[u8]) -> Option<Self> {
        let close = line.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(line.get(close + 1..)?).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        Some(Self {
            pid,
            state: *fields.next()?.as_bytes().first()?,
            parent: fields.next()?.parse().ok()?,
            group: fields.next()?.parse().ok()?,
            session: fields.next()?.parse().ok()?,
            // The kernel prints it as a signed number.
            terminal: fields.next()?.parse::<i32>().ok()?.cast_unsigned(),
            foreground: fields.next()?.parse().ok()?,
            // Fields 14, 15 and 22 of the whole line; the state is the third.
            times: [fields.nth(5)?.parse().ok()?, fields.next()?.parse().ok()?],
            start_ticks: fields.nth(6)?.parse().ok()?,
        })
    }

    /// Whether the process was stopped, as `kill -STOP` and a debugger do.
    pub fn is_stopped(&self) -> bool {
        matches!(self.state, b'T' | b't')
    }

    /// Whether it waits for something to happen.
    pub(super) fn is_waiting(&self) -> bool {
        self.state == b'S'
    }

    /// Whether it has ended: a zombie only waits to be collected.
    pub fn is_over(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x')
    }

    /// Whether the process of this number is still the one that was seen. One that got another
    /// parent or group meanwhile counts as a stranger until it is found again.
    pub fn is_unchanged(&self) -> bool {
        let Self { state, times, terminal, foreground, .. } = *self;
        stat(self.pid)
            .is_some_and(|now| Self { state, terminal, foreground, times, ..now } == *self)
    }
}

/// The numbers of all processes.
pub fn all() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The number of this process.
pub fn own_pid() -> i32 {
    rustix::process::getpid().as_raw_pid()
}

/// What the kernel tells of a process.
pub fn stat(pid: i32) -> Option<Stat> {
    Stat::parse(pid, &read(pid, "stat").ok()?)
}

/// The same of a process that has not ended.
pub fn living(pid: i32) -> Option<Stat> {
    stat(pid).filter(|stat| !stat.is_over())
}

pub fn is_stopped(pid: i32) -> bool {
    stat(pid).is_some_and(|stat| stat.is_stopped())
}

/// When a process that has not ended began, in clock ticks since the machine did.
pub fn start_ticks(pid: i32) -> Option<u64> {
    living(pid).map(|stat| stat.start_ticks)
}

/// Whether the process that began at this tick still runs.
pub fn runs(pid: i32, began: u64) -> bool {
    start_ticks(pid) == Some(began)
}

pub fn time_of(ticks: u64) -> Option<SystemTime> {
    let uptime = fs::read_to_string("/proc/uptime").ok()?;
    let uptime: f64 = uptime.split_ascii_whitespace().next()?.parse().ok()?;
    let booted = SystemTime::now().checked_sub(Duration::try_from_secs_f64(uptime).ok()?)?;
    let ticks_a_second = rustix::param::clock_ticks_per_second().max(1);
    booted.checked_add(Duration::from_millis(ticks * 1000 / ticks_a_second))
}

/// The name of this boot: after the next one numbers and ticks mean other processes.
pub fn boot_id() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

/// The parent of a process that has not ended.
pub fn parent_of(pid: i32) -> Option<i32> {
    living(pid).map(|stat| stat.parent)
}

/// Each thread has children of its own.
pub fn children_of(pid: i32) -> io::Result<Vec<i32>> {
    let threads = PathBuf::from(format!("/proc/{pid}/task"));
    // A folder of `/proc` has a link for each thread in it, beside its own two: most have one.
    if threads.symlink_metadata()?.nlink() == 3 {
        return children_of_thread(&threads.join(pid.to_string()));
    }
    let mut children = Vec::new();
    for thread in fs::read_dir(threads)? {
        children.extend(children_of_thread(&thread?.path())?);
    }
    Ok(children)
}

/// Whether a process has children, as far as the kernel tells; where it does not, it may have some.
pub fn has_children(pid: i32) -> bool {
    children_of(pid).map_or(true, |children| !children.is_empty())
}

fn children_of_thread(thread: &Path) -> io::Result<Vec<i32>> {
    let told = String::from_utf8(read_file(&thread.join("children"))?).map_err(io::Error::other)?;
    Ok(told.split_whitespace().filter_map(|pid| pid.parse().ok()).collect())
}

/// Its short name, which also one that has ended has.
pub fn name_of(pid: i32) -> String {
    String::from_utf8_lossy(&read(pid, "comm").unwrap_or_default()).trim().to_owned()
}

/// The words that it was started with; none once it has ended.
pub fn words_of(pid: i32) -> Vec<String> {
    let line = read(pid, "cmdline").unwrap_or_default();
    let line = String::from_utf8_lossy(&line);
    let line = line.trim_end_matches('\0');
    if line.is_empty() { Vec::new() } else { line.split('\0').map(ToOwned::to_owned).collect() }
}

/// Whether it runs this program, of whatever version, under one of these verbs.
pub fn runs_own(pid: i32, verbs: &[&str]) -> bool {
    let own_verb = |verb: &String| verbs.contains(&verb.as_str());
    words_of(pid).get(1).is_some_and(own_verb)
        && program_of("self").is_some_and(|own| program_of(&pid.to_string()) == Some(own))
}

/// The file name of a process's program, also after an upgrade has replaced the file.
fn program_of(pid: &str) -> Option<OsString> {
    let path = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    Some(undeleted(path).file_name()?.to_owned())
}

/// The program that is installed where this one was: after an upgrade that is the new one.
pub fn installed_program() -> PathBuf {
    let path = undeleted(fs::read_link(OWN_PROGRAM).unwrap_or_default());
    if path.exists() { path } else { PathBuf::from(OWN_PROGRAM) }
}

/// The path that a file has, or had before it was deleted.
pub fn undeleted(path: PathBuf) -> PathBuf {
    match path.as_os_str().as_bytes().strip_suffix(DELETED.as_bytes()) {
        Some(former) => PathBuf::from(OsStr::from_bytes(former)),
        None => path,
    }
}

pub fn folder_of(pid: i32) -> io::Result<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd"))
}

/// What it has open: files by their paths, deleted ones by what that was.
pub fn open_files_of(pid: i32) -> impl Iterator<Item = PathBuf> {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    open.filter_map(|entry| fs::read_link(entry.path()).ok())
}

/// The TCP ports that a process listens on.
pub fn ports_of(pid: i32) -> Vec<u16> {
    let socket = |link: PathBuf| {
        Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
    };
    let sockets: Vec<String> = open_files_of(pid).filter_map(socket).collect();
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

/// Port and socket of a line of the kernel's table, if it listens.
fn listening_port(line: &str) -> Option<(u16, String)> {
    const LISTENS: &str = "0A";
    let mut fields = line.split_ascii_whitespace();
    let (_, port) = fields.nth(1)?.rsplit_once(':')?;
    let state = fields.nth(1)?;
    // Queues, timer, retransmissions, user and timeouts lie in between.
    let inode = fields.nth(5)?;
    (state == LISTENS).then_some((u16::from_str_radix(port, 16).ok()?, inode.to_owned()))
}

/// The variables that it began with.
pub fn variables_of(pid: i32) -> Option<Vec<(OsString, OsString)>> {
    let text = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
    let pair = |pair: &[u8]| {
        let at = pair.iter().position(|byte| *byte == b'=')?;
        Some((text(pair.get(..at)?), text(pair.get(at + 1..)?)))
    };
    let environment = read(pid, "environ").ok()?;
    Some(environment.split(|byte| *byte == 0).filter_map(pair).collect())
}

/// Whether a variable that it began with is this one: `NAME=value`.
pub fn carries(pid: i32, variable: &str) -> bool {
    let environment = read(pid, "environ").unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|entry| entry == variable.as_bytes())
}

/// The processor time that it has used, in user and system mode, and the bytes that it has read and
/// written. What cannot be read does not change.
pub fn used_by(pid: i32) -> [u64; 4] {
    let [user, system] = stat(pid).map(|stat| stat.times).unwrap_or_default();
    let io = String::from_utf8(read(pid, "io").unwrap_or_default()).unwrap_or_default();
    let mut bytes = io.lines().filter_map(|line| line.split_once("char: ")?.1.parse().ok());
    let [read, written] = [bytes.next(), bytes.next()].map(Option::unwrap_or_default);
    [user, system, read, written]
}

/// The process that has the exclusive lock on a file, as the kernel's table of locks says.
pub fn owner_of_lock(file: &Path) -> Option<i32> {
    let inode = fs::metadata(file).ok()?.ino();
    owner_in(&fs::read_to_string("/proc/locks").ok()?, inode)
}

fn owner_in(table: &str, inode: u64) -> Option<i32> {
    let inode = inode.to_string();
    table.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        // One that only waits for the lock has an arrow before its kind.
        let [_, "FLOCK", _, "WRITE", pid, file, ..] = fields[..] else { return None };
        (file.rsplit(':').next() == Some(inode.as_str())).then(|| pid.parse().ok()).flatten()
    })
}

pub(super) fn read(pid: i32, file: &str) -> io::Result<Vec<u8>> {
    read_file(Path::new(&format!("/proc/{pid}/{file}")))
}

/// A file of `/proc` has no size to ask for first, and most are read at once.
fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let (mut file, mut bytes) = (File::open(path)?, vec![0; USUAL_BYTES]);
    let read = file.read(&mut bytes)?;
    bytes.truncate(read);
    if read == USUAL_BYTES {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_blanks_hides_nothing() {
        let line = b"7 (a) T (b) S) T 3 5 6 34816 9 4194304 1 0 0 0 8 2 0 0 20 0 1 0 4711 9 9";
        let stat = Stat::parse(7, line).unwrap();
        let (parent, group, session, terminal, foreground) = (3, 5, 6, 34816, 9);
        let (pid, state, times, start_ticks) = (7, b'T', [8, 2], 4711);
        let wanted =
            Stat { pid, state, parent, group, session, terminal, foreground, times, start_ticks };
        assert_eq!(stat, wanted);
        assert!(stat.is_stopped() && !stat.is_over());
        assert_eq!(Stat::parse(7, b"nonsense"), None);
    }

    #[test]
    fn a_name_full_of_brackets_does_not_shift_the_fields() {
        let line = b"7 (a) b) (c\n) S 3 4 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 987 0";
        let process = Stat::parse(7, line).unwrap();
        assert_eq!((process.parent, process.group, process.session), (3, 4, 5));
        assert_eq!((process.start_ticks, process.is_over()), (987, false));
    }

    #[test]
    fn the_owner_is_found_among_readers_and_those_who_wait() {
        let table = "1: POSIX  ADVISORY  WRITE 11 00:2b:77 0 EOF\n\
                     2: FLOCK  ADVISORY  READ  12 00:2b:77 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 13 00:2b:177 0 EOF\n\
                     4: FLOCK  ADVISORY  WRITE 14 00:2b:77 0 EOF\n\
                     4: -> FLOCK  ADVISORY  WRITE 15 00:2b:78 0 EOF\n";
        assert_eq!(owner_in(table, 77), Some(14));
        assert_eq!(owner_in(table, 78), None);
        assert_eq!(owner_in("nonsense\n", 7), None);
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
    fn children_of_every_thread_are_found() {
        let own = own_pid();
        let started = || std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let mut children = vec![started()];
        // Of a thread that lives on: the children of one that ends are given to another.
        let (tell, told) = std::sync::mpsc::channel();
        let (end, ends) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            tell.send(started()).unwrap();
            ends.recv().ok();
        });
        children.push(told.recv().unwrap());
        let found = children_of(own).unwrap();
        // Before, since this process goes on to grow.
        let alone = crate::memory::own_bytes(own).unwrap();
        let held = crate::memory::of_tree(own);
        for mut child in children {
            let pid = i32::try_from(child.id()).unwrap();
            assert!(found.contains(&pid), "{pid} is not among {found:?}");
            assert!(children_of(pid).unwrap().is_empty());
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert!(held > alone, "what its children hold counts too");
        drop(end);
        thread.join().unwrap();
    }
}
