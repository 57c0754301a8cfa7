//! The fold: how each event changes a session.

mod message;
mod pause;
mod rescue;
mod sign;
mod tree;

use crate::event::{Event, Recorded, Spot};
use crate::ids::SessionId;
use crate::leftover::Leftovers;
use crate::pause::PauseStep;
use crate::queue::Queue;
use crate::session::{
    FolderState, Phase, Rest, Run, Seen, Session, SetAside, Spoken, Start, StartCause, StartStep,
    WallMs,
};
use crate::spec::{RefOrigin, Spec};
use std::collections::BTreeMap;

pub(crate) fn apply(sessions: &mut BTreeMap<SessionId, Session>, recorded: &Recorded) {
    // No event is about the house or a plan yet.
    let Some(id) = recorded.subject.session() else { return };
    if let Some(session) = born(id, recorded.at, &recorded.event) {
        sessions.insert(id.clone(), session);
    } else if let Some(session) = sessions.get_mut(id) {
        session.apply(recorded.at, &recorded.event);
    }
}

/// The session that an event brings into being, if it is such an event.
pub(crate) fn born(id: &SessionId, at: WallMs, event: &Event) -> Option<Session> {
    if let Event::SessionCreated { op, name, spec, agent_ref } = event {
        let start = Start {
            op: *op,
            cause: StartCause::New,
            step: StartStep::Worktree,
            from: Rest::Created,
        };
        let phase = Phase::Starting(start);
        Some(Session::fresh(id, at, (name, spec, agent_ref.clone()), phase))
    } else if let Event::SessionRecovered { card } = event {
        let asked = (card.name.as_str(), &card.spec, card.agent_ref.clone());
        let mut session = Session::fresh(id, at, asked, Phase::Rest(Rest::Interrupted));
        session.take_card(card);
        Some(session)
    } else {
        None
    }
}

impl Session {
    /// A session of which nothing is known but what it was asked to be.
    fn fresh(
        id: &SessionId,
        at: WallMs,
        (name, spec, agent_ref): (&str, &Spec, Option<String>),
        phase: Phase,
    ) -> Self {
        Self {
            id: id.clone(),
            name: name.to_owned(),
            spec: spec.clone(),
            phase,
            worktree: None,
            branch: None,
            agent_ref,
            former_refs: Vec::new(),
            ran: false,
            set_aside: None,
            generation: 0,
            run: None,
            rule: "it is new".to_owned(),
            queue: Queue::default(),
            cut_off: false,
            seen: Seen::default(),
            seen_before: BTreeMap::new(),
            limit_until: None,
            leftovers: Leftovers::default(),
            folder: FolderState::Whole,
            undelivered: None,
            failed_starts: 0,
            damage: None,
            barred: None,
            created_at: at,
            last_active_at: at,
            resumed_at: None,
            paused_at: None,
            snapshot: None,
            left_as: None,
            saving: None,
            unsaved: None,
            notes: Vec::new(),
            found: None,
            restored: None,
            changed: None,
            trashed: None,
        }
    }
}

