//! What comes to the rescue: a stop over a start that does not end, another try for a message that
//! was refused, an end to starts that fail again and again, an agent that the log has forgotten.

use crate::support::house::{Background, House, Outcome, lives};
use crate::support::wreck::{
    Canary, agents, each_entry_once, folder, holder_of, marked, pid_of, text_of, times_told,
};
use glis_wire::frame::{Decoder, encode_raw};
use glis_wire::hold::{Report, place};
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

/// The agent's own record of a session's conversation.
fn transcript(house: &House, session: &Value) -> Outcome<PathBuf> {
    let own = text_of(session, "agent_session_ref")?;
    Ok(house.home().join("rehearsal").join(format!("{own}.jsonl")))
}

fn count(house: &House, id: &str, event: &str) -> Outcome<usize> {
    Ok(house.events(id)?.iter().filter(|name| *name == event).count())
}

/// A suspended session that remembers a turn.
fn suspended(house: &House, name: &str) -> Outcome<Value> {
    house.rehearsal(name)?;
    house.turn(name, "say first")?;
    house.ok(&["stop", name])?;
    house.show(name)
}

#[test]
fn a_stop_wins_over_a_start_that_does_not_end() -> Outcome {
    let house = House::new()?;
    // It comes back, and says nothing: for a minute nobody can know whether it will.
    let args = ["new", "blue", "--agent", "rehearsal", "--headless", "--"];
    house.json(&[&args[..], &["--misbehave", "mute-resume"]].concat())?;
    let id = text_of(&house.turn("blue", "say first")?, "id")?;
    house.ok(&["pause", "blue"])?;
    let mut resume = Background::start(house.glis().args(["--json", "resume", "blue"]))?;
    let mut events = house.follow(1)?;
    let started = |e: &Value| e["event"] == "process_started" && e["session"] == id.as_str();
    events.until(started)?;
    events.until(started)?;
    house.ok(&["send", "blue", "say stored"])?;
    let starting = house.show("blue")?;
    let told = (&starting["status"], &starting["operation"]);
    assert_eq!(told, (&"resuming".into(), &"resume".into()));
    let stopped = house.json(&["stop", "blue"])?;
    assert_eq!((&stopped["status"], &stopped["pid"]), (&"suspended".into(), &Value::Null));
    assert!(!lives(pid_of(&starting)?) && marked(&id).is_empty());
    assert_eq!(stopped["queued"], 1, "what was stored meanwhile is kept");
    // Whoever waits for the start is told why it does not come.
    assert_eq!(resume.0.wait()?.code(), Some(4));
    let mut said = String::new();
    resume.0.stdout.as_mut().ok_or("no stdout")?.read_to_string(&mut said)?;
    assert!(said.contains("was stopped before"), "{said}");
    house.ok(&["restart", "blue", "--yes"])?;
    house.follow(1)?.until(|e| e["event"] == "turn_ended" && e["session"] == id.as_str())?;
    let session = house.turn("blue", "recall")?;
    assert_eq!(agents(&id), [pid_of(&session)?]);
    assert_eq!(times_told(&house, "say stored"), 1);
    Ok(())
}

#[test]
fn a_stop_right_behind_a_new_session_or_a_resume_leaves_nothing_running() -> Outcome {
    let house = House::new()?;
    for number in 0..6 {
        let name = format!("n{number}");
        let _new = Background::start(house.glis().args(["new", &name, "--agent", "rehearsal"]))?;
        let mut events = house.follow(1)?;
        let made = events.until(|e| e["event"] == "session_created" && e["name"] == name)?;
        let id = text_of(&made, "session")?;
        let stopped = house.json(&["stop", &name])?;
        assert_eq!((&stopped["status"], &stopped["pid"]), (&"suspended".into(), &Value::Null));
        assert_eq!(marked(&id), Vec::<i32>::new());
        assert!(house.file(&name, "file.txt")?.exists(), "its worktree is whole");
        house.json(&["resume", &name])?;
        let session = house.until(&name, "idle")?;
        assert_eq!(agents(&id), [pid_of(&session)?]);
        house.ok(&["pause", &name])?;
        let _resume = Background::start(house.glis().args(["resume", &name]))?;
        house.follow(1)?.until(|e| {
            e["event"] == "start_began" && e["session"] == id.as_str() && e["generation"] != 1
        })?;
        house.json(&["stop", &name])?;
        assert_eq!(marked(&id), Vec::<i32>::new());
    }
    Ok(())
}

