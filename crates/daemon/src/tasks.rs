//! What goes on beside everything else.
//!
//! A runtime's machinery is compiled for each type of task; on the heap all tasks have one type.

use std::pin::Pin;
use tokio::runtime::Handle;

/// Begins something that nobody waits for, in the runtime that this is called in.
pub(crate) fn beside(work: impl Future + Send + 'static) {
    beside_on(&Handle::current(), work);
}

/// The same in this runtime.
pub(crate) fn beside_on(runtime: &Handle, work: impl Future + Send + 'static) {
    let work: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(async { drop(work.await) });
    drop(runtime.spawn(work));
}
