//! The fold: how each event changes a session.

mod by_itself;
mod compact;
mod end;
mod gate;
mod idle;
mod keep;
mod looping;
mod message;
mod pause;
pub(crate) mod plan;
mod rescue;
mod sign;
mod start;
mod tree;
mod usage_limit;

use crate::by_itself::ByItself;
use crate::event::{Event, Recorded, Spot};
use crate::ids::SessionId;
use crate::leftover::Leftovers;
use crate::looping::Loop;
use crate::pause::PauseWish;
use crate::queue::Queue;
use crate::rule::Rule;
use crate::session::{
    Bar, Chore, Deferred, FolderState, Phase, Rejection, Rest, Seen, Session, Start, StartCause,
    StartStep, WallMs,
};
use crate::spec::{Mode, RefOrigin, SignSource, Spec, Takes, Traits};
use crate::talk::ALLOW_FOR_SESSION;
use pause::Progress;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) fn apply(sessions: &mut BTreeMap<SessionId, Arc<Session>>, recorded: &Recorded) {
    // What is about the house or a plan is folded there.
    let Some(id) = recorded.subject.session() else { return };
    if let Event::Emptied { .. } = &recorded.event {
        // Nothing is left of it but the log.
        sessions.remove(id);
    } else if let Some(session) = born(id, recorded.at, &recorded.event) {
        sessions.insert(id.clone(), Arc::new(session));
    } else if let Some(session) = sessions.get_mut(id) {
        Arc::make_mut(session).apply(recorded.at, &recorded.event);
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
    /// A session that is in no house.
    pub(crate) fn nowhere() -> Self {
        let traits =
            Traits { refs: RefOrigin::None, signs: SignSource::Screen, takes: Takes::Anytime };
        let spec = Spec::plain("", Mode::Headless, traits, "");
        Self::fresh(&SessionId(String::new()), 0, ("", &spec, None), Phase::Rest(Rest::Archived))
    }

    /// Whether it is in no house.
    pub(crate) fn is_nowhere(&self) -> bool {
        self.id.0.is_empty()
    }

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
            rule: Rule::New,
            queue: Queue::default(),
            cut_off: false,
            turn_failed: None,
            was_asking: Vec::new(),
            allowed: Vec::new(),
            seen: Seen::default(),
            seen_before: BTreeMap::new(),
            limit_until: None,
            limits: Box::default(),
            by_itself: ByItself::default(),
            leftovers: Leftovers::default(),
            folder: FolderState::Whole,
            undelivered: None,
            deferred: None,
            failed_starts: 0,
            damage: None,
            barred: None,
            created_at: at,
            last_active_at: at,
            idle_spells: 0,
            resumed_at: None,
            paused_at: None,
            resume_at: None,
            stays: false,
            snapshot: None,
            baseline: None,
            saving: None,
            unsaved: None,
            notes: Vec::new(),
            found: None,
            restored: None,
            changed: None,
            trashed: None,
            compaction: Box::default(),
            looped: spec.looped.clone().map(|spec| Box::new(Loop::begin(*spec))),
        }
    }
}

impl Session {
    /// Folds one event in.
    pub(crate) fn apply(&mut self, at: WallMs, event: &Event) {
        let former = self.status();
        if self.is_activity(event) {
            self.last_active_at = at;
        }
        self.account(event);
        self.forget_deferral(event);
        self.note_limits(event);
        self.note_return(event);
        self.note_loop(event);
        self.take_in(at, event);
        self.count_idle_spell(former);
        self.keep_appointment();
    }

