//! What can be wrong with one session: its worktree, its snapshot, its holder, its agent.

use super::finding::{HUNG, finding};
use super::repository::Repository;
use crate::holder::is_held;
use crate::launch::Launcher;
use crate::trees::{Trees, stale_lock};
use crate::worktrees;
use glis_core::refusal::ResumeFault;
use glis_core::session::{Phase, Rest, Session};
use glis_snapshot::{Difference, SnapshotFault};
use glis_wire::view::{DetachedView, ElsewhereView, Finding, Health};
use std::path::{Path, PathBuf};

pub(super) fn examine(
    (session, dir, told): (&Session, &Path, Option<PathBuf>),
    trees: &Trees,
    launcher: &Launcher,
    repository: &mut Repository,
) -> Vec<Finding> {
    let mut findings = vec![worktree(trees, session, repository), holder(session, dir)];
    findings.extend(conversation(session, dir));
    findings.extend(record(session));
    findings.extend(barred(session));
    findings.extend(folder(session, dir));
    findings.extend(leftovers(session));
    // Without its repository nothing of this can be judged, and that is said of the repository.
    if repository.is_there() || session.spec.in_place {
        findings.extend(unsaved(session));
        findings.extend(detached(session));
        findings.extend(elsewhere(session, told));
        findings.extend(snapshot(session, repository));
        findings.extend(lock(session));
    }
    findings.extend(agent(launcher, session));
    findings
}

/// A session that could not be looked at.
pub(super) fn hangs(name: &str, why: &str) -> Finding {
    let message = format!("it could not be looked at: {why}");
    finding(&format!("session {name}"), Health::Bad, message, Some(HUNG))
}

fn about(session: &Session, health: Health, message: String, hint: &str) -> Finding {
    let hint = hint.replace("NAME", &session.name);
    finding(&format!("session {}", session.name), health, message, Some(&hint))
}

fn good(session: &Session, message: String) -> Finding {
    finding(&format!("session {}", session.name), Health::Good, message, None)
}

fn worktree(trees: &Trees, session: &Session, repository: &mut Repository) -> Finding {
    let Some(path) = &session.place.worktree else {
        return good(session, "no worktree yet".to_owned());
    };
    if session.pause_record().is_some_and(|pause| pause.cleared) {
        return good(
            session,
            "its worktree was removed by the pause; resume restores it".to_owned(),
        );
    }
    if !Path::new(path).is_dir() {
        if session.spec.in_place {
            return folder_of_user_gone(session, path);
        }
        let hint = if session.saved.snapshot.is_some() {
            "`glis resume NAME` brings it back as it was last saved, and so does `glis restore NAME`"
        } else {
            "its branch still has every commit: git worktree add brings it back"
        };
        return about(session, Health::Bad, format!("its worktree {path} is gone"), hint);
    }
    changed(trees, session, Path::new(path), repository)
        .unwrap_or_else(|| good(session, format!("worktree {path}")))
}

/// A folder of the user's own is never made and never restored by us.
fn folder_of_user_gone(session: &Session, path: &str) -> Finding {
    let message = format!("it works in place, and its folder {path} is gone");
    let hint = "move it back, or make it anew: `glis resume NAME` goes on in what is there then";
    about(session, Health::Bad, message, hint)
}

