//! What can be asked for of plans: their files, their execution, their tasks.

use super::making::count;
use super::{Act, REPO, Row, Verb, json, row};
use crate::given::{Field, Given, Kind, may, must, usage};
use glis_core::pause::PauseMode;
use glis_core::plan::{Pace, Ruling};
use glis_verbs::Complaint;
use glis_verbs::draft::{Drafted, NewPlan};
use glis_verbs::plan::{Checked, WrittenPlan};
use glis_wire::call::Scope;
use glis_wire::client::Request;
use glis_wire::plan::{
    DraftWork, Execute, PlanChange, PlanRequest, PlanRow, PlanView, RunView, TaskWords,
};
use glis_wire::view::SessionRow;
use std::path::PathBuf;

const ID: Field = must("id", Kind::Text, "the task's id");
const TASK: Field = must("task", Kind::Text, "the task's id");

/// A task: what is not named stays, and an empty text takes a key away.
const WORDS: &[Field] = &[
    REPO,
    ID,
    may("title", Kind::Text, "What it is about, in a few words"),
    may("prompt", Kind::Text, "What an agent is told"),
    may("parent", Kind::Text, "The task that it is a part of"),
    may("needs", Kind::Texts, "What has to be done before"),
    may("agent", Kind::Text, "The agent that works on it"),
    may("persona", Kind::Text, "The manner of that agent"),
    may("accept", Kind::Text, "A shell command that succeeds when it is done"),
    may("accept_secs", Kind::Text, "How long that may take: 90s, 30m"),
    may("max_cost", Kind::Text, "What it may cost, in dollars"),
    may("max_time", Kind::Text, "How long it may take: 90s, 30m, 2h"),
];

