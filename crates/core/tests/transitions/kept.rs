//! Stories of pauses that keep the process.

use crate::script::{Kind, Stage, check};
use crate::state::states;
use glis_core::session::{Phase, Rest};
use glis_core::{Event, Status};

/// A command at its prompt.
const AT_PROMPT: &str = "new\nmade\nchecked\nstarted\nscreen prompt";

/// Behind it: its process is stopped in place.
const FROZEN: &str = "pause\ncaptured\nsaved\nfrozen\nsaved";

fn told(story: &[&str]) -> Result<Stage, String> {
    check(Kind::Kept, &story.join("\n"))
}

states! {
    a_paused_session_whose_process_is_kept: Kind::Kept, [AT_PROMPT, FROZEN], "
        send hello => message queued | queued while paused
        pause => already
        pause interrupt => already
        pause force => already
        cancel => refused: paused
        resume => thaw began | do thaw | pending
        resume go on => message queued, thaw began | do thaw | pending
        restart => stop began | do stop quietly | pending
        stop => stop began | do stop quietly | pending
        timeout 20 => idle limit set
        rm => refused: process kept
        rm and stop => stop began | do stop quietly | pending
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => compaction began | do compact | pending
        restore => refused: process kept
        return => refused: paused
        empty => refused: paused
        acknowledge => already
        pause and clear => refused: process kept
    ";

    a_session_whose_process_is_being_stopped_in_place: Kind::Kept, [AT_PROMPT, "pause\ncaptured\nsaved"], "
        send hello => message queued | queued while pausing
        pause => pending
        pause interrupt => pause hastened | pending
        pause force => pause hastened | do hurry | pending
        cancel => refused: too late
        resume => busy with pause
        resume go on => busy with pause
        restart => busy with pause
        stop => pause cancelled, stop began | do stop quietly | pending
        timeout 20 => idle limit set
        rm => busy with pause
        rm and stop => busy with pause
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => busy with pause
        restore => busy with pause
        return => refused: pausing
        empty => refused: pausing
        acknowledge => already
    ";

    a_session_whose_process_is_let_go_on: Kind::Kept, [AT_PROMPT, FROZEN, "resume"], "
        send hello => message queued | queued while resuming
        pause => busy with resume
        pause interrupt => busy with resume
        pause force => busy with resume
        cancel => refused: resuming
        resume => pending
        resume go on => message queued | pending
        restart => busy with resume
        stop => start cancelled, stop began | do stop quietly | pending
        timeout 20 => idle limit set
        rm => busy with resume
        rm and stop => busy with resume
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => busy with resume
        restore => busy with resume
        return => refused: resuming
        empty => refused: resuming
        acknowledge => already
    ";
}

#[test]
fn a_pause_saves_stops_in_place_and_saves_again() {
    let stage = told(&[
        AT_PROMPT,
        "pause => pause began, safe state reached | do capture terminal | pending
        captured => terminal captured | do take snapshot
        saved => snapshot taken, freeze began | do freeze
        frozen => process frozen | do take snapshot
        frozen => nothing
        saved => snapshot taken, paused
        screen flowing => nothing",
    ])
    .unwrap();
    let session = stage.session().unwrap();
    assert!(session.runs() && session.is_frozen());
    assert_eq!(session.status(), Status::Paused);
    assert_eq!(session.pause_record().unwrap().snapshots.len(), 2);
}

#[test]
fn a_resume_goes_on_in_the_same_process() {
    let stage = told(&[
        AT_PROMPT,
        FROZEN,
        "send one => message queued | queued while paused
        resume => thaw began | do thaw | pending
        resume => pending
        thawed => start ended, delivery began | do deliver one
        thawed => nothing",
    ])
    .unwrap();
    let session = stage.session().unwrap();
    assert_eq!(session.agent.generation, 1, "it is no other process");
    assert!(session.saved.baseline.is_none() && session.course.paused_at.is_none());
}

#[test]
fn what_cannot_be_stopped_in_place_goes_on() {
    let stage = told(&[
        AT_PROMPT,
        "pause\ncaptured\nsaved",
        "unfrozen => pause failed: stop every process in place | do thaw
        thawed => nothing",
    ])
    .unwrap();
    let session = stage.session().unwrap();
    assert_eq!(session.status(), Status::Idle);
    assert!(session.saved.baseline.is_none(), "it writes on");
}

