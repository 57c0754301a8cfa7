//! What agents have used, added up.

use crate::support::house::{House, Outcome};
use serde_json::{Value, json};

/// What each has cost, in this order.
fn bills(house: &House, arguments: &[&str]) -> Outcome<Vec<(String, f64)>> {
    let costs = house.json(&[&["cost"], arguments].concat())?;
    let bill = |one: &Value| Some((one["key"].as_str()?.to_owned(), one["usd"].as_f64()?));
    Ok(costs.as_array().ok_or("no array")?.iter().filter_map(bill).collect())
}

#[test]
fn what_was_used_is_added_up_by_session_repository_agent_and_day() -> Outcome {
    let house = House::new()?;
    assert_eq!(house.ok(&["cost"])?.trim(), "No agent has told what it used.");
    for (name, first, then) in [("blue", "0.25", "0.75"), ("green", "1", "2.5")] {
        house.rehearsal(name)?;
        // What it tells is what its conversation has cost so far.
        house.turn(name, &format!("cost {first} ;; say one"))?;
        house.turn(name, &format!("cost {then} ;; say two"))?;
    }
    let sessions = [("green".to_owned(), 2.5), ("blue".to_owned(), 0.75)];
    assert_eq!(bills(&house, &[])?, sessions);
    let tokens = &house.json(&["cost"])?[0];
    assert!(tokens["tokens_in"].is_u64() && tokens["tokens_out"].is_u64(), "{tokens}");
    assert_eq!(bills(&house, &["--by", "agent"])?, [("rehearsal".to_owned(), 3.25)]);
    let repo = house.repo().display().to_string();
    assert_eq!(bills(&house, &["--by", "repo"])?, [(repo, 3.25)]);
    let days = bills(&house, &["--by", "day"])?;
    let all: f64 = days.iter().map(|(_, usd)| usd).sum();
    assert_eq!(format!("{all:.2}"), "3.25", "{days:?}");
    assert_eq!(bills(&house, &["--since", &days[0].0])?, sessions);
    assert_eq!(house.json(&["cost", "--since", "2999-01-01"])?, json!([]));
    // What was removed has cost as much.
    house.ok(&["rm", "--stop", "green"])?;
    assert_eq!(bills(&house, &[])?, sessions);
    let table = house.ok(&["cost"])?;
    assert!(table.contains("$2.50") && table.lines().last().is_some_and(|l| l.contains("$3.25")));
    let (status, told) = house.fails(&["cost", "--since", "soon"])?;
    assert_eq!(status, 2, "{told}");
    let said = told["message"].as_str().unwrap_or_default();
    assert!(said.contains("`soon` is no day; say `today`, or a date such as"), "{told}");
    Ok(())
}

#[test]
fn who_needs_a_person_is_listed_alone() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.rehearsal("green")?;
    house.ok(&["send", "green", "approve delete it?"])?;
    house.until("green", "waiting")?;
    let needs: Value = house.json(&["ls", "--needs-me"])?;
    let names: Vec<&Value> =
        needs.as_array().into_iter().flatten().map(|row| &row["name"]).collect();
    assert_eq!(names, ["green"]);
    assert_eq!(needs[0]["need"], "you");
    house.ok(&["answer", "green", "allow"])?;
    house.until("green", "idle")?;
    assert_eq!(house.json(&["ls", "--needs-me"])?, json!([]));
    // Nobody has looked at what came of it: `show` is a look, `ls` is none.
    let need = |name: &str| -> Outcome<Value> {
        let rows = house.json(&["ls"])?;
        let row = rows.as_array().into_iter().flatten().find(|row| row["name"] == name);
        Ok(row.ok_or("not listed")?["need"].clone())
    };
    house.ok(&["show", "green"])?;
    assert_eq!(need("green")?, "idle");
    Ok(())
}
