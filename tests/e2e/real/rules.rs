//! Rules that answer what the real agents ask: what they allow is done without a person, what they do
//! not understand waits, what is rejected is denied.

use super::Real;
use super::cast::{
    CLAUDE_HEADLESS, CLAUDE_TERMINAL, CODEX_HEADLESS, CODEX_TERMINAL, NAME, Part, Play, step, text,
};
use crate::support::house::{Outcome, eventually};
use glis_stub_model::{Step, Voice, prompt};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;

/// Both agents run `ls` and the like without asking. They ask for this.
const RULE: &str =
    "[[auto_yes.rule]]\nprogram = \"touch\"\nrest = \"path\"\nmatch = [\"touch a\"]\n";

/// An agent with rules, in a session that they answer for.
fn begin(part: Part, rules: &str) -> Outcome<Option<Play>> {
    let Some(real) = Real::with(part.agent)? else { return Ok(None) };
    real.house.configure(rules)?;
    Play::of(real, part, &["--auto-yes"]).map(Some)
}

/// What the rules have said: verdict, rule or reason, and what it was about.
fn judged(play: &Play) -> Outcome<Vec<Value>> {
    let log = play.house().json(&["auto-yes", "log", NAME])?;
    Ok(log.as_array().ok_or("no list")?.clone())
}

/// One verdict that is on record, about a request that was asked under this very name. A request that is
/// left to a person may be seen before it is judged.
fn has_said(play: &Play, about: &str, verdict: &str, rule: &str) -> Outcome {
    let is_about = |one: &Value| one["text"].as_str().is_some_and(|text| text.contains(about));
    eventually(&format!("a verdict on {about}"), || {
        judged(play).is_ok_and(|all| all.iter().any(is_about))
    })?;
    let all = judged(play)?;
    let ours = all.iter().find(|one| is_about(one)).ok_or("gone")?;
    let by = if ours["rule"].is_null() { &ours["why"] } else { &ours["rule"] };
    assert_eq!((&ours["verdict"], by), (&json!(verdict), &json!(rule)), "{ours}");
    let events = play.house().ok(&["events"])?;
    let events: Vec<Value> = events.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let asked = |event: &&Value| event["event"] == "asked" && event["ask"]["id"] == ours["request"];
    assert_eq!(events.iter().filter(asked).count(), 1, "{ours}");
    Ok(())
}

/// Has the agent run a command that it asks about.
fn run(play: &Play, words: &str, command: &str) -> Outcome {
    play.send(&prompt(words, &[play.asking(command), text("so it is")]))?;
    Ok(())
}

fn a_rule_answers_and_a_person_the_rest(part: Part) -> Outcome {
    let Some(play) = begin(part, RULE)? else { return Ok(()) };
    let there = |file: &str| -> Outcome<bool> { Ok(play.house().file(NAME, file)?.exists()) };
    run(&play, "by rule", "touch allowed.txt")?;
    play.until("idle")?;
    assert!(there("allowed.txt")?);
    has_said(&play, "touch allowed.txt", "accept", "touch")?;

    run(&play, "by hand", "touch hostile.txt; id")?;
    let waits = play.until("waiting")?;
    assert!(waits["waiting_for"]["text"].as_str().is_some_and(|t| t.contains("hostile.txt; id")));
    assert!(!there("hostile.txt")?);
    has_said(&play, "hostile.txt; id", "manual", "character")?;
    let request = waits["waiting_for"]["request"].as_str().ok_or("no request")?;
    play.house().json(&["answer", NAME, "deny", "--request", request])?;
    play.until("idle")?;
    assert!(!there("hostile.txt")?);

    run(&play, "rejected", "rm -rf allowed.txt")?;
    play.until("idle")?;
    assert!(there("allowed.txt")?);
    has_said(&play, "rm -rf allowed.txt", "reject", "delete|remove|rm -rf")?;
    assert_eq!(judged(&play)?.len(), 3);
    Ok(())
}

#[test]
fn a_rule_answers_claude_headless() -> Outcome {
    a_rule_answers_and_a_person_the_rest(CLAUDE_HEADLESS)
}

#[test]
fn a_rule_answers_claude_in_a_terminal() -> Outcome {
    a_rule_answers_and_a_person_the_rest(CLAUDE_TERMINAL)
}

#[test]
fn a_rule_answers_codex_headless() -> Outcome {
    a_rule_answers_and_a_person_the_rest(CODEX_HEADLESS)
}

