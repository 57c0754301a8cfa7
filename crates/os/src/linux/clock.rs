//! Being told by the kernel that the clock on the wall was set.

use super::polled::polled;
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use std::io;
use std::os::fd::OwnedFd;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Nothing waits for this time, which is in the year 2200: the timer is there to be called off.
const NEVER_SECS: i64 = 7_258_118_400;

/// Tells when the clock was set. Waking up from sleep sets it as well.
#[derive(Debug)]
pub struct Clock(AsyncFd<OwnedFd>);

impl Clock {
    /// It belongs to the runtime that this is called in.
    pub fn watch() -> io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Realtime, flags)?;
        let never = Itimerspec {
            it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: Timespec { tv_sec: NEVER_SECS, tv_nsec: 0 },
        };
        let called_off = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
        timerfd_settime(&timer, called_off, &never)?;
        polled(timer, Interest::READABLE).map(Self)
    }

    /// Returns when the clock was set.
    pub async fn set(&self) -> io::Result<()> {
        loop {
            let mut ready = self.0.readable().await?;
            // It is told as a fault; the timer stays as it is, and tells again the next time.
            match rustix::io::read(self.0.get_ref(), &mut [0; 8]) {
                Err(Errno::CANCELED) => return Ok(()),
                Err(Errno::AGAIN | Errno::INTR) | Ok(_) => ready.clear_ready(),
                Err(fault) => return Err(fault.into()),
            }
        }
    }
}
