//! Pages that are walked on a real terminal: what a session has changed, and what was said.

use super::overview::opened;
use crate::support::house::{House, Outcome};
use crate::support::tmux::Tmux;

#[test]
fn a_diff_is_walked_and_comments_on_its_lines_are_one_message() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    house
        .turn("blue", "write notes.txt hello ;; write plan.txt first ;; say **done** with `it`")?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.sees("one", "1 session")?;
    tmux.key("one", "3")?;
    tmux.sees("one", "2 files  +2")?;
    // From file to file; one that was seen is ticked, and the next is in hand.
    tmux.key("one", "]")?;
    tmux.sees("one", "h list  ] file")?;
    tmux.key("one", "Space")?;
    tmux.sees("one", "✓ 1 of 2 files seen")?;
    tmux.run(&["send-keys", "-t", "one", "[", "j", "j"])?;
    tmux.key("one", "c")?;
    tmux.sees("one", "comment on notes.txt:1")?;
    tmux.line("one", "say why")?;
    tmux.sees("one", "✎ say why")?;
    tmux.key("one", "s")?;
    tmux.sees("one", "Comments on your changes:")?;
    tmux.key("one", "Enter")?;
    tmux.sees("one", "sent to `blue`")?;
    let told = house.talk("blue")?;
    assert!(
        told.iter().any(|(_, text)| text.contains("notes.txt:1\n> +hello\nsay why")),
        "{told:?}"
    );
    // What was said, with its structure, on all of the screen.
    tmux.key("one", "2")?;
    tmux.key("one", "+")?;
    let screen = tmux.sees("one", "done with it")?;
    assert!(screen.contains("── turn") && !screen.contains("**done**"), "{screen}");
    tmux.key("one", "l")?;
    tmux.key("one", "/")?;
    tmux.line("one", "DONE")?;
    tmux.sees("one", "h list  ] turn")?;
    tmux.key("one", "q")?;
    tmux.sees("one", "enter attach").map(drop)
}

/// The agent's own terminal is as wide as what shows it.
#[test]
fn on_all_of_the_screen_the_terminal_has_its_size() -> Outcome {
    let house = House::new()?;
    house.json(&["new", "blue", "--", "bash", "--norc"])?;
    house.until("blue", "idle")?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    tmux.run(&["resize-window", "-t", "one", "-x", "100", "-y", "30"])?;
    opened(&tmux)?;
    tmux.sees("one", "1 terminal")?;
    tmux.key("one", "+")?;
    tmux.until("one", |screen| !screen.contains("idle 1"))?;
    house.ok(&["send", "blue", "stty size"])?;
    // All but the rows above and below it, and a column of air.
    tmux.sees("one", "24 99").map(drop)
}
