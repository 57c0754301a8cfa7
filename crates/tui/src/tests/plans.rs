//! Stories of the box that a plan is executed from.

use super::desk::{Desk, few};
use super::session;
use crate::message::{Msg, Told};
use crate::model::{Access, Mode};
use crate::theme::Ground;
use glis_core::Status;
use glis_wire::client::{Request, Response};
use glis_wire::plan::{PlanFile, PlanRequest, PlanView};
use serde_json::json;

/// The repository of its plans.
pub(super) const REPO: &str = "/home/ada/src/app";

/// A plan of two tasks, of which the first is done.
pub(super) fn found() -> PlanFile {
    let written = json!({
        "path": "/home/ada/src/app/.glis/plan.toml", "place": "/home/ada/src/app",
        "file": ".glis/plan.toml", "title": null, "faults": [], "executed": null,
        "tasks": [
            {"id": "write", "title": "Write the page", "line": 1, "changed": false},
            {
                "id": "check", "prompt": "Check it\nwell", "parent": "write", "needs": ["write"],
                "line": 4, "changed": false,
            },
        ],
    });
    let executed = json!({
        "id": "p1", "title": null, "repo_root": "/home/ada/src/app", "branch": "main", "base": "b",
        "pace": {"jobs": 1}, "created_at": "2026-01-01T00:00:00Z", "paused": null,
        "at_rest": false, "done": false, "gate_shut": false,
        "tasks": [
            {"id": "write", "title": null, "parent": null, "needs": [], "state": "succeeded", "run": null},
            {"id": "check", "title": null, "parent": null, "needs": ["write"], "state": "ready", "run": null},
        ],
    });
    let written: PlanFile = serde_json::from_value(written).unwrap();
    let executed: PlanView = serde_json::from_value(executed).unwrap();
    PlanFile { executed: Some(Box::new(executed)), ..written }
}

fn read(desk: &mut Desk, file: &str) {
    desk.tell(Msg::Plan {
        repo: REPO.to_owned(),
        file: file.to_owned(),
        result: Ok(Box::new(found())),
    });
}

