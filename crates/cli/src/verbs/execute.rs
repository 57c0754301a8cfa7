//! `execute`: a window on a plan that the daemon executes. Closing it changes nothing; Ctrl+C pauses.

mod window;

use self::window::Window;
use super::{Out, ask, say};
use crate::control;
use crate::progress::{self, Progress};
use crate::tty::Ending;
use crate::words;
use clap::Args;
use glis_client::{Client, Fault, Streamed};
use glis_core::pause::PauseMode;
use glis_core::plan::{Pace, PlanPause};
use glis_verbs::plan::place_of;
use glis_verbs::{Complaint, Kind, unexpected};
use glis_wire::client::{Request, Response};
use glis_wire::plan::{Execute as Wanted, PlanRequest, PlanView, RunView};
use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The signal of Ctrl+C.
const INTERRUPT: u8 = 2;

/// So many daemons may die under one window: more than that is no accident.
const LOST_MAX: u32 = 100;

/// So many daemons may die one after the other before they let anyone in: each comes a step further.
const UNBORN_MAX: u32 = 20;

#[derive(Debug, Args)]
pub(crate) struct Execute {
    /// The file; else `.glis/plan.toml` of this repository
    pub(crate) plan: Option<PathBuf>,
    /// Only this task
    #[arg(long, value_name = "ID")]
    pub(crate) task: Option<String>,
    /// So many tasks at a time; 1 if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) jobs: Option<u32>,
    /// Merge a task only when you have looked at it: `glis accept TASK`
    #[arg(long)]
    pub(crate) review: bool,
    /// Run the hooks of the repository for its commits, as `git commit` would
    #[arg(long)]
    pub(crate) hooks: bool,
}

pub(super) fn execute(wanted: Execute, out: &Out) -> Result<(), Complaint> {
    let Execute { plan, task: only, jobs, review, hooks } = wanted;
    let given = only.is_some() || jobs.is_some() || review || hooks;
    let pace = Pace { jobs: jobs.unwrap_or(1), review, hooks, only };
    let (place, file) = place_of(plan)?;
    let pace = given.then_some(pace);
    let show = Request::Plan(PlanRequest::Show { place: place.clone(), file: file.clone() });
    let read = PlanRequest::Read { place: place.clone(), file: Some(file.clone()) };
    let request = PlanRequest::Execute(Wanted { place, file: Some(file), pace });
    let plan = begin(&Request::Plan(request))?;
    let left = Arc::new(AtomicBool::new(false));
    heed_signals(&plan.id, &left, out);
    for note in plan.notes.iter().filter(|_| !out.json) {
        say(&format!("note: {note}"))?;
    }
    if plan.gate_shut && !out.json {
        say("everything is paused: nothing begins before `glis resume --all`")?;
    }
    let plan = follow(&plan, show, &left, out)?;
    if left.load(Ordering::SeqCst) {
        // The thread that pauses has the last word, and ends us.
        loop {
            std::thread::park();
        }
    }
    if !out.json {
        tell_of_file(read)?;
    }
    end(&plan, out)
}

/// What stands in the file by now and was not worked on: proposals, or a fault that has kept an edit from the plan.
fn tell_of_file(read: PlanRequest) -> Result<(), Complaint> {
    match ask(&mut connect()?, Request::Plan(read)) {
        Ok(Response::PlanFile(file)) => {
            for task in file.tasks.iter().filter(|task| task.proposed).map(|task| &task.task.id) {
                say(&format!("{task}: proposed; `glis plan approve {task}` has it worked on"))?;
            }
            Ok(())
        }
        Ok(_) => Err(unexpected()),
        Err(fault) => say(&format!("note: {}; the plan is as it was before that", fault.message)),
    }
}

/// Has a plan begun or joined. That it is asked for twice changes nothing, so a daemon that dies
/// meanwhile is started again and asked again.
fn begin(request: &Request) -> Result<PlanView, Complaint> {
    let mut lost = 0;
    loop {
        match ask(&mut connect()?, request.clone()) {
            Ok(Response::Plan(plan)) => return Ok(*plan),
            Ok(_) => return Err(unexpected()),
            Err(complaint) if complaint.kind == Kind::NoDaemon && lost < LOST_MAX => lost += 1,
            Err(complaint) => return Err(complaint),
        }
    }
}

/// Connects to the daemon. One that dies while it starts has left what it was at in its journal, and the
/// next goes on with that.
fn connect() -> Result<Client, Complaint> {
    let mut unborn = 0;
    loop {
        match control::connect() {
            Err(complaint) if complaint.kind == Kind::NoDaemon && unborn < UNBORN_MAX => {
                unborn += 1;
            }
            met => return met,
        }
    }
}

fn end(plan: &PlanView, out: &Out) -> Result<(), Complaint> {
    out.document(plan, || words::plan::rests(plan))?;
    let well = plan.done || matches!(plan.paused, Some(PlanPause::Review | PlanPause::Only));
    if well {
        return Ok(());
    }
    let complaint = Complaint::new(Kind::Failed, "the plan is not done")
        .hint("`glis plan show` and `glis runs` show how far it is");
    Err(Complaint { told: out.json, ..complaint })
}

