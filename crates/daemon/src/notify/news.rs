//! What is worth telling: a session waits, has finished, has failed, or has reached a limit.

use crate::view::{UNKNOWN, limit_until};
pub(super) use glis_config::Notice as Kind;
use glis_core::looping::{Breaker, Loop, LoopEvent, STALE_MAX};
use glis_core::merge::Unmerged;
use glis_core::pause::PauseReason;
use glis_core::plan::{Plan, PlanPause, Run, RunFault, RunStep};
use glis_core::reason::Why;
use glis_core::session::Session;
use glis_core::spending::{Spending, SpendingEvent};
use glis_core::{Event, PlanEvent, Recorded, Status};

/// Something that the user may want to know.
#[derive(Debug, Clone)]
pub(super) struct News {
    pub(super) kind: Kind,
    pub(super) recorded: Recorded,
}

impl News {
    /// What an event means to somebody who is not looking.
    pub(super) fn of(recorded: &Recorded) -> Option<Self> {
        let of = |kind| Some(Self { kind, recorded: recorded.clone() });
        if matches!(recorded.event, Event::LimitReached { .. }) {
            return of(Kind::Limit);
        }
        if is_out_of_time(&recorded.event) {
            return of(Kind::Failed);
        }
        if let Event::Loop(event) = &recorded.event {
            return match event {
                LoopEvent::Done { .. } => of(Kind::Finished),
                LoopEvent::Broke { .. } => of(Kind::Failed),
                LoopEvent::Began { .. }
                | LoopEvent::NotBegun { .. }
                | LoopEvent::Ended { .. }
                | LoopEvent::LookedBack { .. }
                | LoopEvent::Stopped
                | LoopEvent::Reopened
                | LoopEvent::PauseAsked(_)
                | LoopEvent::PauseWithdrawn { .. }
                | LoopEvent::Set { .. } => None,
            };
        }
        if let Event::Spending(event) = &recorded.event {
            return match event {
                SpendingEvent::Warned { .. } => of(Kind::Limit),
                SpendingEvent::Reached { .. } => of(Kind::Waiting),
                SpendingEvent::Began { .. }
                | SpendingEvent::Set { .. }
                | SpendingEvent::Used { .. }
                | SpendingEvent::Granted => None,
            };
        }
        if let Event::Plan(event) = &recorded.event {
            return kind_of(event).and_then(of);
        }
        // Its snooze is over by itself, and it may have come to wait meanwhile.
        if let Event::Triaged(triage) = &recorded.event {
            let is_over = triage.snoozed.is_none() && recorded.from.is_none();
            return if is_over { of(Kind::Waiting) } else { None };
        }
        // Whoever resumes a session is told there and then that it failed; a time that came tells no one.
        if matches!(recorded.event, Event::StartFailed { .. })
            && recorded.status == Some(Status::Paused)
        {
            return of(Kind::Failed);
        }
        match recorded.status? {
            Status::Waiting => of(Kind::Waiting),
            Status::Completed => of(Kind::Finished),
            // An agent that has come back is idle as well, and has finished nothing.
            Status::Idle if is_whole_turn(&recorded.event) => of(Kind::Finished),
            Status::Idle if is_failed_turn(&recorded.event) => of(Kind::Failed),
            // It has come back, and stands still if a pause has cut what it asked.
            Status::Idle if matches!(recorded.event, Event::StartEnded { .. }) => of(Kind::Waiting),
            Status::Failed | Status::Interrupted => of(Kind::Failed),
            Status::Created
            | Status::Idle
            | Status::Busy
            | Status::Pausing
            | Status::Paused
            | Status::Resuming
            | Status::Suspended
            | Status::Archived => None,
        }
    }

    /// Whether it is still so.
    pub(super) fn holds(&self, session: &Session) -> bool {
        if session.triage.snoozed.is_some() {
            return false;
        }
        if let (Event::Loop(_), Some(looped)) = (&self.recorded.event, &session.ahead.looped) {
            return looped.broke.is_some() || !looped.goes_on();
        }
        if let Event::Spending(event) = &self.recorded.event {
            return about_budget(event, &session.spending).is_some();
        }
        if is_out_of_time(&self.recorded.event) {
            return session.spec.task.is_some()
                && matches!(session.status(), Status::Pausing | Status::Paused);
        }
        match self.kind {
            // The next iteration is about to begin.
            Kind::Finished | Kind::Failed if session.goes_on_iterating() => false,
            Kind::Waiting if matches!(self.recorded.event, Event::StartEnded { .. }) => {
                session.status() == Status::Idle && !session.talk.was_asking.is_empty()
            }
            Kind::Waiting => session.status() == Status::Waiting,
            Kind::Finished => matches!(session.status(), Status::Idle | Status::Completed),
            // What is tried again has not failed for good.
            Kind::Failed if matches!(self.recorded.event, Event::StartFailed { .. }) => {
                let given_up =
                    session.course.by_itself.is_given_up() && session.pause_record().is_some();
                given_up || session.status() == Status::Failed
            }
            Kind::Failed if is_failed_turn(&self.recorded.event) => {
                session.talk.turn_failed.is_some()
            }
            Kind::Failed => matches!(session.status(), Status::Failed | Status::Interrupted),
            // A time that becomes known takes the place of none: it is one limit.
            Kind::Limit => {
                let until = session.starts.limit_until.as_ref();
                !matches!(&self.recorded.event, Event::LimitReached { reset_at, .. }
                    if until.is_some_and(|until| until != reset_at))
            }
        }
    }

