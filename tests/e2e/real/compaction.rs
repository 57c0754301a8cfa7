//! A real agent as the model that sums a long conversation up.

use super::cast::{CLAUDE_HEADLESS, NAME, Play, text};
use crate::support::house::Outcome;
use crate::support::wreck::{folder, text_of};
use glis_stub_model::{Voice, prompt};
use serde_json::json;
use std::io::Write as _;

/// Claude Code without a terminal, as a user would name it in the configuration.
const CONFIG: &str = "[compact]\ncommand = [\"claude\", \"--print\"]\n";
const SUMMARY: &str = "## Key decisions\n- herons over swans\n## Problems and solutions\n- none\n\
                       ## Current state\n- all is well\n## Pending tasks\n- feed the heron\n";

#[test]
fn claude_sums_a_conversation_up() -> Outcome {
    let Some(play) = Play::with(CLAUDE_HEADLESS, &[])? else { return Ok(()) };
    let house = play.house();
    let steps = [play.run("cat nowhere"), play.run("cat file.txt"), text("noted")];
    play.turn(&prompt("the word is heron", &steps))?;
    let paused = play.pause()?;
    let conversation = folder(house, &text_of(&paused, "id")?).join("conversation.jsonl");
    let mut file = std::fs::OpenOptions::new().append(true).open(&conversation)?;
    for n in 1..=120 {
        let line = json!({
            "timestamp": "2026-01-01T00:00:00.000Z", "type": "user", "content": format!("word{n}"),
        });
        writeln!(file, "{line}")?;
    }
    // The last script of what it reads is the one that counts.
    let script = prompt("the end", &[text(SUMMARY)]);
    let line =
        json!({ "timestamp": "2026-01-01T00:00:00.000Z", "type": "user", "content": script });
    writeln!(file, "{line}")?;
    house.configure(CONFIG)?;
    let compacted = house.json(&["compact", NAME])?;
    assert_eq!(compacted["key_decisions"], json!(["herons over swans"]), "{compacted}");
    assert_eq!(compacted["pending_tasks"], json!(["feed the heron"]), "{compacted}");
    // A tool that failed is told with what it did then, whatever the model makes of it.
    let summary = text_of(&compacted, "summary")?;
    let failed = summary.lines().find(|line| line.contains("failed: Bash"));
    let mended = failed.is_some_and(|line| {
        line.contains("cat nowhere'; then: Bash") && line.ends_with("cat file.txt'")
    });
    assert!(mended, "{summary}");
    let asked = play.asked("Summarise the conversation below")?;
    let told = asked.turns.iter().filter(|turn| turn.voice == Voice::User);
    assert!(told.into_iter().any(|turn| turn.text.contains("word77")), "{:#?}", asked.turns);
    assert_eq!(std::fs::read_to_string(&conversation)?.lines().count(), 51);
    Ok(())
}
