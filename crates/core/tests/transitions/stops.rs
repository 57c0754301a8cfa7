//! A stop that something follows: a fresh start, or the trash. Both are one operation with it, so
//! that a crash in between loses nothing.

use crate::script::{Kind, check};
use crate::table::{BUSY, IDLE, PAUSED};
use glis_core::Status;
use glis_core::session::{Phase, Rest};

#[test]
fn a_running_session_is_restarted_as_one_operation() {
    let stage = check(
        Kind::Agent,
        "new do it\nmade\nchecked\nstarted\nready\ntook\nturn began
        restart begin anew => stop began | do stop with an interrupt | pending
        ended => process ended | do save after the end
        kept after the stop => worktree saved, suspended, restart began, start began | do check start
        checked => start checked | do start process 2
        started => process started, message queued, start ended
        ready => became ready, delivery began | do deliver begin anew",
    );
    let session = stage.unwrap().session().cloned().unwrap();
    assert_eq!(session.agent.former_refs, ["ref-1"]);
    assert_eq!(session.agent.generation, 2);
}

#[test]
fn a_running_session_is_put_into_the_trash_as_one_operation() {
    let stage = check(
        Kind::Agent,
        &format!(
            "{IDLE}
            rm => refused: idle
            rm and stop => stop began | do stop quietly | pending
            ended => process ended | do save after the end
            kept after the stop => worktree saved, suspended, removal began | do put aside
            aside => archived
            return => return began | do bring back | pending
            returned => returned"
        ),
    );
    let session = stage.unwrap().session().cloned().unwrap();
    assert_eq!(session.phase, Phase::Rest(Rest::Suspended), "it comes back as it was left");
    assert_eq!(session.saved.baseline.map(|left| left.name).as_deref(), Some("snap-70"));
}

#[test]
fn what_cannot_be_saved_keeps_nobody_from_a_restart_and_is_told() {
    let stage = check(
        Kind::Agent,
        &format!(
            "{IDLE}
            restart
            ended
            unkept after the stop => worktree not saved, suspended, restart began, start began | do check start"
        ),
    );
    assert_eq!(stage.unwrap().session().unwrap().upkeep.unsaved, Some("no".to_owned().into()));
}

#[test]
fn a_crash_at_any_step_of_a_restart_goes_on_with_it() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}\n{BUSY}
            restart
            crash
            found alive => do stop with an interrupt
            crash
            found exit 0 => process ended | do save after the end
            crash
            found gone => do save after the end
            kept after the stop => worktree saved, suspended, restart began, start began | do check start
            crash
            found gone => do check start"
        ),
    )
    .unwrap();
}

#[test]
fn a_crash_at_any_step_of_a_removal_goes_on_with_it() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}
            rm and stop
            crash
            found gone => process ended | do save after the end
            crash
            found gone => do save after the end
            unkept after the stop => worktree not saved, suspended, removal began | do put aside
            crash
            found gone => do put aside
            aside => archived"
        ),
    )
    .unwrap();
}

#[test]
fn a_message_that_comes_during_a_restart_goes_to_the_fresh_conversation() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}
            restart
            send later => message queued | queued while idle
            ended
            kept after the stop
            checked
            started
            ready => became ready, delivery began | do deliver later"
        ),
    )
    .unwrap();
}

#[test]
fn a_stop_wins_over_a_removal_that_has_not_begun() {
    for (until, leads_to) in [
        (
            "rm and stop",
            "stop => removal failed, stop began | pending
            ended => process ended, suspended | do save after the end",
        ),
        (
            "rm and stop\nended",
            "stop => removal failed | do cut short, save after the end
            kept after the end => worktree saved",
        ),
    ] {
        let stage = check(Kind::Agent, &format!("{IDLE}\n{until}\n{leads_to}\nsend on"));
        let session = stage.unwrap().session().cloned().unwrap();
        assert_eq!(session.operation().map(|(_, what)| what.to_string()), Some("a wake-up".into()));
    }
}

/// Whatever a chore waits for, it is over once it was cut short, and says itself how far it came.
#[test]
fn a_stop_cuts_short_what_is_done_with_the_files() {
    for (until, then) in [
        ("restore", "unrestored => restore failed"),
        ("restore", "restored => worktree restored"),
        ("rm", "unaside => removal failed"),
        ("rm", "aside => archived"),
    ] {
        let story = format!("{IDLE}\n{PAUSED}\n{until}\nstop => do cut short | pending\n{then}");
        check(Kind::Agent, &story).map_err(|why| format!("{until}, {then}: {why}")).unwrap();
    }
}

#[test]
fn a_stop_wins_over_a_restart_that_has_not_begun() {
    let stage = check(
        Kind::Agent,
        &format!(
            "{IDLE}
            restart
            stop => start cancelled, stop began | pending
            ended => process ended, suspended | do save after the end"
        ),
    );
    let session = stage.unwrap().session().cloned().unwrap();
    assert_eq!(
        (session.status(), session.agent.agent_ref.as_deref()),
        (Status::Suspended, Some("ref-1"))
    );
}
