//! A loop goes on: an iteration that is over is looked back at, and the next one begins.

use super::{begin_next, break_off, is_program, not_begun, tell, wait};
use crate::decide::{pause, start};
use crate::draft::Draft;
use crate::effect::Effect;
use crate::event::{Ending, Event};
use crate::looping::{Breaker, LoopEvent, LoopStage};
use crate::pause::{PauseReason, PauseWish};
use crate::session::{Phase, Rest, StartCause};
use crate::spec::SignSource;
use crate::status::Status;
use crate::talk::{Delivery, Message};

/// Does what comes next, if something does.
pub(in crate::decide) fn go_on(draft: &mut Draft<'_>) {
    if draft.hold_back {
        return;
    }
    let Some(looped) = &draft.session.ahead.looped else { return };
    match looped.stage {
        LoopStage::Open => end_if_over(draft),
        LoopStage::Due { .. } => begin_if_it_may(draft),
        // What was under way when the daemon died is done again, and what a pause has cut short.
        LoopStage::Looking { .. } if draft.just_met && !is_paused(draft) || comes_back(draft) => {
            let iteration = looped.iteration;
            draft.effect(Effect::LookBack { iteration });
        }
        LoopStage::Looking { .. } | LoopStage::Done(_) | LoopStage::Stopped { .. } => {}
    }
}

fn is_paused(draft: &Draft<'_>) -> bool {
    matches!(draft.session.phase, Phase::Rest(Rest::Paused(_)))
}

/// Whether it was paused, or about to be, until now.
fn comes_back(draft: &Draft<'_>) -> bool {
    let before = draft.before().map(|session| &session.phase);
    let was_away = matches!(before, Some(Phase::Starting(_) | Phase::Pausing(_)));
    was_away && draft.session.phase == Phase::Live
}

/// A pause that was asked for begins once nothing is open, and before anything is counted. Where
/// nothing runs any more there is nothing to wait for.
pub(in crate::decide) fn pause_if_wanted(draft: &mut Draft<'_>) {
    let Some(looped) = &draft.session.ahead.looped else { return };
    let Some(to_come) = looped.pausing else { return };
    // What waits for a person does nothing meanwhile, and may wait for long.
    let between = match looped.stage {
        LoopStage::Due { .. } | LoopStage::Done(_) | LoopStage::Stopped { .. } => true,
        LoopStage::Open => draft.session.waits_for_person() || is_untouched(draft),
        LoopStage::Looking { .. } => draft.session.waits_for_person(),
    };
    let due = matches!(looped.stage, LoopStage::Due { .. });
    let reply = draft.decision.reply.clone();
    match &draft.session.phase {
        Phase::Live if !between => {}
        // A program has come to its end and would be run again, or the agent has died: that is counted
        // first.
        Phase::Rest(Rest::Completed | Rest::Failed(_) | Rest::Interrupted)
            if !due && is_looked_at(draft) => {}
        // What has failed before it began cannot be paused; nothing goes on by itself either.
        Phase::Rest(Rest::Completed | Rest::Failed(_)) if !due => give_up(draft),
        Phase::Rest(Rest::Archived) => give_up(draft),
        Phase::Live | Phase::Rest(_) => {
            // A usage limit was faster: its pause is this one from now on, and does not end with it.
            if draft.session.parked().is_some() {
                draft.event(Event::PauseTakenOver { reason: to_come.wish.reason });
            }
            pause::begin_now(draft, to_come.op, to_come.wish);
            draft.release_from_gate();
            draft.reply(reply);
        }
        Phase::Starting(_) | Phase::Pausing(_) | Phase::Stopping { .. } | Phase::Chore { .. } => {}
    }
}

/// Whether an iteration was begun and nothing of it has got to its agent, which is there: its words wait
/// as well while it is paused.
fn is_untouched(draft: &Draft<'_>) -> bool {
    let session = &draft.session;
    let begun = session.ahead.looped.as_ref().is_some_and(|looped| looped.worked || looped.awaited);
    let waits = |message: &Message| message.delivery == Delivery::Queued;
    let words_wait = !session.talk.queue.is_empty() && session.talk.queue.iter().all(waits);
    !begun && words_wait && session.is_ready() && !session.turn().under_way()
}

/// There is nothing to pause.
fn give_up(draft: &mut Draft<'_>) {
    if let Some(to_come) = draft.session.pause_to_come() {
        tell(draft, LoopEvent::PauseWithdrawn { op: to_come.op });
    }
}

/// What an iteration that is open has come to.
enum Course {
    /// It is worked on, or waits for a person.
    GoesOn,
    /// Its words have not got to an agent, or were cut: they are said once more.
    Again,
    /// A usage limit has cut it, and its agent is gone: it waits for the end of that.
    Limited,
    /// It is over.
    Over { failed: bool },
    /// The agent of its own conversation did not start, or an error has ended its turn: it did nothing that
    /// counts, and is done again.
    NotBegun,
    /// Its agent does not come back, or takes nothing: that is for a person to look at.
    Blocked,
}

/// An iteration is over when its agent has nothing to do any more. One whose turn was cut is begun
/// again with the same words; the agent is told that it was cut.
fn end_if_over(draft: &mut Draft<'_>) {
    match course(draft) {
        Course::GoesOn => {}
        Course::Again => say_again(draft),
        Course::Limited => pause::begin_by_itself(draft, PauseWish::plain(PauseReason::RateLimit)),
        Course::Over { failed } => {
            let Some(looped) = &draft.session.ahead.looped else { return };
            let iteration = looped.iteration;
            tell(draft, LoopEvent::Ended { iteration, failed });
            draft.effect(Effect::LookBack { iteration });
        }
        Course::NotBegun => not_begun(draft),
        Course::Blocked => {
            break_off(draft, Breaker::NotResumable);
            pause_if_wanted(draft);
        }
    }
}

