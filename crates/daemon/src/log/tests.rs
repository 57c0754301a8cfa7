//! The event log under damage.

use super::event_log::TABLES;
use super::fault::FORM;
use super::*;
use glis_core::SessionId;
use glis_core::{Event, Face, OpId, Origin, Status};
use rusqlite::{Connection, params};

pub(super) fn record(seq: u64) -> Recorded {
    let event = Event::Archived { op: OpId(seq), place: "x".repeat(200) };
    Recorded::new(seq, 7, SessionId("s".to_owned()).into(), event)
}

pub(super) fn filled(path: &Path, count: u64) {
    let mut log = opened(path).log;
    let events: Vec<_> = (1..=count).map(record).collect();
    log.append(&events).unwrap();
}

pub(super) fn opened(path: &Path) -> Opened {
    EventLog::open(path, Aids::default()).unwrap()
}

/// Every record, and what was salvaged.
pub(super) fn reopened(path: &Path) -> (Vec<u64>, Option<Salvage>) {
    let opened = opened(path);
    let all = opened.log.read(1, u32::MAX).unwrap();
    let last = all.last().map_or(0, |recorded| recorded.seq);
    assert_eq!((opened.house.last_seq(), opened.log.end().seq), (last, last));
    (all.into_iter().map(|recorded| recorded.seq).collect(), opened.salvage)
}

#[test]
fn what_was_appended_is_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("events.db");
    filled(&path, 10);
    let (seen, salvage) = reopened(&path);
    assert_eq!(seen, (1..=10).collect::<Vec<_>>());
    assert_eq!(salvage, None);
    let log = opened(&path).log;
    assert_eq!(log.read(4, 3).unwrap(), vec![record(4), record(5), record(6)]);
}

#[test]
fn who_an_event_is_from_and_what_status_it_led_to_are_part_of_its_record() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("events.db");
    let from = Some(Origin::new(Face::Chat, "42 \u{1f43f}"));
    let records = [
        Recorded { from: from.clone(), ..record(1) },
        Recorded { status: Some(Status::Archived), ..record(2) },
        Recorded { event: Event::Completed, from, status: Some(Status::Completed), ..record(3) },
        record(4),
    ];
    opened(&path).log.append(&records).unwrap();
    assert_eq!(opened(&path).log.read(1, 9).unwrap(), records);
    // A bit of it is a bit of the record.
    let mut bytes = std::fs::read(&path).unwrap();
    let hit = bytes.windows(6).position(|part| part == b"\"chat\"").unwrap();
    bytes[hit + 1] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let (seen, salvage) = reopened(&path);
    assert_eq!(salvage.map(|salvage| salvage.lost.len()), Some(1));
    assert_eq!(seen, [1, 2, 4]);
    assert_eq!(opened(&path).log.read(1, 2).unwrap(), &records[..2]);
}

