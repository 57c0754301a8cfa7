//! What is really there: processes, messages that reached them, snapshots.
//!
//! It does what an effect says, with more or less luck, and knows better than any log.

use crate::agent::{Agent, Kind};
use crate::rng::Rng;
use glis_core::effect::Urgency;
use glis_core::event::Ending;
use glis_core::input::{self, Checked, Done, Outcome, Taken, Use};
use glis_core::leftover::{Companion, Leftovers};
use glis_core::looping::{LookedBack, LoopTrace};
use glis_core::pause::Captured;
use glis_core::reason::Why;
use glis_core::refusal::ResumeFault;
use glis_core::session::{Chore, Process};
use glis_core::talk::Ask;
use glis_core::tree::{Found, PathList, SnapshotRef};
use glis_core::verdict::{Author, Unruled, Verdict};
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
    /// Operations that have found out that the worktree can be saved.
    pub(crate) savable: BTreeSet<OpId>,
    pub(crate) answers: BTreeMap<String, u32>,
    pub(crate) stream_end: u64,
    /// What is in the worktree, by a number that grows with every change; none while it is gone.
    pub(crate) tree: Option<u64>,
    /// What each snapshot holds.
    pub(crate) kept: BTreeMap<String, u64>,
    /// A process that its agent had started cannot be ended.
    pub(crate) stuck: bool,
    /// How often it was looked back at an iteration.
    pub(crate) looks: u32,
    /// The last operation that its process was let go on for, or stopped in place. After a crash it may be let go
    /// on under a number that nobody was promised, and a later one has the same.
    frost: Option<(OpId, bool)>,
}

impl Site {
    /// A daemon whose log has lost its end knows nothing of what it had ordered.
    pub(crate) fn forget_orders(&mut self) {
        self.interrupts = 0;
        self.answers.clear();
        self.frost = None;
    }

    /// What is there beside the agent.
    pub(crate) fn leftovers(&self) -> Leftovers {
        let one = Companion { pid: 9, command: "make".to_owned(), ..Companion::default() };
        let stuck = if self.stuck { vec![one] } else { Vec::new() };
        Leftovers { stuck, ..Leftovers::default() }
    }

    /// Saves the worktree as it is.
    fn save(&mut self) -> SnapshotRef {
        let tree = *self.tree.get_or_insert(0);
        let name = format!("snap-{}", self.kept.len());
        self.kept.insert(name.clone(), tree);
        SnapshotRef { name, commit: "c".to_owned(), changed: None }
    }

    fn checked(&mut self, session: &Session, op: OpId) -> Outcome {
        let found = self.look(session);
        Outcome::StartChecked { op, result: Ok(Checked { found, ..Checked::default() }) }
    }

    /// Compares the worktree with how it was left, and brings it back if it is gone.
    fn look(&mut self, session: &Session) -> Option<Found> {
        let kept = |snapshot: &SnapshotRef| self.kept.get(&snapshot.name).copied();
        match (self.tree, &session.saved.baseline, &session.saved.snapshot) {
            (Some(tree), Some(left), _) if kept(left) == Some(tree) => Some(Found::Untouched),
            (Some(_), Some(_), _) => {
                let snapshot = self.save();
                let paths = PathList::of(["a".to_owned()]);
                Some(Found::Changed { snapshot, paths })
            }
            (None, _, Some(latest)) => {
                let snapshot = latest.clone();
                self.tree = kept(&snapshot);
                Some(Found::Restored { snapshot, notes: Vec::new() })
            }
            (_, _, _) => None,
        }
    }

    /// A step of a pause.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the rest are no such steps")]
    fn pause_step(
        &mut self,
        effect: &Effect,
        rng: &mut Rng,
        luck: Luck,
        fails: bool,
    ) -> Option<Outcome> {
        let why = bad_luck();
        Some(match effect {
            Effect::CaptureTerminal { op } if fails && rng.percent(50) => {
                Outcome::CaptureOverdue { op: *op, why }
            }
            Effect::CaptureTerminal { op } if fails => uncaptured(*op, why),
            Effect::CaptureTerminal { op } => Outcome::TerminalCaptured { op: *op, screen_at: 1 },
            Effect::TakeSnapshot { op, moment } if fails && rng.percent(50) => {
                Outcome::SnapshotOverdue { op: *op, moment: *moment, why }
            }
            Effect::TakeSnapshot { op, moment } if fails => {
                Outcome::SnapshotTaken { op: *op, moment: *moment, result: Err(why) }
            }
            Effect::TakeSnapshot { op, moment } => {
                self.snapshots.push((*op, self.endings));
                let snapshot = Some(self.save()).filter(|_| rng.percent(80));
                let left_out = PathList::of(rng.percent(30).then(|| ".env".to_owned()));
                Outcome::SnapshotTaken {
                    op: *op,
                    moment: *moment,
                    result: Ok(Taken { snapshot, left_out, warning: None }),
                }
            }
            Effect::Sweep { op } => {
                if luck == Luck::Good || rng.percent(50) {
                    self.stuck = false;
                }
                Outcome::Swept { op: *op, left: self.leftovers() }
            }
            _ => return None,
        })
    }