fn course(draft: &Draft<'_>) -> Course {
    let session = &draft.session;
    let worked = session.ahead.looped.as_ref().is_some_and(|looped| looped.worked);
    let awaited = session.ahead.looped.as_ref().is_some_and(|looped| looped.awaited);
    let cut = session.is_unfinished() || !worked;
    let refused = draft.own_events().any(|event| matches!(event, Event::MessageRefused { .. }));
    let start_failed = draft.own_events().any(|event| matches!(event, Event::StartFailed { .. }));
    let suspended = draft.own_events().any(|event| matches!(event, Event::Suspended { .. }));
    let has_said = session.spec.prompt.is_some();
    match &session.phase {
        Phase::Rest(_) if start_failed => of_failed_start(draft, worked),
        Phase::Live if session.spec.traits.signs == SignSource::Structured => {
            let limited = session.run.as_ref().is_some_and(|run| run.limited);
            let works = session.live_status() != Status::Idle || !session.talk.queue.is_empty();
            match (works || limited || awaited, refused) {
                (true, _) => Course::GoesOn,
                (false, true) => Course::Over { failed: true },
                (false, false) if session.talk.turn_failed.is_some() => Course::NotBegun,
                (false, false) if cut && has_said => Course::Again,
                (false, false) => Course::Over { failed: false },
            }
        }
        Phase::Rest(Rest::Completed) if is_program(draft) => Course::Over { failed: false },
        Phase::Rest(Rest::Failed(_)) if is_program(draft) => Course::Over { failed: true },
        Phase::Rest(Rest::Suspended) if !suspended => Course::GoesOn,
        Phase::Rest(Rest::Suspended) if session.ahead.limits.unanswered => Course::Limited,
        // It has left without taking what it was to take, and would again.
        Phase::Rest(Rest::Suspended) if !session.talk.queue.is_empty() && has_died(draft) => {
            Course::Blocked
        }
        Phase::Rest(Rest::Suspended) if session.talk.queue.is_empty() => {
            if cut && has_said {
                Course::Again
            } else {
                Course::Over { failed: false }
            }
        }
        Phase::Rest(Rest::Interrupted) if session.ahead.limits.unanswered && has_died(draft) => {
            Course::Limited
        }
        // It died by itself, and we have seen it. After a reboot a person decides.
        Phase::Rest(Rest::Interrupted | Rest::Failed(_)) if has_died(draft) => {
            Course::Over { failed: true }
        }
        Phase::Live
        | Phase::Rest(_)
        | Phase::Starting(_)
        | Phase::Pausing(_)
        | Phase::Stopping { .. }
        | Phase::Chore { .. } => Course::GoesOn,
    }
}

/// A first start that fails, or one of a person, is a person's to try again.
fn of_failed_start(draft: &Draft<'_>, worked: bool) -> Course {
    let before = draft.before().map(|session| &session.phase);
    let anew = matches!(before, Some(Phase::Starting(start)) if start.cause == StartCause::Restart);
    let first = draft.session.ahead.looped.as_ref().is_some_and(|looped| looped.iteration <= 1);
    let paused = matches!(draft.session.phase, Phase::Rest(Rest::Paused(_)));
    match (worked, anew) {
        (false, true) => Course::NotBegun,
        (false, false) if !first && !paused => Course::Blocked,
        (true | false, _) => Course::GoesOn,
    }
}

fn say_again(draft: &mut Draft<'_>) {
    if draft.session.ahead.limits.unanswered {
        start::go_on(draft);
    } else if let Some(words) = draft.session.spec.prompt.clone() {
        draft.new_message(words);
    }
}

/// Whether a look back is under way, or follows from what has just come.
fn is_looked_at(draft: &Draft<'_>) -> bool {
    match draft.session.ahead.looped.as_ref().map(|looped| &looped.stage) {
        Some(LoopStage::Looking { .. }) => true,
        Some(LoopStage::Open) => has_died(draft),
        Some(LoopStage::Due { .. } | LoopStage::Done(_) | LoopStage::Stopped { .. }) | None => {
            false
        }
    }
}

fn has_died(draft: &Draft<'_>) -> bool {
    let died = |event: &Event| {
        let by_itself =
            |ending: &Ending| matches!(ending, Ending::Exited(_) | Ending::Signalled(_));
        matches!(event, Event::ProcessEnded { ending, ordered: false, .. } if by_itself(ending))
    };
    !draft.just_met && draft.own_events().any(died)
}

/// The next iteration begins where the session may run.
fn begin_if_it_may(draft: &mut Draft<'_>) {
    let session = &draft.session;
    let runs = session.phase == Phase::Live;
    let may = match &session.phase {
        Phase::Live => session.live_status() == Status::Idle && session.talk.queue.is_empty(),
        Phase::Rest(Rest::Suspended | Rest::Interrupted | Rest::Completed | Rest::Failed(_)) => {
            true
        }
        Phase::Rest(Rest::Paused(_) | Rest::Created | Rest::Archived)
        | Phase::Starting(_)
        | Phase::Pausing(_)
        | Phase::Stopping { .. }
        | Phase::Chore { .. } => false,
    };
    let broke = session.ahead.looped.as_ref().is_some_and(|looped| looped.broke.is_some());
    if !may || broke || session.upkeep.barred.is_some() || runs && draft.gate.shut().is_some() {
        return;
    }
    if !runs && draft.must_wait().is_some() {
        wait(draft);
        return;
    }
    let reply = draft.decision.reply.clone();
    if begin_next(draft).is_err() {
        // What is refused would be refused again.
        break_off(draft, Breaker::NotResumable);
        pause_if_wanted(draft);
    }
    draft.reply(reply);
}