/// Changes in the worktree since its agent left it.
fn changed(
    trees: &Trees,
    session: &Session,
    worktree: &Path,
    repository: &mut Repository,
) -> Option<Finding> {
    let left =
        session.saved.baseline.as_ref().filter(|_| matches!(session.phase, Phase::Rest(_)))?;
    if !repository.is_there() {
        return None;
    }
    let difference = match repository.compare(worktree, &left.name, &trees.limits()) {
        Ok(difference) => difference,
        Err(SnapshotFault::InTheWay { path, .. }) => {
            let message =
                format!("another repository has the place of its worktree, {}", path.display());
            let hint =
                "move it away; `glis resume NAME` brings the worktree back from its snapshot";
            return Some(about(session, Health::Bad, message, hint));
        }
        // Told with the snapshot itself.
        Err(_) => return None,
    };
    match difference {
        Difference::Untouched => None,
        Difference::Gone => Some(about(
            session,
            Health::Bad,
            format!("{} is no longer a worktree", worktree.display()),
            "`glis restore NAME` puts what is there aside and brings the worktree back",
        )),
        Difference::Changed(changes) => {
            let first = changes.first().map(|change| String::from_utf8_lossy(&change.path));
            let message = format!(
                "{} changes in its worktree since its agent left it, {} first",
                changes.len(),
                first.unwrap_or_default()
            );
            let hint = "`glis resume NAME` saves them, overwrites nothing and tells the agent; \
                        `glis restore NAME` puts them aside";
            Some(about(session, Health::Warning, message, hint))
        }
    }
}

/// Commits that go to no branch are not found where the session's are looked for.
fn detached(session: &Session) -> Option<Finding> {
    let DetachedView { commit, why, way_out } = worktrees::detached(session)?;
    let branch = session.place.branch.as_deref().unwrap_or_default();
    let message = format!("its HEAD is detached at {commit}, not on {branch}: {why}");
    let hint =
        format!("`{way_out}`; the next start goes back on the branch where that loses nothing");
    Some(about(session, Health::Warning, message, &hint))
}

/// What an agent makes outside of its worktree is nowhere that we look.
fn elsewhere(session: &Session, told: Option<PathBuf>) -> Option<Finding> {
    let ElsewhereView { folder, way_back } = worktrees::elsewhere(session, told)?;
    let message = format!(
        "its agent works in {folder}, outside of its worktree: what it makes there is in no snapshot"
    );
    let copy = || "copy what you want to keep into its worktree".to_owned();
    let hint = way_back.map_or_else(copy, |line| format!("`{line}` brings it into its worktree"));
    Some(about(session, Health::Warning, message, &hint))
}

fn unsaved(session: &Session) -> Option<Finding> {
    let why = session.upkeep.unsaved.as_ref()?;
    let message = format!("its worktree could not be saved: {why}");
    Some(about(session, Health::Bad, message, "`glis snapshot NAME` tries it again"))
}

/// The snapshot that a resume would need, read back.
fn snapshot(session: &Session, repository: &Repository) -> Option<Finding> {
    let (name, fault) = repository.fault_of(session)?;
    let message = format!("its snapshot {name} is not whole: {fault}");
    let hint = "while its worktree is there, `glis snapshot NAME` makes a fresh one; \
                `git fsck` in the repository says what else is broken";
    Some(about(session, Health::Bad, message, hint))
}

/// A lock on the index that no process holds any more.
fn lock(session: &Session) -> Option<Finding> {
    let worktree = worktrees::top(session).ok().flatten()?;
    let lock = stale_lock(&worktree)?;
    let hint = if matches!(session.phase, Phase::Rest(_)) && !session.spec.in_place {
        "`glis resume NAME` sets it aside"
    } else {
        "no git works there: move it away"
    };
    Some(about(session, Health::Warning, format!("a stale lock: {}", lock.display()), hint))
}

/// Whether a resume would find the agent, its version and its transcript.
fn agent(launcher: &Launcher, session: &Session) -> Option<Finding> {
    if !session.can_resume() {
        return None;
    }
    let fault = match launcher.can_start(session) {
        Ok(warnings) => {
            let hint = "it may work; `glis show NAME` says if it does not";
            let told = (!warnings.is_empty()).then(|| warnings.join("; "));
            return told.map(|told| about(session, Health::Warning, told, hint));
        }
        Err(fault) => fault,
    };
    let hint = match &fault {
        ResumeFault::NotInstalled(_) => "install it, or put it on the PATH that `glis resume` sees",
        ResumeFault::WrongVersion(_) => "install a version that is known to work",
        ResumeFault::NoTranscript(_) => "`glis restart NAME` begins a fresh conversation",
        ResumeFault::NoDirectory(_) if session.spec.in_place => "its folder has to be there again",
        ResumeFault::NoRef
        | ResumeFault::Rejected(_)
        | ResumeFault::WrongRoot(_)
        | ResumeFault::NoDirectory(_)
        | ResumeFault::Locked(_)
        | ResumeFault::NotReady(_)
        | ResumeFault::System(_)
        | ResumeFault::NotRestored(_)
        | ResumeFault::NoTerminal(_) => "`glis resume NAME` says more",
    };
    Some(about(session, Health::Bad, format!("its agent {}: {fault}", session.spec.agent), hint))
}

