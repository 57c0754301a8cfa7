//! The file of a plan: where it is, and what is printed of it.

use crate::file::worktree_of;
use crate::{Complaint, Kind};
use glis_core::plan::{TaskSpec, schedule_of};
use glis_core::refusal::LineFault;
use glis_wire::plan::{PlanFile, TaskState, WrittenTask};
use serde_json::{Value, json};
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

/// Faults, each with its line.
pub fn listed(faults: &[LineFault]) -> Vec<Value> {
    faults.iter().map(|fault| json!({"line": fault.line, "why": fault.why})).collect()
}

/// What is printed of the faults of a plan.
pub fn checked(path: &str, faults: &[LineFault]) -> Value {
    json!({"path": path, "faults": listed(faults)})
}

/// What is printed of a plan: its file, and how far it is if it was ever executed.
pub fn shown(file: &PlanFile) -> Value {
    let executed = file.executed.as_deref();
    let known = |id: &str| executed?.tasks.iter().find(|task| task.id == id);
    let ready = ready(file);
    let task = |written: &WrittenTask| -> Value {
        let task = &written.task;
        let state = known(&task.id).map(|task| task.state);
        json!({
            "id": task.id, "title": task.title, "prompt": task.prompt, "parent": task.parent,
            "needs": task.needs, "agent": task.agent, "persona": task.persona,
            "accept": task.accept, "accept_secs": task.accept_secs, "budget": task.budget,
            "line": written.line, "changed": written.changed, "proposed": written.proposed,
            "ready": state.map_or(ready.contains(&task.id), |state| state == TaskState::Ready),
            "state": state, "run": known(&task.id).and_then(|task| task.run.as_ref()),
        })
    };
    let tasks: Vec<Value> = file.tasks.iter().map(task).collect();
    json!({
        "path": file.path, "title": file.title, "budget": file.budget, "tasks": tasks,
        "branch": executed.map(|plan| &plan.branch),
        "paused": executed.and_then(|plan| plan.paused),
        "done": executed.is_some_and(|plan| plan.done),
    })
}

/// The tasks that could be worked on if nothing was done.
pub fn ready(file: &PlanFile) -> BTreeSet<String> {
    let approved = file.tasks.iter().filter(|written| !written.proposed);
    let tasks: Vec<TaskSpec> = approved.map(|written| written.task.clone()).collect();
    schedule_of(&tasks).ready().map(str::to_owned).collect()
}
