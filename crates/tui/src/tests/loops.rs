//! Stories of loops and plans: their line, their pauses, and what an interrupt does.

use super::desk::Desk;
use super::{session, whole};
use crate::message::{Fetched, Msg};
use glis_core::Status;
use glis_wire::client::Response;
use glis_wire::view::SessionRow;
use serde_json::json;

/// A loop in its third iteration.
pub(super) fn looped(state: &str, status: Status) -> SessionRow {
    let mut view = session("my-session", status);
    let own = json!({"iteration": 3, "max": 10, "state": state, "failures": 0, "cost": null,
        "max_cost": null, "max_failures": 3, "without_progress": 0, "until": null,
        "context": "fresh", "auto_commit": false, "spec": null, "done_by": null, "broke": null,
        "note": null});
    view.looped = Some(serde_json::from_value(own).unwrap());
    view.created_at = "2025-12-31T23:52:26Z".to_owned();
    (view.tasks_done, view.tasks_active, view.tasks_open) = (2, 1, 3);
    view
}

fn status_line(desk: &Desk) -> String {
    let frame = desk.frame();
    frame.lines().find(|line| line.contains("Iteration #")).unwrap_or(&frame).to_owned()
}

#[test]
fn a_loop_has_a_line_that_tells_how_far_it_is() {
    let mut desk = Desk::new(vec![looped("running", Status::Busy)]);
    desk.tell(Msg::Changes { session: "id-my-session".to_owned(), files: 5 });
    let line = " glis | my-session | 00:12:34 | Iteration #3 | ✓2 ●1 ○3 | 5 files modified ◐";
    assert_eq!(status_line(&desk), line);
    let next = desk.model.next_change().map(|at| at - desk.model.now.ms);
    assert!(next.is_some_and(|ms| ms <= 1000), "its clock moves: {next:?}");
    desk.seen(looped("pausing", Status::Busy));
    assert!(status_line(&desk).ends_with("◐ PAUSING..."), "{}", status_line(&desk));
    let mut paused = looped("paused", Status::Paused);
    paused.paused_at = Some("2026-01-01T00:02:26Z".to_owned());
    desk.seen(paused);
    assert!(status_line(&desk).ends_with("⏸ PAUSED"), "{}", status_line(&desk));
    assert!(status_line(&desk).contains("| 00:10:00 |"), "it stands: {}", status_line(&desk));
    desk.seen(looped("done", Status::Idle));
    assert!(status_line(&desk).ends_with("✓ DONE"), "{}", status_line(&desk));
}

/// The words of its next iteration are a message too, and tell nobody anything.
#[test]
fn the_list_tells_how_far_a_loop_is_and_not_what_it_has_queued() {
    let mut view = looped("paused", Status::Paused);
    view.queued = 1;
    let desk = Desk::new(vec![view]);
    assert!(desk.frame().contains("3/10 ███░░░░░░░░░ paused"), "{}", desk.frame());
}

#[test]
fn where_there_is_less_room_parts_are_left_out_whole() {
    let mut desk = Desk::new(vec![looped("paused", Status::Paused)]);
    desk.tell(Msg::Resized { columns: 56, rows: 20 });
    assert_eq!(status_line(&desk), " glis | my-session | 00:07:34 | Iteration #3 ⏸ PAUSED");
}

#[test]
fn one_chord_pauses_after_the_iteration_cancels_and_resumes() {
    let mut desk = Desk::new(vec![looped("running", Status::Busy)]);
    assert_eq!(desk.press("ctrl+x p"), "pause id-my-session");
    assert_eq!(desk.model.work.history[0].line, "glis pause my-session --mode boundary");
    desk.seen(looped("pausing", Status::Busy));
    assert_eq!(desk.press("ctrl+x p"), "cancel_pause id-my-session");
    desk.seen(looped("paused", Status::Paused));
    assert_eq!(desk.press("ctrl+x p"), "resume id-my-session");
}

/// However fast it is pressed, by what is shown.
#[test]
fn a_pause_that_was_just_asked_for_is_cancelled_by_the_same_chord() {
    let mut desk = Desk::new(vec![looped("running", Status::Busy)]);
    assert_eq!(desk.press("ctrl+x p"), "pause id-my-session");
    assert!(desk.frame().contains("PAUSING..."), "{}", desk.frame());
    assert_eq!(desk.press("ctrl+x p"), "cancel_pause id-my-session");
    assert_eq!(desk.press("ctrl+x p"), "pause id-my-session");
    desk.event("my-session", Status::Paused);
    assert_eq!(desk.press("ctrl+x p"), "resume id-my-session", "before the call has ended");
}

