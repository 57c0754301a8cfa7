//! Plans whose tasks are in the list: how far each is, and what became of the runs.

use super::Model;
use glis_client::labels::{Tone, mark, tone};
use glis_core::Status;
use glis_core::plan::RunState;
use glis_wire::plan::{PlanRow, RunView};
use glis_wire::view::SessionRow;
use std::collections::{BTreeMap, BTreeSet};

/// As often as plans are read while something happens to them: a bar moves no faster than is looked at.
const READ_PACE_MS: u64 = 500;

#[derive(Default)]
pub(crate) struct Plans {
    rows: BTreeMap<String, PlanRow>,
    /// What became of the run of each session, by its id, where nothing more comes of it.
    ends: BTreeMap<String, RunEnd>,
    /// Something has changed since they were read.
    is_stale: bool,
    is_reading: bool,
    not_before: u64,
}

/// What became of a run of which nothing more comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunEnd {
    Merged,
    Skipped,
    /// Another run of the task has taken its place.
    Superseded,
}

impl RunEnd {
    fn of(run: &RunView) -> Option<Self> {
        match run.state {
            RunState::Succeeded => Some(Self::Merged),
            RunState::Canceled if run.skipped => Some(Self::Skipped),
            _ if run.superseded_by_run_id.is_some() => Some(Self::Superseded),
            RunState::Canceled => Some(Self::Skipped),
            RunState::Running | RunState::Waiting | RunState::Paused | RunState::Failed => None,
        }
    }
}

/// How a session is, at a glance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Badge {
    pub(crate) mark: char,
    pub(crate) word: &'static str,
    pub(crate) tone: Tone,
}

impl Plans {
    /// How far a plan is, once that was read.
    pub(crate) fn row(&self, plan: &str) -> Option<&PlanRow> {
        self.rows.get(plan)
    }

    /// How a session is. What is done is told from what sleeps.
    pub(crate) fn badge(&self, session: &SessionRow) -> Badge {
        let badge = |mark, word, tone| Badge { mark, word, tone };
        let looped = session.looped.as_deref().map(|own| own.state.as_str());
        let rests = matches!(session.status, Status::Idle | Status::Suspended | Status::Completed);
        let ended = self.ends.get(&session.id).filter(|_| rests && session.task.is_some());
        match (ended, looped) {
            (Some(RunEnd::Merged), _) => badge('✓', "merged", Tone::Good),
            (Some(RunEnd::Skipped), _) => badge('–', "skipped", Tone::Faint),
            (Some(RunEnd::Superseded), _) => badge('–', "superseded", Tone::Faint),
            (None, Some("done")) if rests => badge('✓', "done", Tone::Good),
            // Between two iterations it has no process, and goes on.
            (None, Some("running")) if rests => badge('●', "running", Tone::Good),
            (None, Some("stopped")) if rests => badge('■', "stopped", Tone::Faint),
            (None, _) if session.status == Status::Suspended => badge('z', "asleep", Tone::Faint),
            (None, _) => badge(mark(session.status), session.status.word(), tone(session.status)),
        }
    }

    /// They were read. Where that has failed, what is known stays: the next event tells again.
    pub(crate) fn arrived(&mut self, read: Option<(Vec<PlanRow>, Vec<RunView>)>) {
        self.is_reading = false;
        let Some((plans, runs)) = read else { return };
        self.rows = plans.into_iter().map(|plan| (plan.id.clone(), plan)).collect();
        let ended = runs.iter().filter_map(|run| Some((run.session.clone()?, RunEnd::of(run)?)));
        self.ends = ended.collect();
    }

    pub(crate) fn changed(&mut self) {
        self.is_stale = true;
    }

    /// When they are read again, if there is a reason for it.
    pub(crate) fn due(&self) -> Option<u64> {
        (self.is_stale && !self.is_reading).then_some(self.not_before)
    }
}

impl Model {
    /// The repositories whose plans are to be read now.
    pub(crate) fn plans_to_read(&mut self) -> BTreeSet<String> {
        if self.rows.plans.due().is_none_or(|due| due > self.now.ms) {
            return BTreeSet::new();
        }
        let of_plans = self.rows.all.values().filter(|session| session.plan.is_some());
        let repos: BTreeSet<String> = of_plans.map(|one| one.repo_root.clone()).collect();
        let plans = &mut self.rows.plans;
        (plans.is_stale, plans.is_reading) = (false, !repos.is_empty());
        plans.not_before = self.now.ms + READ_PACE_MS;
        repos
    }
}
