//! What can be asked for of the whole house, and of the server itself.

use super::sessions::{MODES, ON_TIMEOUT, clearing};
use super::{Act, Gives, Row, Verb, json, row};
use crate::devices::{DeviceView, Forgotten};
use crate::given::{Given, Kind, may, must, usage};
use glis_core::pause::{PauseMode, PauseReason};
use glis_verbs::documents::Emptied;
use glis_verbs::verdict::Judged;
use glis_verbs::{Complaint, Each};
use glis_wire::call::Scope;
use glis_wire::client::{Action, Discard, PauseAll, Request, TrashAction, Which};
use glis_wire::view::{
    ChoicesView, CostBy, CostView, DaemonView, Finding, Hit, SessionRow, SessionView, TrashView,
};
use serde_json::{Map, Value};

/// As many as the command line shows.
const HITS_USUAL: u32 = 50;
/// More than anybody reads.
const HITS_MAX: u32 = 1000;

pub(super) const ROWS: &[Row] = &[
    row(Verb::Get, "events", "/events", Scope::Watch, Gives::Stream)
        .does(
            "What happens, as it happens: `id` is the event's `seq`, so `Last-Event-ID` goes on \
               where a connection broke; `event: beat` comes every 15 seconds, `event: anew` says \
               that numbers mean other events from here on",
        )
        .takes(&[
            may("from", Kind::Number, "First sequence number; 1 if not given"),
            may("log", Kind::Text, "The log that the number counts in: `log_id` of the status"),
        ])
        .acts(Act::Events),
    row(Verb::Get, "openapi", "/openapi.json", Scope::Watch, json::<Map<String, Value>>())
        .does("This description")
        .acts(Act::OpenApi),
    row(Verb::Get, "device", "/device", Scope::Watch, json::<DeviceView>())
        .does("The name and the scope of who asks")
        .acts(Act::Device),
    row(Verb::Post, "device forget", "/device/forget", Scope::Watch, json::<Forgotten>())
        .does("Forget who asks: the device or token is good for nothing any more")
        .acts(Act::Forget),
    row(Verb::Get, "status", "/status", Scope::Watch, json::<DaemonView>())
        .does("The daemon about itself: gate, limits, the number of the last event")
        .asks(|_| Ok(Request::DaemonStatus)),
    row(Verb::Post, "pause --all", "/pause", Scope::Manage, json::<Vec<Each>>())
        .does("Pause everything that runs; nothing starts until everything is resumed")
        .takes(&[
            may("mode", MODES, "When to stop the agents; default: boundary"),
            may("on_timeout", ON_TIMEOUT, "What to do with those that do not stop in time"),
            may("remove_worktree", Kind::Flag, "Remove the worktrees afterwards"),
            may("force", Kind::Flag, "Remove them even with files that are in no snapshot"),
            may("keep_worktree", Kind::Flag, "Keep the worktrees, whatever is configured"),
            may("reason", Kind::Word(&["user", "shutdown"]), "What everything is paused for"),
        ])
        .asks(pause_all),
    row(Verb::Post, "resume --all", "/resume", Scope::Manage, json::<Vec<Each>>())
        .does("Resume what the last pause of everything has stopped, or all that are interrupted")
        .takes(&[
            may("from_log", Kind::Flag, "Go by the event log"),
            may("interrupted", Kind::Flag, "All sessions whose process died uncleanly"),
            may("prompt", Kind::Text, "The first message after they are back"),
        ])
        .asks(resume_all),
    row(Verb::Get, "search", "/search", Scope::Watch, json::<Vec<Hit>>())
        .does("Search all conversations, also of removed sessions")
        .takes(&[
            must("words", Kind::Text, "all of them must occur"),
            may("most", Kind::UpTo(HITS_MAX as u64), "Maximum number of results; 50 if not given"),
        ])
        .asks(|given| Ok(search(given))),
    row(Verb::Get, "cost", "/cost", Scope::Watch, json::<Vec<CostView>>())
        .does("Add up what agents have used, also of sessions in the trash")
        .takes(&[
            may(
                "by",
                Kind::Word(&["session", "repo", "agent", "day"]),
                "By what; session if not given",
            ),
            may("since", Kind::Text, "Only from this day on: `today`, or a date"),
        ])
        .asks(|given| Ok(cost(given))),
    row(Verb::Get, "agents", "/choices", Scope::Watch, json::<ChoicesView>())
        .does("List the agents, personas and saved filters that can be chosen")
        .takes(&[may("repo", Kind::Text, "The folder that a session would be made from")])
        .asks(|given| Ok(Request::Choices { repo: given.text("repo") })),
    row(Verb::Post, "filters", "/filters", Scope::Manage, json::<ChoicesView>())
        .does("Keep words that lists are narrowed down by, or forget them")
        .takes(&[
            must("words", Kind::Text, "as they are typed"),
            may("forget", Kind::Flag, "Forget them"),
        ])
        .asks(|given| {
            Ok(Request::Filter { words: given.needed("words"), keep: !given.flag("forget") })
        }),
    row(Verb::Get, "auto-yes log", "/auto-yes/log", Scope::Watch, json::<Vec<Judged>>())
        .does("What the rules have said: when, about what, by which rule")
        .takes(&[
            may("name", Kind::Text, "Only of this session"),
            may("new", Kind::Flag, "Only what no list of all has shown yet"),
        ])
        .asks(|given| {
            Ok(Request::Verdicts { session: given.text("name"), fresh: given.flag("new") })
        }),
    row(Verb::Get, "doctor", "/doctor", Scope::Watch, json::<Vec<Finding>>())
        .does("Look for problems and say how to fix them")
        .asks(|_| Ok(Request::Doctor)),
    row(Verb::Post, "repo moved", "/repo/moved", Scope::Manage, json::<Vec<SessionRow>>())
        .does("Say where a repository is now")
        .takes(&[must("old", Kind::Text, "where it was"), must("new", Kind::Text, "where it is")])
        .asks(|given| {
            Ok(Request::RepoMoved { from: given.needed("old"), to: given.needed("new") })
        }),
    row(Verb::Get, "trash list", "/trash", Scope::Watch, json::<Vec<TrashView>>())
        .does("List removed sessions")
        .asks(|_| Ok(Request::Trash)),
    row(Verb::Post, "trash empty", "/trash/empty", Scope::Manage, json::<Emptied<'_>>())
        .does(
            "Delete removed sessions for good: those past their deadline, or those that are named",
        )
        .takes(&[
            may("names", Kind::Texts, "Names or ids of removed sessions"),
            may("all", Kind::Flag, "Everything in the trash"),
            may("yes", Kind::Flag, "Deleting before the deadline is meant"),
        ])
        .asks(empty),
    row(
        Verb::Post,
        "trash restore",
        "/trash/{session}/restore",
        Scope::Manage,
        json::<SessionView>(),
    )
    .does("Take a session out of the trash")
    .takes(&[may("name", Kind::Text, "Under this name")])
    .asks(|given| {
        let action = TrashAction::Restore { name: given.text("name") };
        Ok(Request::TrashAct { session: given.name.clone(), action })
    }),
];

fn pause_all(given: &Given) -> Result<Request, Complaint> {
    Ok(Request::PauseAll(PauseAll {
        mode: given.meant("mode").unwrap_or(PauseMode::Boundary),
        on_timeout: given.meant("on_timeout"),
        clearing: clearing(given)?,
        reason: given.meant("reason").unwrap_or(PauseReason::User),
    }))
}

fn resume_all(given: &Given) -> Result<Request, Complaint> {
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

fn cost(given: &Given) -> Request {
    let by = given.meant("by").unwrap_or(CostBy::Session);
    Request::Cost { by, since: given.text("since") }
}

fn search(given: &Given) -> Request {
    let most = given.number("most").and_then(|most| u32::try_from(most).ok());
    let most = most.unwrap_or(HITS_USUAL);
    Request::Search { words: given.needed("words"), most }
}

fn empty(given: &Given) -> Result<Request, Complaint> {
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
