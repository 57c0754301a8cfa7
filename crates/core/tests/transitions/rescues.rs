//! What comes to the rescue: a stop over a start, another try for a message, an end to failing
//! starts, a process that the log has forgotten, a record that was damaged.

use crate::script::{Kind, Stage, check};
use crate::table::{IDLE, PAUSED};
use crate::words::{self, IdleTimers};
use glis_core::session::FAILED_STARTS_MAX;
use glis_core::talk::Delivery;
use glis_core::{Event, House, Input, Phase, Recorded, Session, Status};

#[test]
fn a_stop_wins_over_an_agent_that_does_not_get_ready() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}\n{PAUSED}\n{}",
            "resume
            checked
            started => process started | do await ready
            stop => start cancelled, stop began | do stop quietly | pending
            crash => as before
            found alive => do stop with an interrupt
            alarm => nothing
            ready => became ready
            stop => do kill | pending
            ended => process ended, suspended | do save after the end
            send hello => message queued, start began | do check start | queued while suspended"
        ),
    )
    .unwrap();
}

#[test]
fn a_stop_waits_for_a_process_that_is_being_born() {
    let story = format!("{IDLE}\n{PAUSED}\nresume\nchecked\nstop");
    for (then, leads_to) in [
        ("started", "process started | do stop quietly"),
        ("unstarted", "suspended"),
        ("found gone", "process ended, suspended | do save after the end"),
        ("found alive", "do stop with an interrupt"),
        ("stop", "pending"),
    ] {
        check(Kind::Agent, &format!("{story}\n{then} => {leads_to}"))
            .map_err(|fault| format!("{then}: {fault}"))
            .unwrap();
    }
    let stage = check(Kind::Agent, &format!("{story}\nstarted\nended")).unwrap();
    assert_eq!(stage.session().map(glis_core::Session::status), Some(Status::Suspended));
}

#[test]
fn a_stop_while_the_start_is_looked_into_is_over_at_once() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}\n{PAUSED}\n{}",
            "resume
            stop => start cancelled, suspended | do cut short | pending
            checked => nothing
            unfit => nothing"
        ),
    )
    .unwrap();
}

#[test]
fn a_stop_waits_for_the_worktree_of_a_new_session() {
    check(
        Kind::Agent,
        "new
        stop => start cancelled, stop began | do cut set-up short | pending
        stop => pending
        crash => as before
        found gone => do make worktree
        made => worktree made, suspended
        resume => start began | do check start | pending",
    )
    .unwrap();
    check(Kind::Agent, "new\nstop\nunmade => creation failed").unwrap();
    check(
        Kind::Agent,
        "new
        stop
        send hello => message queued | queued while busy
        made => worktree made, suspended, start began | do check start",
    )
    .unwrap();
}

#[test]
fn a_restart_that_was_stopped_keeps_the_former_conversation() {
    for rest in [
        "stop => start cancelled, suspended | do cut short | pending",
        "checked\nstop\nunstarted => suspended",
        "checked\nstop\nstarted\ntold ref-3\nended => process ended, suspended | do save after the end",
        "checked\nstop\ncrash\nfound gone => process ended, suspended | do save after the end",
    ] {
        let story = format!("{IDLE}\n{PAUSED}\nrestart begin anew\n{rest}");
        let stage = check(Kind::Agent, &story).unwrap();
        let session = stage.session().unwrap();
        assert_eq!(session.agent.agent_ref.as_deref(), Some("ref-1"), "{rest}");
        assert!(
            session.agent.ran
                && session.starts.set_aside.is_none()
                && session.talk.queue.is_empty(),
            "{rest}"
        );
    }
}

