//! What is said about plans: how far each task is, and the way on where one stands still.

use super::short;
use crate::text::{Text, clean};
use glis_client::labels::task_mark;
use glis_core::merge::Unmerged;
use glis_core::pause::PauseReason;
use glis_core::plan::{PlanPause, RunFault, RunState, TaskSpec};
use glis_wire::plan::{PlanFile, PlanView, RunView, TaskState, TaskView, WrittenTask};

/// So much of a title, a question or a reason is shown.
const REASON_CHARS: usize = 300;
/// More of a proposal's prompt does not fit into a message beside its command; the plan's file has all of it.
const PROPOSAL_CHARS: usize = 1500;
/// So many tasks are listed; more do not fit into a message.
const TASKS_MAX: usize = 60;

/// A plan was never executed: what its file has.
pub fn plan_written(file: &PlanFile) -> Text {
    let title = file.title.as_deref().unwrap_or("Plan");
    let mut text = Text::default().bold(&short(title, REASON_CHARS));
    text = text.and(&format!(" \u{b7} {} tasks, not executed yet", file.tasks.len()));
    for WrittenTask { task, proposed, .. } in file.tasks.iter().take(TASKS_MAX) {
        let (mark, state) = if *proposed { ("?", " proposed") } else { ("\u{25cb}", "") };
        text = text.and(&format!("\n{mark} ")).code(&task.id).and(state);
        text = text.and(&titled(task.title.as_deref()));
    }
    text.join(&more(file.tasks.len()))
}

/// A plan in execution, task by task.
pub fn plan_now(plan: &PlanView) -> Text {
    let title = plan.title.as_deref().unwrap_or("Plan");
    let mut text = Text::default().bold(&short(title, REASON_CHARS));
    text = text.and(&format!(" \u{b7} {}", count(plan)));
    for task in plan.tasks.iter().take(TASKS_MAX) {
        let state = format!(" {}", task.state.word());
        text = text.and(&format!("\n{} ", task_mark(task.state))).code(&task.id).and(&state);
        text = text.and(&titled(task.title.as_deref()));
    }
    text = text.join(&more(plan.tasks.len()));
    for line in stuck(plan).filter_map(run_line) {
        text = text.and(&format!("\n\n{line}"));
    }
    let rest = rests(plan).map_or_else(String::new, |line| format!("\n\n{line}"));
    text.and(&rest)
}

/// A task that an agent proposes, and whether that is all of it: only what was read whole is approved from here.
pub fn proposal(task: &TaskSpec) -> (Text, bool) {
    let text = Text::plain("An agent proposes the task ").code(&task.id);
    let mut text = text.and(&titled(task.title.as_deref()));
    let mut is_whole = true;
    for (what, said) in [("", &task.prompt), ("accept: ", &task.accept)] {
        if let Some(said) = said {
            is_whole &= said.chars().count() <= PROPOSAL_CHARS;
            text = text.and(&format!("\n{what}{}", short(said, PROPOSAL_CHARS)));
        }
    }
    let more = "\nThat is not all of it: `glis plan show` has the rest.";
    (if is_whole { text } else { text.and(more) }, is_whole)
}

fn titled(title: Option<&str>) -> String {
    title.map_or_else(String::new, |title| format!(" \u{b7} {}", short(title, 80)))
}

fn more(tasks: usize) -> Text {
    match tasks.saturating_sub(TASKS_MAX) {
        0 => Text::default(),
        more => Text::plain(format!("\n... and {more} more")),
    }
}

fn count(plan: &PlanView) -> String {
    let is_done = |task: &&TaskView| task.state == TaskState::Run(RunState::Succeeded);
    let (done, all) = (plan.leaves().filter(is_done).count(), plan.leaves().count());
    format!("{done} of {all} tasks done")
}

/// The latest run of each task that has one.
pub fn plan_runs(plan: &PlanView) -> impl Iterator<Item = &RunView> {
    plan.leaves().filter_map(|task| task.run.as_ref())
}

/// The runs that do not go on by themselves.
pub fn stuck(plan: &PlanView) -> impl Iterator<Item = &RunView> {
    plan_runs(plan).filter(|run| is_stuck(run))
}

/// Whether a person has to do something before this run goes on.
pub fn is_stuck(run: &RunView) -> bool {
    match run.state {
        RunState::Running | RunState::Succeeded => false,
        RunState::Paused => !run.moves,
        RunState::Waiting | RunState::Failed | RunState::Canceled => true,
    }
}

/// Whether `/plan resume` goes on with it. What it asks has a card of its own.
pub fn can_resume(run: &RunView) -> bool {
    match run.state {
        RunState::Paused => run.resumable && !run.moves,
        RunState::Waiting => {
            let review = run.unmerged == Some(Unmerged::Review);
            run.asks.is_none() && run.doubt.is_none() && !review
        }
        RunState::Failed => matches!(run.fault, Some(RunFault::NotAccepted(_))),
        RunState::Running | RunState::Succeeded | RunState::Canceled => false,
    }
}

