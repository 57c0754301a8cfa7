//! Plans in the simulated house: what is asked of them, what their effects come to, what must hold.

use crate::agent::Kind;
use crate::rng::Rng;
use crate::world::{Luck, World};
use glis_core::effect::Effect;
use glis_core::merge::Unmerged;
use glis_core::pause::PauseMode;
use glis_core::plan::{Before, Budget, Pace, PlanSpec, Ruling, Run, RunStep, TaskRef, TaskSpec};
use glis_core::spec::Spec;
use glis_core::tree::PathList;
use glis_core::{
    Command, Event, House, Input, Plan, PlanCommand, PlanEvent, PlanId, PlanOutcome, Recorded,
    RunId, SessionId, Subject, TimerKey,
};

pub(crate) fn id() -> PlanId {
    PlanId("p".to_owned())
}

fn task(id: &str, needs: &[&str]) -> TaskSpec {
    let needs = needs.iter().map(|&need| need.to_owned()).collect();
    TaskSpec { id: id.to_owned(), prompt: Some("do".to_owned()), needs, ..TaskSpec::default() }
}

/// Something that a person might ask of a plan.
pub(crate) fn command(rng: &mut Rng) -> Input {
    let names = ["a", "b", "c"];
    let any = |rng: &mut Rng| (*rng.pick(&names).unwrap_or(&"a")).to_owned();
    Input::Plan(match rng.below(10) {
        0..=3 => {
            let spec = spec(rng);
            let only = rng.percent(20).then(|| any(rng));
            let jobs = u32::from(rng.percent(60)) + u32::from(rng.percent(40));
            let pace = Pace { jobs, review: rng.percent(20), only, ..Pace::default() };
            PlanCommand::Execute { id: id(), spec, pace, before: Before::default() }
        }
        4 if rng.percent(50) => PlanCommand::Revise { id: id(), spec: spec(rng) },
        8 if rng.percent(80) => {
            let task = any(rng);
            return by_itself(rng, &task);
        }
        4..=5 => {
            let mode = if rng.percent(50) { PauseMode::Interrupt } else { PauseMode::Force };
            PlanCommand::Pause { id: id(), mode }
        }
        6..=7 => {
            let prompt = rng.percent(30).then(|| "go on".to_owned());
            PlanCommand::Resume { id: id(), task: any(rng), prompt }
        }
        9 => {
            let spec = rng.percent(50).then(|| spec(rng));
            PlanCommand::Restart { id: id(), task: any(rng), spec }
        }
        _ => {
            let ruling = *rng.pick(&Ruling::ALL).unwrap_or(&Ruling::Judge);
            PlanCommand::Rule { id: id(), task: any(rng), ruling }
        }
    })
}

/// Something that is told of a plan, and that nobody asks for.
fn by_itself(rng: &mut Rng, task: &str) -> Input {
    match rng.below(4) {
        3 => Input::Plan(PlanCommand::Propose { id: id(), task: task.to_owned(), title: None }),
        0 => Input::TimerFired { subject: Subject::Plan(id()), key: TimerKey::Budget },
        1 => Input::RepoMoved { from: String::new(), to: "/s".to_owned() },
        _ => {
            let (run, micros) =
                (RunId(format!("{task}-1")), u64::try_from(rng.below(5)).unwrap_or(0));
            Input::PlanOutcome { plan: id(), outcome: PlanOutcome::Cost { run, micros } }
        }
    }
}

/// What the plan's file might have.
pub(crate) fn spec(rng: &mut Rng) -> Box<PlanSpec> {
    let mut tasks = vec![task("a", &[]), task("b", &["a"]), task("c", &[])];
    if rng.percent(20) {
        tasks.push(task("d", &["b", "c"]));
    } else if rng.percent(10) {
        tasks.pop();
    }
    let text = |text: &str| text.to_owned();
    let (title, slug, base) = (None, text("p"), text("c0"));
    let (repo_root, branch) = (text("/r"), text("glis/plan/p"));
    let (cost_micros, secs) = (rng.percent(30).then_some(3), rng.percent(30).then_some(60));
    let (origin, budget) = (None, Budget { cost_micros, tokens: None, secs });
    Box::new(PlanSpec { title, slug, repo_root, branch, base, origin, budget, tasks })
}

/// What comes of an effect about a plan.
pub(crate) fn perform(
    house: &House,
    world: &mut World,
    (plan, effect): (&PlanId, &Effect),
    (rng, luck): (&mut Rng, Luck),
) -> Option<Input> {
    let mixed = luck == Luck::Mixed;
    if let Effect::BeginRun { run } = effect {
        let known = house.plan(plan)?.run(run).filter(|run| run.step == RunStep::Preparing)?;
        if mixed && rng.percent(10) {
            let (run, why) = (run.clone(), "bad luck".to_owned());
            let (plan, outcome) = (plan.clone(), PlanOutcome::NotBegun { run, why });
            return Some(Input::PlanOutcome { plan, outcome });
        }
        return Some(Input::Command(make(world, plan, known, rng)));
    }
    if let Effect::JudgeRun { run } = effect {
        let run = run.clone();
        let outcome = match rng.below(10) {
            0 | 1 if mixed => {
                PlanOutcome::NotAccepted { run, why: "exit 1".to_owned(), retries: 1 }
            }
            2 if mixed => PlanOutcome::Unmerged { run, why: Unmerged::Stopped },
            _ => PlanOutcome::Accepted { run, commit: "w1".to_owned() },
        };
        return Some(Input::PlanOutcome { plan: plan.clone(), outcome });
    }
    let Effect::MergeRun { run } = effect else { return None };
    let run = run.clone();
    let outcome = match rng.below(10) {
        1 if mixed => {
            let files = PathList::of(["a.txt".to_owned()]);
            PlanOutcome::Unmerged { run, why: Unmerged::Conflict { files } }
        }
        2 if mixed => {
            PlanOutcome::Unmerged { run, why: Unmerged::Failed { why: "full".to_owned() } }
        }
        _ => PlanOutcome::Merged { run, commit: "c1".to_owned() },
    };
    Some(Input::PlanOutcome { plan: plan.clone(), outcome })
}

