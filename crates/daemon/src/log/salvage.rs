//! Salvaging a damaged log so that a kill at any moment leaves either the damaged one, whole, or
//! the salvaged one.
//!
//! The damaged file stays where it is until a salvaged one lies complete beside it, under a name
//! that says so. From then on all that is left to do can be done again by the next start.

use super::carve;
use super::event_log::{EventLog, beside};
use super::fault::{LogFault, Salvage};
use super::row::{carved, is_whole};
use glis_core::{Event, Recorded, SessionId};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::ops::RangeInclusive;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Where a salvaged log is written. Worth nothing until it has its next name.
const UNFINISHED: &str = ".salvaging";
/// A salvaged log that is complete and takes the place of the damaged one.
const FINISHED: &str = ".salvaged";

/// Keeps the damaged log and puts what can be read of it in its place.
pub(super) fn salvage(
    path: &Path,
    journal: &[u8],
    spare: &[Recorded],
) -> Result<(Salvage, Vec<Recorded>), LogFault> {
    let kept = keep(path, journal).map_err(|fault| LogFault::Open {
        path: path.to_owned(),
        why: format!("the damaged log cannot be kept: {fault}"),
    })?;
    carry_over(path, kept, spare)
}

/// Puts what can be read of a damaged log that was kept in the place of the log.
/// Where it has lost a record that a copy has, the copy's is put in.
pub(super) fn carry_over(
    path: &Path,
    kept: PathBuf,
    spare: &[Recorded],
) -> Result<(Salvage, Vec<Recorded>), LogFault> {
    let failed = |fault: io::Error| LogFault::Open { path: kept.clone(), why: fault.to_string() };
    let main = std::fs::read(&kept).map_err(failed)?;
    let journal = match std::fs::read(beside(&kept, "-wal")) {
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => Vec::new(),
        read => read.map_err(failed)?,
    };
    let mut found = filled_up(carved(&main, &journal), spare);
    let reach = found.last().map_or(0, |recorded| recorded.seq);
    if is_cut(&main) {
        keep_beginning(&mut found);
    }
    let loss = Loss::of(&main, &journal, &found, reach);
    let name = kept.file_name().unwrap_or_default().to_string_lossy();
    // In the same file as what was saved, so that the two are found together.
    found.extend(loss.flags(&name));
    build(path, &found)?;
    settle(path).map_err(failed)?;
    Ok((Salvage { kept, lost: loss.lost.into_iter().collect() }, found))
}

/// What was found, and what a copy has beside it. A copy that has another record under one of the
/// numbers is that of another log.
fn filled_up(found: Vec<Recorded>, spare: &[Recorded]) -> Vec<Recorded> {
    let mut all: BTreeMap<u64, Recorded> =
        found.into_iter().map(|recorded| (recorded.seq, recorded)).collect();
    let contradicts = |copy: &Recorded| all.get(&copy.seq).is_some_and(|own| own != copy);
    if !spare.iter().any(contradicts) {
        for copy in spare {
            all.entry(copy.seq).or_insert_with(|| copy.clone());
        }
    }
    all.into_values().collect()
}

/// Whether the file is shorter than it says itself.
fn is_cut(main: &[u8]) -> bool {
    let said = main.get(28..32).and_then(|four| four.first_chunk::<4>());
    let said = said.map_or(0, |four| u32::from_be_bytes(*four));
    main.starts_with(b"SQLite format 3\0") && (main.len() / carve::PAGE) < said as usize
}

/// Leaves out what stands behind the first gap that no event tells of. A page holds its records
/// from its end on, so that of a page that was cut only the last of them are left: what they follow
/// is gone, and a state that was folded from them never was.
fn keep_beginning(found: &mut Vec<Recorded>) {
    let told = told_of(found);
    let mut next = 1;
    let kept = found.iter().take_while(|recorded| {
        let whole = (next..recorded.seq).all(|seq| told.iter().any(|s| s.contains(&seq)));
        next = recorded.seq + 1;
        whole
    });
    let kept = kept.count();
    found.truncate(kept);
}

/// Numbers of records whose loss is on record.
fn told_of(found: &[Recorded]) -> Vec<RangeInclusive<u64>> {
    let mut told = Vec::new();
    for recorded in found {
        if let Event::RecordDamaged { lost, .. } = &recorded.event {
            told.extend(lost.iter().map(|(first, last)| *first..=*last));
        }
    }
    told
}

/// Puts a log of exactly these records in the place of whatever is there.
pub(super) fn put_in_place(path: &Path, records: &[Recorded]) -> Result<(), LogFault> {
    build(path, records)?;
    settle(path).map_err(|fault| LogFault::Open { path: path.to_owned(), why: fault.to_string() })
}

