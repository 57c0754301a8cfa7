//! What is really there: processes, messages that reached them, snapshots.
//!
//! It does what an effect says, with more or less luck, and knows better than any log.

use crate::agent::{Agent, Kind};
use crate::rng::Rng;
use glis_core::effect::{Deed, Urgency};
use glis_core::event::Ending;
use glis_core::input::{self, Outcome};
use glis_core::pause::SnapshotRef;
use glis_core::refusal::ResumeFault;
use glis_core::session::Process;
use glis_core::{Effect, House, MessageId, OpId, Session, SessionId};
use std::collections::{BTreeMap, BTreeSet};

/// How kind the world is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Luck {
    /// Anything may fail.
    Mixed,
    /// Nothing fails that can succeed.
    Good,
}

/// What a holder writes down when its process has ended.
#[derive(Debug, Clone)]
pub(crate) struct Exit {
    pub(crate) generation: u32,
    pub(crate) ending: Ending,
    pub(crate) ordered: bool,
}

/// What there is of one session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Site {
    /// More than one is the fault that the whole design is to exclude.
    pub(crate) agents: Vec<Agent>,
    pub(crate) exit: Option<Exit>,
    /// Snapshots by operation, with how many processes had ended by then.
    pub(crate) snapshots: Vec<(OpId, usize)>,
    pub(crate) endings: usize,
    /// How often each message reached an agent.
    pub(crate) handed: BTreeMap<MessageId, u32>,
    pub(crate) interrupts: usize,
    pub(crate) answers: BTreeMap<String, u32>,
    pub(crate) stream_end: u64,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct World {
    pub(crate) sites: BTreeMap<SessionId, Site>,
    pub(crate) kinds: BTreeMap<SessionId, Kind>,
    /// Conversations that exist on the agents' side, with the length of their transcripts.
    conversations: BTreeMap<String, u64>,
    /// Sessions in which somebody answered a doubt: the agent may hold a message, or a second copy
    /// of one, that nobody waits for. When it takes that, the sign passes for the next one's.
    pub(crate) ghosts: BTreeSet<SessionId>,
    pids: i32,
}

impl World {
    /// Carries an effect out. A fault here is a fault of whoever asked for it.
    pub(crate) fn perform(
        &mut self,
        house: &House,
        effect: &Effect,
        rng: &mut Rng,
        luck: Luck,
    ) -> Result<Option<Outcome>, String> {
        let Some(session) = house.session(&effect.session) else {
            return Err(format!("{effect:?} for a session that does not exist"));
        };
        let fails = luck == Luck::Mixed && rng.percent(7);
        let why = "bad luck".to_owned();
        let fault = ResumeFault::System(why.clone());
        let site = self.sites.entry(effect.session.clone()).or_default();
        Ok(Some(match &effect.deed {
            Deed::MakeWorktree { op } if fails => Outcome::WorktreeFailed { op: *op, why },
            Deed::MakeWorktree { op } => {
                Outcome::WorktreeMade { op: *op, worktree: "/w".to_owned(), branch: None }
            }
            Deed::CheckStart { op } if fails => Outcome::StartUnfit { op: *op, fault },
            Deed::CheckStart { op } => Outcome::StartChecked { op: *op, forgotten: Vec::new() },
            Deed::StartProcess { op, .. } if fails && site.agents.is_empty() => {
                Outcome::ProcessNotStarted { op: *op, fault }
            }
            Deed::StartProcess { op, generation } => {
                return self.start(session, *op, *generation, rng, luck).map(Some);
            }
            Deed::Deliver { message, .. } if fails => {
                Outcome::NotDelivered { message: *message, why }
            }
            Deed::Deliver { generation, message, .. } => deliver(site, *generation, *message),
            Deed::GiveAnswer { ask, .. } if fails => {
                Outcome::AnswerNotGiven { ask: ask.id.clone(), why }
            }
            Deed::GiveAnswer { generation, ask, .. } => {
                match site.agents.iter_mut().find(|a| a.generation == *generation) {
                    None => Outcome::AnswerNotGiven { ask: ask.id.clone(), why },
                    Some(agent) => {
                        *site.answers.entry(ask.id.0.clone()).or_default() += 1;
                        if agent.asks.as_ref() == Some(&ask.id) {
                            agent.answered();
                        }
                        Outcome::AnswerGiven { ask: ask.id.clone() }
                    }
                }
            }
            Deed::Interrupt { generation } => {
                site.interrupts += 1;
                if let Some(agent) = site.agents.iter_mut().find(|a| a.generation == *generation) {
                    agent.interrupted(rng);
                }
                return Ok(None);
            }
            Deed::CaptureTerminal { op } if fails => Outcome::CaptureFailed { op: *op, why },
            Deed::CaptureTerminal { op } => Outcome::TerminalCaptured { op: *op, screen_at: 1 },
            Deed::TakeSnapshot { op, moment } if fails => {
                Outcome::SnapshotFailed { op: *op, moment: *moment, why }
            }
            Deed::TakeSnapshot { op, moment } => {
                site.snapshots.push((*op, site.endings));
                let name = format!("snap-{}", site.snapshots.len());
                let snapshot = SnapshotRef { name, commit: "c".to_owned() };
                Outcome::SnapshotTaken {
                    op: *op,
                    moment: *moment,
                    snapshot: rng.percent(80).then_some(snapshot),
                }
            }
            Deed::StopProcess { generation, urgency } => {
                return Ok(self.stop(&effect.session, *generation, *urgency));
            }
            // Alarms are the clock's, which the controller holds.
            Deed::AwaitSafeState { .. } | Deed::AwaitReady { .. } | Deed::AwaitRetry { .. } => {
                return Ok(None);
            }
            Deed::PutAside { op } if fails => Outcome::NotPutAside { op: *op, why },
            Deed::PutAside { op } => Outcome::PutAside { op: *op, place: "/trash".to_owned() },
        }))
    }

