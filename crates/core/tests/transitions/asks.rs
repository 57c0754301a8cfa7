//! Stories of questions: asked, answered, expired.

use crate::script::{Kind, Stage, check};
use crate::table::{BUSY, IDLE};
use glis_core::rule::Rule;

fn told(kind: Kind, story: &[&str]) -> Result<Stage, String> {
    check(kind, &story.join("\n"))
}

#[test]
fn a_question_is_answered_once() {
    told(
        Kind::Agent,
        &[
            IDLE,
            BUSY,
            "asks rm => asked
            asks rm => nothing
            answer allow to other => refused: wrong ask
            answer allow to rm => answer began | do give answer allow
            answer allow to rm => refused: answer under way
            given rm => nothing
            unasks rm => ask gone
            answer allow to rm => refused: nothing asked",
        ],
    )
    .unwrap();
}

#[test]
fn an_answer_that_did_not_get_there_may_be_given_again() {
    told(
        Kind::Agent,
        &[
            IDLE,
            BUSY,
            "asks rm
            answer deny
            ungiven rm => answer failed
            ungiven rm => nothing
            answer deny => answer began | do give answer deny
            crash
            found alive => answer failed",
        ],
    )
    .unwrap();
}

#[test]
fn a_no_may_have_a_reason() {
    told(
        Kind::Agent,
        &[
            IDLE,
            BUSY,
            "asks reasonable => asked
            answer allow because x => refused: answer not given
            answer deny because it is Friday => answer began | do give answer deny because it is Friday
            unasks reasonable => ask gone
            asks rm => asked
            answer deny because it is Friday => message queued, answer began | do give answer deny",
        ],
    )
    .unwrap();
    told(
        Kind::Command,
        &[
            IDLE,
            "screen delete?
            answer n because x => refused: answer not given
            answer deny because x => refused: answer not given",
        ],
    )
    .unwrap();
}

#[test]
fn of_several_questions_one_must_be_named() {
    told(
        Kind::Agent,
        &[
            IDLE,
            BUSY,
            "asks one
            asks two
            answer allow => refused: wrong ask
            answer allow to two => answer began | do give answer allow",
        ],
    )
    .unwrap();
}

#[test]
fn what_is_allowed_for_the_session_is_the_very_same_and_nothing_else() {
    let mut stage = told(
        Kind::Agent,
        &[
            IDLE,
            BUSY,
            "asks one anew
            answer allow_for_session => answer began | do give answer allow
            unasks one
            asks two anew => asked, answer began | do give answer allow
            ungiven two => answer failed
            answer deny => answer began | do give answer deny
            unasks two
            asks three => asked
            unasks three
            asks nowhere => asked
            answer allow_for_session => refused: not a choice
            unasks nowhere",
        ],
    )
    .unwrap();
    stage.play("asks three anew").unwrap();
    assert!(!stage.session().unwrap().waits_for_person());
}

#[test]
fn what_cannot_be_an_answer_is_refused_at_once() {
    told(
        Kind::Agent,
        &[
            IDLE,
            BUSY,
            "asks choice
            answer allow_for_session => refused: not a choice
            answer maybe => refused: not a choice
            asks rm
            answer yes, go on to rm => refused: not a choice
            unasks rm
            answer deny => answer began | do give answer deny
            unasks choice
            asks dialog
            answer allow => refused: not a choice
            answer deny => refused: not a choice
            unasks dialog
            inquires why
            answer  => refused: answer not given
            answer allow_for_session => refused: answer not given
            answer red => answer began | do give answer red",
        ],
    )
    .unwrap();
}

/// Not that a process was started, which is all that anybody could have told before.
#[test]
fn a_start_into_a_dialog_of_the_program_says_that_it_asks() {
    let mut stage = told(Kind::Agent, &["new\nmade\nchecked\nstarted\nasks dialog"]).unwrap();
    assert_eq!(stage.session().unwrap().course.rule, Rule::ProgramAsks);
    stage.play("unasks dialog").unwrap();
    stage.play("asks rm").unwrap();
    assert_eq!(stage.session().unwrap().course.rule, Rule::AgentAsks);
}

#[test]
fn questions_expire_with_the_process() {
    told(
        Kind::Agent,
        &[IDLE, BUSY, "asks rm\nended 1\nanswer allow to rm => refused: nothing asked"],
    )
    .unwrap();
}

#[test]
fn nothing_is_answered_while_a_pause_is_under_way() {
    told(Kind::Agent, &[IDLE, BUSY, "asks rm\npause\nanswer allow => busy with pause"]).unwrap();
}

#[test]
fn a_question_on_a_screen_is_asked_until_the_screen_moves_on() {
    let mut stage = told(
        Kind::Command,
        &["new\nmade\nchecked\nstarted
        screen go? => screen judged, asked | do save after the turn
        screen go? => nothing
        answer y => answer began | do give answer y"],
    )
    .unwrap();
    let ask = stage.session().unwrap().asks()[0].id.clone();
    assert_eq!(stage.play(&format!("given {ask}")).unwrap(), "ask gone");
    assert_eq!(
        stage.play("screen sure?").unwrap(),
        "screen judged, asked | do save after the turn"
    );
    assert_eq!(stage.play("screen flowing").unwrap(), "ask gone, screen judged");
}
