//! Stories of a house in which only so many agents run at once.

use crate::together::{decide, id, record, running, stop};
use glis_core::gate::{GateWish, Kept};
use glis_core::input::{Command, IfRunning, Outcome, Taken};
use glis_core::limits::{Limits, Over};
use glis_core::pause::{Moment, OnTimeout, PauseMode, PauseReason, PauseWish};
use glis_core::session::{Deferral, StopCause};
use glis_core::tree::Clearing;
use glis_core::{
    Event, GateCommand, House, Input, OpId, Refusal, Reply, Session, SessionId, Status,
};

fn limit(house: &mut House, live: u32, over: Over) -> Vec<SessionId> {
    begun(house, Input::Limits(Limits { live, over, ..Limits::default() }))
}

/// Who starts by this.
fn begun(house: &mut House, input: Input) -> Vec<SessionId> {
    let decision = house.decide(input).unwrap_or_default();
    let starts = decision.events.iter().filter(|(_, e)| matches!(e, Event::StartBegan { .. }));
    let ids = starts.filter_map(|(subject, _)| subject.session().cloned()).collect();
    record(house, decision);
    ids
}

/// A house with these sessions; the first of them runs, and no other may.
fn full(others: &[&str], over: Over) -> Result<House, Refusal> {
    let mut house = House::default();
    for name in others {
        running(&mut house, name, name)?;
        stop(&mut house, name)?;
    }
    running(&mut house, "busy", "busy")?;
    limit(&mut house, 1, over);
    Ok(house)
}

fn resume(name: &str) -> Command {
    Command::Resume { session: id(name), prompt: None }
}

fn send(name: &str) -> Command {
    Command::Send { session: id(name), text: "do".to_owned() }
}

fn ask(house: &mut House, command: Command) -> Result<Reply, Refusal> {
    let decision = house.decide(Input::Command(command))?;
    let reply = decision.reply.clone();
    record(house, decision);
    Ok(reply)
}

fn waits(house: &House, name: &str) -> Option<Deferral> {
    house
        .session(&id(name))
        .and_then(|session| session.starts.deferred)
        .map(|deferred| deferred.why)
}

fn status(house: &House, name: &str) -> Option<Status> {
    house.session(&id(name)).map(Session::status)
}

fn pause(name: &str) -> Command {
    Command::Pause {
        session: id(name),
        wish: PauseWish {
            mode: PauseMode::Force,
            reason: PauseReason::User,
            on_timeout: OnTimeout::Force,
            clearing: Clearing::Keep,
        },
        until: None,
    }
}

/// A pause of what is at rest comes to its end.
fn paused(house: &mut House, name: &str) -> Result<(), Refusal> {
    ask(house, pause(name))?;
    saved(house, name)
}

/// A pause of what is at rest keeps its screen and saves its worktree.
fn saved(house: &mut House, name: &str) -> Result<(), Refusal> {
    let op = house.session(&id(name)).and_then(Session::operation).map_or(OpId(999), |(op, _)| op);
    let taken =
        Outcome::SnapshotTaken { op, moment: Moment::BeforeStop, result: Ok(Taken::default()) };
    for outcome in [Outcome::TerminalCaptured { op, screen_at: 0 }, taken] {
        decide(house, Input::Outcome { session: id(name), outcome })?;
    }
    Ok(())
}