/// Has `write` write a log beside the place of one that is gone, and puts it there. Whatever is there
/// meanwhile is kept; where, is returned.
pub(super) fn exchange(
    path: &Path,
    write: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<Option<PathBuf>, String> {
    let fresh = beside(path, UNFINISHED);
    let told = |fault: io::Error| fault.to_string();
    for leftover in ["", "-wal", "-shm", "-journal"] {
        gone(&beside(&fresh, leftover)).map_err(told)?;
    }
    write(&fresh)?;
    let finish = || {
        File::open(&fresh)?.sync_all()?;
        std::fs::rename(&fresh, beside(path, FINISHED))?;
        let strange = path.symlink_metadata().is_ok().then(|| {
            let stamp = crate::clock::now().as_millisecond();
            path.with_extension(format!("db.strange-{stamp}"))
        });
        if let Some(strange) = &strange {
            std::fs::rename(path, strange)?;
        }
        settle(path)?;
        Ok(strange)
    };
    finish().map_err(told)
}

/// What damage has taken from the log.
struct Loss {
    /// The records that are missing.
    lost: BTreeSet<u64>,
    /// Which of them may have been about which session that still exists.
    concerned: BTreeMap<SessionId, Vec<u64>>,
    next_seq: u64,
}

impl Loss {
    /// `reach` is the last record that was seen at all.
    fn of(main: &[u8], journal: &[u8], found: &[Recorded], reach: u64) -> Self {
        let known: BTreeSet<u64> = found.iter().map(|recorded| recorded.seq).collect();
        let last = known.last().copied().unwrap_or(0).max(reach);
        let mut living = BTreeSet::new();
        for Recorded { subject, event, .. } in found {
            let Some(session) = subject.session() else { continue };
            if matches!(event, Event::Archived { .. } | Event::CreationFailed { .. }) {
                living.remove(session);
            } else if matches!(event, Event::SessionCreated { .. }) {
                living.insert(session.clone());
            }
        }
        // A damaged record cannot be believed, but whom it speaks of is mostly still to be read.
        let torn = carve::carve(main, journal, |carved| !is_whole(carved)).into_values();
        let torn: BTreeMap<u64, SessionId> = torn
            .filter_map(|carved| Some((u64::try_from(carved.seq).ok()?, SessionId(carved.session))))
            .filter(|(_, session)| living.contains(session))
            .collect();
        let told = told_of(found);
        let is_told = |seq| told.iter().any(|stretch| stretch.contains(&seq));
        let missing = |seq: &u64| !known.contains(seq) && !is_told(*seq);
        let mut lost: BTreeSet<u64> = (1..=last).filter(missing).collect();
        // Beyond the last record only what follows it closely is one; the rest is garbage.
        let mut end = last;
        while torn.contains_key(&(end + 1)) {
            end += 1;
            lost.insert(end);
        }
        let mut concerned: BTreeMap<SessionId, Vec<u64>> = BTreeMap::new();
        for seq in &lost {
            let whom = torn.get(seq).map_or_else(|| living.clone(), |one| [one.clone()].into());
            for session in whom {
                concerned.entry(session).or_default().push(*seq);
            }
        }
        Self { lost, concerned, next_seq: end + 1 }
    }

    /// What every session that may lack something has to tell from now on.
    fn flags(&self, kept: &str) -> Vec<Recorded> {
        let at = crate::clock::now().as_millisecond();
        let flag = |(seq, (session, lost)): (u64, (&SessionId, &Vec<u64>))| {
            let event = Event::RecordDamaged { lost: stretches(lost), kept: kept.to_owned() };
            Recorded::new(seq, at, session.clone().into(), event)
        };
        (self.next_seq..).zip(&self.concerned).map(flag).collect()
    }
}

/// Ascending numbers, as the first and the last of each stretch without a gap.
fn stretches(numbers: &[u64]) -> Vec<(u64, u64)> {
    let mut stretches: Vec<(u64, u64)> = Vec::new();
    for &number in numbers {
        match stretches.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            Some(_) | None => stretches.push((number, number)),
        }
    }
    stretches
}

/// Finishes what an earlier start had begun, however far it came.
pub(super) fn settle(path: &Path) -> io::Result<()> {
    let finished = beside(path, FINISHED);
    if !finished.try_exists()? {
        return Ok(());
    }
    // A journal of the damaged log would be taken for one of the salvaged; it is kept already.
    gone(&beside(path, "-wal"))?;
    gone(&beside(path, "-shm"))?;
    std::fs::rename(&finished, path)?;
    sync_folder(path)
}

/// The damaged log that was kept last, if there is no other: former versions moved it away before
/// they salvaged it, and a kill left nothing in its place.
pub(super) fn orphan(path: &Path) -> io::Result<Option<PathBuf>> {
    if path.try_exists()? || beside(path, "-wal").try_exists()? {
        return Ok(None);
    }
    newest_kept(path)
}

