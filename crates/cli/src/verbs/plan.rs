//! `plan check`, `show`, `add`, `edit` and `rm`: the file of a plan, which belongs to its repository.
//! `new` is in `draft.rs`.

use super::{Out, ask, file};
use crate::complaint::{Complaint, Kind};
use crate::control;
use crate::words;
use clap::{Args, Subcommand};
use glis_config::regular;
use glis_plan::{Change, Changes, Fault, Plan, Task};
use glis_wire::client::{Request, Response};
use glis_wire::plan::{PlanRequest, PlanView, TaskState, TaskWords};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// Where a repository has the records of its runs.
const RUNS: &str = ".glis/runs";

/// A plan goes to the daemon in one frame of 8 MiB, with room for what JSON adds.
const PLAN_BYTES_MAX: u64 = 4 * 1024 * 1024;

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
        PlanVerb::Check { file } => check(&place(file)?, out),
        PlanVerb::Show { file } => show(&place(file)?, out),
        PlanVerb::Add(task) => {
            let document = add(&place(None)?, &task.words())?;
            out.document(&document, || format!("`{}` is in the plan", task.id))
        }
        PlanVerb::Edit(task) => {
            let document = edit(&place(None)?, &task.words())?;
            out.document(&document, || format!("`{}` is changed", task.id))
        }
        PlanVerb::Rm { id } => {
            let document = remove(&place(None)?, &id)?;
            out.document(&document, || format!("`{id}` is no longer in the plan"))
        }
    }
}

/// Adds a task; what is printed of that.
pub(super) fn add(path: &Path, words: &TaskWords) -> Result<Value, Complaint> {
    change(path, (None, Kind::Usage), |text| glis_plan::add(text, &task(words)))
}

/// Changes a task; what is printed of that.
pub(super) fn edit(path: &Path, words: &TaskWords) -> Result<Value, Complaint> {
    let of = (Some(words.id.as_str()), Kind::Usage);
    change(path, of, |text| glis_plan::edit(text, &words.id, &changes(words)))
}

/// Takes a task out; what is printed of that.
pub(super) fn remove(path: &Path, id: &str) -> Result<Value, Complaint> {
    // Others need it.
    change(path, (Some(id), Kind::Refused), |text| glis_plan::remove(text, id))
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

/// The file of a plan, the worktree that it belongs to, and its name there.
pub(super) fn place_of(file: Option<PathBuf>) -> Result<(PathBuf, String, String), Complaint> {
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
        (Some(root), Some(name)) => Ok((path, root, name)),
        (Some(_) | None, _) => Err(bad("the path of the plan is not valid UTF-8".to_owned())),
    }
}

/// A plan without a fault.
pub(super) fn read_plan(path: &Path) -> Result<Plan, Complaint> {
    Plan::read(&read(path)?).map_err(|faults| faulty(path, Kind::Failed, &faults))
}

/// The plan as it is executed, if it ever was. A daemon that does not run is started only where there is
/// something to know.
fn executed(path: &Path) -> Result<Option<PlanView>, Complaint> {
    let Ok((_, place, file)) = place_of(Some(path.to_owned())) else { return Ok(None) };
    let known = Path::new(&place).join(RUNS).is_dir();
    let control = if known { Some(control::connect()?) } else { control::connect_running()? };
    let Some(mut control) = control else { return Ok(None) };
    let response = ask(&mut control, Request::Plan(PlanRequest::Show { place, file }))?;
    Ok(if let Response::Plan(plan) = response { Some(*plan) } else { None })
}

pub(super) fn read(path: &Path) -> Result<String, Complaint> {
    text_of(path).map_err(|fault| {
        if fault.kind() == io::ErrorKind::NotFound {
            let why = format!("there is no plan yet: {} does not exist", path.display());
            return Complaint::new(Kind::NotFound, why).hint(
                "`glis plan new GOAL` has one drafted; `glis plan add ID --prompt TEXT` begins one",
            );
        }
        Complaint::new(Kind::Failed, format!("cannot read {}: {fault}", path.display()))
    })
}

/// The text of a plan's file. What is committed there can be anything: a pipe, or a link to a device.
fn text_of(path: &Path) -> io::Result<String> {
    let full = std::path::absolute(path)?;
    let opened = match full.parent().and_then(file::worktree_of) {
        Some(root) => regular::open_inside(root, &full)?,
        None => regular::open(&full)?,
    };
    regular::text(opened, PLAN_BYTES_MAX)
}

