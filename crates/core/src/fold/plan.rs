//! The fold, as far as plans are concerned.

use crate::event::Event;
use crate::ids::{PlanId, RunId, SessionId};
use crate::plan::{
    Plan, PlanEvent, PlanPause, PlanSpec, Run, RunStep, TaskRef, TaskSpec, schedule_of,
};
use crate::session::{Session, WallMs};
use crate::shared::SharedMap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Whether an event of a session may mean something to the plan that it works for.
pub(crate) fn matters(event: &Event) -> bool {
    matches!(
        event,
        Event::SessionCreated { .. } | Event::SessionRecovered { .. } | Event::MessageTaken { .. }
    )
}

/// The plan that an event brings into being, if it is such an event.
pub(crate) fn born(id: &PlanId, at: WallMs, event: &PlanEvent) -> Option<Plan> {
    let PlanEvent::Begun { spec, pace, done } = event else { return None };
    let mut schedule = schedule_of(&spec.tasks);
    schedule.finish_all(|task| done.iter().any(|done| done == task));
    Some(Plan {
        id: id.clone(),
        spec: Arc::new((**spec).clone()),
        pace: pace.clone(),
        paused: None,
        schedule,
        runs: SharedMap::default(),
        latest: SharedMap::default(),
        active: BTreeSet::new(),
        before: done.iter().cloned().collect(),
        skipped: BTreeSet::new(),
        tip: None,
        created_at: at,
        executed_at: at,
        cost_micros: 0,
        granted_micros: 0,
    })
}

impl Plan {
    /// Folds in what has happened to it.
    pub(crate) fn apply(&mut self, at: WallMs, event: &PlanEvent) {
        match event {
            // It is there already, or in its file alone.
            PlanEvent::Begun { .. } | PlanEvent::TaskProposed { .. } => {}
            PlanEvent::Revised { spec } => self.revise(spec),
            PlanEvent::Continued { pace } => {
                self.pace = pace.clone();
                if self.paused == Some(PlanPause::Budget) {
                    self.granted_micros = self.cost_micros;
                }
                self.paused = None;
                self.executed_at = at;
            }
            PlanEvent::Stopped { why } => {
                self.paused = Some(*why);
                self.include_all();
            }
            PlanEvent::RunBegan { run, task, restart_of, resumed_from, retry, alone } => {
                let session = self.supersede(at, run, restart_of.as_ref(), resumed_from.as_ref());
                let former = resumed_from.as_ref().filter(|_| *retry).and_then(|id| self.run(id));
                let retries = former.map_or(0, |former| former.retries + 1);
                // What a person has go on may cost as much again.
                let granted = former.map(|former| former.granted_micros);
                let cost = resumed_from.as_ref().and_then(|id| self.run(id));
                let cost_micros = cost.map_or(0, |former| former.cost_micros);
                self.begin_run(Run {
                    id: run.clone(),
                    task: task.clone(),
                    said: self.task(task).map_or(0, TaskSpec::said),
                    step: session.as_ref().map_or(RunStep::Preparing, |_| RunStep::Working),
                    session,
                    alone: *alone,
                    retries,
                    as_it_is: false,
                    cost_micros,
                    granted_micros: granted.unwrap_or(cost_micros),
                    created_at: at,
                    updated_at: at,
                    restart_of: restart_of.clone(),
                    resumed_from: resumed_from.clone(),
                    superseded_by: None,
                });
            }
            PlanEvent::RunFinishing { run, as_it_is } => {
                self.step(at, run, RunStep::Finishing);
                if let Some(run) = self.runs.get_mut(run) {
                    run.as_it_is = *as_it_is;
                }
            }
            PlanEvent::RunCost { run, micros } => self.count(run, *micros),
            PlanEvent::RunAccepted { run, commit } => {
                self.step(at, run, RunStep::Merging(commit.clone()));
            }
            PlanEvent::RunSucceeded { run, commit } => {
                self.step(at, run, RunStep::Succeeded(commit.clone()));
                self.tip = Some(commit.clone());
                if let Some(task) = self.runs.get(run).map(|run| run.task.clone()) {
                    self.finish(&task);
                }
            }
            PlanEvent::RunFailed { run, why } => self.step(at, run, RunStep::Failed(why.clone())),
            PlanEvent::RunWaits { run, why } => self.step(at, run, RunStep::Waiting(why.clone())),
            PlanEvent::RunCanceled { run } => self.step(at, run, RunStep::Canceled),
            PlanEvent::TaskSkipped { task } => {
                self.schedule.take(task);
                self.skipped.insert(task.clone());
                self.finish(task);
            }
        }
    }

