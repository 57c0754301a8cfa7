//! Text → plan: every key is known, of the right kind, and where it stands is told.

use crate::Fault;
use crate::{Plan, Task};
use glis_core::amount;
use glis_core::name::{self, BadName};
use glis_core::plain::{in_one_line, in_sight};
use glis_core::plan::Budget;
use glis_core::queue::TooLong;
use std::collections::{HashMap, HashSet};
use toml_edit::{Document, Item, Table};

/// What a table of a task may hold.
const TASK_KEYS: [&str; 12] = [
    "id",
    "title",
    "prompt",
    "parent",
    "needs",
    "agent",
    "persona",
    "accept",
    "accept_secs",
    "max_cost",
    "max_time",
    "proposed",
];

/// Reads as much as can be read, and everything that is wrong with single keys, ids and names.
pub(crate) fn read(text: &str) -> (Plan, Vec<Fault>) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = Lines::of(text);
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(fault) => {
            let line = fault.span().map_or(1, |span| lines.at(span.start));
            let why = in_one_line(fault.message());
            return (Plan::default(), vec![Fault::new(line, why)]);
        }
    };
    let mut reader = Reader { lines, faults: Vec::new() };
    let plan = reader.plan(document.as_table());
    reader.check_ids(&plan);
    reader.check_names(&plan);
    reader.check_prompts(&plan);
    reader.check_letters(&plan);
    (plan, reader.faults)
}

/// Where the lines of a text end.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(
            text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect(),
        )
    }

    /// The line of a place, counted from 1.
    fn at(&self, place: usize) -> usize {
        self.0.partition_point(|end| *end < place) + 1
    }
}

struct Reader {
    lines: Lines,
    faults: Vec<Fault>,
}

impl Reader {
    fn fault(&mut self, line: usize, why: impl Into<String>) {
        self.faults.push(Fault::new(line, why));
    }

    fn plan(&mut self, root: &Table) -> Plan {
        let mut plan = Plan::default();
        for (key, item) in root {
            let line = self.line_of_key(root, key);
            match (key, item) {
                ("plan", Item::Table(head)) => {
                    self.refuse_unknown(head, &["title", "max_cost", "max_time"]);
                    plan.title = self.text_at(head, "title");
                    plan.budget = self.budget(head);
                }
                ("task", Item::ArrayOfTables(tasks)) => {
                    plan.tasks = tasks.iter().map(|table| self.task(table)).collect();
                }
                ("plan", _) => self.fault(line, "`plan` must be a table: write `[plan]`"),
                ("task", _) => self.fault(line, "each task is a table: write `[[task]]`"),
                (key, _) => {
                    self.fault(
                        line,
                        format!("unknown key `{key}`; a plan has [plan] and [[task]]"),
                    );
                }
            }
        }
        plan
    }

    fn task(&mut self, table: &Table) -> Task {
        self.refuse_unknown(table, &TASK_KEYS);
        let line = table.span().map_or(1, |span| self.lines.at(span.start));
        let id = self.text_at(table, "id");
        if id.is_none() && !table.contains_key("id") {
            self.fault(line, "this task has no `id`");
        }
        Task {
            id: id.unwrap_or_default(),
            title: self.text_at(table, "title"),
            prompt: self.text_at(table, "prompt"),
            parent: self.text_at(table, "parent"),
            needs: self.list_at(table, "needs"),
            agent: self.text_at(table, "agent"),
            persona: self.text_at(table, "persona"),
            accept: self.text_at(table, "accept"),
            accept_secs: self.time_at(table, "accept_secs").and_then(|secs| secs.try_into().ok()),
            budget: self.budget(table),
            proposed: self.flag_at(table, "proposed"),
            line,
        }
    }

    fn line_of_key(&self, table: &Table, key: &str) -> usize {
        let of_key = table.key(key).and_then(toml_edit::Key::span);
        let of_item = table.get(key).and_then(Item::span);
        of_key.or(of_item).map_or(1, |span| self.lines.at(span.start))
    }

    fn refuse_unknown(&mut self, table: &Table, known: &[&str]) {
        for (key, _) in table.iter().filter(|(key, _)| !known.contains(key)) {
            let line = self.line_of_key(table, key);
            self.fault(line, format!("unknown key `{key}`; known: {}", known.join(", ")));
        }
    }

    fn text_at(&mut self, table: &Table, key: &str) -> Option<String> {
        let item = table.get(key)?;
        let line = self.line_of_key(table, key);
        match item.as_str() {
            Some(text) if text.trim().is_empty() => {
                self.fault(line, format!("`{key}` is empty"));
                None
            }
            Some(text) => Some(text.to_owned()),
            None => {
                self.fault(line, format!("`{key}` must be a text, not {}", kind(item)));
                None
            }
        }
    }

    fn flag_at(&mut self, table: &Table, key: &str) -> bool {
        let Some(item) = table.get(key) else { return false };
        item.as_bool().unwrap_or_else(|| {
            let line = self.line_of_key(table, key);
            self.fault(line, format!("`{key}` must be true or false"));
            true
        })
    }

    fn budget(&mut self, table: &Table) -> Budget {
        let (cost_micros, secs) = (self.dollars_at(table), self.time_at(table, "max_time"));
        Budget { cost_micros, tokens: None, secs }
    }

    fn dollars_at(&mut self, table: &Table) -> Option<u64> {
        let item = table.get("max_cost")?;
        let given = item.as_float().map(|dollars| dollars.to_string());
        let given = given.or_else(|| item.as_integer().map(|dollars| dollars.to_string()));
        let given = given.or_else(|| item.as_str().map(str::to_owned));
        let amount = given.and_then(|given| amount::dollars(&given));
        if amount.is_none() {
            let line = self.line_of_key(table, "max_cost");
            self.fault(line, "`max_cost` must be an amount of dollars, such as 5 or 2.50");
        }
        amount
    }

