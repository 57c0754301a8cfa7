//! What scripts rely on: the fields, the words, the exit codes.

use crate::support::house::{Background, House, Lines, Outcome, kill_and_wait};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

/// The contract's fields of a session.
const FIELDS: [&str; 50] = [
    "id",
    "name",
    "status",
    "agent",
    "mode",
    "agent_session_ref",
    "resumable",
    "repo_root",
    "worktree",
    "branch",
    "pid",
    "created_at",
    "last_active_at",
    "paused_at",
    "pause_reason",
    "resumed_at",
    "idle_timeout_secs",
    "can_pause",
    "can_resume",
    "snapshot",
    "conversation_summary",
    "last_action",
    "pending_tasks",
    "queued",
    "waiting_for",
    "asks",
    "auto_yes",
    "generation",
    "former_refs",
    "last_accessed_at",
    "seen",
    "last_prompt",
    "seconds_since_activity",
    "is_compacted",
    "compacted_at",
    "changed_files",
    "tasks_done",
    "tasks_active",
    "tasks_open",
    "memory_bytes",
    "resume_at",
    "loop",
    "task",
    "plan",
    "was_asking",
    "labels",
    "pinned",
    "snoozed_until",
    "cost",
    "budget",
];
/// Those that a row of a list has at least.
const ROW: [&str; 21] = [
    "id",
    "name",
    "status",
    "agent",
    "mode",
    "repo_root",
    "worktree",
    "branch",
    "pid",
    "last_active_at",
    "seen",
    "waiting_for",
    "asks",
    "queued",
    "task",
    "plan",
    "loop",
    "changed_files",
    "labels",
    "pinned",
    "cost",
];
/// What a session tells beyond the contract.
const BEYOND: [&str; 41] = [
    "need",
    "draft",
    "elsewhere",
    "unmerged",
    "detached",
    "suspend_at",
    "verdict",
    "operation",
    "failure",
    "cut_off",
    "limit_until",
    "killed",
    "ended_processes",
    "stuck_processes",
    "kept_processes",
    "warnings",
    "pause_rule",
    "argv",
    "model",
    "persona",
    "permission_mode",
    "in_place",
    "base_branch",
    "attached",
    "output_gap_at",
    "setup_notes",
    "found",
    "restored",
    "unsaved",
    "worktree_removed",
    "record_damaged",
    "barred",
    "failed_starts",
    "judging",
    "waits_to_start",
    "remove_worktree",
    "keep_process",
    "process_kept",
    "went_on",
    "saying",
    "env_names",
];

/// Those that a session without a terminal has no value for when it is made.
const NULL_AT_FIRST: [&str; 16] = [
    "pid",
    "paused_at",
    "pause_reason",
    "resumed_at",
    "snapshot",
    "conversation_summary",
    "waiting_for",
    "changed_files",
    "last_accessed_at",
    "last_prompt",
    "compacted_at",
    "memory_bytes",
    "resume_at",
    "loop",
    "task",
    "plan",
];

/// Each of the contract's fields is there, whatever else a verb adds to a session.
fn has_all_fields(session: &Value) {
    for field in FIELDS {
        assert!(session.get(field).is_some(), "{field} is missing in {session}");
    }
}

/// As it is shown, a session has these fields and no others: one more is a decision.
fn has_these_fields(session: &Value) -> Outcome {
    let told = session.as_object().ok_or("no object")?.keys().map(String::as_str);
    let known = FIELDS.into_iter().chain(BEYOND);
    assert_eq!(told.collect::<BTreeSet<_>>(), known.collect::<BTreeSet<_>>());
    Ok(())
}

fn is_utc(time: &Value) -> bool {
    let time = time.as_str().unwrap_or_default();
    time.len() == 24 && time.ends_with('Z') && time.get(10..11) == Some("T")
}

