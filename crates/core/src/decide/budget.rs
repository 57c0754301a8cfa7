//! Budgets: a person is told towards the end of one, and asked at its end. Nothing is ever killed for it.

use super::{looping, start};
use crate::budget::Budget;
use crate::decision::{Decision, Reply};
use crate::draft::Draft;
use crate::event::Event;
use crate::pause::{PauseMode, PauseReason, PauseWish};
use crate::reason::Verb;
use crate::refusal::Refusal;
use crate::session::{Phase, Session};
use crate::spending::{GRANT, SpendingEvent, WARN_PERCENT, worked};
use crate::status::Status;
use crate::timer::{TimerKey, WallMs, When};
use std::time::Duration;

/// Gives it another budget, or none. What was used before counts for nothing.
pub(super) fn set(
    draft: &mut Draft<'_>,
    budget: Option<Box<Budget>>,
    (cost_micros, tokens): (u64, u64),
) -> Result<(), Refusal> {
    if draft.session.status() == Status::Archived {
        return Err(draft.wrong_status(Verb::Budget));
    }
    if draft.session.spec.budget == budget {
        draft.reply(Reply::Already);
    } else {
        draft.event(Event::Spending(SpendingEvent::Set { budget, cost_micros, tokens }));
    }
    Ok(())
}

/// Its agent tells what it has used. What is told twice, or of a conversation that was cut, is no news.
pub(super) fn used(draft: &mut Draft<'_>, cost_micros: u64, tokens: u64) {
    let Some(budget) = draft.session.spec.budget.clone() else { return };
    let known = draft.session.spending.used;
    if cost_micros <= known.cost_micros && tokens <= known.tokens {
        return;
    }
    let cost_micros = cost_micros.max(known.cost_micros);
    let tokens = tokens.max(known.tokens);
    draft.event(Event::Spending(SpendingEvent::Used { cost_micros, tokens }));
    match draft.session.spending.share(&budget) {
        Some((100.., what)) => reach(draft, what),
        Some((WARN_PERCENT.., what)) if !draft.session.spending.warned => {
            draft.event(Event::Spending(SpendingEvent::Warned { what }));
        }
        Some(_) | None => {}
    }
}

/// It has been at work for as long as it may, or nearly so.
pub(super) fn time_is_up(draft: &mut Draft<'_>, warned: bool) {
    let spending = &draft.session.spending;
    let is_due = spending.busy_since.is_some() && spending.warned == warned;
    let Some(secs) = draft.session.spec.budget.as_deref().and_then(|budget| budget.secs) else {
        return;
    };
    if is_due && warned {
        reach(draft, worked(secs, secs));
    } else if is_due {
        let what = worked(secs.saturating_mul(WARN_PERCENT) / 100, secs);
        draft.event(Event::Spending(SpendingEvent::Warned { what }));
    }
}

/// All sessions together have used so much today. Once that is what they may, whoever is at work is paused.
pub(super) fn day_used(
    mut draft: Draft<'_>,
    date: String,
    cost_micros: u64,
    tokens: u64,
) -> Decision {
    let budget = draft.limits.day;
    if budget.is_empty() {
        return draft.decision;
    }
    if draft.day.date != date {
        draft.day_event(SpendingEvent::Began { date });
    }
    let known = draft.day.spending.used;
    if (cost_micros, tokens) != (known.cost_micros, known.tokens) {
        draft.day_event(SpendingEvent::Used { cost_micros, tokens });
    }
    match draft.day.spending.share(&budget) {
        Some((100.., what)) if draft.day.spending.reached.is_none() => {
            draft.day_event(SpendingEvent::Reached { what });
            stop_all(&mut draft);
        }
        Some((WARN_PERCENT..100, what)) if !draft.day.spending.warned => {
            draft.day_event(SpendingEvent::Warned { what });
        }
        Some(_) | None => {}
    }
    draft.settle_house()
}

fn stop_all(draft: &mut Draft<'_>) {
    let works = |session: &&Session| session.status() == Status::Busy;
    let at_work: Vec<_> = draft.stirring().filter(works).map(|s| s.id.clone()).collect();
    for id in at_work {
        if draft.turn_to(&id).is_ok() {
            stop_for_the_day(draft);
            draft.follow();
        }
    }
}

fn stop_for_the_day(draft: &mut Draft<'_>) {
    if let Some(what) = draft.day.reached() {
        reach(draft, what);
    }
}

fn reach(draft: &mut Draft<'_>, what: String) {
    if draft.session.spending.reached.is_none() {
        draft.event(Event::Spending(SpendingEvent::Reached { what }));
    }
    stop(draft);
}

/// Where it cannot be paused now, that is tried again with the next word of its agent, and with its next turn.
fn stop(draft: &mut Draft<'_>) {
    if draft.session.phase != Phase::Live {
        return;
    }
    let reply = draft.decision.reply.clone();
    let wish = PauseWish { mode: PauseMode::Interrupt, ..PauseWish::plain(PauseReason::Budget) };
    looping::ask_to_pause(draft, wish).ok();
    draft.reply(reply);
}

/// Stops what begins to work although nothing is left, and keeps the time of what works.
pub(super) fn watch(draft: &mut Draft<'_>) {
    let former = draft.before().map(Session::status);
    let began = draft.session.status() == Status::Busy
        && !matches!(former, Some(Status::Busy | Status::Pausing));
    if began && draft.session.spending.reached.is_some() {
        stop(draft);
    } else if began {
        stop_for_the_day(draft);
    }
    let just_met = draft.just_met;
    let at_work = |session: &Session| {
        let since = session.spending.busy_since.filter(|_| session.spending.reached.is_none());
        since.zip(session.spec.budget.as_deref()?.secs)
    };
    let warned = |session: &Session| TimerKey::Work { warned: session.spending.warned };
    draft.keep_timer(
        |session| at_work(session).map(|_| warned(session)),
        |session| {
            let (since, secs) = at_work(session)?;
            let percent = if session.spending.warned { 100 } else { WARN_PERCENT };
            let most = secs.saturating_mul(1000).saturating_mul(percent) / 100;
            let left = most.saturating_sub(session.spending.spent().ms);
            // What began before this daemon did has been at work meanwhile.
            let end = since.saturating_add(WallMs::try_from(left).unwrap_or(WallMs::MAX));
            let after = When::after(Duration::from_millis(left));
            Some(if just_met { When::At(end) } else { after })
        },
    );
}

/// A person has it go on: as much is granted again, of what is used up.
pub(super) fn grant(draft: &mut Draft<'_>) {
    if draft.session.spending.reached.is_none() {
        return;
    }
    draft.event(Event::Spending(SpendingEvent::Granted));
    if draft.day.spending.reached.is_some() {
        draft.day_event(SpendingEvent::Granted);
    }
}

/// Answers the question that stands at the end of a budget.
pub(super) fn answer(draft: &mut Draft<'_>, answer: &str) -> Result<(), Refusal> {
    if answer != GRANT {
        draft.event(Event::PauseTakenOver { reason: PauseReason::User });
        return Ok(());
    }
    draft.check_place()?;
    grant(draft);
    let told = draft.session.continuation();
    if !looping::resume(draft, told.as_ref())? {
        start::resume(draft, told)?;
    }
    Ok(())
}
