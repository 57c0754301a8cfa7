//! What must hold at every step, judged by the log and by the world together.

use crate::agent::Agent;
use crate::reasons;
use crate::world::World;
use glis_core::input::{Command, Input, Outcome, World as Found};
use glis_core::looping::{Loop, LoopEvent, LoopStage};
use glis_core::pause::{PauseReason, PauseStep};
use glis_core::session::{AfterStop, Rest, StartStep};
use glis_core::spec::SignSource;
use glis_core::spending::SpendingEvent;
use glis_core::talk::Delivery;
use glis_core::usage_limit::GO_ON;
use glis_core::verdict::{Answerer, Verdict as Ruled};
use glis_core::{
    Effect, Event, Gate, GateCommand, House, MessageId, OpId, Phase, PlanCommand, PlanOutcome,
    Recorded, Reply, Session, SessionId, Status, TimerKey,
};
use std::collections::{BTreeMap, BTreeSet};

type Verdict = Result<(), String>;

/// What is remembered to judge by.
#[derive(Debug, Default)]
pub(crate) struct Rules {
    queued: BTreeMap<MessageId, SessionId>,
    settled: BTreeSet<MessageId>,
    allowed: BTreeMap<MessageId, u32>,
    handed_last: BTreeMap<SessionId, MessageId>,
    /// The first messages of fresh conversations, which come before whatever waited.
    firsts: BTreeSet<MessageId>,
    promised: BTreeMap<OpId, SessionId>,
    ended: BTreeSet<OpId>,
    interrupts: BTreeMap<SessionId, BTreeSet<OpId>>,
    answers: BTreeMap<(SessionId, String), u32>,
    saved: BTreeMap<OpId, u32>,
    /// Snapshots on record before this house was looked at: others have judged them.
    judged: BTreeSet<OpId>,
    /// What an open gate brings back.
    pub(crate) returning: BTreeSet<SessionId>,
}

fn must(holds: bool, rule: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(rule()) }
}

impl Rules {
    pub(crate) fn replied(&mut self, session: Option<&SessionId>, reply: &Reply) -> Verdict {
        if let (Reply::Pending(op), Some(session)) = (reply, session) {
            must(!self.ended.contains(op), || format!("{op:?} is promised after its end"))?;
            self.promised.insert(*op, session.clone());
        }
        Ok(())
    }

