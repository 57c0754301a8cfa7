//! What an agent wants to be allowed, in a form that rules can judge. What is not understood to the last
//! word is no such form: then a person is asked.

use glis_core::talk::{Ask, AskKind, DENY};
use glis_core::verdict::Want;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// A sum over everything that an agent said with a question.
pub(crate) fn digest(request: &Value) -> String {
    let sum = Sha256::digest(request.to_string().as_bytes());
    sum.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").ok();
        hex
    })
}

/// More than this of what is said with a question is not kept: an edit so large is looked at in an editor.
const INPUT_BYTES_MAX: usize = 128 * 1024;

/// A question with what the agent said with it, as it is kept for people: whole, but for texts of a size
/// that no one reads before an answer, which are cut with a mark. What nobody can see whole, nobody can allow:
/// it is denied, or answered at the agent's own terminal.
pub(crate) fn said_with(ask: Ask, said: &Value) -> Ask {
    if said.is_null() || said.as_object().is_some_and(serde_json::Map::is_empty) {
        return ask;
    }
    let whole = said.to_string();
    if whole.len() <= INPUT_BYTES_MAX {
        return ask.told(Some(whole));
    }
    // Every text gets the same share, so that none hides the others.
    let share = INPUT_BYTES_MAX / (2 * texts(said).max(1));
    let kept = Some(cut(said, share).to_string()).filter(|cut| cut.len() <= 2 * INPUT_BYTES_MAX);
    let deniable = ask.kind == AskKind::Approval && ask.takes(DENY);
    let ask = if deniable { ask.among([DENY]) } else { ask };
    ask.told(kept)
}

