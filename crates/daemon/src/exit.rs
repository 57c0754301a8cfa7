//! How a process ended, as its holder wrote it down.

use crate::last_words::last_words;
use glis_core::event::Ending;
use glis_core::input::Exit;
use glis_core::leftover::{Companion, Leftovers};
use glis_wire::hold::{End, ExitRecord, Killed, place};
use rustix::process::Signal;
use std::path::Path;
use std::time::Duration;
use tracing::info;

/// The record of this generation's end in a session's folder.
pub(crate) fn record(dir: &Path, generation: u32) -> Option<ExitRecord> {
    last(dir).filter(|record| record.generation == generation)
}

/// How much the last process had printed when it ended, by its record; nothing is known otherwise.
pub(crate) fn recorded_end(dir: &Path) -> u64 {
    last(dir).map_or(0, |record| record.log_end)
}

fn last(dir: &Path) -> Option<ExitRecord> {
    serde_json::from_slice(&std::fs::read(dir.join(place::EXIT)).ok()?).ok()
}

/// The end that a record tells of.
pub(crate) fn describe(dir: &Path, record: &ExitRecord) -> Exit {
    Exit {
        ending: match record.end {
            End::Exited(status) => Ending::Exited(status),
            End::Signalled(signal) => Ending::Signalled(signal),
        },
        ordered: record.ordered,
        left: Leftovers {
            killed: companions(&record.killed),
            stuck: companions(&record.stuck),
            kept: companions(&record.kept),
            ..Leftovers::default()
        },
        last_words: last_words(dir, record),
    }
}

/// Tells how a process ended that was told to, and what was ended with it.
pub(crate) fn note(record: &ExitRecord) {
    let pid = record.process.pid;
    match record.grace_ms.map(Duration::from_millis) {
        Some(grace) => {
            // Who was given no time was not waited for.
            if !grace.is_zero() {
                let secs = grace.as_secs_f64().round();
                info!("Process {pid} did not exit within {secs}s, sending SIGKILL");
            }
            if record.stuck.iter().all(|stuck| stuck.pid != pid) {
                info!("Process {pid} killed");
            }
        }
        None if record.ordered => info!("Process {pid} terminated gracefully"),
        None => {}
    }
    note_ended(&record.killed);
}

/// Notes what the processes have ended by that had to be told.
pub(crate) fn note_ended(ended: &[Killed]) {
    for Killed { pid, signal, .. } in ended.iter().filter(|ended| ended.signal != 0) {
        let killed = *signal == Signal::KILL.as_raw();
        let how = if killed { "killed" } else { "terminated gracefully" };
        info!("Process {pid} {how}");
    }
}

/// Processes beside an agent, as the log knows them.
pub(crate) fn companions(killed: &[Killed]) -> Vec<Companion> {
    let companion = |killed: &Killed| Companion {
        pid: killed.pid,
        start_ticks: killed.start_ticks,
        command: killed.command.clone(),
        cwd: killed.cwd.clone(),
        ports: killed.ports.clone(),
    };
    killed.iter().map(companion).collect()
}
