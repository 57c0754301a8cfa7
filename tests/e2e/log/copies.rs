//! What the daemon keeps beside its log: a checkpoint that a start goes on from, and copies for the
//! day when the log is gone.

use crate::support::house::{House, Outcome, eventually, lives};
use crate::support::wreck::{Foreground, agents, pid_of, recorded, text_of, times_told};
use serde_json::{Value, json};
use std::path::PathBuf;

fn checkpoint(house: &House) -> PathBuf {
    house.home().join("backup/checkpoint")
}

fn diary(house: &House) -> Outcome<String> {
    Ok(std::fs::read_to_string(house.home().join("daemon.log"))?)
}

/// What `ls` and `show` tell of what is in the log.
fn listed(house: &House) -> Outcome<Vec<Vec<Value>>> {
    let fields = [
        "id",
        "name",
        "status",
        "agent_session_ref",
        "worktree",
        "branch",
        "generation",
        "snapshot",
        "queued",
        "created_at",
        "last_active_at",
        "paused_at",
        "pause_reason",
        "pause_rule",
        "verdict",
        "record_damaged",
    ];
    let all = house.json(&["ls"])?;
    let all = all.as_array().ok_or("no array")?.iter().filter_map(|row| row["name"].as_str());
    let shown = all.map(|name| house.show(name)).collect::<Outcome<Vec<_>>>()?;
    Ok(shown.iter().map(|one| fields.iter().map(|field| one[field].clone()).collect()).collect())
}

/// Two paused sessions, one of them with a message that waits.
fn at_rest() -> Outcome<House> {
    let house = House::new()?;
    for name in ["blue", "red"] {
        house.rehearsal(name)?;
        house.turn(name, "write a.txt one")?;
        house.ok(&["pause", name])?;
    }
    house.ok(&["send", "red", "say stored"])?;
    Ok(house)
}

#[test]
fn a_start_goes_on_from_the_checkpoint_and_the_doctor_looks_at_all() -> Outcome {
    let house = at_rest()?;
    let (before, events) = (listed(&house)?, house.ok(&["events"])?);
    house.ok(&["daemon", "stop"])?;
    assert!(checkpoint(&house).exists());
    // A record that lies before the checkpoint: no start reads it, and what it led to is known.
    let db = rusqlite::Connection::open(house.home().join("events.db"))?;
    let bend = "UPDATE events SET at = at | 1 << 40 WHERE body LIKE '%\"paused\"%'";
    assert_eq!(db.execute(bend, [])?, 2);
    drop(db);
    assert_eq!(listed(&house)?, before);
    assert!(!diary(&house)?.contains("damaged"));
    let (_, told) = {
        let output = house.glis().args(["--json", "doctor"]).output()?;
        (output.status, String::from_utf8(output.stdout)?)
    };
    assert!(told.contains("2 damaged records"), "{told}");
    // As the hint says: the next start puts in what the copies have.
    house.ok(&["daemon", "stop"])?;
    assert_eq!(listed(&house)?, before);
    assert_eq!(house.ok(&["events"])?, events);
    let told = house.ok(&["--json", "doctor"])?;
    assert!(!told.contains("damaged records") && told.contains(".db.damaged-"), "{told}");
    Ok(())
}

