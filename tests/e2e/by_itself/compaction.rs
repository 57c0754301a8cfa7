//! A long conversation is made short: when it is asked for, and by itself when the session is not used.

use crate::support::house::{House, Outcome};
use crate::support::wreck::{folder, text_of};
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

/// A paused session that has done something, whose conversation has so many entries more than that.
fn long(house: &House, entries: u32) -> Outcome<(Value, PathBuf)> {
    house.rehearsal("blue")?;
    house.turn("blue", "todo one|two ;; write a.txt x")?;
    let paused = house.json(&["pause", "blue"])?;
    let dir = folder(house, &text_of(&paused, "id")?);
    let mut file = OpenOptions::new().append(true).open(dir.join("conversation.jsonl"))?;
    for n in 1..=entries {
        let voice = if n % 2 == 1 { "user" } else { "assistant" };
        let line = json!({
            "timestamp": "2026-01-01T00:00:00.000Z", "type": voice, "content": format!("word{n} here"),
        });
        writeln!(file, "{line}")?;
    }
    Ok((paused, dir))
}

fn lines(dir: &std::path::Path) -> Outcome<usize> {
    Ok(fs::read_to_string(dir.join("conversation.jsonl"))?.lines().count())
}

/// The files that have what was summed up.
fn originals(dir: &std::path::Path) -> Outcome<Vec<String>> {
    let names = fs::read_dir(dir)?.flatten().map(|e| e.file_name().to_string_lossy().into_owned());
    let is_part = |name: &String| name.starts_with("conversation.") && name != "conversation.jsonl";
    Ok(names.filter(is_part).collect())
}

/// What `log` prints, entry by entry.
fn told(house: &House) -> Outcome<Vec<String>> {
    let log = house.json(&["log", "blue"])?;
    Ok(log.as_array().ok_or("no array")?.iter().map(ToString::to_string).collect())
}

#[test]
fn a_long_conversation_is_summed_up_and_no_word_is_lost() -> Outcome {
    let house = House::new()?;
    let (paused, dir) = long(&house, 120)?;
    let (before, bytes) = (told(&house)?, fs::read(dir.join("conversation.jsonl"))?);
    let compacted = house.json(&["compact", "blue"])?;
    for field in ["id", "summary", "current_state", "compacted_history"] {
        assert!(compacted[field].as_str().is_some_and(|text| !text.is_empty()), "{field}");
    }
    assert_eq!(compacted["id"], paused["id"]);
    assert_eq!(compacted["recent_messages"].as_array().map(Vec::len), Some(20));
    assert_eq!(compacted["pending_tasks"], json!(["one", "two"]));
    assert!(compacted["key_decisions"].is_array());
    let summary = text_of(&compacted, "summary")?;
    assert!(summary.contains("word1 here"), "{summary}");
    assert_eq!(lines(&dir)?, 51);
    let kept = originals(&dir)?;
    assert_eq!(kept.len(), 1);
    assert_eq!(fs::read(dir.join(&kept[0]))?, bytes);
    let shown = house.show("blue")?;
    assert_eq!(
        (&shown["is_compacted"], &shown["last_active_at"]),
        (&json!(true), &paused["last_active_at"])
    );
    assert!(shown["compacted_at"].is_string());
    assert!(house.ok(&["show", "blue"])?.contains("compacted     20"));
    assert_eq!(told(&house)?, before);
    for word in ["word2", "word119"] {
        assert!(!house.json(&["search", word])?.as_array().ok_or("no array")?.is_empty(), "{word}");
    }
    // There is nothing more to do, and asking changes nothing.
    house.json(&["compact", "blue"])?;
    assert_eq!(originals(&dir)?, kept);
    // It goes on as always, also over a death of the daemon.
    house.json(&["resume", "blue"])?;
    house.turn("blue", "say more")?;
    house.kill_daemon()?;
    house.turn("blue", "say yet more")?;
    let after = told(&house)?;
    assert_eq!(after[..before.len()], before[..]);
    let once = |word: &str| after.iter().filter(|line| line.contains(word)).count();
    assert_eq!((once("\"more\""), once("\"yet more\"")), (1, 1), "{after:?}");
    Ok(())
}

