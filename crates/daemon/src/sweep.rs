//! Ending processes that carry a session's mark and have no holder any more.

use crate::exit::{companions, note_ended};
use crate::turns::Turns;
use glis_core::leftover::{Companion, Leftovers};
use glis_core::session::Session;
use glis_os::process::OWN_PROGRAM;
use glis_wire::hold::{Process, Swept};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;
use tracing::{info, warn};

/// A sweep asks, waits, kills and waits again: four seconds. On a machine that is drowning it may take
/// some more.
const SWEEP_TIME: Duration = Duration::from_secs(20);

/// A sweep has its session's lock as a holder has: a second one at the same time would take the first
/// for a holder that lives.
static SWEEPS: LazyLock<Turns> = LazyLock::new(Turns::default);

/// The processes that a pause has left running on purpose.
pub(crate) fn kept(session: &Session) -> Vec<Process> {
    let mark = |kept: &Companion| Process {
        pid: kept.pid,
        start_ticks: kept.start_ticks,
        boot_id: String::new(),
    };
    session.starts.leftovers.kept.iter().map(mark).collect()
}

/// Ends what is left of the session whose folder is `dir`, except what is kept on purpose. A sweep that
/// fails or is refused says so: what is left is not known then.
pub(crate) fn sweep(dir: &Path, session: &Session) -> Leftovers {
    match SWEEPS.wait(&session.id, || run_sweep(dir, session)) {
        Ok(swept) => {
            for orphan in swept.killed.iter().chain(&swept.stuck) {
                info!("Killing orphaned subprocess: PID {}", orphan.pid);
            }
            note_ended(&swept.killed);
            Leftovers {
                killed: companions(&swept.killed),
                stuck: companions(&swept.stuck),
                kept: companions(&swept.kept),
                ..Leftovers::default()
            }
        }
        Err(fault) => {
            warn!(session = %session.id, "not swept: {fault}");
            Leftovers { unclear: Some(fault.to_string()), ..Leftovers::default() }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the sweep is a process of its own, as a holder is")]
fn run_sweep(dir: &Path, session: &Session) -> io::Result<Swept> {
    let child = Command::new(OWN_PROGRAM)
        .arg("hold-sweep")
        .arg(&session.id.0)
        .arg(dir)
        .arg(serde_json::to_string(&kept(session))?)
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if !glis_os::ends_within(&child, SWEEP_TIME) {
        return Err(io::Error::other(format!("the sweep did not end within {SWEEP_TIME:?}")));
    }
    let output = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(io::Error::other(said.trim().to_owned()));
    }
    serde_json::from_slice(&output.stdout).map_err(io::Error::from)
}
