//! Merging a session's work, for a front end.

use super::answer::{Answer, trouble, unusable};
use super::keep::failed;
use super::state::ServerState;
use crate::create::current_branch;
use crate::environments::Caller;
use crate::pools::Kind;
use crate::trees::{ASIDE, NotMerged};
use glis_core::merge::Unmerged;
use glis_core::plain::in_sight;
use glis_core::plan::Plan;
use glis_core::reason::Verb;
use glis_core::refusal::InPlaceWish;
use glis_core::{House, Refusal, Session, Status};
use glis_snapshot::{MergeRequest, Merged};
use glis_wire::client::Response;
use glis_wire::view::MergeView;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// No file system takes a longer name.
const BRANCH_BYTES_MAX: usize = 1024;
/// Before the name of a plan that a session has as well.
const PLAN: &str = "plan:";
/// So much of one that is no name is shown.
const SHOWN_CHARS: usize = 80;

/// Whether hooks of the repository are run.
pub(super) enum HookWish {
    None,
    /// In the environment of who asks; without one, in that of the session.
    Run(Option<Caller>),
}

/// What is asked for beside the name of what is merged.
pub(super) struct Wish {
    pub(super) into: Option<String>,
    /// Where the caller is, if it says so.
    pub(super) place: Option<String>,
    pub(super) hooks: HookWish,
}

pub(super) async fn merge(state: &ServerState, given: &str, wish: Wish) -> Answer {
    let Wish { into, place, hooks } = wish;
    if let Some(into) = into.as_deref().filter(|into| !may_be_branch(into)) {
        let shown: String = in_sight(into).chars().take(SHOWN_CHARS).collect();
        let message = format!("`{shown}` is no name of a branch");
        return Ok(unusable(message, "name one that git would take"));
    }
    match state.find(given).await {
        Ok(session) => {
            let into = refused(&session, into).map_err(|refusal| *refusal)?;
            merge_into(state, session, into, hooks).await
        }
        Err(refusal @ Refusal::NoSuchSession { .. }) => {
            let plan = plan_called(state, given, place).await.ok_or(refusal)??;
            merge_plan(state, plan, into).await
        }
        Err(refusal) => Err(refusal.into()),
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

/// The plan of this name or id: of the repository that the caller is in, where several have one of this name.
async fn plan_called(
    state: &ServerState,
    given: &str,
    place: Option<String>,
) -> Option<Result<Branch, Refusal>> {
    let here = match place {
        Some(place) => state.plans.roots_of(Path::new(&place)).await.ok(),
        None => None,
    };
    let given = given.to_owned();
    let look = move |house: &House| {
        let called = given.strip_prefix(PLAN).unwrap_or(&given);
        let is_it = |plan: &&Plan| plan.spec.slug == called || plan.id.0 == called;
        let all: Vec<&Plan> = house.plans().filter(is_it).collect();
        let own = all.iter().copied().find(|plan| {
            here.as_ref().is_some_and(|roots| roots.0 == Path::new(&plan.spec.repo_root))
        });
        let plan = match (own, all.as_slice()) {
            (Some(plan), _) => plan,
            (None, [plan]) => *plan,
            (None, []) => return None,
            (None, [..]) => return Some(Err(Refusal::Ambiguous { given })),
        };
        let repo = PathBuf::from(&plan.spec.repo_root);
        let checkout = plan.origin().map_or_else(|| repo.clone(), |of| PathBuf::from(of.checkout));
        let (id, slug) = (plan.id.0.clone(), plan.spec.slug.clone());
        Some(Ok(Branch { id, slug, name: plan.spec.branch.clone(), repo, checkout }))
    };
    state.mailbox.house(look).await?
}

/// A branch that is called like the folder of those that are made beside one which is checked out keeps each of them
/// from being made.
fn explained(repo: &Path, why: NotMerged) -> NotMerged {
    let above = ASIDE.trim_end_matches('/');
    if matches!(why, NotMerged::Refused(_))
        || !matches!(glis_snapshot::tip(repo, above), Ok(Some(_)))
    {
        return why;
    }
    let why = format!(
        "there is a branch {above}, so none can be made below that name: `git branch -m {above} {above}-session` makes room"
    );
    NotMerged::Refused(Unmerged::Failed { why })
}

async fn merge_plan(state: &ServerState, plan: Branch, into: Option<String>) -> Answer {
    let Branch { id, slug, name, repo, checkout } = plan;
    let (of, named) = (slug.clone(), into.clone().unwrap_or_default());
    let merge = move || -> Result<(String, String, Merged), NotMerged> {
        let into = into.or_else(|| current_branch(&checkout));
        let into = into.ok_or(NotMerged::Refused(Unmerged::NoBase))?;
        let gone = || Unmerged::Failed { why: format!("its branch {name} is gone") };
        let work = glis_snapshot::tip(&repo, &name)?.ok_or_else(|| NotMerged::Refused(gone()))?;
        let merged = glis_snapshot::merge(&MergeRequest {
            repo: &repo,
            work: &work,
            into: &into,
            aside: &format!("{ASIDE}{of}"),
            message: &format!("Merge the plan `{of}` into {into}"),
            hooks: None,
        });
        let merged = merged.map_err(|fault| explained(&repo, fault.into()))?;
        Ok((into, work, merged))
    };
    let done = state.trees.jobs.ask(Kind::Tree, merge).await.map_err(trouble)?;
    let (into, work, merged) = done.map_err(|why| {
        let refusal =
            |why| Refusal::NotMerged { session: slug.clone(), into: named, worktree: None, why };
        not_done(why, refusal)
    })?;
    Ok(view(id, slug, (work, false), into, merged))
}

fn not_done(why: NotMerged, refusal: impl FnOnce(Unmerged) -> Refusal) -> Response {
    match why {
        NotMerged::Refused(why) => Response::Refused(refusal(why)),
        NotMerged::Failed(fault) => failed(&fault),
    }
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
    let (name, worktree) = (session.name.clone(), session.place.worktree.clone());
    Refusal::NotMerged { session: name, into: into.to_owned(), worktree, why }
}

async fn merge_into(
    state: &ServerState,
    session: Session,
    into: String,
    hooks: HookWish,
) -> Answer {
    let (trees, subject, branch) = (Arc::clone(&state.trees), session.clone(), into.clone());
    let env = match hooks {
        HookWish::None => None,
        HookWish::Run(Some(caller)) => Some(caller.env),
        HookWish::Run(None) => Some(state.creator.common.environments.of_next_start(&session).0),
    };
    let merge = move || {
        let repo = Path::new(&subject.spec.repo_root);
        trees.merge(&subject, &branch, env).map_err(|why| explained(repo, why))
    };
    let done = state.trees.jobs.ask(Kind::Tree, merge).await.map_err(trouble)?;
    let done = done.map_err(|why| not_done(why, |why| not_merged(&session, &into, why)));
    let (work, merged) = done?;
    Ok(view(session.id.0, session.name, (work.commit, work.fresh), into, merged))
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
