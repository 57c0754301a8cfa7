//! Making the worktree of a fresh session.

use super::Trees;
use crate::worktrees::{owner, repository, typed};
use glis_config::regular;
use glis_core::OpId;
use glis_core::input::Outcome;
use glis_core::session::Session;
use glis_record::durable::private_folder;
use glis_snapshot::git::roots;
use glis_snapshot::worktree::{self, Plan};
use glis_snapshot::{SnapshotFault, submodules};
use std::path::{Path, PathBuf};
use tracing::warn;

/// How the folders are called in which commits are judged.
const CLEAN: &str = "clean-";

impl Trees {
    /// Makes or finds the worktree, and provides it with what the configuration says.
    pub(super) fn make_now(&self, session: &Session, op: OpId) -> Outcome {
        if session.spec.in_place {
            let worktree = session.spec.repo_root.clone();
            return Outcome::WorktreeMade { op, worktree, branch: None, notes: Vec::new() };
        }
        let repo = PathBuf::from(&session.spec.repo_root);
        let path = self.place(session, &repo);
        let branch =
            format!("{}{}", self.common.settings.now().worktree.branch_prefix, session.name);
        // A branch of this name would keep plans and merges from theirs, which stand below it.
        let is_taken = ["glis/plan", "glis/merge"].contains(&branch.as_str());
        let branch = if is_taken { format!("{branch}-session") } else { branch };
        let plan = Plan {
            repo: &repo,
            path: &path,
            branch: &branch,
            base: session.spec.base.as_deref(),
            owner: &owner(session),
            umask: self.common.umask,
        };
        let made = path
            .parent()
            .map_or(Ok(()), private_folder)
            .map_err(|fault| format!("{}: {fault}", path.display()))
            .and_then(|()| worktree::make(&plan).map_err(|fault| fault.to_string()));
        match made {
            Ok(made) => Outcome::WorktreeMade {
                op,
                notes: {
                    self.fill_submodules(&repo, &made.path);
                    let mut notes = self.provision.provide(session, &made.path);
                    notes.extend(empty_submodules(&made.path));
                    notes
                },
                worktree: made.path.to_string_lossy().into_owned(),
                branch: Some(made.branch),
            },
            Err(why) => Outcome::WorktreeFailed { op, why: why.into() },
        }
    }

    /// Checks out a commit of a session in a folder below this one, as a worktree of it would be. What a former daemon
    /// has left there goes.
    pub(crate) fn check_out(
        &self,
        session: &Session,
        below: &Path,
        (commit, number): (&str, u64),
    ) -> Result<PathBuf, SnapshotFault> {
        let (repo, own) = (repository(session), format!("{CLEAN}{}-", std::process::id()));
        for entry in std::fs::read_dir(below).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with(CLEAN) && !name.starts_with(&own) {
                Self::drop_checkout(session, &entry.path());
            }
        }
        let path = below.join(format!("{own}{number}"));
        worktree::check_out(&repo, &path, commit, self.common.umask)?;
        self.fill_submodules(&repo, &path);
        Ok(path)
    }

    /// Removes such a checkout. What cannot be removed goes with its session.
    pub(crate) fn drop_checkout(session: &Session, path: &Path) {
        if let Err(fault) = worktree::remove(&repository(session), path, "") {
            warn!("{}: {fault}", path.display());
        }
    }

    /// What cannot be filled is told as empty.
    fn fill_submodules(&self, repo: &Path, worktree: &Path) {
        if !self.common.settings.now().worktree.submodules {
            return;
        }
        let filled = roots(repo)
            .map_err(SnapshotFault::from)
            .and_then(|roots| submodules::fill(&roots.main, worktree, self.common.umask));
        if let Err(fault) = filled {
            warn!("{}: submodules: {fault}", worktree.display());
        }
    }

    /// Runs the set-up of a worktree once more that was cut short, and says what could not be done.
    pub(crate) fn set_up_again(&self, session: &Session, worktree: &Path) -> Option<Vec<String>> {
        let notes = self.provision.provide_again(session, worktree)?;
        Some(notes.into_iter().chain(empty_submodules(worktree)).collect())
    }

    /// `PLACE/REPOSITORY/NAME-ID`: readable, and never the place of an earlier session.
    fn place(&self, session: &Session, repo: &Path) -> PathBuf {
        let root = self.common.settings.now().worktree.place.as_ref().map(PathBuf::from);
        let root = root.unwrap_or_else(|| self.common.home.worktrees.clone());
        let repository =
            repo.file_name().map_or("repository".into(), |name| name.to_string_lossy());
        // The end of the id is its random part.
        let id = session.id.0.as_str();
        let tail = id.get(id.len().saturating_sub(6)..).unwrap_or(id);
        root.join(&*repository).join(format!("{}-{tail}", session.name))
    }
}

/// Some thousand submodules.
const SUBMODULES_BYTES_MAX: u64 = 1024 * 1024;

/// That submodules of a fresh worktree are empty: the main checkout has not got them, and the set-up command has not
/// filled them. A build there fails.
fn empty_submodules(worktree: &Path) -> Option<String> {
    let opened = regular::open_inside(worktree, &worktree.join(".gitmodules")).ok()?;
    let text = regular::text(opened, SUBMODULES_BYTES_MAX).ok()?;
    let paths =
        text.lines().filter_map(|line| line.trim().strip_prefix("path")?.trim().strip_prefix('='));
    let is_empty = |path: &str| match std::fs::read_dir(worktree.join(path)) {
        Ok(mut entries) => entries.next().is_none(),
        Err(_) => true,
    };
    let empty: Vec<&str> = paths.map(str::trim).filter(|path| is_empty(path)).collect();
    if empty.is_empty() {
        return None;
    }
    let worktree = typed(&worktree.to_string_lossy());
    Some(format!(
        "its submodules are empty ({}): `git -C {worktree} submodule update --init --recursive` fills \
         them; as `setup` in the configuration it does so for every fresh worktree",
        empty.join(", ")
    ))
}
