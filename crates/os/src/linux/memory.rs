//! Memory: what processes hold of it, how much is left, and whether it is waited for.

use super::process::{children_of, read};
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

/// Bytes that a process and its descendants have to themselves: what their end gives back. What they
/// share with others (their programs, files) is not counted.
pub fn of_tree(pid: i32) -> u64 {
    let (mut seen, mut left) = (BTreeSet::new(), vec![pid]);
    let mut bytes = 0_u64;
    while let Some(pid) = left.pop() {
        // A number that was given again in the meantime could lead in a circle.
        if seen.insert(pid) {
            bytes = bytes.saturating_add(own_bytes(pid).unwrap_or_default());
            left.extend(children_of(pid).unwrap_or_default());
        }
    }
    bytes
}

pub(super) fn own_bytes(pid: i32) -> Option<u64> {
    let told = String::from_utf8(read(pid, "statm").ok()?).ok()?;
    let mut pages = told.split_whitespace().map(str::parse::<u64>);
    let (resident, shared) = (pages.nth(1)?.ok()?, pages.next()?.ok()?);
    Some(resident.saturating_sub(shared).saturating_mul(rustix::param::page_size() as u64))
}

/// The machine's own word on its memory.
pub const MEMINFO: &str = "/proc/meminfo";

/// How much of the machine's memory is available, in percent, by such a file.
pub fn left_percent(meminfo: &Path) -> Option<u64> {
    // The kernel's file is made when it is read, and never waited for.
    percent_in(&std::fs::read_to_string(meminfo).ok()?)
}

/// The same by its text.
pub fn percent_in(meminfo: &str) -> Option<u64> {
    let of = |name: &str| -> Option<u64> {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    of("MemAvailable:")?.checked_mul(100)?.checked_div(of("MemTotal:")?)
}

const PRESSURE: &str = "/proc/pressure/memory";

/// For how much of the last ten seconds processes have waited for memory, in percent, where the kernel measures that.
pub fn waited_percent() -> Option<f64> {
    waited_in(&std::fs::read_to_string(PRESSURE).ok()?)
}

fn waited_in(told: &str) -> Option<f64> {
    let some = told.lines().find_map(|line| line.strip_prefix("some avg10="))?;
    some.split(' ').next()?.parse().ok()
}

/// Tells whenever processes have waited for memory for too long.
#[cfg(feature = "async")]
#[derive(Debug)]
pub struct Pressure(tokio::io::unix::AsyncFd<std::os::fd::OwnedFd>);

#[cfg(feature = "async")]
impl Pressure {
    /// Asks the kernel to tell, which not every kernel can. It belongs to the runtime that this is called in.
    pub fn watch(percent: u32, window_secs: u32) -> std::io::Result<Self> {
        use rustix::fs::{Mode, OFlags};
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::open(PRESSURE, flags, Mode::empty())?;
        rustix::io::write(&file, threshold(percent, window_secs).as_bytes())?;
        super::polled::polled(file, tokio::io::Interest::PRIORITY).map(Self)
    }

    /// Returns when it is told.
    pub async fn told(&self) -> std::io::Result<()> {
        self.0.ready(tokio::io::Interest::PRIORITY).await?.clear_ready();
        Ok(())
    }
}

/// The kernel takes a text with its end, and leaves the last byte out.
#[cfg(feature = "async")]
fn threshold(percent: u32, window_secs: u32) -> String {
    let window = u64::from(window_secs) * 1_000_000;
    format!("some {} {window}\0", window * u64::from(percent) / 100)
}

/// The mapping of this process around an address, if it is a file's and nothing can write to it.
pub fn code_around(address: usize) -> Option<Range<usize>> {
    executable_around(&std::fs::read_to_string("/proc/self/maps").ok()?, address)
}

fn executable_around(maps: &str, address: usize) -> Option<Range<usize>> {
    maps.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let (range, rights) = (words.next()?, words.next()?);
        let (start, end) = range.split_once('-')?;
        let number = |hex| usize::from_str_radix(hex, 16).ok();
        let range = number(start)?..number(end)?;
        let of_file = words.nth(2)? != "0";
        (rights == "r-xp" && of_file && range.contains(&address)).then_some(range)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_holds_something_and_what_is_not_does_not() {
        assert!(of_tree(crate::process::own_pid()) > 0);
        assert_eq!(of_tree(i32::MAX), 0);
        let may_have_children = crate::process::has_children(i32::MAX);
        assert!(may_have_children, "of what is not there nothing is known");
    }

    #[test]
    fn what_is_left_is_told_in_percent() {
        let told = "MemTotal:       8000 kB\nMemFree:  10 kB\nMemAvailable:   400 kB\n";
        assert_eq!(percent_in(told), Some(5));
        assert_eq!(percent_in("MemTotal: 0 kB\nMemAvailable: 1 kB\n"), None);
        assert_eq!(percent_in("MemTotal: 9 kB\n"), None);
    }

    #[test]
    fn what_was_waited_is_what_some_have_waited() {
        let told = "some avg10=4.99 avg60=0.14 avg300=0.07 total=92840009\n\
                    full avg10=9.00 avg60=0.00 avg300=0.00 total=22941150\n";
        assert_eq!(waited_in(told), Some(4.99));
        assert_eq!(waited_in(""), None);
    }

    #[test]
    #[cfg(feature = "async")]
    fn a_tenth_of_ten_seconds_is_a_second() {
        assert_eq!(threshold(10, 10), "some 1000000 10000000\0");
    }

    /// Where the kernel measures pressure, it takes the text.
    #[tokio::test]
    #[cfg(feature = "async")]
    async fn the_kernel_takes_the_threshold_where_it_measures_pressure() {
        let refused = Pressure::watch(10, 10).err();
        let kind = refused.map(|fault| fault.kind());
        assert_ne!(kind, Some(std::io::ErrorKind::InvalidInput));
    }

    #[test]
    fn only_code_of_a_file_is_given_back() {
        let maps = "00200000-00545000 r--p 00000000 fe:00 77 /opt/glis\n\
                    00545000-013b1000 r-xp 00344000 fe:00 77 /opt/glis\n\
                    013b1000-0140d000 rw-p 011af000 fe:00 77 /opt/glis\n\
                    7fd000000000-7fd000001000 r-xp 00000000 00:00 0 [vdso]\n";
        assert_eq!(executable_around(maps, 0x0060_0000), Some(0x0054_5000..0x013b_1000));
        for elsewhere in [0x0020_0000, 0x013b_1000, 0x7fd0_0000_0000, 0x1000] {
            assert_eq!(executable_around(maps, elsewhere), None);
        }
    }
}
