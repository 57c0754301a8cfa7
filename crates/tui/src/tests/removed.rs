//! Stories of sessions that are removed elsewhere.

use super::desk::{Desk, few};
use crate::message::{Effect, Msg, Seen};
use glis_core::Status;
use glis_wire::client::Response;

/// It was read before it was removed, and arrives behind that.
#[test]
fn an_old_look_brings_no_session_back() {
    let mut desk = Desk::new(few());
    let old = desk.model.sessions["id-docs"].clone();
    desk.press("j p k");
    desk.event("docs", Status::Archived);
    desk.seen(old.clone());
    assert!(!desk.frame().contains("docs"), "{}", desk.frame());
    let response = Response::Done { session: Box::new(old.clone()), already: false };
    desk.tell(Msg::Ended { ticket: 1, result: Ok(Box::new(response)) });
    assert!(!desk.model.sessions.contains_key("id-docs"), "nor does the end of a call");
    // It comes back by an event, or with the whole list.
    let looks = [desk.event("docs", Status::Paused), desk.pass(100)].concat();
    assert!(looks.contains(&Effect::Look(vec!["id-docs".to_owned()])), "{looks:?}");
    desk.tell(Msg::Seen(vec![Seen::There(Box::new(old.clone()))]));
    assert!(desk.model.sessions.contains_key("id-docs"));
    desk.event("docs", Status::Archived);
    desk.tell(Msg::Listed { sessions: few(), last_seq: 99, gate: "running".to_owned() });
    desk.seen(old);
    assert!(desk.model.sessions.contains_key("id-docs"));
}
