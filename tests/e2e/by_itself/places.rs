//! `[concurrency]`: how many agents run at once. Beyond that a start waits for a place, or is refused.

use crate::support::house::{House, Outcome};
use serde_json::Value;

/// A house in which so many agents may run, and one does.
fn full(limits: &str) -> Outcome<House> {
    let house = House::new()?;
    house.configure(&format!("[concurrency]\n{limits}\n"))?;
    live(&house, "a")?;
    Ok(house)
}

/// An agent that has said something and is there.
fn live(house: &House, name: &str) -> Outcome<Value> {
    house.rehearsal(name)?;
    house.turn(name, "say hello")
}

/// What a command line says on standard output, and beside it.
fn both(house: &House, args: &[&str]) -> Outcome<(String, String)> {
    let output = house.glis().args(args).output()?;
    assert!(output.status.success(), "{args:?}: {output:?}");
    Ok((String::from_utf8(output.stdout)?, String::from_utf8(output.stderr)?))
}

fn waiting(house: &House) -> Outcome<Value> {
    Ok(house.json(&["daemon", "status"])?["limits"]["waiting"].clone())
}

#[test]
fn what_is_beyond_the_limit_waits_and_begins_in_its_order_also_after_a_crash() -> Outcome {
    let house = full("live = 1")?;
    house.rehearsal("b")?;
    let (said, beside) = both(&house, &["send", "b", "say from b"])?;
    assert!(
        said.starts_with("queued: as many agents run as `[concurrency] live` allows"),
        "{said}"
    );
    let names =
        "b waits for a place: 1 agent runs, `[concurrency] live` is 1 (a). `glis stop NAME`";
    assert!(beside.starts_with(names), "{beside}");
    let new = ["new", "c", "--agent", "rehearsal", "--headless", "--prompt", "say from c"];
    let (said, beside) = both(&house, &new)?;
    assert!(said.contains("it starts by itself when one ends"), "{said}");
    assert!(beside.starts_with("b, c wait for a place: "), "{beside}");
    let shown = house.show("c")?;
    assert_eq!((&shown["status"], &shown["waits_to_start"]), (&"created".into(), &"limit".into()));
    let (said, beside) = both(&house, &["ls"])?;
    assert!(said.contains("waits to start: as many agents run"), "{said}");
    assert!(beside.contains("b, c wait for a place: "), "{beside}");

    house.kill_daemon()?;
    house.ok(&["daemon", "start"])?;
    assert_eq!(waiting(&house)?, serde_json::json!(["b", "c"]));
    house.ok(&["stop", "a"])?;
    house.until("b", "idle")?;
    assert_eq!(waiting(&house)?, serde_json::json!(["c"]));
    house.ok(&["stop", "b"])?;
    house.until("c", "idle")?;
    assert_eq!(waiting(&house)?, serde_json::json!([]));
    for name in ["b", "c"] {
        let said = house.talk(name)?;
        let answers = said.iter().filter(|(_, text)| text.contains(&format!("from {name}")));
        assert_eq!(answers.count(), 2, "asked and answered once: {said:?}");
    }
    Ok(())
}

#[test]
fn where_it_is_refused_nothing_is_made_or_stored_and_it_is_told_who_runs() -> Outcome {
    let house = full("live = 1\nover = \"refuse\"")?;
    house.rehearsal("b")?;
    for args in [&["send", "b", "say x"][..], &["new", "c", "--agent", "rehearsal"]] {
        let (status, error) = house.fails(args)?;
        assert_eq!((status, &error["kind"]), (4, &"refused".into()), "{error}");
        let said = error["message"].as_str().unwrap_or_default();
        assert!(said.ends_with("1 agent runs, and `[concurrency] live` is 1: a"), "{said}");
    }
    assert_eq!(house.show("b")?["queued"], 0);
    assert_eq!(house.fails(&["show", "c"])?.0, 3);
    house.ok(&["stop", "a"])?;
    house.turn("b", "say y")?;
    // A session that was stopped is resumed only where there is a place.
    let (status, _) = house.fails(&["resume", "a"])?;
    assert_eq!((status, house.show("a")?["status"].as_str()), (4, Some("suspended")));
    Ok(())
}

