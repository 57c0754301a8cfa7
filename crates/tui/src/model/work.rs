//! What was asked for here: under way, or done.

use super::{Executed, InHand, NewBox};
use crate::deed::{Deed, Reply};
use glis_wire::view::SessionRow;
use std::collections::BTreeMap;

/// More than is read or undone; the oldest goes.
const HISTORY_MAX: usize = 500;

#[derive(Default)]
pub(crate) struct Work {
    /// What is under way, by its ticket.
    pub(crate) under_way: BTreeMap<u64, UnderWay>,
    pub(crate) history: Vec<Done>,
    /// What an interrupt is about to pause.
    pub(crate) interrupted: Vec<Executed>,
    pub(crate) last_ticket: u64,
}

impl Work {
    /// Notes what is asked for, and what would be typed to do the same. Returns its ticket.
    pub(crate) fn begin(&mut self, under_way: UnderWay, line: String, at: u64) -> u64 {
        self.last_ticket += 1;
        let ticket = self.last_ticket;
        if self.history.len() >= HISTORY_MAX {
            self.history.remove(0);
        }
        let UnderWay { id, name, deed, .. } = under_way.clone();
        self.history.push(Done { ticket, id, name, deed, line, end: End::NotYet, at, left: None });
        self.under_way.insert(ticket, under_way);
        ticket
    }

    /// What is under way with a session, the latest first.
    fn with(&self, id: &str) -> impl Iterator<Item = &UnderWay> {
        self.under_way.values().rev().filter(move |one| one.id.as_deref() == Some(id))
    }

    pub(crate) fn latest_with(&self, id: &str) -> Option<&UnderWay> {
        self.with(id).next()
    }

    /// What a session was asked for last, of what is still under way with it.
    pub(crate) fn asked_of<T>(&self, id: &str, what: impl Fn(&Deed) -> Option<T>) -> Option<T> {
        self.with(id).filter_map(|one| one.deed.as_ref()).find_map(what)
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

/// Something that was asked for and has not ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UnderWay {
    /// The session; none if it concerns all.
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    pub(crate) deed: Option<Deed>,
    pub(crate) label: &'static str,
    /// What a new session is to be told.
    pub(crate) prompt: Option<String>,
    /// The box that it was asked for in: where that is refused, what was typed there is not lost.
    pub(crate) form: Option<Box<NewBox>>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Done {
    pub(crate) ticket: u64,
    pub(crate) id: Option<String>,
    /// What the session was called.
    pub(crate) name: String,
    pub(crate) deed: Option<Deed>,
    /// What would be typed to do the same.
    pub(crate) line: String,
    pub(crate) end: End,
    /// When it was asked for.
    pub(crate) at: u64,
    /// When its session was last paused and resumed, as the end of it told.
    pub(crate) left: Option<Pauses>,
}

/// When a session was last paused, if it is, and resumed.
type Pauses = (Option<String>, Option<String>);

pub(crate) fn pauses_of(session: &SessionRow) -> Pauses {
    (session.paused_at.clone(), session.resumed_at.clone())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    NotYet,
    Well,
    Badly,
    Undone,
}
