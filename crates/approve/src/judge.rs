//! The verdict on a request: what a rule reads whole is judged by that, else a pattern may reject it, else
//! it is left to a person.

use serde::{Deserialize, Serialize};

use crate::argv::{Command, Joint, LINE_BYTES_MAX, commands};
use crate::barred::barred;
use crate::defaults;
use crate::edit::{self, Edits};
use crate::patterns::{ACCEPT, BadPattern, Patterns, REJECT};
use crate::place::Place;
use crate::rule::{Paths, Rule};
use crate::sets::Set;
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
    /// It is answered with a yes, by the rule's program (`cat | head`), the pattern, or `edits`.
    Accept { rule: String, author: Author },
    /// It is answered with a no.
    Reject { rule: String, author: Author },
    /// A person has to say.
    Manual(Why),
}

/// Who wrote a rule or a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
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
    /// Sets of rules that are switched on.
    pub sets: Vec<Set>,
    pub accept: Vec<String>,
    pub reject: Vec<String>,
    pub reject_action: RejectAction,
    /// Which files in the worktree may be written without asking.
    pub edits: Edits,
}

impl Default for Settings {
    fn default() -> Self {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Self {
            rules: Vec::new(),
            sets: Vec::new(),
            accept: texts(&ACCEPT),
            reject: texts(&REJECT),
            reject_action: RejectAction::default(),
            edits: Edits::default(),
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
    edits: Edits,
}

impl Judge {
    /// Takes settings whose rules were checked one by one ([`Rule::check`]). One that may not be used
    /// ([`barred`]) allows nothing.
    pub fn new(settings: Settings) -> Result<Self, BadPattern> {
        let Settings { rules, sets, accept, reject, reject_action, edits } = settings;
        let patterns = Patterns::new(&reject, &accept)?;
        let (barred, rules): (Vec<Rule>, Vec<Rule>) =
            rules.into_iter().partition(|rule| barred(rule).is_some());
        let barred = barred.into_iter().map(|rule| rule.program).collect();
        let sets = sets.into_iter().flat_map(Set::rules);
        let own = defaults::rules().into_iter().chain(sets).map(|rule| (Author::Glis, rule));
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
        let unread = match request {
            Request::Command(line) => match self.command(line, place) {
                Ok(answer) => return self.unless_forbidden(text, answer),
                Err(why) => why,
            },
            Request::Edit(_) | Request::Prompt(_) | Request::Other(_) => Why::Unknown,
        };
        if let Some(pattern) = self.patterns.rejecting(text).next() {
            let (pattern, author) = (pattern.to_owned(), author(pattern, &REJECT));
            return match self.reject_action {
                RejectAction::Reject => Verdict::Reject { rule: pattern, author },
                RejectAction::Manual => Verdict::Manual(Why::Rejectable { pattern }),
            };
        }
        told(match request {
            Request::Command(_) | Request::Other(_) => Err(unread),
            Request::Edit(path) => self.edit(path, place),
            Request::Prompt(text) => self.prompt(text),
        })
    }

    /// A pattern guesses at what a rule has read to its last word, so that it says no to nothing. One that the
    /// user wrote may have been meant for this, and then they have to say.
    fn unless_forbidden(&self, text: &str, answer: Answer) -> Verdict {
        let mut own = self.patterns.rejecting(text).filter(|pattern| !REJECT.contains(pattern));
        match own.next().filter(|_| answer.is_ok()) {
            Some(pattern) => Verdict::Manual(Why::Rejectable { pattern: pattern.to_owned() }),
            None => told(answer),
        }
    }

    /// What becomes of a command that rules read whole, or why none does.
    fn command(&self, line: &str, place: Option<&Place>) -> Result<Answer, Why> {
        let commands = commands(line).map_err(Why::NotPlain)?;
        let last = commands.iter().rposition(|command| command.joint == Joint::And);
        let mut read = Vec::new();
        for (at, command) in commands.iter().enumerate() {
            let turn = if last.is_some_and(|last| at < last) { Turn::Earlier } else { Turn::Last };
            read.push((command.joint, self.fitting(command, turn)?));
        }
        Ok(answer(&read, place))
    }

    /// The rules that allow a command where it stands.
    fn fitting<'a>(&'a self, command: &'a Command, turn: Turn) -> Result<Vec<Fit<'a>>, Why> {
        let Some((program, words)) = command.words.split_first() else {
            return Err(Why::NotPlain(NotPlain::Empty));
        };
        let named = || program.clone();
        let mut refused = if self.barred.contains(program) {
            Why::Barred { program: named() }
        } else {
            Why::NoRule { program: named() }
        };
        let mut fits = Vec::new();
        for (author, rule) in self.rules.iter().filter(|(_, rule)| rule.program == *program) {
            match rule.fit(words) {
                Ok(paths) if command.joint == Joint::Pipe && !filters(*author, rule, &paths) => {
                    refused = Why::NoFilter { program: named() };
                }
                // Paths are looked up before the first command runs, and one of the user's (`mv`) may
                // change where they lead. Ours only read, or run what the agent wrote in any case.
                Ok(_) if turn == Turn::Earlier && *author == Author::User => {
                    refused = Why::NotLast { program: named() };
                }
                Ok(paths) => fits.push(Fit { author: *author, rule, paths }),
                Err(word) => refused = rule.refusal(word),
            }
        }
        if fits.is_empty() { Err(refused) } else { Ok(fits) }
    }

    fn edit(&self, path: &str, place: Option<&Place>) -> Result<(String, Author), Why> {
        if self.edits == Edits::None {
            return Err(Why::Edits);
        }
        edit::check(path, &self.edits, place.ok_or(Why::NoPlace)?)?;
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

/// A rule that allows a command, and the paths in it.
struct Fit<'a> {
    author: Author,
    rule: &'a Rule,
    paths: Paths<'a>,
}

/// When a command runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Others run after it, behind an `&&`.
    Earlier,
    Last,
}

/// The rule that accepts, with who wrote it.
type Answer = Result<(String, Author), Why>;

fn told(answer: Answer) -> Verdict {
    answer.map_or_else(Verdict::Manual, |(rule, author)| Verdict::Accept { rule, author })
}

/// Whether a command only passes on what the one before it prints. That many a program takes its input
/// for orders is nothing that a rule says, so that only programs that we know may stand there.
fn filters(author: Author, rule: &Rule, paths: &Paths<'_>) -> bool {
    author == Author::Glis && defaults::FILTERS.contains(&rule.program.as_str()) && paths.is_empty()
}

/// Every command needs a rule that allows it at this place.
fn answer(commands: &[(Joint, Vec<Fit<'_>>)], place: Option<&Place>) -> Answer {
    let (mut programs, mut author) = (Vec::new(), Author::Glis);
    for (joint, fits) in commands {
        let mut refused = Why::NoPlace;
        let allows = |fit: &&Fit<'_>| fit.allowed(place).map_err(|why| refused = why).is_ok();
        let fit = fits.iter().find(allows).ok_or(refused)?;
        programs.extend([joint.sign(), fit.rule.program.as_str()]);
        if fit.author == Author::User {
            author = Author::User;
        }
    }
    Ok((programs.join(" ").trim_start().to_owned(), author))
}

impl Fit<'_> {
    /// A command without any path works on its folder, so that this has to be in the worktree as well.
    fn allowed(&self, place: Option<&Place>) -> Result<(), Why> {
        let place = place.ok_or(Why::NoPlace)?;
        place.inside(".")?;
        place.program(&self.rule.program)?;
        place.is_unchanged(&self.rule.program)?;
        if self.rule.program == "git" {
            place.git_is_own()?;
        }
        self.paths.iter().try_for_each(|path| place.inside(path).map(drop))
    }
}
