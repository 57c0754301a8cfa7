//! What makes a session: `new`, and `loop`, which also changes the limits of one.

use super::{REPO, Row, Verb, json, row};
use crate::given::{Field, Given, Kind, may, must, usage};
use glis_core::looping::{FAILURES_MAX, LoopChange, LoopContext, LoopSpec};
use glis_verbs::Complaint;
use glis_verbs::documents::Made;
use glis_wire::call::Scope;
use glis_wire::client::{Action, NewSession, Request};
use glis_wire::view::SessionView;

/// What can be said of any session that is made.
macro_rules! fields {
    ($($more:expr),* $(,)?) => {
        &[
            $($more,)*
            REPO,
            may("agent", Kind::Text, "The agent"),
            may("base", Kind::Text, "Revision to begin from"),
            may("in_place", Kind::Flag, "Work in the repository itself, without a worktree"),
            may("headless", Kind::Flag, "Without a terminal"),
            may("persona", Kind::Text, "A persona from the configuration"),
            may("model", Kind::Text, "Model"),
            may("idle_timeout", Kind::Time, "Suspend the session after so much idle time"),
            may("budget", Kind::Text, "What it may use before a person is asked: `usd=5,tokens=200k,time=2h`, or `off`"),
            may("auto_yes", Kind::Flag, "Have rules answer what it asks"),
            may("remove_worktree_on_pause", Kind::Flag, "Remove the worktree at every pause"),
            may("keep_worktree_on_pause", Kind::Flag, "Keep the worktree at every pause"),
            may("argv", Kind::Texts, "A program and its arguments, or more for the agent"),
        ]
    };
}

const NEW: &[Field] = fields![
    may("name", Kind::Text, "The session's name; made from the prompt if not given"),
    may("prompt", Kind::Text, "The first message"),
    may("keep_process", Kind::Flag, "Have a pause stop a command in place, and keep it"),
];

const LOOP: &[Field] = fields![
    must("name", Kind::Text, "the session's name"),
    may("prompt", Kind::Text, "What the agent is told at the beginning of every iteration"),
    may("spec", Kind::Path, "Instead: an absolute path of a file with a check list"),
    may("max", Kind::Number, "Maximum number of iterations"),
    may("until", Kind::Text, "A line for `sh -c`: when it succeeds, the loop is done"),
    may("context", Kind::Word(&["fresh", "continue"]), "What an iteration knows of the others"),
    may("auto_commit", Kind::Flag, "Commit the work of every iteration"),
    may("max_cost", Kind::Dollars, "Pause it once it has cost so many dollars"),
    may("max_failures", Kind::Number, "Pause it after so many failures in a row"),
];

pub(super) const ROWS: &[Row] = &[
    row(Verb::Post, "new", "/sessions", Scope::Manage, json::<Made<'_>>())
        .does("Start a session in its own worktree, on its own branch")
        .takes(NEW)
        .asks(|given| Ok(Request::New(Box::new(wanted(given)?)))),
    row(Verb::Post, "loop", "/loops", Scope::Manage, json::<Made<'_>>())
        .does("Run an agent on the same prompt repeatedly, until a condition holds")
        .takes(LOOP)
        .asks(iterate),
    row(Verb::Post, "loop --set", "/sessions/{session}/loop", Scope::Manage, json::<SessionView>())
        .does("Change the limits of a loop")
        .takes(&[
            may("max", Kind::Number, "Maximum number of iterations"),
            may("until", Kind::Text, "A line for `sh -c`: when it succeeds, the loop is done"),
            may("max_cost", Kind::Dollars, "Pause it once it has cost so many dollars"),
            may("max_failures", Kind::Number, "Pause it after so many failures in a row"),
            may("lift", Kind::Words(&["max", "until", "max_cost"]), "Limits that are lifted"),
        ])
        .asks(change),
];

fn wanted(given: &Given) -> Result<NewSession, Complaint> {
    let worktree = ["remove_worktree_on_pause", "keep_worktree_on_pause"].map(|f| given.flag(f));
    let remove_worktree = match worktree {
        [true, true] => return Err(usage("the worktree is either removed or kept")),
        [true, false] => Some(true),
        [false, true] => Some(false),
        [false, false] => None,
    };
    let idle_timeout_secs = given.time_ms("idle_timeout").map(|ms| ms / 1000);
    Ok(NewSession { idle_timeout_secs, remove_worktree, ..given.over(&NewSession::default())? })
}

fn iterate(given: &Given) -> Result<Request, Complaint> {
    let spec_file = given.text("spec");
    if spec_file.is_some() == given.text("prompt").is_some() {
        return Err(usage("either `prompt` or `spec` says what is to be done"));
    }
    let looped = Some(LoopSpec {
        max: count(given, "max")?,
        until: given.text("until"),
        context: given.meant("context").unwrap_or(LoopContext::Fresh),
        auto_commit: given.flag("auto_commit"),
        max_cost_micros: given.micros("max_cost"),
        max_failures: count(given, "max_failures")?.unwrap_or(FAILURES_MAX),
        file: None,
    });
    Ok(Request::New(Box::new(NewSession { looped, spec_file, ..wanted(given)? })))
}

fn change(given: &Given) -> Result<Request, Complaint> {
    let lifted: Vec<String> = given.texts("lift");
    let lifts = |name: &str| lifted.iter().any(|lifted| lifted == name);
    let change = LoopChange {
        max: count(given, "max")?.map(Some).or(lifts("max").then_some(None)),
        until: given.text("until").map(Some).or(lifts("until").then_some(None)),
        max_cost_micros: given.micros("max_cost").map(Some).or(lifts("max_cost").then_some(None)),
        max_failures: count(given, "max_failures")?,
    };
    if change == LoopChange::default() {
        return Err(usage("name a limit"));
    }
    Ok(Request::Act { session: given.name.clone(), action: Action::SetLoop { change } })
}

pub(super) fn count(given: &Given, name: &str) -> Result<Option<u32>, Complaint> {
    match given.number(name).map(u32::try_from) {
        None => Ok(None),
        Some(Ok(number)) if number > 0 => Ok(Some(number)),
        Some(_) => Err(usage(&format!("`{name}` has to be at least 1"))),
    }
}