/// What an earlier start left for this one: a salvaged log, or a damaged one without any other.
pub(super) fn left_over(path: &Path) -> io::Result<Option<PathBuf>> {
    let finished = beside(path, FINISHED);
    if finished.try_exists()? { Ok(Some(finished)) } else { orphan(path) }
}

/// The damaged log under another name, with its journal as it was found.
fn keep(path: &Path, journal: &[u8]) -> io::Result<PathBuf> {
    let mut stamp = crate::clock::now().as_millisecond();
    let kept = loop {
        let kept = path.with_extension(format!("db.damaged-{stamp}"));
        // A second name for the same file must never be written to: whatever is there stays.
        match second_name(path, &kept) {
            Ok(()) => break kept,
            Err(fault) if fault.kind() == io::ErrorKind::AlreadyExists => stamp += 1,
            Err(fault) => return Err(fault),
        }
    };
    if !journal.is_empty() {
        let beside = beside(&kept, "-wal");
        std::fs::write(&beside, journal)?;
        File::open(&beside)?.sync_all()?;
    }
    sync_folder(path)?;
    Ok(kept)
}

/// Makes the file known under another name, which must be free.
fn second_name(path: &Path, name: &Path) -> io::Result<()> {
    let linked = std::fs::hard_link(path, name);
    let Err(fault) = linked else { return Ok(()) };
    if fault.kind() == io::ErrorKind::AlreadyExists {
        return Err(fault);
    }
    // Some file systems have no second names, and of a journal without its log there is the
    // journal alone.
    let mut copy = File::options().write(true).create_new(true).mode(0o600).open(name)?;
    if fault.kind() != io::ErrorKind::NotFound {
        io::copy(&mut File::open(path)?, &mut copy)?;
        copy.sync_all()?;
    }
    Ok(())
}

/// Writes the salvaged log beside the damaged one, and names it finished once it is durable.
fn build(path: &Path, found: &[Recorded]) -> Result<(), LogFault> {
    let fresh = beside(path, UNFINISHED);
    let failed = |fault: io::Error| LogFault::Open { path: fresh.clone(), why: fault.to_string() };
    for leftover in ["", "-wal", "-shm"] {
        gone(&beside(&fresh, leftover)).map_err(failed)?;
    }
    let mut log = EventLog::open_sound(&fresh)?;
    log.append(found)?;
    // Closed in order, it is one file with nothing beside it.
    log.end_journal_on_close().map_err(LogFault::Write)?;
    log.db.close().map_err(|(_, fault)| LogFault::Write(fault))?;
    let finish = || {
        if beside(&fresh, "-wal").try_exists()? {
            return Err(io::Error::other("its journal could not be closed"));
        }
        File::open(&fresh)?.sync_all()?;
        std::fs::rename(&fresh, beside(path, FINISHED))?;
        sync_folder(path)
    };
    finish().map_err(failed)
}

/// The damaged log that was kept last.
fn newest_kept(path: &Path) -> io::Result<Option<PathBuf>> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(None) };
    let prefix = format!("{}.damaged-", name.to_string_lossy());
    let mut kept = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let stamp = entry.file_name().to_str().and_then(|name| {
            // The journals beside them have no number for a stamp.
            name.strip_prefix(&prefix)?.parse::<u64>().ok()
        });
        kept.extend(stamp.map(|stamp| (stamp, entry.path())));
    }
    Ok(kept.into_iter().max().map(|(_, path)| path))
}