impl Session {
    /// Folds one event in. Each family of events has its own function below.
    #[expect(clippy::too_many_lines, reason = "every event is named once")]
    pub(crate) fn apply(&mut self, at: WallMs, event: &Event) {
        self.last_active_at = at;
        self.account(event);
        // Every event is named here, so that a new one stops the compiler.
        match event {
            // Of a start that was called off, what was set aside counts again once nothing runs.
            Event::SessionCreated { .. }
            | Event::SessionRecovered { .. }
            | Event::StartCancelled { .. } => {}
            Event::WorktreeMade { .. }
            | Event::CreationFailed { .. }
            | Event::CreationEnded { .. }
            | Event::StartBegan { .. }
            | Event::StartChecked { .. }
            | Event::ProcessStarted { .. }
            | Event::StartEnded { .. }
            | Event::RefRejected { .. }
            | Event::StartFailed { .. }
            | Event::RestartBegan { .. }
            | Event::AgentRefLearned { .. } => self.apply_start(at, event),
            Event::MessageQueued { .. }
            | Event::DeliveryBegan { .. }
            | Event::DeliveryRefused { .. }
            | Event::MessageTaken { .. }
            | Event::MessageDoubted { .. }
            | Event::MessageRequeued { .. }
            | Event::MessageRefused { .. }
            | Event::MessageDropped { .. } => self.apply_message(event),
            Event::BecameReady { .. }
            | Event::TurnBegan { .. }
            | Event::ToolBegan { .. }
            | Event::ToolEnded { .. }
            | Event::BackgroundChanged { .. }
            | Event::TurnEnded { .. }
            | Event::Asked { .. }
            | Event::AskGone { .. }
            | Event::AnswerBegan { .. }
            | Event::AnswerFailed { .. }
            | Event::LimitReached { .. }
            | Event::ScreenJudged { .. } => self.apply_sign(event),
            Event::PauseBegan { .. }
            | Event::PauseHastened { .. }
            | Event::InterruptBegan { .. }
            | Event::SafeStateReached { .. }
            | Event::TerminalCaptured { .. }
            | Event::CaptureMissed { .. }
            | Event::SnapshotTaken { .. }
            | Event::EndBegan { .. }
            | Event::Paused { .. }
            | Event::PauseCancelled { .. }
            | Event::PauseRefused { .. }
            | Event::PauseFailed { .. }
            | Event::ClearingBegan { .. }
            | Event::WorktreeCleared { .. }
            | Event::WorktreeStays { .. }
            | Event::PauseBarred { .. } => self.apply_pause(at, event),
            Event::StopBegan { .. }
            | Event::ProcessEnded { .. }
            | Event::LeftoversSwept { .. }
            | Event::Suspended { .. }
            | Event::Interrupted { .. }
            | Event::Completed
            | Event::Failed { .. } => self.apply_rest(event),
            Event::SaveBegan { .. }
            | Event::WorktreeSaved { .. }
            | Event::WorktreeNotSaved { .. }
            | Event::RestoreBegan { .. }
            | Event::WorktreeRestored { .. }
            | Event::RestoreFailed { .. } => self.apply_tree(event),
            Event::RemovalBegan { .. }
            | Event::RemovalFailed { .. }
            | Event::Archived { .. }
            | Event::ReturnBegan { .. }
            | Event::Returned { .. }
            | Event::ReturnFailed { .. }
            | Event::EmptyingBegan { .. }
            | Event::Emptied { .. }
            | Event::EmptyingFailed { .. } => self.apply_trash(at, event),
            Event::ProcessAdopted { .. }
            | Event::RecordDamaged { .. }
            | Event::FolderLost
            | Event::DamageAcknowledged
            | Event::Barred { .. }
            | Event::BarLifted => self.apply_rescue(event),
        }
    }

    /// What was seen once does not count again.
    fn account(&mut self, event: &Event) {
        match event.spot() {
            Some(Spot::Stream(offset)) => self.seen.stream = self.seen.stream.max(offset),
            Some(Spot::Transcript(offset)) => {
                self.seen.transcript = self.seen.transcript.max(offset);
            }
            Some(Spot::Hook(offset)) => self.seen.hooks = self.seen.hooks.max(offset),
            Some(Spot::Screen) | None => {}
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "`apply` sends only this family here")]
    fn apply_start(&mut self, at: WallMs, event: &Event) {
        match event {
            Event::WorktreeMade { worktree, branch, notes, .. } => {
                self.notes.clone_from(notes);
                self.worktree = Some(worktree.clone());
                self.branch.clone_from(branch);
                self.step(StartStep::Check);
            }
            Event::CreationFailed { .. } => self.phase = Phase::Rest(Rest::Archived),
            Event::CreationEnded { .. } => self.phase = Phase::Rest(Rest::Created),
            Event::StartBegan { op, cause, generation } => {
                let from = self.resting();
                self.generation = *generation;
                self.run = None;
                self.found = None;
                let step = StartStep::Check;
                let (op, cause) = (*op, *cause);
                self.phase = Phase::Starting(Start { op, cause, step, from });
            }
            Event::StartChecked { found, set_up, .. } => {
                self.find_tree(found.as_ref());
                self.notes = set_up.clone().unwrap_or_else(|| std::mem::take(&mut self.notes));
                self.step(StartStep::Process);
            }
            Event::ProcessStarted { process, began_at, .. } => {
                self.run = Some(Run::of(process.clone()));
                self.left_as = None;
                self.seen.stream = self.seen.stream.max(*began_at);
                self.step(StartStep::Ready);
            }
            Event::StartEnded { cause, .. } => self.end_start(at, *cause),
            Event::RefRejected { why, .. } => {
                if let Some(run) = &mut self.run {
                    run.rejected = Some(why.clone());
                }
            }
            Event::StartFailed { fault, .. } => {
                self.failed_starts += 1;
                self.run = None;
                self.put_back();
                self.phase = match &self.phase {
                    Phase::Starting(start) if start.cause == StartCause::New => {
                        Phase::Rest(Rest::Failed(fault.to_string()))
                    }
                    _ => Phase::Rest(match self.resting() {
                        Rest::Failed(_) => Rest::Failed(fault.to_string()),
                        rest => rest,
                    }),
                };
                self.rule = format!("its last start failed: {fault}");
            }
            Event::RestartBegan { agent_ref, prompt, .. } => {
                let (ran, cut_off) = (self.ran, self.cut_off);
                let transcript = self.seen.transcript;
                let former = self.enter(agent_ref.clone());
                self.set_aside = Some(Box::new(SetAside {
                    prompt: prompt.clone(),
                    agent_ref: former,
                    ran,
                    cut_off,
                    transcript,
                }));
                self.ran = false;
                self.cut_off = false;
            }
            Event::AgentRefLearned { agent_ref, .. } => {
                let former = self.enter(Some(agent_ref.clone()));
                self.former_refs.extend(former);
            }
            _ => {}
        }
    }

