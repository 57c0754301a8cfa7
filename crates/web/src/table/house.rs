//! What can be asked for of the whole house, and of the server itself.

use super::sessions::{MODES, ON_TIMEOUT, clearing};
use super::{Act, Gives, Row, Verb};
use crate::Told;
use crate::given::{Given, Kind, may, must, usage};
use glis_core::pause::{PauseMode, PauseReason};
use glis_wire::call::Scope;
use glis_wire::client::{Action, Discard, PauseAll, Request, TrashAction, Which};
use glis_wire::plan::PlanRequest;

/// As many as the command line shows.
const HITS_USUAL: u32 = 50;
/// More than anybody reads.
const HITS_MAX: u32 = 1000;

pub(super) const ROWS: &[Row] = &[
    Row {
        verb: "events",
        method: Verb::Get,
        path: "/events",
        scope: Scope::Watch,
        does: "What happens, as it happens: `id` is the event's `seq`, so `Last-Event-ID` goes on \
               where a connection broke; `event: beat` comes every 15 seconds, `event: anew` says \
               that numbers mean other events from here on",
        takes: &[
            may("from", Kind::Number, "First sequence number; 1 if not given"),
            may("log", Kind::Text, "The log that the number counts in: `log_id` of the status"),
        ],
        gives: Gives::Stream,
        act: Act::Events,
    },
    Row {
        verb: "",
        method: Verb::Get,
        path: "/openapi.json",
        scope: Scope::Watch,
        does: "This description",
        takes: &[],
        gives: Gives::Object,
        act: Act::OpenApi,
    },
    Row {
        verb: "",
        method: Verb::Get,
        path: "/device",
        scope: Scope::Watch,
        does: "The name and the scope of who asks",
        takes: &[],
        gives: Gives::Object,
        act: Act::Device,
    },
    Row {
        verb: "",
        method: Verb::Post,
        path: "/device/forget",
        scope: Scope::Watch,
        does: "Forget who asks: the device or token is good for nothing any more",
        takes: &[],
        gives: Gives::Object,
        act: Act::Forget,
    },
    Row {
        verb: "",
        method: Verb::Get,
        path: "/status",
        scope: Scope::Watch,
        does: "The daemon about itself: gate, limits, the number of the last event",
        takes: &[],
        gives: Gives::Object,
        act: Act::Ask(|_| Ok(Request::DaemonStatus)),
    },
    Row {
        verb: "pause",
        method: Verb::Post,
        path: "/pause",
        scope: Scope::Manage,
        does: "Pause everything that runs; nothing starts until everything is resumed",
        takes: &[
            may("mode", MODES, "When to stop the agents; default: boundary"),
            may("on_timeout", ON_TIMEOUT, "What to do with those that do not stop in time"),
            may("remove_worktree", Kind::Flag, "Remove the worktrees afterwards"),
            may("force", Kind::Flag, "Remove them even with files that are in no snapshot"),
            may("keep_worktree", Kind::Flag, "Keep the worktrees, whatever is configured"),
            may("reason", Kind::Word(&["user", "shutdown"]), "What everything is paused for"),
        ],
        gives: Gives::Array,
        act: Act::Ask(pause_all),
    },
    Row {
        verb: "resume",
        method: Verb::Post,
        path: "/resume",
        scope: Scope::Manage,
        does: "Resume what the last pause of everything has stopped, or all that are interrupted",
        takes: &[
            may("from_log", Kind::Flag, "Go by the event log"),
            may("interrupted", Kind::Flag, "All sessions whose process died uncleanly"),
            may("prompt", Kind::Text, "The first message after they are back"),
        ],
        gives: Gives::Array,
        act: Act::Ask(resume_all),
    },
    Row {
        verb: "search",
        method: Verb::Get,
        path: "/search",
        scope: Scope::Watch,
        does: "Search all conversations, also of removed sessions",
        takes: &[
            must("words", Kind::Text, "all of them must occur"),
            may("most", Kind::UpTo(HITS_MAX as u64), "Maximum number of results; 50 if not given"),
        ],
        gives: Gives::Array,
        act: Act::Ask(|given| Ok(search(given))),
    },
    Row {
        verb: "auto-yes",
        method: Verb::Get,
        path: "/auto-yes/log",
        scope: Scope::Watch,
        does: "What the rules have said: when, about what, by which rule",
        takes: &[
            may("name", Kind::Text, "Only of this session"),
            may("new", Kind::Flag, "Only what no list of all has shown yet"),
        ],
        gives: Gives::Array,
        act: Act::Ask(|given| {
            Ok(Request::Verdicts { session: given.text("name"), fresh: given.flag("new") })
        }),
    },
    Row {
        verb: "doctor",
        method: Verb::Get,
        path: "/doctor",
        scope: Scope::Watch,
        does: "Look for problems and say how to fix them",
        takes: &[],
        gives: Gives::Array,
        act: Act::Ask(|_| Ok(Request::Doctor)),
    },
    Row {
        verb: "trash",
        method: Verb::Get,
        path: "/trash",
        scope: Scope::Watch,
        does: "List removed sessions",
        takes: &[],
        gives: Gives::Array,
        act: Act::Ask(|_| Ok(Request::Trash)),
    },
    Row {
        verb: "trash",
        method: Verb::Post,
        path: "/trash/empty",
        scope: Scope::Manage,
        does: "Delete removed sessions for good: those past their deadline, or those that are named",
        takes: &[
            may("names", Kind::Texts, "Names or ids of removed sessions"),
            may("all", Kind::Flag, "Everything in the trash"),
            may("yes", Kind::Flag, "Deleting before the deadline is meant"),
        ],
        gives: Gives::Object,
        act: Act::Ask(empty),
    },
    Row {
        verb: "trash",
        method: Verb::Post,
        path: "/trash/{session}/restore",
        scope: Scope::Manage,
        does: "Take a session out of the trash",
        takes: &[may("name", Kind::Text, "Under this name")],
        gives: Gives::Session,
        act: Act::Ask(|given| {
            let action = TrashAction::Restore { name: given.text("name") };
            Ok(Request::TrashAct { session: given.name.clone(), action })
        }),
    },
    Row {
        verb: "runs",
        method: Verb::Get,
        path: "/runs",
        scope: Scope::Watch,
        does: "List the runs of a task, or of all tasks of a repository",
        takes: &[
            must("repo", Kind::Path, "an absolute path of a folder in the repository"),
            may("task", Kind::Text, "The task's id"),
        ],
        gives: Gives::Array,
        act: Act::Ask(|given| {
            let (place, task) = (given.text("repo").unwrap_or_default(), given.text("task"));
            Ok(Request::Plan(PlanRequest::Runs { place, task }))
        }),
    },
];