pub(super) fn told(path: &Path, faults: &[Fault]) -> String {
    let line = |fault: &Fault| format!("{}:{fault}", path.display());
    faults.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn faulty(path: &Path, kind: Kind, faults: &[Fault]) -> Complaint {
    Complaint::new(kind, told(path, faults)).hint("nothing was changed")
}

/// What is wrong with a plan, and what is printed of that.
pub(super) fn checked(path: &Path) -> Result<(Vec<Fault>, Value), Complaint> {
    let text = read(path)?;
    let faults = Plan::read(&text).err().unwrap_or_default();
    let document = json!({"path": path, "faults": listed(&faults)});
    Ok((faults, document))
}

/// Faults, each with its line.
pub(super) fn listed(faults: &[Fault]) -> Vec<Value> {
    faults.iter().map(|fault| json!({"line": fault.line, "why": fault.why})).collect()
}

fn check(path: &Path, out: &Out) -> Result<(), Complaint> {
    let (faults, document) = checked(path)?;
    out.document(&document, || match faults.as_slice() {
        [] => format!("{} is fine", path.display()),
        faults => told(path, faults),
    })?;
    if faults.is_empty() {
        return Ok(());
    }
    let complaint = Complaint::new(Kind::Failed, "the plan cannot be worked on as it is");
    Err(Complaint { told: out.json, ..complaint.hint("the lines above say what to change") })
}

/// What is printed of a plan: its file, and how far it is if it was ever executed.
pub(super) fn shown(path: &Path, plan: &Plan, executed: Option<&PlanView>) -> Value {
    let known = |id: &str| executed?.tasks.iter().find(|task| task.id == id);
    let state = |id: &str| known(id).map(|task| task.state);
    let schedule = plan.schedule();
    let ready: BTreeSet<&str> = schedule.ready().collect();
    let task = |task: &Task| -> Value {
        json!({
            "id": task.id, "title": task.title, "prompt": task.prompt, "parent": task.parent,
            "needs": task.needs, "agent": task.agent, "persona": task.persona,
            "accept": task.accept, "line": task.line,
            "ready": state(&task.id).map_or(ready.contains(task.id.as_str()), |state| state == TaskState::Ready),
            "state": state(&task.id), "run": known(&task.id).and_then(|task| task.run.as_ref()),
        })
    };
    let tasks: Vec<Value> = plan.tasks.iter().map(task).collect();
    json!({
        "path": path, "title": plan.title, "tasks": tasks,
        "branch": executed.map(|plan| &plan.branch),
        "paused": executed.and_then(|plan| plan.paused),
        "done": executed.is_some_and(|plan| plan.done),
    })
}

fn show(path: &Path, out: &Out) -> Result<(), Complaint> {
    let plan = read_plan(path)?;
    let executed = executed(path)?;
    let known = |id: &str| executed.as_ref()?.tasks.iter().find(|task| task.id == id);
    let state = |id: &str| known(id).map(|task| task.state);
    let schedule = plan.schedule();
    let ready: BTreeSet<&str> = schedule.ready().collect();
    out.document(&shown(path, &plan, executed.as_ref()), || {
        let is_ready = |task: &Task| ready.contains(task.id.as_str());
        let mark = |task: &Task| match (&executed, is_ready(task)) {
            // What was added since it was last executed is not begun.
            (Some(_), _) => words::plan::mark(state(&task.id).unwrap_or(TaskState::Todo)),
            (None, true) => "\u{25cf}".to_owned(),
            (None, false) => "\u{25cb}".to_owned(),
        };
        glis_plan::draw(&plan, mark).join("\n")
    })
}

/// Changes the file as a whole; what would not be a plan is not written. What is wrong with a change to a plan that
/// was none before is the file's fault, and else of this kind. A change may be to a task that has to be there.
fn change(
    path: &Path,
    (id, kind): (Option<&str>, Kind),
    change: impl FnOnce(&str) -> Result<String, Vec<Fault>>,
) -> Result<Value, Complaint> {
    // Two changes at once both count. A disk that knows no locks is as it was.
    let _alone = path.parent().and_then(|folder| file::lock(folder).ok());
    let text = match text_of(path) {
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => String::new(),
        Err(_) => read(path)?,
        Ok(text) => text,
    };
    let plan = Plan::read(&text);
    if let (Some(id), Ok(plan)) = (id, &plan)
        && !plan.tasks.iter().any(|task| task.id == id)
    {
        let message = format!("there is no task `{id}` in {}", path.display());
        return Err(
            Complaint::new(Kind::NotFound, message).hint("`glis plan show` lists the tasks")
        );
    }
    let changed = change(&text).map_err(|faults| {
        let was_plan = text.trim().is_empty() || plan.is_ok();
        faulty(path, if was_plan { kind } else { Kind::Failed }, &faults)
    })?;
    file::replace(path, &changed).map_err(|fault| {
        Complaint::new(Kind::Failed, format!("cannot write {}: {fault}", path.display()))
            .hint("nothing was changed")
    })?;
    Ok(json!({"path": path}))
}

fn task(words: &TaskWords) -> Task {
    let said = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    Task {
        id: words.id.clone(),
        title: said(&words.title),
        prompt: said(&words.prompt),
        parent: said(&words.parent),
        needs: words.needs.clone().unwrap_or_default(),
        agent: said(&words.agent),
        persona: said(&words.persona),
        accept: said(&words.accept),
        line: 0,
    }
}

fn changes(words: &TaskWords) -> Changes {
    let of = |text: &Option<String>| match text.as_deref() {
        None => Change::Keep,
        Some("") => Change::Drop,
        Some(text) => Change::Set(text.to_owned()),
    };
    let needs = match words.needs.as_deref() {
        None => Change::Keep,
        Some([one]) if one.is_empty() => Change::Drop,
        Some(needs) => Change::Set(needs.to_vec()),
    };
    Changes {
        title: of(&words.title),
        prompt: of(&words.prompt),
        parent: of(&words.parent),
        needs,
        agent: of(&words.agent),
        persona: of(&words.persona),
        accept: of(&words.accept),
    }
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
