//! A worktree on its way back. It is filled beside its place and renamed when it is whole, so that
//! half of one is never taken for a worktree, whenever the restore is cut short.

use crate::admin::{NESTED_REASON, Record, delete_tree, records};
use crate::fault::{About as _, SnapshotFault};
use crate::hash::{Format, blob_name};
use crate::moved::{Insides, hidden_sibling, real};
use crate::scratch::{HOME, sync_dir};
use rustix::fs::FlockOperation;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// How git's lock of such a worktree begins. A mark of the place follows, and who it is for.
const REASON: &str = "glis brings it back, ";
/// How the names of the files begin that are locked as long as a restore runs.
const PREFIX: &str = "coming-";

/// A restore that is under way.
#[derive(Debug)]
pub(crate) struct Coming {
    common: PathBuf,
    to: PathBuf,
    path: PathBuf,
    mark: String,
    hold: Hold,
}

impl Coming {
    /// Waits until no other restore to this place runs, and removes what a killed one left.
    pub(crate) fn begin(common: &Path, to: &Path) -> Result<Self, SnapshotFault> {
        let to = real(to);
        let mark = mark(&to);
        let hold = Hold::take(common, &mark, FlockOperation::LockExclusive)?;
        let hold = hold.ok_or_else(|| SnapshotFault::Broken("a lock was lost".to_owned()))?;
        let path = hidden_sibling(&to, "coming");
        let coming = Self { common: common.to_owned(), to, path, mark, hold };
        coming.remove()?;
        Ok(coming)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Why the worktree is locked while it is filled.
    pub(crate) fn reason(&self, owner: &str) -> String {
        format!("{REASON}{}, for {owner}", self.mark)
    }

    /// The lock, for a child to hold as well: it may live a moment longer than we do.
    pub(crate) fn alive(&self) -> &File {
        &self.hold.file
    }

    /// Makes all that was written durable.
    pub(crate) fn sync(&self) -> Result<(), SnapshotFault> {
        // One call for all files: one for each takes minutes where there are many. And one for both
        // folders, where they lie on the same disk.
        let mut synced = None;
        for dir in [&self.path, &self.common] {
            let file = File::open(dir).about(dir)?;
            let disk = file.metadata().about(dir)?.dev();
            if synced != Some(disk) {
                rustix::fs::syncfs(&file).about(dir)?;
            }
            synced = Some(disk);
        }
        Ok(())
    }

    /// Puts the worktree at its place, which is free. Git is told first: as long as the folder is not
    /// there, git knows of a worktree that is gone, and that is what it is.
    pub(crate) fn arrive(&self, owner: &str) -> Result<(), SnapshotFault> {
        let record = Record::named_by(&self.common, &self.path)
            .ok_or_else(|| SnapshotFault::Gone(self.path.clone()))?;
        Insides::of(&self.common, &self.path, &self.path).point_to(&self.to)?;
        record.point_to(&self.to)?;
        record.relock(owner)?;
        fs::rename(&self.path, &self.to).about(&self.to)?;
        self.to.parent().map_or(Ok(()), sync_dir)
    }

    /// Removes the folder and git's record of it, if they are ours.
    pub(crate) fn remove(&self) -> Result<(), SnapshotFault> {
        remove(&self.common, &self.path, &self.to, &self.mark)
    }
}

fn mark(to: &Path) -> String {
    let name = blob_name(Format::Sha1, to.as_os_str().as_bytes()).to_string();
    name.chars().take(16).collect()
}

/// The mark in the lock of a worktree that is, or was, on its way.
fn mark_of(record: &Record) -> Option<&str> {
    record.lock.as_deref()?.strip_prefix(REASON)?.split(',').next()
}

/// Where the worktree of a folder like ours was to go.
fn place_of(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.as_bytes();
    let name = name.strip_prefix(b".")?.strip_suffix(b".glis-coming")?;
    Some(path.with_file_name(std::ffi::OsStr::from_bytes(name)))
}

fn remove(common: &Path, path: &Path, to: &Path, mark: &str) -> Result<(), SnapshotFault> {
    let is_there = |path: &Path| fs::symlink_metadata(path).is_ok();
    // Git was told already that it has arrived, and it has not.
    let told = Record::named_by(common, path).filter(|record| record.is_at(to) && !is_there(to));
    let inside = [Insides::of(common, path, path), Insides::of(common, path, to)];
    if let Some(record) = &told {
        // From here on it is known for what it is, however far the deletion gets.
        record.relock(&format!("{REASON}{mark}, for no session"))?;
        record.point_to(path)?;
    }
    let ours = records(common).into_iter().filter(|record| mark_of(record) == Some(mark));
    let ours: Vec<Record> = ours.collect();
    if is_there(path) {
        let known = ours.iter().any(|record| record.is_at(path));
        // Git makes the folder before it writes down where it is.
        if !known && fs::remove_dir(path).is_err() {
            let why = "a worktree is to be brought back there, and it is not ours".to_owned();
            return Err(SnapshotFault::InTheWay { path: path.to_owned(), why });
        }
        delete_tree(path)?;
    }
    for record in inside.iter().flat_map(Insides::worktrees) {
        if record.is_locked_for(NESTED_REASON) && !record.path.as_deref().is_some_and(is_there) {
            record.forget()?;
        }
    }
    ours.iter().try_for_each(Record::forget)
}

/// Removes what killed restores left, and says how many there were. What still runs is left alone.
pub(crate) fn sweep(common: &Path) -> Result<usize, SnapshotFault> {
    let mut swept = 0;
    for record in records(common) {
        // Either it is marked, or git was told that it has arrived.
        let to = record.path.as_deref().and_then(|path| match mark_of(&record) {
            // Where git was told that it has arrived, and its lock does not say so yet, it is at its place.
            Some(_) => place_of(path).or_else(|| Some(path.to_owned())),
            None => Some(path.to_owned()).filter(|to| hidden_sibling(to, "coming").exists()),
        });
        let mark = match (&to, mark_of(&record)) {
            (_, Some(mark)) => mark.to_owned(),
            (Some(to), None) => mark(&real(to)),
            (None, None) => continue,
        };
        let Some(hold) = Hold::take(common, &mark, FlockOperation::NonBlockingLockExclusive)?
        else {
            continue;
        };
        match to {
            // It may have arrived before the lock was ours.
            Some(to) if to.exists() && mark_of(&record).is_none() => {}
            // A folder of that name that is not ours is in the way of a restore, not of a sweep.
            Some(to) => match remove(common, &hidden_sibling(&to, "coming"), &to, &mark) {
                Err(SnapshotFault::InTheWay { .. }) => {}
                done => {
                    done?;
                    swept += 1;
                }
            },
            None => {
                record.forget()?;
                swept += 1;
            }
        }
        drop(hold);
    }
    for entry in fs::read_dir(common.join(HOME)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if let Some(mark) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) {
            // Taken and dropped, it is removed.
            drop(Hold::take(common, mark, FlockOperation::NonBlockingLockExclusive)?);
        }
    }
    Ok(swept)
}

/// A file that is locked as long as a restore to one place runs. It is removed when this is dropped.
#[derive(Debug)]
struct Hold {
    path: PathBuf,
    file: File,
}

impl Hold {
    /// Takes the lock; `None` if it is not to be waited for and another process has it.
    fn take(common: &Path, mark: &str, how: FlockOperation) -> Result<Option<Self>, SnapshotFault> {
        let home = common.join(HOME);
        fs::create_dir_all(&home).about(&home)?;
        let path = home.join(format!("{PREFIX}{mark}"));
        loop {
            let file = File::options().create(true).append(true).open(&path).about(&path)?;
            match rustix::fs::flock(&file, how) {
                Ok(()) => {}
                Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
                Err(rustix::io::Errno::INTR) => continue,
                Err(errno) => return Err(errno).about(&path),
            }
            // Its last owner may have removed the file: then our lock is on nothing.
            let mine = file.metadata().about(&path)?.ino();
            match fs::metadata(&path) {
                Ok(meta) if meta.ino() == mine => return Ok(Some(Self { path, file })),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error).about(&path),
            }
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next sweep.
        drop(fs::remove_file(&self.path));
    }
}
