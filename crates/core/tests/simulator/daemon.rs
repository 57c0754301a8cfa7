//! The controller of the simulated house: decide, record, apply, dispatch; and die.

use crate::plans;
use crate::reasons;
use crate::rng::Rng;
use crate::rules::Rules;
use crate::world::{Luck, World};
use glis_core::event::Ending;
use glis_core::input::{Command, Hearing};
use glis_core::session::{Phase, StopCause};
use glis_core::{
    Decision, Effect, Gate, House, Input, Recorded, Session, SessionId, Subject, TimerKey,
};
use std::collections::BTreeSet;

/// The daemon, with what it holds only in memory.
#[derive(Default)]
pub(crate) struct Daemon {
    pub(crate) house: House,
    /// What is durable.
    pub(crate) log: Vec<Recorded>,
    /// Where in the log each decision ends.
    pub(crate) ends: Vec<usize>,
    /// Dispatched and not yet carried out.
    pub(crate) todo: Vec<(Subject, Effect)>,
    /// Has happened and was not yet told.
    pub(crate) reports: Vec<Input>,
    /// What fires when its time has come.
    pub(crate) timers: BTreeSet<(Subject, TimerKey)>,
    /// Was read from a process that has ended since.
    pub(crate) late: Vec<Input>,
    pub(crate) rules: Rules,
    /// What has happened, in words, if anybody wants to know.
    pub(crate) trace: Option<Vec<String>>,
}

impl Daemon {
    pub(crate) fn note(&mut self, words: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            trace.push(words());
        }
    }

    /// Takes one input all the way.
    pub(crate) fn feed(&mut self, world: &World, input: &Input) -> Result<(), String> {
        self.note(|| format!("-> {input:?}"));
        let decision = match self.house.decide(input.clone()) {
            Ok(decision) => decision,
            Err(refusal) => {
                self.note(|| format!("   refused: {refusal:?}"));
                return Ok(());
            }
        };
        let subject = input.subject();
        self.rules.replied(subject.session(), &decision.reply)?;
        self.carry(world, decision, |_| input.clone())
    }

    /// Asks several sessions at once.
    pub(crate) fn feed_together(
        &mut self,
        world: &World,
        commands: &[Command],
    ) -> Result<(), String> {
        self.note(|| format!("-> {commands:?}"));
        let (decision, replies) = self.house.decide_together(commands.to_vec());
        let asked = |subject: &Subject| commands.iter().find(|c| subject.is(c.session()));
        for (command, reply) in commands.iter().zip(&replies) {
            let id = command.session();
            self.note(|| format!("   {id}: {reply:?}"));
            if let Ok(reply) = reply {
                self.rules.replied(Some(id), reply)?;
            }
        }
        let stray = || Command::Stop { session: SessionId(String::new()), cause: StopCause::Asked };
        let of = |subject: &Subject| Input::Command(asked(subject).cloned().unwrap_or_else(stray));
        self.carry(world, decision, of)
    }

    /// Records what was decided and dispatches it. `why` is what each subject was told.
    fn carry(
        &mut self,
        world: &World,
        decision: Decision,
        why: impl Fn(&Subject) -> Input,
    ) -> Result<(), String> {
        let first = self.log.len();
        let mut touched = BTreeSet::new();
        for (subject, event) in decision.events {
            touched.insert(subject.clone());
            let input = &why(&subject);
            let seq = self.house.last_seq() + 1;
            let recorded = Recorded::new(seq, i64::try_from(seq).unwrap_or(0), subject, event);
            self.note(|| format!("   {} {}: {:?}", seq, recorded.subject, recorded.event));
            let before = session_of(&self.house, &recorded.subject).cloned();
            let gate = self.house.gate().clone();
            plans::judge(&self.house, &recorded)?;
            self.house.apply(&recorded);
            reasons::judge_gate(&gate, &self.house, &recorded)?;
            reasons::judge_limits(&gate, &self.house, &recorded)?;
            self.rules.returning = match &gate {
                Gate::Open { returning, .. } => returning.clone(),
                Gate::Pausing(_) | Gate::Paused(_) => BTreeSet::new(),
            };
            if recorded.subject.session().is_some() {
                self.rules.event(before.as_ref(), input, &recorded, world)?;
            }
            self.log.push(recorded);
        }
        for subject in touched {
            let told = self.log.get(first..).unwrap_or_default();
            let told: Vec<_> = told.iter().filter(|r| r.subject == subject).cloned().collect();
            self.rules.ends(&told)?;
            if let Some(session) = session_of(&self.house, &subject) {
                Rules::stands(session)?;
            }
        }
        if self.log.len() > first {
            self.ends.push(self.log.len());
            self.rules.house(&self.house)?;
        }
        for (subject, effect) in decision.effects {
            self.note(|| format!("   do {effect:?} for {subject}"));
            match &subject {
                Subject::Session(session) => Rules::dispatched(&self.house, session, &effect)?,
                Subject::House if reasons::house_has_reason(&self.house, &effect) => {}
                Subject::Plan(id) if plans::has_reason(self.house.plan(id), &effect) => {}
                Subject::House | Subject::Plan(_) => {
                    return Err(format!("{effect:?} for {subject} without a reason"));
                }
            }
            self.todo.push((subject, effect));
        }
        Ok(())
    }

    /// Carries out one effect; what comes of it is told later.
    pub(crate) fn perform(
        &mut self,
        world: &mut World,
        (subject, effect): &(Subject, Effect),
        rng: &mut Rng,
        luck: Luck,
    ) -> Result<Option<Input>, String> {
        if let Effect::SetTimer { key, .. } = effect {
            self.timers.insert((subject.clone(), *key));
        } else if let Effect::DropTimer { key } = effect {
            self.timers.remove(&(subject.clone(), *key));
        }
        if let Subject::Plan(plan) = subject {
            let input = plans::perform(&self.house, world, (plan, effect), (rng, luck));
            self.note(|| format!(".. {effect:?} gives {input:?}"));
            return Ok(input);
        }
        let Subject::Session(session) = subject else {
            let Effect::KeepGate { op } = effect else { return Ok(None) };
            let fails = luck == Luck::Mixed && rng.percent(15);
            let result = if fails { Err("bad luck".to_owned().into()) } else { Ok(()) };
            return Ok(Some(Input::GateKept { op: *op, result }));
        };
        let outcome = world.perform(&self.house, (session, effect), rng, luck)?;
        self.note(|| format!(".. {effect:?} gives {outcome:?}"));
        self.rules.performed((session, effect), world)?;
        let session = session.clone();
        Ok(outcome.map(|outcome| Input::Outcome { session, outcome }))
    }

    /// Everything that was only in memory is gone, some of it done and some of it not.
    pub(crate) fn crash(&mut self, world: &mut World, rng: &mut Rng) -> Result<(), String> {
        self.note(|| "** the daemon dies".to_owned());
        for effect in std::mem::take(&mut self.todo) {
            if rng.percent(50) {
                self.perform(world, &effect, rng, Luck::Mixed)?;
            }
        }
        self.reports.clear();
        self.timers.clear();
        self.late.clear();
        let ids: Vec<_> = world.sites.keys().cloned().collect();
        for id in ids {
            if rng.percent(15) {
                // In a power cut the holder dies too and leaves no word.
                let ending = if rng.percent(40) { Ending::Unknown } else { Ending::Exited(0) };
                world.end(&id, ending);
            }
        }
        let folded = fold(&self.log);
        if folded != self.house {
            return Err("the fold of the log is not the state".to_owned());
        }
        self.house = folded;
        for agent in world.sites.values_mut().flat_map(|site| &mut site.agents) {
            agent.read = 0;
        }
        let ids: Vec<_> = self.house.all_sessions().map(|session| session.id.clone()).collect();
        for id in ids {
            if rng.percent(5) {
                return self.crash(world, rng);
            }
            if rng.percent(70) {
                self.catch_up(world, &id)?;
            }
            if !self.looks_at(world, &id) {
                continue;
            }
            let Some(found) = self.house.session(&id).map(|session| world.observe(session)) else {
                continue;
            };
            self.feed(world, &Input::Observed { session: id, world: found })?;
        }
        self.feed(world, &Input::AllObserved)
    }
}

