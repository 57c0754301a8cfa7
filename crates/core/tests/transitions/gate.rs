//! Stories of the gate: everything stops, nothing starts, and what was stopped comes back.

use crate::script::Kind;
use crate::together::{decide, id, record, running, running_as, stop};
use glis_core::event::Spot;
use glis_core::gate::{GateSource, GateWish, Kept};
use glis_core::input::{Command, Exit, Hearing, Outcome, Sign, Taken};
use glis_core::leftover::Leftovers;
use glis_core::pause::{Moment, OnTimeout, PauseMode, PauseReason, PauseWish};
use glis_core::session::StopCause;
use glis_core::spec::Spec;
use glis_core::talk::{Ask, AskKind};
use glis_core::tree::Clearing;
use glis_core::{
    AskId, Effect, Event, Gate, GateCommand, GateEvent, House, Input, OpId, Phase, Refusal, Reply,
    SessionId, Status, Subject, TimerKey,
};

pub(crate) fn wish(mode: PauseMode) -> GateWish {
    let (reason, on_timeout) = (PauseReason::User, OnTimeout::Refuse);
    GateWish { mode, reason, on_timeout, clearing: None, removes: false, full: Vec::new() }
}

/// Asks something of the gate, and tells what has happened to it by that.
pub(crate) fn ask(house: &mut House, command: GateCommand) -> (Vec<GateEvent>, Reply) {
    feed(house, Input::Gate(command))
}

pub(crate) fn feed(house: &mut House, input: Input) -> (Vec<GateEvent>, Reply) {
    let decision = house.decide(input).unwrap_or_default();
    let reply = decision.reply.clone();
    let of_the_gate = |(subject, event): &(Subject, Event)| match (subject, event) {
        (Subject::House, Event::Gate(event)) => Some(event.clone()),
        (Subject::House | Subject::Session(_) | Subject::Plan(_), _) => None,
    };
    let events = decision.events.iter().filter_map(of_the_gate).collect();
    record(house, decision);
    (events, reply)
}

pub(crate) fn shut(house: &mut House, mode: PauseMode) -> OpId {
    ask(house, GateCommand::Shut(wish(mode)));
    house.gate().shut().map_or(OpId(u64::MAX), |shut| shut.op)
}

pub(crate) fn open(house: &mut House) -> Vec<GateEvent> {
    ask(house, GateCommand::Open(Kept::FromLog)).0
}

pub(crate) fn status(house: &House, name: &str) -> Status {
    house.session(&id(name)).map_or(Status::Archived, glis_core::Session::status)
}

pub(crate) fn under_way(house: &House, name: &str) -> OpId {
    let session = house.session(&id(name));
    session.and_then(glis_core::Session::operation).map_or(OpId(u64::MAX), |(op, _)| op)
}

/// Lets a pause that has come to its safe state go to its end.
pub(crate) fn pause_to_the_end(house: &mut House, name: &str) -> Result<(), Refusal> {
    let op = under_way(house, name);
    let generation = house.session(&id(name)).map_or(0, |session| session.agent.generation);
    let taken = |moment| Outcome::SnapshotTaken { op, moment, result: Ok(Taken::default()) };
    let exit = Exit { ordered: true, ..Exit::unseen(Leftovers::default()) };
    for outcome in [
        Outcome::TerminalCaptured { op, screen_at: 0 },
        taken(Moment::BeforeStop),
        Outcome::ProcessEnded { generation, exit },
        taken(Moment::AfterStop),
    ] {
        decide(house, Input::Outcome { session: id(name), outcome })?;
    }
    Ok(())
}

#[test]
fn an_empty_house_is_shut_and_opened_and_each_is_told_once() {
    let mut house = House::default();
    assert_eq!(house.gate().word(), "running");
    let op = shut(&mut house, PauseMode::Boundary);
    assert_eq!(house.gate().word(), "pausing");
    let (told, _) = feed(&mut house, Input::GateKept { op, result: Ok(()) });
    assert_eq!(told, [GateEvent::Paused { op, active: Vec::new() }]);
    assert_eq!(feed(&mut house, Input::GateKept { op, result: Ok(()) }).0, [], "never twice");
    let (told, reply) = ask(&mut house, GateCommand::Shut(wish(PauseMode::Force)));
    assert_eq!((told, reply), (vec![], Reply::Gate { op, already: true, each: Vec::new() }));
    let told = open(&mut house);
    assert!(matches!(told.as_slice(), [GateEvent::Opened { .. }, GateEvent::Resumed { .. }]));
    assert_eq!(open(&mut house), [], "it is open");
}

