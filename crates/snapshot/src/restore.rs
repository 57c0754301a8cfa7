//! Bringing a worktree back: files, index, HEAD and whatever was in progress, at the same place or
//! at another. What is in the way is saved and put aside, never overwritten.

use crate::aside::{self, SetAside};
use crate::coming::Coming;
use crate::fault::{About as _, SnapshotFault};
use crate::fill::Item;
use crate::fill::fill;
use crate::git::{Turn, checked, offline, run_in, settled};
use crate::gitdir::TABLE;
use crate::hash::{Format, Oid};
use crate::index::{Index, Stat};
use crate::moved::real;
use crate::nested_back;
use crate::objects::Objects;
use crate::place::{Head, Place};
use crate::refs;
use crate::rights::{self, Umask};
use crate::scratch::{common_of, write_durably};
use crate::state::{Kind, NotCaptured, State, Why, list_from_bytes};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// What is to come back, and where to.
#[derive(Debug, Clone)]
pub struct RestoreRequest<'a> {
    /// A folder of the repository.
    pub repo_root: &'a Path,
    /// The snapshot's name.
    pub reference: &'a str,
    /// Where the worktree goes.
    pub to: &'a Path,
    /// Who the worktree is for; kept in git's lock of it.
    pub lock_owner: &'a str,
    /// Whether HEAD may go back to its branch.
    pub stand: Stand,
    /// The worktree of the session itself, if there is one: nothing is restored inside it.
    pub own: Option<&'a Path>,
}

/// What the HEAD of a restored worktree is to stand on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stand {
    /// On its branch, if that is still what it was.
    AsItWas,
    /// On the commit itself. For a copy: it takes no branch, and makes none.
    Detached,
}

/// A worktree that came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// Where it is.
    pub path: PathBuf,
    /// What its HEAD stands on.
    pub head: HeadState,
    /// What was in the way.
    pub set_aside: Option<SetAside>,
    /// What was there and is not in the snapshot. Folders without a file are made anew.
    pub left_out: Vec<NotCaptured>,
    /// What else the user should know.
    pub notes: Vec<String>,
}

/// What HEAD stands on after a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeadState {
    /// On the branch it was on.
    OnBranch(String),
    /// On a branch that has no commit yet.
    Unborn(String),
    /// On the commit itself, as it was when saved or as it was asked for.
    Detached,
    /// On the commit itself, because the branch is not what it was.
    CutOff {
        /// The branch it was on.
        branch: String,
    },
}

/// What a snapshot holds besides its files.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) commit: Oid,
    pub(crate) state: State,
    pub(crate) not_captured: Vec<NotCaptured>,
    pub(crate) index: Index,
    pub(crate) git_files: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Loaded {
    /// Reads a snapshot from the repository at `common`.
    pub(crate) fn read(common: &Path, commit: Oid, name: &str) -> Result<Self, SnapshotFault> {
        let items = |_: &mut Objects| crate::fill::items(common, &commit.to_string(), "gitdir");
        Self::read_by(&mut Objects::open(common)?, commit, name, items)
    }

    /// As [`Self::read`], in a conversation that is under way. `items` lists git's own files.
    pub(crate) fn read_by(
        objects: &mut Objects,
        commit: Oid,
        name: &str,
        items: impl FnOnce(&mut Objects) -> Result<Vec<Item>, SnapshotFault>,
    ) -> Result<Self, SnapshotFault> {
        let mut part = |part: &str| {
            let bytes = objects.read(&format!("{commit}:{part}"))?;
            bytes.ok_or_else(|| SnapshotFault::Incomplete {
                reference: name.to_owned(),
                what: format!("{part} is missing"),
            })
        };
        let strange = || SnapshotFault::Incomplete {
            reference: name.to_owned(),
            what: "its state cannot be understood".to_owned(),
        };
        let state = State::from_bytes(&part("state")?).ok_or_else(strange)?;
        let not_captured = list_from_bytes(&part("not-captured")?);
        let raw = part("index")?;
        let format = if commit.as_bytes().len() == 20 { Format::Sha1 } else { Format::Sha256 };
        let index = if raw.is_empty() {
            Index::empty(format)
        } else {
            Index::parse(raw, format, 0).map_err(|_| strange())?
        };
        let mut git_files = Vec::new();
        for item in items(objects)? {
            let bytes = objects.read(&item.oid.to_string())?.ok_or_else(strange)?;
            git_files.push((item.path, bytes));
        }
        Ok(Self { commit, state, not_captured, index, git_files })
    }

    pub(crate) fn git_text(&self, name: &str) -> Option<String> {
        let (_, bytes) = self.git_files.iter().find(|(path, _)| path == name.as_bytes())?;
        Some(String::from_utf8_lossy(bytes).trim_end().to_owned())
    }
}

