//! Stories of messages.

use crate::script::{Kind, Stage, check};
use crate::table::{BUSY, IDLE, PAUSED};
use glis_core::rule::Rule;
use glis_core::talk::Delivery;

fn told(kind: Kind, story: &[&str]) -> Result<Stage, String> {
    check(kind, &story.join("\n"))
}

/// A message is on its way when the daemon dies.
const DOUBT: &str = "send hello
    crash => as before
    found alive => message doubted";

#[test]
fn a_message_is_stored_delivered_once_and_taken() {
    let stage = told(
        Kind::Agent,
        &[
            IDLE,
            "send one => message queued, delivery began | do deliver one | queued while idle
            send two => message queued | queued while busy
            delivered => nothing
            took => message taken
            turn began => turn began
            turn ended => turn ended, delivery began | do save after the turn, deliver two
            undelivered => delivery refused | do await retry 250 ms
            turn began => turn began
            turn ended => turn ended, delivery began | do save after the turn, deliver two
            took => message taken
            took => nothing",
        ],
    )
    .unwrap();
    assert!(stage.session().unwrap().talk.queue.is_empty());
}

#[test]
fn an_agent_that_lets_go_of_its_turn_while_it_is_stopped_is_not_waited_for() {
    let story = "stop => stop began | do stop with an interrupt | pending
        turn ended => turn ended | do stop quietly";
    told(Kind::Agent, &[IDLE, BUSY, story]).unwrap();
}

#[test]
fn what_somebody_else_typed_is_not_taken_for_our_message() {
    let story =
        "send one two => message queued, delivery began | do deliver one two | queued while idle
        took something typed by hand => nothing
        took [note] one  two => message taken";
    told(Kind::Agent, &[IDLE, story]).unwrap();
}

/// At a terminal escape sequences are not typed.
#[test]
fn a_message_counts_as_taken_without_its_escape_sequences() {
    let story = "send \u{1b}[31mone\u{1b}[0m two
        took one two => message taken";
    told(Kind::Agent, &[IDLE, story]).unwrap();
}

#[test]
fn messages_wait_for_the_turn_and_for_the_answer() {
    told(
        Kind::Agent,
        &[
            IDLE,
            BUSY,
            "send hello => message queued | queued while busy
            asks rm => asked
            turn ended => turn ended | do save after the turn
            unasks rm => ask gone, delivery began | do deliver hello",
        ],
    )
    .unwrap();
}

#[test]
fn a_command_is_handed_everything_at_once() {
    told(
        Kind::Command,
        &["new\nmade\nchecked\nstarted
        send y => message queued, delivery began | do deliver y | queued while busy
        send z => message queued | queued while busy
        delivered => message taken, delivery began | do deliver z
        delivered => message taken"],
    )
    .unwrap();
}

#[test]
fn what_is_sent_to_a_paused_session_waits_for_its_resume() {
    told(
        Kind::Agent,
        &[
            IDLE,
            PAUSED,
            "send one => message queued | queued while paused
            resume two
            checked
            started
            ready => became ready, start ended, delivery began | do deliver one
            took => message taken
            turn began => turn began
            turn ended => turn ended, delivery began | do save after the turn, deliver two",
        ],
    )
    .unwrap();
}

#[test]
fn a_message_wakes_a_suspended_session_and_survives_a_failed_start() {
    told(
        Kind::Agent,
        &[
            IDLE,
            "stop\nended
            send one => message queued, start began | do check start | queued while suspended
            send two => message queued | queued while resuming
            unfit => start failed: system
            alarm => nothing
            send three => message queued, start began | do check start | queued while suspended
            checked
            started
            ready => became ready, start ended, delivery began | do deliver one",
        ],
    )
    .unwrap();
}

#[test]
fn a_message_wakes_neither_what_is_paused_nor_what_died() {
    told(Kind::Agent, &[IDLE, PAUSED, "send hi => message queued | queued while paused"]).unwrap();
    told(
        Kind::Agent,
        &[IDLE, BUSY, "ended 1\nsend hi => message queued | queued while interrupted"],
    )
    .unwrap();
}

#[test]
fn a_message_on_its_way_to_a_process_that_dies_is_doubted() {
    let stage = told(
        Kind::Agent,
        &[
            IDLE,
            "send hello
            send again
            ended 0 => message doubted, process ended, suspended | do save after the end
            resume
            checked
            started
            ready => became ready, start ended",
        ],
    )
    .unwrap();
    let deliveries: Vec<_> =
        stage.session().unwrap().talk.queue.iter().map(|m| m.delivery).collect();
    assert_eq!(deliveries, [Delivery::Doubtful, Delivery::Queued], "nothing overtakes it");
}

#[test]
fn a_limit_is_told_once_and_lasts_until_the_next_turn() {
    let limited = "send hello\ntook\nturn began\nlimit 9 => limit reached\nlimit 9 => nothing";
    let stage = told(Kind::Agent, &[IDLE, limited, "turn ended"]).unwrap();
    let session = stage.session().unwrap();
    assert_eq!(session.starts.limit_until.as_deref(), Some("9"));
    assert_eq!(session.course.rule, Rule::LimitReached);
    let later = ["turn ended", "send again\ntook\nturn began\nturn ended"];
    let stage = told(Kind::Agent, &[IDLE, limited, later[0], later[1]]).unwrap();
    assert_eq!(stage.session().unwrap().starts.limit_until, None);
}

#[test]
fn a_doubt_is_over_when_the_agent_is_seen_not_to_have_heard() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}
            send hello
            ended 0 => message doubted, process ended, suspended | do save after the end
            resume
            unheard => start checked, message requeued | do start process 2
            started
            ready => became ready, start ended, delivery began | do deliver hello
            took => message taken"
        ),
    )
    .unwrap();
}

