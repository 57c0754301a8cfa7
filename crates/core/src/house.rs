//! All sessions together: how they change, and how one of them is found.

use crate::caller::Origin;
use crate::callers::Callers;
use crate::event::{Event, Recorded};
use crate::fold;
use crate::gate::{Gate, GateEvent};
use crate::ids::{MessageId, OpId, PlanId, SessionId};
use crate::index::{Entry, Index};
use crate::limits::Limits;
use crate::plan::{self, Plan, Run, RunState};
use crate::refusal::Refusal;
use crate::session::{Session, WallMs};
use crate::spending::Day;
use crate::status::Status;
use crate::subject::Subject;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What tells a session from a task of the same name: `session:NAME`.
pub const SESSION: &str = "session:";

/// Names this very fold: the sources that it was built from. A state that another one has written
/// down may mean something else here, however well it can be read.
pub const FOLD: &str = env!("GLIS_FOLD");

/// The state of everything: the fold of all events. It can be written down and read again by the
/// same [`FOLD`]; what is to last is the events.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct House {
    /// Each apart: a front end looks at one for longer than a decision may wait.
    #[serde(with = "crate::shared::each")]
    sessions: BTreeMap<SessionId, Arc<Session>>,
    index: Index,
    /// Who asked for what is not over yet.
    callers: BTreeMap<SessionId, Callers>,
    plans: BTreeMap<PlanId, Plan>,
    gate: Gate,
    limits: Limits,
    day: Day,
    /// What is wrong with the configuration file.
    config_fault: Option<String>,
    /// Who asked last for something of the gate.
    gate_caller: Option<Origin>,
    /// Sequence number of the last event that was applied.
    last_seq: u64,
    next_op: u64,
    next_message: u64,
}

impl House {
    /// Folds a recorded event into the state.
    pub fn apply(&mut self, recorded: &Recorded) {
        self.last_seq = recorded.seq;
        self.count(&recorded.event);
        let seen = self.seen_of_run(recorded);
        let was = self.entry_of(recorded);
        fold::apply(&mut self.sessions, recorded);
        if let Some(id) = recorded.subject.session() {
            self.index.change(id, &was, &self.entry_of(recorded));
        }
        self.learn_config(&recorded.event);
        self.gate.apply(recorded.at, &recorded.subject, &recorded.event);
        if let (Subject::House, Event::Spending(event)) = (&recorded.subject, &recorded.event) {
            self.day.apply(event);
        }
        self.apply_to_plan(recorded);
        if seen.is_some() && seen != self.seen_of_run(recorded) {
            self.touch_run(recorded);
        }
        self.learn_caller(recorded);
    }

    fn learn_config(&mut self, event: &Event) {
        if let Event::LimitsSet(limits) = event {
            self.limits = *limits;
        } else if let Event::ConfigBroke { fault } = event {
            self.config_fault = Some(fault.clone());
        } else if *event == Event::ConfigMended {
            self.config_fault = None;
        }
    }

    /// What the index has of the session that an event is about.
    fn entry_of(&self, recorded: &Recorded) -> Entry {
        let session = recorded.subject.session().and_then(|id| self.session(id));
        session.map(Entry::of).unwrap_or_default()
    }

    /// What the record of a run tells of its session, if the event is about such a session.
    fn seen_of_run(&self, recorded: &Recorded) -> Option<(Status, Option<String>)> {
        let session = self.session(recorded.subject.session()?)?;
        session.spec.task.as_ref()?;
        Some((session.status(), session.agent.agent_ref.clone()))
    }

    fn touch_run(&mut self, recorded: &Recorded) {
        let session = recorded.subject.session().and_then(|id| self.sessions.get(id));
        if let Some(session) = session
            && let Some(of) = session.spec.task.as_deref()
            && let Some(plan) = self.plans.get_mut(&of.plan)
        {
            plan.touch(recorded.at, of, &session.id);
        }
    }

    fn apply_to_plan(&mut self, recorded: &Recorded) {
        match (&recorded.subject, &recorded.event) {
            (Subject::Plan(id), Event::Plan(event)) => {
                if let Some(plan) = self.plans.get_mut(id) {
                    plan.apply(recorded.at, event);
                } else {
                    let born = fold::plan::born(id, recorded.at, event);
                    self.plans.extend(born.map(|plan| (id.clone(), plan)));
                }
            }
            (Subject::Session(id), event) if fold::plan::matters(event) => {
                let Some(session) = self.sessions.get(id) else { return };
                let Some(of) = session.spec.task.as_deref() else { return };
                if let Some(plan) = self.plans.get_mut(&of.plan) {
                    plan.learn(recorded.at, of, session, event);
                }
            }
            (Subject::House | Subject::Session(_) | Subject::Plan(_), _) => {}
        }
    }

