//! Looking leaves no trace: no event, no snapshot, no activity.

use crate::support::house::{House, Outcome};
use crate::support::wreck::text_of;
use serde_json::Value;
use std::fs;

/// What looking must not change: the end of the log, the sessions' times, refs, objects.
fn traces(house: &House) -> Outcome<(u64, Vec<String>, String, usize)> {
    let all = house.ok(&["events"])?;
    let last: Value = serde_json::from_str(all.lines().last().ok_or("no event")?)?;
    let sessions = house.json(&["ls"])?;
    let sessions = sessions.as_array().ok_or("no array")?;
    let times = sessions.iter().map(|session| text_of(session, "last_active_at"));
    let refs = house.git(&["for-each-ref"])?;
    let packs = fs::read_dir(house.repo().join(".git/objects/pack"))?.count();
    let scratch = fs::read_dir(house.repo().join(".git/glis"))?.count();
    let seq = last["seq"].as_u64().ok_or("no seq")?;
    Ok((seq, times.collect::<Outcome<_>>()?, refs, packs + scratch))
}

#[test]
fn no_looking_verb_writes_an_event_or_a_snapshot_or_counts_as_activity() -> Outcome {
    let house = House::new()?;
    house.configure("[snapshot]\nat_turn_end = false\n")?;
    for name in ["paused", "running", "cleared"] {
        house.rehearsal(name)?;
        house.turn(name, "write a.txt hello")?;
    }
    house.json(&["pause", "paused"])?;
    house.json(&["pause", "cleared", "--remove-worktree"])?;
    for name in ["paused", "running"] {
        fs::write(house.file(name, "a.txt")?, "somebody else\n")?;
        fs::write(house.file(name, "b.txt")?, "new\n")?;
    }
    let before = traces(&house)?;
    for name in ["paused", "running", "cleared"] {
        let kept = house.json(&["snapshots", name])?;
        let since = kept[0]["ref"].as_str().map(str::to_owned);
        for verb in [
            &["show", name][..],
            &["log", name],
            &["screen", name, "--ansi"],
            &["output", name],
            &["snapshots", name],
            &["diff", name],
            &["diff", name, "--stat"],
        ] {
            house.ok(verb).or_else(|fault| {
                // A headless agent has no screen, and one that was never saved no snapshot.
                let bare = ["screen", "output"].contains(&verb[0]);
                if bare { Ok(String::new()) } else { Err(fault) }
            })?;
        }
        if let Some(since) = since {
            house.ok(&["diff", name, "--since", &since])?;
        }
    }
    for verb in [&["ls"][..], &["events"], &["search", "hello"], &["daemon", "status"]] {
        house.ok(verb)?;
    }
    house.ok(&["trash", "list"])?;
    drop(house.glis().arg("doctor").output()?);
    assert_eq!(traces(&house)?, before);
    let told = house.json(&["diff", "running"])?;
    assert_eq!(told["to"], "worktree");
    assert!(text_of(&told, "patch")?.contains("+somebody else"), "{told}");
    let told = house.json(&["diff", "cleared"])?;
    assert!(text_of(&told, "to")?.starts_with("refs/glis/snap/"), "{told}");
    assert!(text_of(&told, "patch")?.contains("+hello"), "{told}");
    Ok(())
}

#[test]
fn s15_secrets_are_not_published_and_reach_the_agent_whole() -> Outcome {
    let house = House::new()?;
    let secret = "ghp_Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2";
    house.rehearsal("blue")?;
    house.turn("blue", &format!("write a.txt {secret}"))?;
    assert_eq!(fs::read_to_string(house.file("blue", "a.txt")?)?.trim_end(), secret);
    let events = house.ok(&["events"])?;
    assert!(!events.contains(secret), "{events}");
    assert!(events.contains("write a.txt ghp_[redacted]"), "{events}");
    let followed = house.follow(1)?.until(|event| event["event"] == "message_queued")?;
    assert_eq!(followed["text"], "write a.txt ghp_[redacted]");
    // What was queued when the daemon died is delivered as it was sent.
    house.json(&["pause", "blue"])?;
    house.ok(&["send", "blue", &format!("write b.txt {secret}")])?;
    house.kill_daemon()?;
    house.json(&["resume", "blue"])?;
    house.follow(1)?.until(|event| event["event"] == "message_taken" && event["message"] == 1)?;
    house.until("blue", "idle")?;
    assert_eq!(fs::read_to_string(house.file("blue", "b.txt")?)?.trim_end(), secret);
    let diary = fs::read_to_string(house.home().join("daemon.log"))?;
    assert!(!diary.contains(secret), "{diary}");
    Ok(())
}

#[test]
fn a_restart_of_the_daemon_is_no_activity() -> Outcome {
    let house = House::new()?;
    // It has printed more than counts as silence, and stands at a prompt.
    house
        .command("blue", &["sh", "-c", "seq 1 100; while printf '$ ' && read line; do :; done"])?;
    house.until("blue", "idle")?;
    // Its files are saved right after that, which is the last thing to happen.
    house.follow(1)?.until(|event| event["event"] == "worktree_saved")?;
    let before = house.show("blue")?;
    let events = house.events(&text_of(&before, "id")?)?;
    house.kill_daemon()?;
    let wait = ["wait", "blue", "--for", "busy", "--timeout", "6s"];
    assert_eq!(house.fails(&wait)?.0, 7, "it was not busy");
    let after = house.show("blue")?;
    assert_eq!(after["last_active_at"], before["last_active_at"]);
    assert_eq!(house.events(&text_of(&before, "id")?)?, events);
    Ok(())
}
