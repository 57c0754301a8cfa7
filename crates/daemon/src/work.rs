//! Work that takes its time: where it waits for a thread, what a panic in it comes to, and what is
//! left of it if the whole daemon dies.
//!
//! Long work has places of its own, fewer than there are threads: however many worktrees are being
//! saved, whoever only looks finds a thread free.

use crate::adapters::Adapters;
use crate::controller::Look;
use glis_core::Input;
use glis_core::input::Outcome;
use glis_core::session::{Bar, Session};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::task::Poll;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Works on worktrees at a time. Git reads and hashes: more of them are in each other's way.
const TREES: usize = 16;
/// Processes being started, and screens being kept, at a time.
const STARTS: usize = 8;
/// Worktrees made at a time: a set-up command of the user's may take minutes.
const MAKERS: usize = 4;
/// Questions to git at a time for front ends that look at snapshots.
const ASKERS: usize = 8;
/// What is left for everything that is short: looks, and what is read of agents.
const LOOKS: usize = 64;
/// All threads beside the runtime's own and the controller's. They exist only while there is work.
pub(crate) const THREADS: usize = TREES + STARTS + MAKERS + ASKERS + LOOKS;

/// What we do with what an agent says, as a bar names it.
pub(crate) const LISTEN: &str = "listen to it";

/// Which places some work is one of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Tree,
    Start,
    Make,
}

/// The places of all long work.
pub(crate) struct Places {
    trees: Arc<Semaphore>,
    starts: Arc<Semaphore>,
    makers: Arc<Semaphore>,
    askers: Arc<Semaphore>,
    /// Taken by work that was under way when the daemon died: one at a time, so that the next death
    /// has one suspect.
    suspects: Arc<Semaphore>,
}

impl Default for Places {
    fn default() -> Self {
        let places = |count| Arc::new(Semaphore::new(count));
        Self {
            trees: places(TREES),
            starts: places(STARTS),
            makers: places(MAKERS),
            askers: places(ASKERS),
            suspects: places(1),
        }
    }
}

impl Places {
    fn of(&self, kind: Kind) -> &Arc<Semaphore> {
        match kind {
            Kind::Tree => &self.trees,
            Kind::Start => &self.starts,
            Kind::Make => &self.makers,
        }
    }
}

impl Adapters {
    /// Does something that takes its time, as soon as there is a place for it. `what` says to a
    /// person what it is. `failed` is what is reported if that panics, takes too long, or is not tried
    /// any more: an operation without an outcome would stay open for ever.
    pub(crate) fn blocking(
        self: &Arc<Self>,
        session: &Session,
        (kind, what): (Kind, &'static str),
        failed: impl FnOnce(String) -> Outcome + Send + 'static,
        work: impl FnOnce(&Arc<Self>, &Session) -> Option<Outcome> + Send + 'static,
    ) {
        // What only keeps us from listening keeps nothing else from being done.
        if let Some(bar) = session.barred.as_ref().filter(|bar| bar.what != LISTEN) {
            self.report(session.id.clone(), failed(barred(session, bar)));
            return;
        }
        let alone = self.strikes.is_suspect(&session.id).then(|| Arc::clone(&self.work.suspects));
        let (hands, session) = (Arc::clone(self), session.clone());
        let step = self.watched(&session, failed);
        let job = move |place: Option<OwnedSemaphorePermit>| {
            let note = hands.strikes.begin(&session.id, what);
            let worked = catch_unwind(AssertUnwindSafe(|| step.run(|| work(&hands, &session))));
            // Whatever a panic leaves half done is on disk, as after a crash; nobody died of it.
            hands.strikes.end(&session.id, note);
            drop(place);
            if let Some(failed) = step.take() {
                let outcome = worked.unwrap_or_else(|panic| {
                    let why = fault(panic.as_ref());
                    crate::diary(&format!("session {}: {what}: {why}", session.id));
                    Some(failed(why))
                });
                let session = session.id.clone();
                if let Some(outcome) = outcome {
                    hands.line.tell_blocking(Input::Outcome { session, outcome });
                }
                hands.bounds.end(&step);
            }
            step.is_over();
        };
        self.at_a_place(kind, alone, job);
    }

    fn at_a_place(
        self: &Arc<Self>,
        kind: Kind,
        alone: Option<Arc<Semaphore>>,
        job: impl FnOnce(Option<OwnedSemaphorePermit>) + Send + 'static,
    ) {
        let places = Arc::clone(self.work.of(kind));
        if alone.is_none()
            && let Ok(place) = Arc::clone(&places).try_acquire_owned()
        {
            drop(self.runtime.spawn_blocking(move || job(Some(place))));
            return;
        }
        self.later(async move {
            let alone = match alone {
                Some(alone) => alone.acquire_owned().await.ok(),
                None => None,
            };
            let place = places.acquire_owned().await.ok();
            drop(tokio::task::spawn_blocking(move || {
                job(place);
                drop(alone);
            }));
        });
    }

    /// Asks git for a front end, beside everything else. The error is what a panic said.
    pub(crate) async fn ask_git<T: Send + 'static>(
        &self,
        question: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, String> {
        let place = Arc::clone(&self.work.askers).acquire_owned().await;
        let asked = tokio::task::spawn_blocking(move || {
            let answer = catch_unwind(AssertUnwindSafe(question));
            drop(place);
            answer
        });
        match asked.await {
            Ok(answer) => answer.map_err(|panic| fault(panic.as_ref())),
            Err(ended) => Err(ended.to_string()),
        }
    }

    /// Waits until nothing is being done any more that takes its time, and all of it was told.
    pub(crate) async fn rest(&self) {
        // Whatever was decided before this look is under way when it is answered.
        drop(self.line.look(Look::Living).await);
        self.bounds.rest().await;
    }
}

/// Reads something, beside the runtime's one thread. A panic is passed on to whoever asked.
pub(crate) async fn beside<T: Send + 'static>(look: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(look).await {
        Ok(seen) => seen,
        Err(ended) => match ended.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The runtime is being shut down, and this with it.
            Err(_) => std::future::pending().await,
        },
    }
}

/// Carries a future to its end; the error is what a panic in it said. It is put on the heap: those
/// that are worth a net are large.
pub(crate) fn caught<T>(
    future: impl Future<Output = T>,
) -> impl Future<Output = Result<T, String>> {
    let mut future = Box::pin(future);
    std::future::poll_fn(move |context| {
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        match polled {
            Ok(Poll::Ready(done)) => Poll::Ready(Ok(done)),
            Ok(Poll::Pending) => Poll::Pending,
            Err(panic) => Poll::Ready(Err(fault(panic.as_ref()))),
        }
    })
}

/// What a panic said, as a person is told.
pub(crate) fn fault(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("a fault of glis itself: {}", text.unwrap_or("it did not say what"))
}

fn barred(session: &Session, bar: &Bar) -> String {
    let name = &session.name;
    format!(
        "it is not tried again: {}: {}; `glis acknowledge {name}` lets it be tried",
        bar.what, bar.why
    )
}
