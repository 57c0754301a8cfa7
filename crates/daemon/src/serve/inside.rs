//! Requests from inside a session. A terminal that shows itself feeds itself for ever.

use crate::process::parent_of;
use glis_core::session::Session;
use glis_wire::hold::MARK;

/// More ancestors than this has no process; a circle cannot be excluded while they come and go.
const ANCESTORS_MAX: usize = 256;

/// Whether a process belongs to this session: it, or one that it descends from, carries the mark or is
/// the agent or its holder. A cleared environment or a session of its own does not hide it.
pub(super) fn is_inside(session: &Session, pid: i32) -> bool {
    // A process may ask before it is on record that it runs: then the mark alone tells.
    let agent = session.process.as_ref().map(|agent| agent.pid);
    let holder = agent.and_then(parent_of).filter(|parent| *parent > 1);
    let mark = format!("{MARK}={}", session.id.0).into_bytes();
    let mut at = pid;
    for _ in 0..ANCESTORS_MAX {
        if at <= 1 {
            return false;
        }
        if Some(at) == agent || Some(at) == holder || carries(at, &mark) {
            return true;
        }
        let Some(parent) = parent_of(at) else { return false };
        at = parent;
    }
    false
}

fn carries(pid: i32, mark: &[u8]) -> bool {
    let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environ.split(|byte| *byte == 0).any(|entry| entry == mark)
}