#[test]
fn a_rule_answers_codex_in_a_terminal() -> Outcome {
    a_rule_answers_and_a_person_the_rest(CODEX_TERMINAL)
}

/// Without a terminal Claude Code does not tell where its shell stands. After a line that may have moved it,
/// or a name that is no program, no rule counts any more.
#[test]
fn no_rule_counts_where_claudes_shell_may_stand_elsewhere() -> Outcome {
    for mover in ["cd>/dev/null .", "a-function-of-mine ."] {
        let Some(play) = begin(CLAUDE_HEADLESS, RULE)? else { return Ok(()) };
        run(&play, "before", "touch before.txt")?;
        play.until("idle")?;
        has_said(&play, "touch before.txt", "accept", "touch")?;
        run(&play, "it moves", mover)?;
        play.until("waiting")?;
        play.house().json(&["answer", NAME, "allow"])?;
        play.until("idle")?;
        run(&play, "after", "touch after.txt")?;
        play.until("waiting")?;
        has_said(&play, "touch after.txt", "manual", "place")?;
    }
    Ok(())
}

/// Where hooks are off a helper of Claude Code may have a worktree of its own, and does not tell where it is.
#[test]
fn no_rule_counts_for_a_helper_of_claude() -> Outcome {
    let Some(real) = Real::with(CLAUDE_HEADLESS.agent)? else { return Ok(()) };
    std::fs::write(real.config().join("settings.json"), "{\"disableAllHooks\": true}\n")?;
    real.house.configure(RULE)?;
    let play = Play::of(real, CLAUDE_HEADLESS, &["--auto-yes"])?;
    sends_a_helper(&play, &[("isolation", json!("worktree"))], Step::default())?;
    play.until("waiting")?;
    has_said(&play, "touch beside.txt", "manual", "place")?;
    assert!(play.house().repo().join(".claude/worktrees").exists(), "it is elsewhere");
    play.house().json(&["answer", NAME, "deny"])?;
    play.until("idle").map(drop)
}

/// Has the agent send a helper into the background that runs a command, and end its own turn as this step says.
fn sends_a_helper(play: &Play, more: &[(&str, Value)], end: Step) -> Outcome {
    let runs = Step { hold_first: Some("helper".to_owned()), ..play.asking("touch beside.txt") };
    play.real.model.learn("at the side", &[runs, text("beside")]);
    let mut helper =
        json!({"description": "d", "prompt": "at the side", "subagent_type": "general-purpose"});
    for (key, value) in more {
        helper[*key] = value.clone();
    }
    let end = Step { text: Some("so it is".to_owned()), ..end };
    play.send(&prompt("have it done", &[step(("Agent", helper)), end]))?;
    play.real.model.until_held("helper")?;
    play.real.model.open("helper");
    Ok(())
}

/// A helper works on when the turn of who sent it is over. What it asks then, or has asked before, waits for its
/// answer all the same.
fn a_helper_asks_beside_the_turn(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    let end = Step { hold_first: Some("end".to_owned()), ..Step::default() };
    sends_a_helper(&play, &[], end)?;
    let asked = play.until("waiting")?["waiting_for"].clone();
    assert!(asked["text"].as_str().is_some_and(|t| t.contains("touch beside.txt")), "{asked}");
    play.real.model.until_held("end")?;
    play.real.model.open("end");
    play.house().follow(1)?.until(|event| event["event"] == "turn_ended")?;
    let after = play.show()?;
    assert_eq!((&after["status"], &after["waiting_for"]), (&json!("waiting"), &asked), "{after}");
    assert_eq!(after["verdict"], "the agent asks something");
    play.house().json(&["answer", NAME, "allow"])?;
    play.until("idle")?;
    assert!(play.house().file(NAME, "beside.txt")?.exists());
    Ok(())
}

#[test]
fn what_a_helper_of_claude_asks_outlives_the_turn() -> Outcome {
    a_helper_asks_beside_the_turn(CLAUDE_HEADLESS)
}

#[test]
fn what_a_helper_of_claude_in_a_terminal_asks_outlives_the_turn() -> Outcome {
    a_helper_asks_beside_the_turn(CLAUDE_TERMINAL)
}

/// One answer of the model that calls all of these tools.
fn at_once(mut calls: Vec<(String, Value)>) -> Step {
    let (tool, input) = calls.remove(0);
    Step { tool: Some(tool), input, beside: calls, ..Step::default() }
}

