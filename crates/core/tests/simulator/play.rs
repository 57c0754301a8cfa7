//! One life of a house: chance, until it is left alone and comes to rest.

use crate::agent::Kind;
use crate::daemon::{Daemon, fold};
use crate::plans;
use crate::rng::Rng;
use crate::rules::Rules;
use crate::world::{Luck, Site, World};
use glis_core::effect::Effect;
use glis_core::event::Ending;
use glis_core::gate::{GateCommand, GateWish, Kept};
use glis_core::input::{Command, Exit, Hearing, IfRunning, Outcome};
use glis_core::limits::{Limits, Over};
use glis_core::looping::{LoopChange, LoopContext, LoopSpec};
use glis_core::pause::{OnTimeout, PauseMode, PauseReason, PauseWish};
use glis_core::session::StopCause;
use glis_core::spec::{IdleLimit, Spec};
use glis_core::tree::Clearing;
use glis_core::triage::{Put, Snooze};
use glis_core::{AskId, Event, Input, Recorded, SessionId, TimerKey};

/// A house that does not come to rest in so many rounds never will: a queued message takes a few
/// rounds to be delivered, taken and worked off, and no life queues a hundred for one session.
const ROUNDS_MAX: usize = 300;

pub(crate) struct Play {
    pub(crate) daemon: Daemon,
    pub(crate) world: World,
    pub(crate) rng: Rng,
    refs: u32,
    /// How kind the world is while it is played.
    pub(crate) luck: Luck,
}

impl Play {
    pub(crate) fn new(seed: u64, trace: Option<Vec<String>>) -> Self {
        let daemon = Daemon { trace, ..Daemon::default() };
        Self { daemon, world: World::default(), rng: Rng::new(seed), refs: 0, luck: Luck::Mixed }
    }

    /// Plays so many steps, then lets everything come to rest, and judges it.
    pub(crate) fn run(&mut self, steps: usize) -> Result<(), String> {
        for _ in 0..=self.rng.below(4) {
            self.create()?;
        }
        for _ in 0..steps {
            self.step()?;
        }
        self.come_to_rest()
    }

    /// What is left of a house after a power cut is a beginning of its log. Goes on from there.
    pub(crate) fn after_a_power_cut(&self, kept: usize) -> Result<(), String> {
        let log = self.daemon.log.get(..kept).unwrap_or_default().to_vec();
        let mut rest = Self::new(0, None);
        rest.world.kinds.clone_from(&self.world.kinds);
        rest.daemon.house = fold(&log);
        rest.daemon.rules.remember(&log);
        rest.daemon.log = log;
        rest.daemon.crash(&mut rest.world, &mut rest.rng)?;
        rest.come_to_rest()
    }

    /// The log has lost its end, and processes of later starts live on. Whoever runs under an id
    /// that the log does not know is left alone by the daemon, and so here.
    pub(crate) fn after_a_lost_end(&self, kept: usize) -> Result<usize, String> {
        let log = self.daemon.log.get(..kept).unwrap_or_default().to_vec();
        let mut rest = Self::new(0, None);
        rest.world = self.world.clone();
        rest.daemon.house = fold(&log);
        let house = &rest.daemon.house;
        rest.world.sites.retain(|id, site| {
            let (agent, session) = (site.agents.first(), house.session(id));
            agent.zip(session).is_some_and(|(agent, session)| {
                agent.generation > session.agent.generation
                    && agent.own_ref == session.agent.agent_ref
            })
        });
        if rest.world.sites.is_empty() {
            return Ok(0);
        }
        for site in rest.world.sites.values_mut() {
            // Their reasons were lost with the log; what was handed over must not be again.
            site.forget_orders();
        }
        rest.daemon.rules.remember(&log);
        rest.daemon.log = log;
        rest.daemon.crash(&mut rest.world, &mut rest.rng)?;
        rest.come_to_rest()?;
        let adopted = |recorded: &&Recorded| matches!(recorded.event, Event::ProcessAdopted { .. });
        Ok(rest.daemon.log.iter().filter(adopted).count())
    }

