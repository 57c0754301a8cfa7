//! Reading the files that have to be read: each once, as it is in one moment if it ever rests.

use crate::fault::{SnapshotFault, said_by_system};
use crate::hash::{Format, Hasher, Oid, blob_name};
use crate::import::Writer;
use crate::index::{Entry, Stat, git_mode};
use crate::scratch::now_ns;
use crate::state::{Kept, Kind, NotCaptured, State, Why};
use crate::survey::{Survey, Suspect};
use crate::walk::{Root, from_system};
use rustix::io::Errno;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

/// Up to here a file is read into memory first, so its length is known for sure.
const SMALL_BYTES_MAX: u64 = 4 << 20;
/// How often a file is read again because it changed meanwhile.
const READS_MAX: u32 = 3;
/// Two changes within one tick of the file system's clock look like one. A tick is at most 10 ms.
const TICK_NS: i64 = 50_000_000;

/// What a snapshot takes, and what it leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Larger files are listed and not kept.
    pub file_bytes_max: u64,
    /// What to do about a tracked file that has changed and cannot be read.
    pub unreadable: Unreadable,
}

impl Default for Limits {
    fn default() -> Self {
        Self { file_bytes_max: 100 << 20, unreadable: Unreadable::Refuse }
    }
}

/// What to do about a tracked file that has changed and cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// Make no snapshot and name the file.
    Refuse,
    /// List it and go on.
    List,
}

pub(crate) enum Sink<'a> {
    /// Into a snapshot, unless it has them already.
    Import { writer: &'a mut Writer, sent: HashSet<Oid> },
    /// Nowhere: only the names of the bytes are wanted.
    Nowhere,
}

#[derive(Debug, Default)]
pub(crate) struct ReadUp {
    pub(crate) kept: Vec<Kept>,
    /// Tracked files that went away, or that are not kept: the snapshot must not show old bytes.
    pub(crate) gone: Vec<Vec<u8>>,
    pub(crate) not_captured: Vec<NotCaptured>,
}

/// Reads all suspects of a survey.
pub(crate) fn read_all(
    survey: &Survey,
    format: Format,
    limits: &Limits,
    previous: Option<&State>,
    sink: &mut Sink<'_>,
) -> Result<ReadUp, SnapshotFault> {
    let mut result = ReadUp::default();
    let before = previous.map(trusted).unwrap_or_default();
    for suspect in &survey.suspects {
        let entry = suspect.entry.map(|at| &survey.index.entries[at]);
        let outcome = match before.get(suspect.path.as_slice()) {
            Some(kept) if same_file(&kept.stat, &suspect.stat) => {
                Outcome::Read { stat: suspect.stat, oid: kept.oid, moving: false }
            }
            _ if suspect.stat.size > limits.file_bytes_max => {
                large(&survey.root, format, suspect, entry)
            }
            _ => Reader { root: &survey.root, format, sink }.read(suspect),
        };
        match outcome {
            Outcome::Read { stat, oid, moving } => {
                if moving {
                    result.not_captured.push(not_captured(suspect, Why::Moving));
                }
                let same = entry.is_some_and(|entry| {
                    entry.stage == 0
                        && entry.oid == oid
                        && entry.mode == git_mode(stat.mode)
                        && !entry.flags.intent_to_add
                });
                let kind = match suspect.kind {
                    Kind::Converted if same => continue,
                    Kind::Changed if same => Kind::Same,
                    kind @ (Kind::Changed | Kind::Converted | Kind::Untracked | Kind::Same) => kind,
                };
                result.kept.push(Kept { kind, stat, oid, path: suspect.path.clone() });
            }
            Outcome::Vanished => result.gone.extend(entry.map(|_| suspect.path.clone())),
            Outcome::Left(why) => {
                result.gone.extend(entry.map(|_| suspect.path.clone()));
                result.not_captured.push(not_captured(suspect, why));
            }
            Outcome::Refused(errno) => {
                if entry.is_some() && limits.unreadable == Unreadable::Refuse {
                    let path = Path::new(OsStr::from_bytes(&suspect.path)).to_owned();
                    return Err(SnapshotFault::Unreadable { path, source: errno.into() });
                }
                result.gone.extend(entry.map(|_| suspect.path.clone()));
                result.not_captured.push(not_captured(suspect, Why::Unreadable));
            }
            Outcome::Fault(fault) => return Err(fault),
        }
    }
    Ok(result)
}

