//! Why something is not done with a task of a plan.

use super::{Complaint, Kind};
use crate::plan::faults as faults_of;
use glis_core::RunId;
use glis_core::plan::RunState;
use glis_core::refusal::{Elsewhere, LineFault, PlanFileFault, PlanFileWhy};

pub(super) fn no_such_task(given: &str) -> Complaint {
    Complaint::new(Kind::NotFound, format!("there is no task or run `{given}`"))
        .hint("`glis plan show` lists the tasks, `glis runs` their runs")
}

pub(super) fn nothing_to_resume(task: &str, run: &RunId, state: RunState) -> Complaint {
    let message = format!("nothing to resume in task `{task}`: its run {run} is {}", state.word());
    Complaint::new(Kind::Refused, message).hint(match state {
        RunState::Running => format!("it goes on by itself; `glis pause {task}` pauses it"),
        _ => format!("`glis restart {task}` begins another run of it"),
    })
}

pub(super) fn at_work(task: &str, run: &RunId) -> Complaint {
    Complaint::new(Kind::Refused, format!("task `{task}` is being worked on: {run}"))
        .hint(format!("`glis pause {task}` stops it first"))
}

pub(super) fn not_begun(task: &str) -> Complaint {
    Complaint::new(Kind::Refused, format!("nothing was done for task `{task}` yet")).hint(format!(
        "`glis execute` begins it when its turn comes, `glis skip {task}` leaves it out"
    ))
}

pub(super) fn elsewhere(found: &Elsewhere) -> Complaint {
    let Elsewhere { task, run, provider, agent_ref, repo_root, here } = found;
    let provider = provider.as_deref().unwrap_or("no agent yet");
    let known = agent_ref.as_deref().unwrap_or("no session id");
    let message = format!(
        "cannot resume task `{task}` here: its run {run} ({provider}, {known}) belongs to the repository \
         {repo_root}, and this is {here}"
    );
    Complaint::new(Kind::Refused, message)
        .hint(format!("`cd {repo_root}` and `glis resume {task}`, or there `glis restart {task}`"))
}

pub(super) fn file(fault: &PlanFileFault) -> Complaint {
    let path = &fault.path;
    let lines = |faults: &[LineFault]| faults_of(path, faults);
    let unchanged = |complaint: Complaint| complaint.hint("nothing was changed");
    match &fault.why {
        PlanFileWhy::Missing => {
            let why = format!("there is no plan yet: {path} does not exist");
            Complaint::new(Kind::NotFound, why).hint(
                "`glis plan new GOAL` has one drafted; `glis plan add ID --prompt TEXT` begins one",
            )
        }
        PlanFileWhy::Unreadable(why) => {
            Complaint::new(Kind::Failed, format!("cannot read {path}: {why}"))
        }
        PlanFileWhy::Unwritten(why) => {
            unchanged(Complaint::new(Kind::Failed, format!("cannot write {path}: {why}")))
        }
        PlanFileWhy::Faulty(faults) => unchanged(Complaint::new(Kind::Failed, lines(faults))),
        PlanFileWhy::BadChange(faults) => unchanged(Complaint::new(Kind::Usage, lines(faults))),
        PlanFileWhy::Named(faults) => unchanged(Complaint::new(Kind::Refused, lines(faults))),
        PlanFileWhy::NoTask(id) => {
            Complaint::new(Kind::NotFound, format!("there is no task `{id}` in {path}"))
                .hint("`glis plan show` lists the tasks")
        }
    }
}
