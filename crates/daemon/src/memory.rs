//! What a process and everything that it started holds of the machine's memory.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// More than the usual file of /proc has.
const PROC_BYTES: usize = 512;

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

/// Each thread has children of its own.
fn children_of(pid: i32) -> io::Result<Vec<i32>> {
    let threads = format!("/proc/{pid}/task");
    let mut children = Vec::new();
    // A folder of /proc has a link for each thread in it, beside its own two: most have one.
    if Path::new(&threads).symlink_metadata()?.nlink() == 3 {
        children_of_thread(Path::new(&format!("{threads}/{pid}")), &mut children)?;
        return Ok(children);
    }
    for thread in std::fs::read_dir(threads)? {
        children_of_thread(&thread?.path(), &mut children)?;
    }
    Ok(children)
}

fn children_of_thread(thread: &Path, children: &mut Vec<i32>) -> io::Result<()> {
    let told = read_proc(&thread.join("children"))?;
    children.extend(told.split_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
    Ok(())
}

/// A file of /proc has no size to ask for first, and most are read at once.
fn read_proc(path: &Path) -> io::Result<String> {
    let (mut file, mut bytes) = (File::open(path)?, vec![0; PROC_BYTES]);
    let read = file.read(&mut bytes)?;
    bytes.truncate(read);
    if read == PROC_BYTES {
        file.read_to_end(&mut bytes)?;
    }
    String::from_utf8(bytes).map_err(io::Error::other)
}

fn own_bytes(pid: i32) -> Option<u64> {
    let told = read_proc(Path::new(&format!("/proc/{pid}/statm"))).ok()?;
    let mut pages = told.split_whitespace().map(str::parse::<u64>);
    let (resident, shared) = (pages.nth(1)?.ok()?, pages.next()?.ok()?);
    Some(resident.saturating_sub(shared).saturating_mul(rustix::param::page_size() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_of_every_thread_are_found() {
        let own = i32::try_from(std::process::id()).unwrap();
        #[expect(clippy::disallowed_methods, reason = "where it sleeps does not matter")]
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
        let held = of_tree(own);
        for mut child in children {
            let pid = i32::try_from(child.id()).unwrap();
            assert!(found.contains(&pid), "{pid} is not among {found:?}");
            assert!(children_of(pid).unwrap().is_empty());
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert!(held > own_bytes(own).unwrap(), "what its children hold counts too");
        drop(end);
        thread.join().unwrap();
    }

    #[test]
    fn what_is_there_holds_something_and_what_is_not_does_not() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(of_tree(own) > 0);
        assert_eq!(of_tree(i32::MAX), 0);
        assert!(has_children(i32::MAX), "of what is not there nothing is known");
    }
}
