//! A real agent from the overview: begun, answered, paused, left, and found again after the daemon's death.

use super::Real;
use crate::support::house::Outcome;
use crate::support::tmux::Tmux;
use crate::terminal::asked::allows;
use crate::terminal::newcomer::{opens, starts, told};
use glis_stub_model::installed::CLAUDE;
use glis_stub_model::{Step, prompt};
use serde_json::json;

/// What the session is called: the first words of what it is told.
const NAME: &str = "make-it";

fn step(tool: &str, input: serde_json::Value) -> Step {
    Step { tool: Some(tool.to_owned()), input, ..Step::default() }
}

#[test]
fn claude_lives_through_a_day_in_the_overview() -> Outcome {
    let Some(real) = Real::with(CLAUDE)? else { return Ok(()) };
    let house = &real.house;
    let Some(tmux) = Tmux::start(house)? else { return Ok(()) };
    // The terminal has a path of its own, in which the agent is found as a user's shell finds it.
    tmux.line("one", &format!("PATH={}:$PATH", house.folder().join("bin").display()))?;
    opens(&tmux)?;
    told(&tmux, ("n", "starts an agent"), &["n"])?;
    let touch = json!({"command": "touch asked-for.txt", "description": "d"});
    let text = |text: &str| Step { text: Some(text.to_owned()), ..Step::default() };
    let first = prompt("make it", &[step("Bash", touch), text("it-is-made")]);
    starts(&tmux, &first, ("claude", &["Right"]))?;
    // It asks, is seen whole, and two keys answer it.
    house.follow(1)?.until(|event| event["event"] == "asked")?;
    tmux.sees("one", "1 waiting")?;
    told(&tmux, ("a", "answer"), &["a"])?;
    tmux.sees("one", "touch asked-for.txt")?;
    told(&tmux, ("y", "allow"), &[])?;
    allows(&tmux)?;
    told(&tmux, ("a", "back"), &["a"])?;
    let name = house.json(&["ls"])?[0]["name"].as_str().ok_or("no session")?.to_owned();
    assert!(name.starts_with(NAME), "{name}");
    house.until(&name, "idle")?;
    assert!(house.file(&name, "asked-for.txt")?.exists());
    tmux.sees("one", "it-is-made")?;
    told(&tmux, ("ctrl+x p", "pause"), &["C-x", "p"])?;
    house.until(&name, "paused")?;
    tmux.sees("one", "⏸ PAUSED")?;
    let before = house.show(&name)?["agent_session_ref"].clone();
    told(&tmux, ("q", "quit"), &["q"])?;
    tmux.left("one", "left-with-0")?;
    house.kill_daemon()?;
    opens(&tmux)?;
    told(&tmux, ("u", "resume"), &["u"])?;
    house.until(&name, "idle")?;
    tmux.sees("one", "ctrl+x p pause")?;
    told(&tmux, ("s", "send"), &["s"])?;
    tmux.sees("one", "message to")?;
    tmux.line("one", &prompt("and now?", &[text("it-goes-on")]))?;
    let told = real.model.until_prompt("and now?")?;
    assert!(told.says(glis_stub_model::Voice::User, "make it"), "{:#?}", told.turns);
    house.until(&name, "idle")?;
    tmux.sees("one", "it-goes-on")?;
    assert_eq!(house.show(&name)?["agent_session_ref"], before, "the same conversation");
    Ok(())
}
