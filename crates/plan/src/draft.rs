//! A plan that an agent drafts: what it is asked for, and where its words hold the plan.

/// What an agent is told that is to draft a plan. Its answer is a text and no file, so that nothing has
/// to be allowed for it and nothing of the user's is touched.
pub fn asking_for(goal: &str) -> String {
    // The goal has lines of its own: an agent that is scripted by its message finds it there.
    format!("Draft a plan for this goal:\n\n{goal}\n\n{FORM}")
}

/// What an agent is told whose draft is to be changed.
pub fn asking_again(words: &str) -> String {
    format!("{words}\n\nAnswer with the whole plan again, as one code block marked `toml`.")
}

/// No line of it begins with a small letter: the rehearsal agent would take it for a part of its script.
const FORM: &str = r#"Look at this repository first. Change no file: your answer is the plan.

Answer with one code block marked `toml`, of this form:

```toml
[plan]
title = "A few words"

[[task]]
id = "parser"
title = "A few words"
prompt = """
All that an agent has to know who works on this task alone and sees nothing of this conversation: which files, what is to be different, how to tell that it is done.
"""

[[task]]
id = "tests"
prompt = "..."
needs = ["parser"]
accept = "cargo test"
```

Each task is worked on by an agent of its own, in a worktree of its own, and begins from the merged work of the tasks in its `needs`. Tasks that do not need each other must not change the same lines. An `id` has small letters, digits, `.`, `_` and `-`, and begins with a letter or a digit. `accept` is a shell command that succeeds when the task is done; leave it out where there is none. A task that other tasks name as `parent = "ID"` is a group and needs no prompt. There are no other keys."#;

/// The plan in an agent's words: the last code block that is marked `toml`, or else the last one that has
/// a task in it.
pub fn draft_in(words: &str) -> Option<String> {
    // An agent that repeats what it was asked has drafted nothing.
    let shown = blocks(FORM);
    let mut found = blocks(words);
    found.retain(|block| shown.iter().all(|form| form.text != block.text));
    let marked = found.iter().rev().find(|block| block.mark.eq_ignore_ascii_case("toml"));
    let draft = marked.or_else(|| found.iter().rev().find(|block| has_task(&block.text)));
    draft.map(|block| block.text.clone())
}

fn has_task(text: &str) -> bool {
    text.lines().any(|line| line.trim() == "[[task]]")
}

/// A code block as Markdown has it.
struct Block {
    /// The first word behind the fence.
    mark: String,
    text: String,
}

fn blocks(words: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut open: Option<(Fence, Block)> = None;
    let mut string = None;
    for line in words.lines() {
        if let Some((_, block)) = &mut open
            && string.is_some()
        {
            // A fence in a text of several lines is a part of it.
            block.push(line);
            string = string_after(line, string);
            continue;
        }
        match (&mut open, fence(line)) {
            (None, Some((fence, rest))) => {
                let mark = rest.split_whitespace().next().unwrap_or_default().to_owned();
                open = Some((fence, Block { mark, text: String::new() }));
            }
            // A prompt in it may have blocks of its own: only as much as opened it ends it.
            (Some((own, _)), Some((fence, ""))) if fence.ends(own) => {
                found.extend(open.take().map(|(_, block)| block));
            }
            (Some((_, block)), _) => {
                block.push(line);
                string = if block.is_plan() { string_after(line, None) } else { None };
            }
            (None, None) => {}
        }
    }
    // One whose end was cut off is told with what is wrong in it.
    found.extend(open.map(|(_, block)| block));
    found
}

impl Block {
    fn push(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Whether it is a plan, as far as it goes: other languages have other strings.
    fn is_plan(&self) -> bool {
        self.mark.eq_ignore_ascii_case("toml") || has_task(&self.text)
    }
}

/// What a line leaves open of a text of several lines, after what the lines before it did.
fn string_after(line: &str, open: Option<&'static str>) -> Option<&'static str> {
    let (mut rest, mut open) = (line, open);
    loop {
        let next = match open {
            Some(sign) => rest.find(sign).map(|at| (at, None)),
            None => STRINGS
                .iter()
                .filter_map(|sign| rest.find(sign).map(|at| (at, Some(*sign))))
                .min_by_key(|(at, _)| *at),
        };
        let Some((at, then)) = next else { return open };
        // Each of the signs is of three letters.
        rest = rest.get(at + 3..).unwrap_or_default();
        open = then;
    }
}

/// What begins and ends a text of several lines in a plan.
const STRINGS: [&str; 2] = ["\"\"\"", "'''"];

/// Three or more of one sign at the beginning of a line.
#[derive(Clone, Copy)]
struct Fence {
    sign: char,
    length: usize,
}

impl Fence {
    fn ends(self, other: &Self) -> bool {
        self.sign == other.sign && self.length >= other.length
    }
}

/// A fence, and what stands behind it.
fn fence(line: &str) -> Option<(Fence, &str)> {
    let line = line.trim();
    let sign = line.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
    let rest = line.trim_start_matches(sign);
    let length = line.len() - rest.len();
    (length >= 3).then(|| (Fence { sign, length }, rest.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plan;

    #[test]
    fn the_form_that_an_agent_is_shown_is_a_plan_itself() {
        let asked = asking_for("tidy up");
        let form = blocks(&asked).remove(0);
        assert_eq!(Plan::read(&form.text).unwrap().tasks.len(), 2);
        assert_eq!(draft_in(&asked), None, "what is repeated is no draft");
        assert!(asked.lines().any(|line| line == "tidy up"), "{asked}");
    }

    #[test]
    fn the_last_block_that_is_marked_is_the_draft() {
        for (words, draft) in [
            ("Here:\n```toml\na = 1\n```\nor\n``` TOML\na = 2\n```\n", Some("a = 2\n")),
            ("```sh\nls\n```\n```\n[[task]]\n```\n```\nls\n```", Some("[[task]]\n")),
            ("````toml\np = '''\n```\nx\n```\n'''\n````", Some("p = '''\n```\nx\n```\n'''\n")),
            ("~~~toml\na = 1\n```\n~~~", Some("a = 1\n```\n")),
            (
                "```toml\np = \"\"\"\nRun:\n```sh\nls\n```\n\"\"\"\nq = '''a'''\n```\nDone.\n```sh\n```",
                Some("p = \"\"\"\nRun:\n```sh\nls\n```\n\"\"\"\nq = '''a'''\n"),
            ),
            ("```toml\ncut = ", Some("cut = \n")),
            ("no plan at all", None),
            ("```sh\nls\n```", None),
        ] {
            assert_eq!(draft_in(words).as_deref(), draft, "{words}");
        }
    }
}