#[test]
fn iterations_are_counted_up_and_down() {
    let mut desk = Desk::new(vec![looped("running", Status::Busy)]);
    assert_eq!(desk.press(">"), "set_loop id-my-session");
    assert_eq!(desk.model.work.history[0].line, "glis loop my-session --set max=11");
    // Each press counts, also before the one before it is known to be done, or is seen in the list.
    desk.press("> <");
    assert_eq!(desk.model.work.history[1].line, "glis loop my-session --set max=12");
    assert_eq!(desk.model.work.history[2].line, "glis loop my-session --set max=11");
    let ended = |desk: &mut Desk, ticket| {
        let session = whole(looped("running", Status::Busy));
        let result = Ok(Box::new(Response::Done { session, already: false }));
        desk.tell(Msg::Ended { ticket, result });
    };
    (1..=3).for_each(|ticket| ended(&mut desk, ticket));
    desk.press(">");
    assert_eq!(desk.model.work.history[3].line, "glis loop my-session --set max=12");
    ended(&mut desk, 4);
    let mut last = looped("running", Status::Busy);
    if let Some(own) = &mut last.looped {
        own.max = Some(3);
    }
    desk.seen(last);
    assert_eq!(desk.press("<"), "", "not below the one that it is at");
    let mut plain = Desk::new(vec![session("docs", Status::Idle)]);
    plain.press(">");
    assert!(plain.frame().contains("`docs` is no loop"), "{}", plain.frame());
}

#[test]
fn an_interrupt_pauses_then_forces_then_leaves() {
    let mut desk = Desk::new(vec![looped("running", Status::Busy)]);
    assert_eq!(desk.press("ctrl+c"), "pause id-my-session");
    assert_eq!(desk.model.work.history[0].line, "glis pause my-session");
    desk.seen(looped("pausing", Status::Pausing));
    assert_eq!(desk.press("ctrl+c"), "pause id-my-session");
    assert_eq!(desk.model.work.history[1].line, "glis pause my-session --mode force");
    // The event comes before the look that tells of the loop.
    desk.event("my-session", Status::Paused);
    assert!(desk.frame().contains("Paused. Ctrl+C again to quit."), "{}", desk.frame());
    for ticket in [1, 2] {
        let session = whole(looped("paused", Status::Paused));
        let response = Box::new(Response::Done { session, already: false });
        desk.tell(Msg::Ended { ticket, result: Ok(response) });
    }
    assert!(desk.frame().contains("Paused. Ctrl+C again to quit."), "{}", desk.frame());
    assert_eq!(desk.press("ctrl+c"), "quit", "and nothing else");
    for between in [Status::Created, Status::Idle, Status::Suspended, Status::Failed] {
        let mut desk = Desk::new(vec![looped("running", between)]);
        assert_eq!(desk.press("ctrl+c"), "pause id-my-session", "{between:?}");
    }
    let mut plain = Desk::new(vec![session("docs", Status::Busy)]);
    assert_eq!(plain.press("ctrl+c"), "quit", "no loop and no plan: nothing is paused");
}

#[test]
fn a_task_of_a_plan_is_interrupted_and_resumed_as_a_task() {
    let mut task = session("docs", Status::Busy);
    (task.task, task.plan) = (Some("write".to_owned()), Some("p1".to_owned()));
    let mut desk = Desk::new(vec![task.clone()]);
    assert!(desk.frame().contains("task write"), "{}", desk.frame());
    let told = desk.press("ctrl+c");
    assert!(told.contains("\"pause\"") && told.contains("p1"), "{told}");
    task.status = Status::Paused;
    desk.seen(task);
    assert!(desk.frame().contains("Paused. Ctrl+C again to quit."), "{}", desk.frame());
    let told = desk.press("u");
    assert!(told.contains("\"resume\"") && told.contains("write"), "{told}");
    assert_eq!(desk.model.work.history[1].line, "glis resume write");
    desk.press("R");
    let frame = desk.frame();
    assert!(frame.contains("Begin task write anew? It gets a new run"), "{frame}");
    assert!(
        frame.contains("`docs` and its files stay") && !frame.contains("told what was"),
        "{frame}"
    );
    desk.press("y");
    assert_eq!(desk.model.work.history[2].line, "glis restart write --yes");
    desk.press("5");
    let session = "id-docs".to_owned();
    desk.tell(Msg::Fetched { session, result: Ok(Fetched::Runs(Vec::new())) });
    assert!(desk.frame().contains("no runs of a plan"), "{}", desk.frame());
}

