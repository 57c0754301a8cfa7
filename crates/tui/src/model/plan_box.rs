//! The box that a plan is executed from.

use super::forms::Fields;
use super::new_box::moved;
use super::{Reading, Repositories};
use crate::editor::Editor;
use crate::wanted::count;
use glis_core::plain::shell_word;
use glis_core::plan::Pace;
use glis_wire::client::Request;
use glis_wire::plan::{Execute, PlanFile, PlanRequest};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum PlanField {
    #[default]
    Only,
    Jobs,
    Review,
    Repository,
    File,
}

impl PlanField {
    /// From the top. The file is seldom another one than the repository's own.
    pub(crate) const ALL: [Self; 5] =
        [Self::Only, Self::Jobs, Self::Review, Self::Repository, Self::File];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Only => "tasks",
            Self::Jobs => "at a time",
            Self::Review => "review",
            Self::Repository => "works on",
            Self::File => "file",
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PlanBox {
    /// The repository of the row in hand; another one may be named.
    repo: String,
    repositories: Repositories,
    pub(crate) other: Editor,
    pub(crate) file: Editor,
    /// The repository and the file that were read, or are.
    pub(crate) read: (String, String),
    pub(crate) reading: Reading<Box<PlanFile>>,
    /// None for all of it, else the number of a task behind it.
    only: usize,
    pub(crate) jobs: Editor,
    pub(crate) review: bool,
    pub(crate) field: PlanField,
    /// Why what was typed is not taken.
    pub(crate) fault: Option<String>,
}

impl PlanBox {
    pub(crate) fn of(repo: String, repositories: Repositories) -> Self {
        Self { repo, repositories, ..Self::default() }
    }

    /// The repository whose plan it is, or why that is none.
    pub(crate) fn repository(&self) -> Result<String, String> {
        match self.other.text().trim() {
            "" => Ok(self.repo.clone()),
            text => self.repositories.named(text),
        }
    }

    /// What can be typed in place of the repository.
    pub(crate) fn beside(&self) -> String {
        self.repositories.beside(&self.repo)
    }

    pub(crate) fn found(&self) -> Option<&PlanFile> {
        self.reading.shown().map(Box::as_ref)
    }

    /// The only task that is executed, by its id.
    pub(crate) fn only(&self) -> Option<&str> {
        let tasks = &self.found()?.tasks;
        tasks.get(self.only.checked_sub(1)?).map(|written| written.task.id.as_str())
    }

    /// What a field without a text shows.
    pub(crate) fn shown(&self, field: PlanField) -> String {
        match (field, self.only()) {
            (PlanField::Only, Some(id)) => format!("only {id}"),
            (PlanField::Only, None) => "all, in their order".to_owned(),
            (PlanField::Review, _) if self.review => "stop after each task, for a look".to_owned(),
            (PlanField::Review, _) => "no: go on by itself".to_owned(),
            (PlanField::Jobs | PlanField::Repository | PlanField::File, _) => String::new(),
        }
    }

    /// Whether another file is named than the one that was read, or another repository.
    pub(crate) fn wants_another(&self) -> bool {
        let (repo, file) = &self.read;
        self.file.text().trim() != file || self.repository().is_ok_and(|named| named != *repo)
    }

    /// What is asked before it is executed: which plan, of which repository, and how much of it.
    pub(crate) fn question(&self) -> String {
        let written = self.found();
        let file = written.map(|plan| plan.file.as_str()).unwrap_or_default();
        let title = written.and_then(|plan| plan.title.as_deref()).unwrap_or(file);
        let how_many = match (self.only(), written.map_or(0, |plan| plan.tasks.len())) {
            (Some(id), _) => format!("only task {id}"),
            (None, 1) => "1 task".to_owned(),
            (None, many) => format!("{many} tasks"),
        };
        format!("Execute the plan `{title}` of {}: {how_many}?", self.read.0)
    }

    /// The call that executes it and the line that does the same; none before it is read, or why not.
    pub(crate) fn wanted(&self) -> Result<Option<(Request, String)>, String> {
        let Some(written) = self.found() else { return Ok(None) };
        let jobs = Some(self.jobs.text().trim()).filter(|text| !text.is_empty());
        let count = jobs.map(|text| count(text).ok_or_else(|| format!("`{text}` is no number")));
        let (jobs, only) = (count.transpose()?, self.only().map(ToOwned::to_owned));
        let mut line =
            format!("glis execute {}", shell_word(&format!("{}/{}", written.place, written.file)));
        if let Some(id) = &only {
            line = format!("{line} --task {}", shell_word(id));
        }
        if let Some(jobs) = jobs {
            line = format!("{line} --jobs {jobs}");
        }
        if self.review {
            line.push_str(" --review");
        }
        // What is not said stays as it is executed already.
        let given = jobs.is_some() || only.is_some() || self.review;
        let pace = given.then(|| Pace {
            jobs: jobs.unwrap_or(1),
            review: self.review,
            only,
            ..Pace::default()
        });
        let (place, file) = (written.place.clone(), Some(written.file.clone()));
        let execute = Execute { place, file, pace };
        Ok(Some((Request::Plan(PlanRequest::Execute(execute)), line)))
    }
}

impl Fields for PlanBox {
    fn step(&mut self, by: isize) {
        let at = PlanField::ALL.iter().position(|field| *field == self.field).unwrap_or(0);
        let to = moved(at, by, PlanField::ALL.len());
        self.field = PlanField::ALL.get(to).copied().unwrap_or_default();
    }

    fn turn(&mut self, by: isize) {
        match self.field {
            PlanField::Only => {
                let tasks = self.found().map_or(0, |found| found.tasks.len());
                self.only = moved(self.only, by, tasks + 1);
            }
            PlanField::Review => self.review = !self.review,
            PlanField::Jobs | PlanField::Repository | PlanField::File => {}
        }
    }

    fn text_in_hand(&mut self) -> Option<&mut Editor> {
        match self.field {
            PlanField::Jobs => Some(&mut self.jobs),
            PlanField::Repository => Some(&mut self.other),
            PlanField::File => Some(&mut self.file),
            PlanField::Only | PlanField::Review => None,
        }
    }

    fn has_lines(&self) -> bool {
        false
    }
}
