//! What each state does with each command, while nothing else is under way.

use crate::script::Kind;
use crate::state::states;

/// A session whose agent has nothing to do.
pub(crate) const IDLE: &str = "new\nmade\nchecked\nstarted\nready";

/// Behind an idle session, with its turn open.
pub(crate) const BUSY: &str = "turn began";

/// Behind an idle session, all the way.
pub(crate) const PAUSED: &str = "pause\ncaptured\nsaved\nended\nsaved";

states! {
    a_session_that_waits_for_its_first_message: Kind::Learner, ["new\nmade"], "
        send hello => message queued, start began | do check start | queued while created
        pause => pause began, safe state reached | do capture terminal | pending
        pause interrupt => pause began, safe state reached | do capture terminal | pending
        pause force => pause began, safe state reached | do capture terminal | pending
        cancel => refused: created
        resume => refused: created
        resume go on => refused: created
        restart => refused: created
        stop => already
        timeout 20 => idle limit set
        rm => removal began | do put aside | pending
        rm and stop => removal began | do put aside | pending
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => refused: created
        restore => restore began | do restore snap-1 | pending
        return => refused: created
        empty => refused: created
        acknowledge => already
    ";

    a_busy_session: Kind::Agent, [IDLE, BUSY], "
        send hello => message queued | queued while busy
        pause => pause began | pending
        pause interrupt => pause began | do check save | pending
        pause force => pause began, safe state reached by force | do capture terminal | pending
        cancel => refused: busy
        resume => already
        resume go on => message queued | already
        restart => stop began | do stop with an interrupt | pending
        stop => stop began | do stop with an interrupt | pending
        timeout 20 => idle limit set
        rm => refused: busy
        rm and stop => stop began | do stop with an interrupt | pending
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => refused: busy
        restore => refused: busy
        return => refused: busy
        empty => refused: busy
        acknowledge => already
    ";

    an_idle_session: Kind::Agent, [IDLE], "
        send hello => message queued, delivery began | do deliver hello | queued while idle
        pause => pause began, safe state reached | do capture terminal | pending
        pause interrupt => pause began, safe state reached | do capture terminal | pending
        pause force => pause began, safe state reached | do capture terminal | pending
        cancel => refused: idle
        resume => already
        resume go on => message queued, delivery began | do deliver go on | already
        restart => stop began | do stop quietly | pending
        stop => stop began | do stop quietly | pending
        timeout 20 => idle limit set
        rm => refused: idle
        rm and stop => stop began | do stop quietly | pending
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => refused: idle
        restore => refused: idle
        return => refused: idle
        empty => refused: idle
        acknowledge => already
    ";

    a_session_that_asks: Kind::Agent, [IDLE, BUSY, "asks go"], "
        send hello => message queued | queued while waiting
        pause => pause began, safe state reached | do capture terminal | pending
        pause interrupt => pause began, safe state reached | do capture terminal | pending
        pause force => pause began, safe state reached | do capture terminal | pending
        cancel => refused: waiting
        resume => already
        resume go on => message queued | already
        restart => stop began | do stop with an interrupt | pending
        stop => stop began | do stop with an interrupt | pending
        timeout 20 => idle limit set
        rm => refused: waiting
        rm and stop => stop began | do stop with an interrupt | pending
        answer allow => answer began | do give answer allow
        auto-yes on => auto yes set | do limit the rules, judge go
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => refused: waiting
        restore => refused: waiting
        return => refused: waiting
        empty => refused: waiting
        acknowledge => already
    ";

    a_paused_session: Kind::Agent, [IDLE, PAUSED], "
        send hello => message queued | queued while paused
        pause => already
        pause interrupt => already
        pause force => already
        cancel => refused: paused
        resume => start began | do check start | pending
        resume go on => message queued, start began | do check start | pending
        restart => restart began, start began | do check start | pending
        stop => already
        timeout 20 => idle limit set
        rm => removal began | do put aside | pending
        rm and stop => removal began | do put aside | pending
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => compaction began | do compact | pending
        restore => restore began | do restore snap-1 | pending
        return => refused: paused
        empty => refused: paused
        acknowledge => already
        pause and clear => pause began, safe state reached | do capture terminal | pending
    ";

    a_suspended_session: Kind::Agent, [IDLE, "stop\nended"], "
        send hello => message queued, start began | do check start | queued while suspended
        pause => pause began, safe state reached | do capture terminal | pending
        pause interrupt => pause began, safe state reached | do capture terminal | pending
        pause force => pause began, safe state reached | do capture terminal | pending
        cancel => refused: suspended
        resume => start began | do check start | pending
        resume go on => message queued, start began | do check start | pending
        restart => restart began, start began | do check start | pending
        stop => already
        timeout 20 => idle limit set
        rm => removal began | do put aside | pending
        rm and stop => removal began | do put aside | pending
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => compaction began | do compact | pending
        restore => restore began | do restore snap-1 | pending
        return => refused: suspended
        empty => refused: suspended
        acknowledge => already
    ";

    an_interrupted_session: Kind::Agent, [IDLE, BUSY, "ended 1"], "
        send hello => message queued | queued while interrupted
        pause => pause began, safe state reached | do capture terminal | pending
        pause interrupt => pause began, safe state reached | do capture terminal | pending
        pause force => pause began, safe state reached | do capture terminal | pending
        cancel => refused: interrupted
        resume => start began | do check start | pending
        resume go on => message queued, start began | do check start | pending
        restart => restart began, start began | do check start | pending
        stop => already
        timeout 20 => idle limit set
        rm => removal began | do put aside | pending
        rm and stop => removal began | do put aside | pending
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => compaction began | do compact | pending
        restore => restore began | do restore snap-1 | pending
        return => refused: interrupted
        empty => refused: interrupted
        acknowledge => already
    ";

    an_interrupted_session_without_an_id: Kind::Learner, ["new\nmade\nsend hi\nchecked\nstarted\nready\nended 1"], "
        send hello => message queued | queued while interrupted
        pause => pause began, safe state reached | do capture terminal | pending
        pause interrupt => pause began, safe state reached | do capture terminal | pending
        pause force => pause began, safe state reached | do capture terminal | pending
        cancel => refused: interrupted
        resume => refused: not resumable, no ref
        resume go on => refused: not resumable, no ref
        restart => restart began, start began | do check start | pending
        stop => already
        timeout 20 => idle limit set
        rm => removal began | do put aside | pending
        rm and stop => removal began | do put aside | pending
        answer allow => message requeued
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => compaction began | do compact | pending
        restore => restore began | do restore snap-1 | pending
        return => refused: interrupted
        empty => refused: interrupted
        acknowledge => already
    ";

    a_completed_session: Kind::Command, ["new\nmade\nchecked\nstarted\nended 0"], "
        send hello => refused: completed
        pause => refused: completed
        pause interrupt => refused: completed
        pause force => refused: completed
        cancel => refused: completed
        resume => refused: completed
        resume go on => refused: completed
        restart => restart began, start began | do check start | pending
        stop => already
        timeout 20 => idle limit set
        rm => removal began | do put aside | pending
        rm and stop => removal began | do put aside | pending
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => compaction began | do compact | pending
        restore => restore began | do restore snap-1 | pending
        return => refused: completed
        empty => refused: completed
        acknowledge => already
    ";

    a_failed_session: Kind::Command, ["new\nmade\nchecked\nstarted\nended 1"], "
        send hello => refused: failed
        pause => refused: failed
        pause interrupt => refused: failed
        pause force => refused: failed
        cancel => refused: failed
        resume => refused: failed
        resume go on => refused: failed
        restart => restart began, start began | do check start | pending
        stop => already
        timeout 20 => idle limit set
        rm => removal began | do put aside | pending
        rm and stop => removal began | do put aside | pending
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => save began | do save | pending
        compact => compaction began | do compact | pending
        restore => restore began | do restore snap-1 | pending
        return => refused: failed
        empty => refused: failed
        acknowledge => already
    ";

    a_removed_session: Kind::Agent, [IDLE, PAUSED, "rm\naside"], "
        send hello => refused: archived
        pause => refused: archived
        pause interrupt => refused: archived
        pause force => refused: archived
        cancel => refused: archived
        resume => refused: archived
        resume go on => refused: archived
        restart => refused: archived
        stop => already
        timeout 20 => refused: archived
        rm => already
        rm and stop => already
        answer allow => refused: nothing asked
        auto-yes on => auto yes set
        set 5 => refused: no loop
        snapshot => refused: archived
        compact => refused: archived
        restore => refused: archived
        return => return began | do bring back | pending
        empty => emptying began | do empty | pending
        acknowledge => already
        return green => return began | do bring back | pending
    ";
}
