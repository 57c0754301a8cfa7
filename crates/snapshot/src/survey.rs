//! What the worktree looks like, before any file is read: which files have to be, which are gone,
//! and what a snapshot will not hold.

use crate::commit::SENT;
use crate::convert;
use crate::fault::SnapshotFault;
use crate::ignore::{Judge, Rules};
use crate::index::{Index, Stat, git_mode};
use crate::loaded::Loaded;
use crate::place::Place;
use crate::state::{Kind, NotCaptured, Rights, Why};
use crate::walk::{Known, Met, Root, Stranger};
use std::collections::{HashMap, HashSet};
use std::os::unix::fs::MetadataExt as _;

/// A file whose bytes have to be read.
#[derive(Debug)]
pub(crate) struct Suspect {
    pub(crate) path: Vec<u8>,
    pub(crate) stat: Stat,
    pub(crate) kind: Kind,
    /// Its entry in the index, if git tracks it.
    pub(crate) entry: Option<usize>,
}

/// The worktree in one look.
#[derive(Debug)]
pub(crate) struct Survey {
    pub(crate) index: Index,
    pub(crate) root: Root,
    pub(crate) suspects: Vec<Suspect>,
    /// Tracked files that are there and surely unchanged.
    pub(crate) clean: Vec<(usize, Stat)>,
    pub(crate) gone: Vec<Vec<u8>>,
    pub(crate) empty: Vec<(Vec<u8>, u32)>,
    pub(crate) nested: Vec<Vec<u8>>,
    pub(crate) rights: Rights,
    pub(crate) odd_rights: Vec<(Vec<u8>, u32)>,
    pub(crate) not_captured: Vec<NotCaptured>,
    pub(crate) clock_ns: i64,
}

/// Who says what is ignored and what may have been converted.
pub(crate) enum Judging {
    Asked,
    /// A snapshot, of the time when it was taken.
    Remembered(Memory),
}

impl Judging {
    /// Begins to judge what is ignored. Git is not started if nothing is to be judged.
    fn verdicts<'a>(
        &'a self,
        place: &Place,
        known: &Known<'_>,
        met: &Met,
        traps: &Traps,
    ) -> Result<Verdicts<'a>, SnapshotFault> {
        Ok(match self {
            Self::Asked if met.strangers.is_empty() => Verdicts::Remembered(None),
            Self::Asked => {
                let rules = if traps.ignore { Rules::OutOfReach } else { known.rules() };
                Verdicts::Asked(Judge::start(place, rules)?)
            }
            Self::Remembered(memory) => Verdicts::Remembered(Some(memory)),
        })
    }

    /// Moves what may differ after a conversion from the clean to the suspects.
    fn convert(
        &self,
        place: &Place,
        index: &Index,
        traps: &Traps,
        clean: &mut Vec<(usize, Stat)>,
        suspects: &mut Vec<Suspect>,
    ) -> Result<(), SnapshotFault> {
        match self {
            Self::Asked => {
                let names: Vec<&[u8]> = suspects.iter().map(|one| one.path.as_slice()).collect();
                if clean.is_empty() || !convert::is_possible(place, index, &names) {
                    return Ok(());
                }
                convert(place, index, traps, clean, suspects)
            }
            Self::Remembered(memory) => {
                let is_one = |at: &usize| memory.converted.contains(&index.entries[*at].path);
                let found: Vec<usize> = clean.iter().map(|(at, _)| *at).filter(is_one).collect();
                suspect(index, &found, clean, suspects);
                Ok(())
            }
        }
    }
}

/// What a snapshot knows of git's judgements.
pub(crate) struct Memory {
    ignored: HashSet<Vec<u8>>,
    converted: HashSet<Vec<u8>>,
}