    /// Every event is named once, with what takes it in.
    #[expect(clippy::too_many_lines, reason = "every event is named once")]
    fn take_in(&mut self, at: WallMs, event: &Event) {
        match event {
            // Of a start that was called off, what was set aside counts again once nothing runs. What
            // happens to the gate or a plan is about no session.
            Event::Gate(_)
            | Event::LimitsSet(_)
            | Event::ConfigBroke { .. }
            | Event::ConfigMended
            | Event::Plan(_)
            | Event::SessionCreated { .. }
            | Event::SessionRecovered { .. }
            | Event::ResumeFellDue
            | Event::StartCancelled { .. }
            // Told for who looks back: what was typed shows in what the agent does.
            | Event::TypingBegan => {}

            Event::WorktreeMade { worktree, branch, notes, .. } => {
                self.take_place(worktree, branch.as_ref(), notes);
            }
            Event::CreationFailed { .. } => self.rest_as(Rest::Archived),
            Event::CreationEnded { .. } => self.rest_as(Rest::Created),
            Event::StartBegan { op, cause, generation } => {
                self.begin_start(*op, *cause, *generation);
                self.mend_loop();
            }
            Event::StartChecked { found, set_up, .. } => {
                self.check_start(found.as_ref(), set_up.as_deref());
            }
            Event::ProcessStarted { process, began_at, .. } => {
                self.begin_run(process, *began_at);
            }
            Event::StartEnded { cause, .. } => self.end_start(at, *cause),
            Event::RefRejected { why, .. } => self.reject(Rejection::Conversation(why.clone())),
            Event::StartRefused { why, .. } => self.reject(Rejection::Start(why.clone())),
            Event::StartFailed { fault, .. } => self.fail_start(fault),
            Event::RestartBegan { agent_ref, prompt, .. } => {
                self.begin_restart(agent_ref.as_ref(), prompt.as_ref());
            }
            Event::AgentRefLearned { agent_ref, .. } => self.learn_ref(agent_ref),

            Event::MessageQueued { message, text, first } => {
                self.queue_message(*message, text, *first);
            }
            Event::DeliveryBegan { message } => self.begin_delivery(*message),
            Event::DeliveryRefused { message, why } => self.refuse_delivery(*message, why),
            Event::MessageTaken { message, spot } => self.take_message(*message, *spot),
            Event::MessageDoubted { message } => self.doubt_message(*message),
            Event::MessageRequeued { message } => self.requeue_message(*message),
            Event::MessageRefused { message, why } => self.refuse_message(*message, why),
            Event::MessageDropped { message } => self.drop_message(*message),

            Event::BecameReady { .. } => self.become_ready(),
            Event::TurnBegan { .. } => self.begin_turn(),
            Event::ToolBegan { tool, what, .. } => self.begin_tool(tool, what),
            Event::ToolEnded { tool, .. } => self.end_tool(tool),
            Event::BackgroundChanged { running, .. } => self.change_background(*running),
            Event::TurnEnded { cut, failed, .. } => self.end_turn(*cut, failed.as_ref()),
            Event::Asked { ask, .. } => self.add_ask(at, ask),
            Event::AskGone { ask, .. } => self.drop_ask(ask),
            Event::AnswerBegan { ask, answer, .. } => {
                self.set_answering(ask, true);
                if answer == ALLOW_FOR_SESSION {
                    self.allow_again(ask);
                }
            }
            Event::AnswerFailed { ask, .. } => self.set_answering(ask, false),
            Event::AskJudged { ask, text, verdict } => self.take_verdict(ask, text, verdict),
            Event::AutoYesSet { on } => self.set_auto_yes(*on),
            Event::LimitReached { reset_at, .. } => self.reach_limit(reset_at),
            Event::ScreenJudged { state } => self.judge_screen(state),

            Event::PauseBegan { op, mode, reason, on_timeout, clearing } => {
                let (mode, reason, on_timeout, clearing) = (*mode, *reason, *on_timeout, *clearing);
                self.begin_pause(at, *op, PauseWish { mode, reason, on_timeout, clearing });
                self.take_pause_to_come(*op);
            }
            Event::PauseHastened { mode, on_timeout, .. } => self.hasten(*mode, *on_timeout),
            Event::InterruptBegan { .. } => self.move_pause(Progress::Interrupted),
            Event::SafeStateReached { rule, forced, .. } => self.reach_safe_state(rule, *forced),
            Event::TerminalCaptured { screen_at, .. } => self.keep_screen(*screen_at),
            Event::CaptureMissed { why, .. } => self.miss_screen(why),
            Event::SnapshotTaken { snapshot, warning, .. } => {
                self.keep_snapshot(snapshot.as_ref(), warning.as_ref());
            }
            Event::EndBegan { .. } => {
                let runs = self.runs();
                self.move_pause(Progress::Saved { runs });
            }
            Event::FreezeBegan { .. } => self.move_pause(Progress::Freezing),
            Event::ProcessFrozen { .. } => self.freeze(),
            Event::ThawBegan { op, cause } => self.begin_thaw(*op, *cause),
            Event::ClearingBegan { .. } => self.move_pause(Progress::Sealed),
            Event::WorktreeCleared { leftover, .. } => self.clear_worktree(leftover.as_ref()),
            Event::WorktreeStays { why, .. } => self.warn_of_pause(why.clone()),
            Event::Paused { .. } => self.end_pause(at),
            Event::PauseCancelled { .. }
            | Event::PauseRefused { .. }
            | Event::PauseFailed { .. }
            | Event::PauseBarred { .. } => self.fall_back_from_pause(),

            Event::StopBegan { op, then, cause } => self.begin_stop(*op, then, *cause),
            Event::IdleLimitSet { limit } => self.limit_idle(*limit),
            Event::ResumeAppointed { at } => {
                self.resume_at = *at;
                self.stays = at.is_none();
            }
            Event::PauseTakenOver { reason } => self.take_pause_over(*reason),
            Event::LimitOver { at } => self.end_limit(*at),
            Event::Loop(event) => self.go_on_with_loop(event),
            Event::ProcessEnded { left, ending, .. } => {
                self.note_kept_end(ending);
                self.end_run(left);
            }
            Event::LeftoversSwept { left, .. } => self.leftovers.clone_from(left),
            Event::Suspended { op } => self.suspend(*op),
            Event::Interrupted { why } => self.interrupt(why),
            Event::Completed => self.complete(),
            Event::Failed { why } => self.fail(why),

            Event::SaveBegan { op } => self.saving = Some(*op),
            Event::CompactionBegan { op } => self.begin_compaction(*op),
            Event::ConversationCompacted { op, .. } => self.compact(at, *op),
            Event::CompactionFailed { op, why } => self.fail_compaction(*op, why),
            Event::WorktreeSaved { op, snapshot, occasion, generation } => {
                self.end_save(*op);
                self.take_save(snapshot, *occasion, *generation);
            }
            Event::WorktreeNotSaved { op, why, .. } => {
                self.end_save(*op);
                self.unsaved = Some(why.clone());
            }
            Event::WorktreeRestored { snapshot, notes, .. } => {
                self.take_restored(snapshot, notes);
            }

            Event::RestoreBegan { op, snapshot } => {
                self.begin_chore(*op, Chore::Restore(snapshot.clone()));
            }
            Event::RemovalBegan { op } => self.begin_chore(*op, Chore::PutAside),
            Event::ReturnBegan { op, name } => self.begin_chore(*op, Chore::Return(name.clone())),
            Event::EmptyingBegan { op } => self.begin_chore(*op, Chore::Empty),
            Event::RemovalFailed { .. } => self.fall_back_from_removal(),
            Event::RestoreFailed { .. }
            | Event::ReturnFailed { .. }
            | Event::EmptyingFailed { .. } => self.rest_as(self.resting()),
            Event::Archived { place, .. } => self.archive(at, place),
            Event::Returned { .. } => self.bring_back(),
            Event::Emptied { .. } => self.empty(),

            Event::ProcessAdopted { generation, process, began_at } => {
                self.adopt(*generation, process, *began_at);
            }
            Event::RecordDamaged { lost, kept } => self.note_damage(lost, kept),
            Event::FolderLost => self.folder = FolderState::Lost,
            Event::DamageAcknowledged => {
                self.damage = None;
                self.folder = FolderState::Whole;
            }
            Event::Barred { what, why } => {
                self.barred = Some(Bar { what: what.clone(), why: why.clone() });
            }
            Event::BarLifted => self.barred = None,
            Event::StartDeferred { cause, why, turn } => {
                self.deferred = Some(Deferred { cause: *cause, why: *why, turn: *turn });
            }
            Event::StartForgone => self.deferred = None,
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

    /// What is begun does not wait any more, and what is paused, stopped or removed is not waited for.
    fn forget_deferral(&mut self, event: &Event) {
        let begun = matches!(
            event,
            Event::StartBegan { .. }
                | Event::ThawBegan { .. }
                | Event::PauseBegan { .. }
                | Event::StopBegan { .. }
                | Event::RemovalBegan { .. }
        );
        if begun {
            self.deferred = None;
        }
    }

    /// Comes to rest.
    fn rest_as(&mut self, rest: Rest) {
        self.phase = Phase::Rest(rest);
    }
}
