//! What each state does with each command, while nothing else is under way. Each line is one case,
//! played after the same beginning.

use crate::script::{Kind, check_each};

/// A session whose agent has nothing to do.
pub(crate) const IDLE: &str = "new\nmade\nchecked\nstarted\nready";

/// Behind an idle session, with its turn open.
pub(crate) const BUSY: &str = "turn began";

/// Behind an idle session, all the way.
pub(crate) const PAUSED: &str = "pause\ncaptured\nsaved\nended\nsaved";

/// One state: a session that came to be like this, and what it answers.
pub(crate) fn state(kind: Kind, beginnings: &[&str], table: &str) -> Result<(), String> {
    check_each(kind, &beginnings.join("\n"), table)
}

#[test]
fn a_session_that_waits_for_its_first_message() {
    state(
        Kind::Learner,
        &["new\nmade"],
        "
        send hello => message queued, start began | do check start | queued while created
        pause => pause began, safe state reached | do capture terminal | pending
        pause interrupt => pause began, safe state reached | do capture terminal | pending
        pause force => pause began, safe state reached | do capture terminal | pending
        cancel => refused: created
        resume => refused: created
        resume go on => refused: created
        restart => refused: created
        stop => already
        rm => removal began | do put aside | pending
        answer allow => refused: nothing asked
        snapshot => save began | do save | pending
        restore => restore began | do restore snap-1 | pending
        return => refused: created
        empty => refused: created
        ",
    )
    .unwrap();
}

#[test]
fn a_busy_session() {
    state(
        Kind::Agent,
        &[IDLE, BUSY],
        "
        send hello => message queued | queued while busy
        pause => pause began | pending
        pause interrupt => pause began | do check save | pending
        pause force => pause began, safe state reached by force | do capture terminal | pending
        cancel => refused: busy
        resume => already
        resume go on => message queued | already
        restart => stop began | do stop with an interrupt | pending
        stop => stop began | do stop with an interrupt | pending
        rm => refused: busy
        rm and stop => stop began | do stop with an interrupt | pending
        answer allow => refused: nothing asked
        snapshot => save began | do save | pending
        restore => refused: busy
        return => refused: busy
        empty => refused: busy
        ",
    )
    .unwrap();
}

#[test]
fn an_idle_session() {
    state(
        Kind::Agent,
        &[IDLE],
        "
        send hello => message queued, delivery began | do deliver hello | queued while idle
        pause => pause began, safe state reached | do capture terminal | pending
        pause interrupt => pause began, safe state reached | do capture terminal | pending
        pause force => pause began, safe state reached | do capture terminal | pending
        cancel => refused: idle
        resume => already
        resume go on => message queued, delivery began | do deliver go on | already
        restart => stop began | do stop quietly | pending
        stop => stop began | do stop quietly | pending
        rm => refused: idle
        rm and stop => stop began | do stop quietly | pending
        answer allow => refused: nothing asked
        snapshot => save began | do save | pending
        restore => refused: idle
        return => refused: idle
        empty => refused: idle
        ",
    )
    .unwrap();
}

#[test]
fn a_session_that_asks() {
    state(
        Kind::Agent,
        &[IDLE, BUSY, "asks go"],
        "
        send hello => message queued | queued while waiting
        pause => pause began, safe state reached | do capture terminal | pending
        pause interrupt => pause began, safe state reached | do capture terminal | pending
        pause force => pause began, safe state reached | do capture terminal | pending
        cancel => refused: waiting
        resume => already
        resume go on => message queued | already
        restart => stop began | do stop with an interrupt | pending
        stop => stop began | do stop with an interrupt | pending
        rm => refused: waiting
        rm and stop => stop began | do stop with an interrupt | pending
        answer allow => answer began | do give answer allow
        snapshot => save began | do save | pending
        restore => refused: waiting
        return => refused: waiting
        empty => refused: waiting
        ",
    )
    .unwrap();
}

#[test]
fn a_paused_session() {
    state(
        Kind::Agent,
        &[IDLE, PAUSED],
        "
        send hello => message queued | queued while paused
        pause => already
        pause interrupt => already
        pause force => already
        cancel => refused: paused
        resume => start began | do check start | pending
        resume go on => message queued, start began | do check start | pending
        restart => restart began, start began | do check start | pending
        stop => already
        rm => removal began | do put aside | pending
        answer allow => refused: nothing asked
        pause and clear => pause began, safe state reached | do capture terminal | pending
        snapshot => save began | do save | pending
        restore => restore began | do restore snap-1 | pending
        return => refused: paused
        empty => refused: paused
        ",
    )
    .unwrap();
}

