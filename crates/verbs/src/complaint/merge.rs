//! Why a session's work is not merged, and the ways out.

use super::{Complaint, Kind};
use glis_core::merge::Unmerged;

pub(super) fn not_merged(session: &str, into: &str, worktree: &str, why: &Unmerged) -> Complaint {
    let refused = |message: String| Complaint::new(Kind::Refused, message);
    match why {
        Unmerged::Conflict { files } => refused(format!(
            "`{session}` and {into} have changed the same: {}; nothing was merged",
            files.line()
        ))
        .hint(format!(
            "`glis send {session} \"Merge {into} into your branch, resolve the conflicts and commit\"` has \
             the agent do it, `git -C {worktree} merge {into}` is by hand; then `glis merge {session}` again"
        )),
        Unmerged::OffBranch { found } => refused(format!(
            "the worktree of `{session}` is on {}, not on its own branch; nothing was merged",
            found.as_deref().map_or("no branch".to_owned(), |branch| format!("the branch {branch}"))
        ))
        .hint(format!("`glis show {session}` names its branch; switch to it in {worktree}")),
        Unmerged::Unfinished { what } => {
            refused(format!("a {what} is not finished in {worktree}; nothing was merged"))
                .hint(format!("finish it there, or end it with `git -C {worktree} {what} --abort`"))
        }
        Unmerged::Nested { path } => refused(format!(
            "{path} in {worktree} is a repository of its own, so its files would not be in the commit"
        ))
        .hint("move it out of the worktree, ignore it, or make it a submodule"),
        Unmerged::Submodule { path } => refused(format!(
            "the submodule {path} in {worktree} has changes that only its own repository can hold; nothing was merged"
        ))
        .hint(format!(
            "commit and push them in {worktree}/{path}, or discard them; then `glis merge {session}` again"
        )),
        Unmerged::NoBranch => Complaint::new(Kind::Usage, format!("there is no branch {into}"))
            .hint(format!("`git branch {into}` makes one")),
        Unmerged::NoBase => {
            Complaint::new(Kind::Usage, format!("`{session}` began from no branch"))
                .hint("`--into BRANCH` names the one to merge into")
        }
        Unmerged::CheckedOut { branch, at } => {
            refused(format!("the branch {branch} is checked out in {at}, so it is not moved"))
                .hint(format!("`git -C {at} switch --detach` frees it"))
        }
        Unmerged::Hook { why } => refused(format!(
            "a hook of the repository has refused the work of `{session}`: {why}; nothing was merged"
        ))
        .hint(format!("mend it in {worktree}, or run no hooks: `glis merge {session}`")),
        Unmerged::Review => refused(format!("`{session}` waits for your review"))
            .hint(format!("`glis diff {session}` shows its work")),
        Unmerged::Stopped => refused(format!("`{session}` was stopped; nothing was merged"))
            .hint(format!("`glis merge {session}` tries again")),
        Unmerged::Failed { why } => Complaint::new(Kind::Failed, why.clone())
            .hint("`glis doctor` looks for the cause"),
        Unmerged::NoWorktree => refused(format!("the worktree of `{session}` is not there"))
            .hint(format!("`glis restore {session}` brings it back")),
    }
}
