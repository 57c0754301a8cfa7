//! The pages of a session: its conversation, what it changed, its snapshots, its events.

use super::pen::{Lines, styled};
use crate::command::Command;
use crate::keymap::Place;
use crate::message::Fetched;
use crate::model::{Model, since};
use crate::theme::Theme;
use glis_client::labels::Tone;
use glis_core::pause::PauseReason;
use glis_wire::plan::RunView;
use glis_wire::view::{Entry, FileDiffView, SnapshotView, Voice};
use ratatui_core::style::Modifier;
use serde_json::Value;

/// More of a conversation is not read on a screen; `glis log` has all of it.
const ENTRIES_MAX: usize = 300;
/// More of a patch is not either; `glis diff` has all of it.
const PATCH_LINES_MAX: usize = 5000;

/// What is shown, in lines of at most so many columns.
pub(super) fn lines(fetched: &Fetched, columns: u16, model: &Model) -> Lines {
    let theme = model.theme;
    match fetched {
        Fetched::Conversation(entries) => conversation(entries, columns, theme),
        Fetched::Diff { files, patch } => diff(files, patch, theme),
        Fetched::Snapshots(snapshots) => saved(snapshots, model),
        Fetched::Runs(runs) => runs_of(runs, model),
        Fetched::Events(events) => events_of(events, theme),
    }
}

fn nothing(what: &str, theme: Theme) -> Lines {
    vec![(what.to_owned(), theme.faint())]
}

/// The line at which an entry of a conversation begins, by its time.
pub(super) fn line_of(fetched: &Fetched, columns: u16, at: &str, model: &Model) -> Option<usize> {
    let Fetched::Conversation(entries) = fetched else { return None };
    let place = entries.iter().position(|entry| entry.timestamp == at)?;
    let first = entries.len().saturating_sub(ENTRIES_MAX);
    let before = entries.get(first..place).unwrap_or_default();
    Some(if before.is_empty() { 0 } else { conversation(before, columns, model.theme).len() })
}

pub(super) fn word(reason: PauseReason) -> &'static str {
    match reason {
        PauseReason::User => "by you",
        PauseReason::UserInterrupt => "by ctrl+c",
        PauseReason::Resource => "to save resources",
        PauseReason::Error => "after an error",
        PauseReason::IdleTimeout => "idle",
        PauseReason::Global => "with everything",
        PauseReason::RateLimit => "usage limit",
        PauseReason::Budget => "budget",
        PauseReason::Shutdown => "for a shutdown",
        PauseReason::Crash => "its process died",
    }
}

pub(super) fn who(voice: Voice) -> &'static str {
    match voice {
        Voice::User => "you",
        Voice::Assistant => "agent",
        Voice::System => "system",
        Voice::Tool => "tool",
    }
}

fn conversation(entries: &[Entry], columns: u16, theme: Theme) -> Lines {
    if entries.is_empty() {
        return nothing("nothing was said yet", theme);
    }
    let mut lines = Vec::new();
    for entry in entries.iter().skip(entries.len().saturating_sub(ENTRIES_MAX)) {
        let style = match entry.voice {
            Voice::User => theme.accent(),
            Voice::Assistant => theme.tone(Tone::Good),
            Voice::System => theme.faint(),
            Voice::Tool => theme.tone(Tone::Calm),
        };
        if let Some(end) = turn_end(entry) {
            lines.extend([(end, theme.faint()), (String::new(), theme.text())]);
            continue;
        }
        lines.push((speaker(entry), style));
        let body = if entry.voice == Voice::Tool { theme.faint() } else { theme.text() };
        lines.extend(styled("  ", &entry.content, columns, body));
        lines.push((String::new(), theme.text()));
    }
    lines
}

/// Who speaks, and of a tool which one it is and how it ended, where that is known.
fn speaker(entry: &Entry) -> String {
    let about = |key: &str| entry.metadata.get(key).and_then(Value::as_str);
    let known = [about("tool"), about("outcome")].into_iter().flatten();
    let known = known.filter(|_| entry.voice == Voice::Tool).map(|word| format!(" · {word}"));
    format!("{}{}", who(entry.voice), known.collect::<String>())
}

