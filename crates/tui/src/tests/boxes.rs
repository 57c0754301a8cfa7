//! Stories of boxes, of what is found by words, and of everything that can be done to a session.

use super::desk::{Desk, few};
use super::session;
use super::views::conversation;
use crate::message::{Fetched, Msg, Tab};
use crate::model::Mode;
use glis_core::Status;
use glis_core::input::IfRunning;
use glis_core::looping::LoopChange;
use glis_core::pause::PauseMode;
use glis_core::spec::IdleLimit;
use glis_wire::client::{Action, Request};
use serde_json::json;

/// Snapshots of the session in hand are shown.
pub(super) fn with_snapshots(desk: &mut Desk) {
    let view = |name: &str| {
        json!({"ref": name, "commit": "0123456789", "at": "2026-01-01T00:00:00Z", "why": "pause",
            "changed": 2, "not_captured": [], "since_before": null})
    };
    let all = serde_json::from_value(json!([view("snap-1"), view("snap-2")])).unwrap();
    let session = desk.model.hand.selected.clone().unwrap();
    desk.tell(Msg::Fetched { session, result: Ok(Fetched::Snapshots(all)) });
}

#[test]
fn an_edit_is_shown_as_a_diff_and_a_choice_is_made_by_its_digit() {
    let mut sessions = few();
    let edit = serde_json::json!({
        "request": "r1", "kind": "approval", "text": "allow Edit: src/login.rs",
        "wants": {"edit": {"paths": ["src/login.rs"]}},
        "input": {"file_path": "src/login.rs", "old_string": "a\nb\nc", "new_string": "a\nbee\nc"},
    });
    let question = serde_json::json!({
        "request": "r2", "kind": "question", "text": "Which colour?",
        "input": {"questions": [{"question": "Which colour?",
            "options": [{"label": "red"}, {"label": "deep blue"}]}]},
    });
    sessions[1].asks =
        [edit, question].map(|ask| serde_json::from_value(ask).unwrap()).into_iter().collect();
    let mut desk = Desk::new(sessions);
    desk.press("a");
    let frame = desk.frame();
    let rows: Vec<&str> = frame.lines().map(str::trim).collect();
    let at = rows.iter().position(|row| *row == "✎ src/login.rs").expect(&frame);
    assert_eq!(rows[at + 1..at + 5], ["a", "-b", "+bee", "c"], "{frame}");
    assert_eq!(desk.press("2"), "", "an approval has no choices");
    desk.press("j");
    let frame = desk.frame();
    assert!(frame.contains("1  red") && frame.contains("2  deep blue"), "{frame}");
    assert!(frame.contains(" 1-2 choose  s in words"), "{frame}");
    assert_eq!(desk.press("3 0"), "");
    // A yes would be taken for the answer.
    assert_eq!(desk.press("y Y"), "");
    assert!(desk.frame().contains("it wants no yes or no: 1 to 2 chooses"), "{}", desk.frame());
    // On a small terminal as well.
    desk.tell(Msg::Resized { columns: 40, rows: 14 });
    let frame = desk.frame();
    assert!(frame.contains(" 1-2 choose  s in words"), "{frame}");
    assert_eq!(desk.press("2"), "answer id-fix-login r2 deep blue");
}

#[test]
fn a_box_asks_for_the_words_that_are_missing() {
    let mut desk = Desk::new(few());
    desk.press("t");
    assert!(desk.frame().contains("suspend fix-login after"), "{}", desk.frame());
    assert_eq!(desk.press("999 enter"), "");
    assert!(desk.frame().contains("Timeout must be between 1 and 120 minutes"), "{}", desk.frame());
    assert_eq!(desk.press("ctrl+u 30 enter"), "limit_idle id-fix-login");
    assert_eq!(desk.press("m main enter"), merge("main"));
    assert_eq!(desk.press("G r go enter"), "resume id-api");
    assert_eq!(desk.press("r esc"), "");
    assert_eq!(desk.model.mode, Mode::List);
}

fn merge(into: &str) -> String {
    let request = Request::Merge {
        session: "id-fix-login".to_owned(),
        into: Some(into.to_owned()),
        hooks: false,
        place: None,
    };
    serde_json::to_value(request).unwrap().to_string()
}