#[test]
fn a_message_that_is_refused_again_and_again_is_asked_about_with_the_reason() {
    let doubts = |stage: &Stage| -> Vec<Option<String>> {
        let session = stage.session().unwrap();
        session.asks().into_iter().map(|ask| ask.not_delivered).collect()
    };
    let stuck = || {
        let mut stage = check(Kind::Agent, &format!("{IDLE}\nsend hello")).unwrap();
        for _ in 1..5 {
            stage.play("undelivered").unwrap();
            stage.play("retry").unwrap();
            assert_eq!(doubts(&stage), []);
        }
        stage.play("undelivered").unwrap();
        assert_eq!(stage.session().unwrap().status(), Status::Waiting);
        let reason = doubts(&stage).remove(0);
        assert!(reason.is_some_and(|why| !why.is_empty()));
        stage
    };
    // It is still tried, and a person can hasten that or give it up.
    let mut stage = stuck();
    assert_eq!(stage.play("retry").unwrap(), "delivery began | do deliver hello");
    assert_eq!(doubts(&stage).len(), 1, "while it is under way it is not known to be taken");
    assert_eq!(stage.play("took").unwrap(), "message taken");
    assert_eq!(doubts(&stage), []);
    let mut stage = stuck();
    let again = stage.play("answer allow").unwrap();
    assert!(again.contains("delivery began | do deliver hello"), "{again}");
    assert_eq!(doubts(&stage), []);
    let mut stage = stuck();
    stage.play("answer deny").unwrap();
    assert!(stage.session().unwrap().talk.queue.is_empty());
}

#[test]
fn a_refused_message_is_tried_again_and_not_for_ever() {
    let mut stage = check(Kind::Agent, &format!("{IDLE}\nsend hello")).unwrap();
    for refused in 1..=8 {
        let told = stage.play("undelivered").unwrap();
        assert_eq!(told, format!("delivery refused | do await retry {} ms", 250 << (refused - 1)));
        assert_eq!(stage.play("retry").unwrap(), "delivery began | do deliver hello");
        // Two alarms for one message are no two deliveries.
        assert_eq!(stage.play("retry").unwrap(), "nothing");
    }
    assert_eq!(stage.play("undelivered").unwrap(), "delivery refused");
    // The next sign of life is another chance, as before.
    assert_eq!(
        stage.play("background 1").unwrap(),
        "background changed, delivery began | do deliver hello"
    );
    assert_eq!(stage.play("took").unwrap(), "message taken");
    assert_eq!(stage.play("retry").unwrap(), "nothing");
}

#[test]
fn messages_do_not_start_what_fails_again_and_again() {
    let mut stage = check(Kind::Agent, &format!("{IDLE}\nstop\nended")).unwrap();
    for _ in 0..FAILED_STARTS_MAX {
        let told = stage.play("send hello").unwrap();
        assert_eq!(told, "message queued, start began | do check start | queued while suspended");
        stage.play("checked").unwrap();
        stage.play("started").unwrap();
        let told = stage.play("ended 1").unwrap();
        assert_eq!(told, "process ended, start failed: not ready | do save after the end");
    }
    assert_eq!(stage.play("send hello").unwrap(), "message queued | queued while suspended");
    assert_eq!(stage.play("crash").unwrap(), "as before");
    assert_eq!(stage.play("send hello").unwrap(), "message queued | queued while suspended");
    // Whoever asks for it in so many words gets it, and a success wipes the slate.
    assert_eq!(stage.play("resume").unwrap(), "start began | do check start | pending");
    for line in ["checked", "started", "ready"] {
        stage.play(line).unwrap();
    }
    let session = stage.session().unwrap();
    assert_eq!((session.course.failed_starts, session.talk.queue.len()), (0, 5));
}

#[test]
fn a_process_that_the_log_has_forgotten_is_taken_over() {
    for beginning in [
        "stop\nended",
        "pause\ncaptured\nsaved\nended\nsaved",
        "pause\ncaptured",
        "stop",
        "stop\nended\nresume\nchecked",
        "ended",
        "",
    ] {
        let story = format!("{IDLE}\n{beginning}\ncrash\nfound later => process adopted");
        let mut stage = check(Kind::Agent, &story).unwrap();
        let session = stage.session().unwrap();
        assert_eq!(session.phase, Phase::Live, "{beginning}");
        let generation = session.agent.generation;
        assert!(generation >= 3 && session.runs(), "{beginning}");
        assert_eq!(stage.play("crash").unwrap(), "as before");
        assert_eq!(stage.play("found alive").unwrap(), "nothing");
        stage.play("ready").unwrap();
        assert_eq!(
            stage.play("pause").unwrap(),
            "pause began, safe state reached | do capture terminal | pending"
        );
    }
}