    /// Looks at what an iteration has left; whatever fails in that is left out of it.
    fn look_back(&mut self, id: &SessionId, kind: Kind, iteration: u32, fails: bool) -> Outcome {
        self.looks += 1;
        let chosen = matches!(kind, Kind::Chosen | Kind::Anytime);
        let trace = LoopTrace { tree: format!("{:?}", self.tree), words: String::new() };
        Outcome::LookedBack(LookedBack {
            iteration,
            reached: None,
            left: (!fails).then_some(trace),
            cost_micros: 0,
            agent_ref: chosen.then(|| format!("looped-{id}-{}", self.looks)),
            note: None,
        })
    }

    /// Does something with the worktree or the trash.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the rest have nothing to do with files")]
    fn tidy(&mut self, effect: &Effect, fails: bool) -> Option<Outcome> {
        let why = bad_luck();
        Some(match effect {
            Effect::CheckSave { op } if fails => Outcome::SaveChecked { op: *op, result: Err(why) },
            Effect::CheckSave { op } => {
                self.savable.insert(*op);
                Outcome::SaveChecked { op: *op, result: Ok(()) }
            }
            Effect::SaveWorktree { op, occasion, generation } => Outcome::WorktreeSaved {
                op: *op,
                occasion: *occasion,
                generation: *generation,
                result: if fails { Err(why) } else { Ok(self.save()) },
            },
            Effect::Compact { op } if fails => Outcome::NotCompacted { op: *op, why },
            Effect::Compact { op } => {
                Outcome::Compacted { op: *op, entries: 70, original: "long".to_owned() }
            }
            Effect::ClearWorktree { op } if fails => {
                Outcome::WorktreeCleared { op: *op, result: Err(why) }
            }
            Effect::ClearWorktree { op } => {
                self.tree = None;
                Outcome::WorktreeCleared { op: *op, result: Ok(None) }
            }
            Effect::DoChore { op, chore } => {
                let result = if fails { Err(why) } else { Ok(self.do_chore(chore)) };
                Outcome::ChoreEnded { op: *op, result }
            }
            _ => return None,
        })
    }

    fn do_chore(&mut self, chore: &Chore) -> Done {
        match chore {
            Chore::PutAside => Done::PutAside { place: "/trash".to_owned() },
            Chore::Restore(snapshot) => {
                self.tree = self.kept.get(snapshot).copied();
                let (name, commit) = (snapshot.clone(), "c".to_owned());
                let snapshot = SnapshotRef { name, commit, changed: None };
                Done::Restored { snapshot, notes: Vec::new() }
            }
            Chore::Return(_) => Done::BroughtBack,
            Chore::Empty => Done::Emptied,
        }
    }

    /// Stops its process in place or lets it go on. A holder is told in order.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the rest have nothing to do with it")]
    fn freeze(&mut self, effect: &Effect, fails: bool) -> Option<Outcome> {
        let (op, generation, freezes) = match effect {
            Effect::Freeze { op, generation } => (*op, *generation, true),
            Effect::Thaw { op, generation } => (*op, *generation, false),
            _ => return None,
        };
        if Some((op, freezes)) < self.frost {
            return None;
        }
        self.frost = Some((op, freezes));
        let agent = self.agents.iter_mut().find(|agent| agent.generation == generation)?;
        // Whoever was told to end is not kept; what stands still already cannot fail to be stopped.
        let fails = fails && !(freezes && agent.frozen) || agent.ordered;
        if !fails {
            self.endings += usize::from(freezes && !agent.frozen);
            agent.frozen = freezes;
        } else if freezes {
            agent.frozen = false;
        }
        let result = if fails { Err(bad_luck()) } else { Ok(()) };
        Some(if freezes { Outcome::Frozen { op, result } } else { Outcome::Thawed { op, result } })
    }

    fn interrupt(&mut self, generation: u32, rng: &mut Rng) {
        self.interrupts += 1;
        if let Some(agent) = self.agents.iter_mut().find(|agent| agent.generation == generation) {
            agent.interrupted(rng);
        }
    }

    /// Somebody changes a file, or takes all of them away.
    pub(crate) fn meddle(&mut self, rng: &mut Rng) {
        self.tree = if rng.percent(20) { None } else { Some(self.tree.unwrap_or(0) + 1) };
    }
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
    /// What the clock on the wall shows.
    clock: i64,
}

