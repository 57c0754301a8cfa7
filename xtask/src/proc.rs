//! Processes seen from outside, through `/proc`: their CPU time, their memory, whose they are.

use std::fs;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// The kernel's mark for its own threads in `/proc/PID/stat`.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// Waits for `child` without spinning; `None` when it still runs after `limit`.
pub(crate) fn wait_at_most(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let pid =
        i32::try_from(child.id()).ok().and_then(Pid::from_raw).context("a child without pid")?;
    let watch = pidfd_open(pid, PidfdFlags::empty())?;
    let deadline = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        let left = Timespec::try_from(left)?;
        match poll(&mut [PollFd::from_borrowed_fd(watch.as_fd(), PollFlags::IN)], Some(&left)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(failure) => return Err(failure.into()),
        }
    }
}

/// Every process there is.
pub(crate) fn all() -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The processes whose environment has a variable that begins with `mark`.
pub(crate) fn marked(mark: &str) -> Vec<i32> {
    let me = std::process::id();
    let mine = |pid: &i32| u32::try_from(*pid) != Ok(me) && is_marked(*pid, mark);
    all().into_iter().filter(mine).collect()
}

fn is_marked(pid: i32, mark: &str) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|entry| entry.starts_with(mark.as_bytes()))
}

/// Ends the processes that carry `mark`, politely first. Each is looked at again through a
/// descriptor of its own before it is signalled, so that a number which the kernel has given to
/// somebody else is left alone.
pub(crate) fn end_marked(mark: &str) {
    for signal in [Signal::TERM, Signal::KILL, Signal::KILL] {
        let pids = marked(mark);
        let watches: Vec<_> = pids
            .iter()
            .filter_map(|pid| {
                let watch = pidfd_open(Pid::from_raw(*pid)?, PidfdFlags::empty()).ok()?;
                (is_marked(*pid, mark) && pidfd_send_signal(&watch, signal).is_ok())
                    .then_some(watch)
            })
            .collect();
        let deadline = Instant::now() + Duration::from_millis(500);
        for watch in watches {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(left) = Timespec::try_from(left) else { continue };
            let mut fds = [PollFd::from_borrowed_fd(watch.as_fd(), PollFlags::IN)];
            // A process that does not go in time meets the next signal.
            poll(&mut fds, Some(&left)).ok();
        }
        if marked(mark).is_empty() {
            return;
        }
    }
}

/// Ends one process at once.
pub(crate) fn end(pid: i32) {
    let Some(pid) = Pid::from_raw(pid) else { return };
    // Gone already is as good.
    rustix::process::kill_process(pid, Signal::KILL).ok();
}

/// The program a process runs; a rebuilt one keeps the name it was started by.
pub(crate) fn program(pid: i32) -> Option<PathBuf> {
    let link = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    let text = link.to_string_lossy();
    Some(text.strip_suffix(" (deleted)").map_or_else(|| link.clone(), PathBuf::from))
}

/// Whether a process has to do with `folder`: by a word of its command line, its working folder or
/// an open file.
pub(crate) fn touches(pid: i32, folder: &Path) -> bool {
    let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    if String::from_utf8_lossy(&words).contains(&*folder.to_string_lossy()) {
        return true;
    }
    let under = |link: PathBuf| fs::read_link(link).is_ok_and(|path| path.starts_with(folder));
    if under(PathBuf::from(format!("/proc/{pid}/cwd"))) {
        return true;
    }
    let Ok(open) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    open.flatten().any(|entry| under(entry.path()))
}

/// Nanoseconds on a CPU of all threads of a process, plus what its ended children used (in ticks of
/// 10 ms).
pub(crate) fn cpu_ns(pid: i32) -> u64 {
    let children = stat_fields(pid).map_or(0, |fields| field(&fields, 13) + field(&fields, 14));
    threads_ns(pid) + children * tick_ns()
}

fn threads_ns(pid: i32) -> u64 {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return 0 };
    tasks
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("schedstat")).ok())
        .filter_map(|text| text.split_whitespace().next()?.parse::<u64>().ok())
        .sum()
}

/// Proportional memory of a process in KiB: shared pages count by their share.
pub(crate) fn pss_kib(pid: i32) -> u64 {
    rollup(pid, "Pss:")
}

/// Kibibytes of memory that a process has written itself: nobody else can share, or stop sharing, them.
pub(crate) fn written_kib(pid: i32) -> u64 {
    rollup(pid, "Anonymous:")
}

fn rollup(pid: i32, name: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// How many CPUs were busy with what is not ours between two moments. The kernel's own threads are
/// left out: they carry terminal bytes from one end to the other and so belong to the load itself.
pub(crate) struct Others {
    mark: String,
    began: Instant,
    busy_ns: u64,
    own_ns: u64,
}

impl Others {
    /// Begins to watch; `mark` tells our processes.
    pub(crate) fn watch(mark: &str) -> Self {
        let (busy_ns, own_ns) = (busy_ns(), own_ns(mark));
        Self { mark: mark.to_owned(), began: Instant::now(), busy_ns, own_ns }
    }

    /// The mean number of CPUs that others kept busy since then.
    pub(crate) fn cpus(&self) -> f64 {
        let window = self.began.elapsed().as_secs_f64().max(0.001);
        let busy = busy_ns().saturating_sub(self.busy_ns);
        let own = own_ns(&self.mark).saturating_sub(self.own_ns);
        seconds(busy.saturating_sub(own)) / window
    }
}

/// Nanoseconds as seconds.
pub(crate) fn seconds(ns: u64) -> f64 {
    Duration::from_nanos(ns).as_secs_f64()
}

/// CPU time of the whole machine: user, nice, system and steal. Interrupts belong to nobody in
/// particular.
fn busy_ns() -> u64 {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let first = text.lines().next().unwrap_or_default();
    let fields: Vec<&str> = first.split_whitespace().collect();
    [1, 2, 3, 8].iter().map(|at| field(&fields, *at)).sum::<u64>() * tick_ns()
}

/// CPU time of this process, its ended children, the marked processes and the kernel's threads.
fn own_ns(mark: &str) -> u64 {
    let me = i32::try_from(std::process::id()).unwrap_or(0);
    all().into_iter().filter(|pid| *pid != me).fold(cpu_ns(me), |sum, pid| {
        if is_kernel_thread(pid) || is_marked(pid, mark) { sum + threads_ns(pid) } else { sum }
    })
}

fn is_kernel_thread(pid: i32) -> bool {
    stat_fields(pid).is_some_and(|fields| field(&fields, 6) & KERNEL_THREAD != 0)
}

/// The fields of `/proc/PID/stat` after the name, which may hold anything, spaces and brackets
/// included.
fn stat_fields(pid: i32) -> Option<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(") ")?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

fn field(fields: &[impl AsRef<str>], at: usize) -> u64 {
    fields.get(at).and_then(|text| text.as_ref().parse().ok()).unwrap_or(0)
}

fn tick_ns() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}