    /// Seconds; a text has a unit.
    fn time_at(&mut self, table: &Table, key: &str) -> Option<u64> {
        let item = table.get(key)?;
        let bare = item.as_integer().map(|secs| secs.to_string());
        let secs = bare.as_deref().or(item.as_str()).and_then(amount::seconds);
        if secs.is_none() {
            let line = self.line_of_key(table, key);
            self.fault(line, format!("`{key}` must be a time, such as \"90s\", \"30m\" or \"2h\""));
        }
        secs
    }

    fn list_at(&mut self, table: &Table, key: &str) -> Vec<String> {
        let Some(item) = table.get(key) else { return Vec::new() };
        let line = self.line_of_key(table, key);
        let texts: Option<Vec<String>> = item
            .as_array()
            .and_then(|list| list.iter().map(|value| value.as_str().map(str::to_owned)).collect());
        texts.unwrap_or_else(|| {
            self.fault(line, format!("`{key}` must be a list of ids, such as [\"a\", \"b\"]"));
            Vec::new()
        })
    }

    fn check_ids(&mut self, plan: &Plan) {
        let mut first: HashMap<&str, usize> = HashMap::new();
        for task in plan.tasks.iter().filter(|task| !task.id.is_empty()) {
            if let Err(bad) = name::check(&task.id) {
                let (id, why) = (&task.id, told(bad));
                self.fault(task.line, format!("the id {id:?} {why}"));
            }
            if let Some(line) = first.insert(&task.id, task.line) {
                let id = &task.id;
                self.fault(task.line, format!("the id `{id}` is taken by the task of line {line}"));
            }
        }
    }

    /// Whatever is named has to be there.
    fn check_names(&mut self, plan: &Plan) {
        let places = plan.places();
        for task in &plan.tasks {
            let id = &task.id;
            let parent = task.parent.iter().map(|name| ("parent", name));
            let needs = task.needs.iter().map(|name| ("needs", name));
            for (key, name) in parent.chain(needs) {
                if name == id {
                    let why = format!("`{id}` names itself in `{key}`");
                    self.fault(task.line, why);
                } else if !places.contains_key(name.as_str()) {
                    let hint = likely(name, plan)
                        .map(|id| format!("; did you mean `{id}`?"))
                        .unwrap_or_default();
                    let why = format!("`{id}` has `{name}` in `{key}`, and there is no such task");
                    self.fault(task.line, format!("{why}{hint}"));
                }
            }
        }
    }

    /// What is not seen may say something else than what a person has read.
    fn check_letters(&mut self, plan: &Plan) {
        for task in &plan.tasks {
            let texts =
                [("title", &task.title), ("prompt", &task.prompt), ("accept", &task.accept)];
            for (key, text) in texts {
                let Some(text) = text else { continue };
                let hides = |line: &&str| in_sight(line) != **line;
                if let Some(line) = text.lines().find(hides) {
                    let (id, line) = (&task.id, in_sight(line));
                    self.fault(
                        task.line,
                        format!("`{id}` has letters in `{key}` that are not seen: {line}"),
                    );
                }
            }
        }
    }

    /// An agent has to be told something; a group that says nothing is not worked on.
    fn check_prompts(&mut self, plan: &Plan) {
        let groups: HashSet<_> =
            plan.tasks.iter().filter_map(|task| task.parent.as_deref()).collect();
        for task in &plan.tasks {
            let (id, is_group) = (&task.id, groups.contains(&*task.id));
            if task.prompt.is_none() && !id.is_empty() && !is_group {
                self.fault(task.line, format!("`{id}` has no `prompt`, and no tasks in it"));
            }
            let of_work =
                [("accept", &task.accept), ("agent", &task.agent), ("persona", &task.persona)];
            for (key, _) in of_work.into_iter().filter(|(_, value)| value.is_some()) {
                if task.prompt.is_none() && is_group {
                    let why = "is a group without a `prompt`, which nobody works on";
                    self.fault(task.line, format!("`{id}` {why}: `{key}` means nothing there"));
                }
            }
            if let Some(too_long) = task.prompt.as_deref().and_then(TooLong::message) {
                self.fault(task.line, format!("the prompt of `{}` has {too_long}", task.id));
            }
        }
    }
}

/// An id that differs from a name in one letter or in the order of two.
pub(crate) fn likely<'p>(name: &str, plan: &'p Plan) -> Option<&'p str> {
    let ids = plan.tasks.iter().map(|task| task.id.as_str());
    ids.into_iter().find(|id| is_near(id, name))
}

fn is_near(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let rest = (one.get(same..).unwrap_or_default(), other.get(same..).unwrap_or_default());
    match rest {
        ([_, one @ ..], other) if one == other => true,
        (one, [_, other @ ..]) if one == other => true,
        ([_, one @ ..], [_, other @ ..]) if one == other => true,
        ([a, b, one @ ..], [c, d, other @ ..]) => (a, b) == (d, c) && one == other,
        _ => false,
    }
}

fn told(bad: BadName) -> &'static str {
    match bad {
        BadName::Empty => "is empty",
        BadName::TooLong => "is too long",
        BadName::BadStart => "must begin with a small letter or a digit",
        BadName::BadCharacter => "may have small letters, digits and . _ - only",
        BadName::ReservedForm => "may not have `..`, end with `.` or end with `.lock`",
    }
}

fn kind(item: &Item) -> &'static str {
    match item {
        Item::None => "nothing",
        Item::Value(value) => value.type_name(),
        Item::Table(_) => "a table",
        Item::ArrayOfTables(_) => "a list of tables",
    }
}
