//! A verb that is in the way of a running process stops it first: restart, and rm where it is asked.

use crate::support::house::{House, Outcome, await_gone};
use crate::support::tmux::Tmux;
use crate::support::wreck::{pid_of, text_of};
use serde_json::{Value, json};
use std::path::Path;

/// A session in the middle of its turn, which has written a file that no snapshot has yet.
fn at_work(house: &House, name: &str) -> Outcome<Value> {
    house.rehearsal(name)?;
    house.ok(&["send", name, "write last.txt words ;; work 600"])?;
    let path = house.file(name, "last.txt")?;
    crate::support::house::eventually("its file", || path.exists())?;
    house.until(name, "busy")
}

#[test]
fn a_restart_of_a_running_session_stops_it_by_itself_and_saves_first() -> Outcome {
    let house = House::new()?;
    let busy = at_work(&house, "blue")?;
    let mut restart = house.glis();
    let output =
        restart.args(["--json", "restart", "blue", "--yes"]).env("COLOUR", "red").output()?;
    let fresh: Value = serde_json::from_slice(&output.stdout)?;
    assert!(output.status.success(), "{fresh}");
    await_gone(pid_of(&busy)?)?;
    assert_eq!((&fresh["generation"], &fresh["worktree"]), (&json!(2), &busy["worktree"]));
    // RS-3: the conversation before it can be found.
    assert_eq!(fresh["former_refs"], json!([busy["agent_session_ref"]]), "{fresh}");
    let shown = house.ok(&["show", "blue"])?;
    assert!(shown.contains("former ids") && shown.contains(&text_of(&busy, "agent_session_ref")?));
    let events = house.events(&text_of(&busy, "id")?)?;
    let at = |name: &str| events.iter().rposition(|event| event == name);
    let order = ["stop_began", "process_ended", "worktree_saved", "suspended", "restart_began"];
    let places: Vec<_> = order.iter().map(|name| at(name)).collect();
    assert!(places.is_sorted() && places.iter().all(Option::is_some), "{events:?}");
    // What the former process wrote last is in a snapshot.
    let saved = house.json(&["snapshots", "blue"])?;
    let names: Vec<_> = saved.as_array().ok_or("no array")?.iter().collect();
    let of_the_end = names.iter().find(|s| s["why"] == "the process ended").ok_or("none")?;
    let tree = house.git(&["ls-tree", "-r", "--name-only", &text_of(of_the_end, "commit")?])?;
    assert!(tree.contains("last.txt"), "{tree}");
    // And the fresh one has the environment of whoever restarted it.
    house.turn("blue", "run echo $COLOUR > colour.txt")?;
    assert_eq!(std::fs::read_to_string(house.file("blue", "colour.txt")?)?, "red\n");
    Ok(())
}

#[test]
fn a_stop_that_the_daemon_does_not_live_to_answer_is_asked_for_again() -> Outcome {
    let house = House::new()?;
    house.configure("[pause]\ninterrupt_secs = 30\nterminate_secs = 30\n")?;
    house.rehearsal("blue")?;
    house.turn("blue", "ignore int ;; ignore term")?;
    house.ok(&["send", "blue", "work 600"])?;
    let busy = house.until("blue", "busy")?;
    let mut events = house.follow(1)?;
    let mut stop = crate::support::house::Background::start(house.glis().args(["stop", "blue"]))?;
    events.until(|event| event["event"] == "stop_began")?;
    house.kill_daemon()?;
    assert_eq!(stop.0.wait()?.code(), Some(0));
    await_gone(pid_of(&busy)?)?;
    assert_eq!(house.show("blue")?["status"], "suspended");
    Ok(())
}

#[test]
fn a_restart_is_finished_after_the_death_of_the_daemon() -> Outcome {
    let house = House::new()?;
    house.configure("[pause]\ninterrupt_secs = 5\nterminate_secs = 5\n")?;
    house.rehearsal("blue")?;
    house.turn("blue", "ignore int ;; ignore term")?;
    house.ok(&["send", "blue", "work 600"])?;
    let busy = house.until("blue", "busy")?;
    let mut events = house.follow(1)?;
    let _restart =
        crate::support::house::Background::start(house.glis().args(["restart", "blue", "--yes"]))?;
    events.until(|event| event["event"] == "stop_began")?;
    house.kill_daemon()?;
    let mut events = house.follow(1)?;
    events.until(|event| event["event"] == "start_ended" && event["cause"] == "restart")?;
    await_gone(pid_of(&busy)?)?;
    let fresh = house.until("blue", "idle,created")?;
    assert_eq!((&fresh["generation"], &fresh["operation"]), (&json!(2), &Value::Null));
    Ok(())
}

/// S5.
#[test]
fn a_running_session_goes_into_the_trash_only_where_that_is_asked_for() -> Outcome {
    let house = House::new()?;
    let busy = at_work(&house, "blue")?;
    let (status, error) = house.fails(&["rm", "blue"])?;
    assert_eq!((status, &error["kind"]), (4, &json!("refused")), "{error}");
    assert!(error["hint"].as_str().is_some_and(|h| h.contains("glis rm blue --stop")), "{error}");
    assert_eq!(house.show("blue")?["pid"], busy["pid"]);
    let removed = house.json(&["rm", "blue", "--stop"])?;
    await_gone(pid_of(&busy)?)?;
    assert_eq!(removed["session"]["status"], "archived");
    let trash = text_of(&removed, "place")?;
    let kept = std::fs::read_to_string(Path::new(&trash).join("worktree/last.txt"))?;
    assert_eq!(kept, "words");
    let events = house.events(&text_of(&busy, "id")?)?;
    let order = ["stop_began", "process_ended", "worktree_saved", "suspended", "removal_began"];
    let at = |name: &&str| events.iter().rposition(|event| event == name);
    let places: Vec<_> = order.iter().map(at).collect();
    assert!(places.is_sorted() && places.iter().all(Option::is_some), "{events:?}");
    house.ok(&["trash", "restore", "blue"])?;
    assert_eq!(house.show("blue")?["status"], "suspended");
    house.json(&["resume", "blue"])?;
    // At rest it needs no word about running.
    house.ok(&["stop", "blue"])?;
    assert_eq!(house.json(&["rm", "blue", "--stop"])?["session"]["status"], "archived");
    Ok(())
}

/// S5.
#[test]
fn on_a_terminal_rm_asks_before_it_stops_anything() -> Outcome {
    let house = House::new()?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    house.command("x", &["sleep", "100000"])?;
    for (turn, (key, status)) in [("n", 4), ("", 4), ("y", 0)].iter().enumerate() {
        // A word of its own each time, so that a former answer is not taken for this one.
        tmux.line("one", &format!("clear; glis rm x; echo left-$((1+{turn})) $?"))?;
        let former = format!("left-{turn} ");
        let asks = |screen: &str| screen.contains("[y/N]") && !screen.contains(&former);
        let screen = tmux.until("one", asks)?;
        assert!(screen.contains("Stop it and put it into the trash?"), "{screen}");
        tmux.line("one", key)?;
        tmux.sees("one", &format!("left-{} {status}", turn + 1))?;
        assert_eq!(house.json(&["ls"])?.as_array().map(Vec::len), Some(usize::from(*status != 0)));
    }
    Ok(())
}