    fn come_to_rest(&mut self) -> Result<(), String> {
        self.daemon.note(|| "** left alone".to_owned());
        if self.rng.percent(80) {
            self.feed(&Input::Gate(GateCommand::Open(Kept::FromLog)))?;
        }
        self.settle()
    }

    /// Nothing is asked for any more, and nothing fails.
    pub(crate) fn settle(&mut self) -> Result<(), String> {
        for _ in 0..ROUNDS_MAX {
            if !self.quiet_round()? {
                Rules::waiting(&self.daemon.house)?;
                break;
            }
        }
        self.daemon.note(|| "** the agents calm down".to_owned());
        for _ in 0..ROUNDS_MAX {
            if !self.quiet_round()? && !self.calm_agents()? {
                self.daemon.rules.at_rest(&self.daemon.house, &self.world)?;
                if fold(&self.daemon.log) != self.daemon.house {
                    return Err("the fold of the log is not the state".to_owned());
                }
                return Ok(());
            }
        }
        Err("it never comes to rest".to_owned())
    }

    fn step(&mut self) -> Result<(), String> {
        match self.rng.below(100) {
            0 if self.rng.percent(60) => self.gate(),
            1 if self.rng.percent(60) => {
                let command = plans::command(&mut self.rng);
                self.feed(&command)
            }
            0..=21 => self.command(),
            22..=45 => self.perform(),
            46..=61 => self.report(),
            62..=76 => self.read(),
            77 => match self.daemon.late.pop() {
                Some(sign) => self.feed(&sign),
                None => Ok(()),
            },
            78..=90 => {
                if let Some(id) = self.any_site() {
                    let site = self.world.sites.get_mut(&id);
                    if let Some(agent) = site.and_then(|site| site.agents.first_mut()) {
                        agent.act(&mut self.rng);
                    }
                }
                Ok(())
            }
            91 if self.rng.percent(20) => self.feed(&Input::MemoryShort),
            91..=92 => self.ring(),
            93 => {
                if let Some(id) = self.any_site()
                    && let Some(site) = self.world.sites.get_mut(&id)
                {
                    site.meddle(&mut self.rng);
                }
                Ok(())
            }
            94..=95 => self.end_ordered(),
            96..=97 => match self.any_site() {
                Some(id) => self.die(&id),
                None => Ok(()),
            },
            _ => self.daemon.crash(&mut self.world, &mut self.rng),
        }
    }

    /// Something that is no command, and no death.
    pub(crate) fn step_on(&mut self) -> Result<(), String> {
        match self.rng.below(4) {
            0 => self.perform(),
            1 => self.report(),
            2 => self.read(),
            _ => self.act(),
        }
    }

    pub(crate) fn crash(&mut self) -> Result<(), String> {
        self.daemon.crash(&mut self.world, &mut self.rng)
    }

    /// An agent does something by itself.
    fn act(&mut self) -> Result<(), String> {
        if let Some(id) = self.any_site() {
            let site = self.world.sites.get_mut(&id);
            if let Some(agent) = site.and_then(|site| site.agents.first_mut()) {
                agent.act(&mut self.rng);
            }
        }
        self.end_ordered()
    }

    fn any_site(&mut self) -> Option<SessionId> {
        let ids: Vec<_> = self.world.sites.keys().cloned().collect();
        self.rng.pick(&ids).cloned()
    }

    pub(crate) fn feed(&mut self, input: &Input) -> Result<(), String> {
        self.daemon.feed(&self.world, input)
    }

    fn create(&mut self) -> Result<(), String> {
        let kind = *self.rng.pick(&Kind::ALL).unwrap_or(&Kind::Chosen);
        // Also of those that are gone, none has it.
        let id = SessionId(format!("s{}", self.world.kinds.len()));
        let name = format!("n{}", self.rng.below(6));
        let prompt = self.rng.percent(50).then(|| "begin".to_owned());
        let agent_ref = self.mint(kind);
        self.world.kinds.insert(id.clone(), kind);
        let auto_yes = self.rng.percent(50);
        let looped = self.looped().filter(|_| prompt.is_some()).map(Box::new);
        let mut spec = Box::new(Spec { auto_yes, looped, ..kind.spec(prompt) });
        spec.keep_process = spec.can_keep_process() && self.rng.percent(60);
        self.feed(&Input::Command(Command::New { id, name, spec, agent_ref }))
    }

