//! Who is owed an answer when the log fails: the daemon stays until each has it.

use glis_wire::client::Request;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// Ending an agent takes no longer: a ladder, a holder that is woken and killed, a sweep.
const OWED_TIME: Duration = Duration::from_secs(60);

/// Telling the others why they get nothing takes no longer. Some follow what happens, and have no end.
const ANSWER_TIME: Duration = Duration::from_secs(1);

/// Whether the log has failed, how many callers wait for the end of an agent, and how many for anything.
#[derive(Default)]
pub(crate) struct Owed {
    failed: watch::Sender<bool>,
    ends: watch::Sender<usize>,
    answers: watch::Sender<usize>,
}

/// A caller that waits, until this is dropped.
pub(super) struct Debt<'o>(&'o watch::Sender<usize>);

impl<'o> Debt<'o> {
    fn of(count: &'o watch::Sender<usize>) -> Self {
        count.send_modify(|count| *count += 1);
        Self(count)
    }
}

impl Drop for Debt<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

impl Owed {
    /// Notes a request, and apart from that one that ends an agent whatever happens to the log.
    pub(super) fn note(&self, request: &Request) -> (Debt<'_>, Option<Debt<'_>>) {
        let ends = request.ends_whatever_happens().then(|| Debt::of(&self.ends));
        (Debt::of(&self.answers), ends)
    }

    /// The log has failed. Returns when every caller that waits for the end of an agent has its answer.
    pub(crate) async fn fail(&self) {
        self.failed.send_replace(true);
        drop(timeout(OWED_TIME, self.ends.subscribe().wait_for(|count| *count == 0)).await);
    }

    /// Returns when every other caller knows why it gets nothing.
    pub(crate) async fn tell(&self) {
        drop(timeout(ANSWER_TIME, self.answers.subscribe().wait_for(|count| *count == 0)).await);
    }

    pub(super) async fn log_failed(&self) {
        drop(self.failed.subscribe().wait_for(|failed| *failed).await);
    }
}