#[test]
fn what_runs_is_paused_and_comes_back_and_what_was_paused_before_stays() {
    let mut house = House::default();
    for (name, folder) in [("blue", "/a"), ("red", "/b")] {
        running(&mut house, name, folder).unwrap();
    }
    stop(&mut house, "red").unwrap();
    let op = shut(&mut house, PauseMode::Force);
    assert!(matches!(house.session(&id("blue")).unwrap().phase, Phase::Pausing(_)));
    pause_to_the_end(&mut house, "blue").unwrap();
    let Gate::Pausing(waits) = house.gate() else { panic!("{:?}", house.gate()) };
    assert_eq!(waits.set.iter().cloned().collect::<Vec<_>>(), [id("blue")]);
    feed(&mut house, Input::GateKept { op, result: Ok(()) });
    assert_eq!((house.gate().word(), status(&house, "red")), ("paused", Status::Suspended));
    let told = ask(&mut house, GateCommand::Open(Kept::Set(vec![id("blue"), id("red")]))).0;
    let [GateEvent::Opened { source, resumes, .. }] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!((*source, resumes.as_slice()), (GateSource::Snapshot, &[id("blue")][..]));
    assert_eq!(status(&house, "blue"), Status::Resuming);
    assert_eq!(status(&house, "red"), Status::Suspended);
}

/// Nobody is there to say how it goes on. What it was asking is for a person.
#[test]
fn whom_the_gate_cuts_off_is_told_to_go_on_unless_it_was_asking() {
    let ask = Ask::new(AskId("a".to_owned()), AskKind::Approval, "push?");
    let told = [None, Some(Sign::Asked(ask)), Some(Sign::TurnEnded)].map(|last| {
        let mut house = House::default();
        running_as(&mut house, "blue", Spec { in_place: true, ..Kind::Agent.spec() }).unwrap();
        let begun = [Sign::RefKnown("it".to_owned()), Sign::Ready, Sign::TurnBegan];
        for sign in begun.into_iter().chain(last) {
            let (session, spot) = (id("blue"), Spot::Stream(house.last_seq()));
            let hearing = Hearing::Live;
            decide(&mut house, Input::Sign { session, generation: 1, spot, hearing, sign })
                .unwrap();
        }
        let op = shut(&mut house, PauseMode::Force);
        pause_to_the_end(&mut house, "blue").unwrap();
        feed(&mut house, Input::GateKept { op, result: Ok(()) });
        open(&mut house);
        assert_eq!(status(&house, "blue"), Status::Resuming);
        house.session(&id("blue")).unwrap().talk.queue.front().map(|message| message.text.clone())
    });
    assert_eq!(told, [Some("[glis] Continue from where we left off.".to_owned()), None, None]);
}

#[test]
fn whom_the_file_lacks_is_not_resumed_and_a_missing_file_is_told() {
    for (kept, comes) in [(Kept::Set(Vec::new()), false), (Kept::Missing, true)] {
        let mut house = House::default();
        running(&mut house, "blue", "/a").unwrap();
        let op = shut(&mut house, PauseMode::Force);
        pause_to_the_end(&mut house, "blue").unwrap();
        feed(&mut house, Input::GateKept { op, result: Ok(()) });
        ask(&mut house, GateCommand::Open(kept));
        assert_eq!(status(&house, "blue") == Status::Resuming, comes);
    }
}

#[test]
fn at_a_shut_gate_nothing_starts_and_what_waited_starts_in_its_order() {
    let mut house = House::default();
    for (name, folder) in [("blue", "/a"), ("red", "/b")] {
        running(&mut house, name, folder).unwrap();
        stop(&mut house, name).unwrap();
    }
    let op = shut(&mut house, PauseMode::Boundary);
    for name in ["red", "blue"] {
        let send = Command::Send { session: id(name), text: "do".to_owned() };
        decide(&mut house, Input::Command(send)).unwrap();
        assert_eq!(status(&house, name), Status::Suspended);
    }
    let refused = |house: &mut House, command| {
        matches!(decide(house, Input::Command(command)), Err(Refusal::Shut { .. }))
    };
    let session = || id("red");
    assert!(refused(&mut house, Command::Resume { session: session(), prompt: None }));
    let restart = Command::Restart { session: session(), agent_ref: None, prompt: None };
    assert!(refused(&mut house, restart));
    assert!(refused(&mut house, Command::CancelPause { session: session() }));
    feed(&mut house, Input::GateKept { op, result: Ok(()) });
    let decision = house.decide(Input::Gate(GateCommand::Open(Kept::FromLog))).unwrap();
    let begun: Vec<SessionId> = decision
        .events
        .iter()
        .filter(|(_, event)| matches!(event, Event::StartBegan { .. }))
        .filter_map(|(subject, _)| subject.session().cloned())
        .collect();
    assert_eq!(begun, [id("red"), id("blue")]);
}

