//! What a daemon does with each state that it finds in its log, and each world that it finds around
//! it.

use crate::script::{Kind, Stage, check, check_each};
use crate::table::{BUSY, IDLE, PAUSED};

/// The log is folded anew, then each world is found after it.
fn found(kind: Kind, story: &[&str], table: &str) -> Result<(), String> {
    let mut story = story.to_vec();
    story.push("crash => as before");
    check_each(kind, &story.join("\n"), table)
}

/// What is still there may still write: there is nothing to be kept for a pause that has failed.
#[test]
fn a_pause_whose_agent_left_something_behind_is_not_gone_on_with() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}
            pause force
            crash
            found gone with 9 left => process ended, pause failed: end every process, could not be ended and still there: make (pid 9) | do save after the end"
        ),
    )
    .unwrap();
}

/// A caller waits for it, also where the log has forgotten a process.
#[test]
fn a_save_that_was_asked_for_goes_on_beside_a_process_that_is_taken_over() {
    check(
        Kind::Agent,
        &format!("{IDLE}\nsnapshot\ncrash\nfound later => process adopted | do save"),
    )
    .unwrap();
}

#[test]
fn a_session_that_was_being_made() {
    found(
        Kind::Agent,
        &["new"],
        "found alive => do kill, make worktree
        found gone => do make worktree",
    )
    .unwrap();
    found(Kind::Agent, &["new\nmade"], "found gone => do check start").unwrap();
}

#[test]
fn a_process_that_was_being_started_for_the_first_time() {
    found(
        Kind::Agent,
        &["new\nmade\nchecked"],
        "found alive => process started, start ended
        found exit 1 => process ended, start failed: not ready | do save after the end
        found gone => start failed: system, interrupted",
    )
    .unwrap();
}

#[test]
fn a_process_that_was_being_started_again() {
    found(
        Kind::Agent,
        &[IDLE, PAUSED, "resume\nchecked"],
        "found alive => process started | do await ready
        found exit 1 => process ended, start failed: not ready | do save after the end
        found gone => start failed: system",
    )
    .unwrap();
}

#[test]
fn an_agent_that_was_getting_ready() {
    found(
        Kind::Agent,
        &[IDLE, PAUSED, "resume\nchecked\nstarted"],
        "found alive => do await ready
        found exit 1 => process ended, start failed: not ready | do save after the end
        found gone => process ended, start failed: not ready | do save after the end",
    )
    .unwrap();
}

#[test]
fn a_live_session() {
    found(
        Kind::Agent,
        &[IDLE],
        "found alive => nothing
        found exit 0 => process ended, suspended | do save after the end
        found exit 1 => process ended, interrupted | do save after the end
        found gone => process ended, interrupted | do save after the end",
    )
    .unwrap();
    found(
        Kind::Agent,
        &[IDLE, BUSY, "send hello"],
        "found alive => nothing
        found exit 0 => process ended, interrupted | do save after the end",
    )
    .unwrap();
    found(
        Kind::Agent,
        &[IDLE, "send hello"],
        "found alive => message doubted
        found untouched => message requeued, delivery began | do deliver hello
        found gone => message doubted, process ended, interrupted | do save after the end",
    )
    .unwrap();
    found(
        Kind::Command,
        &[IDLE],
        "found exit 0 => process ended, completed | do save after the end
        found exit 1 => process ended, failed | do save after the end
        found gone => process ended, interrupted | do save after the end",
    )
    .unwrap();
}

#[test]
fn a_pause_at_each_step() {
    for (step, alive, gone) in [
        ("turn began\npause", "nothing", "process ended, safe state reached | do capture terminal"),
        (
            "turn began\npause interrupt",
            "do check save",
            "process ended, safe state reached | do capture terminal",
        ),
        (
            "turn began\npause interrupt\nsavable",
            "do await safe state",
            "process ended, safe state reached | do capture terminal",
        ),
        ("pause", "do capture terminal", "process ended | do capture terminal"),
        ("pause\ncaptured", "do take snapshot", "process ended | do take snapshot"),
        ("pause\ncaptured\nsaved", "do stop quietly", "process ended | do take snapshot"),
        ("pause\ncaptured\nsaved\nended", "do kill, take snapshot", "do take snapshot"),
    ] {
        let table = format!(
            "found alive => {alive}
            found exit 0 => {gone}
            found gone => {gone}"
        );
        found(Kind::Agent, &[IDLE, step], &table).unwrap();
    }
}

#[test]
fn an_interrupt_is_never_repeated() {
    let stage = check(
        Kind::Agent,
        &[IDLE, BUSY, "pause interrupt\nsavable\ncrash\nfound alive => do await safe state"]
            .join("\n"),
    )
    .map(|mut stage: Stage| stage.play("pause interrupt"));
    assert_eq!(stage, Ok(Ok("pending".to_owned())));
}

#[test]
fn a_stop() {
    found(
        Kind::Agent,
        &[IDLE, "stop"],
        "found alive => do stop with an interrupt
        found exit 0 => process ended, suspended | do save after the end
        found gone => process ended, suspended | do save after the end",
    )
    .unwrap();
}

#[test]
fn a_removal() {
    found(Kind::Agent, &[IDLE, PAUSED, "rm"], "found gone => do put aside").unwrap();
}

#[test]
fn what_rests_is_left_to_rest() {
    for rest in [PAUSED, "stop\nended\nrm\naside"] {
        found(
            Kind::Agent,
            &[IDLE, rest],
            "found gone => nothing
            found exit 1 => nothing
            found alive => do kill",
        )
        .unwrap();
    }
}

#[test]
fn what_an_end_has_left_is_saved_unless_somebody_saw_it_done() {
    for rest in ["stop\nended", "ended 1"] {
        found(
            Kind::Agent,
            &[IDLE, rest],
            "found gone => do save after the end
            found exit 1 => do save after the end
            found alive => do kill, save after the end",
        )
        .unwrap();
    }
}
