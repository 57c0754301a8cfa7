//! What can be typed behind a slash.

use glis_core::pause::PauseMode;
use glis_core::plan::Ruling;

/// A command as it was typed. What it means in this chat is found out when it is carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the help has a line for each")]
pub enum Command {
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
    Pause {
        mode: Option<PauseMode>,
    },
    Resume,
    Restart,
    Stop,
    Status,
    Diff,
    Log,
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

/// What is to be done with a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are the words behind `/plan`")]
pub enum PlanVerb {
    Show,
    Execute,
    Pause { mode: PauseMode },
    Resume { task: String },
    Restart { task: String },
    Rule { task: String, ruling: Ruling },
}

/// What a message is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    /// A command.
    Command(Command),
    /// Words for the current session.
    Words,
    /// A command for another bot in the same group.
    NotForUs,
}

/// Each command with what it takes and what it does, in the order of the help.
pub const COMMANDS: [(&str, &str, &str); 17] = [
    ("new", "[name] [persona] [@repo]", "Make a session and switch to it"),
    ("sessions", "", "List all sessions"),
    ("switch", "<name>", "Make a session the current one"),
    ("archive", "[name]", "Put a session into the trash"),
    ("timeout", "<minutes>", "Show or set the idle timeout"),
    ("pause", "[boundary|interrupt|force]", "Pause the current session"),
    ("resume", "", "Resume the current session"),
    ("restart", "", "Begin the current session anew"),
    ("stop", "", "End the process, keep the session"),
    ("status", "", "Show the current session"),
    ("diff", "", "Show what the session has changed"),
    ("log", "", "Show the end of the conversation"),
    ("pauseall", "", "Pause everything"),
    ("resumeall", "", "Resume what was paused"),
    (
        "plan",
        "[execute|pause|resume|restart|accept|judge|reject|skip TASK] [@repo]",
        "Show or execute the plan",
    ),
    ("help", "", "Show this"),
    ("start", "", "Show this"),
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
    let most = match verb {
        "new" | "plan" => 2,
        "switch" | "archive" | "timeout" | "pause" => 1,
        _ => 0,
    };
    if words.len() > most {
        return Command::Unclear { usage: usage(verb) };
    }
    let mut words = words.into_iter();
    let first = words.next();
    match verb {
        "new" => Command::New { name: first, persona: words.next(), repo },
        "sessions" => Command::Sessions,
        "switch" => Command::Switch { name: first },
        "archive" => Command::Archive { name: first },
        "timeout" => Command::Timeout { minutes: first },
        "pause" => match first.as_deref().map(mode) {
            None => Command::Pause { mode: None },
            Some(Some(mode)) => Command::Pause { mode: Some(mode) },
            Some(None) => Command::Unclear { usage: usage(verb) },
        },
        "resume" => Command::Resume,
        "restart" => Command::Restart,
        "stop" => Command::Stop,
        "status" => Command::Status,
        "diff" => Command::Diff,
        "log" => Command::Log,
        "pauseall" => Command::PauseAll,
        "resumeall" => Command::ResumeAll,
        "plan" => match plan_verb(first.as_deref(), words.next()) {
            Some(verb) => Command::Plan { verb, repo },
            None => Command::Unclear { usage: usage(verb) },
        },
        "help" | "start" => Command::Help,
        _ => Command::Unclear { usage: usage(verb) },
    }
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
        (Some(word), Some(task)) => {
            let ruling = Ruling::ALL.into_iter().find(|ruling| ruling.word() == word)?;
            Some(PlanVerb::Rule { task, ruling })
        }
        (Some(_) | None, _) => None,
    }
}

fn mode(word: &str) -> Option<PauseMode> {
    match word {
        "boundary" => Some(PauseMode::Boundary),
        "interrupt" => Some(PauseMode::Interrupt),
        "force" => Some(PauseMode::Force),
        _ => None,
    }
}

/// How a command is typed; for one that there is not, where to find those that there are.
fn usage(verb: &str) -> String {
    match COMMANDS.iter().find(|(known, ..)| *known == verb) {
        Some((verb, takes, _)) => format!("Usage: /{verb} {takes}").trim_end().to_owned(),
        None => "Unknown command, nothing was sent. /help lists all.".to_owned(),
    }
}

impl Command {
    /// Whether it may take long and nothing that is typed behind it waits for it. What is said to a session
    /// that is just made waits.
    pub fn runs_aside(&self) -> bool {
        match self {
            Self::Archive { .. }
            | Self::Pause { .. }
            | Self::Resume
            | Self::Restart
            | Self::Stop
            | Self::Diff
            | Self::PauseAll
            | Self::ResumeAll
            | Self::Plan { .. } => true,
            Self::New { .. }
            | Self::Sessions
            | Self::Switch { .. }
            | Self::Timeout { .. }
            | Self::Status
            | Self::Log
            | Self::Help
            | Self::Unclear { .. } => false,
        }
    }

