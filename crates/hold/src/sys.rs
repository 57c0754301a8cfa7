//! The one module that may speak to libc directly: what rustix lacks.
#![expect(unsafe_code, reason = "raw system calls live here and nowhere else")]

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut, Range};
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, IntoRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit};

/// The signals that reach a holder as bytes on a file, and never by surprise.
const AWAITED: [i32; 7] = [
    libc::SIGTERM,
    libc::SIGINT,
    libc::SIGHUP,
    libc::SIGCHLD,
    libc::SIGPIPE,
    LOOK,
    // The kernel falls back to this one when the other cannot be queued.
    libc::SIGIO,
];

/// Says that a holder should look after its own files. A holder of an earlier version ignores it.
const LOOK: i32 = libc::SIGURG;

/// The last signal number of Linux.
const SIGNAL_MAX: i32 = 64;

/// Blocks the awaited signals and returns the file that they can be read from.
pub(crate) fn signals_as_file() -> io::Result<OwnedFd> {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the pointer is valid for writes, and the call fills the whole set.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    for number in AWAITED {
        // SAFETY: the set was filled above, and every number is a valid signal.
        unsafe { libc::sigaddset(set.as_mut_ptr(), number) };
    }
    // SAFETY: the set is valid for reads; the old mask is not asked for.
    if unsafe { libc::sigprocmask(libc::SIG_BLOCK, set.as_ptr(), ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: -1 asks for a fresh file; the set is valid for reads.
    let file = unsafe { libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
    if file < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has just returned this descriptor, so nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(file) })
}

/// Has the kernel send [`LOOK`] whenever a file is deleted from this folder or renamed in it. A file
/// descriptor of its own for this would be one of 128 that a user may have in all.
pub(crate) fn watch_folder(folder: BorrowedFd<'_>) -> io::Result<()> {
    /// The same number on every architecture of Linux.
    const F_SETSIG: libc::c_int = 10;
    const DELETED_OR_RENAMED: libc::c_ulong = 0x8 | 0x10;
    const AGAIN_AND_AGAIN: libc::c_ulong = 0x8000_0000;
    let folder = folder.as_raw_fd();
    // SAFETY: the descriptor is open; the signal is one of ours and blocked.
    if unsafe { libc::fcntl(folder, F_SETSIG, LOOK) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is open; the argument is a set of flags.
    if unsafe { libc::fcntl(folder, libc::F_NOTIFY, DELETED_OR_RENAMED | AGAIN_AND_AGAIN) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Signals by which a process ends itself: an abort (also that of a stack that has run over), and
/// faults of memory or of the processor.
const FATAL: [i32; 5] = [libc::SIGABRT, libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE];

/// The file that is marked when this process ends itself.
static DEATH_MARK: AtomicI32 = AtomicI32::new(-1);

/// Has the first byte of a file set to `!` if this process ends itself. That survives the process,
/// and a process that is killed from outside does not do it.
pub fn mark_death(file: &File) -> io::Result<()> {
    // Kept open for as long as the process lives: its end is the moment when it is needed.
    DEATH_MARK.store(file.try_clone()?.into_raw_fd(), Ordering::Relaxed);
    for number in FATAL {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        let handler: extern "C" fn(libc::c_int) = mark_and_die;
        // SAFETY: a zeroed sigaction is a valid one without flags, mask or handler.
        let action = unsafe { action.assume_init_mut() };
        action.sa_sigaction = handler as libc::sighandler_t;
        // On the stack that is kept for this: the usual one may be what ran over.
        action.sa_flags = libc::SA_ONSTACK;
        // SAFETY: the action is valid for reads; the former one is not asked for.
        if unsafe { libc::sigaction(number, action, ptr::null_mut()) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

extern "C" fn mark_and_die(number: libc::c_int) {
    let file = DEATH_MARK.load(Ordering::Relaxed);
    // SAFETY: the call may be made in a signal handler, and the byte is valid for reads.
    unsafe { libc::pwrite(file, b"!".as_ptr().cast(), 1, 0) };
    // SAFETY: as above. From here on the signal does what it does without us.
    unsafe { libc::signal(number, libc::SIG_DFL) };
    // SAFETY: as above. It comes again as soon as this handler is left.
    unsafe { libc::raise(number) };
}

/// Closes every descriptor beyond the standard ones: a lock or a terminal that a careless parent
/// let slip through would otherwise be kept for as long as the agent lives.
pub fn close_inherited() {
    // SAFETY: called before this process opens anything, so no owned descriptor is invalidated.
    unsafe { libc::close_range(3, libc::c_uint::MAX, 0) };
}

/// Which of the two one is after a fork.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Forked {
    Parent,
    Child,
}

pub(crate) fn fork() -> io::Result<Forked> {
    // SAFETY: a holder and its nursery have one thread, so the child inherits no lock that
    // another thread holds.
    match unsafe { libc::fork() } {
        0 => Ok(Forked::Child),
        pid if pid > 0 => Ok(Forked::Parent),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Children that end leave nothing behind and need not be waited for.
pub(crate) fn leave_children_to_the_kernel() {
    // SAFETY: ignoring a signal installs no handler.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
}

/// Children that end leave their status behind until it is asked for.
pub(crate) fn await_own_children() {
    // SAFETY: the default action installs no handler.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// Whether a new process gets its standard input as its controlling terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Controlling {
    /// Standard input is a terminal and becomes the session's.
    Terminal,
    Nothing,
}

/// Makes the program begin with a clean slate: a session of its own, default signals, an empty
/// mask, the given umask and limits, and no descriptor beyond the standard ones.
pub(crate) fn clean_slate(
    command: &mut Command,
    controlling: Controlling,
    umask: u32,
    limits: Vec<(Resource, Rlimit)>,
) {
    let begin = move || {
        rustix::process::setsid()?;
        if controlling == Controlling::Terminal {
            rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
        }
        default_signals();
        rustix::process::umask(Mode::from_raw_mode(umask));
        for (resource, limit) in &limits {
            crate::limits::set(*resource, limit);
        }
        // The pipe on which a failed exec is told must live until then: mark, do not close.
        // SAFETY: only a flag of this process' descriptors changes.
        unsafe { libc::close_range(3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC.cast_signed()) };
        Ok(())
    };
    // SAFETY: the closure makes system calls only; it neither allocates nor takes a lock.
    unsafe { command.pre_exec(begin) };
}

/// Signals that were ignored by the process that started us would stay ignored in the agent: ^C would do
/// nothing. The raw call also reaches the two signals that libc keeps for itself.
fn default_signals() {
    // All zeroes is the default action with no flags, whatever the architecture's field order.
    let action = [0_u64; 4];
    for number in 1..=SIGNAL_MAX {
        // SAFETY: the kernel reads at most 32 bytes from `action`; the old action is not asked
        // for. SIGKILL and SIGSTOP are refused, which changes nothing.
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                number,
                action.as_ptr(),
                ptr::null::<u8>(),
                size_of::<u64>(),
            )
        };
    }
    let mut empty = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the pointer is valid for writes, and the call fills the whole set.
    unsafe { libc::sigemptyset(empty.as_mut_ptr()) };
    // SAFETY: the set was filled above; the old mask is not asked for.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, empty.as_ptr(), ptr::null_mut()) };
}

/// The process id of a child that has ended, which stays a zombie.
pub(crate) fn ended_child() -> Option<i32> {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the pointer is valid for writes.
    let result = unsafe { libc::waitid(libc::P_ALL, 0, info.as_mut_ptr(), options) };
    if result != 0 {
        return None;
    }
    // SAFETY: all zeroes is a valid siginfo, and the kernel has filled it if a child has ended.
    let info = unsafe { info.assume_init() };
    // SAFETY: waitid fills the fields of SIGCHLD, or leaves the zeroes.
    let pid = unsafe { info.si_pid() };
    (pid > 0).then_some(pid)
}

/// Returns freed memory to the system: what a holder needed for its start it never needs again.
pub(crate) fn give_back_heap() {
    #[cfg(target_env = "gnu")]
    // SAFETY: the call has no requirements.
    unsafe {
        libc::malloc_trim(0)
    };
}

/// Gives back what this process has and does not need while it sleeps: freed memory, and the mapped
/// pages of its program. They stay in the system's cache, and are mapped again when they are run.
pub fn give_back_memory() {
    give_back_heap();
    if let Some(text) = own_code() {
        let at = ptr::with_exposed_provenance_mut(text.start);
        // SAFETY: the range is the program's own code, mapped from its file for reading and running
        // alone: what is run there afterwards is read from the file again.
        unsafe { libc::madvise(at, text.len(), libc::MADV_DONTNEED) };
    }
}

fn own_code() -> Option<Range<usize>> {
    glis_os::memory::code_around(give_back_memory as fn() as usize)
}

/// Anonymous memory that costs nothing until it is touched and can be given back.
#[derive(Debug)]
pub(crate) struct Pages {
    at: NonNull<u8>,
    len: usize,
}

impl Pages {
    pub(crate) fn new(len: usize) -> io::Result<Self> {
        // SAFETY: a fresh private mapping at an address of the kernel's choice.
        let at = unsafe {
            libc::mmap(
                ptr::null_mut(),
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let at = NonNull::new(at.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { at, len })
    }

    /// Gives the memory back; what is read afterwards is zero.
    pub(crate) fn give_back(&mut self) {
        // SAFETY: the range is ours alone, and zeroes are valid bytes.
        unsafe { libc::madvise(self.at.as_ptr().cast(), self.len, libc::MADV_DONTNEED) };
    }
}

impl Deref for Pages {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the mapping has this length, is initialised to zero and lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.at.as_ptr(), self.len) }
    }
}

impl DerefMut for Pages {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `&mut self` makes it the only reference.
        unsafe { std::slice::from_raw_parts_mut(self.at.as_ptr(), self.len) }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new` with this length and nothing refers to it.
        unsafe { libc::munmap(self.at.as_ptr().cast(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_runs_on_when_its_pages_are_given_back() {
        let text = || {
            let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
            let own = own_code().unwrap();
            let from = maps.split_once(&format!("{:08x}-", own.start)).unwrap().1;
            let pss = from.lines().find_map(|line| line.strip_prefix("Pss:")).unwrap();
            pss.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
        };
        let before = text();
        give_back_memory();
        let after = text();
        assert!(after < before, "{before} kB of its code were mapped, and {after} kB still are");
    }
}
