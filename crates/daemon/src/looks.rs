//! Quick looks at sessions' files, one after the other on one thread.
//!
//! A session whose files do not answer is left out, and keeps one thread until they do: a dead disk
//! hides what lies on it and nothing else, however often it is looked at.

use crate::panics::held;
use crate::pools::{Kind, Pools};
use glis_core::SessionId;
use glis_core::session::Session;
use glis_snapshot::Task;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;
use tracing::info;

/// A session's files are read within some milliseconds. After this long its disk hangs, or the machine
/// is so busy that the answer about the others is worth more than waiting.
const LOOK_TIME: Duration = Duration::from_secs(3);

/// What was seen is told in bundles: to wake the one who waits for each costs more than the look. What
/// was seen right before one that hangs is looked at again.
const TELL_PACE: Duration = Duration::from_millis(2);

pub(crate) struct Looks {
    pools: Pools,
    time: Duration,
    /// Since when each session is being looked at, and by what.
    under_way: Mutex<HashMap<SessionId, (Instant, Arc<Task>)>>,
    /// Told whenever one has ended.
    ended: Notify,
}

/// A look at one of several sessions: what was seen, or that another look at it is under way.
type Seen<T> = (usize, Option<T>);

impl Looks {
    pub(crate) fn new(pools: Pools) -> Arc<Self> {
        Self::with_time(pools, LOOK_TIME)
    }

    fn with_time(pools: Pools, time: Duration) -> Arc<Self> {
        Arc::new(Self { pools, time, under_way: Mutex::default(), ended: Notify::new() })
    }

    /// Looks at each session; `None` for one whose files do not answer. A panic is passed on.
    pub(crate) async fn each<T: Send + 'static>(
        self: &Arc<Self>,
        sessions: &Arc<Vec<Arc<Session>>>,
        look: impl Fn(&Session) -> T + Send + Sync + 'static,
    ) -> Vec<Option<T>> {
        let look = Arc::new(look);
        let mut seen: Vec<Option<T>> = sessions.iter().map(|_| None).collect();
        loop {
            let mut ended = std::pin::pin!(self.ended.notified());
            ended.as_mut().enable();
            let left = self.left(sessions, &seen);
            if left.is_empty() {
                return seen;
            }
            // As many places as there are looks, and one for the last bundle: it is never full.
            let (tell, mut told) = mpsc::channel(left.len() + 1);
            let (looks, sessions, look) =
                (Arc::clone(self), Arc::clone(sessions), Arc::clone(&look));
            let pools = self.pools.clone();
            let round = move || looks.round(&sessions, &left, &*look, &tell);
            let work = tokio::spawn(async move { pools.caught(Kind::Look, round).await });
            let mut is_busy = false;
            let hangs = loop {
                match timeout(self.time, told.recv()).await {
                    Ok(Some(views)) => {
                        for (at, view) in views {
                            is_busy |= view.is_none();
                            if let Some(place) = seen.get_mut(at) {
                                *place = view;
                            }
                        }
                    }
                    Ok(None) => break false,
                    Err(_) => break true,
                }
            };
            if hangs {
                self.end_hung().await;
            } else {
                if let Ok(Err(panic)) = work.await {
                    std::panic::resume_unwind(panic);
                }
                if is_busy {
                    timeout(self.time, ended).await.ok();
                }
            }
        }
    }

    /// The sessions that were not seen yet, and are worth another look.
    fn left<T>(&self, sessions: &[Arc<Session>], seen: &[Option<T>]) -> Vec<usize> {
        let under_way = held(&self.under_way);
        let hangs = |session: &Session| {
            under_way.get(&session.id).is_some_and(|(since, _)| since.elapsed() >= self.time)
        };
        let unseen = sessions.iter().zip(seen).enumerate().filter(|(_, (_, seen))| seen.is_none());
        unseen.filter(|(_, (session, _))| !hangs(session)).map(|(at, _)| at).collect()
    }

    /// Looks at these sessions, one after the other, for as long as the results are wanted.
    fn round<T>(
        &self,
        sessions: &[Arc<Session>],
        left: &[usize],
        look: &dyn Fn(&Session) -> T,
        tell: &mpsc::Sender<Vec<Seen<T>>>,
    ) {
        let (mut told, mut views) = (Instant::now(), Vec::new());
        for (at, session) in left.iter().filter_map(|at| Some((*at, sessions.get(*at)?))) {
            let seen = self.begin(session).map(|own| own.task.run(|| look(session)));
            views.push((at, seen));
            if told.elapsed() >= TELL_PACE {
                if tell.try_send(std::mem::take(&mut views)).is_err() {
                    return;
                }
                told = Instant::now();
            }
        }
        tell.try_send(views).ok();
    }

    /// Begins a look, unless another one at the same session is under way.
    fn begin(&self, session: &Session) -> Option<UnderWay<'_>> {
        let mut under_way = held(&self.under_way);
        if under_way.contains_key(&session.id) {
            return None;
        }
        let (id, task) = (session.id.clone(), Task::new());
        under_way.insert(id.clone(), (Instant::now(), Arc::clone(&task)));
        Some(UnderWay { looks: self, id, task })
    }

    /// Ends every git that a look waits for which has taken too long.
    async fn end_hung(&self) {
        let hangs = |(since, task): &(Instant, Arc<Task>)| {
            (since.elapsed() >= self.time).then(|| Arc::clone(task))
        };
        let tasks: Vec<_> = held(&self.under_way).values().filter_map(hangs).collect();
        let end = move || tasks.iter().flat_map(|task| task.end()).collect::<Vec<_>>();
        let ended = self.pools.run_blocking(Kind::Signal, end).await.unwrap_or_default();
        if !ended.is_empty() {
            info!("a look hangs; ended {}", ended.join(", "));
        }
    }
}

