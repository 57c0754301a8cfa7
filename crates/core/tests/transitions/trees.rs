//! Stories of worktrees: cleared, found again, restored, put into the trash and taken out of it.

use crate::script::{Kind, Stage, check, check_each};
use crate::table::{IDLE, PAUSED};
use glis_core::Status;
use glis_core::session::{Phase, Rest};
use glis_core::tree::Found;

fn told(parts: &[&str]) -> Result<Stage, String> {
    check(Kind::Agent, &parts.join("\n"))
}

#[test]
fn a_worktree_goes_only_after_its_last_snapshot() {
    let stage = told(&[
        IDLE,
        "pause and clear => pause began, safe state reached | do capture terminal | pending
        captured => terminal captured | do take snapshot
        saved => snapshot taken, end began | do stop quietly
        ended => process ended | do take snapshot
        saved => snapshot taken, clearing began | do clear worktree
        crash => as before
        found gone => do clear worktree
        cleared => worktree cleared, paused
        pause and clear => already",
    ])
    .unwrap();
    let Phase::Rest(Rest::Paused(record)) = &stage.session().unwrap().phase else {
        panic!("not paused");
    };
    assert!(record.cleared && record.warnings.is_empty());
}

#[test]
fn what_no_snapshot_holds_bars_the_clearing_before_anything_is_stopped() {
    told(&[
        IDLE,
        "pause and clear
        captured
        saved without .env => pause barred
        pause and clear all
        captured
        saved without .env => snapshot taken, end began | do stop quietly
        ended
        saved without .env => snapshot taken, clearing began | do clear worktree
        uncleared => worktree stays, paused",
    ])
    .unwrap();
}

#[test]
fn a_worktree_without_a_last_snapshot_stays() {
    told(&[
        IDLE,
        "pause and clear
        captured
        saved
        ended
        unsaved => snapshot taken with a warning, worktree stays, paused",
    ])
    .unwrap();
}

#[test]
fn a_paused_session_can_lose_its_worktree_later_and_stays_paused_since_then() {
    let mut stage = told(&[IDLE, PAUSED]).unwrap();
    let since = stage.session().unwrap().course.paused_at;
    for line in ["pause and clear", "captured", "saved", "cleared"] {
        stage.play(line).unwrap();
    }
    let session = stage.session().unwrap();
    assert_eq!((session.status(), session.course.paused_at), (Status::Paused, since));
}

#[test]
fn a_pause_that_clears_is_not_mixed_with_one_that_does_not() {
    told(&[
        IDLE,
        "pause
        pause and clear => busy with pause
        captured
        saved
        ended
        saved => snapshot taken, paused",
    ])
    .unwrap();
}

#[test]
fn an_agent_is_told_once_what_changed_behind_its_back() {
    let stage = told(&[
        IDLE,
        PAUSED,
        "resume
        checked changed => start checked | do start process 2
        started
        ready
        send one => message queued, delivery began | do deliver one with the note | queued while idle
        took
        turn began
        turn ended
        send two => message queued, delivery began | do deliver two | queued while idle",
    ])
    .unwrap();
    let found = stage.session().unwrap().upkeep.found.clone();
    assert!(matches!(found, Some(Found::Changed { .. })), "{found:?}");
}

#[test]
fn what_changed_is_told_even_if_the_first_start_fails() {
    told(&[
        IDLE,
        PAUSED,
        "resume
        checked changed
        unstarted
        resume
        checked untouched
        started
        ready
        send one => message queued, delivery began | do deliver one with the note | queued while idle
        undelivered
        send two => message queued, delivery began | do deliver one with the note | queued while busy",
    ])
    .unwrap();
}