impl Memory {
    pub(crate) fn of(loaded: &Loaded) -> Self {
        let ignored = loaded.not_captured.iter().filter(|item| item.why == Why::Ignored);
        let converted = loaded.state.kept.iter().filter(|kept| kept.kind == Kind::Converted);
        Self {
            ignored: ignored.map(|item| item.path.clone()).collect(),
            converted: converted.map(|kept| kept.path.clone()).collect(),
        }
    }
}

pub(crate) fn survey(place: &Place) -> Result<Survey, SnapshotFault> {
    survey_by(place, &Judging::Asked)
}

/// As [`survey`], judged in one way or the other.
pub(crate) fn survey_by(place: &Place, judging: &Judging) -> Result<Survey, SnapshotFault> {
    let clock_ns = crate::scratch::now_ns();
    let index = place.index()?;
    let root = Root::open(&place.root)?;
    let known = Known::new(&index);
    let mut met = root.walk(&known, vec![Vec::new()])?;
    let mut not_captured = Vec::new();
    let traps = Traps::find(place, &index, &met);
    let mut judge = judging.verdicts(place, &known, &met, &traps)?;
    let strangers = sift(&root, &known, &mut met, &mut judge, &mut not_captured)?;
    let mut suspects = Vec::new();
    for stranger in strangers {
        let Stranger { path, stat } = stranger;
        suspects.push(Suspect { path, stat, kind: Kind::Untracked, entry: None });
    }
    let mut seen = vec![false; index.entries.len()];
    let mut clean = Vec::new();
    for (at, stat) in met.tracked.drain(..) {
        seen[at] = true;
        let entry = &index.entries[at];
        if entry.is_link() && git_mode(stat.mode) == entry.mode {
            continue;
        }
        if git_mode(stat.mode) == 0 {
            not_captured.push(NotCaptured { path: entry.path.clone(), why: Why::NotAFile });
            seen[at] = false;
        } else if entry.stage == 0 && entry.is_unchanged(&stat, index.mtime_ns) {
            clean.push((at, stat));
        } else {
            let path = entry.path.clone();
            suspects.push(Suspect { path, stat, kind: Kind::Changed, entry: Some(at) });
        }
    }
    clean.sort_unstable_by_key(|(at, _)| *at);
    judging.convert(place, &index, &traps, &mut clean, &mut suspects)?;
    let gone = gone(&index, &seen);
    let (rights, odd_rights) = rights(place, &index, &clean, &suspects, &met);
    for path in met.lost_git.drain(..) {
        let what = "it leads to no repository that could be saved by itself".to_owned();
        not_captured.push(NotCaptured { path, why: Why::Repository { what } });
    }
    for (path, _) in &met.empty {
        not_captured.push(NotCaptured { path: path.clone(), why: Why::EmptyFolder });
    }
    for (path, _) in met.unreadable.drain(..) {
        not_captured.push(NotCaptured { path, why: Why::Unreadable });
    }
    suspects.sort_by(|a, b| a.path.cmp(&b.path));
    met.empty.sort();
    met.nested.sort();
    Ok(Survey {
        root,
        suspects,
        clean,
        gone,
        empty: met.empty,
        nested: met.nested,
        rights,
        odd_rights,
        not_captured,
        clock_ns,
        index,
    })
}

