//! `config`: what counts, where it comes from, and what is wrong with the file.

use crate::support::house::{House, Outcome};
use serde_json::{Value, json};

#[test]
fn every_key_is_shown_with_its_origin_and_no_daemon_is_needed() -> Outcome {
    let house = House::new()?;
    house.configure("[trash]\ndays = 3\n\n[persona.critic]\nmodel = \"opus\"\n")?;
    let shown = house.json(&["config", "show"])?;
    let shown = shown.as_array().ok_or("no list")?;
    let of = |key: &str| shown.iter().find(|setting| setting["key"] == key);
    let days = of("trash.days").ok_or("no trash.days")?;
    assert_eq!((&days["value"], &days["default"]), (&json!(3), &json!(30)));
    assert_eq!((&days["origin"], &days["line"]), (&json!("file"), &json!(2)));
    let usual = of("pause.safe_state_secs").ok_or("no pause.safe_state_secs")?;
    assert_eq!((&usual["value"], &usual["origin"]), (&json!(30), &json!("default")));
    assert_eq!(of("persona.critic.model").ok_or("no persona")?["line"], 5);
    let text = String::from_utf8(house.glis().args(["config", "show"]).output()?.stdout)?;
    assert!(text.contains("days = 3") && text.contains("# config.toml:2"), "{text}");
    // What it prints is a file that could be used.
    house.configure(&text)?;
    assert_eq!(house.json(&["config", "check"])?["faults"], json!([]));
    let path = house.json(&["config", "path"])?;
    assert!(path["path"].as_str().is_some_and(|path| path.ends_with("/config.toml")), "{path}");
    assert_eq!(house.fails(&["daemon", "status"])?.0, 8, "a look started the daemon");
    Ok(())
}

#[test]
fn every_fault_is_told_with_its_line_also_where_the_daemon_cannot_start() -> Outcome {
    let house = House::new()?;
    house.configure("[trash]\ndays = \"x\"\nyears = 1\n\n[pauze]\n")?;
    let output = house.glis().args(["config", "check"]).output()?;
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stdout)?;
    let lines: Vec<_> = told.lines().filter_map(|line| line.split(':').nth(1)).collect();
    assert_eq!(lines, ["2", "3", "5"], "{told}");
    assert!(house.fails(&["config", "show"])?.1["message"].as_str().is_some());
    assert_eq!(house.fails(&["ls"])?.0, 8);
    std::fs::remove_file(house.home().join("config.toml"))?;
    assert_eq!(house.json(&["config", "check"])?["exists"], false);
    Ok(())
}

/// What the doctor says of the configuration, if anything.
fn complaint(house: &House) -> Outcome<Option<String>> {
    let output = house.glis().args(["--json", "doctor"]).output()?;
    let findings: Value = serde_json::from_slice(&output.stdout)?;
    let of = |finding: &&Value| finding["subject"] == "configuration";
    let found = findings.as_array().into_iter().flatten().find(of);
    Ok(found.and_then(|finding| finding["message"].as_str()).map(str::to_owned))
}

