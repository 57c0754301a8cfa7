//! The box that a plan is executed from: how it is to go, and its tasks.

use super::field::{self, BOX_COLUMNS, Value};
use super::layout::middle;
use super::pen::{Lines, Pen, styled};
use crate::model::{Model, PlanBox, PlanField, Reading, folder_of};
use glis_client::labels::{Tone, task_mark};
use glis_core::plan::TaskSpec;
use glis_wire::plan::{PlanFile, TaskState};
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;

/// The longest word before a field, and a blank or two.
const WORDS: u16 = 11;

pub(super) fn draw(model: &Model, pen: &mut Pen<'_>, area: Rect, form: &PlanBox) {
    let theme = model.theme;
    let columns = BOX_COLUMNS.min(area.width.saturating_sub(2));
    let lines = tasks(model, form, columns.saturating_sub(4));
    let fields = u16::try_from(PlanField::ALL.len()).unwrap_or(0);
    let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(fields + 3);
    let repo = folder_of(&form.read.0);
    let place = middle(area, columns, rows.min(area.height.saturating_sub(2)));
    let inner = pen.frame(place, &format!("execute the plan of {repo}"));
    let beside = form.beside();
    for (y, field) in (inner.y..inner.bottom()).zip(PlanField::ALL) {
        let chosen = form.shown(field);
        let value = match field {
            PlanField::Jobs => Value::Text(&form.jobs, "1, or as it is executed already"),
            PlanField::Repository => Value::Text(&form.other, &beside),
            PlanField::File => Value::Text(&form.file, "the repository's own, .glis/plan.toml"),
            PlanField::Only | PlanField::Review => Value::Choice(&chosen),
        };
        let place = Rect { y, height: 1, ..inner };
        field::field(pen, place, (field.word(), WORDS), form.field == field, &value);
    }
    let top = inner.y + fields + 1;
    let room = usize::from(inner.bottom().saturating_sub(top));
    // What is wrong, else a blank line, parts the two.
    if let Some(fault) = form.fault.as_deref().filter(|_| inner.height > fields) {
        let y = inner.y + fields;
        pen.put_to(inner.x + WORDS, y, inner.right(), fault, theme.tone(Tone::Bad));
    }
    let below = lines.len().saturating_sub(room);
    for (y, (text, style)) in (top..inner.bottom()).zip(lines) {
        pen.put(inner.x, y, inner.width, &text, style);
    }
    if room > 0 {
        field::more(pen, inner, below);
    }
}

fn tasks(model: &Model, form: &PlanBox, columns: u16) -> Lines {
    let theme = model.theme;
    match &form.reading {
        Reading::Empty | Reading::Loading => vec![("…".to_owned(), theme.faint())],
        Reading::Fault(told) => {
            let hint = told.hint.as_deref().unwrap_or_default();
            let message = styled("", &told.message, columns, theme.tone(Tone::Bad));
            [message, styled("", hint, columns, theme.faint())].concat()
        }
        Reading::Shown(found) => {
            let all = found.tasks.iter().map(|written| &written.task);
            all.map(|task| line(model, found, task)).collect()
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
