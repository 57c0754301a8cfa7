//! Stories of several sessions in one decision.

use crate::script::Kind;
use glis_core::input::{Checked, Command, Outcome};
use glis_core::pause::{OnTimeout, PauseMode, PauseReason, PauseWish};
use glis_core::session::{Process, StopCause};
use glis_core::spec::Spec;
use glis_core::tree::Clearing;
use glis_core::{
    Decision, Event, House, Input, OpId, Phase, Recorded, Refusal, Reply, SessionId, Status,
};

pub(crate) fn id(name: &str) -> SessionId {
    SessionId(name.to_owned())
}

pub(crate) fn record(house: &mut House, decision: Decision) {
    for (subject, event) in decision.events {
        house.apply(&Recorded::new(house.last_seq() + 1, 0, subject, event));
    }
}

pub(crate) fn decide(house: &mut House, input: Input) -> Result<(), Refusal> {
    let decision = house.decide(input)?;
    record(house, decision);
    Ok(())
}

/// A command that runs, in a folder of the user's own.
pub(crate) fn running(house: &mut House, name: &str, folder: &str) -> Result<(), Refusal> {
    let spec = Spec { in_place: true, repo_root: folder.to_owned(), ..Kind::Command.spec() };
    running_as(house, name, spec)
}

/// A session that runs.
pub(crate) fn running_as(house: &mut House, name: &str, spec: Spec) -> Result<(), Refusal> {
    let folder = spec.repo_root.clone();
    let (session, spec) = (id(name), Box::new(spec));
    let name = name.to_owned();
    decide(
        house,
        Input::Command(Command::New { id: session.clone(), name, spec, agent_ref: None }),
    )?;
    let made = |op| Outcome::WorktreeMade {
        op,
        worktree: folder.clone(),
        branch: None,
        notes: Vec::new(),
    };
    let process = Process { pid: 1, start_ticks: 1, boot_id: String::new() };
    let checked = |op| Outcome::StartChecked { op, result: Ok(Checked::default()) };
    let started =
        |op| Outcome::ProcessStarted { op, generation: 1, process: process.clone(), began_at: 0 };
    let steps: [&dyn Fn(OpId) -> Outcome; 3] = [&made, &checked, &started];
    for step in steps {
        let under_way = house.session(&session).and_then(glis_core::Session::operation);
        let op = under_way.map_or(OpId(999), |(op, _)| op);
        decide(house, Input::Outcome { session: session.clone(), outcome: step(op) })?;
    }
    Ok(())
}

pub(crate) fn stop(house: &mut House, name: &str) -> Result<(), Refusal> {
    decide(house, Input::Command(Command::Stop { session: id(name), cause: StopCause::Asked }))?;
    let exit = glis_core::input::Exit::unseen(glis_core::leftover::Leftovers::default());
    let outcome = Outcome::ProcessEnded { generation: 1, exit };
    decide(house, Input::Outcome { session: id(name), outcome })
}

#[test]
fn several_are_paused_in_one_decision_and_one_that_cannot_be_keeps_no_other() {
    let mut house = House::default();
    running(&mut house, "blue", "/a").unwrap();
    running(&mut house, "red", "/b").unwrap();
    let pause = |name: &str| Command::Pause {
        session: id(name),
        wish: PauseWish {
            mode: PauseMode::Boundary,
            reason: PauseReason::Global,
            on_timeout: OnTimeout::Refuse,
            clearing: Clearing::Keep,
        },
        until: None,
    };
    let all = ["blue", "green", "red"].map(pause);
    let (decision, replies) = house.decide_together(all.to_vec());
    let begun = decision.events.iter().filter(|(_, e)| matches!(e, Event::PauseBegan { .. }));
    assert_eq!(begun.count(), 2);
    let [Ok(Reply::Pending(first)), Err(Refusal::NoSuchSession { .. }), Ok(Reply::Pending(last))] =
        replies.as_slice()
    else {
        panic!("{replies:?}");
    };
    assert_ne!(first, last, "each is an operation of its own");
    record(&mut house, decision);
    for name in ["blue", "red"] {
        assert!(matches!(house.session(&id(name)).unwrap().phase, Phase::Pausing(_)), "{name}");
    }
}

#[test]
fn a_decision_sees_what_it_has_already_decided() {
    let mut house = House::default();
    running(&mut house, "blue", "/a").unwrap();
    stop(&mut house, "blue").unwrap();
    running(&mut house, "red", "/a").unwrap();
    stop(&mut house, "red").unwrap();
    let resume = |name: &str| Command::Resume { session: id(name), prompt: None };
    let (decision, replies) = house.decide_together(vec![resume("blue"), resume("red")]);
    assert!(matches!(replies.as_slice(), [Ok(Reply::Pending(_)), Err(Refusal::PlaceTaken { .. })]));
    record(&mut house, decision);
    assert_eq!(house.session(&id("red")).unwrap().status(), Status::Suspended);
}
