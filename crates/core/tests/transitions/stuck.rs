//! Stories of what does not come to an end by itself: processes that cannot be ended, saves that
//! hang, pauses that somebody has to overrule.

use crate::script::{Kind, Stage, check};
use crate::table::{BUSY, IDLE};
use glis_core::reason::SafeRule;
use glis_core::rule::Rule;
use glis_core::{Failure, Session, Status};

fn told(kind: Kind, story: &[&str]) -> Result<Stage, String> {
    check(kind, &story.join("\n"))
}

fn status(stage: &Stage) -> Option<Status> {
    stage.session().map(Session::status)
}

#[test]
fn a_pause_is_not_confirmed_while_a_process_cannot_be_ended() {
    let stage = told(
        Kind::Agent,
        &[
            IDLE,
            "pause
            captured
            saved => snapshot taken, end began | do stop quietly
            ended with 9 left => process ended, pause failed: end every process, \
             could not be ended and still there: make (pid 9) | do save after the end",
        ],
    )
    .unwrap();
    assert_eq!(status(&stage), Some(Status::Interrupted));
    assert_eq!(stage.session().unwrap().starts.leftovers.stuck[0].pid, 9);
    let ended = stage.log.iter().find_map(|r| r.event.ends()?.1.err());
    let Some(Failure::Failed { why, .. }) = ended else { panic!("{ended:?}") };
    assert!(why.stored().contains("pid 9"), "{why}");
}

#[test]
fn a_later_pause_looks_again_before_it_says_that_nothing_is_left() {
    let stage = told(
        Kind::Agent,
        &[
            IDLE,
            "stop
            ended with 9 left => process ended, suspended | do save after the end
            pause => pause began | do sweep | pending
            pause force => pause hastened | pending
            swept with 9 left => leftovers swept, pause failed: end every process, \
             could not be ended and still there: make (pid 9)
            pause => pause began | do sweep | pending
            crash
            found gone => do sweep
            swept => leftovers swept, safe state reached | do capture terminal
            captured => terminal captured | do take snapshot
            saved => snapshot taken, paused",
        ],
    );
    // How the world is looked at after a crash has a story of its own: the sweep is what counts.
    let stage = stage.unwrap();
    assert_eq!(status(&stage), Some(Status::Paused));
    assert!(stage.session().unwrap().starts.leftovers.trouble().is_none());
}

#[test]
fn a_process_that_is_found_dead_with_something_left_is_no_pause_either() {
    let stage =
        told(Kind::Agent, &[IDLE, "pause\ncaptured\nsaved\ncrash", "found gone with 9 left"])
            .unwrap();
    assert_eq!(status(&stage), Some(Status::Interrupted));
}

#[test]
fn a_forced_pause_goes_on_without_what_takes_too_long() {
    let stage = told(
        Kind::Agent,
        &[
            IDLE,
            BUSY,
            "pause force => pause began, safe state reached by force | do capture terminal | pending
            capture overdue => capture missed | do take snapshot
            save overdue => snapshot taken with a warning, end began | do kill
            ended => process ended | do take snapshot
            save overdue => snapshot taken with a warning, paused | do save after the end",
        ],
    )
    .unwrap();
    let record = stage.session().unwrap().pause_record().unwrap().clone();
    assert_eq!(record.warnings.len(), 3, "{:?}", record.warnings);
    assert!(record.snapshots.is_empty());
}

#[test]
fn any_other_pause_that_cannot_save_in_time_lets_the_agent_go_on() {
    for story in ["pause\ncapture overdue", "pause\ncaptured\nsave overdue"] {
        let stage = told(Kind::Agent, &[IDLE, story]).unwrap();
        assert_eq!(status(&stage), Some(Status::Idle), "{story}");
    }
}

#[test]
fn what_comes_late_changes_nothing() {
    told(
        Kind::Agent,
        &[
            IDLE,
            BUSY,
            "pause force
            captured
            save overdue
            capture overdue => nothing
            saved => nothing
            save overdue => nothing
            swept => nothing",
        ],
    )
    .unwrap();
}

