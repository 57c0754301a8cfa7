//! The nursery: the process that holders are forked from, started when the first one is needed.

use glis_wire::hold::{Birth, Launch};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

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
    answers: BufReader<ChildStdout>,
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
        let birth = nursery.ask(&line)?;
        // One that failed in between is not asked again: whether a holder lives is seen from the
        // session's own lock.
        *open = Some(nursery);
        Ok(birth)
    }
}

impl Open {
    #[expect(clippy::disallowed_methods, reason = "the nursery is started here and nowhere else")]
    fn start() -> io::Result<Self> {
        // The running program itself, even if its file was replaced or removed meanwhile.
        let mut child = Command::new("/proc/self/exe")
            .args(["hold", "--nursery"])
            .current_dir("/")
            .env(HEAP.0, HEAP.1)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let orders = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let answers = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self { child, orders, answers: BufReader::new(answers) })
    }

    fn if_living(mut self) -> Option<Self> {
        matches!(self.child.try_wait(), Ok(None)).then_some(self)
    }

    fn ask(&mut self, line: &[u8]) -> io::Result<Birth> {
        self.orders.write_all(line)?;
        let mut said = String::new();
        self.answers.read_line(&mut said)?;
        serde_json::from_str(said.trim())
            .map_err(|_| io::Error::other("the nursery ended without a word"))
    }
}
