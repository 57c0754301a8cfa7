//! The log alone: offsets, cuts, gaps.

use std::path::Path;

use super::*;

fn open(dir: &Path, bytes_max: u64) -> Log {
    Log::open(Folder::open(dir).unwrap(), bytes_max, 0).unwrap()
}

fn all(log: &Log) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = log.oldest();
    while at < log.end() {
        let mut part = vec![0; 1000];
        let len = log.read(at, &mut part);
        assert!(len > 0, "nothing at {at}");
        out.extend_from_slice(&part[..len]);
        at += len as u64;
    }
    out
}

#[test]
fn offsets_go_on_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    open(dir.path(), 1 << 20).append(b"first ").unwrap();
    let mut log = open(dir.path(), 1 << 20);
    assert_eq!((log.oldest(), log.end()), (0, 6));
    log.append(b"second").unwrap();
    assert_eq!(all(&log), b"first second");
}

#[test]
fn an_offset_known_from_elsewhere_is_not_used_twice() {
    let dir = tempfile::tempdir().unwrap();
    open(dir.path(), 1 << 20).append(b"first").unwrap();
    let mut log = Log::open(Folder::open(dir.path()).unwrap(), 1 << 20, 100).unwrap();
    log.append(b"second").unwrap();
    assert_eq!(log.end(), 106);
    let mut part = [0; 16];
    assert_eq!(log.read(5, &mut part), 0);
    assert_eq!(log.begins_after(5), Some(100));
    assert_eq!(log.read(102, &mut part), 4);
    assert_eq!(&part[..4], b"cond");
}

#[test]
fn the_oldest_files_are_cut() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = open(dir.path(), 256 * 1024);
    let mut whole = Vec::new();
    for turn in 0..100_u8 {
        let part = vec![turn; 10_000];
        log.append(&part).unwrap();
        whole.extend_from_slice(&part);
    }
    let kept = all(&log);
    assert!(log.oldest() > 0 && kept.len() <= 256 * 1024 + 80 * 1024, "{}", kept.len());
    assert_eq!(kept, whole[usize::try_from(log.oldest()).unwrap()..]);
    assert_eq!(open(dir.path(), 256 * 1024).oldest(), log.oldest());
}

#[test]
fn a_gap_is_told_once_and_visible_as_missing_offsets() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = open(dir.path(), 1 << 20);
    log.append(b"kept").unwrap();
    // A folder in the way of the next segment's name is a failure that root meets as well.
    log.file = None;
    std::fs::create_dir(dir.path().join(format!("{:016x}", 4))).unwrap();
    assert_eq!(log.append(b"lost").unwrap_err().at, 4);
    std::fs::create_dir(dir.path().join(format!("{:016x}", 8))).unwrap();
    log.append(b"lost").unwrap();
    assert!(log.is_broken());
    log.append(b"kept again").unwrap();
    assert!(!log.is_broken());
    assert_eq!((log.end(), log.begins_after(0)), (22, Some(12)));
    let mut part = [0; 16];
    assert_eq!(log.read(12, &mut part), 10);
}

#[test]
fn foreign_names_are_left_alone() {
    assert_eq!(offset_named(b"00000000000000ff"), Some(255));
    for name in ["00000000000000FF", "ff", "+000000000000001", "0000000000000000.tmp"] {
        assert_eq!(offset_named(name.as_bytes()), None, "{name}");
    }
}