    /// A loop, now and then; one without an end would never come to rest.
    fn looped(&mut self) -> Option<LoopSpec> {
        let fresh = self.rng.percent(50);
        self.rng.percent(40).then(|| LoopSpec {
            max: Some(u32::try_from(self.rng.below(4)).unwrap_or(1)),
            until: None,
            context: if fresh { LoopContext::Fresh } else { LoopContext::Continue },
            auto_commit: false,
            max_cost_micros: None,
            max_failures: 2,
            file: None,
        })
    }

    pub(crate) fn mint(&mut self, kind: Kind) -> Option<String> {
        self.refs += 1;
        matches!(kind, Kind::Chosen | Kind::Anytime).then(|| format!("chosen-{}", self.refs))
    }

    fn command(&mut self) -> Result<(), String> {
        let ids: Vec<_> = self.daemon.house.all_sessions().map(|s| s.id.clone()).collect();
        let Some(session) = self.rng.pick(&ids).cloned() else { return self.create() };
        let text = format!("m{}", self.daemon.log.len());
        let prompt = self.rng.percent(30).then(|| text.clone());
        let command = match self.rng.below(35) {
            0 if ids.len() < 5 => return self.create(),
            1 if self.rng.percent(30) => return self.together(&ids),
            0..=8 => Command::Send { session, text },
            9..=13 => {
                let modes = [PauseMode::Boundary, PauseMode::Interrupt, PauseMode::Force];
                let mode = *self.rng.pick(&modes).unwrap_or(&PauseMode::Boundary);
                let force = self.rng.percent(50);
                let on_timeout = if force { OnTimeout::Force } else { OnTimeout::Refuse };
                let clearings = [
                    Clearing::Keep,
                    Clearing::IfAllIsSaved,
                    Clearing::Always,
                    Clearing::IfPossible,
                ];
                let clearing = *self.rng.pick(&clearings).unwrap_or(&Clearing::Keep);
                let reason = PauseReason::User;
                Command::Pause {
                    session,
                    wish: PauseWish { mode, reason, on_timeout, clearing },
                    until: None,
                }
            }
            14 if self.rng.percent(50) => Command::Pause {
                session,
                wish: PauseWish {
                    mode: PauseMode::Interrupt,
                    reason: PauseReason::User,
                    on_timeout: OnTimeout::Force,
                    clearing: Clearing::Keep,
                },
                until: Some(i64::try_from(self.rng.below(5)).unwrap_or(0)),
            },
            14 => Command::CancelPause { session },
            15..=20 => Command::Resume { session, prompt },
            21 | 22 => {
                let kind = self.world.kinds.get(&session).copied().unwrap_or(Kind::Command);
                let agent_ref = self.mint(kind);
                Command::Restart { session, agent_ref, prompt }
            }
            23 => Command::Stop { session, cause: StopCause::Asked },
            24 if self.rng.percent(50) => Command::Stop { session, cause: StopCause::Asked },
            24 => self.limit_idle(session),
            25 if self.rng.percent(70) => {
                let stop = self.rng.percent(50);
                let running = if stop { IfRunning::Stop } else { IfRunning::Refuse };
                Command::Remove { session, running }
            }
            28 if self.rng.percent(50) => {
                let max = Some(Some(u32::try_from(self.rng.below(5)).unwrap_or(1)));
                Command::SetLoop { session, change: LoopChange { max, ..LoopChange::default() } }
            }
            25..=28 => self.chore(session),
            31 if self.rng.percent(40) => self.triage(session),
            31 if self.rng.percent(40) => return self.spend(session),
            31 => Command::BeginTyping { session },
            29 | 30 => Command::SetAutoYes { session, on: self.rng.percent(60) },
            _ => self.answer(session),
        };
        self.feed(&Input::Command(command))
    }