#[test]
fn a_snapshot_is_chosen_confirmed_and_restored() {
    let mut desk = Desk::new(few());
    assert_eq!(desk.press("o j enter"), "", "they are not there yet");
    assert_eq!((desk.model.pane.tab, &desk.model.mode), (Tab::Snapshots, &Mode::Pick { at: 0 }));
    with_snapshots(&mut desk);
    assert_eq!(desk.press("j enter"), "");
    assert!(desk.frame().contains("back to snapshot snap-2?"), "{}", desk.frame());
    assert_eq!(desk.press("y"), "restore id-fix-login");
    assert_eq!(desk.model.work.history[0].line, "glis restore fix-login --snapshot snap-2");
    // A copy leaves the session alone.
    with_snapshots(&mut desk);
    desk.press("o d /tmp/copy enter");
    assert_eq!(
        desk.model.work.history[1].line,
        "glis restore fix-login --snapshot snap-1 --to /tmp/copy"
    );
}

#[test]
fn a_restart_may_be_told_what_was_done_before() {
    let mut desk = Desk::new(few());
    desk.press("R");
    assert!(desk.frame().contains("c yes, told what was done"), "{}", desk.frame());
    assert_eq!(desk.press("c"), "restart id-fix-login");
    assert_eq!(desk.model.work.history[0].line, "glis restart fix-login --with-context --yes");
    assert_eq!(desk.press("D c"), "", "it means nothing elsewhere");
}

#[test]
fn a_no_has_a_reason_and_its_question_stays_in_hand() {
    let mut other = few().remove(1);
    (other.id, other.name) = ("id-other".to_owned(), "other".to_owned());
    let mut sessions = few();
    sessions.push(other);
    let mut desk = Desk::new(sessions);
    assert_eq!(desk.press("a r use space make enter"), "answer id-fix-login r1 deny");
    assert!(desk.model.work.history[0].line.contains("deny --reason 'use make'"));
    let at = Some(("id-fix-login".to_owned(), "r1".to_owned()));
    assert_eq!(desk.model.mode, Mode::Asks { at });
}

#[test]
fn a_long_question_is_scrolled() {
    let mut sessions = few();
    let lines: Vec<_> = (1..=60).map(|n| format!("line-{n}")).collect();
    sessions[1].asks[0].text = lines.join("\n");
    let mut desk = Desk::new(sessions);
    desk.press("a");
    let frame = desk.frame();
    assert!(frame.contains("line-1\n") && frame.contains("more, pgdn"), "{frame}");
    desk.press("pgdn pgdn pgdn pgdn pgdn pgdn pgdn");
    desk.pass(700);
    let frame = desk.frame();
    assert!(frame.contains("line-60") && frame.contains("y allow"), "{frame}");
    assert_eq!(desk.press("y"), "answer id-fix-login r1 allow");
}

#[test]
fn the_palette_names_a_verb_and_a_session() {
    let mut desk = Desk::new(few());
    desk.press(": resume space api");
    assert!(desk.frame().contains("resume · api"), "{}", desk.frame());
    assert_eq!(desk.press("enter"), "resume id-api");
    assert_eq!(desk.selected(), "api");
    assert_eq!(desk.press(": pause space after space its space turn enter"), "pause id-api");
    assert_eq!(desk.model.work.history[1].line, "glis pause api --mode boundary");
    desk.press(": pause space for space docs enter 2h enter");
    assert_eq!(desk.model.work.history[2].line, "glis pause docs --for 7200s");
    desk.press(": xyzzy");
    assert!(desk.frame().contains("no matches"), "{}", desk.frame());
}

#[test]
fn words_are_found_in_all_conversations() {
    let mut desk = Desk::new(few());
    assert_eq!(desk.press("f token enter"), "search \"token\"");
    let hit = json!([{"session": "id-api", "name": "api", "at": "2026-01-01T00:00:00Z",
        "type": "assistant", "content": "a token", "snippet": "… a token …"}]);
    let hits = serde_json::from_value(hit).unwrap();
    desk.tell(Msg::Found { words: "token".to_owned(), result: Ok(hits) });
    let frame = desk.frame();
    assert!(frame.contains("api  agent · 5m") && frame.contains("… a token …"), "{frame}");
    desk.press("enter");
    assert_eq!((desk.selected(), desk.model.pane.tab), ("api", Tab::Conversation));
    desk.pass(50);
    let entry = |at: &str, text: String| json!({"timestamp": at, "type": "user", "content": text});
    let mut said: Vec<_> = (0..50).map(|n| entry("2025", format!("before {n}"))).collect();
    said.push(entry("2026-01-01T00:00:00Z", "here it is".to_owned()));
    said.extend((0..50).map(|n| entry("2027", format!("after {n}"))));
    let session = "id-api".to_owned();
    desk.tell(Msg::Fetched { session, result: Ok(conversation(json!(said))) });
    let frame = desk.frame();
    assert!(frame.contains("here it is") && !frame.contains("before 49"), "{frame}");
}