/// A file that is broken under a running daemon: what it had before counts in every part, and it is told
/// wherever somebody asks, until it is mended.
#[test]
fn a_file_that_breaks_changes_nothing_and_is_told_until_it_is_mended() -> Outcome {
    let house = House::new()?;
    let rule = "[[auto_yes.rule]]\nprogram = \"sort\"\nrest = \"path\"\nmatch = [\"sort a\"]\n";
    house.configure(&format!("[pause]\nsafe_state_secs = 1\n[idle]\ntimeout = \"7m\"\n{rule}"))?;
    house.json(&["new", "blue", "--agent", "rehearsal", "--auto-yes"])?;
    assert_eq!(
        (house.show("blue")?["idle_timeout_secs"].as_u64(), complaint(&house)?),
        (Some(420), None)
    );
    // Each group is another, and one of them has a fault.
    house.configure("[pause]\nsafe_state_secs = 600\n[idle]\ntimeout = \"9m\"\nhours = 1\n")?;
    for name in ["red", "green"] {
        let told = complaint(&house)?.ok_or("the doctor says nothing")?;
        assert!(told.contains("config.toml:5: "), "{told}");
        let made = house.ok(&["new", name, "--agent", "rehearsal"])?;
        assert!(made.contains("config.toml:5: "), "{made}");
        assert!(made.contains("the former configuration is used"), "{made}");
        assert_eq!(house.show(name)?["idle_timeout_secs"], 420, "as the former one says");
        let (status, error) = house.fails(&["new", "late", "--persona", "critic"])?;
        assert!(
            status == 2 && error["hint"].as_str().is_some_and(|h| h.contains(":5: ")),
            "{error}"
        );
        let listed = house.glis().arg("ls").output()?;
        let warned = String::from_utf8(listed.stderr)?;
        assert!(listed.status.success() && warned.contains("config.toml:5: "), "{warned}");
        let check = house.glis().args(["config", "check"]).output()?;
        assert_eq!(check.status.code(), Some(1));
        assert!(String::from_utf8(check.stdout)?.contains("config.toml:5: "));
    }
    house.turn("blue", "approve run sort a.txt")?;
    house.turn("blue", "ignore int")?;
    house.ok(&["send", "blue", "work 600"])?;
    house.until("blue", "busy")?;
    assert_eq!(house.fails(&["pause", "blue"])?.0, 5, "after a second and not after ten minutes");
    house.configure("[idle]\ntimeout = \"9m\"\n")?;
    assert_eq!(complaint(&house)?, None);
    assert_eq!(house.glis().arg("ls").output()?.stderr, b"");
    let late = house.json(&["new", "late", "--agent", "rehearsal"])?;
    assert_eq!(late["idle_timeout_secs"], 540);
    Ok(())
}

/// A daemon that dies beside a broken file is followed by one that goes by what the file was.
#[test]
fn a_broken_file_keeps_nobody_from_their_agents_when_the_daemon_dies() -> Outcome {
    let house = House::new()?;
    house.configure("[idle]\ntimeout = \"7m\"\n")?;
    let blue = house.json(&["new", "blue", "--agent", "rehearsal"])?;
    house.configure("[idle]\ntimeout = \"9m\"\nhours = 1\n")?;
    house.kill_daemon()?;
    let shown = house.show("blue")?;
    assert_eq!((&shown["pid"], &shown["idle_timeout_secs"]), (&blue["pid"], &json!(420)));
    assert!(complaint(&house)?.is_some_and(|told| told.contains("config.toml:3: ")));
    house.ok(&["pause", "blue"])?;
    house.configure("[idle]\ntimeout = \"9m\"\n")?;
    house.ok(&["resume", "blue"])?;
    assert_eq!(house.show("blue")?["idle_timeout_secs"], 540);
    Ok(())
}

/// Who follows the events hears of it, whether or not anybody asks for anything, and once each.
#[test]
fn events_tell_that_the_file_has_broken_and_that_it_is_mended() -> Outcome {
    let house = House::new()?;
    house.configure("[trash]\ndays = 3\n")?;
    house.ok(&["ls"])?;
    let mut events = house.follow(1)?;
    house.configure("[trash]\ndays = 3\nyears = 1\n")?;
    let broke = events.until(|event| event["event"] == "config_broke")?;
    let fault = broke["fault"].as_str().ok_or("no fault")?;
    assert!(fault.contains("config.toml:3: "), "{broke}");
    // Whoever looks at it again has nothing new to tell.
    house.ok(&["ls"])?;
    house.configure("[trash]\ndays = 4\n")?;
    events.until(|event| event["event"] == "config_mended")?;
    // One that is mended while no daemon runs is told by the next.
    house.configure("[trash]\nmonths = 1\n")?;
    events.until(|event| event["event"] == "config_broke")?;
    house.kill_daemon()?;
    house.configure("")?;
    house.ok(&["ls"])?;
    let mut events = house.follow(1)?;
    let mut told = Vec::new();
    for wanted in ["config_broke", "config_mended"].repeat(2) {
        let event = events.until(|event| {
            event["event"].as_str().is_some_and(|name| name.starts_with("config_"))
        })?;
        assert_eq!(event["event"], wanted, "{told:?}");
        told.push(event["event"].clone());
    }
    Ok(())
}
