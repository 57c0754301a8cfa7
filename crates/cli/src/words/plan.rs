//! What a person is told of plans, tasks and runs.

use glis_client::labels::task_mark;
use glis_core::merge::Unmerged;
use glis_core::pause::PauseReason;
use glis_core::plain::in_one_line;
use glis_core::plan::{PlanPause, RunFault, RunState};
use glis_wire::plan::{PlanChange, PlanFile, PlanRow, PlanView, RunView, TaskState};
use glis_wire::view::{SessionRow, SessionView};
use jiff::Timestamp;
use std::path::Path;

/// So many of the last lines that a command has printed are shown.
const LAST_LINES: usize = 10;

/// A task's sign and word: never the sign alone.
pub(crate) fn mark(state: TaskState) -> String {
    format!("{} {:<9}", task_mark(state), state.word())
}

/// A run that has become something else, in a line, with what to do where it stands still.
pub(crate) fn run(run: &RunView) -> String {
    let (task, id) = (&run.task_id, &run.run_id);
    match run.state {
        _ if run.skipped => format!("{task}: skipped"),
        RunState::Running if run.finishing => format!("{task}: its work is being judged"),
        RunState::Running => match &run.session_name {
            Some(session) => format!("{task}: running ({session})"),
            None => format!("{task}: begins ({id})"),
        },
        RunState::Waiting => format!("{task}: waiting: {}", waits(run)),
        RunState::Paused if run.moves => {
            let at = run.resume_at.as_deref().map(|at| format!(", at {at}")).unwrap_or_default();
            format!("{task}: paused, and goes on by itself when its agent's limit is over{at}")
        }
        RunState::Paused if run.pause_reason == Some(PauseReason::RateLimit) => format!(
            "{task}: paused at its agent's usage limit; when that is over, `glis resume {task}` goes on"
        ),
        RunState::Paused if run.pause_reason == Some(PauseReason::Global) => {
            format!("{task}: paused with everything else; `glis resume --all` goes on")
        }
        RunState::Paused => {
            let by = match run.pause_reason {
                Some(PauseReason::Budget) => Some(", its `max_time` is over"),
                Some(PauseReason::Crash) => Some(", its agent died"),
                Some(PauseReason::Shutdown) => Some(", the daemon was stopped with its agents"),
                _ => None,
            };
            let failed = run.turn_failed.as_ref();
            let why = failed.map(|why| format!(", its turn has failed: {why}"));
            let why = why.or(by.map(str::to_owned));
            format!(
                "{task}: paused{}; `glis resume {task}` goes on, `glis restart {task}` begins anew",
                why.unwrap_or_default()
            )
        }
        RunState::Succeeded => format!("{task}: done"),
        RunState::Failed => format!("{task}: failed: {}{}", fault(run), ways_on(run)),
        RunState::Canceled => {
            format!("{task}: canceled, its session was removed; `glis restart {task}` begins anew")
        }
    }
}

/// What a run waits for, and the ways out.
pub(crate) fn waits(run: &RunView) -> String {
    let task = &run.task_id;
    if let Some(question) = &run.asks {
        let answer = if run.decides { "yes|no" } else { "TEXT" };
        return format!("{question} (`glis resume {task} --answer {answer}`)");
    }
    if let Some(text) = &run.doubt {
        let session = run.session_name.as_deref().unwrap_or(task);
        return format!(
            "the daemon died while its agent was handed {text:?}; look at it with `glis log {session}`, then \
             `glis answer {session} allow` hands it over again and `glis answer {session} deny` does not"
        );
    }
    if let Some(why) = &run.undelivered {
        return format!(
            "its agent was not handed the prompt: {why}; `glis resume {task} --prompt TEXT` says it \
             otherwise"
        );
    }
    match &run.unmerged {
        Some(why) => unmerged((task, run.session_name.as_deref()), run.worktree.as_deref(), why),
        None => format!("`glis show {task}` shows for what"),
    }
}

