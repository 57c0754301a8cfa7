//! A session's card: what is needed to know the session again when the log is gone.
//!
//! It lies in the session's own folder and is written when something has come to pass that it would
//! be hard to find out again. Its form is kept like that of an event, since one carries it.

use crate::looping::Loop;
use crate::pause::PauseRecord;
use crate::queue::Queue;
use crate::reason::Why;
use crate::rule::Rule;
use crate::safe::ScreenState;
use crate::session::{Phase, Process, Rest, Run, Seen, Session, Spoken, Trashed, WallMs};
use crate::spec::Spec;
use crate::talk::{Ask, AskKind, Turn};
use crate::tree::SnapshotRef;
use crate::usage_limit::UsageLimits;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a session's folder knows of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    missing_docs,
    reason = "the fields are named like the session's own, where they are explained"
)]
pub struct Card {
    /// The last event that it takes into account.
    pub seq: u64,
    pub name: String,
    pub spec: Spec,
    /// What it rests in; a process runs if there is nothing.
    #[serde(default)]
    pub rest: Option<CardRest>,
    #[serde(default)]
    pub worktree: Option<String>,
    #[serde(default)]
    pub branch: Option<String>,
    #[serde(default)]
    pub agent_ref: Option<String>,
    #[serde(default)]
    pub former_refs: Vec<String>,
    #[serde(default)]
    pub ran: bool,
    #[serde(default)]
    pub generation: u32,
    #[serde(default)]
    pub process: Option<Process>,
    #[serde(default)]
    pub ready: bool,
    #[serde(default)]
    pub turn: Turn,
    #[serde(default)]
    pub screen: Option<ScreenState>,
    #[serde(default)]
    pub asks: Vec<Ask>,
    #[serde(default)]
    pub queue: Queue,
    #[serde(default)]
    pub cut_off: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_failed: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub was_asking: Vec<Ask>,
    #[serde(default)]
    pub seen: Seen,
    #[serde(default)]
    pub seen_before: BTreeMap<String, u64>,
    #[serde(default)]
    pub created_at: WallMs,
    #[serde(default)]
    pub last_active_at: WallMs,
    #[serde(default)]
    pub snapshot: Option<SnapshotRef>,
    #[serde(default, rename = "left_as")]
    pub baseline: Option<SnapshotRef>,
    /// When its conversation was last made short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compacted_at: Option<WallMs>,
    /// When its pause ends by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_at: Option<WallMs>,
    /// What is remembered of usage limits, such as a turn that one has left unanswered.
    #[serde(default, skip_serializing_if = "UsageLimits::is_empty")]
    pub limits: Box<UsageLimits>,
    /// How its loop stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looped: Option<Box<Loop>>,
    /// Where it was put and when, if it was removed.
    #[serde(default)]
    pub trashed: Option<(WallMs, String)>,
}

/// A state of rest, in the form of the card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "they are named like the states themselves")]
pub enum CardRest {
    Paused(Box<PauseRecord>),
    Suspended,
    Interrupted,
    Completed,
    Failed(Why),
    Created,
    /// Removed, and nothing is left of it.
    Archived,
}

impl Session {
    /// Its card, after the event of this number.
    pub fn card(&self, seq: u64) -> Card {
        let runs = self.runs();
        let rest = self.trashed.as_ref().map_or_else(|| self.resting(), |t| t.from.clone());
        let trashed = self.trashed.as_ref().map(|trashed| (trashed.at, trashed.place.clone()));
        Card {
            seq,
            name: self.name.clone(),
            spec: self.spec.clone(),
            rest: (!runs || self.is_frozen()).then(|| rest.into()),
            worktree: self.worktree.clone(),
            branch: self.branch.clone(),
            agent_ref: self.agent_ref.clone(),
            former_refs: self.former_refs.clone(),
            ran: self.ran,
            generation: self.generation,
            process: self.process().cloned(),
            ready: self.is_ready(),
            turn: self.turn().clone(),
            screen: Some(self.screen().clone()),
            asks: self.asked().to_vec(),
            queue: self.queue.clone(),
            cut_off: self.cut_off,
            turn_failed: self.turn_failed.clone(),
            was_asking: self.was_asking.clone(),
            seen: self.seen,
            seen_before: self.seen_before.clone(),
            created_at: self.created_at,
            last_active_at: self.last_active_at,
            snapshot: self.snapshot.clone(),
            baseline: self.baseline.clone(),
            compacted_at: self.compaction.at,
            resume_at: self.resume_at,
            limits: self.limits.clone(),
            looped: self.looped.clone(),
            trashed,
        }
    }

    /// Becomes what a card says.
    pub(crate) fn take_card(&mut self, card: &Card) {
        let rest = card.rest.clone().map(Rest::from);
        self.worktree.clone_from(&card.worktree);
        self.branch.clone_from(&card.branch);
        self.former_refs.clone_from(&card.former_refs);
        self.ran = card.ran || rest.is_none();
        self.generation = card.generation;
        self.run = card.process.clone().map(|process| Run {
            ready: card.ready && rest.is_none(),
            turn: card.turn.clone(),
            screen: card.screen.clone().unwrap_or(ScreenState::Flowing),
            // What was said to it since the card was written, the card cannot know.
            spoken: Spoken::Something,
            // What is in doubt, the queue knows.
            asks: card.asks.iter().filter(|ask| ask.kind != AskKind::Doubt).cloned().collect(),
            ..Run::of(process)
        });
        self.queue = card.queue.clone();
        self.cut_off = card.cut_off;
        self.turn_failed.clone_from(&card.turn_failed);
        self.was_asking.clone_from(&card.was_asking);
        self.seen = card.seen;
        self.seen_before.clone_from(&card.seen_before);
        self.created_at = card.created_at;
        self.snapshot.clone_from(&card.snapshot);
        self.baseline.clone_from(&card.baseline);
        self.compaction.at = card.compacted_at;
        self.paused_at =
            if let Some(Rest::Paused(record)) = &rest { Some(record.at) } else { None };
        self.trashed = card.trashed.clone().map(|(at, place)| {
            Box::new(Trashed { at, place, from: rest.clone().unwrap_or(Rest::Interrupted) })
        });
        let rest = if self.trashed.is_some() { Some(Rest::Archived) } else { rest };
        self.phase = rest.map_or(Phase::Live, Phase::Rest);
        self.rule = Rule::Recovered;
        self.resume_at = card.resume_at;
        self.limits.clone_from(&card.limits);
        self.looped.clone_from(&card.looped);
    }
}

impl From<Rest> for CardRest {
    fn from(rest: Rest) -> Self {
        match rest {
            Rest::Paused(record) => Self::Paused(record),
            Rest::Suspended => Self::Suspended,
            Rest::Interrupted => Self::Interrupted,
            Rest::Completed => Self::Completed,
            Rest::Failed(why) => Self::Failed(why),
            Rest::Archived => Self::Archived,
            Rest::Created => Self::Created,
        }
    }
}

impl From<CardRest> for Rest {
    fn from(rest: CardRest) -> Self {
        match rest {
            CardRest::Paused(record) => Self::Paused(record),
            CardRest::Suspended => Self::Suspended,
            CardRest::Interrupted => Self::Interrupted,
            CardRest::Completed => Self::Completed,
            CardRest::Failed(why) => Self::Failed(why),
            CardRest::Archived => Self::Archived,
            CardRest::Created => Self::Created,
        }
    }
}
