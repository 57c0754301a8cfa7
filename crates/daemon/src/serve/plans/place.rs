//! The repository that a caller means, and the plan of a file in it.

use crate::serve::answer::{Answer, bad};
use crate::serve::moved;
use crate::serve::state::ServerState;
use glis_core::House;
use glis_core::plan::{Origin, Plan};
use std::path::{Path, PathBuf};

/// The root of the repository that a caller is in.
pub(super) async fn root(state: &ServerState, place: &str) -> Answer<String> {
    roots(state, place).await.map(|(root, _)| root)
}

/// The same, and the worktree of it that the caller is in.
pub(super) async fn roots(state: &ServerState, place: &str) -> Answer<(String, String)> {
    let (root, top) = state.plans.roots_of(Path::new(place)).await.map_err(bad)?;
    moved::look(state, &root).await;
    let text = |path: PathBuf| -> Answer<String> {
        let text = path.into_os_string().into_string();
        Ok(text.map_err(|_| bad("the path of the repository is not valid UTF-8"))?)
    };
    Ok((text(root)?, text(top)?))
}

/// The plan that was last executed from a file.
pub(super) fn latest_from<'h>(house: &'h House, origin: &Origin) -> Option<&'h Plan> {
    house
        .plans()
        .filter(|plan| plan.origin().as_ref() == Some(origin))
        .max_by_key(|plan| plan.created_at)
}