pub(super) const ROWS: &[Row] = &[
    row(Verb::Get, "plan show", "/plan", Scope::Watch, json::<WrittenPlan<'_>>())
        .does("The plan of a repository: its tasks, what can be worked on, how far it is")
        .takes(&[REPO])
        .asks(|given| Ok(Request::Plan(PlanRequest::Read { place: repo(given), file: None }))),
    row(Verb::Get, "plan check", "/plan/check", Scope::Watch, json::<Checked>())
        .does("Every fault of the plan of a repository, each with its line")
        .takes(&[REPO])
        .asks(|given| Ok(Request::Plan(PlanRequest::Check { place: repo(given), file: None }))),
    row(Verb::Get, "plan draft", "/plan/draft", Scope::Watch, json::<Drafted>())
        .does("The draft in the last words of a session, as a tree too, and every fault of it with its line")
        .takes(&[REPO, must("from", Kind::Text, "the session that drafts the plan")])
        .acts(Act::Draft(|given| Ok(on(given, DraftWork::Look { session: given.needed("from") })))),
    row(Verb::Post, "plan new", "/plan/new", Scope::Manage, json::<NewPlan>())
        .does(
            "Have an agent draft the plan: with `goal` a session begins that does; with `from` and \
             `yes` the draft in the last words of that session is written",
        )
        .takes(&[
            REPO,
            may("goal", Kind::Text, "What is to be reached"),
            may("from", Kind::Text, "Instead: the session whose draft is approved"),
            may("agent", Kind::Text, "The agent that drafts it"),
            may("persona", Kind::Text, "The manner of that agent"),
            may("model", Kind::Text, "Model"),
            may("replace", Kind::Flag, "Put it in the place of the plan that is there"),
            may("yes", Kind::Flag, "The draft is approved"),
            may(
                "draft",
                Kind::Text,
                "With `from`: the draft that was looked at; another is not written",
            ),
            may(
                "text",
                Kind::Text,
                "With `from`: what is written in its place, as you have changed it",
            ),
        ])
        .acts(Act::Draft(draft)),
    row(Verb::Post, "plan add", "/plan/add", Scope::Manage, json::<WrittenPlan<'_>>())
        .does("Add a task at the end of the plan")
        .takes(WORDS)
        .asks(|given| Ok(change(given, PlanChange::Add(words(given)?)))),
    row(Verb::Post, "plan edit", "/plan/edit", Scope::Manage, json::<WrittenPlan<'_>>())
        .does("Change a task; what is not named stays, and an empty text takes a key away")
        .takes(WORDS)
        .asks(|given| Ok(change(given, PlanChange::Edit(words(given)?)))),
    row(Verb::Post, "plan propose", "/plan/propose", Scope::Manage, json::<WrittenPlan<'_>>())
        .does("Add a task that is worked on only once somebody approves it")
        .takes(WORDS)
        .asks(|given| Ok(change(given, PlanChange::Propose(words(given)?)))),
    row(Verb::Post, "plan approve", "/plan/approve", Scope::Manage, json::<WrittenPlan<'_>>())
        .does("Have a task worked on that was proposed; `/plan/rm` declines it")
        .takes(&[REPO, ID])
        .asks(|given| Ok(change(given, PlanChange::Approve { id: given.needed("id") }))),
    row(Verb::Post, "plan rm", "/plan/rm", Scope::Manage, json::<WrittenPlan<'_>>())
        .does("Take a task out of the plan")
        .takes(&[REPO, ID])
        .asks(|given| Ok(change(given, PlanChange::Remove { id: given.needed("id") }))),
    row(Verb::Get, "plan ls", "/plans", Scope::Watch, json::<Vec<PlanRow>>())
        .does("List the plans of a repository that were executed")
        .takes(&[REPO])
        .asks(|given| Ok(Request::Plan(PlanRequest::List { place: repo(given) }))),
    row(Verb::Get, "runs", "/runs", Scope::Watch, json::<Vec<RunView>>())
        .does("List the runs of a task, or of all tasks of a repository")
        .takes(&[REPO, may("task", Kind::Text, "The task's id")])
        .asks(|given| {
            let (place, task) = (repo(given), given.text("task"));
            Ok(Request::Plan(PlanRequest::Runs { place, task }))
        }),
    row(Verb::Post, "plan clean", "/plan/clean", Scope::Manage, json::<Vec<SessionRow>>())
        .does("Put the sessions and checkouts of tasks that are merged into the trash")
        .takes(&[REPO, may("plan", Kind::Text, "Of this plan, by its name; else of all")])
        .asks(|given| {
            let (place, plan) = (repo(given), given.text("plan"));
            Ok(Request::Plan(PlanRequest::Clean { place, plan }))
        }),
    row(Verb::Post, "execute", "/plan/execute", Scope::Manage, json::<PlanView>())
        .does("Work on the tasks of a plan, each in a session of its own; `GET /plan` follows it")
        .takes(&[
            REPO,
            may("task", Kind::Text, "Only this task"),
            may("jobs", Kind::Number, "So many tasks at a time; 1 if not given"),
            may("review", Kind::Flag, "Merge each task only when `accept` says so"),
            may("hooks", Kind::Flag, "Run the repository's hooks for its commits"),
        ])
        .asks(execute),
    row(Verb::Post, "plan pause", "/plan/pause", Scope::Manage, json::<PlanView>())
        .does("Let nothing of a plan begin, and pause what runs of it")
        .takes(&[
            must("plan", Kind::Text, "the id of the plan, as `execute` tells it"),
            may("mode", super::sessions::MODES, "When to stop the agents; default: interrupt"),
        ])
        .asks(|given| {
            let plan = given.needed("plan");
            let mode = given.meant("mode").unwrap_or(PauseMode::Interrupt);
            Ok(Request::Plan(PlanRequest::Pause { plan, mode }))
        }),
    row(Verb::Post, "resume TASK", "/tasks/resume", Scope::Manage, json::<Vec<RunView>>())
        .does("Resume the latest run of a task, in the same conversation")
        .takes(&[REPO, TASK, may("prompt", Kind::Text, "The first message after it is back")])
        .asks(|given| {
            let (task, prompt) = (given.needed("task"), given.text("prompt"));
            let place = repo(given);
            Ok(Request::Plan(PlanRequest::Resume { place, task, prompt }))
        }),
    row(Verb::Post, "restart TASK", "/tasks/restart", Scope::Manage, json::<Vec<RunView>>())
        .does("Begin another run of a task, from its prompt")
        .takes(&[REPO, TASK, may("yes", Kind::Flag, "It is meant")])
        .asks(restart),
    row(Verb::Post, "accept", "/tasks/accept", Scope::Manage, json::<Vec<RunView>>())
        .does("Merge the work of a task as it is: after a review, or although it was not accepted")
        .takes(&[REPO, TASK])
        .asks(|given| Ok(rule(given, Ruling::Accept))),
    row(Verb::Post, "judge", "/tasks/judge", Scope::Manage, json::<Vec<RunView>>())
        .does("Judge the work of a task again")
        .takes(&[REPO, TASK])
        .asks(|given| Ok(rule(given, Ruling::Judge))),
    row(Verb::Post, "reject", "/tasks/reject", Scope::Manage, json::<Vec<RunView>>())
        .does("Do not take the work of a task; what needs it waits")
        .takes(&[REPO, TASK])
        .asks(|given| Ok(rule(given, Ruling::Reject))),
    row(Verb::Post, "skip", "/tasks/skip", Scope::Manage, json::<Vec<RunView>>())
        .does("Leave a task out; what needs it goes on")
        .takes(&[REPO, TASK])
        .asks(|given| Ok(rule(given, Ruling::Skip))),
];

fn rule(given: &Given, ruling: Ruling) -> Request {
    let task = given.needed("task");
    Request::Plan(PlanRequest::Rule { place: repo(given), task, ruling })
}

fn change(given: &Given, change: PlanChange) -> Request {
    Request::Plan(PlanRequest::Change { place: repo(given), change: Box::new(change) })
}

/// The repository that is meant.
fn repo(given: &Given) -> String {
    given.needed("repo")
}

/// What is to be done with a draft, in the repository that is meant.
fn on(given: &Given, work: DraftWork) -> (PathBuf, DraftWork) {
    (PathBuf::from(repo(given)), work)
}

fn words(given: &Given) -> Result<TaskWords, Complaint> {
    given.over(&TaskWords::default())
}

fn draft(given: &Given) -> Result<(PathBuf, DraftWork), Complaint> {
    let work = match (given.text("goal"), given.text("from")) {
        (Some(goal), None) => {
            let (agent, persona) = (given.text("agent"), given.text("persona"));
            DraftWork::Begin { goal, agent, persona, model: given.text("model") }
        }
        (None, Some(session)) => {
            if !given.flag("yes") {
                return Err(usage(
                    "a plan that an agent has drafted has to be approved by `yes` before it is written",
                ));
            }
            let (seen, text) = (given.text("draft"), given.text("text"));
            DraftWork::Take { session, replace: given.flag("replace"), seen, text }
        }
        (Some(_), Some(_)) | (None, None) => return Err(usage("either `goal` or `from`")),
    };
    Ok(on(given, work))
}

fn execute(given: &Given) -> Result<Request, Complaint> {
    let jobs = count(given, "jobs")?;
    let (only, review, hooks) = (given.text("task"), given.flag("review"), given.flag("hooks"));
    // Without any of these it is executed as it was before.
    let said = jobs.is_some() || review || hooks || only.is_some();
    let pace = said.then(|| Pace { jobs: jobs.unwrap_or(1), review, hooks, only });
    let execute = Execute { place: repo(given), file: None, pace };
    Ok(Request::Plan(PlanRequest::Execute(execute)))
}

fn restart(given: &Given) -> Result<Request, Complaint> {
    let task = given.needed("task");
    if !given.flag("yes") {
        return Err(usage(&format!(
            "a restart of task `{task}` begins it anew and has to be confirmed by `yes`"
        )));
    }
    Ok(Request::Plan(PlanRequest::Restart { place: repo(given), task }))
}
