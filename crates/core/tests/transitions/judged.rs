//! Stories of questions that rules answer.

use crate::script::{Kind, Stage, check};
use crate::table::{BUSY, IDLE};
use glis_core::Status;

const ON: &str = "auto-yes on => auto yes set";

fn told(story: &[&str]) -> Result<Stage, String> {
    check(Kind::Agent, &story.join("\n"))
}

fn status(stage: &Stage) -> Option<Status> {
    stage.session().map(glis_core::Session::status)
}

#[test]
fn a_question_is_judged_and_answered_without_a_person() {
    let story = "asks go => asked | do limit the rules, judge go";
    let stage = told(&[IDLE, BUSY, ON, story]).unwrap();
    assert_eq!(status(&stage), Some(Status::Busy), "no person is needed yet");
    let answered = "judged go accept => ask judged accept, answer began | do give answer allow
        given go => nothing
        judged go accept => nothing
        unasks go => ask gone";
    told(&[IDLE, BUSY, ON, story, answered]).unwrap();
    let denied = "judged go reject => ask judged reject, answer began | do give answer deny";
    told(&[IDLE, BUSY, ON, story, denied]).unwrap();
}

#[test]
fn what_no_rule_is_about_waits_for_a_person() {
    let story = "asks go
        judged go manual => ask judged manual, no rule
        judged go accept => nothing
        answer allow => answer began | do give answer allow";
    let stage = told(&[IDLE, BUSY, ON, story]).unwrap();
    assert_eq!(status(&stage), Some(Status::Waiting));
}

#[test]
fn without_a_switch_nothing_is_judged() {
    let story = "asks go => asked
        judged go accept => nothing";
    let stage = told(&[IDLE, BUSY, story]).unwrap();
    assert_eq!(status(&stage), Some(Status::Waiting));
}

#[test]
fn a_verdict_counts_for_the_very_question_that_was_judged() {
    let story = "asks go => asked | do limit the rules, judge go
        judged go accept of another => nothing
        asks go anew => ask gone, asked | do limit the rules, judge go
        judged go accept => ask judged accept, answer began | do give answer allow
        asks go => ask gone, asked | do limit the rules, judge go";
    told(&[IDLE, BUSY, ON, story]).unwrap();
    let withdrawn = "asks go\nunasks go => ask gone\njudged go accept => nothing";
    told(&[IDLE, BUSY, ON, withdrawn]).unwrap();
    let died = "asks go\nended 1\njudged go accept => nothing";
    told(&[IDLE, BUSY, ON, died]).unwrap();
}

/// An agent that is started anew may ask the same once more, and have another path of programs.
#[test]
fn a_verdict_on_a_question_of_the_last_process_counts_for_none_of_the_next() {
    let story = "asks go => asked | do limit the rules, judge go
        ended 1
        resume
        checked
        started
        ready
        asks go => asked | do limit the rules, judge go
        judged go accept of the last process => nothing
        judged go accept => ask judged accept, answer began | do give answer allow";
    told(&[IDLE, BUSY, ON, story]).unwrap();
}

#[test]
fn a_person_who_is_faster_has_answered() {
    let story = "asks go
        answer deny to go => answer began | do give answer deny
        judged go accept => nothing";
    told(&[IDLE, BUSY, ON, story]).unwrap();
}

#[test]
fn several_questions_are_each_judged_and_each_answerable() {
    let story = "asks one => asked | do limit the rules, judge one
        asks two => asked | do judge two
        asks three => asked | do judge three
        judged two accept => ask judged accept, answer began | do give answer allow
        judged one manual => ask judged manual, no rule
        answer deny to one => answer began | do give answer deny
        unasks two => ask gone
        verdict overdue => ask judged manual, overdue
        answer allow to three => answer began | do give answer allow";
    told(&[IDLE, BUSY, ON, story]).unwrap();
}

/// A program that takes no answer for one would be answered for ever.
#[test]
fn what_is_asked_again_and_again_is_left_to_a_person() {
    let once = "asks go
        judged go accept => ask judged accept, answer began | do give answer allow
        given go
        unasks go => ask gone";
    let again = "asks go
        judged go accept => ask judged manual, repeated";
    let twenty = vec![once; 20].join("\n");
    let stage = told(&[IDLE, BUSY, ON, &twenty, again]).unwrap();
    assert_eq!(status(&stage), Some(Status::Waiting));
    // A person has looked at it: then the rules go on.
    let looked = "answer allow => answer began | do give answer allow\nunasks go => ask gone";
    told(&[IDLE, BUSY, ON, &twenty, again, looked, &twenty, again]).unwrap();
    // Something else in between, or another turn, is no such thing.
    let nineteen = vec![once; 19].join("\n");
    let other = once.replace(" go", " other").replace("ask other", "ask go");
    told(&[IDLE, BUSY, ON, &nineteen, &other, &nineteen, once]).unwrap();
    let turn = "turn ended\nturn began";
    told(&[IDLE, BUSY, ON, &twenty, turn, once]).unwrap();
    // To be refused for ever is no better.
    let refused = once.replace("accept", "reject").replace("allow", "deny");
    told(&[IDLE, BUSY, ON, &vec![refused.as_str(); 20].join("\n"), again]).unwrap();
}

