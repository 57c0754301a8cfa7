//! Somebody who has read nothing: every key that is pressed was written on the screen before.

use crate::support::house::{House, Outcome};
use crate::support::tmux::Tmux;

/// Presses keys that the screen tells to press for this.
pub(crate) fn told(tmux: &Tmux<'_>, (written, does): (&str, &str), keys: &[&str]) -> Outcome {
    tmux.sees("one", &format!("{written} {does}"))?;
    keys.iter().try_for_each(|key| tmux.key("one", key))
}

/// Opens the program and waits until it shows what is there.
pub(crate) fn opens(tmux: &Tmux<'_>) -> Outcome {
    tmux.line("one", "clear; glis; echo left-with-$?")?;
    tmux.sees("one", "? keys").map(drop)
}

/// Types into the box for a new session. `agent` is reached by these keys.
pub(crate) fn starts(tmux: &Tmux<'_>, prompt: &str, agent: (&str, &[&str])) -> Outcome {
    tmux.sees("one", "new session in repo")?;
    tmux.run(&["send-keys", "-t", "one", "-l", prompt])?;
    tmux.sees("one", "tab next field")?;
    tmux.run(&["send-keys", "-t", "one", "Tab", "Tab"])?;
    tmux.sees("one", "‹ as configured")?;
    agent.1.iter().try_for_each(|key| tmux.key("one", key))?;
    tmux.sees("one", &format!("‹ {} ›", agent.0))?;
    told(tmux, ("enter", "start"), &["Enter"])
}

#[test]
fn two_agents_are_started_watched_answered_paused_left_and_found_again() -> Outcome {
    let house = House::new()?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    let rehearsal = ("rehearsal", &["Left"][..]);
    opens(&tmux)?;
    tmux.sees("one", "No sessions yet.")?;
    told(&tmux, ("n", "starts an agent"), &["n"])?;
    starts(&tmux, "approve Bash: make ;; say it-is-made", rehearsal)?;
    tmux.sees("one", "1 waiting")?;
    told(&tmux, ("n", "new"), &["n"])?;
    starts(&tmux, "say watch-me-work ;; work 600", rehearsal)?;
    // The new one is in hand, and its terminal is seen.
    tmux.sees("one", "2 sessions")?;
    tmux.sees("one", "\n watch-me-work")?;
    told(&tmux, ("a", "answer"), &["a"])?;
    tmux.sees("one", "wants to be allowed")?;
    told(&tmux, ("y", "allow"), &["y"])?;
    tmux.sees("one", "allowed by you")?;
    told(&tmux, ("a", "back"), &["a"])?;
    tmux.until("one", |screen| !screen.contains("waiting") && screen.contains("1 busy"))?;
    told(&tmux, ("ctrl+x p", "pause"), &["C-x", "p"])?;
    tmux.sees("one", "⏸ PAUSED")?;
    told(&tmux, ("q", "quit"), &["q"])?;
    tmux.left("one", "left-with-0")?;
    house.kill_daemon()?;
    opens(&tmux)?;
    // What was paused says so, and how it goes on.
    tmux.sees("one", "‖ say-watch-me-work-work-600")?;
    tmux.key("one", "G")?;
    tmux.sees("one", "⏸ PAUSED  Paused")?;
    told(&tmux, ("u", "resume"), &["u"])?;
    tmux.until("one", |screen| !screen.contains('‖') && screen.contains("2 sessions"))?;
    house.until("say-watch-me-work-work-600", "busy,idle")?;
    Ok(())
}
