//! The client of every face against a real daemon: events from a number on, and a holder's output
//! from an offset on.

use crate::support::house::{House, Outcome, eventually, program};
use crate::support::wreck::text_of;
use glis_client::{Connector, Fault, Heard, Holder, News, Quiet, Starter, Subscription};
use glis_core::pause::PauseMode;
use glis_wire::build::Build;
use glis_wire::call::{Face, Origin, Scope};
use glis_wire::client::{Action, Call, Greeting, NewSession, PROTOCOL, Request, Trouble};
use glis_wire::frame::encode_words;
use glis_wire::home::{Home, VARIABLE};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::Value;
use std::io::Write as _;
use std::os::unix::net::UnixStream;

/// Connections to the daemon of this house, as a program of the same build makes them.
pub(crate) fn connector(house: &House) -> Outcome<Connector> {
    house.ok(&["daemon", "start"])?;
    let status = house.json(&["daemon", "status", "--json"])?;
    let build: Build = serde_json::from_value(status)?;
    let place = house.home().to_string_lossy().into_owned();
    let found = Home::find(|name| (name == VARIABLE).then(|| place.clone()));
    let env = vec![(VARIABLE.to_owned(), place.clone())];
    let starter = Starter { program: program(), env };
    let origin = Origin::new(Face::Web, "phone");
    Ok(Connector { home: found.ok_or("no home")?, build, origin, scope: Scope::Manage, starter })
}

/// The next events, up to the first that is wanted, with their numbers.
pub(super) fn until(events: &mut Subscription, wanted: &str) -> Outcome<Vec<(u64, Value)>> {
    let mut seen = Vec::new();
    loop {
        let News::Event { seq, event } = events.next()? else {
            return Err("the log has another name".into());
        };
        let found = event["event"] == wanted;
        seen.push((seq, event));
        if found {
            return Ok(seen);
        }
    }
}

#[test]
fn events_go_on_over_the_death_of_the_daemon() -> Outcome {
    let house = House::new()?;
    let mut events = Subscription::new(connector(&house)?, None, 1);
    house.rehearsal("x")?;
    let mut seen = until(&mut events, "creation_ended")?;
    house.kill_daemon()?;
    // Nothing else starts a daemon here: the subscription does.
    let waits = std::thread::spawn(move || {
        until(&mut events, "message_taken").map(|seen| (events, seen)).map_err(|f| f.to_string())
    });
    house.turn("x", "say hello")?;
    let (events, more) = waits.join().map_err(|_| "the subscriber panicked")??;
    seen.extend(more);
    let numbers: Vec<u64> = seen.iter().map(|(seq, _)| *seq).collect();
    let all: Vec<u64> = (1..=numbers.len() as u64).collect();
    assert_eq!(numbers, all, "every event once, in order");
    assert_eq!(events.position().1, numbers.len() as u64 + 1);
    // Where one subscriber ends, another goes on another day.
    let (log_id, next) = events.position();
    let mut later = Subscription::new(connector(&house)?, log_id.map(ToOwned::to_owned), next);
    house.ok(&["stop", "x"])?;
    let rest = until(&mut later, "suspended")?;
    assert_eq!(rest.first().map(|(seq, _)| *seq), Some(next));
    Ok(())
}

#[test]
fn events_of_another_log_are_read_anew() -> Outcome {
    let house = House::new()?;
    let connector = connector(&house)?;
    house.rehearsal("x")?;
    let known = connector.connect(&mut Quiet)?.log_id().map(ToOwned::to_owned);
    let mut same = Subscription::new(connector.clone(), known.clone(), 2);
    assert!(matches!(same.next()?, News::Event { seq: 2, .. }));
    let mut other = Subscription::new(connector, Some("another".to_owned()), 2);
    assert_eq!(other.next()?, News::Anew { log_id: known.ok_or("no log id")? });
    assert!(matches!(other.next()?, News::Event { seq: 1, .. }));
    Ok(())
}

#[test]
fn a_holder_is_followed_from_an_offset() -> Outcome {
    let house = House::new()?;
    let shown = house.command("x", &["sh", "-c", "printf begun; read line; printf ended; cat"])?;
    let dir = house.home().join("sessions").join(text_of(&shown, "id")?);
    let mut holder = Holder::follow(&dir, 2)?;
    assert_eq!(output(&mut holder, "gun")?, (2, "gun".to_owned()));
    // The bytes are the holder's: a daemon that dies interrupts no one who looks.
    house.kill_daemon()?;
    holder.write(b"\n");
    let (_, rest) = output(&mut holder, "ended")?;
    assert!(rest.trim_start().ends_with("ended"), "{rest:?}");
    // A connection that knows how far it was shows nothing twice.
    let mut again = Holder::follow(&dir, 5)?;
    let (at, after) = output(&mut again, "ended")?;
    assert_eq!((at, after.contains("begun")), (5, false));
    Ok(())
}

/// Output up to a text, and the offset of its first byte.
fn output(holder: &mut Holder, until: &str) -> Outcome<(u64, String)> {
    let (mut first, mut all) = (None, Vec::new());
    loop {
        holder.send()?;
        let patience = Timespec { tv_sec: 30, tv_nsec: 0 };
        let came = poll(&mut [PollFd::new(&*holder, PollFlags::IN)], Some(&patience))?;
        if came == 0 || !holder.read()? {
            return Err(format!("only {:?}", String::from_utf8_lossy(&all)).into());
        }
        loop {
            match holder.hear()? {
                Heard::Nothing => break,
                Heard::Output { at, bytes } => {
                    first.get_or_insert(at);
                    all.extend_from_slice(bytes);
                }
                Heard::Resized { .. } => {}
                Heard::Ended(record) => return Err(format!("{record:?}").into()),
            }
        }
        let text = String::from_utf8_lossy(&all);
        if text.ends_with(until) {
            return Ok((first.unwrap_or_default(), text.into_owned()));
        }
    }
}

