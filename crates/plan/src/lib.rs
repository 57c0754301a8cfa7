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
pub use edit::{Change, Changes, add, approve, edit, remove};
pub use glis_core::refusal::LineFault as Fault;

use glis_core::plan::schedule::Link;
use glis_core::plan::{Budget, TaskSpec};
use std::collections::{HashMap, HashSet};

/// Where a repository has its plan.
pub const FILE: &str = ".glis/plan.toml";

/// So long may one be: it goes to whoever asks for it in one frame of 8 MiB, with room for what JSON adds.
pub const BYTES_MAX: u64 = 4 * 1024 * 1024;

/// A plan without a fault: ids are unique, whatever is named is there, and every task can be reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    pub title: Option<String>,
    /// What may be spent on all of it.
    pub budget: Budget,
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
    pub agent: Option<String>,
    /// The manner of that agent.
    pub persona: Option<String>,
    /// A command for the shell that succeeds when it is done.
    pub accept: Option<String>,
    /// How long that may take, where it is not as configured.
    pub accept_secs: Option<u32>,
    /// What may be spent on it.
    pub budget: Budget,
    /// An agent proposes it, and a person has not approved it yet: nobody works on it.
    pub proposed: bool,
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
            faults.extend(plan.unapproved());
        }
        faults.sort_by_key(|fault| fault.line);
        if faults.is_empty() { Ok(plan) } else { Err(faults) }
    }

    pub fn task(&self, id: &str) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == id)
    }

    /// What is worked on: everything that is not only proposed.
    pub fn work(&self) -> Vec<TaskSpec> {
        let mut work: Vec<&Task> = self.tasks.iter().filter(|task| !task.proposed).collect();
        // A group of which nothing is approved is nothing yet, and so is what only holds such groups.
        loop {
            let parents: HashSet<_> = work.iter().filter_map(|task| task.parent.as_ref()).collect();
            let is_work = |task: &&Task| task.prompt.is_some() || parents.contains(&task.id);
            let left: Vec<&Task> = work.iter().copied().filter(is_work).collect();
            if left.len() == work.len() {
                return left.into_iter().cloned().map(TaskSpec::from).collect();
            }
            work = left;
        }
    }

    /// What is to be worked on and names what is not, since that is only proposed.
    fn unapproved(&self) -> Vec<Fault> {
        let work = self.work();
        let ids: HashSet<&str> = work.iter().map(|task| task.id.as_str()).collect();
        let places = self.places();
        let fault = |task: &TaskSpec| {
            let named = task.needs.iter().chain(&task.parent);
            let name = named.into_iter().find(|name| !ids.contains(name.as_str()))?;
            let line = places.get(task.id.as_str()).and_then(|at| self.tasks.get(*at))?.line;
            Some(Fault::new(line, format!("`{}` names `{name}`, which is only proposed", task.id)))
        };
        work.iter().filter_map(fault).collect()
    }

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
        let Task { id, title, prompt, parent, needs, agent, persona, accept, .. } = task;
        let Task { accept_secs, budget, .. } = task;
        Self { id, title, prompt, parent, needs, agent, persona, accept, accept_secs, budget }
    }
}
