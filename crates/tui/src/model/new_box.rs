//! The box for a new session, or a loop.

use super::Repositories;
use super::field::{AGENTS, Field, Kind};
use super::forms::Fields;
use crate::editor::Editor;
use crate::message::Agents;
use crate::wanted::{count, dollars, idle_secs, words};
use glis_core::looping::{FAILURES_MAX, LoopContext, LoopSpec};
use glis_core::name::made_from;
use glis_wire::client::NewSession;
use std::collections::BTreeMap;

/// Whether it is told its prompt once, or again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    Once,
    Loop,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct NewBox {
    /// The repository of the row in hand; another one may be named.
    repo: String,
    repositories: Repositories,
    pub(crate) prompt: Editor,
    /// What was typed into the other fields.
    texts: BTreeMap<Field, Editor>,
    /// What was chosen where nothing is typed: a place among the choices of the field.
    chosen: BTreeMap<Field, usize>,
    pub(crate) field: Field,
    /// Why what was typed is not taken.
    pub(crate) fault: Option<String>,
}

impl NewBox {
    /// An empty box for a repository, but for a prompt that was kept.
    pub(crate) fn of(
        (repo, repositories): (String, Repositories),
        prompt: Editor,
        repeat: Repeat,
    ) -> Self {
        let mut form = Self { repo, repositories, prompt, ..Self::default() };
        if repeat == Repeat::Loop {
            form.chosen.insert(Field::Repeat, 1);
        }
        form
    }

    pub(crate) fn repeat(&self) -> Repeat {
        if self.has_chosen(Field::Repeat) { Repeat::Loop } else { Repeat::Once }
    }

    /// Its fields from the top. The limits of a loop are asked of a loop alone, and what is seldom wanted
    /// of those who ask for it.
    pub(crate) fn fields(&self) -> Vec<Field> {
        let all = self.has_chosen(Field::Options);
        let program = self.agent() == Some("command");
        let fits = |field: Field, kind: Kind| match kind {
            Kind::Usual => true,
            // What is run has to be said.
            Kind::More if field == Field::Command && program => true,
            Kind::OfLoop => self.repeat() == Repeat::Loop,
            Kind::More => all,
            Kind::MoreOnce => all && self.repeat() == Repeat::Once,
            Kind::MoreOfLoop => all && self.repeat() == Repeat::Loop,
        };
        let shown = Field::ALL.into_iter().filter(|(field, kind, _)| fits(*field, *kind));
        shown.map(|(field, ..)| field).collect()
    }

