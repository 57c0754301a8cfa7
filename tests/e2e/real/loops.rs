//! A loop of real agents: spoken to and paused in its iteration, its daemon killed, and gone on with in a
//! fresh conversation.

use super::Real;
use super::cast::{CLAUDE_HEADLESS, CLAUDE_TERMINAL, CODEX_HEADLESS, NAME, Part, held, times};
use crate::support::house::{Background, Outcome};
use glis_stub_model::{Received, Voice, prompt};
use serde_json::json;

/// What every iteration is told.
const WORDS: &str = "do the next item";
/// What is said to it in its first one.
const BETWEEN: &str = "and mind the gap";

fn a_loop_is_paused_after_its_iteration_and_goes_on_after_a_kill(part: Part) -> Outcome {
    let Some(real) = Real::with(part.agent)? else { return Ok(()) };
    let house = &real.house;
    let words = prompt(WORDS, &[part.runs("echo x >> work.txt"), held("It is done.", "first")]);
    house.json(&part.begins("loop", &["--prompt", &words, "--max", "3"]))?;
    real.model.until_held("first")?;
    house.ok(&["send", NAME, BETWEEN])?;
    let mut window = Background::start(house.glis().args(["pause", NAME]))?;
    house.follow(1)?.until(|event| event["event"] == "loop_pause_asked")?;
    let pausing = house.show(NAME)?;
    assert_eq!(pausing["loop"]["state"], "pausing", "{pausing}");
    real.model.open("first");
    let paused = house.until(NAME, "paused")?;
    assert!(window.0.wait()?.success());
    let own = &paused["loop"];
    assert_eq!((&own["state"], &own["iteration"]), (&json!("paused"), &json!(1)), "{paused}");
    let request = real.model.until_prompt(BETWEEN)?;
    assert_eq!(times(&request, Voice::User, WORDS), 1, "{:#?}", request.turns);
    house.kill_daemon()?;
    // Paused it stays, over any number of daemons.
    assert_eq!(house.show(NAME)?["loop"]["state"], "paused");
    house.ok(&["resume", NAME])?;
    house.follow(1)?.until(|event| event["event"] == "loop_done")?;
    let ended = house.show(NAME)?;
    let own = &ended["loop"];
    assert_eq!((&own["iteration"], &own["failures"]), (&json!(3), &json!(0)), "{ended}");
    // In a terminal no agent says what it costs.
    let tells_cost = part.agent.name == "claude" && part.is_headless();
    assert_eq!(own["cost"].is_number(), tells_cost, "{ended}");
    assert_eq!(ended["former_refs"].as_array().map(Vec::len), Some(2), "{ended}");
    let work = std::fs::read_to_string(house.file(NAME, "work.txt")?)?;
    assert_eq!(work.lines().count(), 3, "each was done once");
    // None knows of the one before it.
    let fresh = |request: &&Received| times(request, Voice::User, BETWEEN) == 0;
    let turns = real.model.turns();
    for request in turns.iter().filter(|request| request.prompt().contains(WORDS)).filter(fresh) {
        assert_eq!(times(request, Voice::User, WORDS), 1, "{:#?}", request.turns);
    }
    Ok(())
}

#[test]
fn claude_a_pause_takes_effect_after_the_current_iteration_and_outlives_the_daemon() -> Outcome {
    a_loop_is_paused_after_its_iteration_and_goes_on_after_a_kill(CLAUDE_HEADLESS)
}

#[test]
fn claude_in_its_terminal_is_paused_after_the_current_iteration_as_well() -> Outcome {
    a_loop_is_paused_after_its_iteration_and_goes_on_after_a_kill(CLAUDE_TERMINAL)
}

#[test]
fn codex_a_pause_takes_effect_after_the_current_iteration_and_outlives_the_daemon() -> Outcome {
    a_loop_is_paused_after_its_iteration_and_goes_on_after_a_kill(CODEX_HEADLESS)
}

fn a_toggle_while_pausing_cancels_it(part: Part) -> Outcome {
    let Some(real) = Real::with(part.agent)? else { return Ok(()) };
    let house = &real.house;
    let words = prompt(WORDS, &[held("It is done.", "first")]);
    house.json(&part.begins("loop", &["--prompt", &words, "--max", "2"]))?;
    real.model.until_held("first")?;
    let mut window = Background::start(house.glis().args(["pause", NAME]))?;
    let mut events = house.follow(1)?;
    events.until(|event| event["event"] == "loop_pause_asked")?;
    assert!(house.ok(&["ls"])?.contains("PAUSING... after this iteration"));
    house.ok(&["resume", NAME])?;
    assert_eq!(house.show(NAME)?["loop"]["state"], "running");
    assert!(!window.0.wait()?.success(), "who waits for the pause is told");
    real.model.open("first");
    events.until(|event| event["event"] == "loop_done")?;
    let ended = house.show(NAME)?;
    assert_eq!(ended["loop"]["iteration"], 2, "{ended}");
    let id = ended["id"].as_str().ok_or("no id")?;
    let begun = house.events(id)?.into_iter().filter(|event| event == "pause_began");
    assert_eq!(begun.count(), 0, "nothing was paused");
    Ok(())
}

#[test]
fn claude_a_toggle_while_pausing_cancels_the_pause_and_the_loop_goes_on() -> Outcome {
    a_toggle_while_pausing_cancels_it(CLAUDE_HEADLESS)
}

#[test]
fn codex_a_toggle_while_pausing_cancels_the_pause_and_the_loop_goes_on() -> Outcome {
    a_toggle_while_pausing_cancels_it(CODEX_HEADLESS)
}