#[test]
fn a_doubt_is_decided_by_a_person() {
    told(
        Kind::Agent,
        &[IDLE, DOUBT, "answer allow => message requeued, delivery began | do deliver hello"],
    )
    .unwrap();
    told(
        Kind::Agent,
        &[
            IDLE,
            DOUBT,
            "send next => message queued | queued while waiting
            answer deny => message dropped, delivery began | do deliver next
            answer deny => refused: nothing asked",
        ],
    )
    .unwrap();
    told(
        Kind::Agent,
        &[
            IDLE,
            "send hello
            ended 0
            answer allow => message requeued, start began | do check start",
        ],
    )
    .unwrap();
}

#[test]
fn a_sign_that_the_message_was_taken_ends_the_doubt() {
    let stage = told(
        Kind::Agent,
        &[IDLE, DOUBT, "took => message taken\nanswer allow => refused: nothing asked"],
    )
    .unwrap();
    assert_eq!(stage.session().unwrap().asks(), []);
}

#[test]
fn an_agent_whose_turn_was_cut_off_is_told_once() {
    told(
        Kind::Agent,
        &[
            IDLE,
            BUSY,
            "ended 1
            resume one
            checked
            started
            ready => became ready, start ended, delivery began | do deliver one with the note
            took => message taken
            turn began => turn began
            turn ended => turn ended | do save after the turn
            send two => message queued, delivery began | do deliver two | queued while idle",
        ],
    )
    .unwrap();
}

#[test]
fn a_sign_counts_once_however_often_it_is_read() {
    use glis_core::event::Spot;
    use glis_core::input::{Hearing, Input, Sign};
    let stage = told(Kind::Agent, &[IDLE, BUSY]).unwrap();
    for (generation, offset) in [(1, 102), (1, 5), (0, 900), (2, 900)] {
        let again = stage.house.decide(Input::Sign {
            session: Stage::id(),
            generation,
            spot: Spot::Stream(offset),
            hearing: Hearing::Live,
            sign: Sign::TurnEnded,
        });
        assert_eq!(again.unwrap().events, [], "{generation} {offset}");
    }
}

#[test]
fn an_agent_whose_turn_a_pause_cut_off_is_told_with_the_next_message() {
    let stage = told(
        Kind::Agent,
        &[
            IDLE,
            BUSY,
            "pause interrupt
            savable
            turn cut => turn ended, safe state reached | do capture terminal
            captured
            saved
            ended
            saved => snapshot taken, paused",
        ],
    )
    .unwrap();
    assert!(stage.session().unwrap().talk.cut_off);
}

#[test]
fn a_turn_that_somebody_cut_off_at_the_terminal_is_nobodys_news() {
    let stage = told(Kind::Agent, &[IDLE, BUSY, "turn cut => turn ended | do save after the turn"])
        .unwrap();
    assert!(!stage.session().unwrap().talk.cut_off);
}

#[test]
fn what_an_agent_took_and_never_wrote_down_comes_first_again() {
    let stage = told(
        Kind::Agent,
        &[
            IDLE,
            BUSY,
            "ended 137
            send third
            resume
            checked first|second => start checked, message queued, message queued | do start process 2",
        ],
    )
    .unwrap();
    let waiting: Vec<_> =
        stage.session().unwrap().talk.queue.iter().map(|message| message.text.clone()).collect();
    assert_eq!(waiting, ["first", "second", "third"]);
}