#[test]
fn a_session_shows_every_field_through_its_whole_life() -> Outcome {
    let house = House::new()?;
    let created = house.json(&[
        "new",
        "blue",
        "--agent",
        "rehearsal",
        "--headless",
        "--idle-timeout",
        "10m",
        "--model",
        "m1",
    ])?;
    has_all_fields(&created);
    let repo = house.repo().canonicalize()?;
    for (field, wanted) in [
        ("name", json!("blue")),
        ("status", json!("created")),
        ("agent", json!("rehearsal")),
        ("mode", json!("headless")),
        ("repo_root", json!(repo)),
        ("branch", json!("glis/blue")),
        ("idle_timeout_secs", json!(600)),
        ("can_resume", json!(false)),
        ("pending_tasks", json!([])),
        ("queued", json!(0)),
        ("auto_yes", json!(false)),
        ("generation", json!(0)),
        ("asks", json!([])),
        ("was_asking", json!([])),
        ("former_refs", json!([])),
        ("is_compacted", json!(false)),
        ("tasks_done", json!(0)),
        ("tasks_active", json!(0)),
        ("tasks_open", json!(0)),
    ] {
        assert_eq!(created[field], wanted, "{field}");
    }
    for field in NULL_AT_FIRST {
        assert_eq!(created[field], Value::Null, "{field}");
    }
    assert!(is_utc(&created["created_at"]) && is_utc(&created["last_active_at"]));

    let idle = house.turn("blue", "todo one|two ;; write a.txt x")?;
    has_these_fields(&idle)?;
    assert_eq!(idle["last_prompt"], "todo one|two ;; write a.txt x");
    assert_eq!(idle["tasks_open"], 2);
    assert!(idle["memory_bytes"].is_u64() && idle["seconds_since_activity"].is_u64(), "{idle}");
    assert_eq!(idle["status"], "idle");
    assert_eq!(idle["generation"], 1);
    assert_eq!(idle["pending_tasks"], json!(["one", "two"]));
    assert_eq!((&idle["can_pause"], &idle["can_resume"]), (&json!(true), &json!(false)));
    assert!(idle["pid"].is_i64() && idle["agent_session_ref"].is_string());
    assert!(idle["conversation_summary"].is_string() && idle["last_action"].is_string());

    let paused = house.json(&["pause", "blue"])?;
    has_all_fields(&paused);
    assert_eq!(paused["status"], "paused");
    assert_eq!(paused["pause_reason"], "user");
    assert_eq!(paused["changed_files"], 1);
    assert_eq!(paused["pid"], Value::Null);
    assert_eq!((&paused["can_pause"], &paused["can_resume"]), (&json!(false), &json!(true)));
    assert!(is_utc(&paused["paused_at"]));

    let resumed = house.json(&["resume", "blue"])?;
    assert_eq!(resumed["generation"], 2);
    assert!(is_utc(&resumed["resumed_at"]));
    assert_eq!(resumed["paused_at"], Value::Null);
    assert_eq!(resumed["pause_reason"], Value::Null);
    Ok(())
}

#[test]
fn what_it_asks_and_how_its_loop_stands_have_every_field() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.ok(&["send", "blue", "approve go on?"])?;
    let waits = house.until("blue", "waiting")?;
    assert_eq!(waits["asks"][0], waits["waiting_for"]);
    let paused = house.json(&["pause", "blue", "--mode", "force"])?;
    assert_eq!(paused["was_asking"], waits["asks"]);
    for field in ["request", "kind", "text", "input", "choices", "since"] {
        assert!(waits["asks"][0].get(field).is_some(), "{field} is missing in {waits}");
    }
    let iterates = ["loop", "l", "--agent", "rehearsal", "--headless", "--prompt", "say x"];
    let iterates = house.json(&[&iterates[..], &["--max", "1"]].concat())?;
    for field in ["iteration", "max", "state", "failures", "cost"] {
        assert!(iterates["loop"].get(field).is_some(), "{field} is missing in {iterates}");
    }
    Ok(())
}