#[test]
fn a_suspended_session() {
    state(
        Kind::Agent,
        &[IDLE, "stop\nended"],
        "
        send hello => message queued, start began | do check start | queued while suspended
        pause => pause began, safe state reached | do capture terminal | pending
        pause interrupt => pause began, safe state reached | do capture terminal | pending
        pause force => pause began, safe state reached | do capture terminal | pending
        cancel => refused: suspended
        resume => start began | do check start | pending
        resume go on => message queued, start began | do check start | pending
        restart => restart began, start began | do check start | pending
        stop => already
        rm => removal began | do put aside | pending
        answer allow => refused: nothing asked
        snapshot => save began | do save | pending
        restore => restore began | do restore snap-1 | pending
        return => refused: suspended
        empty => refused: suspended
        ",
    )
    .unwrap();
}

#[test]
fn an_interrupted_session() {
    state(
        Kind::Agent,
        &[IDLE, BUSY, "ended 1"],
        "
        send hello => message queued | queued while interrupted
        pause => pause began, safe state reached | do capture terminal | pending
        pause interrupt => pause began, safe state reached | do capture terminal | pending
        pause force => pause began, safe state reached | do capture terminal | pending
        cancel => refused: interrupted
        resume => start began | do check start | pending
        resume go on => message queued, start began | do check start | pending
        restart => restart began, start began | do check start | pending
        stop => already
        rm => removal began | do put aside | pending
        answer allow => refused: nothing asked
        snapshot => save began | do save | pending
        restore => restore began | do restore snap-1 | pending
        return => refused: interrupted
        empty => refused: interrupted
        ",
    )
    .unwrap();
}

#[test]
fn an_interrupted_session_without_an_id() {
    state(
        Kind::Learner,
        &["new\nmade\nsend hi\nchecked\nstarted\nready\nended 1"],
        "
        send hello => message queued | queued while interrupted
        pause => pause began, safe state reached | do capture terminal | pending
        pause interrupt => pause began, safe state reached | do capture terminal | pending
        pause force => pause began, safe state reached | do capture terminal | pending
        cancel => refused: interrupted
        resume => refused: not resumable, no ref
        resume go on => refused: not resumable, no ref
        restart => restart began, start began | do check start | pending
        stop => already
        rm => removal began | do put aside | pending
        answer allow => message requeued
        ",
    )
    .unwrap();
}

#[test]
fn a_completed_session() {
    state(
        Kind::Command,
        &["new\nmade\nchecked\nstarted\nended 0"],
        "
        send hello => refused: completed
        pause => refused: completed
        pause interrupt => refused: completed
        pause force => refused: completed
        cancel => refused: completed
        resume => refused: completed
        resume go on => refused: completed
        restart => restart began, start began | do check start | pending
        stop => already
        rm => removal began | do put aside | pending
        answer allow => refused: nothing asked
        snapshot => save began | do save | pending
        restore => restore began | do restore snap-1 | pending
        return => refused: completed
        empty => refused: completed
        ",
    )
    .unwrap();
}

#[test]
fn a_failed_session() {
    state(
        Kind::Command,
        &["new\nmade\nchecked\nstarted\nended 1"],
        "
        send hello => refused: failed
        pause => refused: failed
        pause interrupt => refused: failed
        pause force => refused: failed
        cancel => refused: failed
        resume => refused: failed
        resume go on => refused: failed
        restart => restart began, start began | do check start | pending
        stop => already
        rm => removal began | do put aside | pending
        answer allow => refused: nothing asked
        snapshot => save began | do save | pending
        restore => restore began | do restore snap-1 | pending
        return => refused: failed
        empty => refused: failed
        ",
    )
    .unwrap();
}

#[test]
fn a_removed_session() {
    state(
        Kind::Agent,
        &[IDLE, PAUSED, "rm\naside"],
        "
        send hello => refused: archived
        pause => refused: archived
        pause interrupt => refused: archived
        pause force => refused: archived
        cancel => refused: archived
        resume => refused: archived
        resume go on => refused: archived
        restart => refused: archived
        stop => already
        rm => already
        answer allow => refused: nothing asked
        snapshot => refused: archived
        restore => refused: archived
        return => return began | do bring back | pending
        return green => return began | do bring back | pending
        empty => emptying began | do empty | pending
        ",
    )
    .unwrap();
}
