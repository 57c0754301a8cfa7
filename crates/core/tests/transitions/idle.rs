//! Idle suspension: when a session's time begins, what ends it, and what keeps a session awake.

use crate::script::{Kind, check};
use crate::table::IDLE;
use glis_core::Status;
use glis_core::rule::Rule;

/// A command at its prompt.
const AT_PROMPT: &str = "new\nmade\nchecked\nstarted\nscreen prompt";

#[test]
fn an_idle_session_is_suspended_when_its_time_is_over() {
    let stage = check(
        Kind::Agent,
        "new\nmade\nchecked\nstarted
        tell idle time
        ready => became ready | do await idle time
        idle time over => do check idle
        unused => stop began | do stop quietly, drop idle time | pending
        ended => process ended, suspended | do save after the end
        kept after end => worktree saved
        send hello => message queued, start began | do check start | queued while suspended
        checked\nstarted
        ready => became ready, start ended, delivery began | do deliver hello",
    );
    assert_eq!(stage.unwrap().session().unwrap().status(), Status::Busy);
}

#[test]
fn it_stays_as_old_as_it_is() {
    let idle = check(Kind::Agent, IDLE).unwrap().session().unwrap().last_active_at;
    let story = format!("{IDLE}\nidle time over\nunused\nended\nkept after end");
    let stage = check(Kind::Agent, &story).unwrap();
    let session = stage.session().unwrap();
    assert_eq!((session.status(), &session.rule), (Status::Suspended, &Rule::Idled));
    assert_eq!(session.last_active_at, idle, "that it was suspended is no activity");
    let stopped = check(Kind::Agent, &format!("{IDLE}\nstop\nended")).unwrap();
    assert_ne!(stopped.session().unwrap().last_active_at, idle, "that a user stopped it is");
}

#[test]
fn a_turn_takes_its_time_away_and_gives_all_of_it_back() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}
            tell idle time
            turn began => turn began | do drop idle time
            idle time over => nothing
            turn ended => turn ended | do save after the turn, await idle time
            idle time over before => nothing
            idle time over => do check idle"
        ),
    )
    .unwrap();
}

#[test]
fn a_message_before_the_stop_goes_to_the_living_process() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}
            tell idle time
            idle time over => do check idle
            send hello => message queued, delivery began | do deliver hello, drop idle time | queued while idle
            unused => nothing
            took => message taken
            turn began => turn began
            turn ended => turn ended | do save after the turn, await idle time
            unused before => nothing"
        ),
    )
    .unwrap();
}

#[test]
fn a_message_after_the_stop_wakes_the_session() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}
            idle time over => do check idle
            unused => stop began | do stop quietly | pending
            send hello => message queued | queued while idle
            ended => process ended, suspended, start began | do save after the end, check start
            checked\nstarted
            ready => became ready, start ended, delivery began | do deliver hello
            took => message taken"
        ),
    )
    .unwrap();
}

#[test]
fn what_keeps_it_awake_gives_it_its_time_again() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}
            tell idle time
            idle time over => do check idle
            used => do await idle time
            idle time over => do check idle
            unused => stop began | do stop quietly, drop idle time | pending"
        ),
    )
    .unwrap();
}

#[test]
fn a_question_background_work_or_a_save_that_a_caller_waits_for_keeps_it_awake() {
    for (begins, ends) in [("asks go", "unasks go"), ("background 1", "background 0")] {
        check(
            Kind::Agent,
            &format!(
                "{IDLE}
                tell idle time
                idle time over => do check idle
                {begins}
                unused => nothing
                idle time over => nothing
                {ends}
                unused before => nothing
                idle time over => do check idle"
            ),
        )
        .unwrap();
    }
    check(
        Kind::Agent,
        &format!(
            "{IDLE}
            tell idle time
            snapshot => save began | do save | pending
            idle time over => do await idle time
            unused => do await idle time"
        ),
    )
    .unwrap();
}

#[test]
fn another_time_begins_anew() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}
            tell idle time
            timeout 20 => idle limit set | do drop idle time, await idle time of 1200 s
            idle time over before => nothing
            timeout never => idle limit set | do drop idle time
            idle time over => nothing
            timeout usual => idle limit set | do await idle time
            timeout 0 => refused: idle limit out of range
            timeout 121 => refused: idle limit out of range
            timeout 1 => idle limit set | do drop idle time, await idle time of 60 s
            timeout 120 => idle limit set | do drop idle time, await idle time of 7200 s"
        ),
    )
    .unwrap();
}

#[test]
fn a_command_has_a_time_only_if_one_was_given() {
    check(
        Kind::Command,
        &format!(
            "{AT_PROMPT}
            tell idle time
            screen flowing => screen judged
            screen prompt => screen judged | do save after the turn
            timeout 10 => idle limit set | do await idle time of 600 s
            screen flowing => screen judged | do drop idle time
            screen silent => screen judged | do save after the turn
            screen prompt => screen judged | do save after the turn, await idle time of 600 s
            idle time over => do check idle
            unused => stop began | do stop quietly, drop idle time | pending
            ended => process ended, suspended | do save after the end"
        ),
    )
    .unwrap();
}

#[test]
fn an_agent_whose_conversation_has_no_name_yet_is_not_suspended() {
    check(
        Kind::Learner,
        "new
        made
        send hello
        checked\nstarted
        tell idle time
        ready => became ready, delivery began | do deliver hello
        took => message taken
        turn began => turn began
        turn ended => turn ended | do save after the turn
        timeout 10 => idle limit set
        told ref-7 => agent ref learned | do await idle time of 600 s",
    )
    .unwrap();
}

#[test]
fn a_daemon_that_begins_gives_what_is_idle_its_time_again() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}
            tell idle time
            crash
            found alive => do await idle time
            idle time over => do check idle
            unused => stop began | do stop quietly, drop idle time | pending
            crash
            found alive => do stop quietly
            ended => process ended, suspended | do save after the end"
        ),
    )
    .unwrap();
}