    /// A budget is set, used, or used up for the day.
    fn spend(&mut self, session: SessionId) -> Result<(), String> {
        let mut amount = || u64::try_from(self.rng.below(30)).unwrap_or(0);
        let (cost_micros, tokens) = (amount(), amount());
        let input = match self.rng.below(6) {
            0 | 1 => {
                let budgets = ["usd=0.00001", "tokens=9,time=20s", "time=5s", "off"];
                let told = self.rng.pick(&budgets).copied().unwrap_or("off");
                let budget = told.parse().ok().map(Box::new);
                Input::Command(Command::SetBudget { session, budget, cost_micros, tokens })
            }
            2 => {
                let date = if self.rng.percent(50) { "today" } else { "tomorrow" }.to_owned();
                Input::DayUsed { date, cost_micros, tokens }
            }
            _ => Input::Outcome { session, outcome: Outcome::Used { cost_micros, tokens } },
        };
        self.feed(&input)
    }

    fn triage(&mut self, session: SessionId) -> Command {
        let labels = |add: &str, remove: &str| Put::Labels {
            add: vec![add.to_owned()],
            remove: vec![remove.to_owned()],
        };
        let at = i64::try_from(self.rng.below(4)).unwrap_or(0);
        let puts = [
            Put::Pinned(true),
            Put::Pinned(false),
            Put::Snoozed(Some(Snooze::Until(at))),
            Put::Snoozed(Some(Snooze::Change)),
            Put::Snoozed(None),
            labels("a", "b"),
            labels("b", "a"),
        ];
        let put = self.rng.pick(&puts).cloned().unwrap_or(Put::Pinned(true));
        Command::Triage { session, put }
    }

    fn limit_idle(&mut self, session: SessionId) -> Command {
        let limits = [IdleLimit::Usual, IdleLimit::Secs(60), IdleLimit::Secs(59), IdleLimit::Never];
        let limit = *self.rng.pick(&limits).unwrap_or(&IdleLimit::Usual);
        Command::LimitIdle { session, limit }
    }

    /// The gate is shut or opened. It is mostly open, or nothing else would ever happen.
    fn gate(&mut self) -> Result<(), String> {
        if self.rng.percent(25) {
            let live = u32::try_from(self.rng.below(4)).unwrap_or(0);
            let over = if self.rng.percent(70) { Over::Queue } else { Over::Refuse };
            let closed = self.rng.percent(10);
            let day = if self.rng.percent(30) { "tokens=20" } else { "" };
            let day = day.parse().unwrap_or_default();
            return self.feed(&Input::Limits(Limits { live, over, closed, day }));
        }
        let shuts = self.rng.percent(30);
        let modes =
            [PauseMode::Boundary, PauseMode::Boundary, PauseMode::Interrupt, PauseMode::Force];
        let mode = *self.rng.pick(&modes).unwrap_or(&PauseMode::Boundary);
        let ids: Vec<_> = self.daemon.house.all_sessions().map(|s| s.id.clone()).collect();
        let kept = match self.rng.below(3) {
            0 => Kept::Missing,
            1 => Kept::FromLog,
            _ => Kept::Set(ids.clone()),
        };
        let command = if shuts {
            let (on_timeout, clearing) = (OnTimeout::Refuse, None);
            let reason = PauseReason::User;
            let full = ids.into_iter().filter(|_| self.rng.percent(20)).collect();
            GateCommand::Shut(GateWish { mode, reason, on_timeout, clearing, removes: false, full })
        } else {
            GateCommand::Open(kept)
        };
        self.feed(&Input::Gate(command))
    }

    /// Everybody at once, as one decision.
    fn together(&mut self, ids: &[SessionId]) -> Result<(), String> {
        let (mode, reason) = (PauseMode::Interrupt, PauseReason::Global);
        let (on_timeout, clearing) = (OnTimeout::Force, Clearing::Keep);
        let which = self.rng.below(3);
        let command = |session: &SessionId| {
            let session = session.clone();
            match which {
                0 => Command::Pause {
                    session,
                    wish: PauseWish { mode, reason, on_timeout, clearing },
                    until: None,
                },
                1 => Command::Stop { session, cause: StopCause::Asked },
                _ => Command::Resume { session, prompt: None },
            }
        };
        let commands: Vec<_> = ids.iter().map(command).collect();
        self.daemon.feed_together(&self.world, &commands)
    }