#[test]
fn what_runs_and_what_is_short_is_left_alone() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "say hello")?;
    let (status, error) = house.fails(&["compact", "blue"])?;
    assert_eq!(status, 4, "{error}");
    house.json(&["stop", "blue"])?;
    let short = house.json(&["compact", "blue"])?;
    assert_eq!(short["compacted_history"], "");
    let all = short["recent_messages"].as_array().map(Vec::len);
    assert_eq!(all, Some(told(&house)?.len()));
    let shown = house.show("blue")?;
    assert_eq!((&shown["is_compacted"], &shown["compacted_at"]), (&json!(false), &Value::Null));
    assert!(house.ok(&["compact", "blue"])?.contains("too short to be compacted"));
    Ok(())
}

#[test]
fn a_program_can_write_the_summary_and_one_that_fails_changes_nothing() -> Outcome {
    let house = House::new()?;
    let (_, dir) = long(&house, 120)?;
    let asked = house.folder().join("asked");
    let good = format!(
        "cat > '{}'; printf '## Key decisions\\\\n- use a lock\\\\n## Problems and solutions\\\\n- none\\\\n\
         ## Current state\\\\n- all is well\\\\n## Pending tasks\\\\n- ship it\\\\n'",
        asked.display()
    );
    let before = fs::read(dir.join("conversation.jsonl"))?;
    for (bad, why) in [
        ("exit 3", "failed"),
        ("echo sorry", "there is no \"Current state\" in: sorry"),
        ("echo \"## Current state\"; exit 1", "failed"),
    ] {
        house.configure(&format!("[compact]\ncommand = [\"sh\", \"-c\", '''{bad}''']\n"))?;
        let (status, error) = house.fails(&["compact", "blue"])?;
        assert_eq!(status, 1, "{error}");
        let message = text_of(&error, "message")?;
        assert!(message.contains("compact the conversation") && message.contains(why), "{error}");
        assert_eq!(fs::read(dir.join("conversation.jsonl"))?, before, "{bad}");
        assert!(originals(&dir)?.is_empty(), "{bad}");
    }
    house.configure(&format!("[compact]\ncommand = [\"sh\", \"-c\", \"\"\"{good}\"\"\"]\n"))?;
    let compacted = house.json(&["compact", "blue"])?;
    assert_eq!(compacted["key_decisions"], json!(["use a lock"]));
    assert_eq!(compacted["pending_tasks"], json!(["ship it"]));
    let question = fs::read_to_string(&asked)?;
    assert!(question.contains("Problems and solutions") && question.contains("word77 here"));
    assert_eq!(lines(&dir)?, 51);
    let again = house.ok(&["compact", "blue"])?;
    assert!(again.contains("is compacted already"), "{again}");
    assert!(again.lines().any(|line| line == "- use a lock"), "{again}");
    // A fresh agent is told it.
    house.json(&["restart", "blue", "--with-context", "--yes"])?;
    house.until("blue", "idle")?;
    let log = told(&house)?.join("\n");
    assert!(log.contains("## Session Context") && log.contains("- use a lock"), "{log}");
    Ok(())
}

/// What the next agent of a session reads first.
fn handed_over(house: &House) -> Outcome<String> {
    house.json(&["restart", "blue", "--with-context", "--yes"])?;
    house.until("blue", "idle")?;
    let talk = house.talk("blue")?;
    let ours = |said: &&(String, String)| {
        said.1.starts_with("You are resuming") || said.1.starts_with("Continue from where")
    };
    Ok(talk.iter().rev().find(ours).ok_or("nothing was handed over")?.1.clone())
}

/// However short it is: what began the work, what was decided, and what is open.
#[test]
fn a_fresh_agent_is_told_of_a_short_conversation_too() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "say build the shed ;; todo paint it")?;
    house.ok(&["send", "blue", "question Which colour?"])?;
    house.until("blue", "waiting")?;
    house.ok(&["answer", "blue", "barn red"])?;
    house.until("blue", "idle")?;
    house.ok(&["send", "blue", "approve sell the old one"])?;
    house.until("blue", "waiting")?;
    house.ok(&["answer", "blue", "deny"])?;
    house.until("blue", "idle")?;
    house.ok(&["send", "blue", "question Which door?"])?;
    house.until("blue", "waiting")?;
    let told = handed_over(&house)?;
    for words in [
        "1. say build the shed",
        "Which colour?: barn red",
        "denied: approve sell the old one",
        "paint it",
        "Asked by the agent, and not answered: Which door?",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    house.configure("[resume]\nprompt = \"short\"\n")?;
    let told = handed_over(&house)?;
    assert!(told.contains("Began with: say build the shed") && told.lines().count() == 3, "{told}");
    Ok(())
}

