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
    assert!(screen.contains(" y allow  n deny  Y for the session"), "{screen}");
    // What led to it stands below it.
    tmux.sees("one", "before that")?;
    tmux.key("one", "y")?;
    // The end of a call is told where the next word will be.
    tmux.sees("one", "✓ `blue`: allowed")?;
    house.until("blue", "idle")?;
    tmux.key("one", "j")?;
    let screen = tmux.sees("one", " 1-2 choose  s in words")?;
    assert!(has_row(&screen, "1  red") && has_row(&screen, "2  deep blue"), "{screen}");
    // What is no answer to it changes nothing.
    tmux.key("one", "y")?;
    tmux.sees("one", "it wants no yes or no")?;
    assert_eq!(house.show("green")?["status"], "waiting");
    tmux.key("one", "2")?;
    house.until("green", "idle")?;
    tmux.sees("one", "answered by you")?;
    tmux.key("one", "a")?;
    tmux.sees("one", "it-is-painted")?;
    tmux.key("one", "@")?;
    let screen = tmux.sees("one", "glis answer green")?;
    assert!(screen.contains("deep blue"), "{screen}");
    Ok(())
}

#[test]
fn a_budget_that_is_used_up_is_granted_by_a_digit() -> Outcome {
    let house = House::new()?;
    let new = ["new", "blue", "--agent", "rehearsal", "--headless", "--budget", "usd=5"];
    house.ok(&[&new[..], &["--prompt", "cost 6 ;; say one"]].concat())?;
    house.until("blue", "paused")?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.sees("one", "120% of usd=5")?;
    tmux.key("one", "a")?;
    let screen = tmux.sees("one", "The budget is used up ($6 of $5). Grant as much again?")?;
    assert!(has_row(&screen, "1  grant") && has_row(&screen, "2  leave"), "{screen}");
    assert!(screen.contains(" 1-2 choose"), "{screen}");
    tmux.key("one", "1")?;
    tmux.sees("one", "answered by you")?;
    house.until("blue", "idle")?;
    tmux.key("one", "a")?;
    tmux.sees("one", "0% of usd=5")?;
    Ok(())
}

/// A key that is held, and a question that is answered elsewhere while a hand is on its way to the key.
#[test]
fn a_key_answers_the_question_that_was_on_the_screen_and_no_other() -> Outcome {
    let house = House::new()?;
    for name in ["one", "two", "three", "four"] {
        asking(&house, name, &format!("approve delete table {name}"))?;
    }
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.sees("one", "4 waiting")?;
    tmux.key("one", "a")?;
    tmux.sees("one", "    delete table one")?;
    tmux.run(&["send-keys", "-t", "one", "-l", "yyyyyyyy"])?;
    tmux.sees("one", "allowed by you")?;
    house.until("one", "idle")?;
    tmux.run(&["send-keys", "-t", "one", "-l", "yYn12"])?;
    tmux.sees("one", "nothing was answered: that question is allowed by you")?;
    // A yes that comes together with the key that moves was pressed before the question was painted.
    tmux.run(&["send-keys", "-t", "one", "-l", "jy"])?;
    tmux.sees("one", "not answered: read it first")?;
    tmux.sees("one", "    delete table two")?;
    assert_eq!(house.show("two")?["status"], "waiting");
    house.ok(&["answer", "two", "deny"])?;
    tmux.sees("one", "denied elsewhere")?;
    tmux.key("one", "y")?;
    tmux.sees("one", "nothing was answered: that question is denied elsewhere")?;
    for name in ["three", "four"] {
        assert_eq!(house.show(name)?["status"], "waiting", "{name} was never in hand");
    }
    Ok(())
}

#[test]
fn what_is_asked_hides_nothing_and_is_allowed_when_all_of_it_was_seen() -> Outcome {
    let house = House::new()?;
    let steps = "echo step; ".repeat(300);
    let words = format!("approve cat sa\u{200b}fe\u{202e}/x; {steps}curl evil.example");
    let new = ["new", "blue", "--agent", "rehearsal", "--headless", "--prompt"];
    house.ok(&[&new[..], &[words.as_str()]].concat())?;
    house.until("blue", "waiting")?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.sees("one", "1 waiting")?;
    tmux.key("one", "a")?;
    // Not the beginning of it that the overview shows before.
    tmux.until("one", |screen| {
        let begins = screen.contains(r"cat sa\u{200b}fe\u{202e}/x");
        begins && !screen.contains("a answers") && !screen.contains("curl")
    })?;
    tmux.key("one", "y")?;
    let screen = tmux.sees("one", "not answered: ")?;
    assert_eq!(house.show("blue")?["status"], "waiting", "{screen}");
    while !tmux.sees("one", "? keys")?.contains("curl evil.example") {
        tmux.key("one", "NPage")?;
    }
    assert_eq!(house.show("blue")?["status"], "waiting");
    allows(&tmux)?;
    house.until("blue", "idle").map(drop)
}

/// A yes behind a key that was held, or to a question that has just come, comes too early; one after a moment does not.
pub(crate) fn allows(tmux: &Tmux<'_>) -> Outcome {
    loop {
        tmux.until("one", |screen| !screen.contains("not answered"))?;
        tmux.key("one", "y")?;
        let screen = tmux.until("one", |screen| {
            screen.contains("not answered") || screen.contains("allowed by you")
        })?;
        if screen.contains("allowed by you") {
            return Ok(());
        }
    }
}
