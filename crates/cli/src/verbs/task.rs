//! Tasks of a plan: their runs, resumed and begun anew.

use super::args::{Restart, Resume};
use super::{Out, ask, ask_or, session};
use crate::control;
use crate::words;
use glis_client::{Client, Fault};
use glis_core::Refusal;
use glis_core::plan::{Ruling, RunState};
use glis_verbs::{Complaint, Kind, unexpected};
use glis_wire::client::{Request, Response};
use glis_wire::plan::{PlanRequest, RunView};
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

/// The folder that the caller is in.
pub(super) fn here() -> Result<String, Complaint> {
    path_text(std::env::current_dir(), "the current folder")
}

/// A path that may have needed the current folder, as the daemon is told it.
pub(super) fn path_text(path: io::Result<PathBuf>, what: &str) -> Result<String, Complaint> {
    let wrong = |why: String| Complaint::new(Kind::Usage, why);
    let path = path.map_err(|fault| wrong(format!("the current folder: {fault}")))?;
    let text = path.into_os_string().into_string();
    text.map_err(|_| wrong(format!("{what} is not valid UTF-8")))
}

pub(super) fn runs(task: Option<String>, out: &Out) -> Result<(), Complaint> {
    let request = Request::Plan(PlanRequest::Runs { place: here()?, task });
    let Response::Runs(runs) = ask(&mut control::connect()?, request)? else {
        return Err(unexpected());
    };
    out.document(&runs, || words::plan::runs(&runs))
}

/// Whether a name is that of a task and of no session. One that could be both is refused.
fn is_task(control: &mut Client, given: &str) -> Result<bool, Complaint> {
    let session = match control.call(Request::Show { session: given.to_owned() }) {
        Ok(Response::Session(session)) => Some(session),
        Err(Fault::Refused(Refusal::NoSuchSession { .. })) => None,
        Err(Fault::Refused(Refusal::Ambiguous { .. })) if task_here(control, given)?.is_some() => {
            let named = Request::Show { session: format!("session:{given}") };
            return if control.call(named).is_ok() { Err(both(given)) } else { Ok(true) };
        }
        // Whatever else it is, the verb itself finds out.
        Ok(_) | Err(_) => return Ok(false),
    };
    let named = session.as_ref().is_some_and(|s| s.name == given || s.id.starts_with(given));
    let found = session.is_some();
    let task = task_here(control, given)?;
    match (named, task) {
        (true, Some(run)) if run.session != session.as_ref().map(|session| session.id.clone()) => {
            Err(both(given))
        }
        (true, _) => Ok(false),
        // It is a task of another repository if it is none of this one.
        (false, task) => Ok(task.is_some() || found),
    }
}

/// A name that is that of a session and of a task.
fn both(given: &str) -> Complaint {
    let message = format!("`{given}` is a session, and a task as well");
    Complaint::new(Kind::Usage, message)
        .hint(format!("`session:{given}` is the session, `PLAN/{given}` the task"))
}

/// The latest run of a task of the repository that the caller is in.
fn task_here(control: &mut Client, task: &str) -> Result<Option<RunView>, Complaint> {
    let (place, task) = (here()?, Some(task.to_owned()));
    match control.call(Request::Plan(PlanRequest::Runs { place, task })) {
        Ok(Response::Runs(runs)) => Ok(runs.into_iter().next_back()),
        // No repository, or none with this task.
        Ok(_) | Err(_) => Ok(None),
    }
}

/// Resumes a task, or sessions.
pub(super) fn resume(resume: &Resume, out: &Out) -> Result<(), Complaint> {
    if let [name] = resume.names.as_slice()
        && resume.answer.is_none()
        && let mut control = control::connect()?
        && is_task(&mut control, name)?
    {
        return resume_task(&mut control, name, resume, out);
    }
    session::resume(resume, out)
}

fn resume_task(
    control: &mut Client,
    task: &str,
    resume: &Resume,
    out: &Out,
) -> Result<(), Complaint> {
    let run = task_here(control, task)?;
    let asked = run.as_ref().filter(|run| run.state == RunState::Waiting);
    if let Some(question) = asked.and_then(|run| run.asks.clone())
        && resume.prompt.is_none()
    {
        let answer = answer_of(task, &question, run.as_ref().is_some_and(|run| run.decides))?;
        return session::resume_by_answer(&resume.names, &answer, out);
    }
    let (place, prompt) = (here()?, resume.prompt.clone());
    let request = PlanRequest::Resume { place, task: task.to_owned(), prompt };
    let refused = |refusal| diagnosed(told(refusal, task), task, run.as_ref());
    tell_runs(control, request, refused, out, words::plan::run)
}