    fn agent(&self) -> Option<&'static str> {
        AGENTS.get(self.place(Field::Agent)).copied().flatten()
    }

    /// The repository that it begins in, or why that is none.
    pub(crate) fn repository(&self) -> Result<String, String> {
        match self.typed(Field::Repository) {
            Some(text) => self.repositories.named(&text),
            None => Ok(self.repo.clone()),
        }
    }

    /// What a field is if nothing is typed.
    pub(crate) fn usual(&self, field: Field) -> String {
        match field {
            Field::Repository => self.repositories.beside(&self.repo),
            Field::Name => self.proposed().unwrap_or_else(|| field.usual().to_owned()),
            _ => field.usual().to_owned(),
        }
    }

    /// What is chosen in a field that has no text, with what is known of the agents.
    pub(crate) fn shown(&self, field: Field, agents: Option<&Agents>) -> String {
        let chosen = self.choice(field);
        let Some(agents) = agents.filter(|_| field == Field::Agent) else {
            return chosen.to_owned();
        };
        match self.agent() {
            None => agents.usual.as_ref().map_or_else(
                || format!("{chosen}: none is installed"),
                |usual| format!("{chosen}: {usual}"),
            ),
            // These come with us, or are named by their command.
            Some("command" | "rehearsal") => chosen.to_owned(),
            Some(agent) if agents.installed.iter().any(|one| one == agent) => chosen.to_owned(),
            Some(agent) => format!("{agent}, which is not installed"),
        }
    }

    pub(crate) fn text(&self, field: Field) -> Option<&Editor> {
        const EMPTY: &Editor = &Editor::new();
        if field == Field::Prompt {
            return Some(&self.prompt);
        }
        field.choices().is_empty().then(|| self.texts.get(&field).unwrap_or(EMPTY))
    }

    /// What is chosen in a field that has no text.
    pub(crate) fn choice(&self, field: Field) -> &'static str {
        field.choices().get(self.place(field)).copied().unwrap_or_default()
    }

    fn place(&self, field: Field) -> usize {
        self.chosen.get(&field).copied().unwrap_or(0)
    }

    /// Whether it is not the first choice of this field, which is the usual one.
    fn has_chosen(&self, field: Field) -> bool {
        self.place(field) > 0
    }

    /// The name that it gets if none is typed, as far as that is known here.
    fn proposed(&self) -> Option<String> {
        made_from(self.prompt.text())
    }

    /// What is typed in a field that is shown.
    fn typed(&self, field: Field) -> Option<String> {
        let is_shown = self.fields().contains(&field);
        let text = self.text(field).filter(|_| is_shown)?.text().trim().to_owned();
        Some(text).filter(|text| !text.is_empty())
    }

    /// What is asked for, or the field in which something is wrong, and what.
    pub(crate) fn wanted(&self) -> Result<NewSession, (Field, String)> {
        let shown = self.fields();
        let is = |field: Field| shown.contains(&field) && self.has_chosen(field);
        let repo = self.repository().map_err(|why| (Field::Repository, why))?;
        let (prompt, spec_file) = (self.typed(Field::Prompt), self.typed(Field::Spec));
        let looped = match self.repeat() {
            Repeat::Once => None,
            Repeat::Loop => Some(self.looped()?),
        };
        let timeout = self.typed(Field::IdleTimeout);
        let timeout = timeout.map(|text| idle_secs(&text)).transpose();
        let argv = self.typed(Field::Command).map_or(Ok(Vec::new()), |text| words(&text));
        Ok(NewSession {
            name: self.typed(Field::Name),
            agent: self.agent().map(ToOwned::to_owned),
            prompt,
            repo: repo.clone(),
            base: self.typed(Field::Base),
            in_place: is(Field::Place),
            headless: is(Field::Headless),
            persona: self.typed(Field::Persona),
            model: self.typed(Field::Model),
            idle_timeout_secs: timeout.map_err(|why| (Field::IdleTimeout, why))?,
            budget: self.typed(Field::Budget),
            auto_yes: is(Field::AutoYes),
            argv: argv.map_err(|why| (Field::Command, why))?,
            remove_worktree: is(Field::Worktree).then(|| self.place(Field::Worktree) == 1),
            keep_process: is(Field::KeepProcess),
            looped,
            spec_file: spec_file.map(|file| in_repo(&repo, file)),
        })
    }

    fn looped(&self) -> Result<LoopSpec, (Field, String)> {
        match (self.typed(Field::Prompt), self.typed(Field::Spec)) {
            (Some(_), Some(_)) => {
                let why = "a loop has either a prompt or a check list";
                return Err((Field::Spec, why.to_owned()));
            }
            (None, None) => return Err((Field::Prompt, "a loop needs a prompt".to_owned())),
            (Some(_), None) | (None, Some(_)) => {}
        }
        let number = |field, what| {
            let read = |text: String| {
                count(&text).ok_or_else(|| (field, format!("`{text}` is no number of {what}")))
            };
            self.typed(field).map(read).transpose()
        };
        let cost = self.typed(Field::MaxCost).map(|text| dollars(&text)).transpose();
        let is_all = self.has_chosen(Field::Options);
        Ok(LoopSpec {
            max: number(Field::Max, "iterations")?,
            until: self.typed(Field::Until),
            context: if is_all && self.has_chosen(Field::Context) {
                LoopContext::Continue
            } else {
                LoopContext::Fresh
            },
            auto_commit: is_all && self.has_chosen(Field::AutoCommit),
            max_cost_micros: cost.map_err(|why| (Field::MaxCost, why))?,
            max_failures: number(Field::MaxFailures, "failures")?.unwrap_or(FAILURES_MAX),
            file: None,
        })
    }
}

/// A path of the repository as a whole one.
fn in_repo(repo: &str, path: String) -> String {
    if path.starts_with('/') { path } else { format!("{repo}/{path}") }
}

impl Fields for NewBox {
    fn step(&mut self, by: isize) {
        let fields = self.fields();
        let at = fields.iter().position(|field| *field == self.field).unwrap_or(0);
        self.field = fields.get(moved(at, by, fields.len())).copied().unwrap_or_default();
    }

    fn turn(&mut self, by: isize) {
        let count = self.field.choices().len();
        let to = moved(self.place(self.field), by, count);
        self.chosen.insert(self.field, to);
    }

    fn text_in_hand(&mut self) -> Option<&mut Editor> {
        if self.field == Field::Prompt {
            return Some(&mut self.prompt);
        }
        let is_text = self.field.choices().is_empty();
        is_text.then(|| self.texts.entry(self.field).or_default())
    }

    fn has_lines(&self) -> bool {
        self.field == Field::Prompt
    }
}

/// A place that many further on, round and round.
pub(crate) fn moved(at: usize, by: isize, count: usize) -> usize {
    let (at, count) = (isize::try_from(at).unwrap_or(0), isize::try_from(count).unwrap_or(1));
    (at + by).rem_euclid(count.max(1)).unsigned_abs()
}
