//! Who is owed the end of an agent when the log fails: the daemon stays until each has its answer.

use glis_wire::client::Request;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// Ending an agent takes no longer: a ladder, a holder that is woken and killed, a sweep.
const OWED_TIME: Duration = Duration::from_secs(60);

/// Whether the log has failed, and how many callers wait for the end of an agent.
#[derive(Default)]
pub(crate) struct Owed {
    failed: watch::Sender<bool>,
    count: watch::Sender<usize>,
}

/// A caller that waits, until this is dropped.
pub(super) struct Debt<'o>(&'o Owed);

impl Drop for Debt<'_> {
    fn drop(&mut self) {
        self.0.count.send_modify(|count| *count -= 1);
    }
}

impl Owed {
    /// Notes a request that ends an agent whatever happens to the log.
    pub(super) fn note(&self, request: &Request) -> Option<Debt<'_>> {
        request.ends_whatever_happens().then(|| {
            self.count.send_modify(|count| *count += 1);
            Debt(self)
        })
    }

    /// The log has failed. Returns when every caller has its answer.
    pub(crate) async fn fail(&self) {
        self.failed.send_replace(true);
        drop(timeout(OWED_TIME, self.count.subscribe().wait_for(|count| *count == 0)).await);
    }

    /// Returns when the log has failed.
    pub(super) async fn log_failed(&self) {
        drop(self.failed.subscribe().wait_for(|failed| *failed).await);
    }
}
