//! Loops: what is asked of them, and what follows from a look back at an iteration.

pub(super) mod course;

use super::{pause, start};
use crate::decision::Reply;
use crate::draft::Draft;
use crate::effect::Effect;
use crate::event::Event;
use crate::looping::{
    Breaker, LookedBack, Loop, LoopChange, LoopContext, LoopEnd, LoopEvent, LoopPause, LoopStage,
};
use crate::pause::{PauseMode, PauseReason, PauseWish};
use crate::refusal::{InPlaceWish, Refusal};
use crate::session::{Phase, Rest, StartCause};
use crate::spec::RefOrigin;

/// A person asks for a pause. A loop is paused at the end of its iteration, if that is all that is asked.
pub(super) fn ask_to_pause(draft: &mut Draft<'_>, wish: PauseWish) -> Result<(), Refusal> {
    if pause(draft, wish)? { Ok(()) } else { pause::begin(draft, wish) }
}

/// Pauses a loop at the end of its iteration, if that is all that is asked for. Whatever may disturb
/// more is a pause like any other. Whether it was taken on.
fn pause(draft: &mut Draft<'_>, wish: PauseWish) -> Result<bool, Refusal> {
    let works = match &draft.session.phase {
        Phase::Starting(_) | Phase::Live | Phase::Stopping { .. } => true,
        // Of a program the end of an iteration is its own end, and it is looked back at.
        Phase::Rest(Rest::Completed | Rest::Failed(_)) => is_between(draft),
        Phase::Rest(_) | Phase::Pausing(_) | Phase::Chore { .. } => false,
    };
    if !draft.session.iterates() || !works {
        return Ok(false);
    }
    let former = draft.session.pause_to_come();
    if wish.mode == PauseMode::Boundary {
        if wish.clearing.is_asked() && draft.session.spec.in_place {
            let session = draft.session.name.clone();
            return Err(Refusal::InPlace { session, wish: InPlaceWish::RemoveWorktree });
        }
        if let Some(former) = former {
            draft.reply(Reply::Pending(former.op));
        } else {
            let op = draft.new_op();
            tell(draft, LoopEvent::PauseAsked(LoopPause { op, wish }));
        }
        return Ok(true);
    }
    // It does not wait for a command that may take long: that is tried again with what follows.
    let is_over = matches!(draft.session.phase, Phase::Rest(_)) && is_program(draft);
    if is_over || draft.session.phase == Phase::Live {
        cut_look_short(draft);
    }
    if is_over {
        let op = former.map_or_else(|| draft.new_op(), |former| former.op);
        tell(draft, LoopEvent::PauseAsked(LoopPause { op, wish }));
        draft.reply(Reply::Pending(op));
        look_no_longer(draft);
        return Ok(true);
    }
    let Some(former) = former.filter(|_| draft.session.phase == Phase::Live) else {
        return Ok(false);
    };
    // It is hastened, and stays the same operation for those who wait for it.
    pause::begin_now(draft, former.op, wish);
    Ok(true)
}

/// What has no conversation to come back to goes on with its next run: whether that was wanted is looked
/// at after it.
fn look_no_longer(draft: &mut Draft<'_>) {
    let Some(looped) = &draft.session.ahead.looped else { return };
    looked_back(
        draft,
        LookedBack {
            iteration: looped.iteration,
            reached: None,
            left: None,
            cost_micros: looped.cost_micros,
            agent_ref: None,
            note: None,
        },
    );
}

/// Whether an iteration is over and the next one has not begun.
fn is_between(draft: &Draft<'_>) -> bool {
    let between =
        |looped: &Loop| matches!(looped.stage, LoopStage::Looking { .. } | LoopStage::Due { .. });
    draft.session.ahead.looped.as_deref().is_some_and(between)
}

/// Withdraws a pause that waits for the end of an iteration. Whether there was one.
pub(super) fn withdraw(draft: &mut Draft<'_>) -> bool {
    let Some(pause) = draft.session.pause_to_come() else { return false };
    tell(draft, LoopEvent::PauseWithdrawn { op: pause.op });
    true
}

/// A person stops it: the iteration that is open is cut, and none follows.
pub(super) fn stop(draft: &mut Draft<'_>) {
    withdraw(draft);
    if draft.session.iterates() {
        cut_look_short(draft);
        tell(draft, LoopEvent::Stopped);
    }
}

/// What an iteration was being looked back at for counts no more.
fn cut_look_short(draft: &mut Draft<'_>) {
    let looks = |looped: &Loop| matches!(looped.stage, LoopStage::Looking { .. });
    if draft.session.ahead.looped.as_deref().is_some_and(looks) {
        draft.effect(Effect::CutLineShort);
    }
}