#[test]
fn a_checkpoint_that_does_not_fit_is_thrown_away_and_the_log_counts() -> Outcome {
    let (house, other) = (at_rest()?, at_rest()?);
    let before = listed(&house)?;
    other.ok(&["daemon", "stop"])?;
    house.ok(&["daemon", "stop"])?;
    let whole = std::fs::read(checkpoint(&house))?;
    let text = String::from_utf8(whole.clone())?;
    let head = text.split(' ').nth(1).ok_or("no fold")?;
    let mut bent = whole.clone();
    let half = bent.len() / 2;
    bent[half] ^= 1;
    let variants: [(&str, Vec<u8>, &str); 5] = [
        ("damaged", bent, "thrown away"),
        ("cut", whole[..half].to_vec(), "thrown away"),
        ("of another version", text.replacen(head, "00ff00ff00ff00ff", 1).into_bytes(), "version"),
        ("of a newer form", text.replacen("checkpoint-1", "checkpoint-9", 1).into(), "version"),
        ("of another house", std::fs::read(checkpoint(&other))?, "does not hold"),
    ];
    for (what, bytes, said) in variants {
        let told = diary(&house)?.len();
        std::fs::write(checkpoint(&house), bytes)?;
        assert_eq!(listed(&house)?, before, "{what}");
        let diary = diary(&house)?;
        assert!(diary.get(told..).is_some_and(|fresh| fresh.contains(said)), "{what}: {diary}");
        house.ok(&["daemon", "stop"])?;
    }
    // An older one is no fault: what follows it is read.
    house.ok(&["send", "red", "say more"])?;
    let after = listed(&house)?;
    house.ok(&["daemon", "stop"])?;
    let told = diary(&house)?.len();
    std::fs::write(checkpoint(&house), &whole)?;
    assert_eq!(listed(&house)?, after);
    let diary = diary(&house)?;
    assert!(diary.get(told..).is_some_and(|fresh| !fresh.contains("checkpoint")), "{diary}");
    Ok(())
}

#[test]
fn a_log_that_is_deleted_comes_back_whole_from_the_copies_of_a_clean_end() -> Outcome {
    let house = at_rest()?;
    house.rehearsal("green")?;
    house.turn("green", "write a.txt one")?;
    let events = house.ok(&["events"])?;
    let agent = pid_of(&house.show("green")?)?;
    let status = house.json(&["daemon", "status"])?;
    house.ok(&["daemon", "stop"])?;
    let before = recorded(&house.home())?.len();
    std::fs::remove_file(house.home().join("events.db"))?;
    let output = house.glis().args(["--json", "ls"]).output()?;
    let told = String::from_utf8(output.stderr)?;
    assert!(told.contains("note: the event log") && told.contains("nothing is missing"), "{told}");
    let found: Value = serde_json::from_slice(&output.stdout)?;
    assert_eq!(found.as_array().map(Vec::len), Some(3), "{found}");
    assert!(found.as_array().is_some_and(|all| all.iter().all(|s| s["record_damaged"] == false)));
    let green = house.show("green")?;
    assert_eq!(pid_of(&green)?, agent, "its agent was taken over: {green}");
    assert_eq!(agents(&text_of(&green, "id")?), [agent]);
    let after = house.ok(&["events"])?;
    assert!(after.starts_with(&events) && recorded(&house.home())?.len() >= before, "{after}");
    assert_ne!(house.json(&["daemon", "status"])?["log_id"], status["log_id"]);
    assert_eq!(house.turn("green", "say on")?["status"], "idle");
    house.ok(&["resume", "red"])?;
    house.turn("red", "recall")?;
    assert_eq!(times_told(&house, "say stored"), 1, "delivered once");
    assert!(diary(&house)?.contains("restored from"));
    Ok(())
}

#[test]
fn what_may_be_missing_after_a_kill_is_flagged_and_asked_about() -> Outcome {
    let mut house = House::new()?;
    house.surround("GLIS_COPY_AFTER", "1");
    house.rehearsal("red")?;
    house.turn("red", "write a.txt one")?;
    house.ok(&["pause", "red"])?;
    house.ok(&["send", "red", "say stored"])?;
    let copied = |house: &House| -> Outcome<String> {
        let mut all = String::new();
        for folder in std::fs::read_dir(house.home().join("backup"))?.flatten() {
            for file in std::fs::read_dir(folder.path()).into_iter().flatten().flatten() {
                all.push_str(&std::fs::read_to_string(file.path())?);
            }
        }
        Ok(all)
    };
    eventually("the message is copied", || {
        copied(&house).is_ok_and(|all| all.contains("say stored"))
    })?;
    house.kill_daemon()?;
    for name in ["events.db", "events.db-wal"] {
        std::fs::remove_file(house.home().join(name))?;
    }
    let red = house.show("red")?;
    assert_eq!((&red["status"], &red["record_damaged"]), (&json!("paused"), &json!(true)), "{red}");
    assert_eq!(red["queued"], 1, "{red}");
    assert!(house.ok(&["show", "red"])?.contains("glis acknowledge red"));
    let told = house.ok(&["doctor"])?;
    assert!(told.contains("may be missing"), "{told}");
    assert_eq!(house.json(&["acknowledge", "red"])?["record_damaged"], false);
    let doubted = house.events(&text_of(&red, "id")?)?;
    assert!(doubted.contains(&"message_doubted".to_owned()), "{doubted:?}");
    // The agent's own transcript proves that it was never told: so it is, without a question.
    house.ok(&["resume", "red"])?;
    house.turn("red", "recall")?;
    assert_eq!(times_told(&house, "say stored"), 1);
    assert!(lives(pid_of(&house.show("red")?)?));
    Ok(())
}