/// The form before: a body is the event alone.
#[test]
fn a_record_without_anything_beside_its_event_is_stored_as_ever() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("events.db");
    opened(&path).log.append(&[record(1)]).unwrap();
    let db = Connection::open(&path).unwrap();
    let body: String = db.query_row("SELECT body FROM events", [], |row| row.get(0)).unwrap();
    assert_eq!(body, serde_json::to_string(&record(1).event).unwrap());
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
fn a_file_cut_anywhere_still_opens_with_a_beginning_of_what_was_there() {
    let dir = tempfile::tempdir().unwrap();
    let whole = dir.path().join("events.db");
    filled(&whole, 60);
    let bytes = std::fs::read(&whole).unwrap();
    for cut in (0..bytes.len()).step_by(509) {
        let path = dir.path().join(format!("cut-{cut}.db"));
        std::fs::write(&path, &bytes[..cut]).unwrap();
        let (seen, _) = reopened(&path);
        // Never a record without all those before it.
        assert_eq!(seen, (1..=seen.len() as u64).collect::<Vec<_>>(), "cut at {cut}");
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
    assert!(matches!(EventLog::open(&path, Aids::default()), Err(LogFault::Newer { .. })));
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
    assert!(matches!(EventLog::open(&folder, Aids::default()), Err(LogFault::Open { .. })));
}

/// A log whose records are all in its journal, as a daemon that was killed leaves it.
pub(super) fn killed(dir: &Path, count: u64) -> (PathBuf, Vec<u8>, Vec<u8>) {
    let path = dir.join("live.db");
    let mut log = opened(&path).log;
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
    let mut log = opened(&path).log;
    log.append(&[long.clone(), record(2)]).unwrap();
    drop(log);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[0] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(opened(&path).log.read(1, 9).unwrap(), vec![long, record(2)]);
}

#[test]
fn a_journal_cut_anywhere_leaves_a_beginning_of_what_was_there() {
    let dir = tempfile::tempdir().unwrap();
    let (path, main, journal) = killed(dir.path(), 40);
    for cut in (0..journal.len()).step_by(1013) {
        std::fs::write(&path, &main).unwrap();
        std::fs::write(beside(&path, "-wal"), &journal[..cut]).unwrap();
        let (seen, _) = reopened(&path);
        assert_eq!(seen, (1..=seen.len() as u64).collect::<Vec<_>>(), "cut at {cut}");
    }
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
    let Opened { mut log, salvage, .. } = opened(&path);
    assert_eq!(salvage, None);
    log.append(std::slice::from_ref(&second)).unwrap();
    drop(log);
    assert_eq!(reopened(&path), (vec![1, 2], None), "both forms beside each other");
    let form: i64 = Connection::open(&path)
        .unwrap()
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    assert_eq!(form, FORM, "an older program must not take the fresh records for damaged ones");
}

/// A log of so many records, and a checkpoint of its first ones.
fn with_checkpoint(path: &Path, count: u64, at: u64) -> Checkpoint {
    let mut log = opened(path).log;
    let mut house = House::default();
    log.append(&(1..=at).map(record).collect::<Vec<_>>()).unwrap();
    for seq in 1..=at {
        house.apply(&record(seq));
    }
    let checkpoint = Checkpoint { house, mark: log.end() };
    log.append(&(at + 1..=count).map(record).collect::<Vec<_>>()).unwrap();
    checkpoint
}

fn resumed(path: &Path, checkpoint: &Checkpoint) -> Opened {
    let aids = Aids { checkpoint: Some(checkpoint.clone()), ..Aids::default() };
    EventLog::open(path, aids).unwrap()
}

#[test]
fn a_start_from_a_checkpoint_reads_only_what_follows() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("events.db");
    let checkpoint = with_checkpoint(&path, 100, 90);
    let whole = opened(&path);
    let (end, id, house) = (whole.log.end(), whole.log.id().to_owned(), whole.house);
    drop(whole.log);
    // Nothing before the checkpoint is looked at, or this would be noticed.
    bend(&path, "body = 'nothing' WHERE seq = 45");
    let short = resumed(&path, &checkpoint);
    assert_eq!((short.shortcut, short.salvage), (Shortcut::Taken, None));
    assert_eq!((short.log.end(), short.log.id()), (end, id.as_str()));
    assert_eq!(short.house, house);
    // A check of all of them finds it.
    assert_eq!(short.log.check(Mark::default(), u64::MAX, u32::MAX).unwrap().damaged, [45]);
    assert!(short.log.check(checkpoint.mark, u64::MAX, u32::MAX).unwrap().damaged.is_empty());
}

#[test]
fn a_damaged_record_behind_a_checkpoint_is_noticed_and_the_checkpoint_still_counts() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("events.db");
    let checkpoint = with_checkpoint(&path, 100, 90);
    bend(&path, "at = 8 WHERE seq = 95");
    bend(&path, "at = 8 WHERE seq = 45");
    let short = resumed(&path, &checkpoint);
    assert_eq!(short.shortcut, Shortcut::Taken);
    assert_eq!(short.salvage.unwrap().lost, [45, 95]);
    assert_eq!(short.house.last_seq(), 100);
}

