//! The verdict on a request: rejected first, then accepted by a rule, else left to a person.

use serde::{Deserialize, Serialize};

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
        /// Who wrote it.
        author: Author,
    },
    /// It is answered with a no.
    Reject {
        /// The pattern.
        rule: String,
        /// Who wrote it.
        author: Author,
    },
    /// A person has to say.
    Manual(Why),
}

/// Who wrote a rule or a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// It comes with glis.
    Glis,
    /// It is in the user's configuration.
    User,
}

/// What is done with a request that a reject pattern fits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
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
    rules: Vec<(Author, Rule)>,
    /// Programs with a rule of the user's that may not be used.
    barred: Vec<String>,
    patterns: Patterns,
    reject_action: RejectAction,
    edits: bool,
}

impl Judge {
    /// Takes settings whose rules were checked one by one ([`Rule::check`]). One that may not be used
    /// ([`Rule::barred`]) allows nothing.
    pub fn new(settings: Settings) -> Result<Self, BadPattern> {
        let Settings { rules, accept, reject, reject_action, edits } = settings;
        let patterns = Patterns::new(&reject, &accept)?;
        let (barred, rules): (Vec<Rule>, Vec<Rule>) =
            rules.into_iter().partition(|rule| rule.barred().is_some());
        let barred = barred.into_iter().map(|rule| rule.program).collect();
        let own = defaults::rules().into_iter().map(|rule| (Author::Glis, rule));
        let rules = own.chain(rules.into_iter().map(|rule| (Author::User, rule))).collect();
        Ok(Self { rules, barred, patterns, reject_action, edits })
    }

    /// The verdict on what is asked at a place. Where that is unknown, no command and no edit is
    /// accepted.
    pub fn verdict(&self, request: Request<'_>, place: Option<&Place>) -> Verdict {
        let (Request::Command(text)
        | Request::Edit(text)
        | Request::Prompt(text)
        | Request::Other(text)) = request;
        if text.len() > LINE_BYTES_MAX {
            return Verdict::Manual(Why::NotPlain(NotPlain::TooLong));
        }
        if let Some(pattern) = self.patterns.rejects(text) {
            let (pattern, author) = (pattern.to_owned(), author(pattern, &REJECT));
            return match self.reject_action {
                RejectAction::Reject => Verdict::Reject { rule: pattern, author },
                RejectAction::Manual => Verdict::Manual(Why::Rejectable { pattern }),
            };
        }
        let accepted = match request {
            Request::Command(line) => self.command(line, place),
            Request::Edit(path) => self.edit(path, place),
            Request::Prompt(text) => self.prompt(text),
            Request::Other(_) => Err(Why::Unknown),
        };
        accepted.map_or_else(Verdict::Manual, |(rule, author)| Verdict::Accept { rule, author })
    }

    fn command(&self, line: &str, place: Option<&Place>) -> Result<(String, Author), Why> {
        let words = argv(line).map_err(Why::NotPlain)?;
        let Some((program, words)) = words.split_first() else {
            return Err(Why::NotPlain(NotPlain::Empty));
        };
        let program = program.clone();
        let mut refused = match self.barred.contains(&program) {
            true => Why::Barred { program: program.clone() },
            false => Why::NoRule { program: program.clone() },
        };
        for (author, rule) in self.rules.iter().filter(|(_, rule)| rule.program == program) {
            match allowed(rule, words, place) {
                Ok(()) => return Ok((rule.program.clone(), *author)),
                Err(why) => refused = why,
            }
        }
        Err(refused)
    }

    fn edit(&self, path: &str, place: Option<&Place>) -> Result<(String, Author), Why> {
        if !self.edits {
            return Err(Why::Edits);
        }
        edit::check(path, place.ok_or(Why::NoPlace)?)?;
        Ok(("edits".to_owned(), Author::User))
    }

    fn prompt(&self, text: &str) -> Result<(String, Author), Why> {
        let pattern = self.patterns.accepts(text).ok_or(Why::NoPattern)?;
        Ok((pattern.to_owned(), author(pattern, &ACCEPT)))
    }
}

fn author(pattern: &str, own: &[&str]) -> Author {
    if own.contains(&pattern) { Author::Glis } else { Author::User }
}

/// A command without any path works on its folder, so that this has to be in the worktree as well.
fn allowed(rule: &Rule, words: &[String], place: Option<&Place>) -> Result<(), Why> {
    let paths = rule.fit(words).map_err(|word| rule.refusal(word))?;
    let place = place.ok_or(Why::NoPlace)?;
    place.inside(".")?;
    place.program(&rule.program)?;
    place.is_unchanged(&rule.program)?;
    paths.into_iter().try_for_each(|path| place.inside(path).map(drop))
}
