//! The verdict on a request: rejected first, then accepted by a rule, else left to a person.

use serde::Deserialize;

use crate::argv::{LINE_BYTES_MAX, argv};
use crate::defaults;
use crate::edit;
use crate::patterns::{ACCEPT, BadPattern, Patterns, REJECT};
use crate::place::Place;
use crate::rule::Rule;
use crate::why::{NotPlain, Why};

/// What an agent asks leave for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request<'a> {
    /// To run a command line in a shell.
    Command(&'a str),
    /// To write a file.
    Edit(&'a str),
    /// A prompt of the agent's program that carries neither.
    Prompt(&'a str),
    /// Anything else: another tool, a page of the web.
    Other(&'a str),
}

/// What becomes of it, and by which rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is answered with a yes.
    Accept {
        /// The rule's program, the pattern, or `edits`.
        rule: String,
    },
    /// It is answered with a no.
    Reject {
        /// The pattern.
        rule: String,
    },
    /// A person has to say.
    Manual(Why),
}

/// What is done with a request that a reject pattern fits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RejectAction {
    /// It is answered with a no.
    #[default]
    Reject,
    /// It is left to a person.
    Manual,
}

/// The settings of a configuration, not yet read for sense.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Rules beside the ones that glis comes with.
    pub rules: Vec<Rule>,
    /// Prompts that are accepted.
    pub accept: Vec<String>,
    /// What is rejected.
    pub reject: Vec<String>,
    /// And how.
    pub reject_action: RejectAction,
    /// Whether files in the worktree may be written without asking.
    pub edits: bool,
}

impl Default for Settings {
    fn default() -> Self {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Self {
            rules: Vec::new(),
            accept: texts(&ACCEPT),
            reject: texts(&REJECT),
            reject_action: RejectAction::default(),
            edits: false,
        }
    }
}

/// Settings that were read for sense.
#[derive(Debug)]
pub struct Judge {
    rules: Vec<Rule>,
    patterns: Patterns,
    reject_action: RejectAction,
    edits: bool,
}

impl Judge {
    /// Takes settings whose rules were checked one by one ([`Rule::check`]).
    pub fn new(settings: Settings) -> Result<Self, BadPattern> {
        let Settings { rules, accept, reject, reject_action, edits } = settings;
        let patterns = Patterns::new(&reject, &accept)?;
        let rules = defaults::rules().into_iter().chain(rules).collect();
        Ok(Self { rules, patterns, reject_action, edits })
    }

    /// The verdict on what is asked at a place.
    pub fn verdict(&self, request: Request<'_>, place: &Place) -> Verdict {
        let (Request::Command(text)
        | Request::Edit(text)
        | Request::Prompt(text)
        | Request::Other(text)) = request;
        if text.len() > LINE_BYTES_MAX {
            return Verdict::Manual(Why::NotPlain(NotPlain::TooLong));
        }
        if let Some(pattern) = self.patterns.rejects(text) {
            let pattern = pattern.to_owned();
            return match self.reject_action {
                RejectAction::Reject => Verdict::Reject { rule: pattern },
                RejectAction::Manual => Verdict::Manual(Why::Rejectable { pattern }),
            };
        }
        let accepted = match request {
            Request::Command(line) => self.command(line, place),
            Request::Edit(path) => self.edit(path, place),
            Request::Prompt(text) => self.prompt(text),
            Request::Other(_) => Err(Why::Unknown),
        };
        accepted.map_or_else(Verdict::Manual, |rule| Verdict::Accept { rule })
    }

    fn command(&self, line: &str, place: &Place) -> Result<String, Why> {
        let words = argv(line).map_err(Why::NotPlain)?;
        let Some((program, words)) = words.split_first() else {
            return Err(Why::NotPlain(NotPlain::Empty));
        };
        let mut refused = Why::NoRule { program: program.clone() };
        for rule in self.rules.iter().filter(|rule| rule.program == *program) {
            match allowed(rule, words, place) {
                Ok(()) => return Ok(rule.program.clone()),
                Err(why) => refused = why,
            }
        }
        Err(refused)
    }

    fn edit(&self, path: &str, place: &Place) -> Result<String, Why> {
        if !self.edits {
            return Err(Why::Edits);
        }
        edit::check(path, place).map(|()| "edits".to_owned())
    }

    fn prompt(&self, text: &str) -> Result<String, Why> {
        self.patterns.accepts(text).map(str::to_owned).ok_or(Why::NoPattern)
    }
}

fn allowed(rule: &Rule, words: &[String], place: &Place) -> Result<(), Why> {
    let paths = rule.fit(words).map_err(|word| rule.refusal(word))?;
    place.program(&rule.program)?;
    paths.into_iter().try_for_each(|path| place.inside(path).map(drop))
}