/// What a session in a list says of its work that waits to be merged.
pub(crate) fn note(session: &SessionRow) -> Option<String> {
    let (why, task) = (session.unmerged.as_ref()?, session.task.as_deref()?);
    let why = match why {
        Unmerged::Conflict { files } => format!("conflict in {}", files.line()),
        Unmerged::CheckedOut { branch, .. } => format!("{branch} is checked out"),
        Unmerged::OffBranch { .. } => "its worktree is off its branch".to_owned(),
        Unmerged::Unfinished { what } => format!("a {what} is not finished"),
        Unmerged::Nested { path } => format!("{path} is a repository"),
        Unmerged::Submodule { path } => format!("the submodule {path} has changes of its own"),
        Unmerged::NoBranch | Unmerged::NoBase => "the plan's branch is gone".to_owned(),
        Unmerged::NoWorktree => "its worktree is gone".to_owned(),
        Unmerged::Hook { .. } => "a hook has refused it".to_owned(),
        Unmerged::Review => "it waits for your review".to_owned(),
        Unmerged::Stopped => "it was stopped while it was judged".to_owned(),
        Unmerged::Failed { why } => why.clone(),
    };
    Some(format!("task {task} waits: {why}"))
}

/// The task that a session works on, and what that waits for.
pub(crate) fn task(session: &SessionView) -> Option<String> {
    let task = session.task.as_deref()?;
    Some(match &session.unmerged {
        Some(why) => {
            format!(
                "{task}, waiting: {}",
                unmerged((task, Some(&session.name)), session.worktree.as_deref(), why)
            )
        }
        None => task.to_owned(),
    })
}

/// Why work is not merged, and the ways out.
fn unmerged(
    (task, session): (&str, Option<&str>),
    worktree: Option<&str>,
    why: &Unmerged,
) -> String {
    let by_hand = worktree.unwrap_or("its worktree");
    match why {
        Unmerged::Conflict { files } => format!(
            "its work and the plan's branch have changed the same: {}; `glis resume {task}` has its agent \
             resolve that, or merge the plan's branch into its own in {by_hand}, commit that, and then `glis judge \
             {task}`",
            files.line()
        ),
        Unmerged::CheckedOut { branch, at } => format!(
            "the branch {branch} is checked out in {at}, and is not moved under it; `git -C {at} switch \
             --detach` frees it, then `glis resume {task}`"
        ),
        Unmerged::OffBranch { .. } => format!(
            "its worktree is not on its own branch; switch to it in {by_hand}, then `glis resume {task}`"
        ),
        Unmerged::Unfinished { what } => format!(
            "a {what} is not finished in {by_hand}; `glis resume {task}` has its agent finish it"
        ),
        Unmerged::Nested { path } => format!(
            "{path} in {by_hand} is a repository of its own; move or ignore it, then `glis resume {task}`"
        ),
        Unmerged::Submodule { path } => format!(
            "the submodule {path} in {by_hand} has changes that only its own repository can hold; commit and push them \
             there or discard them, then `glis resume {task}`"
        ),
        Unmerged::NoBranch | Unmerged::NoBase => {
            format!("the plan's branch is not there; `glis resume {task}` tries again")
        }
        Unmerged::NoWorktree => {
            format!("its worktree is not there; `glis restart {task}` begins anew")
        }
        Unmerged::Hook { why } => format!(
            "a hook has refused it: {why}; mend that in {by_hand}, then `glis resume {task}`"
        ),
        Unmerged::Review => {
            let session = session.unwrap_or(task);
            format!(
                "your review; `glis diff {session}` shows its work, `glis accept {task}` merges it, \
                 `glis resume {task} --prompt TEXT` asks for changes, `glis reject {task}` does not want it"
            )
        }
        Unmerged::Stopped => {
            format!("it was stopped while its work was judged; `glis resume {task}` tries again")
        }
        Unmerged::Failed { why } => {
            format!("its work could not be merged: {why}; `glis resume {task}` tries again")
        }
    }
}

