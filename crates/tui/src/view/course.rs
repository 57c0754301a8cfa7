//! How far a plan or a loop is, as a bar.

use super::pen::{Pen, width};
use crate::model::{Model, folder_of};
use glis_client::labels::Tone;
use glis_wire::plan::PlanRow;
use glis_wire::view::LoopView;
use ratatui_core::layout::Rect;
use ratatui_core::style::Modifier;

/// As wide as a bar can be told from its neighbours.
const BAR_COLUMNS: usize = 12;

/// `3/8 ████░░░░░░░░`. It is full when everything is done, and not before.
fn bar(done: usize, all: usize) -> String {
    let full = (done * BAR_COLUMNS).checked_div(all).unwrap_or(0).min(BAR_COLUMNS);
    format!("{done}/{all} {}{}", "█".repeat(full), "░".repeat(BAR_COLUMNS - full))
}

/// How far a loop is; without the bar where there is no room for it.
pub(super) fn of_loop(own: &LoopView, room: u16) -> String {
    let state = if own.state == "running" { String::new() } else { format!(" {}", own.state) };
    let Some(max) = own.max else { return format!("iteration {}{state}", own.iteration) };
    let (done, all) = (own.iteration as usize, max as usize);
    let with_bar = format!("{}{state}", bar(done, all));
    if width(&with_bar) <= room { with_bar } else { format!("{done}/{all}{state}") }
}

/// The row of a plan: what it is called, and how far it is. Its tasks are below it.
pub(super) fn plan_line(model: &Model, pen: &mut Pen<'_>, row: Rect, plan: &str) {
    let theme = model.theme;
    let known = model.rows.plans.row(plan);
    let end = row.right().saturating_sub(1);
    let title = known.map_or("a plan", |plan| plan.title.as_deref().unwrap_or(&plan.slug));
    let told = known.map(|plan| (bar(plan.settled, plan.tasks), how(plan)));
    let needed = told.as_ref().map_or(0, |(bar, (word, _))| width(bar) + width(word) + 3);
    let bold = theme.text().add_modifier(Modifier::BOLD);
    let room = end.saturating_sub(row.x + 4 + needed);
    let mut x = pen.put(row.x + 4, row.y, room, title, bold) + 2;
    if let Some((bar, (word, tone))) = told {
        x = pen.put_to(x, row.y, end, &bar, theme.tone(Tone::Calm)) + 1;
        x = pen.put_to(x, row.y, end, word, theme.tone(tone)) + 1 + u16::from(!word.is_empty());
    }
    let one = model.rows.all.values().find(|session| session.plan.as_deref() == Some(plan));
    let repo = one.map(|session| folder_of(&session.repo_root)).unwrap_or_default();
    if x + width(repo) <= end {
        pen.put(x, row.y, width(repo), repo, theme.faint());
    }
}

fn how(plan: &PlanRow) -> (&'static str, Tone) {
    match (plan.done, plan.at_rest) {
        (true, _) => ("✓ done", Tone::Good),
        (false, true) => ("stands still", Tone::Attention),
        (false, false) => ("", Tone::Faint),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_full_when_all_is_done() {
        assert_eq!(bar(22, 40), "22/40 ██████░░░░░░");
        assert_eq!(bar(39, 40), "39/40 ███████████░");
        assert_eq!((bar(1, 1), bar(0, 0)), ("1/1 ████████████".into(), "0/0 ░░░░░░░░░░░░".into()));
    }
}
