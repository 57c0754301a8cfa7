//! `plan check`, `show`, `add`, `edit` and `rm`: the file of a plan, which belongs to its repository.
//! `new` is in `draft.rs`.

use super::{Out, ask};
use crate::control;
use crate::words;
use clap::{Args, Subcommand};
use glis_core::plan::TaskSpec;
use glis_verbs::plan::{Checked, faults as faults_of, place_of, ready, shown};
use glis_verbs::{Complaint, Kind, unexpected};
use glis_wire::client::{Request, Response};
use glis_wire::plan::{PlanChange, PlanFile, PlanRequest, TaskState, TaskWords};
use std::path::PathBuf;

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
    /// List the plans of this repository that were executed, with their names and branches
    Ls,
    /// Add a task at the end of the plan
    Add {
        #[command(flatten)]
        task: Edit,
        /// Have it worked on only once somebody approves it: for agents at work
        #[arg(long)]
        propose: bool,
    },
    /// Have a task worked on that was proposed; `rm` declines it
    Approve {
        /// The task's id
        id: String,
    },
    /// Change a task; what is not named stays, and an empty text takes a key away
    Edit(Edit),
    /// Take a task out of the plan
    Rm {
        /// The task's id
        id: String,
    },
    /// Put the sessions and checkouts of tasks that are merged into the trash
    Clean {
        /// The plan, as `glis plan ls` calls it; else every plan of this repository
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
    /// How long that may take: 90s, 30m
    #[arg(long, value_name = "TIME")]
    accept_secs: Option<String>,
    /// What it may cost, in dollars; counted when a turn ends
    #[arg(long, value_name = "USD")]
    max_cost: Option<String>,
    /// How long it may take: 90s, 30m, 2h
    #[arg(long, value_name = "TIME")]
    max_time: Option<String>,
}

pub(super) fn plan(verb: PlanVerb, out: &Out) -> Result<(), Complaint> {
    match verb {
        // Taken before.
        PlanVerb::New(_) => Ok(()),
        PlanVerb::Check { file } => check(file, out),
        PlanVerb::Show { file } => show(file, out),
        PlanVerb::Ls => list(out),
        PlanVerb::Add { task, propose: true } => change(PlanChange::Propose(task.words()), out),
        PlanVerb::Add { task, propose: false } => change(PlanChange::Add(task.words()), out),
        PlanVerb::Approve { id } => change(PlanChange::Approve { id }, out),
        PlanVerb::Edit(task) => change(PlanChange::Edit(task.words()), out),
        PlanVerb::Rm { id } => change(PlanChange::Remove { id }, out),
        PlanVerb::Clean { plan } => clean(plan, out),
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

fn check(file: Option<PathBuf>, out: &Out) -> Result<(), Complaint> {
    let (place, file) = place_of(file)?;
    let request = Request::Plan(PlanRequest::Check { place, file: Some(file) });
    let Response::PlanChecked { path, faults } = ask(&mut control::connect()?, request)? else {
        return Err(unexpected());
    };
    let checked = Checked { path, faults };
    out.document(&checked, || match checked.faults.as_slice() {
        [] => format!("{} is fine", checked.path),
        faults => faults_of(&checked.path, faults),
    })?;
    if checked.faults.is_empty() {
        return Ok(());
    }
    let complaint = Complaint::new(Kind::Failed, "the plan cannot be worked on as it is");
    Err(Complaint { told: out.json, ..complaint.hint("the lines above say what to change") })
}

fn show(file: Option<PathBuf>, out: &Out) -> Result<(), Complaint> {
    let file = read(file)?;
    out.document(&shown(&file), || {
        let ready = ready(&file);
        let executed = file.executed.as_deref();
        let state = |id: &str| Some(executed?.tasks.iter().find(|task| task.id == id)?.state);
        let changed = |id: &str| file.tasks.iter().any(|one| one.task.id == id && one.changed);
        let proposed = |id: &str| file.tasks.iter().any(|one| one.task.id == id && one.proposed);
        let mark = |task: &TaskSpec| match (executed, ready.contains(&task.id)) {
            _ if proposed(&task.id) => "? proposed ".to_owned(),
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

/// The plans of the repository that the caller is in.
fn list(out: &Out) -> Result<(), Complaint> {
    let (place, _) = place_of(None)?;
    let request = Request::Plan(PlanRequest::List { place });
    let Response::Plans(plans) = ask(&mut control::connect()?, request)? else {
        return Err(unexpected());
    };
    out.document(&plans, || words::plan::list(&plans))
}

/// Changes the plan of the repository that the caller is in, and tells what that means where it is executed.
fn change(change: PlanChange, out: &Out) -> Result<(), Complaint> {
    let done = words::plan::changed(&change);
    let (place, _) = place_of(None)?;
    let id = change.task().to_owned();
    let change = Box::new(change);
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
    let list = ask(&mut control::connect()?, request)?;
    let Response::Sessions { rows: removed, .. } = list else { return Err(unexpected()) };
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
            accept_secs: self.accept_secs.clone(),
            max_cost: self.max_cost.clone(),
            max_time: self.max_time.clone(),
        }
    }
}