#[test]
fn a_verdict_that_does_not_come_in_time_is_not_waited_for() {
    let story = "asks go
        verdict overdue => ask judged manual, overdue
        judged go accept => nothing
        verdict overdue => nothing";
    let stage = told(&[IDLE, BUSY, ON, story]).unwrap();
    assert_eq!(status(&stage), Some(Status::Waiting));
}

#[test]
fn an_answer_that_may_have_arrived_is_not_given_again_by_a_rule() {
    let begun = "asks go
        judged go accept => ask judged accept, answer began | do give answer allow
        crash => as before
        found alive => answer failed
        judged go accept => nothing";
    let stage = told(&[IDLE, BUSY, ON, begun]).unwrap();
    assert_eq!(status(&stage), Some(Status::Waiting));
    let refused = "asks go
        judged go accept
        ungiven go => answer failed
        judged go accept => nothing";
    let stage = told(&[IDLE, BUSY, ON, refused]).unwrap();
    assert_eq!(status(&stage), Some(Status::Waiting));
}

#[test]
fn what_was_not_judged_when_the_daemon_died_is_judged_by_the_next() {
    let story = "asks go
        crash => as before
        found alive => nothing | do limit the rules, judge go
        judged go accept => ask judged accept, answer began | do give answer allow";
    let story = story.replace("nothing | ", "");
    told(&[IDLE, BUSY, ON, &story]).unwrap();
}

#[test]
fn the_switch_counts_for_what_is_open() {
    let on = "asks go => asked
        auto-yes on => auto yes set | do limit the rules, judge go
        auto-yes on => already
        auto-yes off => auto yes set
        judged go accept => nothing";
    let stage = told(&[IDLE, BUSY, on]).unwrap();
    assert_eq!(status(&stage), Some(Status::Waiting));
}

#[test]
fn a_session_that_is_being_paused_is_not_answered() {
    let story = "asks go
        pause => pause began, safe state reached | do capture terminal | pending
        judged go accept => ask judged manual, not live";
    told(&[IDLE, BUSY, ON, story]).unwrap();
}

#[test]
fn a_verdict_that_the_agent_does_not_take_is_left_to_a_person() {
    let story = "asks yes-only => asked | do limit the rules, judge yes-only
        judged yes-only reject => ask judged manual, no such answer";
    let stage = told(&[IDLE, BUSY, ON, story]).unwrap();
    assert_eq!(status(&stage), Some(Status::Waiting));
    let taken = "asks yes-only
        judged yes-only accept => ask judged accept, answer began | do give answer allow";
    told(&[IDLE, BUSY, ON, taken]).unwrap();
}

#[test]
fn only_leave_to_do_something_is_for_rules() {
    let story = "inquires name => asked
        asks dialog => asked
        asks choice => asked | do limit the rules, judge choice";
    told(&[IDLE, BUSY, ON, story]).unwrap();
}

/// A program that says nothing about itself asks on its screen, and by that alone.
#[test]
fn a_question_on_a_screen_is_for_rules_until_the_screen_moves_on() {
    let asks = "new\nmade\nchecked\nstarted
        auto-yes on
        screen go on? => screen judged, asked | do save after the turn, limit the rules, judge screen-1-9";
    let stage = check(Kind::Command, asks).unwrap();
    assert_eq!(status(&stage), Some(Status::Busy), "no person is needed yet");
    let answered =
        "judged screen-1-9 accept => ask judged accept, answer began | do give answer allow
        screen flowing => ask gone, screen judged
        given screen-1-9 => nothing";
    check(Kind::Command, &[asks, answered].join("\n")).unwrap();
    let moved = "screen flowing => ask gone, screen judged
        judged screen-1-9 accept => nothing
        screen go on? => screen judged, asked | do save after the turn, limit the rules, judge screen-1-13
        judged screen-1-9 accept => nothing
        verdict overdue => ask judged manual, overdue";
    let stage = check(Kind::Command, &[asks, moved].join("\n")).unwrap();
    assert_eq!(status(&stage), Some(Status::Waiting));
}
