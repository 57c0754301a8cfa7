//! Stories of pauses.

use crate::script::{Kind, Stage, check};
use crate::table::{BUSY, IDLE, PAUSED};
use glis_core::reason::SafeRule;
use glis_core::session::{Phase, Rest};
use glis_core::{Event, Failure, Status};

fn told(kind: Kind, story: &[&str]) -> Result<Stage, String> {
    check(kind, &story.join("\n"))
}

#[test]
fn a_pause_fences_interrupts_saves_stops_and_saves_again() {
    let stage = told(
        Kind::Agent,
        &[
            IDLE,
            BUSY,
            "pause interrupt => pause began | do check save | pending
            savable => interrupt began | do interrupt, await safe state
            savable => nothing
            send later => message queued | queued while pausing
            turn ended => turn ended, safe state reached | do capture terminal
            captured => terminal captured | do take snapshot
            saved => snapshot taken, end began | do stop quietly
            ended => process ended | do take snapshot
            saved => snapshot taken, paused",
        ],
    )
    .unwrap();
    let session = stage.session().unwrap();
    let Phase::Rest(Rest::Paused(record)) = &session.phase else { panic!("{:?}", session.phase) };
    assert_eq!(record.snapshots.len(), 2);
    assert_eq!(record.rule, SafeRule::TurnEnded);
    assert_eq!(record.screen_at, 7);
    assert!(!record.forced);
    assert_eq!(session.course.paused_at, Some(record.at));
    assert_eq!(session.talk.queue.len(), 1, "what came meanwhile waits");
}

#[test]
fn a_pause_at_the_boundary_waits_for_the_turn_and_its_background() {
    told(
        Kind::Agent,
        &[
            IDLE,
            BUSY,
            "tool bash
            pause => pause began | pending
            alarm => nothing
            tooled bash => tool ended
            background 1 => background changed
            turn ended => turn ended
            background 0 => background changed, safe state reached | do capture terminal",
        ],
    )
    .unwrap();
}

#[test]
fn a_forced_pause_saves_before_it_kills() {
    let stage = told(
        Kind::Agent,
        &[
            IDLE,
            BUSY,
            "pause force => pause began, safe state reached by force | do capture terminal | pending
            captured => terminal captured | do take snapshot
            saved => snapshot taken, end began | do kill
            ended => process ended | do take snapshot
            saved => snapshot taken, paused",
        ],
    )
    .unwrap();
    assert!(stage.session().unwrap().talk.cut_off);
}

#[test]
fn pressing_again_hastens_and_a_softer_wish_does_not_slow_down() {
    told(
        Kind::Agent,
        &[
            IDLE,
            BUSY,
            "pause => pause began | pending
            pause interrupt => pause hastened | do check save | pending
            pause => pending
            pause interrupt => pending
            savable => interrupt began | do interrupt, await safe state
            pause firmly => pause hastened | pending
            pause interrupt => pending
            pause force => pause hastened, safe state reached by force | do capture terminal | pending
            captured
            saved => snapshot taken, end began | do kill
            pause force => pending",
        ],
    )
    .unwrap();
}

#[test]
fn a_pause_is_called_off_before_it_takes_effect_and_not_after() {
    for mode in ["pause", "pause interrupt", "pause interrupt\nsavable"] {
        let stage =
            told(Kind::Agent, &[IDLE, BUSY, mode, "cancel => pause cancelled", "alarm => nothing"])
                .unwrap();
        assert_eq!(stage.session().unwrap().status(), Status::Busy);
    }
    for step in ["", "captured", "captured\nsaved", "captured\nsaved\nended"] {
        told(Kind::Agent, &[IDLE, "pause", step, "cancel => refused: too late"]).unwrap();
    }
}

#[test]
fn what_was_queued_is_delivered_after_a_cancelled_pause() {
    told(
        Kind::Agent,
        &[
            IDLE,
            BUSY,
            "pause
            send hello
            cancel => pause cancelled
            turn ended => turn ended, delivery began | do save after the turn, deliver hello",
        ],
    )
    .unwrap();
}