    /// Something with the worktree or the trash. It may be refused: that is a case, too.
    fn chore(&mut self, session: SessionId) -> Command {
        let kept = self.world.sites.get(&session).map(|site| site.kept.keys().cloned());
        let kept: Vec<_> = kept.into_iter().flatten().collect();
        match (self.rng.below(6), self.rng.pick(&kept)) {
            (0, Some(snapshot)) => Command::Restore { session, snapshot: snapshot.clone() },
            (1 | 4, _) => {
                let name = self.rng.percent(40).then(|| format!("n{}", self.rng.below(6)));
                Command::Return { session, name }
            }
            (2, _) => Command::Empty { session },
            (3, _) => Command::Compact { session },
            (_, _) => Command::Snapshot { session },
        }
    }

    fn answer(&mut self, session: SessionId) -> Command {
        let open: Vec<AskId> = self
            .daemon
            .house
            .session(&session)
            .map(|session| session.asks().iter().map(|ask| ask.id.clone()).collect())
            .unwrap_or_default();
        let ask = match self.rng.below(4) {
            0 => None,
            1 => Some(AskId("another".to_owned())),
            _ => self.rng.pick(&open).cloned(),
        };
        let answer = if self.rng.percent(50) { "allow" } else { "deny" };
        if open.iter().any(|ask| ask.0.starts_with("doubt-")) {
            self.world.ghosts.insert(session.clone());
        }
        let because = answer == "deny" && self.rng.percent(30);
        let reason = because.then(|| "say because".to_owned());
        Command::Answer { session, ask, answer: answer.to_owned(), reason }
    }

    fn perform(&mut self) -> Result<(), String> {
        if self.daemon.todo.is_empty() {
            return Ok(());
        }
        let at = self.rng.below(self.daemon.todo.len());
        let effect = self.daemon.todo.swap_remove(at);
        let told = self.daemon.perform(&mut self.world, &effect, &mut self.rng, self.luck)?;
        let given_up =
            matches!(told, Some(Input::Outcome { outcome: Outcome::ProcessNotStarted { .. }, .. }));
        self.daemon.reports.extend(told);
        // A second report of a snapshot would pass for the one after the stop.
        let once = matches!(
            effect.1,
            Effect::Deliver { .. }
                | Effect::GiveAnswer { .. }
                | Effect::Interrupt { .. }
                | Effect::TakeSnapshot { .. }
        );
        if !once && !given_up && self.rng.percent(4) {
            // Done again, as if somebody had not heard of the first time; both are told at once.
            self.flush()?;
            let again = self.daemon.perform(&mut self.world, &effect, &mut self.rng, self.luck)?;
            if let Some(told) = again {
                self.feed(&told)?;
            }
        }
        Ok(())
    }

    fn report(&mut self) -> Result<(), String> {
        if self.daemon.reports.is_empty() {
            return Ok(());
        }
        let at = self.rng.below(self.daemon.reports.len());
        let input = self.daemon.reports.swap_remove(at);
        self.feed(&input)?;
        if self.rng.percent(4) { self.feed(&input) } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), String> {
        while let Some(told) = self.daemon.reports.pop() {
            self.feed(&told)?;
        }
        Ok(())
    }

    /// Reads on in what one agent has said.
    fn read(&mut self) -> Result<(), String> {
        let Some(id) = self.any_site() else { return Ok(()) };
        for _ in 0..=self.rng.below(4) {
            self.read_one(&id)?;
        }
        Ok(())
    }

    fn read_one(&mut self, session: &SessionId) -> Result<bool, String> {
        let site = self.world.sites.get_mut(session);
        let Some(agent) = site.and_then(|site| site.agents.first_mut()) else { return Ok(false) };
        let known = self.daemon.house.session(session);
        // Nobody reads before the holder has told of the process.
        if known.is_none_or(|s| !s.runs() || s.agent.generation != agent.generation) {
            return Ok(false);
        }
        let Some((spot, sign)) = agent.said.get(agent.read).cloned() else { return Ok(false) };
        agent.read += 1;
        let generation = agent.generation;
        self.feed(&Input::Sign {
            session: session.clone(),
            generation,
            spot,
            hearing: Hearing::Live,
            sign,
        })?;
        Ok(true)
    }

