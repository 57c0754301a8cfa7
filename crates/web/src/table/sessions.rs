//! What can be asked for of one session.

use super::{Act, GLANCE, Gives, Row, Verb, json, row};
use crate::given::{Given, Kind, may, must, usage};
use crate::terminal::Painted;
use glis_core::input::IfRunning;
use glis_core::pause::OnTimeout;
use glis_core::spec::IdleLimit;
use glis_core::talk::ALLOW_FOR_SESSION;
use glis_core::tree::Clearing;
use glis_verbs::Complaint;
use glis_verbs::documents::{
    Acted, Diff, Log, Merged, Output, Removed, Restoration, StoredMessage,
};
use glis_wire::call::Scope;
use glis_wire::client::{Action, Request};
use glis_wire::view::{CompactionView, SessionRow, SessionView, SnapshotView};

pub(super) const MODES: Kind = Kind::Word(&["boundary", "interrupt", "force"]);
pub(super) const ON_TIMEOUT: Kind = Kind::Word(&["refuse", "force"]);
const STATUSES: Kind = Kind::Words(&[
    "created",
    "busy",
    "idle",
    "waiting",
    "pausing",
    "paused",
    "resuming",
    "suspended",
    "interrupted",
    "completed",
    "failed",
    "archived",
]);

/// Output that is answered at once. It is made whole in memory, and may have to wait there until it is taken.
const OUTPUT_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// A wait over HTTP ends after this time at the latest: a proxy may keep a connection whose caller has gone.
const WAIT_MS_MAX: u64 = 10 * 60 * 1000;

