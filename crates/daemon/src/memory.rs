//! What a process and everything that it started holds of the machine's memory.

use std::collections::BTreeSet;
use std::io;

/// Bytes that a process and its descendants have to themselves: what their end gives back. What they
/// share with others (their programs, files) is not counted.
pub(crate) fn of_tree(pid: i32) -> u64 {
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

/// Whether a process has children, as far as the kernel tells; where it does not, it may have some.
pub(crate) fn has_children(pid: i32) -> bool {
    children_of(pid).map_or(true, |children| !children.is_empty())
}

fn children_of(pid: i32) -> io::Result<Vec<i32>> {
    let mut children = Vec::new();
    for thread in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        let told = std::fs::read_to_string(thread?.path().join("children"))?;
        children.extend(told.split_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
    }
    Ok(children)
}

fn own_bytes(pid: i32) -> Option<u64> {
    let told = std::fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let mut pages = told.split_whitespace().map(str::parse::<u64>);
    let (resident, shared) = (pages.nth(1)?.ok()?, pages.next()?.ok()?);
    Some(resident.saturating_sub(shared).saturating_mul(rustix::param::page_size() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_holds_something_and_what_is_not_does_not() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(of_tree(own) > 0);
        assert_eq!(of_tree(i32::MAX), 0);
        assert!(has_children(i32::MAX), "of what is not there nothing is known");
    }
}
