//! Comparing a worktree with a snapshot: is it as it was left?

use crate::fault::SnapshotFault;
use crate::fill::{Item, items};
use crate::gitdir::GitFiles;
use crate::hash::Oid;
use crate::index::{Index, git_mode};
use crate::loaded::Loaded;
use crate::place::Place;
use crate::read::{Limits, Sink, Unreadable, read_all};
use crate::refs;
use crate::scratch::common_of;
use crate::state::{Kind, State, Why};
use crate::survey::{Judging, Memory, Survey, Suspect, survey, survey_by};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// How a worktree stands to a snapshot of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    Untouched,
    /// It is not; the list is sorted by path.
    Changed(Vec<Change>),
    /// There is no worktree at the place.
    Gone,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// Where, as bytes; for HEAD and work in progress, git's own name of it.
    pub path: Vec<u8>,
    pub kind: ChangeKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// A file that the snapshot does not have.
    Added,
    /// A file that only the snapshot has.
    Removed,
    /// Other bytes, or another kind of file.
    Modified,
    Rights,
    /// Something else is staged.
    Staged,
    Head,
    /// A merge, rebase or the like began, ended or went on.
    InProgress,
    /// A repository inside the worktree is gone or cannot be read.
    Repository,
}

/// Compares a worktree with a snapshot that was taken with the same limits. Nothing is written,
/// nothing of the repository is run.
pub fn compare(
    worktree: &Path,
    repo_root: &Path,
    reference: &str,
    limits: &Limits,
) -> Result<Difference, SnapshotFault> {
    compare_at(worktree, repo_root, reference, limits, Place::find)
}

/// How a repository inside the worktree is found.
pub(crate) type Finding = fn(&Path) -> Result<Place, SnapshotFault>;

/// As [`compare`], where what is inside is to be found in its own way.
pub(crate) fn compare_at(
    worktree: &Path,
    repo_root: &Path,
    reference: &str,
    limits: &Limits,
    inside: Finding,
) -> Result<Difference, SnapshotFault> {
    let common = common_of(repo_root)?;
    let found = refs::exact(&common, reference)?;
    let place = match Place::find(worktree) {
        Ok(place) => place,
        Err(SnapshotFault::Gone(_)) => return Ok(Difference::Gone),
        Err(fault) => return Err(fault),
    };
    if place.common.canonicalize().ok() != common.canonicalize().ok() {
        let why = "it belongs to another repository".to_owned();
        return Err(SnapshotFault::InTheWay { path: worktree.to_owned(), why });
    }
    let loaded = Loaded::read(&common, found.commit, reference)?;
    let mut changes = Vec::new();
    let comparison = Comparison { common: &common, limits, inside };
    comparison.differences(&place, &loaded, b"", &mut changes)?;
    changes.sort();
    changes.dedup();
    Ok(if changes.is_empty() { Difference::Untouched } else { Difference::Changed(changes) })
}

struct Comparison<'a> {
    common: &'a Path,
    limits: &'a Limits,
    inside: Finding,
}

impl Comparison<'_> {
    fn differences(
        &self,
        place: &Place,
        loaded: &Loaded,
        prefix: &[u8],
        changes: &mut Vec<Change>,
    ) -> Result<(), SnapshotFault> {
        let mut survey = survey(place)?;
        let mut add = |path: &[u8], kind: ChangeKind| {
            changes.push(Change { path: [prefix, path].concat(), kind });
        };
        let was = files_then(self.common, loaded)?;
        let is = files_now(place, &mut survey, &Then::new(loaded, &was), self.limits)?;
        for path in was.keys().chain(is.keys()).collect::<BTreeSet<_>>() {
            match (was.get(path), is.get(path)) {
                (Some(was), Some(is)) if was.oid != is.oid || was.kind != is.kind => {
                    add(path, ChangeKind::Modified);
                }
                (Some(was), Some(is)) if was.rights != is.rights => add(path, ChangeKind::Rights),
                (Some(_), None) => add(path, ChangeKind::Removed),
                (None, Some(_)) => add(path, ChangeKind::Added),
                (Some(_), Some(_)) | (None, None) => {}
            }
        }
        for path in staged_differences(&loaded.index, &survey.index) {
            add(&path, ChangeKind::Staged);
        }
        if place.head != loaded.state.head {
            add(b"HEAD", ChangeKind::Head);
        }
        for name in in_progress(place, loaded)? {
            add(&name, ChangeKind::InProgress);
        }
        let then: BTreeSet<&[u8]> = loaded.state.nested.iter().map(|n| n.path.as_slice()).collect();
        for path in survey.nested.iter().filter(|path| !then.contains(path.as_slice())) {
            add(path, ChangeKind::Added);
        }
        for nested in &loaded.state.nested {
            let root = place.root.join(OsStr::from_bytes(&nested.path));
            let Ok(inner) = (self.inside)(&root) else {
                changes.push(Change {
                    path: [prefix, &nested.path].concat(),
                    kind: ChangeKind::Repository,
                });
                continue;
            };
            let loaded = Loaded::read(self.common, nested.commit, "nested")?;
            let prefix = [prefix, &nested.path, b"/"].concat();
            self.differences(&inner, &loaded, &prefix, changes)?;
        }
        Ok(())
    }
}