    /// Goes over to another conversation of the agent's, and returns the id of the former one. A
    /// place in a transcript belongs to one conversation: each has its own, also when the agent
    /// comes back to it.
    fn enter(&mut self, agent_ref: Option<String>) -> Option<String> {
        let former = std::mem::replace(&mut self.agent_ref, agent_ref);
        if let Some(former) = &former {
            self.seen_before.insert(former.clone(), self.seen.transcript);
        }
        let known = self.agent_ref.as_ref().and_then(|id| self.seen_before.get(id));
        self.seen.transcript = known.copied().unwrap_or_default();
        former
    }

    fn end_start(&mut self, at: WallMs, cause: StartCause) {
        "its process was started".clone_into(&mut self.rule);
        self.tell_that_it_asks();
        self.phase = Phase::Live;
        // What never ran cannot come back.
        if cause != StartCause::New && self.ran {
            self.resumed_at = Some(at);
        }
        self.ran = true;
        self.failed_starts = 0;
        self.paused_at = None;
        self.former_refs.extend(self.set_aside.take().and_then(|aside| aside.agent_ref));
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "`apply` sends only this family here")]
    fn apply_rest(&mut self, event: &Event) {
        match event {
            Event::StopBegan { op, then } => {
                self.phase = Phase::Stopping { op: *op, awaited: false, then: then.clone() };
            }
            Event::ProcessEnded { left, .. } => {
                let run = self.run.take();
                self.cut_off |= run.as_ref().is_some_and(|run| run.turn.under_way());
                // Who has told no id and was told nothing has not begun a conversation.
                let spoken = run.is_some_and(|run| run.spoken == Spoken::Something);
                let began = spoken || self.agent_ref.is_some();
                self.ran &= began || self.spec.traits.refs != RefOrigin::Learned;
                self.leftovers.clone_from(left);
                if let Phase::Pausing(pause) = &mut self.phase
                    && pause.step == PauseStep::Ending
                {
                    pause.step = PauseStep::Sealing;
                }
            }
            Event::Suspended { op } => {
                let stopped = op.is_some() || matches!(self.phase, Phase::Stopping { .. });
                let rule = if stopped { "it was stopped" } else { "it ended by itself" };
                rule.clone_into(&mut self.rule);
                self.put_back();
                self.phase = Phase::Rest(Rest::Suspended);
            }
            Event::Interrupted { why } => {
                self.rule = format!("its process died: {why}");
                self.phase = Phase::Rest(Rest::Interrupted);
            }
            Event::LeftoversSwept { left, .. } => self.leftovers.clone_from(left),
            Event::Completed => {
                "its command ended well".clone_into(&mut self.rule);
                self.phase = Phase::Rest(Rest::Completed);
            }
            Event::Failed { why } => {
                self.rule = match self.spec.traits.refs {
                    RefOrigin::None => "the command failed".to_owned(),
                    RefOrigin::Chosen | RefOrigin::Learned => why.clone(),
                };
                self.phase = Phase::Rest(Rest::Failed(why.clone()));
            }
            _ => {}
        }
    }

    /// A restart that failed, or was stopped before its end, has changed nothing.
    fn put_back(&mut self) {
        if let Some(aside) = self.set_aside.take() {
            self.agent_ref = aside.agent_ref;
            self.ran = aside.ran;
            self.cut_off = aside.cut_off;
            self.seen.transcript = aside.transcript;
        }
    }

    fn step(&mut self, to: StartStep) {
        if let Phase::Starting(start) = &mut self.phase {
            start.step = to;
        }
    }
}
