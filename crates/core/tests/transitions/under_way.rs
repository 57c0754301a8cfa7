//! What each step of each operation does with each command. Each line is one case, played after the
//! same beginning.

use crate::script::Kind;
use crate::table::{BUSY, IDLE, PAUSED, state};

#[test]
fn a_session_whose_worktree_is_being_made() {
    state(
        Kind::Agent,
        &["new"],
        "
        send hello => message queued | queued while created
        pause => busy with new
        pause interrupt => busy with new
        pause force => busy with new
        cancel => refused: created
        resume => pending
        resume go on => message queued | pending
        restart => busy with new
        stop => start cancelled, stop began | do cut set-up short | pending
        rm => busy with new
        answer allow => refused: nothing asked
        ",
    )
    .unwrap();
}

#[test]
fn a_session_whose_first_process_is_being_started() {
    state(
        Kind::Agent,
        &["new\nmade\nchecked"],
        "
        send hello => message queued | queued while created
        pause => busy with new
        pause interrupt => busy with new
        pause force => busy with new
        cancel => refused: created
        resume => pending
        resume go on => message queued | pending
        restart => busy with new
        stop => start cancelled, stop began | pending
        rm => busy with new
        answer allow => refused: nothing asked
        ",
    )
    .unwrap();
}

#[test]
fn a_session_that_pauses_after_its_turn() {
    state(
        Kind::Agent,
        &[IDLE, BUSY, "pause"],
        "
        send hello => message queued | queued while pausing
        pause => pending
        pause interrupt => pause hastened | do check save | pending
        pause force => pause hastened, safe state reached by force | do capture terminal | pending
        cancel => pause cancelled
        resume => busy with pause
        resume go on => busy with pause
        restart => busy with pause
        stop => pause cancelled, stop began | do stop with an interrupt | pending
        rm => busy with pause
        answer allow => refused: nothing asked
        ",
    )
    .unwrap();
}

#[test]
fn a_session_that_a_pause_looks_at_before_it_interrupts() {
    state(
        Kind::Agent,
        &[IDLE, BUSY, "pause interrupt"],
        "
        send hello => message queued | queued while pausing
        pause => pending
        pause interrupt => pending
        pause force => pause hastened, safe state reached by force | do capture terminal | pending
        cancel => pause cancelled
        resume => busy with pause
        resume go on => busy with pause
        restart => busy with pause
        stop => pause cancelled, stop began | do stop with an interrupt | pending
        rm => busy with pause
        answer allow => refused: nothing asked
        ",
    )
    .unwrap();
}

#[test]
fn a_session_that_was_interrupted_for_a_pause() {
    state(
        Kind::Agent,
        &[IDLE, BUSY, "pause interrupt\nsavable"],
        "
        send hello => message queued | queued while pausing
        pause => pending
        pause interrupt => pending
        pause force => pause hastened, safe state reached by force | do capture terminal | pending
        cancel => pause cancelled
        resume => busy with pause
        resume go on => busy with pause
        restart => busy with pause
        stop => pause cancelled, stop began | do stop with an interrupt | pending
        rm => busy with pause
        answer allow => refused: nothing asked
        ",
    )
    .unwrap();
}

#[test]
fn a_session_whose_screen_is_being_kept() {
    state(
        Kind::Agent,
        &[IDLE, "pause"],
        "
        send hello => message queued | queued while pausing
        pause => pending
        pause interrupt => pause hastened | pending
        pause force => pause hastened | do hurry | pending
        cancel => refused: too late
        resume => busy with pause
        resume go on => busy with pause
        restart => busy with pause
        stop => pause cancelled, stop began | do stop quietly | pending
        rm => busy with pause
        answer allow => refused: nothing asked
        ",
    )
    .unwrap();
}

#[test]
fn a_session_that_is_being_saved() {
    state(
        Kind::Agent,
        &[IDLE, "pause\ncaptured"],
        "
        send hello => message queued | queued while pausing
        pause => pending
        pause interrupt => pause hastened | pending
        pause force => pause hastened | do hurry | pending
        cancel => refused: too late
        resume => busy with pause
        resume go on => busy with pause
        restart => busy with pause
        stop => pause cancelled, stop began | do stop quietly | pending
        rm => busy with pause
        answer allow => refused: nothing asked
        ",
    )
    .unwrap();
}

