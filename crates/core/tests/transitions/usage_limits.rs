//! Usage limits: a turn that one ends parks its session, which goes on when that is over.

use crate::gate::{open, pause_to_the_end, shut};
use crate::script::{Kind, Stage, check};
use crate::state::states;
use crate::table::{BUSY, IDLE, PAUSED};
use crate::together::{decide, id, record, running};
use glis_core::input::{Command, Outcome};
use glis_core::limits::Limits;
use glis_core::pause::{OnTimeout, PauseMode, PauseReason, PauseWish};
use glis_core::tree::Clearing;
use glis_core::usage_limit::GO_ON;
use glis_core::{Effect, Event, House, Input, Refusal, Status};

/// Behind an idle session: its turn met a limit that ends in the year 2033, and it is paused.
const PARKED: &str =
    "send hello\ntook\nturn began\nlimited 2000000000\ncaptured\nsaved\nended\nsaved";
/// When that is.
const RESET: i64 = 2_000_000_000_000;

states! {
    a_session_that_is_parked_at_a_limit: Kind::Agent, [IDLE, PARKED], "
        send hello => message queued | queued while paused
        pause => pause taken over | already
        pause interrupt => pause taken over | already
        pause force => pause taken over | already
        cancel => refused: paused
        resume => message queued, start began | do check start | pending
        resume go on => message queued, start began | do check start | pending
        restart => restart began, start began | do check start | pending
        stop => already
        timeout 20 => idle limit set
        rm => removal began | do put aside | pending
        rm and stop => removal began | do put aside | pending
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => compaction began | do compact | pending
        restore => restore began | do restore snap-1 | pending
        return => refused: paused
        empty => refused: paused
        acknowledge => already
    ";
}

#[expect(clippy::panic, reason = "this is what fails")]
fn told(lines: &[&str]) -> Stage {
    check(Kind::Agent, &lines.join("\n")).unwrap_or_else(|fault| panic!("{fault}"))
}

fn waiting(stage: &Stage) -> Vec<String> {
    let queue = stage.session().map(|session| session.talk.queue.clone()).unwrap_or_default();
    queue.iter().map(|message| message.text.clone()).collect()
}

#[test]
fn a_turn_that_a_limit_ends_parks_and_goes_on_at_the_reset() {
    let story = format!(
        "{IDLE}
        send hello\ntook\nturn began
        limited 2000000000 => limit reached, turn ended, pause began, safe state reached | do capture terminal
        captured\nsaved\nended
        saved => snapshot taken, paused | do plan the return
        back at {RESET}, 5 => resume appointed | do await the time {RESET}
        it is {RESET} => do plan the return
        back at {RESET}, {RESET} => limit over, message queued, start began | do check start, drop the time {RESET} | pending
        back at {RESET}, {RESET} => nothing
        checked\nstarted
        ready => became ready, start ended, delivery began | do deliver {GO_ON} with the note
        took\nturn began\nturn ended"
    );
    let stage = check(Kind::Agent, &story).unwrap();
    let session = stage.session().unwrap();
    assert_eq!((session.ahead.limits.unanswered, session.ahead.limits.tries), (false, 0));
    assert_eq!((session.ahead.limits.returns, session.starts.limit_until.as_deref()), (1, None));
    assert!(session.talk.queue.is_empty());
}

#[test]
fn a_limit_that_a_turn_goes_on_after_parks_nothing() {
    check(
        Kind::Agent,
        &format!("{IDLE}\n{BUSY}\nlimit 9 => limit reached\nturn ended => turn ended | do save after the turn"),
    )
    .unwrap();
}

#[test]
fn what_may_not_go_on_by_itself_stays_parked_and_is_asked_about_by_the_next_daemon() {
    let stage = told(&[
        IDLE,
        PARKED,
        "stays 5 => resume appointed",
        "crash",
        "found gone => do plan the return",
        "stays 6 => nothing",
        "resume => message queued, start began | do check start | pending",
    ]);
    assert_eq!(waiting(&stage), [GO_ON]);
}

