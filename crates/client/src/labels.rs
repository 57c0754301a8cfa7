//! Short labels that every face shares: marks, tones, ages, steps. Sentences are each face's own.

use glis_core::Status;
use serde_json::Value;

/// What a status means for who looks. Each face has a colour for it, and none tells it by that alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// It works, or is done.
    Good,
    /// It is ready.
    Calm,
    /// A person may have to do something, or wait.
    Attention,
    /// Something went wrong.
    Bad,
    /// Nothing happens.
    Faint,
}

/// A mark for each state, so that colour is never the only sign.
pub fn mark(status: Status) -> char {
    match status {
        Status::Created => '\u{25cb}',
        Status::Busy => '\u{25cf}',
        Status::Idle => '\u{25d0}',
        Status::Waiting => '?',
        Status::Pausing | Status::Resuming => '\u{2026}',
        Status::Paused => '\u{2016}',
        Status::Suspended => 'z',
        Status::Interrupted => '!',
        Status::Completed => '\u{2713}',
        Status::Failed => '\u{2717}',
        Status::Archived => '-',
    }
}

/// What a status means for who looks.
pub fn tone(status: Status) -> Tone {
    match status {
        Status::Busy | Status::Completed => Tone::Good,
        Status::Idle => Tone::Calm,
        Status::Waiting | Status::Pausing | Status::Resuming | Status::Paused => Tone::Attention,
        Status::Interrupted | Status::Failed => Tone::Bad,
        Status::Created | Status::Suspended | Status::Archived => Tone::Faint,
    }
}

/// How long ago a time of ours was.
pub fn ago(time: &str) -> String {
    let Ok(then) = time.parse::<jiff::Timestamp>() else { return "-".to_owned() };
    let seconds = (jiff::Timestamp::now().as_second() - then.as_second()).max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// What is being done at a step of an operation, for a person who waits.
pub fn step(event: &Value) -> Option<&'static str> {
    Some(match event.get("event")?.as_str()? {
        "session_created" => "making the worktree",
        "worktree_made" | "start_began" | "start_checked" => "starting the agent",
        "process_started" => "waiting for the agent to get ready",
        "pause_began" => "PAUSING... after this turn",
        "interrupt_began" => "PAUSING... waiting for a safe state",
        "safe_state_reached" => "saving the screen",
        "terminal_captured" | "save_began" => "saving the worktree",
        "end_began" | "stop_began" => "ending the process",
        "process_ended" => "saving what it left",
        "removal_began" => "moving it to the trash",
        "clearing_began" => "removing the worktree",
        "restore_began" => "restoring the worktree",
        "return_began" => "taking it out of the trash",
        "emptying_began" => "deleting it",
        _ => return None,
    })
}
