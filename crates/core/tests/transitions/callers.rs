//! Stories of who an event is from, and of the status that it leads to.

use crate::script::{Kind, check};
use crate::table::{BUSY, IDLE};
use glis_core::Status;

/// The events of a story behind what was before it, each with the command that it is from and the
/// status that it led to.
fn told(kind: Kind, before: &[&str], story: &str) -> Result<Vec<String>, String> {
    let former = check(kind, &before.join("\n"))?.log.len();
    let stage = check(kind, &[&before.join("\n"), story].join("\n"))?;
    let told = stage.log.iter().skip(former).map(|recorded| {
        let event = serde_json::to_value(&recorded.event).unwrap_or_default();
        let name = event.as_object().and_then(|fields| fields.keys().next().cloned());
        let name = name.or_else(|| event.as_str().map(ToOwned::to_owned)).unwrap_or_default();
        let from = recorded.from.as_ref().map_or("-", |from| &from.who);
        let status = recorded.status.map_or("", Status::word);
        format!("{name} ({from}) {status}").trim_end().to_owned()
    });
    Ok(told.collect())
}

#[test]
fn every_step_of_a_pause_is_from_its_caller_also_after_a_crash() {
    let story = "pause
        turn ended
        crash
        captured
        saved
        crash
        ended
        saved";
    let expected = [
        "pause_began (pause) pausing",
        "turn_ended (-)",
        "safe_state_reached (pause)",
        "terminal_captured (pause)",
        "snapshot_taken (pause)",
        "end_began (pause)",
        "process_ended (pause)",
        "snapshot_taken (pause)",
        "paused (pause) paused",
    ];
    assert_eq!(told(Kind::Agent, &[IDLE, BUSY], story).unwrap(), expected);
}

#[test]
fn a_message_is_from_its_sender_until_it_is_taken() {
    let story = "send one
        crash
        send two
        turn ended
        delivered
        took";
    let told = told(Kind::Agent, &[IDLE, BUSY], story).unwrap();
    let of = |text: &str| told.iter().filter(|told| told.contains(text)).count();
    assert_eq!((of("message_queued (send one)"), of("message_queued (send two)")), (1, 1));
    assert_eq!((of("delivery_began (send one)"), of("(send two)")), (1, 1), "{told:#?}");
}

#[test]
fn what_a_restart_stops_and_starts_is_all_from_its_caller() {
    let story = "restart
        ended
        kept after the stop
        checked
        started
        ready";
    let told = told(Kind::Agent, &[IDLE], story).unwrap();
    let by_itself = told.iter().filter(|told| !told.contains("(restart)"));
    assert_eq!(by_itself.collect::<Vec<_>>(), ["became_ready (-) idle"], "{told:#?}");
    assert!(told.contains(&"process_ended (restart) suspended".to_owned()), "{told:#?}");
}

#[test]
fn a_death_is_from_no_caller() {
    let told = told(Kind::Agent, &[IDLE, BUSY], "ended by 9").unwrap();
    assert!(told.iter().all(|told| told.contains("(-)")), "{told:#?}");
    assert!(told.iter().any(|told| told.ends_with("interrupted")), "{told:#?}");
}

/// The status in the log is what a look would have shown, event by event.
#[test]
fn every_change_of_status_is_in_the_log() {
    let story = [IDLE, BUSY, "pause\nturn ended\ncaptured\nsaved\nended\nsaved\nresume\nchecked"];
    let stage = check(Kind::Agent, &story.join("\n")).unwrap();
    let mut house = glis_core::House::default();
    let mut known = None;
    for recorded in &stage.log {
        house.apply(recorded);
        let now = house.all_sessions().next().map(glis_core::Session::status);
        assert_eq!(recorded.status, now.filter(|_| now != known), "{recorded:?}");
        known = now;
    }
}