/// A person begins an iteration anew: the one that is open, else the next. One that was over begins
/// with the first.
pub(super) fn restart(
    draft: &mut Draft<'_>,
    agent_ref: Option<String>,
    prompt: Option<String>,
) -> Result<(), Refusal> {
    let Some(looped) = &draft.session.ahead.looped else {
        return start::restart(draft, agent_ref, prompt);
    };
    let iteration = match looped.stage {
        LoopStage::Open | LoopStage::Stopped { open: true } => looped.iteration,
        LoopStage::Looking { .. } | LoopStage::Due { .. } => looped.iteration + 1,
        LoopStage::Done(_) | LoopStage::Stopped { open: false } => 1,
    };
    let words = prompt.or_else(|| draft.session.spec.prompt.clone());
    start::restart(draft, agent_ref, words)?;
    cut_look_short(draft);
    tell(draft, LoopEvent::Began { iteration });
    Ok(())
}

/// What was open goes on; else it is looked back at the last one before the next begins.
fn reopen(draft: &mut Draft<'_>) {
    tell(draft, LoopEvent::Reopened);
    if let Some(looped) = &draft.session.ahead.looped
        && matches!(looped.stage, LoopStage::Looking { .. })
    {
        let iteration = looped.iteration;
        draft.effect(Effect::LookBack { iteration });
    }
}

/// Resumes a loop. A pause that has not begun is withdrawn; what is between two iterations, the next
/// of which is a fresh one, begins with that at once. Whether it was taken on.
pub(super) fn resume(draft: &mut Draft<'_>, prompt: Option<&String>) -> Result<bool, Refusal> {
    let Some(looped) = &draft.session.ahead.looped else { return Ok(false) };
    let stopped = matches!(looped.stage, LoopStage::Stopped { .. });
    let cut_short = matches!(looped.stage, LoopStage::Looking { .. })
        && matches!(draft.session.phase, Phase::Rest(Rest::Paused(_)));
    let blocked = looped.broke.is_some() && draft.session.phase == Phase::Live;
    if withdraw(draft) || blocked {
        if blocked {
            reopen(draft);
        }
        if !matches!(draft.session.phase, Phase::Rest(_)) {
            if let Some(text) = prompt {
                draft.new_message(text.clone());
            }
            return Ok(true);
        }
    }
    if stopped {
        reopen(draft);
    }
    let at_rest = matches!(
        draft.session.phase,
        Phase::Rest(Rest::Paused(_) | Rest::Suspended | Rest::Interrupted)
    );
    let learns_ids = draft.session.spec.traits.refs != RefOrigin::Chosen;
    if cut_short && draft.session.agent.agent_ref.is_none() && learns_ids {
        look_no_longer(draft);
    }
    if !is_due(draft) || !at_rest {
        return Ok(false);
    }
    if spent(draft) {
        return Err(Refusal::BudgetSpent { session: draft.session.name.clone() });
    }
    if !next_is_fresh(draft) && !is_program(draft) {
        return Ok(false);
    }
    draft.check_start()?;
    if let Some(text) = prompt {
        draft.new_message(text.clone());
    }
    if draft.must_wait().is_some() {
        wait(draft);
        draft.reply(Reply::Deferred);
    } else {
        begin_next(draft)?;
    }
    Ok(true)
}

/// Whether the next iteration may begin.
pub(crate) fn is_due(draft: &Draft<'_>) -> bool {
    let due = |looped: &Loop| matches!(looped.stage, LoopStage::Due { .. });
    draft.session.ahead.looped.as_deref().is_some_and(due)
}

/// Whether it has cost what it may cost.
fn spent(draft: &Draft<'_>) -> bool {
    let looped = draft.session.ahead.looped.as_ref();
    looped.is_some_and(|looped| looped.breaker() == Some(Breaker::Cost))
}

fn next_is_fresh(draft: &Draft<'_>) -> bool {
    let fresh = |looped: &Loop| looped.spec.context == LoopContext::Fresh;
    draft.session.ahead.looped.as_deref().is_some_and(fresh)
}

/// Whether it runs a program that has no conversation.
pub(crate) fn is_program(draft: &Draft<'_>) -> bool {
    draft.session.spec.traits.refs == RefOrigin::None
}