#[test]
fn an_agent_that_does_not_listen_is_left_alone_or_forced() {
    let stage = told(
        Kind::Agent,
        &[
            IDLE,
            BUSY,
            "tool bash
            pause interrupt
            savable
            alarm => pause refused: timeout waiting for safe state, it runs bash
            alarm => nothing",
        ],
    )
    .unwrap();
    assert_eq!(stage.session().unwrap().status(), Status::Busy);
    let event = &stage.log.last().unwrap().event;
    let (_, end) = event.ends().unwrap();
    let doing = "timeout waiting for safe state, it runs bash".to_owned();
    assert_eq!(end, Err(Failure::NotSafe { doing }));
    told(
        Kind::Agent,
        &[
            IDLE,
            BUSY,
            "pause firmly
            savable
            alarm => safe state reached by force | do capture terminal
            captured
            saved => snapshot taken, end began | do stop with an interrupt",
        ],
    )
    .unwrap();
}

#[test]
fn a_step_that_fails_before_the_stop_leaves_the_agent_running() {
    for (steps, failing) in [
        ("", "uncaptured => pause failed: capture PTY state"),
        ("", "uncaptured conversation => pause failed: save conversation"),
        ("captured", "unsaved => pause failed: stash changes"),
    ] {
        let stage = told(Kind::Agent, &[IDLE, "pause", steps, failing]).unwrap();
        let session = stage.session().unwrap();
        assert_eq!(session.phase, Phase::Live);
        assert!(session.runs());
    }
}

#[test]
fn an_agent_that_cannot_be_interrupted_is_not_waited_for() {
    let beginning = [IDLE, BUSY, "pause interrupt"];
    let refused = "savable\nuninterrupted => pause failed: interrupt agent\nalarm => nothing";
    let stage = told(Kind::Agent, &[&beginning[..], &[refused]].concat()).unwrap();
    assert_eq!(stage.session().unwrap().phase, Phase::Live);
    let forced = "savable\nuninterrupted => safe state reached by force | do capture terminal";
    told(Kind::Agent, &[IDLE, BUSY, "pause firmly", forced]).unwrap();
    // One that has come to its safe state meanwhile needs none.
    told(
        Kind::Agent,
        &[IDLE, BUSY, "pause interrupt\nsavable\nturn cut", "uninterrupted => nothing"],
    )
    .unwrap();
}

#[test]
fn a_worktree_that_usually_goes_stays_where_that_is_not_possible() {
    let clear = "pause as usual => pause began, safe state reached | do capture terminal | pending
        captured
        saved without .env => snapshot taken, end began | do stop quietly
        ended
        saved without .env => snapshot taken, clearing began | do clear worktree";
    told(Kind::Agent, &[IDLE, clear, "uncleared => worktree stays, paused"]).unwrap();
    told(Kind::Agent, &[IDLE, clear, "cleared => worktree cleared, paused"]).unwrap();
    // What is paused is paused, whatever is usual.
    told(Kind::Agent, &[IDLE, PAUSED, "pause as usual => already"]).unwrap();
    told(Kind::Agent, &[IDLE, BUSY, "pause", "pause as usual => pending"]).unwrap();
}

#[test]
fn a_step_that_fails_for_a_session_at_rest_leaves_it_as_it_was() {
    let stage = told(
        Kind::Agent,
        &[IDLE, "stop\nended\npause\nuncaptured => pause failed: capture PTY state"],
    )
    .unwrap();
    assert_eq!(stage.session().unwrap().status(), Status::Suspended);
}

#[test]
fn a_failed_second_snapshot_is_a_warning() {
    let stage = told(
        Kind::Agent,
        &[IDLE, "pause\ncaptured\nsaved\nended\nunsaved => snapshot taken with a warning, paused"],
    )
    .unwrap();
    let Phase::Rest(Rest::Paused(record)) = &stage.session().unwrap().phase else { panic!() };
    assert_eq!((record.snapshots.len(), record.warnings.len()), (1, 1));
}

#[test]
fn an_agent_that_dies_during_its_pause_is_paused_all_the_same() {
    for (beginning, rest) in [
        (
            "turn began\npause",
            "ended 1 => process ended, safe state reached | do capture terminal
            captured
            saved => snapshot taken, end began | do take snapshot
            saved => snapshot taken, paused",
        ),
        (
            "turn began\npause interrupt\nsavable",
            "ended 1 => process ended, safe state reached | do capture terminal",
        ),
        (
            "pause",
            "ended 1 => process ended
            captured => terminal captured | do take snapshot
            saved => snapshot taken, end began | do take snapshot
            saved => snapshot taken, paused",
        ),
        ("pause\ncaptured\nsaved", "ended 1 => process ended | do take snapshot"),
    ] {
        told(Kind::Agent, &[IDLE, beginning, rest]).unwrap();
    }
}

