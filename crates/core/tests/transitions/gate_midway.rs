//! Stories of the gate in the middle of things: asked again, too late, by a new daemon.

use crate::gate::{ask, feed, open, pause_to_the_end, shut, status, under_way, wish};
use crate::script::Kind;
use crate::together::{decide, id, record, running, stop};
use glis_core::gate::{GateSource, GateStep, GateWish, Kept};
use glis_core::input::{Command, Outcome};
use glis_core::pause::{Captured, OnTimeout, PauseMode, PauseReason, PauseWish};
use glis_core::reason::Why;
use glis_core::tree::Clearing;
use glis_core::{
    Effect, Event, Gate, GateCommand, GateEvent, House, Input, OpId, Phase, Recorded, Refusal,
    Reply, Status, Subject, TimerKey,
};

fn house_of(names: &[&str]) -> Result<House, Refusal> {
    let mut house = House::default();
    for name in names {
        running(&mut house, name, &format!("/{name}"))?;
    }
    Ok(house)
}

/// A house in which everything is paused.
fn all_paused(names: &[&str]) -> Result<(House, OpId), Refusal> {
    let mut house = house_of(names)?;
    let op = shut(&mut house, PauseMode::Force);
    for name in names {
        pause_to_the_end(&mut house, name)?;
    }
    feed(&mut house, Input::GateKept { op, result: Ok(()) });
    assert_eq!(house.gate().word(), "paused");
    Ok((house, op))
}

/// A person pauses one of them.
fn pause(name: &str) -> Command {
    Command::Pause {
        session: id(name),
        wish: PauseWish {
            mode: PauseMode::Force,
            reason: PauseReason::User,
            on_timeout: OnTimeout::Refuse,
            clearing: Clearing::Keep,
        },
        until: None,
    }
}

fn fires(op: OpId) -> Input {
    Input::TimerFired { subject: Subject::House, key: TimerKey::Gate(op) }
}

/// What the house itself has done after a new daemon has seen everything.
fn effects_of_the_house(house: &House) -> Vec<Effect> {
    let effects = house.decide(Input::AllObserved).unwrap_or_default().effects;
    effects.into_iter().filter(|(who, _)| *who == Subject::House).map(|(_, what)| what).collect()
}

#[test]
fn asked_again_it_becomes_more_urgent_and_never_less() {
    let mut house = house_of(&["blue"]).unwrap();
    let op = shut(&mut house, PauseMode::Interrupt);
    let mut again = |mode, on_timeout| {
        let told = ask(&mut house, GateCommand::Shut(GateWish { on_timeout, ..wish(mode) })).0;
        let hastened = told.iter().find_map(|event| {
            if let GateEvent::Hastened { mode, on_timeout, .. } = event {
                Some((*mode, *on_timeout))
            } else {
                None
            }
        });
        hastened.unwrap()
    };
    let refuse = OnTimeout::Refuse;
    assert_eq!(again(PauseMode::Boundary, refuse), (PauseMode::Interrupt, refuse));
    assert_eq!(
        again(PauseMode::Interrupt, OnTimeout::Force),
        (PauseMode::Interrupt, OnTimeout::Force)
    );
    assert_eq!(again(PauseMode::Boundary, refuse), (PauseMode::Interrupt, OnTimeout::Force));
    assert_eq!(house.gate().shut().map(|shut| shut.op), Some(op), "it is the same pause");
}

#[test]
fn shut_while_it_comes_back_it_tells_first_that_it_was_resumed() {
    let (mut house, _) = all_paused(&["blue", "red"]).unwrap();
    open(&mut house);
    assert!(house.gate().holds(&id("blue")));
    let told = ask(&mut house, GateCommand::Shut(wish(PauseMode::Force))).0;
    let [GateEvent::Resumed { .. }, GateEvent::Shut { stops, .. }, ..] = told.as_slice() else {
        panic!("{told:?}");
    };
    assert_eq!(stops.as_slice(), [id("blue"), id("red")], "both were on their way back");
}

/// A list that lies there from before says nothing of what is only being stopped.
#[test]
fn opened_while_it_is_being_shut_no_list_counts() {
    let mut house = house_of(&["blue"]).unwrap();
    shut(&mut house, PauseMode::Boundary);
    let (_, reply) = ask(&mut house, GateCommand::Open(Kept::Set(std::iter::empty().collect())));
    let Reply::Gate { each, .. } = reply else { panic!("{reply:?}") };
    assert_eq!(each, [(id("blue"), Ok(Reply::Done))]);
    assert_eq!(status(&house, "blue"), Status::Busy, "its pause is called off");
}

