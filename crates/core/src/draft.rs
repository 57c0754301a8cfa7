//! A decision in the making: it collects events and effects, and shows the house as it will be once
//! they are applied, so that a decision can build on its own beginning.

use crate::claims;
use crate::decision::{Decision, Reply};
use crate::effect::Effect;
use crate::event::Event;
use crate::fold::{self, plan::matters};
use crate::gate::{Gate, GateEvent};
use crate::house::House;
use crate::ids::{MessageId, OpId, PlanId, SessionId};
use crate::limits::{Limits, Over};
use crate::plan::{Plan, PlanEvent, Run, RunState};
use crate::reason::{Operation, Verb};
use crate::refusal::Refusal;
use crate::session::{Deferral, Session, StartCause};
use crate::spending::{Day, SpendingEvent};
use crate::subject::Subject;
use crate::timer::{TimerKey, When};
use std::collections::BTreeMap;

/// What follows by itself after any decision: rules, each of which sees what those before it have decided.
pub(crate) struct Policies {
    /// For the session in hand.
    pub(crate) session: &'static [fn(&mut Draft<'_>)],
    /// For the house, once everything has followed for its sessions.
    pub(crate) house: &'static [fn(&mut Draft<'_>)],
}

/// A decision in the making, over the house. One session is in hand; another can be taken in hand,
/// and everything that was decided so far stays in view.
pub(crate) struct Draft<'h> {
    pub(crate) house: &'h House,
    policies: &'static Policies,
    pub(crate) session: Session,
    /// Those that were in hand before.
    former: BTreeMap<SessionId, Session>,
    /// The plans that this decision has changed, as they will be.
    plans: BTreeMap<PlanId, Plan>,
    /// The gate as it will be.
    pub(crate) gate: Gate,
    /// How many agents may run at once, as it will be.
    pub(crate) limits: Limits,
    /// What was used today, as it will be.
    pub(crate) day: Day,
    /// What a start of the session in hand does where there is no place for it.
    pub(crate) admission: Admission,
    pub(crate) decision: Decision,
    next_op: OpId,
    next_message: MessageId,
    /// A message that came earlier wakes the session in hand.
    pub(crate) wake: bool,
    /// Nothing is handed over to the session in hand, even if something could be.
    pub(crate) hold_back: bool,
    /// No timer is set for the session in hand, since this daemon has only just met it.
    pub(crate) just_met: bool,
}

/// What a start does where there is no place for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It waits or is refused, as is configured.
    AsConfigured,
    /// It waits, whatever is configured.
    Waits,
    /// It begins all the same.
    Anyway,
}

impl<'h> Draft<'h> {
    /// A draft with this session in hand.
    pub(crate) fn of(
        house: &'h House,
        policies: &'static Policies,
        id: &SessionId,
    ) -> Option<Self> {
        house.session(id).cloned().map(|session| Self::with(house, policies, session))
    }

    /// A draft that begins with the event by which a session comes into being.
    pub(crate) fn born(self, id: &SessionId, event: Event) -> Option<Self> {
        let session = fold::born(id, 0, &event)?;
        let mut draft = Self::with(self.house, self.policies, session);
        // The number of its operation is taken.
        draft.next_op = event.op().map_or(draft.next_op, |op| draft.next_op.max(OpId(op.0 + 1)));
        draft.learn(&event);
        draft.decision.events.push((id.clone().into(), event));
        Some(draft)
    }

    /// A draft for something about the house. Any session is in hand; in an empty house one that is
    /// nowhere stands in, which [`Draft::sessions`] leaves out.
    pub(crate) fn over(house: &'h House, policies: &'static Policies) -> Self {
        let first = house.all_sessions().next().cloned();
        Self::with(house, policies, first.unwrap_or_else(Session::nowhere))
    }

    fn with(house: &'h House, policies: &'static Policies, session: Session) -> Self {
        Self {
            house,
            policies,
            session,
            former: BTreeMap::new(),
            plans: BTreeMap::new(),
            gate: house.gate().clone(),
            limits: house.limits(),
            day: house.day().clone(),
            admission: Admission::AsConfigured,
            decision: Decision::default(),
            next_op: house.next_op(),
            next_message: house.next_message(),
            wake: false,
            hold_back: false,
            just_met: false,
        }
    }

