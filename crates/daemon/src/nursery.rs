//! The nursery: the process that holders are forked from, started when the first one is needed.

use glis_wire::hold::{Birth, Launch};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A birth takes some milliseconds. A nursery that needs longer than this is stuck, and everybody
/// who wants to start something waits behind it.
const BIRTH_TIME: Duration = Duration::from_secs(10);

/// A holder allocates a little at its birth and then lives for days. Caches of freed memory would
/// keep it from giving back what its birth needed: about 45 KB each.
const HEAP: (&str, &str) = ("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0:glibc.malloc.mxfast=0");

/// One nursery, or none yet.
#[derive(Default)]
pub(crate) struct Nursery {
    open: Mutex<Option<Open>>,
}

struct Open {
    child: Child,
    orders: ChildStdin,
    answers: ChildStdout,
}

impl Nursery {
    /// Has a holder born. One at a time: a birth takes some milliseconds.
    pub(crate) fn bear(&self, launch: &Launch) -> io::Result<Birth> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let mut line = serde_json::to_vec(launch)?;
        line.push(b'\n');
        let mut nursery = match open.take().and_then(Open::if_living) {
            Some(nursery) => nursery,
            None => Open::start()?,
        };
        let birth = nursery.ask(&line, Instant::now() + BIRTH_TIME);
        match birth {
            Ok(_) => *open = Some(nursery),
            // One that failed in between is not asked again: whether a holder lives is seen from
            // the session's own lock.
            Err(_) => nursery.end(),
        }
        birth
    }
}

impl Open {
    #[expect(clippy::disallowed_methods, reason = "the nursery is started here and nowhere else")]
    fn start() -> io::Result<Self> {
        // The running program itself, even if its file was replaced or removed meanwhile.
        let mut child = Command::new(glis_os::process::OWN_PROGRAM)
            .args(["hold", "--nursery"])
            .current_dir("/")
            .env(HEAP.0, HEAP.1)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let orders = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let answers = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        // Neither a full pipe nor an empty one may hold us longer than we want to wait.
        rustix::io::ioctl_fionbio(&orders, true)?;
        rustix::io::ioctl_fionbio(&answers, true)?;
        Ok(Self { child, orders, answers })
    }

    fn if_living(mut self) -> Option<Self> {
        matches!(self.child.try_wait(), Ok(None)).then_some(self)
    }

    /// Hands an order over and waits for the one line that answers it.
    fn ask(&mut self, line: &[u8], until: Instant) -> io::Result<Birth> {
        let mut left = line;
        while !left.is_empty() {
            match self.orders.write(left) {
                Ok(written) => left = left.get(written..).unwrap_or_default(),
                Err(fault) => wait(&fault, &self.orders, PollFlags::OUT, until)?,
            }
        }
        let mut said = Vec::new();
        let mut bytes = [0; 4096];
        while !said.ends_with(b"\n") {
            match self.answers.read(&mut bytes) {
                Ok(0) => break,
                Ok(read) => said.extend_from_slice(bytes.get(..read).unwrap_or_default()),
                Err(fault) => wait(&fault, &self.answers, PollFlags::IN, until)?,
            }
        }
        serde_json::from_slice(&said)
            .map_err(|_| io::Error::other("the nursery ended without a word"))
    }

    /// Kills it; the holders it bore are processes of their own.
    fn end(mut self) {
        self.child.kill().ok();
        // One that is stuck in the kernel dies when it comes out, which is not waited for here.
        drop(std::thread::Builder::new().spawn(move || self.child.wait()));
    }
}

/// After a read or write that could not go on: waits until it can, or says that it took too long.
fn wait(fault: &io::Error, pipe: &impl AsFd, what: PollFlags, until: Instant) -> io::Result<()> {
    if fault.kind() == io::ErrorKind::Interrupted {
        return Ok(());
    }
    if fault.kind() != io::ErrorKind::WouldBlock {
        return Err(io::Error::new(fault.kind(), fault.to_string()));
    }
    let left = until.saturating_duration_since(Instant::now());
    let patience = Timespec::try_from(left).map_err(io::Error::other)?;
    match poll(&mut [PollFd::new(pipe, what)], Some(&patience)) {
        Ok(0) => {
            let secs = BIRTH_TIME.as_secs();
            let why = format!("the nursery did not answer within {secs} s and was ended");
            Err(io::Error::new(io::ErrorKind::TimedOut, why))
        }
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(fault) => Err(fault.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::disallowed_methods, reason = "stands in for a nursery")]
    fn silent() -> Open {
        let mut child = Command::new("sleep")
            .arg("600")
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (orders, answers) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        rustix::io::ioctl_fionbio(&orders, true).unwrap();
        rustix::io::ioctl_fionbio(&answers, true).unwrap();
        Open { child, orders, answers }
    }

    #[test]
    fn a_nursery_that_says_nothing_is_not_waited_for_in_vain() {
        for order in [b"short\n".to_vec(), vec![b'x'; 1024 * 1024]] {
            let mut nursery = silent();
            let until = Instant::now() + Duration::from_millis(50);
            let fault = nursery.ask(&order, until).unwrap_err();
            assert_eq!(fault.kind(), io::ErrorKind::TimedOut, "{fault}");
            nursery.child.kill().unwrap();
            nursery.child.wait().unwrap();
        }
    }
}
