//! Saving a worktree: look, read, write one commit, read it back, publish it.

use crate::fault::SnapshotFault;
use crate::gitdir::GitFiles;
use crate::hash::{Hasher, Oid};
use crate::import::{Commit, Writer, put, put_bytes, put_index, take};
use crate::index::git_mode;
use crate::nested;
use crate::objects::{Kind as ObjectKind, Objects};
use crate::place::Place;
use crate::read::{Limits, Sink, read_all};
use crate::refs::{self, Found, SNAP};
use crate::scratch::{Keeps, Scratch, now_ns};
use crate::state::{Kind, NotCaptured, State, list_to_bytes};
use crate::survey::{Survey, survey};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What is to be saved.
#[derive(Debug, Clone)]
pub struct SaveRequest<'a> {
    /// The top of the worktree.
    pub worktree: &'a Path,
    /// Whose snapshot it is; part of its ref's name.
    pub session: &'a str,
    /// A line for people.
    pub why: &'a str,
    /// What to leave out.
    pub limits: Limits,
    /// Snapshots with this line are thinned out: none of them stands in for one with another line.
    pub passing: Option<&'a str>,
}

/// A snapshot that is on the disk and was read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// Its name.
    pub reference: String,
    /// Its commit.
    pub commit: String,
    /// How many paths differ from HEAD.
    pub changed: usize,
    /// What is in the worktree and not in the snapshot.
    pub not_captured: Vec<NotCaptured>,
    /// Whether it was made by this call. If nothing had changed, it is the one before.
    pub fresh: bool,
}

/// Saves the whole uncommitted state of a worktree. The worktree, its index and its locks are not
/// touched, and nothing that the repository configures is run.
pub fn save(request: &SaveRequest<'_>) -> Result<Saved, SnapshotFault> {
    let session = refs::part(request.session)?;
    let place = Place::find(request.worktree)?;
    match save_place(&place, session, request) {
        // An agent's `gc` or `rebase` can take away under us what we had just read about.
        Err(SnapshotFault::Broken(_) | SnapshotFault::Git(_)) => {
            let place = Place::find(request.worktree)?;
            save_place(&place, session, request)
        }
        done => done,
    }
}

/// Saves a worktree that was found already.
pub(crate) fn save_place(
    place: &Place,
    session: &str,
    request: &SaveRequest<'_>,
) -> Result<Saved, SnapshotFault> {
    let SaveRequest { why, limits, passing, .. } = request;
    let keeps = Keeps::default();
    let store = Store { common: place.common.clone(), more: Vec::new(), keeps: &keeps };
    let before = || -> Result<_, SnapshotFault> {
        // One that has lost its objects must not keep the next from being taken.
        let found = refs::below(&place.common, &format!("{SNAP}/{session}"), Some(1));
        let found = found.ok().and_then(|mut found| found.pop());
        let mut objects = Objects::open(&place.common)?;
        let previous = found.and_then(|found| Previous::read(found, &mut objects).ok());
        Ok((previous, objects))
    };
    let (survey, before) = std::thread::scope(|scope| {
        let before = crate::beside::within(scope, before)?;
        let survey = survey(place);
        let ended = |_| Err(SnapshotFault::Broken("a thread ended".into()));
        Ok::<_, SnapshotFault>((survey, before.join().unwrap_or_else(ended)))
    })?;
    let (previous, mut objects) = before?;
    let (extra, inside) = (Extra::default(), Inside::Saved);
    let job = Job { place, store: &store, limits, extra, depth: 0, inside };
    let picture = job.picture(survey?, previous.as_ref(), &mut objects)?;
    drop(objects);
    let stands = |previous: &&Previous| {
        let line = previous.found.value("why");
        previous.digest == picture.digest && (line == Some(*why) || line != *passing)
    };
    if let Some(previous) = previous.as_ref().filter(stands) {
        return Ok(Saved {
            reference: previous.found.name.clone(),
            commit: previous.found.commit.to_string(),
            changed: picture.changed,
            not_captured: picture.not_captured,
            fresh: false,
        });
    }
    let now = u64::try_from(now_ns() / 1_000_000).unwrap_or_default();
    let last = previous.as_ref().map_or(0, |previous| previous.found.millis());
    let id = format!("{:013}-{:08x}", now.max(last + 1), chance());
    let reference = format!("{SNAP}/{session}/{id}");
    let words = [("session", session), ("why", *why)];
    let (changed, not_captured) = (picture.changed, picture.not_captured.clone());
    let (commit, scratch) = job.write(picture, &words)?;
    scratch.publish(&keeps)?;
    check(&scratch, &commit)?;
    refs::publish(&place.common, &reference, &commit)?;
    // While the throw-away repository is still locked: a sweep must not find one without the other.
    keeps.release();
    Ok(Saved { reference, commit: commit.to_string(), changed, not_captured, fresh: true })
}