/// The name of the open request that is about this.
fn request(session: &Value, about: &str) -> Option<String> {
    let asks = session["asks"].as_array()?;
    let of_it = |ask: &&Value| ask["text"].as_str().is_some_and(|text| text.contains(about));
    asks.iter().find(of_it)?["request"].as_str().map(str::to_owned)
}

/// Four things that Claude Code asks about at once, since all of them only read: one is allowed and
/// one denied by rule, the other two wait, and each is answered by its own name, the later one first.
#[test]
fn several_at_once_are_answered_each_by_its_own_name() -> Outcome {
    let rule = "[[auto_yes.rule]]\nprogram = \"cat\"\nrest = \"word\"\nmatch = [\"cat a\"]\n";
    let Some(play) = begin(CLAUDE_HEADLESS, rule)? else { return Ok(()) };
    let outside = play.house().folder().join("outside");
    std::fs::create_dir_all(&outside)?;
    let mut calls = Vec::new();
    for (tool, name) in [("Bash", "one"), ("Read", "removed"), ("Read", "three"), ("Read", "four")]
    {
        let file = outside.join(format!("{name}.txt"));
        std::fs::write(&file, format!("this is {name}\n"))?;
        let input = match tool {
            "Bash" => json!({"command": format!("cat {}", file.display()), "description": "d"}),
            _ => json!({"file_path": file}),
        };
        calls.push((tool.to_owned(), input));
    }
    play.send(&prompt("look at all", &[at_once(calls), text("so it is")]))?;
    eventually("two wait and the rules have answered the others", || {
        play.show().is_ok_and(|now| {
            let open = now["asks"].as_array().map_or(0, Vec::len);
            open == 2 && request(&now, "three").is_some() && request(&now, "four").is_some()
        })
    })?;
    let waits = play.until("waiting")?;
    let (three, four) = (request(&waits, "three"), request(&waits, "four"));
    let (three, four) = (three.ok_or("three")?, four.ok_or("four")?);
    let (status, _) = play.house().fails(&["answer", NAME, "allow"])?;
    assert_eq!(status, 4, "which of the two is not said");
    play.house().json(&["answer", NAME, "deny", "--request", &four])?;
    play.house().json(&["answer", NAME, "allow", "--request", &three])?;
    play.until("idle")?;
    let told = play.real.model.turns().pop().ok_or("no request")?;
    for (name, is_read) in [("one", true), ("removed", false), ("three", true), ("four", false)] {
        let words = format!("this is {name}");
        assert_eq!(told.says(Voice::Tool, &words), is_read, "{name}: {:#?}", told.turns);
    }
    has_said(&play, "one.txt", "accept", "cat")?;
    has_said(&play, "removed.txt", "reject", "delete|remove|rm -rf")?;
    has_said(&play, "three.txt", "manual", "unknown")?;
    has_said(&play, "four.txt", "manual", "unknown")
}

/// Allows a request. If the screen shows another one first, nothing is answered, and that one is told.
fn allow(play: &Play, request: &str) -> Outcome<Option<String>> {
    let args = ["--json", "answer", NAME, "allow", "--request", request];
    let told = play.house().glis().args(args).output()?;
    if told.status.success() {
        return Ok(None);
    }
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let error: Value = serde_json::from_str(&told)?;
    let message = error["error"]["message"].as_str().ok_or("no message")?;
    let shown =
        message.split_once("the screen shows another question first: ").ok_or(told.clone())?;
    Ok(Some(shown.1.to_owned()))
}

/// Whether the dialog on the screen is about this file.
fn stands(play: &Play, name: &str) -> bool {
    let screen = play.house().ok(&["screen", NAME]).unwrap_or_default();
    let dialog = screen.rsplit("────").next().unwrap_or_default();
    dialog.contains("1. Yes") && dialog.contains(&format!("/{name}.txt)"))
}