#[test]
fn a_plan_is_read_shown_and_executed() {
    let mut desk = Desk::new(few());
    assert_eq!(desk.press("e"), r#"read plan /home/ada/src/app """#);
    assert_eq!(desk.press("enter"), "", "it is not known yet what that would be");
    read(&mut desk, "");
    let frame = desk.frame();
    assert!(frame.contains("execute the plan of app"), "{frame}");
    assert!(frame.contains("✓ write  succeeded  Write the page"), "{frame}");
    assert!(frame.contains("  ○ check  ready  Check it  after write"), "{frame}");
    assert_eq!(desk.press("enter"), "", "words that were typed blindly begin nothing");
    let question = "Execute the plan `.glis/plan.toml` of /home/ada/src/app: 2 tasks?";
    assert!(desk.frame().contains(question), "{}", desk.frame());
    let made = desk.typed("y");
    let asked = made.iter().find_map(|effect| {
        if let crate::message::Effect::Call { request, .. } = effect { Some(request) } else { None }
    });
    let Some(Request::Plan(PlanRequest::Execute(wanted))) = asked.map(|request| &**request) else {
        panic!("{made:?}")
    };
    assert_eq!(wanted.pace, None, "as it is executed already");
    assert_eq!(desk.model.work.history[0].line, "glis execute /home/ada/src/app/.glis/plan.toml");
    assert_eq!(desk.model.mode, Mode::List);
    let plan = found().executed.unwrap();
    desk.tell(Msg::Ended { ticket: 1, result: Ok(Box::new(Response::Plan(plan))) });
    assert!(desk.frame().contains("the plan goes on: 1 of 2 tasks are done"), "{}", desk.frame());
}

#[test]
fn how_a_plan_goes_is_said_in_its_box() {
    let mut desk = Desk::new(few());
    desk.press("e");
    read(&mut desk, "");
    desk.press("right right");
    assert!(desk.frame().contains("‹ only check ›"), "{}", desk.frame());
    assert_eq!(desk.press("tab x enter"), "");
    assert!(desk.frame().contains("`x` is no number"), "{}", desk.frame());
    desk.press("ctrl+u 3 tab space enter y");
    let line = "glis execute /home/ada/src/app/.glis/plan.toml --task check --jobs 3 --review";
    assert_eq!(desk.model.work.history[0].line, line);
}

#[test]
fn another_file_is_read_before_it_is_executed() {
    let mut desk = Desk::new(few());
    desk.press("e");
    let told =
        Told { message: "cannot read it".to_owned(), hint: Some("glis plan new".to_owned()) };
    desk.tell(Msg::Plan { repo: REPO.to_owned(), file: String::new(), result: Err(told) });
    let frame = desk.frame();
    assert!(frame.contains("cannot read it") && frame.contains("glis plan new"), "{frame}");
    assert_eq!(desk.press("shift+tab b.toml enter"), r#"read plan /home/ada/src/app "b.toml""#);
    // What comes of the former is too late.
    read(&mut desk, "");
    assert_eq!(desk.press("enter"), "");
    read(&mut desk, "b.toml");
    assert!(desk.frame().contains("✓ write"), "{}", desk.frame());
    // On the smallest of terminals the fields are there as well.
    let mut small = Desk::with(few(), (40, 12), Ground::Light);
    small.press("e");
    read(&mut small, "");
    assert!(small.frame().contains("│ tasks "), "{}", small.frame());
}

#[test]
fn who_may_only_look_sees_a_plan_and_executes_nothing() {
    let mut desk = Desk::new(few());
    desk.model.house.access = Access::ReadOnly;
    desk.press("e");
    read(&mut desk, "");
    assert!(desk.frame().contains("✓ write"), "{}", desk.frame());
    assert_eq!(desk.press("enter"), "");
    assert!(desk.frame().contains("read-only"), "{}", desk.frame());
}

/// Its task goes on in another session.
#[test]
fn the_session_of_a_former_run_is_resumed_and_no_other() {
    let run = |name: &str, at: &str| {
        let mut run = session(name, Status::Paused);
        (run.task, run.plan) = (Some("long".to_owned()), Some("p1".to_owned()));
        run.created_at = at.to_owned();
        run
    };
    let mut desk = Desk::new(vec![
        run("long-1", "2026-01-01T00:00:00Z"),
        run("long-2", "2026-01-01T00:01:00Z"),
    ]);
    desk.press("/ long-1 enter");
    assert_eq!(desk.press("u"), "resume id-long-1");
    assert_eq!(desk.model.work.history[0].line, "glis resume long-1");
    desk.press("/ ctrl+u long-2 enter u");
    assert_eq!(desk.model.work.history[1].line, "glis resume long");
}

/// A task of a plan, as its session is.
fn at_task(name: &str, status: Status) -> glis_wire::view::SessionRow {
    let mut own = session(name, status);
    (own.task, own.plan) = (Some(name.to_owned()), Some("p1".to_owned()));
    own
}

/// Two tasks of eight are done, and the plan is read.
fn tidy() -> Desk {
    let mut sessions = few();
    sessions.extend(["dust", "wash"].map(|name| at_task(name, Status::Suspended)));
    sessions.extend([at_task("sweep", Status::Busy), at_task("mow", Status::Suspended)]);
    let mut desk = Desk::with(sessions, (80, 30), Ground::Dark);
    let plan = json!({"id": "p1", "slug": "tidy", "title": "Tidy up", "place": null, "file": null,
        "branch": "plan/tidy", "created_at": "2026-01-01T00:00:00Z", "settled": 2, "tasks": 8,
        "done": false, "at_rest": false});
    let ended = |name: &str| {
        let mut run = super::views::run("succeeded", None);
        run.session = Some(format!("id-{name}"));
        run
    };
    let runs = ["dust", "wash"].map(ended).to_vec();
    desk.tell(Msg::Plans(Ok((vec![serde_json::from_value(plan).unwrap()], runs))));
    desk.pass(3000);
    desk
}

#[test]
fn a_plan_is_a_row_with_a_bar_and_its_tasks_are_below_it() {
    let mut desk = tidy();
    let frame = desk.frame();
    let shown = "
    Tidy up  2/8 ███░░░░░░░░░  app
  ●   sweep    app     claude     task sweep                                 5m
  ✓   dust     app     claude     merged                                     5m
  z   mow      app     claude     asleep                                     5m
  ✓   wash     app     claude     merged                                     5m";
    let of_plan: Vec<&str> =
        frame.lines().skip_while(|line| !line.contains("Tidy")).take(5).collect();
    assert_eq!(of_plan.join("\n"), shown.trim_matches('\n'), "\n{frame}");
    // A task that asks stands where a person looks for it.
    desk.event("sweep", Status::Waiting);
    desk.pass(3000);
    let frame = desk.frame();
    let place = |words: &str| frame.lines().position(|line| line.contains(words));
    assert!(place("sweep") < place("failed 1") && place("Tidy up") > place("failed 1"), "{frame}");
}

#[test]
fn what_is_merged_is_folded_as_that_and_what_sleeps_as_asleep() {
    let mut desk = tidy();
    desk.press(".");
    let frame = desk.frame();
    assert!(frame.contains("▸ 1 asleep, 2 merged, 1 paused  . shows them"), "{frame}");
    assert!(frame.contains("Tidy up  2/8"), "{frame}");
    desk.press("/ merged enter");
    assert!(desk.frame().contains("2 of 8"), "{}", desk.frame());
    let head = desk.frame();
    assert!(head.contains("✓ merged") && head.contains("✓ MERGED"), "{head}");
}