#[test]
fn a_fresh_agent_is_told_everything_that_was_asked_for() -> Outcome {
    let house = House::new()?;
    long(&house, 120)?;
    house.json(&["restart", "blue", "--with-context", "--yes"])?;
    house.until("blue", "idle")?;
    let log = told(&house)?;
    let prompt = log.iter().find(|line| line.contains("## Session Context")).ok_or("none")?;
    assert!(prompt.contains("word1 here") && prompt.contains("word119 here"), "{prompt}");
    Ok(())
}

/// A house whose session was last looked at long ago, and whose timers can be moved.
fn unused(house: &House, entries: u32) -> Outcome<PathBuf> {
    let (paused, dir) = long(house, entries)?;
    assert_eq!(paused["status"], "paused");
    house.kill_daemon()?;
    fs::write(dir.join("accessed"), "2026-01-01T00:00:00Z")?;
    Ok(dir)
}

#[test]
fn what_is_not_used_is_made_short_by_itself() -> Outcome {
    let house = House::of_moved_time()?;
    let dir = unused(&house, 120)?;
    let mut events = house.follow(1)?;
    let done = house.out_of_time("compact", || {
        events.until(|event| event["event"] == "conversation_compacted")
    })?;
    assert!(done["entries"].as_u64().is_some_and(|n| n > 70), "{done}");
    assert_eq!(lines(&dir)?, 51);
    Ok(())
}

#[test]
fn two_failures_in_a_row_stop_it_until_it_is_asked_for() -> Outcome {
    let house = House::of_moved_time()?;
    house.configure("[compact]\ncommand = [\"false\"]\n")?;
    let dir = unused(&house, 120)?;
    let mut failures = 0;
    for _ in 0..2 {
        let mut events = house.follow(1)?;
        house
            .out_of_time("compact", || {
                events.until(|event| {
                    event["event"] == "compaction_failed" && event["seq"].as_u64() > Some(failures)
                })
            })
            .map(|event| failures = event["seq"].as_u64().unwrap_or_default())?;
        // The next start looks at it again.
        house.kill_daemon()?;
        fs::write(dir.join("accessed"), "2026-01-01T00:00:00Z")?;
    }
    let shown = house.show("blue")?;
    let warned = shown["warnings"].to_string();
    assert!(
        warned.contains("could not be compacted") && warned.contains("glis compact blue"),
        "{shown}"
    );
    house.configure("")?;
    house.json(&["compact", "blue"])?;
    assert_eq!(lines(&dir)?, 51);
    assert!(!house.show("blue")?["warnings"].to_string().contains("compacted"));
    Ok(())
}

/// The daemon dies when the long file has its second name, and the short one is not in its place.
#[test]
fn a_compaction_that_is_killed_in_the_middle_loses_nothing() -> Outcome {
    let mut house = House::new()?;
    let (_, dir) = long(&house, 120)?;
    let (before, bytes) = (told(&house)?, fs::read(dir.join("conversation.jsonl"))?);
    house.ok(&["daemon", "stop"])?;
    house.surround("GLIS_FAILPOINT", "abort@compact@blue");
    drop(house.glis().args(["compact", "blue"]).output()?);
    house.spare("GLIS_FAILPOINT");
    assert_eq!(originals(&dir)?.len(), 1, "it did not die there");
    assert_eq!(fs::read(dir.join("conversation.jsonl"))?, bytes);
    assert_eq!(told(&house)?, before);
    house.json(&["compact", "blue"])?;
    assert_eq!(lines(&dir)?, 51);
    assert_eq!(told(&house)?, before);
    for word in ["word33", "word119"] {
        let found = house.json(&["search", word])?;
        assert_eq!(found.as_array().map(Vec::len), Some(1), "{word}: {found}");
    }
    Ok(())
}
