//! The question in hand, as it was shown: it keeps its place when it goes away, until a key moves.

use super::{End, Mode, Model};
use crate::deed::{Deed, Reply};
use crate::wanted::Wanted;
use glis_wire::view::{SessionView, WaitingFor};

/// The question in hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InHand {
    /// Whose it is: id, name and agent.
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) agent: String,
    pub(crate) ask: WaitingFor,
    /// How many questions stand above it.
    pub(crate) place: usize,
    /// How many rows of it were painted, from the first on.
    pub(crate) seen: usize,
    /// A yes counts from then on: what came under the hand by itself, or under a key that is held, was not read yet.
    pub(crate) counts_from: u64,
    /// How somebody has answered it, as the events tell.
    pub(crate) answered: Option<String>,
}

impl InHand {
    /// A question that nothing was seen of yet.
    pub(crate) fn of(session: &SessionView, ask: &WaitingFor, place: usize) -> Self {
        Self {
            id: session.id.clone(),
            name: session.name.clone(),
            agent: session.agent.clone(),
            ask: ask.clone(),
            place,
            seen: 0,
            counts_from: 0,
            answered: None,
        }
    }

    /// Whether it is this one, by session and request.
    pub(crate) fn is(&self, (id, request): (&str, &str)) -> bool {
        self.id == id && self.ask.request == request
    }
}

impl Model {
    /// The question that is shown, by session and request: the one in hand, also while words for it are typed.
    pub(crate) fn shown_ask(&self) -> Option<(&str, &str)> {
        if let Mode::Asks { at: Some((id, request)) } | Mode::AnswerWords { id, request, .. } =
            &self.mode
        {
            return Some((id, request));
        }
        let Mode::Words(form) = &self.mode else { return None };
        let Wanted::WhyNot { request } = &form.wanted else { return None };
        form.ids.first().map(|id| (id.as_str(), request.as_str()))
    }

    /// An open question, by session and request.
    pub(crate) fn open_ask(&self, id: &str, request: &str) -> Option<(&SessionView, &WaitingFor)> {
        self.asks().into_iter().find(|(s, ask)| s.id == id && ask.request == request)
    }

    /// The question in hand that is not open any more.
    pub(crate) fn closed_ask(&self) -> Option<&InHand> {
        self.in_hand.as_ref().filter(|own| self.open_ask(&own.id, &own.ask.request).is_none())
    }

    /// Whether an answer to this request is on its way.
    pub(crate) fn is_answering(&self, id: &str, wanted: &str) -> bool {
        let own = |deed: &Deed| {
            let Deed::Answer { request, .. } = deed else { return None };
            (request == wanted).then_some(())
        };
        self.asked_of(id, own).is_some()
    }

    /// What became of a question that is not open any more.
    pub(crate) fn ending_of(&self, closed: &InHand) -> String {
        let (id, wanted) = (&closed.id, &closed.ask.request);
        if self.is_answering(id, wanted) {
            return "answering".to_owned();
        }
        let mine = self.history.iter().rev().find_map(|done| {
            let Some(Deed::Answer { request, answer }) = &done.deed else { return None };
            let own = done.id.as_ref() == Some(id) && request == wanted;
            (own && done.end == End::Well).then_some(answer)
        });
        match (mine, closed.answered.as_deref()) {
            (Some(answer), _) => format!("{} by you", answer.past()),
            (None, Some(word)) => {
                format!("{} elsewhere", Reply::of_word(word).about(closed.ask.kind).past())
            }
            (None, None) => "no longer asked".to_owned(),
        }
    }
}
