//! Stories of what acts on many, on trust or on something out of sight: it is named and asked first, and words that
//! were typed blindly are no commands.

use super::desk::{Desk, few};
use super::{session, whole};
use crate::message::{Effect, Listed, Msg, News, Seen};
use crate::model::{Access, Mode};
use glis_core::Status;
use glis_core::session::Deferral;
use glis_wire::client::Response;
use serde_json::json;

fn ended(desk: &mut Desk, ticket: u64, name: &str) {
    let session = whole(session(name, Status::Idle));
    let response = Box::new(Response::Done { session, already: false });
    desk.tell(Msg::Ended { ticket, result: Ok(response) });
}

#[test]
fn everything_is_paused_and_resumed_after_a_question_with_the_number() {
    let mut sessions = few();
    let mut third = session("shell", Status::Idle);
    third.repo_root = "/home/ada/src/server".to_owned();
    sessions.push(third);
    let mut desk = Desk::new(sessions);
    assert_eq!(desk.press("U"), "", "nothing was stopped");
    assert!(
        desk.frame().contains("P has stopped nothing; u resumes a session"),
        "{}",
        desk.frame()
    );
    assert_eq!(desk.press("P"), "");
    assert!(desk.frame().contains("Pause 3 sessions of 2 repositories?"), "{}", desk.frame());
    assert_eq!(desk.press("n P esc"), "");
    assert!(desk.press("P y").contains("pause_all"));
    "paused".clone_into(&mut desk.model.house.gate);
    desk.event("docs", Status::Paused);
    desk.press("U");
    assert!(desk.frame().contains("Resume what P stopped?"), "not counted yet: {}", desk.frame());
    desk.press("n");
    for mut stopped in desk.model.rows.all.values().cloned().collect::<Vec<_>>() {
        if stopped.status != Status::Failed && stopped.name != "api" {
            stopped.status = Status::Paused;
            stopped.waits_to_start = Some(Deferral::Gate);
            desk.seen(stopped);
        }
    }
    assert_eq!(desk.press("U"), "");
    let frame = desk.frame();
    assert!(frame.contains("Resume 3 sessions of 2 repositories, which P stopped?"), "{frame}");
    assert!(desk.press("y").contains("resume_all"));
    let each = ["docs", "fix-login", "shell"].map(|name| {
        let session = whole(session(name, Status::Idle));
        Response::Done { session, already: false }
    });
    let gate = Box::default();
    let response = Response::Gate { gate, already: false, each: each.to_vec() };
    desk.tell(Msg::Ended { ticket: 2, result: Ok(Box::new(response)) });
    let frame = desk.frame();
    assert!(frame.contains("✓ 3 sessions are back; 1 session stays paused"), "{frame}");
    desk.press("s go enter");
    let session = whole(desk.model.session().cloned().unwrap());
    let queued = Response::Queued {
        session,
        message: 1,
        before: 0,
        status: Status::Paused,
        idle_secs: None,
    };
    desk.tell(Msg::Ended { ticket: 3, result: Ok(Box::new(queued)) });
    assert!(desk.frame().contains("stopped with everything; U resumes it all"), "{}", desk.frame());
}

/// One was taken out of it by a pause of its own, which changes nothing that its events tell.
#[test]
fn what_is_taken_out_of_a_pause_of_everything_is_not_counted_and_offers_its_way_back() {
    let held = |name: &str| {
        let mut held = session(name, Status::Paused);
        held.waits_to_start = Some(Deferral::Gate);
        held
    };
    let mut desk = Desk::new(vec![held("docs"), held("shell")]);
    "paused".clone_into(&mut desk.model.house.gate);
    let gate = |desk: &mut Desk, event: &str| {
        let news = News::read(desk.model.house.last_seq + 1, &json!({"event": event}));
        let mut effects = desk.tell(Msg::Event(Box::new(news)));
        effects.extend(desk.pass(100));
        let both = Effect::Look(vec!["id-docs".to_owned(), "id-shell".to_owned()]);
        assert!(effects.contains(&both), "{event}: {effects:?}");
    };
    gate(&mut desk, "gate_released");
    desk.press("U");
    assert!(desk.frame().contains("Resume what P stopped?"), "{}", desk.frame());
    desk.press("n");
    let mut out = session("docs", Status::Paused);
    desk.tell(Msg::Seen([out.clone(), held("shell")].map(|one| Seen::There(one.into())).to_vec()));
    desk.press("U");
    assert!(desk.frame().contains("Resume 1 session, which P stopped?"), "{}", desk.frame());
    desk.press("n");
    gate(&mut desk, "gate_opened");
    out.can_resume = true;
    desk.seen(out);
    desk.press("g");
    assert!(desk.frame().contains("u resume"), "{}", desk.frame());
}

