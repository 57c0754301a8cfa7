//! The kernel's table of file locks, `/proc/locks`, as text.

/// The process that has the exclusive lock on the file of this number.
pub fn owner_in(table: &str, inode: u64) -> Option<i32> {
    let inode = inode.to_string();
    table.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        // One that only waits for the lock has an arrow before its kind.
        let [_, "FLOCK", _, "WRITE", pid, file, ..] = fields[..] else { return None };
        (file.rsplit(':').next() == Some(inode.as_str())).then(|| pid.parse().ok()).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
