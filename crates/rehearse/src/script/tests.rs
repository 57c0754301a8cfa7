//! Tests of the script parser.

use std::time::Duration;

use super::{Ignored, Rate, Reset, Step, parse};

fn check(message: &str, expected: &[Step]) {
    assert_eq!(parse(message), expected);
}

fn say(text: &str) -> Step {
    Step::Say { text: text.to_owned() }
}

#[test]
fn talk_holds_no_steps() {
    check("hello there", &[]);
    check("", &[]);
    check("rewriting is not write", &[]);
    check("writes", &[]);
}

#[test]
fn steps_come_from_lines_and_from_parts_in_order() {
    check("say a\nsay b ;; say c", &[say("a"), say("b"), say("c")]);
}

#[test]
fn prose_between_steps_is_passed_over() {
    check("Please do this:\n  say a\nThank you", &[say("a")]);
}

#[test]
fn a_write_keeps_its_text_and_turns_escapes_into_newlines() {
    check(
        r"write a/b.txt one\ntwo \\n",
        &[Step::Write { path: "a/b.txt".to_owned(), text: "one\ntwo \\n".to_owned() }],
    );
    check("write empty", &[Step::Write { path: "empty".to_owned(), text: String::new() }]);
}

#[test]
fn an_edit_has_an_arrow() {
    let edit = |old: &str, new: &str| Step::Edit {
        path: "f".to_owned(),
        old: old.to_owned(),
        new: new.to_owned(),
    };
    check("edit f a b => c", &[edit("a b", "c")]);
    check("edit f a =>", &[edit("a", "")]);
    check("edit f a", &[Step::Misread { part: "edit f a".to_owned() }]);
}

#[test]
fn a_command_is_kept_whole() {
    check("run echo  a; echo b", &[Step::Run { command: "echo  a; echo b".to_owned() }]);
}

#[test]
fn numbers_may_be_fractions_where_they_mean_time() {
    check("work 0.25", &[Step::Work { time: Duration::from_millis(250) }]);
    check("stream 3 0.5", &[Step::Stream { words: 3, rate: Rate { per_second: 0.5 } }]);
    check(
        "touch-slowly f 2 10",
        &[Step::TouchSlowly { path: "f".to_owned(), lines: 2, rate: Rate { per_second: 10.0 } }],
    );
}

#[test]
fn verbs_with_useless_words_are_misread_not_guessed() {
    for part in ["work soon", "work -1", "stream 3 0", "limit tomorrow", "die 300", "ignore all"] {
        check(part, &[Step::Misread { part: part.to_owned() }]);
    }
}

#[test]
fn a_failure_is_told_in_its_words() {
    check("fail not logged in", &[Step::Fail { message: "not logged in".to_owned() }]);
    check("fail", &[Step::Misread { part: "fail".to_owned() }]);
}

#[test]
fn a_limit_is_a_wait_or_a_moment() {
    check("limit +90", &[Step::Limit { reset: Reset::In(Duration::from_secs(90)) }]);
    let moment = "2030-01-01T00:00:00Z";
    check(&format!("limit {moment}"), &[Step::Limit { reset: Reset::At(moment.to_owned()) }]);
}

#[test]
fn todo_items_stand_between_bars() {
    check(
        "todo a | b c |d",
        &[Step::Todo { items: vec!["a".to_owned(), "b c".to_owned(), "d".to_owned()] }],
    );
}

#[test]
fn a_cost_is_an_amount() {
    check("cost 0.5", &[Step::Cost { usd: 0.5 }]);
    check("cost much", &[Step::Misread { part: "cost much".to_owned() }]);
}

#[test]
fn misbehaviours_are_verbs_too() {
    check(
        "ignore int ;; ignore none ;; crash ;; noise ;; die 3 ;; garbage 9 ;; flood 1 ;; recall",
        &[
            Step::Ignore(Ignored::Interrupts),
            Step::Ignore(Ignored::Nothing),
            Step::Crash,
            Step::Noise,
            Step::Die { code: 3 },
            Step::Garbage { bytes: 9 },
            Step::Flood { megabytes: 1 },
            Step::Recall,
        ],
    );
}

#[test]
fn a_rate_spreads_happenings_evenly() {
    let rate = Rate { per_second: 4.0 };
    assert_eq!(rate.due(0), Duration::ZERO);
    assert_eq!(rate.due(2), Duration::from_millis(500));
}
