//! The fold: how each event changes a session.

mod pause;
mod tree;

use crate::event::{Event, Recorded, Spot};
use crate::ids::{AskId, MessageId, SessionId};
use crate::leftover::Leftovers;
use crate::pause::PauseStep;
use crate::queue::Queue;
use crate::safe::ScreenState;
use crate::session::{
    FolderState, Phase, Rest, Seen, Session, SetAside, Spoken, Start, StartCause, StartStep, WallMs,
};
use crate::spec::{RefOrigin, Spec};
use crate::talk::{Ask, AskKind, Leg, Message, Tool, Turn};
use std::collections::BTreeMap;

/// Why an agent with a used-up allowance does nothing, or nothing yet.
const LIMIT_RULE: &str = "the agent's usage limit is reached";

pub(super) fn apply(sessions: &mut BTreeMap<SessionId, Session>, recorded: &Recorded) {
    let (id, at) = (&recorded.session, recorded.at);
    if let Event::SessionCreated { op, name, spec, agent_ref } = &recorded.event {
        let start = Start {
            op: *op,
            cause: StartCause::New,
            step: StartStep::Worktree,
            from: Rest::Created,
        };
        let phase = Phase::Starting(start);
        let session = Session::fresh(id, at, (name, spec, agent_ref.clone()), phase);
        sessions.insert(id.clone(), session);
    } else if let Event::SessionRecovered { card } = &recorded.event {
        let asked = (card.name.as_str(), &card.spec, card.agent_ref.clone());
        let mut session = Session::fresh(id, at, asked, Phase::Rest(Rest::Interrupted));
        session.take_card(card);
        sessions.insert(id.clone(), session);
    } else if let Some(session) = sessions.get_mut(&recorded.session) {
        session.apply(recorded.at, &recorded.event);
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
            process: None,
            ready: false,
            rejected: None,
            spoken: Spoken::Nothing,
            turn: Turn::default(),
            screen: ScreenState::Flowing,
            rule: "it is new".to_owned(),
            asks: Vec::new(),
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
                self.forget_process();
                self.found = None;
                let step = StartStep::Check;
                let (op, cause) = (*op, *cause);
                self.phase = Phase::Starting(Start { op, cause, step, from });
            }
            Event::StartChecked { found, .. } => {
                self.find_tree(found.as_ref());
                self.step(StartStep::Process);
            }
            Event::ProcessStarted { process, began_at, .. } => {
                self.process = Some(process.clone());
                self.left_as = None;
                self.seen.stream = self.seen.stream.max(*began_at);
                self.step(StartStep::Ready);
            }
            Event::StartEnded { cause, .. } => self.end_start(at, *cause),
            Event::RefRejected { why, .. } => self.rejected = Some(why.clone()),
            Event::StartFailed { fault, .. } => {
                self.failed_starts += 1;
                self.process = None;
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
        // What never ran cannot come back, whoever starts it.
        if cause != StartCause::New && self.ran {
            self.resumed_at = Some(at);
        }
        self.ran = true;
        self.failed_starts = 0;
        self.paused_at = None;
        self.former_refs.extend(self.set_aside.take().and_then(|aside| aside.agent_ref));
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "`apply` sends only this family here")]
    fn apply_message(&mut self, event: &Event) {
        match event {
            Event::MessageQueued { message, text, first } => {
                let (id, text) = (*message, text.clone());
                let leg = Leg::Queued;
                let message = Message { id, text, leg, noted: false, changed: None, refused: 0 };
                if *first {
                    self.queue.push_first(message);
                } else {
                    self.queue.push(message);
                }
                self.await_message();
            }
            Event::DeliveryBegan { message } => {
                self.spoken = Spoken::Something;
                "a message is on its way to it".clone_into(&mut self.rule);
                self.set_leg(*message, Leg::Sent);
                let (noted, changed) = (std::mem::take(&mut self.cut_off), self.changed.take());
                if let Some(message) = self.queue.get_mut(*message) {
                    message.noted = noted;
                    message.changed = changed;
                }
            }
            Event::DeliveryRefused { message, why } => {
                self.rule = format!("a message waits: {why}");
                self.set_leg(*message, Leg::Queued);
                if let Some(message) = self.queue.get_mut(*message) {
                    message.refused += 1;
                }
                self.take_note_back(*message);
            }
            Event::MessageRequeued { message } => {
                self.set_leg(*message, Leg::Queued);
                self.take_note_back(*message);
                self.drop_doubt(*message);
                self.await_message();
            }
            Event::MessageTaken { message, spot } => {
                self.turn.due |= spot.is_some();
                self.undelivered = None;
                self.queue.remove(*message);
                self.drop_doubt(*message);
            }
            Event::MessageDropped { message } => {
                self.take_note_back(*message);
                self.queue.remove(*message);
                self.drop_doubt(*message);
            }
            Event::MessageRefused { message, why } => {
                self.rule = format!("a message was not handed over: {why}");
                self.undelivered = Some(why.clone());
                self.take_note_back(*message);
                self.queue.remove(*message);
            }
            Event::MessageDoubted { message } => {
                self.set_leg(*message, Leg::Doubtful);
                let text = self.queue.iter().find(|m| m.id == *message).map(|m| m.text.clone());
                let text = text.unwrap_or_default();
                self.asks.push(Ask::new(doubt(*message), AskKind::Doubt, text));
            }
            _ => {}
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "`apply` sends only this family here")]
    fn apply_sign(&mut self, event: &Event) {
        match event {
            Event::BecameReady { .. } => {
                self.ready = true;
                self.turn.due = false;
                "the agent is ready".clone_into(&mut self.rule);
            }
            Event::TurnBegan { .. } => {
                self.spoken = Spoken::Something;
                // If it lasts, the turn will say so.
                self.limit_until = None;
                self.turn.open = true;
                self.turn.due = false;
                "the agent began a turn".clone_into(&mut self.rule);
            }
            Event::ToolBegan { tool, what, .. } => {
                self.turn.tools.push(Tool { id: tool.clone(), what: what.clone() });
            }
            Event::ToolEnded { tool, .. } => self.turn.tools.retain(|t| t.id != *tool),
            Event::BackgroundChanged { running, .. } => {
                self.turn.background = *running;
                if !self.turn.open {
                    self.note_turn_ended();
                }
            }
            Event::TurnEnded { cut, .. } => {
                // Who cut it off at the agent's own terminal knows; who did it through us has to
                // tell the agent.
                let by_us = matches!(self.phase, Phase::Pausing(_) | Phase::Stopping { .. });
                self.cut_off |= *cut && by_us;
                self.turn.open = false;
                self.turn.due = false;
                self.turn.tools.clear();
                self.note_turn_ended();
            }
            Event::Asked { ask, .. } => {
                self.asks.retain(|a| a.id != ask.id);
                self.asks.push(ask.clone());
                self.tell_that_it_asks();
            }
            Event::AskGone { ask, .. } => {
                self.asks.retain(|a| a.id != *ask);
                if self.asks.is_empty() {
                    "the agent asks no more".clone_into(&mut self.rule);
                }
            }
            Event::AnswerBegan { ask, .. } => {
                self.asks_of(ask).for_each(|ask| ask.answering = true);
            }
            Event::AnswerFailed { ask, .. } => {
                self.asks_of(ask).for_each(|ask| ask.answering = false);
            }
            Event::LimitReached { reset_at, .. } => {
                self.limit_until = Some(reset_at.clone());
                LIMIT_RULE.clone_into(&mut self.rule);
            }
            Event::ScreenJudged { state } => self.judge_screen(state),
            _ => {}
        }
    }

    /// Whoever asks may have done so before its start was over.
    fn tell_that_it_asks(&mut self) {
        let open = self.asks.iter().rev().find(|ask| ask.kind != AskKind::Doubt);
        if let Some(ask) = open {
            let program = ask.only_at_terminal();
            let who = if program { "its program itself asks" } else { "the agent asks" };
            self.rule = format!("{who} something");
        }
    }

    fn judge_screen(&mut self, state: &ScreenState) {
        self.screen = state.clone();
        self.rule = match state {
            ScreenState::Flowing => "its output flows".to_owned(),
            ScreenState::Silent => "no output for 5 s, no prompt in the last line".to_owned(),
            ScreenState::AtPrompt { pattern } => {
                format!("quiet, and the last line ends in {pattern:?}")
            }
            ScreenState::Asking { pattern, .. } => {
                format!("quiet, and the last line asks with {pattern:?}")
            }
        };
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "`apply` sends only this family here")]
    fn apply_rest(&mut self, event: &Event) {
        match event {
            Event::StopBegan { op, then } => {
                self.phase = Phase::Stopping { op: *op, awaited: false, then: then.clone() };
            }
            Event::ProcessEnded { left, .. } => {
                self.cut_off |= self.turn.under_way();
                // Who has told no id and was told nothing has not begun a conversation.
                let began = self.spoken == Spoken::Something || self.agent_ref.is_some();
                self.ran &= began || self.spec.traits.refs != RefOrigin::Learned;
                self.process = None;
                self.ready = false;
                self.turn = Turn::default();
                self.asks.retain(|ask| ask.kind == AskKind::Doubt);
                self.leftovers.clone_from(left);
                if let Phase::Pausing(pause) = &mut self.phase
                    && pause.step == PauseStep::Ending
                {
                    pause.step = PauseStep::Sealing;
                }
            }
            Event::Suspended { op } => {
                let stopped = op.is_some() || matches!(self.phase, Phase::Stopping { .. });
                let rule = if stopped { "somebody stopped it" } else { "it ended by itself" };
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

    /// The resting state behind whatever is under way.
    pub(crate) fn resting(&self) -> Rest {
        match &self.phase {
            Phase::Rest(rest) | Phase::Chore { from: rest, .. } => rest.clone(),
            Phase::Starting(start) => start.from.clone(),
            Phase::Pausing(pause) => pause.from.clone().unwrap_or(Rest::Interrupted),
            Phase::Live | Phase::Stopping { .. } => Rest::Interrupted,
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

    fn set_leg(&mut self, message: MessageId, leg: Leg) {
        if let Some(message) = self.queue.get_mut(message) {
            message.leg = leg;
        }
    }

    fn note_turn_ended(&mut self) {
        let rule = match self.turn.background {
            _ if self.limit_until.is_some() => LIMIT_RULE,
            0 => "the agent ended its turn",
            _ => "the agent ended its turn and has work in the background",
        };
        rule.clone_into(&mut self.rule);
    }

    /// The note that a message carried may not have got there: the next one carries it again.
    fn take_note_back(&mut self, message: MessageId) {
        if let Some(message) = self.queue.get_mut(message) {
            self.cut_off |= std::mem::take(&mut message.noted);
            self.changed = self.changed.take().or(message.changed.take());
        }
    }

    /// Whoever sends to a session that is being stopped wants it back afterwards.
    fn await_message(&mut self) {
        if let Phase::Stopping { awaited, .. } = &mut self.phase {
            *awaited = true;
        }
    }

    fn drop_doubt(&mut self, message: MessageId) {
        let id = doubt(message);
        self.asks.retain(|ask| ask.id != id);
    }

    fn asks_of(&mut self, id: &AskId) -> impl Iterator<Item = &mut Ask> {
        self.asks.iter_mut().filter(move |ask| ask.id == *id)
    }
}

/// The name of the question whether a message is to be sent again.
pub(crate) fn doubt(message: MessageId) -> AskId {
    AskId(format!("doubt-{}", message.0))
}
