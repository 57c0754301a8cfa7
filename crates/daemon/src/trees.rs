//! Worktrees and their snapshots: saved at every stop and turn, compared before every start,
//! brought back where they are gone.

mod lock;
mod rate;

pub(crate) use lock::stale as stale_lock;
pub(crate) use rate::Keeping;

use crate::adapters::Adapters;
use crate::controller::Look;
use crate::trash;
use crate::work::Kind;
use crate::worktrees::owner;
use glis_core::effect::Effect;
use glis_core::input::Outcome;
use glis_core::pause::Moment;
use glis_core::refusal::ResumeFault;
use glis_core::session::{Phase, Session};
use glis_core::tree::{Clearing, Found, Occasion, PathList, SnapshotRef};
use glis_core::{OpId, SessionId};
use glis_snapshot::{
    BranchStand, ClearRequest, Detached, Difference, GitFault, Glance, LeftOut, Limits,
    RestoreRequest, Restored, SaveRequest, Saved, SnapshotFault, Stand, Unreadable, losable,
};
use glis_wire::view::DetachedView;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

/// Why a snapshot at the end of a turn was taken. Only these are ever thinned out.
pub(crate) const TURN_ENDED: &str = "a turn ended";

/// What saving is called, and where it waits.
const SAVE: (Kind, &str) = (Kind::Tree, "save its worktree");

/// The top of the git worktree that a session works in, or none if it works in no repository.
pub(crate) fn top(session: &Session) -> Result<Option<PathBuf>, SnapshotFault> {
    let dir = PathBuf::from(session.worktree.as_deref().unwrap_or_default());
    if session.spec.in_place { glis_snapshot::top_of(&dir) } else { Ok(Some(dir)) }
}

/// A folder of the repository that holds a session's snapshots.
pub(crate) fn repository(session: &Session) -> PathBuf {
    PathBuf::from(&session.spec.repo_root)
}

/// What a snapshot takes; a comparison with it has to be told the same.
pub(crate) fn limits(hands: &Adapters) -> Limits {
    Limits { file_bytes_max: hands.config().snapshot.file_bytes_max(), ..Limits::default() }
}

fn save(
    hands: &Adapters,
    session: &Session,
    worktree: &Path,
    why: &str,
    unreadable: Unreadable,
) -> Result<Saved, SnapshotFault> {
    crate::failpoint::reach("save", &session.name);
    let limits = Limits { unreadable, ..limits(hands) };
    let (session, passing) = (&*session.id.0, Some(TURN_ENDED));
    glis_snapshot::save(&SaveRequest { worktree, session, why, limits, passing })
}

fn named(saved: &Saved) -> SnapshotRef {
    SnapshotRef { name: saved.reference.clone(), commit: saved.commit.clone() }
}

/// The snapshot of a pause.
pub(crate) fn save_for_pause(
    hands: &Arc<Adapters>,
    session: &Session,
    op: OpId,
    moment: Moment,
) -> Outcome {
    let none = |warning: &str| Outcome::SnapshotTaken {
        op,
        moment,
        snapshot: None,
        left_out: PathList::default(),
        warning: Some(warning.to_owned()),
    };
    let worktree = match top(session) {
        Ok(Some(worktree)) => worktree,
        Ok(None) => return none("it works in no git repository: its files were not saved"),
        Err(fault) => return Outcome::SnapshotFailed { op, moment, why: unsaved(session, &fault) },
    };
    let why = match moment {
        Moment::BeforeStop => "pause, before the stop",
        Moment::AfterStop => "pause, after the stop",
    };
    match save(hands, session, &worktree, why, Unreadable::Refuse) {
        Ok(saved) => {
            let (snapshot, left_out) = (Some(named(&saved)), left_out(saved));
            Outcome::SnapshotTaken { op, moment, snapshot, left_out, warning: None }
        }
        Err(SnapshotFault::Gone(_)) if !worktree.exists() => {
            none("its worktree is gone; the last snapshot stands")
        }
        Err(fault) => Outcome::SnapshotFailed { op, moment, why: unsaved(session, &fault) },
    }
}

/// Why something was not saved. Of a repository that was moved away git says only that it is none.
fn unsaved(session: &Session, fault: &SnapshotFault) -> String {
    let repo = repository(session);
    if repo.is_dir() { fault.to_string() } else { missing(&repo) }
}

