//! Whether a process takes what is typed at its terminal.
//!
//! A line on a screen that looks like a question may be anything: a page of a manual, a log, what a
//! build has printed before it went silent. It is a question of the program only while that reads.
//!
//! A holder may look: it is an ancestor of whatever runs in its terminal. Where
//! `kernel.yama.ptrace_scope` is 1, as on a stock Ubuntu, nobody else but root sees which system call
//! a process is in.

use super::process::{Stat, all, read, stat};
use rustix::fs::{Mode, OFlags};
use rustix::io::ioctl_fionread;
use std::fs;
use std::os::unix::fs::MetadataExt as _;

/// The number of `read` among the system calls. Elsewhere nothing is known to read.
const READ: Option<u64> = if cfg!(target_arch = "x86_64") {
    Some(0)
} else if cfg!(any(target_arch = "aarch64", target_arch = "riscv64")) {
    Some(63)
} else {
    None
};

/// `/dev/tty` by its numbers: whatever terminal a process has.
const OWN_TERMINAL: (u32, u32) = (5, 0);

/// Whether exactly one process of the group in the foreground is blocked in a read from the terminal
/// that the agent has. Two of them would be given the answer by chance; a program that waits in another
/// way (a full-screen one, a line editor) is not known to want a line. What the kernel does not let us
/// see is not so.
pub fn is_read(agent: i32) -> bool {
    let Some(own) = stat(agent).filter(|own| own.terminal != 0) else { return false };
    let in_front = |stat: &Stat| stat.terminal == own.terminal && stat.group == own.foreground;
    let group = all().filter(|pid| stat(*pid).is_some_and(|stat| in_front(&stat)));
    group.filter(|pid| is_reading(*pid, own.terminal)).count() == 1
}

fn is_reading(pid: i32, terminal: u32) -> bool {
    let call = String::from_utf8(read(pid, "syscall").unwrap_or_default()).unwrap_or_default();
    let Some(descriptor) = read_from(&call) else { return false };
    let file = fs::metadata(format!("/proc/{pid}/fd/{descriptor}"));
    file.is_ok_and(|file| is_terminal(file.rdev(), terminal))
}

/// Whether a process does not wait for what is typed: it works, was stopped, or has left keys unread in its terminal.
pub fn is_deaf(pid: i32) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let terminal = || rustix::fs::open(format!("/proc/{pid}/fd/0"), flags, Mode::empty()).ok();
    let unread = |terminal| ioctl_fionread(terminal).unwrap_or_default();
    stat(pid).is_some_and(|stat| !stat.is_waiting()) || terminal().map_or(0, unread) > 0
}

/// The kernel's rule on who sees what another process waits for. Root sees it, as everybody does where
/// there is no such rule.
pub fn ptrace_scope() -> String {
    if rustix::process::geteuid().is_root() {
        return String::new();
    }
    fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default()
}

/// The descriptor that a process reads from, if that is what it is blocked in.
fn read_from(call: &str) -> Option<u64> {
    let mut words = call.split_ascii_whitespace();
    let number: u64 = words.next()?.parse().ok()?;
    let descriptor = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
    (Some(number) == READ).then_some(descriptor)
}

/// Whether a device is the terminal that the kernel gives this number in `/proc/PID/stat`.
fn is_terminal(device: u64, terminal: u32) -> bool {
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let number = (minor & 0xff) | (major << 8) | ((minor & !0xff) << 12);
    (major, minor) == OWN_TERMINAL || number == terminal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn only_a_read_is_a_read() {
        assert_eq!(read_from("0 0x0 0x7ffd 0x1 0x0 0x0 0x0 0x7ffd 0x7f\n"), Some(0));
        assert_eq!(read_from("0 0x1f 0x7ffd 0x1 0x0 0x0 0x0 0x7ffd 0x7f\n"), Some(31));
        for call in ["running\n", "7 0x0 0x1", "-1 0x7ffd 0x7f", "0 7", "0", ""] {
            assert_eq!(read_from(call), None, "{call:?}");
        }
    }

    #[test]
    fn a_terminal_is_known_by_its_number() {
        let pts = |number| rustix::fs::makedev(136, number);
        assert!(is_terminal(pts(3), 0x8803));
        assert!(is_terminal(pts(300), 0x0010_882c));
        assert!(is_terminal(rustix::fs::makedev(5, 0), 0x8803));
        assert!(!is_terminal(pts(4), 0x8803));
        assert!(!is_terminal(0, 0x8800));
    }

    #[test]
    fn what_has_no_terminal_or_is_gone_reads_none() {
        assert!(!is_read(i32::MAX));
        assert!(!is_read(1));
    }
}
