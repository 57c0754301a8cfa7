//! What a fresh agent is told about a conversation it does not have.

/// How the first message of a restart that is to carry on begins and ends.
const BEGINNING: &str = "You are resuming a previously paused session.\n\n## Session Context\n";
const END: &str = "Continue from where we left off. Review the current state and proceed with the next \
                   pending task.";
/// How a note begins that glis puts before a message; a blank line ends it.
const NOTE: &str = "[glis] ";

/// The words of a message that a person said, without what glis put before them. `None` if nobody but
/// glis said any of it: such words must not be told to an agent again as what the user asked for.
pub fn own_words(message: &str) -> Option<&str> {
    let mut rest = message.trim_start();
    loop {
        let (ours, behind) = if rest.starts_with(NOTE) {
            (true, rest.split_once("\n\n").map_or("", |(_, behind)| behind))
        } else if rest.starts_with(BEGINNING) {
            // What was said before may itself hold the end of such a message: the last one counts.
            (true, rest.rsplit_once(END).map_or("", |(_, behind)| behind))
        } else {
            (false, rest)
        };
        rest = behind.trim_start();
        if !ours {
            return (!rest.is_empty()).then_some(rest);
        }
    }
}

/// The first message of a restart that is to carry on.
pub fn resume_prompt(summary: &str, last_action: &str, pending: &[String]) -> String {
    let tasks = if pending.is_empty() {
        "(none recorded)".to_owned()
    } else {
        let numbered = pending.iter().enumerate().map(|(i, task)| format!("{}. {task}", i + 1));
        numbered.collect::<Vec<_>>().join("\n")
    };
    format!(
        "{BEGINNING}{summary}\n\n\
         ## Last Action\n{last_action}\n\n\
         ## Pending Tasks\n{tasks}\n\n\
         ## Instructions\n{END}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_glis_says_is_not_what_a_person_said() {
        let context = resume_prompt("Asked: fix it", "run ls", &[]);
        let note = "[glis] Your last step was cut off.\n\n";
        for (message, own) in [
            ("fix it".to_owned(), Some("fix it")),
            (context.clone(), None),
            (format!("{context}\n\nand now?"), Some("and now?")),
            (format!("{note}{context}"), None),
            (format!("{note}[glis] 2 files changed.\n\ngo on\n\nplease"), Some("go on\n\nplease")),
            (resume_prompt(&context, "x", &[]), None),
        ] {
            assert_eq!(own_words(&message), own, "{message}");
        }
    }

    #[test]
    fn the_template_keeps_its_headings() {
        let text = resume_prompt("s", "a", &["one".to_owned(), "two".to_owned()]);
        assert!(text.starts_with("You are resuming a previously paused session.\n\n## Session"));
        assert!(text.contains("## Pending Tasks\n1. one\n2. two\n\n## Instructions\n"));
        assert!(text.ends_with("proceed with the next pending task."));
    }
}