#[test]
fn beyond_the_limit_starts_wait_and_begin_in_their_order() {
    let mut house = full(&["a", "b", "c"], Over::Queue).unwrap();
    assert_eq!(ask(&mut house, resume("c")), Ok(Reply::Deferred));
    assert!(matches!(ask(&mut house, send("a")), Ok(Reply::Queued { .. })));
    // A new one comes behind them, once its worktree is there.
    assert!(running(&mut house, "d", "/d").is_ok());
    for (name, so) in [("c", Status::Suspended), ("a", Status::Suspended), ("d", Status::Created)] {
        assert_eq!((status(&house, name), waits(&house, name)), (Some(so), Some(Deferral::Limit)));
    }
    // Asked for again it keeps its turn.
    assert_eq!(ask(&mut house, resume("c")), Ok(Reply::Deferred));
    stop(&mut house, "busy").unwrap();
    assert_eq!((waits(&house, "c"), waits(&house, "a")), (None, Some(Deferral::Limit)));
    assert_eq!(limit(&mut house, 2, Over::Queue), [id("a")]);
    assert_eq!(limit(&mut house, 0, Over::Queue), [id("d")]);
}

#[test]
fn where_it_is_refused_the_refusal_names_who_has_the_places() {
    let mut house = full(&["a"], Over::Refuse).unwrap();
    let full = Refusal::Full { session: "a".to_owned(), live: 1, holders: vec!["busy".to_owned()] };
    assert_eq!(ask(&mut house, resume("a")), Err(full.clone()));
    assert_eq!(ask(&mut house, send("a")), Err(full));
    assert_eq!(house.session(&id("a")).map(|session| session.talk.queue.len()), Some(0));
    assert!(matches!(running(&mut house, "d", "/d"), Err(Refusal::Full { .. })));
    assert!(house.session(&id("d")).is_none());
    // What runs is told things as ever.
    assert!(matches!(ask(&mut house, send("busy")), Ok(Reply::Queued { .. })));
}

#[test]
fn of_two_that_come_at_once_for_one_place_one_is_refused() {
    let mut house = House::default();
    limit(&mut house, 1, Over::Refuse);
    let new = |name: &str| {
        let spec = Box::new(crate::script::Kind::Command.spec());
        Command::New { id: id(name), name: name.to_owned(), spec, agent_ref: None }
    };
    assert!(ask(&mut house, new("a")).is_ok());
    assert!(
        matches!(ask(&mut house, new("b")), Err(Refusal::Full { holders, .. }) if holders == ["a"])
    );
}

#[test]
fn a_restart_keeps_its_own_place_and_never_waits_for_one() {
    for over in [Over::Queue, Over::Refuse] {
        let mut house = full(&["a"], over).unwrap();
        let restart =
            |name: &str| Command::Restart { session: id(name), agent_ref: None, prompt: None };
        assert!(matches!(ask(&mut house, restart("a")), Err(Refusal::Full { .. })));
        assert!(ask(&mut house, restart("busy")).is_ok());
    }
}

#[test]
fn what_waits_can_be_withdrawn() {
    let remove = Command::Remove { session: id("a"), running: IfRunning::Refuse };
    for withdraw in
        [Command::Stop { session: id("a"), cause: StopCause::Asked }, pause("a"), remove]
    {
        let mut house = full(&["a"], Over::Queue).unwrap();
        ask(&mut house, resume("a")).unwrap();
        ask(&mut house, withdraw.clone()).unwrap();
        assert_eq!(waits(&house, "a"), None, "{withdraw:?}");
    }
    // Also where it is paused, and stays so.
    let mut house = full(&["a"], Over::Queue).unwrap();
    paused(&mut house, "a").unwrap();
    assert_eq!(ask(&mut house, resume("a")), Ok(Reply::Deferred));
    assert_eq!(
        (status(&house, "a"), waits(&house, "a")),
        (Some(Status::Paused), Some(Deferral::Limit))
    );
    assert_eq!(ask(&mut house, pause("a")), Ok(Reply::Done));
    assert_eq!(ask(&mut house, pause("a")), Ok(Reply::Already));
    stop(&mut house, "busy").unwrap();
    assert_eq!(status(&house, "a"), Some(Status::Paused));
}