/// A run that has become something else while it is followed: a task that failed may be tried again by itself, and
/// what to do is told once nothing moves any more.
pub(crate) fn change(run: &RunView) -> String {
    match run.state {
        RunState::Failed if !run.skipped => format!("{}: failed: {}", run.task_id, fault(run)),
        _ => self::run(run),
    }
}

fn fault(run: &RunView) -> String {
    match &run.fault {
        Some(RunFault::NotBegun(why)) => format!("it could not begin: {why}"),
        Some(RunFault::NotStarted(why)) => format!("its agent did not run: {why}"),
        Some(RunFault::NotAccepted(why)) => {
            let log = run.accept_log.as_ref().map(|log| format!(" (.glis/runs/{log})"));
            format!("not accepted: {}{}", ends(why), log.unwrap_or_default())
        }
        Some(RunFault::Rejected) => "rejected".to_owned(),
        None => "its agent did not run".to_owned(),
    }
}

/// Where a run that has failed has left its work, and the ways on from there.
fn ways_on(run: &RunView) -> String {
    let task = &run.task_id;
    let place = run.worktree.as_ref().map(|worktree| format!("; its worktree is {worktree}"));
    let ways = match &run.fault {
        Some(RunFault::NotAccepted(_)) => format!(
            "`glis resume {task}` has its agent mend it, `glis judge {task}` judges it again, `glis accept {task}` \
             takes it as it is, `glis skip {task}` goes on without it"
        ),
        Some(RunFault::Rejected) => format!(
            "`glis resume {task} --prompt TEXT` goes on, `glis restart {task}` begins anew, `glis skip {task}` goes \
             on without it"
        ),
        Some(RunFault::NotBegun(_) | RunFault::NotStarted(_)) | None => {
            format!("`glis restart {task}` begins anew")
        }
    };
    format!("{}; {ways}", place.unwrap_or_default())
}

/// What was wrong, and the last lines of what that has printed.
fn ends(why: &str) -> String {
    let lines: Vec<&str> = why.lines().collect();
    match lines.as_slice() {
        [first, rest @ ..] if rest.len() > LAST_LINES => {
            let last = rest[rest.len() - LAST_LINES..].join("\n");
            format!("{first}\n...\n{last}")
        }
        _ => why.to_owned(),
    }
}

/// A plan was drafted and approved.
pub(crate) fn written(path: &Path, former: Option<&Path>) -> String {
    let written = format!("{} is written; `glis execute` works on it", path.display());
    let kept = former.map(|former| format!("the plan that was there is {}", former.display()));
    std::iter::once(written).chain(kept).collect::<Vec<_>>().join("\n")
}

/// How far a plan is, once nothing of it goes on by itself: what stands still, and in the last line how much is done.
pub(crate) fn rests(plan: &PlanView) -> String {
    let mut lines: Vec<String> = Vec::new();
    for task in plan.leaves().filter(|task| task.changed).map(|task| &task.id) {
        lines.push(format!(
            "{task}: changed since it was done; `glis restart {task}` does it again"
        ));
    }
    for task in plan.leaves().filter(|_| !plan.done) {
        let TaskState::Run(state) = task.state else { continue };
        if state != RunState::Succeeded && state != RunState::Running {
            lines.extend(task.run.as_ref().map(run));
        }
    }
    lines.extend(stopped(plan));
    lines.extend(only(plan));
    lines.push(progress(plan));
    lines.join("\n")
}

/// How much of a plan is done, and where that is.
fn progress(plan: &PlanView) -> String {
    let (done, all) = (count(plan, RunState::Succeeded), plan.leaves().count());
    let skipped = match count(plan, RunState::Canceled) {
        0 => String::new(),
        1 => ", 1 is skipped".to_owned(),
        count => format!(", {count} are skipped"),
    };
    let merge = if plan.done {
        format!(" (`glis merge {}` takes it in)", plan.slug)
    } else {
        String::new()
    };
    let are = if all == 1 { "task is" } else { "tasks are" };
    format!("{done} of {all} {are} done{skipped}: branch {}{merge}", plan.branch)
}

