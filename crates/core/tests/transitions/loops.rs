//! Loops: the same words again and again.

use crate::script::{Kind, Stage, check};
use crate::state::states;
use glis_core::Status;
use glis_core::looping::{Breaker, Loop, LoopEnd, LoopStage};
use glis_core::pause::PauseReason;

/// The first iteration is open, and its agent works on it.
const OPEN: &str = "made\nchecked\nstarted\nready\ndelivered\ntook go\nturn began";
/// It has nothing to do any more.
const OVER: &str = "turn ended";
/// All the way, from the point where nothing is open.
const PAUSED: &str = "captured\nsaved\nended\nsaved";

states! {
    a_loop_whose_iteration_is_open: Kind::Agent, ["loop fresh 3 go", OPEN], "
        send hello => message queued | queued while busy
        pause => loop pause asked | pending
        pause interrupt => pause began | do check save | pending
        pause force => pause began, safe state reached by force | do capture terminal | pending
        cancel => refused: busy
        resume => already
        resume go on => message queued | already
        restart => stop began, loop began | do stop with an interrupt | pending
        stop => loop stopped, stop began | do stop with an interrupt | pending
        timeout 20 => idle limit set
        rm => refused: busy
        rm and stop => stop began, loop stopped | do stop with an interrupt | pending
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => loop set
        snapshot => save began | do save | pending
        compact => refused: busy
        restore => refused: busy
        return => refused: busy
        empty => refused: busy
        acknowledge => already
    ";
    a_loop_that_pauses_after_its_iteration: Kind::Agent, ["loop fresh 3 go", OPEN, "pause"], "
        send hello => message queued | queued while pausing
        pause => pending
        pause interrupt => pause began | do check save | pending
        pause force => pause began, safe state reached by force | do capture terminal | pending
        cancel => loop pause withdrawn
        resume => loop pause withdrawn
        resume go on => loop pause withdrawn, message queued
        restart => stop began, loop began | do stop with an interrupt | pending
        stop => loop pause withdrawn, loop stopped, stop began | do stop with an interrupt | pending
        timeout 20 => idle limit set
        rm => refused: pausing
        rm and stop => stop began, loop pause withdrawn, loop stopped | do stop with an interrupt | pending
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => loop set
        snapshot => save began | do save | pending
        compact => refused: pausing
        restore => refused: pausing
        return => refused: pausing
        empty => refused: pausing
        acknowledge => already
    ";
    a_loop_that_is_looked_back_at: Kind::Agent, ["loop fresh 3 go", OPEN, OVER], "
        send hello => message queued, delivery began | do deliver hello | queued while idle
        pause => loop pause asked | pending
        pause interrupt => pause began, safe state reached | do cut line short, capture terminal | pending
        pause force => pause began, safe state reached | do cut line short, capture terminal | pending
        cancel => refused: idle
        resume => already
        resume go on => message queued, delivery began | do deliver go on | already
        restart => stop began, loop began | do stop quietly, cut line short | pending
        stop => loop stopped, stop began | do cut line short, stop quietly | pending
        timeout 20 => idle limit set
        rm => refused: idle
        rm and stop => stop began, loop stopped | do stop quietly, cut line short | pending
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => loop set
        snapshot => save began | do save | pending
        compact => refused: idle
        restore => refused: idle
        return => refused: idle
        empty => refused: idle
        acknowledge => already
    ";
    a_loop_that_is_paused_between_two: Kind::Agent,
        ["loop fresh 3 go", OPEN, "pause", OVER, "looked", PAUSED], "
        send hello => message queued | queued while paused
        pause => already
        pause interrupt => already
        pause force => already
        cancel => refused: paused
        resume => restart began, start began, loop began | do check start | pending
        resume go on => message queued, restart began, start began, message queued, loop began | do check start | pending
        restart => restart began, start began, loop began | do check start | pending
        stop => loop stopped | already
        timeout 20 => idle limit set
        rm => removal began, loop stopped | do put aside | pending
        rm and stop => removal began, loop stopped | do put aside | pending
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => loop set
        snapshot => save began | do save | pending
        compact => compaction began | do compact | pending
        restore => restore began | do restore snap-1 | pending
        return => refused: paused
        empty => refused: paused
        acknowledge => already
    ";
    a_loop_that_is_done: Kind::Agent, ["loop fresh 1 go", OPEN, OVER, "looked"], "
        send hello => message queued, delivery began | do deliver hello | queued while idle
        pause => pause began, safe state reached | do capture terminal | pending
        pause interrupt => pause began, safe state reached | do capture terminal | pending
        pause force => pause began, safe state reached | do capture terminal | pending
        cancel => refused: idle
        resume => already
        resume go on => message queued, delivery began | do deliver go on | already
        restart => stop began, loop began | do stop quietly | pending
        stop => stop began | do stop quietly | pending
        timeout 20 => idle limit set
        rm => refused: idle
        rm and stop => stop began | do stop quietly | pending
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => loop set, loop reopened | do look back at 1
        snapshot => save began | do save | pending
        compact => refused: idle
        restore => refused: idle
        return => refused: idle
        empty => refused: idle
        acknowledge => already
    ";
}

