//! When an agent may be stopped, judged from its screen, where it gives no better sign.

use serde::{Deserialize, Serialize};

/// How many of the last non-empty lines are looked at.
const LINES_LOOKED_AT: usize = 5;

/// What the screen shows of a program that says nothing else about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScreenState {
    /// Output flows: more than half a character a second over the last five.
    Flowing,
    /// Silent, and no prompt in sight. It may think, compile or sleep.
    Silent,
    /// Silent, with a prompt in the last line.
    AtPrompt {
        /// The pattern that matched.
        pattern: String,
    },
    /// Silent, with a question in the last line.
    Asking {
        /// The pattern that matched.
        pattern: String,
        /// The line.
        line: String,
    },
}

/// What a program prints when it waits. A pattern counts only in the last non-empty line of a
/// screen that has been quiet: the same characters stand in diffs, quotes and prose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patterns {
    /// The last line ends like this when the program takes the next command.
    pub prompts: Vec<String>,
    /// The last lines contain this when the program wants a decision.
    pub questions: Vec<String>,
}

impl Default for Patterns {
    fn default() -> Self {
        let own = |list: &[&str]| list.iter().map(|&s| s.to_owned()).collect();
        Self {
            prompts: own(&["> ", "$ ", "# ", "% ", "\u{276f} ", "\u{203a} "]),
            questions: own(&["? ", "[Y/n]", "[y/N]", "[y/n]", "(y/n)", "Press any key"]),
        }
    }
}

/// Judges a quiet screen by its last lines.
pub fn judge_quiet(lines: &[String], patterns: &Patterns) -> ScreenState {
    let mut last = lines.iter().rev().filter(|line| !line.trim().is_empty()).take(LINES_LOOKED_AT);
    let Some(line) = last.next() else { return ScreenState::Silent };
    for pattern in &patterns.questions {
        if ends_with_prompt(line, pattern) {
            return ScreenState::Asking { pattern: pattern.clone(), line: line.trim().to_owned() };
        }
    }
    for pattern in &patterns.prompts {
        if ends_with_prompt(line, pattern) {
            return ScreenState::AtPrompt { pattern: pattern.clone() };
        }
    }
    ScreenState::Silent
}

/// Screens are stored without trailing blanks, so a pattern's own are not required.
fn ends_with_prompt(line: &str, pattern: &str) -> bool {
    line.trim_end().trim_end_matches(':').ends_with(pattern.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(screen: &str) -> ScreenState {
        let lines: Vec<String> = screen.lines().map(ToOwned::to_owned).collect();
        judge_quiet(&lines, &Patterns::default())
    }

    #[test]
    fn a_prompt_counts_only_in_the_last_line() {
        assert_eq!(judge("hello\n> "), ScreenState::AtPrompt { pattern: "> ".to_owned() });
        assert_eq!(judge("> quoted text\ncompiling"), ScreenState::Silent);
        assert_eq!(
            judge("user@host:~$ \n\n\n"),
            ScreenState::AtPrompt { pattern: "$ ".to_owned() }
        );
    }

    #[test]
    fn a_question_is_told_with_its_line() {
        assert_eq!(
            judge("Install 3 packages? [Y/n]"),
            ScreenState::Asking {
                pattern: "[Y/n]".to_owned(),
                line: "Install 3 packages? [Y/n]".to_owned()
            }
        );
    }

    #[test]
    fn an_empty_screen_says_nothing() {
        assert_eq!(judge(""), ScreenState::Silent);
        assert_eq!(judge("\n  \n"), ScreenState::Silent);
    }
}