/// Why nothing more of a plan begins by itself, and how it goes on.
fn stopped(plan: &PlanView) -> Option<String> {
    let words = match plan.paused.filter(|_| !plan.done)? {
        PlanPause::Review => "Stopped for review: `glis execute --review` goes on to the next task",
        PlanPause::Only | PlanPause::User => "`glis execute` does the rest",
        PlanPause::Budget => {
            "Its budget (`max_cost`, `max_time`) is spent: `glis execute` grants as much again"
        }
    };
    Some(words.to_owned())
}

/// Why the one task that was asked for does not begin.
fn only(plan: &PlanView) -> Option<String> {
    let wanted = plan.pace.only.as_ref().filter(|_| plan.paused.is_none() && !plan.done)?;
    let task = plan.tasks.iter().find(|task| task.id == *wanted)?;
    match task.state {
        TaskState::Todo if task.needs.is_empty() => {
            Some(format!("`{wanted}` is a group: name one of its tasks"))
        }
        TaskState::Todo => Some(format!("`{wanted}` needs {} first", task.needs.join(", "))),
        TaskState::Run(RunState::Succeeded) => {
            Some(format!("`{wanted}` is done; `glis restart {wanted}` does it again"))
        }
        TaskState::Ready | TaskState::Run(_) => None,
    }
}

fn count(plan: &PlanView, state: RunState) -> usize {
    plan.leaves().filter(|task| task.state == TaskState::Run(state)).count()
}

/// What is left behind by an interrupt: the words that scripts and people look for.
pub(crate) fn paused(plan: &PlanView) -> Vec<String> {
    let mut lines = Vec::new();
    let runs = plan.tasks.iter().filter_map(|task| task.run.as_ref());
    for run in runs.filter(|run| run.superseded_by_run_id.is_none()) {
        let task = &run.task_id;
        match run.state {
            RunState::Paused => {
                lines.push(format!("Paused. Resume with: glis resume {task}"));
                lines.push(format!("Restart with: glis restart {task}"));
                if !run.resumable {
                    let why = "its agent has told no session id";
                    lines.push(format!("{task} cannot be resumed: {why}"));
                }
            }
            RunState::Running if run.finishing => {
                lines.push(format!(
                    "{task} is done by its agent: it is judged and merged all the same"
                ));
            }
            RunState::Running => {
                let session = run.session_name.as_deref().unwrap_or(task);
                lines.push(format!(
                    "{task} still runs: `glis pause {session} --mode force` ends it"
                ));
            }
            RunState::Failed if !run.skipped => lines.push(self::run(run)),
            RunState::Waiting | RunState::Succeeded | RunState::Failed | RunState::Canceled => {}
        }
    }
    if lines.is_empty() {
        lines.push("Paused. Nothing was running; `glis execute` goes on".to_owned());
    }
    lines
}

/// The plans of a repository, a line each.
pub(crate) fn list(plans: &[PlanRow]) -> String {
    if plans.is_empty() {
        return "no plan has been executed here".to_owned();
    }
    let line = |plan: &PlanRow| {
        let state = match (plan.done, plan.at_rest) {
            (true, _) => "done",
            (false, true) => "stopped",
            (false, false) => "running",
        };
        let count = format!("{} of {}", plan.settled, plan.tasks);
        let file = plan.file.as_deref().unwrap_or("-");
        let title = in_one_line(plan.title.as_deref().unwrap_or_default());
        format!("{:<20} {state:<8} {count:<10} {:<28} {file}  {title}", plan.slug, plan.branch)
    };
    let head = format!("{:<20} {:<8} {:<10} {:<28} {}", "NAME", "STATE", "DONE", "BRANCH", "FILE");
    std::iter::once(head).chain(plans.iter().map(line)).collect::<Vec<_>>().join("\n")
}

