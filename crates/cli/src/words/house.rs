//! Words about the daemon and all of its sessions.

use super::{gate, limits};
use glis_wire::view::DaemonView;

/// What `daemon status` prints.
pub(crate) fn daemon(view: &DaemonView) -> String {
    let (pid, build, home) = (view.pid, &view.build, &view.home);
    let (sessions, up) = (view.sessions, view.uptime_secs);
    let mut lines = vec![
        format!("running, pid {pid}, version {build}, {sessions} sessions, up {up} s"),
        format!("home {home}"),
    ];
    lines.extend(gate::shut(&view.gate));
    lines.extend(limits::told(&view.limits));
    lines.join("\n")
}

/// What `ls` says of agents that are on no record.
pub(crate) fn unregistered(pids: &[i32]) -> String {
    let pids: Vec<_> = pids.iter().map(ToString::to_string).collect();
    format!(
        "warning: {} agents of this home run and are on no record (pid {}): `glis doctor` says more",
        pids.len(),
        pids.join(", ")
    )
}