/// Brings a worktree back from a snapshot.
pub fn restore(request: &RestoreRequest<'_>) -> Result<Restored, SnapshotFault> {
    let common = common_of(request.repo_root)?;
    refuse_inside(request, &common)?;
    let found = refs::exact(&common, request.reference)?;
    crate::list::verify(request.repo_root, request.reference)?;
    let loaded = Loaded::read(&common, found.commit, request.reference)?;
    let mut notes = Vec::new();
    let session = found.value("session").unwrap_or("unknown").to_owned();
    aside::refuse_main(&common, request.to)?;
    if let Some(parent) = request.to.parent() {
        std::fs::create_dir_all(parent).about(parent)?;
    }
    let coming = Coming::begin(&common, request.to)?;
    let back = bring(request, &common, &loaded, &coming, &session, &mut notes);
    if back.is_err() {
        // Why it failed says more than why the rest of it stays.
        drop(coming.remove());
    }
    let (head, set_aside) = back?;
    let left_out = loaded.not_captured.into_iter().filter(|item| item.why != Why::EmptyFolder);
    let left_out = left_out.collect();
    Ok(Restored { path: request.to.to_owned(), head, set_aside, left_out, notes })
}

/// Fills the worktree beside its place and puts it there. What is in the way is set aside when
/// nothing is left to do that takes long or much room.
fn bring(
    request: &RestoreRequest<'_>,
    common: &Path,
    loaded: &Loaded,
    coming: &Coming,
    session: &str,
    notes: &mut Vec<String>,
) -> Result<(HeadState, Option<SetAside>), SnapshotFault> {
    let (to, stand) = (request.to, request.stand);
    let reason = coming.reason(request.lock_owner);
    let way = Way { stand, umask: loaded.state.umask(), alive: coming.alive() };
    let target = Target { to: coming.path(), lock_owner: &reason, way };
    let place = fill_worktree(common, loaded, &target, notes)?;
    coming.sync()?;
    let set_aside = aside::clear_the_way(common, to, session, notes)?;
    let head = stand_up(&place, loaded, way, notes)?;
    coming.arrive(request.lock_owner)?;
    Ok((head, set_aside))
}

/// A worktree in another, or among git's own files, would go with them.
fn refuse_inside(request: &RestoreRequest<'_>, common: &Path) -> Result<(), SnapshotFault> {
    let to = real(request.to);
    let inside = |folder: &Path| {
        let folder = real(folder);
        to != folder && to.starts_with(&folder)
    };
    let why = if request.own.is_some_and(inside) {
        "it is inside the session's own worktree"
    } else if to == real(common) || inside(common) {
        "git keeps its own files there"
    } else {
        return Ok(());
    };
    Err(SnapshotFault::InTheWay { path: request.to.to_owned(), why: why.to_owned() })
}

/// Where a worktree goes, and what it is to be there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target<'a> {
    pub(crate) to: &'a Path,
    pub(crate) lock_owner: &'a str,
    pub(crate) way: Way<'a>,
}

/// How everything inside a worktree comes back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Way<'a> {
    pub(crate) stand: Stand,
    /// For what git and we make among git's own files.
    pub(crate) umask: Umask,
    /// The lock of the restore. Each child that makes files holds on to it: it may live a moment
    /// longer than we do, and nobody is to clean up before it is done.
    pub(crate) alive: &'a File,
}

impl Way<'_> {
    /// Runs git on a repository that is being filled.
    pub(crate) fn run(&self, git_dir: &Path, args: &[&str]) -> Result<(), SnapshotFault> {
        let mut command = offline(git_dir);
        command.env("GIT_DIR", git_dir).args(args);
        let output = self.umask.over(&command).stdin(self.hold()?).output();
        let output = output.map_err(crate::GitFault::NotRun)?;
        checked(output, args.first().unwrap_or(&""))?;
        Ok(())
    }

    /// Changes refs of a repository that is being filled.
    pub(crate) fn update_refs(
        &self,
        git_dir: &Path,
        lines: &[String],
    ) -> Result<(), SnapshotFault> {
        refs::apply(self.umask.over(&refs::updating(git_dir)), lines, self.hold()?)
    }

    pub(crate) fn hold(&self) -> Result<Stdio, SnapshotFault> {
        self.alive.try_clone().map(Stdio::from).about(Path::new(crate::scratch::HOME))
    }
}

