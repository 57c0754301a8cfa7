//! A plan as a tree of lines.

use crate::{Plan, Task};
use glis_core::plain::{in_one_line, in_order, without_escapes};
use std::collections::HashMap;

/// The plan as a tree: a line a task, each with the mark that it is given.
pub fn draw(plan: &Plan, mark: impl Fn(&Task) -> String) -> Vec<String> {
    let mut children: HashMap<Option<&str>, Vec<&Task>> = HashMap::new();
    for task in &plan.tasks {
        children.entry(task.parent.as_deref()).or_default().push(task);
    }
    let mut lines: Vec<String> = plan.title.as_deref().map(shown).into_iter().collect();
    // What is still to be drawn, with what stands before it; the last is drawn next.
    let mut open: Vec<(&Task, String, bool)> = Vec::new();
    descend(&children, None, "", &mut open);
    while let Some((task, before, last)) = open.pop() {
        let branch = if last { "\u{2514}\u{2500} " } else { "\u{251c}\u{2500} " };
        lines.push(format!("{before}{branch}{}", label(task, &mark(task))));
        let before = format!("{before}{}", if last { "   " } else { "\u{2502}  " });
        descend(&children, Some(&task.id), &before, &mut open);
    }
    lines
}

fn descend<'p>(
    children: &HashMap<Option<&str>, Vec<&'p Task>>,
    parent: Option<&str>,
    before: &str,
    open: &mut Vec<(&'p Task, String, bool)>,
) {
    let own = children.get(&parent).map(Vec::as_slice).unwrap_or_default();
    let placed = own.iter().enumerate().rev();
    open.extend(placed.map(|(at, task)| (*task, before.to_owned(), at + 1 == own.len())));
}

fn label(task: &Task, mark: &str) -> String {
    let title = task.title.as_ref().map(|title| format!("  {}", shown(title))).unwrap_or_default();
    let needs = match task.needs.as_slice() {
        [] => String::new(),
        needs => format!("  (needs {})", needs.join(", ")),
    };
    format!("{mark} {}{title}{needs}", task.id)
}

/// A title as it can be shown: it may hold keys for a terminal, written as `\u001b`, and what turns letters.
fn shown(title: &str) -> String {
    in_order(&in_one_line(&without_escapes(title))).replace(char::is_control, "")
}
