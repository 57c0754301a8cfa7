//! Opening the house: its log, from the last checkpoint on, or the best of what there is in its
//! place.

use crate::cards::{self, sessions_folder};
use crate::copies::{self, Stale};
use crate::fault::DaemonFault;
use crate::log::{self, Aids, Checkpoint, EventLog, Salvage, Scope, Shortcut, backup};
use glis_core::House;
use glis_wire::hold::place;
use glis_wire::home::Home;
use std::path::Path;

/// A damaged record was found before the checkpoint: the next start looks at all of them.
const SUSPICION: &str = "check-the-log";

/// What a daemon begins with.
pub(crate) struct Opened {
    pub(crate) log: EventLog,
    pub(crate) house: House,
    pub(crate) stale: Stale,
    /// For the daemon's own log.
    pub(crate) notes: Vec<String>,
    /// What the command that started the daemon should know.
    pub(crate) told: Option<String>,
}

pub(crate) fn open(home: &Home) -> Result<Opened, DaemonFault> {
    let root = copies::folder(&home.state);
    // Asked before anything is made: a log that was moved away can then be moved back.
    if log::is_missing(&home.events()) && has_sessions(home) {
        return restore(home, &root, "is missing or empty");
    }
    let mut notes = Vec::new();
    let checkpoint = Checkpoint::read(&root).unwrap_or_else(|why| {
        notes.push(format!("the checkpoint is thrown away and the whole log is read: {why}"));
        None
    });
    let suspicion = home.state.join(SUSPICION);
    let scope = if suspicion.exists() { Scope::Everything } else { Scope::Rest };
    let aids = Aids { checkpoint, copies: Some(&root), scope };
    let opened = EventLog::open(&home.events(), aids);
    let opened = opened.map_err(|fault| DaemonFault::Log(fault.to_string()))?;
    if opened.house.last_seq() == 0 && has_sessions(home) {
        drop(opened);
        return restore(home, &root, "is beyond repair");
    }
    drop(std::fs::remove_file(suspicion));
    notes.extend(opened.salvage.as_ref().map(tell_salvage));
    if opened.shortcut == Shortcut::Refuted {
        notes.push(
            "the log does not hold what the checkpoint was made of: it is another one, or has lost \
             its end; the whole log is read, and it has another id from now on"
                .to_owned(),
        );
    }
    backup::begun(&root);
    let stale = if opened.shortcut == Shortcut::Taken { Stale::No } else { Stale::Yes };
    let told = opened.salvage.as_ref().map(tell_salvage);
    Ok(Opened { log: opened.log, house: opened.house, stale, notes, told })
}

/// Notes that a record was found damaged, for the next start.
pub(crate) fn suspect(home: &Home) {
    drop(std::fs::write(home.state.join(SUSPICION), "a record of the event log is damaged\n"));
}

/// Whether there are folders of sessions, which the log would have to know.
fn has_sessions(home: &Home) -> bool {
    let entries = std::fs::read_dir(sessions_folder(home));
    entries.is_ok_and(|mut entries| entries.any(|e| e.is_ok_and(|e| e.path().is_dir())))
}

/// Makes a log of the copies of one that is gone. What happened after the last copy is not in them:
/// whom that may concern is flagged, and what may have been said to an agent is asked about.
fn restore(home: &Home, root: &Path, why: &str) -> Result<Opened, DaemonFault> {
    let (copied, cards) = (backup::read(root), cards::read(home));
    if copied.records.is_empty() && cards.is_empty() {
        return if only_remade(home) { begin_anew(home) } else { Err(lost_log(home)) };
    }
    let mut records = copied.records;
    let mut house = House::default();
    for recorded in &records {
        house.apply(recorded);
    }
    let count = records.len();
    let known = house.sessions().count();
    if !copied.complete {
        let sources = (root.display().to_string(), sessions_folder(home).display().to_string());
        let at = crate::clock::now().as_millisecond();
        for (session, event) in house.after_a_loss(&cards, (&sources.0, &sources.1)) {
            records.push(house.record(at, session.into(), event, None));
        }
    }
    let fault = |fault: log::LogFault| DaemonFault::Log(fault.to_string());
    EventLog::rebuild(&home.events(), &records).map_err(fault)?;
    drop(records);
    let opened = EventLog::open(&home.events(), Aids::default()).map_err(fault)?;
    let lost = if copied.complete {
        "nothing is missing"
    } else {
        "what happened after the last copy may be missing: `glis doctor` names the sessions, \
         `glis show` tells of each"
    };
    let by_card = house.sessions().count().saturating_sub(known);
    let note = format!(
        "the event log {} {why}; {count} events were restored from {}, and {by_card} sessions by \
         their own folders alone; {lost}",
        home.events().display(),
        root.display()
    );
    let (stale, notes) = (Stale::Yes, vec![note.clone()]);
    Ok(Opened { log: opened.log, house: opened.house, stale, notes, told: Some(note) })
}

/// Whether all there is of sessions are folders that their holders have made again: the home was
/// deleted while they ran.
fn only_remade(home: &Home) -> bool {
    let Ok(entries) = std::fs::read_dir(sessions_folder(home)) else { return false };
    let mut folders = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir());
    folders.all(|folder| {
        // One that is being made at this moment is empty.
        let is_empty = std::fs::read_dir(&folder).is_ok_and(|mut inside| inside.next().is_none());
        is_empty || folder.join(place::REMADE).exists()
    })
}

fn begin_anew(home: &Home) -> Result<Opened, DaemonFault> {
    let opened = EventLog::open(&home.events(), Aids::default());
    let opened = opened.map_err(|fault| DaemonFault::Log(fault.to_string()))?;
    let note =
        "the home was deleted while agents ran; it begins anew, and `glis doctor` names them";
    let (stale, notes) = (Stale::Yes, vec![note.to_owned()]);
    Ok(Opened { log: opened.log, house: opened.house, stale, notes, told: Some(note.to_owned()) })
}

fn lost_log(home: &Home) -> DaemonFault {
    let (log, sessions) = (home.events(), sessions_folder(home));
    DaemonFault::Log(format!(
        "the event log {} is missing or empty, but {} has sessions, whose agents may still run; \
         move the log back, or move that folder away to begin anew",
        log.display(),
        sessions.display()
    ))
}

fn tell_salvage(salvage: &Salvage) -> String {
    format!(
        "the event log was damaged: {} records lost, the damaged file is kept as {}",
        salvage.lost.len(),
        salvage.kept.display()
    )
}