#[test]
fn an_appointment_survives_a_crash_and_is_dropped_if_the_user_forbids_it_meanwhile() {
    let appointed = format!("back at {RESET}, 5");
    let found = format!("found gone => do await the time {RESET}");
    let due = format!("it is {RESET} => do plan the return");
    let none = format!("stays {RESET} => resume appointed | do drop the time {RESET}");
    told(&[IDLE, PARKED, &appointed, "crash", &found, &due, &none, "it is 5 => nothing"]);
}

#[test]
fn a_start_that_fails_after_a_limit_is_tried_again_and_counts_for_the_same_limit() {
    let again = RESET + 60_000;
    let stage = told(&[
        IDLE,
        PARKED,
        &format!("back at {RESET}, 5\nit is {RESET}\nback at {RESET}, {RESET}"),
        "unfit => start failed: system | do plan the return",
        &format!("back at {RESET}, {RESET} => resume appointed | do await the time {again}"),
        &format!("it is {again} => do plan the return"),
        &format!(
            "back at {again}, {again} => limit over, start began | do check start, drop the time {again} | pending"
        ),
    ]);
    let session = stage.session().unwrap();
    assert_eq!((session.ahead.limits.returns, session.course.by_itself.failed), (1, 1));
    assert_eq!(waiting(&stage), [GO_ON]);
}

#[test]
fn a_return_that_is_withdrawn_is_no_persons_resume_later() {
    let stage = told(&[
        IDLE,
        PARKED,
        &format!("back at {RESET}, 5\nit is {RESET}\nback at {RESET}, {RESET}\nunfit"),
        "pause => pause taken over | already",
        "resume\nunfit => start failed: system",
    ]);
    let session = stage.session().unwrap();
    assert_eq!((session.ahead.limits.returns, session.course.by_itself.failed), (0, 0));
}

#[test]
fn a_limit_is_one_also_where_its_end_is_told_only_once() {
    let stage = told(&[
        IDLE,
        BUSY,
        "limit 2000000000 => limit reached",
        "limited => turn ended, pause began, safe state reached | do capture terminal",
    ]);
    assert_eq!(stage.session().unwrap().starts.limit_until.as_deref(), Some("2000000000"));
}

#[test]
fn a_parked_session_says_that_a_limit_is_why() {
    let stage = told(&[IDLE, PARKED]);
    assert_eq!(
        stage.session().unwrap().course.rule.to_string(),
        "the agent's usage limit is reached"
    );
}

#[test]
fn quiet_hours_put_it_off() {
    let (later, due) = (RESET + 9, format!("it is {RESET} => do plan the return"));
    let moved = format!(
        "back at {later}, {RESET} => resume appointed | do drop the time {RESET}, await the time {later}"
    );
    told(&[IDLE, PARKED, &format!("back at {RESET}, 5"), &due, &moved]);
}

#[test]
fn a_pause_that_is_under_way_stays_what_it_was() {
    let stage = told(&[
        IDLE,
        "send hello\ntook\nturn began\npause",
        "limited 9 => limit reached, turn ended, safe state reached | do capture terminal",
        "captured\nsaved\nended",
        "saved => snapshot taken, paused",
    ]);
    assert_eq!(stage.session().unwrap().pause_record().unwrap().reason, PauseReason::User);
    let stage = told(&[
        IDLE,
        "send hello\ntook\nturn began\npause",
        "limited 9\ncaptured\nsaved\nended\nsaved",
        "resume => message queued, start began | do check start | pending",
    ]);
    assert_eq!(waiting(&stage), [GO_ON], "what was asked is answered all the same");
}

#[test]
fn every_question_that_is_open_outlives_the_pause_until_the_agent_has_words() {
    let stage = told(&[
        IDLE,
        "send hello\ntook\nturn began\nasks a\nasks b",
        "limited 9 => limit reached, turn ended, pause began, safe state reached | do capture terminal",
        "captured\nsaved\nended\nsaved",
    ]);
    let asked = |stage: &Stage| -> Vec<String> {
        let session = stage.session().unwrap();
        session.talk.was_asking.iter().map(|ask| ask.text.clone()).collect()
    };
    assert_eq!(asked(&stage), ["a?", "b?"]);
}

