//! The verbs on each kind of agent: without a terminal, in one, and any program.

use crate::support::house::{Background, House, Outcome, await_gone, lives};
use crate::support::skip::skip;
use crate::support::wreck::pid_of;
use serde_json::{Value, json};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// The two faces of the rehearsal agent.
pub(super) const FACES: [&[&str]; 2] = [&["--headless"], &[]];

/// A rehearsal session that has answered once.
pub(super) fn awake(house: &House, face: &[&str]) -> Outcome<Value> {
    house.json(&[&["new", "blue", "--agent", "rehearsal"], face].concat())?;
    house.turn("blue", "say hello")
}

#[test]
fn a_pause_in_each_mode_ends_the_process_and_keeps_the_session() -> Outcome {
    for face in FACES {
        let house = House::new()?;
        let idle = awake(&house, face)?;
        for mode in ["interrupt", "force", "boundary"] {
            house.ok(&[
                "send",
                "blue",
                if mode == "boundary" { "work 0.3" } else { "work 600" },
            ])?;
            let busy = house.until("blue", "busy")?;
            let paused = house.json(&["pause", "blue", "--mode", mode])?;
            assert_eq!((&paused["status"], &paused["pid"]), (&json!("paused"), &Value::Null));
            assert_eq!(paused["already"], false);
            assert_eq!(paused["agent_session_ref"], idle["agent_session_ref"]);
            await_gone(pid_of(&busy)?)?;
            assert_eq!(house.json(&["pause", "blue"])?["already"], true);
            assert_eq!(house.json(&["resume", "blue"])?["already"], false);
            house.until("blue", "idle")?;
        }
        let pauses = house.events(idle["id"].as_str().unwrap_or_default())?;
        assert_eq!(pauses.iter().filter(|event| *event == "paused").count(), 3);
    }
    Ok(())
}

#[test]
fn a_pause_that_waits_for_the_turn_can_be_called_off_and_can_be_hastened() -> Outcome {
    let house = House::new()?;
    awake(&house, FACES[0])?;
    house.ok(&["send", "blue", "work 600"])?;
    let busy = house.until("blue", "busy")?;
    let waiting = || {
        let mut pause = house.glis();
        let pause =
            Background::start(pause.args(["--json", "pause", "blue", "--mode", "boundary"]));
        pause.map_err(Into::into).and_then(|pause| house.until("blue", "pausing").map(|_| pause))
    };
    let mut first = waiting()?;
    let cancelled = house.json(&["pause", "blue", "--cancel"])?;
    assert_eq!((&cancelled["status"], &cancelled["pid"]), (&json!("busy"), &busy["pid"]));
    assert_eq!(first.0.wait()?.code(), Some(4));
    let mut second = waiting()?;
    // Whoever asks with more force joins the pause, and both are told of the one end.
    assert_eq!(house.json(&["pause", "blue", "--mode", "force"])?["status"], "paused");
    assert_eq!(second.0.wait()?.code(), Some(0));
    Ok(())
}

#[test]
fn an_agent_that_ignores_interrupts_is_not_paused_by_one_and_goes_on() -> Outcome {
    let house = House::of_moved_time()?;
    house.configure("[pause]\nsafe_state_secs = 1\nterminate_secs = 1\n")?;
    for (name, face) in [("blue", FACES[0]), ("red", FACES[1])] {
        house.json(&[&["new", name, "--agent", "rehearsal"], face].concat())?;
        house.turn(name, "ignore int")?;
        house.ok(&["send", name, "work 600"])?;
        let busy = house.until(name, "busy")?;
        let paused = house.out_of_time("safe_state", || house.fails(&["pause", name]));
        let (status, error) = paused?;
        assert_eq!((status, error["kind"].as_str()), (5, Some("not_safe")));
        assert!(error["message"].as_str().is_some_and(|m| m.contains("Agent not in safe state")));
        assert!(error["hint"].as_str().is_some_and(|h| h.contains("--mode force")), "{error}");
        let still = house.show(name)?;
        assert_eq!((&still["status"], &still["pid"]), (&json!("busy"), &busy["pid"]));
        assert_eq!(house.json(&["pause", name, "--mode", "force"])?["status"], "paused");
    }
    Ok(())
}

