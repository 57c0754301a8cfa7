//! Ends and beginnings of the real agents: what was said before a fresh start and after it is told
//! apart, and what is sent right before a pause is not lost between the two.

use super::cast::{NAME, Part, Play, text, times};
use crate::support::house::{Outcome, eventually};
use glis_stub_model::{Voice, prompt};

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
    let used = play.show()?["cost"]["tokens_in"].as_u64();
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
    assert!(show["cost"]["tokens_in"].as_u64() > used, "{used:?}: {show}");
    let found = play.house().json(&["search", "later answer 2"])?;
    assert!(!found.as_array().ok_or("no list")?.is_empty(), "{found}");
    Ok(())
}

/// How long after a message its pause comes: before it is typed, while it is, and after.
const SOON_MS: [u64; 5] = [0, 25, 60, 150, 400];

/// A pause that comes right behind a message meets it somewhere on its way. Whatever became of it
/// there, the pause goes through, and the agent hears the message once.
pub(super) fn a_message_right_before_a_pause_is_neither_stuck_nor_lost(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    for (n, soon) in SOON_MS.into_iter().enumerate() {
        play.turn(&prompt(&format!("turn {n}"), &[text("done")]))?;
        play.send(&prompt(&format!("overtaken {n}"), &[text("heard")]))?;
        // Not for a state to come: the moments are what is tried here.
        std::thread::sleep(std::time::Duration::from_millis(soon));
        let paused = play.house().json(&["pause", NAME, "--mode", "interrupt"])?;
        assert_eq!(paused["status"], "paused", "{soon} ms: {paused}");
        play.house().json(&["resume", NAME])?;
        eventually("nothing waits", || {
            play.show().is_ok_and(|s| s["status"] == "idle" && s["queued"] == 0)
        })?;
    }
    play.turn(&prompt("and now?", &[text("all")]))?;
    let request = play.asked("and now?")?;
    for n in 0..SOON_MS.len() {
        let words = format!("overtaken {n}");
        assert_eq!(times(&request, Voice::User, &words), 1, "{words}: {:#?}", request.turns);
    }
    Ok(())
}