fn told(story: &[&str]) -> Result<Stage, String> {
    check(Kind::Agent, &story.join("\n"))
}

fn iteration(stage: &Stage) -> u32 {
    looped(stage).map_or(0, |looped| looped.iteration)
}

fn looped(stage: &Stage) -> Option<&Loop> {
    stage.session().and_then(|session| session.ahead.looped.as_deref())
}

fn stage_of(stage: &Stage) -> LoopStage {
    looped(stage).map_or(LoopStage::Open, |looped| looped.stage.clone())
}

#[test]
fn each_iteration_has_a_conversation_of_its_own() {
    let stage = told(&[
        "loop fresh 3 go",
        OPEN,
        "turn ended => turn ended, loop ended | do save after the turn, look back at 1",
        "looked => loop looked back, stop began, loop began | do stop quietly",
        "ended\nkept after the stop => worktree saved, suspended, restart began, start began | do check start",
        "checked\nstarted => process started, message queued, start ended",
        "ready => became ready, delivery began | do deliver go",
    ])
    .unwrap();
    assert_eq!(iteration(&stage), 2);
    assert_eq!(stage.session().unwrap().agent.agent_ref.as_deref(), Some("ref-2"));
}

#[test]
fn or_goes_on_in_the_same_one() {
    let stage = told(&[
        "loop continue 3 go",
        OPEN,
        OVER,
        "looked => loop looked back, message queued, loop began, delivery began | do deliver go",
    ])
    .unwrap();
    assert_eq!(iteration(&stage), 2);
}

#[test]
fn it_ends_with_the_last_one_or_with_what_was_to_be_reached() {
    let stage = told(&["loop continue 1 go", OPEN, OVER, "looked => loop looked back, loop done"]);
    assert_eq!(stage_of(&stage.unwrap()), LoopStage::Done(LoopEnd::Max));
    let reached = "looked reached => loop looked back, loop done";
    let stage = told(&["loop continue on go", OPEN, OVER, reached]).unwrap();
    assert_eq!(stage_of(&stage), LoopStage::Done(LoopEnd::Until));
    assert_eq!(stage.session().unwrap().status(), Status::Idle);
}

#[test]
fn one_that_was_full_goes_on_if_it_may() {
    let stage = told(&[
        "loop continue 1 go",
        OPEN,
        OVER,
        "looked",
        "set 1 => already",
        "set 2 => loop set, loop reopened | do look back at 1",
        "looked => loop looked back, message queued, loop began, delivery began | do deliver go",
    ])
    .unwrap();
    assert_eq!(iteration(&stage), 2);
    check(Kind::Agent, "new\nset 3 => refused: no loop").unwrap();
}

#[test]
fn messages_that_come_meanwhile_belong_to_the_iteration() {
    told(&[
        "loop continue 3 go",
        OPEN,
        "send and this => message queued | queued while busy",
        "turn ended => turn ended, delivery began | do save after the turn, deliver and this",
        "delivered\ntook and this\nturn began",
        "turn ended => turn ended, loop ended | do save after the turn, look back at 1",
        "send and that => message queued, delivery began | do deliver and that | queued while idle",
        "looked => loop looked back",
        "delivered\ntook and that\nturn began",
        "turn ended => turn ended, message queued, loop began, delivery began | do save after the turn, deliver go",
    ])
    .unwrap();
}