    /// Judges an event in the light of what the session was and what came in.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the rest have rules of their own below")]
    #[expect(clippy::too_many_lines, reason = "every event is judged here")]
    pub(crate) fn event(
        &mut self,
        before: Option<&Session>,
        input: &Input,
        recorded: &Recorded,
        world: &World,
    ) -> Verdict {
        let Some(id) = recorded.subject.session() else {
            return Err(format!("{recorded:?} is about no session"));
        };
        let Some(before) = before else {
            let created = matches!(recorded.event, Event::SessionCreated { .. });
            return must(created, || format!("{recorded:?} of no session"));
        };
        self.message_event(before, input, &recorded.event, world)?;
        self.pause_event(before, &recorded.event, world)?;
        match &recorded.event {
            Event::PauseBegan { reason: PauseReason::Budget, .. } => {
                let spent = before.spending.reached.is_some();
                must(spent || before.spec.task.is_some() || before.spec.looped.is_some(), || {
                    format!("{id} is paused for a budget that is not used up")
                })
            }
            Event::Spending(SpendingEvent::Granted) => {
                let asked = matches!(input, Input::Command(_));
                must(asked && before.spending.reached.is_some(), || {
                    format!("{id} is granted more, and nobody did")
                })
            }
            Event::SessionCreated { .. } => Err(format!("{id} was created twice")),
            Event::StartBegan { generation, .. } => {
                let next = *generation == before.agent.generation + 1;
                must(next, || {
                    format!("{id}: generation {generation} after {}", before.agent.generation)
                })?;
                let returns = self.returning.contains(id) || before.starts.deferred.is_some();
                must(returns || may_start(before, input), || {
                    format!("{id}: started from {:?} by {input:?}", before.phase)
                })
            }
            Event::ThawBegan { .. } => {
                let returns = self.returning.contains(id) || before.starts.deferred.is_some();
                let kept = before.is_frozen() && (returns || may_start(before, input));
                must(kept, || format!("{id}: goes on from {:?} by {input:?}", before.phase))
            }
            Event::Loop(LoopEvent::Began { iteration }) => {
                let looped = before.ahead.looped.as_ref().ok_or("an iteration of no loop")?;
                // A person may begin any of them anew, and end a pause by that.
                if matches!(input, Input::Command(Command::Restart { .. })) {
                    return Ok(());
                }
                let next = *iteration == looped.iteration + 1;
                must(next, || format!("{id}: {iteration} after {}", looped.iteration))?;
                let due = matches!(looped.stage, LoopStage::Due { .. });
                must(due, || format!("{id}: {iteration} begins at {:?}", looped.stage))?;
                let waits = before.pause_to_come().is_some();
                must(!waits, || format!("{id}: {iteration} begins over a pause"))
            }
            Event::TypingBegan => {
                let asked = matches!(input, Input::Command(Command::BeginTyping { session }) if session == id);
                must(asked, || format!("{id}: {input:?} made somebody type"))?;
                let taken = before.runs() && !before.is_frozen();
                must(taken, || format!("{id}: keys are for {:?}", before.phase))
            }
            Event::AnswerBegan { ask, .. } => {
                let by_rule = matches!(input, Input::Outcome {
                    outcome: Outcome::Judged { ask: judged, verdict, .. }, ..
                } if judged.id == *ask && !matches!(verdict, Ruled::Manual { .. }));
                let asked = matches!(input, Input::Command(Command::Answer { .. }));
                must(asked || by_rule, || format!("{ask} is answered and nobody did"))?;
                let may = !by_rule || before.spec.auto_yes;
                must(may, || format!("{id}: {ask} is answered by a rule, which nobody wants"))?;
                let open = before.asked().iter().any(|open| {
                    let whose = !by_rule || open.answerer == Answerer::Rules;
                    open.id == *ask && !open.answering && whose
                });
                must(open, || format!("{id}: {ask} is answered while an answer is on its way"))?;
                *self.answers.entry((id.clone(), ask.0.clone())).or_default() += 1;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "only messages are judged here")]
    fn message_event(
        &mut self,
        before: &Session,
        input: &Input,
        event: &Event,
        world: &World,
    ) -> Verdict {
        let id = &before.id;
        match event {
            Event::MessageQueued { message, first, .. } => {
                if *first {
                    self.firsts.insert(*message);
                }
                let last = self.queued.last_key_value().map(|(last, _)| *last);
                must(last < Some(*message), || format!("{message:?} after {last:?}"))?;
                self.queued.insert(*message, id.clone());
            }
            Event::DeliveryBegan { message } => {
                let front = before.talk.queue.front().is_some_and(|m| m.id == *message);
                must(front, || format!("{id}: {message:?} overtakes another"))?;
            }
            // What waited for it goes with it, as the user wished.
            Event::Emptied { .. } => {
                let gone = self.queued.iter().filter(|(_, session)| *session == id);
                self.settled.extend(gone.map(|(message, _)| *message));
            }
            Event::MessageTaken { message, .. } => {
                let handed = world.sites.get(id).is_some_and(|s| s.handed.contains_key(message));
                // A sign does not say which message was taken: see `World::ghosts`.
                must(handed || world.ghosts.contains(id), || {
                    format!("{id}: {message:?} is taken and was never handed over")
                })?;
                let first = self.settled.insert(*message);
                must(first, || format!("{message:?} is settled twice"))?;
            }
            Event::MessageRefused { message, .. } => {
                let first = self.settled.insert(*message);
                must(first, || format!("{message:?} is settled twice"))?;
            }
            Event::MessageDropped { message } => {
                // What stood in for another message goes when that one is said again.
                let ours = before.talk.queue.iter().any(|m| m.id == *message && m.text == GO_ON);
                let somebody = ours || matches!(input, Input::Command(Command::Answer { .. }));
                must(somebody, || format!("{message:?} is dropped by {input:?}"))?;
                let first = self.settled.insert(*message);
                must(first, || format!("{message:?} is settled twice"))?;
            }
            Event::MessageRequeued { message } => {
                let allowed = matches!(input, Input::Command(Command::Answer { answer, .. })
                    if answer == "allow");
                // A holder knows that nothing was sent: then it is no second time.
                let known = matches!(
                    input,
                    Input::Observed { world: Found::Alive { untouched: true, .. }, .. }
                );
                must(allowed || known, || {
                    format!("{message:?} is sent again and nobody allowed it")
                })?;
                *self.allowed.entry(*message).or_default() += u32::from(allowed);
            }
            _ => {}
        }
        Ok(())
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "only pauses are judged here")]
    fn pause_event(&mut self, before: &Session, event: &Event, world: &World) -> Verdict {
        let id = &before.id;
        match event {
            Event::InterruptBegan { op } => {
                let first = self.interrupts.entry(id.clone()).or_default().insert(*op);
                must(first, || format!("{id}: {op:?} interrupts twice"))?;
                let looked = world.sites.get(id).is_some_and(|site| site.savable.contains(op));
                must(looked, || format!("{id}: {op:?} interrupts and may not be able to save"))
            }
            Event::SnapshotTaken { op, .. } => {
                *self.saved.entry(*op).or_default() += 1;
                Ok(())
            }
            Event::EndBegan { op } | Event::FreezeBegan { op } => {
                must(self.saved.contains_key(op), || format!("{id}: ended before it was saved"))
            }
            Event::Paused { .. } if stays_paused(before) => {
                let site = world.sites.get(id);
                let runs = site.is_some_and(|site| !site.agents.is_empty());
                must(!runs, || format!("{id}: its process was ended, and runs"))
            }
            Event::Paused { op } => {
                must(self.saved.contains_key(op), || format!("{id}: paused and not saved"))?;
                let site = world.sites.get(id);
                let kept = before.spec.keep_process;
                let runs = site
                    .is_some_and(|site| site.agents.iter().any(|agent| !(kept && agent.frozen)));
                must(!runs, || format!("{id}: paused, and a process runs"))?;
                let trouble = before.starts.leftovers.trouble();
                must(trouble.is_none(), || format!("{id}: paused, though {trouble:?}"))?;
                let Phase::Pausing(pause) = &before.phase else {
                    return Err(format!("{id}: paused out of {:?}", before.phase));
                };
                let sealed = site.is_some_and(|site| {
                    site.snapshots.iter().any(|(of, endings)| of == op && *endings == site.endings)
                });
                let told = self.judged.contains(op) || !pause.record.warnings.is_empty();
                must(sealed || told, || {
                    format!("{id}: paused, and the last snapshot is older than the last writer")
                })
            }
            _ => Ok(()),
        }
    }