/// What has not stopped when it was interrupted is not interrupted again and again.
#[test]
fn an_agent_that_heeds_no_interrupt_is_waited_for() {
    let mut house = house_of(&["blue"]).unwrap();
    shut(&mut house, PauseMode::Interrupt);
    let op = under_way(&house, "blue");
    let looked = Outcome::SaveChecked { op, result: Ok(()) };
    decide(&mut house, Input::Outcome { session: id("blue"), outcome: looked }).unwrap();
    let subject = Subject::Session(id("blue"));
    let late = house.decide(Input::TimerFired { subject, key: TimerKey::SafeState(op) }).unwrap();
    let modes: Vec<_> = late.events.iter().filter_map(|(_, event)| began(event)).collect();
    assert_eq!(modes, [PauseMode::Boundary], "{late:?}");
}

/// While its turn is being interrupted, its pause can still be called off.
#[test]
fn opened_while_a_turn_is_interrupted_it_calls_that_off() {
    let mut house = house_of(&["blue"]).unwrap();
    shut(&mut house, PauseMode::Interrupt);
    let looked = Outcome::SaveChecked { op: under_way(&house, "blue"), result: Ok(()) };
    decide(&mut house, Input::Outcome { session: id("blue"), outcome: looked }).unwrap();
    open(&mut house);
    assert_eq!(status(&house, "blue"), Status::Busy);
}

/// A list that could not be written is tried again, and when is told to a timer.
#[test]
fn what_could_not_be_written_has_a_time_to_be_tried_again() {
    let mut house = house_of(&["blue"]).unwrap();
    let op = shut(&mut house, PauseMode::Force);
    pause_to_the_end(&mut house, "blue").unwrap();
    let full = Input::GateKept { op, result: Err(Why::FoundRunning) };
    let failed = house.decide(full).unwrap();
    let timer = |effect: &Effect| matches!(effect, Effect::SetTimer { key: TimerKey::Gate(_), .. });
    assert!(failed.effects.iter().any(|(_, effect)| timer(effect)), "{failed:?}");
}

/// A start that is called off leaves a session at rest, which is on record as paused before all is.
#[test]
fn what_never_began_is_paused_before_everything_is() {
    let mut house = house_of(&["blue"]).unwrap();
    stop(&mut house, "blue").unwrap();
    let resume = Command::Resume { session: id("blue"), prompt: None };
    decide(&mut house, Input::Command(resume)).unwrap();
    shut(&mut house, PauseMode::Force);
    assert_eq!(status(&house, "blue"), Status::Pausing);
    assert!(!house.session(&id("blue")).unwrap().is_at_work(), "no process of it runs");
    assert_eq!(house.gate().shut().map(|shut| shut.step), Some(GateStep::Stopping));
}

fn began(event: &Event) -> Option<PauseMode> {
    if let Event::PauseBegan { mode, .. } = event { Some(*mode) } else { None }
}

/// Whom it stops: also one between its end and its fresh start, and one that was to come back once its
/// pause is over. A worktree that is being made is nothing to be brought back.
#[test]
fn it_stops_what_is_about_to_run_and_nothing_that_never_did() {
    let mut house = house_of(&["blue", "red"]).unwrap();
    let restart = Command::Restart { session: id("blue"), agent_ref: None, prompt: None };
    decide(&mut house, Input::Command(restart)).unwrap();
    let spec = Box::new(Kind::Agent.spec());
    let (session, name) = (id("green"), "green".to_owned());
    let new = Command::New { id: session, name, spec, agent_ref: None };
    decide(&mut house, Input::Command(new)).unwrap();
    let stops = |house: &mut House| {
        let told = ask(house, GateCommand::Shut(wish(PauseMode::Force))).0;
        let stops = told.iter().find_map(|event| {
            if let GateEvent::Shut { stops, .. } = event { Some(stops.clone()) } else { None }
        });
        stops.unwrap()
    };
    assert_eq!(stops(&mut house), [id("blue"), id("red")]);
    // By now the pause of the second one cannot be called off: it comes back when it is over.
    let op = under_way(&house, "red");
    let captured = Outcome::TerminalCaptured { op, screen_at: 0 };
    decide(&mut house, Input::Outcome { session: id("red"), outcome: captured }).unwrap();
    open(&mut house);
    assert_eq!(status(&house, "red"), Status::Pausing);
    assert!(house.gate().holds(&id("red")));
    assert!(stops(&mut house).contains(&id("red")), "it was on its way back");
}

#[test]
fn with_an_open_gate_whom_a_person_paused_stays_paused() {
    let (mut house, _) = all_paused(&["blue"]).unwrap();
    open(&mut house);
    running(&mut house, "red", "/red").unwrap();
    decide(&mut house, Input::Command(pause("red"))).unwrap();
    pause_to_the_end(&mut house, "red").unwrap();
    let (told, reply) = ask(&mut house, GateCommand::Open(Kept::Missing));
    assert_eq!(told, [], "it is open");
    let Reply::Gate { already: true, each, .. } = reply else { panic!("{reply:?}") };
    assert_eq!(each, []);
    assert_eq!(status(&house, "red"), Status::Paused);
}