fn pause_all(given: &Given) -> Result<Request, Told> {
    Ok(Request::PauseAll(PauseAll {
        mode: given.meant("mode").unwrap_or(PauseMode::Boundary),
        on_timeout: given.meant("on_timeout"),
        clearing: clearing(given)?,
        reason: given.meant("reason").unwrap_or(PauseReason::User),
    }))
}

fn resume_all(given: &Given) -> Result<Request, Told> {
    let prompt = given.text("prompt");
    let which = match (given.flag("interrupted"), &prompt) {
        (true, _) => Which::Interrupted,
        (false, Some(_)) => Which::All,
        (false, None) => return Ok(Request::ResumeAll { from_log: given.flag("from_log") }),
    };
    if given.flag("from_log") {
        return Err(usage("`from_log` is for resuming everything, without a prompt"));
    }
    Ok(Request::ActEach { which, action: Action::Resume { prompt } })
}

fn search(given: &Given) -> Request {
    let most = given.number("most").and_then(|most| u32::try_from(most).ok());
    let most = most.unwrap_or(HITS_USUAL);
    Request::Search { words: given.text("words").unwrap_or_default(), most }
}

fn empty(given: &Given) -> Result<Request, Told> {
    let which = match (given.texts("names"), given.flag("all")) {
        (names, true) if !names.is_empty() => {
            return Err(usage("either `names` or `all`"));
        }
        (_, true) => Discard::All,
        (names, false) if names.is_empty() => Discard::Due,
        (names, false) => Discard::Named(names),
    };
    if which != Discard::Due && !given.flag("yes") {
        return Err(usage("deleting before the deadline has to be confirmed by `yes`"));
    }
    Ok(Request::TrashEmpty { which })
}