#[test]
fn a_pause_waits_for_the_end_of_the_iteration() {
    for context in ["fresh", "continue"] {
        let begin = format!("loop {context} 3 go");
        let stage = told(&[
            &begin,
            OPEN,
            "pause => loop pause asked | pending",
            "send and this",
            "turn ended => turn ended, delivery began | do save after the turn, deliver and this",
            "delivered\ntook and this\nturn began",
            "turn ended => turn ended, loop ended | do save after the turn, look back at 1",
            "pause => pending",
            "looked => loop looked back, pause began, safe state reached | do capture terminal",
            PAUSED,
        ])
        .unwrap();
        let session = stage.session().unwrap();
        assert_eq!((session.status(), iteration(&stage)), (Status::Paused, 1), "{context}");
        assert_eq!(session.pause_to_come(), None);
    }
}

#[test]
fn it_is_cancelled_and_the_loop_goes_on() {
    let stage = told(&[
        "loop continue 3 go",
        OPEN,
        "pause\ncancel => loop pause withdrawn",
        OVER,
        "looked => loop looked back, message queued, loop began, delivery began | do deliver go",
    ])
    .unwrap();
    assert_eq!(stage.session().unwrap().status(), Status::Busy);
    // Past the end of the iteration it is a pause like any other.
    told(&["loop continue 3 go", OPEN, "pause\nturn ended\nlooked\ncancel => refused: too late"])
        .unwrap();
}

#[test]
fn a_resume_begins_the_next_one_at_once() {
    let paused = ["loop fresh 3 go", OPEN, "pause", OVER, "looked", PAUSED].join("\n");
    let stage = told(&[
        &paused,
        "resume => restart began, start began, loop began | do check start | pending",
        "checked\nstarted\nready => became ready, delivery began | do deliver go",
    ])
    .unwrap();
    assert_eq!(iteration(&stage), 2);
    let paused = paused.replace("fresh", "continue");
    let stage = told(&[
        &paused,
        "resume => start began | do check start | pending",
        "checked\nstarted",
        "ready => became ready, start ended, message queued, loop began, delivery began | do deliver go",
    ])
    .unwrap();
    assert_eq!(iteration(&stage), 2);
}

#[test]
fn a_pause_that_interrupts_cuts_the_iteration_which_goes_on_with_the_same_words() {
    let stage = told(&[
        "loop fresh 3 go",
        OPEN,
        "pause interrupt => pause began | do check save | pending",
        "savable\nturn cut",
        PAUSED,
        "resume => start began | do check start | pending",
        "checked\nstarted",
        "ready => became ready, start ended, message queued, delivery began | do deliver go with the note",
    ])
    .unwrap();
    assert_eq!(iteration(&stage), 1);
    told(&[
        "loop fresh 3 go",
        OPEN,
        "pause",
        "pause interrupt => pause began | do check save | pending",
    ])
    .unwrap();
}

#[test]
fn three_failures_in_a_row_pause_it_with_the_reason() {
    let died =
        "ended 1 => process ended, interrupted, loop ended | do save after the end, look back at 1";
    let stage = told(&[
        "loop fresh on go",
        OPEN,
        died,
        "kept after end",
        "looked => loop looked back, restart began, start began, loop began | do check start",
        "checked\nstarted\nready\ndelivered\ntook go\nturn began\nended 1\nkept after end\nlooked",
        "checked\nstarted\nready\ndelivered\ntook go\nturn began\nended 1\nkept after end",
        "looked => loop looked back, loop broke, loop pause asked, pause began, safe state reached | do capture terminal",
        "captured\nsaved",
    ])
    .unwrap();
    let session = stage.session().unwrap();
    assert_eq!(session.pause_record().map(|record| record.reason), Some(PauseReason::Error));
    let looped = session.ahead.looped.as_ref().unwrap();
    assert_eq!((looped.failures, looped.broke), (3, Some(Breaker::Failures)));
}

