//! The file of a plan, for another face: what the command line does with it and prints of it.

use super::draft::{self, Target};
use super::execute;
use super::perform::{Performed, perform};
use super::plan::{self, place_in, place_of, read_plan};
use crate::complaint::{Complaint, Kind};
use glis_client::Client;
use glis_wire::client::{NewSession, Request, Response};
use glis_wire::plan::{Execute, PlanRequest, PlanView, PlanWork};
use serde_json::json;
use std::path::Path;

/// Does something with the plan of the repository that a folder is in, as its verb does.
pub fn work_on_plan(
    control: &mut Client,
    folder: &Path,
    work: PlanWork,
) -> Result<Performed, Complaint> {
    let path = place_in(folder)?;
    match work {
        PlanWork::Check => {
            let (faults, document) = plan::checked(&path)?;
            let exit = if faults.is_empty() { 0 } else { Kind::Failed.exit_status() };
            Ok(Performed { document, exit })
        }
        PlanWork::Show => {
            let written = read_plan(&path)?;
            let executed = executed(control, &path)?;
            Ok(plan::shown(&path, &written, executed.as_ref()).into())
        }
        PlanWork::Add(words) => plan::add(&path, &words).map(Performed::from),
        PlanWork::Edit(words) => plan::edit(&path, &words).map(Performed::from),
        PlanWork::Remove { id } => plan::remove(&path, &id).map(Performed::from),
        PlanWork::Draft { goal, agent, persona, model } => {
            let (_, repo, _) = place_of(Some(path))?;
            let new = NewSession { agent, repo, persona, model, ..NewSession::default() };
            draft::drafter(control, goal, new).map(|session| json!(session).into())
        }
        PlanWork::Drafted { session } => draft::drafted(control, &session).map(Performed::from),
        PlanWork::Take { session, replace, seen } => {
            let target = Target::find(path, replace)?;
            draft::take(control, &session, &target, seen.as_deref()).map(Performed::from)
        }
        PlanWork::Execute { pace } => {
            let wanted = execute::written(Some(path), pace)?;
            perform(control, Request::Plan(PlanRequest::Execute(wanted)))
        }
        PlanWork::Restart { task } => {
            let (_, place, _) = place_of(Some(path.clone()))?;
            // A plan that is being written is begun from as it was last executed.
            let plan = execute::written(Some(path), None).ok();
            perform(control, Request::Plan(PlanRequest::Restart { place, task, plan }))
        }
    }
}

/// A plan of the repository that a folder is in, as its file has it; without a file the repository's own.
pub fn plan_of(folder: &Path, file: &str) -> Result<Box<Execute>, Complaint> {
    let path = if file.is_empty() { place_in(folder)? } else { folder.join(file) };
    execute::written(Some(path), None)
}

/// The plan as it is executed, if it ever was.
fn executed(control: &mut Client, path: &Path) -> Result<Option<PlanView>, Complaint> {
    let (_, place, file) = place_of(Some(path.to_owned()))?;
    let response = control.call(Request::Plan(PlanRequest::Show { place, file }))?;
    Ok(if let Response::Plan(plan) = response { Some(*plan) } else { None })
}
