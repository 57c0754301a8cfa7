//! Messages that begin with a mark, which an agent may take for commands of its own: they arrive as they
//! were written.

use super::cast::{CLAUDE_HEADLESS, GEMINI_HEADLESS, OPENCODE_HEADLESS, Part, Play};
use super::cast::{NAME, times};
use crate::support::house::Outcome;
use glis_stub_model::Voice;

const MARKED: [&str; 5] =
    ["/nonsense x", "/home/her/it is broken", "?what is that", "/clear", "/by-the-worktree"];

/// They reach the model, and are still there after the next start of the agent.
fn a_message_stays_one(part: Part) -> Outcome {
    let Some(play) = Play::with(part, &[])? else { return Ok(()) };
    // What a repository brings along is no more of a command than what the agent knows by itself.
    let commands = play.house().file(NAME, ".claude/commands")?;
    std::fs::create_dir_all(&commands)?;
    std::fs::write(commands.join("by-the-worktree.md"), "Say something else.")?;
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
fn claude_takes_its_commands_for_words() -> Outcome {
    a_message_stays_one(CLAUDE_HEADLESS)
}
