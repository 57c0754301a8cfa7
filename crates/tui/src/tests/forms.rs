//! Stories of the boxes that a session, a loop or a message begins in.

use super::desk::{Desk, few};
use crate::input::Input;
use crate::message::{Msg, Told};
use crate::model::Mode;
use crate::theme::Ground;
use glis_core::Status;
use glis_wire::client::Response;
use serde_json::json;

#[test]
fn a_name_is_proposed_and_every_field_counts() {
    let mut desk = Desk::new(few());
    desk.press("n Fix space the space login");
    assert!(desk.frame().contains("name      fix-the-login"), "{}", desk.frame());
    let begun = desk.press("tab blue tab right tab opus tab main tab space enter");
    assert_eq!(begun, r#"new Some("blue") Some("claude") Some("Fix the login"), keep 1 drafts"#);
    assert_eq!(
        desk.model.work.history[0].line,
        "glis new blue --agent claude --model opus --prompt 'Fix the login' --base main \
         --repo /home/ada/src/app --auto-yes"
    );
}

#[test]
fn a_loop_is_begun_with_its_limits_and_gets_its_name_into_the_line() {
    let mut desk = Desk::new(few());
    assert_eq!(desk.press("N enter"), "");
    let frame = desk.frame();
    assert!(
        frame.contains("new loop in app") && frame.contains("a loop needs a prompt"),
        "{frame}"
    );
    assert_eq!(desk.press("Check space a space page shift+tab shift+tab shift+tab many enter"), "");
    assert!(desk.frame().contains("`many` is no number of iterations"), "{}", desk.frame());
    let begun = desk.press("ctrl+u 40 tab make space done enter");
    assert_eq!(
        begun,
        r#"new None None Some("Check a page") loop Some(40) Some("make done"), keep 1 drafts"#
    );
    let line = "glis loop check-a-page --prompt 'Check a page' --max 40 --until 'make done' \
                --repo /home/ada/src/app";
    assert_eq!(desk.model.work.history[0].line, line);
    let made = super::whole(super::session("check-a-page-2", Status::Busy));
    let response = Response::Made { session: made, notes: Vec::new() };
    desk.tell(Msg::Ended { ticket: 1, result: Ok(Box::new(response)) });
    assert!(desk.model.work.history[0].line.starts_with("glis loop check-a-page-2 --prompt"));
}

#[test]
fn what_is_seldom_wanted_can_be_had_as_well() {
    let mut desk = Desk::new(few());
    desk.press("n Go shift+tab");
    assert!(desk.frame().contains("options   ‹ the usual ones ›"), "{}", desk.frame());
    assert!(!desk.frame().contains("persona"), "{}", desk.frame());
    desk.press("right tab careful tab");
    desk.tell(Msg::Input(Input::Pasted("--flag 'two words'".to_owned())));
    assert_eq!(desk.press("tab right tab right tab 0 tab usd=5 tab right tab right enter"), "");
    assert!(desk.frame().contains("Timeout must be between"), "{}", desk.frame());
    assert!(desk.press("ctrl+u 20 enter").starts_with("new None None"));
    assert_eq!(
        desk.model.work.history[0].line,
        "glis new --persona careful --prompt Go --repo /home/ada/src/app --idle-timeout 20m --budget usd=5 \
         --in-place --headless --keep-process --remove-worktree-on-pause -- '--flag' 'two words'"
    );
    // Shown, it is whole: what is cut cannot be typed again.
    desk.press("@");
    let frame = desk.frame();
    assert!(frame.contains("glis new --persona") && frame.contains("'two words'"), "{frame}");
}

#[test]
fn a_loop_has_every_limit_of_the_command_line() {
    let mut desk = Desk::new(few());
    desk.press("N shift+tab right");
    // Behind the fields that any session has.
    desk.press("tab tab tab tab tab tab tab tab list.md tab right tab right tab 2.50 tab 0 enter");
    assert!(desk.frame().contains("`0` is no number of failures"), "{}", desk.frame());
    assert!(desk.press("ctrl+u 5 enter").contains("new None None None loop None None"));
    assert_eq!(
        desk.model.work.history[0].line,
        "glis loop NAME --spec /home/ada/src/app/list.md --context continue --auto-commit \
         --max-cost 2.5 --max-failures 5 --repo /home/ada/src/app"
    );
    desk.press("N both shift+tab right tab tab tab tab tab tab tab tab list.md enter");
    assert!(desk.frame().contains("either a prompt or a check list"), "{}", desk.frame());
}

#[test]
fn what_was_typed_for_a_new_session_is_kept() {
    let mut desk = Desk::new(few());
    assert_eq!(desk.press("n half space a space thought esc"), "keep 1 drafts");
    desk.press("n");
    assert!(desk.frame().contains("half a thought"), "{}", desk.frame());
    // Begun, it is gone; refused, it is there again.
    let begun = desk.press("enter");
    assert!(begun.starts_with("new None None") && begun.ends_with("keep 1 drafts"), "{begun}");
    desk.press("n");
    assert!(!desk.frame().contains("half a thought"), "{}", desk.frame());
    desk.press("esc");
    let told = Told { message: "no such base".to_owned(), hint: None };
    desk.tell(Msg::Ended { ticket: 1, result: Err(told) });
    desk.press("n");
    assert!(desk.frame().contains("half a thought"), "{}", desk.frame());
}

#[test]
fn on_a_small_terminal_the_field_in_hand_is_seen() {
    let mut desk = Desk::with(few(), (40, 12), Ground::Dark);
    desk.press("N words");
    for word in [
        "name", "agent", "model", "base", "auto-yes", "works on", "repeat", "at most", "until",
        "options",
    ] {
        desk.press("tab");
        assert!(desk.frame().contains(&format!("│ {word} ")), "{word}\n{}", desk.frame());
    }
}

#[test]
fn files_go_with_a_message() {
    let mut desk = Desk::new(few());
    desk.press("F enter");
    assert!(desk.frame().contains("the path of a file"), "{}", desk.frame());
    desk.press("~/notes.md enter");
    let frame = desk.frame();
    assert!(
        frame.contains("message to fix-login") && frame.contains("+ /home/ada/notes.md"),
        "{frame}"
    );
    assert_eq!(desk.press("enter"), "", "it is not said what to do with it");
    desk.press("read space them ctrl+o");
    desk.tell(Msg::Input(Input::Pasted("'/tmp/a b.png'\n".to_owned())));
    let sent = desk.press("enter enter");
    let wanted =
        "send id-fix-login \"read them\" + /home/ada/notes.md + /tmp/a b.png, keep 1 drafts";
    assert_eq!(sent, wanted);
    assert_eq!(
        desk.model.work.history[0].line,
        "glis send fix-login 'read them' --file /home/ada/notes.md --file '/tmp/a b.png'"
    );
    desk.press("F esc");
    assert_eq!(desk.model.mode, Mode::List);
    assert_eq!(
        desk.press("F docs/x enter look enter"),
        "send id-fix-login \"look\" + /home/ada/src/app/docs/x, keep 1 drafts"
    );
}

#[test]
fn what_is_pasted_has_lines_only_where_the_field_has() {
    let mut desk = Desk::new(few());
    let paste = |desk: &mut Desk| desk.tell(Msg::Input(Input::Pasted("one\ntwo".to_owned())));
    desk.press("n");
    paste(&mut desk);
    desk.press("tab tab tab tab");
    paste(&mut desk);
    let frame = desk.frame();
    assert!(frame.contains("│ base      one two "), "{frame}");
    assert!(desk.press("enter").contains("Some(\"one\\ntwo\")"));
}

/// Begun where another repository is named; and a refusal loses nothing that was typed.
#[test]
fn a_box_names_its_repository_and_agents_and_is_there_again_after_a_refusal() {
    let mut desk = Desk::new(few());
    desk.press("n Go tab blue");
    let codex = json!({ "name": "codex", "installed": true, "path": "/bin/codex", "usual": true });
    let choices = json!({ "agents": [codex], "personas": [], "filters": [] });
    desk.tell(Msg::Choices(serde_json::from_value(choices).unwrap()));
    assert!(desk.frame().contains("as configured: codex"), "{}", desk.frame());
    desk.press("tab right");
    assert!(desk.frame().contains("‹ claude, which is not installed ›"), "{}", desk.frame());
    desk.press("right tab tab tab tab nowhere enter");
    assert!(desk.frame().contains("no repository `nowhere` is known here"), "{}", desk.frame());
    let begun = desk.typed("ctrl+u");
    assert!(begun.is_empty());
    desk.press("server enter");
    let line = &desk.model.work.history[0].line;
    assert_eq!(line, "glis new blue --agent codex --prompt Go --repo /home/ada/src/server");
    let told = Told { message: "`blue` is taken".to_owned(), hint: None };
    desk.tell(Msg::Ended { ticket: 1, result: Err(told) });
    let frame = desk.frame();
    assert!(frame.contains("`blue` is taken") && frame.contains("works on  server"), "{frame}");
    assert!(desk.press("enter").contains(r#"new Some("blue") Some("codex") Some("Go")"#));
    // Whoever does something else meanwhile has it the next time.
    desk.press("s half");
    let told = Told { message: "`blue` is taken".to_owned(), hint: None };
    desk.tell(Msg::Ended { ticket: 2, result: Err(told) });
    assert!(desk.frame().contains("message to fix-login"), "{}", desk.frame());
    desk.press("esc n");
    let frame = desk.frame();
    assert!(frame.contains("prompt    Go") && frame.contains("name      blue"), "{frame}");
    // What is run is asked for as soon as it is a program.
    desk.press("tab tab right right right");
    assert!(desk.frame().contains("command   a program"), "{}", desk.frame());
}

#[test]
fn a_plan_of_another_repository_is_read() {
    let mut desk = Desk::new(few());
    desk.press("e tab tab tab server");
    assert_eq!(desk.press("tab"), r#"read plan /home/ada/src/server """#);
    assert!(desk.frame().contains("execute the plan of server"), "{}", desk.frame());
}