/// It had the name under which it was to come back.
#[test]
fn one_that_was_on_its_way_out_of_the_trash_has_come_back_under_its_new_name() {
    let story =
        format!("{IDLE}\n{PAUSED}\nrm\naside\nreturn green\nfound later => process adopted");
    let stage = check(Kind::Agent, &story).unwrap();
    assert_eq!(stage.session().unwrap().name, "green");
}

#[test]
fn what_waited_by_a_log_without_its_end_is_asked_about_and_never_repeated() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}\n{PAUSED}\n{}",
            "send one
            send two
            found later => process adopted, message doubted, message doubted
            ready => became ready
            took one => message taken
            turn ended => turn ended | do save after the turn
            answer allow => message requeued, delivery began | do deliver two
            undelivered => delivery refused | do await retry 250 ms"
        ),
    )
    .unwrap();
    check(
        Kind::Agent,
        &format!(
            "{IDLE}\n{PAUSED}\n{}",
            "send one
            send two
            found later
            ready
            answer deny to doubt-1 => message dropped
            answer deny => message dropped"
        ),
    )
    .unwrap();
}

/// The process has ended as well before the next daemon came.
#[test]
fn what_an_unknown_process_may_have_taken_is_asked_about_also_after_its_end() {
    let story = "send one\nfound later exit => message doubted";
    check(Kind::Agent, &format!("{IDLE}\n{PAUSED}\n{story}")).unwrap();
}

#[test]
fn a_removed_session_takes_over_nothing() {
    check(Kind::Agent, &format!("{IDLE}\nstop\nended\nrm\naside\nfound later => do kill")).unwrap();
}

#[test]
fn a_damaged_record_is_flagged_until_somebody_takes_note() {
    let mut stage = check(Kind::Agent, IDLE).unwrap();
    assert_eq!(stage.play("acknowledge").unwrap(), "already");
    for seq in [100, 101] {
        let event = Event::RecordDamaged { lost: vec![(3, 4), (9, 9)], kept: "there".to_owned() };
        let recorded = Recorded::new(seq, 0, crate::script::Stage::id().into(), event);
        stage.house.apply(&recorded);
        stage.log.push(recorded);
    }
    let damage = stage.session().unwrap().upkeep.damage.clone().unwrap();
    assert_eq!((damage.lost, damage.kept.as_str()), (6, "there"));
    assert_eq!(stage.play("acknowledge").unwrap(), "damage acknowledged");
    assert_eq!(stage.session().unwrap().upkeep.damage, None);
}

/// A house that knows nothing but this session's card.
fn by_card_alone(stage: &Stage, session: &Session) -> House {
    let cards = [(session.id.clone(), session.card(stage.house.last_seq()))].into();
    let mut house = House::default();
    for (session, event) in house.after_a_loss(&cards, ("backup", "folder")) {
        let seq = house.last_seq() + 1;
        house.apply(&Recorded::new(seq, 99, session.into(), event));
    }
    house
}

#[test]
fn a_session_is_known_again_by_its_card() {
    let stories = [
        "new\nmade".to_owned(),
        IDLE.to_owned(),
        format!("{IDLE}\nturn began\ntool a"),
        format!("{IDLE}\nasks a"),
        format!("{IDLE}\n{PAUSED}\nsend hello"),
        format!("{IDLE}\nsend hello\ntook\nturn began\nlimited 9\ncaptured\nsaved\nended\nsaved"),
        format!("{IDLE}\nstop\nended"),
        format!("{IDLE}\nended killed"),
        format!("{IDLE}\n{PAUSED}\nrm\naside"),
    ];
    for story in stories {
        let stage = check(Kind::Agent, &story).map_err(|why| format!("{story}: {why}")).unwrap();
        let before = stage.session().unwrap();
        let house = by_card_alone(&stage, before);
        let after = house.session(&Stage::id()).unwrap();
        let told = |session: &Session| {
            let ids =
                (session.name.clone(), session.agent.agent_ref.clone(), session.agent.generation);
            let place = (
                session.place.worktree.clone(),
                session.place.branch.clone(),
                session.saved.snapshot.clone(),
            );
            let asked = (session.talk.queue.len(), session.ahead.limits.clone());
            (session.process().cloned(), ids, place, session.upkeep.trashed.clone(), asked)
        };
        assert_eq!(told(after), told(before), "{story}");
        let starts = !before.runs() && before.operation().is_some();
        assert!(starts || after.status() == before.status(), "{story}: {:?}", after.status());
        let removed = before.status() == Status::Archived;
        assert_eq!(after.upkeep.damage.is_some(), !removed, "{story}");
        assert!(
            after.talk.queue.iter().all(|message| message.delivery == Delivery::Doubtful),
            "{story}"
        );
    }
}