#[test]
fn the_list_has_the_same_fields_and_the_latest_activity_first() -> Outcome {
    let house = House::new()?;
    assert_eq!(house.json(&["ls"])?, json!([]));
    for name in ["one", "two", "three"] {
        house.rehearsal(name)?;
    }
    house.turn("one", "say hi")?;
    // Nothing more happens to it between the two looks.
    house.follow(1)?.until(|event| event["event"] == "worktree_saved")?;
    let list = house.json(&["ls"])?;
    let list = list.as_array().ok_or("no array")?;
    for session in list {
        let row = session.as_object().ok_or("no object")?;
        assert!(ROW.iter().all(|field| row.contains_key(*field)), "{session}");
        let is_known = |field: &String| FIELDS.iter().chain(&BEYOND).any(|known| known == field);
        assert!(row.keys().all(is_known), "{session}");
    }
    let names: Vec<_> = list.iter().map(|s| s["name"].as_str().unwrap_or_default()).collect();
    assert_eq!(names, ["one", "three", "two"]);
    let shown = house.show("one")?;
    // Whoever shows a session has looked at it; time passes, and memory comes and goes. When it is suspended is
    // reckoned from two clocks, of which one may be a millisecond further.
    let moves = [
        "last_accessed_at",
        "seen",
        "need",
        "seconds_since_activity",
        "memory_bytes",
        "suspend_at",
    ];
    has_these_fields(&shown)?;
    let row = list[0].as_object().ok_or("no object")?;
    for (field, value) in row.iter().filter(|(field, _)| !moves.contains(&field.as_str())) {
        assert_eq!(*value, shown[field], "{field}");
    }
    Ok(())
}

#[test]
fn every_status_word_can_be_met_and_waited_for() -> Outcome {
    let house = House::new()?;
    house.configure("[pause]\ninterrupt_secs = 1\n")?;
    // Whoever starts an agent looks at the repository with git first; this git can be held up.
    let gate = house.home().join("gate");
    let bin = house.repo().join("../bin");
    std::fs::create_dir_all(&bin)?;
    let git = String::from_utf8(std::process::Command::new("which").arg("git").output()?.stdout)?;
    let script = format!(
        "#!/bin/sh\nif [ -p {0} ]; then cat {0} >/dev/null; fi\nexec {1} \"$@\"\n",
        gate.display(),
        git.trim()
    );
    std::fs::write(bin.join("git"), script)?;
    std::fs::set_permissions(bin.join("git"), PermissionsExt::from_mode(0o755))?;
    let path = format!("{}:{}", bin.display(), std::env::var("PATH")?);
    assert!(house.glis().args(["daemon", "start"]).env("PATH", path).output()?.status.success());

    assert_eq!(house.rehearsal("blue")?["status"], "created");
    house.turn("blue", "say hello")?;
    house.ok(&["send", "blue", "work 600"])?;
    house.until("blue", "busy")?;
    let mut pause = house.glis();
    let _pause = Background::start(pause.args(["pause", "blue", "--mode", "boundary"]))?;
    house.until("blue", "pausing")?;
    house.ok(&["pause", "blue", "--cancel"])?;
    house.ok(&["pause", "blue"])?;
    house.until("blue", "paused")?;

    assert!(std::process::Command::new("mkfifo").arg(&gate).status()?.success());
    let mut resume = house.glis();
    let mut resume = Background::start(resume.args(["resume", "blue"]))?;
    let resuming = house.until("blue", "resuming")?;
    assert_eq!(resuming["operation"], "resume");
    // Two verbs at once: the one that cannot be joined with it is told so.
    assert_eq!(house.fails(&["rm", "blue"])?.0, 7);
    assert_eq!(house.fails(&["pause", "blue"])?.1["kind"], "busy");
    std::fs::rename(&gate, gate.with_extension("open"))?;
    // Opened both ways it waits for no reader: git may not have come to the gate before it was moved.
    let mut opened = std::fs::OpenOptions::new();
    opened.read(true).write(true).open(gate.with_extension("open"))?.write_all(b"go")?;
    assert!(resume.0.wait()?.success());
    house.until("blue", "idle")?;

    house.ok(&["send", "blue", "approve go?"])?;
    house.until("blue", "waiting")?;
    house.ok(&["stop", "blue"])?;
    house.until("blue", "suspended")?;
    house.ok(&["send", "blue", "work 600"])?;
    let busy = house.until("blue", "busy")?;
    kill_and_wait(i32::try_from(busy["pid"].as_i64().ok_or("no pid")?)?)?;
    house.until("blue", "interrupted")?;

    house.command("well", &["true"])?;
    house.until("well", "completed")?;
    house.command("ill", &["sh", "-c", "exit 3"])?;
    assert!(house.until("ill", "failed")?["failure"].as_str().is_some_and(|f| f.contains('3')));
    let id = house.show("ill")?["id"].as_str().ok_or("no id")?.to_owned();
    house.ok(&["rm", "ill"])?;
    assert_eq!(house.until(&id, "archived")?["name"], "ill");
    Ok(())
}

