//! Threads for what may have to wait for a disk or a process: so many places for each kind of work.
//!
//! The runtime has as many threads as there are places of all kinds together. Work of one kind that
//! hangs takes the places of its own kind and no others: however many worktrees are being saved, and
//! on however many dead disks, a look finds a thread.

use crate::panics::{fault, held};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What kind of work something is, and so whose places it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// On worktrees. Git reads and hashes: more of them are in each other's way.
    Tree,
    /// Worktrees saved for nobody who waits: thousands of them, as after a log was made anew, keep no pause waiting.
    Backlog,
    /// Processes being started, and screens being kept.
    Start,
    /// Worktrees being made: a set-up command of the user's may take minutes.
    Make,
    /// Long questions of front ends: a diff, a copy of a worktree, a checkup.
    Ask,
    /// Conversations made short: a model may take minutes, and nothing waits for it.
    Compact,
    /// Iterations looked back at: a command of the user's says whether a loop is at its end.
    LookBack,
    /// Processes whose end is being looked into: a sweep may take seconds.
    End,
    /// Agents whose words are being read. One agent never takes more than one place.
    Listen,
    /// Quick looks: each reads a few small files, or asks git for a name.
    Look,
    /// What is over in an instant and ends what hangs: a signal to a task, and what it does.
    Signal,
    /// The configuration, read again: once at a time is enough.
    Settings,
}

/// How much of each kind is done at a time, in their order.
const PLACES: [usize; Kind::Settings as usize + 1] = [16, 4, 8, 4, 8, 2, 4, 8, 48, 32, 8, 1];

/// All threads beside the runtime's own and the controller's. They exist only while there is work.
pub(crate) fn threads() -> usize {
    PLACES.iter().sum()
}

pub(crate) type Panic = Box<dyn Any + Send>;

/// A place, held until it is dropped.
pub(crate) type Place = OwnedSemaphorePermit;

#[derive(Clone)]
pub(crate) struct Pools([Arc<Semaphore>; PLACES.len()]);

impl Default for Pools {
    fn default() -> Self {
        Self(PLACES.map(|count| Arc::new(Semaphore::new(count))))
    }
}

impl Pools {
    fn of(&self, kind: Kind) -> &Arc<Semaphore> {
        &self.0[kind as usize]
    }

    /// A place, if one is free now.
    pub(crate) fn try_place(&self, kind: Kind) -> Option<Place> {
        Arc::clone(self.of(kind)).try_acquire_owned().ok()
    }

    /// A place, as soon as one is free.
    pub(crate) async fn place(&self, kind: Kind) -> Option<Place> {
        Arc::clone(self.of(kind)).acquire_owned().await.ok()
    }

    /// Reads something on a thread of this kind, beside the runtime's one. A panic is passed on.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        kind: Kind,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        self.caught(kind, work).await.unwrap_or_else(|panic| resume_unwind(panic))
    }

    /// Does something on a thread of this kind, beside the runtime's one. The error is what a panic
    /// said.
    pub(crate) async fn run_blocking<T: Send + 'static>(
        &self,
        kind: Kind,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, String> {
        self.caught(kind, work).await.map_err(|panic| fault(panic.as_ref()))
    }

    pub(crate) async fn caught<T: Send + 'static>(
        &self,
        kind: Kind,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Panic> {
        let done = Arc::new(Mutex::new(None));
        let place = Arc::clone(&done);
        let work = move || {
            let done = work();
            *held(&place) = Some(done);
        };
        self.carry_out(kind, Box::new(work)).await?;
        let done = held(&done).take();
        done.ok_or_else(|| Box::new("nothing came of it") as Panic)
    }

    /// The runtime's machinery is compiled for each type of work: for all of ours it is this one.
    async fn carry_out(&self, kind: Kind, work: Box<dyn FnOnce() + Send>) -> Result<(), Panic> {
        let place = self.place(kind).await;
        let done = tokio::task::spawn_blocking(move || {
            let done = catch_unwind(AssertUnwindSafe(work));
            drop(place);
            done
        });
        match done.await.map_err(tokio::task::JoinError::try_into_panic) {
            Ok(done) => done,
            Err(Ok(panic)) => Err(panic),
            // The runtime is being shut down, and this with it.
            Err(Err(_)) => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn work_that_hangs_takes_no_place_of_another_kind() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .max_blocking_threads(threads())
            .build()
            .unwrap();
        let pools = Pools::default();
        let hangs = [Kind::Tree, Kind::Ask, Kind::Listen];
        let kinds: Vec<_> =
            hangs.into_iter().flat_map(|kind| vec![kind; PLACES[kind as usize]]).collect();
        let (release, gates): (Vec<_>, Vec<_>) =
            kinds.iter().map(|_| mpsc::channel::<()>()).unzip();
        runtime.block_on(async {
            let mut tasks = tokio::task::JoinSet::new();
            for (kind, gate) in kinds.into_iter().zip(gates) {
                let pools = pools.clone();
                tasks
                    .spawn(async move { pools.run_blocking(kind, move || gate.recv().ok()).await });
            }
            tokio::task::yield_now().await;
            assert!(pools.try_place(Kind::Tree).is_none());
            for kind in [Kind::Look, Kind::Start, Kind::Make, Kind::End] {
                assert_eq!(pools.run_blocking(kind, || 7).await, Ok(7), "{kind:?}");
            }
            drop(release);
            while tasks.join_next().await.is_some() {}
        });
    }

    #[tokio::test]
    async fn a_panic_is_told_and_gives_its_place_back() {
        let pools = Pools::default();
        for _ in 0..=PLACES[Kind::Make as usize] {
            let told = pools.run_blocking(Kind::Make, || -> () { panic!("as a test") }).await;
            assert_eq!(told, Err("an internal error of glis: as a test".to_owned()));
        }
    }
}
