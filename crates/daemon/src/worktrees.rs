//! Places to work in, made for a session.

use crate::adapters::Adapters;
use crate::durable::private_folder;
use glis_core::OpId;
use glis_core::input::Outcome;
use glis_core::session::Session;
use glis_snapshot::worktree::{self, Plan};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) fn make(hands: &Arc<Adapters>, session: &Session, op: OpId) -> Outcome {
    if session.spec.in_place {
        let worktree = session.spec.repo_root.clone();
        return Outcome::WorktreeMade { op, worktree, branch: None, notes: Vec::new() };
    }
    let repo = PathBuf::from(&session.spec.repo_root);
    let path = place(hands, session, &repo);
    let branch = format!("{}{}", hands.config().worktree.branch_prefix, session.name);
    let plan = Plan {
        repo: &repo,
        path: &path,
        branch: &branch,
        base: session.spec.base.as_deref(),
        owner: &owner(session),
        umask: hands.umask,
    };
    let made = path
        .parent()
        .map_or(Ok(()), private_folder)
        .map_err(|fault| format!("{}: {fault}", path.display()))
        .and_then(|()| worktree::make(&plan).map_err(|fault| fault.to_string()));
    match made {
        Ok(made) => Outcome::WorktreeMade {
            op,
            notes: crate::outfit::fit(hands, session, &made.path),
            worktree: made.path.to_string_lossy().into_owned(),
            branch: Some(made.branch),
        },
        Err(why) => Outcome::WorktreeFailed { op, why },
    }
}

/// Who a worktree is for, in git's own lock.
pub(crate) fn owner(session: &Session) -> String {
    format!("glis session {}", session.id)
}

/// `PLACE/REPOSITORY/NAME-ID`: readable, and never the place of an earlier session.
fn place(hands: &Adapters, session: &Session, repo: &Path) -> PathBuf {
    let root = hands.config().worktree.place.as_ref().map(PathBuf::from);
    let root = root.unwrap_or_else(|| hands.home.worktrees.clone());
    let repository = repo.file_name().map_or("repository".into(), |name| name.to_string_lossy());
    // The end of the id is its random part.
    let id = session.id.0.as_str();
    let tail = id.get(id.len().saturating_sub(6)..).unwrap_or(id);
    root.join(&*repository).join(format!("{}-{tail}", session.name))
}
