//! Faults that were found, each as the story that showed it.

use crate::script::{Kind, Stage, check};
use glis_core::event::Spot;
use glis_core::input::{Hearing, Sign};
use glis_core::{AskId, Input, Recorded, Refusal, SessionId, input::Command};

/// A session that ran, was paused, and is being resumed.
const RESUMING: &str = "
    new
    made
    checked
    started
    ready
    pause
    captured
    saved
    ended
    saved
    resume
    checked
";

#[test]
fn an_agent_that_rejects_its_id_and_lives_on_is_ended() {
    let story = format!(
        "{RESUMING}
        started => process started | do await ready
        rejects => ref rejected | do kill
        ready => became ready
        alarm => nothing
        ended => process ended, start failed: rejected | do save after the end"
    );
    check(Kind::Agent, &story).unwrap();
}

/// A broken configuration says nothing about the conversation.
#[test]
fn an_agent_that_does_not_begin_is_not_said_to_reject_its_id() {
    let story = format!(
        "{RESUMING}
        started => process started | do await ready
        balks => start refused | do kill
        rejects => nothing
        ended => process ended, start failed: not ready | do save after the end"
    );
    check(Kind::Agent, &story).unwrap();
}

#[test]
fn a_process_that_a_resting_session_left_behind_is_ended_after_a_crash() {
    let story = format!(
        "{RESUMING}
        started
        rejects
        crash
        found alive => do kill
        found exit 1 => process ended, start failed: rejected | do save after the end
        found alive => do kill, save after the end
        found gone => do save after the end"
    );
    check(Kind::Agent, &story).unwrap();
}

#[test]
fn nothing_is_asked_any_more_once_a_start_has_failed() {
    let story = format!(
        "{RESUMING}
        started
        asks trust
        rejects
        ended"
    );
    let stage = check(Kind::Agent, &story).unwrap();
    assert_eq!(stage.session().unwrap().asks(), []);
}

#[test]
fn a_check_that_fails_after_it_succeeded_changes_nothing() {
    check(
        Kind::Agent,
        "new
        made
        checked => start checked | do start process 1
        unfit => nothing",
    )
    .unwrap();
}

#[test]
fn a_process_that_runs_is_not_said_to_have_failed_to_start() {
    let story = format!(
        "{RESUMING}
        started => process started | do await ready
        unstarted => nothing"
    );
    check(Kind::Agent, &story).unwrap();
}

#[test]
fn a_command_that_ended_well_while_the_daemon_was_down_has_completed() {
    check(
        Kind::Command,
        "new
        made
        checked
        crash
        found exit 0 => process ended, start ended, completed | do save after the end",
    )
    .unwrap();
}

#[test]
fn a_command_that_ended_well_before_its_start_was_told_has_completed() {
    check(
        Kind::Command,
        "new
        made
        checked
        ended 0 => process ended, start ended, completed | do save after the end",
    )
    .unwrap();
}

#[test]
fn a_session_paused_before_its_first_start_can_be_resumed() {
    check(
        Kind::Learner,
        "new
        made => worktree made, creation ended
        pause
        captured
        saved => snapshot taken, paused
        send hello => message queued | queued while paused
        resume => start began | do check start | pending
        checked
        started => process started, start ended
        ready => became ready, delivery began | do deliver hello",
    )
    .unwrap();
}

#[test]
fn a_failed_restart_leaves_the_former_conversation() {
    let stage = check(
        Kind::Agent,
        "new
        made
        checked
        started
        ready
        stop
        ended
        restart
        unfit => start failed: system",
    )
    .unwrap();
    let session = stage.session().unwrap();
    assert_eq!(session.agent.agent_ref.as_deref(), Some("ref-1"));
    assert!(session.agent.former_refs.is_empty());
}

#[test]
fn a_refused_delivery_does_not_lose_the_note() {
    check(
        Kind::Agent,
        "new
        made
        checked
        started
        ready
        turn began
        ended 1 => process ended, interrupted | do save after the end
        send hello
        resume
        checked
        started
        ready => became ready, start ended, delivery began | do deliver hello with the note
        undelivered => delivery refused | do await retry 250 ms
        background 0 => delivery began | do deliver hello with the note",
    )
    .unwrap();
}

#[test]
fn the_note_of_a_dropped_message_goes_with_the_next_one() {
    check(
        Kind::Agent,
        "new
        made
        checked
        started
        ready
        turn began
        ended 1
        send hello
        resume
        checked
        started
        ready
        crash
        found alive => message doubted
        answer deny => message dropped
        send again => message queued, delivery began | do deliver again with the note | queued while idle",
    )
    .unwrap();
}

#[test]
fn an_agent_that_was_just_handed_a_message_is_not_safe() {
    check(
        Kind::Agent,
        "new
        made
        checked
        started
        ready
        send hello => message queued, delivery began | do deliver hello | queued while idle
        pause => pause began | pending
        took => message taken
        turn began => turn began
        turn ended => turn ended, safe state reached | do capture terminal",
    )
    .unwrap();
}

#[test]
fn two_questions_on_one_screen_have_two_names() {
    let mut stage = check(
        Kind::Command,
        "new
        made
        checked
        started
        screen delete?",
    )
    .unwrap();
    let first = stage.session().unwrap().asks()[0].id.clone();
    stage.play("screen flowing").unwrap();
    stage.play("screen delete?").unwrap();
    let second = stage.session().unwrap().asks()[0].id.clone();
    assert_ne!(first, second);
    let stale = stage.house.decide(Input::Command(Command::Answer {
        session: Stage::id(),
        ask: Some(first),
        answer: "y".to_owned(),
        reason: None,
    }));
    assert_eq!(stale, Err(Refusal::WrongAsk { session: "blue".to_owned(), open: vec![second] }));
}

