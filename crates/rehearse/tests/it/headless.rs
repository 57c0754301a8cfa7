//! Headless conversations from end to end.

use std::process::Command;

use rustix::process::{Pid, Signal, test_kill_process};
use serde_json::{Value, json};

use crate::rehearsal::{Rehearsal, Stage, Tested};

/// Collects what is said up to `ready`, without times, one line each.
fn exchange(agent: &mut Rehearsal) -> Tested<Vec<String>> {
    let mut said = Vec::new();
    loop {
        let mut line = agent.next()?;
        if line["type"] == "ready" {
            return Ok(said);
        }
        if let Some(fields) = line.as_object_mut() {
            fields.retain(|name, _| name != "at" && name != "n");
        }
        said.push(line.to_string());
    }
}

fn pid_in(ended: &Value) -> Tested<Pid> {
    let output = ended["output"].as_str().unwrap_or_default();
    let number = output.trim().trim_start_matches("pid ").parse()?;
    Pid::from_raw(number).ok_or_else(|| format!("no pid in {ended}").into())
}

fn gone(pid: Pid) -> bool {
    test_kill_process(pid).is_err()
}

#[test]
fn a_conversation_is_answered_and_recorded() -> Tested {
    let stage = Stage::new()?;
    let mut agent = stage.headless(&["--session-id", "a", "--model", "m"])?;
    assert_eq!(
        agent.next()?,
        json!({ "type": "session", "id": "a", "model": "m", "resumed": false })
    );
    assert_eq!(agent.next()?, json!({ "type": "ready" }));
    assert!(!stage.transcript("a").exists());
    agent.send(&json!({ "type": "user", "text": "hello", "id": "x1" }))?;
    assert_eq!(
        exchange(&mut agent)?,
        [
            r#"{"id":"x1","text":"hello","type":"user"}"#,
            r#"{"type":"turn_started"}"#,
            r#"{"text":"You said: hello","type":"text"}"#,
            r#"{"result":"done","type":"turn_ended"}"#,
        ]
    );
    agent.close_stdin();
    assert_eq!(agent.end()?, 0);
    assert_eq!(stage.recorded("a")?, ["user", "turn_started", "text", "turn_ended"]);
    Ok(())
}

