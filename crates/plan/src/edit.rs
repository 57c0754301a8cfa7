//! Changing a plan's file: comments, order and everything else in it stay as they are.

use crate::Fault;
use crate::read::likely;
use crate::{Plan, Task};
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, Value, value};

/// What is to become of one key of a task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Change<T> {
    #[default]
    Keep,
    Drop,
    Set(T),
}

/// Changes to a task, key by key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    pub title: Change<String>,
    /// What an agent is told.
    pub prompt: Change<String>,
    /// The group that it belongs to.
    pub parent: Change<String>,
    /// What has to be done before.
    pub needs: Change<Vec<String>>,
    pub agent: Change<String>,
    /// The manner of that agent.
    pub persona: Change<String>,
    /// A command for the shell that succeeds when it is done.
    pub accept: Change<String>,
    /// How long that may take.
    pub accept_secs: Change<String>,
    /// What may be spent on it.
    pub max_cost: Change<String>,
    pub max_time: Change<String>,
}

/// Adds a task at the end; the text as it is then.
pub fn add(text: &str, task: &Task) -> Result<String, Vec<Fault>> {
    let mut document = parse(text)?;
    let tasks = document.entry("task").or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    let Some(tasks) = tasks.as_array_of_tables_mut() else {
        return Err(vec![Fault::new(1, "each task is a table: write `[[task]]`")]);
    };
    let mut table = Table::new();
    table.insert("id", value(&task.id));
    let texts = [("title", &task.title), ("prompt", &task.prompt), ("parent", &task.parent)];
    for (key, text) in texts {
        set_text(&mut table, key, text.as_ref());
    }
    if !task.needs.is_empty() {
        table.insert("needs", list(&task.needs));
    }
    for (key, text) in
        [("agent", &task.agent), ("persona", &task.persona), ("accept", &task.accept)]
    {
        set_text(&mut table, key, text.as_ref());
    }
    if task.proposed {
        table.insert("proposed", value(true));
    }
    if let Some(group) = new_group(text, task) {
        tasks.push(group);
    }
    if !text.trim().is_empty() || !tasks.is_empty() {
        table.decor_mut().set_prefix("\n");
    }
    tasks.push(table);
    checked(&document)
}

/// The group of a task that is to be added, where there is none yet and its name is no slip of the pen.
fn new_group(text: &str, task: &Task) -> Option<Table> {
    let plan = Plan::read(text).ok()?;
    let parent = task.parent.as_deref().filter(|parent| plan.task(parent).is_none())?;
    if parent == task.id || likely(parent, &plan).is_some() {
        return None;
    }
    let mut group = Table::new();
    group.insert("id", value(parent));
    if !text.trim().is_empty() {
        group.decor_mut().set_prefix("\n");
    }
    Some(group)
}

/// Changes a task; the text as it is then.
pub fn edit(text: &str, id: &str, changes: &Changes) -> Result<String, Vec<Fault>> {
    let mut document = parse(text)?;
    let table = find(&mut document, id)?;
    for (key, change) in [
        ("title", &changes.title),
        ("prompt", &changes.prompt),
        ("parent", &changes.parent),
        ("agent", &changes.agent),
        ("persona", &changes.persona),
        ("accept", &changes.accept),
        ("accept_secs", &changes.accept_secs),
        ("max_cost", &changes.max_cost),
        ("max_time", &changes.max_time),
    ] {
        match change {
            Change::Keep => {}
            Change::Drop => drop(table.remove(key)),
            Change::Set(text) => put(table, key, value(text)),
        }
    }
    match &changes.needs {
        Change::Keep => {}
        Change::Drop => drop(table.remove("needs")),
        Change::Set(needs) => put(table, "needs", list(needs)),
    }
    checked(&document)
}

/// Has a task that was proposed be one like any other; the text as it is then.
pub fn approve(text: &str, id: &str) -> Result<String, Vec<Fault>> {
    let mut document = parse(text)?;
    find(&mut document, id)?.remove("proposed");
    checked(&document)
}

/// Takes a task out; the text as it is then. What another task names stays.
pub fn remove(text: &str, id: &str) -> Result<String, Vec<Fault>> {
    let plan = Plan::read(text)?;
    let names = |task: &&Task| {
        task.parent.as_deref() == Some(id) || task.needs.iter().any(|need| need == id)
    };
    let faults: Vec<Fault> = plan
        .tasks
        .iter()
        .filter(names)
        .map(|task| Fault::new(task.line, format!("`{}` names `{id}`: change that first", task.id)))
        .collect();
    if !faults.is_empty() {
        return Err(faults);
    }
    let mut document = parse(text)?;
    find(&mut document, id)?;
    if let Some(tasks) = document.get_mut("task").and_then(Item::as_array_of_tables_mut) {
        tasks.retain(|table| !is_it(table, id));
    }
    checked(&document)
}

fn parse(text: &str) -> Result<DocumentMut, Vec<Fault>> {
    let parsed = text.parse::<DocumentMut>();
    // What the parser says is told by line elsewhere.
    parsed.map_err(|fault| Plan::read(text).err().unwrap_or(vec![Fault::new(1, fault.message())]))
}

/// Only what is a plan is handed back.
fn checked(document: &DocumentMut) -> Result<String, Vec<Fault>> {
    let text = document.to_string();
    Plan::read(&text).map(|_| text)
}

fn find<'d>(document: &'d mut DocumentMut, id: &str) -> Result<&'d mut Table, Vec<Fault>> {
    let tasks = document.get_mut("task").and_then(Item::as_array_of_tables_mut);
    let found = tasks.and_then(|tasks| tasks.iter_mut().find(|table| is_it(table, id)));
    found.ok_or_else(|| vec![Fault::new(1, format!("there is no task `{id}`"))])
}

fn is_it(table: &Table, id: &str) -> bool {
    table.get("id").and_then(Item::as_str) == Some(id)
}

fn set_text(table: &mut Table, key: &str, text: Option<&String>) {
    if let Some(text) = text {
        table.insert(key, value(text));
    }
}

/// In the place of the former value, with the remark behind it.
fn put(table: &mut Table, key: &str, mut item: Item) {
    let decor = table.get(key).and_then(Item::as_value).map(|former| former.decor().clone());
    if let (Some(decor), Some(fresh)) = (decor, item.as_value_mut()) {
        *fresh.decor_mut() = decor;
    }
    match table.get_mut(key) {
        Some(former) => *former = item,
        None => drop(table.insert(key, item)),
    }
}

fn list(texts: &[String]) -> Item {
    let list: Array = texts.iter().map(|text| Value::from(text.as_str())).collect();
    value(list)
}
