//! Places where a test can have the daemon die or fail. Those that kill exist in debug builds only;
//! what becomes of an internal error of glis has to be seen on the shipped program too, and a user
//! who sets the daemon's environment may end it anyway.

use glis_core::Recorded;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Says where a daemon is to die or fail.
pub(crate) const VARIABLE: &str = "GLIS_FAILPOINT";

/// Whether what a test asked for is about this daemon, and not about those that follow it as well.
pub(crate) fn is_for_this_daemon() -> bool {
    std::env::var(VARIABLE).is_ok_and(|wanted| !wanted.starts_with("once:"))
}

/// Kills this very process, as `kill -9` would, if the test asked for it at this side of one of
/// these events: `GLIS_FAILPOINT=before:paused`.
pub(crate) fn pass(side: &str, events: &[Recorded]) {
    // In a released program nothing can be asked for.
    if !cfg!(debug_assertions) {
        return;
    }
    let Ok(wanted) = std::env::var(VARIABLE) else { return };
    if let Some(folder) = wanted.strip_prefix("once:") {
        return pass_once(Path::new(folder), side, events);
    }
    if events.iter().any(|recorded| is_at(&wanted, side, recorded)) {
        die();
    }
}

fn die() {
    let this = rustix::process::getpid();
    // The signal is on its way when this returns, if it returns at all.
    rustix::process::kill_process(this, rustix::process::Signal::KILL).ok();
    std::process::abort();
}

/// Whether an event is such a point: `after:run_began`, or by its number `after:every:12:3`, the third
/// after each twelve.
fn is_at(point: &str, side: &str, recorded: &Recorded) -> bool {
    let Some(rest) = point.strip_prefix(side).and_then(|rest| rest.strip_prefix(':')) else {
        return false;
    };
    let Some(every) = rest.strip_prefix("every:") else {
        return rest == crate::view::event_name(&recorded.event);
    };
    let numbers =
        every.split_once(':').and_then(|(gap, at)| Some((gap.parse().ok()?, at.parse().ok()?)));
    numbers.is_some_and(|(gap, at): (u64, u64)| gap > 0 && recorded.seq % gap == at % gap)
}

/// `GLIS_FAILPOINT=once:DIR` is every point of `DIR/points`, each reached once however many daemons there
/// are; those by number once for each number. A test that listens on the pipe `DIR/told` is told of each,
/// and where `DIR/spare` is there, that is all.
fn pass_once(folder: &Path, side: &str, events: &[Recorded]) {
    let Ok(points) = std::fs::read_to_string(folder.join("points")) else { return };
    for point in points.lines() {
        let Some(at) = events.iter().find(|recorded| is_at(point, side, recorded)) else {
            continue;
        };
        let by_number = point.contains(":every:");
        let name = if by_number { format!("{side}:{}", at.seq) } else { point.to_owned() };
        if File::create_new(folder.join(&name)).is_err() {
            continue;
        }
        let mut pipe = File::options();
        let no_wait = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        if let Ok(mut told) = pipe.write(true).custom_flags(no_wait).open(folder.join("told")) {
            writeln!(told, "{name}").ok();
        }
        if !folder.join("spare").exists() {
            die();
        }
    }
}

/// Panics or aborts here, if the test asked for it at this place, for what has this name:
/// `GLIS_FAILPOINT=panic@save@blue`, `GLIS_FAILPOINT=abort@save@blue`.
#[expect(clippy::panic, reason = "that is what the test asks for")]
pub(crate) fn reach(place: &str, name: &str) {
    let Ok(wanted) = std::env::var(VARIABLE) else { return };
    let mut parts = wanted.split('@');
    let how = parts.next();
    if parts.next() != Some(place) || parts.next() != Some(name) {
        return;
    }
    match how {
        Some("panic") => panic!("a test asked for it at {place}"),
        Some("abort") => std::process::abort(),
        Some(_) | None => {}
    }
}

/// The protocol that this daemon claims to speak, if a test asked for one:
/// `GLIS_FAILPOINT=protocol:9`.
pub(crate) fn protocol() -> Option<u32> {
    std::env::var(VARIABLE).ok()?.strip_prefix("protocol:")?.parse().ok()
}
