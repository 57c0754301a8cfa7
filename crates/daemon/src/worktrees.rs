//! Where a session works: its worktree, its repository, and how they are named to a person.

use glis_core::session::Session;
use glis_snapshot::{BranchStand, Detached, SnapshotFault};
use glis_wire::view::DetachedView;
use std::path::{Path, PathBuf};

/// The top of the git worktree that a session works in, or none if it works in no repository.
pub(crate) fn top(session: &Session) -> Result<Option<PathBuf>, SnapshotFault> {
    let dir = PathBuf::from(session.worktree.as_deref().unwrap_or_default());
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
    format!("the repository {} is missing; move it back to where it was", repo.display())
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