/// Removes a file; it need not have been there.
fn gone(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

fn sync_folder(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::tests::{filled, killed, opened, reopened};

    /// A log of ten records of which the last is damaged.
    fn bent(path: &Path) -> Vec<u8> {
        filled(path, 10);
        let mut bytes = std::fs::read(path).unwrap();
        let hit = bytes.windows(30).rposition(|w| w == [b'x'; 30]).unwrap();
        bytes[hit] ^= 1;
        std::fs::write(path, &bytes).unwrap();
        bytes
    }

    #[test]
    fn a_kill_before_the_salvaged_log_is_finished_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("events.db");
        let bytes = bent(&path);
        let kept = keep(&path, b"").unwrap();
        std::fs::write(beside(&path, UNFINISHED), b"half of it").unwrap();
        std::fs::write(beside(&beside(&path, UNFINISHED), "-wal"), b"and more").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
        assert_eq!(std::fs::read(kept).unwrap(), bytes);
        let (seen, salvage) = reopened(&path);
        assert_eq!((seen.len(), salvage.unwrap().lost.len()), (9, 1));
        assert!(!beside(&path, UNFINISHED).exists() && !beside(&path, FINISHED).exists());
    }

    #[test]
    fn a_kill_before_the_exchange_is_made_up_for() {
        let dir = tempfile::tempdir().unwrap();
        let (path, main, mut journal) = killed(dir.path(), 30);
        let hit = journal.windows(30).rposition(|w| w == [b'x'; 30]).unwrap();
        journal[hit] ^= 1;
        for journal_is_gone in [false, true] {
            std::fs::write(&path, &main).unwrap();
            std::fs::write(beside(&path, "-wal"), &journal).unwrap();
            keep(&path, &journal).unwrap();
            let found = carved(&main, &journal);
            build(&path, &found).unwrap();
            if journal_is_gone {
                gone(&beside(&path, "-wal")).unwrap();
            }
            let (seen, salvage) = reopened(&path);
            assert_eq!((seen.len(), salvage), (found.len(), None));
        }
    }

    /// Two living sessions with a record each after their first, and a removed one.
    fn three_sessions(path: &Path) {
        let mut log = opened(path).log;
        let born = || crate::fill::born(1).into_iter().next().unwrap();
        let taken = |n| Event::MessageTaken { message: glis_core::MessageId(n), spot: None };
        let gone = Event::Archived { op: glis_core::OpId(1), place: "there".to_owned() };
        let life = [
            ("a", born()),
            ("b", born()),
            ("c", born()),
            ("c", gone),
            ("a", taken(1)),
            ("b", taken(2)),
            ("a", taken(3)),
        ];
        let recorded: Vec<_> = (1..)
            .zip(life)
            .map(|(seq, (name, event))| {
                Recorded::new(seq, 7, SessionId(name.to_owned()).into(), event)
            })
            .collect();
        log.append(&recorded).unwrap();
    }

    type Flag = (u64, String, Vec<(u64, u64)>);

    /// Who is flagged, for which records, and where in the log.
    fn flagged(path: &Path) -> Vec<Flag> {
        let mut flags = Vec::new();
        for recorded in opened(path).log.read(1, 999).unwrap() {
            if let Event::RecordDamaged { lost, kept } = &recorded.event {
                assert!(kept.starts_with("events.db.damaged-"), "{kept}");
                flags.push((recorded.seq, recorded.subject.to_string(), lost.clone()));
            }
        }
        flags
    }

    #[test]
    fn the_session_of_a_damaged_record_is_flagged_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("events.db");
        three_sessions(&path);
        let bend = |change: &str| {
            let db = rusqlite::Connection::open(&path).unwrap();
            assert_eq!(db.execute(&format!("UPDATE events SET {change}"), []).unwrap(), 1);
        };
        bend("body = replace(body, '2', '4') WHERE seq = 6");
        let first = (8, "b".to_owned(), vec![(6, 6)]);
        for times in 1..=2 {
            assert_eq!(flagged(&path), std::slice::from_ref(&first), "look {times}");
        }
        bend("at = 9 WHERE seq = 7");
        let second = (9, "a".to_owned(), vec![(7, 7)]);
        assert_eq!(flagged(&path), [first.clone(), second], "and is told once");
        // The last record of all, which no later one gives away; and it was a flag itself, so that
        // it is no longer known which session the seventh was about.
        bend("at = 9 WHERE seq = 9");
        let (a, b) = (vec![(7, 7), (9, 9)], vec![(7, 7)]);
        assert_eq!(flagged(&path), [first, (10, "a".to_owned(), a), (11, "b".to_owned(), b)]);
    }

    #[test]
    fn whoever_may_have_lost_something_is_flagged_and_nobody_who_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("events.db");
        three_sessions(&path);
        let db = rusqlite::Connection::open(&path).unwrap();
        db.execute("DELETE FROM events WHERE seq = 5", []).unwrap();
        db.execute("UPDATE events SET at = 8 WHERE seq = 6", []).unwrap();
        drop(db);
        let wanted = [(8, "a".to_owned(), vec![(5, 5)]), (9, "b".to_owned(), vec![(5, 6)])];
        assert_eq!(flagged(&path), wanted);
    }

    #[test]
    fn opening_a_damaged_journal_leaves_it_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let (path, main, mut journal) = killed(dir.path(), 30);
        let half = journal.len() / 2;
        journal[half] ^= 1;
        std::fs::write(&path, &main).unwrap();
        std::fs::write(beside(&path, "-wal"), &journal).unwrap();
        drop(EventLog::open_sound(&path).unwrap());
        assert_eq!(std::fs::read(beside(&path, "-wal")).unwrap(), journal);
    }

    #[test]
    fn a_log_that_was_moved_away_to_be_salvaged_is_found_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("events.db");
        bent(&path);
        std::fs::rename(&path, dir.path().join("events.db.damaged-17")).unwrap();
        std::fs::write(dir.path().join("events.db.damaged-9"), b"older").unwrap();
        let (seen, salvage) = reopened(&path);
        assert_eq!((seen.len(), salvage.unwrap().lost.len()), (9, 1));
        assert_eq!(reopened(&path).0.len(), 9);
    }
}
