//! A fresh start of every real agent: what was said before and what is said after are told apart.

use super::cast::{NAME, Part, Play, text};
use crate::house::Outcome;
use glis_stub_model::prompt;

/// Enough turns that the former transcript is longer than the next one becomes.
const FORMER_TURNS: u32 = 3;

fn say(play: &Play, when: &str, n: u32) -> Outcome {
    play.turn(&prompt(&format!("{when} question {n}"), &[text(&format!("{when} answer {n}"))]))?;
    Ok(())
}

/// A place in a transcript belongs to one conversation: after a fresh start every answer, former or
/// later, is in the log once, is found, and counts.
pub(super) fn what_is_said_after_a_fresh_start_is_in_the_log_once(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    for n in 1..=FORMER_TURNS {
        say(&play, "former", n)?;
    }
    let former = play.conversation()?;
    let used = play.show()?["usage"]["tokens_in"].as_u64();
    play.house().json(&["stop", NAME])?;
    play.house().json(&["restart", NAME, "--yes"])?;
    say(&play, "later", 1)?;
    // Who listens anew hears everything again.
    play.house().kill_daemon()?;
    say(&play, "later", 2)?;
    assert_ne!(play.conversation()?, former);
    let talk = play.house().talk(NAME)?;
    let answers: Vec<&str> = talk
        .iter()
        .filter(|(voice, _)| voice == "assistant")
        .map(|(_, content)| content.trim())
        .collect();
    let wanted = [
        "former answer 1",
        "former answer 2",
        "former answer 3",
        "later answer 1",
        "later answer 2",
    ];
    assert_eq!(answers, wanted, "{talk:#?}");
    let show = play.show()?;
    assert_eq!(show["last_action"], "later answer 2", "{show}");
    assert!(show["usage"]["tokens_in"].as_u64() > used, "{used:?}: {show}");
    let found = play.house().json(&["search", "later answer 2"])?;
    assert!(!found.as_array().ok_or("no list")?.is_empty(), "{found}");
    Ok(())
}