impl World {
    /// Time goes on by more than two that go on are kept apart.
    fn plan_return(&mut self, rng: &mut Rng, luck: Luck) -> Outcome {
        self.clock += 10_000;
        let forbidden = luck == Luck::Mixed && rng.percent(20);
        let later = i64::from(luck == Luck::Mixed && rng.percent(20));
        let at = (!forbidden).then_some(self.clock + later);
        Outcome::ReturnPlanned { at, now: self.clock }
    }

    /// Carries an effect out. A fault here is a fault of whoever asked for it.
    #[expect(clippy::too_many_lines, reason = "every effect is named once")]
    pub(crate) fn perform(
        &mut self,
        house: &House,
        (id, effect): (&SessionId, &Effect),
        rng: &mut Rng,
        luck: Luck,
    ) -> Result<Option<Outcome>, String> {
        let Some(session) = house.session(id) else {
            // The trash was emptied of it while this was under way, or before it was done again.
            let was_there = self.kinds.contains_key(id);
            let stray = || format!("{effect:?} for a session that does not exist");
            return was_there.then_some(None).ok_or_else(stray);
        };
        let fails = luck == Luck::Mixed && rng.percent(7);
        let (why, fault) = (bad_luck(), ResumeFault::System(bad_luck().to_string()));
        let kind = self.kinds.get(id).copied().unwrap_or(Kind::Command);
        let site = self.sites.entry(id.clone()).or_default();
        Ok(Some(match effect {
            Effect::MakeWorktree { op } if fails => Outcome::WorktreeFailed { op: *op, why },
            Effect::MakeWorktree { op } => Outcome::WorktreeMade {
                op: *op,
                worktree: "/w".to_owned(),
                branch: None,
                notes: Vec::new(),
            },
            Effect::CheckStart { op } if fails => {
                Outcome::StartChecked { op: *op, result: Err(fault) }
            }
            Effect::CheckStart { op } => site.checked(session, *op),
            Effect::StartProcess { op, .. } if fails && site.agents.is_empty() => {
                Outcome::ProcessNotStarted { op: *op, fault }
            }
            Effect::StartProcess { op, generation } => {
                return self.start(session, *op, *generation, rng, luck).map(Some);
            }
            // Only a program that reads lines has a length that it cannot take.
            Effect::Deliver { message, .. } if fails && kind == Kind::Command => {
                Outcome::Undeliverable { message: *message, why: why.to_string() }
            }
            Effect::Deliver { message, .. } if fails => {
                Outcome::NotDelivered { message: *message, why: why.to_string() }
            }
            Effect::Deliver { generation, message, .. } => deliver(site, *generation, *message),
            // Answers are few, so that more of them fail than of other things.
            Effect::GiveAnswer { ask, .. } if fails || luck == Luck::Mixed && rng.percent(30) => {
                Outcome::AnswerNotGiven { ask: ask.id.clone(), why }
            }
            Effect::GiveAnswer { generation, ask, .. } => answer(site, *generation, ask),
            Effect::Judge { generation, ask } => verdict(*generation, ask.clone(), rng, fails),
            Effect::Interrupt { generation } => {
                site.interrupt(*generation, rng);
                return Ok(None);
            }
            Effect::CaptureTerminal { .. } | Effect::TakeSnapshot { .. } | Effect::Sweep { .. } => {
                return Ok(site.pause_step(effect, rng, luck, fails));
            }
            Effect::Freeze { .. } | Effect::Thaw { .. } => {
                return Ok(site.freeze(effect, fails));
            }
            Effect::StopProcess { generation, urgency } => {
                site.stuck |= fails;
                return Ok(self.stop(id, *generation, *urgency));
            }
            // Timers are the clock's, which the controller holds; a set-up ends sooner or later, and
            // here no step hangs.
            Effect::SetTimer { .. }
            | Effect::DropTimer { .. }
            | Effect::CutShort { .. }
            | Effect::KeepGate { .. }
            | Effect::DropGate { .. }
            | Effect::BeginRun { .. }
            | Effect::JudgeRun { .. }
            | Effect::MergeRun { .. }
            | Effect::CutLineShort
            | Effect::CutSetUpShort => return Ok(None),
            // Somebody may be attached; one who is left alone is not.
            Effect::CheckIdle { spell, cause } if luck == Luck::Mixed && rng.percent(30) => {
                Outcome::UseChecked { spell: *spell, cause: *cause, usage: Use::InUse }
            }
            Effect::CheckIdle { spell, cause } => {
                Outcome::UseChecked { spell: *spell, cause: *cause, usage: Use::Free }
            }

            Effect::PlanReturn => self.plan_return(rng, luck),
            Effect::LookBack { iteration } => site.look_back(id, kind, *iteration, fails),
            Effect::CheckSave { .. }
            | Effect::SaveWorktree { .. }
            | Effect::Compact { .. }
            | Effect::ClearWorktree { .. }
            | Effect::DoChore { .. } => return Ok(site.tidy(effect, fails)),
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
        // What could not be ended is gone in the end, and until then nothing else starts.
        site.stuck &= luck == Luck::Mixed && rng.percent(50);
        if site.stuck || site.exit.as_ref().is_some_and(|exit| exit.generation >= generation) {
            return Ok(Outcome::ProcessNotStarted { op, fault: locked() });
        }
        // Output goes on behind what was read of it, also where nothing else is left of a process.
        let begins = site.stream_end.max(session.talk.seen.stream);
        let mut agent = Agent::new(kind, generation, session.agent.agent_ref.clone(), begins);
        let goes_on = session.agent.ran && kind != Kind::Command;
        match (kind, &session.agent.agent_ref) {
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
            agent.frozen = false;
            // A killed process ends at once, the others when they get to it.
            if urgency != Urgency::Kill {
                return None;
            }
            self.end(id, Ending::Signalled(9));
        }
        let left = self.sites.get(id)?.leftovers();
        let exit = self.sites.get(id)?.exit.clone().filter(|exit| exit.generation == generation);
        let (ending, ordered) = exit.map_or((Ending::Unknown, false), |e| (e.ending, e.ordered));
        let exit = input::Exit { ending, ordered, ..input::Exit::unseen(left) };
        Some(Outcome::ProcessEnded { generation, exit })
    }

    /// The process ends; its holder writes that down.
    pub(crate) fn end(&mut self, id: &SessionId, ending: Ending) {
        let Some(site) = self.sites.get_mut(id) else { return };
        let Some(agent) = site.agents.pop() else { return };
        // What was stopped in place had written its last.
        site.endings += usize::from(!agent.frozen);
        site.stream_end = agent.at;
        if let Some(own) = agent.own_ref {
            self.conversations.insert(own, agent.transcript_at);
        }
        let generation = agent.generation;
        site.exit = Some(Exit { generation, ending, ordered: agent.ordered });
    }

    /// What a daemon finds when it starts.
    pub(crate) fn observe(&self, session: &Session) -> input::World {
        let Some(site) = self.sites.get(&session.id) else {
            return input::World::Gone { left: Leftovers::default() };
        };
        if let Some(agent) = site.agents.first() {
            let process = Process { pid: self.pids, start_ticks: 1, boot_id: String::new() };
            let (generation, began_at) = (agent.generation, agent.began_at);
            let untouched = session.in_flight().map(|sent| sent.id) != agent.handed;
            return input::World::Alive { generation, process, began_at, untouched };
        }
        let left = site.leftovers();
        match site.exit.clone() {
            Some(Exit { generation, ending, ordered }) if ending != Ending::Unknown => {
                let exit = input::Exit { ending, ordered, ..input::Exit::unseen(left) };
                input::World::Ended { generation, exit }
            }
            Some(_) | None => input::World::Gone { left },
        }
    }
}

fn agent_began(site: Option<&Site>) -> u64 {
    site.and_then(|site| site.agents.first()).map_or(0, |agent| agent.began_at)
}

fn answer(site: &mut Site, generation: u32, ask: &Ask) -> Outcome {
    let Some(agent) = site.agents.iter_mut().find(|a| a.generation == generation) else {
        return Outcome::AnswerNotGiven {
            ask: ask.id.clone(),
            why: "nobody is there".to_owned().into(),
        };
    };
    *site.answers.entry(ask.id.0.clone()).or_default() += 1;
    if agent.asks.as_ref() == Some(&ask.id) {
        agent.answered();
    }
    Outcome::AnswerGiven { ask: ask.id.clone() }
}

/// What rules may say: a fault leaves it to a person.
fn verdict(generation: u32, ask: Ask, rng: &mut Rng, fails: bool) -> Outcome {
    let (rule, author) = ("ls".to_owned(), Author::Glis);
    let verdict = match rng.below(3) {
        _ if fails => Verdict::manual(Unruled::Fault),
        0 => Verdict::Accept { rule, author },
        1 => Verdict::Reject { rule, author },
        _ => Verdict::manual(Unruled::NoRule),
    };
    Outcome::Judged { generation, ask, verdict }
}

fn deliver(site: &mut Site, generation: u32, message: MessageId) -> Outcome {
    match site.agents.iter_mut().find(|agent| agent.generation == generation && !agent.frozen) {
        Some(agent) => {
            *site.handed.entry(message).or_default() += 1;
            agent.handed = Some(message);
            agent.inbox.push_back(message);
            Outcome::Delivered { message }
        }
        None => Outcome::NotDelivered { message, why: "no process".to_owned() },
    }
}

fn bad_luck() -> Why {
    Why::from("bad luck".to_owned())
}

fn uncaptured(op: OpId, why: Why) -> Outcome {
    Outcome::CaptureFailed { op, what: Captured::Screen, why }
}