#[test]
fn who_gives_the_answers_away_is_asked_and_every_row_shows_it() {
    let mut desk = Desk::new(few());
    assert_eq!(desk.press("j j Y"), "");
    assert!(desk.frame().contains("Have rules allow what `docs` asks"), "{}", desk.frame());
    assert_eq!(desk.press("n Y y"), "auto_yes id-docs");
    ended(&mut desk, 1, "docs");
    let frame = desk.frame();
    assert!(frame.contains("●»docs") && frame.contains("» 1 auto-yes"), "{frame}");
    assert!(frame.contains("auto-yes on for `docs`"), "{frame}");
    assert_eq!(desk.press("Y"), "auto_yes id-docs", "who takes them back is not");
    desk.model.house.access = Access::ReadOnly;
    assert_eq!(desk.press("Y P U"), "");
}

#[test]
fn words_that_were_typed_for_a_box_that_did_not_open_are_no_commands() {
    let mut desk = Desk::new(few());
    desk.model.house.access = Access::ReadOnly;
    assert_eq!(desk.press("s fix enter q e enter"), "");
    assert_eq!(desk.model.mode, Mode::List);
    assert_eq!(desk.selected(), "fix-login");
    assert_eq!(desk.press("ctrl+c"), "quit", "what is no letter counts");
    desk.pass(700);
    assert_eq!(desk.press("q"), "quit", "and letters after a moment");
    assert_eq!(desk.press("s q esc q"), "quit", "or once the box is given up that is not there");
    let mut small = Desk::with(few(), (80, 10), crate::theme::Ground::Dark);
    assert_eq!(small.press("i DyPy"), "");
}