    /// Judges an effect by what is durable when it is dispatched.
    pub(crate) fn dispatched(house: &House, id: &SessionId, effect: &Effect) -> Verdict {
        let Some(session) = house.session(id) else {
            return Err(format!("{effect:?} for nobody"));
        };
        must(reasons::has_reason(session, effect), || {
            format!("{effect:?} has no durable reason in {:?}", session.phase)
        })
    }

    /// Takes over what a log that others have judged tells about its messages.
    pub(crate) fn remember(&mut self, log: &[Recorded]) {
        for recorded in log {
            if let Event::MessageQueued { message, first: true, .. } = &recorded.event {
                self.firsts.insert(*message);
            }
            if let Event::SnapshotTaken { op, .. } = &recorded.event {
                *self.saved.entry(*op).or_default() += 1;
                self.judged.insert(*op);
            }
        }
    }

    /// Judges what an effect did to the world.
    pub(crate) fn performed(
        &mut self,
        (id, effect): (&SessionId, &Effect),
        world: &World,
    ) -> Verdict {
        let Some(site) = world.sites.get(id) else { return Ok(()) };
        if let Effect::Deliver { message, .. } = effect {
            let handed = site.handed.get(message).copied().unwrap_or(0);
            let may = 1 + self.allowed.get(message).copied().unwrap_or(0);
            must(handed <= may, || format!("{id}: {message:?} was handed over {handed} times"))?;
            if handed == 1 && !world.ghosts.contains(id) && !self.firsts.contains(message) {
                let last = self.handed_last.insert(id.clone(), *message);
                must(last <= Some(*message), || format!("{id}: {message:?} came after {last:?}"))?;
            }
        }
        let interrupts = self.interrupts.get(id).map_or(0, BTreeSet::len);
        must(site.interrupts <= interrupts, || format!("{id}: interrupted more than intended"))?;
        for (ask, given) in &site.answers {
            let began = self.answers.get(&(id.clone(), ask.clone())).copied().unwrap_or(0);
            must(*given <= began, || format!("{id}: {ask} was answered {given} times"))?;
        }
        must(site.agents.len() <= 1, || format!("{id}: two processes"))
    }

    /// Takes note of what has ended.
    pub(crate) fn ends(&mut self, recorded: &[Recorded]) -> Verdict {
        for event in recorded.iter().map(|r| &r.event) {
            if let Some((op, _)) = event.ends() {
                self.promised.remove(&op);
                let first = self.ended.insert(op);
                must(first, || format!("{op:?} ends twice, by {event:?}"))?;
            }
        }
        Ok(())
    }