#[test]
fn a_session_whose_process_is_being_ended_for_a_pause() {
    state(
        Kind::Agent,
        &[IDLE, "pause\ncaptured\nsaved"],
        "
        send hello => message queued | queued while pausing
        pause => pending
        pause interrupt => pause hastened | pending
        pause force => pause hastened | do kill | pending
        cancel => refused: too late
        resume => busy with pause
        resume go on => busy with pause
        restart => busy with pause
        stop => pause cancelled, stop began | do kill | pending
        rm => busy with pause
        answer allow => refused: nothing asked
        ",
    )
    .unwrap();
}

#[test]
fn a_session_that_is_being_saved_again() {
    state(
        Kind::Agent,
        &[IDLE, "pause\ncaptured\nsaved\nended"],
        "
        send hello => message queued | queued while pausing
        pause => pending
        pause interrupt => pause hastened | pending
        pause force => pause hastened | do hurry | pending
        cancel => refused: too late
        resume => busy with pause
        resume go on => busy with pause
        restart => busy with pause
        stop => pause cancelled, stop began, suspended | do save after the end | pending
        rm => busy with pause
        answer allow => refused: nothing asked
        ",
    )
    .unwrap();
}

#[test]
fn a_session_that_is_being_resumed() {
    state(
        Kind::Agent,
        &[IDLE, PAUSED, "resume"],
        "
        send hello => message queued | queued while resuming
        pause => busy with resume
        pause interrupt => busy with resume
        pause force => busy with resume
        cancel => refused: resuming
        resume => pending
        resume go on => message queued | pending
        restart => busy with resume
        stop => start cancelled, suspended | pending
        rm => busy with resume
        answer allow => refused: nothing asked
        ",
    )
    .unwrap();
}

#[test]
fn a_resumed_session_that_is_not_ready() {
    state(
        Kind::Agent,
        &[IDLE, PAUSED, "resume\nchecked\nstarted"],
        "
        send hello => message queued | queued while resuming
        pause => busy with resume
        pause interrupt => busy with resume
        pause force => busy with resume
        cancel => refused: resuming
        resume => pending
        resume go on => message queued | pending
        restart => busy with resume
        stop => start cancelled, stop began | do stop quietly | pending
        rm => busy with resume
        answer allow => refused: nothing asked
        ",
    )
    .unwrap();
}

#[test]
fn a_session_that_is_being_restarted() {
    state(
        Kind::Agent,
        &[IDLE, PAUSED, "restart"],
        "
        send hello => message queued | queued while resuming
        pause => busy with restart
        pause interrupt => busy with restart
        pause force => busy with restart
        cancel => refused: resuming
        resume => pending
        resume go on => message queued | pending
        restart => busy with restart
        stop => start cancelled, suspended | pending
        rm => busy with restart
        answer allow => refused: nothing asked
        ",
    )
    .unwrap();
}

#[test]
fn a_session_that_is_being_woken() {
    state(
        Kind::Agent,
        &[IDLE, "stop\nended\nsend hi"],
        "
        send hello => message queued | queued while resuming
        pause => busy with a wake-up
        pause interrupt => busy with a wake-up
        pause force => busy with a wake-up
        cancel => refused: resuming
        resume => pending
        resume go on => message queued | pending
        restart => busy with a wake-up
        stop => start cancelled, suspended | pending
        rm => busy with a wake-up
        answer allow => refused: nothing asked
        ",
    )
    .unwrap();
}

#[test]
fn a_session_that_is_being_stopped() {
    state(
        Kind::Agent,
        &[IDLE, "stop"],
        "
        send hello => message queued | queued while idle
        pause => busy with stop
        pause interrupt => busy with stop
        pause force => busy with stop
        cancel => refused: idle
        resume => busy with stop
        resume go on => busy with stop
        restart => busy with stop
        stop => do kill | pending
        rm => busy with stop
        answer allow => refused: nothing asked
        ",
    )
    .unwrap();
}

#[test]
fn a_session_that_is_being_removed() {
    state(
        Kind::Agent,
        &[IDLE, PAUSED, "rm"],
        "
        send hello => busy with rm
        pause => busy with rm
        pause interrupt => busy with rm
        pause force => busy with rm
        cancel => refused: paused
        resume => busy with rm
        resume go on => busy with rm
        restart => busy with rm
        stop => busy with rm
        rm => pending
        answer allow => refused: nothing asked
        ",
    )
    .unwrap();
}