#[test]
fn what_a_terminal_did_not_take_keeps_no_pause_waiting() {
    let sent = "send one => message queued, delivery began | do deliver one | queued while idle
        delivered
        pause interrupt => pause began | do check save | pending
        savable => interrupt began | do interrupt, await safe state";
    let again = "undelivered => delivery refused, safe state reached | do await retry 250 ms, capture terminal";
    told(Kind::Agent, &[IDLE, sent, again]).unwrap();
    let doubted = "untaken => message doubted, safe state reached | do capture terminal
        captured\nsaved\nended\nsaved
        resume
        unheard => start checked, message requeued | do start process 2";
    told(Kind::Agent, &[IDLE, sent, doubted]).unwrap();
    told(Kind::Agent, &[IDLE, sent, "took\nuntaken => nothing"]).unwrap();
}

/// It may have been taken in the conversation that was left, whatever the next one holds.
#[test]
fn a_message_in_doubt_stays_so_in_another_conversation() {
    let story = "send one\ndelivered\nstop\nended\nrestart
        unheard => start checked | do start process 2";
    let stage = told(Kind::Agent, &[IDLE, story]).unwrap();
    assert!(stage.session().unwrap().talk.queue.front().is_some_and(|one| one.of_former));
}

#[test]
fn a_message_behind_one_in_doubt_wakes_what_is_suspended() {
    let story = "send one\ndelivered\nstop\nended
        send two => message queued, start began | do check start | queued while suspended";
    let unheard = "unheard => start checked, message requeued | do start process 2
        started
        ready => became ready, start ended, delivery began | do deliver one";
    told(Kind::Agent, &[IDLE, story, unheard]).unwrap();
    let asked = "checked\nstarted
        ready => became ready, start ended
        answer deny => message dropped, delivery began | do deliver two";
    told(Kind::Agent, &[IDLE, story, asked]).unwrap();
}

/// A paused session to which so many messages of this length were sent; the last word said to it.
fn filled(messages: usize, text: &str) -> Result<(Stage, String), String> {
    let mut stage = told(Kind::Agent, &[IDLE, PAUSED])?;
    let mut last = String::new();
    for _ in 0..messages {
        last = stage.play(&format!("send {text}"))?;
    }
    Ok((stage, last))
}

#[test]
fn a_queue_takes_a_thousand_messages_and_no_more() {
    let (mut stage, last) = filled(1000, "hello").unwrap();
    assert!(last.starts_with("message queued"), "{last}");
    assert_eq!(stage.play("send one more").unwrap(), "refused: queue full");
    assert_eq!(stage.session().unwrap().talk.queue.len(), 1000, "nothing has changed");
}

#[test]
fn a_queue_takes_sixteen_megabytes_and_no_more() {
    let (mut stage, last) = filled(4, &"x".repeat(4 * 1024 * 1024)).unwrap();
    assert!(last.starts_with("message queued"), "{last}");
    assert_eq!(stage.play("send one more").unwrap(), "refused: queue full");
    assert_eq!(stage.session().unwrap().talk.queue.len(), 4, "nothing has changed");
}

#[test]
fn a_sign_copies_none_of_the_messages_that_wait() {
    let mut stage = told(Kind::Agent, &[IDLE, BUSY]).unwrap();
    for _ in 0..1000 {
        stage.play("send hello").unwrap();
    }
    // Where each message lies. A copy would lie elsewhere.
    let places = |session: &glis_core::Session| -> Vec<*const u8> {
        session.talk.queue.iter().map(|message| message.text.as_ptr()).collect()
    };
    let before = places(stage.session().unwrap());
    // What a decision begins with, and what whoever looks is given.
    assert_eq!(places(&stage.session().unwrap().clone()), before);
    stage.play("tool a").unwrap();
    assert_eq!(places(stage.session().unwrap()), before, "not even of the messages that stay");
    stage.play("turn ended").unwrap();
    let after = places(stage.session().unwrap());
    let moved = before.iter().zip(&after).filter(|(before, after)| before != after).count();
    assert!(moved <= 1, "{moved} were copied because one is delivered");
}

#[test]
fn an_agent_that_refuses_to_begin_fails_and_keeps_the_message() {
    let stage = told(
        Kind::Agent,
        &[
            IDLE,
            "send one\ndelivered
            refuses no trust => delivery refused, ref rejected
            ended 55 => process ended, failed | do save after the end
            send two => message queued | queued while failed
            resume
            checked\nstarted
            ready => became ready, start ended, delivery began | do deliver one",
        ],
    )
    .unwrap();
    assert!(stage.session().unwrap().asks().is_empty());
    let story = "send one\ndelivered\nrefuses no trust\nended 55";
    let stage = told(Kind::Agent, &[IDLE, story]).unwrap();
    let why = "it refused to begin (exit status 55): no trust";
    assert_eq!(stage.session().unwrap().failure().unwrap().stored(), why);
    assert_eq!(stage.session().unwrap().course.rule.to_string(), why);
}