    pub(super) fn text(&self, session: &Session) -> String {
        if let (Event::Loop(event), Some(looped)) = (&self.recorded.event, &session.ahead.looped) {
            return about_loop(event, looped);
        }
        if let Event::Spending(event) = &self.recorded.event {
            return about_budget(event, &session.spending).unwrap_or_default();
        }
        if is_out_of_time(&self.recorded.event) {
            return "it is paused: the `max_time` of its task is over".to_owned();
        }
        match self.kind {
            Kind::Waiting => match (session.asks().first(), session.talk.was_asking.first()) {
                (Some(ask), _) => ask.text.clone(),
                (None, Some(ask)) => format!("before its pause it asked: {}", ask.text),
                (None, None) => "it asks something on its screen".to_owned(),
            },
            Kind::Finished => "its turn has ended".to_owned(),
            Kind::Failed => failure(session, &self.recorded.event),
            Kind::Limit => limit(&self.recorded.event),
        }
    }
}

/// Whether an agent is paused since its task has taken its time.
pub(super) fn is_out_of_time(event: &Event) -> bool {
    matches!(event, Event::PauseBegan { reason: PauseReason::Budget, .. })
}

/// What a person reads of a budget, if it is still so.
pub(super) fn about_budget(event: &SpendingEvent, now: &Spending) -> Option<String> {
    match event {
        SpendingEvent::Warned { what } if now.warned && now.reached.is_none() => {
            Some(format!("it goes towards the end of its budget: {what}"))
        }
        SpendingEvent::Reached { what } if now.reached.is_some() => {
            Some(format!("its budget is used up ({what}); `glis resume` grants as much again"))
        }
        SpendingEvent::Warned { .. }
        | SpendingEvent::Reached { .. }
        | SpendingEvent::Began { .. }
        | SpendingEvent::Set { .. }
        | SpendingEvent::Used { .. }
        | SpendingEvent::Granted => None,
    }
}

/// How a loop has ended, or why it has paused itself.
fn about_loop(event: &LoopEvent, looped: &Loop) -> String {
    let iteration = looped.iteration;
    let Some(broke) = looped.broke.filter(|_| matches!(event, LoopEvent::Broke { .. })) else {
        return format!("the loop is done, after iteration {iteration}");
    };
    let why = match broke {
        Breaker::Failures => format!("{} iterations in a row failed", looped.failures),
        Breaker::NoProgress => format!("{STALE_MAX} iterations in a row changed nothing"),
        Breaker::NotResumable => "its agent does not come back".to_owned(),
        Breaker::Cost => "it reached its cost limit".to_owned(),
    };
    format!("the loop has paused itself after iteration {iteration}: {why}")
}

/// What it means to somebody who is not looking. That an agent did not start is told of its session.
fn kind_of(event: &PlanEvent) -> Option<Kind> {
    match event {
        PlanEvent::RunWaits { .. }
        | PlanEvent::TaskProposed { .. }
        | PlanEvent::Stopped { why: PlanPause::Budget } => Some(Kind::Waiting),
        PlanEvent::RunFailed { why: RunFault::NotBegun(_) | RunFault::NotAccepted(_), .. } => {
            Some(Kind::Failed)
        }
        PlanEvent::RunFailed { why: RunFault::NotStarted(_) | RunFault::Rejected, .. }
        | PlanEvent::RunFinishing { .. }
        | PlanEvent::Begun { .. }
        | PlanEvent::Revised { .. }
        | PlanEvent::Continued { .. }
        | PlanEvent::Stopped { .. }
        | PlanEvent::RunBegan { .. }
        | PlanEvent::RunCost { .. }
        | PlanEvent::RunAccepted { .. }
        | PlanEvent::RunCanceled { .. }
        | PlanEvent::TaskSkipped { .. } => None,
        PlanEvent::RunSucceeded { .. } => Some(Kind::Finished),
    }
}

/// What a person reads of a plan that has spent its budget, if it still stands there.
pub(super) fn of_plan(plan: &Plan) -> Option<String> {
    let slug = &plan.spec.slug;
    let stands = plan.paused == Some(PlanPause::Budget) && !plan.is_over();
    stands.then(|| {
        format!(
            "the plan {slug} has stopped: its budget is spent; `glis execute` grants as much again"
        )
    })
}

