//! Everything that is done for a session has a bound. What hangs is ended where that is possible and
//! left behind where it is not; its operation ends with a reason, and what comes late is ignored.

use crate::mailbox::Mailbox;
use crate::panics::held;
use crate::pools::{Kind, Pools};
use crate::settings::Settings;
use crate::tasks::beside_on;
use crate::timers::Time;
use crate::turns::Turns;
use glis_config::Config;
use glis_core::input::Outcome;
use glis_core::session::{Phase, Session, Start, StartStep};
use glis_core::{Input, OpId};
use glis_snapshot::Task;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};
use tracing::{info, warn};

/// Nothing that is done for one session takes longer than this on a machine that works: the largest
/// worktrees are written in some minutes.
const STEP_TIME: Duration = Duration::from_secs(600);
/// A git that works uses the processor or moves bytes all the time. One that has done neither for so
/// long waits for something that does not come: a filter, a lock, a disk.
const STALL_TIME: Duration = Duration::from_secs(60);
/// The same for a caller that only looks, and can ask again.
const LOOK_STALL_TIME: Duration = Duration::from_secs(10);
/// How often a stall is looked for within its time.
const STALL_LOOKS: u32 = 4;
/// What was ended is gone at once, or sits in the kernel.
const END_TIME: Duration = Duration::from_secs(2);
const END_PACE: Duration = Duration::from_millis(100);

/// What is under way and takes its time.
pub(crate) struct Bounds {
    mailbox: Mailbox,
    settings: Arc<Settings>,
    pools: Pools,
    pub(crate) turns: Turns,
    time: Time,
    runtime: Handle,
    count: watch::Sender<usize>,
    /// What is being done for an operation, to be told that it has taken too long.
    under_way: Mutex<Vec<(OpId, Arc<Notify>)>>,
}

impl Bounds {
    /// Belongs to the runtime that this is called in.
    pub(crate) fn new(
        mailbox: Mailbox,
        settings: Arc<Settings>,
        pools: Pools,
        time: Time,
    ) -> Arc<Self> {
        let (turns, runtime, under_way) = (Turns::default(), Handle::current(), Mutex::default());
        let count = watch::Sender::new(0);
        Arc::new(Self { mailbox, settings, pools, turns, time, runtime, count, under_way })
    }

    /// What an operation does has taken too long.
    pub(crate) fn cut_short(&self, op: OpId) {
        for (_, overdue) in held(&self.under_way).iter().filter(|(known, _)| *known == op) {
            overdue.notify_one();
        }
    }

    fn begin(&self, op: Option<OpId>) -> Arc<Notify> {
        self.count.send_modify(|count| *count += 1);
        let overdue = Arc::new(Notify::new());
        if let Some(op) = op {
            held(&self.under_way).push((op, Arc::clone(&overdue)));
        }
        overdue
    }

    pub(crate) fn end(&self, step: &Step) {
        held(&self.under_way).retain(|(_, other)| !Arc::ptr_eq(other, &step.overdue));
        self.count.send_modify(|count| *count -= 1);
    }

    /// Waits until nothing is under way any more.
    pub(crate) async fn rest(&self) {
        drop(self.count.subscribe().wait_for(|count| *count == 0).await);
    }
}

/// How long something for this session may take, as things stand. The core gives the steps of a pause
/// less; this is for what nothing waits for, or nothing that has a limit of its own.
fn time_for(config: &Config, session: &Session) -> Duration {
    let for_phase = time_for_phase(config, session);
    // The command of `--until` has a limit of its own.
    if session.is_looked_back_at() {
        for_phase + Duration::from_secs(config.looped.until_secs.into())
    } else {
        for_phase
    }
}

fn time_for_phase(config: &Config, session: &Session) -> Duration {
    let sets_up = |start: &Start| matches!(start.step, StartStep::Worktree | StartStep::Check);
    if matches!(&session.phase, Phase::Starting(start) if sets_up(start)) {
        let provisions = config.provisions(&session.spec.repo_root);
        STEP_TIME + Duration::from_secs(provisions.setup_secs_max.into())
    } else {
        STEP_TIME
    }
}

