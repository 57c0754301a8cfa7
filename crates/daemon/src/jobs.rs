//! The steps of operations: where each waits for a thread, what a panic in it comes to, and what is
//! left of it if the whole daemon dies.

use crate::bounds::{Bounds, Failed};
use crate::mailbox::{Mailbox, Query};
use crate::panics::fault;
use crate::pools::{Kind, Place, Pools};
use crate::settings::Settings;
use crate::shell_line::ShellLines;
use crate::strikes::Strikes;
use crate::tasks::beside_on;
use crate::timers::Time;
use glis_config::Config;
use glis_core::input::Outcome;
use glis_core::session::{Bar, Session};
use glis_core::{Input, SessionId};
use glis_snapshot::Task;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tracing::{error, error_span};

/// What we do with what an agent says, as a bar names it.
pub(crate) const LISTEN: &str = "listen to it";

/// What a step does. It gives nothing where it has told by itself what came of it.
type Work = Box<dyn FnOnce(&Session) -> Option<Outcome> + Send>;

/// All steps that are under way.
pub(crate) struct Jobs {
    pub(crate) mailbox: Mailbox,
    pub(crate) bounds: Arc<Bounds>,
    pub(crate) strikes: Strikes,
    pub(crate) lines: Arc<ShellLines>,
    settings: Arc<Settings>,
    pools: Pools,
    runtime: Handle,
    /// Taken by work that was under way when the daemon died: one at a time, so that the next death
    /// has one suspect.
    suspects: Arc<Semaphore>,
}

impl Jobs {
    /// Belongs to the runtime that this is called in.
    pub(crate) fn new(
        mailbox: Mailbox,
        settings: Arc<Settings>,
        strikes: Strikes,
        pools: Pools,
        time: Time,
    ) -> Arc<Self> {
        Arc::new(Self {
            bounds: Bounds::new(mailbox.clone(), Arc::clone(&settings), pools.clone(), time),
            mailbox,
            strikes,
            lines: Arc::default(),
            settings,
            pools,
            runtime: Handle::current(),
            suspects: Arc::new(Semaphore::new(1)),
        })
    }

    /// What is configured at the moment.
    pub(crate) fn config(&self) -> Arc<Config> {
        self.settings.now()
    }

    /// Looks at something by git, on a thread of this kind. A look that hangs is ended, and told.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        kind: Kind,
        look: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, String> {
        let task = Task::new();
        let own = Arc::clone(&task);
        self.bounds.ask(&task, self.pools.run_blocking(kind, move || own.run(look))).await
    }

    /// Does something beside everything else.
    pub(crate) fn later(&self, work: impl Future<Output = ()> + Send + 'static) {
        beside_on(&self.runtime, work);
    }

    /// Waits for something, in a thread that may block.
    pub(crate) fn await_blocking<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Tells what came of an effect.
    pub(crate) fn report(&self, session: SessionId, outcome: Outcome) {
        let mailbox = self.mailbox.clone();
        self.later(async move { mailbox.tell(Input::Outcome { session, outcome }).await });
    }

