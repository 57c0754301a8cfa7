//! The log's reader against folders as holders leave them.

use super::*;

fn log(segments: &[(u64, &[u8])]) -> (tempdir::Dir, OutputLog) {
    let dir = tempdir::Dir::new();
    fs::create_dir(dir.path().join(place::OUTPUT)).unwrap();
    for (start, bytes) in segments {
        fs::write(dir.path().join(place::OUTPUT).join(format!("{start:016x}")), bytes).unwrap();
    }
    let log = OutputLog::new(dir.path());
    (dir, log)
}

/// A folder of our own, because this crate has no need of one outside its tests.
pub(crate) mod tempdir {
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicU32, Ordering};

    static COUNT: AtomicU32 = AtomicU32::new(0);

    pub(crate) struct Dir(PathBuf);

    impl Dir {
        pub(crate) fn new() -> Self {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!("glis-output-{}-{count}", std::process::id());
            let path = std::env::temp_dir().join(name);
            std::fs::create_dir_all(&path).expect("the temporary folder is writable");
            Self(path)
        }

        pub(crate) fn path(&self) -> &Path {
            &self.0
        }
    }

    impl Drop for Dir {
        fn drop(&mut self) {
            drop(std::fs::remove_dir_all(&self.0));
        }
    }
}

fn everything(log: &OutputLog, max: usize) -> Vec<(u64, Vec<u8>)> {
    let mut from = 0;
    let mut all = Vec::new();
    loop {
        let chunk = log.read(from, max).unwrap();
        if chunk.bytes.is_empty() {
            return all;
        }
        from = chunk.at + chunk.bytes.len() as u64;
        all.push((chunk.at, chunk.bytes));
    }
}

#[test]
fn a_gap_is_a_hole_between_files_or_behind_the_last() {
    for (segments, known_end, gap) in [
        (&[][..], 0, None),
        (&[(0, b"abc".as_slice()), (3, b"def")], 6, None),
        (&[(0, b"abc".as_slice()), (5, b"def"), (8, b"g")], 9, Some(3)),
        (&[(0, b"abc".as_slice()), (5, b"def"), (9, b"g")], 0, Some(8)),
        (&[(7, b"abc".as_slice())], 0, None),
        (&[(7, b"abc".as_slice())], 12, Some(10)),
    ] {
        let (_dir, log) = log(segments);
        assert_eq!(log.gap(known_end), gap, "{segments:?} up to {known_end}");
    }
}

#[test]
fn a_session_without_output_has_an_empty_log() {
    let log = OutputLog::new("/nonexistent/session");
    assert_eq!((log.oldest(), log.end()), (0, 0));
    assert_eq!(log.read(5, 10).unwrap(), Chunk { at: 5, bytes: Vec::new() });
    assert!(log.sizes().is_empty());
}

#[test]
fn reading_goes_on_from_segment_to_segment() {
    let (_dir, log) = log(&[(0, b"abc"), (3, b"defg")]);
    assert_eq!((log.oldest(), log.end()), (0, 7));
    assert_eq!(everything(&log, 100), [(0, b"abc".to_vec()), (3, b"defg".to_vec())]);
    assert_eq!(everything(&log, 2).concat_bytes(), b"abcdefg");
    assert_eq!(log.read(4, 2).unwrap(), Chunk { at: 4, bytes: b"ef".to_vec() });
    assert_eq!(log.read(7, 2).unwrap().bytes, b"");
}

trait ConcatBytes {
    fn concat_bytes(&self) -> Vec<u8>;
}

impl ConcatBytes for Vec<(u64, Vec<u8>)> {
    fn concat_bytes(&self) -> Vec<u8> {
        self.iter().flat_map(|(_, bytes)| bytes.clone()).collect()
    }
}

#[test]
fn cuts_and_gaps_are_jumped_over() {
    let (_dir, log) = log(&[(10, b"abc"), (20, b""), (30, b"xyz")]);
    assert_eq!((log.oldest(), log.end()), (10, 33));
    assert_eq!(everything(&log, 100), [(10, b"abc".to_vec()), (30, b"xyz".to_vec())]);
    assert_eq!(log.read(15, 100).unwrap().at, 30);
}

#[test]
fn an_overlong_segment_ends_where_the_next_begins() {
    let (_dir, log) = log(&[(0, b"abcXX"), (3, b"def")]);
    assert_eq!(everything(&log, 100).concat_bytes(), b"abcdef");
}

#[test]
fn foreign_files_are_not_segments() {
    let (dir, log) = log(&[(0, b"abc")]);
    for name in ["notes", "000000000000000g", "00", "+000000000000001"] {
        fs::write(dir.path().join(place::OUTPUT).join(name), "no").unwrap();
    }
    assert_eq!(log.end(), 3);
}

#[test]
fn a_segment_that_vanishes_while_reading_does_no_harm() {
    let (dir, log) = log(&[(0, b"abc"), (3, b"def")]);
    let first = dir.path().join(place::OUTPUT).join(format!("{:016x}", 0));
    // A link to nowhere is a file that was listed and cannot be opened any more.
    fs::remove_file(&first).unwrap();
    std::os::unix::fs::symlink("gone", &first).unwrap();
    assert_eq!(log.read(0, 10).unwrap_err().kind(), io::ErrorKind::NotFound);
    fs::remove_file(&first).unwrap();
    assert_eq!(log.read(0, 10).unwrap(), Chunk { at: 3, bytes: b"def".to_vec() });
}

#[test]
fn sizes_are_read_without_the_line_that_is_being_written() {
    let (dir, log) = log(&[]);
    fs::write(dir.path().join(place::SIZES), "0 80 24\nnonsense\n7 100 30\n9 12").unwrap();
    let sizes = [(0, Size { columns: 80, rows: 24 }), (7, Size { columns: 100, rows: 30 })];
    assert_eq!(log.sizes(), sizes);
}