/// The worktree as it is, for whoever only looks.
pub(crate) fn glance(hands: &Adapters, session: &Session) -> Result<Glance, SnapshotFault> {
    let turn = hands.keeping.turn(&session.id);
    let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
    let none = || GitFault::NoRepository(PathBuf::from(&session.spec.repo_root));
    let worktree = top(session)?.ok_or_else(none)?;
    glis_snapshot::glance(&worktree, Limits { unreadable: Unreadable::List, ..limits(hands) })
}

/// Says why the worktree of a session could not be saved right now, if that is known already.
pub(crate) fn can_save(session: &Session) -> Result<(), String> {
    let repo = repository(session);
    if !repo.is_dir() {
        return Err(missing(&repo));
    }
    let worktree = match top(session) {
        Ok(Some(worktree)) => worktree,
        Ok(None) => return Ok(()),
        Err(fault) => return Err(unsaved(session, &fault)),
    };
    match glis_snapshot::can_save(&worktree, &repo) {
        // What is gone need not be saved; the last snapshot of it stands.
        Err(SnapshotFault::Gone(_)) if !worktree.exists() => Ok(()),
        looked => looked.map_err(|fault| fault.to_string()),
    }
}

/// Git could not even be started there, and would only say that something is missing.
pub(crate) fn missing(repo: &Path) -> String {
    format!("the repository {} is not there; move it back to where it was", repo.display())
}

/// What of a worktree no snapshot would hold. Nothing, if it cannot be looked at.
pub(crate) fn would_lose(hands: &Adapters, session: &Session) -> PathList {
    let turn = hands.keeping.turn(&session.id);
    let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
    let Ok(Some(worktree)) = top(session) else { return PathList::default() };
    let saved = save(hands, session, &worktree, "before a pause", Unreadable::List);
    saved.map(left_out).unwrap_or_default()
}

/// What would be lost with the worktree.
fn left_out(saved: Saved) -> PathList {
    PathList::of(losable(saved.not_captured).iter().map(glis_snapshot::NotCaptured::shown))
}

/// A snapshot beside any pause.
pub(crate) fn save_beside(
    hands: &Arc<Adapters>,
    session: &Session,
    op: Option<OpId>,
    occasion: Occasion,
    generation: u32,
) -> Option<Outcome> {
    let why = match occasion {
        Occasion::TurnEnded => TURN_ENDED,
        Occasion::ProcessEnded => "the process ended",
        Occasion::Asked => "asked for",
    };
    let worktree = match top(session) {
        Ok(Some(worktree)) => worktree,
        Ok(None) => {
            let why = "it works in no git repository".to_owned();
            return op.map(|op| Outcome::WorktreeNotSaved { op: Some(op), occasion, why });
        }
        Err(fault) => {
            let why = unsaved(session, &fault);
            return Some(Outcome::WorktreeNotSaved { op, occasion, why });
        }
    };
    Some(match save(hands, session, &worktree, why, Unreadable::List) {
        Ok(saved) => {
            if saved.fresh && occasion == Occasion::TurnEnded {
                thin(hands, session);
            }
            Outcome::WorktreeSaved { op, occasion, generation, snapshot: named(&saved) }
        }
        // A worktree that somebody removed is not a fault of saving it.
        Err(SnapshotFault::Gone(_)) if op.is_none() && !worktree.exists() => return None,
        Err(fault) => Outcome::WorktreeNotSaved { op, occasion, why: unsaved(session, &fault) },
    })
}

/// The last state of a session that is about to be put away, beside the worktree itself.
pub(crate) fn save_before_removal(hands: &Adapters, session: &Session) {
    if let Ok(Some(worktree)) = top(session)
        && worktree.is_dir()
        && let Err(fault) =
            save(hands, session, &worktree, "before it was removed", Unreadable::List)
    {
        crate::diary(&format!("session {}: not saved before its removal: {fault}", session.id));
    }
}

fn thin(hands: &Adapters, session: &Session) {
    let keep = hands.config().snapshot.keep();
    if let Err(fault) = glis_snapshot::thin(&repository(session), &session.id.0, &keep) {
        crate::diary(&format!("session {}: its old snapshots: {fault}", session.id));
    }
}