#[test]
fn what_leaves_everything_as_it_was_is_paused_and_may_be_tried_again() {
    let same = "turn ended\nlooked same\ndelivered\ntook go\nturn began";
    let stage = told(&[
        "loop continue on go",
        OPEN,
        same,
        same,
        same,
        OVER,
        "looked same => loop looked back, loop broke, loop pause asked, pause began, safe state reached | do capture terminal",
        PAUSED,
    ])
    .unwrap();
    let looped = stage.session().unwrap().ahead.looped.clone().unwrap();
    assert_eq!(looped.broke, Some(Breaker::NoProgress));
    let mut stage = stage;
    stage.play("resume").unwrap();
    let looped = stage.session().unwrap().ahead.looped.clone().unwrap();
    assert_eq!((looped.broke, looped.stale), (None, 0));
}

#[test]
fn what_costs_too_much_is_paused_for_its_budget() {
    let stage = told(&["loop continue on go", OPEN, OVER, "looked costly", PAUSED]).unwrap();
    let reason = stage.session().unwrap().pause_record().map(|record| record.reason);
    assert_eq!(reason, Some(PauseReason::Budget));
}

#[test]
fn a_person_stops_it_and_has_it_go_on() {
    let stage = told(&[
        "loop fresh on go",
        OPEN,
        "pause",
        "stop => loop pause withdrawn, loop stopped, stop began | do stop with an interrupt | pending",
        "ended",
    ])
    .unwrap();
    assert_eq!(stage_of(&stage), LoopStage::Stopped { open: true });
    let stage = told(&[
        "loop fresh on go",
        OPEN,
        "stop\nended\nkept after end",
        "resume => loop reopened, start began | do check start | pending",
        "checked\nstarted",
        "ready => became ready, start ended, message queued, delivery began | do deliver go with the note",
    ])
    .unwrap();
    assert_eq!(iteration(&stage), 1);
}

#[test]
fn a_daemon_that_died_goes_on_where_it_was() {
    told(&["loop fresh on go", OPEN, OVER, "crash", "found alive => do look back at 1"]).unwrap();
    let stage = told(&[
        "loop fresh on go",
        OPEN,
        "pause",
        OVER,
        "crash",
        "found alive => do look back at 1",
        "looked => loop looked back, pause began, safe state reached | do capture terminal",
    ])
    .unwrap();
    assert_eq!(stage.session().unwrap().status(), Status::Pausing);
    // What was at work when the machine ended is for a person to decide on.
    let stage = told(&["loop fresh on go", OPEN, "crash", "found gone"]).unwrap();
    assert_eq!(stage.session().unwrap().status(), Status::Interrupted);
    assert_eq!(stage_of(&stage), LoopStage::Open);
}

#[test]
fn a_command_runs_again_after_its_end() {
    let begun = "loop fresh on\nmade\nchecked\nstarted";
    let stage = check(
        Kind::Command,
        &format!(
            "{begun}
            ended 0 => process ended, completed, loop ended | do save after the end, look back at 1
            kept after end
            looked => loop looked back, restart began, start began, loop began | do check start"
        ),
    )
    .unwrap();
    assert_eq!(iteration(&stage), 2);
}

#[test]
fn it_is_not_idle_between_two_iterations() {
    let stage = told(&["loop fresh on go", OPEN, OVER]).unwrap();
    let session = stage.session().unwrap();
    assert_eq!((session.status(), session.idle_spell()), (Status::Idle, None));
}

/// Story 10 of a peer's failures: the limit in an iteration is waited for, and that iteration goes on.
#[test]
fn a_usage_limit_is_waited_for_and_the_same_iteration_goes_on() {
    let reset = 2_000_000_000_000_i64;
    let stage = told(&[
        "loop fresh 20 go",
        OPEN,
        "limited 2000000000 => limit reached, turn ended, pause began, safe state reached | do capture terminal",
        PAUSED,
        &format!("back at {reset}, 5"),
        &format!("it is {reset} => do plan the return"),
        &format!("back at {reset}, {reset} => limit over, message queued, start began | do check start, drop the time {reset} | pending"),
        "checked\nstarted",
        "ready\ntook\nturn began",
        "turn ended => turn ended, loop ended | do save after the turn, look back at 1",
    ])
    .unwrap();
    let looped = stage.session().unwrap().ahead.looped.clone().unwrap();
    assert_eq!((looped.iteration, looped.failures), (1, 0));
}