#[test]
fn work_beside_the_turn_is_waited_for() {
    told(&[
        IDLE,
        "send hello\ntook\nturn began\nbackground 1",
        "limited 9 => limit reached, turn ended | do save after the turn",
        "background 0 => background changed, pause began, safe state reached | do capture terminal",
    ]);
}

#[test]
fn what_cannot_be_parked_is_not_tried_again() {
    told(&[
        IDLE,
        "send hello\ntook\nturn began\nlimited 9",
        "captured",
        "unsaved => pause failed: stash changes",
        "background 0 => nothing",
    ]);
}

#[test]
fn messages_wait_behind_what_was_asked_and_each_is_there_once() {
    let stage = told(&[
        IDLE,
        PARKED,
        "send more => message queued | queued while paused",
        "resume => message queued, start began | do check start | pending",
        "unfit => start failed: system | do plan the return",
        "resume => start began | do check start | pending",
    ]);
    assert_eq!(waiting(&stage), [GO_ON, "more"]);
    let stage = told(&[IDLE, PARKED, "resume this instead"]);
    assert_eq!(waiting(&stage), ["this instead"]);
    let stage = told(&[IDLE, PARKED, "restart"]);
    assert_eq!(waiting(&stage), Vec::<String>::new(), "a fresh conversation was asked nothing");
}

#[test]
fn a_restart_that_fails_leaves_what_was_asked_unanswered() {
    let stage = told(&[
        IDLE,
        PARKED,
        "restart",
        "unfit => start failed: system | do plan the return",
        "resume",
    ]);
    assert_eq!(waiting(&stage), [GO_ON]);
}

#[test]
fn what_the_agent_has_forgotten_is_asked_again_in_place_of_going_on() {
    let stage = told(&[
        IDLE,
        PARKED,
        "resume => message queued, start began | do check start | pending",
        "checked hello => start checked, message dropped, message queued | do start process 2",
    ]);
    assert_eq!(waiting(&stage), ["hello"]);
}

#[test]
fn a_pause_of_the_users_takes_it_over_for_good() {
    let dropped = format!("pause => pause taken over | do drop the time {RESET} | already");
    let stage = told(&[
        IDLE,
        PARKED,
        &format!("back at {RESET}, 5"),
        &dropped,
        &format!("it is {RESET} => nothing"),
        &format!("back at {RESET}, {RESET} => nothing"),
        "crash\nfound gone => nothing",
        "pause-until 700 => resume appointed | do await the time 700",
        "it is 700 => resume fell due, message queued, start began | do check start, drop the time 700 | pending",
    ]);
    assert_eq!(waiting(&stage), [GO_ON]);
    told(&[IDLE, PAUSED, "back at 9, 9 => nothing"]);
}

/// Also while it is still being parked.
#[test]
fn a_pause_of_the_users_takes_over_what_is_being_parked() {
    let begins = PARKED.replace("captured\nsaved\nended\nsaved", "captured");
    let stage = told(&[
        IDLE,
        &begins,
        "pause => pause taken over | pending",
        "saved\nended",
        "saved => snapshot taken, paused",
    ]);
    assert!(stage.session().unwrap().parked().is_none(), "it does not go on by itself");
}

/// What was found out too early, since a clock was set back or the file was changed, moves its time.
#[test]
fn nothing_goes_on_before_its_time() {
    let sooner = RESET - 60_000;
    told(&[
        IDLE,
        PARKED,
        &format!("back at {RESET}, 5"),
        &format!(
            "back at 7, {sooner} => resume appointed | do drop the time {RESET}, await the time {sooner}"
        ),
    ]);
}

