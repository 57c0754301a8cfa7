//! When an agent may be stopped, judged from its screen, where it gives no better sign.

use serde::{Deserialize, Serialize};

/// What the screen shows of a program that says nothing else about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScreenState {
    /// Output flows: more than half a character a second over the last five.
    Flowing,
    /// Silent, and no prompt in sight. It may think, compile or sleep.
    Silent,
    /// Silent, with a prompt in the last line.
    AtPrompt { pattern: String },
    /// Silent, with a question in the last line.
    Asking { pattern: String, line: String },
}

/// What a program prints when it waits. A pattern counts only in the last line of a screen that has
/// been quiet: the same characters stand in diffs, quotes, progress bars and prose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patterns {
    /// What stands right before the cursor, blanks included, when the program takes the next
    /// command.
    pub prompts: Vec<String>,
    /// What the cursor's line contains when the program wants a decision. A pattern that ends in a
    /// blank stands right before the cursor.
    pub questions: Vec<String>,
}

/// A screen as far as it tells whether a program waits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Look {
    /// The line that the cursor is in, up to the cursor.
    pub before_cursor: String,
    /// Whether anything is to be seen at the cursor or behind it, in this line or below.
    pub more: bool,
}

impl Look {
    /// Looks at rows of text, which have no blanks at their ends, with the cursor at this column
    /// and row.
    pub fn at(rows: &[String], (column, row): (usize, usize)) -> Self {
        let line = rows.get(row).map_or("", String::as_str);
        let mut before_cursor: String = line.chars().take(column).collect();
        // Wide characters take two columns, so this is at least as long as it has to be.
        let missing = column.saturating_sub(before_cursor.chars().count());
        before_cursor.extend(std::iter::repeat_n(' ', missing));
        let behind = line.chars().skip(column).any(|c| !c.is_whitespace());
        let below = rows.iter().skip(row + 1).any(|line| !line.is_empty());
        Self { before_cursor, more: behind || below }
    }
}

impl Default for Patterns {
    fn default() -> Self {
        let own = |list: &[&str]| list.iter().map(|&s| s.to_owned()).collect();
        Self {
            prompts: own(&["> ", "$ ", "# ", "% ", "\u{276f} ", "\u{203a} "]),
            questions: own(&[
                "? ",
                "[Y/n]",
                "[y/N]",
                "[y/n]",
                "(y/n)",
                "Press any key",
                "Press Enter",
                "Press ENTER",
            ]),
        }
    }
}

/// Judges a quiet screen by what stands before its cursor.
pub fn judge_quiet(look: &Look, patterns: &Patterns) -> ScreenState {
    let line = &look.before_cursor;
    if look.more || line.trim().is_empty() {
        return ScreenState::Silent;
    }
    let asks = |pattern: &&String| {
        if pattern.ends_with(' ') {
            // Not every program leaves a blank behind its question.
            line.trim_end().ends_with(pattern.trim_end())
        } else {
            line.contains(&***pattern)
        }
    };
    if let Some(pattern) = patterns.questions.iter().find(asks) {
        let (pattern, line) = (pattern.clone(), line.trim().to_owned());
        return ScreenState::Asking { pattern, line };
    }
    match patterns.prompts.iter().find(|pattern| line.ends_with(&***pattern)) {
        Some(pattern) => ScreenState::AtPrompt { pattern: pattern.clone() },
        None => ScreenState::Silent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cursor is behind the last character of the text.
    fn judge(screen: &str) -> ScreenState {
        let rows: Vec<String> = screen.split('\n').map(|row| row.trim_end().to_owned()).collect();
        let last = screen.split('\n').next_back().unwrap_or_default();
        let look = Look::at(&rows, (last.chars().count(), rows.len() - 1));
        judge_quiet(&look, &Patterns::default())
    }

    fn prompt(pattern: &str) -> ScreenState {
        ScreenState::AtPrompt { pattern: pattern.to_owned() }
    }

    #[test]
    fn a_prompt_stands_right_before_the_cursor() {
        assert_eq!(judge("hello\n> "), prompt("> "));
        assert_eq!(judge("user@host:~$ "), prompt("$ "));
        assert_eq!(judge("> quoted text\ncompiling"), ScreenState::Silent);
        assert_eq!(judge("> typed already"), ScreenState::Silent);
    }

    #[test]
    fn what_only_looks_like_a_prompt_is_none() {
        for screen in ["downloading 45%", "[=====>", "<div>", "price in $", "# ", "> \n"] {
            let state = judge(screen);
            assert!(state == ScreenState::Silent || screen == "# ", "{screen:?}: {state:?}");
        }
    }

    #[test]
    fn a_question_is_told_with_its_line() {
        let asked = ["Install 3 packages? [Y/n] ", "Press any key to continue . . . "];
        for screen in asked.into_iter().chain(["Press Enter to continue... ", "Continue?"]) {
            let ScreenState::Asking { line, .. } = judge(screen) else { panic!("{screen:?}") };
            assert_eq!(line, screen.trim());
        }
    }

    #[test]
    fn text_at_the_cursor_or_below_means_that_the_program_paints() {
        let rows = ["> ".trim_end().to_owned(), "status: working".to_owned()];
        assert_eq!(
            judge_quiet(&Look::at(&rows, (2, 0)), &Patterns::default()),
            ScreenState::Silent
        );
    }

    #[test]
    fn an_empty_screen_says_nothing() {
        assert_eq!(judge(""), ScreenState::Silent);
        assert_eq!(judge("\n  \n"), ScreenState::Silent);
    }
}
