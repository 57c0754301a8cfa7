//! What the command line would say to do, as it is done in a chat.

/// Verbs of the command line, and what is typed here for the same.
const HERE: [(&str, &str); 14] = [
    ("resume --all", "/resumeall"),
    ("pause --all", "/pauseall"),
    ("ls", "/sessions"),
    ("new", "/new"),
    ("resume", "/resume"),
    ("pause", "/pause"),
    ("restart", "/restart"),
    ("stop", "/stop"),
    ("show", "/status"),
    ("log", "/log"),
    ("diff", "/diff"),
    ("rm", "/archive"),
    ("execute", "/plan execute"),
    ("help", "/help"),
];

/// The same words with each command that there is here as it is typed here. One that there is not stays: it is for
/// the machine.
pub(super) fn in_chat(text: &str) -> String {
    let mut parts = text.split('`');
    let mut told = parts.next().unwrap_or_default().to_owned();
    while let Some(quoted) = parts.next() {
        let here = quoted.strip_prefix("glis ").and_then(|typed| {
            let is_typed = |verb: &str| {
                let rest = typed.strip_prefix(verb);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            };
            HERE.iter().find(|(verb, _)| is_typed(verb)).map(|(_, here)| *here)
        });
        let behind = parts.next();
        match (here, behind) {
            (Some(here), Some(behind)) => told.extend([here, behind]),
            (None, Some(behind)) => told.extend(["`", quoted, "`", behind]),
            (_, None) => told.extend(["`", quoted]),
        }
    }
    told
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
            ("no session `glis`", "no session `glis`"),
            ("`glis lsof` and an open ` end", "`glis lsof` and an open ` end"),
            ("", ""),
        ] {
            assert_eq!(in_chat(said), told);
        }
    }
}