    /// Judges a session as it stands after a decision.
    pub(crate) fn stands(session: &Session) -> Verdict {
        let id = &session.id;
        if let Phase::Rest(_) = &session.phase {
            let kept = session.spec.keep_process && session.is_frozen();
            must(!session.runs() || kept, || format!("{id}: rests with a process"))?;
        }
        let ahead = session.talk.queue.iter().skip(1).all(|m| m.delivery != Delivery::Sent);
        must(ahead, || format!("{id}: more than one message on its way"))?;
        let goes_on = session.talk.queue.iter().filter(|m| m.text == GO_ON).count();
        must(goes_on <= 1, || format!("{id}: told twice to go on"))?;
        must(session.starts.set_aside.is_none() || session.operation().is_some(), || {
            format!("{id}: something is set aside and no restart is under way")
        })
    }

    /// Judges the house as a whole: names, and that no message is missing.
    pub(crate) fn house(&self, house: &House) -> Verdict {
        must(house.is_consistent(), || "a session is not found by what it is".to_owned())?;
        let mut names = BTreeSet::new();
        for session in house.sessions() {
            must(names.insert(&session.name), || format!("two are named {}", session.name))?;
            let found = house.find(&session.name).map(|s| &s.id);
            must(found == Ok(&session.id), || format!("{} finds {found:?}", session.name))?;
        }
        let waiting: BTreeSet<_> =
            house.all_sessions().flat_map(|s| s.talk.queue.iter().map(|m| m.id)).collect();
        for (message, session) in &self.queued {
            let known = waiting.contains(message) != self.settled.contains(message);
            must(known, || format!("{session}: {message:?} has vanished, or is there twice"))?;
        }
        Ok(())
    }

    /// Judges a house in which everything was told and every alarm has rung, while the agents do
    /// nothing: only a pause that was to wait for one may still wait.
    pub(crate) fn waiting(house: &House) -> Verdict {
        for session in house.all_sessions() {
            let with_rules = session.asked().iter().any(|ask| ask.answerer == Answerer::Rules);
            must(!with_rules, || format!("{}: the rules never say anything", session.id))?;
            let waits = match &session.phase {
                Phase::Live | Phase::Rest(_) => true,
                Phase::Pausing(pause) => pause.step == PauseStep::Boundary,
                Phase::Starting(_) | Phase::Stopping { .. } | Phase::Chore { .. } => false,
            };
            must(waits, || format!("{}: nobody will ever end {:?}", session.id, session.phase))?;
        }
        Ok(())
    }

    /// Judges a house in which nothing moves any more.
    pub(crate) fn at_rest(&self, house: &House, world: &World) -> Verdict {
        for session in house.all_sessions() {
            let id = &session.id;
            let agents = world.sites.get(id).map_or(&[][..], |site| &site.agents);
            match &session.phase {
                Phase::Live => {
                    let same =
                        agents.first().is_some_and(|a| a.generation == session.agent.generation);
                    must(same, || format!("{id}: lives only in the log"))?;
                    let frozen = agents.first().is_some_and(|agent| agent.frozen);
                    must(!frozen, || format!("{id}: lives, and is stopped for ever"))?;
                    let limited = session.run.as_ref().is_some_and(|run| run.limited);
                    must(!limited, || format!("{id}: met a limit, and is not parked"))?;
                    let stuck = session.in_flight().is_some();
                    must(!stuck, || format!("{id}: a message is on its way for ever"))?;
                    let idle = session.status() == Status::Idle;
                    let shut = house.gate().shut();
                    let failed = shut.is_none_or(|shut| shut.failed.contains(id));
                    must(failed, || format!("{id}: runs at a shut gate"))?;
                    must(!idle || session.talk.queue.is_empty() || shut.is_some(), || {
                        format!("{id}: a message waits, and nobody will ever hand it over")
                    })?;
                    let tells = session.spec.traits.signs == SignSource::Structured;
                    let broke =
                        session.ahead.looped.as_ref().is_some_and(|looped| looped.broke.is_some());
                    let sticks = idle && tells && shut.is_none() && session.iterates() && !broke;
                    must(!sticks || session.upkeep.barred.is_some(), || {
                        format!("{id}: its loop sticks at {:?}", session.ahead.looped)
                    })?;
                }
                Phase::Rest(_) => {
                    let same = |agent: &Agent| agent.generation == session.agent.generation;
                    let kept = |agent: &Agent| session.is_frozen() && agent.frozen && same(agent);
                    let rests = agents.iter().all(kept) && agents.is_empty() != session.runs();
                    must(rests, || format!("{id}: rests, and a process runs, or is gone"))?;
                    let looks = |looped: &Loop| matches!(looped.stage, LoopStage::Looking { .. });
                    // What a pause has cut short is taken up again with its end.
                    let paused = matches!(session.phase, Phase::Rest(Rest::Paused(_)));
                    let sticks = session.ahead.looped.as_deref().is_some_and(looks) && !paused;
                    must(!sticks, || {
                        format!("{id}: its loop sticks at {:?}", session.ahead.looped)
                    })?;
                }
                Phase::Starting(_)
                | Phase::Pausing(_)
                | Phase::Stopping { .. }
                | Phase::Chore { .. } => {
                    return Err(format!("{id}: stuck in {:?}", session.phase));
                }
            }
        }
        match house.gate() {
            Gate::Open { returning, told, .. } => {
                must(returning.is_empty() && !told, || format!("{:?} for ever", house.gate()))?;
                let at_work = house.all_sessions().filter(|session| session.is_at_work()).count();
                let full = house.limits().are_reached_by(at_work);
                let waits = house.all_sessions().find(|session| {
                    session.starts.deferred.is_some()
                        && matches!(session.phase, Phase::Rest(_))
                        && !full
                });
                must(waits.is_none(), || format!("{waits:?} waits for nothing"))?;
            }
            Gate::Pausing(shut) => {
                let at_work = house.all_sessions().any(Session::is_at_work);
                must(at_work, || format!("nothing runs, and that is not told: {shut:?}"))?;
            }
            Gate::Paused(_) => {}
        }
        let broken = self.promised.iter().find(|(op, id)| !waits_for_its_end(house, **op, id));
        must(broken.is_none(), || format!("promised and not kept: {broken:?}"))
    }
}

