//! What an agent was seen to do, each thing once.

use super::{ask, message, start};
use crate::draft::Draft;
use crate::effect::{Effect, Urgency};
use crate::event::{Event, Spot};
use crate::ids::AskId;
use crate::input::Sign;
use crate::safe::ScreenState;
use crate::session::Phase;
use crate::talk::{ALLOW_FOR_SESSION, Ask, AskKind};
use crate::verdict::Answerer;

pub(super) fn take(draft: &mut Draft<'_>, spot: Spot, sign: Sign) {
    // Whatever still comes of what is stopped in place was there before, or is seen again afterwards.
    if already_seen(draft, spot) || !draft.session.runs() || draft.session.is_frozen() {
        return;
    }
    match sign {
        Sign::RefKnown(agent_ref) => {
            if draft.session.agent.agent_ref.as_ref() != Some(&agent_ref) {
                draft.event(Event::AgentRefLearned { agent_ref, spot });
            }
        }
        Sign::Ready => {
            // An agent that is ready again has done what it took.
            if !draft.session.is_ready() || draft.session.turn().due {
                draft.event(Event::BecameReady { spot });
            }
            start::became_ready(draft);
        }
        Sign::TookMessage { text } => message::taken(draft, spot, text.as_deref()),
        Sign::TurnBegan => {
            if !draft.session.turn().open {
                draft.event(Event::TurnBegan { spot });
            }
        }
        Sign::ToolBegan { tool, what } => draft.event(Event::ToolBegan { tool, what, spot }),
        Sign::ToolEnded(tool) => draft.event(Event::ToolEnded { tool, spot }),
        Sign::Background(running) => {
            if draft.session.turn().background != running {
                draft.event(Event::BackgroundChanged { running, spot });
            }
        }
        Sign::TurnEnded => turn_ended(draft, spot, End::Own),
        Sign::TurnCut => turn_ended(draft, spot, End::Cut),
        Sign::TurnFailed(why) => turn_ended(draft, spot, End::Failed(why)),
        Sign::Asked(ask) => {
            asked(draft, ask, spot);
            // Who asks runs, and may wait for the answer before it takes a message.
            start::became_ready(draft);
        }
        Sign::AskGone(ask) => {
            if draft.session.asked().iter().any(|known| known.id == ask) {
                draft.event(Event::AskGone { ask, spot: Some(spot) });
            }
        }
        Sign::LimitReached { reset_at } => limit_reached(draft, spot, reset_at),
        Sign::TurnLimited { reset_at } => {
            limit_reached(draft, spot, reset_at);
            turn_ended(draft, spot, End::Limited);
        }
        Sign::Screen(state) => judge_screen(draft, state),
        Sign::RefRejected(why) => rejected(draft, Event::RefRejected { why, spot }),
        Sign::StartRefused(why) => rejected(draft, Event::StartRefused { why, spot }),
        Sign::MessageRefused(why) => {
            message::refused(draft, why.clone());
            // It ends by itself, and what it says then is better than anything about a kill.
            if draft.session.rejected().is_none() {
                draft.event(Event::RefRejected { why, spot });
            }
        }
    }
}

/// An agent that tries again and again meets the same limit, also where it does not say once more when
/// that ends.
fn limit_reached(draft: &mut Draft<'_>, spot: Spot, reset_at: String) {
    let known = draft.session.starts.limit_until.as_ref();
    if known.is_none_or(|known| *known != reset_at && !reset_at.is_empty()) {
        draft.event(Event::LimitReached { reset_at, spot });
    }
}

/// A question under a known name is the known one, unless it says something else by now: then whatever
/// was said or is being said to the former one does not count for it.
fn asked(draft: &mut Draft<'_>, ask: Ask, spot: Spot) {
    let ask = ask.offered();
    let known = draft.session.asked().iter().find(|known| known.id == ask.id);
    if known.is_some_and(|known| known.is_same(&ask)) {
        return;
    }
    if known.is_some() {
        draft.event(Event::AskGone { ask: ask.id.clone(), spot: None });
    }
    raise(draft, ask, spot);
}

/// Puts a question on record, with who is to answer it.
fn raise(draft: &mut Draft<'_>, ask: Ask, spot: Spot) {
    let by_rule = draft.session.spec.auto_yes && ask.is_for_rules();
    let answerer = if draft.session.allows_again(&ask) {
        Answerer::Before
    } else if by_rule {
        Answerer::Rules
    } else {
        Answerer::Person
    };
    let ask = Ask { answerer, ..ask };
    draft.event(Event::Asked { ask: ask.clone(), spot });
    if answerer == Answerer::Before {
        ask::give(draft, ask, ALLOW_FOR_SESSION.to_owned(), None);
    }
}

/// How a turn came to its end.
#[derive(PartialEq, Eq)]
enum End {
    /// The agent was done with it.
    Own,
    Cut,
    /// A usage limit was in the way.
    Limited,
    /// Another error was.
    Failed(String),
}

fn turn_ended(draft: &mut Draft<'_>, spot: Spot, end: End) {
    if draft.session.turn().open || draft.session.turn().due {
        let (cut, limited) = (end == End::Cut, end == End::Limited);
        let failed = if let End::Failed(why) = end { Some(why) } else { None };
        draft.event(Event::TurnEnded { spot, cut, limited, failed });
    }
    if matches!(draft.session.phase, Phase::Stopping { .. }) {
        // It has let go of its turn: nothing keeps it from ending now.
        let generation = draft.session.agent.generation;
        draft.effect(Effect::StopProcess { generation, urgency: Urgency::Quiet });
    }
}

/// Some agents say so and live on. The start has failed when the process is gone; if it was believed
/// to be over already, the session is no more than a process that does nothing for it. What it says
/// first is the reason, what follows from that is not.
fn rejected(draft: &mut Draft<'_>, what: Event) {
    let goes_on = matches!(draft.session.phase, Phase::Starting(_) | Phase::Live);
    if goes_on && draft.session.rejected().is_none() {
        draft.event(what);
        let generation = draft.session.agent.generation;
        draft.effect(Effect::StopProcess { generation, urgency: Urgency::Kill });
    }
}

fn already_seen(draft: &Draft<'_>, spot: Spot) -> bool {
    match spot {
        Spot::Stream(offset) => offset <= draft.session.talk.seen.stream,
        Spot::Transcript(offset) => offset <= draft.session.talk.seen.transcript,
        Spot::Hook(offset) => offset <= draft.session.talk.seen.hooks,
        Spot::Screen => false,
    }
}

/// A question on a screen becomes an ask, named by its place in the log, so that an answer to one
/// never meets another. It is gone when the screen moves on.
fn judge_screen(draft: &mut Draft<'_>, state: ScreenState) {
    if *draft.session.screen() == state {
        return;
    }
    let open: Vec<AskId> = draft
        .session
        .asked()
        .iter()
        .filter(|ask| ask.id.0.starts_with("screen-"))
        .map(|ask| ask.id.clone())
        .collect();
    for ask in open {
        draft.event(Event::AskGone { ask, spot: None });
    }
    draft.event(Event::ScreenJudged { state: state.clone() });
    if let ScreenState::Asking { line, .. } = state {
        let id = AskId(format!("screen-{}-{}", draft.session.agent.generation, draft.next_seq()));
        raise(draft, Ask::new(id, AskKind::Approval, line), Spot::Screen);
    }
}