/// What is told of something that failed, for this reason.
pub(crate) type Failed = Box<dyn FnOnce(String) -> Outcome + Send>;

pub(crate) struct Step {
    op: Option<OpId>,
    overdue: Arc<Notify>,
    task: Arc<Task>,
    /// Told once it has a place.
    begun: Notify,
    /// Told once it is over.
    over: Notify,
    /// The one that takes this tells how it ended.
    failed: Mutex<Option<Failed>>,
}

impl Step {
    /// Does the work, so that what it starts can be found.
    pub(crate) fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        self.begun.notify_one();
        self.task.run(work)
    }

    /// Its work is done, in time or not.
    pub(crate) fn is_over(&self) {
        self.over.notify_one();
    }

    /// What is to be told if it failed, unless that was told already.
    pub(crate) fn take(&self) -> Option<Failed> {
        held(&self.failed).take()
    }
}

impl Bounds {
    /// Begins a step that is watched over: what it does is ended when it takes too long, and `failed`
    /// is told in its place.
    pub(crate) fn watched(self: &Arc<Self>, session: &Session, failed: Failed) -> Arc<Step> {
        let op = session.operation().map(|(op, _)| op);
        let step = Arc::new(Step {
            op,
            overdue: self.begin(op),
            task: Task::new(),
            begun: Notify::new(),
            over: Notify::new(),
            failed: Mutex::new(Some(failed)),
        });
        beside_on(&self.runtime, watch_over(Arc::clone(self), session.clone(), Arc::clone(&step)));
        step
    }
}

