//! The file of a plan: where it is, and what is printed of it.

use crate::file::worktree_of;
use crate::{Complaint, Kind};
use glis_core::plan::{Budget, PlanPause, TaskSpec, schedule_of};
use glis_core::refusal::LineFault;
use glis_wire::plan::{PlanFile, RunView, TaskState, WrittenTask};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The file that is meant: the one that was named, or that of the repository which the caller is in.
pub fn place(file: Option<PathBuf>) -> Result<PathBuf, Complaint> {
    if let Some(file) = file {
        return Ok(file);
    }
    let here = std::env::current_dir()
        .map_err(|fault| Complaint::new(Kind::Usage, format!("the current folder: {fault}")))?;
    place_in(&here)
}

/// The plan of the repository that a folder is in.
pub fn place_in(folder: &Path) -> Result<PathBuf, Complaint> {
    let root = worktree_of(folder).ok_or_else(|| {
        let why = format!("{} is in no repository, and a plan belongs to one", folder.display());
        Complaint::new(Kind::Usage, why).hint("go into a repository, or name the file")
    })?;
    Ok(root.join(glis_plan::FILE))
}

/// The worktree that the file of a plan belongs to, and its name there.
pub fn place_of(file: Option<PathBuf>) -> Result<(String, String), Complaint> {
    let path = place(file)?;
    let bad = |why: String| Complaint::new(Kind::Usage, why);
    let full = std::path::absolute(&path).map_err(|fault| bad(fault.to_string()))?;
    let folder = full.parent().unwrap_or(Path::new("/"));
    let root = worktree_of(folder).ok_or_else(|| {
        bad(format!("{} is in no repository, and a plan belongs to one", full.display()))
    })?;
    let name = full.strip_prefix(root).unwrap_or(&full);
    let text = |path: &Path| path.to_str().map(str::to_owned);
    match (text(root), text(name)) {
        (Some(root), Some(name)) => Ok((root, name)),
        (Some(_) | None, _) => Err(bad("the path of the plan is not valid UTF-8".to_owned())),
    }
}

/// Faults of a file, a line each.
pub fn faults(path: &str, faults: &[LineFault]) -> String {
    let line = |fault: &LineFault| format!("{path}:{fault}");
    faults.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The faults of a plan.
#[derive(Serialize, JsonSchema)]
pub struct Checked {
    pub path: String,
    pub faults: Vec<LineFault>,
}

/// A plan: its file, and how far it is if it was ever executed.
#[derive(Serialize, JsonSchema)]
pub struct WrittenPlan<'f> {
    path: &'f str,
    title: Option<&'f str>,
    budget: Budget,
    tasks: Vec<PlannedTask<'f>>,
    branch: Option<&'f str>,
    /// Why nothing of it begins by itself.
    paused: Option<PlanPause>,
    done: bool,
}

/// A task as the file has it, and how far it is.
#[derive(Serialize, JsonSchema)]
pub struct PlannedTask<'f> {
    id: &'f str,
    title: Option<&'f str>,
    prompt: Option<&'f str>,
    parent: Option<&'f str>,
    needs: &'f [String],
    agent: Option<&'f str>,
    persona: Option<&'f str>,
    accept: Option<&'f str>,
    accept_secs: Option<u32>,
    budget: Budget,
    /// Where it begins in the file.
    line: usize,
    /// It is done or worked on, and said something else then.
    changed: bool,
    /// Nobody works on it before a person approves it.
    proposed: bool,
    /// It can be worked on.
    ready: bool,
    state: Option<TaskState>,
    /// Its latest run.
    run: Option<&'f RunView>,
}

/// What is printed of a plan.
pub fn shown<'f>(file: &'f PlanFile) -> WrittenPlan<'f> {
    let executed = file.executed.as_deref();
    let ready = ready(file);
    let task = |written: &'f WrittenTask| {
        let WrittenTask { task, line, changed, proposed } = written;
        let known = executed.and_then(|plan| plan.tasks.iter().find(|known| known.id == task.id));
        let state = known.map(|known| known.state);
        PlannedTask {
            id: &task.id,
            title: task.title.as_deref(),
            prompt: task.prompt.as_deref(),
            parent: task.parent.as_deref(),
            needs: &task.needs,
            agent: task.agent.as_deref(),
            persona: task.persona.as_deref(),
            accept: task.accept.as_deref(),
            accept_secs: task.accept_secs,
            budget: task.budget,
            line: *line,
            changed: *changed,
            proposed: *proposed,
            ready: state.map_or(ready.contains(&task.id), |state| state == TaskState::Ready),
            state,
            run: known.and_then(|known| known.run.as_ref()),
        }
    };
    WrittenPlan {
        path: &file.path,
        title: file.title.as_deref(),
        budget: file.budget,
        tasks: file.tasks.iter().map(task).collect(),
        branch: executed.map(|plan| plan.branch.as_str()),
        paused: executed.and_then(|plan| plan.paused),
        done: executed.is_some_and(|plan| plan.done),
    }
}

/// The tasks that could be worked on if nothing was done.
pub fn ready(file: &PlanFile) -> BTreeSet<String> {
    let approved = file.tasks.iter().filter(|written| !written.proposed);
    let tasks: Vec<TaskSpec> = approved.map(|written| written.task.clone()).collect();
    schedule_of(&tasks).ready().map(str::to_owned).collect()
}
