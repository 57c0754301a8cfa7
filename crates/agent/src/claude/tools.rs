//! What Claude Code's tools are used for, in words for a person.

use crate::heard::{Said, TaskChange};
use crate::hearing::{Meaning, edit, gist, tally, text, to_allow, what};
use crate::wants;
use glis_core::input::Sign;
use glis_core::talk::AskKind;
use glis_core::verdict::Want;
use glis_wire::view::Voice;
use serde_json::Value;
use std::collections::BTreeMap;

/// The tool that asks a person something.
const QUESTION_TOOL: &str = "AskUserQuestion";
/// The tool that proposes a plan, in a mode in which nothing else is done.
pub(super) const PLAN_TOOL: &str = "ExitPlanMode";
/// The tool that keeps a list of what is to do.
const LIST_TOOL: &str = "TodoWrite";
/// The tools that keep a list task by task. What a new one is called by is in the result.
const NEW_TASK_TOOL: &str = "TaskCreate";
const TASK_TOOL: &str = "TaskUpdate";

/// Tools that were used, in the words by which that was told. A result has only their ids.
#[derive(Default)]
pub(super) struct Tools(BTreeMap<String, (String, String)>);

impl Tools {
    /// Notes what an answer uses.
    pub(super) fn note(&mut self, words: &Value) {
        for block in blocks(words).filter(|block| text(block, "/type") == "tool_use") {
            let name = text(block, "/name");
            let words = (name.to_owned(), tool_words(name, &block["input"]));
            self.0.insert(text(block, "/id").to_owned(), words);
        }
    }

    /// Tells that one of them was not allowed.
    pub(super) fn denied(&mut self, id: &str, line: &mut Meaning) {
        if let Some((name, content)) = self.0.remove(id) {
            line.words(Said::denied(&name, content));
        }
    }