#[test]
fn file_tools_do_what_they_say() -> Tested {
    let stage = Stage::new()?;
    let mut agent = stage.headless(&[])?;
    agent.until("ready")?;
    agent.tell("write d/f one\\ntwo ;; append d/f \\nthree ;; edit d/f two => 2 ;; write g x")?;
    let said = exchange(&mut agent)?;
    assert!(!said.iter().any(|line| line.contains(r#""ok":false"#)), "{said:?}");
    assert_eq!(std::fs::read_to_string(stage.path("d/f"))?, "one\n2\nthree");
    agent.tell("delete g\nedit d/f nine => 9\nrun echo hi; exit 3")?;
    let mut ends = Vec::new();
    for _ in 0..3 {
        let ended = agent.until("tool_ended")?;
        ends.push((ended["ok"] == true, ended["output"].as_str().unwrap_or_default().to_owned()));
    }
    assert!(!stage.path("g").exists());
    assert_eq!(
        ends,
        [
            (true, "deleted g".to_owned()),
            (false, "d/f does not contain the old text".to_owned()),
            (false, "hi\n[exit status: 3]".to_owned()),
        ]
    );
    Ok(())
}

#[test]
fn messages_sent_while_busy_are_taken_in_order() -> Tested {
    let stage = Stage::new()?;
    let mut agent = stage.headless(&["work 0.05"])?;
    agent.tell("second")?;
    agent.tell("third")?;
    let texts = [agent.until("user")?, agent.until("user")?, agent.until("user")?];
    assert_eq!(texts.each_ref().map(|it| it["text"].clone()), ["work 0.05", "second", "third"]);
    agent.close_stdin();
    assert_eq!(agent.end()?, 0);
    Ok(())
}

#[test]
fn an_interrupt_ends_the_turn_and_its_tool() -> Tested {
    let stage = Stage::new()?;
    let mut agent = stage.headless(&["--session-id", "a"])?;
    assert!(Command::new("mkfifo").arg(stage.path("pid")).status()?.success());
    agent.tell("run echo $$ > pid; exec sleep 600 ;; say never")?;
    let pid: i32 = std::fs::read_to_string(stage.path("pid"))?.trim().parse()?;
    agent.send(&json!({ "type": "interrupt" }))?;
    let ended = agent.until("tool_ended")?;
    assert_eq!(ended["ok"], false);
    assert_eq!(agent.next()?["result"], "interrupted");
    assert!(gone(Pid::from_raw(pid).ok_or("no pid")?));
    agent.until("ready")?;
    agent.tell("still here")?;
    assert_eq!(agent.until("text")?["text"], "You said: still here");
    Ok(())
}

#[test]
fn the_interrupt_signal_ends_a_turn_and_then_an_idle_agent() -> Tested {
    let stage = Stage::new()?;
    let mut agent = stage.headless(&["work 600"])?;
    agent.until("turn_started")?;
    agent.signal(Signal::INT)?;
    assert_eq!(agent.until("turn_ended")?["result"], "interrupted");
    agent.until("ready")?;
    agent.signal(Signal::INT)?;
    assert_eq!(agent.end()?, 0);
    Ok(())
}

#[test]
fn terminate_ends_the_agent_mid_turn_without_a_word() -> Tested {
    let stage = Stage::new()?;
    let mut agent = stage.headless(&["--session-id", "a", "run sleep 600"])?;
    agent.until("tool_started")?;
    agent.signal(Signal::TERM)?;
    assert_eq!(agent.end()?, 143);
    assert_eq!(stage.recorded("a")?, ["user", "turn_started", "tool_started"]);
    Ok(())
}

#[test]
fn terminate_reaches_an_agent_whose_reader_is_stuck() -> Tested {
    let stage = Stage::new()?;
    let mut agent = stage.headless(&["flood 100"])?;
    agent.until("turn_started")?;
    agent.signal(Signal::TERM)?;
    assert_eq!(agent.end_unheard()?, 143);
    Ok(())
}

#[test]
fn an_agent_can_be_deaf_to_signals() -> Tested {
    let stage = Stage::new()?;
    let mut agent = stage.headless(&["ignore int ;; ignore term ;; say deaf ;; work 0.2"])?;
    agent.until("text")?;
    agent.signal(Signal::TERM)?;
    agent.signal(Signal::INT)?;
    agent.send(&json!({ "type": "interrupt" }))?;
    assert_eq!(agent.until("turn_ended")?["result"], "done");
    agent.tell("ignore none ;; say I hear ;; work 600")?;
    agent.until("text")?;
    agent.signal(Signal::TERM)?;
    assert_eq!(agent.end()?, 143);
    Ok(())
}

#[test]
fn asks_wait_for_their_answers() -> Tested {
    let stage = Stage::new()?;
    let mut agent =
        stage.headless(&["question colour? ;; approve rm ;; approve mv ;; say never"])?;
    for (kind, answer) in [("question", "blue"), ("approval", "allow"), ("approval", "deny")] {
        let ask = agent.until("ask")?;
        assert_eq!(ask["kind"], kind);
        agent.send(&json!({ "type": "answer", "id": "other", "answer": "x" }))?;
        assert_eq!(agent.until("complaint")?["kind"], "unknown_ask");
        agent.send(&json!({ "type": "answer", "id": ask["id"], "answer": answer }))?;
        let gone = agent.next()?;
        assert_eq!((&gone["type"], &gone["id"]), (&json!("ask_gone"), &ask["id"]));
        assert_eq!(gone["answer"], answer);
    }
    assert_eq!(agent.next()?["result"], "refused");
    Ok(())
}

#[test]
fn an_interrupted_ask_is_gone_without_an_answer() -> Tested {
    let stage = Stage::new()?;
    let mut agent = stage.headless(&["approve rm"])?;
    agent.until("ask")?;
    agent.send(&json!({ "type": "interrupt" }))?;
    assert_eq!(agent.until("ask_gone")?["answer"], Value::Null);
    assert_eq!(agent.next()?["result"], "interrupted");
    Ok(())
}

#[test]
fn a_resumed_agent_remembers() -> Tested {
    let stage = Stage::new()?;
    let mut first = stage.headless(&["--session-id", "a", "one\ntwo"])?;
    first.until("ready")?;
    first.close_stdin();
    assert_eq!(first.end()?, 0);
    let mut second = stage.headless(&["--resume", "a"])?;
    assert_eq!(second.next()?["resumed"], true);
    assert_eq!(second.next()?["type"], "resumed");
    second.until("ready")?;
    second.tell("recall")?;
    assert_eq!(second.until("text")?["text"], "I remember 2 messages:\none\\ntwo\nrecall");
    second.until("ready")?;
    assert_eq!(stage.recorded("a")?.len(), 9);
    Ok(())
}

#[test]
fn wrong_ids_are_refused() -> Tested {
    let stage = Stage::new()?;
    let mut agent = stage.headless(&["--resume", "b"])?;
    let message = "No conversation found with session ID: b";
    assert_eq!(
        agent.next()?,
        json!({ "type": "error", "kind": "unknown_session", "message": message })
    );
    assert_eq!((agent.end()?, agent.complaint()?), (1, message.to_owned()));
    stage.headless(&["--session-id", "a", "hi"])?.until("turn_ended")?;
    let mut agent = stage.headless(&["--session-id", "a"])?;
    assert_eq!(agent.end()?, 1);
    assert_eq!(agent.complaint()?, "Session ID a is already in use.");
    let mut agent = stage.headless(&["--resume", "a", "--misbehave", "refuse-resume"])?;
    assert_eq!((agent.end()?, agent.complaint()?), (1, "cannot resume".to_owned()));
    Ok(())
}

#[test]
fn ids_come_late_never_or_changed_on_request() -> Tested {
    let stage = Stage::new()?;
    let late = ["--session-id", "a", "--misbehave", "late-id=600"];
    let mut agent = stage.headless(&late)?;
    assert_eq!(agent.next()?["type"], "ready");
    agent.tell("hi")?;
    agent.until("turn_started")?;
    assert_eq!(agent.next()?["id"], "a");
    agent.until("ready")?;
    let mut agent = stage.headless(&["--misbehave", "late-id=0.01"])?;
    assert_eq!(agent.next()?["type"], "ready");
    assert_eq!(agent.next()?["type"], "session");
    let mut agent = stage.headless(&["--misbehave", "never-id", "hi"])?;
    assert!(!exchange(&mut agent)?.iter().any(|line| line.contains("session")));
    let mut agent = stage.headless(&["--resume", "a", "--misbehave", "change-id", "recall"])?;
    let id = agent.next()?["id"].as_str().unwrap_or_default().to_owned();
    assert_ne!(id, "a");
    assert_eq!(agent.until("text")?["text"], "I remember 2 messages:\nhi\nrecall");
    assert!(stage.transcript(&id).exists());
    Ok(())
}

#[test]
fn a_resumed_agent_says_nothing_on_request_and_still_listens() -> Tested {
    let stage = Stage::new()?;
    let mut agent = stage.headless(&["--session-id", "a", "--misbehave", "mute-resume"])?;
    agent.until("ready")?;
    agent.tell("hi")?;
    agent.until("turn_ended")?;
    let mut agent = stage.headless(&["--resume", "a", "--misbehave", "mute-resume"])?;
    agent.tell("recall")?;
    assert_eq!(agent.next()?["type"], "user", "its first word is about the message");
    assert_eq!(agent.until("text")?["text"], "I remember 2 messages:\nhi\nrecall");
    Ok(())
}

#[test]
fn agents_die_in_many_ways() -> Tested {
    let stage = Stage::new()?;
    let fates: [(&[&str], i32); 4] = [
        (&["die 7"], 7),
        (&["crash"], -9),
        (&["--misbehave", "exit-at-once=5"], 5),
        (&["--session-id", "a", "--misbehave", "no-transcript", "hi"], 1),
    ];
    for (args, status) in fates {
        assert_eq!(stage.headless(args)?.end()?, status, "{args:?}");
    }
    assert!(!stage.transcript("a").exists());
    Ok(())
}

#[test]
fn a_limit_ends_the_turn_with_its_reset_time() -> Tested {
    let stage = Stage::new()?;
    let mut agent = stage.headless(&["limit 2030-01-01T00:00:00Z ;; say never"])?;
    assert_eq!(agent.until("limit")?["reset_at"], "2030-01-01T00:00:00Z");
    assert_eq!(agent.next()?["result"], "limit");
    Ok(())
}

#[test]
fn a_stream_comes_in_words_and_stops_when_interrupted() -> Tested {
    let stage = Stage::new()?;
    let mut agent = stage.headless(&["todo a | b ;; stream 3 1000"])?;
    assert_eq!(agent.until("todo")?["items"], json!(["a", "b"]));
    for word in ["word1", "word2", "word3"] {
        assert_eq!(agent.next()?["text"], word);
    }
    agent.until("ready")?;
    agent.tell("stream 1000000 100")?;
    agent.until("text")?;
    agent.send(&json!({ "type": "interrupt" }))?;
    assert_eq!(agent.until("turn_ended")?["result"], "interrupted");
    Ok(())
}

#[test]
fn a_long_edit_can_be_caught_in_the_middle() -> Tested {
    let stage = Stage::new()?;
    let mut agent = stage.headless(&["touch-slowly f 1000000 100"])?;
    agent.until("tool_started")?;
    agent.signal(Signal::INT)?;
    let ended = agent.until("tool_ended")?;
    assert_eq!(ended["ok"], false);
    let lines = std::fs::read_to_string(stage.path("f")).unwrap_or_default().lines().count();
    assert_eq!(ended["output"], format!("interrupted after {lines} lines"));
    Ok(())
}

#[test]
fn an_orphan_outlives_the_agent_and_background_work_does_not() -> Tested {
    let stage = Stage::new()?;
    let mut agent = stage.headless(&["orphan 600 ;; background 600 ;; background 0.01"])?;
    let orphan = pid_in(&agent.until("tool_ended")?)?;
    assert_eq!(agent.until("background")?["running"], 1);
    let background = pid_in(&agent.until("tool_ended")?)?;
    assert_eq!(agent.until("background")?["running"], 2);
    assert_eq!(agent.until("background")?["running"], 1);
    agent.close_stdin();
    assert_eq!(agent.end()?, 0);
    assert!(!gone(orphan));
    rustix::process::kill_process(orphan, Signal::KILL)?;
    // Killed for certain, but whoever adopted it may take a moment to bury it.
    while !gone(background) {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", background.as_raw_nonzero()));
        if stat.is_ok_and(|stat| stat.contains(") Z ")) {
            break;
        }
        std::thread::yield_now();
    }
    Ok(())
}

#[test]
fn noise_garbage_and_floods_leave_the_lines_after_them_whole() -> Tested {
    let stage = Stage::new()?;
    let mut agent = stage.headless(&["--session-id", "a", "garbage 500 ;; flood 1 ;; say end"])?;
    agent.see("turn_started")?;
    let seen = agent.see("\"text\":\"end\"")?;
    assert!(seen.len() > 1_000_000);
    agent.next_line()?;
    assert_eq!(agent.until("turn_ended")?["result"], "done");
    assert_eq!(stage.recorded("a")?, ["user", "turn_started", "text", "turn_ended"]);
    agent.tell("noise")?;
    agent.until("turn_started")?;
    assert_eq!(agent.next_line()?.as_deref(), Some(">"));
    agent.signal(Signal::INT)?;
    assert_eq!(agent.until("turn_ended")?["result"], "interrupted");
    Ok(())
}

#[test]
fn nonsense_on_stdin_is_answered_with_a_complaint() -> Tested {
    let stage = Stage::new()?;
    let mut agent = stage.headless(&[])?;
    agent.press("what?\n")?;
    assert_eq!(agent.until("complaint")?["kind"], "bad_input");
    agent.tell("hi")?;
    assert_eq!(agent.until("turn_ended")?["result"], "done");
    Ok(())
}
