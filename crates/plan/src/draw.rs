//! A plan as a tree of lines.

use glis_core::plain::{in_one_line, in_order, without_escapes};
use glis_core::plan::TaskSpec;
use std::collections::HashMap;

/// A plan as a tree: a line a task, each with the mark that it is given.
pub fn draw<'p>(
    title: Option<&str>,
    tasks: impl IntoIterator<Item = &'p TaskSpec>,
    mark: impl Fn(&TaskSpec) -> String,
) -> Vec<String> {
    let mut children: HashMap<Option<&str>, Vec<&TaskSpec>> = HashMap::new();
    for task in tasks {
        children.entry(task.parent.as_deref()).or_default().push(task);
    }
    let mut lines: Vec<String> = title.map(shown).into_iter().collect();
    // What is still to be drawn, with what stands before it; the last is drawn next.
    let mut open: Vec<(&TaskSpec, String, bool)> = Vec::new();
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
    children: &HashMap<Option<&str>, Vec<&'p TaskSpec>>,
    parent: Option<&str>,
    before: &str,
    open: &mut Vec<(&'p TaskSpec, String, bool)>,
) {
    let own = children.get(&parent).map(Vec::as_slice).unwrap_or_default();
    let placed = own.iter().enumerate().rev();
    open.extend(placed.map(|(at, task)| (*task, before.to_owned(), at + 1 == own.len())));
}

fn label(task: &TaskSpec, mark: &str) -> String {
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