#[test]
fn what_is_begun_is_begun_in_the_repository_of_the_row_in_hand() {
    let mut desk = Desk::new(few());
    for (key, title) in [("n", "new session in server"), ("N", "new loop in server")] {
        desk.press(&format!("G {key}"));
        assert!(desk.frame().contains(title), "{}", desk.frame());
        desk.press("esc");
    }
    assert_eq!(desk.press("e"), r#"read plan /home/ada/src/server """#);
    assert!(desk.frame().contains("execute the plan of server"), "{}", desk.frame());
    // Without a row it is the one that the program was started in.
    let mut empty = Desk::new(Vec::new());
    empty.press("n");
    assert!(empty.frame().contains("new session in app"), "{}", empty.frame());
}

#[test]
fn an_undo_of_what_is_not_in_hand_or_was_long_ago_is_named_first() {
    let mut desk = Desk::new(few());
    desk.press("j j p");
    ended(&mut desk, 1, "docs");
    desk.press("k");
    assert_eq!(desk.press("z"), "");
    assert!(desk.frame().contains("Undo the pause of `docs`, just now?"), "{}", desk.frame());
    assert_eq!(desk.press("n"), "");
    assert_eq!(desk.press("z z"), "resume id-docs", "the same key says yes");
    let mut desk = Desk::new(few());
    desk.press("j j p");
    ended(&mut desk, 1, "docs");
    desk.pass(185_000);
    assert_eq!(desk.press("z"), "");
    assert!(desk.frame().contains("Undo the pause of `docs`, 3 min ago?"), "{}", desk.frame());
    assert_eq!(desk.press("y"), "resume id-docs");
    let mut desk = Desk::new(few());
    desk.press("D y");
    ended(&mut desk, 1, "fix-login");
    assert!(desk.frame().contains("is in the trash; z brings it back"), "{}", desk.frame());
}

/// Somebody else has paused it since, or had before.
#[test]
fn only_what_was_done_here_is_undone() {
    let mut desk = Desk::new(few());
    desk.press("j j p");
    let paused = |at: &str| {
        let mut paused = session("docs", Status::Paused);
        paused.paused_at = Some(at.to_owned());
        paused
    };
    let done = |at: &str, already: bool| {
        let session = whole(paused(at));
        Ok(Box::new(Response::Done { session, already }))
    };
    desk.tell(Msg::Ended { ticket: 1, result: done("2026-01-01T00:05:00Z", false) });
    desk.seen(paused("2026-01-01T00:06:00Z"));
    assert_eq!(desk.press("z"), "");
    let frame = desk.frame();
    assert!(frame.contains("`docs` was paused or resumed since: nothing is undone"), "{frame}");
    desk.press("p");
    desk.tell(Msg::Ended { ticket: 2, result: done("2026-01-01T00:06:00Z", true) });
    assert_eq!(desk.press("z"), "");
    assert!(desk.frame().contains("nothing to undo"), "{}", desk.frame());
}

#[test]
fn a_daemon_that_was_stopped_is_started_by_a_key_alone() {
    let mut desk = Desk::new(few());
    desk.tell(Msg::Stopped);
    let frame = desk.frame();
    assert!(frame.contains("daemon stopped, enter starts it"), "{frame}");
    assert!(
        frame.contains("the daemon was stopped; agents run on  enter starts it again"),
        "{frame}"
    );
    desk.press("j");
    let quiet = |effects: Vec<Effect>| effects.is_empty();
    assert!(quiet(desk.pass(50)) && quiet(desk.pass(10_000)), "nothing asks the daemon");
    assert_eq!(desk.press("enter"), "start the daemon");
    let sessions = few();
    desk.tell(Msg::Listed(Listed { sessions, more: 0, last_seq: 9, gate: "running".to_owned() }));
    assert_eq!(desk.press("enter"), "attach id-日本語");
}

#[test]
fn sessions_that_work_are_looked_at_again_and_their_age_is_that_of_the_turn() {
    let mut desk = Desk::new(few());
    let looks = desk.pass(3000);
    assert_eq!(looks, [Effect::Look(vec!["id-docs".to_owned()])], "a stream tells no events");
    let mut busy = few().remove(0);
    busy.last_active_at = "2026-01-01T00:05:00Z".to_owned();
    desk.seen(busy);
    let row = |desk: &Desk| {
        let frame = desk.frame();
        frame.lines().find(|line| line.contains("docs")).map(ToOwned::to_owned).unwrap_or_default()
    };
    assert!(row(&desk).ends_with("5m"), "{}", desk.frame());
    let began = json!({"event": "turn_began", "session": "id-docs", "status": "busy"});
    desk.tell(Msg::Event(Box::new(News::read(9, &began))));
    assert!(row(&desk).ends_with("now"), "{}", desk.frame());
}

#[test]
fn what_was_asked_when_it_was_paused_is_shown_and_stands_with_those_that_wait() {
    let mut paused = session("api", Status::Paused);
    let ask = json!({"request": "r1", "kind": "approval", "text": "Write limit.py"});
    paused.was_asking = vec![serde_json::from_value(ask).unwrap()];
    let mut desk = Desk::new(vec![session("docs", Status::Failed), paused.clone()]);
    assert_eq!(desk.selected(), "api");
    let asked = "asked when it was paused: Write";
    assert_eq!(desk.frame().matches(asked).count(), 2, "{}", desk.frame());
    paused.status = Status::Idle;
    desk.seen(paused);
    desk.pass(3000);
    assert_eq!(desk.frame().matches(asked).count(), 2, "{}", desk.frame());
    assert!(desk.frame().contains("s tells it how to go on"), "{}", desk.frame());
}

#[test]
fn marks_that_the_filter_hides_are_told() {
    for keys in ["p", "S", "t", "Y"] {
        let mut desk = Desk::new(few());
        desk.press("space / api enter");
        assert_eq!(desk.press(keys), "", "{keys}");
        let frame = desk.frame();
        assert!(frame.contains("the filter hides what you marked; esc takes"), "{keys}\n{frame}");
        desk.press("esc");
        desk.pass(700);
        assert_eq!(desk.press("p"), "pause id-api", "{keys}: the row in hand");
    }
}

#[test]
fn who_may_only_look_is_offered_nothing_else() {
    let mut desk = Desk::new(few());
    desk.model.house.access = Access::ReadOnly;
    let footer =
        |desk: &Desk| desk.frame().lines().last().map(ToOwned::to_owned).unwrap_or_default();
    let keys = |footer: String| footer.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(keys(footer(&desk)), "a questions q quit ? keys");
    assert!(desk.frame().contains("a shows it"), "{}", desk.frame());
    desk.press("a");
    assert_eq!(keys(footer(&desk)), "a back ? keys");
    assert!(desk.frame().contains("read-only: it is answered elsewhere"), "{}", desk.frame());
    "paused".clone_into(&mut desk.model.house.gate);
    assert!(!desk.frame().contains("resumes all"), "{}", desk.frame());
    desk.press("a T");
    desk.tell(Msg::Trash(Ok(super::house::removed())));
    assert_eq!(keys(footer(&desk)), "esc close");
}

#[test]
fn a_limit_is_changed_in_sight_of_what_it_is() {
    let mut desk = Desk::new(few());
    desk.press("t");
    assert!(desk.frame().contains("now 10; minutes that it may be idle"), "{}", desk.frame());
}