#[test]
fn what_waits_is_withdrawn_and_a_higher_limit_lets_it_in_by_itself() -> Outcome {
    let house = full("live = 1")?;
    for name in ["b", "c"] {
        house.ok(&["new", name, "--agent", "rehearsal", "--headless", "--prompt", "say it"])?;
    }
    house.ok(&["pause", "b"])?;
    assert_eq!(house.show("b")?["waits_to_start"], Value::Null);
    let (said, _) = both(&house, &["resume", "b"])?;
    assert!(said.starts_with("`b` waits to start: as many agents run as"), "{said}");
    let shown = house.show("b")?;
    assert_eq!((&shown["status"], &shown["waits_to_start"]), (&"paused".into(), &"limit".into()));
    house.ok(&["pause", "b"])?;
    assert_eq!(waiting(&house)?, serde_json::json!(["c"]));
    // Nothing is asked of the daemon: it is told by the folder that the file is in.
    let mut events = house.follow(1)?;
    house.configure("[concurrency]\nlive = 2\n")?;
    events.until(|event| event["event"] == "limits_set" && event["live"] == 2)?;
    house.until("c", "idle")?;
    assert_eq!(house.show("b")?["status"], "paused");
    Ok(())
}

#[test]
fn what_pause_all_has_stopped_returns_whatever_the_limit() -> Outcome {
    let house = full("live = 2")?;
    live(&house, "b")?;
    house.ok(&["pause", "--all"])?;
    house.configure("[concurrency]\nlive = 1\nover = \"refuse\"\n")?;
    house.ok(&["resume", "--all"])?;
    for name in ["a", "b"] {
        house.until(name, "idle")?;
    }
    assert_eq!(
        house.json(&["daemon", "status"])?["limits"]["agents"],
        serde_json::json!(["a", "b"])
    );
    Ok(())
}

#[test]
fn a_daemon_that_ends_its_agents_begins_nothing_and_the_next_one_does() -> Outcome {
    let house = full("live = 1")?;
    house.ok(&["new", "b", "--agent", "rehearsal", "--headless", "--prompt", "say it"])?;
    house.ok(&["daemon", "stop", "--agents"])?;
    // One that had begun before would be at its second start.
    assert_eq!(house.until("b", "idle")?["generation"], 1);
    Ok(())
}

#[test]
fn more_agents_than_is_wished_are_warned_of() -> Outcome {
    let house = full("warn = 1")?;
    assert_eq!(both(&house, &["ls"])?.1, "");
    let new = ["new", "b", "--agent", "command", "--", "sleep", "1000"];
    let (_, beside) = both(&house, &new)?;
    assert_eq!(beside, "warning: 2 agents run at once; `[concurrency] warn` is 1\n");
    assert_eq!(both(&house, &["ls"])?.1, beside);
    Ok(())
}

#[test]
fn stop_and_rm_withdraw_what_waits_and_the_next_in_line_begins() -> Outcome {
    let house = full("live = 1")?;
    for name in ["b", "c", "d"] {
        house.ok(&["new", name, "--agent", "rehearsal", "--headless", "--prompt", "say it"])?;
    }
    house.ok(&["stop", "b"])?;
    assert_eq!(house.show("b")?["waits_to_start"], Value::Null);
    assert_eq!(waiting(&house)?, serde_json::json!(["c", "d"]));
    house.ok(&["rm", "c"])?;
    assert_eq!(waiting(&house)?, serde_json::json!(["d"]));
    house.ok(&["stop", "a"])?;
    house.until("d", "idle")?;
    // What was withdrawn begins nothing, not even with the place free again.
    house.ok(&["stop", "d"])?;
    let left = house.show("b")?;
    assert_eq!((&left["generation"], &left["queued"]), (&0.into(), &1.into()), "{left}");
    assert_eq!(house.fails(&["show", "c"])?.0, 3);
    Ok(())
}
