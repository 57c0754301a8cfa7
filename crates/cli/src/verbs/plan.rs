//! `plan check`, `show`, `add`, `edit` and `rm`: the file of a plan, which belongs to its repository.
//! `new` is in `draft.rs`.

use super::{Out, ask, file, unexpected};
use crate::complaint::{Complaint, Kind};
use crate::control;
use crate::words;
use clap::{Args, Subcommand};
use glis_core::plan::{TaskSpec, schedule_of};
use glis_core::refusal::LineFault;
use glis_wire::client::{Request, Response};
use glis_wire::plan::{PlanChange, PlanFile, PlanRequest, TaskState, TaskWords, WrittenTask};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[derive(Debug, Subcommand)]
pub(crate) enum PlanVerb {
    /// Have an agent draft the plan; it is shown, and written once you approve it
    New(Draft),
    /// Print every fault of the plan, each with its line
    Check {
        /// The file; else `.glis/plan.toml` of this repository
        file: Option<PathBuf>,
    },
    /// Print the plan as a tree, and what can be worked on
    Show {
        /// The file; else `.glis/plan.toml` of this repository
        file: Option<PathBuf>,
    },
    /// Add a task at the end of the plan
    Add(Edit),
    /// Change a task; what is not named stays, and an empty text takes a key away
    Edit(Edit),
    /// Take a task out of the plan
    Rm {
        /// The task's id
        id: String,
    },
    /// Put the sessions and checkouts of tasks that are merged into the trash
    Clean {
        /// The plan, as `glis runs` calls it; else every plan of this repository
        plan: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Draft {
    /// What is to be reached
    #[arg(required_unless_present = "from")]
    pub(super) goal: Option<String>,
    /// Take the plan in the last words of this session, and begin none
    #[arg(long, value_name = "NAME", conflicts_with_all = ["goal", "agent", "persona", "model"])]
    pub(super) from: Option<String>,
    /// The agent that drafts it
    #[arg(long)]
    pub(super) agent: Option<String>,
    /// The manner of that agent
    #[arg(long)]
    pub(super) persona: Option<String>,
    /// Model
    #[arg(long)]
    pub(super) model: Option<String>,
    /// Write it without asking
    #[arg(long)]
    pub(super) yes: bool,
    /// Put it in the place of the plan that is there, which is kept beside the draft
    #[arg(long)]
    pub(super) replace: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Edit {
    /// The task's id
    id: String,
    /// What it is about, in a few words
    #[arg(long)]
    title: Option<String>,
    /// What an agent is told
    #[arg(long, allow_hyphen_values = true)]
    prompt: Option<String>,
    /// The task that it is a part of
    #[arg(long)]
    parent: Option<String>,
    /// What has to be done before
    #[arg(long, value_delimiter = ',', value_name = "ID,ID")]
    needs: Option<Vec<String>>,
    /// The agent that works on it
    #[arg(long)]
    agent: Option<String>,
    /// The manner of that agent
    #[arg(long)]
    persona: Option<String>,
    /// A shell command that succeeds when it is done
    #[arg(long, allow_hyphen_values = true)]
    accept: Option<String>,
}

pub(super) fn plan(verb: PlanVerb, out: &Out) -> Result<(), Complaint> {
    match verb {
        // Taken before.
        PlanVerb::New(_) => Ok(()),
        PlanVerb::Check { file } => check(file, out),
        PlanVerb::Show { file } => show(file, out),
        PlanVerb::Add(task) => change(PlanChange::Add(task.words()), out),
        PlanVerb::Edit(task) => change(PlanChange::Edit(task.words()), out),
        PlanVerb::Rm { id } => change(PlanChange::Remove { id }, out),
        PlanVerb::Clean { plan } => clean(plan, out),
    }
}

/// The file that is meant: the one that was named, or that of the repository which the caller is in.
pub(super) fn place(file: Option<PathBuf>) -> Result<PathBuf, Complaint> {
    if let Some(file) = file {
        return Ok(file);
    }
    let here = std::env::current_dir()
        .map_err(|fault| Complaint::new(Kind::Usage, format!("the current folder: {fault}")))?;
    place_in(&here)
}

/// The plan of the repository that a folder is in.
pub(super) fn place_in(folder: &Path) -> Result<PathBuf, Complaint> {
    let root = file::worktree_of(folder).ok_or_else(|| {
        let why = format!("{} is in no repository, and a plan belongs to one", folder.display());
        Complaint::new(Kind::Usage, why).hint("go into a repository, or name the file")
    })?;
    Ok(root.join(glis_plan::FILE))
}

/// The worktree that the file of a plan belongs to, and its name there.
pub(super) fn place_of(file: Option<PathBuf>) -> Result<(String, String), Complaint> {
    let path = place(file)?;
    let bad = |why: String| Complaint::new(Kind::Usage, why);
    let full = std::path::absolute(&path).map_err(|fault| bad(fault.to_string()))?;
    let folder = full.parent().unwrap_or(Path::new("/"));
    let root = file::worktree_of(folder).ok_or_else(|| {
        bad(format!("{} is in no repository, and a plan belongs to one", full.display()))
    })?;
    let name = full.strip_prefix(root).unwrap_or(&full);
    let text = |path: &Path| path.to_str().map(str::to_owned);
    match (text(root), text(name)) {
        (Some(root), Some(name)) => Ok((root, name)),
        (Some(_) | None, _) => Err(bad("the path of the plan is not valid UTF-8".to_owned())),
    }
}

/// A plan as its file has it.
fn read(file: Option<PathBuf>) -> Result<Box<PlanFile>, Complaint> {
    let (place, file) = place_of(file)?;
    let request = Request::Plan(PlanRequest::Read { place, file: Some(file) });
    let Response::PlanFile(file) = ask(&mut control::connect()?, request)? else {
        return Err(unexpected());
    };
    Ok(file)
}

/// Faults, each with its line.
pub(super) fn listed(faults: &[LineFault]) -> Vec<Value> {
    faults.iter().map(|fault| json!({"line": fault.line, "why": fault.why})).collect()
}

/// What is printed of the faults of a plan.
pub(super) fn checked(path: &str, faults: &[LineFault]) -> Value {
    json!({"path": path, "faults": listed(faults)})
}

fn check(file: Option<PathBuf>, out: &Out) -> Result<(), Complaint> {
    let (place, file) = place_of(file)?;
    let request = Request::Plan(PlanRequest::Check { place, file: Some(file) });
    let Response::PlanChecked { path, faults } = ask(&mut control::connect()?, request)? else {
        return Err(unexpected());
    };
    out.document(&checked(&path, &faults), || match faults.as_slice() {
        [] => format!("{path} is fine"),
        faults => words::plan::faults(&path, faults),
    })?;
    if faults.is_empty() {
        return Ok(());
    }
    let complaint = Complaint::new(Kind::Failed, "the plan cannot be worked on as it is");
    Err(Complaint { told: out.json, ..complaint.hint("the lines above say what to change") })
}

/// What is printed of a plan: its file, and how far it is if it was ever executed.
pub(super) fn shown(file: &PlanFile) -> Value {
    let executed = file.executed.as_deref();
    let known = |id: &str| executed?.tasks.iter().find(|task| task.id == id);
    let ready = ready(file);
    let task = |written: &WrittenTask| -> Value {
        let task = &written.task;
        let state = known(&task.id).map(|task| task.state);
        json!({
            "id": task.id, "title": task.title, "prompt": task.prompt, "parent": task.parent,
            "needs": task.needs, "agent": task.agent, "persona": task.persona,
            "accept": task.accept, "line": written.line, "changed": written.changed,
            "ready": state.map_or(ready.contains(&task.id), |state| state == TaskState::Ready),
            "state": state, "run": known(&task.id).and_then(|task| task.run.as_ref()),
        })
    };
    let tasks: Vec<Value> = file.tasks.iter().map(task).collect();
    json!({
        "path": file.path, "title": file.title, "tasks": tasks,
        "branch": executed.map(|plan| &plan.branch),
        "paused": executed.and_then(|plan| plan.paused),
        "done": executed.is_some_and(|plan| plan.done),
    })
}

/// The tasks that could be worked on if nothing was done.
fn ready(file: &PlanFile) -> BTreeSet<String> {
    let tasks: Vec<TaskSpec> = file.tasks.iter().map(|written| written.task.clone()).collect();
    schedule_of(&tasks).ready().map(str::to_owned).collect()
}

fn show(file: Option<PathBuf>, out: &Out) -> Result<(), Complaint> {
    let file = read(file)?;
    out.document(&shown(&file), || {
        let ready = ready(&file);
        let executed = file.executed.as_deref();
        let state = |id: &str| Some(executed?.tasks.iter().find(|task| task.id == id)?.state);
        let changed = |id: &str| file.tasks.iter().any(|one| one.task.id == id && one.changed);
        let mark = |task: &TaskSpec| match (executed, ready.contains(&task.id)) {
            // What was added since it was last executed is not begun.
            (Some(_), _) => {
                let mark = words::plan::mark(state(&task.id).unwrap_or(TaskState::Todo));
                if changed(&task.id) { format!("{mark} (changed since)") } else { mark }
            }
            (None, true) => "\u{25cf}".to_owned(),
            (None, false) => "\u{25cb}".to_owned(),
        };
        let tasks = file.tasks.iter().map(|written| &written.task);
        glis_plan::draw(file.title.as_deref(), tasks, mark).join("\n")
    })
}

/// Changes the plan of the repository that the caller is in, and tells what that means where it is executed.
fn change(change: PlanChange, out: &Out) -> Result<(), Complaint> {
    let done = words::plan::changed(&change);
    let (place, _) = place_of(None)?;
    let id = change.task().to_owned();
    let request = Request::Plan(PlanRequest::Change { place, change });
    let Response::PlanFile(file) = ask(&mut control::connect()?, request)? else {
        return Err(unexpected());
    };
    out.document(&shown(&file), || {
        let note = words::plan::reach(&file, &id);
        note.map_or_else(|| done.clone(), |note| format!("{done}; {note}"))
    })
}

/// Removes the sessions of tasks that are merged.
fn clean(plan: Option<String>, out: &Out) -> Result<(), Complaint> {
    let (place, _) = place_of(None)?;
    let request = Request::Plan(PlanRequest::Clean { place, plan });
    let Response::Sessions(removed) = ask(&mut control::connect()?, request)? else {
        return Err(unexpected());
    };
    out.document(&removed, || match removed.as_slice() {
        [] => "there is nothing to clean up: no task that is merged has a session".to_owned(),
        some => {
            let names: Vec<&str> = some.iter().map(|session| session.name.as_str()).collect();
            format!("in the trash: {}", names.join(", "))
        }
    })
}

impl Edit {
    fn words(&self) -> TaskWords {
        TaskWords {
            id: self.id.clone(),
            title: self.title.clone(),
            prompt: self.prompt.clone(),
            parent: self.parent.clone(),
            needs: self.needs.clone(),
            agent: self.agent.clone(),
            persona: self.persona.clone(),
            accept: self.accept.clone(),
        }
    }
}
