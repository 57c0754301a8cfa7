//! Threads, where one side of a pipe has to be read while the other is written. A system that has none
//! left to give is a failure of the call, as it is when it has no process left; `spawn` would panic.

use crate::git::GitFault;
use crate::task;
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

/// Begins to do something beside, within a scope.
pub(crate) fn within<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, GitFault> {
    let task = task::current();
    let work = || task::within(task, work);
    Builder::new().spawn_scoped(scope, work).map_err(GitFault::NotRun)
}

/// Begins to do something that may outlast the caller.
pub(crate) fn begin<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, GitFault> {
    let task = task::current();
    let work = || task::within(task, work);
    Builder::new().spawn(work).map_err(GitFault::NotRun)
}