#[test]
fn a_text_is_written_in_the_users_own_editor() {
    let mut desk = Desk::new(few());
    assert_eq!(desk.press("s half ctrl+g"), "edit \"half\"");
    desk.tell(Msg::Edited(Ok("half and\nwhole\n".to_owned())));
    assert!(desk.press("enter").ends_with("send id-fix-login \"half and\\nwhole\", keep 1 drafts"));
    assert_eq!(desk.press("n ctrl+g"), "edit \"\"");
    assert_eq!(desk.press("tab ctrl+g"), "", "a name is a line");
}

/// The keys that lead to an action. A new one stops the compiler here.
fn keys_to(action: &Action) -> &'static str {
    match action {
        Action::Send { .. } => "s hi enter",
        Action::Pause { .. } => "p",
        Action::CancelPause => "ctrl+x p",
        Action::Resume { .. } => "G u",
        Action::Restart { .. } => "R y",
        Action::Stop => "S y",
        Action::Remove { .. } => "D y",
        Action::Answer { .. } => "a y",
        Action::Acknowledge => "K",
        Action::AutoYes { .. } => "Y y",
        Action::Snapshot => "b",
        Action::Compact => "C",
        Action::LimitIdle { .. } => "t 5 enter",
        Action::Label { .. } => "L auth enter",
        Action::Pin { .. } => "^",
        Action::Snooze { .. } => "Z 2h enter",
        Action::Budget { .. } => "$ usd=5 enter",
        // Nobody asks for it: a face whose keys go past the daemon tells it.
        Action::BeginTyping => "",
        Action::SetLoop { .. } => ": iterations space at space most enter 7 enter",
        Action::Restore { .. } => "o enter y",
    }
}

#[test]
fn what_the_command_line_does_to_a_session_has_keys_here() {
    let pause = Action::Pause {
        mode: Some(PauseMode::Interrupt),
        on_timeout: None,
        clearing: None,
        for_secs: None,
    };
    let answer = Action::Answer { ask: None, answer: String::new(), reason: None };
    let all = [
        (Action::Send { text: String::new(), files: Vec::new() }, "send"),
        (pause, "pause"),
        (Action::CancelPause, "cancel_pause"),
        (Action::Resume { prompt: None }, "resume"),
        (Action::Restart { with_context: false }, "restart"),
        (Action::Stop, "stop"),
        (Action::Remove { running: IfRunning::Refuse }, "remove"),
        (answer, "answer"),
        (Action::Acknowledge, "acknowledge"),
        (Action::AutoYes { on: true }, "auto_yes"),
        (Action::LimitIdle { limit: IdleLimit::Never }, "limit_idle"),
        (Action::labels(["auth"]), "label"),
        (Action::Pin { on: true }, "pin"),
        (Action::Budget { budget: "usd=5".to_owned() }, "budget"),
        (Action::Snooze { until: "2h".to_owned() }, "snooze"),
        (Action::SetLoop { change: LoopChange::default() }, "set_loop"),
        (Action::Snapshot, "snapshot"),
        (Action::Compact, "compact"),
        (Action::Restore { snapshot: None }, "restore"),
    ];
    for (action, word) in all {
        let mut desk = Desk::new(few());
        if action == Action::CancelPause {
            desk.seen(session("fix-login", Status::Pausing));
        }
        if word == "restore" {
            desk.press("4");
            desk.pass(1);
            with_snapshots(&mut desk);
        }
        let told = desk.press(keys_to(&action));
        assert!(told.split(", ").any(|part| part.starts_with(word)), "{word}: {told}");
    }
}