#[test]
fn what_the_gate_has_stopped_comes_back_whatever_the_limit() {
    let mut house = House::default();
    for name in ["a", "b"] {
        running(&mut house, name, name).unwrap();
    }
    running(&mut house, "c", "/c").unwrap();
    stop(&mut house, "c").unwrap();
    let wish = GateWish {
        mode: PauseMode::Boundary,
        reason: PauseReason::User,
        on_timeout: OnTimeout::Refuse,
        clearing: None,
        removes: false,
        full: Vec::new(),
    };
    decide(&mut house, Input::Gate(GateCommand::Shut(wish.clone()))).unwrap();
    ask(&mut house, send("c")).unwrap();
    assert_eq!(waits(&house, "c"), Some(Deferral::Gate));
    limit(&mut house, 1, Over::Refuse);
    decide(&mut house, Input::Gate(GateCommand::Open(Kept::FromLog))).unwrap();
    for name in ["a", "b"] {
        assert!(house.session(&id(name)).is_some_and(Session::is_at_work), "{name}");
    }
    // It did not run before, and it is told what it waits for from now on.
    assert_eq!(waits(&house, "c"), Some(Deferral::Limit));
    decide(&mut house, Input::Gate(GateCommand::Shut(wish))).unwrap();
    assert_eq!(waits(&house, "c"), Some(Deferral::Gate));
}

#[test]
fn a_resume_at_its_time_waits_for_a_place_whatever_is_configured() {
    for over in [Over::Queue, Over::Refuse] {
        let mut house = full(&["a"], over).unwrap();
        let until = Command::Pause {
            session: id("a"),
            wish: PauseWish {
                mode: PauseMode::Force,
                reason: PauseReason::User,
                on_timeout: OnTimeout::Force,
                clearing: Clearing::Keep,
            },
            until: Some(500),
        };
        ask(&mut house, until).unwrap();
        saved(&mut house, "a").unwrap();
        assert_eq!(status(&house, "a"), Some(Status::Paused));
        let key = glis_core::TimerKey::ResumeAt(500);
        decide(&mut house, Input::TimerFired { subject: id("a").into(), key }).unwrap();
        assert_eq!(waits(&house, "a"), Some(Deferral::Limit));
        assert_eq!(house.session(&id("a")).and_then(|session| session.ahead.resume_at), None);
        stop(&mut house, "busy").unwrap();
        assert_eq!(status(&house, "a"), Some(Status::Resuming));
    }
}

#[test]
fn while_the_daemon_ends_its_agents_nothing_begins_and_the_next_one_goes_on() {
    let mut house = full(&["a"], Over::Queue).unwrap();
    ask(&mut house, resume("a")).unwrap();
    let closed = Limits { live: 0, closed: true, ..Limits::default() };
    assert_eq!(begun(&mut house, Input::Limits(closed)), []);
    stop(&mut house, "busy").unwrap();
    assert_eq!(waits(&house, "a"), Some(Deferral::Limit));
    assert_eq!(limit(&mut house, 1, Over::Queue), [id("a")]);
}

/// What is told of the configuration when its file was read.
fn told(house: &mut House, fault: Option<&str>) -> Vec<Event> {
    let decision = house.decide(Input::ConfigRead(fault.map(str::to_owned))).unwrap_or_default();
    let events: Vec<_> = decision.events.iter().map(|(_, event)| event.clone()).collect();
    record(house, decision);
    events
}

#[test]
fn a_fault_of_the_configuration_is_told_once_and_so_is_that_it_is_mended() {
    let mut house = House::default();
    let broke = |fault: &str| vec![Event::ConfigBroke { fault: fault.to_owned() }];
    assert_eq!(told(&mut house, None), []);
    assert_eq!(told(&mut house, Some("line 1")), broke("line 1"));
    assert_eq!(told(&mut house, Some("line 1")), []);
    assert_eq!(told(&mut house, Some("line 2")), broke("line 2"));
    assert_eq!(told(&mut house, None), [Event::ConfigMended]);
    assert_eq!(told(&mut house, None), []);
}
