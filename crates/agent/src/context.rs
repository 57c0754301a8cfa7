//! What a fresh agent is told about a conversation it does not have.

/// The first message of a restart that is to carry on.
pub fn resume_prompt(summary: &str, last_action: &str, pending: &[String]) -> String {
    let tasks = if pending.is_empty() {
        "(none recorded)".to_owned()
    } else {
        let numbered = pending.iter().enumerate().map(|(i, task)| format!("{}. {task}", i + 1));
        numbered.collect::<Vec<_>>().join("\n")
    };
    format!(
        "You are resuming a previously paused session.\n\n\
         ## Session Context\n{summary}\n\n\
         ## Last Action\n{last_action}\n\n\
         ## Pending Tasks\n{tasks}\n\n\
         ## Instructions\n\
         Continue from where we left off. Review the current state and proceed with the next \
         pending task."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_keeps_its_headings() {
        let text = resume_prompt("s", "a", &["one".to_owned(), "two".to_owned()]);
        assert!(text.starts_with("You are resuming a previously paused session.\n\n## Session"));
        assert!(text.contains("## Pending Tasks\n1. one\n2. two\n\n## Instructions\n"));
        assert!(text.ends_with("proceed with the next pending task."));
    }
}