#[test]
fn a_stop_wins_over_a_pause_that_waits() {
    let stage = told(
        Kind::Agent,
        &[
            IDLE,
            BUSY,
            "pause force
            captured
            stop => pause cancelled, stop began | do cut short, kill | pending
            saved => nothing
            ended => process ended, suspended | do save after the end",
        ],
    )
    .unwrap();
    assert_eq!(status(&stage), Some(Status::Suspended));
}

#[test]
fn a_stop_of_a_pause_that_found_nothing_running_only_calls_it_off() {
    let stage = told(
        Kind::Agent,
        &[IDLE, "stop\nended\npause\nstop => pause cancelled | do cut short | already"],
    )
    .unwrap();
    assert_eq!(status(&stage), Some(Status::Suspended));
}

#[test]
fn a_message_that_can_never_be_handed_over_does_not_block_the_next() {
    let stage = told(
        Kind::Command,
        &[
            "new\nmade\nchecked\nstarted",
            "send long => message queued, delivery began | do deliver long | queued while busy
            send short => message queued | queued while busy
            undeliverable => message refused, delivery began | do deliver short
            delivered => message taken",
        ],
    )
    .unwrap();
    assert!(stage.session().unwrap().talk.queue.is_empty());
}

#[test]
fn a_lost_folder_is_told_once_and_until_somebody_takes_note() {
    let stage = told(
        Kind::Agent,
        &[
            IDLE,
            "folderless => folder lost
            folderless => nothing
            acknowledge => damage acknowledged
            acknowledge => already",
        ],
    )
    .unwrap();
    assert!(!stage.session().unwrap().upkeep.folder_lost);
}

#[test]
fn a_step_that_has_its_time_behind_it_is_cut_short_and_one_that_is_over_is_not() {
    told(
        Kind::Agent,
        &[
            IDLE,
            BUSY,
            "pause interrupt => pause began | do check save | pending
            step overdue => do cut short
            savable => interrupt began | do interrupt, await safe state
            step overdue => nothing
            turn ended => turn ended, safe state reached | do capture terminal
            step overdue => do cut short
            crash
            found alive => do capture terminal
            captured => terminal captured | do take snapshot
            saved => snapshot taken, end began | do stop quietly
            step overdue => nothing
            ended => process ended | do take snapshot
            step overdue => do cut short
            save overdue => snapshot taken with a warning, paused | do save after the end
            step overdue => nothing",
        ],
    )
    .unwrap();
}

#[test]
fn a_forced_pause_calls_a_start_off_whatever_it_waits_for() {
    let paused = "captured => terminal captured | do take snapshot
                  saved => snapshot taken, paused";
    let called_off = "suspended, pause began, safe state reached | do capture terminal";
    for (start, story) in [
        ("new do it", format!("made => worktree made, {called_off}")),
        ("new do it\nmade\nchecked", format!("unstarted => {called_off}")),
        (
            "new do it\nmade\nchecked",
            format!(
                "started => process started | do kill
                 ended => process ended, {called_off}"
            ),
        ),
    ] {
        let stage = told(Kind::Agent, &[start, "pause force", &story, paused]).unwrap();
        let session = stage.session().unwrap();
        assert_eq!(session.status(), Status::Paused, "{story}");
        assert_eq!(session.course.rule, Rule::Paused(SafeRule::StartCalledOff));
        assert_eq!(session.talk.queue.len(), 1, "what was to be said to it is kept");
    }
}

#[test]
fn a_start_that_was_called_off_for_a_pause_is_paused_after_a_crash_too() {
    let stage = told(
        Kind::Agent,
        &["new do it
            pause force => start cancelled, stop began | do cut set-up short | pending
            crash
            found gone => do make worktree
            step overdue => do cut short
            made => worktree made, suspended, pause began, safe state reached | do capture terminal
            captured
            saved => snapshot taken, paused
            resume => start began | do check start | pending"],
    );
    assert_eq!(status(&stage.unwrap()), Some(Status::Created));
}

#[test]
fn a_worktree_whose_git_hangs_holds_a_stop_up_for_a_while_and_no_longer() {
    let stage = told(
        Kind::Agent,
        &["new do it
            stop => start cancelled, stop began | do cut set-up short | pending
            step overdue => do cut short
            unmade => creation failed"],
    );
    assert_eq!(status(&stage.unwrap()), Some(Status::Archived));
}
