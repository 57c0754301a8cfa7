//! What one worktree holds, read and written as a commit that has no name yet.

use crate::fault::SnapshotFault;
use crate::gitdir::GitFiles;
use crate::hash::{Hasher, Oid};
use crate::import::{Commit, Writer, put, put_bytes, put_index, take};
use crate::index::git_mode;
use crate::objects::{Kind as ObjectKind, Objects};
use crate::place::Place;
use crate::read::{Limits, Sink, read_all};
use crate::refs::Found;
use crate::scratch::{Keeps, Scratch, now_ns};
use crate::state::{Kind, Nested, NotCaptured, State, Why, list_to_bytes};
use crate::survey::Survey;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Where objects go, and where else they may come from.
#[derive(Debug)]
pub(crate) struct Store<'a> {
    pub(crate) common: PathBuf,
    pub(crate) more: Vec<PathBuf>,
    /// Guards the packs of all repositories of this save until the outer one is published. Without it nothing
    /// is saved, and only looked at.
    pub(crate) keeps: Option<&'a Keeps>,
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
}

/// What is known of a worktree when the repositories inside it are saved.
#[derive(Debug)]
pub(crate) struct SavedSoFar<'a> {
    pub(crate) survey: &'a Survey,
    /// The state in the snapshot before this one.
    pub(crate) before: Option<&'a State>,
    /// What cannot be saved is added here.
    pub(crate) not_captured: &'a mut Vec<NotCaptured>,
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
    /// `save_nested` saves the repositories inside the worktree, or none.
    pub(crate) fn picture(
        &self,
        mut survey: Survey,
        previous: Option<&Previous>,
        objects: &mut Objects,
        save_nested: impl FnOnce(SavedSoFar<'_>) -> Result<Vec<Nested>, SnapshotFault>,
    ) -> Result<Picture, SnapshotFault> {
        let mut git_files = GitFiles::read(self.place)?;
        git_files.resolve(objects)?;
        let before = previous.and_then(|previous| previous.state.as_ref());
        let mut not_captured = std::mem::take(&mut survey.not_captured);
        let nested =
            save_nested(SavedSoFar { survey: &survey, before, not_captured: &mut not_captured })?;
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
        let changed = self.count(&state, &survey, &not_captured, objects)?;
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
        not_captured: &[NotCaptured],
        objects: &mut Objects,
    ) -> Result<usize, SnapshotFault> {
        let listed =
            state.kept.iter().filter(|kept| matches!(kept.kind, Kind::Changed | Kind::Untracked));
        let mut paths: BTreeSet<&[u8]> = listed.map(|kept| kept.path.as_slice()).collect();
        let large = not_captured.iter().filter(|file| matches!(file.why, Why::TooLarge { .. }));
        paths.extend(large.map(|file| file.path.as_slice()));
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