/// A file, as far as a comparison goes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The name of its bytes; `None` if they are too many to be what they were.
    oid: Option<Oid>,
    kind: u32,
    rights: u32,
}

pub(crate) type Files = BTreeMap<Vec<u8>, Seen>;

fn files_then(common: &Path, loaded: &Loaded) -> Result<Files, SnapshotFault> {
    let items = items(common, &loaded.commit.to_string(), "worktree")?;
    Ok(files_of(items, &loaded.state))
}

/// The files that a snapshot holds, by what is below its folder of them.
pub(crate) fn files_of(items: Vec<Item>, state: &State) -> Files {
    let odd: BTreeMap<&[u8], u32> =
        state.odd_rights.iter().map(|(path, mode)| (path.as_slice(), *mode)).collect();
    let mut files = Files::new();
    let mut add = |path: &[u8], mode: u32, oid: Oid| {
        let usual = match mode {
            0o120_000 => 0,
            0o100_755 => state.rights.exec,
            _ => state.rights.plain,
        };
        let rights = odd.get(path).copied().unwrap_or(usual);
        files.insert(path.to_vec(), Seen { oid: Some(oid), kind: mode, rights });
    };
    for item in items {
        if item.mode != 0o160_000 {
            add(&item.path, item.mode, item.oid);
        }
    }
    for (oid, path) in &state.odd_names {
        let kept = state.kept.iter().find(|kept| kept.path == *path);
        add(path, kept.map_or(0o100_644, |kept| git_mode(kept.stat.mode)), *oid);
    }
    files
}

/// Whether a worktree is as a snapshot of it says, by the rules of that time about what is ignored
/// and converted. Repositories inside of it are not looked into: with one, nothing is claimed.
pub(crate) fn is_untouched(
    place: &Place,
    loaded: &Loaded,
    was: &Files,
    limits: &Limits,
) -> Result<bool, SnapshotFault> {
    let mut survey = survey_by(place, &Judging::Remembered(Memory::of(loaded)))?;
    if place.head != loaded.state.head
        || !survey.nested.is_empty()
        || !loaded.state.nested.is_empty()
    {
        return Ok(false);
    }
    let is = files_now(place, &mut survey, &Then::new(loaded, was), limits)?;
    Ok(*was == is
        && staged_differences(&loaded.index, &survey.index).is_empty()
        && in_progress(place, loaded)?.is_empty())
}

/// The snapshot's side of a comparison.
struct Then<'a> {
    state: &'a State,
    files: &'a Files,
    /// What was left out for its size, with that size.
    large: HashMap<&'a [u8], u64>,
    /// How long the files were that the snapshot holds by themselves.
    lengths: HashMap<&'a [u8], u64>,
}

impl<'a> Then<'a> {
    fn new(loaded: &'a Loaded, files: &'a Files) -> Self {
        let large = loaded.not_captured.iter().filter_map(|item| match item.why {
            Why::TooLarge { bytes } => Some((item.path.as_slice(), bytes)),
            Why::Ignored
            | Why::NotAFile
            | Why::EmptyFolder
            | Why::Unreadable
            | Why::Moving
            | Why::Repository { .. } => None,
        });
        let kept = loaded.state.kept.iter();
        let lengths = kept.map(|kept| (kept.path.as_slice(), kept.stat.size)).collect();
        Self { state: &loaded.state, files, large: large.collect(), lengths }
    }