    /// All plans that were ever executed.
    pub fn plans(&self) -> impl Iterator<Item = &Plan> {
        self.plans.values()
    }

    pub fn plan(&self, id: &PlanId) -> Option<&Plan> {
        self.plans.get(id)
    }

    /// Whether something goes on although nobody asks for anything: a run of a plan, a loop, a session that is paused
    /// until a time. What else of a plan is ready begins with the decision that makes room for it.
    pub fn goes_on_by_itself(&self) -> bool {
        let session_of = |run: &Run| run.session.as_ref().and_then(|id| self.session(id));
        let runs = |plan: &Plan| {
            let mut active = plan.active.iter().filter_map(|id| plan.run(id));
            active.any(|run| run.state(session_of(run)) == RunState::Running)
        };
        self.index.goes_on() || self.plans.values().any(runs)
    }

    /// Gives an event its place in the log and folds it in. It is from whom it is said to be from, or
    /// else from the caller whose operation, message or answer it goes back to.
    pub fn record(
        &mut self,
        at: WallMs,
        subject: Subject,
        event: Event,
        from: Option<&Origin>,
    ) -> Recorded {
        let former = subject.session().and_then(|id| self.session(id));
        let caller = || {
            if matches!(event, Event::Gate(_)) {
                return self.gate_caller.as_ref();
            }
            let callers = self.callers.get(subject.session()?)?;
            callers.of(former, &event)
        };
        let from = from.or_else(caller).cloned();
        let status = former.map(Session::status);
        let seq = self.last_seq + 1;
        let mut recorded = Recorded { from, ..Recorded::new(seq, at, subject, event) };
        self.apply(&recorded);
        let session = recorded.subject.session().and_then(|id| self.session(id));
        recorded.status = session.map(Session::status).filter(|now| status != Some(*now));
        recorded
    }

    fn learn_caller(&mut self, recorded: &Recorded) {
        if let Event::Gate(GateEvent::Shut { .. } | GateEvent::Opened { .. }) = &recorded.event {
            self.gate_caller.clone_from(&recorded.from);
        }
        let Some(id) = recorded.subject.session() else { return };
        let Some(session) = self.sessions.get(id) else {
            self.callers.remove(id);
            return;
        };
        let from = recorded.from.as_ref();
        if from.is_none() && !self.callers.contains_key(id) {
            return;
        }
        let callers = self.callers.entry(id.clone()).or_default();
        callers.learn(session, &recorded.event, from);
        if callers.is_empty() {
            self.callers.remove(id);
        }
    }

    /// Whether anything may start, and what was stopped when it was last shut.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// How many agents may run at once.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// What was used today.
    pub fn day(&self) -> &Day {
        &self.day
    }

    /// What is wrong with the configuration file, as far as it was told.
    pub fn config_fault(&self) -> Option<&str> {
        self.config_fault.as_deref()
    }