#[test]
fn a_log_that_was_cut_is_mended_though_only_records_before_the_checkpoint_are_gone() {
    // The oldest record of a page lies at its end.
    for cut in [1, 100, 300] {
        let dir = tempfile::tempdir().unwrap();
        let (path, root) = (dir.path().join("events.db"), dir.path().join("backup"));
        let checkpoint = with_checkpoint(&path, 100, 100);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - cut]).unwrap();
        // Without copies the state is the checkpoint's, which knows more than what could be read.
        let opened = resumed(&path, &checkpoint);
        assert_eq!((opened.shortcut, opened.house.last_seq()), (Shortcut::Taken, 100), "{cut}");
        drop(opened);
        let all: Vec<_> = (1..=100).map(record).collect();
        Backup::open(&root, "a").unwrap().append(&all).unwrap();
        let checkpoint = Some(checkpoint);
        let aids = Aids { checkpoint, copies: Some(&root), ..Aids::default() };
        let mended = EventLog::open(&path, aids).unwrap();
        assert_eq!(mended.salvage.expect("the cut is noticed").lost, [] as [u64; 0], "{cut}");
        assert_eq!((mended.shortcut, mended.house.last_seq()), (Shortcut::Taken, 100), "{cut}");
        assert_eq!(mended.log.read(1, 999).unwrap(), all, "{cut}");
    }
}

#[test]
fn a_checkpoint_of_another_log_is_refuted_and_the_log_gets_another_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("events.db");
    let checkpoint = with_checkpoint(&path, 100, 90);
    let id = opened(&path).log.id().to_owned();
    for change in ["at = at + 1", "sum = sum + 1"] {
        let mut other = checkpoint.clone();
        if change.starts_with("at") {
            other.mark.seq += 1;
        } else {
            other.mark.sum += 1;
        }
        let whole = resumed(&path, &other);
        assert_eq!((whole.shortcut, whole.house.last_seq()), (Shortcut::Refuted, 100));
        assert_ne!(whole.log.id(), id, "its numbers may come again");
    }
    // A log that lost its end under the checkpoint.
    let db = Connection::open(&path).unwrap();
    db.execute("DELETE FROM events WHERE seq > 80", []).unwrap();
    drop(db);
    let whole = resumed(&path, &checkpoint);
    assert_eq!((whole.shortcut, whole.house.last_seq()), (Shortcut::Refuted, 80));
}

#[test]
fn a_copy_fills_in_what_damage_has_taken() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("events.db");
    let root = dir.path().join("backup");
    filled(&path, 50);
    let all: Vec<_> = (1..=50).map(record).collect();
    Backup::open(&root, "a").unwrap().append(&all).unwrap();
    bend(&path, "at = 8 WHERE seq = 20");
    bend(&path, "at = 8 WHERE seq = 50");
    let aids = Aids { copies: Some(&root), ..Aids::default() };
    let mended = EventLog::open(&path, aids).unwrap();
    assert_eq!(mended.salvage.unwrap().lost, [] as [u64; 0]);
    assert_eq!(mended.log.read(1, 99).unwrap(), all);
    drop(mended.log);
    // A copy of another log says nothing about this one.
    bend(&path, "at = 8 WHERE seq = 20");
    std::fs::remove_dir_all(&root).unwrap();
    let strange = Recorded { at: 99, ..record(7) };
    Backup::open(&root, "b").unwrap().append(&[strange, record(20)]).unwrap();
    let aids = Aids { copies: Some(&root), ..Aids::default() };
    assert_eq!(EventLog::open(&path, aids).unwrap().salvage.unwrap().lost, [20]);
}
