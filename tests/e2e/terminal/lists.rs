//! What is begun, sent, taken back and looked up from the overview, on a real terminal.

use super::overview::opened;
use crate::support::house::{House, Outcome, eventually};
use crate::support::tmux::Tmux;

#[test]
fn what_was_removed_is_taken_out_of_the_trash_and_deleted_there() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.sees("one", "1 session")?;
    tmux.key("one", "D")?;
    tmux.sees("one", "Nothing is deleted.")?;
    tmux.key("one", "y")?;
    tmux.sees("one", "blue was removed")?;
    tmux.key("one", "T")?;
    tmux.sees("one", "blue  removed just now · kept until")?;
    tmux.key("one", "Enter")?;
    tmux.sees("one", "`blue` is back from the trash")?;
    tmux.sees("one", "1 session")?;
    assert_eq!(house.show("blue")?["name"], "blue");
    tmux.key("one", "D")?;
    tmux.sees("one", "Nothing is deleted.")?;
    tmux.key("one", "y")?;
    tmux.sees("one", "blue was removed")?;
    tmux.key("one", "T")?;
    tmux.sees("one", "blue  removed just now")?;
    tmux.key("one", "D")?;
    tmux.sees("one", "Delete `blue` for good?")?;
    tmux.key("one", "y")?;
    tmux.sees("one", "The trash is empty.")?;
    assert_eq!(house.json(&["trash", "list"])?.as_array().map(Vec::len), Some(0));
    Ok(())
}

#[test]
fn what_the_rules_have_answered_is_looked_up() -> Outcome {
    let house = House::new()?;
    house.json(&["new", "blue", "--agent", "rehearsal", "--headless", "--auto-yes"])?;
    house.turn("blue", "approve run ls -la ;; say listed")?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.key("one", "A")?;
    tmux.sees("one", "blue  run ls -la")?;
    tmux.sees("one", "accept: rule `ls`, which comes with glis").map(drop)
}

#[test]
fn a_loop_is_begun_with_its_limits_in_the_box_for_a_new_one() -> Outcome {
    let house = House::new()?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.key("one", "N")?;
    tmux.sees("one", "new loop in repo")?;
    tmux.run(&["send-keys", "-t", "one", "-l", "append work.txt x"])?;
    tmux.sees("one", "append-work-txt-x")?;
    // From the prompt to the name, the agent, and the one before the first.
    tmux.run(&["send-keys", "-t", "one", "Tab", "Tab", "Left"])?;
    tmux.sees("one", "‹ rehearsal ›")?;
    tmux.run(&["send-keys", "-t", "one", "BTab", "BTab", "BTab", "BTab", "BTab"])?;
    tmux.run(&["send-keys", "-t", "one", "-l", "2"])?;
    tmux.sees("one", "at most   2")?;
    tmux.key("one", "Enter")?;
    tmux.sees("one", "`append-work-txt-x` is there")?;
    eventually("both iterations are done", || {
        let shown = house.show("append-work-txt-x");
        shown.is_ok_and(|shown| shown["loop"]["state"] == "done" && shown["loop"]["max"] == 2)
    })?;
    tmux.sees("one", "✓ DONE").map(drop)
}

#[test]
fn every_option_of_a_new_session_is_in_its_box() -> Outcome {
    let house = House::new()?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.key("one", "n")?;
    tmux.sees("one", "new session in repo")?;
    tmux.run(&["send-keys", "-t", "one", "-l", "say here"])?;
    tmux.run(&["send-keys", "-t", "one", "Tab", "Tab", "Left"])?;
    tmux.sees("one", "‹ rehearsal ›")?;
    // From the agent back to the last field, which opens the others.
    tmux.run(&["send-keys", "-t", "one", "BTab", "BTab", "BTab", "Right"])?;
    tmux.sees("one", "options   ‹ all of them ›")?;
    // Over the persona and the command.
    tmux.run(&["send-keys", "-t", "one", "Tab", "Tab", "Tab", "Right"])?;
    tmux.sees("one", "terminal  ‹ no: headless ›")?;
    tmux.run(&["send-keys", "-t", "one", "Tab", "Right"])?;
    tmux.sees("one", "works in  ‹ the repository itself, in place ›")?;
    tmux.run(&["send-keys", "-t", "one", "Tab"])?;
    tmux.run(&["send-keys", "-t", "one", "-l", "20"])?;
    tmux.sees("one", "idle for  20")?;
    tmux.key("one", "Enter")?;
    tmux.sees("one", "`say-here` is there")?;
    let shown = house.show("say-here")?;
    assert_eq!(
        (&shown["mode"], &shown["in_place"], &shown["idle_timeout_secs"]),
        (&"headless".into(), &true.into(), &1200.into()),
        "{shown}"
    );
    tmux.key("one", "@")?;
    // A line is whole, however long it is.
    let screen = tmux.sees("one", "--in-place")?;
    assert!(screen.contains("--idle-timeout") && screen.contains("--headless"), "{screen}");
    Ok(())
}

#[test]
fn a_file_goes_with_a_message() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    std::fs::write(house.repo().join("notes.md"), "from-the-file\n")?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    opened(&tmux)?;
    tmux.sees("one", "1 session")?;
    tmux.key("one", "F")?;
    tmux.sees("one", "a file for blue")?;
    tmux.line("one", "notes.md")?;
    tmux.sees("one", "/notes.md")?;
    tmux.sees("one", "message to blue")?;
    tmux.line("one", "say read-it")?;
    tmux.sees("one", "sent to `blue`")?;
    house.until("blue", "idle")?;
    let talk = house.talk("blue")?;
    let named = talk.iter().find_map(|(_, text)| text.split("File: ").nth(1)).ok_or("no file")?;
    assert_eq!(std::fs::read_to_string(named.trim())?, "from-the-file\n", "{talk:?}");
    Ok(())
}
