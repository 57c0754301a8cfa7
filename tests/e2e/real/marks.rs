//! Messages that begin with a mark, which an agent may take for commands of its own: they arrive as they
//! were written, or it is told what became of them.

use super::cast::{CLAUDE_HEADLESS, GEMINI_HEADLESS, OPENCODE_HEADLESS, Part, Play};
use super::cast::{NAME, times};
use crate::support::house::Outcome;
use glis_stub_model::Voice;

const MARKED: [&str; 3] = ["/nonsense x", "/home/her/it is broken", "?what is that"];

/// They reach the model, and are still there after the next start of the agent.
fn a_message_stays_one(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    for words in MARKED {
        play.turn(words)?;
        let talk = play.house().talk(NAME)?;
        let said = |(voice, said): &&(String, String)| voice == "user" && said == words;
        assert_eq!(talk.iter().filter(said).count(), 1, "{words}: {talk:?}");
    }
    play.pause()?;
    let request = play.resume("and now?")?;
    for words in MARKED {
        assert_eq!(times(&request, Voice::User, words), 1, "{words}: {:#?}", request.turns);
    }
    Ok(())
}

#[test]
fn opencode_takes_a_path_for_words() -> Outcome {
    a_message_stays_one(OPENCODE_HEADLESS)
}

#[test]
fn gemini_remembers_what_begins_like_a_command() -> Outcome {
    a_message_stays_one(GEMINI_HEADLESS)
}

#[test]
fn claude_takes_what_is_no_command_for_words() -> Outcome {
    a_message_stays_one(CLAUDE_HEADLESS)
}

/// Its own commands work without a terminal, and tell what they did, once.
#[test]
fn claude_tells_what_its_commands_did() -> Outcome {
    let Some(play) = Play::with(CLAUDE_HEADLESS, &[])? else { return Ok(()) };
    play.turn("first words")?;
    for (command, told) in [
        ("/status", "/status isn't available"),
        ("/cost", "Total cost"),
        ("/compact", "Compacted"),
        ("/clear", "its conversation was cleared"),
    ] {
        play.turn(command)?;
        let talk = play.house().talk(NAME)?;
        let said = |(voice, said): &&(String, String)| voice != "user" && said.contains(told);
        assert_eq!(talk.iter().filter(said).count(), 1, "{command}: {talk:?}");
    }
    let talk = play.house().talk(NAME)?;
    let cost = talk.iter().filter(|(_, said)| said.contains("Total cost")).count();
    assert_eq!(cost, 1, "it repeats itself when its conversation is made shorter: {talk:?}");
    Ok(())
}