/// Begins the next iteration, in a conversation of its own or in the former one.
pub(crate) fn begin_next(draft: &mut Draft<'_>) -> Result<(), Refusal> {
    let Some(looped) = &draft.session.ahead.looped else { return Ok(()) };
    let LoopStage::Due { agent_ref } = &looped.stage else { return Ok(()) };
    let (iteration, agent_ref) = (looped.iteration + 1, agent_ref.clone());
    let words = draft.session.spec.prompt.clone();
    if matches!(draft.session.phase, Phase::Rest(_)) {
        draft.check_place()?;
    }
    if !draft.session.talk.queue.is_empty() && next_is_fresh(draft) && !is_program(draft) {
        // What was said meanwhile is known before the work begins, in the conversation that does it.
        start::restart(draft, agent_ref, None)?;
        let words = words.unwrap_or_default();
        // They wait there already where it was begun before, and did not start.
        if draft.session.talk.queue.iter().all(|message| message.text != words) {
            draft.new_message(words);
        }
    } else if next_is_fresh(draft) || is_program(draft) {
        start::restart(draft, agent_ref, words)?;
    } else {
        // Where its agent is gone, it comes back to its conversation.
        start::resume(draft, words)?;
    }
    tell(draft, LoopEvent::Began { iteration });
    Ok(())
}

/// The next iteration begins as soon as there is a place for it.
pub(crate) fn wait(draft: &mut Draft<'_>) {
    if let Some(why) = draft.must_wait()
        && draft.session.starts.deferred.is_none()
    {
        draft.defer(StartCause::Restart, why);
    }
}

/// The agent of an iteration that had only just begun did not start: that counts as a failure, and
/// the same iteration is due again.
pub(crate) fn not_begun(draft: &mut Draft<'_>) {
    let Some(looped) = &draft.session.ahead.looped else { return };
    let iteration = looped.iteration;
    tell(draft, LoopEvent::NotBegun { iteration });
    draft.effect(Effect::LookBack { iteration: iteration.saturating_sub(1) });
}

/// Its limits are changed, while it runs or not. One that was done goes on if it may.
pub(super) fn set(draft: &mut Draft<'_>, change: LoopChange) -> Result<(), Refusal> {
    let Some(looped) = &draft.session.ahead.looped else {
        return Err(Refusal::NoLoop { session: draft.session.name.clone() });
    };
    let spec = change.of(&looped.spec);
    if looped.spec == spec {
        draft.reply(Reply::Already);
        return Ok(());
    }
    // What ended it counts no more: its count, or the command that said so.
    let may_go_on = match looped.stage {
        LoopStage::Done(LoopEnd::Max) => true,
        LoopStage::Done(LoopEnd::List) => spec.until.is_some(),
        LoopStage::Done(LoopEnd::Until) => looped.spec.until != spec.until,
        LoopStage::Open
        | LoopStage::Looking { .. }
        | LoopStage::Due { .. }
        | LoopStage::Stopped { .. } => false,
    };
    tell(draft, LoopEvent::Set { spec });
    let is_full = draft.session.ahead.looped.as_ref().is_some_and(|looped| looped.is_full());
    if may_go_on && !is_full {
        reopen(draft);
    } else if is_full && is_due(draft) {
        tell(draft, LoopEvent::Done { by: LoopEnd::Max });
    }
    Ok(())
}

/// What was asked for is looked at before the breaker: what is reached is reached.
pub(super) fn looked_back(draft: &mut Draft<'_>, look: LookedBack) {
    let LookedBack { iteration, reached, left, cost_micros, agent_ref, note } = look;
    let due = |looped: &Loop| {
        looped.iteration == iteration && matches!(looped.stage, LoopStage::Looking { .. })
    };
    if !draft.session.ahead.looped.as_deref().is_some_and(due) {
        return;
    }
    tell(draft, LoopEvent::LookedBack { iteration, left, cost_micros, agent_ref, note });
    let Some(looped) = &draft.session.ahead.looped else { return };
    if let Some(by) = reached {
        tell(draft, LoopEvent::Done { by });
    } else if looped.is_full() {
        tell(draft, LoopEvent::Done { by: LoopEnd::Max });
    } else if let Some(by) = looped.breaker() {
        break_off(draft, by);
    }
}

/// Pauses a loop that would go on in vain.
pub(crate) fn break_off(draft: &mut Draft<'_>, by: Breaker) {
    tell(draft, LoopEvent::Broke { by });
    if draft.session.pause_to_come().is_some() {
        return;
    }
    let reason = match by {
        Breaker::Failures | Breaker::NoProgress | Breaker::NotResumable => PauseReason::Error,
        Breaker::Cost => PauseReason::Budget,
    };
    // It is paused already, and only has another reason now.
    if matches!(draft.session.phase, Phase::Rest(Rest::Paused(_))) {
        return;
    }
    let reply = draft.decision.reply.clone();
    let op = draft.new_op();
    tell(draft, LoopEvent::PauseAsked(LoopPause { op, wish: PauseWish::plain(reason) }));
    draft.reply(reply);
}

pub(crate) fn tell(draft: &mut Draft<'_>, event: LoopEvent) {
    draft.event(Event::Loop(event));
}
