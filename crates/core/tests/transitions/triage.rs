//! Labels, pins and snoozes.

use crate::script::{Kind, Stage, check};
use crate::table::{BUSY, IDLE, PAUSED};
use glis_core::triage::Snooze;

fn played(story: &str) -> Result<Stage, String> {
    check(Kind::Agent, story)
}

#[test]
fn labels_and_pins_come_and_go_once() {
    let stage = played(&format!(
        "{IDLE}
        triage label auth => triaged
        triage label auth => already
        triage label urgent => triaged
        triage unlabel auth => triaged
        triage unlabel auth => already
        triage pin => triaged
        triage pin => already"
    ))
    .unwrap();
    let triage = &stage.session().unwrap().triage;
    assert!(triage.labels.iter().eq(["urgent"]) && triage.pinned, "{triage:?}");
}

#[test]
fn a_snooze_is_over_at_its_time_and_at_no_other() {
    let stage = played(&format!(
        "{IDLE}
        triage snooze 500 => triaged | do await the end of its snooze at 500
        triage snooze 700 => triaged | do drop the end of its snooze at 500, await the end of its snooze at 700
        snooze over at 500 => nothing
        {BUSY}\nturn ended
        snooze over at 700 => triaged | do drop the end of its snooze at 700"
    ))
    .unwrap();
    assert_eq!(stage.session().unwrap().triage.snoozed, None);
}

#[test]
fn the_next_daemon_keeps_it_and_may_be_late() {
    played(&format!(
        "{IDLE}
        triage snooze 500
        stop\nended
        crash
        found gone => do save after the end, await the end of its snooze at 500
        snooze over at 500 => triaged | do drop the end of its snooze at 500"
    ))
    .unwrap();
}

#[test]
fn until_it_changes_is_until_it_asks_or_comes_to_an_end() {
    let after = |story: &str| {
        let stage = played(&format!("{IDLE}\n{BUSY}\ntriage snooze change\n{story}")).unwrap();
        stage.session().unwrap().triage.snoozed
    };
    assert_eq!(after("tool Bash\ntooled Bash\ntriage pin"), Some(Snooze::Change));
    for change in ["asks go", "turn ended", "ended 1"] {
        assert_eq!(after(change), None, "{change}");
    }
}

#[test]
fn what_was_removed_is_not_triaged() {
    played(&format!("{IDLE}\n{PAUSED}\nrm\naside\ntriage pin => refused: archived")).unwrap();
}