/// A task of this plan.
fn task(name: &str, plan: &str, status: Status) -> SessionRow {
    let mut view = session(name, status);
    (view.task, view.plan) = (Some(name.to_owned()), Some(plan.to_owned()));
    view
}

/// The plan's task that has ended may be in hand, or a session that is no part of anything.
#[test]
fn an_interrupt_pauses_what_is_executed_whichever_row_is_in_hand() {
    let mut over = task("one", "p1", Status::Suspended);
    over.created_at = "2025-01-01T00:00:00Z".to_owned();
    let mut elsewhere = task("three", "p2", Status::Busy);
    elsewhere.repo_root = "/home/ada/src/server".to_owned();
    let runs = task("two", "p1", Status::Busy);
    let all = vec![over, runs, elsewhere, session("shell", Status::Idle)];
    for row in ["one", "shell"] {
        let mut desk = Desk::new(all.clone());
        desk.model.hand.selected = Some(format!("id-{row}"));
        let told = desk.press("ctrl+c");
        assert!(told.contains("\"p1\"") && !told.contains("p2"), "{row}: {told}");
        desk.seen(task("two", "p1", Status::Paused));
        let frame = desk.frame();
        assert!(frame.contains("Paused. Ctrl+C again to quit.  the plan of app"), "{frame}");
        assert_eq!(desk.press("ctrl+c"), "quit", "what runs elsewhere is left alone");
    }
    // Between two tasks nobody is at work, and the plan goes on all the same.
    let mut judged = task("one", "p1", Status::Idle);
    judged.judging = true;
    let mut desk = Desk::new(vec![judged, session("shell", Status::Idle)]);
    desk.model.hand.selected = Some("id-shell".to_owned());
    assert!(desk.press("ctrl+c").contains("\"p1\""));
    // A row that has its own is about that one alone.
    let mut desk = Desk::new(vec![looped("running", Status::Busy), all[1].clone()]);
    desk.model.hand.selected = Some("id-my-session".to_owned());
    assert_eq!(desk.press("ctrl+c"), "pause id-my-session");
    desk.seen(looped("paused", Status::Paused));
    assert!(desk.frame().contains("quit.  loop `my-session`"), "{}", desk.frame());
    assert_eq!(desk.press("ctrl+c"), "quit");
    let mut desk = Desk::new(vec![looped("running", Status::Busy), all[1].clone(), all[3].clone()]);
    desk.model.hand.selected = Some("id-shell".to_owned());
    let told = desk.press("ctrl+c");
    assert!(told.contains("pause id-my-session") && told.contains("p1"), "all of them: {told}");
}

#[test]
fn a_plan_that_is_begun_here_has_its_running_task_in_hand_until_a_key() {
    let mut desk = Desk::new(vec![session("shell", Status::Idle)]);
    desk.press("e");
    let found = super::plans::found();
    let plan = found.executed.clone().unwrap();
    desk.tell(Msg::Plan {
        repo: super::plans::REPO.to_owned(),
        file: String::new(),
        result: Ok(Box::new(found)),
    });
    desk.press("enter y");
    desk.tell(Msg::Ended { ticket: 1, result: Ok(Box::new(Response::Plan(plan))) });
    assert_eq!(desk.selected(), "shell");
    desk.seen(task("one", "p1", Status::Busy));
    assert_eq!(desk.selected(), "one");
    desk.seen(task("one", "p1", Status::Suspended));
    desk.seen(task("two", "p1", Status::Busy));
    assert_eq!(desk.selected(), "two", "it goes on with the plan");
    desk.press("k k");
    let before = desk.selected().to_owned();
    desk.seen(task("two", "p1", Status::Suspended));
    desk.seen(task("three", "p1", Status::Busy));
    assert_eq!(desk.selected(), before, "the hand is where it was put");
}