/// A few bits nobody else has, so that two savers never choose the same name.
fn chance() -> u64 {
    use std::hash::{BuildHasher as _, Hasher as _};
    let random = std::collections::hash_map::RandomState::new().build_hasher().finish();
    random & 0xffff_ffff
}

/// Where objects go, and where else they may come from.
#[derive(Debug)]
pub(crate) struct Store<'a> {
    pub(crate) common: PathBuf,
    pub(crate) more: Vec<PathBuf>,
    /// Guards the packs of all repositories of this save until the outer one is published.
    pub(crate) keeps: &'a Keeps,
}

/// The snapshot before this one.
#[derive(Debug)]
pub(crate) struct Previous {
    pub(crate) found: Found,
    pub(crate) digest: String,
    pub(crate) state: Option<State>,
}

impl Previous {
    pub(crate) fn read(found: Found, objects: &mut Objects) -> Result<Self, SnapshotFault> {
        let bytes = objects.read(&format!("{}:state", found.commit))?;
        let digest = found.value("digest").unwrap_or_default().to_owned();
        Ok(Self { found, digest, state: bytes.and_then(|bytes| State::from_bytes(&bytes)) })
    }
}

/// What a nested repository brings along that an outer one keeps elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Extra {
    pub(crate) parents: Vec<Oid>,
    /// Blobs that must live as long as the snapshot.
    pub(crate) others: Vec<Oid>,
    /// What does not come along.
    pub(crate) not_captured: Vec<NotCaptured>,
    pub(crate) files: Vec<(Vec<u8>, Vec<u8>)>,
}

/// One worktree that is being saved.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    pub(crate) place: &'a Place,
    pub(crate) store: &'a Store<'a>,
    pub(crate) limits: &'a Limits,
    pub(crate) extra: Extra,
    /// How many repositories it is inside of.
    pub(crate) depth: u32,
    pub(crate) inside: Inside,
}

/// What becomes of repositories inside the worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inside {
    /// Each is saved, in the outer one's store.
    Saved,
    /// They are not looked at.
    LeftOut,
}

/// All that goes into the commit.
#[derive(Debug)]
pub(crate) struct Picture {
    pub(crate) digest: String,
    pub(crate) changed: usize,
    pub(crate) not_captured: Vec<NotCaptured>,
    survey: Survey,
    state: State,
    git_files: GitFiles,
    writer: Writer,
}