impl Daemon {
    /// As the real one does at its start: beside what is at rest nothing lives, so it is left alone
    /// unless there is something to see to.
    fn looks_at(&self, world: &World, id: &SessionId) -> bool {
        let lives = world.sites.get(id).is_some_and(|site| !site.agents.is_empty());
        let Some(session) = self.house.session(id) else { return lives };
        let at_rest = matches!(session.phase, Phase::Rest(_)) && !session.expects_process();
        lives || !at_rest || session.upkeep.saving.is_some() || session.needs_a_daemon()
    }

    /// Everything that an agent has said is heard again before the world is told of.
    fn catch_up(&mut self, world: &mut World, id: &SessionId) -> Result<(), String> {
        let agent = world.sites.get_mut(id).and_then(|site| site.agents.first_mut());
        let Some(agent) = agent else { return Ok(()) };
        let known = self.house.session(id);
        if known.is_none_or(|s| !s.runs() || s.agent.generation != agent.generation) {
            return Ok(());
        }
        let (generation, said) = (agent.generation, agent.said.clone());
        agent.read = said.len();
        for (spot, sign) in said {
            let (session, hearing) = (id.clone(), Hearing::CatchingUp);
            self.feed(world, &Input::Sign { session, generation, spot, hearing, sign })?;
        }
        Ok(())
    }
}

impl Daemon {
    /// A state that was written down at any moment and read again, with what follows it, is the fold
    /// of everything.
    pub(crate) fn goes_on_from_a_checkpoint(&self, at: usize) -> Result<(), String> {
        let (before, rest) = self.log.split_at(at.min(self.log.len()));
        let written = serde_json::to_vec(&fold(before)).map_err(|fault| fault.to_string())?;
        let mut read: House =
            serde_json::from_slice(&written).map_err(|fault| fault.to_string())?;
        for recorded in rest {
            read.apply(recorded);
        }
        if read == self.house {
            return Ok(());
        }
        Err(format!("what was written down after {at} events leads elsewhere"))
    }
}

fn session_of<'h>(house: &'h House, subject: &Subject) -> Option<&'h Session> {
    subject.session().and_then(|id| house.session(id))
}

pub(crate) fn fold(log: &[Recorded]) -> House {
    let mut house = House::default();
    for recorded in log {
        house.apply(recorded);
    }
    house
}
