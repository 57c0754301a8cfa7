//! Pauses that end by themselves.

use crate::script::{Kind, check};
use crate::table::{BUSY, IDLE};

#[test]
fn a_pause_ends_at_its_time() {
    let stage = check(
        Kind::Agent,
        &format!(
            "{IDLE}
            pause-until 500 => pause began, resume appointed, safe state reached | do capture terminal | pending
            captured\nsaved\nended
            saved => snapshot taken, paused | do await the time 500
            it is 499 => nothing
            it is 500 => start began | do check start, drop the time 500 | pending
            checked\nstarted
            ready => became ready, start ended
            it is 500 => nothing"
        ),
    );
    assert_eq!(stage.unwrap().session().unwrap().resume_at, None);
}

#[test]
fn it_is_kept_by_the_next_daemon_which_may_be_late() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}
            pause-until 500\ncaptured\nsaved\nended\nsaved
            crash
            found gone => do await the time 500
            it is 500 => start began | do check start, drop the time 500 | pending"
        ),
    )
    .unwrap();
}

#[test]
fn what_ends_the_pause_drops_its_time() {
    for ends in ["resume", "restart"] {
        let story = format!(
            "{IDLE}
            pause-until 500\ncaptured\nsaved\nended\nsaved
            {ends}
            it is 500 => nothing"
        );
        let stage = check(Kind::Agent, &story).unwrap();
        assert_eq!(stage.session().unwrap().resume_at, None, "{ends}");
    }
    for calls_off in ["cancel", "stop"] {
        let story = format!("{IDLE}\n{BUSY}\npause-until 500\n{calls_off}\nit is 500 => nothing");
        let stage = check(Kind::Agent, &story).unwrap();
        assert_eq!(stage.session().unwrap().resume_at, None, "{calls_off}");
    }
}

#[test]
fn a_paused_session_can_be_given_a_time_and_another_one() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}
            pause\ncaptured\nsaved\nended\nsaved
            pause-until 500 => resume appointed | do await the time 500
            pause-until 700 => resume appointed | do drop the time 500, await the time 700
            pause => already
            it is 500 => nothing
            it is 700 => start began | do check start, drop the time 700 | pending"
        ),
    )
    .unwrap();
}

#[test]
fn a_time_that_comes_before_the_pause_is_over_counts_when_it_is() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}\n{BUSY}
            pause-until 500 => pause began, resume appointed | pending
            it is 500 => nothing
            turn ended
            captured\nsaved\nended
            saved => snapshot taken, paused | do await the time 500"
        ),
    )
    .unwrap();
}