#[test]
fn what_waits_for_its_place_is_not_begun_twice() {
    let mut house = House::default();
    park(&mut house, "a", 1000).unwrap();
    running(&mut house, "b", "/b").unwrap();
    let limits = Limits { live: 1, ..Limits::default() };
    decide(&mut house, Input::Limits(limits)).unwrap();
    planned(&mut house, "a", 1000, 1000).unwrap();
    let waits = |house: &House| house.session(&id("a")).unwrap().starts.deferred;
    assert!(waits(&house).is_some());
    let outcome = Outcome::ReturnPlanned { at: Some(1000), now: 2000 };
    let again = house.decide(Input::Outcome { session: id("a"), outcome }).unwrap();
    assert_eq!((again.events, again.effects), (Vec::new(), Vec::new()));
}

#[test]
fn a_time_that_is_not_known_is_waited_for_longer_each_time() {
    let unknown = PARKED.replace(" 2000000000", " soon");
    let again = "back at 1, 1\nit is 1\nback at 1, 1\nchecked\nstarted\nready\ntook\nturn began\n\
                 limited soon\ncaptured\nsaved\nended\nsaved";
    let minutes = |stage: &Stage| {
        let session = stage.session().unwrap();
        let over = session.limit_over_at().map(|at| (at - session.parked().unwrap().at) / 60_000);
        (over, session.ahead.limits.returns)
    };
    let mut lines = vec![IDLE, unknown.as_str()];
    let mut waits = vec![minutes(&told(&lines))];
    for _ in 0..8 {
        lines.push(again);
        waits.push(minutes(&told(&lines)));
    }
    let expected = [5, 10, 20, 40, 80, 160, 300, 300].map(Some);
    assert_eq!(
        waits.iter().map(|(wait, _)| *wait).collect::<Vec<_>>(),
        [&expected[..], &[None]].concat()
    );
    assert!(waits.iter().skip(1).all(|(_, returns)| *returns == 1), "of one limit: {waits:?}");
}

#[test]
fn a_time_that_was_wrong_is_not_believed_again() {
    let past = PARKED.replace("2000000000", "0");
    let stage = told(&[IDLE, &past]);
    let session = stage.session().unwrap();
    assert_eq!(session.limit_over_at(), Some(session.parked().unwrap().at));
    let again = "back at 1, 1\nit is 1\nback at 1, 1\nchecked\nstarted\nready\ntook\nturn began\n\
                 limited 0\ncaptured\nsaved\nended\nsaved";
    let stage = told(&[IDLE, &past, again]);
    let session = stage.session().unwrap();
    assert_eq!(session.limit_over_at(), Some(session.parked().unwrap().at + 300_000));
}

#[test]
fn a_person_who_has_a_hand_in_it_begins_the_count_anew() {
    let once = format!(
        "back at {RESET}, 5\nit is {RESET}\nback at {RESET}, {RESET}\nchecked\nstarted\nready\n\
         took\nturn began\nturn ended"
    );
    let returns = |lines: &[&str]| told(lines).session().unwrap().ahead.limits.returns;
    assert_eq!(returns(&[IDLE, PARKED, &once]), 1);
    // `PARKED` begins with a message of the user's.
    assert_eq!(returns(&[IDLE, PARKED, &once, PARKED, &once]), 1);
    let by_itself = PARKED.replace("send hello\ntook\n", "");
    assert_eq!(returns(&[IDLE, PARKED, &once, &by_itself, &once]), 2);
    assert_eq!(returns(&[IDLE, PARKED, &once, &by_itself, "resume"]), 0);
}

/// Parks a session, and has it appointed for this time.
fn park(house: &mut House, name: &str, at: i64) -> Result<(), Refusal> {
    running(house, name, &format!("/{name}"))?;
    let (mode, reason) = (PauseMode::Force, PauseReason::RateLimit);
    let (on_timeout, clearing, session) = (OnTimeout::Force, Clearing::Keep, id(name));
    let pause = Command::Pause {
        session,
        wish: PauseWish { mode, reason, on_timeout, clearing },
        until: None,
    };
    decide(house, Input::Command(pause))?;
    pause_to_the_end(house, name)?;
    planned(house, name, at, 0)
}

fn planned(house: &mut House, name: &str, at: i64, now: i64) -> Result<(), Refusal> {
    let outcome = Outcome::ReturnPlanned { at: Some(at), now };
    decide(house, Input::Outcome { session: id(name), outcome })
}