/// The end of a turn, which is told by an entry without words.
fn turn_end(entry: &Entry) -> Option<String> {
    let is_end = entry.voice == Voice::System && entry.content.trim().is_empty();
    let outcome = entry.metadata.get("outcome").and_then(Value::as_str).unwrap_or("ended");
    is_end.then(|| format!("── turn {outcome}"))
}

fn diff(files: &[FileDiffView], patch: &str, theme: Theme) -> Lines {
    if files.is_empty() {
        return nothing("nothing has changed since it began", theme);
    }
    let number = |lines: Option<u64>| lines.map_or_else(|| "bin".to_owned(), |n| n.to_string());
    let mut lines: Lines = files
        .iter()
        .map(|file| {
            let (added, removed) = (number(file.added), number(file.removed));
            (format!("+{added:<5} -{removed:<5} {}", file.path), theme.text())
        })
        .collect();
    lines.push((String::new(), theme.text()));
    for line in patch.lines().take(PATCH_LINES_MAX) {
        let style = match line.as_bytes() {
            [b'd', b'i', b'f', b'f', b' ', ..] => theme.accent(),
            [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => {
                theme.text().add_modifier(Modifier::BOLD)
            }
            [b'+', ..] => theme.tone(Tone::Good),
            [b'-', ..] => theme.tone(Tone::Bad),
            [b'@', b'@', ..] => theme.tone(Tone::Calm),
            _ => theme.text(),
        };
        lines.push((line.replace('\t', "    "), style));
    }
    let left_out = patch.lines().count().saturating_sub(PATCH_LINES_MAX);
    if left_out > 0 {
        lines.push((format!("{left_out} more lines: glis diff"), theme.faint()));
    }
    lines
}

fn saved(snapshots: &[SnapshotView], model: &Model) -> Lines {
    let (now, theme) = (model.now, model.theme);
    if snapshots.is_empty() {
        let key = model.key(Place::List, Command::Snapshot);
        return nothing(&format!("no snapshots yet: {key} saves one"), theme);
    }
    let line = |snapshot: &SnapshotView| {
        let SnapshotView { at, why, changed, commit, .. } = snapshot;
        let short = commit.get(..8).unwrap_or(commit);
        (format!("{:>4}  {short}  {changed:>4} changed  {why}", since(at, now)), theme.text())
    };
    snapshots.iter().map(line).collect()
}

fn runs_of(runs: &[RunView], model: &Model) -> Lines {
    let (now, theme) = (model.now, model.theme);
    if runs.is_empty() {
        return nothing("no runs of a plan: `glis execute` begins one", theme);
    }
    let line = |run: &RunView| {
        let RunView { task_id, run_id, created_at, .. } = run;
        let state = run.state.word();
        let why = run.pause_reason.map(|reason| format!("  {}", word(reason)));
        let asks = run.asks.as_ref().map(|asks| format!("  ? {asks}"));
        let rest = asks.or(why).unwrap_or_default();
        let when = since(created_at, now);
        let text = format!("{when:>4}  {state:<10}  {task_id}  {run_id}{rest}");
        let own = run.session.as_ref() == model.hand.selected.as_ref();
        (text, if own { theme.text() } else { theme.faint() })
    };
    runs.iter().map(line).collect()
}

fn events_of(events: &[Value], theme: Theme) -> Lines {
    if events.is_empty() {
        return nothing("no recent events", theme);
    }
    let line = |event: &Value| {
        let text = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or_default();
        let seq = event.get("seq").and_then(Value::as_u64).unwrap_or(0);
        let at = text("at").get(11..19).unwrap_or_default();
        let status = text("status");
        let leads = if status.is_empty() { String::new() } else { format!("  → {status}") };
        (format!("{at}  {seq:>6}  {}{leads}", text("event").replace('_', " ")), theme.text())
    };
    events.iter().map(line).collect()
}