#[test]
fn what_cannot_be_let_go_on_stays_paused_with_its_process() {
    let stage = told(&[
        AT_PROMPT,
        FROZEN,
        "resume",
        "unthawed => start failed: system",
        "resume => thaw began | do thaw | pending",
        "thawed => start ended",
    ])
    .unwrap();
    assert_eq!(stage.session().unwrap().agent.generation, 1);
}

#[test]
fn a_stop_ends_what_was_kept_and_the_pause_lasts() {
    let stage = told(&[
        AT_PROMPT,
        FROZEN,
        "stop => stop began | do stop quietly | pending
        stop => do kill | pending
        resume => busy with stop
        send one => message queued | queued while paused
        ended => process ended, paused | do save after the end",
        "stop => already",
        "resume => start began | do check start | pending",
    ])
    .unwrap();
    assert_eq!(stage.session().unwrap().agent.generation, 2);
}

#[test]
fn a_kept_process_that_ends_by_itself_leaves_the_pause_and_says_so() {
    for how in ["ended 1", "ended 7: ouch"] {
        let stage = told(&[AT_PROMPT, FROZEN, how]).unwrap();
        let session = stage.session().unwrap();
        let Phase::Rest(Rest::Paused(record)) = &session.phase else { panic!("{how}") };
        let warning = record.warnings.last().unwrap().to_string();
        assert!(warning.starts_with("the process that it kept has ended: "), "{warning}");
        assert!(!session.runs());
    }
}

#[test]
fn a_process_that_ends_while_it_is_stopped_in_place_is_paused_all_the_same() {
    told(&[
        AT_PROMPT,
        "pause\ncaptured\nsaved",
        "ended => process ended | do take snapshot
        frozen => nothing
        saved => snapshot taken, paused",
    ])
    .unwrap();
    told(&[
        AT_PROMPT,
        "pause\ncaptured\nsaved\nfrozen",
        "ended => process ended\nsaved => snapshot taken, paused",
    ])
    .unwrap();
}

#[test]
fn a_crash_goes_on_where_the_journal_ends() {
    told(&[AT_PROMPT, "pause\ncaptured\nsaved", "crash", "found alive => do freeze"]).unwrap();
    told(&[AT_PROMPT, FROZEN, "crash", "found alive => nothing"]).unwrap();
    told(&[AT_PROMPT, FROZEN, "resume", "crash", "found alive => do thaw"]).unwrap();
    let stage = told(&[AT_PROMPT, FROZEN, "crash", "found gone"]).unwrap();
    let ended = |event: &Event| matches!(event, Event::ProcessEnded { .. });
    assert!(stage.log.iter().any(|recorded| ended(&recorded.event)));
    assert_eq!(stage.session().unwrap().status(), Status::Paused);
}

#[test]
fn a_forced_pause_keeps_what_it_finds() {
    told(&[
        "new\nmade\nchecked\nstarted",
        "pause force => pause began, safe state reached by force | do capture terminal | pending
        captured
        saved => snapshot taken, freeze began | do freeze
        frozen
        saved => snapshot taken, paused",
    ])
    .unwrap();
}

#[test]
fn a_worktree_is_not_taken_from_under_a_kept_process() {
    for story in ["", FROZEN] {
        told(&[AT_PROMPT, story, "pause and clear => refused: process kept"]).unwrap();
    }
    told(&[AT_PROMPT, FROZEN, "restore => refused: process kept"]).unwrap();
    // Once nothing of it runs, it may go.
    let clears =
        "pause and clear => pause began, safe state reached | do capture terminal | pending";
    told(&[AT_PROMPT, FROZEN, "stop\nended\nkept", clears]).unwrap();
}

/// The rules were asked, and the daemon died before they said anything: the next one asks them again.
#[test]
fn what_was_left_to_the_rules_while_it_stood_still_is_judged_after_a_crash() {
    told(&[
        "new\nmade\nchecked\nstarted\nscreen go on?",
        FROZEN,
        "auto-yes on => auto yes set | do limit the rules, judge screen-1-8
        crash
        found alive => do limit the rules, judge screen-1-8",
    ])
    .unwrap();
}

/// The log has lost its pause with its start: what was stopped in place for that goes on.
#[test]
fn one_that_the_log_has_lost_is_let_go_on() {
    told(&[AT_PROMPT, "crash\nfound later => process adopted | do thaw\nthawed => nothing"])
        .unwrap();
}
