//! A repository is at another place: so are its sessions and its plans.

use crate::decision::Decision;
use crate::draft::Draft;
use crate::event::Event;
use crate::plan::{Origin, PlanEvent, PlanSpec};
use crate::session::Session;

/// Where a path is that was in the repository or is its root.
fn after(path: &str, from: &str, to: &str) -> Option<String> {
    let below = path.strip_prefix(from)?;
    (below.is_empty() || below.starts_with('/')).then(|| format!("{to}{below}"))
}

pub(super) fn repository(mut draft: Draft<'_>, from: &str, to: &str) -> Decision {
    let house = draft.house;
    let moves = |session: &Session| {
        let repo_root = after(&session.spec.repo_root, from, to)?;
        Some((session.id.clone(), repo_root))
    };
    let sessions: Vec<_> = house.all_sessions().filter_map(moves).collect();
    for (id, repo_root) in sessions {
        if draft.turn_to(&id).is_ok() {
            draft.event(Event::RepoMoved { repo_root });
        }
    }
    for plan in house.plans() {
        let Some(repo_root) = after(&plan.spec.repo_root, from, to) else { continue };
        // A linked worktree of the user's has a place of its own.
        let origin = plan.origin().map(|Origin { checkout, file }| Origin {
            checkout: after(&checkout, from, to).unwrap_or(checkout),
            file,
        });
        let spec = Box::new(PlanSpec { repo_root, origin, ..(*plan.spec).clone() });
        draft.plan_event(&plan.id, PlanEvent::Revised { spec });
    }
    draft.settle_house()
}