/// In a terminal they stand in a row, and a key answers the one that the screen shows: only that is
/// answered, whichever was asked last.
#[test]
fn in_a_terminal_the_one_that_is_shown_is_answered() -> Outcome {
    let Some(play) = begin(CLAUDE_TERMINAL, RULE)? else { return Ok(()) };
    let outside = play.house().folder().join("outside");
    std::fs::create_dir_all(&outside)?;
    let mut calls = Vec::new();
    for name in ["first", "second", "third"] {
        let file = outside.join(format!("{name}.txt"));
        std::fs::write(&file, format!("this is {name}\n"))?;
        calls.push(("Read".to_owned(), json!({"file_path": file})));
    }
    play.send(&prompt("look at all", &[at_once(calls), text("so it is")]))?;
    let open = |now: &Value| now["asks"].as_array().map_or(0, Vec::len);
    eventually("all three wait, and one is shown", || {
        let one = ["first", "second", "third"].iter().filter(|name| stands(&play, name)).count();
        one == 1 && play.show().is_ok_and(|now| open(&now) == 3)
    })?;
    let mut left: Vec<(String, &str)> = Vec::new();
    for name in ["first", "second", "third"] {
        left.push((request(&play.show()?, name).ok_or(name)?, name));
    }
    // In which order they stand there is its own affair. The two that are not shown are left alone.
    while left.len() > 1 {
        let id = left.iter().find(|(_, name)| !stands(&play, name)).ok_or("all stand")?.0.clone();
        let shown = allow(&play, &id)?.ok_or("it was not shown, and yet it was answered")?;
        assert!(left.iter().any(|(other, _)| *other == shown), "{shown}: {left:?}");
        assert_eq!(allow(&play, &shown)?, None);
        left.retain(|(other, _)| *other != shown);
        eventually("the others wait, and one is shown", || {
            let one = left.iter().filter(|(_, name)| stands(&play, name)).count() == 1;
            one && play.show().is_ok_and(|now| open(&now) == left.len())
        })?;
    }
    let (last, denied) = left.pop().ok_or("none is left")?;
    play.house().json(&["answer", NAME, "deny", "--request", &last])?;
    play.until("idle")?;
    play.turn("and now?")?;
    let told = play.asked("and now?")?;
    for name in ["first", "second", "third"] {
        let (words, is_read) = (format!("this is {name}"), name != denied);
        assert_eq!(told.says(Voice::Tool, &words), is_read, "{name}: {:#?}", told.turns);
    }
    Ok(())
}

/// Of 112 lines of an ordinary day that only look or check (`ls -la`, `git diff --stat`, `npm test`), these are
/// what Claude Code 2.1.327 asks about, in the order of the list. The sets answer these.
const ANSWERED: [&str; 31] = [
    "cargo check",
    "cargo check 2>&1 | tail -20",
    "cargo build",
    "cargo build 2>&1 | grep error",
    "cargo test",
    "cargo test 2>&1 | tail -30",
    "cargo test --workspace 2>&1",
    "cargo test -p core parses -- --nocapture",
    "cargo clippy --all-targets -- -D warnings",
    "cargo fmt --all -- --check",
    "cargo fmt --check && cargo clippy",
    "cargo tree -i serde",
    "cargo metadata --no-deps",
    "npm test",
    "npm test 2>&1 | tail -20",
    "npm run lint",
    "npm run lint && npm test",
    "npm run typecheck",
    "npm run build",
    "npm ls --depth=0",
    "pytest -q",
    "pytest -q 2>&1 | tail -5",
    "pytest tests/test_a.py::test_b -v",
    "pytest -k parses",
    "go test ./...",
    "go test ./... 2>&1 | tail -20",
    "go test ./... && go vet ./...",
    "go build ./...",
    "go vet ./...",
    "go list ./...",
    "gofmt -l .",
];

/// And these wait: interpreters and wrappers, what a target or a package names, programs without a set, and a line
/// that is not plain.
const LEFT: [&str; 14] = [
    "env | grep PATH",
    "printenv HOME",
    "find . -name '*.rs' -exec wc -l {} +",
    "awk '{print $1}' file.txt",
    "cargo --version",
    "npm outdated",
    "npx tsc --noEmit",
    "npx eslint src",
    "python3 -m pytest",
    "ruff check .",
    "mypy src",
    "make test",
    "make lint",
    "gh pr list",
];

/// A session that every set answers for.
fn with_sets(real: Real, part: Part) -> Outcome<Play> {
    // Not every machine has these, and what they do is of no account here.
    for name in ["cargo", "npm", "pytest", "go", "gofmt"] {
        let file = real.house.folder().join("bin").join(name);
        std::fs::write(&file, format!("#!/bin/sh\necho ran {name} \"$@\"\n"))?;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755))?;
    }
    let sets = r#"["git-read", "cargo", "npm", "pytest", "go"]"#;
    real.house.configure(&format!("[auto_yes]\nsets = {sets}\n"))?;
    Play::of(real, part, &["--auto-yes"])
}

