//! The repository that a caller means, and the plan of a file in it.

use crate::serve::state::ServerState;
use glis_core::House;
use glis_core::plan::{Origin, Plan};
use glis_wire::client::{Response, Trouble};
use std::path::{Path, PathBuf};

pub(super) fn bad(message: impl Into<String>) -> Response {
    Response::Trouble { kind: Trouble::BadInput, message: message.into() }
}

/// The root of the repository that a caller is in.
pub(super) async fn root(state: &ServerState, place: &str) -> Result<String, Box<Response>> {
    roots(state, place).await.map(|(root, _)| root)
}

/// The same, and the worktree of it that the caller is in.
pub(super) async fn roots(
    state: &ServerState,
    place: &str,
) -> Result<(String, String), Box<Response>> {
    let (root, top) =
        state.plans.roots_of(Path::new(place)).await.map_err(|why| Box::new(bad(why)))?;
    let text = |path: PathBuf| {
        let text = path.into_os_string().into_string();
        text.map_err(|_| Box::new(bad("the path of the repository is not valid UTF-8")))
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