/// What a person reads of the latest run of a task that needs one, if it still does, or that has ended its plan.
pub(super) fn of_run(plan: &Plan, run: &Run) -> Option<String> {
    let (task, slug) = (&run.task, &plan.spec.slug);
    match &run.step {
        RunStep::Succeeded(_) if plan.is_over() => {
            Some(format!("the plan {slug} is done; `glis merge {slug}` takes it in"))
        }
        RunStep::Waiting(Unmerged::Review) => Some(format!("task {task} is done: look at it")),
        RunStep::Waiting(why) => {
            Some(format!("task {task}: its work is not merged: {}", unmerged(why)))
        }
        RunStep::Failed(RunFault::NotBegun(why)) => {
            Some(format!("task {task} could not begin: {}", why.stored()))
        }
        RunStep::Failed(RunFault::NotAccepted(why)) => {
            // The command, and the last line that it printed: a notification is not where a log is read.
            let last = why.lines().skip(1).filter(|line| !line.trim().is_empty()).last();
            let said = why.lines().take(1).chain(last).collect::<Vec<_>>().join(": ");
            Some(format!("task {task} is not accepted: {said}"))
        }
        RunStep::Failed(RunFault::NotStarted(_) | RunFault::Rejected)
        | RunStep::Preparing
        | RunStep::Working
        | RunStep::Finishing
        | RunStep::Merging(_)
        | RunStep::Succeeded(_)
        | RunStep::Canceled => None,
    }
}

/// What a person reads of a task that is proposed.
pub(super) fn proposed(task: &str, title: Option<&str>) -> String {
    let title = title.map(|title| format!(" ({title})")).unwrap_or_default();
    format!("an agent proposes the task {task}{title}; `glis plan approve {task}` has it worked on")
}

fn unmerged(why: &Unmerged) -> String {
    match why {
        Unmerged::Conflict { files } => format!("it is in conflict in {}", files.line()),
        Unmerged::OffBranch { .. } => "its worktree is not on its branch".to_owned(),
        Unmerged::Unfinished { what } => format!("a {what} is not finished"),
        Unmerged::Nested { path } => format!("{path} is a repository of its own"),
        Unmerged::Submodule { path } => format!("the submodule {path} has changes of its own"),
        Unmerged::NoBranch | Unmerged::NoBase => "the plan's branch is gone".to_owned(),
        Unmerged::CheckedOut { branch, at } => format!("{branch} is checked out in {at}"),
        Unmerged::NoWorktree => "its worktree is gone".to_owned(),
        Unmerged::Hook { .. } => "a hook has refused it".to_owned(),
        Unmerged::Review => "you look at it first".to_owned(),
        Unmerged::Stopped => "it was stopped while it was judged".to_owned(),
        Unmerged::Failed { why } => why.clone(),
    }
}

fn is_whole_turn(event: &Event) -> bool {
    matches!(event, Event::TurnEnded { cut: false, limited: false, failed: None, .. })
}

fn is_failed_turn(event: &Event) -> bool {
    matches!(event, Event::TurnEnded { failed: Some(_), .. })
}

fn failure(session: &Session, event: &Event) -> String {
    if let (Event::StartFailed { fault, .. }, true) =
        (event, session.course.by_itself.is_given_up())
    {
        return format!("it could not be resumed by itself: {fault}");
    }
    if let Event::TurnEnded { failed: Some(why), .. } = event {
        return why.clone();
    }
    let why = if let Event::Interrupted { why } = event { Some(why) } else { None };
    session.failure().or(why).map_or("its process has ended".into(), Why::stored).into_owned()
}

fn limit(event: &Event) -> String {
    let known = if let Event::LimitReached { reset_at, .. } = event { reset_at } else { "" };
    match limit_until(known) {
        known if known == UNKNOWN => "its usage limit is reached".to_owned(),
        known => format!("its usage limit is reached; it resets at {known}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glis_core::Subject;
    use glis_core::caller::Origin;
    use glis_core::session::{Phase, Rest};
    use glis_core::triage::{Snooze, Triage};

    fn news(event: Event, status: Option<Status>, from: Option<Origin>) -> Option<News> {
        let subject = Subject::from(crate::fill::session().id);
        News::of(&Recorded { from, status, ..Recorded::new(1, 0, subject, event) })
    }

    #[test]
    fn who_is_snoozed_is_told_of_when_that_is_over() {
        let mut session = crate::fill::session();
        session.phase = Phase::Rest(Rest::Completed);
        let done = news(Event::Completed, Some(Status::Completed), None).unwrap();
        assert!(done.holds(&session));
        session.triage.snoozed = Some(Snooze::Until(1));
        assert!(!done.holds(&session));
        let over = || Event::Triaged(Box::default());
        assert_eq!(news(over(), None, None).map(|news| news.kind), Some(Kind::Waiting));
        let still = Triage { snoozed: Some(Snooze::Change), ..Triage::default() };
        assert!(news(Event::Triaged(Box::new(still)), None, None).is_none());
        // Who wakes it knows.
        assert!(news(over(), None, Some(Origin::default())).is_none());
    }
}
