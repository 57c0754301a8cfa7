//! Locks that tell who lives: a holder has the lock of its session and of its agent's session id.

use glis_record::vault::file_name;
use glis_wire::hold::place;
use glis_wire::home::Home;
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::path::{Path, PathBuf};

/// Whether a holder lives for the session in `dir`.
pub(crate) fn is_locked(dir: &Path) -> bool {
    is_taken(&dir.join(place::LOCK))
}

/// Whether a process has this lock.
pub(crate) fn is_taken(lock: &Path) -> bool {
    let Ok(file) = File::open(lock) else { return false };
    flock(&file, FlockOperation::NonBlockingLockShared).is_err()
}

/// Where the locks of the agents' session ids are.
pub(crate) fn folder(home: &Home) -> PathBuf {
    home.state.join("locks")
}

/// The lock of an agent's session id.
pub(crate) fn of_ref(home: &Home, agent: &str, id: &str) -> PathBuf {
    folder(home).join(lock_name(agent, id))
}

/// Ids come from outside: only what cannot lead out of the folder is kept.
fn lock_name(agent: &str, id: &str) -> String {
    format!("{agent}-{}.lock", file_name(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_taken_as_long_as_its_file_is_open() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!is_locked(dir.path()), "there is no file");
        let file = File::create(dir.path().join(place::LOCK)).unwrap();
        assert!(!is_locked(dir.path()));
        flock(&file, FlockOperation::LockExclusive).unwrap();
        assert!(is_locked(dir.path()));
        drop(file);
        assert!(!is_locked(dir.path()));
    }

    #[test]
    fn the_lock_of_an_id_never_lies_elsewhere() {
        let home = Home::under(Path::new("/home"));
        let lock = of_ref(&home, "claude", "../../etc/passwd");
        assert_eq!(lock.parent(), Some(folder(&home).as_path()));
    }
}
