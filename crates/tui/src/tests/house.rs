//! Stories of the trash, and of what the rules have answered.

use super::desk::{Desk, few};
use super::{session, whole};
use crate::message::{Judged, Msg, Told};
use crate::model::{Access, Mode};
use glis_client::labels::Tone;
use glis_core::Status;
use glis_wire::client::Response;
use glis_wire::view::TrashView;
use serde_json::json;

/// Two sessions that were removed, the older first.
pub(super) fn removed() -> Vec<TrashView> {
    let one = |name: &str, at: &str, due: bool| {
        json!({"id": format!("id-{name}"), "name": name, "agent": "claude",
            "branch": format!("glis/{name}"), "removed_at": at,
            "deadline": "2026-01-31T00:00:00Z", "due": due, "place": "/x"})
    };
    let all = json!([
        one("old-try", "2025-12-01T00:00:00Z", true),
        one("spike", "2026-01-01T00:00:00Z", false),
    ]);
    serde_json::from_value(all).unwrap()
}

/// What the rules have said, newest first.
pub(super) fn judged() -> Vec<Judged> {
    let one = |name: &str, text: &str, says: &str, tone| Judged {
        at: "2026-01-01T00:00:00Z".to_owned(),
        session: format!("id-{name}"),
        name: name.to_owned(),
        text: text.to_owned(),
        says: says.to_owned(),
        tone,
    };
    vec![
        one("docs", "Bash: cargo test", "accept: rule `cargo`, which comes with glis", Tone::Good),
        one("gone", "Bash: curl x", "manual: no rule is about `curl`", Tone::Attention),
    ]
}

/// A desk at the trash, with these in it.
fn at_trash() -> Desk {
    let mut desk = Desk::new(few());
    assert_eq!(desk.press("T"), "trash");
    desk.tell(Msg::Trash(Ok(removed())));
    desk
}

#[test]
fn what_was_removed_comes_back_by_one_key() {
    let mut desk = at_trash();
    let frame = desk.frame();
    assert!(frame.contains("spike    removed 5m ago · kept until 2026-01-31 · claude"), "{frame}");
    assert!(frame.contains("old-try  removed 31d ago · due · claude · glis/old-try"), "{frame}");
    let restored = desk.press("enter");
    assert_eq!(
        restored,
        r#"{"trash_act":{"action":{"restore":{"name":null}},"session":"id-spike"}}"#
    );
    assert_eq!(desk.model.work.history[0].line, "glis trash restore spike");
    let session = whole(session("spike", Status::Paused));
    let response = Box::new(Response::Done { session, already: false });
    desk.tell(Msg::Ended { ticket: 1, result: Ok(response) });
    assert_eq!(desk.selected(), "spike", "it is in hand");
    assert!(desk.frame().contains("`spike` is back from the trash"), "{}", desk.frame());
}

#[test]
fn a_name_that_is_taken_makes_room_for_another() {
    let mut desk = at_trash();
    desk.press("j r");
    assert!(desk.frame().contains("take old-try out of the trash as"), "{}", desk.frame());
    assert_eq!(desk.press("No enter"), "");
    assert!(desk.frame().contains("as in `fix-login`"), "{}", desk.frame());
    assert!(desk.press("ctrl+u new-try enter").contains(r#"{"name":"new-try"}"#));
    assert_eq!(desk.model.work.history[0].line, "glis trash restore old-try --name new-try");
}

#[test]
fn nothing_is_deleted_for_good_without_a_question() {
    let mut desk = at_trash();
    assert_eq!(desk.press("j D"), "");
    let frame = desk.frame();
    assert!(frame.contains("Delete `old-try` for good? This cannot be undone."), "{frame}");
    assert_eq!(desk.press("n"), "");
    assert_eq!(desk.model.mode, Mode::Trash { at: 0 }, "back in the trash");
    let deleted = desk.press("j D y");
    assert_eq!(deleted, r#"{"trash_act":{"action":"empty","session":"id-old-try"}}"#);
    assert_eq!(desk.model.work.history[0].line, "glis trash empty old-try --yes");
    assert!(desk.frame().contains("old-try  deleting it"), "{}", desk.frame());
    let session = whole(session("old-try", Status::Archived));
    let response = Box::new(Response::Done { session, already: false });
    let next = desk.tell(Msg::Ended { ticket: 1, result: Ok(response) });
    assert_eq!(next, [crate::message::Effect::FetchTrash], "it is looked at again");
    assert_eq!(desk.press("E"), r#"{"trash_empty":{"which":"due"}}"#);
}

#[test]
fn a_trash_that_is_empty_or_cannot_be_had_says_so() {
    let mut desk = Desk::new(few());
    desk.press("T");
    desk.tell(Msg::Trash(Ok(Vec::new())));
    assert!(desk.frame().contains("The trash is empty."), "{}", desk.frame());
    assert_eq!(desk.press("enter D r j G pgdn"), "", "there is nothing in hand");
    desk.tell(Msg::Trash(Err(Told { message: "no daemon".to_owned(), hint: None })));
    assert!(desk.frame().contains("no daemon"), "{}", desk.frame());
    desk.press("esc");
    assert_eq!(desk.model.mode, Mode::List);
    let mut watched = at_trash();
    watched.model.house.access = Access::ReadOnly;
    assert_eq!(watched.press("E D enter"), "");
}

#[test]
fn what_the_rules_have_answered_is_shown_with_the_reason() {
    let mut desk = Desk::new(few());
    assert_eq!(desk.press("A"), "judged");
    desk.tell(Msg::Judged(Ok(judged())));
    let frame = desk.frame();
    assert!(frame.contains("  5m docs  Bash: cargo test"), "{frame}");
    assert!(frame.contains("accept: rule `cargo`, which comes with glis"), "{frame}");
    desk.press("enter");
    assert_eq!(desk.selected(), "docs");
    desk.press("A");
    desk.tell(Msg::Judged(Ok(judged())));
    desk.press("j enter");
    assert!(desk.frame().contains("`gone` is in the trash"), "{}", desk.frame());
    desk.press("A");
    desk.tell(Msg::Judged(Ok(Vec::new())));
    assert!(desk.frame().contains("No request was judged by rule."), "{}", desk.frame());
}