#[test]
fn what_belongs_to_a_former_pause_changes_nothing() {
    let (mut house, former) = all_paused(&["blue"]).unwrap();
    assert_eq!(feed(&mut house, fires(former)).0, [], "everything has stopped");
    open(&mut house);
    let op = shut(&mut house, PauseMode::Boundary);
    assert_ne!(op, former);
    assert_eq!(feed(&mut house, fires(former)).0, []);
    assert_eq!(feed(&mut house, Input::GateKept { op: former, result: Ok(()) }).0, []);
    // Nor is it kept while agents still come to their boundaries.
    assert_eq!(feed(&mut house, Input::GateKept { op, result: Ok(()) }).0, []);
    assert_eq!(house.gate().word(), "pausing");
}

#[test]
fn a_new_daemon_goes_on_with_the_gate_as_it_finds_it() {
    let house = House::default();
    let [Effect::DropGate { source: GateSource::Snapshot, .. }] = &*effects_of_the_house(&house)
    else {
        panic!("{:?}", effects_of_the_house(&house));
    };
    let mut house = house_of(&["blue"]).unwrap();
    let op = shut(&mut house, PauseMode::Boundary);
    let waits = |effect: &Effect| matches!(effect, Effect::SetTimer { key: TimerKey::Gate(_), .. });
    assert!(effects_of_the_house(&house).iter().any(waits), "its time begins anew");
    feed(&mut house, fires(op));
    assert!(!effects_of_the_house(&house).iter().any(waits), "its time was over before");
    let (house, _) = all_paused(&["blue"]).unwrap();
    assert_eq!(effects_of_the_house(&house), []);
}

/// The log has lost its end: it says that nothing runs, and something does.
#[test]
fn an_agent_that_is_found_running_is_stopped_before_anything_is_kept() {
    let mut house = house_of(&["blue"]).unwrap();
    let op = OpId(700);
    let shut = GateEvent::Shut { op, wish: wish(PauseMode::Force), stops: Vec::new() };
    for event in [shut, GateEvent::Stopped { op }] {
        let seq = house.last_seq() + 1;
        house.apply(&Recorded::new(seq, 0, Subject::House, Event::Gate(event)));
    }
    assert!(matches!(house.gate(), Gate::Pausing(shut) if shut.step == GateStep::Keeping));
    let (told, _) = feed(&mut house, Input::AllObserved);
    let why = Why::FoundRunning;
    let joined = GateEvent::Joined { session: id("blue") };
    assert_eq!(told, [GateEvent::NotKept { op, why }, joined]);
    assert!(matches!(house.session(&id("blue")).unwrap().phase, Phase::Pausing(_)));
}

/// Whom a person takes out of it is written down once more, so that the file does not bring it back.
#[test]
fn the_file_is_kept_again_when_a_person_takes_one_out() {
    let (mut house, op) = all_paused(&["blue", "red"]).unwrap();
    let decision = house.decide(Input::Command(pause("blue"))).unwrap();
    assert!(decision.effects.contains(&(Subject::House, Effect::KeepGate { op })), "{decision:?}");
    record(&mut house, decision);
    assert!(!house.gate().holds(&id("blue")) && house.gate().holds(&id("red")));
    open(&mut house);
    assert_eq!((status(&house, "blue"), status(&house, "red")), (Status::Paused, Status::Resuming));
}

#[test]
fn a_pause_that_fails_again_is_tried_at_the_end_of_a_turn_and_not_before() {
    let mut house = house_of(&["blue"]).unwrap();
    shut(&mut house, PauseMode::Force);
    let fail = |house: &mut House| {
        let (op, what) = (under_way(house, "blue"), Captured::Screen);
        let outcome = Outcome::CaptureFailed { op, what, why: "no".to_owned().into() };
        decide(house, Input::Outcome { session: id("blue"), outcome }).unwrap();
    };
    fail(&mut house);
    let live = |house: &House| house.session(&id("blue")).unwrap().phase == Phase::Live;
    assert!(live(&house), "not at once again");
    assert!(house.gate().shut().unwrap().failed.contains(&id("blue")));
    feed(&mut house, Input::AllObserved);
    assert!(live(&house), "nor because something else has happened");
    ask(&mut house, GateCommand::Shut(wish(PauseMode::Force)));
    assert!(!live(&house), "a person may ask again");
    assert!(house.gate().shut().unwrap().failed.is_empty());
}