    /// Sequence number of the last event that was applied.
    pub fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// All sessions that were not removed.
    pub fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.all_sessions().filter(|s| s.status() != Status::Archived)
    }

    /// All sessions, removed ones included until the trash is emptied of them.
    pub fn all_sessions(&self) -> impl Iterator<Item = &Session> {
        self.sessions.values().map(Arc::as_ref)
    }

    /// Whether everything that is kept beside the sessions, to find them by, is as they are.
    pub fn is_consistent(&self) -> bool {
        self.index.is_of(self.all_sessions())
    }

    /// All sessions of which something is under way, or which wait for their turn.
    pub(crate) fn stirring(&self) -> impl Iterator<Item = &Session> {
        self.index.stirring().filter_map(|id| self.session(id))
    }

    /// All sessions that have this name, or are about to.
    pub(crate) fn named(&self, name: &str) -> impl Iterator<Item = &Session> {
        self.index.named(name).filter_map(|id| self.session(id))
    }

    /// The removed session that a person means: the last one of that name, or by its id.
    pub fn find_removed(&self, given: &str) -> Result<&Session, Refusal> {
        let removed = || self.all_sessions().filter(|s| s.upkeep.trashed.is_some());
        let named = removed().filter(|s| s.name == given);
        if let Some(session) = named.max_by_key(|s| s.upkeep.trashed.as_ref().map(|t| t.at)) {
            return Ok(session);
        }
        let like = removed().filter(|s| !given.is_empty() && s.id.0.starts_with(given));
        only(like, given)?.ok_or_else(|| Refusal::NotInTrash { given: given.to_owned() })
    }

    /// The session with exactly this id.
    pub fn session(&self, id: &SessionId) -> Option<&Session> {
        self.sessions.get(id).map(Arc::as_ref)
    }

    /// The same as it is now, for as long as it is looked at.
    pub fn shared(&self, id: &SessionId) -> Option<Arc<Session>> {
        self.sessions.get(id).map(Arc::clone)
    }

    /// Another session than this one that its agent knows by this id.
    pub fn also_in(&self, own: &SessionId, agent_ref: &str) -> Option<&Session> {
        let agent = &self.session(own)?.spec.agent;
        self.all_sessions().find(|other| {
            let known = other.agent.agent_ref.as_deref() == Some(agent_ref);
            known
                && other.spec.agent == *agent
                && other.id != *own
                && other.upkeep.trashed.is_none()
        })
    }

    /// The session that a person means: by name, by id, or by a unique beginning of the id.
    pub fn find(&self, given: &str) -> Result<&Session, Refusal> {
        if let Some(name) = given.strip_prefix(SESSION) {
            return self.find_session(name);
        }
        let session = match self.find_session(given) {
            Err(Refusal::NoSuchSession { .. }) => return self.find_task(given),
            found => found?,
        };
        // An id is nobody else's.
        let task = || self.find_task(given).ok().filter(|session| self.is_at_task(session));
        if session.name == given && task().is_some_and(|task| task.id != session.id) {
            return Err(Refusal::Ambiguous { given: given.to_owned() });
        }
        Ok(session)
    }

    /// Whether a session works on a task that is not over.
    fn is_at_task(&self, session: &Session) -> bool {
        let run = || {
            let of = session.spec.task.as_deref()?;
            self.plan(&of.plan)?.run_of(of, &session.id)
        };
        run().is_some_and(|run| !run.is_over())
    }

    /// The session of this name or id.
    fn find_session(&self, given: &str) -> Result<&Session, Refusal> {
        let lives = |s: &&Session| s.name == given && s.status() != Status::Archived;
        if let Some(session) = self.named(given).find(lives) {
            return Ok(session);
        }
        if let Some(session) = self.session(&SessionId(given.to_owned())) {
            return Ok(session);
        }
        let like = self.sessions().filter(|s| !given.is_empty() && s.id.0.starts_with(given));
        only(like, given)?.ok_or_else(|| Refusal::NoSuchSession { given: given.to_owned() })
    }

    /// The session that works on a task, or was the last to.
    fn find_task(&self, given: &str) -> Result<&Session, Refusal> {
        let (slug, task) = plan::named(given);
        let named = self.plans.values().filter(|plan| slug.is_none_or(|s| plan.spec.slug == s));
        let runs = named.filter_map(|plan| plan.latest_run(task)?.session.as_ref());
        let sessions = runs.filter_map(|id| self.session(id));
        let living = sessions.filter(|session| session.status() != Status::Archived);
        only(living, given)?.ok_or_else(|| Refusal::NoSuchSession { given: given.to_owned() })
    }

    pub(crate) fn next_op(&self) -> OpId {
        OpId(self.next_op)
    }

    pub(crate) fn next_message(&self) -> MessageId {
        MessageId(self.next_message)
    }

    /// Numbers are never given twice, however often the daemon dies.
    fn count(&mut self, event: &Event) {
        if let Some(OpId(op)) = event.op() {
            self.next_op = self.next_op.max(op + 1);
        }
        if let Event::MessageQueued { message: MessageId(message), .. } = event {
            self.next_message = self.next_message.max(message + 1);
        }
        if let Event::SessionRecovered { card } = event {
            let last = card.talk.queue.iter().map(|message| message.id.0).max();
            self.next_message = self.next_message.max(last.map_or(0, |last| last + 1));
        }
    }
}

/// The one session that fits what a person says, if one does; more than one are not told apart.
fn only<'s>(
    mut fits: impl Iterator<Item = &'s Session>,
    given: &str,
) -> Result<Option<&'s Session>, Refusal> {
    match (fits.next(), fits.next()) {
        (Some(_), Some(_)) => Err(Refusal::Ambiguous { given: given.to_owned() }),
        (one, _) => Ok(one),
    }
}
