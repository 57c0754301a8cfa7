//! The box that a plan is executed from: how it is to go, and its tasks.

use super::field::{self, BOX_COLUMNS, Value};
use super::layout::middle;
use super::pen::{Pen, wrapped};
use crate::model::{Model, PlanBox, PlanField, Reading};
use glis_client::labels::{Tone, task_mark};
use glis_core::plan::TaskSpec;
use glis_wire::plan::{PlanFile, TaskState};
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;

/// The longest word before a field, and a blank or two.
const WORDS: u16 = 11;

/// Draws it. Returns the place of the cursor.
pub(super) fn draw(
    model: &Model,
    pen: &mut Pen<'_>,
    area: Rect,
    form: &PlanBox,
) -> Option<(u16, u16)> {
    let theme = model.theme;
    let columns = BOX_COLUMNS.min(area.width.saturating_sub(2));
    let lines = below(model, form, columns.saturating_sub(4));
    let fields = u16::try_from(PlanField::ALL.len()).unwrap_or(0);
    let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(fields + 3);
    let repo = form.repo.rsplit('/').next().unwrap_or_default();
    let place = middle(area, columns, rows.min(area.height.saturating_sub(2)));
    let inner = pen.frame(place, &format!("execute the plan of {repo}"));
    let mut cursor = None;
    for (y, field) in (inner.y..inner.bottom()).zip(PlanField::ALL) {
        let in_hand = form.field == field;
        let style = if in_hand { theme.accent() } else { theme.faint() };
        pen.put(inner.x, y, WORDS, field.word(), style);
        let width = inner.width.saturating_sub(WORDS);
        let found = value(pen, Rect { x: inner.x + WORDS, y, width, height: 1 }, (form, field));
        cursor = if in_hand { found } else { cursor };
    }
    let top = inner.y + fields + 1;
    let room = usize::from(inner.bottom().saturating_sub(top));
    // What is wrong, else a blank line, parts the two.
    if let Some(fault) = form.fault.as_deref().filter(|_| inner.height > fields) {
        let width = inner.width.saturating_sub(WORDS);
        pen.put(inner.x + WORDS, inner.y + fields, width, fault, theme.tone(Tone::Bad));
    }
    let more = lines.len().saturating_sub(room);
    for (y, (text, style)) in (top..inner.bottom()).zip(lines) {
        pen.put(inner.x, y, inner.width, &text, style);
    }
    if more > 0 && room > 0 {
        let text = format!(" ↓ {more} more ");
        pen.put_right(inner.right(), inner.bottom(), inner.width, &text, theme.faint());
    }
    cursor
}

fn value(
    pen: &mut Pen<'_>,
    place: Rect,
    (form, field): (&PlanBox, PlanField),
) -> Option<(u16, u16)> {
    let chosen = form.shown(field);
    let value = match field {
        PlanField::Jobs => Value::Text(&form.jobs, "1, or as it is executed already"),
        PlanField::File => Value::Text(&form.file, "the repository's own, .glis/plan.toml"),
        PlanField::Only | PlanField::Review => Value::Choice(&chosen),
    };
    field::value(pen, place, form.field == field, &value)
}

/// Its tasks, or why there are none.
fn below(model: &Model, form: &PlanBox, columns: u16) -> Vec<(String, Style)> {
    let theme = model.theme;
    match &form.reading {
        Reading::UnderWay => vec![("…".to_owned(), theme.faint())],
        Reading::Fault(told) => {
            let message = wrapped(&told.message, columns).into_iter();
            let hint = told.hint.as_deref().map(|hint| wrapped(hint, columns)).unwrap_or_default();
            let message = message.map(|line| (line, theme.tone(Tone::Bad)));
            message.chain(hint.into_iter().map(|line| (line, theme.faint()))).collect()
        }
        Reading::Found(found) => {
            let tasks = found.tasks.iter().map(|written| &written.task);
            tasks.map(|task| line(model, found, task)).collect()
        }
    }
}

/// A task: how far it is where the plan is executed, what it is called, and what it waits for.
fn line(model: &Model, found: &PlanFile, task: &TaskSpec) -> (String, Style) {
    let theme = model.theme;
    let executed = found.executed.as_ref().and_then(|plan| {
        plan.tasks.iter().find(|known| known.id == task.id).map(|known| known.state)
    });
    let deep = depth(found, task);
    let title = task.title.as_deref().or(task.prompt.as_deref()).unwrap_or_default();
    let title = title.lines().next().unwrap_or_default();
    let needs = if task.needs.is_empty() {
        String::new()
    } else {
        format!("  after {}", task.needs.join(", "))
    };
    let mark = task_mark(executed.unwrap_or(TaskState::Todo));
    let state = executed.map(|state| format!("  {}", state.word())).unwrap_or_default();
    let indent = "  ".repeat(deep);
    let text = format!("{indent}{mark} {}{state}  {title}{needs}", task.id);
    (text, theme.text())
}

/// How many tasks it is a part of. A circle is refused when a plan is read, and cannot hold us here.
fn depth(found: &PlanFile, task: &TaskSpec) -> usize {
    let tasks = || found.tasks.iter().map(|written| &written.task);
    let parent = |of: &&TaskSpec| {
        let id = of.parent.as_deref()?;
        tasks().find(|task| task.id == id)
    };
    std::iter::successors(parent(&task), parent).take(found.tasks.len()).count()
}
