//! Stories of compaction: asked for, by itself, given up.

use crate::script::{Kind, Stage, check};
use crate::table::{IDLE, PAUSED};
use glis_core::effect::Effect;
use glis_core::timer::{Span, UNUSED_TIME, When};
use glis_core::{Input, TimerKey};

/// What waits for a time to come after the last line of a story.
fn armed(stage: &mut Stage, line: &str) -> Option<When> {
    let input = stage.input(line).ok()?;
    let decision = stage.house.decide(input).ok()?;
    decision.effects.into_iter().find_map(|(_, effect)| {
        if let Effect::SetTimer { key: TimerKey::Compact, when } = effect {
            Some(when)
        } else {
            None
        }
    })
}

#[test]
fn a_conversation_that_was_asked_for_is_made_short_once() {
    let stage = check(
        Kind::Agent,
        &format!(
            "{IDLE}\n{PAUSED}
            compact => compaction began | do compact | pending
            compact => pending
            rested long => nothing
            crash
            found gone => do compact
            compacted => conversation compacted
            compacted => conversation compacted
            compact => compaction began | do compact | pending
            uncompacted => compaction failed"
        ),
    );
    let session = stage.unwrap().session().cloned().unwrap();
    assert!(session.saved.compacted_at.is_some() && session.upkeep.compaction.why.is_some());
}

#[test]
fn what_rests_is_made_short_when_it_is_not_used() {
    for (story, last) in [
        (format!("{IDLE}\npause\ncaptured\nsaved\nended"), "saved"),
        (format!("{IDLE}\nstop"), "ended"),
        (format!("{IDLE}\n{PAUSED}"), "found gone"),
    ] {
        let mut stage = check(Kind::Agent, &story).unwrap();
        let unused = When::After(Span::Exactly(UNUSED_TIME));
        assert_eq!(armed(&mut stage, last), Some(unused), "{story}");
    }
    let mut stage = check(
        Kind::Agent,
        &format!(
            "{IDLE}\n{PAUSED}\nrested long => do compact\ncompacted => conversation compacted"
        ),
    )
    .unwrap();
    // A person has looked at it meanwhile.
    let later = When::After(Span::Exactly(std::time::Duration::from_secs(60)));
    assert_eq!(armed(&mut stage, "early"), Some(later));
}

/// Nothing about it is activity: the session has done nothing.
#[test]
fn it_counts_as_no_activity() {
    let mut stage = check(Kind::Agent, &format!("{IDLE}\n{PAUSED}")).unwrap();
    let before = stage.session().unwrap().times.last_active_at;
    for line in ["compact", "uncompacted", "rested long", "compacted"] {
        stage.play(line).unwrap();
    }
    assert_eq!(stage.session().unwrap().times.last_active_at, before);
}

#[test]
fn what_was_resumed_meanwhile_is_left_alone() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}\n{PAUSED}
            resume
            rested long => nothing
            checked
            started
            ready
            rested long => nothing
            compact => refused: idle"
        ),
    )
    .unwrap();
}

#[test]
fn two_failures_in_a_row_stop_it_until_it_is_asked_for() {
    let mut stage = check(
        Kind::Agent,
        &format!(
            "{IDLE}\n{PAUSED}
            rested long => do compact
            uncompacted by itself => compaction failed
            rested long => do compact
            uncompacted by itself => compaction failed
            rested long => nothing
            early => nothing"
        ),
    )
    .unwrap();
    assert_eq!(armed(&mut stage, "found gone"), None);
    for (line, leads_to) in [
        ("compact", "compaction began | do compact | pending"),
        ("compacted", "conversation compacted"),
        ("rested long", "do compact"),
    ] {
        assert_eq!(stage.play(line).unwrap(), leads_to);
    }
}

#[test]
fn who_waits_for_it_is_told_when_the_trash_is_emptied() {
    check(
        Kind::Agent,
        &format!(
            "{IDLE}\n{PAUSED}
            compact
            rm => removal began | do put aside | pending
            aside
            empty
            emptied => compaction failed, emptied
            compacted => nothing"
        ),
    )
    .unwrap();
}

#[test]
fn a_timer_of_a_session_that_is_gone_means_nothing() {
    let stage = check(Kind::Agent, IDLE).unwrap();
    let fired = Input::TimerFired {
        subject: glis_core::SessionId("another".to_owned()).into(),
        key: TimerKey::Compact,
    };
    assert!(stage.house.decide(fired).unwrap().effects.is_empty());
}
