//! What an event tells beside itself: who asked for it, and the status that it led to. A face that
//! follows events never has to ask again and again.

use super::client::{act, connector, until};
use crate::support::house::{House, Outcome, kill_and_wait};
use crate::support::wreck::pid_of;
use glis_client::{Connector, News, Quiet, Subscription};
use glis_core::Status;
use glis_core::pause::PauseMode;
use glis_wire::client::{Action, Request, Response};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Looks at a session again and again, as fast as it can be answered, until it is told to end. Returns each
/// status that it has seen, once for each change.
fn poll(connector: Connector, ends: Arc<AtomicBool>) -> JoinHandle<Vec<Status>> {
    std::thread::spawn(move || {
        let mut seen: Vec<Status> = Vec::new();
        let mut client = None;
        // One more look after the end, so that the last status is seen as well.
        loop {
            let last = ends.load(Ordering::SeqCst);
            if client.is_none() {
                client = connector.connect(&mut Quiet).ok();
            }
            let show = Request::Show { session: "x".to_owned() };
            match client.as_mut().map(|client| client.call(show)) {
                Some(Ok(Response::Session(view))) if seen.last() != Some(&view.status) => {
                    seen.push(view.status);
                }
                Some(Ok(_)) => {}
                // The daemon was killed, or the session is not made yet.
                Some(Err(_)) | None => client = None,
            }
            if last {
                return seen;
            }
        }
    })
}

/// Statuses of a session as they are told by events, up to the one that it is removed with.
fn told(events: &mut Subscription) -> Outcome<Vec<Status>> {
    let mut told = Vec::new();
    while told.last() != Some(&Status::Archived) {
        let News::Event { event, .. } = events.next()? else {
            return Err("the log has another name".into());
        };
        if !event["status"].is_null() {
            told.push(serde_json::from_value(event["status"].clone())?);
        }
    }
    Ok(told)
}

/// Over turns, a question, a pause, a crash of the agent, and deaths of the daemon.
#[test]
fn a_follower_of_events_sees_every_change_of_status_that_a_look_shows() -> Outcome {
    let house = House::new()?;
    let connector = connector(&house)?;
    let mut events = Subscription::new(connector.clone(), None, 1);
    let ends = Arc::new(AtomicBool::new(false));
    let polls = poll(connector, Arc::clone(&ends));
    house.rehearsal("x")?;
    house.turn("x", "say hello")?;
    house.ok(&["send", "x", "question Which colour?"])?;
    house.until("x", "waiting")?;
    house.ok(&["answer", "x", "blue"])?;
    house.until("x", "idle")?;
    house.ok(&["pause", "x"])?;
    house.kill_daemon()?;
    house.ok(&["resume", "x"])?;
    house.until("x", "idle")?;
    kill_and_wait(pid_of(&house.show("x")?)?)?;
    house.until("x", "interrupted")?;
    house.ok(&["resume", "x"])?;
    house.until("x", "idle")?;
    house.kill_daemon()?;
    house.turn("x", "say again")?;
    house.ok(&["stop", "x"])?;
    house.until("x", "suspended")?;
    ends.store(true, Ordering::SeqCst);
    let seen = polls.join().map_err(|_| "the poller panicked")?;
    house.ok(&["rm", "x"])?;
    let told = told(&mut events)?;
    let mut rest = told.iter();
    for status in &seen {
        assert!(rest.any(|told| told == status), "{status:?}\nseen {seen:?}\ntold {told:?}");
    }
    let expected = [Status::Waiting, Status::Paused, Status::Interrupted, Status::Suspended];
    for status in expected {
        assert!(seen.contains(&status), "{status:?} was seen: {seen:?}");
    }
    assert!(told.windows(2).all(|two| two[0] != two[1]), "only changes are told: {told:?}");
    // From the middle on the same is told, also by another daemon.
    house.kill_daemon()?;
    let all = house.ok(&["events", "--from", "1"])?;
    let all = all.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
    let again: Vec<_> = all.iter().filter_map(|event| event.get("status")).collect();
    assert_eq!(json!(again), json!(told));
    let middle = all.len() / 2;
    let later = house.ok(&["events", "--from", &(middle + 1).to_string()])?;
    let later = later.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
    assert_eq!(later, all[middle..]);
    Ok(())
}

#[test]
fn every_event_of_a_call_says_who_it_is_from() -> Outcome {
    let house = House::new()?;
    let connector = connector(&house)?;
    let mut events = Subscription::new(connector.clone(), None, 1);
    house.rehearsal("x")?;
    let made = until(&mut events, "creation_ended")?;
    assert!(made.iter().all(|(_, event)| event["from"]["face"] == "cli"), "{made:#?}");
    house.turn("x", "say hello")?;
    let pause = Action::Pause {
        mode: Some(PauseMode::Boundary),
        on_timeout: None,
        clearing: None,
        for_secs: None,
    };
    connector.connect(&mut Quiet)?.call(act(pause))?;
    let all = until(&mut events, "paused")?;
    let of = |name: &str| all.iter().find(|(_, event)| event["event"] == name).map(|(_, e)| e);
    for sent in ["message_queued", "start_began", "start_ended", "delivery_began", "message_taken"]
    {
        assert_eq!(of(sent).map(|event| &event["from"]["face"]), Some(&json!("cli")), "{sent}");
    }
    assert_eq!(of("turn_ended").map(|event| &event["from"]), Some(&Value::Null));
    let of_pause = all.iter().skip_while(|(_, event)| event["event"] != "pause_began");
    for (_, event) in of_pause {
        assert_eq!(event["from"], json!({"face": "web", "who": "phone"}), "{event}");
    }
    // What happens to the agent by itself is from no caller.
    house.ok(&["resume", "x"])?;
    house.until("x", "idle")?;
    kill_and_wait(pid_of(&house.show("x")?)?)?;
    let died = until(&mut events, "interrupted")?;
    assert_eq!(died.last().map(|(_, event)| event["from"].is_null()), Some(true));
    Ok(())
}

/// The next daemon goes on with what a caller had asked the former one for, and says so.
#[test]
fn a_pause_that_outlives_the_daemon_is_still_from_its_caller() -> Outcome {
    let mut house = House::new()?;
    house.surround("GLIS_FAILPOINT", "after:terminal_captured");
    let connector = connector(&house)?;
    let mut events = Subscription::new(connector.clone(), None, 1);
    house.rehearsal("x")?;
    house.turn("x", "say hello")?;
    let pause = Action::Pause {
        mode: Some(PauseMode::Boundary),
        on_timeout: None,
        clearing: None,
        for_secs: None,
    };
    // The daemon dies of it.
    let lost = connector.connect(&mut Quiet)?.call(act(pause));
    assert!(lost.is_err(), "{lost:?}");
    house.spare("GLIS_FAILPOINT");
    house.until("x", "paused")?;
    let all = until(&mut events, "paused")?;
    let of_pause = all.iter().skip_while(|(_, event)| event["event"] != "pause_began");
    for (_, event) in of_pause {
        assert_eq!(event["from"]["who"], "phone", "{event}");
    }
    Ok(())
}
