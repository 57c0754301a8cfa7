//! What the repository of a plan is like: where it is, what it stands on, what it wants.

use super::Plans;
use crate::pools::Kind;
use crate::run_records::{self, Unfit};
use glis_snapshot::SnapshotFault;
use std::path::{Path, PathBuf};

/// Where the work of a plan is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whereabouts {
    TakenIn,
    InItsBranch,
    /// Its branch is gone, and no commit that it made is in what is checked out: it may have been squashed into one, or
    /// thrown away.
    Unknown,
}

impl Plans {
    /// Says why a repository cannot keep the records of its runs, if so.
    pub(crate) async fn check_place(&self, root: &str) -> Result<(), Unfit> {
        let root = PathBuf::from(root);
        let look = move || run_records::check_place(&root);
        self.jobs.ask(Kind::Look, look).await.map_err(Unfit::Place)?
    }

    /// The root of the repository that a folder belongs to, and the worktree of it that the folder is in.
    pub(crate) async fn roots_of(&self, place: &Path) -> Result<(PathBuf, PathBuf), String> {
        let place = place.to_owned();
        let look = move || glis_snapshot::git::roots(&place).map(|roots| (roots.main, roots.top));
        self.jobs.ask(Kind::Look, look).await?.map_err(|fault| fault.to_string())
    }

    /// Where all that a plan has done is, seen from the commit that a folder stands on.
    pub(crate) async fn whereabouts(
        &self,
        place: &Path,
        branch: &str,
        tip: &str,
    ) -> Result<Whereabouts, String> {
        let (place, branch, tip) = (place.to_owned(), branch.to_owned(), tip.to_owned());
        let look = move || {
            Ok(if glis_snapshot::is_ancestor(&place, &tip, "HEAD").unwrap_or(false) {
                Whereabouts::TakenIn
            } else if glis_snapshot::tip(&place, &branch)?.is_some() {
                Whereabouts::InItsBranch
            } else {
                Whereabouts::Unknown
            })
        };
        let told = |fault: SnapshotFault| fault.to_string();
        self.jobs.ask(Kind::Look, look).await?.map_err(told)
    }

    /// That commits are not signed, where the repository wants them to be: nobody is there to be asked for the key.
    pub(crate) async fn unsigned(&self, place: String) -> Option<String> {
        let wants = ["config", "--type=bool", "--get", "commit.gpgsign"];
        let look = move || glis_snapshot::git::run(Path::new(&place), &wants);
        let wanted = self.jobs.ask(Kind::Look, look).await.ok()?.is_ok_and(|said| said == "true");
        wanted.then(|| {
            "commit.gpgsign is set, and the commits of a plan are not signed; once its branch is yours, `git rebase \
             --rebase-merges --gpg-sign BASE` signs them"
                .to_owned()
        })
    }

    /// The commit that a folder stands on, and whether there is a branch of this name.
    pub(crate) async fn stands_on(
        &self,
        place: &Path,
        branch: &str,
    ) -> Result<(String, bool), String> {
        let (place, branch) = (place.to_owned(), branch.to_owned());
        let look = move || {
            let told = |fault: &dyn ToString| fault.to_string();
            let commit = glis_snapshot::worktree::commit(&place, "HEAD").map_err(|f| told(&f))?;
            let tip = glis_snapshot::tip(&place, &branch).map_err(|f| told(&f))?;
            Ok((commit, tip.is_some()))
        };
        self.jobs.ask(Kind::Look, look).await?
    }
}