/// Separates what git ignores from the other untracked files, going into folders as needed.
fn sift(
    root: &Root,
    known: &Known<'_>,
    met: &mut Met,
    judge: &mut Verdicts<'_>,
    not_captured: &mut Vec<NotCaptured>,
) -> Result<Vec<Stranger>, SnapshotFault> {
    let mut kept = Vec::new();
    let mut waiting = std::mem::take(&mut met.strangers);
    while !waiting.is_empty() {
        let names: Vec<&[u8]> = waiting.iter().map(|stranger| stranger.path.as_slice()).collect();
        let verdicts = judge
            .judge(&names)
            .ok_or_else(|| SnapshotFault::Broken("git check-ignore ended early".to_owned()))?;
        let mut folders = Vec::new();
        for (stranger, ignored) in waiting.drain(..).zip(verdicts) {
            let path = stranger.path.clone();
            if ignored && !was_sent(&path) {
                not_captured.push(NotCaptured { path, why: Why::Ignored });
            } else if stranger.is_folder() {
                folders.push(path);
            } else if git_mode(stranger.stat.mode) == 0 {
                not_captured.push(NotCaptured { path, why: Why::NotAFile });
            } else {
                kept.push(stranger);
            }
        }
        if !folders.is_empty() {
            let mut more = root.walk(known, folders)?;
            waiting = std::mem::take(&mut more.strangers);
            met.tracked.append(&mut more.tracked);
            met.nested.append(&mut more.nested);
            met.lost_git.append(&mut more.lost_git);
            met.empty.append(&mut more.empty);
            met.folders.append(&mut more.folders);
            met.unreadable.append(&mut more.unreadable);
        }
    }
    if judge.went_mute() {
        let what =
            "git did not say what it ignores, so ignored files are in the snapshot".to_owned();
        not_captured
            .push(NotCaptured { path: b".gitignore".to_vec(), why: Why::Repository { what } });
    }
    Ok(kept)
}

/// Whether this came with a message, or is the folder of what did.
fn was_sent(path: &[u8]) -> bool {
    let below = path.strip_prefix(SENT.as_bytes());
    below.is_some_and(|below| below.is_empty() || below.starts_with(b"/"))
}

/// Where the verdicts about what is ignored come from.
enum Verdicts<'a> {
    Asked(Judge),
    Remembered(Option<&'a Memory>),
}

impl Verdicts<'_> {
    fn judge(&mut self, names: &[&[u8]]) -> Option<Vec<bool>> {
        match self {
            Self::Asked(judge) => judge.judge(names),
            Self::Remembered(memory) => {
                let is_ignored =
                    |name: &&[u8]| memory.is_some_and(|memory| memory.ignored.contains(*name));
                Some(names.iter().map(is_ignored).collect())
            }
        }
    }

    fn went_mute(&self) -> bool {
        match self {
            Self::Asked(judge) => judge.went_mute(),
            Self::Remembered(_) => false,
        }
    }
}

/// Moves what may differ after a conversion from the clean to the suspects.
fn convert(
    place: &Place,
    index: &Index,
    traps: &Traps,
    clean: &mut Vec<(usize, Stat)>,
    suspects: &mut Vec<Suspect>,
) -> Result<(), SnapshotFault> {
    let regular = |at: usize| index.entries[at].mode & 0o170_000 == 0o100_000;
    let files: Vec<_> = clean.iter().copied().filter(|(at, _)| regular(*at)).collect();
    let found = if traps.attributes {
        files.iter().map(|(at, _)| *at).collect()
    } else {
        convert::suspects(place, index, &files)?
    };
    suspect(index, &found, clean, suspects);
    Ok(())
}

/// Makes suspects of some of the clean files.
fn suspect(
    index: &Index,
    found: &[usize],
    clean: &mut Vec<(usize, Stat)>,
    suspects: &mut Vec<Suspect>,
) {
    let stats: HashMap<usize, Stat> = clean.iter().copied().collect();
    clean.retain(|(at, _)| found.binary_search(at).is_err());
    for at in found {
        if let Some(stat) = stats.get(at) {
            let path = index.entries[*at].path.clone();
            suspects.push(Suspect { path, stat: *stat, kind: Kind::Converted, entry: Some(*at) });
        }
    }
}

/// Tracked paths that are not on the disk.
fn gone(index: &Index, seen: &[bool]) -> Vec<Vec<u8>> {
    let missing = index.entries.iter().zip(seen).filter(|(entry, seen)| {
        // Only what is in the staged tree can be missing from the one on the disk.
        !**seen && entry.stage == 0 && !entry.flags.intent_to_add
    });
    missing
        .map(|(entry, _)| entry.path.strip_suffix(b"/").unwrap_or(&entry.path).to_vec())
        .collect()
}

