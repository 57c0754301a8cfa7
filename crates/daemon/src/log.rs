//! The event log: one `SQLite` file, one writer, durable before anything is told.

pub(crate) mod backup;
mod carve;
pub(crate) mod checkpoint;
mod event_log;
mod fault;
mod head;
mod mark;
mod row;
mod salvage;

pub(crate) use backup::Backup;
pub(crate) use checkpoint::Checkpoint;
pub(crate) use event_log::{EventLog, Shortcut};
pub(crate) use fault::{LogFault, Salvage};
pub(crate) use mark::{Checked, Mark};

use event_log::{beside, identity};
use glis_core::{House, Recorded};
use row::{carved, sum_of_record};
use rusqlite::config::DbConfig;
use std::path::{Path, PathBuf};

/// What there is beside the log when it is opened.
#[derive(Default)]
pub(crate) struct Aids<'a> {
    /// A state to go on from.
    pub(crate) checkpoint: Option<Checkpoint>,
    /// Where copies of its records are, which are put in where it has lost its own.
    pub(crate) copies: Option<&'a Path>,
    /// How much of the log is looked at.
    pub(crate) scope: Scope,
}

impl Aids<'_> {
    /// Copies of its records: read only where they are needed, since they are all there ever were.
    fn spare(&self) -> Vec<Recorded> {
        self.copies.map(backup::read).unwrap_or_default().records
    }

    /// Whether the copies have what the checkpoint was made of. A log that was cut below it is mended
    /// from them before more is written to it; without them, the checkpoint knows more than what could
    /// be read.
    fn can_fill_in(&self) -> bool {
        let known = self.checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.mark.seq);
        self.spare().last().map_or(0, |recorded| recorded.seq) >= known
    }
}

/// How much of the log is looked at when it is opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Scope {
    /// What follows the checkpoint. What lies before it is read when it is asked for.
    #[default]
    Rest,
    /// Every record, since a damaged one was found.
    Everything,
}

/// A log that was opened, and the state that it leads to.
pub(crate) struct Opened {
    pub(crate) log: EventLog,
    pub(crate) house: House,
    pub(crate) salvage: Option<Salvage>,
    pub(crate) shortcut: Shortcut,
}

impl EventLog {
    /// Opens the log and folds it, from the checkpoint on if the log holds what that was made of. A
    /// damaged log is kept under another name and what can be read is carried over.
    pub(crate) fn open(path: &Path, aids: Aids<'_>) -> Result<Opened, LogFault> {
        may_use(path)?;
        let orphan = salvage::settle(path).and_then(|()| salvage::orphan(path));
        let orphan = orphan.map_err(|f| LogFault::Open {
            path: path.to_owned(),
            why: format!("an earlier salvage cannot be finished: {f}"),
        })?;
        if let Some(kept) = orphan {
            return Self::salvaged(path, salvage::carry_over(path, kept, &aids.spare())?, aids);
        }
        // `SQLite` ends a journal silently at its first damaged page, and throws one away that has
        // no file beside it. What was in it is known before it gets the chance.
        let journal = std::fs::read(beside(path, "-wal")).unwrap_or_default();
        let in_journal = carved(&[], &journal).last().map_or(0, |recorded| recorded.seq);
        let headless = in_journal > 0 && !head::is_there(path);
        let cut = journal.is_empty() && head::says_more(path);
        if headless || cut && aids.can_fill_in() {
            return Self::salvaged(path, salvage::salvage(path, &journal, &aids.spare())?, aids);
        }
        match Self::open_sound(path) {
            Ok(mut log) => match log.fold(&aids) {
                Ok(Folded::Whole(house, shortcut)) if log.end.seq >= in_journal => {
                    let house = *house;
                    log.end_journal_on_close().map_err(LogFault::Read)?;
                    match log.name(shortcut) {
                        Ok(()) => return Ok(Opened { log, house, salvage: None, shortcut }),
                        // The records are sound, and the table beside them is not.
                        Err(fault) if is_damage(&fault) => {}
                        Err(fault) => return Err(LogFault::Write(fault)),
                    }
                }
                Ok(Folded::Whole(..) | Folded::Damaged) => {}
                Err(fault) if is_damage(&fault) => {}
                Err(fault) => return Err(LogFault::Read(fault)),
            },
            Err(LogFault::Read(fault)) if is_damage(&fault) => {}
            Err(fault) => return Err(fault),
        }
        Self::salvaged(path, salvage::salvage(path, &journal, &aids.spare())?, aids)
    }

