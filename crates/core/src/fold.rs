//! The fold: how each event changes a session.

mod by_itself;
mod gate;
mod looping;
mod pause;
pub(crate) mod plan;
mod start;
mod talk;
mod tree;

use crate::event::{Event, Recorded, Spot};
use crate::ids::SessionId;
use crate::looping::Loop;
use crate::pause::PauseWish;
use crate::rare::Rare;
use crate::rule::Rule;
use crate::session::{
    Agent, Ahead, Bar, Chore, Course, Damage, Deferred, Phase, Place, Rejection, Rest, Saved,
    Session, Start, StartCause, StartStep, Talk, Times, WallMs,
};
use crate::spec::{IdleLimit, Mode, RefOrigin, SignSource, Spec, Takes, Traits};
use crate::spending::SpendingEvent;
use crate::status::Status;
use crate::talk::{ALLOW_FOR_SESSION, Delivery};
use crate::triage::Snooze;
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
        let asked = (card.name.as_str(), &card.spec, card.agent.agent_ref.clone());
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
            run: None,
            place: Place::default(),
            agent: Agent { agent_ref, ..Agent::default() },
            talk: Talk::default(),
            times: Times { created_at: at, last_active_at: at, ended_at: None },
            saved: Saved::default(),
            ahead: Ahead {
                looped: spec.looped.clone().map(|spec| Box::new(Loop::begin(*spec))),
                ..Ahead::default()
            },
            course: Course::default(),
            starts: Rare::default(),
            upkeep: Rare::default(),
            triage: Rare::default(),
            spending: Rare::default(),
        }
    }
}

impl Session {
    pub(crate) fn apply(&mut self, at: WallMs, event: &Event) {
        let former = self.status();
        if self.is_activity(event) {
            self.times.last_active_at = at;
        }
        let ended = matches!(
            event,
            Event::TurnEnded { .. }
                | Event::Interrupted { .. }
                | Event::Completed
                | Event::Failed { .. }
        );
        if ended {
            self.times.ended_at = Some(at);
        }
        let is_change = ended || matches!(event, Event::Asked { .. });
        if is_change && self.triage.snoozed == Some(Snooze::Change) {
            self.triage.snoozed = None;
        }
        self.account(event);
        self.forget_deferral(event);
        self.note_limits(event);
        self.course.by_itself.note(event);
        self.ahead.note_loop(event);
        self.take_in(at, event);
        self.count_idle_spell(former);
        self.keep_appointment();
        self.starts.tidy();
        self.upkeep.tidy();
        self.triage.tidy();
        self.note_work(at, former);
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
                self.ahead.mend_loop();
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
            Event::MessageDoubted { message } => self.set_delivery(*message, Delivery::Doubtful),
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
            Event::Spending(event) => {
                if let SpendingEvent::Set { budget, .. } = event {
                    self.spec.budget.clone_from(budget);
                }
                self.spending.apply(event);
            }
            Event::Triaged(triage) => (*self.triage).clone_from(triage),
            Event::LimitReached { reset_at, .. } => {
                self.starts.limit_until = Some(reset_at.clone());
                self.course.rule = Rule::LimitReached;
            }
            Event::ScreenJudged { state } => self.judge_screen(state),

            Event::PauseBegan { op, mode, reason, on_timeout, clearing } => {
                let (mode, reason, on_timeout, clearing) = (*mode, *reason, *on_timeout, *clearing);
                self.begin_pause(at, *op, PauseWish { mode, reason, on_timeout, clearing });
                self.ahead.take_pause_to_come(*op);
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
                self.ahead.resume_at = *at;
                self.course.stays = at.is_none();
            }
            Event::PauseTakenOver { reason } => self.take_pause_over(*reason),
            Event::LimitOver { at } => self.end_limit(*at),
            Event::Loop(event) => self.ahead.go_on_with_loop(event),
            Event::ProcessEnded { left, ending, .. } => {
                self.note_kept_end(ending);
                self.end_run(left);
            }
            Event::LeftoversSwept { left, .. } => self.starts.leftovers.clone_from(left),
            Event::Suspended { op } => self.suspend(*op),
            Event::Interrupted { why } => self.interrupt(why),
            Event::Completed => self.complete(),
            Event::Failed { why } => self.fail(why),

            Event::SaveBegan { op } => self.upkeep.saving = Some(*op),
            Event::CompactionBegan { op } => self.upkeep.compaction.asked = Some(*op),
            Event::ConversationCompacted { op, .. } => {
                self.saved.compacted_at = Some(at);
                self.upkeep.compaction.succeed(*op);
            }
            Event::CompactionFailed { op, why } => self.upkeep.compaction.fail(*op, why),
            Event::WorktreeSaved { op, snapshot, occasion, generation } => {
                self.end_save(*op);
                self.take_save(snapshot, *occasion, *generation);
            }
            Event::WorktreeNotSaved { op, why, .. } => {
                self.end_save(*op);
                self.upkeep.unsaved = Some(why.clone());
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
            Event::FolderLost => self.upkeep.folder_lost = true,
            Event::DamageAcknowledged => {
                self.upkeep.damage = None;
                self.upkeep.folder_lost = false;
            }
            Event::Barred { what, why } => {
                self.upkeep.barred = Some(Bar { what: what.clone(), why: why.clone() });
            }
            Event::BarLifted => self.upkeep.barred = None,
            Event::RepoMoved { repo_root } => {
                if self.spec.in_place {
                    self.place.worktree = Some(repo_root.clone());
                }
                self.spec.repo_root.clone_from(repo_root);
            }
            Event::StartDeferred { cause, why, turn } => {
                self.starts.deferred = Some(Deferred { cause: *cause, why: *why, turn: *turn });
            }
            Event::StartForgone => self.starts.deferred = None,
        }
    }

