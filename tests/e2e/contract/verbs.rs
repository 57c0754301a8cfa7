//! Every verb with `--json`: one document on standard output, whether it succeeds or fails.

use crate::daemon::service::house;
use crate::support::house::{Background, House, Outcome};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _};

/// What is typed, and what the document has: of a list, its first entry.
type Line<'l> = (&'l [&'l str], &'l [&'l str]);

/// A goal that has the rehearsal agent say a plan of one task.
const GOAL: &str =
    "say ```toml\\n[[task]]\\nid = \"a\"\\nprompt = \"say x\"\\nagent = \"rehearsal\"\\n```";

/// A session from its beginning to its end.
const SESSION: &[Line<'_>] = &[
    (
        &[
            "new",
            "blue",
            "--agent",
            "rehearsal",
            "--headless",
            "--prompt",
            "cost 1 ;; write a.txt one",
        ],
        &["id", "status"],
    ),
    (&["wait", "blue", "--for", "idle"], &["id", "status"]),
    (&["cost"], &["key", "tokens_in", "tokens_out", "usd"]),
    (&["agents"], &["name", "installed", "path", "usual"]),
    (&["filters"], &[]),
    (&["ls"], &["id", "status"]),
    (&["ls", "--all"], &["id", "status"]),
    (&["show", "blue"], &["id", "status"]),
    (&["log", "blue"], &["timestamp", "type", "content"]),
    (&["search", "one"], &["session", "name", "at", "type", "content"]),
    (&["screen", "blue"], &["lines", "cursor"]),
    (&["output", "blue"], &["offset", "text"]),
    (&["output", "blue", "--from", "999999999"], &["offset", "text"]),
    (&["snapshot", "blue"], &["ref", "commit"]),
    (&["snapshots", "blue"], &["ref", "commit", "at", "why", "changed", "not_captured"]),
    (&["diff", "blue"], &["files", "patch"]),
    (&["diff", "blue", "--stat"], &["files"]),
    (&["timeout", "blue"], &["idle_timeout_secs"]),
    (&["timeout", "blue", "5"], &["idle_timeout_secs"]),
    (&["label", "blue", "+auth", "urgent"], &["labels"]),
    (&["label", "blue", "-urgent"], &["labels"]),
    (&["pin", "blue"], &["pinned"]),
    (&["pin", "blue", "--off"], &["pinned"]),
    (&["budget", "blue", "usd=5,time=2h"], &["budget"]),
    (&["budget", "blue", "off"], &["budget"]),
    (&["snooze", "blue", "2h"], &["snoozed_until"]),
    (&["snooze", "blue", "off"], &["snoozed_until"]),
    (&["auto-yes", "blue", "on"], &["auto_yes"]),
    (&["auto-yes", "blue", "off"], &["auto_yes"]),
    (&["acknowledge", "blue"], &["id"]),
    (&["acknowledge", "--all"], &[]),
    (&["send", "blue", "approve go on?"], &["message", "queued"]),
    (&["wait", "blue", "--for", "waiting"], &["asks"]),
    (&["answer", "blue", "allow"], &["id"]),
    (&["wait", "blue", "--for", "idle"], &["id"]),
    (&["pause", "blue"], &["id", "already"]),
    (&["pause", "blue"], &["id", "already"]),
    (&["send", "blue", "say later"], &["message", "queued"]),
    (&["resume", "blue"], &["id", "already"]),
    (&["resume", "blue", "blue"], &["id"]),
    (&["stop", "blue"], &["id", "already"]),
    (&["stop", "blue"], &["id", "already"]),
    (&["compact", "blue"], &["id", "summary", "key_decisions", "recent_messages"]),
    (&["restart", "blue", "--yes"], &["id"]),
    (&["pause", "--all"], &[]),
    (&["resume", "--all"], &[]),
    (&["resume", "--interrupted"], &[]),
    (&["resume", "--paused", "--yes"], &[]),
    (&["restore", "blue", "--to", "../restored"], &["notes"]),
    (&["merge", "blue"], &["id", "session", "work", "into", "branch", "commit"]),
    (&["rm", "blue", "--stop"], &["session", "place"]),
    (&["trash", "list"], &["id", "name", "removed_at", "deadline"]),
    (&["trash", "restore", "blue"], &["id"]),
    (&["rm", "blue"], &["session", "place"]),
    (&["trash", "empty", "--all", "--yes"], &["deleted", "left"]),
];

/// Loops, plans, and what is there of a house besides.
const REST: &[Line<'_>] = &[
    (
        &["loop", "l", "--agent", "rehearsal", "--headless", "--prompt", "say x", "--max", "1"],
        &["id", "loop"],
    ),
    (&["loop", "l", "--set", "max=2"], &["id", "loop"]),
    (&["plan", "new", GOAL, "--agent", "rehearsal", "--yes"], &["session", "draft"]),
    (&["plan", "add", "b", "--prompt", "say y", "--agent", "rehearsal"], &["path"]),
    (&["plan", "edit", "b", "--title", "More"], &["path"]),
    (&["plan", "check"], &["path", "faults"]),
    (&["plan", "rm", "b"], &["path"]),
    (&["execute"], &["id", "branch"]),
    (&["plan", "show"], &["path", "tasks"]),
    (&["plan", "add", "c", "--propose", "--prompt", "say z"], &["path"]),
    (&["plan", "approve", "c"], &["path"]),
    (&["plan", "ls"], &["id", "slug", "branch", "done", "at_rest"]),
    (&["plan", "clean", "none"], &[]),
    (&["runs"], RUN),
    (&["runs", "a"], RUN),
    (&["auto-yes", "test", "ls"], &["verdict", "rule"]),
    (&["auto-yes", "log"], &[]),
    (&["auto-yes", "suggest"], &[]),
    (&["config", "show"], &["key"]),
    (&["config", "path"], &["path"]),
    (&["config", "check"], &["path", "faults"]),
    (&["web", "pair"], &["url", "scope"]),
    (&["web", "token", "--name", "t", "--scope", "watch"], &["id", "token"]),
    (&["web", "devices"], &["id", "name"]),
    (&["web", "revoke", "t"], &["id"]),
    (&["doctor"], &["subject", "health", "message"]),
    (&["demo"], &["ok", "steps"]),
    (&["completions", "bash"], &["script"]),
    (&["man"], &["page"]),
    (&["help"], &["help"]),
    (&["help", "pause"], &["help"]),
    (&["--version"], &["version"]),
    (&["daemon", "install"], &["unit", "started"]),
    (&["daemon", "uninstall"], &["unit", "removed"]),
    (
        &["daemon", "status"],
        &["pid", "version", "home", "sessions", "uptime_secs", "gate", "log_id"],
    ),
    (&["daemon", "log"], &["path", "lines"]),
    (&["daemon", "stop"], &["stopped"]),
    (&["daemon", "stop"], &["stopped"]),
    (&["daemon", "start"], &["pid"]),
    (&["daemon", "stop", "--agents"], &["stopped"]),
];

/// The fields of a run.
const RUN: &[&str] = &[
    "schema_version",
    "run_id",
    "task_id",
    "state",
    "provider",
    "provider_session_ref",
    "resumable",
    "repo_root",
    "created_at",
    "updated_at",
    "paused_at",
    "pause_reason",
    "resumed_from_run_id",
    "restart_of_run_id",
    "superseded_by_run_id",
    "session_name",
    "fault",
    "accept_log",
];

/// What goes on until it is ended: a document when it is ready, and nothing more.
const SERVES: &[Line<'_>] = &[
    (&["daemon", "run"], &["ready", "pid"]),
    (&["web", "--listen", "127.0.0.1:0"], &["url", "address"]),
];

/// What fails, with its exit status, in a house without a session, a plan or a bot.
const FAILS: &[(&[&str], i32)] = &[
    (&["new", "x", "--agent", "nobody"], 2),
    (&["loop", "x", "--set", "max=2"], 3),
    (&["show", "nobody"], 3),
    (&["attach", "nobody"], 2),
    (&["send", "nobody", "x"], 3),
    (&["wait", "nobody", "--for", "idle"], 3),
    (&["pause", "nobody"], 3),
    (&["resume", "nobody"], 3),
    (&["restart", "nobody", "--yes"], 3),
    (&["stop", "nobody"], 3),
    (&["timeout", "nobody"], 3),
    (&["label", "nobody", "auth"], 3),
    (&["pin", "nobody"], 3),
    (&["snooze", "nobody", "2h"], 3),
    (&["budget", "nobody", "usd=5"], 3),
    (&["rm", "nobody"], 3),
    (&["answer", "nobody", "allow"], 3),
    (&["auto-yes", "nobody", "on"], 3),
    (&["auto-yes", "log", "nobody"], 3),
    (&["auto-yes", "test"], 2),
    (&["acknowledge", "nobody"], 3),
    (&["log", "nobody"], 3),
    (&["screen", "nobody"], 3),
    (&["output", "nobody"], 3),
    (&["snapshot", "nobody"], 3),
    (&["compact", "nobody"], 3),
    (&["snapshots", "nobody"], 3),
    (&["diff", "nobody"], 3),
    (&["restore", "nobody"], 3),
    (&["merge", "nobody"], 3),
    (&["trash", "restore", "nobody"], 3),
    (&["repo", "moved", "/nowhere", "."], 2),
    (&["trash", "empty", "nobody", "--yes"], 3),
    (&["plan", "check"], 3),
    (&["plan", "show"], 3),
    (&["plan", "edit", "a", "--title", "x"], 3),
    (&["plan", "rm", "a"], 3),
    (&["execute"], 3),
    (&["runs", "a"], 3),
    (&["web", "revoke", "nobody"], 3),
    (&["web", "--listen", "nowhere"], 2),
    (&["daemon", "run"], 4),
    (&["chat"], 1),
    (&["completions", "sh"], 2),
];

/// What prints other than one document, or is played where a task waits for it (`plans/judged.rs`).
const OTHERWISE: [&str; 8] = [
    "accept", // On a terminal alone.
    "attach", // It goes on until it is ended, and says everything in the chat.
    "chat",
    "judge",
    "reject",
    // Where a repository was moved (`plans/moved.rs`).
    "repo",
    "repo moved",
    "skip",
];

/// The verbs that the help of the program, or of one of its verbs, lists.
fn listed(house: &House, of: &[&str]) -> Outcome<Vec<String>> {
    let help = house.ok(&[&["help"], of].concat())?;
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    // What is further to the right goes on with what was said before.
    let lines = lines.take_while(|line| !line.is_empty()).filter_map(|line| {
        line.strip_prefix("  ").filter(|line| !line.starts_with(' '))?.split(' ').next()
    });
    Ok(lines.map(str::to_owned).collect())
}

/// Every verb of the program, and `VERB PART` for each part of one.
fn verbs(house: &House) -> Outcome<BTreeSet<String>> {
    let mut all = BTreeSet::new();
    for verb in listed(house, &[])? {
        if verb != "help" {
            let parts = listed(house, &[&verb])?;
            let parts = parts.iter().filter(|part| *part != "help");
            all.extend(parts.map(|part| format!("{verb} {part}")));
        }
        all.insert(verb);
    }
    Ok(all)
}

/// The verb of a line, and its first two words, which may be a part of one.
fn named<'l>(lines: impl Iterator<Item = &'l [&'l str]>) -> BTreeSet<String> {
    lines.flat_map(|line| [line[0].to_owned(), line[..line.len().min(2)].join(" ")]).collect()
}

fn has_keys(document: &Value, (args, keys): &Line<'_>) {
    let one = document.get(0).unwrap_or(document);
    for key in *keys {
        assert!(one.get(key).is_some(), "{args:?}: {key} is missing in {document}");
    }
}

/// The document of what goes on, which has nothing else to say until it is ended.
fn served(house: &House, args: &[&str]) -> Outcome<Value> {
    let mut server = Background::start(house.glis().arg("--json").args(args))?;
    let mut printed = BufReader::new(server.0.stdout.take().ok_or("no standard output")?);
    let mut line = String::new();
    printed.read_line(&mut line)?;
    server.0.kill()?;
    let mut rest = String::new();
    printed.read_to_string(&mut rest)?;
    assert_eq!(rest, "", "{args:?}");
    Ok(serde_json::from_str(&line).map_err(|fault| format!("{args:?}: {fault}: {line}"))?)
}

#[test]
fn every_verb_prints_exactly_one_document() -> Outcome {
    let house = house()?;
    let played = SESSION.iter().chain(REST).chain(SERVES).map(|(args, _)| *args);
    let played = named(played.chain([["events"].as_slice()]));
    let otherwise: BTreeSet<String> = OTHERWISE.map(str::to_owned).into();
    let missing: Vec<_> = verbs(&house)?.difference(&played).cloned().collect();
    assert_eq!(missing, Vec::from_iter(otherwise), "each verb has a line here, or a reason");
    for line in SESSION.iter().chain(REST) {
        let document = house.json(line.0).map_err(|fault| format!("{:?}: {fault}", line.0))?;
        has_keys(&document, line);
    }
    for line in SERVES {
        has_keys(&served(&house, line.0)?, line);
    }
    // Of events there is one a line.
    let events = house.ok(&["events", "--json"])?;
    let events = events.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
    assert!(events.len() > 10 && events.iter().all(Value::is_object));
    Ok(())
}

#[test]
fn every_verb_fails_with_exactly_one_document() -> Outcome {
    let house = house()?;
    house.ok(&["daemon", "start"])?;
    // A command that is judged may be any word.
    let takes_any = ["help", "auto-yes test"];
    for verb in verbs(&house)?.iter().filter(|verb| !takes_any.contains(&verb.as_str())) {
        let words: Vec<&str> = verb.split(' ').chain(["--no-such-option"]).collect();
        let (status, error) = house.fails(&words)?;
        assert_eq!((status, &error["kind"]), (2, &json!("usage")), "{verb}: {error}");
    }
    for (args, wanted) in FAILS {
        let (status, error) = house.fails(args)?;
        assert_eq!(status, *wanted, "{args:?}: {error}");
        for key in ["kind", "message", "hint"] {
            assert!(error[key].is_string(), "{args:?}: no {key} in {error}");
        }
    }
    Ok(())
}

#[test]
fn a_verb_that_fails_for_one_of_many_is_still_one_document() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "say hi")?;
    let output = house.glis().args(["--json", "pause", "blue", "nobody"]).output()?;
    assert_eq!(output.status.code(), Some(3));
    let document: Value = serde_json::from_slice(&output.stdout)?;
    assert_eq!(document[0]["status"], "paused");
    assert_eq!(document[1]["error"]["kind"], "not_found");
    assert_eq!(document.as_array().map(Vec::len), Some(2));
    Ok(())
}