fn make(world: &mut World, plan: &PlanId, run: &Run, rng: &mut Rng) -> Command {
    let kinds = [Kind::Chosen, Kind::Learned, Kind::Anytime];
    let kind = *rng.pick(&kinds).unwrap_or(&Kind::Chosen);
    // Also of those that are gone, none has it.
    let session = SessionId(format!("s{}", world.kinds.len()));
    world.kinds.insert(session.clone(), kind);
    let of = TaskRef { plan: plan.clone(), task: run.task.clone(), run: run.id.clone() };
    let agent_ref =
        matches!(kind, Kind::Chosen | Kind::Anytime).then(|| format!("planned-{session}"));
    let spec = Spec { task: Some(Box::new(of)), ..kind.spec(Some("do".to_owned())) };
    Command::New { id: session, name: run.id.0.clone(), spec: Box::new(spec), agent_ref }
}

/// Whether what is durable of a plan gives a reason for the effect.
pub(crate) fn has_reason(plan: Option<&Plan>, effect: &Effect) -> bool {
    let step = |run| plan.and_then(|plan| plan.run(run)).map(|run| (&run.step, run.is_over()));
    if matches!(effect, Effect::SetTimer { key: TimerKey::Budget, .. }) {
        return plan.is_some_and(|plan| plan.spec.budget.secs.is_some());
    }
    if let Effect::BeginRun { run } = effect {
        return step(run) == Some((&RunStep::Preparing, false));
    }
    if let Effect::JudgeRun { run } = effect {
        return step(run) == Some((&RunStep::Finishing, false));
    }
    if let Effect::MergeRun { run } = effect {
        return matches!(step(run), Some((RunStep::Merging(_), false)));
    }
    false
}

/// Judges an event by the house as it was before it.
pub(crate) fn judge(before: &House, recorded: &Recorded) -> Result<(), String> {
    let fault = |what: &str| Err(format!("{what}: {recorded:?}"));
    if let Event::SessionCreated { spec, .. } = &recorded.event
        && let Some(of) = &spec.task
    {
        let run = before.plan(&of.plan).and_then(|plan| plan.run(&of.run));
        return match run {
            Some(run) if run.session.is_none() && !run.is_over() => Ok(()),
            Some(_) | None => fault("a run has two sessions"),
        };
    }
    let (Subject::Plan(id), Event::Plan(event)) = (&recorded.subject, &recorded.event) else {
        return Ok(());
    };
    let plan = before.plan(id);
    let over = |run| plan.and_then(|plan| plan.run(run)).is_none_or(Run::is_over);
    match event {
        PlanEvent::RunBegan { .. } if before.gate().shut().is_some() => {
            fault("a run begins at a shut gate")
        }
        PlanEvent::RunBegan { alone: false, .. }
            if plan.is_some_and(|plan| plan.paused.is_some()) =>
        {
            // What is continued in the same decision is so by then.
            fault("a run begins in a paused plan")
        }
        PlanEvent::RunBegan { run, restart_of, resumed_from, task, .. } => {
            let again = plan.and_then(|plan| plan.latest_run(task)).map(|run| &run.id);
            let behind = restart_of.as_ref().or(resumed_from.as_ref());
            if plan.is_some_and(|plan| plan.run(run).is_some()) || again != behind {
                return fault("a task is done twice unasked");
            }
            Ok(())
        }
        PlanEvent::RunSucceeded { run, .. } => {
            let step = plan.and_then(|plan| plan.run(run)).map(|run| &run.step);
            if !matches!(step, Some(RunStep::Merging(_))) {
                return fault("what nobody accepted is merged");
            }
            Ok(())
        }
        PlanEvent::RunFinishing { run, .. }
        | PlanEvent::RunCost { run, .. }
        | PlanEvent::RunAccepted { run, .. }
        | PlanEvent::RunFailed { run, .. }
        | PlanEvent::RunWaits { run, .. }
        | PlanEvent::RunCanceled { run } => {
            if over(run) {
                return fault("it was over");
            }
            Ok(())
        }
        PlanEvent::Begun { .. }
        | PlanEvent::Revised { .. }
        | PlanEvent::Continued { .. }
        | PlanEvent::Stopped { .. }
        | PlanEvent::TaskSkipped { .. }
        | PlanEvent::TaskProposed { .. } => Ok(()),
    }
}