    /// Whether the snapshot left this file out for its size, and the size is what it was. That is
    /// all there is to compare it by.
    fn left_out(&self, suspect: &Suspect) -> bool {
        self.large.get(suspect.path.as_slice()) == Some(&suspect.stat.size)
    }

    /// Whether the snapshot holds a file of this name whose length, as far as it is known, is the
    /// same. Only then is a file above the limit worth reading.
    fn may_hold(&self, suspect: &Suspect) -> bool {
        let length = self.lengths.get(suspect.path.as_slice());
        self.files.contains_key(&suspect.path)
            && length.is_none_or(|length| *length == suspect.stat.size)
    }
}

fn files_now(
    place: &Place,
    survey: &mut Survey,
    then: &Then<'_>,
    limits: &Limits,
) -> Result<Files, SnapshotFault> {
    survey.suspects.retain(|suspect| !then.left_out(suspect));
    let usual = Limits { unreadable: Unreadable::List, ..*limits };
    let all = Limits { file_bytes_max: u64::MAX, ..usual };
    let suspects = std::mem::take(&mut survey.suspects);
    let (known, others) = suspects.into_iter().partition(|suspect| then.may_hold(suspect));
    let mut files = Files::new();
    let mut add = |path: &[u8], mode: u32, oid: Option<Oid>| {
        let kind = git_mode(mode);
        let rights = if kind == 0o120_000 { 0 } else { mode & 0o7777 };
        files.insert(path.to_vec(), Seen { oid, kind, rights });
    };
    for (at, stat) in &survey.clean {
        let entry = &survey.index.entries[*at];
        add(&entry.path, stat.mode, Some(entry.oid));
    }
    for (suspects, limits) in [(known, all), (others, usual)] {
        survey.suspects = suspects;
        // A file that could have been converted and was not is listed nowhere else.
        for suspect in survey.suspects.iter().filter(|suspect| suspect.kind == Kind::Converted) {
            if let Some(at) = suspect.entry {
                add(&suspect.path, suspect.stat.mode, Some(survey.index.entries[at].oid));
            }
        }
        let before = Some(then.state);
        let read = read_all(survey, place.format, &limits, before, &mut Sink::Nowhere)?;
        for kept in &read.kept {
            add(&kept.path, kept.stat.mode, Some(kept.oid));
        }
        let large = survey.suspects.iter().filter(|one| one.stat.size > limits.file_bytes_max);
        for suspect in large.filter(|one| !read.kept.iter().any(|kept| kept.path == one.path)) {
            add(&suspect.path, suspect.stat.mode, None);
        }
    }
    Ok(files)
}

fn staged_differences(was: &Index, is: &Index) -> Vec<Vec<u8>> {
    let key = |index: &Index| -> BTreeSet<(Vec<u8>, u8, u32, Oid)> {
        let entries = index.entries.iter();
        entries.map(|entry| (entry.path.clone(), entry.stage, entry.mode, entry.oid)).collect()
    };
    let (was, is) = (key(was), key(is));
    was.symmetric_difference(&is).map(|(path, ..)| path.clone()).collect()
}

/// Files of work in progress that are not what they were.
fn in_progress(place: &Place, loaded: &Loaded) -> Result<Vec<Vec<u8>>, SnapshotFault> {
    /// These tell of the past, not of work in progress.
    const PAST: [&[u8]; 4] = [b"HEAD", b"ORIG_HEAD", b"FETCH_HEAD", b"COMMIT_EDITMSG"];
    let now = GitFiles::read(place)?;
    let matters = |name: &[u8]| {
        !PAST.contains(&name)
            && !name.starts_with(b"glis-")
            && !name.starts_with(b"hooks/")
            && !name.starts_with(b"logs/")
            && !matches!(name, b"config" | b"description")
            && !matches!(name, b"info/exclude" | b"info/attributes")
    };
    let pick = |files: &[(Vec<u8>, Vec<u8>)]| -> BTreeSet<(Vec<u8>, Vec<u8>)> {
        files.iter().filter(|(name, _)| matters(name)).cloned().collect()
    };
    let (was, is) = (pick(&loaded.git_files), pick(&now.files));
    Ok(was.symmetric_difference(&is).map(|(name, _)| name.clone()).collect())
}