    /// Does something that takes its time, as soon as there is a place for it. `what` says to a
    /// person what it is. `failed` is what is reported if that panics, takes too long, or is not tried
    /// any more: an operation without an outcome would stay open for ever.
    pub(crate) fn blocking(
        self: &Arc<Self>,
        session: &Session,
        (kind, what): (Kind, &'static str),
        failed: impl FnOnce(String) -> Outcome + Send + 'static,
        work: impl FnOnce(&Session) -> Option<Outcome> + Send + 'static,
    ) {
        self.begin(session, (kind, what), Box::new(failed), Box::new(work));
    }

    fn begin(
        self: &Arc<Self>,
        session: &Session,
        (kind, what): (Kind, &'static str),
        failed: Failed,
        work: Work,
    ) {
        // What only keeps us from listening keeps nothing else from being done.
        if let Some(bar) = session.upkeep.barred.as_ref().filter(|bar| bar.what != LISTEN) {
            self.report(session.id.clone(), failed(barred(session, bar)));
            return;
        }
        let alone = self.strikes.is_suspect(&session.id).then(|| Arc::clone(&self.suspects));
        let (jobs, session) = (Arc::clone(self), session.clone());
        let step = self.bounds.watched(&session, failed);
        let job = move |place: Option<Place>| {
            let note = jobs.strikes.begin(&session.id, what);
            let op = session.operation().map(|(op, _)| op.0);
            let span = error_span!("step", session = %session.id, op, what);
            let work = || span.in_scope(|| step.run(|| work(&session)));
            let worked = catch_unwind(AssertUnwindSafe(work));
            // What a panic leaves half done is on disk, as after a crash; the daemon lives on.
            jobs.strikes.end(&session.id, note);
            drop(place);
            if let Some(failed) = step.take() {
                let outcome = worked.unwrap_or_else(|panic| {
                    let why = fault(panic.as_ref());
                    error!(session = %session.id, "{what}: {why}");
                    Some(failed(why))
                });
                let session = session.id.clone();
                if let Some(outcome) = outcome {
                    jobs.mailbox.tell_blocking(Input::Outcome { session, outcome });
                }
                jobs.bounds.end(&step);
            }
            step.is_over();
        };
        self.at_a_place(kind, alone, Box::new(job));
    }

    /// The same with a session's files, after what is at work on them already.
    pub(crate) fn in_turn(
        self: &Arc<Self>,
        session: &Session,
        kind: (Kind, &'static str),
        failed: impl FnOnce(String) -> Outcome + Send + 'static,
        work: impl FnOnce(&Session) -> Option<Outcome> + Send + 'static,
    ) {
        let bounds = Arc::clone(&self.bounds);
        self.blocking(session, kind, failed, move |session| {
            bounds.turns.take(&session.id, || work(session))
        });
    }

    fn at_a_place(
        &self,
        kind: Kind,
        alone: Option<Arc<Semaphore>>,
        job: Box<dyn FnOnce(Option<Place>) + Send>,
    ) {
        if alone.is_none()
            && let Some(place) = self.pools.try_place(kind)
        {
            drop(self.runtime.spawn_blocking(move || job(Some(place))));
            return;
        }
        let pools = self.pools.clone();
        self.later(async move {
            let alone = match alone {
                Some(alone) => alone.acquire_owned().await.ok(),
                None => None,
            };
            let place = pools.place(kind).await;
            drop(tokio::task::spawn_blocking(move || {
                job(place);
                drop(alone);
            }));
        });
    }

    /// Waits until nothing is being done any more that takes its time, and all of it was told.
    pub(crate) async fn rest(&self) {
        // What was decided before this look is under way when it is answered.
        drop(self.mailbox.query(Query::Living).await);
        self.bounds.rest().await;
    }
}

fn barred(session: &Session, bar: &Bar) -> String {
    let name = &session.name;
    format!(
        "it is not tried again: {}: {}; `glis acknowledge {name}` allows another try",
        bar.what, bar.why
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mailbox::Mail;
    use glis_core::pause::{Captured, OnTimeout, PauseMode, PauseReason};
    use glis_core::tree::Clearing;
    use glis_core::{Event, House, OpId, Recorded};
    use glis_wire::home::Home;
    use tokio::sync::mpsc;

    /// Jobs, what reaches the controller, a session, and the folder that all of it lies in.
    fn jobs() -> (Arc<Jobs>, mpsc::Receiver<Mail>, Session, tempfile::TempDir) {
        let (mailbox, inbox) = Mailbox::new("a log");
        let folder = tempfile::tempdir().unwrap();
        let home = Home::under(folder.path());
        std::fs::write(home.config_file(), "[pause]\nforce_secs = 0\n").unwrap();
        let settings = Settings::open(home.config_file(), folder.path().join("backup")).unwrap();
        let strikes = Strikes::open(folder.path(), |_| Ok(()));
        let (pools, time) = (Pools::default(), Time::default());
        let jobs = Jobs::new(mailbox, Arc::new(settings), strikes, pools, time);
        (jobs, inbox, crate::fill::session(), folder)
    }

    async fn outcome(inbox: &mut mpsc::Receiver<Mail>) -> Outcome {
        let Some(Mail::Input(Input::Outcome { outcome, .. })) = inbox.recv().await else {
            panic!("no outcome");
        };
        outcome
    }

    #[tokio::test]
    async fn work_that_panics_ends_its_operation_as_failed() {
        let (jobs, mut inbox, session, _folder) = jobs();
        let op = OpId(7);
        let failed = move |why: String| Outcome::CaptureFailed {
            op,
            what: Captured::Screen,
            why: why.into(),
        };
        jobs.blocking(&session, (Kind::Start, "be a test"), failed, |_| panic!("as a test"));
        let why = "an internal error of glis: as a test".to_owned();
        assert_eq!(
            outcome(&mut inbox).await,
            Outcome::CaptureFailed { op, what: Captured::Screen, why: why.into() }
        );
    }

    #[tokio::test]
    async fn work_that_hangs_ends_its_operation_and_what_it_tells_later_counts_no_more() {
        let (jobs, mut inbox, calm, _folder) = jobs();
        let (op, mode) = (OpId(7), PauseMode::Force);
        let (reason, on_timeout) = (PauseReason::User, OnTimeout::Force);
        let begun = Event::PauseBegan { op, mode, reason, on_timeout, clearing: Clearing::Keep };
        let mut house = House::default();
        for (seq, event) in (1..).zip(crate::fill::born(1).into_iter().chain([begun])) {
            house.apply(&Recorded::new(seq, 0, calm.id.clone().into(), event));
        }
        let session = house.session(&calm.id).unwrap().clone();
        let (go_on, gate) = std::sync::mpsc::channel::<()>();
        let failed = move |why: String| Outcome::CaptureFailed {
            op,
            what: Captured::Screen,
            why: why.into(),
        };
        jobs.blocking(&session, (Kind::Start, "be a test"), failed, move |_| {
            gate.recv().ok();
            Some(Outcome::TerminalCaptured { op, screen_at: 1 })
        });
        jobs.bounds.cut_short(op);
        let told = outcome(&mut inbox).await;
        assert!(matches!(told, Outcome::CaptureOverdue { .. }), "{told:?}");
        go_on.send(()).unwrap();
        let done = move |result| Outcome::SaveChecked { op, result };
        let failed = move |why: String| done(Err(why.into()));
        jobs.blocking(&calm, (Kind::Start, "be a test"), failed, move |_| Some(done(Ok(()))));
        assert_eq!(outcome(&mut inbox).await, done(Ok(())), "and not the late one");
    }
}