/// All runs, a line each.
pub(crate) fn runs(runs: &[RunView]) -> String {
    if runs.is_empty() {
        return "no task has been run here".to_owned();
    }
    let line = |run: &RunView| {
        let provider = run.provider.as_deref().unwrap_or("-");
        let known = run.provider_session_ref.as_deref().unwrap_or("no session id");
        let took = took(&run.created_at, Some(&run.updated_at));
        let mut words = vec![format!(
            "{:<16} {:<16} {:<9} {provider:<9} {took:<9} {}  {known}",
            run.run_id,
            run.plan_slug,
            run.state.word(),
            run.updated_at
        )];
        if run.cost_micros > 0 {
            let cents = run.cost_micros.div_ceil(10_000);
            words.push(format!("${}.{:02}", cents / 100, cents % 100));
        }
        if run.state == RunState::Paused {
            words.push(if run.resumable { "resumable" } else { "not resumable" }.to_owned());
        }
        if run.forced {
            words.push("stopped by force".to_owned());
        }
        words.extend(run.asks.as_ref().map(|asked| format!("asks: {}", in_one_line(asked))));
        words.extend(run.resumed_from_run_id.as_ref().map(|id| format!("goes on from {id}")));
        words.extend(run.restart_of_run_id.as_ref().map(|id| format!("restart of {id}")));
        words.extend(run.superseded_by_run_id.as_ref().map(|id| format!("superseded by {id}")));
        words.join("  ")
    };
    let head = format!(
        "{:<16} {:<16} {:<9} {:<9} {:<9} {:<20}  {}",
        "RUN", "PLAN", "STATE", "AGENT", "TOOK", "CHANGED", "AGENT'S SESSION"
    );
    std::iter::once(head).chain(runs.iter().map(line)).collect::<Vec<_>>().join("\n")
}

/// How long something took, or takes.
pub(crate) fn took(from: &str, to: Option<&str>) -> String {
    let at = |text: &str| text.parse::<Timestamp>().ok();
    let to = to.and_then(at).unwrap_or_else(Timestamp::now);
    let secs = at(from).map_or(0, |from| to.duration_since(from).as_secs().max(0));
    format!("{:02}:{:02}:{:02}", secs / 3600, secs / 60 % 60, secs % 60)
}

/// What was done with the file of a plan.
pub(crate) fn changed(change: &PlanChange) -> String {
    match change {
        PlanChange::Add(words) => format!("`{}` is in the plan", words.id),
        PlanChange::Propose(words) => {
            let id = &words.id;
            format!(
                "`{id}` is proposed; `glis plan approve {id}` has it worked on, `glis plan rm {id}` does not"
            )
        }
        PlanChange::Approve { id } => format!("`{id}` is approved"),
        PlanChange::Edit(words) => format!("`{}` is changed", words.id),
        PlanChange::Remove { id } => format!("`{id}` is no longer in the plan"),
    }
}

/// What a change to a task means for the plan that is executed from the file, if one is.
pub(crate) fn reach(file: &PlanFile, id: &str) -> Option<String> {
    let executed = file.executed.as_deref().filter(|plan| !plan.done)?;
    let written = file.tasks.iter().find(|one| one.task.id == id);
    if written.is_some_and(|one| one.proposed) {
        return None;
    }
    if written.is_some_and(|one| one.changed) {
        return Some(format!("it was begun as it was, and `glis restart {id}` begins it anew"));
    }
    match (written, executed.at_rest) {
        (_, true) => Some("`glis execute` takes that over".to_owned()),
        (Some(_), false) => Some("the plan that is executed has taken that over".to_owned()),
        (None, false) => Some(format!("if it was worked on, it is paused: `glis runs {id}` tells")),
    }
}