    fn start(
        &mut self,
        session: &Session,
        op: OpId,
        generation: u32,
        rng: &mut Rng,
        luck: Luck,
    ) -> Result<Outcome, String> {
        let kind = self.kinds.get(&session.id).copied().unwrap_or(Kind::Command);
        let site = self.sites.entry(session.id.clone()).or_default();
        let locked = || ResumeFault::Locked("a holder lives".to_owned());
        if let Some(agent) = site.agents.first() {
            if agent.generation == generation {
                return Ok(self.started(op, generation, agent_began(self.sites.get(&session.id))));
            }
            if !agent.ordered {
                return Err(format!("asked to start {generation} beside {}", agent.generation));
            }
            return Ok(Outcome::ProcessNotStarted { op, fault: locked() });
        }
        if site.exit.as_ref().is_some_and(|exit| exit.generation >= generation) {
            return Ok(Outcome::ProcessNotStarted { op, fault: locked() });
        }
        let mut agent = Agent::new(kind, generation, session.agent_ref.clone(), site.stream_end);
        let goes_on = session.ran && kind != Kind::Command;
        match (kind, &session.agent_ref) {
            (Kind::Command, _) => {}
            (_, Some(known)) if goes_on => {
                let unlucky = luck == Luck::Mixed && rng.percent(10);
                agent.rejects = unlucky || !self.conversations.contains_key(known);
            }
            (Kind::Learned, None) if !goes_on => {
                agent.own_ref = Some(format!("learned-{}-{generation}", session.id));
            }
            (_, Some(_)) => {}
            (_, None) => return Err("asked to go on without an id".to_owned()),
        }
        if let Some(own) = &agent.own_ref {
            agent.transcript_at = *self.conversations.entry(own.clone()).or_default();
        }
        let began_at = agent.began_at;
        let twin = agent.own_ref.as_ref().and_then(|own| {
            let mut all = self.sites.values().flat_map(|site| &site.agents);
            all.find(|other| other.own_ref.as_ref() == Some(own))
        });
        if let Some(twin) = twin {
            return Err(format!("two processes under {:?}", twin.own_ref));
        }
        if let Some(site) = self.sites.get_mut(&session.id) {
            site.agents.push(agent);
            site.exit = None;
        }
        Ok(self.started(op, generation, began_at))
    }

    fn started(&mut self, op: OpId, generation: u32, began_at: u64) -> Outcome {
        self.pids += 1;
        let process = Process { pid: self.pids, start_ticks: 1, boot_id: String::new() };
        Outcome::ProcessStarted { op, generation, process, began_at }
    }

    fn stop(&mut self, id: &SessionId, generation: u32, urgency: Urgency) -> Option<Outcome> {
        let site = self.sites.get_mut(id)?;
        if let Some(agent) = site.agents.iter_mut().find(|a| a.generation == generation) {
            agent.ordered = true;
            // A killed process ends at once, the others when they get to it.
            if urgency != Urgency::Kill {
                return None;
            }
            self.end(id, Ending::Signalled(9));
        }
        let exit = self.sites.get(id)?.exit.clone().filter(|exit| exit.generation == generation);
        let (ending, ordered) = exit.map_or((Ending::Unknown, false), |e| (e.ending, e.ordered));
        Some(Outcome::ProcessEnded { generation, ending, ordered, killed: Vec::new() })
    }

    /// The process ends; its holder writes that down.
    pub(crate) fn end(&mut self, id: &SessionId, ending: Ending) {
        let Some(site) = self.sites.get_mut(id) else { return };
        let Some(agent) = site.agents.pop() else { return };
        site.endings += 1;
        site.stream_end = agent.at;
        if let Some(own) = agent.own_ref {
            self.conversations.insert(own, agent.transcript_at);
        }
        let generation = agent.generation;
        site.exit = Some(Exit { generation, ending, ordered: agent.ordered });
    }

    /// What a daemon finds when it starts.
    pub(crate) fn observe(&self, id: &SessionId) -> input::World {
        let Some(site) = self.sites.get(id) else {
            return input::World::Gone { killed: Vec::new() };
        };
        if let Some(agent) = site.agents.first() {
            let process = Process { pid: self.pids, start_ticks: 1, boot_id: String::new() };
            let (generation, began_at) = (agent.generation, agent.began_at);
            return input::World::Alive { generation, process, began_at };
        }
        match site.exit.clone() {
            Some(Exit { generation, ending, ordered }) if ending != Ending::Unknown => {
                input::World::Ended { generation, ending, ordered, killed: Vec::new() }
            }
            Some(_) | None => input::World::Gone { killed: Vec::new() },
        }
    }
}

fn agent_began(site: Option<&Site>) -> u64 {
    site.and_then(|site| site.agents.first()).map_or(0, |agent| agent.began_at)
}

fn deliver(site: &mut Site, generation: u32, message: MessageId) -> Outcome {
    match site.agents.iter_mut().find(|agent| agent.generation == generation) {
        Some(agent) => {
            *site.handed.entry(message).or_default() += 1;
            agent.inbox.push_back(message);
            Outcome::Delivered { message }
        }
        None => Outcome::NotDelivered { message, why: "no process".to_owned() },
    }
}
