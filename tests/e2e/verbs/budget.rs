//! Budgets: told towards their end, and a question at it.

use crate::support::house::{House, Outcome, eventually};
use serde_json::{Value, json};

/// Three turns, each of which costs two dollars: it tells what its conversation has cost so far.
const TURNS: [&str; 3] = ["cost 2 ;; say one.", "cost 4 ;; say two.", "cost 6 ;; say three."];

/// A headless session that begins with this.
fn begun(house: &House, name: &str, options: &[&str]) -> Outcome {
    let new = ["new", name, "--agent", "rehearsal", "--headless", "--prompt", TURNS[0]];
    house.ok(&[&new, options].concat())?;
    house.until(name, "idle").map(drop)
}

#[test]
fn a_budget_is_told_at_its_end_and_granted_again() -> Outcome {
    let house = House::new()?;
    begun(&house, "blue", &["--budget", "usd=5"])?;
    eventually("the first turn is counted", || percent(&house, "blue") == Some(40))?;
    house.ok(&["send", "blue", TURNS[1]])?;
    eventually("the second turn is counted", || percent(&house, "blue") == Some(80))?;
    assert!(house.ok(&["ls"])?.contains("80% of its budget"));
    house.ok(&["send", "blue", TURNS[2]])?;
    house.until("blue", "paused")?;
    let blue = house.show("blue")?;
    assert_eq!((&blue["pause_reason"], &blue["need"]), (&json!("budget"), &json!("you")), "{blue}");
    let ask = &blue["asks"][0];
    assert_eq!(ask["choices"], json!(["grant", "leave"]), "{blue}");
    assert!(ask["text"].as_str().is_some_and(|text| text.contains("$6 of $5")), "{ask}");
    let (status, told) = house.fails(&["answer", "blue", "perhaps"])?;
    assert_eq!(status, 4, "{told}");

    // It holds whoever else asks: a message waits, and a later daemon knows.
    house.ok(&["send", "blue", "cost 7 ;; say four."])?;
    house.kill_daemon()?;
    assert_eq!(house.show("blue")?["status"], "paused");
    house.ok(&["answer", "blue", "grant"])?;
    house.until("blue", "idle")?;
    eventually("the fourth turn is counted", || percent(&house, "blue") == Some(20))?;
    assert_eq!(house.show("blue")?["asks"], json!([]));
    Ok(())
}

fn percent(house: &House, name: &str) -> Option<u64> {
    house.show(name).ok()?["budget"]["percent"].as_u64()
}

#[test]
fn what_an_agent_does_not_tell_is_no_budget() -> Outcome {
    let house = House::new()?;
    let (status, told) = house.fails(&["new", "sh", "--budget", "usd=5", "--", "sh"])?;
    assert_eq!((status, told["kind"].as_str()), (2, Some("usage")), "{told}");
    let (_, told) = house.fails(&["new", "sh", "--budget", "five", "--", "sh"])?;
    assert_eq!(told["message"], "`five` is no part of a budget");
    house.ok(&["new", "sh", "--budget", "time=2h", "--", "sh"])?;
    assert_eq!(house.show("sh")?["budget"]["allowed"], "time=2h");
    assert_eq!(house.json(&["budget", "sh", "off"])?["budget"], Value::Null);
    assert_eq!(house.ok(&["budget", "sh", "off"])?.trim(), "sh: no budget");
    Ok(())
}

#[test]
fn a_day_that_is_used_up_pauses_all_and_one_resume_grants_another() -> Outcome {
    let house = House::new()?;
    house.configure("[budget]\nday = \"usd=5\"\n")?;
    for name in ["blue", "green"] {
        begun(&house, name, &[])?;
    }
    let day = || house.json(&["daemon", "status"]).map(|status| status["day"].clone());
    eventually("both are counted", || day().is_ok_and(|day| day["percent"] == 80))?;
    let listed = house.glis().arg("ls").output()?;
    let told = String::from_utf8_lossy(&listed.stderr).into_owned();
    assert!(told.contains("today $4 of $5 of `[budget] day` is used"), "{told}");
    // What counts is in the conversations: another daemon, or another log, knows it as well.
    house.ok(&["daemon", "stop"])?;
    house.ok(&["send", "blue", TURNS[1]])?;
    eventually("the day is used up", || day().is_ok_and(|day| day["percent"] == 120))?;
    // Nobody begins any more.
    house.ok(&["send", "green", "cost 3 ;; say more."])?;
    house.until("green", "paused")?;
    let green = house.show("green")?;
    assert_eq!(green["pause_reason"], "budget", "{green}");
    let asked = green["asks"][0]["text"].as_str().unwrap_or_default();
    assert!(asked.contains("today: $6 of $5"), "{green}");
    house.ok(&["resume", "green", "--prompt", "cost 3 ;; say again."])?;
    house.until("green", "idle")?;
    let again = || day().is_ok_and(|day| day["percent"].as_u64().is_some_and(|n| n <= 40));
    eventually("the day counts anew", again)
}
