//! The event log under damage.

use super::*;
use glis_core::OpId;

fn record(seq: u64) -> Recorded {
    let event = Event::Archived { op: OpId(seq), place: "x".repeat(200) };
    Recorded { seq, at: 7, session: SessionId("s".to_owned()), event }
}

pub(super) fn filled(path: &Path, count: u64) {
    let (mut log, _) = EventLog::open(path, |_| {}).unwrap();
    let events: Vec<_> = (1..=count).map(record).collect();
    log.append(&events).unwrap();
}

pub(super) fn reopened(path: &Path) -> (Vec<u64>, Option<Salvage>) {
    let mut seen = std::collections::BTreeSet::new();
    let (_, salvage) = EventLog::open(path, |recorded| {
        seen.insert(recorded.seq);
    })
    .unwrap();
    (seen.into_iter().collect(), salvage)
}

#[test]
fn what_was_appended_is_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("events.db");
    filled(&path, 10);
    let (seen, salvage) = reopened(&path);
    assert_eq!(seen, (1..=10).collect::<Vec<_>>());
    assert_eq!(salvage, None);
    let (log, _) = EventLog::open(&path, |_| {}).unwrap();
    assert_eq!(log.read(4, 3).unwrap(), vec![record(4), record(5), record(6)]);
}

#[test]
fn a_flipped_bit_loses_its_own_record_only() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("events.db");
    filled(&path, 200);
    let mut bytes = std::fs::read(&path).unwrap();
    let hit = bytes.windows(30).rposition(|w| w == [b'x'; 30]).unwrap();
    bytes[hit] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let (seen, salvage) = reopened(&path);
    let salvage = salvage.expect("the damage is noticed");
    assert_eq!(salvage.lost.len(), 1, "{salvage:?}");
    assert_eq!(seen.len(), 199);
    assert!(salvage.kept.exists());
    let (again, second) = reopened(&path);
    assert_eq!((again.len(), second), (199, None), "the salvaged log is sound");
}

#[test]
fn a_file_cut_anywhere_still_opens_with_what_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let whole = dir.path().join("events.db");
    filled(&whole, 60);
    let bytes = std::fs::read(&whole).unwrap();
    for cut in (0..bytes.len()).step_by(509) {
        let path = dir.path().join(format!("cut-{cut}.db"));
        std::fs::write(&path, &bytes[..cut]).unwrap();
        let (seen, _) = reopened(&path);
        assert!(seen.len() <= 60);
    }
}

#[test]
fn a_log_of_a_newer_form_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("events.db");
    filled(&path, 1);
    {
        let db = Connection::open(&path).unwrap();
        db.pragma_update(None, "user_version", FORM + 1).unwrap();
    }
    let before = std::fs::read(&path).unwrap();
    assert!(matches!(EventLog::open(&path, |_| {}), Err(LogFault::Newer { .. })));
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn garbage_is_kept_aside_and_a_folder_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("events.db");
    std::fs::write(&path, b"this was never a database, whatever its name says. ".repeat(40))
        .unwrap();
    let (seen, salvage) = reopened(&path);
    assert!(seen.is_empty() && salvage.is_some());
    let folder = dir.path().join("folder.db");
    std::fs::create_dir(&folder).unwrap();
    assert!(matches!(EventLog::open(&folder, |_| {}), Err(LogFault::Open { .. })));
}

/// A log whose records are all in its journal, as a daemon that was killed leaves it.
pub(super) fn killed(dir: &Path, count: u64) -> (PathBuf, Vec<u8>, Vec<u8>) {
    let path = dir.join("live.db");
    let (mut log, _) = EventLog::open(&path, |_| {}).unwrap();
    for seq in 1..=count {
        log.append(&[record(seq)]).unwrap();
    }
    let read = |path: &Path| std::fs::read(path).unwrap();
    let (main, journal) = (read(&path), read(&beside(&path, "-wal")));
    drop(log);
    (dir.join("events.db"), main, journal)
}

#[test]
fn a_flipped_bit_in_the_journal_loses_one_record_at_most() {
    let dir = tempfile::tempdir().unwrap();
    let (path, main, journal) = killed(dir.path(), 80);
    for at in (0..journal.len()).step_by(3001) {
        let mut bent = journal.clone();
        bent[at] ^= 0x04;
        std::fs::write(&path, &main).unwrap();
        std::fs::write(beside(&path, "-wal"), &bent).unwrap();
        let (seen, _) = reopened(&path);
        assert!(seen.len() >= 79, "flipped at {at}: {}", seen.len());
    }
}

#[test]
fn a_journal_without_its_file_still_has_every_record() {
    let dir = tempfile::tempdir().unwrap();
    let (path, _, journal) = killed(dir.path(), 30);
    for instead in [b"".as_slice(), b"not a database"] {
        std::fs::write(&path, instead).unwrap();
        std::fs::write(beside(&path, "-wal"), &journal).unwrap();
        let (seen, salvage) = reopened(&path);
        assert_eq!(seen.len(), 30);
        assert!(salvage.is_some_and(|salvage| salvage.lost.is_empty()));
    }
}

#[test]
fn a_record_longer_than_a_page_is_carved_whole() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("events.db");
    let place = "long ".repeat(5000);
    let long =
        Recorded { event: Event::Archived { op: OpId(1), place: place.clone() }, ..record(1) };
    let (mut log, _) = EventLog::open(&path, |_| {}).unwrap();
    log.append(&[long.clone(), record(2)]).unwrap();
    drop(log);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[0] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let mut seen = Vec::new();
    drop(EventLog::open(&path, |recorded| seen.push(recorded.clone())).unwrap());
    assert_eq!(seen, vec![long, record(2)]);
}

/// Changes one column of one record behind the log's back.
fn bend(path: &Path, change: &str) {
    let db = Connection::open(path).unwrap();
    assert_eq!(db.execute(&format!("UPDATE events SET {change}"), []).unwrap(), 1);
}

#[test]
fn a_record_is_damaged_wherever_it_differs() {
    for change in [
        "at = at + 1 WHERE seq = 4",
        "session = 't' WHERE seq = 4",
        "seq = 40 WHERE seq = 4",
        "body = replace(body, 'xx', 'xy') WHERE seq = 4",
        "sum = sum + 1 WHERE seq = 4",
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("events.db");
        filled(&path, 10);
        bend(&path, change);
        let (seen, salvage) = reopened(&path);
        assert_eq!(seen, [1, 2, 3, 5, 6, 7, 8, 9, 10], "{change}");
        assert_eq!(salvage.map(|salvage| salvage.lost), Some(vec![4]), "{change}");
    }
}

#[test]
fn records_of_the_first_form_stay_readable() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("events.db");
    {
        let db = Connection::open(&path).unwrap();
        db.execute_batch(TABLES).unwrap();
        db.pragma_update(None, "user_version", 1).unwrap();
        // As the first form had it, to the last digit.
        let body = r#"{"archived":{"op":1,"place":"x"}}"#;
        let insert = "INSERT INTO events VALUES (1, 7, 's', ?1, ?2)";
        db.execute(insert, params![body, -1_522_375_455_289_643_018_i64]).unwrap();
    }
    let second = record(2);
    let (mut log, salvage) = EventLog::open(&path, |_| {}).unwrap();
    assert_eq!(salvage, None);
    log.append(std::slice::from_ref(&second)).unwrap();
    drop(log);
    assert_eq!(reopened(&path), (vec![1, 2], None), "both forms beside each other");
    let form: i64 = Connection::open(&path)
        .unwrap()
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    assert_eq!(form, 2, "an older program must not take the fresh records for damaged ones");
}