    /// Whether it is about the current session.
    pub fn is_for_session(&self) -> bool {
        match self {
            Self::Archive { name } => name.is_none(),
            Self::Timeout { .. }
            | Self::Pause { .. }
            | Self::Resume
            | Self::Restart
            | Self::Stop
            | Self::Status
            | Self::Diff
            | Self::Log => true,
            Self::New { .. }
            | Self::Sessions
            | Self::Switch { .. }
            | Self::PauseAll
            | Self::ResumeAll
            | Self::Plan { .. }
            | Self::Help
            | Self::Unclear { .. } => false,
        }
    }

    /// Whether it changes nothing, so that it may be carried out however late it comes.
    pub fn only_looks(&self) -> bool {
        match self {
            Self::Sessions
            | Self::Status
            | Self::Diff
            | Self::Log
            | Self::Help
            | Self::Unclear { .. } => true,
            Self::Timeout { minutes } => minutes.is_none(),
            Self::Plan { verb, .. } => *verb == PlanVerb::Show,
            Self::New { .. }
            | Self::Switch { .. }
            | Self::Archive { .. }
            | Self::Pause { .. }
            | Self::Resume
            | Self::Restart
            | Self::Stop
            | Self::PauseAll
            | Self::ResumeAll => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> String {
        match read(text, "glis_bot") {
            Typed::Command(command) => format!("{command:?}"),
            Typed::Words => "words".to_owned(),
            Typed::NotForUs => "not for us".to_owned(),
        }
    }

    #[test]
    fn a_bot_is_named_by_a_word_of_its_own() {
        for (text, told) in [
            ("@Glis_Bot, say hi", Some("say hi")),
            ("  @glis_bot\nsay\n hi", Some("say\n hi")),
            ("@glis_bot", Some("")),
            ("ask @glis_bot!", Some("ask @glis_bot!")),
            ("@glis_bots say hi", None),
            ("glis_bot me@glis_bot", None),
            ("", None),
        ] {
            assert_eq!(named(text, "glis_bot"), told, "{text}");
        }
    }

    #[test]
    fn commands_are_read_as_they_are_typed_on_a_phone() {
        for (text, expected) in [
            ("/pause", "Pause { mode: None }"),
            ("/Pause force", "Pause { mode: Some(Force) }"),
            ("/Pause Force", "Pause { mode: Some(Force) }"),
            ("/New Gamma", "New { name: Some(\"gamma\"), persona: None, repo: None }"),
            ("/Switch Blue", "Switch { name: Some(\"blue\") }"),
            ("/plan Execute @Web", "Plan { verb: Execute, repo: Some(\"Web\") }"),
            ("/pause@glis_bot boundary", "Pause { mode: Some(Boundary) }"),
            ("/pause@GLIS_BOT", "Pause { mode: None }"),
            ("/pause@other_bot", "not for us"),
            ("/pause soon", "Unclear { usage: \"Usage: /pause [boundary|interrupt|force]\" }"),
            ("/new", "New { name: None, persona: None, repo: None }"),
            (
                "/new blue critic",
                "New { name: Some(\"blue\"), persona: Some(\"critic\"), repo: None }",
            ),
            ("/new a @web", "New { name: Some(\"a\"), persona: None, repo: Some(\"web\") }"),
            ("/new a b c", "Unclear { usage: \"Usage: /new [name] [persona] [@repo]\" }"),
            ("/plan", "Plan { verb: Show, repo: None }"),
            ("/plan execute @web", "Plan { verb: Execute, repo: Some(\"web\") }"),
            ("/plan pause", "Plan { verb: Pause { mode: Interrupt }, repo: None }"),
            ("/plan pause force", "Plan { verb: Pause { mode: Force }, repo: None }"),
            ("/plan skip dust", "Plan { verb: Rule { task: \"dust\", ruling: Skip }, repo: None }"),
            ("/plan resume dust", "Plan { verb: Resume { task: \"dust\" }, repo: None }"),
            (
                "/plan resume",
                "Unclear { usage: \"Usage: /plan [execute|pause|resume|restart|accept|judge|reject|skip TASK] [@repo]\" }",
            ),
            ("/timeout 5", "Timeout { minutes: Some(\"5\") }"),
            (
                "/frobnicate",
                "Unclear { usage: \"Unknown command, nothing was sent. /help lists all.\" }",
            ),
            ("/start", "Help"),
            (" /help", "Help"),
            ("/etc/hosts is wrong", "words"),
            ("/ pause", "words"),
            ("/", "words"),
            ("pause /pause", "words"),
            ("", "words"),
        ] {
            assert_eq!(typed(text), expected, "{text}");
        }
    }

    /// Networks allow so much in a bot's list of commands.
    #[test]
    fn every_command_of_the_help_is_one() {
        for (verb, takes, about) in COMMANDS {
            let text = format!("/{verb}");
            let Typed::Command(command) = read(&text, "b") else { panic!("{verb}") };
            assert!(!matches!(command, Command::Unclear { .. }), "{verb} {takes}");
            assert!(verb.len() <= 32 && (3..=256).contains(&about.len()), "{verb}");
        }
    }
}
