//! The relay with real processes.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

type Tried<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// A relay whose agent is a line of shell.
struct Rig {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<std::process::ChildStdout>,
}

impl Rig {
    fn start(first: &str, later: &str, folder: &Path) -> Tried<Self> {
        let words = |line: &str| {
            if line.is_empty() { json!([]) } else { json!(["sh", "-c", line]) }
        };
        let course = json!({"agent": "sh", "id": "abc", "first": words(first), "later": words(later),
            "folder": folder, "levels": 0, "ending": "-abc.jsonl"});
        let mut command = Command::new(env!("CARGO_BIN_EXE_glis-relay"));
        command.arg(course.to_string()).env("FOLDER", folder);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        Ok(Self { child, input, output })
    }

    fn say(&mut self, words: &Value) -> Tried {
        let input = self.input.as_mut().ok_or("closed")?;
        Ok(writeln!(input, "{words}")?)
    }

    fn line(&mut self) -> Tried<Value> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let parsed = serde_json::from_str(&line);
        Ok(parsed.unwrap_or_else(|_| json!(line.trim_end())))
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn over(status: i32, why: &str) -> Value {
    let goes_on = why.is_empty();
    json!({
        "type": "relay", "event": "turn_over", "status": status, "why": why, "goes_on": goes_on,
    })
}

#[test]
fn each_message_gets_a_process_and_the_first_begins_the_conversation() -> Tried {
    let dir = tempfile::tempdir()?;
    let first = r#"echo "first $(cat)"; echo abc > "$FOLDER/x-abc.jsonl""#;
    let mut rig = Rig::start(first, r#"echo "later $(cat)""#, dir.path())?;
    assert_eq!(rig.line()?, json!({"type": "relay", "event": "ready", "id": "abc"}));
    rig.say(&json!({"type": "message", "text": "one\n- two"}))?;
    assert_eq!((rig.line()?, rig.line()?), (json!("first one"), json!("- two")));
    assert_eq!(rig.line()?, over(0, ""));
    rig.say(&json!({"type": "noise"}))?;
    for text in ["three", "four"] {
        rig.say(&json!({"type": "message", "text": text}))?;
    }
    rig.input = None;
    assert_eq!((rig.line()?, rig.line()?), (json!("later three"), over(0, "")));
    assert_eq!((rig.line()?, rig.line()?), (json!("later four"), over(0, "")));
    assert_eq!(rig.child.wait()?.code(), Some(0));
    Ok(())
}

#[test]
fn an_interrupt_ends_the_turn_and_not_the_relay() -> Tried {
    let dir = tempfile::tempdir()?;
    let mut rig = Rig::start("echo begun; exec sleep 1000", "", dir.path())?;
    rig.line()?;
    for _ in 0..2 {
        rig.say(&json!({"type": "message", "text": "go"}))?;
        assert_eq!(rig.line()?, "begun");
        rig.say(&json!({"type": "interrupt"}))?;
        assert_eq!(rig.line()?, over(130, ""));
        // Nothing runs: nothing to interrupt.
        rig.say(&json!({"type": "interrupt"}))?;
    }
    Ok(())
}

#[test]
fn an_agent_that_fails_without_a_word_ends_the_relay() -> Tried {
    let dir = tempfile::tempdir()?;
    let mut rig = Rig::start("echo no such thing >&2; exit 42", "", dir.path())?;
    rig.line()?;
    rig.say(&json!({"type": "message", "text": "go"}))?;
    assert_eq!(rig.line()?, over(42, "no such thing"));
    assert_eq!(rig.child.wait()?.code(), Some(42));
    Ok(())
}

#[test]
fn an_agent_that_fails_after_a_word_is_started_again() -> Tried {
    let dir = tempfile::tempdir()?;
    let mut rig = Rig::start("echo word; exit 1", "", dir.path())?;
    rig.line()?;
    for _ in 0..2 {
        rig.say(&json!({"type": "message", "text": "go"}))?;
        assert_eq!((rig.line()?, rig.line()?), (json!("word"), over(1, "")));
    }
    Ok(())
}

#[test]
fn what_an_agent_leaves_behind_does_not_keep_the_turn_open() -> Tried {
    let dir = tempfile::tempdir()?;
    let mut rig = Rig::start("sleep 1000 & echo $!", "", dir.path())?;
    rig.line()?;
    rig.say(&json!({"type": "message", "text": "go"}))?;
    let left = rig.line()?.to_string();
    assert_eq!(rig.line()?, over(0, ""));
    assert!(Command::new("kill").arg(left).status()?.success());
    Ok(())
}

#[test]
fn a_conversation_that_is_not_there_is_rejected_at_once() -> Tried {
    let dir = tempfile::tempdir()?;
    let mut rig = Rig::start("", "echo later", dir.path())?;
    let rejected = rig.line()?;
    assert_eq!(rejected["event"], "rejected");
    assert!(rejected["why"].as_str().is_some_and(|why| why.contains("abc")), "{rejected}");
    assert_eq!(rig.child.wait()?.code(), Some(1));
    Ok(())
}
