//! What each step of each operation does with each command.

use crate::script::Kind;
use crate::state::states;
use crate::table::{BUSY, IDLE, PAUSED};

states! {
    a_session_whose_worktree_is_being_made: Kind::Agent, ["new"], "
        send hello => message queued | queued while created
        pause => busy with new
        pause interrupt => busy with new
        pause force => start cancelled, stop began | do cut set-up short | pending
        cancel => refused: created
        resume => pending
        resume go on => message queued | pending
        restart => busy with new
        stop => start cancelled, stop began | do cut set-up short | pending
        timeout 20 => idle limit set
        rm => busy with new
        rm and stop => busy with new
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => refused: created
        compact => busy with new
        restore => busy with new
        return => refused: created
        empty => refused: created
        acknowledge => already
    ";

    a_session_whose_first_process_is_being_started: Kind::Agent, ["new\nmade\nchecked"], "
        send hello => message queued | queued while created
        pause => busy with new
        pause interrupt => busy with new
        pause force => start cancelled, stop began | pending
        cancel => refused: created
        resume => pending
        resume go on => message queued | pending
        restart => busy with new
        stop => start cancelled, stop began | pending
        timeout 20 => idle limit set
        rm => busy with new
        rm and stop => busy with new
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => busy with new
        restore => busy with new
        return => refused: created
        empty => refused: created
        acknowledge => already
    ";

    a_session_whose_start_is_called_off_for_a_pause: Kind::Agent, ["new\nmade\nchecked\npause force"], "
        send hello => message queued | queued while pausing
        pause => pending
        pause interrupt => pending
        pause force => pending
        cancel => refused: too late
        resume => busy with pause
        resume go on => busy with pause
        restart => busy with pause
        stop => pause cancelled, stop began | pending
        timeout 20 => idle limit set
        rm => busy with pause
        rm and stop => busy with pause
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => busy with pause
        restore => busy with pause
        return => refused: pausing
        empty => refused: pausing
        acknowledge => already
    ";

    a_session_that_pauses_after_its_turn: Kind::Agent, [IDLE, BUSY, "pause"], "
        send hello => message queued | queued while pausing
        pause => pending
        pause interrupt => pause hastened | do check save | pending
        pause force => pause hastened, safe state reached by force | do capture terminal | pending
        cancel => pause cancelled
        resume => busy with pause
        resume go on => busy with pause
        restart => busy with pause
        stop => pause cancelled, stop began | do stop with an interrupt | pending
        timeout 20 => idle limit set
        rm => busy with pause
        rm and stop => busy with pause
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => busy with pause
        restore => busy with pause
        return => refused: pausing
        empty => refused: pausing
        acknowledge => already
    ";

    a_session_that_a_pause_looks_at_before_it_interrupts: Kind::Agent, [IDLE, BUSY, "pause interrupt"], "
        send hello => message queued | queued while pausing
        pause => pending
        pause interrupt => pending
        pause force => pause hastened, safe state reached by force | do capture terminal | pending
        cancel => pause cancelled
        resume => busy with pause
        resume go on => busy with pause
        restart => busy with pause
        stop => pause cancelled, stop began | do cut short, stop with an interrupt | pending
        timeout 20 => idle limit set
        rm => busy with pause
        rm and stop => busy with pause
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => busy with pause
        restore => busy with pause
        return => refused: pausing
        empty => refused: pausing
        acknowledge => already
    ";

    a_session_that_was_interrupted_for_a_pause: Kind::Agent, [IDLE, BUSY, "pause interrupt\nsavable"], "
        send hello => message queued | queued while pausing
        pause => pending
        pause interrupt => pending
        pause force => pause hastened, safe state reached by force | do capture terminal | pending
        cancel => pause cancelled
        resume => busy with pause
        resume go on => busy with pause
        restart => busy with pause
        stop => pause cancelled, stop began | do stop with an interrupt | pending
        timeout 20 => idle limit set
        rm => busy with pause
        rm and stop => busy with pause
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => busy with pause
        restore => busy with pause
        return => refused: pausing
        empty => refused: pausing
        acknowledge => already
    ";

    a_session_whose_screen_is_being_kept: Kind::Agent, [IDLE, "pause"], "
        send hello => message queued | queued while pausing
        pause => pending
        pause interrupt => pause hastened | pending
        pause force => pause hastened | do hurry | pending
        cancel => refused: too late
        resume => busy with pause
        resume go on => busy with pause
        restart => busy with pause
        stop => pause cancelled, stop began | do cut short, stop quietly | pending
        timeout 20 => idle limit set
        rm => busy with pause
        rm and stop => busy with pause
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => busy with pause
        restore => busy with pause
        return => refused: pausing
        empty => refused: pausing
        acknowledge => already
    ";

    a_session_that_is_being_saved: Kind::Agent, [IDLE, "pause\ncaptured"], "
        send hello => message queued | queued while pausing
        pause => pending
        pause interrupt => pause hastened | pending
        pause force => pause hastened | do hurry | pending
        cancel => refused: too late
        resume => busy with pause
        resume go on => busy with pause
        restart => busy with pause
        stop => pause cancelled, stop began | do cut short, stop quietly | pending
        timeout 20 => idle limit set
        rm => busy with pause
        rm and stop => busy with pause
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => busy with pause
        restore => busy with pause
        return => refused: pausing
        empty => refused: pausing
        acknowledge => already
    ";

    a_session_whose_process_is_being_ended_for_a_pause: Kind::Agent, [IDLE, "pause\ncaptured\nsaved"], "
        send hello => message queued | queued while pausing
        pause => pending
        pause interrupt => pause hastened | pending
        pause force => pause hastened | do kill | pending
        cancel => refused: too late
        resume => busy with pause
        resume go on => busy with pause
        restart => busy with pause
        stop => pause cancelled, stop began | do kill | pending
        timeout 20 => idle limit set
        rm => busy with pause
        rm and stop => busy with pause
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => busy with pause
        restore => busy with pause
        return => refused: pausing
        empty => refused: pausing
        acknowledge => already
    ";

    a_session_that_is_being_saved_again: Kind::Agent, [IDLE, "pause\ncaptured\nsaved\nended"], "
        send hello => message queued | queued while pausing
        pause => pending
        pause interrupt => pause hastened | pending
        pause force => pause hastened | do hurry | pending
        cancel => refused: too late
        resume => busy with pause
        resume go on => busy with pause
        restart => busy with pause
        stop => pause cancelled, stop began, suspended | do cut short, save after the end | pending
        timeout 20 => idle limit set
        rm => busy with pause
        rm and stop => busy with pause
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => busy with pause
        restore => busy with pause
        return => refused: pausing
        empty => refused: pausing
        acknowledge => already
    ";

    a_session_that_is_being_resumed: Kind::Agent, [IDLE, PAUSED, "resume"], "
        send hello => message queued | queued while resuming
        pause => busy with resume
        pause interrupt => busy with resume
        pause force => start cancelled, suspended, pause began, safe state reached | do cut short, capture terminal | pending
        cancel => refused: resuming
        resume => pending
        resume go on => message queued | pending
        restart => busy with resume
        stop => start cancelled, suspended | do cut short | pending
        timeout 20 => idle limit set
        rm => busy with resume
        rm and stop => busy with resume
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => busy with resume
        restore => busy with resume
        return => refused: resuming
        empty => refused: resuming
        acknowledge => already
    ";

    a_resumed_session_that_is_not_ready: Kind::Agent, [IDLE, PAUSED, "resume\nchecked\nstarted"], "
        send hello => message queued | queued while resuming
        pause => busy with resume
        pause interrupt => busy with resume
        pause force => start cancelled, stop began | do kill | pending
        cancel => refused: resuming
        resume => pending
        resume go on => message queued | pending
        restart => busy with resume
        stop => start cancelled, stop began | do stop quietly | pending
        timeout 20 => idle limit set
        rm => busy with resume
        rm and stop => busy with resume
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => busy with resume
        restore => busy with resume
        return => refused: resuming
        empty => refused: resuming
        acknowledge => already
    ";

    a_session_that_is_being_restarted: Kind::Agent, [IDLE, PAUSED, "restart"], "
        send hello => message queued | queued while resuming
        pause => busy with restart
        pause interrupt => busy with restart
        pause force => start cancelled, suspended, pause began, safe state reached | do cut short, capture terminal | pending
        cancel => refused: resuming
        resume => pending
        resume go on => message queued | pending
        restart => busy with restart
        stop => start cancelled, suspended | do cut short | pending
        timeout 20 => idle limit set
        rm => busy with restart
        rm and stop => busy with restart
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => busy with restart
        restore => busy with restart
        return => refused: resuming
        empty => refused: resuming
        acknowledge => already
    ";

    a_session_that_is_being_woken: Kind::Agent, [IDLE, "stop\nended\nsend hi"], "
        send hello => message queued | queued while resuming
        pause => busy with a wake-up
        pause interrupt => busy with a wake-up
        pause force => start cancelled, suspended, pause began, safe state reached | do cut short, capture terminal | pending
        cancel => refused: resuming
        resume => pending
        resume go on => message queued | pending
        restart => busy with a wake-up
        stop => start cancelled, suspended | do cut short | pending
        timeout 20 => idle limit set
        rm => busy with a wake-up
        rm and stop => busy with a wake-up
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => busy with a wake-up
        restore => busy with a wake-up
        return => refused: resuming
        empty => refused: resuming
        acknowledge => already
    ";

    a_session_that_is_being_stopped: Kind::Agent, [IDLE, "stop"], "
        send hello => message queued | queued while idle
        pause => busy with stop
        pause interrupt => busy with stop
        pause force => busy with stop
        cancel => refused: idle
        resume => busy with stop
        resume go on => busy with stop
        restart => busy with stop
        stop => do kill | pending
        timeout 20 => idle limit set
        rm => busy with stop
        rm and stop => busy with stop
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => busy with stop
        restore => busy with stop
        return => refused: idle
        empty => refused: idle
        acknowledge => already
    ";

    a_session_that_is_being_stopped_for_a_restart: Kind::Agent, [IDLE, "restart"], "
        send hello => message queued | queued while idle
        pause => busy with restart
        pause interrupt => busy with restart
        pause force => busy with restart
        cancel => refused: idle
        resume => busy with restart
        resume go on => busy with restart
        restart => busy with restart
        stop => start cancelled, stop began | pending
        timeout 20 => idle limit set
        rm => busy with restart
        rm and stop => busy with restart
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => busy with restart
        restore => busy with restart
        return => refused: idle
        empty => refused: idle
        acknowledge => already
    ";

    a_session_that_is_being_saved_for_a_restart: Kind::Agent, [IDLE, "restart\nended"], "
        send hello => message queued | queued while suspended
        pause => busy with restart
        pause interrupt => busy with restart
        pause force => busy with restart
        cancel => refused: suspended
        resume => busy with restart
        resume go on => busy with restart
        restart => busy with restart
        stop => start cancelled, suspended | do cut short, save after the end | pending
        timeout 20 => idle limit set
        rm => busy with restart
        rm and stop => busy with restart
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => busy with restart
        restore => busy with restart
        return => refused: suspended
        empty => refused: suspended
        acknowledge => already
        ended => nothing
    ";
}
