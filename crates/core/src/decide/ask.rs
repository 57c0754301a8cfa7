//! Answers to what is asked: given once, bound to the question, void when it is gone.

use crate::draft::Draft;
use crate::effect::Effect;
use crate::event::Event;
use crate::ids::AskId;
use crate::reason::Why;
use crate::refusal::Refusal;
use crate::session::Phase;
use crate::talk::{ALLOW, ALLOW_FOR_SESSION, Ask, AskKind, Delivery};

pub(super) fn answer(
    draft: &mut Draft<'_>,
    which: Option<AskId>,
    answer: String,
) -> Result<(), Refusal> {
    let name = draft.session.name.clone();
    let ask = choose(draft, which)?;
    let any_text = ask.kind != AskKind::Approval && ask.choices.is_none();
    if any_text && answer == ALLOW_FOR_SESSION {
        return Err(Refusal::AnswerNotGiven { session: name, why: Why::NoLeaveAsked });
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
    let generation = draft.session.generation;
    draft.event(Event::AnswerBegan { ask: ask.id.clone(), answer: answer.clone() });
    draft.effect(Effect::GiveAnswer { generation, ask, answer });
    Ok(())
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
    match &ask.choices {
        Some(choices) if !choices.iter().any(|choice| choice == answer) => {
            let (mode, choices) = (draft.session.spec.mode, choices.clone());
            Err(Refusal::NotAChoice { session, mode, choices })
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
    let mut doubtful = draft.session.queue.iter().filter(|m| m.delivery == Delivery::Doubtful);
    let Some(message) = doubtful.find(|message| message.doubt().id == ask.id).map(|m| m.id) else {
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
    let from_screen = id.0.starts_with("screen-");
    if from_screen && draft.session.asked().iter().any(|ask| ask.id == *id) {
        draft.event(Event::AskGone { ask: id.clone(), spot: None });
    }
}

pub(super) fn not_given(draft: &mut Draft<'_>, id: AskId, why: Why) {
    if draft.session.asked().iter().any(|ask| ask.id == id && ask.answering) {
        draft.event(Event::AnswerFailed { ask: id, why });
    }
}
