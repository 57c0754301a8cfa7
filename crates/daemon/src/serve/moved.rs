//! A repository that is at another place now: told by a person, or found by what it has of ours.

use super::answer::{Answer, unusable};
use super::state::ServerState;
use crate::pools::Kind;
use glis_core::session::Session;
use glis_core::{House, Input, SessionId};
use glis_snapshot::{git, worktree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use tracing::{info, warn};

/// What a repository is known by. A clone of it has the same commits, and none of this.
#[derive(Default)]
struct Marks {
    /// Sessions, of which it has snapshots.
    sessions: BTreeSet<String>,
    /// The branches of plans, which others may have as well, and the commits that they begin from.
    plans: Vec<(String, String)>,
}

impl Marks {
    /// Whether a repository is the one.
    fn fit(&self, repo: &Path) -> bool {
        let list = ["for-each-ref", "--format=%(refname)", "refs/glis", "refs/heads"];
        let Ok(listed) = git::run(repo, &list) else { return false };
        let is_of_session = |name: &str| {
            let mut parts = name.split('/').skip(1);
            parts.next() == Some("glis")
                && parts.nth(1).is_some_and(|id| self.sessions.contains(id))
        };
        let is_of_plan = |name: &str| {
            let branch = name.strip_prefix("refs/heads/");
            let mut plans = self.plans.iter().filter(|(own, _)| Some(own.as_str()) == branch);
            plans.any(|(_, base)| worktree::commit(repo, base).is_ok())
        };
        listed.lines().any(|name| is_of_session(name) || is_of_plan(name))
    }
}

/// The repositories of plans and of these sessions, each by its root.
fn known(house: &House, counts: impl Fn(&Session) -> bool) -> BTreeMap<String, Marks> {
    let mut known: BTreeMap<String, Marks> = BTreeMap::new();
    for session in house.all_sessions().filter(|session| counts(session)) {
        let marks = known.entry(session.spec.repo_root.clone()).or_default();
        marks.sessions.insert(session.id.0.clone());
    }
    for plan in house.plans() {
        let marks = known.entry(plan.spec.repo_root.clone()).or_default();
        marks.plans.push((plan.spec.branch.clone(), plan.spec.base.clone()));
    }
    known
}

/// Has everything of a repository know where that is now.
pub(super) async fn told(state: &ServerState, from: String, to: &str) -> Answer {
    let wanted = "NEW is a folder of the repository where it is now";
    let root = state.plans.roots_of(Path::new(to)).await;
    let (root, _) = root.map_err(|why| unusable(why, wanted))?;
    let from = from.trim_end_matches('/').to_owned();
    let mut known = state.house(|house| known(house, |_| true)).await?;
    let Some(marks) = known.remove(&from) else {
        let gone: Vec<_> = known.into_keys().filter(|root| !Path::new(root).exists()).collect();
        let hint = if gone.is_empty() {
            "every repository that glis knows is where it was".to_owned()
        } else {
            format!("these are not where they were: {}", gone.join(", "))
        };
        return Ok(unusable(format!("no session and no plan is of {from}"), hint));
    };
    let (old, new) = (from.clone(), root.clone());
    let look = move || (marks.fit(Path::new(&old)), marks.fit(&new));
    let again = |why: String| unusable(why, "try again");
    let (stays, fits) = state.trees.jobs.ask(Kind::Look, look).await.map_err(again)?;
    if stays {
        let hint = "a copy is another repository; remove the old one first, if it was copied";
        return Ok(unusable(format!("{from} is still there"), hint));
    }
    if !fits {
        let message = format!(
            "{to} is another repository: it has no snapshot of a session and no plan of {from}"
        );
        return Ok(unusable(message, wanted));
    }
    let moved = carry_over(state, from, &root).await.map_err(again)?;
    Ok(state.listed(moved).await)
}

/// Finds out whether a repository is one that is no longer where it was. A session in place may be of any folder, and
/// tells nothing. Every verb about plans asks this: where nothing is gone, that is all that is looked at.
pub(super) async fn look(state: &ServerState, root: &Path) {
    let Some(roots) = state.mailbox.house(roots).await else { return };
    let look = move || -> BTreeSet<String> {
        roots.into_iter().filter(|root| !Path::new(root).exists()).collect()
    };
    let Ok(gone) = state.trees.jobs.ask(Kind::Look, look).await else { return };
    if gone.is_empty() {
        return;
    }
    let look = |house: &House| known(house, |session| !session.spec.in_place);
    let Some(known) = state.mailbox.house(look).await else { return };
    let place = root.to_owned();
    let look = move || {
        let mut known = known.into_iter().filter(|(root, _)| gone.contains(root));
        known.find(|(_, marks)| marks.fit(&place)).map(|(root, _)| root)
    };
    if let Ok(Some(from)) = state.trees.jobs.ask(Kind::Look, look).await
        && let Err(why) = carry_over(state, from, root).await
    {
        warn!("{}: {why}", root.display());
    }
}

/// The roots of all repositories that sessions and plans are of.
fn roots(house: &House) -> BTreeSet<String> {
    let of_sessions = house.all_sessions().map(|session| &session.spec.repo_root);
    let of_plans = house.plans().map(|plan| &plan.spec.repo_root);
    let roots: BTreeSet<&String> = of_sessions.chain(of_plans).collect();
    roots.into_iter().cloned().collect()
}

/// The sessions that have moved. Git's own links come first: whoever asks again finds them mended.
async fn carry_over(
    state: &ServerState,
    from: String,
    root: &Path,
) -> Result<Vec<SessionId>, String> {
    let place = root.to_owned();
    let repair = move || git::run(&place, &["worktree", "repair"]);
    state.trees.jobs.ask(Kind::Tree, repair).await?.map_err(|fault| fault.to_string())?;
    let to = root.to_str().ok_or("the path of the repository is not valid UTF-8")?.to_owned();
    info!("{from} is {to} now");
    let old = from.clone();
    let moves = move |house: &House| {
        let moves = |session: &&Session| Path::new(&session.spec.repo_root).starts_with(&old);
        house.sessions().filter(moves).map(|session| session.id.clone()).collect::<Vec<_>>()
    };
    let moved = state.mailbox.house(moves).await;
    state.mailbox.tell(Input::RepoMoved { from, to }).await;
    let plans = Arc::clone(&state.plans);
    state.mailbox.house(move |house| plans.catch_up(house)).await;
    moved.ok_or_else(|| "the daemon is ending".to_owned())
}
