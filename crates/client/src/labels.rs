//! Short labels that every face shares: marks, tones, ages, steps. Sentences are each face's own.

use glis_core::Status;
use glis_core::plain::in_sight;
use glis_core::plan::RunState;
use glis_wire::plan::TaskState;
use glis_wire::view::{BudgetView, SessionRow, WaitingFor};
use jiff::tz::TimeZone;
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

/// A mark for each state of a task.
pub fn task_mark(state: TaskState) -> char {
    match state {
        TaskState::Todo | TaskState::Ready => '\u{25cb}',
        TaskState::Run(RunState::Running) => '\u{25cf}',
        TaskState::Run(RunState::Waiting) => '?',
        TaskState::Run(RunState::Paused) => '\u{23f8}',
        TaskState::Run(RunState::Succeeded) => '\u{2713}',
        TaskState::Run(RunState::Failed) => '\u{2717}',
        TaskState::Run(RunState::Canceled) => '\u{2013}',
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

/// What is said of a process that a pause has stopped in place: it is there, and so is its memory.
pub const KEPT: &str = "process kept";

/// What is said of a session that came back from the middle of a turn and was told nothing.
pub const CUT_OFF: &str = "its last turn was cut off";

/// How a session is, in a word, and in two more where that is not all.
pub fn state(session: &SessionRow) -> String {
    let kept = if session.process_kept { format!(", {KEPT}") } else { String::new() };
    format!("{}{kept}", session.status.word())
}

/// How long ago a time of ours was.
pub fn ago(time: &str) -> String {
    let Ok(then) = time.parse::<jiff::Timestamp>() else { return "-".to_owned() };
    span((jiff::Timestamp::now().as_second() - then.as_second()).max(0))
}

/// How long it is until a time to come.
pub fn until(time: &str) -> String {
    let Ok(then) = time.parse::<jiff::Timestamp>() else { return "-".to_owned() };
    span((then.as_second() - jiff::Timestamp::now().as_second()).max(0))
}

/// How a person has put it among the others, if somebody has.
pub fn triage(session: &SessionRow) -> Option<String> {
    let pinned = session.pinned.then(|| "pinned".to_owned());
    let labels = session.labels.iter().map(|label| format!("#{label}"));
    let parts: Vec<String> = snoozed(session).into_iter().chain(pinned).chain(labels).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// The same of a session by its name, for whoever has just put it so.
pub fn put(session: &SessionRow) -> String {
    let put = triage(session).unwrap_or_else(|| "like any other".to_owned());
    format!("{}: {put}", session.name)
}

/// How far its budget is used, said to whoever has set it.
pub fn budgeted(session: &SessionRow) -> String {
    let name = &session.name;
    session.budget.as_ref().map_or_else(
        || format!("{name}: no budget"),
        |BudgetView { allowed, used, .. }| format!("{name}: {allowed} ({used})"),
    )
}

/// That its budget goes towards its end, where that is so.
pub fn nearly_used(session: &SessionRow) -> Option<String> {
    let budget = session.budget.as_ref().filter(|budget| budget.is_nearly_used())?;
    Some(format!("{}% of its budget", budget.percent))
}

/// Until when it needs nobody, if that was said.
pub fn snoozed(session: &SessionRow) -> Option<String> {
    let until = session.snoozed_until.as_ref()?;
    let Ok(until) = until.parse::<jiff::Timestamp>() else {
        return Some("snoozed until it changes".to_owned());
    };
    let (until, now) = (until.to_zoned(TimeZone::system()), jiff::Zoned::now());
    let form = if until.date() == now.date() { "%H:%M" } else { "%a %d %b %H:%M" };
    Some(format!("snoozed until {}", until.strftime(form)))
}

/// A span of time, in its largest unit.
pub fn span(seconds: i64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// What is being done after each step of an operation.
const STEPS: [(&str, &str); 20] = [
    ("session_created", "making the worktree"),
    ("worktree_made", "starting the agent"),
    ("start_began", "starting the agent"),
    ("start_checked", "starting the agent"),
    ("process_started", "waiting for the agent to get ready"),
    ("pause_began", "PAUSING... after this turn"),
    ("loop_pause_asked", "PAUSING... after this iteration"),
    ("interrupt_began", "PAUSING... waiting for a safe state"),
    ("safe_state_reached", "saving the screen"),
    ("terminal_captured", "saving the worktree"),
    ("save_began", "saving the worktree"),
    ("end_began", "ending the process"),
    ("stop_began", "ending the process"),
    ("process_ended", "saving what it left"),
    ("removal_began", "moving it to the trash"),
    ("clearing_began", "removing the worktree"),
    ("restore_began", "restoring the worktree"),
    ("return_began", "taking it out of the trash"),
    ("emptying_began", "deleting it"),
    ("capture_missed", "saving the worktree"),
];

/// What is being done at a step of an operation, for a person who waits.
pub fn step(event: &Value) -> Option<&'static str> {
    let name = event.get("event")?.as_str()?;
    STEPS.iter().find(|(known, _)| *known == name).map(|(_, label)| *label)
}

/// What is asked of a message in doubt: whether it arrived, or what to do since it does not.
pub fn doubt(ask: &WaitingFor) -> String {
    match &ask.not_delivered {
        Some(why) => format!("This message is not delivered: {}. Send it again?", in_sight(why)),
        None => "Did the agent get this message?".to_owned(),
    }
}

/// Why a session does not run although a message has come for it, if a start of it has failed.
pub fn unstarted(s: &SessionRow) -> Option<&str> {
    let rests = s.pid.is_none() && s.operation.is_none();
    // A turn that came to nothing was begun.
    let failure = s.failure.as_deref().filter(|_| s.status == Status::Failed);
    let failed = failure.or((s.failed_starts > 0).then_some(s.verdict.as_str()));
    failed.filter(|_| rests)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// A line of every event that was ever stored.
    const STORED: &str = include_str!("../../core/tests/golden/events.jsonl");

    #[test]
    fn every_step_that_has_a_label_is_an_event() {
        let names = STORED.lines().map(|line| {
            let event = serde_json::from_str::<Value>(line).unwrap()["event"].clone();
            match event.as_object() {
                Some(fields) if fields.contains_key("loop") => {
                    let of = fields["loop"].as_object().and_then(|own| own.keys().next().cloned());
                    format!("loop_{}", of.unwrap_or_default())
                }
                Some(fields) => fields.keys().next().cloned().unwrap_or_default(),
                None => event.as_str().unwrap_or_default().to_owned(),
            }
        });
        let names: BTreeSet<String> = names.collect();
        for (event, _) in STEPS {
            assert!(names.contains(event), "{event}");
        }
        let told = step(&serde_json::json!({"event": "end_began", "op": 7}));
        assert_eq!((told, step(&serde_json::json!({}))), (Some("ending the process"), None));
    }

    /// They stand in a line beside others, on a phone as well.
    #[test]
    fn labels_are_short_and_no_sentences() {
        for (_, label) in STEPS {
            assert!(label.chars().count() <= 36 && !label.ends_with('.'), "{label}");
        }
        for time in ["2020-01-01T00:00:00Z", "9999-01-01T00:00:00Z", "no time"] {
            assert!(ago(time).len() <= 6, "{time}: {}", ago(time));
        }
        assert_eq!((ago("9999-01-01T00:00:00Z"), ago("no time")), ("0s".into(), "-".into()));
    }

    #[test]
    fn no_two_states_have_one_mark_unless_both_pass_by_themselves() {
        for (at, one) in Status::ALL.into_iter().enumerate() {
            for other in Status::ALL.into_iter().skip(at + 1) {
                let both_pass = one == Status::Pausing && other == Status::Resuming;
                assert_eq!(mark(one) == mark(other), both_pass, "{one:?} {other:?}");
            }
        }
        let bad = Status::ALL.into_iter().filter(|status| tone(*status) == Tone::Bad);
        assert_eq!(bad.collect::<Vec<_>>(), [Status::Interrupted, Status::Failed]);
    }
}