    /// Takes another session in hand. Whatever follows for the former one has to have followed.
    pub(crate) fn turn_to(&mut self, id: &SessionId) -> Result<(), Refusal> {
        if self.session.id != *id {
            let next = self.former.remove(id).or_else(|| self.house.session(id).cloned());
            let next = next.ok_or_else(|| Refusal::NoSuchSession { given: id.0.clone() })?;
            let former = std::mem::replace(&mut self.session, next);
            self.former.insert(former.id.clone(), former);
        }
        (self.wake, self.hold_back, self.just_met) = (false, false, false);
        self.admission = Admission::AsConfigured;
        self.decision.reply = Reply::Done;
        Ok(())
    }

    /// Lets everything follow for the session in hand.
    pub(crate) fn follow(&mut self) {
        for policy in self.policies.session {
            policy(self);
        }
    }

    /// Lets everything follow that has become possible, and ends the draft.
    pub(crate) fn settle(mut self) -> Decision {
        self.follow();
        self.settle_house()
    }

    /// Lets follow for the house what has become possible, and ends the draft.
    pub(crate) fn settle_house(mut self) -> Decision {
        for policy in self.policies.house {
            policy(&mut self);
        }
        self.decision
    }

    /// The session in hand as it was before this decision; nothing if it comes into being with it.
    pub(crate) fn before(&self) -> Option<&Session> {
        self.house.session(&self.session.id)
    }