#[test]
fn messages_to_an_agent_that_dies_at_once_are_no_storm() -> Outcome {
    let house = House::new()?;
    let session = suspended(&house, "blue")?;
    let (id, path) = (text_of(&session, "id")?, transcript(&house, &session)?);
    let kept = path.with_extension("kept");
    std::fs::rename(&path, &kept)?;
    // No agent can read its memory from a folder.
    std::fs::create_dir(&path)?;
    for number in 1..=3 {
        house.ok(&["send", "blue", &format!("say m{number}x")])?;
        let mut events = house.follow(1)?;
        for _ in 0..number {
            events.until(|e| e["event"] == "start_failed" && e["session"] == id.as_str())?;
        }
        let failed = house.show("blue")?;
        assert_eq!(failed["failed_starts"], number, "counted");
        assert!(text_of(&failed, "verdict")?.contains("its last start failed"), "told: {failed}");
    }
    let starts = count(&house, &id, "start_began")?;
    for number in 4..=20 {
        let told = house.ok(&["send", "blue", &format!("say m{number}x")])?;
        assert!(told.contains("`glis resume blue` tries again"), "{told}");
    }
    let resting = house.show("blue")?;
    assert_eq!((&resting["status"], &resting["queued"]), (&"suspended".into(), &20.into()));
    assert_eq!(count(&house, &id, "start_began")?, starts, "nothing was started for them");
    house.kill_daemon()?;
    assert_eq!(house.show("blue")?["failed_starts"], 3, "a crash does not wipe the slate");
    assert_eq!((count(&house, &id, "start_began")?, marked(&id)), (starts, Vec::new()));
    let (status, _) = house.fails(&["resume", "blue"])?;
    assert_eq!(status, 6, "whoever asks for it gets a try, and the reason");
    std::fs::remove_dir(&path)?;
    std::fs::rename(&kept, &path)?;
    house.ok(&["resume", "blue"])?;
    let mut events = house.follow(1)?;
    for _ in 0..21 {
        events.until(|e| e["event"] == "message_taken" && e["session"] == id.as_str())?;
    }
    for number in 1..=20 {
        assert_eq!(times_told(&house, &format!("say m{number}x")), 1);
    }
    assert_eq!(house.until("blue", "idle")?["failed_starts"], 0);
    Ok(())
}

/// Reads nothing before there is a file `go` beside it, and prints nothing at all.
const RELUCTANT: &str =
    "stty raw -echo; until [ -e go ]; do sleep 0.05; done; exec cat > taken 2>/dev/null";

/// Types more into a session than its agent reads, until the holder takes not one byte more.
fn type_until_refused(house: &House, id: &str) -> Outcome<UnixStream> {
    let mut holder = UnixStream::connect(folder(house, id).join(place::SOCKET))?;
    let mut frames = Vec::new();
    let much = "x".repeat(32 * 1024);
    for _ in 0..140 {
        encode_raw(&mut frames, 1, much.as_bytes());
    }
    // What is left of the room is less than one of the former.
    for _ in 0..520 {
        encode_raw(&mut frames, 2, b"x");
    }
    holder.write_all(&frames)?;
    let mut reports = Decoder::default();
    let mut piece = [0; 4096];
    loop {
        while let Some(frame) = reports.next_frame()? {
            if matches!(frame.words()?, Report::Refused { order: 2, .. }) {
                return Ok(holder);
            }
        }
        let read = holder.read(&mut piece)?;
        reports.feed(&piece[..read]);
    }
}

#[test]
fn a_refused_message_is_tried_again_though_nothing_else_happens() -> Outcome {
    let house = House::new()?;
    let id = text_of(&house.command("blue", &["sh", "-c", RELUCTANT])?, "id")?;
    // Its screen has come to rest: from here on it gives no sign by itself.
    house.until("blue", "idle")?;
    let _typist = type_until_refused(&house, &id)?;
    house.ok(&["send", "blue", "hello"])?;
    let refused = |e: &Value| e["event"] == "delivery_refused" && e["session"] == id.as_str();
    let mut events = house.follow(1)?;
    // Once more: the second try comes by the clock alone.
    events.until(refused)?;
    let second = events.until(refused)?["seq"].as_u64().ok_or("no seq")?;
    std::fs::write(house.file("blue", "go")?, "")?;
    events.until(|e| e["event"] == "message_taken" && e["session"] == id.as_str())?;
    let since = house.ok(&["events", "--from", &second.to_string()])?;
    let lines: Vec<_> = since.lines().collect();
    let last = lines.iter().rposition(|line| line.contains("delivery_began")).ok_or("no try")?;
    // All there was before the last try are the tries before it.
    assert!(lines[..last].iter().all(|line| line.contains("\"delivery_")), "{since}");
    Ok(())
}

/// The log as it was at an earlier moment.
struct Backup(Vec<(PathBuf, Option<Vec<u8>>)>);

impl Backup {
    fn of(house: &House) -> Self {
        let names = ["events.db", "events.db-wal", "events.db-shm"];
        let paths = names.map(|name| house.home().join(name));
        Self(paths.into_iter().map(|path| (path.clone(), std::fs::read(path).ok())).collect())
    }

