//! Words about the daemon, all of its sessions, and the memory that they have.

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

/// An amount as a person would say it.
pub(super) fn amount(bytes: u64) -> String {
    const MEGABYTE: u64 = 1024 * 1024;
    match bytes.div_ceil(MEGABYTE) {
        megabytes @ 0..1024 => format!("{megabytes} MB"),
        megabytes => format!("{}.{} GB", megabytes / 1024, megabytes % 1024 * 10 / 1024),
    }
}

/// What `ls` says of sessions that were suspended.
pub(crate) fn given_back(bytes: u64) -> Option<String> {
    (bytes > 0).then(|| format!("{} given back by suspended sessions", amount(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_has_the_unit_that_it_is_told_in() {
        let told = [1, 1 << 20, 300 << 20, 1023 << 20, 1 << 30, (5 << 30) / 2].map(amount);
        assert_eq!(told, ["1 MB", "1 MB", "300 MB", "1023 MB", "1.0 GB", "2.5 GB"]);
        assert_eq!(given_back(0), None);
    }
}
