//! Where a session works: its worktree, its repository, and how they are named to a person.

use glis_core::session::Session;
use glis_core::spec::SignSource;
use glis_os::process::folder_of;
use glis_snapshot::{BranchStand, Detached, SnapshotFault};
use glis_wire::view::{DetachedView, ElsewhereView};
use std::path::{Path, PathBuf};

/// The top of the git worktree that a session works in, or none if it works in no repository.
pub(crate) fn top(session: &Session) -> Result<Option<PathBuf>, SnapshotFault> {
    let dir = PathBuf::from(session.place.worktree.as_deref().unwrap_or_default());
    if session.spec.in_place { glis_snapshot::top_of(&dir) } else { Ok(Some(dir)) }
}

/// A folder of the repository that holds a session's snapshots.
pub(crate) fn repository(session: &Session) -> PathBuf {
    let root = PathBuf::from(&session.spec.repo_root);
    if !session.spec.in_place || root.is_dir() {
        return root;
    }
    // A session in place may have been begun in a folder of the repository that is gone by now.
    let above = root.ancestors().skip(1).find(|folder| folder.is_dir());
    let within = above.filter(|folder| folder.ancestors().any(|one| one.join(".git").exists()));
    within.map(Path::to_owned).unwrap_or(root)
}

/// Who a worktree is for, in git's own lock.
pub(crate) fn owner(session: &Session) -> String {
    format!("glis session {}", session.id)
}

/// Git could not even be started there, and would only say that something is missing.
pub(crate) fn missing(repo: &Path) -> String {
    let repo = repo.display();
    format!(
        "the repository {repo} is missing; move it back to where it was, or say where it is: \
         `glis repo moved {repo} NEW`"
    )
}

/// That a worktree stands on no branch, and the way out.
pub(crate) fn detached(session: &Session) -> Option<DetachedView> {
    let (worktree, branch) = (session.place.worktree.as_deref()?, session.place.branch.as_deref()?);
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

/// Where the agent of a session works, if that is outside of its worktree: as it has told, or as its process
/// stands. A program that is no agent may stand wherever it likes.
pub(crate) fn elsewhere(session: &Session, told: Option<PathBuf>) -> Option<ElsewhereView> {
    if session.spec.in_place || session.spec.traits.signs != SignSource::Structured {
        return None;
    }
    let worktree = Path::new(session.place.worktree.as_deref()?).canonicalize().ok()?;
    let stands = session.process().and_then(|process| folder_of(process.pid).ok());
    let folders = told.into_iter().chain(stands).filter_map(|folder| folder.canonicalize().ok());
    let folder = folders.into_iter().find(|folder| !folder.starts_with(&worktree))?;
    let way_back = way_back(session, &folder, &worktree);
    Some(ElsewhereView { folder: folder.to_string_lossy().into_owned(), way_back })
}

/// What brings work from another worktree of the same repository. In the user's own one nothing is committed, and nothing
/// is noted in its index; what the user has changed there comes along.
fn way_back(session: &Session, folder: &Path, worktree: &Path) -> Option<String> {
    let roots = glis_snapshot::git::roots(folder).ok()?;
    let repository = Path::new(&session.spec.repo_root).canonicalize().ok()?;
    if roots.main.canonicalize().ok()? != repository {
        return None;
    }
    let (from, to) = (typed(&roots.top.to_string_lossy()), typed(&worktree.to_string_lossy()));
    Some(if roots.top.canonicalize().ok()? == repository {
        format!(
            "{{ git -C {from} diff --binary HEAD; git -C {from} ls-files -zo --exclude-standard | xargs -0rn1 git -C {from} \
             diff --binary --no-index /dev/null; }} | git -C {to} apply"
        )
    } else {
        format!(
            "git -C {from} add -A; git -C {from} commit -m {}; git -C {to} merge $(git -C {from} \
             rev-parse HEAD)",
            typed(&session.name)
        )
    })
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
