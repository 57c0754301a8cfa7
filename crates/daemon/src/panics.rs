//! A panic is a fault of ours: caught where it ends one operation, and told in words.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;

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

/// What a mutex guards. Nothing is half done while one of ours is held, so that it stays usable after a
/// panic elsewhere.
pub(crate) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a panic said, as a person is told.
pub(crate) fn fault(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("an internal error of glis: {}", text.unwrap_or("it did not say what"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_told_with_its_words() {
        let broken = async { panic!("as a test") };
        assert_eq!(
            caught::<()>(broken).await,
            Err("an internal error of glis: as a test".to_owned())
        );
        assert_eq!(caught(async { 7 }).await, Ok(7));
    }
}