#[test]
fn a_pause_that_meets_a_message_on_its_way_waits_for_the_turn_that_it_begins() -> Outcome {
    for face in FACES {
        let house = House::new()?;
        awake(&house, face)?;
        for n in 0..5 {
            let file = format!("{n}.txt");
            house.ok(&["send", "blue", &format!("work 0.1 ;; write {file} x")])?;
            // Nothing else is waited for: the message is being handed over right now.
            let paused = house.json(&["pause", "blue", "--mode", "boundary"])?;
            assert!(house.file("blue", &file)?.exists(), "{n}: its turn was cut off: {paused}");
            house.ok(&["resume", "blue"])?;
            house.until("blue", "idle")?;
        }
    }
    Ok(())
}

#[test]
fn a_silent_command_without_a_prompt_is_not_safe_to_interrupt() -> Outcome {
    let house = House::of_moved_time()?;
    house.configure("[pause]\nsafe_state_secs = 1\nterminate_secs = 1\n")?;
    house.command("deaf", &["sh", "-c", "trap '' INT; echo on; exec sleep 600"])?;
    let refused = house.out_of_time("safe_state", || house.fails(&["pause", "deaf"]));
    assert_eq!(refused?.0, 5);
    let paused = house.json(&["pause", "deaf", "--mode", "force"])?;
    assert_eq!(paused["status"], "paused");
    let resumed = house.json(&["resume", "deaf"])?;
    assert_eq!((&resumed["generation"], &resumed["agent_session_ref"]), (&json!(2), &Value::Null));
    let said = house.ok(&["pause", "deaf", "--mode", "force"])?;
    assert!(said.contains("Resume with: glis resume deaf"), "{said}");
    assert!(house.ok(&["resume", "deaf"])?.contains("its command was started again"));
    Ok(())
}

#[test]
fn two_resumes_at_once_start_one_process() -> Outcome {
    for face in FACES {
        let house = House::new()?;
        awake(&house, face)?;
        house.ok(&["pause", "blue"])?;
        let resumes = (0..4)
            .map(|_| Background::start(house.glis().args(["--json", "resume", "blue"])))
            .collect::<Result<Vec<_>, _>>()?;
        for mut resume in resumes {
            assert!(resume.0.wait()?.success());
        }
        let session = house.until("blue", "idle")?;
        assert_eq!(session["generation"], 2);
        let id = session["id"].as_str().unwrap_or_default();
        let started = house.events(id)?;
        assert_eq!(started.iter().filter(|event| *event == "process_started").count(), 2);
        assert_eq!(house.json(&["resume", "blue"])?["already"], true);
    }
    Ok(())
}

#[test]
fn a_restart_begins_a_fresh_conversation_in_the_same_place() -> Outcome {
    for face in FACES {
        let house = House::new()?;
        let args = ["new", "blue", "--agent", "rehearsal", "--prompt", "write a.txt kept"];
        house.json(&[&args[..], face].concat())?;
        house.follow(1)?.until(|e| e["event"] == "turn_ended")?;
        let first = house.turn("blue", "todo mend it|test it")?;
        house.ok(&["stop", "blue"])?;
        assert_eq!(house.fails(&["restart", "blue"])?.0, 2);

        let fresh = house.json(&["restart", "blue", "--yes"])?;
        assert_ne!(fresh["agent_session_ref"], first["agent_session_ref"]);
        assert_eq!(fresh["worktree"], first["worktree"]);
        // The canonical prompt again, in a conversation that knows of nothing else.
        house.follow(1)?.until(|e| e["event"] == "start_ended" && e["cause"] == "restart")?;
        house.turn("blue", "recall")?;
        let said = house.talk("blue")?.pop().ok_or("nothing said")?.1;
        assert!(said.starts_with("I remember 2 messages:\nwrite a.txt kept"), "{said}");

        house.ok(&["stop", "blue"])?;
        house.json(&["restart", "blue", "--yes", "--with-context"])?;
        house.turn("blue", "say done")?;
        let told = house.talk("blue")?;
        let (_, context) = told
            .iter()
            .rfind(|(voice, text)| voice == "user" && text.contains("## Session Context"))
            .ok_or("no context was given")?;
        assert!(context.starts_with("You are resuming a previously paused session."), "{context}");
        assert!(context.contains("1. mend it\n2. test it"), "{context}");
    }
    Ok(())
}

#[test]
fn a_stop_keeps_the_session_and_a_second_one_changes_nothing() -> Outcome {
    for face in FACES {
        let house = House::new()?;
        let before = awake(&house, face)?;
        let stopped = house.json(&["stop", "blue"])?;
        assert_eq!(stopped["status"], "suspended");
        await_gone(pid_of(&before)?)?;
        assert_eq!(house.json(&["stop", "blue"])?["already"], true);
        house.turn("blue", "recall")?;
        let said = house.talk("blue")?.pop().ok_or("nothing said")?.1;
        assert!(said.starts_with("I remember 2 messages:"), "{said}");
    }
    Ok(())
}

