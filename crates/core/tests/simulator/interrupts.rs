//! One plan and a person who pauses it and has it go on, again and again, while the daemon dies.

use crate::plans;
use crate::play::Play;
use crate::world::Luck;
use glis_core::pause::PauseMode;
use glis_core::plan::{Before, Pace, PlanPause, Run, RunState};
use glis_core::session::{Phase, Session};
use glis_core::talk::{Delivery, Message};
use glis_core::{Input, Plan, PlanCommand};

impl Play {
    /// Pauses the plan, has it or one of its tasks go on, or begins one anew, at any moment and in so
    /// many steps. Then it is paused, and is; then it goes on, and is done.
    pub(crate) fn interleave(&mut self, steps: usize) -> Result<(), String> {
        self.luck = Luck::Good;
        self.execute()?;
        for _ in 0..steps {
            match self.rng.below(100) {
                0..=14 => self.ask_something()?,
                15..=18 => self.crash()?,
                _ => self.step_on()?,
            }
        }
        self.feed(&Input::Plan(PlanCommand::Pause {
            id: plans::id(),
            mode: PauseMode::Interrupt,
        }))?;
        self.settle()?;
        self.is_paused()?;
        self.execute()?;
        for task in self.paused_tasks() {
            let resume = PlanCommand::Resume { id: plans::id(), task, prompt: None };
            self.feed(&Input::Plan(resume))?;
        }
        self.settle()?;
        // What was resumed ran alone, where nothing else went on.
        self.execute()?;
        self.settle()?;
        self.is_done()
    }

    fn execute(&mut self) -> Result<(), String> {
        let pace = Pace { jobs: 1 + u32::from(self.rng.percent(50)), ..Pace::default() };
        let spec = plans::spec(&mut self.rng);
        self.feed(&Input::Plan(PlanCommand::Execute {
            id: plans::id(),
            spec,
            pace,
            before: Before::default(),
        }))
    }

    fn ask_something(&mut self) -> Result<(), String> {
        let id = plans::id();
        let task = (*self.rng.pick(&["a", "b", "c"]).unwrap_or(&"a")).to_owned();
        match self.rng.below(10) {
            0..=3 => {
                let forced = self.rng.percent(20);
                let mode = if forced { PauseMode::Force } else { PauseMode::Interrupt };
                self.feed(&Input::Plan(PlanCommand::Pause { id, mode }))
            }
            4..=6 => self.execute(),
            7 | 8 => self.feed(&Input::Plan(PlanCommand::Resume { id, task, prompt: None })),
            _ => self.feed(&Input::Plan(PlanCommand::Restart { id, task, spec: None })),
        }
    }

    fn the_plan(&self) -> Result<&Plan, String> {
        self.daemon.house.plan(&plans::id()).ok_or_else(|| "there is no plan".to_owned())
    }

    fn session_of(&self, run: &Run) -> Option<&Session> {
        run.session.as_ref().and_then(|id| self.daemon.house.session(id))
    }

    /// No pause is swallowed: nothing of it runs, and nothing begins.
    fn is_paused(&self) -> Result<(), String> {
        let plan = self.the_plan()?;
        if plan.paused != Some(PlanPause::User) {
            return Err(format!("it was paused, and is not: {:?}", plan.paused));
        }
        for run in plan.active.iter().filter_map(|id| plan.run(id)) {
            let session = self.session_of(run);
            let runs = session.is_some_and(|session| session.phase == Phase::Live);
            // What asks a person goes on only when that is answered.
            let asks = session.is_some_and(|session| !session.asks().is_empty());
            if runs && !asks && run.state(session) == RunState::Running {
                return Err(format!("it was paused, and {run:?} runs: {session:?}"));
            }
        }
        Ok(())
    }

    fn paused_tasks(&self) -> Vec<String> {
        let Ok(plan) = self.the_plan() else { return Vec::new() };
        let runs = plan.active.iter().filter_map(|id| plan.run(id));
        let paused = |run: &&Run| run.state(self.session_of(run)) == RunState::Paused;
        runs.filter(paused).map(|run| run.task.clone()).collect()
    }

    /// It never sticks: every task is done, or a person has to look at it.
    fn is_done(&self) -> Result<(), String> {
        let plan = self.the_plan()?;
        let active = plan.active.iter().filter_map(|id| plan.run(id));
        for run in active {
            let session = self.session_of(run);
            // Whether its agent has got a message only a person can find out.
            let doubt = |message: &Message| message.delivery == Delivery::Doubtful;
            let asks = session.is_some_and(|session| session.talk.queue.iter().any(doubt));
            if !asks && run.state(session) == RunState::Running {
                return Err(format!("{run:?} never ends: {session:?}"));
            }
        }
        let waits = plan.runs.values().any(|run| {
            let over = run.superseded_by.is_some();
            !over && run.state(self.session_of(run)) != RunState::Succeeded
        });
        // One whose budget is spent waits for a person as well.
        if plan.schedule.is_over() || waits || plan.paused == Some(PlanPause::Budget) {
            return Ok(());
        }
        Err(format!("something of it never begins: {:?}", plan.schedule))
    }
}
