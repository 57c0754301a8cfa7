//! What agents ask, read and answered in the overview, on a real terminal.

use super::overview::opened;
use crate::support::house::{House, Outcome};
use crate::support::tmux::Tmux;

/// An agent that asks this.
fn asking(house: &House, name: &str, words: &str) -> Outcome {
    house.in_terminal(name)?;
    house.ok(&["send", name, words])?;
    house.until(name, "waiting").map(drop)
}

/// Whether a row of the screen is this, but for the blanks around it.
fn has_row(screen: &str, row: &str) -> bool {
    screen.lines().any(|line| line.trim() == row)
}

#[test]
fn an_edit_is_read_as_a_diff_and_a_choice_is_made_by_its_digit() -> Outcome {
    let house = House::new()?;
    asking(&house, "blue", "approve edit src/login.rs | let a = 1; | let a = 2;")?;
    asking(&house, "green", "question Which colour | red | deep blue ;; say it-is-painted")?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.sees("one", "2 waiting")?;
    tmux.key("one", "a")?;
    // The oldest question comes first, with what it is about.
    let screen = tmux.sees("one", "✎ src/login.rs")?;
    assert!(has_row(&screen, "-let a = 1;") && has_row(&screen, "+let a = 2;"), "{screen}");
    assert!(screen.contains("y once · Y for the session · n deny"), "{screen}");
    tmux.key("one", "y")?;
    let screen = tmux.sees("one", "1 to 2 chooses · s answers in words")?;
    assert!(has_row(&screen, "1  red") && has_row(&screen, "2  deep blue"), "{screen}");
    // The end of a call is told where the next word will be.
    tmux.sees("one", "answered `blue`")?;
    house.until("blue", "idle")?;
    // What is no answer to it changes nothing.
    tmux.key("one", "y")?;
    tmux.sees("one", "it wants no yes or no")?;
    assert_eq!(house.show("green")?["status"], "waiting");
    tmux.key("one", "2")?;
    house.until("green", "idle")?;
    tmux.sees("one", "it-is-painted")?;
    tmux.key("one", "@")?;
    let screen = tmux.sees("one", "glis answer green")?;
    assert!(screen.contains("deep blue"), "{screen}");
    Ok(())
}