#[test]
fn a_message_that_came_during_a_stop_wakes_the_session_afterwards() {
    check(
        Kind::Agent,
        "new
        made
        checked
        started
        ready
        stop
        send hello => message queued | queued while idle
        ended => process ended, suspended, start began | do save after the end, check start",
    )
    .unwrap();
}

#[test]
fn a_message_that_came_before_a_stop_wakes_nobody() {
    check(
        Kind::Agent,
        "new
        made
        checked
        started
        ready
        turn began
        send hello
        stop
        ended => process ended, suspended | do save after the end",
    )
    .unwrap();
}

#[test]
fn a_session_cannot_take_the_id_of_another() {
    let stage = check(Kind::Agent, "new").unwrap();
    let again = stage.house.decide(Input::Command(Command::New {
        id: SessionId("s1".to_owned()),
        name: "red".to_owned(),
        spec: Box::new(Kind::Agent.spec()),
        agent_ref: None,
    }));
    assert_eq!(again, Err(Refusal::NameTaken { name: "s1".to_owned() }));
    assert_eq!(stage.session().unwrap().asks().iter().find(|a| a.id == AskId(String::new())), None);
}

#[test]
fn what_an_agent_wrote_before_it_died_in_a_pause_is_saved_too() {
    check(
        Kind::Agent,
        "new
        made
        checked
        started
        ready
        pause
        captured => terminal captured | do take snapshot
        ended 1 => process ended
        saved => snapshot taken, end began | do take snapshot
        saved => snapshot taken, paused",
    )
    .unwrap();
}

#[test]
fn an_agent_that_takes_messages_at_any_time_is_not_believed_to_have_taken_the_latest() {
    check(
        Kind::Command,
        "new
        made
        checked
        started
        send hello => message queued, delivery began | do deliver hello | queued while busy
        took => nothing
        delivered => message taken",
    )
    .unwrap();
}

#[test]
fn a_first_start_that_came_to_nothing_is_tried_afresh() {
    check(
        Kind::Learner,
        "new
        made
        send hello => message queued, start began | do check start | queued while created
        checked
        crash
        found exit 0 => process ended, start failed: not ready | do save after the end
        send again => message queued, start began | do check start | queued while created
        checked => start checked | do start process 2
        started => process started, start ended",
    )
    .unwrap();
}

#[test]
fn a_process_that_starts_after_its_start_was_given_up_is_ended() {
    check(
        Kind::Agent,
        "new
        made
        checked
        unstarted => start failed: system
        started => do kill",
    )
    .unwrap();
}

#[test]
fn a_rejection_that_comes_after_the_time_for_getting_ready_still_counts() {
    let story = format!(
        "{RESUMING}
        started
        alarm => start ended
        rejects => ref rejected | do kill
        ended => process ended, interrupted | do save after the end"
    );
    check(Kind::Agent, &story).unwrap();
}

/// Something that the transcript of the present conversation tells at this place.
fn written(stage: &mut Stage, at: u64, sign: Sign) -> Option<usize> {
    let generation = stage.session()?.agent.generation;
    let (session, spot, hearing) = (Stage::id(), Spot::Transcript(at), Hearing::Live);
    let input = Input::Sign { session, generation, spot, hearing, sign };
    let events = stage.house.decide(input).ok()?.events;
    let count = events.len();
    for (session, event) in events {
        let seq = stage.house.last_seq() + 1;
        let recorded = Recorded::new(seq, 0, session, event);
        stage.house.apply(&recorded);
        stage.log.push(recorded);
    }
    Some(count)
}

#[test]
fn a_place_in_a_transcript_belongs_to_the_conversation_that_it_is_in() {
    let mut stage = check(Kind::Agent, "new\nmade\nchecked\nstarted\nready").unwrap();
    let began = |stage: &mut Stage, at| written(stage, at, Sign::TurnBegan).unwrap();
    let ended = |stage: &mut Stage, at| written(stage, at, Sign::TurnEnded).unwrap();
    assert_eq!((began(&mut stage, 400), ended(&mut stage, 500)), (1, 1));
    // A shorter one, in the same process.
    stage.play("told ref-9").unwrap();
    assert_eq!((began(&mut stage, 40), ended(&mut stage, 50)), (1, 1));
    // Back in the former one, which is read again from its beginning.
    stage.play("told ref-1").unwrap();
    assert_eq!((began(&mut stage, 400), ended(&mut stage, 500)), (0, 0));
    assert_eq!((began(&mut stage, 600), ended(&mut stage, 700)), (1, 1));
    assert_eq!(stage.play("crash").unwrap(), "as before");
}

#[test]
fn a_fresh_start_that_failed_leaves_the_former_places_as_they_were() {
    let mut stage = check(Kind::Agent, "new\nmade\nchecked\nstarted\nready").unwrap();
    assert_eq!(written(&mut stage, 400, Sign::TurnBegan), Some(1));
    assert_eq!(written(&mut stage, 500, Sign::TurnEnded), Some(1));
    for line in ["stop", "ended", "restart", "unfit"] {
        stage.play(line).unwrap();
    }
    assert_eq!(stage.session().unwrap().talk.seen.transcript, 500);
}
