//! What a fresh agent is told about a conversation it does not have.

use glis_core::plain::in_one_line;
use serde::{Deserialize, Serialize};

/// How much it is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// With headings, and what is left to do as a list.
    #[default]
    Full,
    /// Three lines.
    Short,
}

/// What is known of the conversation.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// What was asked for and what was said last.
    pub summary: Option<&'a str>,
    pub last_action: Option<&'a str>,
    pub pending: &'a [String],
}

/// How the first message of a restart that is to carry on begins and ends.
const BEGINNING: &str = "You are resuming a previously paused session.\n\n## Session Context\n";
const END: &str = "Continue from where we left off. Review the current state and proceed with the next \
                   pending task.";
/// How its short form begins, and what its last line begins with. The sentence alone may be a person's.
const SHORT_BEGINNING: &str = "Continue from where we left off.\nLast action: ";
const SHORT_STATE: &str = "\nCurrent state: ";
/// How a note begins that glis puts before a message; a blank line ends it.
const NOTE: &str = "[glis] ";

/// The words of a message that a person said, without what glis put before them. `None` if all of it
/// is glis's: an agent must not be told such words again as what the user asked for.
pub fn own_words(message: &str) -> Option<&str> {
    let mut rest = message.trim_start();
    loop {
        let (ours, behind) = if rest.starts_with(NOTE) {
            (true, rest.split_once("\n\n").map_or("", |(_, behind)| behind))
        } else if rest.starts_with(BEGINNING) {
            // What was said before may itself hold the end of such a message: the last one counts.
            (true, rest.rsplit_once(END).map_or("", |(_, behind)| behind))
        } else if let Some(state) = short_state(rest) {
            (true, state.split_once('\n').map_or("", |(_, behind)| behind))
        } else {
            (false, rest)
        };
        rest = behind.trim_start();
        if !ours {
            return (!rest.is_empty()).then_some(rest);
        }
    }
}

/// What follows the beginning of the last line, if this is the short form. Each of its lines is one.
fn short_state(message: &str) -> Option<&str> {
    let (action, state) = message.strip_prefix(SHORT_BEGINNING)?.split_once(SHORT_STATE)?;
    (!action.contains('\n')).then_some(state)
}

/// The first message of a restart that is to carry on.
pub fn resume_prompt(form: Form, known: Known<'_>) -> String {
    let summary = known.summary.unwrap_or("(nothing was said yet)");
    let last_action = known.last_action.unwrap_or("(none recorded)");
    match form {
        Form::Full => full(summary, last_action, known.pending),
        Form::Short => short(summary, last_action, known.pending),
    }
}

fn full(summary: &str, last_action: &str, pending: &[String]) -> String {
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

fn short(summary: &str, last_action: &str, pending: &[String]) -> String {
    let tasks = if pending.is_empty() {
        String::new()
    } else {
        format!(". Left to do: {}", pending.join("; "))
    };
    let (action, state) = (in_one_line(last_action), in_one_line(&format!("{summary}{tasks}")));
    format!("{SHORT_BEGINNING}{action}{SHORT_STATE}{state}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context_for(form: Form, summary: &str, action: &str, pending: &[String]) -> String {
        resume_prompt(form, Known { summary: Some(summary), last_action: Some(action), pending })
    }

    #[test]
    fn what_glis_says_is_not_what_a_person_said() {
        let context = context_for(Form::Full, "Asked: fix it", "run ls", &[]);
        let note = "[glis] Your last step was cut off.\n\n";
        for (message, own) in [
            ("fix it".to_owned(), Some("fix it")),
            (context.clone(), None),
            (format!("{context}\n\nand now?"), Some("and now?")),
            (format!("{note}{context}"), None),
            (format!("{note}[glis] 2 files changed.\n\ngo on\n\nplease"), Some("go on\n\nplease")),
            (context_for(Form::Full, &context, "x", &[]), None),
        ] {
            assert_eq!(own_words(&message), own, "{message}");
        }
    }

    #[test]
    fn the_short_form_is_not_what_a_person_said() {
        let ours = context_for(Form::Short, "Asked: fix it", "run ls", &[]);
        for (message, own) in [
            (ours.clone(), None),
            (context_for(Form::Short, &ours, &ours, std::slice::from_ref(&ours)), None),
            (context_for(Form::Full, &ours, &ours, &[]), None),
            (format!("{ours}\n\nand now?\n\nplease"), Some("and now?\n\nplease")),
            (format!("[glis] Your last step was cut off.\n\n{ours}"), None),
            (
                "Continue from where we left off.".to_owned(),
                Some("Continue from where we left off."),
            ),
        ] {
            assert_eq!(own_words(&message), own, "{message}");
        }
    }

    #[test]
    fn the_template_keeps_its_headings() {
        let text = context_for(Form::Full, "s", "a", &["one".to_owned(), "two".to_owned()]);
        assert!(text.starts_with("You are resuming a previously paused session.\n\n## Session"));
        assert!(text.contains("## Pending Tasks\n1. one\n2. two\n\n## Instructions\n"));
        assert!(text.ends_with("proceed with the next pending task."));
    }

    #[test]
    fn the_short_form_has_three_lines() {
        let tasks = ["mend\nit".to_owned(), "test it".to_owned()];
        assert_eq!(
            context_for(Form::Short, "Asked: fix\n\nit", "run ls\nrun pwd", &tasks),
            "Continue from where we left off.\nLast action: run ls run pwd\n\
             Current state: Asked: fix it. Left to do: mend it; test it"
        );
        let known = Known { summary: None, last_action: None, pending: &[] };
        assert_eq!(
            resume_prompt(Form::Short, known),
            "Continue from where we left off.\nLast action: (none recorded)\n\
             Current state: (nothing was said yet)"
        );
    }
}