/// A blank conversation in place of the one that is lost would go unnoticed.
#[test]
fn an_agent_that_only_its_card_knows_never_begins_a_blank_conversation() {
    for story in ["new hello\nmade\nchecked\nstarted", "new hello\nmade\nchecked\nstarted\nready"] {
        let mut stage = check(Kind::Learner, story).unwrap();
        stage.house = by_card_alone(&stage, stage.session().unwrap());
        // What was said to it after its card was written, and which id it told, the card cannot know.
        stage.play("found alive").unwrap();
        stage.play("ended killed").unwrap();
        assert_eq!(stage.play("resume").unwrap(), "refused: not resumable, no ref", "{story}");
    }
}

#[test]
fn a_card_counts_only_where_it_knows_more_than_the_log() {
    let stage = check(Kind::Agent, &format!("{IDLE}\n{PAUSED}")).unwrap();
    let session = stage.session().unwrap();
    let names = |seq: u64| -> Vec<&str> {
        let cards = [(session.id.clone(), session.card(seq))].into();
        let events = stage.house.after_a_loss(&cards, ("backup", "folder"));
        let is = |event: &Event| {
            if matches!(event, Event::SessionRecovered { .. }) {
                return "recovered";
            }
            let Event::RecordDamaged { kept, .. } = event else { return "another" };
            if kept == "backup" { "flagged by the copies" } else { "flagged by the folder" }
        };
        events.iter().map(|(_, event)| is(event)).collect()
    };
    assert_eq!(names(stage.house.last_seq()), ["flagged by the copies"]);
    assert_eq!(names(stage.house.last_seq() + 1), ["recovered", "flagged by the folder"]);
}

#[test]
fn what_broke_bars_its_session_until_somebody_takes_note() {
    let mut stage = check(Kind::Agent, IDLE).unwrap();
    let broke = |what: &str| Input::Broke {
        session: crate::script::Stage::id(),
        what: what.to_owned(),
        why: "it died".to_owned(),
    };
    let told = words::decision(&stage.house.decide(broke("save")).unwrap(), IdleTimers::Hidden);
    assert_eq!(told, "barred");
    let event = Event::Barred { what: "save".to_owned(), why: "it died".to_owned() };
    let recorded = Recorded::new(100, 0, crate::script::Stage::id().into(), event);
    stage.house.apply(&recorded);
    stage.log.push(recorded);
    assert_eq!(stage.session().unwrap().idle_spell(), None, "nothing happens to it by itself");
    // The first reason stands.
    let again = words::decision(&stage.house.decide(broke("start")).unwrap(), IdleTimers::Hidden);
    assert_eq!(again, "nothing");
    assert_eq!(stage.session().unwrap().upkeep.barred.clone().unwrap().what, "save");
    assert_eq!(stage.play("acknowledge").unwrap(), "bar lifted");
    assert_eq!(stage.play("acknowledge").unwrap(), "already");
}

#[test]
fn a_snapshot_that_a_caller_waits_for_is_taken_also_of_what_was_taken_over() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}
            snapshot => save began | do save | pending
            crash
            found later => process adopted | do save
            kept for 1 => worktree saved"
        ),
    )
    .unwrap();
}

#[test]
fn a_pause_that_has_failed_while_no_daemon_ran_goes_on_with_nothing() {
    let left = "could not be ended and still there: make (pid 9)";
    check(
        Kind::Agent,
        &format!(
            "{IDLE}
            pause => pause began, safe state reached | do capture terminal | pending
            crash
            found gone with 9 left => process ended, pause failed: end every process, {left} | do save after the end"
        ),
    )
    .unwrap();
}