#[test]
fn an_agent_that_dies_before_a_failing_snapshot_is_interrupted() {
    let stage = told(
        Kind::Agent,
        &[IDLE, "pause\ncaptured\nended 1\nunsaved => pause failed: stash changes"],
    )
    .unwrap();
    assert_eq!(stage.session().unwrap().status(), Status::Interrupted);
}

#[test]
fn a_command_that_ends_by_itself_before_it_was_disturbed_has_just_ended() {
    told(
        Kind::Command,
        &["new\nmade\nchecked\nstarted
        pause => pause began | pending
        ended 0 => process ended, pause refused: it ended by itself first (exit status 0), completed | do save after the end"],
    )
    .unwrap();
}

#[test]
fn a_command_is_safe_at_its_prompt_and_not_while_it_is_merely_silent() {
    told(
        Kind::Command,
        &["new\nmade\nchecked\nstarted
        pause => pause began | pending
        screen silent => screen judged
        screen prompt => screen judged, safe state reached | do capture terminal"],
    )
    .unwrap();
}

#[test]
fn an_interrupted_command_is_safe_at_its_prompt_and_not_while_it_is_merely_silent() {
    told(
        Kind::Command,
        &["new\nmade\nchecked\nstarted
        screen silent => screen judged | do save after the turn
        pause interrupt => pause began | do check save | pending
        savable => interrupt began | do interrupt, await safe state
        screen flowing => screen judged
        screen silent => screen judged
        screen prompt => screen judged, safe state reached | do capture terminal"],
    )
    .unwrap();
}

#[test]
fn who_cannot_be_saved_is_not_disturbed() {
    let stage = told(
        Kind::Agent,
        &[
            IDLE,
            BUSY,
            "pause interrupt => pause began | do check save | pending
            unsavable => pause failed: stash changes
            savable => nothing
            pause => pause began | pending
            unsavable => nothing
            pause firmly => pause hastened | do check save | pending
            unsavable => pause failed: stash changes",
        ],
    )
    .unwrap();
    assert_eq!(stage.session().unwrap().status(), Status::Busy);
    let interrupted = |event: &Event| matches!(event, Event::InterruptBegan { .. });
    assert!(!stage.log.iter().any(|recorded| interrupted(&recorded.event)));
}

#[test]
fn who_becomes_safe_or_is_forced_meanwhile_needs_no_interrupt() {
    for (meanwhile, late) in [
        ("turn ended => turn ended, safe state reached | do capture terminal", "savable"),
        ("turn ended", "unsavable"),
        ("ended 1 => process ended, safe state reached | do capture terminal", "savable"),
        ("pause force", "unsavable"),
        ("cancel => pause cancelled", "savable"),
    ] {
        let late = format!("{late} => nothing");
        told(Kind::Agent, &[IDLE, BUSY, "pause interrupt", meanwhile, &late]).unwrap();
    }
}

#[test]
fn every_question_that_was_open_is_kept_until_the_agent_has_words_again() {
    let kept = |steps: &[&str]| -> Vec<String> {
        let stage = told(Kind::Agent, steps).unwrap();
        let session = stage.session().unwrap();
        assert_eq!(session.asks(), []);
        session.talk.was_asking.iter().map(|ask| ask.text.clone()).collect()
    };
    let asked = [IDLE, BUSY, "asks rm\nasks push"];
    let paused = [asked.as_slice(), &[PAUSED]].concat();
    assert_eq!(kept(&paused), ["rm?", "push?"]);
    let resumed = [paused.as_slice(), &["resume\nchecked\nstarted\nready"]].concat();
    assert_eq!(kept(&resumed), ["rm?", "push?"]);
    let worded = [resumed.as_slice(), &["send go\ntook"]].concat();
    assert_eq!(kept(&worded), [""; 0]);
    // A pause that failed has taken nothing away: what was open is answered as any other.
    let failed =
        [asked.as_slice(), &["pause boundary\ncaptured\nunsaved\nunasks rm\nunasks push"]].concat();
    assert_eq!(kept(&failed), [""; 0]);
}

#[test]
fn a_late_outcome_of_another_pause_changes_nothing() {
    told(
        Kind::Agent,
        &[
            IDLE,
            "saved => nothing
            captured => nothing
            uncaptured => nothing
            aside => nothing
            checked => nothing
            made => nothing",
        ],
    )
    .unwrap();
}