/// What is asked and not answered waits, and nothing is denied by a pattern.
#[test]
fn the_sets_answer_most_of_what_claude_asks_every_day() -> Outcome {
    let Some(real) = Real::with(CLAUDE_HEADLESS.agent)? else { return Ok(()) };
    let play = with_sets(real, CLAUDE_HEADLESS)?;
    let steps: Vec<Step> =
        ANSWERED.iter().map(|line| play.asking(line)).chain([text("so it is")]).collect();
    play.send(&prompt("the work of a day", &steps))?;
    play.until("idle")?;
    let told = play.real.model.turns().pop().ok_or("no request")?;
    assert!(told.says(Voice::Tool, "ran gofmt -l ."), "{:#?}", told.turns);
    for line in LEFT {
        run(&play, "by hand", line)?;
        play.until("waiting")?;
        play.house().json(&["answer", NAME, "deny"])?;
        play.until("idle")?;
    }
    let said = judged(&play)?;
    let accepted = said.iter().filter(|one| one["verdict"] == "accept").count();
    // Twenty at least, and two of three.
    assert!(accepted >= 20 && 3 * accepted >= 2 * said.len(), "{accepted} of {}", said.len());
    let answered = ANSWERED.map(|line| (line, "accept"));
    let all: Vec<_> = answered.into_iter().chain(LEFT.map(|line| (line, "manual"))).collect();
    assert_eq!(said.len(), all.len(), "each was asked about once: {said:?}");
    for (one, (line, verdict)) in said.iter().zip(all) {
        assert!(one["text"].as_str().is_some_and(|text| text.ends_with(line)), "{line}: {one}");
        assert_eq!(one["verdict"], verdict, "{line}: {one}");
    }
    Ok(())
}

/// What Claude Code is told to write, and what `edits = true` says to it: what git tracks and steers nothing. A
/// file that is there is read before, since it writes over no other.
const WRITTEN: [(&str, &str); 8] = [
    ("file.txt", "accept"),
    ("src/code.rs", "accept"),
    ("src/../file.txt", "accept"),
    ("src/fresh.rs", "manual"),
    ("CLAUDE.md", "manual"),
    (".env", "manual"),
    ("run.sh", "manual"),
    ("../outside.txt", "manual"),
];

fn edits_are_judged_file_by_file(part: Part) -> Outcome {
    let Some(real) = Real::with(part.agent)? else { return Ok(()) };
    let repo = real.house.repo();
    std::fs::create_dir_all(repo.join("src"))?;
    for file in ["src/code.rs", "CLAUDE.md", ".env", "run.sh"] {
        std::fs::write(repo.join(file), "before\n")?;
    }
    std::fs::set_permissions(repo.join("run.sh"), std::fs::Permissions::from_mode(0o755))?;
    real.house.git(&["add", "--all"])?;
    real.house.git(&["commit", "--quiet", "--message=files"])?;
    real.house.configure("[auto_yes]\nedits = true\n")?;
    let play = Play::of(real, part, &["--auto-yes"])?;
    for (file, verdict) in WRITTEN {
        let before = judged(&play)?.len();
        let path = play.house().file(NAME, file)?;
        let is_there = path.exists();
        let path = path.to_str().ok_or("path")?;
        let mut steps = Vec::new();
        if is_there {
            steps.push(step(("Read", json!({"file_path": path}))));
        }
        let write = json!({"file_path": path, "content": format!("{file} is written\n")});
        steps.extend([step(("Write", write)), text("so it is")]);
        play.send(&prompt(&format!("write {file}"), &steps))?;
        if verdict == "manual" {
            play.until("waiting")?;
            play.house().json(&["answer", NAME, "deny"])?;
        }
        play.until("idle")?;
        let said = judged(&play)?.split_off(before);
        let verdicts: Vec<_> = said.iter().map(|one| one["verdict"].as_str()).collect();
        assert_eq!(verdicts, [Some(verdict)], "{file}: {said:?}");
        let is_written = std::fs::read_to_string(path).is_ok_and(|text| text.contains("written"));
        assert_eq!(is_written, verdict == "accept", "{file}");
    }
    Ok(())
}

#[test]
fn edits_of_claude_headless_are_judged_file_by_file() -> Outcome {
    edits_are_judged_file_by_file(CLAUDE_HEADLESS)
}

#[test]
fn edits_of_claude_in_a_terminal_are_judged_file_by_file() -> Outcome {
    edits_are_judged_file_by_file(CLAUDE_TERMINAL)
}

