//! What a session does with each command while something is done with what it holds.

use crate::script::Kind;
use crate::state::states;
use crate::table::{IDLE, PAUSED};

states! {
    a_session_whose_worktree_is_being_removed_by_a_pause: Kind::Agent, [IDLE, "pause and clear\ncaptured\nsaved\nended\nsaved"], "
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

    a_session_whose_worktree_is_being_restored: Kind::Agent, [IDLE, PAUSED, "restore"], "
        send hello => busy with restore
        pause => busy with restore
        pause interrupt => busy with restore
        pause force => busy with restore
        cancel => refused: paused
        resume => busy with restore
        resume go on => busy with restore
        restart => busy with restore
        stop => do cut short | pending
        timeout 20 => idle limit set
        rm => busy with restore
        rm and stop => busy with restore
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => busy with restore
        compact => busy with restore
        restore => pending
        return => busy with restore
        empty => busy with restore
        acknowledge => already
    ";

    a_session_that_is_being_removed: Kind::Agent, [IDLE, PAUSED, "rm"], "
        send hello => busy with rm
        pause => busy with rm
        pause interrupt => busy with rm
        pause force => busy with rm
        cancel => refused: paused
        resume => busy with rm
        resume go on => busy with rm
        restart => busy with rm
        stop => do cut short | pending
        timeout 20 => idle limit set
        rm => pending
        rm and stop => pending
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => busy with rm
        compact => busy with rm
        restore => busy with rm
        return => busy with rm
        empty => busy with rm
        acknowledge => already
    ";

    a_session_that_is_being_stopped_for_its_removal: Kind::Agent, [IDLE, "rm and stop"], "
        send hello => busy with rm
        pause => busy with rm
        pause interrupt => busy with rm
        pause force => busy with rm
        cancel => refused: idle
        resume => busy with rm
        resume go on => busy with rm
        restart => busy with rm
        stop => removal failed, stop began | pending
        timeout 20 => idle limit set
        rm => pending
        rm and stop => pending
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => busy with rm
        restore => busy with rm
        return => refused: idle
        empty => refused: idle
        acknowledge => already
    ";

    a_session_that_is_being_saved_for_its_removal: Kind::Agent, [IDLE, "rm and stop\nended"], "
        send hello => busy with rm
        pause => busy with rm
        pause interrupt => busy with rm
        pause force => busy with rm
        cancel => refused: suspended
        resume => busy with rm
        resume go on => busy with rm
        restart => busy with rm
        stop => removal failed | do cut short, save after the end
        timeout 20 => idle limit set
        rm => pending
        rm and stop => pending
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => busy with rm
        restore => busy with rm
        return => refused: suspended
        empty => refused: suspended
        acknowledge => already
    ";

    a_session_that_comes_back_from_the_trash: Kind::Agent, [IDLE, PAUSED, "rm\naside\nreturn"], "
        send hello => busy with trash restore
        pause => busy with trash restore
        pause interrupt => busy with trash restore
        pause force => busy with trash restore
        cancel => refused: archived
        resume => busy with trash restore
        resume go on => busy with trash restore
        restart => busy with trash restore
        stop => do cut short | pending
        timeout 20 => idle limit set
        rm => busy with trash restore
        rm and stop => busy with trash restore
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => refused: archived
        compact => busy with trash restore
        restore => busy with trash restore
        return => pending
        empty => busy with trash restore
        acknowledge => already
    ";

    a_session_whose_trash_is_being_emptied: Kind::Agent, [IDLE, PAUSED, "rm\naside\nempty"], "
        send hello => busy with trash empty
        pause => busy with trash empty
        pause interrupt => busy with trash empty
        pause force => busy with trash empty
        cancel => refused: archived
        resume => busy with trash empty
        resume go on => busy with trash empty
        restart => busy with trash empty
        stop => do cut short | pending
        timeout 20 => idle limit set
        rm => busy with trash empty
        rm and stop => busy with trash empty
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => refused: archived
        compact => busy with trash empty
        restore => busy with trash empty
        return => busy with trash empty
        empty => pending
        acknowledge => already
    ";
}