#[test]
fn a_stop_takes_back_what_waits_to_start() {
    let mut house = House::default();
    running(&mut house, "blue", "/a").unwrap();
    stop(&mut house, "blue").unwrap();
    shut(&mut house, PauseMode::Boundary);
    let send = Command::Send { session: id("blue"), text: "do".to_owned() };
    decide(&mut house, Input::Command(send)).unwrap();
    assert!(house.session(&id("blue")).unwrap().starts.deferred.is_some());
    decide(
        &mut house,
        Input::Command(Command::Stop { session: id("blue"), cause: StopCause::Asked }),
    )
    .unwrap();
    assert!(house.session(&id("blue")).unwrap().starts.deferred.is_none());
    open(&mut house);
    assert_eq!(status(&house, "blue"), Status::Suspended);
}

#[test]
fn the_time_for_all_names_who_is_stuck_once() {
    let mut house = House::default();
    running(&mut house, "blue", "/a").unwrap();
    let op = shut(&mut house, PauseMode::Boundary);
    let fired = || Input::TimerFired { subject: Subject::House, key: TimerKey::Gate(op) };
    assert_eq!(feed(&mut house, fired()).0, [GateEvent::Overdue { op, stuck: vec![id("blue")] }]);
    assert_eq!(feed(&mut house, fired()).0, []);
    assert_eq!(house.gate().word(), "pausing");
    let (told, _) = ask(&mut house, GateCommand::Shut(wish(PauseMode::Force)));
    assert!(matches!(told.as_slice(), [GateEvent::Hastened { mode: PauseMode::Force, .. }]));
    pause_to_the_end(&mut house, "blue").unwrap();
    assert_eq!(feed(&mut house, Input::GateKept { op, result: Ok(()) }).0.len(), 1);
}

#[test]
fn what_cannot_be_written_down_is_tried_again_and_a_daemon_goes_on_with_it() {
    let mut house = House::default();
    let op = shut(&mut house, PauseMode::Boundary);
    let why = "disk full".to_owned();
    let told = feed(&mut house, Input::GateKept { op, result: Err(why.clone().into()) }).0;
    assert_eq!(told, [GateEvent::NotKept { op, why: why.into() }]);
    let fired = Input::TimerFired { subject: Subject::House, key: TimerKey::Gate(op) };
    assert!(feed(&mut house, fired).0.contains(&GateEvent::Stopped { op }));
    let again = house.decide(Input::AllObserved).unwrap().effects;
    assert_eq!(again, [(Subject::House, Effect::KeepGate { op })]);
}

#[test]
fn whom_a_person_pauses_stays_paused_and_a_pause_that_fails_is_joined_later() {
    let mut house = House::default();
    running(&mut house, "blue", "/a").unwrap();
    let pause = |mode| Command::Pause {
        session: id("blue"),
        wish: PauseWish {
            mode,
            reason: PauseReason::User,
            on_timeout: OnTimeout::Refuse,
            clearing: Clearing::Keep,
        },
        until: None,
    };
    // A person's pause is under way when everything is paused, and is called off by a failure.
    decide(&mut house, Input::Command(pause(PauseMode::Force))).unwrap();
    shut(&mut house, PauseMode::Boundary);
    assert!(!house.gate().holds(&id("blue")));
    let (op, why) = (under_way(&house, "blue"), "no".to_owned());
    let what = glis_core::pause::Captured::Screen;
    let outcome = Outcome::CaptureFailed { op, what, why: why.into() };
    decide(&mut house, Input::Outcome { session: id("blue"), outcome }).unwrap();
    assert_eq!(house.session(&id("blue")).unwrap().phase, Phase::Live, "not at once again");
    let (told, _) = ask(&mut house, GateCommand::Shut(wish(PauseMode::Force)));
    assert!(told.contains(&GateEvent::Joined { session: id("blue") }), "{told:?}");
    // What a person pauses is the person's.
    let told = feed(&mut house, Input::Command(pause(PauseMode::Force))).0;
    assert_eq!(told, [GateEvent::Released { session: id("blue") }]);
    pause_to_the_end(&mut house, "blue").unwrap();
    open(&mut house);
    assert_eq!(status(&house, "blue"), Status::Paused);
}

