//! Pauses that end by themselves.

use crate::script::{Kind, check};
use crate::table::{BUSY, IDLE};
use glis_core::by_itself::ByItself;

#[test]
fn a_pause_ends_at_its_time() {
    let stage = check(
        Kind::Agent,
        &format!(
            "{IDLE}
            pause-until 500 => pause began, resume appointed, safe state reached | do capture terminal | pending
            captured\nsaved\nended
            saved => snapshot taken, paused | do await the time 500
            it is 499 => nothing
            it is 500 => resume fell due, start began | do check start, drop the time 500 | pending
            checked\nstarted
            ready => became ready, start ended
            it is 500 => nothing"
        ),
    );
    assert_eq!(stage.unwrap().session().unwrap().ahead.resume_at, None);
}

#[test]
fn only_a_pause_with_a_time_goes_on_by_itself() {
    for (pause, goes_on) in [("pause", false), ("pause-until 500", true)] {
        let story = format!("{IDLE}\n{pause}\ncaptured\nsaved\nended\nsaved");
        let stage = check(Kind::Agent, &story).unwrap();
        assert_eq!(stage.house.goes_on_by_itself(), goes_on, "{pause}");
    }
}

#[test]
fn it_is_kept_by_the_next_daemon_which_may_be_late() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}
            pause-until 500\ncaptured\nsaved\nended\nsaved
            crash
            found gone => do await the time 500
            it is 500 => resume fell due, start began | do check start, drop the time 500 | pending"
        ),
    )
    .unwrap();
}

#[test]
fn what_ends_the_pause_drops_its_time() {
    for ends in ["resume", "restart"] {
        let story = format!(
            "{IDLE}
            pause-until 500\ncaptured\nsaved\nended\nsaved
            {ends}
            it is 500 => nothing"
        );
        let stage = check(Kind::Agent, &story).unwrap();
        assert_eq!(stage.session().unwrap().ahead.resume_at, None, "{ends}");
    }
    for calls_off in ["cancel", "stop"] {
        let story = format!("{IDLE}\n{BUSY}\npause-until 500\n{calls_off}\nit is 500 => nothing");
        let stage = check(Kind::Agent, &story).unwrap();
        assert_eq!(stage.session().unwrap().ahead.resume_at, None, "{calls_off}");
    }
}

#[test]
fn a_paused_session_can_be_given_a_time_and_another_one() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}
            pause\ncaptured\nsaved\nended\nsaved
            pause-until 500 => resume appointed | do await the time 500
            pause-until 700 => resume appointed | do drop the time 500, await the time 700
            pause => already
            it is 500 => nothing
            it is 700 => resume fell due, start began | do check start, drop the time 700 | pending"
        ),
    )
    .unwrap();
}

#[test]
fn a_time_that_comes_before_the_pause_is_over_counts_when_it_is() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}\n{BUSY}
            pause-until 500 => pause began, resume appointed | pending
            it is 500 => nothing
            turn ended
            captured\nsaved\nended
            saved => snapshot taken, paused | do await the time 500"
        ),
    )
    .unwrap();
}

#[test]
fn what_was_cut_off_is_told_to_go_on_at_its_time() {
    let told = |resumes: &str| {
        let cut = "pause-until 500\npause force\ncaptured\nsaved\nended\nsaved";
        let stage = check(Kind::Agent, &format!("{IDLE}\n{BUSY}\n{cut}\n{resumes}")).unwrap();
        stage.session().unwrap().talk.queue.front().map(|message| message.text.clone())
    };
    assert_eq!(told("it is 500"), Some("[glis] Continue from where we left off.".to_owned()));
    assert_eq!(told("resume"), None, "who resumes it says how it goes on");
}

/// Paused until a time that has come, with a start that fails then.
const FAILED: &str = "pause-until 500\ncaptured\nsaved\nended\nsaved\nit is 500\nunfit";

#[test]
fn a_resume_by_itself_that_fails_is_tried_again_with_growing_waits() {
    let stage = check(
        Kind::Agent,
        &format!(
            "{IDLE}
            pause-until 500\ncaptured\nsaved\nended\nsaved\nit is 500
            unfit => start failed: system | do plan the return
            back at 1000, 1000 => resume appointed | do await the time 61000
            back at 2000, 2000 => nothing
            crash
            found gone => do await the time 61000
            it is 61000 => resume fell due, start began | do check start, drop the time 61000 | pending
            unfit => start failed: system | do plan the return
            crash
            found gone => do plan the return
            back at 70000, 70000 => resume appointed | do await the time 190000
            it is 190000\nchecked\nstarted
            ready => became ready, start ended"
        ),
    );
    assert_eq!(stage.unwrap().session().unwrap().course.by_itself, ByItself::default());
}

#[test]
fn it_is_given_up_after_an_hour_and_a_person_begins_anew() {
    let mut story = format!("{IDLE}\n{FAILED}\n");
    for failed in 1..=6_i64 {
        let now = failed * 10_000_000;
        let at = now + (60_000 << (failed - 1));
        let told = format!("back at {now}, {now} => resume appointed | do await the time {at}");
        story.extend([told.as_str(), &format!("\nit is {at}\nunfit\n")]);
    }
    let given_up = "back at 99000000, 99000000 => nothing
        crash
        found gone => nothing
        pause-until 99900000 => resume appointed | do await the time 99900000
        it is 99900000
        unfit => start failed: system | do plan the return";
    let stage = check(Kind::Agent, &format!("{story}{given_up}")).unwrap();
    assert_eq!(stage.session().unwrap().course.by_itself.failed, 1);
}

#[test]
fn what_a_person_resumes_in_vain_is_not_tried_again() {
    let by_hand = "resume\nunfit => start failed: system";
    let paused = "pause-until 500\ncaptured\nsaved\nended\nsaved";
    // Also between two tries, which ends these.
    for before in [paused.to_owned(), format!("{FAILED}\nback at 1000, 1000")] {
        let stage = check(Kind::Agent, &format!("{IDLE}\n{before}\n{by_hand}")).unwrap();
        assert_eq!(stage.session().unwrap().course.by_itself, ByItself::default(), "{before}");
    }
}
