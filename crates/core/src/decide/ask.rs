//! Answers to what is asked: given once, bound to the question, void when it is gone.

use super::{budget, message};
use crate::draft::Draft;
use crate::effect::Effect;
use crate::event::Event;
use crate::ids::AskId;
use crate::reason::Why;
use crate::refusal::Refusal;
use crate::session::Phase;
use crate::talk::{ALLOW, ALLOW_FOR_SESSION, Ask, AskKind, DENY, is_from_screen};

pub(super) fn answer(
    draft: &mut Draft<'_>,
    which: Option<AskId>,
    answer: String,
    reason: Option<String>,
) -> Result<(), Refusal> {
    let name = draft.session.name.clone();
    let ask = choose(draft, which)?;
    let answer = ask.meant(answer);
    if reason.is_some() {
        check_reason(draft, &ask, &answer)?;
    }
    if ask.decided_by().is_none() && answer == ALLOW_FOR_SESSION {
        return Err(Refusal::AnswerNotGiven { session: name, why: Why::NoLeaveAsked });
    }
    if ask.is_about_budget() {
        check(draft, &ask, &answer)?;
        return budget::answer(draft, &answer);
    }
    if ask.kind == AskKind::Doubt {
        return decide_doubt(draft, &ask, &answer);
    }
    if draft.session.phase != Phase::Live {
        return Err(if draft.session.operation().is_some() {
            draft.busy()
        } else {
            Refusal::NothingAsked { session: name }
        });
    }
    if ask.answering {
        return Err(Refusal::AnswerUnderWay { session: name });
    }
    check(draft, &ask, &answer)?;
    // An agent that takes no reason with a no is told as soon as it takes a message.
    let (reason, message) = if ask.takes_reason { (reason, None) } else { (None, reason) };
    if let Some(text) = message {
        message::check_room(draft, &text)?;
        draft.new_message(text);
    }
    give(draft, ask, answer, reason);
    Ok(())
}

/// Hands an answer over. That it counts for the session as well is for us alone: what agents take for the
/// same kind of thing is more than was on the screen.
pub(super) fn give(draft: &mut Draft<'_>, ask: Ask, answer: String, reason: Option<String>) {
    let given = if answer == ALLOW_FOR_SESSION { ALLOW.to_owned() } else { answer.clone() };
    draft.event(Event::AnswerBegan { ask: ask.id.clone(), answer, reason: reason.clone() });
    let generation = draft.session.agent.generation;
    draft.effect(Effect::GiveAnswer { generation, ask, answer: given, reason });
}

/// Only a no to an agent has a reason: a program would take it for the next line of its input.
fn check_reason(draft: &Draft<'_>, ask: &Ask, answer: &str) -> Result<(), Refusal> {
    let why = if answer != DENY {
        Why::ReasonForYes
    } else if ask.kind == AskKind::Doubt {
        Why::ReasonForUs
    } else if ask.is_from_screen() {
        Why::ReasonForProgram
    } else {
        return Ok(());
    };
    let session = draft.session.name.clone();
    Err(Refusal::AnswerNotGiven { session, why })
}

fn choose(draft: &Draft<'_>, which: Option<AskId>) -> Result<Ask, Refusal> {
    let session = draft.session.name.clone();
    let asks = draft.session.asks();
    let wrong = || Refusal::WrongAsk {
        session: draft.session.name.clone(),
        open: asks.iter().map(|ask| ask.id.clone()).collect(),
    };
    match (which, asks.as_slice()) {
        (_, []) => Err(Refusal::NothingAsked { session }),
        (None, [only]) => Ok(only.clone()),
        (None, _) => Err(wrong()),
        (Some(id), _) => asks.iter().find(|ask| ask.id == id).cloned().ok_or_else(wrong),
    }
}

/// What cannot be an answer is not handed over, so that it is not taken for given.
fn check(draft: &Draft<'_>, ask: &Ask, answer: &str) -> Result<(), Refusal> {
    let session = draft.session.name.clone();
    match ask.decided_by() {
        Some(choices) if !choices.iter().any(|choice| choice == answer) => {
            Err(Refusal::NotAChoice { session, mode: draft.session.spec.mode, choices })
        }
        // A program of the user's may take an empty line for a yes.
        None if ask.kind == AskKind::Question && answer.trim().is_empty() => {
            Err(Refusal::AnswerNotGiven { session, why: Why::EmptyAnswer })
        }
        Some(_) | None => Ok(()),
    }
}

/// Our own question: `allow` sends the doubtful message again, anything else drops it.
fn decide_doubt(draft: &mut Draft<'_>, ask: &Ask, answer: &str) -> Result<(), Refusal> {
    let mut doubts = draft.session.doubts();
    let found = doubts.find(|message| message.doubt().id == ask.id).map(|message| message.id);
    drop(doubts);
    let Some(message) = found else {
        return Err(Refusal::NothingAsked { session: draft.session.name.clone() });
    };
    draft.event(if answer == ALLOW {
        Event::MessageRequeued { message }
    } else {
        Event::MessageDropped { message }
    });
    Ok(())
}

/// Handed over; the agent's own sign ends the question. A screen gives none: there it is gone.
pub(super) fn given(draft: &mut Draft<'_>, id: &AskId) {
    let from_screen = is_from_screen(id);
    if from_screen && draft.session.asked().iter().any(|ask| ask.id == *id) {
        draft.event(Event::AskGone { ask: id.clone(), spot: None });
    }
}

pub(super) fn not_given(draft: &mut Draft<'_>, id: AskId, why: Why) {
    if draft.session.asked().iter().any(|ask| ask.id == id && ask.answering) {
        draft.event(Event::AnswerFailed { ask: id, why });
    }
}
