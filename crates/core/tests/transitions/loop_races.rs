//! Loops that two things want to stop at once, and pauses that come early.

use crate::script::{Kind, Stage, check};

/// The first iteration is open, and its agent works on it.
const OPEN: &str = "made\nchecked\nstarted\nready\ndelivered\ntook go\nturn began";
/// All the way, from the point where nothing is open.
const PAUSED: &str = "captured\nsaved\nended\nsaved";

fn told(story: &[&str]) -> Result<Stage, String> {
    check(Kind::Agent, &story.join("\n"))
}

fn iteration(stage: &Stage) -> Option<u32> {
    stage.session()?.ahead.looped.as_ref().map(|looped| looped.iteration)
}

/// A usage limit parks it first; the pause that a person has asked for is in force, with its time.
#[test]
fn a_pause_for_a_time_keeps_it_when_a_limit_parks_first() {
    let parked = [
        "loop fresh 3 go",
        OPEN,
        "pause-until 500 => loop pause asked, resume appointed | pending",
        "limited 2000000000\ncaptured\nsaved\nended",
        "saved => snapshot taken, paused, pause taken over, pause began, safe state reached | do capture terminal",
    ];
    let stage = told(&parked).unwrap();
    assert_eq!(stage.session().unwrap().ahead.resume_at, Some(500));
    // Withdrawn while the limit parks it, its time goes with it.
    let stage = told(&[
        "loop fresh 3 go",
        OPEN,
        "pause-until 500",
        "limited 2000000000",
        "resume => loop pause withdrawn",
        "captured\nsaved\nended",
        "saved => snapshot taken, paused | do plan the return",
    ]);
    assert_eq!(stage.unwrap().session().unwrap().ahead.resume_at, None);
}

#[test]
fn a_pause_comes_before_words_that_no_agent_has_got() {
    let stage = told(&[
        "loop fresh 3 go",
        "made",
        "pause => loop pause asked | pending",
        "checked\nstarted",
        "ready => became ready, pause began, safe state reached | do capture terminal",
        PAUSED,
        "resume => start began | do check start | pending",
        "checked\nstarted",
        "ready => became ready, start ended, delivery began | do deliver go",
    ])
    .unwrap();
    assert_eq!(iteration(&stage), Some(1));
}

/// That the daemon died is no failure of the loop: what it was about to begin, it begins.
#[test]
fn a_next_iteration_that_a_dying_daemon_did_not_start_begins_again() {
    let stage = told(&[
        "loop fresh 3 go",
        OPEN,
        "turn ended\nlooked\nended\nkept after the stop",
        "checked",
        "crash",
        "found gone => do start process 2",
        "started => process started, message queued, start ended",
    ])
    .unwrap();
    let looped = stage.session().unwrap().ahead.looped.clone().unwrap();
    assert_eq!((looped.iteration, looped.failures), (2, 0));
}

/// Its agent dies of it: that is a failure, and counted, before the pause begins.
#[test]
fn a_pause_comes_after_an_iteration_that_fails() {
    let stage = told(&[
        "loop fresh 3 go",
        OPEN,
        "pause",
        "ended 1 => process ended, interrupted, loop ended | do save after the end, look back at 1",
        "kept after end",
        "looked => loop looked back, pause began, safe state reached | do capture terminal",
        "captured\nsaved",
        "resume => restart began, start began, loop began | do check start | pending",
    ])
    .unwrap();
    let looped = stage.session().unwrap().ahead.looped.clone().unwrap();
    assert_eq!((looped.iteration, looped.failures), (2, 1));
}

/// What is taken out of the trash begins nothing by itself.
#[test]
fn a_loop_that_was_thrown_away_is_stopped() {
    let stage = told(&[
        "loop fresh 3 go",
        OPEN,
        "turn ended",
        "rm and stop => stop began, loop stopped | do stop quietly, cut line short | pending",
        "looked => nothing",
    ])
    .unwrap();
    let looped = stage.session().unwrap().ahead.looped.clone().unwrap();
    assert!(!looped.goes_on());
}