    /// Where there is a budget, the time at work is added up.
    fn note_work(&mut self, at: WallMs, former: Status) {
        let (was, is) = (former == Status::Busy, self.status() == Status::Busy);
        if self.spec.budget.is_some() && is && (!was || self.spending.busy_since.is_none()) {
            self.spending.busy_since = Some(at);
        } else if let Some(since) = self.spending.busy_since.filter(|_| !is) {
            let worked = u64::try_from(at.saturating_sub(since)).unwrap_or_default();
            self.spending.used.ms = self.spending.used.ms.saturating_add(worked);
            self.spending.busy_since = None;
        }
        self.spending.tidy();
    }

    /// What was seen once does not count again.
    fn account(&mut self, event: &Event) {
        match event.spot() {
            Some(Spot::Stream(offset)) => self.talk.seen.stream = self.talk.seen.stream.max(offset),
            Some(Spot::Transcript(offset)) => {
                self.talk.seen.transcript = self.talk.seen.transcript.max(offset);
            }
            Some(Spot::Hook(offset)) => self.talk.seen.hooks = self.talk.seen.hooks.max(offset),
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
            self.starts.deferred = None;
        }
    }

    fn rest_as(&mut self, rest: Rest) {
        self.phase = Phase::Rest(rest);
    }

    fn note_damage(&mut self, lost: &[(u64, u64)], kept: &str) {
        let length = |(first, last): &(u64, u64)| last.saturating_sub(*first) + 1;
        let before = self.upkeep.damage.as_ref().map_or(0, |former| former.lost);
        let lost = before + lost.iter().map(length).sum::<u64>();
        self.upkeep.damage = Some(Damage { lost, kept: kept.to_owned() });
    }

    /// Gives it another time; a spell that has begun begins anew.
    fn limit_idle(&mut self, limit: IdleLimit) {
        self.spec.limit_idle(limit);
        self.course.idle_spells += 1;
    }

    /// A session that has become idle has all of its time again.
    fn count_idle_spell(&mut self, former: Status) {
        if former != Status::Idle && self.status() == Status::Idle {
            self.course.idle_spells += 1;
        }
    }

    /// Whether an event is something that the agent or the user has done. That an idle session is
    /// suspended, with everything that belongs to it, is not: it stays as old as it is.
    fn is_activity(&self, event: &Event) -> bool {
        let suspends = matches!(&self.phase, Phase::Stopping { cause, .. } if !cause.is_asked());
        let by_us = matches!(self.course.rule, Rule::Idled | Rule::MadeRoom);
        let suspended = matches!(self.phase, Phase::Rest(_)) && by_us;
        let begins = matches!(event, Event::StopBegan { cause, .. } if !cause.is_asked());
        let ends = matches!(event, Event::ProcessEnded { .. } | Event::Suspended { .. });
        let saves = matches!(
            event,
            Event::WorktreeSaved { op: None, .. } | Event::WorktreeNotSaved { op: None, .. }
        );
        let ordered =
            matches!(event, Event::IdleLimitSet { .. } | Event::Triaged(_) | Event::Spending(_));
        !(begins || ordered || event.is_upkeep() || ends && suspends || saves && suspended)
    }
}