/// Whether this is a pause of a loop whose program has not come to its end: that is its iteration's.
fn waits_for_its_end(house: &House, op: OpId, id: &SessionId) -> bool {
    house.session(id).is_some_and(|session| {
        session.phase == Phase::Live
            && session.spec.traits.signs == SignSource::Screen
            && session.pause_to_come().is_some_and(|pause| pause.op == op)
    })
}

/// Whether a process is ended that a pause had kept.
fn stays_paused(session: &Session) -> bool {
    matches!(&session.phase, Phase::Stopping { then: AfterStop::StayPaused(_), .. })
}

/// Who may start a process. What is paused or died starts only by a person's word.
fn may_start(before: &Session, input: &Input) -> bool {
    // Whether a limit is over is asked first.
    let timed = matches!(input, Input::TimerFired { .. });
    let asked = matches!(
        input,
        Input::Command(Command::Resume { .. } | Command::Restart { .. })
            | Input::Plan(PlanCommand::Resume { .. })
            | Input::Gate(GateCommand::Open(_))
            | Input::TimerFired { key: TimerKey::ResumeAt(_), .. }
    ) && !(timed && before.parked().is_some());
    let over = matches!(input, Input::Outcome { outcome: Outcome::ReturnPlanned { .. }, .. });
    let asked = asked || over && before.parked().is_some();
    let message = matches!(input, Input::Command(Command::Send { .. } | Command::Answer { .. }));
    let ended = matches!(
        input,
        Input::Outcome {
            outcome: Outcome::ProcessEnded { .. }
                | Outcome::ProcessNotStarted { .. }
                | Outcome::WorktreeMade { .. }
                // What a restart was stopped for goes on when it is saved.
                | Outcome::WorktreeSaved { op: Some(_), .. },
            ..
        } | Input::Observed { .. }
    );
    // The next iteration begins by itself, where no pause is wanted.
    let due = |looped: &Loop| matches!(looped.stage, LoopStage::Due { .. });
    let iterates =
        before.ahead.looped.as_deref().is_some_and(due) && before.pause_to_come().is_none();
    // An agent is told what was not accepted.
    let refused = before.spec.task.is_some()
        && matches!(
            input,
            Input::PlanOutcome { outcome: PlanOutcome::NotAccepted { retries: 1.., .. }, .. }
        );
    match &before.phase {
        Phase::Starting(start) => start.step == StartStep::Check,
        Phase::Rest(Rest::Created) => asked || message,
        // The end of a stop is the moment for a message that came during the stop.
        Phase::Rest(Rest::Suspended) => asked || message || ended || iterates || refused,
        Phase::Rest(Rest::Paused(_)) => asked,
        Phase::Rest(Rest::Completed) => asked || iterates || refused,
        Phase::Rest(Rest::Interrupted | Rest::Failed(_)) => asked || iterates,
        Phase::Rest(Rest::Archived)
        | Phase::Live
        | Phase::Pausing(_)
        | Phase::Stopping { .. }
        | Phase::Chore { .. } => false,
    }
}
