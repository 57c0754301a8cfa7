//! Descriptors that the async runtime waits for.

use std::io;
use std::os::fd::AsRawFd;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

#[expect(
    deprecated,
    reason = "its successor is unsafe for descriptors that may be closed; ours are owned"
)]
pub(super) fn polled<T: AsRawFd>(source: T, interest: Interest) -> io::Result<AsyncFd<T>> {
    AsyncFd::with_interest(source, interest)
}