/// A file above the limit is left out, unless it is what git has already: then only its times have
/// changed, and there is nothing to keep.
fn large(root: &Root, format: Format, suspect: &Suspect, entry: Option<&Entry>) -> Outcome {
    let left = Outcome::Left(Why::TooLarge { bytes: suspect.stat.size });
    let Some(entry) = entry.filter(|entry| {
        suspect.kind == Kind::Changed && entry.stage == 0 && entry.may_have_size(suspect.stat.size)
    }) else {
        return left;
    };
    match (Reader { root, format, sink: &mut Sink::Nowhere }).read(suspect) {
        same @ Outcome::Read { oid, .. } if oid == entry.oid => same,
        Outcome::Read { .. } | Outcome::Left(_) => left,
        other @ (Outcome::Vanished | Outcome::Refused(_) | Outcome::Fault(_)) => other,
    }
}

fn not_captured(suspect: &Suspect, why: Why) -> NotCaptured {
    NotCaptured { path: suspect.path.clone(), why }
}

/// The files whose names in the snapshot before can be believed as long as their times stand.
fn trusted(state: &State) -> HashMap<&[u8], &Kept> {
    state.kept.iter().map(|kept| (kept.path.as_slice(), kept)).collect()
}

/// How long ago, in nanoseconds, a file was touched; never less than nothing.
fn age_ns(stat: &Stat) -> i64 {
    now_ns().saturating_sub(stat.mtime_ns.max(stat.ctime_ns)).max(0)
}

fn same_file(was: &Stat, is: &Stat) -> bool {
    (was.mode, was.size, was.mtime_ns, was.ctime_ns, was.ino)
        == (is.mode, is.size, is.mtime_ns, is.ctime_ns, is.ino)
}

enum Outcome {
    Read {
        stat: Stat,
        oid: Oid,
        moving: bool,
    },
    /// It was there when the walk came by, and is no more.
    Vanished,
    Left(Why),
    Refused(Errno),
    Fault(SnapshotFault),
}

impl Outcome {
    /// Forgets the time of a file that was too young when it was read: it could change once more
    /// without looking any different, so the next snapshot has to read it again.
    fn doubted(mut self, young: i64) -> Self {
        if let Self::Read { stat, .. } = &mut self
            && young > 0
        {
            stat.ctime_ns = 0;
        }
        self
    }
}

struct Reader<'r, 's, 'i> {
    root: &'r Root,
    format: Format,
    sink: &'s mut Sink<'i>,
}