    fn ring(&mut self) -> Result<(), String> {
        if self.daemon.timers.is_empty() {
            return Ok(());
        }
        let at = self.rng.below(self.daemon.timers.len());
        let Some(timer) = self.daemon.timers.iter().nth(at).cloned() else { return Ok(()) };
        self.daemon.timers.remove(&timer);
        let (subject, key) = timer;
        self.feed(&Input::TimerFired { subject, key })
    }

    /// A process ends. Mostly its last words are read first.
    pub(crate) fn die(&mut self, session: &SessionId) -> Result<(), String> {
        if self.rng.percent(70) {
            while self.read_one(session)? {}
        }
        let endings = [
            Ending::Exited(0),
            Ending::Exited(1),
            Ending::Signalled(9),
            Ending::Unknown,
            Ending::Reboot,
        ];
        let ending = self.rng.pick(&endings).cloned().unwrap_or(Ending::Unknown);
        let site = self.world.sites.get(session);
        let Some(agent) = site.and_then(|site| site.agents.first()) else { return Ok(()) };
        let (generation, ordered) = (agent.generation, agent.ordered);
        let left = site.map(Site::leftovers).unwrap_or_default();
        for (spot, sign) in agent.said.get(agent.read..).unwrap_or_default().iter().rev() {
            let (session, spot, sign) = (session.clone(), *spot, sign.clone());
            let hearing = Hearing::Live;
            self.daemon.late.push(Input::Sign { session, generation, spot, hearing, sign });
        }
        self.daemon.note(|| format!(".. {session} {generation} ends by {ending:?}"));
        self.world.end(session, ending.clone());
        let exit = Exit { ending, ordered, ..Exit::unseen(left) };
        let (session, outcome) = (session.clone(), Outcome::ProcessEnded { generation, exit });
        self.daemon.reports.push(Input::Outcome { session, outcome });
        Ok(())
    }

    /// The processes that were told to end do.
    fn end_ordered(&mut self) -> Result<(), String> {
        let ordered: Vec<_> = self
            .world
            .sites
            .iter()
            .filter(|(_, site)| site.agents.iter().any(|agent| agent.ordered))
            .map(|(id, _)| id.clone())
            .collect();
        ordered.iter().try_for_each(|id| self.die(id))
    }

    /// Everything that is under way goes well, and says so. Tells whether anything moved.
    fn quiet_round(&mut self) -> Result<bool, String> {
        let events = self.daemon.log.len();
        let mut moved = false;
        for effect in std::mem::take(&mut self.daemon.todo) {
            let told = self.daemon.perform(&mut self.world, &effect, &mut self.rng, Luck::Good)?;
            self.daemon.reports.extend(told);
            moved |= !matches!(effect.1, Effect::SetTimer { key: TimerKey::ResumeAt(_), .. });
        }
        self.end_ordered()?;
        moved |= !self.daemon.reports.is_empty();
        self.flush()?;
        let ids: Vec<_> = self.world.sites.keys().cloned().collect();
        for id in ids {
            while self.read_one(&id)? {
                moved = true;
            }
        }
        if !moved {
            let due = std::mem::take(&mut self.daemon.timers);
            // A resume that something is in the way of is tried again and again: that is no unrest.
            moved = due.iter().any(|(_, key)| !matches!(key, TimerKey::ResumeAt(_)));
            for (subject, key) in due {
                self.feed(&Input::TimerFired { subject, key })?;
            }
        }
        Ok(moved || self.daemon.log.len() > events)
    }

    /// The agents come to an end with what they do. Tells whether anyone had something to do.
    fn calm_agents(&mut self) -> Result<bool, String> {
        let mut moved = false;
        let ids: Vec<_> = self.world.sites.keys().cloned().collect();
        for id in ids {
            let site = self.world.sites.get_mut(&id);
            if let Some(agent) = site.and_then(|site| site.agents.first_mut()) {
                let (leaves, works) = (agent.has_left(), agent.has_work());
                moved |= leaves || works;
                if leaves {
                    self.die(&id)?;
                } else if works {
                    agent.calm_down();
                }
            }
        }
        Ok(moved)
    }
}
