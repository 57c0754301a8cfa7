//! A session's card: what is needed to know the session again when the log is gone.
//!
//! It lies in the session's own folder and is written when something has come to pass that it would
//! be hard to find out again. Its form is kept like that of an event, since one carries it.

use crate::rule::Rule;
use crate::safe::ScreenState;
use crate::session::{
    Agent, Ahead, Phase, Place, Process, Rest, Run, Saved, Session, Spoken, Talk, Times, Trashed,
    WallMs,
};
use crate::spec::Spec;
use crate::spending::Spending;
use crate::talk::{Ask, AskKind, Turn};
use crate::triage::{Snooze, Triage};
use serde::{Deserialize, Serialize};

/// What a session's folder knows of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// The last event that it takes into account.
    pub seq: u64,
    pub name: String,
    pub spec: Spec,
    /// What it rests in; a process runs if there is nothing.
    pub rest: Option<Rest>,
    #[serde(flatten)]
    pub place: Place,
    #[serde(flatten)]
    pub agent: Agent,
    pub process: Option<Process>,
    #[serde(default)]
    pub ready: bool,
    #[serde(default)]
    pub turn: Turn,
    pub screen: Option<ScreenState>,
    #[serde(default)]
    pub asks: Vec<Ask>,
    #[serde(flatten)]
    pub talk: Talk,
    #[serde(flatten)]
    pub times: Times,
    #[serde(flatten)]
    pub saved: Saved,
    #[serde(flatten)]
    pub ahead: Ahead,
    #[serde(flatten)]
    pub triage: Triage,
    #[serde(default, skip_serializing_if = "Spending::is_nothing")]
    pub spending: Spending,
    /// Where it was put and when, if it was removed.
    pub trashed: Option<(WallMs, String)>,
}

impl Session {
    /// Its card, after the event of this number.
    pub fn card(&self, seq: u64) -> Card {
        let trashed = self.upkeep.trashed.as_ref();
        let rest = trashed.map_or_else(|| self.resting(), |trashed| trashed.from.clone());
        Card {
            seq,
            name: self.name.clone(),
            spec: self.spec.clone(),
            rest: (!self.runs() || self.is_frozen()).then_some(rest),
            place: self.place.clone(),
            agent: self.agent.clone(),
            process: self.process().cloned(),
            ready: self.is_ready(),
            turn: self.turn().clone(),
            screen: Some(self.screen().clone()),
            asks: self.asked().to_vec(),
            talk: self.talk.clone(),
            times: self.times,
            saved: self.saved.clone(),
            ahead: self.ahead.clone(),
            triage: (*self.triage).clone(),
            spending: (*self.spending).clone(),
            trashed: trashed.map(|trashed| (trashed.at, trashed.place.clone())),
        }
    }

    /// Becomes what a card says.
    pub(crate) fn take_card(&mut self, card: &Card) {
        let rest = card.rest.clone();
        self.place = card.place.clone();
        self.agent = Agent { ran: card.agent.ran || rest.is_none(), ..card.agent.clone() };
        self.run = card.process.clone().map(|process| {
            Box::new(Run {
                ready: card.ready && rest.is_none(),
                turn: card.turn.clone(),
                screen: card.screen.clone().unwrap_or(ScreenState::Flowing),
                // What was said to it since the card was written, the card cannot know.
                spoken: Spoken::Something,
                // What is in doubt, the queue knows.
                asks: card.asks.iter().filter(|ask| ask.kind != AskKind::Doubt).cloned().collect(),
                ..Run::of(process)
            })
        });
        self.talk = card.talk.clone();
        self.times.created_at = card.times.created_at;
        self.saved = card.saved.clone();
        self.ahead = card.ahead.clone();
        // What has changed since is not known.
        *self.triage = card.triage.clone();
        self.triage.snoozed.take_if(|snoozed| *snoozed == Snooze::Change);
        self.triage.tidy();
        *self.spending = card.spending.clone();
        self.spending.tidy();
        self.course.rule = Rule::Recovered;
        self.course.paused_at =
            if let Some(Rest::Paused(record)) = &rest { Some(record.at) } else { None };
        let rest = if let Some((at, place)) = card.trashed.clone() {
            let from = rest.unwrap_or(Rest::Interrupted);
            self.upkeep.trashed = Some(Trashed { at, place, from });
            Some(Rest::Archived)
        } else {
            rest
        };
        self.phase = rest.map_or(Phase::Live, Phase::Rest);
    }
}