/// Makes a worktree at a free place and puts everything into it.
pub(crate) fn put_worktree(
    common: &Path,
    loaded: &Loaded,
    target: &Target<'_>,
    notes: &mut Vec<String>,
) -> Result<HeadState, SnapshotFault> {
    let place = fill_worktree(common, loaded, target, notes)?;
    stand_up(&place, loaded, target.way, notes)
}

/// Makes a worktree that stands on no branch, with all its files.
fn fill_worktree(
    common: &Path,
    loaded: &Loaded,
    target: &Target<'_>,
    notes: &mut Vec<String>,
) -> Result<Place, SnapshotFault> {
    let to = target.to;
    // Before the first commit there is nothing to stand on but the snapshot; HEAD is put right below.
    let start = loaded.state.head.commit.unwrap_or(loaded.commit).to_string();
    let mut command = offline(common);
    command
        .env("GIT_DIR", common)
        .args(["worktree", "add", "--quiet", "--no-checkout", "--detach", "--force", "--lock"])
        .args(["--reason", target.lock_owner, "--"])
        .arg(to)
        .arg(&start);
    let turn = Turn::take(common);
    let output = settled(target.way.umask.over(&command).stdin(target.way.hold()?))?;
    checked(output, "worktree")?;
    drop(turn);
    let place = Place::find(to)?;
    let stats = fill(common, &loaded.commit.to_string(), &loaded.state, &place.root)?;
    nested_back::restore_all(common, loaded, &place, target.way, notes)?;
    put_back(&place, loaded, &stats, target.way)?;
    let table = loaded.git_text(&String::from_utf8_lossy(TABLE)).unwrap_or_default();
    let own = table.lines().filter_map(|line| line.split_once(' '));
    let own: Vec<String> = own.map(|(oid, name)| format!("update {name} {oid}")).collect();
    target.way.update_refs(&place.git_dir, &own)?;
    rights::set(&place.root.join(".git"), loaded.state.git_file_rights())?;
    // Last of all: nothing else can be put into a folder that is write-protected.
    rights::set(&place.root, loaded.state.folder_rights(b""))?;
    Ok(place)
}

/// Puts HEAD where it belongs, and makes the branches that are missing.
fn stand_up(
    place: &Place,
    loaded: &Loaded,
    way: Way<'_>,
    notes: &mut Vec<String>,
) -> Result<HeadState, SnapshotFault> {
    if way.stand == Stand::AsItWas {
        recreate_branches(&place.common, loaded, way, notes)?;
    }
    let head = attach(place, &loaded.state.head, way, notes)?;
    put_logs(place, loaded, way)?;
    crate::scratch::sync_dir(&place.git_dir)?;
    Ok(head)
}

/// Puts the index and git's other files of the worktree where they were.
pub(crate) fn put_back(
    place: &Place,
    loaded: &Loaded,
    stats: &HashMap<Vec<u8>, Stat>,
    way: Way<'_>,
) -> Result<(), SnapshotFault> {
    if !loaded.index.raw.is_empty() {
        // What the index knew to be unchanged is unchanged still. What it did not know, or knew to
        // be changed, keeps its old numbers, so that git looks for itself.
        let changed = loaded.state.kept.iter().filter(|kept| kept.kind != Kind::Converted);
        let changed: HashSet<&[u8]> = changed.map(|kept| kept.path.as_slice()).collect();
        let raw = loaded.index.refreshed(|_, entry| {
            let clean = entry.stage == 0 && !changed.contains(entry.path.as_slice());
            stats.get(&entry.path).filter(|_| clean).copied()
        });
        let index = place.git_dir.join("index");
        write_durably(&index, &raw)?;
        way.umask.open_up(&index)?;
    }
    for (name, bytes) in &loaded.git_files {
        // HEAD needs thought, and logs are written when no ref moves any more.
        let later = name == b"HEAD" || name.starts_with(b"logs/") || name.starts_with(b"glis-");
        if !later {
            way.umask.write(&place.git_dir.join(OsStr::from_bytes(name)), bytes)?;
        }
    }
    Ok(())
}

