//! What the command line would say to do, as it is done in a chat.

/// What is talked about: a session and a task have verbs of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About<'a> {
    /// The current session, which has this name, if there is one.
    Session(Option<&'a str>),
    /// The plan of a repository.
    Plan,
}

/// What stands behind a verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// Whatever that is, it is not typed here.
    Nothing,
    /// Nothing: with an option it is another command, which there is not here.
    NoOption,
    /// A name, which is typed here as well.
    Name,
    /// A session, which is the current one here, and the mode of a pause.
    Session,
}

/// Verbs of the command line, and what is typed here for the same.
const HERE: [(&str, &str, Takes); 15] = [
    ("resume --all", "/resumeall", Takes::NoOption),
    ("pause --all", "/pauseall", Takes::NoOption),
    ("ls", "/sessions", Takes::Nothing),
    ("new", "/new", Takes::Name),
    ("send", "a message", Takes::Session),
    ("resume", "/resume", Takes::Session),
    ("pause", "/pause", Takes::Session),
    ("restart", "/restart", Takes::Session),
    ("stop", "/stop", Takes::Session),
    ("show", "/status", Takes::Session),
    ("log", "/log", Takes::Session),
    ("diff", "/diff", Takes::Session),
    ("rm", "/archive", Takes::Name),
    ("execute", "/plan execute", Takes::Nothing),
    ("help", "/help", Takes::Nothing),
];

/// Those that mean something else where a plan is talked about.
const OF_PLANS: [(&str, &str, Takes); 4] = [
    ("plan show", "/plan", Takes::Nothing),
    ("resume", "/plan resume", Takes::Name),
    ("restart", "/plan restart", Takes::Name),
    ("pause", "/plan pause", Takes::Nothing),
];

/// The same words with each command that there is here as it is typed here. One that there is not stays: it is for
/// the machine.
pub fn in_chat(text: &str, about: About<'_>) -> String {
    let mut parts = text.split('`');
    let mut told = parts.next().unwrap_or_default().to_owned();
    while let Some(quoted) = parts.next() {
        let here = quoted.strip_prefix("glis ").and_then(|typed| here(typed, about));
        let behind = parts.next();
        match (here, behind) {
            (Some(here), Some(behind)) => told.extend([&here, behind]),
            (None, Some(behind)) => told.extend(["`", quoted, "`", behind]),
            (_, None) => told.extend(["`", quoted]),
        }
    }
    told
}

fn here(typed: &str, about: About<'_>) -> Option<String> {
    let (own, current) = match about {
        About::Session(current) => (&[][..], current),
        About::Plan => (&OF_PLANS[..], None),
    };
    let behind = |verb: &str| {
        let rest = typed.strip_prefix(verb)?;
        (rest.is_empty() || rest.starts_with(' ')).then_some(rest)
    };
    let known = HERE.iter().chain(own).filter_map(|(verb, here, takes)| {
        let rest = behind(verb)?;
        Some((verb.len(), *here, *takes, rest))
    });
    // The longest verb is meant; of two the one that is talked about.
    let (_, here, takes, rest) = known.max_by_key(|(length, ..)| *length)?;
    let mut words = rest.split_whitespace();
    let name = words.next().filter(|word| !word.starts_with('-'));
    match takes {
        Takes::Nothing => Some(here.to_owned()),
        Takes::NoOption => rest.is_empty().then(|| here.to_owned()),
        Takes::Name => Some(name.map_or_else(|| here.to_owned(), |name| format!("{here} {name}"))),
        Takes::Session => {
            let other = name.filter(|name| current != Some(name));
            let first = other.map_or_else(String::new, |name| format!("/switch {name}, then "));
            let mode = words.skip_while(|word| *word != "--mode").nth(1);
            let mode = mode.map_or_else(String::new, |mode| format!(" {mode}"));
            Some(format!("{first}{here}{mode}"))
        }
    }
}

#[cfg(test)]
mod tests;