#[test]
fn a_pause_for_a_time_is_not_the_gates_and_ends_only_once_that_is_open() {
    let mut house = House::default();
    running(&mut house, "blue", "/a").unwrap();
    shut(&mut house, PauseMode::Boundary);
    let pause = Command::Pause {
        session: id("blue"),
        wish: PauseWish {
            mode: PauseMode::Force,
            reason: PauseReason::User,
            on_timeout: OnTimeout::Refuse,
            clearing: Clearing::Keep,
        },
        until: Some(500),
    };
    let told = feed(&mut house, Input::Command(pause)).0;
    assert_eq!(told, [GateEvent::Released { session: id("blue") }]);
    pause_to_the_end(&mut house, "blue").unwrap();
    let key = TimerKey::ResumeAt(500);
    let fired = || Input::TimerFired { subject: id("blue").into(), key };
    let tried = house.decide(fired()).unwrap();
    assert!(tried.events.is_empty(), "{tried:?}");
    assert!(matches!(tried.effects.as_slice(), [(_, Effect::SetTimer { .. })]), "{tried:?}");
    open(&mut house);
    assert_eq!(status(&house, "blue"), Status::Paused);
    decide(&mut house, fired()).unwrap();
    assert_eq!(status(&house, "blue"), Status::Resuming);
}

#[test]
fn opened_before_everything_has_stopped_it_tells_neither_and_calls_pauses_off() {
    let mut house = House::default();
    running(&mut house, "blue", "/a").unwrap();
    shut(&mut house, PauseMode::Boundary);
    let told = open(&mut house);
    assert!(matches!(told.as_slice(), [GateEvent::Opened { .. }]), "{told:?}");
    assert_eq!(house.session(&id("blue")).unwrap().phase, Phase::Live);
    // Too late to be called off, it is paused first and then comes back.
    shut(&mut house, PauseMode::Force);
    open(&mut house);
    assert!(house.gate().holds(&id("blue")));
    pause_to_the_end(&mut house, "blue").unwrap();
    assert_eq!(status(&house, "blue"), Status::Resuming);
    // Shut again meanwhile, it is stopped once its start is over.
    shut(&mut house, PauseMode::Boundary);
    assert!(house.gate().holds(&id("blue")));
}

/// What becomes of a worktree is said by the request, else by the session, else by the configuration and
/// the disk; the user's own folder stays whatever they say.
#[test]
fn a_worktree_goes_where_it_is_said_and_a_folder_of_the_users_never() {
    use Clearing::{Always, IfPossible, Keep};
    let full = || vec![id("blue")];
    for (clearing, removes, full, own, in_place, wanted) in [
        (None, false, vec![], None, false, Keep),
        (None, true, vec![], None, false, IfPossible),
        (None, false, full(), None, false, IfPossible),
        (None, false, vec![id("red")], None, false, Keep),
        (None, true, full(), Some(false), false, Keep),
        (None, false, vec![], Some(true), false, IfPossible),
        (Some(Always), false, vec![], Some(false), false, Always),
        (Some(Keep), true, full(), Some(true), false, Keep),
        (Some(Always), true, full(), Some(true), true, Keep),
    ] {
        let mut house = House::default();
        let (repo_root, remove_worktree) = ("/a".to_owned(), own);
        let spec = Spec { repo_root, remove_worktree, in_place, ..Kind::Command.spec() };
        running_as(&mut house, "blue", spec).unwrap();
        let told = format!("{clearing:?} {removes} {full:?} {own:?} {in_place}");
        let wish = GateWish { clearing, removes, full, ..wish(PauseMode::Force) };
        let decision = house.decide(Input::Gate(GateCommand::Shut(wish))).unwrap();
        let begun = decision.events.iter().find_map(|(_, event)| {
            if let Event::PauseBegan { clearing, .. } = event { Some(*clearing) } else { None }
        });
        assert_eq!(begun, Some(wanted), "{told}");
    }
}