/// Finds the usual rights and those who have others.
fn rights(
    place: &Place,
    index: &Index,
    clean: &[(usize, Stat)],
    suspects: &[Suspect],
    met: &Met,
) -> (Rights, Vec<(Vec<u8>, u32)>) {
    let files = || {
        let clean = clean.iter().map(|(at, stat)| (index.entries[*at].path.as_slice(), stat.mode));
        let others = suspects.iter().map(|suspect| (suspect.path.as_slice(), suspect.stat.mode));
        clean.chain(others).filter(|(_, mode)| mode & 0o170_000 == 0o100_000)
    };
    let is_exec = |mode: u32| mode & 0o100 != 0;
    let rights = Rights {
        plain: usual(files().map(|(_, mode)| mode).filter(|mode| !is_exec(*mode)), 0o644),
        exec: usual(files().map(|(_, mode)| mode).filter(|mode| is_exec(*mode)), 0o755),
        folder: usual(met.folders.iter().map(|(_, mode)| *mode), 0o755),
    };
    let mut odd = Vec::new();
    for (path, mode) in files() {
        let wanted = if is_exec(mode) { rights.exec } else { rights.plain };
        if mode & 0o7777 != wanted {
            odd.push((path.to_vec(), mode & 0o7777));
        }
    }
    for (path, mode) in &met.folders {
        if *mode != rights.folder {
            odd.push((path.clone(), *mode));
        }
    }
    if let Ok(meta) = std::fs::symlink_metadata(place.root.join(".git")) {
        let usual = if meta.is_dir() { rights.folder } else { rights.plain };
        if meta.mode() & 0o7777 != usual {
            odd.push((b".git".to_vec(), meta.mode() & 0o7777));
        }
    }
    odd.sort();
    odd.dedup();
    (rights, odd)
}

fn usual(modes: impl Iterator<Item = u32>, otherwise: u32) -> u32 {
    let mut counts: HashMap<u32, usize> = HashMap::new();
    for mode in modes {
        *counts.entry(mode & 0o7777).or_default() += 1;
    }
    // The mode itself decides between two that are equally many, so that the answer is stable.
    counts
        .into_iter()
        .max_by_key(|(mode, count)| (*count, *mode))
        .map_or(otherwise, |(mode, _)| mode)
}

/// Rule files that are no files. Git would wait on a pipe for ever, so it is not asked: then
/// everything counts as not ignored, and every file is read.
struct Traps {
    ignore: bool,
    attributes: bool,
}

impl Traps {
    fn find(place: &Place, index: &Index, met: &Met) -> Self {
        let strange = |mode: u32| git_mode(mode) == 0;
        let tracked = met.tracked.iter().filter(|(_, stat)| strange(stat.mode));
        let tracked = tracked.map(|(at, _)| index.entries[*at].path.as_slice());
        let others = met.strangers.iter().filter(|one| strange(one.stat.mode));
        let names: Vec<&[u8]> = tracked.chain(others.map(|one| one.path.as_slice())).collect();
        let any = |name: &[u8], shared: &str| {
            let meta = std::fs::metadata(place.common.join(shared));
            names.iter().any(|path| path.ends_with(name)) || meta.is_ok_and(|meta| !meta.is_file())
        };
        Self {
            ignore: any(b".gitignore", "info/exclude"),
            attributes: any(b".gitattributes", "info/attributes"),
        }
    }
}

impl Known<'_> {
    /// A sparse checkout may leave a `.gitignore` in the index only.
    fn rules(&self) -> Rules {
        let hidden = self.entries().iter().any(|entry| {
            entry.flags.skip_worktree
                && (entry.path.ends_with(b".gitignore") || entry.mode == 0o040_000)
        });
        if hidden { Rules::AlsoInIndex } else { Rules::OnDisk }
    }
}