pub(super) fn act(action: Action) -> Request {
    Request::Act { session: "x".to_owned(), action }
}

/// What a session was told by a person, in order.
fn told(house: &House) -> Outcome<Vec<String>> {
    let said = house.talk("x")?.into_iter().filter(|(voice, _)| voice == "user");
    Ok(said.map(|(_, text)| text).collect())
}

#[test]
fn a_call_that_is_repeated_under_its_key_is_carried_out_once() -> Outcome {
    let house = House::new()?;
    let connector = connector(&house)?;
    house.rehearsal("x")?;
    let send = |text: &str| act(Action::Send { text: text.to_owned(), files: Vec::new() });
    let mut client = connector.connect(&mut Quiet)?;
    let first = client.name_next("update 1").call(send("say one"))?;
    assert_eq!(client.name_next("update 1").call(send("say one"))?, first);
    house.kill_daemon()?;
    let mut client = connector.connect(&mut Quiet)?;
    assert_eq!(client.name_next("update 1").call(send("say one"))?, first);
    let other = client.name_next("update 1").call(send("say two"));
    assert!(matches!(other, Err(Fault::Trouble { kind: Trouble::BadInput, .. })), "{other:?}");
    // What was refused stays refused under its key, whatever has become of it since.
    let pause = || Action::Pause {
        mode: Some(PauseMode::Boundary),
        on_timeout: None,
        clearing: None,
        for_secs: None,
    };
    house.until("x", "idle,suspended")?;
    client.name_next("update 2").call(act(pause()))?;
    house.ok(&["resume", "x"])?;
    client.name_next("update 2").call(act(pause()))?;
    assert_ne!(house.show("x")?["status"], "paused");
    assert_eq!(told(&house)?, ["say one"]);
    Ok(())
}

#[test]
fn a_caller_does_no_more_than_its_scope() -> Outcome {
    let house = House::new()?;
    let mut connector = connector(&house)?;
    house.rehearsal("x")?;
    let mut cannot = |scope, request| -> Outcome<bool> {
        connector.scope = scope;
        match connector.connect(&mut Quiet)?.call(request) {
            Err(Fault::Trouble { kind: Trouble::NotAllowed, .. }) => Ok(true),
            Ok(_) => Ok(false),
            Err(fault) => Err(fault.into()),
        }
    };
    assert!(!cannot(Scope::Watch, Request::List { all: true })?);
    assert!(cannot(Scope::Watch, act(send_words("say one")))?);
    assert!(!cannot(Scope::Send, act(send_words("say two")))?);
    assert!(cannot(Scope::Send, act(Action::Stop))?);
    assert!(cannot(Scope::Answer, act(Action::Stop))?);
    house.until("x", "idle")?;
    assert!(!cannot(Scope::Manage, act(Action::Stop))?);
    assert_eq!(told(&house)?, ["say two"]);
    Ok(())
}

/// A button may be pressed late, when another question stands in its place.
#[test]
fn a_service_answers_only_what_it_names() -> Outcome {
    let house = House::new()?;
    let mut connector = connector(&house)?;
    house.rehearsal("x")?;
    house.ok(&["send", "x", "question Which colour?"])?;
    let asks = house.until("x", "waiting")?;
    let answer =
        |ask: Option<String>| act(Action::Answer { ask, answer: "blue".to_owned(), reason: None });
    for face in [Face::Tui, Face::Web, Face::Chat] {
        connector.origin.face = face;
        let refused = connector.connect(&mut Quiet)?.call(answer(None));
        assert!(matches!(refused, Err(Fault::Trouble { kind: Trouble::BadInput, .. })), "{face:?}");
    }
    assert_eq!(house.show("x")?["waiting_for"], asks["waiting_for"]);
    let named = text_of(&asks["waiting_for"], "request")?;
    connector.connect(&mut Quiet)?.call(answer(Some(named)))?;
    house.until("x", "idle").map(drop)
}

/// Also where a service sends its environment all the same.
#[test]
fn the_environment_of_a_service_is_not_the_agents() -> Outcome {
    let house = House::new()?;
    connector(&house)?;
    let new = NewSession {
        name: Some("x".to_owned()),
        agent: Some("command".to_owned()),
        repo: house.repo().to_string_lossy().into_owned(),
        argv: ["sh", "-c", "echo [$TOKEN_OF_MINE]; cat"].map(ToOwned::to_owned).to_vec(),
        ..NewSession::default()
    };
    let call = Call {
        request: Request::New(Box::new(new)),
        env: Some(vec![("TOKEN_OF_MINE".to_owned(), "secret".to_owned())]),
        limits: Vec::new(),
        key: None,
        from: Origin::new(Face::Chat, "42"),
        scope: Scope::Manage,
    };
    let mut stream = UnixStream::connect(house.home().join("daemon.sock"))?;
    let build = Build { version: String::new(), build: 0 };
    stream.write_all(&encode_words(&Greeting { protocol: PROTOCOL, build, log_id: None }))?;
    stream.write_all(&encode_words(&call))?;
    let mut events = house.follow(1)?;
    events.until(|event| event["event"] == "start_ended")?;
    eventually("the command has printed", || {
        house.ok(&["output", "x"]).is_ok_and(|text| text.contains("[]"))
    })
}

fn send_words(text: &str) -> Action {
    Action::Send { text: text.to_owned(), files: Vec::new() }
}
