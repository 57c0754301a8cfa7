//! What the command line would say to do, as it is done in a chat.

/// What a fault is about: a session and a task have verbs of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// The current session, or no one.
    Session,
    /// The plan of a repository.
    Plan,
}

/// What of the words behind a verb is typed here as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    Nothing,
    /// The first, which is a name.
    Name,
    /// The mode of a pause.
    Mode,
}

/// Verbs of the command line, and what is typed here for the same.
const HERE: [(&str, &str, Kept); 15] = [
    ("resume --all", "/resumeall", Kept::Nothing),
    ("pause --all", "/pauseall", Kept::Nothing),
    ("ls", "/sessions", Kept::Nothing),
    ("new", "/new", Kept::Name),
    ("send", "a message", Kept::Nothing),
    ("resume", "/resume", Kept::Nothing),
    ("pause", "/pause", Kept::Mode),
    ("restart", "/restart", Kept::Nothing),
    ("stop", "/stop", Kept::Nothing),
    ("show", "/status", Kept::Nothing),
    ("log", "/log", Kept::Nothing),
    ("diff", "/diff", Kept::Nothing),
    ("rm", "/archive", Kept::Name),
    ("execute", "/plan execute", Kept::Nothing),
    ("help", "/help", Kept::Nothing),
];

/// Those that mean something else where a plan is talked about.
const OF_PLANS: [(&str, &str, Kept); 4] = [
    ("plan show", "/plan", Kept::Nothing),
    ("resume", "/plan resume", Kept::Name),
    ("restart", "/plan restart", Kept::Name),
    ("pause", "/plan pause", Kept::Nothing),
];

/// The same words with each command that there is here as it is typed here. One that there is not stays: it is for
/// the machine.
pub(super) fn in_chat(text: &str, about: About) -> String {
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

fn here(typed: &str, about: About) -> Option<String> {
    let own = match about {
        About::Session => &[][..],
        About::Plan => &OF_PLANS,
    };
    own.iter().chain(&HERE).find_map(|(verb, here, kept)| {
        let rest = typed.strip_prefix(verb)?;
        if !rest.is_empty() && !rest.starts_with(' ') {
            return None;
        }
        let mut words = rest.split_whitespace();
        let kept = match kept {
            Kept::Nothing => None,
            Kept::Name => words.next().filter(|word| !word.starts_with('-')),
            Kept::Mode => words.skip_while(|word| *word != "--mode").nth(1),
        };
        Some(kept.map_or_else(|| (*here).to_owned(), |kept| format!("{here} {kept}")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_typed_here_is_told_as_it_is_typed_here() {
        for (said, told) in [
            ("`glis ls` lists them", "/sessions lists them"),
            ("paused; `glis resume --all` goes on", "paused; /resumeall goes on"),
            ("`glis resume blue` or `glis attach blue`", "/resume or `glis attach blue`"),
            ("for example: `glis new fix-login`", "for example: /new fix-login"),
            ("`glis pause blue --mode force` stops it", "/pause force stops it"),
            ("`glis rm blue --stop` or `glis send blue TEXT`", "/archive blue or a message"),
            ("no session `glis`", "no session `glis`"),
            ("`glis lsof` and an open ` end", "`glis lsof` and an open ` end"),
            ("", ""),
        ] {
            assert_eq!(in_chat(said, About::Session), told);
        }
        for (said, told) in [
            ("`glis restart dust` begins another run", "/plan restart dust begins another run"),
            ("`glis plan show` and `glis ls`", "/plan and /sessions"),
        ] {
            assert_eq!(in_chat(said, About::Plan), told);
        }
    }
}