    fn put_back(&self) -> Outcome {
        for (path, bytes) in &self.0 {
            match bytes {
                Some(bytes) => std::fs::write(path, bytes)?,
                None if path.exists() => std::fs::remove_file(path)?,
                None => {}
            }
        }
        Ok(())
    }
}

#[test]
fn an_agent_of_a_start_that_the_log_has_lost_is_taken_over() -> Outcome {
    for terminal in [false, true] {
        let house = House::new()?;
        let mut canary = Canary::new()?;
        if terminal {
            house.in_terminal("blue")?
        } else {
            house.rehearsal("blue")?
        };
        let id = text_of(&house.turn("blue", "say first")?, "id")?;
        house.ok(&["pause", "blue"])?;
        house.ok(&["send", "blue", "say stored-before"])?;
        house.kill_daemon()?;
        let backup = Backup::of(&house);
        house.ok(&["resume", "blue"])?;
        house.ok(&["stop", "blue"])?;
        house.ok(&["resume", "blue"])?;
        let running = house.turn("blue", "say after-the-backup")?;
        house.kill_daemon()?;
        backup.put_back()?;
        let adopted = house.show("blue")?;
        assert_eq!((&adopted["pid"], &adopted["generation"]), (&running["pid"], &3.into()));
        assert_eq!(agents(&id), [pid_of(&running)?], "the same one, and no other");
        // The message of the log that the agent took meanwhile is not repeated.
        assert_eq!(times_told(&house, "stored-before"), 1);
        let idle = house.until("blue", "idle,waiting")?;
        if idle["status"] == "waiting" {
            assert_eq!(idle["waiting_for"]["kind"], "doubt", "{idle}");
            house.ok(&["answer", "blue", "deny"])?;
        }
        assert_eq!(house.turn("blue", "recall")?["generation"], 3);
        assert_eq!(times_told(&house, "stored-before"), 1);
        let said = house.talk("blue")?.pop().ok_or("nothing said")?.1;
        assert!(said.contains("after-the-backup"), "{said}");
        each_entry_once(&house, "blue")?;
        assert_eq!(house.json(&["pause", "blue"])?["status"], "paused");
        assert_eq!(marked(&id), Vec::<i32>::new());
        assert!(canary.sings());
    }
    Ok(())
}

#[test]
fn an_agent_under_an_id_that_the_log_does_not_know_is_not_taken_over() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    let id = text_of(&house.turn("blue", "say first")?, "id")?;
    house.ok(&["pause", "blue"])?;
    house.kill_daemon()?;
    let backup = Backup::of(&house);
    house.ok(&["restart", "blue", "--yes"])?;
    let running = house.turn("blue", "say in-another-conversation")?;
    house.kill_daemon()?;
    backup.put_back()?;
    let known = house.show("blue")?;
    assert_eq!((&known["status"], &known["pid"]), (&"paused".into(), &Value::Null));
    let (status, error) = house.fails(&["resume", "blue"])?;
    assert_eq!(status, 6);
    assert!(error["message"].to_string().contains(&running["pid"].to_string()), "{error}");
    assert_eq!(agents(&id), [pid_of(&running)?], "neither killed nor doubled");
    // As the hint says: once it is ended, the conversation that the log knows goes on.
    crate::support::house::kill_and_wait(holder_of(pid_of(&running)?)?)?;
    house.ok(&["resume", "blue"])?;
    house.turn("blue", "recall")?;
    let said = house.talk("blue")?.pop().ok_or("nothing said")?.1;
    assert!(said.contains("say first") && !said.contains("another-conversation"), "{said}");
    Ok(())
}

#[test]
fn a_gap_in_the_output_is_known_to_the_next_daemon() -> Outcome {
    let house = House::new()?;
    let id = text_of(&house.command("blue", &["sh", "-c", "echo one; exec cat"])?, "id")?;
    house.until("blue", "idle")?;
    assert_eq!(house.show("blue")?["output_gap_at"], Value::Null);
    house.ok(&["stop", "blue"])?;
    house.ok(&["daemon", "stop"])?;
    assert_eq!(house.show("blue")?["output_gap_at"], Value::Null, "a sound one has none");
    house.ok(&["daemon", "stop"])?;
    // As a holder leaves it that found no room for what came between.
    let output = folder(&house, &id).join("output");
    let end: u64 = std::fs::read_dir(&output)?
        .filter_map(|entry| Some(entry.ok()?.metadata().ok()?.len()))
        .sum();
    std::fs::write(output.join(format!("{:016x}", end + 7)), "after the hole")?;
    assert_eq!(house.show("blue")?["output_gap_at"], end);
    assert_eq!(house.json(&["ls"])?[0]["output_gap_at"], end);
    Ok(())
}