/// Everything under the log's name, journal included.
fn delete_log(house: &House) -> Outcome {
    for name in ["events.db", "events.db-wal", "events.db-shm"] {
        match std::fs::remove_file(house.home().join(name)) {
            Err(fault) if fault.kind() != std::io::ErrorKind::NotFound => return Err(fault.into()),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

#[test]
fn a_log_that_is_deleted_under_a_running_daemon_is_written_anew_and_nothing_is_missing() -> Outcome
{
    let house = at_rest()?;
    house.rehearsal("green")?;
    house.turn("green", "write a.txt one")?;
    let (events, daemon) = (house.ok(&["events"])?, house.daemon_pid()?);
    let former = house.json(&["daemon", "status"])?["log_id"].clone();
    assert!(former.is_string());
    delete_log(&house)?;
    // The kernel tells of it: nothing has to happen in the house.
    let log = house.home().join("events.db");
    eventually("the log is written anew", || log.exists())?;
    assert!(house.ok(&["events"])?.starts_with(&events));
    assert_ne!(house.json(&["daemon", "status"])?["log_id"], former);
    house.turn("green", "say on")?;
    house.ok(&["pause", "green"])?;
    assert_eq!(house.daemon_pid()?, daemon, "the same daemon all along");
    let events = house.ok(&["events"])?;
    house.kill_daemon()?;
    assert!(house.ok(&["events"])?.starts_with(&events), "durable where it is looked for");
    let all = house.json(&["ls"])?;
    let all = all.as_array().ok_or("no array")?;
    assert!(all.len() == 3 && all.iter().all(|s| s["record_damaged"] == false), "{all:?}");
    assert!(diary(&house)?.contains("written anew, nothing is missing"));
    Ok(())
}

#[test]
fn a_file_that_takes_the_place_of_the_log_is_kept_and_the_log_put_back() -> Outcome {
    let house = at_rest()?;
    let events = house.ok(&["events"])?;
    std::fs::write(house.home().join("stranger"), "not a log at all")?;
    std::fs::rename(house.home().join("stranger"), house.home().join("events.db"))?;
    let kept = || -> Vec<PathBuf> {
        let entries = std::fs::read_dir(house.home()).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        paths.filter(|path| path.to_string_lossy().contains(".db.strange-")).collect()
    };
    eventually("the stranger is put aside", || !kept().is_empty())?;
    house.ok(&["send", "blue", "say more"])?;
    assert!(house.ok(&["events"])?.starts_with(&events));
    assert_eq!(std::fs::read_to_string(&kept()[0])?, "not a log at all");
    house.kill_daemon()?;
    assert_eq!(house.show("blue")?["queued"], 1);
    Ok(())
}

#[test]
fn without_a_log_and_its_copies_sessions_are_known_by_their_own_folders() -> Outcome {
    let house = at_rest()?;
    house.rehearsal("green")?;
    let green = house.turn("green", "write a.txt one")?;
    house.rehearsal("gone")?;
    house.turn("gone", "write a.txt one")?;
    house.ok(&["pause", "gone"])?;
    house.ok(&["rm", "gone"])?;
    let red = house.show("red")?;
    let card = |session: &Value| -> Outcome<PathBuf> {
        Ok(crate::support::wreck::folder(&house, &text_of(session, "id")?).join("card.json"))
    };
    let card_of_red = card(&red)?;
    eventually("the message that waits is on the card", || {
        std::fs::read_to_string(&card_of_red).is_ok_and(|text| text.contains("say stored"))
    })?;
    eventually("the start is on the card", || {
        let text = card(&green).and_then(|path| Ok(std::fs::read_to_string(path)?));
        text.is_ok_and(|text| text.contains(&format!("\"pid\":{}", green["pid"])))
    })?;
    house.kill_daemon()?;
    delete_log(&house)?;
    std::fs::remove_dir_all(house.home().join("backup"))?;
    let output = house.glis().args(["--json", "ls"]).output()?;
    let told = String::from_utf8(output.stderr)?;
    assert!(told.contains("3 sessions by their own folders alone"), "{told}");
    let known = |name: &str, fields: &[&str], before: &Value| -> Outcome {
        let after = house.show(name)?;
        for field in fields {
            assert_eq!(after[*field], before[*field], "{name}: {field}: {after}");
        }
        assert_eq!(after["record_damaged"], true, "{name}");
        Ok(())
    };
    let same =
        ["id", "status", "worktree", "branch", "agent_session_ref", "generation", "snapshot"];
    known("red", &same, &red)?;
    known(
        "green",
        &["id", "worktree", "branch", "agent_session_ref", "generation", "pid"],
        &green,
    )?;
    assert_eq!(agents(&text_of(&green, "id")?), [pid_of(&green)?]);
    house.until("green", "idle")?;
    assert_eq!(house.turn("green", "recall")?["pid"], green["pid"]);
    // What was queued is not lost, and what was put aside can be taken back.
    house.ok(&["resume", "red"])?;
    house.turn("red", "recall")?;
    assert_eq!(times_told(&house, "say stored"), 1);
    assert_eq!(house.json(&["trash", "list"])?[0]["name"], "gone");
    house.ok(&["trash", "restore", "gone"])?;
    house.ok(&["resume", "gone"])?;
    house.turn("gone", "recall")?;
    house.ok(&["pause", "--all"])?;
    Ok(())
}

/// It is saved after it has come to rest, and by hand.
#[test]
fn the_card_of_a_session_at_rest_names_its_last_snapshot() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "write a.txt one")?;
    house.ok(&["stop", "blue"])?;
    house.ok(&["snapshot", "blue"])?;
    let shown = house.show("blue")?;
    let card = house.home().join("sessions").join(text_of(&shown, "id")?).join("card.json");
    eventually("the snapshot is on the card", || {
        let card = std::fs::read(&card).unwrap_or_default();
        let card: Value = serde_json::from_slice(&card).unwrap_or_default();
        shown["snapshot"].is_object() && card["snapshot"] == shown["snapshot"]
    })
}

/// How many bytes a start reads in a house with so many events and the checkpoint `kept` or not.
fn read_by_a_start(events: &str, kept: Kept) -> Outcome<u64> {
    let house = House::new()?;
    house.ok(&["seed-log", events])?;
    if kept == Kept::No {
        std::fs::remove_file(checkpoint(&house))?;
    }
    let daemon = Foreground::start(&house, &[])?;
    let io = std::fs::read_to_string(format!("/proc/{}/io", daemon.pid()?))?;
    let bytes = io.lines().find_map(|line| line.strip_prefix("rchar: ")).ok_or("no count")?;
    assert_eq!(house.json(&["ls", "--all"])?.as_array().map(Vec::len), Some(100));
    Ok(bytes.parse()?)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    Yes,
    No,
}

#[test]
fn a_start_reads_as_much_after_a_long_past_as_after_a_short_one() -> Outcome {
    let short = read_by_a_start("2000", Kept::Yes)?;
    let long = read_by_a_start("80000", Kept::Yes)?;
    // At most a file of copies is read beside the start, to go on with it.
    assert!(long < short + 1_200_000, "{short} and {long}");
    let whole = read_by_a_start("80000", Kept::No)?;
    assert!(whole > long + 4_000_000, "the whole log is larger than all of that: {whole}");
    Ok(())
}