fn holder(session: &Session, dir: &Path) -> Finding {
    match (&session.phase, session.process()) {
        (Phase::Rest(Rest::Interrupted), _) => {
            let message = "its process died uncleanly".to_owned();
            about(session, Health::Warning, message, "glis resume brings it back")
        }
        // A socket may be left of a holder that was killed; the lock goes with it.
        (_, Some(process)) if is_held(dir, session) => {
            good(session, format!("process {} runs, and its holder answers", process.pid))
        }
        (_, Some(process)) => about(
            session,
            Health::Bad,
            format!("process {} has no holder", process.pid),
            "glis daemon stop; the next command looks for it again",
        ),
        (_, None) => good(session, "no process, none expected".to_owned()),
    }
}

/// A folder that was deleted or moved under a running process.
fn folder(session: &Session, dir: &Path) -> Option<Finding> {
    if session.runs() && !dir.is_dir() {
        let message = format!("its folder {} is gone while its process runs", dir.display());
        let hint = "`glis pause NAME` and `glis stop NAME` still work; \
                    if it was moved, move it back first";
        return Some(about(session, Health::Bad, message, hint));
    }
    let lost = "its folder was deleted while it ran: earlier output and conversation may be lost";
    let hint = "`glis acknowledge NAME` confirms that you know";
    session.upkeep.folder_lost.then(|| about(session, Health::Warning, lost.to_owned(), hint))
}

/// Processes of it that could not be ended.
fn leftovers(session: &Session) -> Option<Finding> {
    let trouble = session.starts.leftovers.trouble().filter(|_| !session.runs())?;
    let hint = "end it by hand, or `glis pause NAME`, which tries again";
    Some(about(session, Health::Bad, trouble.to_string(), hint))
}

/// A salvaged log may lack what it should say about a session.
fn record(session: &Session) -> Option<Finding> {
    let damage = session.upkeep.damage.as_ref()?;
    let message = match damage.lost {
        0 => format!("its last records may be missing; it was restored from {}", damage.kept),
        lost => format!("up to {lost} of its records were lost; damaged log {}", damage.kept),
    };
    let hint = "look at its files and its conversation, then `glis acknowledge` it";
    Some(about(session, Health::Warning, message, hint))
}

/// What was done with a session took the daemon down.
fn barred(session: &Session) -> Option<Finding> {
    let bar = session.upkeep.barred.as_ref()?;
    let message = format!("{}: {}; it is not tried again", bar.what, bar.why);
    let hint = "check its worktree; `glis acknowledge` allows another try";
    Some(about(session, Health::Bad, message, hint))
}

/// A conversation with lines that cannot be read: what they said is lost, the rest is not.
fn conversation(session: &Session, dir: &Path) -> Option<Finding> {
    let subject = format!("session {}", session.name);
    let (message, hint) = match glis_record::conversation::damaged_lines(dir) {
        Ok(0) => return None,
        Ok(count) => (format!("{count} damaged lines in its conversation"), "they are left out"),
        Err(fault) => (format!("its conversation: {fault}"), "it must be a readable file"),
    };
    let hint = format!("{hint}: {}", glis_record::conversation::file_of(dir).display());
    Some(finding(&subject, Health::Warning, message, Some(&hint)))
}
