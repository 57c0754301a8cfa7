//! What can be typed behind a slash.

use Trait::{Aside, Looks, OfSession};
use glis_core::pause::PauseMode;
use glis_core::plan::Ruling;
use glis_wire::client::Action;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    pub does: Does,
    is: &'static [Trait],
}

/// What a command is to do. What that means in this chat is found out when it is carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Does {
    New {
        name: Option<String>,
        persona: Option<String>,
        /// By its name in the configuration.
        repo: Option<String>,
    },
    Sessions,
    /// Another session becomes the current one.
    Switch {
        name: Option<String>,
    },
    Archive {
        name: Option<String>,
    },
    /// The minutes as they were typed.
    Timeout {
        minutes: Option<String>,
    },
    /// The current session gets a budget; without words it is told how far it is used.
    Budget {
        budget: Option<String>,
    },
    /// The current session gets labels, is pinned or snoozed; without words it is told how it stands.
    Put {
        action: Option<Action>,
    },
    Pause {
        mode: Option<PauseMode>,
    },
    Resume,
    Restart,
    Stop,
    Status,
    Diff,
    Log,
    Cost,
    Personas,
    PauseAll,
    ResumeAll,
    /// What is to be done with the plan of a repository.
    Plan {
        verb: PlanVerb,
        repo: Option<String>,
    },
    Help,
    /// It is none of ours, or was typed wrongly: the usage to show.
    Unclear {
        usage: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanVerb {
    /// Show it.
    Show,
    /// Have it worked on.
    Execute,
    /// Let nothing begin, and pause what runs.
    Pause { mode: PauseMode },
    /// Go on with a task.
    Resume { task: String },
    /// Begin a task anew.
    Restart { task: String },
    /// Say this of a task.
    Rule { task: String, ruling: Ruling },
    /// Have a task worked on that an agent proposes; what a button approves still says this.
    Approve { task: String, said: Option<u64> },
    /// Take it out of the plan.
    Decline { task: String },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    Command(Command),
    /// Words for the current session.
    Words,
    /// A command for another bot in the same group.
    NotForUs,
}

/// A command as it is known to people and to the bot.
pub struct Known {
    pub verb: &'static str,
    /// What stands behind it.
    pub takes: &'static str,
    pub about: &'static str,
    /// So many words may.
    words: usize,
    is: &'static [Trait],
}

/// What is to be known of a command before it is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trait {
    /// It may take long and nothing that is typed behind it waits for it. What is said to a session that is just made
    /// waits.
    Aside,
    /// It is about the current session.
    OfSession,
    /// It changes nothing, so that it may be carried out however late it comes.
    Looks,
}

const fn known(
    verb: &'static str,
    takes: &'static str,
    about: &'static str,
    words: usize,
    is: &'static [Trait],
) -> Known {
    Known { verb, takes, about, words, is }
}

/// So many labels may come or go at once.
const LABELS_MAX: usize = 8;
/// What is done with a task of a plan.
const OF_PLAN: &str =
    "[execute|pause|resume|restart|accept|judge|reject|skip|approve|decline TASK] [@repo]";

/// Each command, in the order of the help.
pub const COMMANDS: [Known; 23] = [
    known("new", "[name] [persona] [@repo]", "Make a session and switch to it", 2, &[]),
    known("sessions", "", "List all sessions", 0, &[Looks]),
    known("switch", "<name>", "Make a session the current one", 1, &[]),
    known("archive", "[name]", "Put a session into the trash", 1, &[Aside, OfSession]),
    known("timeout", "<minutes>", "Show or set the idle timeout", 1, &[OfSession]),
    known("label", "<label> [-label]", "Give the session labels", LABELS_MAX, &[OfSession]),
    known("pin", "[off]", "Keep the session first in its group", 1, &[OfSession]),
    known("budget", "<usd=5,time=2h|off>", "What the session may use", 1, &[OfSession]),
    known("snooze", "<2h|18:00|change|off>", "Let the session rest a while", 1, &[OfSession]),
    known(
        "pause",
        "[boundary|interrupt|force]",
        "Pause the current session",
        1,
        &[Aside, OfSession],
    ),
    known("resume", "", "Resume the current session", 0, &[Aside, OfSession]),
    known("restart", "", "Begin the current session anew", 0, &[Aside, OfSession]),
    known("stop", "", "End the process, keep the session", 0, &[Aside, OfSession]),
    known("status", "", "Show the current session", 0, &[OfSession, Looks]),
    known("diff", "", "Show what the session has changed", 0, &[Aside, OfSession, Looks]),
    known("log", "", "Show the end of the conversation", 0, &[OfSession, Looks]),
    known("cost", "", "Show what was used today", 0, &[Aside, Looks]),
    known("personas", "", "List the personas for /new", 0, &[Looks]),
    known("pauseall", "", "Pause everything", 0, &[Aside]),
    known("resumeall", "", "Resume what was paused", 0, &[Aside]),
    known("plan", OF_PLAN, "Show or execute the plan", 2, &[Aside]),
    known("help", "", "Show this", 0, &[Looks]),
    known("start", "", "Show this", 0, &[Looks]),
];

/// What is said to a bot by its name, without the name where it comes first; `None` where it is not named.
pub fn named<'t>(text: &'t str, bot: &str) -> Option<&'t str> {
    let is_name = |word: &str| {
        let name = word.trim_end_matches([',', ':', '.', '!', '?']).strip_prefix('@');
        name.is_some_and(|name| name.eq_ignore_ascii_case(bot))
    };
    let (first, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
    if is_name(first) {
        return Some(rest.trim_start());
    }
    rest.split_whitespace().any(is_name).then_some(text)
}