fn texts(said: &Value) -> usize {
    match said {
        Value::String(_) => 1,
        Value::Array(all) => all.iter().map(texts).sum(),
        Value::Object(all) => all.values().map(texts).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn cut(said: &Value, share: usize) -> Value {
    match said {
        Value::String(text) if text.len() > share => {
            let end = (0..=share).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
            let rest = text.len() - end;
            Value::String(format!("{}\n… {rest} more bytes", text.get(..end).unwrap_or_default()))
        }
        Value::Array(all) => all.iter().map(|one| cut(one, share)).collect(),
        Value::Object(all) => all.iter().map(|(key, one)| (key.clone(), cut(one, share))).collect(),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => said.clone(),
    }
}

/// A command line that a tool is given, if it is given nothing else but what is in `beside`: what
/// changes how it is run is not for rules.
pub(crate) fn command(
    input: &Value,
    key: &str,
    beside: &[&str],
    folder: Option<String>,
) -> Option<Want> {
    let known = |name: &String| name == key || beside.contains(&name.as_str());
    if !input.as_object()?.keys().all(known) {
        return None;
    }
    let line = input.get(key)?.as_str()?.to_owned();
    Some(Want::Command { line, folder })
}

/// The line in `/bin/bash -lc 'LINE'`, where the quotes are of the simplest kind.
pub(crate) fn unwrapped(command: &str) -> Option<&str> {
    let word = command.strip_prefix("/bin/bash -lc ")?;
    let quoted = |quote: char| word.strip_prefix(quote)?.strip_suffix(quote);
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:@%+,=-".contains(c);
    let single = quoted('\'').filter(|line| !line.contains('\''));
    let double = quoted('"').filter(|line| !line.contains(['"', '$', '`', '\\', '!']));
    let bare = Some(word).filter(|word| !word.is_empty() && word.chars().all(plain));
    single.or(double).or(bare)
}

/// Words of shells that move them, or change what a later line means. Some systems have programs of these
/// names as well, which do nothing.
const MOVERS: [&str; 18] = [
    "alias", "autoload", "bind", "cd", "chdir", "declare", "enable", "export", "fc", "hash",
    "popd", "pushd", "readonly", "set", "shopt", "trap", "unalias", "unset",
];

/// The programs of a line that leaves its shell where it is, if each of these names is a program and no
/// function of the user's: one that is plain to read, and calls nothing that moves. Any other line may have
/// moved it.
pub(crate) fn stays(line: &str) -> Option<Vec<String>> {
    let commands = glis_approve::commands(line).ok()?;
    let programs: Vec<String> =
        commands.into_iter().filter_map(|command| command.words.into_iter().next()).collect();
    let moves = programs.iter().any(|program| MOVERS.contains(&program.as_str()));
    (!moves).then_some(programs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glis_core::AskId;
    use glis_core::talk::ALLOW;
    use serde_json::json;

    #[test]
    fn another_request_has_another_sum() {
        let one = json!({"command": "ls", "description": "x"});
        assert_eq!(digest(&one), digest(&json!({"description": "x", "command": "ls"})));
        assert_ne!(digest(&one), digest(&json!({"command": "ls", "description": "y"})));
        assert_eq!(digest(&one).len(), 64);
    }

    #[test]
    fn what_is_said_with_a_question_is_kept_whole_up_to_a_bound() {
        let edit = json!({"file_path": "a.rs", "old_string": "one\n", "new_string": "two\n"});
        let asked = |said: &Value| {
            said_with(Ask::new(AskId("a".to_owned()), AskKind::Approval, "Write a.rs"), said)
        };
        assert_eq!(asked(&edit).input, Some(edit.to_string()));
        assert_eq!((asked(&Value::Null).input, asked(&json!({})).input), (None, None));
        assert!(asked(&edit).takes(ALLOW));
        let huge = json!({"file_path": "a.rs", "content": "ä".repeat(INPUT_BYTES_MAX)});
        // What cannot be seen whole can only be denied.
        assert_eq!(asked(&huge).choices, Some(vec![DENY.to_owned()]));
        let kept: Value = serde_json::from_str(&asked(&huge).input.unwrap()).unwrap();
        assert_eq!(kept["file_path"], "a.rs");
        let text = kept["content"].as_str().unwrap();
        assert!(text.len() < INPUT_BYTES_MAX && text.ends_with(" more bytes"));
    }

    #[test]
    fn a_command_with_more_than_a_line_is_none() {
        let beside = ["description", "timeout"];
        let wants = |input: Value| command(&input, "command", &beside, None);
        let line = |line: &str| Some(Want::Command { line: line.to_owned(), folder: None });
        assert_eq!(wants(json!({"command": "ls", "description": "x"})), line("ls"));
        assert_eq!(wants(json!({"command": "ls", "run_in_background": true})), None);
        assert_eq!(wants(json!({"command": ["ls"]})), None);
        assert_eq!(wants(json!({"description": "ls"})), None);
        assert_eq!(wants(json!("ls")), None);
    }

    #[test]
    fn only_the_simplest_quotes_are_taken_off() {
        for (command, line) in [
            ("/bin/bash -lc pwd", Some("pwd")),
            ("/bin/bash -lc 'ls -la'", Some("ls -la")),
            ("/bin/bash -lc \"grep 'a b' x\"", Some("grep 'a b' x")),
            ("/bin/bash -lc 'a'\"'\"'b'", None),
            ("/bin/bash -lc \"echo $x\"", None),
            ("/bin/bash -lc 'ls' extra", None),
            ("/bin/bash -c 'ls'", None),
            ("/bin/zsh -lc ls", None),
            ("bash -lc ls", None),
            ("ls", None),
            ("/bin/bash -lc ", None),
        ] {
            assert_eq!(unwrapped(command), line, "{command}");
        }
    }

    #[test]
    fn only_a_plain_line_of_programs_stays_where_it_is() {
        for line in [
            "cd x",
            "ls;cd x",
            "ls && cd x",
            "pushd x",
            "x=1 cd y",
            "c''d x",
            "c\\d x",
            "$x y",
            "eval y",
            ". ./y",
            "source y",
            "`x`",
            "c? x",
            "{cd,x}",
            "(cd x)",
            "builtin cd x",
            "f() { cd x; }",
            "ls\ncd x",
            "\"cd\" x",
            "cd",
            "cd&&ls",
            "command cd x",
            "ls|cd x",
            "cd>/dev/null sub",
            "cd>x",
            "cd>&2",
            "cd>>x",
            "cd>|x sub",
            "pushd>x sub",
            "ls > x",
            "./move",
            "trap x DEBUG",
            "alias ls=x",
            "ls | popd",
            "git status; make",
            "cd 2>&1",
            "ls 2>/dev/null && cd x",
            "cd x && ls",
            "ls || cd x",
            "",
        ] {
            assert_eq!(stays(line), None, "{line}");
        }
        for (line, programs) in [
            ("ls -la", &["ls"][..]),
            ("cat abcd/cd.txt", &["cat"]),
            ("cargo test | tail -n 5", &["cargo", "tail"]),
            ("cargo test 2>&1 | tail -n 5", &["cargo", "tail"]),
            ("cargo fmt --check && cargo test 2>/dev/null", &["cargo", "cargo"]),
            // What is no program is found out where programs are looked for.
            ("mkcd sub", &["mkcd"]),
        ] {
            assert_eq!(stays(line).unwrap(), programs, "{line}");
        }
    }
}