impl Job<'_> {
    /// Reads what has to be read. New bytes are on their way to git already when this returns.
    pub(crate) fn picture(
        &self,
        mut survey: Survey,
        previous: Option<&Previous>,
        objects: &mut Objects,
    ) -> Result<Picture, SnapshotFault> {
        let mut git_files = GitFiles::read(self.place)?;
        git_files.resolve(objects)?;
        let before = previous.and_then(|previous| previous.state.as_ref());
        let mut not_captured = std::mem::take(&mut survey.not_captured);
        let nested = match self.inside {
            Inside::Saved => nested::save_all(self, &survey, before, &mut not_captured)?,
            Inside::LeftOut => Vec::new(),
        };
        let mut writer =
            Writer::new(&self.store.common, self.place.format, self.store.more.clone());
        let known = survey.suspects.iter().filter_map(|suspect| suspect.entry);
        let known = known.map(|at| survey.index.entries[at].oid);
        let kept = before.into_iter().flat_map(|state| state.kept.iter().map(|kept| kept.oid));
        let mut sink = Sink::Import { writer: &mut writer, sent: known.chain(kept).collect() };
        let read = read_all(&survey, self.place.format, self.limits, before, &mut sink)?;
        not_captured.extend(read.not_captured);
        not_captured.extend(self.extra.not_captured.iter().cloned());
        not_captured.sort();
        not_captured.dedup();
        let mut state = State {
            clock_ns: survey.clock_ns,
            head: self.place.head.clone(),
            branches: git_files.branches.clone(),
            rights: survey.rights,
            odd_rights: std::mem::take(&mut survey.odd_rights),
            kept: read.kept,
            gone: std::mem::take(&mut survey.gone),
            empty: std::mem::take(&mut survey.empty),
            nested,
            odd_names: Vec::new(),
        };
        state.gone.extend(read.gone);
        state.gone.sort();
        for kept in state.kept.iter().filter(|kept| is_odd_name(&kept.path)) {
            state.odd_names.push((kept.oid, kept.path.clone()));
        }
        let digest = self.digest(&state, &survey, &git_files, &not_captured);
        let changed = self.count(&state, &survey, objects)?;
        Ok(Picture { digest, changed, not_captured, survey, state, git_files, writer })
    }

    /// Two snapshots with the same digest restore to the same worktree.
    fn digest(
        &self,
        state: &State,
        survey: &Survey,
        git_files: &GitFiles,
        not_captured: &[NotCaptured],
    ) -> String {
        let mut hasher = Hasher::new(self.place.format);
        hasher.update(&state.essence());
        survey.index.digest(&mut hasher);
        for (name, bytes) in git_files.files.iter().chain(&self.extra.files) {
            // These grow when nothing else changes, and nothing is lost with their last lines.
            if !name.starts_with(b"logs/") && name != b"FETCH_HEAD" {
                hasher.update(name);
                hasher.update(&[0]);
                hasher.update(bytes);
            }
        }
        hasher.update(&list_to_bytes(not_captured));
        hasher.finish().to_string()
    }

    /// How many paths differ from HEAD.
    fn count(
        &self,
        state: &State,
        survey: &Survey,
        objects: &mut Objects,
    ) -> Result<usize, SnapshotFault> {
        let listed =
            state.kept.iter().filter(|kept| matches!(kept.kind, Kind::Changed | Kind::Untracked));
        let mut paths: BTreeSet<&[u8]> = listed.map(|kept| kept.path.as_slice()).collect();
        let hidden = survey.index.entries.iter().filter(|entry| entry.flags.skip_worktree);
        let hidden: BTreeSet<&[u8]> = hidden.map(|entry| entry.path.as_slice()).collect();
        paths.extend(state.gone.iter().map(Vec::as_slice).filter(|path| !hidden.contains(path)));
        let Some(head) = self.place.head.commit else {
            paths.extend(survey.index.entries.iter().map(|entry| entry.path.as_slice()));
            return Ok(paths.len());
        };
        let tree = objects.look_up(&[format!("{head}^{{tree}}")])?.pop().flatten();
        let staged = survey.index.tree.as_ref().and_then(|tree| tree.oid);
        if staged.is_some() && staged == tree.map(|tree| tree.oid) {
            return Ok(paths.len());
        }
        let head = head.to_string();
        let args =
            ["diff-index", "--cached", "-z", "--name-only", "--no-renames", "--no-ext-diff", &head];
        let said = crate::git::run_in(&self.place.git_dir, &args)?;
        paths.extend(said.split(|byte| *byte == 0).filter(|path| !path.is_empty()));
        Ok(paths.len())
    }

    /// Writes the commit; nothing is published yet.
    pub(crate) fn write(
        &self,
        picture: Picture,
        words: &[(&str, &str)],
    ) -> Result<(Oid, Scratch), SnapshotFault> {
        let Picture { digest, changed, not_captured, survey, state, git_files, writer } = picture;
        let mut message = "glis snapshot\n\n".to_owned();
        for (key, value) in words {
            let value = value.replace(char::is_control, " ");
            let _ = writeln!(message, "{key}: {value}");
        }
        let _ = write!(message, "digest: {digest}\nchanged: {changed}\n");
        let _ = writeln!(message, "not-captured: {}", not_captured.len());
        let head = self.place.head.commit;
        let mut others: BTreeSet<Oid> = git_files.commits.clone();
        others.extend(state.nested.iter().map(|nested| nested.commit));
        others.extend(self.extra.parents.iter().copied());
        others.retain(|oid| Some(*oid) != head);
        let parents = head.into_iter().chain(others).collect();
        let mut lines = Vec::new();
        put_index(&mut lines, &survey.index);
        // What is gone goes first: a file may stand where a folder was, and the other way round.
        for path in &state.gone {
            take(&mut lines, &[b"worktree/", path]);
        }
        for kept in state.kept.iter().filter(|kept| kept.kind != Kind::Same) {
            if !is_odd_name(&kept.path) {
                put(&mut lines, git_mode(kept.stat.mode), &kept.oid, &[b"worktree/", &kept.path]);
            }
        }
        for (number, (oid, _)) in state.odd_names.iter().enumerate() {
            put(&mut lines, 0o100_644, oid, &[b"odd/", number.to_string().as_bytes()]);
        }
        for (name, bytes) in git_files.files.iter().chain(&self.extra.files) {
            put_bytes(&mut lines, &[b"gitdir/", name], bytes);
        }
        for (kind, oid) in &git_files.others {
            let mode = if *kind == ObjectKind::Tree { 0o040_000 } else { 0o100_644 };
            put(&mut lines, mode, oid, &[b"also/", oid.to_string().as_bytes()]);
        }
        for oid in &self.extra.others {
            put(&mut lines, 0o100_644, oid, &[b"also/", oid.to_string().as_bytes()]);
        }
        let index = survey.index.without_numbers_of(&survey.clean);
        put_bytes(&mut lines, &[b"index"], &index);
        put_bytes(&mut lines, &[b"state"], &state.to_bytes());
        put_bytes(&mut lines, &[b"not-captured"], &list_to_bytes(&not_captured));
        writer.finish(&Commit { message, secs: now_ns() / 1_000_000_000, parents, lines })
    }
}

/// Names that git refuses in a tree because some file systems take them for `.git`.
fn is_odd_name(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').any(|part| {
        let part = part.to_ascii_lowercase();
        part.starts_with(b".git") && part[4..].iter().all(|byte| matches!(byte, b'.' | b' '))
            || part.starts_with(b"git~")
    })
}

/// Reads the whole snapshot's skeleton back from where it is now, and every name in it.
fn check(scratch: &Scratch, commit: &Oid) -> Result<(), SnapshotFault> {
    let parents = format!("{commit}^@");
    let name = commit.to_string();
    let args = ["rev-list", "--objects", "--quiet", &name, "--not", &parents];
    let output = scratch.git().args(args).output().map_err(crate::GitFault::NotRun)?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let fault = crate::fault::said_by_git("rev-list", &said);
    let full = matches!(fault, SnapshotFault::DiskFull(_));
    Err(if full { fault } else { SnapshotFault::Broken(fault.to_string()) })
}