/// Looks at the worktree before a start: is it as it was left? What is gone comes back, what
/// somebody changed is saved as it is, and nothing is overwritten.
pub(crate) fn look(hands: &Adapters, session: &Session) -> Result<Option<Found>, ResumeFault> {
    let system = |fault: SnapshotFault| ResumeFault::System(fault.to_string());
    let Some(worktree) = top(session).map_err(system)? else { return Ok(None) };
    if !session.spec.in_place && is_gone(&worktree)? {
        let missing = || ResumeFault::NoDirectory(worktree.display().to_string());
        // What is to come back is what was left, and only without that the latest.
        let kept = session.left_as.clone().or_else(|| session.snapshot.clone());
        let snapshot = kept.ok_or_else(missing)?;
        let restored = restore_to(session, &snapshot.name, &worktree);
        let restored = restored.map_err(|fault| {
            if matches!(fault, SnapshotFault::Missing(_)) {
                missing()
            } else {
                ResumeFault::NotRestored(fault.to_string())
            }
        })?;
        let notes = dressed(hands, session, &worktree, restored);
        return Ok(Some(Found::Restored { snapshot, notes }));
    }
    lock::set_stale_aside(hands, session, &worktree);
    let Some(left) = &session.left_as else { return Ok(None) };
    match glis_snapshot::compare(&worktree, &repository(session), &left.name, &limits(hands)) {
        Ok(Difference::Untouched) => Ok(Some(Found::Untouched)),
        Ok(Difference::Changed(changes)) => {
            let why = "found changed before a start";
            let saved = save(hands, session, &worktree, why, Unreadable::List).map_err(system)?;
            let paths: BTreeSet<_> = changes.iter().map(|change| shown(&change.path)).collect();
            Ok(Some(Found::Changed { snapshot: named(&saved), paths: PathList::of(paths) }))
        }
        Ok(Difference::Gone) => {
            Err(ResumeFault::WrongRoot(format!("{} is no worktree any more", worktree.display())))
        }
        Err(SnapshotFault::InTheWay { path, .. }) => {
            Err(ResumeFault::WrongRoot(format!("another one has the place {}", path.display())))
        }
        Err(fault @ (SnapshotFault::Missing(_) | SnapshotFault::Incomplete { .. })) => {
            crate::diary(&format!("session {}: not compared: {fault}", session.id));
            Ok(None)
        }
        Err(fault) => Err(system(fault)),
    }
}

/// Puts a worktree that a restore had to leave on a commit back on the session's branch, as soon as
/// that loses nothing. Nothing runs in it yet.
pub(crate) fn reattach(session: &Session) {
    let (Some(worktree), Some(branch)) = (&session.worktree, &session.branch) else { return };
    match glis_snapshot::reattach(Path::new(worktree), branch) {
        Ok(true) => crate::diary(&format!("session {}: back on {branch}", session.id)),
        Ok(false) => {}
        Err(fault) => crate::diary(&format!("session {}: not on {branch}: {fault}", session.id)),
    }
}

/// That a worktree stands on no branch, and the way out.
pub(crate) fn detached(session: &Session) -> Option<DetachedView> {
    let (worktree, branch) = (session.worktree.as_deref()?, session.branch.as_deref()?);
    let here = typed(worktree);
    let Detached { commit, branch: stand } = glis_snapshot::detached(Path::new(worktree), branch)?;
    let (why, way_out) = match stand {
        BranchStand::Elsewhere(path) => (
            format!("{branch} is checked out in {}", path.display()),
            format!("git -C {} switch --detach", typed(&path.to_string_lossy())),
        ),
        // Whichever of the two has commits that the other lacks: this loses none.
        BranchStand::Free => (
            format!("{branch} is checked out nowhere"),
            format!("git -C {here} switch {branch} && git -C {here} merge {commit}"),
        ),
        BranchStand::Gone => (
            format!("there is no branch {branch} any more"),
            format!("git -C {here} switch -c {branch}"),
        ),
    };
    Some(DetachedView { commit, why, way_out })
}