    /// The log that now has what could be read of a damaged one.
    fn salvaged(
        path: &Path,
        (salvage, found): (Salvage, Vec<Recorded>),
        aids: Aids<'_>,
    ) -> Result<Opened, LogFault> {
        let mut log = Self::open_sound(path)?;
        log.end_journal_on_close().map_err(LogFault::Read)?;
        log.name(Shortcut::None).map_err(LogFault::Write)?;
        let sums = found.iter().map(|recorded| Ok((recorded.seq, sum_of_record(recorded)?)));
        let sums: Vec<_> = sums.collect::<Result<_, _>>().map_err(LogFault::Read)?;
        let holds = |mark: &Mark| sums.contains(&(mark.seq, mark.sum));
        let (mut house, mut shortcut) = (House::default(), Shortcut::None);
        if let Some(checkpoint) = aids.checkpoint {
            shortcut = Shortcut::Refuted;
            if holds(&checkpoint.mark) {
                (house, shortcut) = (checkpoint.house, Shortcut::Taken);
            }
        }
        let known = house.last_seq();
        for recorded in found.iter().filter(|recorded| recorded.seq > known) {
            house.apply(recorded);
        }
        for (seq, sum) in sums {
            log.end.add(seq, sum);
        }
        Ok(Opened { log, house, salvage: Some(salvage), shortcut })
    }

    /// A log of exactly these records, under a name of its own, in the place of whatever is there.
    pub(crate) fn rebuild(path: &Path, records: &[Recorded]) -> Result<(), LogFault> {
        salvage::put_in_place(path, records)
    }

    /// Folds what follows the checkpoint, or everything.
    fn fold(&mut self, aids: &Aids<'_>) -> rusqlite::Result<Folded> {
        let (mut house, mut end, mut shortcut) =
            (House::default(), Mark::default(), Shortcut::None);
        if let Some(checkpoint) = &aids.checkpoint {
            shortcut = Shortcut::Refuted;
            if self.holds(&checkpoint.mark)? {
                (house, shortcut) = (checkpoint.house.clone(), Shortcut::Taken);
                end = checkpoint.mark;
            }
        }
        if aids.scope == Scope::Everything
            && !self.check(Mark::default(), u64::MAX, u32::MAX)?.damaged.is_empty()
        {
            return Ok(Folded::Damaged);
        }
        let mut damaged = false;
        self.each_after(end.seq, |row| {
            end.add(row.seq, row.sum);
            match row.recorded {
                Some(recorded) if !damaged => house.apply(&recorded),
                Some(_) => {}
                None => damaged = true,
            }
        })?;
        self.end = end;
        Ok(if damaged { Folded::Damaged } else { Folded::Whole(Box::new(house), shortcut) })
    }

    /// Writes the log anew in its place, from the file that is still open; says so. The numbers go on.
    /// In a folder that is another one nothing is written: it would not be found there.
    pub(crate) fn put_back(&mut self) -> Result<String, LogFault> {
        let away = |why: String| LogFault::Away { path: self.path.clone(), why };
        if self.path.parent().map(identity).and_then(Result::ok) != Some(self.folder) {
            return Err(away("its folder is gone too".to_owned()));
        }
        let kept = salvage::exchange(&self.path, |fresh| {
            let name = fresh.to_str().ok_or("its path is not valid UTF-8")?;
            self.db.execute("VACUUM INTO ?1", [name]).map(drop).map_err(|f| f.to_string())
        });
        let kept = kept.map_err(away)?;
        let mut log = Self::open_sound(&self.path)?;
        log.end_journal_on_close().map_err(LogFault::Read)?;
        log.rename().map_err(LogFault::Write)?;
        log.end = self.end;
        // The former one has nothing to carry over any more, and the journal has its name.
        self.db
            .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
            .map_err(LogFault::Read)?;
        *self = log;
        let strange = kept.map_or(String::new(), |kept| {
            format!("; what was in its place is kept as {}", kept.display())
        });
        Ok(format!(
            "the event log {} was deleted, moved or replaced; it was written anew, nothing is \
             missing{strange}",
            self.path.display()
        ))
    }
}

/// What a look at the log led to.
enum Folded {
    Whole(Box<House>, Shortcut),
    /// Not every record is what was written.
    Damaged,
}

/// Whether the files may be read and written at all. What may not be read is no damage, and must
/// not be taken for any.
fn may_use(path: &Path) -> Result<(), LogFault> {
    for path in [path.to_owned(), beside(path, "-wal")] {
        match std::fs::File::options().read(true).write(true).open(&path) {
            Err(fault) if fault.kind() == std::io::ErrorKind::PermissionDenied => {
                return Err(LogFault::Open { path, why: fault.to_string() });
            }
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

/// Whether there is nothing to begin from: no log, no journal, nothing that was salvaged or kept.
pub(crate) fn is_missing(path: &Path) -> bool {
    let empty =
        |path: &Path| path.metadata().map_or(true, |facts| facts.len() == 0 && !facts.is_dir());
    let nothing = |found: std::io::Result<Option<PathBuf>>| found.is_ok_and(|kept| kept.is_none());
    empty(path) && empty(&beside(path, "-wal")) && nothing(salvage::left_over(path))
}

fn is_damage(fault: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(fault.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
}

#[cfg(test)]
mod tests;