/// Puts the logs of refs back, in place of what the restore itself has written there.
pub(crate) fn put_logs(place: &Place, loaded: &Loaded, way: Way<'_>) -> Result<(), SnapshotFault> {
    let logs = loaded.git_files.iter().filter(|(name, _)| name.starts_with(b"logs/"));
    logs.into_iter().try_for_each(|(name, bytes)| {
        way.umask.write(&place.git_dir.join(OsStr::from_bytes(name)), bytes)
    })
}

/// Makes the branches again that an operation in progress will want, if they are gone.
fn recreate_branches(
    common: &Path,
    loaded: &Loaded,
    way: Way<'_>,
    notes: &mut Vec<String>,
) -> Result<(), SnapshotFault> {
    for (branch, oid) in &loaded.state.branches {
        if branch_at(common, branch).is_none() {
            let zero = "0".repeat(oid.as_bytes().len() * 2);
            way.update_refs(common, &[format!("update {branch} {oid} {zero}")])?;
            notes.push(format!("made {branch} again: the work in progress needs it"));
        }
    }
    Ok(())
}

/// Stands HEAD on its branch if that is wanted and still, or again, what it was.
pub(crate) fn attach(
    place: &Place,
    head: &Head,
    way: Way<'_>,
    notes: &mut Vec<String>,
) -> Result<HeadState, SnapshotFault> {
    let Some(branch) = &head.branch else { return Ok(HeadState::Detached) };
    let now = branch_at(&place.common, branch);
    let cut_off = |why: &str, notes: &mut Vec<String>| {
        notes.push(format!("HEAD is detached: {branch} {why}"));
        Ok(HeadState::CutOff { branch: branch.clone() })
    };
    let point = |name: &str| way.run(&place.git_dir, &["symbolic-ref", "HEAD", name]);
    // Without a commit to stand on, HEAD needs a name; this is one that nobody has.
    let unborn = || {
        let free = (1..).map(|n| format!("{branch}-restored-{n}"));
        let free = free.into_iter().find(|name| branch_at(&place.common, name).is_none());
        let name = free.unwrap_or_else(|| branch.clone());
        point(&name)?;
        Ok::<_, SnapshotFault>(name)
    };
    match (head.commit, now) {
        (Some(_), _) if way.stand == Stand::Detached => Ok(HeadState::Detached),
        (None, _) if way.stand == Stand::Detached => unborn().map(HeadState::Unborn),
        (None, None) => {
            point(branch)?;
            Ok(HeadState::Unborn(branch.clone()))
        }
        (None, Some(_)) => {
            let name = unborn()?;
            notes.push(format!("HEAD is on {name}: {branch} has commits now"));
            Ok(HeadState::Unborn(name))
        }
        (Some(_), _) if out_elsewhere(place, branch)?.is_some() => {
            cut_off("is checked out in another worktree", notes)
        }
        (Some(commit), None) => {
            let zero = "0".repeat(commit.as_bytes().len() * 2);
            let line = format!("update {branch} {commit} {zero}");
            way.update_refs(&place.common, &[line])?;
            notes.push(format!("made {branch} again: it was gone"));
            point(branch)?;
            Ok(HeadState::OnBranch(branch.clone()))
        }
        (Some(commit), Some(now)) if commit == now => {
            point(branch)?;
            Ok(HeadState::OnBranch(branch.clone()))
        }
        (Some(_), Some(_)) => cut_off("has moved", notes),
    }
}

pub(crate) fn branch_at(common: &Path, branch: &str) -> Option<Oid> {
    let said = run_in(common, &["rev-parse", "--verify", "--quiet", branch]).ok()?;
    Oid::from_hex(said.trim_ascii_end())
}

/// Where else a branch is checked out.
pub(crate) fn out_elsewhere(place: &Place, branch: &str) -> Result<Option<PathBuf>, SnapshotFault> {
    let list = run_in(&place.common, &["worktree", "list", "--porcelain", "-z"])?;
    let wanted = format!("branch {branch}");
    let mut at = None;
    for line in list.split(|byte| *byte == 0) {
        if let Some(path) = line.strip_prefix(b"worktree ") {
            at = Some(PathBuf::from(OsStr::from_bytes(path))).filter(|path| *path != place.root);
        }
        if line == wanted.as_bytes() && at.is_some() {
            return Ok(at);
        }
    }
    Ok(None)
}