/// Shows what happens until nothing goes on by itself. A daemon that dies is started again: the plan
/// goes on where it was.
fn follow(
    plan: &PlanView,
    show: Request,
    left: &AtomicBool,
    out: &Out,
) -> Result<PlanView, Complaint> {
    let mut window = if out.json { None } else { Window::open(plan, show) };
    // Elsewhere nobody sees a question, so it ends there with what is asked.
    let answers = window.is_some() && std::io::stdin().is_terminal();
    let mut shown: Vec<(String, String)> = Vec::new();
    let mut lost = 0;
    loop {
        let mut control = connect()?;
        let mut progress = None;
        let request = Request::Plan(PlanRequest::Follow { plan: plan.id.clone(), answers });
        let answer: Result<Response, Complaint> = control.call_seeing(request, |streamed| {
            match streamed {
                Streamed::Words(Response::Run(run)) => {
                    progress = None;
                    match &mut window {
                        _ if out.json || left.load(Ordering::SeqCst) => {}
                        Some(window) => window.hear(&run),
                        None => tell(&run, &mut shown)?,
                    }
                }
                Streamed::Silence(since) if !left.load(Ordering::SeqCst) => match &mut window {
                    Some(window) => window.pass()?,
                    None => progress.get_or_insert_with(|| Progress::new("waiting")).show(since),
                },
                Streamed::Silence(_) | Streamed::Words(_) | Streamed::Bytes(..) => {}
            }
            Ok(())
        });
        drop(progress);
        match answer {
            Ok(Response::Plan(plan)) => {
                if let Some(window) = window.filter(|_| !left.load(Ordering::SeqCst)) {
                    window.close(&plan);
                }
                return Ok(*plan);
            }
            Ok(_) => return Err(unexpected()),
            Err(complaint) if complaint.kind == Kind::NoDaemon && lost < LOST_MAX => lost += 1,
            Err(complaint) => return Err(complaint),
        }
    }
}

/// Tells what a run is, unless that was told.
fn tell(run: &RunView, shown: &mut Vec<(String, String)>) -> Result<(), Complaint> {
    let line = words::plan::change(run);
    let known = shown.iter_mut().find(|(id, _)| *id == run.run_id);
    match known {
        Some((_, former)) if *former == line => return Ok(()),
        Some((_, former)) => former.clone_from(&line),
        None => shown.push((run.run_id.clone(), line.clone())),
    }
    say(&line)
}

/// From now on Ctrl+C pauses the plan, and a second one forces it. Any other signal that ends us leaves
/// the plan as it is.
#[expect(clippy::exit, reason = "the other threads wait for a daemon that takes its time")]
fn heed_signals(plan: &str, left: &Arc<AtomicBool>, out: &Out) {
    // Without it we end as any program does, and the plan goes on.
    let Ok(ending) = Ending::catch() else { return };
    let (plan, left, json) = (plan.to_owned(), Arc::clone(left), out.json);
    let heed = move || {
        let signal = ending.wait();
        left.store(true, Ordering::SeqCst);
        if signal != INTERRUPT {
            std::process::exit(128 + i32::from(signal))
        }
        progress::clear();
        if !json {
            drop(writeln!(
                std::io::stderr().lock(),
                "pausing what runs; Ctrl+C again stops it at once"
            ));
        }
        let own = plan.clone();
        let pausing = move || {
            let out = Out { json };
            if let Err(complaint) =
                pause(&own, PauseMode::Interrupt).and_then(|plan| told(&plan, &out))
            {
                std::process::exit(i32::from(out.complain(&complaint)));
            }
            std::process::exit(i32::from(Kind::Interrupted.exit_status()))
        };
        drop(std::thread::Builder::new().name("pausing".to_owned()).spawn(pausing));
        ending.forget();
        ending.wait();
        drop(writeln!(std::io::stderr().lock(), "forcing"));
        drop(pause(&plan, PauseMode::Force));
        ending.forget();
        ending.wait();
        std::process::exit(i32::from(Kind::Interrupted.exit_status()))
    };
    drop(std::thread::Builder::new().name("signals".to_owned()).spawn(heed));
}

/// Pauses what runs of a plan. A daemon that dies meanwhile is started again and asked again: that it is
/// asked for twice changes nothing.
fn pause(plan: &str, mode: PauseMode) -> Result<PlanView, Complaint> {
    loop {
        let request = Request::Plan(PlanRequest::Pause { plan: plan.to_owned(), mode });
        let mut control = connect()?;
        match control.call(request) {
            Ok(Response::Plan(plan)) => return Ok(*plan),
            Ok(_) => return Err(unexpected()),
            Err(Fault::Lost(_)) => {}
            Err(fault) => return Err(fault.into()),
        }
    }
}

fn told(plan: &PlanView, out: &Out) -> Result<(), Complaint> {
    out.document(plan, || words::plan::paused(plan).join("\n"))
}
