//! Everything that the command line can do to a session can be done here: by the list of calls.

use super::desk::{Desk, few};
use crate::message::{Effect, Msg};
use glis_core::Status;
use glis_core::pause::{PauseMode, PauseReason};
use glis_core::plan::Ruling;
use glis_wire::client::{Action, Discard, PauseAll, Request, TrashAction, Which};
use glis_wire::plan::{Execute, PlanChange, PlanRequest};
use serde_json::json;

/// How a call is made here.
enum Way {
    /// These keys make it.
    Keys(&'static str),
    /// These keys show what it tells, by this or a like call.
    Shows(&'static str, fn(&Effect) -> bool),
    /// It is about the house, and for a shell: none of it is done to a session.
    House,
    /// The list itself lives on it.
    Always,
}

/// A new call stops the compiler here: it needs keys, or a reason why not.
fn way(request: &Request) -> Way {
    match request {
        Request::New(_) => Way::Keys("n add space tests enter"),
        Request::Act { .. } => Way::Keys("p"),
        // Several are marked, and each gets its own call: one that is refused says so on its row.
        Request::ActEach { .. } => Way::Keys("space space p"),
        Request::Merge { .. } => Way::Keys("m enter"),
        Request::RestoreTo { .. } => Way::Keys("4 WAIT o d /tmp/copy enter"),
        Request::TrashAct { .. } => Way::Keys("T TRASH enter"),
        Request::TrashEmpty { .. } => Way::Keys("T TRASH E"),
        Request::Filter { .. } => {
            Way::Shows("/ docs ctrl+s", |e| matches!(e, Effect::KeepFilter { .. }))
        }
        Request::Trash => Way::Shows("T", |e| matches!(e, Effect::FetchTrash)),
        Request::Verdicts { .. } => Way::Shows("A", |e| matches!(e, Effect::FetchJudged)),
        Request::PauseAll(_) => Way::Keys("P y"),
        Request::ResumeAll { .. } => Way::Keys("GATE U y"),
        Request::Plan(plan) => way_of_plan(plan),
        Request::Attach { .. } => Way::Shows("enter", |e| matches!(e, Effect::Attach { .. })),
        Request::Search { .. } => {
            Way::Shows("f token enter", |e| matches!(e, Effect::Search { .. }))
        }
        Request::Log { .. } => Way::Shows("2 WAIT", |e| matches!(e, Effect::Fetch { .. })),
        Request::Diff { .. } => Way::Shows("3 WAIT", |e| matches!(e, Effect::Fetch { .. })),
        Request::Snapshots { .. } => Way::Shows("4 WAIT", |e| matches!(e, Effect::Fetch { .. })),
        Request::Screen { .. } | Request::Output { .. } => {
            Way::Shows("j WAIT", |e| matches!(e, Effect::Follow(Some(_))))
        }
        // What a conversation comes down to is part of its view.
        Request::Show { .. }
        | Request::Wait { .. }
        | Request::List { .. }
        | Request::Events { .. }
        | Request::Compaction { .. }
        | Request::DaemonStatus
        | Request::Choices { .. } => Way::Always,
        Request::Cost { .. }
        | Request::Doctor
        | Request::RepoMoved { .. }
        | Request::DaemonStop { .. } => Way::House,
    }
}

fn way_of_plan(plan: &PlanRequest) -> Way {
    match plan {
        PlanRequest::Runs { .. } | PlanRequest::List { .. } => {
            Way::Shows("5 WAIT", |e| matches!(e, Effect::Fetch { .. }))
        }
        PlanRequest::Pause { .. } => Way::Keys("TASK ctrl+c"),
        PlanRequest::Resume { .. } => Way::Keys("PAUSED u"),
        PlanRequest::Restart { .. } => Way::Keys("PAUSED R y"),
        PlanRequest::Rule { .. } => Way::Keys("PAUSED : accept enter y"),
        PlanRequest::Execute(_) => Way::Keys("e PLAN enter y"),
        PlanRequest::Show { .. } | PlanRequest::Read { .. } | PlanRequest::Check { .. } => {
            Way::Shows("e", |e| matches!(e, Effect::ReadPlan { .. }))
        }
        // Its file is a text, and whoever edits it has an editor.
        PlanRequest::Change { .. } | PlanRequest::Clean { .. } => Way::House,
        // What happens to a plan happens to the sessions of its tasks, which the list lives on.
        PlanRequest::Follow { .. } => Way::Always,
    }
}

/// One of each kind.
fn all() -> Vec<Request> {
    let session = || "id-fix-login".to_owned();
    let place = || "/home/ada/src/app".to_owned();
    let pause = || Action::Pause { mode: None, on_timeout: None, clearing: None, for_secs: None };
    let new = json!({"repo": place(), "agent": null, "prompt": null, "base": null, "in_place": false,
        "headless": false, "persona": null, "model": null, "idle_timeout_secs": null,
        "auto_yes": false, "argv": []});
    let task = || "write".to_owned();
    vec![
        Request::New(serde_json::from_value(new).unwrap()),
        Request::List { all: false },
        Request::Show { session: session() },
        Request::Attach { session: session() },
        Request::Act { session: session(), action: pause() },
        Request::ActEach { which: Which::All, action: pause() },
        Request::Wait { session: session(), statuses: vec![Status::Idle], timeout_ms: None },
        Request::Log { session: session(), follow: false, from: None },
        Request::Screen { session: session(), at: None },
        Request::Output { session: session(), from: 0, follow: false, most: None },
        Request::Events { from: 0, follow: false },
        Request::Verdicts { session: None, fresh: false },
        Request::Compaction { session: session() },
        Request::Snapshots { session: session(), last: None },
        Request::Diff { session: session(), since: None, patch: true },
        Request::RestoreTo { session: session(), snapshot: None, to: "/tmp/copy".to_owned() },
        Request::Merge { session: session(), into: None, hooks: false, place: None },
        Request::Plan(PlanRequest::Execute(Execute { place: place(), file: None, pace: None })),
        Request::Plan(PlanRequest::Read { place: place(), file: None }),
        Request::Plan(PlanRequest::Check { place: place(), file: None }),
        Request::Plan(PlanRequest::Clean { place: place(), plan: None }),
        Request::Plan(PlanRequest::Change {
            place: place(),
            change: Box::new(PlanChange::Remove { id: task() }),
        }),
        Request::Plan(PlanRequest::Show { place: place(), file: ".glis/plan.toml".to_owned() }),
        Request::Plan(PlanRequest::Runs { place: place(), task: None }),
        Request::Plan(PlanRequest::Pause { plan: "p1".to_owned(), mode: PauseMode::Interrupt }),
        Request::Plan(PlanRequest::Resume { place: place(), task: task(), prompt: None }),
        Request::Plan(PlanRequest::Restart { place: place(), task: task() }),
        Request::Plan(PlanRequest::Rule { place: place(), task: task(), ruling: Ruling::Accept }),
        Request::Plan(PlanRequest::Follow { plan: "p1".to_owned(), answers: false }),
        Request::Plan(PlanRequest::List { place: place() }),
        Request::Search { words: "token".to_owned(), most: 9 },
        Request::Trash,
        Request::TrashEmpty { which: Discard::Due },
        Request::TrashAct { session: session(), action: TrashAction::Restore { name: None } },
        Request::PauseAll(PauseAll {
            mode: PauseMode::Boundary,
            on_timeout: None,
            clearing: None,
            reason: PauseReason::User,
        }),
        Request::ResumeAll { from_log: false },
        Request::Doctor,
        Request::RepoMoved { from: place(), to: place() },
        Request::DaemonStatus,
        Request::DaemonStop { agents: false },
    ]
}

/// The kind of a call, and of what is done with it: its name in the protocol, and the first within.
fn kind(request: &Request) -> String {
    let told = serde_json::to_value(request).unwrap();
    let name = |value: &serde_json::Value| {
        let inner = value.as_object().and_then(|fields| fields.keys().next().cloned());
        inner.or_else(|| value.as_str().map(ToOwned::to_owned)).unwrap_or_default()
    };
    let outer = name(&told);
    if outer == "plan" { format!("plan {}", name(&told["plan"])) } else { outer }
}

/// Presses keys; words in capitals are what happens between them.
fn play(keys: &str) -> Vec<Effect> {
    let mut sessions = few();
    for session in sessions.iter_mut().filter(|session| session.name == "docs") {
        (session.task, session.plan) = (Some("write".to_owned()), Some("p1".to_owned()));
    }
    let mut task = sessions.iter().find(|session| session.name == "docs").cloned().unwrap();
    let mut desk = Desk::new(sessions);
    let mut effects = Vec::new();
    for word in keys.split(' ') {
        match word {
            "WAIT" => effects.extend(desk.pass(100)),
            "GATE" => "paused".clone_into(&mut desk.model.house.gate),
            "TASK" => desk.model.hand.selected = Some(task.id.clone()),
            "PAUSED" => {
                task.status = Status::Paused;
                desk.seen(task.clone());
                desk.model.hand.selected = Some(task.id.clone());
            }
            "PLAN" => {
                let result = Ok(Box::new(super::plans::found()));
                desk.tell(Msg::Plan {
                    repo: super::plans::REPO.to_owned(),
                    file: String::new(),
                    result,
                });
            }
            "TRASH" => drop(desk.tell(Msg::Trash(Ok(super::house::removed())))),
            key => {
                if key == "o" {
                    super::boxes::with_snapshots(&mut desk);
                }
                effects.extend(desk.typed(key));
            }
        }
    }
    effects
}

#[test]
fn every_call_of_the_command_line_has_its_place_here() {
    for request in all() {
        let wanted = kind(&request);
        match way(&request) {
            Way::Keys(keys) => {
                let made: Vec<String> = play(keys)
                    .iter()
                    .filter_map(|effect| {
                        if let Effect::Call { request, .. } = effect {
                            Some(kind(request))
                        } else {
                            None
                        }
                    })
                    .collect();
                // Several sessions are a call each.
                let wanted = if wanted == "act_each" { "act" } else { &wanted };
                let count = if wanted == "act" { made.len() } else { 1 };
                assert!(count > 0 && made.iter().any(|made| made == wanted), "{wanted}: {made:?}");
            }
            Way::Shows(keys, is_shown) => {
                let effects = play(keys);
                assert!(effects.iter().any(is_shown), "{wanted}: {effects:?}");
            }
            Way::House | Way::Always => {}
        }
    }
}