fn times(house: &House) -> Vec<Option<i64>> {
    let known = ["a", "b", "c"].map(|name| house.session(&id(name)));
    known.into_iter().flatten().map(|session| session.ahead.resume_at).collect()
}

#[test]
fn sessions_that_are_due_at_once_go_on_one_after_the_other() {
    let mut house = House::default();
    for name in ["a", "b", "c"] {
        park(&mut house, name, 1000).unwrap();
    }
    assert_eq!(times(&house), [Some(1000), Some(6000), Some(11_000)]);
    // The machine was off: all are due when it comes back.
    for name in ["b", "c", "a"] {
        planned(&mut house, name, 1000, 90_000).unwrap();
    }
    assert_eq!(times(&house), [Some(100_000), None, Some(95_000)]);
    assert_eq!(house.session(&id("b")).unwrap().status(), Status::Resuming);
    planned(&mut house, "c", 1000, 95_000).unwrap();
    planned(&mut house, "a", 1000, 100_000).unwrap();
    assert_eq!(times(&house), [None, None, None]);
}

/// Timers fire some milliseconds late, each by another span, and which one comes first is chance.
#[test]
fn fifty_sessions_of_one_reset_go_on_in_order_with_one_appointment_each() {
    let mut house = House::default();
    let names: Vec<String> = (0..50).map(|number| format!("s{number}")).collect();
    for name in &names {
        park(&mut house, name, RESET).unwrap();
    }
    let began =
        |house: &House, name: &str| house.session(&id(name)).unwrap().ahead.limits.returned_at;
    for (name, number) in names.iter().zip(0..) {
        let due = house.session(&id(name)).unwrap().ahead.resume_at.unwrap();
        assert_eq!(due, RESET + number * 5000, "{name} has its place");
        let now = due + (number * 37) % 90 + 1;
        let outcome = Outcome::ReturnPlanned { at: Some(now), now };
        let decision = house.decide(Input::Outcome { session: id(name), outcome }).unwrap();
        let appointed = |event: &Event| matches!(event, Event::ResumeAppointed { .. });
        assert!(!decision.events.iter().any(|(_, event)| appointed(event)), "{name}: {decision:?}");
        record(&mut house, decision);
        assert_eq!(began(&house, name), Some(due), "{name}");
    }
}

/// A machine that slept through some of their times: those that were missed are no hindrance to those
/// that are on time, and every one of them goes on.
#[test]
fn sessions_whose_times_were_missed_all_go_on() {
    let mut house = House::default();
    for name in ["a", "b", "c"] {
        park(&mut house, name, 1000).unwrap();
    }
    planned(&mut house, "a", 10_500, 10_500).unwrap();
    planned(&mut house, "b", 10_500, 10_500).unwrap();
    assert_eq!(times(&house), [None, Some(16_000), Some(11_000)]);
    planned(&mut house, "c", 11_002, 11_002).unwrap();
    planned(&mut house, "b", 16_003, 16_003).unwrap();
    planned(&mut house, "c", 21_004, 21_004).unwrap();
    assert_eq!(times(&house), [None, None, None]);
}

#[test]
fn nothing_goes_on_while_the_gate_is_shut() {
    let mut house = House::default();
    park(&mut house, "a", 1000).unwrap();
    shut(&mut house, PauseMode::Boundary);
    let told = Input::Outcome {
        session: id("a"),
        outcome: Outcome::ReturnPlanned { at: Some(1000), now: 1000 },
    };
    let tried = house.decide(told.clone()).unwrap();
    assert!(tried.events.is_empty(), "{tried:?}");
    assert!(matches!(tried.effects.as_slice(), [(_, Effect::SetTimer { .. })]), "{tried:?}");
    open(&mut house);
    assert_eq!(times(&house), [Some(1000)], "it was not the gate that stopped it");
    decide(&mut house, told).unwrap();
    assert_eq!(house.session(&id("a")).unwrap().status(), Status::Resuming);
}