/// A run that has become something else, in a line, with what to do where it stands still. What passes by
/// in a moment is not told.
pub fn run_line(run: &RunView) -> Option<String> {
    let task = &run.task_id;
    let reason = |why: &dyn std::fmt::Display| short(&why.to_string(), REASON_CHARS);
    Some(match run.state {
        RunState::Running if run.finishing || run.session_name.is_none() => return None,
        RunState::Running => format!("{task}: running"),
        RunState::Waiting => format!("{task}: waiting: {}", waits(run)),
        RunState::Paused if run.moves => {
            format!("{task}: paused, and goes on by itself when its agent's limit is over")
        }
        RunState::Paused if run.pause_reason == Some(PauseReason::RateLimit) => format!(
            "{task}: paused at its agent's usage limit. When that is over, /plan resume {task} goes on"
        ),
        RunState::Paused if run.resumable => {
            let failed = |why: &String| format!(", its turn has failed: {}", reason(why));
            let why = run.turn_failed.as_ref().map(failed);
            let why = why.unwrap_or_default();
            format!(
                "{task}: paused{why}. /plan resume {task} goes on, /plan restart {task} begins anew"
            )
        }
        RunState::Paused => format!(
            "{task}: paused. It cannot be resumed: its agent has told no session id. \
             /plan restart {task} begins anew"
        ),
        RunState::Succeeded => format!("{task}: done"),
        RunState::Failed => {
            let ways = match &run.fault {
                Some(RunFault::NotAccepted(_)) => format!(
                    "/plan resume {task} has its agent mend it, /plan accept {task} takes it as it is, /plan \
                     skip {task} goes on without it, /plan restart {task} begins anew"
                ),
                Some(RunFault::NotBegun(_) | RunFault::NotStarted(_) | RunFault::Rejected)
                | None => {
                    format!(
                        "/plan restart {task} begins anew, /plan skip {task} goes on without it"
                    )
                }
            };
            let why = match &run.fault {
                Some(RunFault::NotBegun(why)) => format!("it could not begin: {}", reason(why)),
                Some(RunFault::NotStarted(why)) => {
                    format!("its agent did not run: {}", reason(why))
                }
                Some(RunFault::NotAccepted(why)) => format!("not accepted: {}", reason(why)),
                Some(RunFault::Rejected) => "rejected".to_owned(),
                None => "its agent did not run".to_owned(),
            };
            format!("{task}: failed: {why}. {ways}")
        }
        RunState::Canceled => {
            format!("{task}: canceled, its session was removed. /plan restart {task} begins anew")
        }
    })
}

fn waits(run: &RunView) -> String {
    let task = &run.task_id;
    if let Some(question) = &run.asks {
        return format!("{} (answer its card)", short(question, REASON_CHARS));
    }
    if run.doubt.is_some() {
        return "the daemon died while its agent was handed a message (answer its card)".to_owned();
    }
    if let Some(why) = &run.undelivered {
        return format!(
            "its agent was not handed the prompt: {}. /plan resume {task} tries again",
            short(why, REASON_CHARS)
        );
    }
    let Some(why) = &run.unmerged else { return format!("/plan resume {task} tries again") };
    let why = match why {
        Unmerged::Conflict { files } => {
            return format!(
                "its work and the plan's branch have changed the same: {}. /plan resume {task} has its agent \
                 resolve that",
                clean(&files.line())
            );
        }
        Unmerged::Review => {
            return format!(
                "your review. /plan accept {task} merges it, /plan reject {task} does not want it"
            );
        }
        Unmerged::NoWorktree => {
            return format!("its worktree is not there. /plan restart {task} begins anew");
        }
        Unmerged::Unfinished { what } => {
            return format!(
                "a {what} is not finished. /plan resume {task} has its agent finish it"
            );
        }
        Unmerged::CheckedOut { branch, at } => {
            format!("the branch {branch} is checked out in {at}; switch there to another one")
        }
        Unmerged::OffBranch { .. } => "its worktree is not on its own branch".to_owned(),
        Unmerged::Nested { path } => format!("{path} is a repository of its own"),
        Unmerged::Submodule { path } => {
            format!("the submodule {path} has changes that only its own repository can hold")
        }
        Unmerged::NoBranch | Unmerged::NoBase => "the plan's branch is not there".to_owned(),
        Unmerged::Hook { why } => format!("a hook has refused it: {why}"),
        Unmerged::Stopped => "it was stopped while its work was judged".to_owned(),
        Unmerged::Failed { why } => format!("its work could not be merged: {why}"),
    };
    format!("{}. Then /plan resume {task}", short(&why, REASON_CHARS))
}

/// What a plan says once nothing of it goes on by itself.
pub fn rests(plan: &PlanView) -> Option<String> {
    if plan.done {
        return Some(format!("All tasks are done: branch {}", clean(&plan.branch)));
    }
    if plan.gate_shut {
        return Some("Everything is paused: nothing begins before /resumeall.".to_owned());
    }
    let why = match plan.paused {
        Some(PlanPause::Review) => "Stopped for review. /plan execute goes on to the next task.",
        Some(PlanPause::Only | PlanPause::User) => "Paused. /plan execute does the rest.",
        Some(PlanPause::Budget) => "Its budget is spent. /plan execute grants as much again.",
        None if plan.at_rest => "Nothing more begins by itself.",
        None => return None,
    };
    Some(why.to_owned())
}

pub fn plan_paused(plan: &PlanView) -> String {
    if let Some(done) = rests(plan).filter(|_| plan.done) {
        return done;
    }
    let running = plan_runs(plan).filter(|run| run.state == RunState::Running);
    let line = |run: &RunView| {
        let task = &run.task_id;
        if run.finishing {
            format!("\n{task} is done by its agent, and is still judged and merged.")
        } else {
            format!("\n{task} still runs. /plan pause force ends it.")
        }
    };
    format!(
        "The plan is paused: nothing of it begins by itself.{}",
        running.map(line).collect::<String>()
    )
}

pub fn plan_title(plan: &PlanView) -> String {
    short(plan.title.as_deref().unwrap_or("Plan"), 80)
}