/// Reads a message. `bot` is the bot's own name, which a group's commands may carry.
pub fn read(text: &str, bot: &str) -> Typed {
    let Some(line) = text.trim_start().strip_prefix('/') else { return Typed::Words };
    let mut words = line.split_whitespace();
    let verb = words.next().unwrap_or_default();
    let (verb, to) = verb.split_once('@').map_or((verb, None), |(verb, to)| (verb, Some(to)));
    if to.is_some_and(|to| !to.eq_ignore_ascii_case(bot)) {
        return Typed::NotForUs;
    }
    let known = !verb.is_empty()
        && verb.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !line.starts_with(char::is_whitespace);
    if !known {
        // A path such as `/etc/hosts` is something to talk about.
        return Typed::Words;
    }
    Typed::Command(command(&verb.to_ascii_lowercase(), words.map(str::to_owned).collect()))
}

fn command(verb: &str, mut words: Vec<String>) -> Command {
    let in_repo = verb == "new" || verb == "plan";
    let repo = in_repo.then(|| words.pop_if(|word| word.starts_with('@'))).flatten();
    let repo = repo.map(|word| word.trim_start_matches('@').to_owned());
    // Phones begin words with a capital, and no session's name and no word of ours has one.
    if let Some(word) = words.first_mut() {
        word.make_ascii_lowercase();
    }
    let Some(known) = COMMANDS.iter().find(|known| known.verb == verb) else {
        let usage = "Unknown command, nothing was sent. /help lists all.".to_owned();
        return Command { does: Does::Unclear { usage }, is: &[Looks] };
    };
    let read = (words.len() <= known.words).then(|| does(verb, words, repo)).flatten();
    let Some(does) = read else {
        let usage = format!("Usage: /{verb} {}", known.takes).trim_end().to_owned();
        return Command { does: Does::Unclear { usage }, is: &[Looks] };
    };
    Command { does, is: known.is }
}

/// What a command with these words is to do; `None` if they make no sense.
fn does(verb: &str, words: Vec<String>, repo: Option<String>) -> Option<Does> {
    let mut words = words.into_iter();
    let first = words.next();
    Some(match verb {
        "new" => Does::New { name: first, persona: words.next(), repo },
        "sessions" => Does::Sessions,
        "switch" => Does::Switch { name: first },
        "archive" => Does::Archive { name: first },
        "timeout" => Does::Timeout { minutes: first },
        "label" => {
            let labels: Vec<String> = first.into_iter().chain(words).collect();
            let action = Action::labels(labels.iter().map(String::as_str));
            Does::Put { action: Some(action).filter(|_| !labels.is_empty()) }
        }
        "pin" => match first.as_deref() {
            None => Does::Put { action: Some(Action::Pin { on: true }) },
            Some("off") => Does::Put { action: Some(Action::Pin { on: false }) },
            Some(_) => return None,
        },
        "budget" => Does::Budget { budget: first },
        "snooze" => Does::Put { action: first.map(|until| Action::Snooze { until }) },
        "pause" => match first {
            None => Does::Pause { mode: None },
            Some(word) => Does::Pause { mode: Some(mode(&word)?) },
        },
        "resume" => Does::Resume,
        "restart" => Does::Restart,
        "stop" => Does::Stop,
        "status" => Does::Status,
        "diff" => Does::Diff,
        "log" => Does::Log,
        "cost" => Does::Cost,
        "personas" => Does::Personas,
        "pauseall" => Does::PauseAll,
        "resumeall" => Does::ResumeAll,
        "plan" => Does::Plan { verb: plan_verb(first.as_deref(), words.next())?, repo },
        _ => Does::Help,
    })
}

fn plan_verb(word: Option<&str>, of: Option<String>) -> Option<PlanVerb> {
    match (word, of) {
        (None | Some("show"), None) => Some(PlanVerb::Show),
        (Some("execute"), None) => Some(PlanVerb::Execute),
        // As Ctrl+C in the window of a plan does.
        (Some("pause"), None) => Some(PlanVerb::Pause { mode: PauseMode::Interrupt }),
        (Some("pause"), Some(how)) => mode(&how).map(|mode| PlanVerb::Pause { mode }),
        (Some("resume"), Some(task)) => Some(PlanVerb::Resume { task }),
        (Some("restart"), Some(task)) => Some(PlanVerb::Restart { task }),
        (Some("approve"), Some(task)) => Some(PlanVerb::Approve { task, said: None }),
        (Some("decline"), Some(task)) => Some(PlanVerb::Decline { task }),
        (Some(word), Some(task)) => {
            let ruling = Ruling::ALL.into_iter().find(|ruling| ruling.word() == word)?;
            Some(PlanVerb::Rule { task, ruling })
        }
        (Some(_) | None, _) => None,
    }
}

fn mode(word: &str) -> Option<PauseMode> {
    serde_json::from_value(word.into()).ok()
}

impl Command {
    /// Whether nothing that is typed behind it waits for it.
    pub fn runs_aside(&self) -> bool {
        self.is.contains(&Aside)
    }

    /// Whether it is about the current session.
    pub fn is_for_session(&self) -> bool {
        self.is.contains(&OfSession) && !matches!(self.does, Does::Archive { name: Some(_) })
    }

    /// Whether it changes nothing, so that it may be carried out however late it comes.
    pub fn only_looks(&self) -> bool {
        self.is.contains(&Looks)
            || matches!(
                self.does,
                Does::Timeout { minutes: None }
                    | Does::Put { action: None }
                    | Does::Budget { budget: None }
                    | Does::Plan { verb: PlanVerb::Show, .. }
            )
    }
}

#[cfg(test)]
mod tests;
