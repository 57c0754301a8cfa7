//! A plan: tasks that need each other, in a file that people and agents write by hand.
#![forbid(unsafe_code)]
#![forbid(clippy::wildcard_enum_match_arm)]

mod draft;
mod draw;
mod edit;
mod graph;
mod read;

pub use draft::{asking_again, asking_for, draft_in};
pub use draw::draw;
pub use edit::{Change, Changes, add, edit, remove};
pub use glis_core::refusal::LineFault as Fault;

use glis_core::plan::TaskSpec;
use glis_core::plan::schedule::Link;
use std::collections::HashMap;

/// Where a repository has its plan.
pub const FILE: &str = ".glis/plan.toml";

/// So long may one be: it goes to whoever asks for it in one frame of 8 MiB, with room for what JSON adds.
pub const BYTES_MAX: u64 = 4 * 1024 * 1024;

/// A plan without a fault: ids are unique, whatever is named is there, and every task can be reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// What it is about.
    pub title: Option<String>,
    /// Its tasks, in the order of the file.
    pub tasks: Vec<Task>,
}

/// A unit of work, or a group of them: a task with children is worked on when they are done, on what they have come
/// to. One without a prompt is only a name for them, and done when they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Task {
    /// Its name, of a session name's letters.
    pub id: String,
    /// What it is about, in a few words.
    pub title: Option<String>,
    /// What an agent is told. Only a group may be without.
    pub prompt: Option<String>,
    /// The group that it belongs to.
    pub parent: Option<String>,
    /// What has to be done before. What its group needs, it needs too.
    pub needs: Vec<String>,
    /// The agent that works on it.
    pub agent: Option<String>,
    /// The manner of that agent.
    pub persona: Option<String>,
    /// A command for the shell that succeeds when it is done.
    pub accept: Option<String>,
    /// Where it begins in the file, counted from 1.
    pub line: usize,
}

impl Plan {
    /// Reads a plan, or tells everything that is wrong with it, by line.
    pub fn read(text: &str) -> Result<Self, Vec<Fault>> {
        let (plan, mut faults) = read::read(text);
        // What is not there, or there twice, has no way through it.
        if faults.is_empty() {
            faults = graph::faults(&plan);
        }
        faults.sort_by_key(|fault| fault.line);
        if faults.is_empty() { Ok(plan) } else { Err(faults) }
    }

    /// The task of this id.
    pub fn task(&self, id: &str) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == id)
    }

    /// Whether a task is a group.
    pub fn is_group(&self, id: &str) -> bool {
        self.tasks.iter().any(|task| task.parent.as_deref() == Some(id))
    }

    fn links(&self) -> Vec<Link<'_>> {
        let link = |at: usize| {
            let task = self.tasks.get(at)?;
            let (parent, works) = (task.parent.as_deref(), task.prompt.is_some());
            Some(Link { id: &task.id, parent, needs: &task.needs, works })
        };
        (0..self.tasks.len()).filter_map(link).collect()
    }

    /// Where each task stands, by its id.
    fn places(&self) -> HashMap<&str, usize> {
        self.tasks.iter().enumerate().map(|(at, task)| (task.id.as_str(), at)).collect()
    }
}

impl From<Task> for TaskSpec {
    fn from(task: Task) -> Self {
        let Task { id, title, prompt, parent, needs, agent, persona, accept, line: _ } = task;
        Self { id, title, prompt, parent, needs, agent, persona, accept }
    }
}