    /// Tells of a result that says so that its tool failed.
    pub(super) fn ended(&mut self, result: &Value, line: &mut Meaning) {
        let noted = self.0.remove(text(result, "/tool_use_id"));
        if let Some((name, content)) = noted.filter(|_| result["is_error"] == true) {
            line.words(Said::failed(&name, content));
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// What it asks before it uses a tool.
pub(super) fn asks_for(tool: &str, input: &Value) -> (AskKind, String) {
    let words = tool_words(tool, input);
    match tool {
        QUESTION_TOOL => (AskKind::Question, words),
        _ => (AskKind::Approval, to_allow(tool, &words)),
    }
}

/// The tool that runs a command line, and what may stand beside the line.
pub(super) const SHELL_TOOL: &str = "Bash";
const BESIDE_LINE: [&str; 2] = ["description", "timeout"];
/// The tools that write a file, and where its name stands.
const WRITERS: [(&str, &str); 4] = [
    ("Write", "/file_path"),
    ("Edit", "/file_path"),
    ("MultiEdit", "/file_path"),
    ("NotebookEdit", "/notebook_path"),
];

/// What a tool is used for, where rules can judge it. A command would run in this folder.
pub(super) fn wants(tool: &str, input: &Value, folder: Option<String>) -> Option<Want> {
    if tool == SHELL_TOOL {
        return wants::command(input, "command", &BESIDE_LINE, folder);
    }
    let (_, key) = WRITERS.iter().find(|(name, _)| *name == tool)?;
    let path = input.pointer(key)?.as_str()?;
    // What is no whole path is one from where it works.
    let path = if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", folder?) };
    Some(Want::Edit { paths: vec![path] })
}

/// The questions that it asks, with what may be answered.
fn question(input: &Value) -> String {
    let questions = input.get("questions").and_then(Value::as_array);
    let each = questions.into_iter().flatten().map(|question| {
        let options = question.get("options").and_then(Value::as_array);
        let labels: Vec<&str> =
            options.into_iter().flatten().map(|option| text(option, "/label")).collect();
        format!("{} [{}]", text(question, "/question"), labels.join(" | "))
    });
    each.collect::<Vec<_>>().join("\n")
}

pub(super) fn tool_use(block: &Value, line: &mut Meaning) {
    let name = text(block, "/name");
    let sign = Sign::ToolBegan {
        tool: text(block, "/id").to_owned(),
        what: what(name, &tool_words(name, &block["input"])),
    };
    match said_by(block) {
        Some(said) => line.both(sign, said),
        None => line.sign(sign),
    }
}

pub(super) fn blocks(words: &Value) -> impl Iterator<Item = &Value> {
    words.pointer("/message/content").and_then(Value::as_array).into_iter().flatten()
}

/// What a block of an answer adds to the conversation.
pub(super) fn said_by(block: &Value) -> Option<Said> {
    match text(block, "/type") {
        "text" => Some(Said::new(Voice::Assistant, text(block, "/text"))),
        "tool_use" => (text(block, "/name") != NEW_TASK_TOOL).then(|| used(block)),
        _ => None,
    }
}

fn used(block: &Value) -> Said {
    let (name, input) = (text(block, "/name"), &block["input"]);
    let mut said = Said { edit: edit(input), ..Said::tool(name, tool_words(name, input)) };
    if name == LIST_TOOL {
        let list = input["todos"].as_array().map(Vec::as_slice).unwrap_or_default();
        (said.pending, said.tally) = (Some(to_do(input)), Some(tally(list)));
    }
    said.task = (name == TASK_TOOL).then(|| changed(input)).flatten();
    said
}

fn changed(input: &Value) -> Option<TaskChange> {
    let (id, subject) = (text(input, "/taskId").to_owned(), text(input, "/subject"));
    match text(input, "/status") {
        "completed" => Some(TaskChange::Done { id }),
        "deleted" => Some(TaskChange::Closed { id }),
        "in_progress" if subject.is_empty() => Some(TaskChange::Begun { id }),
        _ if subject.is_empty() => None,
        _ => Some(TaskChange::Opened { id, subject: subject.to_owned() }),
    }
}

/// A task that was put on the list, as the result of the tool tells it.
pub(super) fn new_task(result: &Value) -> Option<Said> {
    let (id, subject) = (text(result, "/task/id"), text(result, "/task/subject"));
    if id.is_empty() || subject.is_empty() {
        return None;
    }
    let task = TaskChange::Opened { id: id.to_owned(), subject: subject.to_owned() };
    Some(Said { task: Some(task), ..Said::tool(NEW_TASK_TOOL, format!("#{id} {subject}")) })
}

/// What a tool is used for, for a person.
pub(super) fn tool_words(name: &str, input: &Value) -> String {
    match name {
        LIST_TOOL => to_do(input).join("; "),
        QUESTION_TOOL => question(input),
        NEW_TASK_TOOL => text(input, "/subject").to_owned(),
        PLAN_TOOL => text(input, "/plan").to_owned(),
        TASK_TOOL => format!("#{} {}", text(input, "/taskId"), text(input, "/status")),
        _ => gist(input),
    }
}

/// What of a list is not done.
fn to_do(input: &Value) -> Vec<String> {
    let items = input.get("todos").and_then(Value::as_array).into_iter().flatten();
    items
        .filter(|item| text(item, "/status") != "completed")
        .map(|item| text(item, "/content").to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_edit_is_judged_where_the_agent_works() {
        let wants = |path: &str, folder: Option<&str>| {
            wants("Write", &json!({"file_path": path}), folder.map(str::to_owned))
        };
        let edit = |path: &str| Some(Want::Edit { paths: vec![path.to_owned()] });
        assert_eq!(wants("/w/a.rs", None), edit("/w/a.rs"));
        assert_eq!(wants("a.rs", Some("/elsewhere")), edit("/elsewhere/a.rs"));
        assert_eq!(wants("a.rs", None), None, "a person is asked");
    }
}