    /// What a session costs goes up only.
    fn count(&mut self, run: &RunId, micros: u64) {
        if let Some(run) = self.runs.get_mut(run) {
            let more = micros.saturating_sub(run.cost_micros);
            self.cost_micros = self.cost_micros.saturating_add(more);
            run.cost_micros = run.cost_micros.max(micros);
        }
    }

    /// Whoever pauses a plan means everything that runs then, also what was asked for by itself.
    fn include_all(&mut self) {
        for id in &self.active {
            let alone = self.runs.get(id).is_some_and(|run| run.alone);
            if alone && let Some(run) = self.runs.get_mut(id) {
                run.alone = false;
            }
        }
    }

    /// What is done stays done, and what is worked on stays taken.
    fn revise(&mut self, spec: &PlanSpec) {
        self.spec = Arc::new(spec.clone());
        let mut schedule = schedule_of(&spec.tasks);
        schedule.finish_all(|task| self.is_done(task));
        for task in self.latest.keys() {
            schedule.take(task);
        }
        self.schedule = schedule;
    }

    /// A task is done. It may be so once more: what needs it and is done stays done, and what needs it and
    /// came to nothing waits for a person.
    fn finish(&mut self, task: &str) {
        let mut schedule = std::mem::take(&mut self.schedule);
        for ready in schedule.finish_with(task, |task| self.is_done(task)) {
            if self.latest.contains_key(&ready) {
                schedule.take(&ready);
            }
        }
        self.schedule = schedule;
    }

    /// Links the run before this one, and says whose session this one goes on in, if it does.
    fn supersede(
        &mut self,
        at: WallMs,
        run: &RunId,
        restart_of: Option<&RunId>,
        resumed_from: Option<&RunId>,
    ) -> Option<SessionId> {
        if let Some(former) = restart_of.and_then(|former| self.runs.get_mut(former)) {
            former.superseded_by = Some(run.clone());
            former.updated_at = at;
            self.active.remove(&former.id);
        }
        resumed_from.and_then(|former| self.runs.get(former)?.session.clone())
    }

    fn begin_run(&mut self, run: Run) {
        self.schedule.take(&run.task);
        self.skipped.remove(&run.task);
        self.latest.insert_mut(run.task.clone(), run.id.clone());
        self.active.insert(run.id.clone());
        self.runs.insert_mut(run.id.clone(), run);
    }

    /// Whether a task is done, or is not to be.
    pub fn is_done(&self, task: &str) -> bool {
        match self.latest_run(task) {
            Some(run) if matches!(run.step, RunStep::Succeeded(_)) => true,
            Some(_) => self.skipped.contains(task),
            None => self.skipped.contains(task) || self.before.contains(task),
        }
    }

    fn step(&mut self, at: WallMs, run: &RunId, step: RunStep) {
        let Some(run) = self.runs.get_mut(run) else { return };
        run.step = step;
        run.updated_at = at;
        if run.is_over() {
            self.active.remove(&run.id);
        }
    }

    /// The session of a run has become something else.
    pub(crate) fn touch(&mut self, at: WallMs, of: &TaskRef, session: &SessionId) {
        let Some(id) = self.run_of(of, session).map(|run| run.id.clone()) else { return };
        // What is over stays as it was recorded, whatever becomes of its session.
        if let Some(run) = self.runs.get_mut(&id).filter(|run| !run.is_over()) {
            run.updated_at = at;
        }
    }

    /// Takes in what has happened to the session of one of its runs.
    pub(crate) fn learn(&mut self, at: WallMs, of: &TaskRef, session: &Session, event: &Event) {
        let Some(id) = self.run_of(of, &session.id).map(|run| run.id.clone()) else { return };
        let Some(run) = self.runs.get_mut(&id) else { return };
        if matches!(event, Event::SessionCreated { .. } | Event::SessionRecovered { .. })
            && run.session.is_none()
        {
            run.session = Some(session.id.clone());
            if run.step == RunStep::Preparing {
                run.step = RunStep::Working;
            }
            run.updated_at = at;
        }
        if run.session.as_ref() != Some(&session.id) {
            return;
        }
        // What it was asked to mend may be mended when it is done again.
        if matches!((&run.step, event), (RunStep::Waiting(_), Event::MessageTaken { .. })) {
            run.step = RunStep::Working;
            run.updated_at = at;
        }
    }
}
