//! The draft of a plan, for another face: what the command line does with it and prints of it.

use super::draft::{self, Target};
use super::perform::Performed;
use super::plan::{place_in, place_of};
use crate::complaint::Complaint;
use glis_client::Client;
use glis_wire::client::NewSession;
use glis_wire::plan::DraftWork;
use serde_json::json;
use std::path::Path;

/// Does something with a draft of the plan of the repository that a folder is in, as `plan new` does.
pub fn work_on_draft(
    control: &mut Client,
    folder: &Path,
    work: DraftWork,
) -> Result<Performed, Complaint> {
    let path = place_in(folder)?;
    match work {
        DraftWork::Begin { goal, agent, persona, model } => {
            let (repo, _) = place_of(Some(path))?;
            let new = NewSession { agent, repo, persona, model, ..NewSession::default() };
            draft::drafter(control, goal, new).map(|session| json!(session).into())
        }
        DraftWork::Look { session } => draft::drafted(control, &session).map(Performed::from),
        DraftWork::Take { session, replace, seen } => {
            let target = Target::find(path, replace)?;
            draft::take(control, &session, &target, seen.as_deref()).map(Performed::from)
        }
    }
}