    /// All sessions as they will be, removed ones included.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = &Session> {
        let in_hand = &self.session;
        let others = self.house.all_sessions().filter(|session| session.id != in_hand.id);
        let others = others.map(|session| self.former.get(&session.id).unwrap_or(session));
        std::iter::once(in_hand).filter(|session| !session.is_nowhere()).chain(others)
    }

    /// Sessions of which something is under way, or which wait for their turn, as they will be.
    pub(crate) fn stirring(&self) -> impl Iterator<Item = &Session> {
        let touched = |id: &SessionId| self.session.id == *id || self.former.contains_key(id);
        let others = self.house.stirring().filter(move |session| !touched(&session.id));
        let known = std::iter::once(&self.session).chain(self.former.values()).chain(others);
        known.filter(|session| session.stirs())
    }

    /// What this decision has come to for the session in hand.
    pub(crate) fn own_events(&self) -> impl Iterator<Item = &Event> {
        let own = |(subject, _): &&(Subject, Event)| subject.is(&self.session.id);
        self.decision.events.iter().filter(own).map(|(_, event)| event)
    }

    /// Where in the log the next event will stand.
    pub(crate) fn next_seq(&self) -> u64 {
        self.house.last_seq() + 1 + self.decision.events.len() as u64
    }

    /// Adds an event and shows its consequence at once.
    pub(crate) fn event(&mut self, event: Event) {
        // The true time is stamped when it is recorded; no decision looks at it.
        self.session.apply(self.session.times.last_active_at, &event);
        let subject = self.session.id.clone().into();
        self.gate.apply(0, &subject, &event);
        self.learn(&event);
        self.decision.events.push((subject, event));
    }

    /// Shows what an event of the session in hand means for the plan that it works for.
    fn learn(&mut self, event: &Event) {
        let Some(of) = self.session.spec.task.as_deref() else { return };
        if !matters(event) {
            return;
        }
        let known = self.plans.remove(&of.plan).or_else(|| self.house.plan(&of.plan).cloned());
        if let Some(mut plan) = known {
            plan.learn(0, of, &self.session, event);
            self.plans.insert(plan.id.clone(), plan);
        }
    }

    pub(crate) fn plan(&self, id: &PlanId) -> Option<&Plan> {
        self.plans.get(id).or_else(|| self.house.plan(id))
    }

    /// The plans that are such, as they will be, by their ids.
    pub(crate) fn plans(&self, such: impl Fn(&Plan) -> bool) -> Vec<PlanId> {
        let known = self.house.plans().filter(|plan| !self.plans.contains_key(&plan.id));
        let all = self.plans.values().chain(known).filter(|plan| such(plan));
        let mut ids: Vec<PlanId> = all.map(|plan| plan.id.clone()).collect();
        ids.sort();
        ids
    }

    /// Adds what has happened to a plan and shows its consequence at once.
    pub(crate) fn plan_event(&mut self, id: &PlanId, event: PlanEvent) {
        let known = self.plans.remove(id).or_else(|| self.house.plan(id).cloned());
        let plan = match known {
            Some(mut plan) => {
                plan.apply(0, &event);
                Some(plan)
            }
            None => fold::plan::born(id, 0, &event),
        };
        self.plans.extend(plan.map(|plan| (id.clone(), plan)));
        self.decision.events.push((Subject::Plan(id.clone()), Event::Plan(event)));
    }

    pub(crate) fn plan_effect(&mut self, id: &PlanId, effect: Effect) {
        self.decision.effects.push((Subject::Plan(id.clone()), effect));
    }

    pub(crate) fn plan_before(&self, id: &PlanId) -> Option<&'h Plan> {
        self.house.plan(id)
    }

    pub(crate) fn run_state(&self, run: &Run) -> RunState {
        run.state(run.session.as_ref().and_then(|id| self.session_of(id)))
    }

    pub(crate) fn session_of(&self, id: &SessionId) -> Option<&Session> {
        if self.session.id == *id {
            return Some(&self.session);
        }
        self.former.get(id).or_else(|| self.house.session(id))
    }

    /// Adds what has happened to the gate and shows its consequence at once.
    pub(crate) fn house_event(&mut self, event: GateEvent) {
        let event = Event::Gate(event);
        self.gate.apply(0, &Subject::House, &event);
        self.decision.events.push((Subject::House, event));
    }

    /// Adds what has happened to the budget of the day and shows its consequence at once.
    pub(crate) fn day_event(&mut self, event: SpendingEvent) {
        self.day.apply(&event);
        self.decision.events.push((Subject::House, Event::Spending(event)));
    }

    /// Its pause is the user's from now on, and the gate does not end it. That is a change, also of one that was
    /// stopped already.
    pub(crate) fn release_from_gate(&mut self) {
        if self.gate.holds(&self.session.id) {
            let session = self.session.id.clone();
            self.house_event(GateEvent::Released { session });
            if self.decision.reply == Reply::Already {
                self.reply(Reply::Done);
            }
        }
    }

    /// What this decision has come to for the gate.
    pub(crate) fn house_events(&self) -> impl Iterator<Item = &GateEvent> {
        self.decision.events.iter().filter_map(|(_, event)| {
            if let Event::Gate(event) = event { Some(event) } else { None }
        })
    }

    pub(crate) fn house_effect(&mut self, effect: Effect) {
        self.decision.effects.push((Subject::House, effect));
    }

    /// Why no process of the session in hand may start now.
    pub(crate) fn must_wait(&self) -> Option<Deferral> {
        let anyway = self.admission == Admission::Anyway;
        self.why_wait(&self.session.id).filter(|why| *why == Deferral::Gate || !anyway)
    }

    /// Why no process of this session may start now.
    pub(crate) fn why_wait(&self, id: &SessionId) -> Option<Deferral> {
        if self.gate.shut().is_some() {
            return Some(Deferral::Gate);
        }
        let at_work = self.beside(id).filter(|session| session.is_at_work()).count();
        self.limits.are_reached_by(at_work).then_some(Deferral::Limit)
    }

    /// The others of which something is under way.
    fn beside(&self, id: &SessionId) -> impl Iterator<Item = &Session> {
        self.stirring().filter(move |session| session.id != *id)
    }

    /// The others that have a place, those among them whose worktree is still being made: a start that
    /// was let in is not to be refused later.
    fn admitted(&self) -> impl Iterator<Item = &Session> {
        self.beside(&self.session.id).filter(|session| session.is_at_work() || session.is_coming())
    }

    /// There is no place for the session in hand.
    pub(crate) fn is_full(&self) -> Refusal {
        let mut holders: Vec<_> = self.admitted().map(|session| session.name.clone()).collect();
        holders.sort();
        let (session, live) = (self.session.name.clone(), self.limits.live);
        Refusal::Full { session, live, holders }
    }

    /// Whether a start of the session in hand is refused for want of a place.
    pub(crate) fn refuses_start(&self) -> bool {
        self.admission == Admission::AsConfigured
            && self.limits.over == Over::Refuse
            && self.gate.shut().is_none()
            && self.session.starts.deferred.is_none()
            && self.limits.are_reached_by(self.admitted().count())
    }

    /// Refuses a start of the session in hand while nothing may start, or for want of a place.
    pub(crate) fn check_start(&self) -> Result<(), Refusal> {
        if self.gate.shut().is_some() {
            return Err(self.is_shut());
        }
        if self.refuses_start() { Err(self.is_full()) } else { Ok(()) }
    }

    /// Refuses a start of the session in hand where a process of another one is at work.
    pub(crate) fn check_place(&self) -> Result<(), Refusal> {
        let Some(place) = &self.session.place.worktree else { return Ok(()) };
        claims::check_place(self.stirring(), place, &self.session.id)
    }

    /// Lets a start of the session in hand wait for its turn.
    pub(crate) fn defer(&mut self, cause: StartCause, why: Deferral) {
        let turn = self.next_seq();
        self.event(Event::StartDeferred { cause, why, turn });
    }

    pub(crate) fn effect(&mut self, effect: Effect) {
        self.decision.effects.push((self.session.id.clone().into(), effect));
    }

    pub(crate) fn timer(&mut self, key: TimerKey, when: When) {
        self.effect(Effect::SetTimer { key, when });
    }

    /// Sets a timer when there comes to be a reason for it, and drops it with the reason. A later daemon sets it again.
    pub(crate) fn keep_timer(
        &mut self,
        key: impl Fn(&Session) -> Option<TimerKey>,
        when: impl Fn(&Session) -> Option<When>,
    ) {
        let (former, now) = (self.before().and_then(&key), key(&self.session));
        if now == former && !self.just_met {
            return;
        }
        if let Some(over) = former.filter(|_| now != former) {
            self.effect(Effect::DropTimer { key: over });
        }
        if let Some((key, when)) = now.zip(when(&self.session)) {
            self.timer(key, when);
        }
    }

    pub(crate) fn reply(&mut self, reply: Reply) {
        self.decision.reply = reply;
    }

    /// A fresh operation; the caller is told how it ends.
    pub(crate) fn new_op(&mut self) -> OpId {
        let op = self.unpromised_op();
        self.reply(Reply::Pending(op));
        op
    }

    /// The same for what nobody has asked for, and nobody waits for.
    pub(crate) fn unpromised_op(&mut self) -> OpId {
        let op = self.next_op;
        self.next_op = OpId(op.0 + 1);
        op
    }

    pub(crate) fn new_message(&mut self, text: String) -> MessageId {
        let message = self.next_message;
        self.next_message = MessageId(message.0 + 1);
        self.event(Event::MessageQueued { message, text, first: false });
        message
    }

    /// Puts a message before all others.
    pub(crate) fn new_first_message(&mut self, text: String) {
        let message = self.next_message;
        self.next_message = MessageId(message.0 + 1);
        self.event(Event::MessageQueued { message, text, first: true });
    }

    pub(crate) fn busy(&self) -> Refusal {
        let with = self.session.operation().map_or(Operation::Another, |(_, operation)| operation);
        Refusal::Busy { session: self.session.name.clone(), with }
    }

    pub(crate) fn is_shut(&self) -> Refusal {
        Refusal::Shut { session: self.session.name.clone() }
    }

    pub(crate) fn wrong_status(&self, verb: Verb) -> Refusal {
        Refusal::WrongStatus {
            session: self.session.name.clone(),
            status: self.session.status(),
            verb,
        }
    }
}
