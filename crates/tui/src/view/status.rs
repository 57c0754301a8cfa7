//! The line of a loop or of a plan's task: how long, how far, and whether it goes on.

use super::pen::{Pen, width};
use crate::model::{Model, SPIN_MS, running_secs};
use glis_client::labels::Tone;
use glis_core::Status;
use glis_wire::view::SessionRow;
use ratatui_core::layout::Rect;
use ratatui_core::style::Modifier;

/// What turns while it runs.
const WHEEL: [&str; 4] = ["◐", "◓", "◑", "◒"];

/// Whether the session in hand has such a line.
pub(super) fn is_shown(model: &Model) -> bool {
    model.session().is_some_and(|session| session.looped.is_some() || session.plan.is_some())
}

/// Draws it: `glis | docs | 00:12:34 | Iteration #3 | ✓2 ●1 ○3 | 5 files modified ◐`.
pub(super) fn draw(model: &Model, pen: &mut Pen<'_>, area: Rect) {
    let Some(session) = model.session().filter(|_| area.height > 0) else { return };
    let theme = model.theme;
    pen.tint(area, theme.lifted());
    let (state, tone) = state(model, session);
    let end = area.right().saturating_sub(width(&state) + 2);
    let parts = parts(model, session);
    let mut x = area.x + 1;
    for (number, part) in parts.iter().enumerate() {
        let between = if number == 0 { "" } else { " | " };
        // What has no room is left out whole.
        if x + width(between) + width(part) > end {
            break;
        }
        x = pen.put(x, area.y, width(between), between, theme.faint().patch(theme.lifted()));
        let style = if number == 0 { theme.accent() } else { theme.text() };
        x = pen.put(x, area.y, width(part), part, style.patch(theme.lifted()));
    }
    // Pausing and paused look different, and not by their colour alone.
    let style = theme.tone(tone).add_modifier(Modifier::BOLD).patch(theme.lifted());
    pen.put(x + 1, area.y, width(&state), &state, style);
}

fn parts(model: &Model, session: &SessionRow) -> Vec<String> {
    let mut parts = vec!["glis".to_owned(), session.name.clone()];
    parts.push(clock(running_secs(session, model.now)));
    if let Some(own) = &session.looped {
        parts.push(format!("Iteration #{}", own.iteration));
    }
    parts.extend(session.task.as_ref().map(|task| format!("task {task}")));
    parts.extend(counts(session));
    parts.extend(model.rows.changes.get(&session.id).map(|files| match files {
        1 => "1 file modified".to_owned(),
        files => format!("{files} files modified"),
    }));
    parts
}

/// `✓2 ●1 ○3`, where there are any tasks.
pub(super) fn counts(session: &SessionRow) -> Option<String> {
    let SessionRow { tasks_done, tasks_active, tasks_open, .. } = session;
    let any = tasks_done + tasks_active + tasks_open > 0;
    any.then(|| format!("✓{tasks_done} ●{tasks_active} ○{tasks_open}"))
}

fn clock(secs: i64) -> String {
    format!("{:02}:{:02}:{:02}", secs / 3600, secs / 60 % 60, secs % 60)
}

fn state(model: &Model, session: &SessionRow) -> (String, Tone) {
    let turn = usize::try_from(model.now.ms / SPIN_MS).unwrap_or(0);
    let wheel = WHEEL.get(turn % WHEEL.len()).copied().unwrap_or("◐");
    let own = session.looped.as_deref().map(|own| own.state.as_str());
    let merged = model.rows.plans.badge(session).tone == Tone::Good;
    match (own, session.status) {
        (None, Status::Idle | Status::Suspended | Status::Completed) if merged => {
            ("✓ MERGED".to_owned(), Tone::Good)
        }
        (Some("done"), _) => ("✓ DONE".to_owned(), Tone::Good),
        (Some("stopped"), _) => ("■ STOPPED".to_owned(), Tone::Faint),
        (Some("paused"), _) | (_, Status::Paused) => ("⏸ PAUSED".to_owned(), Tone::Calm),
        (Some("pausing"), _) | (_, Status::Pausing) => {
            (format!("{wheel} PAUSING..."), Tone::Attention)
        }
        (_, Status::Busy | Status::Resuming) => (wheel.to_owned(), Tone::Good),
        (_, Status::Waiting) => ("? WAITING".to_owned(), Tone::Attention),
        (_, Status::Failed | Status::Interrupted) => ("✗ FAILED".to_owned(), Tone::Bad),
        (
            _,
            Status::Created
            | Status::Idle
            | Status::Suspended
            | Status::Completed
            | Status::Archived,
        ) => ("◦".to_owned(), Tone::Faint),
    }
}