/// A look that is under way, until this is dropped.
struct UnderWay<'l> {
    looks: &'l Looks,
    id: SessionId,
    task: Arc<Task>,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        held(&self.looks.under_way).remove(&self.id);
        self.looks.ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::{Receiver, channel};

    fn sessions(count: usize) -> Arc<Vec<Arc<Session>>> {
        let named =
            |n| Arc::new(Session { id: SessionId(format!("s{n}")), ..crate::fill::session() });
        Arc::new((0..count).map(named).collect())
    }

    /// A look that hangs at the first session until something comes, and counts how often it did.
    fn hangs_at_first(
        gate: Receiver<()>,
        entered: &Arc<AtomicUsize>,
    ) -> impl Fn(&Session) -> String + Send + Sync + 'static {
        let (gate, entered) = (Mutex::new(gate), Arc::clone(entered));
        move |session| {
            if session.id.0 == "s0" {
                entered.fetch_add(1, Ordering::Relaxed);
                gate.lock().unwrap().recv().ok();
            }
            session.id.0.clone()
        }
    }

    #[tokio::test]
    async fn a_session_that_does_not_answer_hides_no_other_and_keeps_one_thread() {
        let looks = Looks::with_time(Pools::default(), Duration::from_millis(50));
        let (open, gate) = channel();
        let entered = Arc::new(AtomicUsize::new(0));
        let seen = looks.each(&sessions(3), hangs_at_first(gate, &entered)).await;
        assert_eq!(seen, [None, Some("s1".to_owned()), Some("s2".to_owned())]);
        // Looked at again and again, it takes no second thread.
        for _ in 0..100 {
            let (_open, gate) = channel();
            let seen = looks.each(&sessions(2), hangs_at_first(gate, &entered)).await;
            assert_eq!(seen, [None, Some("s1".to_owned())]);
        }
        assert_eq!(entered.load(Ordering::Relaxed), 1);
        // The disk answers again.
        let mut ended = std::pin::pin!(looks.ended.notified());
        ended.as_mut().enable();
        open.send(()).unwrap();
        ended.await;
        let seen = looks.each(&sessions(1), |session| session.id.0.clone()).await;
        assert_eq!(seen, [Some("s0".to_owned())]);
    }

    #[tokio::test]
    async fn looks_at_the_same_time_all_have_their_answer() {
        let looks = Looks::new(Pools::default());
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..20 {
            let looks = Arc::clone(&looks);
            tasks.spawn(
                async move { looks.each(&sessions(5), |session| session.id.0.clone()).await },
            );
        }
        while let Some(seen) = tasks.join_next().await {
            assert!(seen.unwrap().iter().all(Option::is_some));
        }
    }

    #[tokio::test]
    async fn a_panic_is_passed_on_and_leaves_nothing_under_way() {
        let looks = Looks::new(Pools::default());
        let (own, broken) = (Arc::clone(&looks), |_: &Session| -> () { panic!("as a test") });
        let told = tokio::spawn(async move { own.each(&sessions(1), broken).await }).await;
        assert!(told.unwrap_err().is_panic());
        assert!(looks.each(&sessions(1), |_| ()).await.iter().all(Option::is_some));
    }
}