pub(super) const ROWS: &[Row] = &[
    row(Verb::Get, "ls", "/sessions", Scope::Watch, json::<Vec<SessionRow>>())
        .does("List sessions, latest activity first: what lives, and at most 200 that rested in the last seven days")
        .takes(&[may("all", Kind::Flag, "Include all others, also removed ones")])
        .asks(|given| Ok(Request::List { all: given.flag("all") })),
    row(Verb::Get, "show", "/sessions/{session}", Scope::Watch, json::<SessionView>())
        .does("Show everything about one session")
        .takes(&[may(GLANCE, Kind::Flag, "Without its counting as a look of a person")])
        .asks(|given| {
            let show = || Request::Show { session: given.name.clone() };
            Ok(if given.flag(GLANCE) { Request::glance(&given.name) } else { show() })
        }),
    row(Verb::Get, "log", "/sessions/{session}/log", Scope::Watch, json::<Log>())
        .does("The conversation")
        .takes(&[may(
            "from",
            Kind::Number,
            "Only what came after a former read: its `next`. Then the answer is `{entries, next}`",
        )])
        .asks(|given| {
            let (session, from) = (given.name.clone(), given.number("from"));
            Ok(Request::Log { session, follow: false, from })
        }),
    row(Verb::Get, "screen", "/sessions/{session}/screen", Scope::Watch, json::<Painted>())
        .does("The terminal's screen as text, running or not")
        .takes(&[may("at", Kind::Number, "As it was when the output had reached this offset")])
        .asks(|given| {
            Ok(Request::Screen { session: given.name.clone(), at: given.number("at") })
        }),
    row(Verb::Get, "terminal", "/sessions/{session}/terminal", Scope::Watch, Gives::Frames)
        .does(
            "A WebSocket with the terminal as rows of text: first all of it, then the rows that \
             change, as `{offset, size, cursor, letters?, rows: [[number, [[text, look?], …]], …]}`; \
             `letters` stand before the cursor where that is not its column. `{\"beat\": true}` comes \
             after 15 seconds without any, and within a second after what is typed. With `manage` it \
             takes what is typed: `{\"text\": …}`, `{\"paste\": …}`, or a key as browsers name it with what is \
             held down, `{\"key\": \"Tab\", \"shift\": true}` (`shift`, `alt`, `ctrl`)",
        )
        .takes(&[may(
            "offset",
            Kind::Number,
            "That of the last frame, of who has its rows still: then only what has changed since is told",
        )])
        .acts(Act::Terminal),
    row(Verb::Get, "output", "/sessions/{session}/output", Scope::Watch, json::<Output<'_>>())
        .does(
            "What the agent wrote to its terminal, as text: four megabytes at most, and more from `offset` + \
             `bytes` on",
        )
        .takes(&[may("from", Kind::Number, "First offset")])
        .asks(|given| {
            let (session, from) = (given.name.clone(), given.number("from").unwrap_or_default());
            Ok(Request::Output { session, from, follow: false, most: Some(OUTPUT_BYTES_MAX) })
        }),
    row(Verb::Get, "snapshots", "/sessions/{session}/snapshots", Scope::Watch, json::<Vec<SnapshotView>>())
        .does("List the snapshots of a session: when, why, what changed since the one before")
        .asks(|given| Ok(Request::Snapshots { session: given.name.clone(), last: None })),
    row(Verb::Get, "diff", "/sessions/{session}/diff", Scope::Watch, json::<Diff<'_>>())
        .does("Show what a session has changed: committed, staged, written and untracked")
        .takes(&[
            may("since", Kind::Text, "A snapshot to compare with"),
            may("stat", Kind::Flag, "Only which files, and how much"),
        ])
        .asks(|given| {
            let (session, since) = (given.name.clone(), given.text("since"));
            Ok(Request::Diff { session, since, patch: !given.flag("stat") })
        }),
    row(Verb::Post, "send", "/sessions/{session}/send", Scope::Send, json::<StoredMessage<'_>>())
        .does("Send one message: stored first, delivered once and in order")
        .takes(&[
            must("text", Kind::Text, "the message"),
            may("file", Kind::Texts, "Files of the server to copy into the worktree; needs `manage`"),
        ])
        .asks(|given| {
            let (text, files) = (given.needed("text"), given.texts("file"));
            Ok(act(given, Action::Send { text, files }))
        }),
    row(Verb::Post, "wait", "/sessions/{session}/wait", Scope::Watch, json::<SessionView>())
        .does("Wait until the session is in one of these states")
        .takes(&[
            must("for", STATUSES, "the states to wait for"),
            may("timeout", Kind::Time, "Give up after this time; ten minutes are the most"),
        ])
        .asks(|given| Ok(wait(given))),
    row(Verb::Post, "pause", "/sessions/{session}/pause", Scope::Manage, json::<Acted>())
        .does("Stop an agent and keep everything")
        .takes(&[
            may("mode", MODES, "When to stop the agent; default: interrupt, of a loop: boundary"),
            may("cancel", Kind::Flag, "Cancel a pause that is still waiting"),
            may("remove_worktree", Kind::Flag, "Remove the worktree afterwards"),
            may("force", Kind::Flag, "Remove it even with files that are in no snapshot"),
            may("keep_worktree", Kind::Flag, "Keep the worktree, whatever is configured"),
            may("on_timeout", ON_TIMEOUT, "What to do if the agent does not reach a safe state"),
            may("for", Kind::Time, "Resume it by itself after so long"),
        ])
        .asks(pause),
    row(Verb::Post, "resume", "/sessions/{session}/resume", Scope::Manage, json::<Acted>())
        .does("Bring an agent back, in its own conversation")
        .takes(&[may("prompt", Kind::Text, "The first message after it is back")])
        .asks(|given| Ok(act(given, Action::Resume { prompt: given.text("prompt") }))),
    row(Verb::Post, "restart", "/sessions/{session}/restart", Scope::Manage, json::<SessionView>())
        .does("Start a fresh conversation in the same worktree")
        .takes(&[
            may("with_context", Kind::Flag, "Tell the fresh agent what the former one was doing"),
            may("yes", Kind::Flag, "It is meant"),
        ])
        .asks(restart),
    row(Verb::Post, "stop", "/sessions/{session}/stop", Scope::Manage, json::<Acted>())
        .does("End the process and keep the session")
        .asks(|given| Ok(act(given, Action::Stop))),
    row(Verb::Post, "timeout", "/sessions/{session}/timeout", Scope::Manage, json::<SessionView>())
        .does("Set how long a session may be idle before it is suspended")
        .takes(&[must("minutes", Kind::Text, "1 to 120, or `off`")])
        .asks(timeout),
    row(Verb::Post, "label", "/sessions/{session}/label", Scope::Manage, json::<SessionView>())
        .does("Give a session labels, or take some away")
        .takes(&[must("labels", Kind::Texts, "`auth` or `+auth` comes, `-auth` goes")])
        .asks(|given| {
            let labels = given.texts("labels");
            Ok(act(given, Action::labels(labels.iter().map(String::as_str))))
        }),
    row(Verb::Post, "pin", "/sessions/{session}/pin", Scope::Manage, json::<SessionView>())
        .does("Keep a session first in its group, and in the list however long it rests")
        .takes(&[may("off", Kind::Flag, "Let go of it")])
        .asks(|given| Ok(act(given, Action::Pin { on: !given.flag("off") }))),
    row(Verb::Post, "budget", "/sessions/{session}/budget", Scope::Manage, json::<SessionView>())
        .does("Have a session use no more than this before it is paused and a person is asked")
        .takes(&[must("budget", Kind::Text, "`usd=5`, `tokens=200k`, `time=2h`, several with commas between, or `off`")])
        .asks(|given| Ok(act(given, Action::Budget { budget: given.needed("budget") }))),
    row(Verb::Post, "snooze", "/sessions/{session}/snooze", Scope::Manage, json::<SessionView>())
        .does("Have a session need nobody for a while: it stands with those at rest, and goes on")
        .takes(&[must("until", Kind::Text, "`2h`, `3d`, `18:00`, `change` or `off`")])
        .asks(|given| Ok(act(given, Action::Snooze { until: given.needed("until") }))),
    row(Verb::Post, "rm", "/sessions/{session}/rm", Scope::Manage, json::<Removed>())
        .does("Move a session to the trash; nothing is deleted")
        .takes(&[may("stop", Kind::Flag, "Stop it first if it runs")])
        .asks(|given| {
            let running = if given.flag("stop") { IfRunning::Stop } else { IfRunning::Refuse };
            Ok(act(given, Action::Remove { running }))
        }),
    row(Verb::Post, "answer", "/sessions/{session}/answer", Scope::Answer, json::<SessionView>())
        .does("Answer what a session asks")
        .takes(&[
            must("answer", Kind::Text, "`allow`, `deny`, or the text for a question"),
            must("request", Kind::Text, "which request it is for"),
            may("for_session", Kind::Flag, "With `allow`: the very same request, without a question from now on"),
            may("reason", Kind::Text, "With `deny`: why"),
        ])
        .asks(answer),
    row(Verb::Post, "auto-yes", "/sessions/{session}/auto-yes", Scope::Manage, json::<SessionView>())
        .does("Have rules answer what a session asks, or not")
        .takes(&[must("switch", Kind::Word(&["on", "off"]), "whether rules answer")])
        .asks(|given| {
            Ok(act(given, Action::AutoYes { on: given.needed("switch") == "on" }))
        }),
    row(Verb::Post, "acknowledge", "/sessions/{session}/acknowledge", Scope::Manage, json::<Acted>())
        .does("Confirm that you know of a damaged record or a bar")
        .asks(|given| Ok(act(given, Action::Acknowledge))),
    row(Verb::Post, "snapshot", "/sessions/{session}/snapshot", Scope::Manage, json::<SnapshotView>())
        .does("Save the worktree as it is, without disturbing the agent")
        .asks(|given| Ok(act(given, Action::Snapshot))),
    row(Verb::Post, "compact", "/sessions/{session}/compact", Scope::Manage, json::<CompactionView>())
        .does("Sum up a long conversation of a session at rest")
        .asks(|given| Ok(act(given, Action::Compact))),
    row(Verb::Post, "restore", "/sessions/{session}/restore", Scope::Manage, json::<Restoration>())
        .does("Restore a worktree from a snapshot; what is there is moved aside")
        .takes(&[
            may("snapshot", Kind::Text, "Which one; default: the latest"),
            may("to", Kind::Path, "Into this folder of the server instead: an absolute path"),
        ])
        .asks(|given| Ok(restore(given))),
    row(Verb::Post, "merge", "/sessions/{session}/merge", Scope::Manage, json::<Merged<'_>>())
        .does("Commit a session's work on its branch and merge that, without touching any checkout")
        .takes(&[
            may("into", Kind::Text, "The branch; default: the one that it began from"),
            may("hooks", Kind::Flag, "Run the repository's hooks that have a say in a commit"),
        ])
        .asks(|given| {
            let (session, into) = (given.name.clone(), given.text("into"));
            let place = given.text("place");
            Ok(Request::Merge { session, into, hooks: given.flag("hooks"), place })
        }),
];

fn act(given: &Given, action: Action) -> Request {
    Request::Act { session: given.name.clone(), action }
}

fn wait(given: &Given) -> Request {
    let timeout_ms = Some(given.time_ms("timeout").unwrap_or(WAIT_MS_MAX).min(WAIT_MS_MAX));
    let statuses = given.meant("for").unwrap_or_default();
    Request::Wait { session: given.name.clone(), statuses, timeout_ms }
}

fn pause(given: &Given) -> Result<Request, Complaint> {
    if given.flag("cancel") {
        return Ok(act(given, Action::CancelPause));
    }
    let action = Action::Pause {
        mode: given.meant("mode"),
        on_timeout: given.meant::<OnTimeout>("on_timeout"),
        clearing: clearing(given)?,
        for_secs: given.time_ms("for").map(|ms| ms / 1000),
    };
    Ok(act(given, action))
}

/// What becomes of the worktree.
pub(super) fn clearing(given: &Given) -> Result<Option<Clearing>, Complaint> {
    match ["remove_worktree", "force", "keep_worktree"].map(|name| given.flag(name)) {
        [true, _, true] => Err(usage("the worktree is either removed or kept")),
        [false, true, _] => Err(usage("`force` goes with `remove_worktree`")),
        [true, false, false] => Ok(Some(Clearing::IfAllIsSaved)),
        [true, true, false] => Ok(Some(Clearing::Always)),
        [false, false, true] => Ok(Some(Clearing::Keep)),
        [false, false, false] => Ok(None),
    }
}

fn restart(given: &Given) -> Result<Request, Complaint> {
    if !given.flag("yes") {
        return Err(usage(&format!(
            "a restart of `{}` begins a fresh conversation and has to be confirmed by `yes`",
            given.name
        )));
    }
    Ok(act(given, Action::Restart { with_context: given.flag("with_context") }))
}

fn timeout(given: &Given) -> Result<Request, Complaint> {
    let limit = given.needed("minutes").parse::<IdleLimit>();
    let limit = limit.map_err(|_| usage("Invalid number. Usage: minutes, `90s`, or `off`"))?;
    Ok(act(given, Action::LimitIdle { limit }))
}

fn answer(given: &Given) -> Result<Request, Complaint> {
    let (answer, reason) = (given.needed("answer"), given.text("reason"));
    if given.flag("for_session") && answer != "allow" {
        return Err(usage("only `allow` can hold for the whole session"));
    }
    if reason.is_some() && answer != "deny" {
        return Err(usage("only `deny` takes a reason"));
    }
    let answer = if given.flag("for_session") { ALLOW_FOR_SESSION.to_owned() } else { answer };
    Ok(act(given, Action::Answer { ask: given.text("request"), answer, reason }))
}

fn restore(given: &Given) -> Request {
    let snapshot = given.text("snapshot");
    match given.text("to") {
        None => act(given, Action::Restore { snapshot }),
        Some(to) => Request::RestoreTo { session: given.name.clone(), snapshot, to },
    }
}