#[test]
fn errors_are_one_document_with_kind_message_and_hint_and_their_own_status() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.command("done", &["true"])?;
    house.until("done", "completed")?;
    let table: [(&[&str], i32, &str, &str); 28] = [
        (&["show", "nobody"], 3, "not_found", "nobody"),
        (&["show", ""], 3, "not_found", "``"),
        (&["attach", "blue"], 2, "usage", "terminal"),
        (&["send", "nobody", "x"], 3, "not_found", "nobody"),
        (&["send", "blue", ""], 2, "usage", "empty"),
        (&["send", "done", "x"], 4, "refused", "done"),
        (&["wait", "blue", "--for", "busy", "--timeout", "20ms"], 7, "timed_out", "blue"),
        (&["wait", "blue", "--for", "sleepy"], 2, "usage", "sleepy"),
        (&["wait", "blue"], 2, "usage", "--for"),
        (&["pause", "nobody"], 3, "not_found", "nobody"),
        (&["pause", "done"], 4, "refused", "done"),
        (&["pause"], 2, "usage", "NAMES"),
        (&["pause", "blue", "--cancel"], 4, "refused", "blue"),
        (&["resume", "blue"], 4, "refused", "blue"),
        (&["resume", "done"], 4, "refused", "done"),
        (&["restart", "done"], 2, "usage", "done"),
        (&["restart", "blue", "--yes"], 4, "refused", "blue"),
        (&["answer", "blue", "allow"], 4, "refused", "blue"),
        (&["rm", "nobody"], 3, "not_found", "nobody"),
        (&["new", "blue", "--agent", "rehearsal"], 4, "refused", "blue"),
        (&["new", "x", "--agent", "nobody"], 2, "usage", "nobody"),
        (&["new", "x", "--base", "nowhere", "--", "true"], 2, "usage", "nowhere"),
        (&["new", "x", "--repo", "/", "--", "true"], 2, "usage", "repository"),
        (&["new", "x", "--repo", "/nowhere", "--", "true"], 2, "usage", "/nowhere"),
        (&["new", "x", "--agent", "command"], 2, "usage", "--"),
        (&["new", "x", "--in-place", "--remove-worktree-on-pause"], 2, "usage", "in-place"),
        (&["new", "x", "--persona", "critic"], 2, "usage", "no persona"),
        (&["sing"], 2, "usage", "sing"),
    ];
    for (args, status, kind, part) in table {
        let (found, error) = house.fails(args)?;
        assert_eq!((found, error["kind"].as_str()), (status, Some(kind)), "{args:?}: {error}");
        let message = error["message"].as_str().unwrap_or_default();
        assert!(message.contains(part), "{args:?}: {message}");
        let hint = error["hint"].as_str().unwrap_or_default();
        assert!(!hint.is_empty(), "{args:?} gives no next step: {error}");
        let spoken = house.glis().args(args).output()?;
        assert_eq!(spoken.status.code(), Some(status), "{args:?} without --json");
        assert!(spoken.stdout.is_empty(), "{args:?} complains on standard output");
        assert!(String::from_utf8(spoken.stderr)?.starts_with("error: "), "{args:?}");
    }
    Ok(())
}

