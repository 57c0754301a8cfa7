//! Stories of sessions that are removed elsewhere: no key reaches another one in their place, and none comes back by
//! an old look.

use super::desk::{Desk, few};
use super::{session, whole};
use crate::message::{Effect, Listed, Msg, Seen};
use glis_core::Status;
use glis_wire::client::Response;

#[test]
fn a_session_that_is_removed_keeps_its_row_until_a_key_moves_the_hand() {
    for key in ["i", "enter", "D", "p", "s", "S", "t", "Y", "u", "space"] {
        let mut desk = Desk::new(few());
        assert_eq!(desk.selected(), "fix-login");
        desk.event("fix-login", Status::Archived);
        assert!(desk.frame().contains("▌   fix-login was removed"), "{}", desk.frame());
        assert_eq!(desk.press(key), "", "{key}");
        assert_eq!(desk.model.mode, crate::model::Mode::List, "{key}");
        let frame = desk.frame();
        assert!(frame.contains("`fix-login` was removed; j goes on"), "{key}\n{frame}");
        desk.pass(700);
        desk.press("j");
        assert_eq!(desk.selected(), "日本語", "{key}: what stood below it");
        desk.pass(5000);
        assert!(!desk.frame().contains("was removed"), "{}", desk.frame());
        assert_eq!(desk.press("p"), "pause id-日本語", "{key}");
    }
}

#[test]
fn the_snapshots_of_a_session_that_is_removed_are_not_chosen_from() {
    let mut desk = Desk::new(few());
    desk.press("o");
    desk.event("fix-login", Status::Archived);
    assert_eq!(desk.press("enter"), "");
    assert!(desk.frame().contains("`fix-login` was removed; j goes on"), "{}", desk.frame());
}

#[test]
fn from_a_session_that_was_removed_the_hand_comes_to_what_is_left() {
    let mut desk = Desk::new(few());
    desk.press("G");
    let last = desk.selected().to_owned();
    desk.event(&last, Status::Archived);
    desk.press("j");
    assert!(!desk.selected().is_empty(), "the last one that is left: {}", desk.frame());
    let mut only = Desk::new(vec![session("docs", Status::Idle)]);
    only.event("docs", Status::Archived);
    assert!(only.frame().contains("docs was removed"), "{}", only.frame());
    only.press("j");
    only.pass(5000);
    assert!(only.frame().contains("No sessions yet."), "{}", only.frame());
    // One that is taken out of the trash is in its place again.
    let mut back = Desk::new(few());
    back.event("fix-login", Status::Archived);
    back.event("fix-login", Status::Paused);
    back.seen(session("fix-login", Status::Paused));
    assert_eq!(back.press("u"), "resume id-fix-login");
}

#[test]
fn marks_that_were_removed_are_not_replaced_by_the_row_in_hand() {
    for key in ["p", "D", "t", "Y"] {
        let mut desk = Desk::new(few());
        desk.press("space");
        assert_eq!(desk.selected(), "日本語");
        desk.event("fix-login", Status::Archived);
        assert_eq!(desk.press(key), "", "{key}");
        let frame = desk.frame();
        assert!(frame.contains("nothing is marked any more"), "{key}\n{frame}");
        desk.pass(700);
        assert_eq!(
            desk.press("p"),
            "pause id-日本語",
            "{key}: the next one is for the row in hand"
        );
    }
}

/// It was read before it was removed, and arrives behind that.
#[test]
fn an_old_look_brings_no_session_back() {
    let mut desk = Desk::new(few());
    let old = desk.model.rows.all["id-docs"].clone();
    desk.press("j p k");
    desk.event("docs", Status::Archived);
    desk.seen(old.clone());
    assert!(!desk.frame().contains("docs"), "{}", desk.frame());
    let response = Response::Done { session: whole(old.clone()), already: false };
    desk.tell(Msg::Ended { ticket: 1, result: Ok(Box::new(response)) });
    assert!(!desk.model.rows.all.contains_key("id-docs"), "nor does the end of a call");
    // It comes back by an event, or with the whole list.
    let looks = [desk.event("docs", Status::Paused), desk.pass(100)].concat();
    assert!(looks.contains(&Effect::Look(vec!["id-docs".to_owned()])), "{looks:?}");
    desk.tell(Msg::Seen(vec![Seen::There(Box::new(old.clone()))]));
    assert!(desk.model.rows.all.contains_key("id-docs"));
    desk.event("docs", Status::Archived);
    desk.tell(Msg::Listed(Listed {
        sessions: few(),
        more: 0,
        last_seq: 99,
        gate: "running".to_owned(),
    }));
    desk.seen(old);
    assert!(desk.model.rows.all.contains_key("id-docs"));
}
