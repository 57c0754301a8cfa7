//! `config`: what counts, where it comes from, and what is wrong with the file.

use crate::support::house::{House, Outcome};
use serde_json::json;

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