#[test]
fn only_a_rest_tells_how_a_worktree_was_left() {
    let left = |parts: &[&str]| {
        let stage = told(parts).unwrap();
        stage.session().unwrap().saved.baseline.as_ref().map(|snapshot| snapshot.name.clone())
    };
    assert_eq!(left(&[IDLE, "turn began\nturn ended\nkept after turn"]), None);
    assert_eq!(left(&[IDLE, "stop\nended\nkept after end"]).as_deref(), Some("snap-70"));
    // It comes so late that the next process may have written already.
    assert_eq!(left(&[IDLE, "stop\nended\nresume\nchecked\nkept after end"]), None);
    assert_eq!(left(&[IDLE, PAUSED, "resume\nchecked\nstarted"]), None);
    assert!(left(&[IDLE, PAUSED]).is_some());
}

#[test]
fn a_save_that_fails_is_told_until_one_succeeds() {
    let stage = told(&[
        IDLE,
        "turn began
        turn ended => turn ended | do save after the turn
        unkept after turn => worktree not saved
        unkept after turn => nothing",
    ])
    .unwrap();
    assert!(stage.session().unwrap().upkeep.unsaved.is_some());
    let mut stage = stage;
    assert_eq!(stage.play("kept after turn").unwrap(), "worktree saved");
    assert_eq!(stage.play("kept after turn").unwrap(), "nothing");
    assert!(stage.session().unwrap().upkeep.unsaved.is_none());
}

#[test]
fn whoever_asks_for_a_snapshot_gets_one_even_after_a_crash() {
    told(&[
        IDLE,
        "snapshot => save began | do save | pending
        snapshot => pending
        kept for 7 => nothing
        crash => as before
        found alive => do save
        kept for 1 => worktree saved
        kept for 1 => nothing",
    ])
    .unwrap();
}

#[test]
fn a_restore_is_done_again_after_a_crash_and_nothing_starts_meanwhile() {
    told(&[
        IDLE,
        PAUSED,
        "restore => restore began | do restore snap-1 | pending
        restore => pending
        snapshot => busy with restore
        resume => busy with restore
        send hello => busy with restore
        crash => as before
        found gone => do restore snap-1
        restored => worktree restored
        restored => nothing
        resume => start began | do check start | pending",
    ])
    .unwrap();
    check_each(
        Kind::Agent,
        &[IDLE, PAUSED, "restore"].join("\n"),
        "
        unrestored => restore failed
        aside => nothing
        returned => nothing
        emptied => nothing
        ",
    )
    .unwrap();
}

#[test]
fn a_removed_session_comes_back_as_what_it_was() {
    let stage = told(&[
        IDLE,
        PAUSED,
        "rm
        aside => archived
        return green => return began | do bring back | pending
        return => pending
        empty => busy with trash restore
        crash => as before
        found gone => do bring back
        returned => returned",
    ])
    .unwrap();
    let session = stage.session().unwrap();
    assert_eq!((session.status(), session.name.as_str()), (Status::Paused, "green"));
    assert!(session.upkeep.trashed.is_none());
}

#[test]
fn a_worktree_that_is_as_a_snapshot_has_it_is_not_unsaved_any_more() {
    let unsaved = "unkept after end => worktree not saved";
    for mended in ["restore\nrestored", "resume\nchecked changed", "resume\nchecked restored"] {
        let stage = told(&[IDLE, PAUSED, unsaved, mended]).unwrap();
        assert_eq!(stage.session().unwrap().upkeep.unsaved, None, "{mended}");
    }
    for not_mended in ["restore\nunrestored", "resume\nchecked", "rm\nunaside"] {
        let stage = told(&[IDLE, PAUSED, unsaved, not_mended]).unwrap();
        assert!(stage.session().unwrap().upkeep.unsaved.is_some(), "{not_mended}");
    }
}

#[test]
fn what_was_emptied_does_not_come_back() {
    told(&[
        IDLE,
        PAUSED,
        "rm
        aside
        empty => emptying began | do empty | pending
        unemptied => emptying failed
        empty
        crash => as before
        found gone => do empty
        emptied => emptied
        empty => refused: no such session
        return => refused: no such session",
    ])
    .unwrap();
}
