//! A test that is left out is told, counted, and on a build server a failure where an installation
//! would help.

use crate::support::house::Outcome;
use crate::support::skip::{Machine, note};

#[test]
fn a_test_that_is_left_out_is_noted_with_what_would_help() -> Outcome {
    let folder = tempfile::tempdir()?;
    let notes = folder.path().join("skips");
    let file = Some(notes.as_os_str());
    note("one", "no right\nto mount", None, file, Machine::BuildServer)?;
    note("two", "strace: not found", Some("strace"), file, Machine::Own)?;
    let refused = note("three", "no mkfs.ext4", Some("e2fsprogs"), file, Machine::BuildServer);
    let why = refused.err().ok_or("left out on a build server")?.to_string();
    assert!(why.contains("no mkfs.ext4") && why.contains("e2fsprogs"), "{why}");
    let lines = "one\t\tno right to mount\ntwo\tstrace\tstrace: not found\n\
                 three\te2fsprogs\tno mkfs.ext4\n";
    assert_eq!(std::fs::read_to_string(notes)?, lines);
    Ok(())
}