/// Has something done with a task, and tells what its runs are then.
fn tell_runs(
    control: &mut Client,
    request: PlanRequest,
    refused: impl FnOnce(Refusal) -> Complaint,
    out: &Out,
    line: impl Fn(&RunView) -> String,
) -> Result<(), Complaint> {
    let Response::Runs(runs) = ask_or(control, Request::Plan(request), refused)? else {
        return Err(unexpected());
    };
    out.document(&runs.first(), || runs.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// What a person says to a question; a script has to say it beforehand.
fn answer_of(task: &str, question: &str, decides: bool) -> Result<String, Complaint> {
    let answer = if decides { "yes|no" } else { "TEXT" };
    if !io::stdin().is_terminal() {
        let message = format!("task `{task}` is waiting: {question}");
        return Err(Complaint::new(Kind::Refused, message)
            .hint(format!("`glis resume {task} --answer {answer}` answers it")));
    }
    let choices = if decides { " (yes, no)" } else { "" };
    session::line(&format!("{question}\nanswer{choices}: "))
}

/// Says what becomes of a task.
pub(super) fn rule(task: &str, ruling: Ruling, out: &Out) -> Result<(), Complaint> {
    let request = PlanRequest::Rule { place: here()?, task: task.to_owned(), ruling };
    let refused = |refusal| told(refusal, task);
    let mut control = control::connect()?;
    let Response::Runs(runs) = ask_or(&mut control, Request::Plan(request), refused)? else {
        return Err(unexpected());
    };
    out.document(&runs.first(), || match runs.first() {
        Some(run) if ruling == Ruling::Accept && run.state != RunState::Succeeded => {
            words::plan::run(run)
        }
        Some(_) | None => format!("{task} {}", ruling.means()),
    })
}

/// A refusal, where a name is that of a task.
fn told(refusal: Refusal, task: &str) -> Complaint {
    if let Refusal::Ambiguous { .. } = refusal {
        let message = format!("more than one plan of this repository has a task `{task}`");
        let hint =
            format!("`PLAN/{task}` names one; `glis --json runs {task}` tells `plan_slug` of each");
        return Complaint::new(Kind::NotFound, message).hint(hint);
    }
    refusal.into()
}

/// A resume that fails names the task, its run, the agent and its session id, and the way out.
fn diagnosed(complaint: Complaint, task: &str, run: Option<&RunView>) -> Complaint {
    let Kind::NotResumable(_) = complaint.kind else { return complaint };
    let Some(run) = run else { return complaint };
    let provider = run.provider.as_deref().unwrap_or("no agent yet");
    let known = run.provider_session_ref.as_deref().unwrap_or("none");
    let message = format!(
        "cannot resume task `{task}`, run {} ({provider}, session id {known}): {}",
        run.run_id, complaint.message
    );
    Complaint { message, ..complaint }.hint(format!("`glis restart {task}` begins another run"))
}

/// Begins a task anew, or the conversation of a session.
pub(super) fn restart(restart: &Restart, out: &Out) -> Result<(), Complaint> {
    let mut control = control::connect()?;
    if is_task(&mut control, &restart.name)? {
        return restart_task(&mut control, restart, out);
    }
    // Whoever restarts the session of a task means the task.
    let show = Request::Show { session: restart.name.clone() };
    if let Ok(Response::Session(session)) = control.call(show)
        && let Some(task) = session.row.task
    {
        // The id of a plan of a former version is a path.
        let plan = session.row.plan.filter(|plan| !plan.contains('/'));
        let name = plan.map_or_else(|| task.clone(), |plan| format!("{plan}/{task}"));
        let restart = Restart { name, ..*restart };
        return restart_task(&mut control, &restart, out);
    }
    session::restart(restart, out)
}

fn restart_task(control: &mut Client, restart: &Restart, out: &Out) -> Result<(), Complaint> {
    let task = &restart.name;
    if restart.with_context {
        return Err(Complaint::new(Kind::Usage, "a task begins anew from its own prompt")
            .hint("leave out --with-context"));
    }
    if !restart.yes {
        let run = task_here(control, task)?;
        let was = match run.as_ref().map(|run| run.state) {
            Some(RunState::Succeeded) => "It is done and merged already.",
            Some(_) | None => "Its former run and worktree stay.",
        };
        let question = format!("Begin another run of task `{task}`, from its prompt? {was}");
        let reason = format!("a restart of task `{task}` begins it anew and has to be confirmed");
        session::confirm(&question, &reason, session::NOTHING_DONE)?;
    }
    let request = PlanRequest::Restart { place: here()?, task: task.clone() };
    let line = |run: &RunView| match &run.restart_of_run_id {
        Some(former) => format!("{task}: run {} begins; {former} stays as it was", run.run_id),
        None => words::plan::run(run),
    };
    tell_runs(control, request, |refusal| told(refusal, task), out, line)
}