impl Reader<'_, '_, '_> {
    fn read(&mut self, suspect: &Suspect) -> Outcome {
        let mut stat = suspect.stat;
        for _ in 0..READS_MAX {
            let tried = if stat.mode & 0o170_000 == 0o120_000 {
                self.link(&suspect.path, stat)
            } else {
                self.file(&suspect.path)
            };
            match tried {
                Ok(outcome) => return outcome,
                Err(Errno::NOENT | Errno::NOTDIR) => return Outcome::Vanished,
                // It became something else since the walk: look again.
                Err(Errno::LOOP | Errno::INVAL | Errno::NXIO) => {
                    match self.root.stat(&suspect.path) {
                        Ok(now) if git_mode(now.mode) == 0 => return Outcome::Left(Why::NotAFile),
                        Ok(now) => stat = now,
                        Err(_) => return Outcome::Vanished,
                    }
                }
                Err(errno) => return Outcome::Refused(errno),
            }
        }
        Outcome::Left(Why::Moving)
    }

    fn link(&mut self, path: &[u8], stat: Stat) -> Result<Outcome, Errno> {
        let young = TICK_NS.saturating_sub(age_ns(&stat));
        let target = self.root.read_link(path)?;
        Ok(self.store(stat, &target).doubted(young))
    }

    fn file(&mut self, path: &[u8]) -> Result<Outcome, Errno> {
        for turn in 1..=READS_MAX {
            let mut file = self.root.open_file(path)?;
            let stat = from_system(&rustix::fs::fstat(&file)?);
            if stat.mode & 0o170_000 != 0o100_000 {
                return Ok(Outcome::Left(Why::NotAFile));
            }
            let young = TICK_NS.saturating_sub(age_ns(&stat));
            if young > 0 && stat.size > SMALL_BYTES_MAX {
                // A moment's rest now saves the next snapshots from reading it all again.
                std::thread::sleep(Duration::from_nanos(young.unsigned_abs()));
            }
            let outcome = if stat.size <= SMALL_BYTES_MAX {
                self.small(&mut file, stat, turn)?
            } else {
                self.large(&mut file, stat, turn)?
            };
            if let Some(outcome) = outcome {
                return Ok(if stat.size > SMALL_BYTES_MAX {
                    outcome
                } else {
                    outcome.doubted(young)
                });
            }
        }
        Ok(Outcome::Left(Why::Moving))
    }

    /// Whatever the read returns is a state the file was in, or between two: so its length cannot
    /// be wrong.
    fn small(&mut self, file: &mut File, stat: Stat, turn: u32) -> Result<Option<Outcome>, Errno> {
        let mut bytes = Vec::with_capacity(usize::try_from(stat.size).unwrap_or_default());
        file.take(SMALL_BYTES_MAX * 2).read_to_end(&mut bytes).map_err(|error| errno(&error))?;
        let rested =
            from_system(&rustix::fs::fstat(&*file)?) == stat && bytes.len() as u64 == stat.size;
        let fits = bytes.len() as u64 <= SMALL_BYTES_MAX;
        if !(rested || turn == READS_MAX && fits) {
            return Ok(None);
        }
        let mut outcome = self.store(stat, &bytes);
        if let Outcome::Read { moving, .. } = &mut outcome {
            *moving = !rested;
        }
        Ok(Some(outcome))
    }

    /// Git wants the length before the bytes. A file that shrinks under us gives a blob that ends
    /// in zeros: that one stays unused in the pack, and the file is read again.
    fn large(&mut self, file: &mut File, stat: Stat, turn: u32) -> Result<Option<Outcome>, Errno> {
        let mut through =
            Through { file, hasher: Hasher::blob(self.format, stat.size), failed: None };
        let had = match self.sink {
            Sink::Import { writer, .. } => {
                writer.import().and_then(|import| import.stream(&mut through, stat.size))
            }
            Sink::Nowhere => {
                std::io::copy(&mut Read::take(&mut through, stat.size), &mut std::io::sink())
                    .map_err(|error| said_by_system(Path::new("."), error))
            }
        };
        let had = match had {
            Ok(had) => had,
            Err(fault) => return Ok(Some(Outcome::Fault(fault))),
        };
        if let Some(errno) = through.failed {
            return Err(errno);
        }
        let oid = through.hasher.finish();
        let rested = from_system(&rustix::fs::fstat(&*file)?) == stat;
        let whole = had == stat.size;
        Ok((whole && (rested || turn == READS_MAX)).then_some(Outcome::Read {
            stat,
            oid,
            moving: !rested,
        }))
    }

    fn store(&mut self, stat: Stat, bytes: &[u8]) -> Outcome {
        let oid = blob_name(self.format, bytes);
        if let Sink::Import { writer, sent } = self.sink
            && sent.insert(oid)
            && let Err(fault) = writer.import().and_then(|import| import.blob(bytes))
        {
            return Outcome::Fault(fault);
        }
        Outcome::Read { stat, oid, moving: false }
    }
}

/// Computes the name of what goes through.
struct Through<'a> {
    file: &'a mut File,
    hasher: Hasher,
    failed: Option<Errno>,
}

impl Read for Through<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let got = self.file.read(buffer).inspect_err(|error| {
            self.failed = error.raw_os_error().map(Errno::from_raw_os_error);
        })?;
        self.hasher.update(&buffer[..got]);
        Ok(got)
    }
}

fn errno(error: &std::io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error)
}
