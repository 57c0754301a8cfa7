//! Being told by the kernel that the clock on the wall was set, so that no timer has to look at it again
//! and again.

use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::watch;

/// Nothing waits for this time, which is in the year 2200: the timer is there to be called off.
const NEVER_SECS: i64 = 7_258_118_400;

/// Before the clock is looked at again where the kernel cannot be asked to tell.
const CLOCK_PACE: Duration = Duration::from_secs(30);

/// Counts how often the clock was set, and how often the machine has woken up: that sets it as well. It
/// belongs to the runtime that this is called in.
pub(super) fn follow(sets: watch::Sender<u64>) {
    drop(tokio::spawn(async move {
        let clock = match open() {
            Ok(clock) => Some(clock),
            Err(fault) => {
                crate::diary(&format!("the kernel does not tell when the clock is set: {fault}"));
                None
            }
        };
        loop {
            match &clock {
                Some(clock) if set(clock).await.is_ok() => {}
                Some(_) | None => tokio::time::sleep(CLOCK_PACE).await,
            }
            sets.send_modify(|times| *times += 1);
        }
    }));
}

#[expect(
    deprecated,
    reason = "its successor is unsafe for descriptors that may be closed; an `OwnedFd` is not"
)]
fn open() -> io::Result<AsyncFd<OwnedFd>> {
    let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
    let timer = timerfd_create(TimerfdClockId::Realtime, flags)?;
    let never = Itimerspec {
        it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
        it_value: Timespec { tv_sec: NEVER_SECS, tv_nsec: 0 },
    };
    let called_off = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
    timerfd_settime(&timer, called_off, &never)?;
    AsyncFd::with_interest(timer, Interest::READABLE)
}

/// Returns when the clock was set.
async fn set(clock: &AsyncFd<OwnedFd>) -> io::Result<()> {
    loop {
        let mut ready = clock.readable().await?;
        // It is told as a fault; the timer stays as it is, and tells again the next time.
        match rustix::io::read(clock.get_ref(), &mut [0; 8]) {
            Err(Errno::CANCELED) => return Ok(()),
            Err(Errno::AGAIN | Errno::INTR) | Ok(_) => ready.clear_ready(),
            Err(fault) => return Err(fault.into()),
        }
    }
}
