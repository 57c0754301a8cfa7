//! Once the house has fallen silent, the daemon gives memory back.
//!
//! It lives for weeks and works in bursts. What a burst has freed would stay with the allocator, and
//! what it has run of the program would stay mapped.

use crate::mailbox::Published;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Notify, broadcast};
use tokio::time::sleep;

/// Long enough that a burst of work is not interrupted by it.
const SILENCE: Duration = Duration::from_secs(3);

/// Gives memory back after each burst, until the daemon ends. Calls of front ends stir it, and so do
/// events.
pub(crate) async fn after_each_burst(
    news: broadcast::Receiver<Arc<Published>>,
    called: Arc<Notify>,
    give_back: impl Fn(),
) {
    rest(news, &called, || sleep(SILENCE), give_back).await;
}

async fn rest<S: Future<Output = ()>>(
    mut news: broadcast::Receiver<Arc<Published>>,
    called: &Notify,
    silence: impl Fn() -> S,
    give_back: impl Fn(),
) {
    let mut is_due = true;
    loop {
        tokio::select! {
            biased;
            () = called.notified() => is_due = true,
            told = news.recv() => match told {
                Err(RecvError::Closed) => return,
                Ok(_) | Err(RecvError::Lagged(_)) => is_due = true,
            },
            () = silence(), if is_due => {
                give_back();
                is_due = false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc;

    #[tokio::test]
    async fn memory_is_given_back_once_after_each_burst() {
        let (told, news) = broadcast::channel(4);
        let (called, passed) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (given, mut gifts) = mpsc::channel(8);
        let (calls, silence) = (Arc::clone(&called), Arc::clone(&passed));
        let resting = tokio::spawn(async move {
            let silence = || silence.notified();
            rest(news, &calls, silence, || given.try_send(()).unwrap()).await;
        });
        for _ in 0..2 {
            // Silence that a call has interrupted is none.
            called.notify_one();
            passed.notify_one();
            gifts.recv().await.unwrap();
            // However long it lasts, there is nothing more to give.
            passed.notify_one();
            tokio::task::yield_now().await;
            assert!(gifts.try_recv().is_err());
            called.notify_one();
            gifts.recv().await.unwrap();
        }
        drop(told);
        resting.await.unwrap();
        assert!(gifts.recv().await.is_none());
    }
}