/// Ends what takes too long, and tells so in its place.
async fn watch_over(bounds: Arc<Bounds>, session: Session, step: Arc<Step>) {
    let time = bounds.time.clone();
    // Where nobody waits for it, it may wait for its place as long as it takes.
    if step.op.is_none() {
        step.begun.notified().await;
    }
    let begun = time.now();
    let config = bounds.settings.now();
    let until = begun + time_for(&config, &session);
    // A caller waits for an operation, but not for what is saved beside it.
    let mut impatient_at = step.op.map(|_| begun + config.force_time());
    let mut stall = std::pin::pin!(bounds.stall(&step.task, Only::Processes, STALL_TIME));
    let stalled = loop {
        let impatient = async {
            match impatient_at {
                Some(at) => time.sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = impatient => {
                impatient_at = None;
                make_way(&bounds, &session, &step.task).await;
            }
            () = step.over.notified() => return,
            () = step.overdue.notified() => break None,
            () = time.sleep_until(until) => break None,
            () = &mut stall => break Some(STALL_TIME),
        }
    };
    // What a chore has moved is moved: once what it waits for has ended, it says itself how far it came.
    let tells_itself = matches!(session.phase, Phase::Chore { .. });
    let taken = if tells_itself { None } else { step.take() };
    if taken.is_none() && !tells_itself {
        return;
    }
    let ended = end(&bounds, &session, &step).await;
    let Some(failed) = taken.or_else(|| step.take()) else { return };
    let secs = time.now().saturating_duration_since(begun).as_secs();
    let late = stalled.map_or(format!("not done after {secs} s"), hangs);
    let why = format!("{late}; {}", given_up(&ended));
    warn!(session = %session.id, "{why}");
    let outcome = overdue(failed(why));
    bounds.mailbox.tell(Input::Outcome { session: session.id, outcome }).await;
    bounds.end(&step);
}

/// Ends what has had a session's turn all the time that a step waits for it.
async fn make_way(bounds: &Bounds, session: &Session, task: &Arc<Task>) {
    let before = bounds.turns.at_work(&session.id).filter(|other| !Arc::ptr_eq(other, task));
    let Some(before) = before else { return };
    let ended = bounds.pools.run_blocking(Kind::Signal, move || before.end()).await;
    let ended = ended.unwrap_or_default().join(", ");
    info!(session = %session.id, "ended what held it up: {ended}");
}

/// Ends every process that a step or the work before it waits for. Says which they were.
async fn end(bounds: &Bounds, session: &Session, step: &Step) -> Vec<String> {
    let tasks = || {
        let before = bounds.turns.at_work(&session.id);
        [Some(Arc::clone(&step.task)), before].into_iter().flatten().collect()
    };
    end_all(&bounds.pools, &tasks, std::pin::pin!(step.over.notified())).await
}

/// Ends every process of these tasks, again and again, since they may go on with another one that hangs as
/// well: until it is `over`, or it is clear that it does not come to that. Says which they were.
async fn end_all(
    pools: &Pools,
    tasks: &(dyn Fn() -> Vec<Arc<Task>> + Sync),
    mut over: Pin<&mut (dyn Future<Output = ()> + Send)>,
) -> Vec<String> {
    let mut named = Vec::new();
    let ending = async {
        loop {
            let tasks = tasks();
            let end = move || tasks.iter().flat_map(|task| task.end()).collect::<Vec<_>>();
            let ended = pools.run_blocking(Kind::Signal, end).await.unwrap_or_default();
            let fresh: Vec<_> = ended.into_iter().filter(|one| !named.contains(one)).collect();
            named.extend(fresh);
            tokio::select! {
                () = &mut over => return,
                () = sleep(END_PACE) => {}
            }
        }
    };
    timeout(END_TIME, ending).await.ok();
    named
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Only {
    /// A process that does nothing. Our own threads may wait for their turn.
    Processes,
    Anything,
}

fn hangs(span: Duration) -> String {
    format!("it hangs, nothing moved for {} s", span.as_secs())
}

fn given_up(ended: &[String]) -> String {
    if ended.is_empty() { "given up".to_owned() } else { format!("ended {}", ended.join(", ")) }
}

impl Bounds {
    /// Waits until a task has not moved for so long.
    async fn stall(&self, task: &Arc<Task>, only: Only, span: Duration) {
        let mut last = (None, self.time.now());
        loop {
            self.time.sleep(span / STALL_LOOKS).await;
            let own = Arc::clone(task);
            let look = self.pools.run_blocking(Kind::Signal, move || own.effort());
            let effort = look.await.ok().flatten();
            let judged = effort.filter(|e| only == Only::Anything || e.has_processes());
            if judged.is_none() || judged != last.0 {
                last = (judged, self.time.now());
            } else if self.time.now().saturating_duration_since(last.1) >= span {
                return;
            }
        }
    }

    /// Waits for a look that does `work` as `task`. One that hangs is ended, and that is its answer.
    pub(crate) async fn ask<T: Send>(
        &self,
        task: &Arc<Task>,
        work: impl Future<Output = Result<T, String>> + Send,
    ) -> Result<T, String> {
        let mut done = None;
        let waiting = async {
            done = Some(work.await);
        };
        let hung = self.outlast(task, std::pin::pin!(waiting)).await;
        hung.and_then(|()| done.unwrap_or_else(|| Err(hangs(LOOK_STALL_TIME))))
    }

    /// Waits for work; the error is why it was ended.
    async fn outlast(
        &self,
        task: &Arc<Task>,
        mut work: Pin<&mut (dyn Future<Output = ()> + Send)>,
    ) -> Result<(), String> {
        tokio::select! {
            () = &mut work => return Ok(()),
            () = self.stall(task, Only::Anything, LOOK_STALL_TIME) => {}
        }
        let named = end_all(&self.pools, &|| vec![Arc::clone(task)], work).await;
        let why = format!("{}; {}", hangs(LOOK_STALL_TIME), given_up(&named));
        warn!("a look: {why}");
        Err(why)
    }
}

/// What came of a step that took too long. A forced pause goes on without some of them.
fn overdue(failed: Outcome) -> Outcome {
    if let Outcome::CaptureFailed { op, why, .. } = failed {
        return Outcome::CaptureOverdue { op, why };
    }
    if let Outcome::SnapshotTaken { op, moment, result: Err(why) } = failed {
        return Outcome::SnapshotOverdue { op, moment, why };
    }
    failed
}