#[test]
fn what_cannot_be_resumed_says_why_and_stays_as_it_was() -> Outcome {
    let house = House::new()?;
    let start = |name: &str, misbehave: &str| -> Outcome<Value> {
        let args = ["new", name, "--agent", "rehearsal", "--headless", "--", "--misbehave"];
        house.json(&[&args[..], &[misbehave]].concat())?;
        house.turn(name, "say hi")?;
        house.json(&["pause", name])
    };
    let refused = |name: &str, kind: &str, part: &str| -> Outcome {
        let (status, error) = house.fails(&["resume", name])?;
        assert_eq!((status, error["kind"].as_str()), (6, Some(kind)), "{name}: {error}");
        let message = error["message"].as_str().unwrap_or_default();
        assert!(message.contains(part) && message.contains(name), "{message}");
        let hint = error["hint"].as_str().unwrap_or_default();
        assert!(hint.contains(&format!("glis restart {name}")), "{hint}");
        assert_eq!(house.show(name)?["status"], "paused");
        Ok(())
    };
    let nameless = start("nameless", "never-id")?;
    assert_eq!((&nameless["resumable"], &nameless["can_resume"]), (&json!(false), &json!(false)));
    refused("nameless", "no_ref", "never told its session id")?;
    start("stubborn", "refuse-resume")?;
    refused("stubborn", "rejected", "rejects its session id")?;

    house.rehearsal("empty")?;
    house.turn("empty", "say hi")?;
    let paused = house.json(&["pause", "empty"])?;
    let id = paused["agent_session_ref"].as_str().ok_or("no ref")?;
    let transcript = house.home().join("rehearsal").join(format!("{id}.jsonl"));
    let vault = house.home().join("sessions").join(paused["id"].as_str().ok_or("no id")?);
    let vault = vault.join("vault");
    std::fs::remove_file(&transcript)?;
    std::fs::rename(&vault, vault.with_extension("away"))?;
    let lost = house.show("empty")?;
    assert_eq!((&lost["resumable"], &lost["can_resume"]), (&json!(false), &json!(false)));
    assert!(
        lost["warnings"][0].as_str().is_some_and(|w| w.contains("a resume will fail")),
        "{lost}"
    );
    refused("empty", "no_transcript", "transcript is not there")?;
    std::fs::rename(vault.with_extension("away"), &vault)?;
    let back = house.show("empty")?;
    assert_eq!((&back["resumable"], &back["warnings"]), (&json!(true), &json!([])));
    assert_eq!(house.json(&["resume", "empty"])?["agent_session_ref"], id);

    house.rehearsal("homeless")?;
    house.turn("homeless", "say hi")?;
    let worktree = house.file("homeless", "")?;
    house.json(&["pause", "homeless"])?;
    std::fs::rename(&worktree, house.repo().join("../away"))?;
    house.forget_snapshots()?;
    refused("homeless", "no_directory", "directory is not there")?;

    let program = house.repo().join("../program");
    std::fs::copy("/bin/cat", &program)?;
    house.command("tool", &[program.to_str().ok_or("path")?])?;
    house.json(&["pause", "tool", "--mode", "force"])?;
    std::fs::remove_file(&program)?;
    refused("tool", "not_installed", "program is not there")
}

#[test]
fn a_command_is_judged_by_its_exit_status() -> Outcome {
    let house = House::new()?;
    house.command("well", &["sh", "-c", "echo fine"])?;
    let well = house.until("well", "completed,failed")?;
    assert_eq!((&well["status"], &well["pid"]), (&json!("completed"), &Value::Null));
    house.command("ill", &["sh", "-c", "exit 7"])?;
    let ill = house.until("ill", "completed,failed")?;
    assert_eq!(ill["status"], "failed");
    assert!(ill["failure"].as_str().is_some_and(|why| why.contains('7')), "{ill}");
    let (status, error) = house.fails(&["new", "none", "--agent", "command", "--", "no-such-x"])?;
    assert_eq!((status, error["kind"].as_str()), (1, Some("failed")), "{error}");
    assert!(error["message"].as_str().is_some_and(|m| m.contains("no-such-x")), "{error}");
    assert_eq!(house.show("none")?["status"], "failed");
    let restarted = house.json(&["restart", "well", "--yes"])?;
    assert_eq!(restarted["generation"], 2);
    house.until("well", "completed")?;
    Ok(())
}