/// A path as it is typed in a shell.
pub(crate) fn typed(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@".contains(c);
    if path.chars().all(plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

/// Whether nothing is there that could be overwritten. A disk that cannot be looked at is no reason
/// to believe so.
fn is_gone(worktree: &Path) -> Result<bool, ResumeFault> {
    match std::fs::read_dir(worktree) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(fault) if fault.kind() == io::ErrorKind::NotADirectory => Ok(false),
        Err(fault) => Err(ResumeFault::System(format!("{}: {fault}", worktree.display()))),
    }
}

/// What a snapshot does not hold may come from where a fresh worktree gets it. Says what is not as
/// it was all the same.
fn dressed(
    hands: &Adapters,
    session: &Session,
    worktree: &Path,
    mut restored: Restored,
) -> Vec<String> {
    let missing = crate::outfit::dress(hands, session, worktree);
    restored
        .left_out
        .retain(|item| worktree.join(OsStr::from_bytes(&item.path)).symlink_metadata().is_err());
    told(restored).chain(missing).collect()
}

/// What no snapshot holds of any file.
const NEVER_KEPT: &str = "its files are new: their times, hard links between them, extended attributes \
                          and access control lists did not come back";

/// What is not as it was, in words.
fn told(restored: Restored) -> impl Iterator<Item = String> {
    let left_out = restored.left_out.into_iter();
    let left_out = left_out.map(|item| format!("not in the snapshot: {}", item.shown()));
    restored.notes.into_iter().chain(left_out).chain([NEVER_KEPT.to_owned()])
}

fn shown(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

/// Brings the session's worktree back at its place.
fn restore_to(session: &Session, reference: &str, to: &Path) -> Result<Restored, SnapshotFault> {
    let (repo_root, lock_owner) = (repository(session), owner(session));
    glis_snapshot::restore(&RestoreRequest {
        repo_root: &repo_root,
        reference,
        to,
        lock_owner: &lock_owner,
        stand: Stand::AsItWas,
        own: None,
    })
}

/// Brings a worktree back at another place, for whoever wants to look at it.
pub(crate) fn restore_elsewhere(
    session: &Session,
    reference: &str,
    to: &Path,
) -> Result<Vec<String>, SnapshotFault> {
    let restored = glis_snapshot::restore(&RestoreRequest {
        repo_root: &repository(session),
        reference,
        to,
        // Not locked for the session: it would be found as the session's own.
        lock_owner: &format!("a copy for {}", session.name),
        stand: Stand::Detached,
        own: session.worktree.as_deref().map(Path::new),
    })?;
    Ok(told(restored).collect())
}

/// Brings the session's own worktree back to what a snapshot holds.
pub(crate) fn restore(hands: &Adapters, session: &Session, op: OpId, reference: &str) -> Outcome {
    let worktree = PathBuf::from(session.worktree.as_deref().unwrap_or_default());
    let repo_root = repository(session);
    let done = || -> Result<_, SnapshotFault> {
        let commit = glis_snapshot::commit_of(&repo_root, reference)?;
        let snapshot = SnapshotRef { name: reference.to_owned(), commit };
        // Done again after a crash, or asked for in vain.
        let same = glis_snapshot::compare(&worktree, &repo_root, reference, &limits(hands));
        if matches!(same, Ok(Difference::Untouched)) {
            let aside = trash::asides(session, Some(&worktree), &worktree).pop();
            let note = aside.map(|(at, _)| format!("what was there may be at {}", at.display()));
            return Ok((snapshot, note.into_iter().collect()));
        }
        let restored = restore_to(session, reference, &worktree)?;
        Ok((snapshot, dressed(hands, session, &worktree, restored)))
    };
    match done() {
        Ok((snapshot, notes)) => Outcome::WorktreeRestored { op, snapshot, notes },
        Err(fault) => Outcome::NotRestored { op, why: fault.to_string() },
    }
}

/// Removes the worktree of a session that is being paused.
pub(crate) fn clear(hands: &Adapters, session: &Session, op: OpId) -> Outcome {
    let stays = |why: String| Outcome::WorktreeStays {
        op,
        why: format!("Failed to remove worktree: {why}"),
    };
    let (Some(worktree), Some(snapshot)) = (&session.worktree, &session.left_as) else {
        return stays("there is no snapshot of it".to_owned());
    };
    let takes_all =
        matches!(&session.phase, Phase::Pausing(pause) if pause.clearing == Clearing::Always);
    let left_out = if takes_all { LeftOut::Goes } else { LeftOut::Stays };
    let done = glis_snapshot::clear(&ClearRequest {
        repo_root: &repository(session),
        worktree: Path::new(worktree),
        lock_owner: &owner(session),
        reference: &snapshot.name,
        left_out,
        limits: limits(hands),
    });
    match done {
        Ok(cleared) => Outcome::WorktreeCleared {
            op,
            leftover: cleared
                .leftover
                .map(|path| format!("Failed to remove worktree: {} is left", path.display())),
        },
        Err(fault) => stays(fault.to_string()),
    }
}

/// Removes what a save that was killed left behind, in every repository that has sessions.
pub(crate) fn sweep(repositories: BTreeSet<PathBuf>) {
    for repository in repositories {
        match glis_snapshot::sweep(&repository) {
            Ok(_) => {}
            Err(fault) => crate::diary(&format!("{}: not swept: {fault}", repository.display())),
        }
    }
}

impl Adapters {
    /// Carries out what has to do with files that are kept.
    #[expect(clippy::wildcard_enum_match_arm, reason = "`carry_out` sends only these here")]
    pub(crate) fn keep(self: &Arc<Self>, effect: Effect, session: &Session) {
        match effect {
            // Not in turn: whoever is at work on the files is not disturbed by a look.
            Effect::CheckSave { op } => self.blocking(
                session,
                (Kind::Start, "look whether it can be saved"),
                move |why| Outcome::CannotSave { op, why },
                move |_, session| {
                    Some(match can_save(session) {
                        Ok(()) => Outcome::CanSave { op },
                        Err(why) => Outcome::CannotSave { op, why },
                    })
                },
            ),
            Effect::TakeSnapshot { op, moment } => self.in_turn(
                session,
                SAVE,
                move |why| Outcome::SnapshotFailed { op, moment, why },
                move |hands, session| Some(save_for_pause(hands, session, op, moment)),
            ),
            Effect::SaveWorktree { op, occasion, generation } => {
                self.save_worktree(session, op, occasion, generation);
            }
            Effect::ClearWorktree { op } => self.in_turn(
                session,
                (Kind::Tree, "remove its worktree"),
                move |why| Outcome::WorktreeStays { op, why },
                move |hands, session| Some(clear(hands, session, op)),
            ),
            Effect::RestoreWorktree { op, snapshot } => self.in_turn(
                session,
                (Kind::Tree, "restore its worktree"),
                move |why| Outcome::NotRestored { op, why },
                move |hands, session| Some(restore(hands, session, op, &snapshot)),
            ),
            Effect::PutAside { op } => self.in_turn(
                session,
                (Kind::Tree, "put it aside"),
                move |why| Outcome::NotPutAside { op, why },
                move |hands, session| Some(trash::put_aside(hands, session, op)),
            ),
            Effect::BringBack { op } => self.in_turn(
                session,
                (Kind::Tree, "take it out of the trash"),
                move |why| Outcome::NotBroughtBack { op, why },
                move |hands, session| Some(trash::bring_back(hands, session, op)),
            ),
            Effect::Empty { op } => self.in_turn(
                session,
                (Kind::Tree, "delete it from the trash"),
                move |why| Outcome::NotEmptied { op, why },
                move |hands, session| Some(trash::empty(hands, session, op)),
            ),
            _ => {}
        }
    }

    /// Does something with a session's files, after whoever is at it already.
    pub(crate) fn in_turn(
        self: &Arc<Self>,
        session: &Session,
        kind: (Kind, &'static str),
        failed: impl FnOnce(String) -> Outcome + Send + 'static,
        work: impl FnOnce(&Arc<Self>, &Session) -> Option<Outcome> + Send + 'static,
    ) {
        self.blocking(session, kind, failed, move |hands, session| {
            let turn = hands.keeping.turn(&session.id);
            let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
            // Whoever had the turn had it so long that nobody waits for this any more.
            if glis_snapshot::is_over() {
                return None;
            }
            let _at_work = hands.keeping.has_turn(&session.id);
            work(hands, session)
        });
    }

    /// Saves a worktree, now or as soon as its turn comes.
    pub(crate) fn save_worktree(
        self: &Arc<Self>,
        session: &Session,
        op: Option<OpId>,
        occasion: Occasion,
        generation: u32,
    ) {
        let failed = move |why| Outcome::WorktreeNotSaved { op, occasion, why };
        let work = move |hands: &Arc<Self>, session: &Session| {
            save_beside(hands, session, op, occasion, generation)
        };
        if occasion != Occasion::TurnEnded {
            return self.in_turn(session, SAVE, failed, work);
        }
        if let Some(wait) = self.keeping.due(&session.id, &self.config().snapshot) {
            let (hands, session) = (Arc::clone(self), session.clone());
            self.later(async move {
                tokio::time::sleep(wait).await;
                let place = hands.keeping.place().await;
                hands.keeping.begun(&session.id);
                // What happened meanwhile is saved by whoever made it happen.
                let now = hands.line.look(Look::One(session.id.0.clone())).await;
                let goes_on =
                    |now: &Session| now.phase == Phase::Live && now.generation == generation;
                if !now.first().is_some_and(goes_on) {
                    return;
                }
                hands.in_turn(&session, SAVE, failed, move |hands, session| {
                    let outcome = work(hands, session);
                    drop(place);
                    outcome
                });
            });
        }
    }

    /// Forgets when a session was last saved.
    pub(crate) fn forget_saves(&self, id: &SessionId) {
        self.keeping.forget(id);
    }
}