#[test]
fn streams_are_one_document_a_line() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let mut log = Lines::of(house.glis().args(["--json", "log", "blue", "--follow"]))?;
    house.ok(&["send", "blue", "say \u{e9}t\u{e9} ;; die 0"])?;
    assert_eq!(log.until(|e| e["type"] == "user")?["content"], "say \u{e9}t\u{e9} ;; die 0");
    assert_eq!(log.until(|e| e["type"] == "assistant")?["content"], "\u{e9}t\u{e9}");
    house.until("blue", "interrupted")?;
    let mut output = Lines::of(house.glis().args(["output", "blue", "--follow", "--json"]))?;
    let lines = output.rest()?;
    assert!(lines.iter().all(|l| l["offset"].is_u64() && l["text"].is_string()), "{lines:?}");
    Ok(())
}

#[test]
fn events_have_numbers_without_gaps_and_can_be_read_from_any_of_them() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "write a.txt x ;; say hi")?;
    house.kill_daemon()?;
    house.ok(&["pause", "blue"])?;
    let read = |args: &[&str]| -> Outcome<Vec<Value>> {
        let text = house.ok(args)?;
        Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
    };
    let all = read(&["events"])?;
    for (at, event) in all.iter().enumerate() {
        assert_eq!(event["seq"], at + 1);
        assert!(is_utc(&event["at"]), "{event}");
        assert!(event["session"].is_string() && event["event"].is_string(), "{event}");
    }
    assert_eq!(read(&["events", "--from", "5", "--json"])?, all[4..]);
    assert_eq!(read(&["events", "--from", "0"])?, all);
    assert_eq!(read(&["events", "--from", "999999"])?, Vec::<Value>::new());
    let mut follow = house.follow(all.len() as u64)?;
    assert_eq!(follow.until(|_| true)?, all[all.len() - 1]);
    house.ok(&["resume", "blue"])?;
    assert_eq!(follow.until(|_| true)?["seq"], all.len() + 1);
    Ok(())
}

#[test]
fn a_session_answers_to_its_name_its_id_and_a_unique_beginning_of_it() -> Outcome {
    let house = House::new()?;
    let id = house.rehearsal("blue")?["id"].as_str().ok_or("no id")?.to_owned();
    let begin = id.get(..8).ok_or("short id")?.to_owned();
    for given in ["blue", id.as_str(), begin.as_str()] {
        assert_eq!(house.show(given)?["id"], id.as_str());
    }
    let other = house.rehearsal("red")?["id"].as_str().ok_or("no id")?.to_owned();
    let shared = id.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let (status, error) = house.fails(&["show", id.get(..shared).ok_or("short id")?])?;
    assert_eq!(status, 3);
    assert!(error["message"].as_str().is_some_and(|m| m.contains("more than one")), "{error}");
    assert_eq!(house.show(id.get(..=shared).ok_or("short id")?)?["name"], "blue");
    Ok(())
}

#[test]
fn without_arguments_there_is_help_and_no_daemon() -> Outcome {
    let house = House::new()?;
    let help = house.ok(&[])?;
    assert!(help.contains("Exit codes") && help.contains("pause"), "{help}");
    let words: Vec<&str> = help.split_whitespace().collect();
    assert!(words.join(" ").contains("3 no such session, task or run, 4"), "{help}");
    assert!(!house.home().exists(), "help made a home");
    assert!(house.ok(&["--version"])?.starts_with("glis "));
    assert!(house.ok(&["help", "pause"])?.contains("--mode"));
    let (status, error) = house.fails(&["daemon", "status"])?;
    assert_eq!((status, error["kind"].as_str()), (8, Some("no_daemon")));
    assert!(!house.home().exists(), "a look at the daemon made a home");
    Ok(())
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    for args in [&["ls"][..], &["events"], &["output", "blue"], &["show", "blue"], &["man"]] {
        // A pipe whose reading end is closed before anything is written.
        let (reader, writer) = std::io::pipe()?;
        drop(reader);
        let output = house
            .glis()
            .args(args)
            .stdout(writer)
            .stderr(Stdio::piped())
            .spawn()?
            .wait_with_output()?;
        let said = String::from_utf8(output.stderr)?;
        assert_eq!((output.status.code(), said.as_str()), (Some(0), ""), "{args:?}");
    }
    Ok(())
}

#[test]
fn a_session_that_was_never_resumed_has_no_time_of_it() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    assert_eq!(house.turn("blue", "say hi")?["resumed_at"], Value::Null);
    Ok(())
}