#[test]
fn a_start_that_fails_is_a_failure_and_no_iteration() {
    let stage = told(&[
        "loop fresh 9 go",
        OPEN,
        "turn ended\nlooked\nended\nkept after the stop",
        "unfit => start failed: system, loop not begun | do look back at 1",
        "looked => loop looked back, restart began, start began, loop began | do check start",
        "unfit\nlooked",
        "unfit",
        "looked => loop looked back, loop broke, loop pause asked, pause began, safe state reached | do capture terminal",
    ])
    .unwrap();
    assert_eq!(iteration(&stage), 1);
}

#[test]
fn a_pause_now_waits_for_no_look_back_and_that_is_taken_up_again() {
    let cut = "pause interrupt => pause began, safe state reached | do cut line short, capture terminal | pending";
    let stage = told(&[
        "loop fresh 3 go",
        OPEN,
        OVER,
        cut,
        PAUSED,
        "resume\nchecked\nstarted",
        "ready => became ready, start ended | do look back at 1",
        "looked => loop looked back, stop began, loop began | do stop quietly",
    ])
    .unwrap();
    assert_eq!(iteration(&stage), 2);
    // One that was asked for at the end of the iteration is hastened.
    let hastened = "pause force => pause began, safe state reached | do cut line short, capture terminal | pending";
    told(&["loop fresh 3 go", OPEN, "pause", OVER, hastened]).unwrap();
    // A daemon that dies meanwhile takes nothing up while it is paused.
    told(&["loop fresh 3 go", OPEN, OVER, cut, PAUSED, "crash", "found gone =>"]).unwrap();
}

#[test]
fn a_pause_now_of_a_program_waits_for_no_look_back() {
    let over = "loop fresh on\nmade\nchecked\nstarted\nended 0\nkept after end";
    for pause in ["pause interrupt", "pause\npause force"] {
        let stage = check(Kind::Command, &format!("{over}\n{pause}\n{PAUSED}")).unwrap();
        assert_eq!(stage.session().unwrap().status(), Status::Paused);
        assert_eq!((iteration(&stage), stage_of(&stage)), (1, LoopStage::Due { agent_ref: None }));
    }
}

#[test]
fn a_program_is_paused_at_its_own_end() {
    let stage = check(
        Kind::Command,
        "loop fresh on\nmade\nchecked\nstarted
        pause => loop pause asked | pending
        ended 0 => process ended, completed, loop ended | do save after the end, look back at 1
        kept after end
        looked => loop looked back, pause began, safe state reached | do capture terminal
        captured\nsaved
        resume => restart began, start began, loop began | do check start | pending",
    )
    .unwrap();
    assert_eq!(iteration(&stage), 2);
}

#[test]
fn a_budget_that_is_spent_is_raised_first() {
    told(&[
        "loop fresh on go",
        OPEN,
        OVER,
        "looked costly",
        PAUSED,
        "resume => refused: budget spent",
    ])
    .unwrap();
}

#[test]
fn a_person_begins_anew_what_is_done() {
    let stage = told(&[
        "loop fresh 1 go",
        OPEN,
        OVER,
        "looked",
        "restart => stop began, loop began | do stop quietly | pending",
    ])
    .unwrap();
    assert_eq!((iteration(&stage), stage_of(&stage)), (1, LoopStage::Open));
}

#[test]
fn a_max_that_is_reached_already_ends_it() {
    let between = ["loop fresh 9 go", OPEN, "pause", OVER, "looked", PAUSED];
    let mut stage = told(&between).unwrap();
    assert_eq!(stage.play("set 1").unwrap(), "loop set, loop done");
}