/// What Codex is asked to run outside of its sandbox, and what the rules say to it with every set on. What it
/// refuses by itself is nowhere asked.
fn calls(in_a_tty: &'static str) -> Vec<(Value, Option<&'static str>)> {
    let line = |cmd: &str| json!({"cmd": cmd});
    let beside = |key: &str, value: Value| json!({"cmd": "cargo test", key: value});
    vec![
        (line("cargo test"), Some("accept")),
        (line("cargo test -p core && cargo clippy"), Some("accept")),
        (line("cargo publish"), Some("manual")),
        (line("cargo test; id"), Some("manual")),
        (line("cargo test\nid"), Some("manual")),
        (line("cargo test\rid"), Some("manual")),
        (line("curl example.org"), Some("manual")),
        (line("rm -rf src"), Some("reject")),
        (beside("workdir", json!("/")), Some("manual")),
        (beside("shell", json!("/bin/sh")), Some("manual")),
        (beside("login", json!(false)), Some("manual")),
        (beside("tty", json!(true)), Some(in_a_tty)),
        (beside("environment_id", json!("other")), None),
        (beside("prefix_rule", json!(["cargo"])), Some("accept")),
    ]
}

/// What is left to a person is denied by one.
fn each_call_of_codex_is_judged(part: Part, in_a_tty: &'static str) -> Outcome {
    let Some(real) = Real::with(part.agent)? else { return Ok(()) };
    let play = with_sets(real, part)?;
    for (call, verdict) in calls(in_a_tty) {
        let before = judged(&play)?.len();
        let mut input = call.clone();
        input["sandbox_permissions"] = json!("require_escalated");
        input["justification"] = json!("because");
        let step = Step { tool: Some("exec_command".to_owned()), input, ..Step::default() };
        play.send(&prompt("go on", &[step, text("so it is")]))?;
        if play.until("idle,waiting")?["status"] == "waiting" {
            eventually("it is judged", || judged(&play).is_ok_and(|all| all.len() > before))?;
        }
        let said = judged(&play)?.split_off(before);
        let verdicts: Vec<_> = said.iter().map(|one| one["verdict"].as_str()).collect();
        assert_eq!(verdicts, Vec::from_iter(verdict.map(Some)), "{call}: {said:?}");
        if verdict == Some("manual") {
            play.house().json(&["answer", NAME, "deny"])?;
        }
        play.until("idle")?;
    }
    Ok(())
}

/// Without a terminal Codex does not tell whether a command is to get one of its own.
#[test]
fn each_call_of_codex_headless_is_judged_for_what_it_is() -> Outcome {
    each_call_of_codex_is_judged(CODEX_HEADLESS, "accept")
}

#[test]
fn each_call_of_codex_in_a_terminal_is_judged_for_what_it_is() -> Outcome {
    each_call_of_codex_is_judged(CODEX_TERMINAL, "manual")
}

/// What is typed into a command that runs already is no line that a rule reads: `cargo test` is a word for `cat`.
#[test]
fn what_codex_types_into_a_command_is_judged_by_no_rule() -> Outcome {
    let Some(real) = Real::with(CODEX_HEADLESS.agent)? else { return Ok(()) };
    let play = with_sets(real, CODEX_HEADLESS)?;
    let call = |tool: &str, mut input: Value| {
        input["sandbox_permissions"] = json!("require_escalated");
        input["justification"] = json!("because");
        input["yield_time_ms"] = json!(300);
        Step { tool: Some(tool.to_owned()), input, ..Step::default() }
    };
    let begins = call("exec_command", json!({"cmd": "cat", "tty": true}));
    play.send(&prompt("begin it", &[begins, text("it is begun")]))?;
    play.house().follow(1)?.until(|event| event["event"] == "turn_ended")?;
    let told = play.real.model.turns().pop().ok_or("no request")?;
    let told = told.turns.iter().find_map(|turn| turn.text.split("session ID ").nth(1));
    let number = told.and_then(|rest| rest.split_whitespace().next()).ok_or("no session")?;
    let number: u64 = number.trim_end_matches('.').parse()?;
    let types = call("write_stdin", json!({"session_id": number, "chars": "cargo test\n"}));
    play.send(&prompt("type it", &[types, text("so it is")]))?;
    play.until("waiting")?;
    has_said(&play, "write_stdin", "manual", "unknown")?;
    play.house().json(&["answer", NAME, "deny"])?;
    let told = |event: &Value| event["event"] == "turn_ended";
    let mut events = play.house().follow(1)?;
    events.until(told)?;
    events.until(told)?;
    let told = play.real.model.turns().pop().ok_or("no request")?;
    assert!(!told.says(Voice::Tool, "cargo test"), "it was not typed: {:#?}", told.turns);
    Ok(())
}
