//! Merging a session's work, for a front end.

use super::carry::trouble;
use super::keep::failed;
use super::state::ServerState;
use crate::create::current_branch;
use crate::environments::Caller;
use crate::pools::Kind;
use crate::trees::{ASIDE, NotMerged};
use glis_core::merge::Unmerged;
use glis_core::plain::in_sight;
use glis_core::reason::Verb;
use glis_core::refusal::InPlaceWish;
use glis_core::{House, Refusal, Session, Status};
use glis_snapshot::{MergeRequest, Merged};
use glis_wire::client::Response;
use glis_wire::view::MergeView;
use std::path::PathBuf;
use std::sync::Arc;

/// No file system takes a longer name.
const BRANCH_BYTES_MAX: usize = 1024;
/// So much of one that is no name is shown.
const SHOWN_CHARS: usize = 80;

/// Whether hooks of the repository are run.
pub(super) enum HookWish {
    None,
    /// In the environment of who asks; without one, in that of the session.
    Run(Option<Caller>),
}

pub(super) async fn merge(
    state: &ServerState,
    given: &str,
    into: Option<String>,
    hooks: HookWish,
) -> Response {
    if let Some(into) = into.as_deref().filter(|into| !may_be_branch(into)) {
        let shown: String = in_sight(into).chars().take(SHOWN_CHARS).collect();
        let message = format!("`{shown}` is no name of a branch");
        return Response::Unusable { message, hint: "name one that git would take".to_owned() };
    }
    let session = match state.find(given).await {
        Ok(session) => session,
        Err(refusal) => {
            let missing = matches!(refusal, Refusal::NoSuchSession { .. });
            return match plan_called(state, given).await.filter(|_| missing) {
                Some(plan) => merge_plan(state, plan, into).await,
                None => Response::Refused(refusal),
            };
        }
    };
    match refused(&session, into) {
        Ok(into) => merge_into(state, session, into, hooks).await,
        Err(refusal) => Response::Refused(*refusal),
    }
}

/// A plan whose branch is merged.
struct Branch {
    id: String,
    slug: String,
    name: String,
    repo: PathBuf,
    /// Where its file lies: what is checked out there is what it goes into.
    checkout: PathBuf,
}

/// The plan of this name: the latest, where more than one repository has it.
async fn plan_called(state: &ServerState, given: &str) -> Option<Branch> {
    let slug = given.to_owned();
    let look = move |house: &House| {
        let named = house.plans().filter(|plan| plan.spec.slug == slug);
        let plan = named.max_by_key(|plan| plan.created_at)?;
        let repo = PathBuf::from(&plan.spec.repo_root);
        let checkout = plan.origin().map_or_else(|| repo.clone(), |of| PathBuf::from(of.checkout));
        let (id, name) = (plan.id.0.clone(), plan.spec.branch.clone());
        Some(Branch { id, slug, name, repo, checkout })
    };
    state.mailbox.house(look).await?
}

async fn merge_plan(state: &ServerState, plan: Branch, into: Option<String>) -> Response {
    let Branch { id, slug, name, repo, checkout } = plan;
    let of = slug.clone();
    let merge = move || -> Result<(String, String, Merged), NotMerged> {
        let into = into.or_else(|| current_branch(&checkout));
        let into = into.ok_or(NotMerged::Refused(Unmerged::NoBase))?;
        let work =
            glis_snapshot::tip(&repo, &name)?.ok_or(NotMerged::Refused(Unmerged::NoBranch))?;
        let merged = glis_snapshot::merge(&MergeRequest {
            repo: &repo,
            work: &work,
            into: &into,
            aside: &format!("{ASIDE}{of}"),
            message: &format!("Merge the plan `{of}` into {into}"),
            hooks: None,
        })?;
        Ok((into, work, merged))
    };
    let (into, work, merged) = match state.trees.ask(Kind::Tree, merge).await {
        Ok(Ok(done)) => done,
        Ok(Err(NotMerged::Refused(why))) => {
            let into = String::new();
            return Response::Refused(Refusal::NotMerged {
                session: slug,
                into,
                worktree: None,
                why,
            });
        }
        Ok(Err(NotMerged::Failed(fault))) => return failed(&fault),
        Err(fault) => return trouble(&fault),
    };
    view(id, slug, (work, false), into, merged)
}

/// What git could be asked for at all.
fn may_be_branch(name: &str) -> bool {
    !name.is_empty() && name.len() <= BRANCH_BYTES_MAX && !name.contains(char::is_control)
}

/// The branch that it goes into, unless it cannot be merged as it is.
fn refused(session: &Session, into: Option<String>) -> Result<String, Box<Refusal>> {
    let name = session.name.clone();
    if session.spec.in_place {
        return Err(Box::new(Refusal::InPlace { session: name, wish: InPlaceWish::Merge }));
    }
    let status = session.status();
    match status {
        // Half of what it is about to write would be merged.
        Status::Busy | Status::Pausing | Status::Resuming | Status::Archived => {
            Err(Box::new(Refusal::WrongStatus { session: name, status, verb: Verb::Merge }))
        }
        Status::Created
        | Status::Idle
        | Status::Waiting
        | Status::Paused
        | Status::Suspended
        | Status::Interrupted
        | Status::Completed
        | Status::Failed => into
            .or_else(|| session.spec.base_branch.clone())
            .ok_or_else(|| Box::new(not_merged(session, "", Unmerged::NoBase))),
    }
}

fn not_merged(session: &Session, into: &str, why: Unmerged) -> Refusal {
    let (name, worktree) = (session.name.clone(), session.worktree.clone());
    Refusal::NotMerged { session: name, into: into.to_owned(), worktree, why }
}

async fn merge_into(
    state: &ServerState,
    session: Session,
    into: String,
    hooks: HookWish,
) -> Response {
    let (trees, subject, branch) = (Arc::clone(&state.trees), session.clone(), into.clone());
    let env = match hooks {
        HookWish::None => None,
        HookWish::Run(Some(caller)) => Some(caller.env),
        HookWish::Run(None) => Some(state.creator.environments.of_next_start(&session).0),
    };
    let merge = move || match env {
        None => trees.merge(&subject, &branch),
        Some(env) => trees.merge_with_hooks(&subject, &branch, env),
    };
    let done = state.trees.ask(Kind::Tree, merge).await;
    let (work, merged) = match done {
        Ok(Ok(done)) => done,
        Ok(Err(NotMerged::Refused(why))) => {
            return Response::Refused(not_merged(&session, &into, why));
        }
        Ok(Err(NotMerged::Failed(fault))) => return failed(&fault),
        Err(fault) => return trouble(&fault),
    };
    view(session.id.0, session.name, (work.commit, work.fresh), into, merged)
}

/// What was merged, as a front end is shown it.
fn view(
    id: String,
    session: String,
    (work, committed): (String, bool),
    into: String,
    merged: Merged,
) -> Response {
    Response::Merged(Box::new(MergeView {
        id,
        session,
        work,
        committed,
        next: merged.checked_out.as_ref().map(|_| format!("git merge --ff-only {}", merged.branch)),
        into,
        branch: merged.branch,
        commit: merged.commit,
        already: merged.already,
        checked_out: merged.checked_out.map(|at| at.to_string_lossy().into_owned()),
    }))
}
