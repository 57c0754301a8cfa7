//! The prompt of Claude Code on its screen: whether it waits, works, or holds what was typed.

use crate::dialect::Shown;

/// At the foot of the screen when it works.
const BUSY_FOOT: &str = "esc to interrupt";
/// A wheel that turns above the prompt, and what it stands before.
const WHEEL: [char; 7] = ['·', '✢', '✳', '✶', '✻', '✽', '*'];
const WORKING: &str = "… (";
/// It stands no higher above the prompt than this: a list of tasks may be below it.
const WORKING_LINES: usize = 16;
/// The prompt stands between two lines.
const PROMPT: &str = "❯";
const EDGE: &str = "────";
/// What an empty prompt proposes: how to begin, and after an error what to do next.
const PROPOSAL: &str = "Try \"";
const AFTER_ERROR: [&str; 3] = [
    "Once fixed, resend your message",
    "Resend your message to try again",
    "Run /rewind to go back",
];

/// The prompt at the foot of a screen. A dialog stands in its place.
pub(super) struct Prompt<'l> {
    above: &'l [String],
    pub(super) typed: String,
    below: &'l [String],
}

pub(super) fn prompt(lines: &[String]) -> Option<Prompt<'_>> {
    let at = lines.iter().rposition(|line| line.starts_with(PROMPT))?;
    let is_edge = |line: &String| line.starts_with(EDGE);
    let above = lines.get(at.checked_sub(1)?).filter(|line| is_edge(line));
    let first = above.and(lines.get(at))?.strip_prefix(PROMPT)?.trim();
    // What is typed may have more lines than one, also if they are empty.
    let height = lines.get(at..)?.iter().position(is_edge)?;
    let more = lines.get(at + 1..at + height)?.iter().map(|line| format!("\n{}", line.trim()));
    let typed = std::iter::once(first.to_owned()).chain(more).collect();
    Some(Prompt { above: lines.get(..at)?, typed, below: lines.get(at + height..)? })
}

impl Prompt<'_> {
    /// What is below it depends on the mode and on what the user wants to see there.
    pub(super) fn shown(&self) -> Shown {
        let works = |line: &String| line.starts_with(WHEEL) && line.contains(WORKING);
        let near = self.above.len().saturating_sub(WORKING_LINES);
        if self.below.iter().any(|line| line.contains(BUSY_FOOT))
            || self.above.get(near..).is_some_and(|above| above.iter().any(works))
        {
            return Shown::Other;
        }
        let typed = self.typed.as_str();
        let proposes = typed.starts_with(PROPOSAL) || AFTER_ERROR.contains(&typed);
        if typed.is_empty() || proposes { Shown::Prompt } else { Shown::Draft }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_prompt_proposes_is_no_draft() {
        let shown = |typed: &str| {
            let edge = EDGE.repeat(5);
            let lines = [edge.clone(), format!("{PROMPT} {typed}"), edge, "? for shortcuts".into()];
            prompt(&lines).map(|prompt| prompt.shown())
        };
        for proposal in AFTER_ERROR.into_iter().chain(["", "Try \"fix lint errors\""]) {
            assert_eq!(shown(proposal), Some(Shown::Prompt), "{proposal}");
        }
        assert_eq!(shown("Run /rewind to go back now"), Some(Shown::Draft));
    }
}
