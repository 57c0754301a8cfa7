//! Stories of beginnings and ends: new, resume, restart, stop, rm.

use crate::script::{Kind, Stage, check};
use crate::table::{BUSY, IDLE, PAUSED};
use glis_core::reason::Why;
use glis_core::{Failure, Status};

fn told(kind: Kind, story: &[&str]) -> Result<Stage, String> {
    check(kind, &story.join("\n"))
}

#[test]
fn a_terminal_session_starts_at_once_and_a_headless_one_at_its_first_message() {
    told(
        Kind::Agent,
        &["new => session created | do make worktree | pending
        made => worktree made, start began | do check start
        checked => start checked | do start process 1
        started => process started, start ended
        ready => became ready"],
    )
    .unwrap();
    told(
        Kind::Learner,
        &["new
        made => worktree made, creation ended
        send hello => message queued, start began | do check start | queued while created"],
    )
    .unwrap();
    told(
        Kind::Learner,
        &["new hello => session created, message queued | do make worktree | pending
        made => worktree made, start began | do check start"],
    )
    .unwrap();
}

#[test]
fn a_session_that_could_not_be_made_leaves_its_name() {
    let mut stage = told(Kind::Agent, &["new\nunmade => creation failed"]).unwrap();
    assert!(stage.house.find("blue").is_err());
    assert_eq!(stage.play("send hello").unwrap(), "refused: archived");
}

#[test]
fn a_name_is_taken_once_and_checked_first() {
    let mut stage = told(Kind::Agent, &["new"]).unwrap();
    assert_eq!(stage.play("new").unwrap(), "refused: name taken");
}

#[test]
fn a_first_start_that_fails_fails_the_session() {
    told(Kind::Agent, &["new\nmade\nunfit => start failed: system"]).unwrap();
    told(Kind::Agent, &["new\nmade\nchecked\nunstarted => start failed: system"]).unwrap();
    told(
        Kind::Agent,
        &["new\nmade\nchecked\nstarted\nended 1 => process ended, failed | do save after the end"],
    )
    .unwrap();
}

/// Once the program is there, the same start succeeds; nothing that was sent is lost.
#[test]
fn a_first_start_that_failed_is_tried_again_by_a_resume() {
    for (kind, beginning) in [
        (Kind::Agent, "new hello\nmade\nunfit"),
        (Kind::Agent, "new hello\nmade\nchecked\nunstarted"),
        (Kind::Agent, "new hello\nmade\nchecked\nstarted\nended 1"),
        (Kind::Learner, "new hello\nmade\nchecked\nstarted\nrejects\nended 9"),
        (Kind::Command, "new\nmade\nunfit"),
    ] {
        let mut stage = told(kind, &[beginning]).unwrap();
        assert_eq!(stage.session().unwrap().status(), Status::Failed, "{beginning}");
        assert!(stage.session().unwrap().can_resume(), "{beginning}");
        let waiting = stage.session().unwrap().talk.queue.len();
        assert_eq!(stage.play("send more").unwrap(), "message queued | queued while failed");
        assert_eq!(stage.play("resume").unwrap(), "start began | do check start | pending");
        // Fails again, for another reason, which counts from now on.
        stage.play("unfit").unwrap();
        let session = stage.session().unwrap();
        assert_eq!((session.status(), session.talk.queue.len()), (Status::Failed, waiting + 1));
        assert_eq!(session.failure().unwrap().stored(), "no");
        stage.play("resume").unwrap();
        stage.play("checked").unwrap();
        stage.play("started").unwrap();
        assert!(stage.session().unwrap().runs(), "{beginning}");
    }
    let over = "new\nmade\nchecked\nstarted\nended 1\nresume => refused: failed";
    told(Kind::Command, &[over]).unwrap();
}

/// Some agents refuse and live on until we end them: their words are the reason, not our signal.
#[test]
fn an_agent_that_refuses_to_begin_says_why() {
    let begun = "new hello\nmade\nchecked\nstarted\nrejects => ref rejected | do kill";
    let again = "rejects => nothing\nended 9";
    let stage = told(Kind::Learner, &[begun, again]).unwrap();
    let why = stage.session().unwrap().failure().unwrap();
    assert_eq!(*why, Why::RefusedToBegin("unknown id".to_owned()));
    // A daemon that did not live to see its end ends it.
    told(Kind::Learner, &[begun, "found alive => do kill"]).unwrap();
}

#[test]
fn each_resting_state_is_resumed() {
    for (beginning, from) in [
        (PAUSED, Status::Paused),
        ("stop\nended", Status::Suspended),
        ("turn began\nended 1", Status::Interrupted),
        ("ended 0", Status::Suspended),
    ] {
        let stage = told(Kind::Agent, &[IDLE, beginning]).unwrap();
        assert_eq!(stage.session().unwrap().status(), from);
        let stage = told(
            Kind::Agent,
            &[
                IDLE,
                beginning,
                "resume => start began | do check start | pending
                checked => start checked | do start process 2
                started => process started | do await ready
                ready => became ready, start ended
                resume => already",
            ],
        )
        .unwrap();
        let session = stage.session().unwrap();
        assert_eq!(session.status(), Status::Idle);
        assert!(session.course.resumed_at.is_some());
        assert_eq!((session.course.paused_at, session.agent.generation), (None, 2));
    }
}

#[test]
fn a_slow_agent_is_no_reason_to_lose_the_session() {
    told(Kind::Agent, &[IDLE, PAUSED, "resume\nchecked\nstarted\nalarm => start ended"]).unwrap();
}

#[test]
fn a_resume_that_fails_leaves_the_session_paused() {
    for failing in [
        "unfit => start failed: system",
        "checked\nunstarted => start failed: system",
        "checked\nstarted\nended 1 => process ended, start failed: not ready | do save after the end",
        "checked\nstarted\nrejects\nended 1 => process ended, start failed: rejected | do save after the end",
    ] {
        let stage = told(Kind::Agent, &[IDLE, PAUSED, "resume go on", failing]).unwrap();
        let session = stage.session().unwrap();
        assert_eq!(session.status(), Status::Paused);
        assert!(session.course.paused_at.is_some());
        assert_eq!(session.talk.queue.len(), 1, "the message is kept");
        let (_, end) = stage.log.last().unwrap().event.ends().unwrap();
        assert!(matches!(end, Err(Failure::NotStarted(_))), "{end:?}");
    }
}

#[test]
fn an_agent_that_never_told_its_id_cannot_be_resumed() {
    let story = "new hello\nmade\nchecked\nstarted\nready\ntook\nturn began\nturn ended";
    let stage = told(
        Kind::Learner,
        &[story, PAUSED, "resume => refused: not resumable, no ref", "send hi"],
    )
    .unwrap();
    assert!(!stage.session().unwrap().can_resume());
    told(
        Kind::Learner,
        &[
            story,
            "told x => agent ref learned",
            PAUSED,
            "resume => start began | do check start | pending",
        ],
    )
    .unwrap();
}

#[test]
fn a_resumed_agent_may_tell_another_id() {
    let stage =
        told(Kind::Agent, &[IDLE, "told other => agent ref learned\ntold other => nothing"])
            .unwrap();
    let session = stage.session().unwrap();
    assert_eq!(session.agent.agent_ref.as_deref(), Some("other"));
    assert_eq!(session.agent.former_refs, ["ref-1"]);
}

#[test]
fn a_command_is_started_again_in_the_same_place() {
    told(
        Kind::Command,
        &[
            "new\nmade\nchecked\nstarted\nscreen prompt",
            PAUSED,
            "resume\nchecked
        started => process started, start ended",
        ],
    )
    .unwrap();
}

#[test]
fn a_restart_keeps_the_history_and_the_queue() {
    let stage = told(
        Kind::Agent,
        &[
            IDLE,
            PAUSED,
            "send one
            send two
            restart anew => restart began, start began | do check start | pending
            checked => start checked | do start process 2
            started => process started, message queued, start ended
            ready => became ready, delivery began | do deliver anew
            took => message taken
            turn began
            turn ended => turn ended, delivery began | do save after the turn, deliver one",
        ],
    )
    .unwrap();
    let session = stage.session().unwrap();
    assert_eq!(session.agent.agent_ref.as_deref(), Some("ref-2"));
    assert_eq!(session.agent.former_refs, ["ref-1"]);
    assert_eq!(session.place.worktree.as_deref(), Some("/w"));
}

#[test]
fn a_restart_that_fails_has_changed_nothing() {
    let stage = told(
        Kind::Agent,
        &[IDLE, PAUSED, "send one", "restart anew", "unfit => start failed: system"],
    )
    .unwrap();
    let session = stage.session().unwrap();
    assert_eq!(session.agent.agent_ref.as_deref(), Some("ref-1"));
    let waiting: Vec<_> = session.talk.queue.iter().map(|m| m.text.as_str()).collect();
    assert_eq!(waiting, ["one"]);
}

#[test]
fn stopping_twice_kills() {
    let stage = told(
        Kind::Agent,
        &[
            IDLE,
            BUSY,
            "stop => stop began | do stop with an interrupt | pending
            stop => do kill | pending
            ended => process ended, suspended | do save after the end
            stop => already",
        ],
    )
    .unwrap();
    assert!(stage.session().unwrap().talk.cut_off);
}

#[test]
fn what_is_put_aside_is_kept_for_its_history_and_gives_its_name_back() {
    let stage = told(
        Kind::Agent,
        &[
            IDLE,
            "stop\nended
            rm => removal began | do put aside | pending
            unaside => removal failed
            send hello => message queued, start began | do check start | queued while suspended
            unfit
            rm
            aside => archived",
        ],
    )
    .unwrap();
    assert!(stage.house.find("blue").is_err());
    assert!(stage.house.find("s1").is_ok());
    assert_eq!(stage.house.sessions().count(), 0);
}

#[test]
fn an_unasked_end_is_judged_by_what_the_agent_was_doing() {
    for (kind, beginning, end, status) in [
        (Kind::Agent, "", "ended 0", Status::Suspended),
        (Kind::Agent, "", "ended 1", Status::Interrupted),
        (Kind::Agent, "turn began", "ended 0", Status::Interrupted),
        (Kind::Agent, "", "ended unknown", Status::Interrupted),
        (Kind::Command, "", "ended 0", Status::Completed),
        (Kind::Command, "", "ended 2", Status::Failed),
        (Kind::Command, "", "ended unknown", Status::Interrupted),
    ] {
        let stage = told(kind, &[IDLE, beginning, end]).unwrap();
        assert_eq!(stage.session().unwrap().status(), status, "{kind:?} {beginning} {end}");
    }
}

#[test]
fn a_process_that_never_got_ready_has_the_last_word() {
    let new = "new\nmade\nchecked\nstarted\nended 1: error: unknown option";
    let stage = told(Kind::Agent, &[new]).unwrap();
    let why = "it ended before it was ready: exit status 1; it said: error: unknown option";
    assert_eq!(stage.session().unwrap().failure().unwrap().stored(), why);
    let again = [
        IDLE,
        PAUSED,
        "resume\nchecked\nstarted\nended 1: broken settings => process ended, \
        start failed: not ready | do save after the end",
    ];
    let stage = told(Kind::Agent, &again).unwrap();
    assert!(stage.session().unwrap().course.rule.to_string().contains("broken settings"));
    let later =
        [IDLE, "ended unknown: noise => process ended, interrupted | do save after the end"];
    let stage = told(Kind::Agent, &later).unwrap();
    assert!(!stage.session().unwrap().course.rule.to_string().contains("noise"), "nobody said it");
}

/// A pause by force, to its end.
const FORCED: &str = "pause force\ncaptured\nsaved\nended 0\nsaved";

#[test]
fn an_agent_that_had_no_time_to_tell_its_id_begins_again() {
    told(
        Kind::Learner,
        &[
            "new hello\nmade\nchecked\nstarted",
            FORCED,
            "resume => start began | do check start | pending
            checked => start checked | do start process 2
            started => process started, start ended
            told ref-1 => agent ref learned
            ready => became ready, delivery began | do deliver hello",
        ],
    )
    .unwrap();
}

#[test]
fn an_agent_that_was_spoken_to_and_told_no_id_cannot_be_resumed() {
    told(
        Kind::Learner,
        &[
            "new hello\nmade\nchecked\nstarted\nready\ntook",
            FORCED,
            "resume => refused: not resumable, no ref",
        ],
    )
    .unwrap();
}
