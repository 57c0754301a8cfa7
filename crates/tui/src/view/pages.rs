//! The pages of a session: its conversation, what it changed, its snapshots, its events.

mod conversation;
mod diff;
mod markdown;

use super::pen::Lines;
use crate::command::Command;
use crate::keymap::Place;
use crate::message::Fetched;
use crate::model::{LaidFor, Model, RowOf, Sheet, since};
use crate::theme::Theme;
use glis_core::pause::PauseReason;
use glis_wire::plan::RunView;
use glis_wire::view::{SnapshotView, Voice};
use serde_json::Value;

/// Lays out what is shown. Where a conversation has grown, only what is new of it.
pub(super) fn lay(former: Sheet, fetched: &Fetched, laid_for: LaidFor, model: &Model) -> Sheet {
    let (columns, theme) = (laid_for.columns, laid_for.theme);
    let mut sheet = former;
    if sheet.laid_for != Some(laid_for) {
        sheet = Sheet { laid_for: Some(laid_for), ..Sheet::default() };
    }
    let lines = match fetched {
        Fetched::Conversation(said) if said.entries.is_empty() => {
            nothing("nothing was said yet", theme)
        }
        Fetched::Conversation(said) => {
            conversation::extend(&mut sheet, said, columns, model);
            return sheet;
        }
        Fetched::Diff(files) => {
            diff::lay(&mut sheet, files, columns, model);
            return sheet;
        }
        Fetched::Snapshots(snapshots) => saved(snapshots, model),
        Fetched::Runs(runs) => runs_of(runs, model),
        Fetched::Events(events) => events_of(events, theme),
    };
    for line in lines {
        sheet.push(vec![line], RowOf::Nothing);
    }
    sheet
}

fn nothing(what: &str, theme: Theme) -> Lines {
    vec![(what.to_owned(), theme.faint())]
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
        let key = model.key(Place::List, Command::Execute);
        return nothing(&format!("no runs of a plan: {key} executes one"), theme);
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