#[test]
fn a_first_start_that_failed_says_why_in_words() -> Outcome {
    let house = House::new()?;
    house.fails(&["new", "none", "--agent", "command", "--", "no-such-x"])?;
    let failure = house.show("none")?["failure"].as_str().unwrap_or_default().to_owned();
    assert!(failure.contains("no-such-x") && !failure.contains("NotInstalled("), "{failure}");
    Ok(())
}

#[test]
fn a_message_that_cannot_wake_its_session_waits_and_says_why() -> Outcome {
    let house = House::new()?;
    awake(&house, FACES[0])?;
    house.ok(&["stop", "blue"])?;
    let worktree = house.file("blue", "")?;
    house.follow(1)?.until(|e| e["occasion"] == "process_ended")?;
    house.forget_snapshots()?;
    std::fs::rename(&worktree, house.repo().join("../away"))?;
    house.ok(&["send", "blue", "say lost?"])?;
    house.follow(1)?.until(|e| e["event"] == "start_failed")?;
    let session = house.show("blue")?;
    assert_eq!((&session["status"], &session["queued"]), (&json!("suspended"), &json!(1)));
    std::fs::rename(house.repo().join("../away"), &worktree)?;
    let shown = house.ok(&["show", "blue"])?;
    assert!(shown.contains("directory"), "{shown}");
    Ok(())
}

#[test]
fn stopping_the_daemon_leaves_agents_running_unless_it_is_told_otherwise() -> Outcome {
    let house = House::new()?;
    let before = awake(&house, FACES[0])?;
    let status = house.json(&["daemon", "status"])?;
    assert_eq!(status["home"], json!(house.home()));
    assert_eq!(status["sessions"], 1);
    assert!(status["version"].is_string() && status["uptime_secs"].is_u64());
    let daemon = house.daemon_pid()?;
    assert_eq!(house.json(&["daemon", "stop"])?["stopped"], true);
    await_gone(daemon)?;
    assert!(lives(pid_of(&before)?));
    assert_eq!(house.fails(&["daemon", "status"])?.0, 8);
    assert_eq!(house.json(&["daemon", "stop"])?["stopped"], false);
    assert_eq!(house.json(&["daemon", "start"])?["sessions"], 1);
    assert_eq!(house.show("blue")?["pid"], before["pid"]);
    house.ok(&["daemon", "stop", "--agents"])?;
    assert!(!lives(pid_of(&before)?));
    assert_eq!(house.show("blue")?["status"], "suspended");
    Ok(())
}

#[test]
fn a_worktree_that_cannot_be_moved_is_said_to_stay() -> Outcome {
    let house = House::new()?;
    let Ok(elsewhere) = tempfile::Builder::new().prefix("glis-e2e-").tempdir_in("/dev/shm") else {
        return skip("there is no second file system in /dev/shm", None);
    };
    house.configure(&format!("[worktree]\nplace = {:?}\n", elsewhere.path()))?;
    house.rehearsal("blue")?;
    let worktree = house.file("blue", "")?;
    let said = house.ok(&["rm", "blue"])?;
    let stays = format!("its worktree stays in {}", worktree.display());
    let stays = stays.trim_end_matches('/');
    // Only what lies on the home's own file system can be moved into its trash.
    let device = |path: &Path| Ok::<_, std::io::Error>(std::fs::metadata(path)?.dev());
    let apart = device(elsewhere.path())? != device(&house.home())?;
    assert_eq!((said.contains(stays), worktree.exists()), (apart, apart), "{said}");
    Ok(())
}

#[test]
fn several_sessions_are_paused_at_once() -> Outcome {
    let house = House::new()?;
    let names = ["one", "two", "three"];
    for name in names {
        house.rehearsal(name)?;
        house.turn(name, "say hi")?;
        house.ok(&["send", name, "work 600"])?;
        house.until(name, "busy")?;
    }
    let waits = [&["--json", "pause", "--mode", "boundary"][..], &names].concat();
    let pause = Background::start(house.glis().args(waits))?;
    // No turn ends: one after the other, the second would never be asked.
    for name in names {
        house.until(name, "pausing")?;
    }
    let paused = house.json(&["pause", "--mode", "force", "three", "one", "two"])?;
    let told: Vec<_> = (0..3).map(|at| (&paused[at]["name"], &paused[at]["status"])).collect();
    let (three, one, two, is) = (json!("three"), json!("one"), json!("two"), json!("paused"));
    assert_eq!(told, [(&three, &is), (&one, &is), (&two, &is)]);
    drop(pause);
    let resumed = house.json(&["resume", "--paused", "--yes"])?;
    assert_eq!(resumed.as_array().map(Vec::len), Some(3));
    Ok(())
}
