//! The real agents without glis: they start, they speak with the stub, they work. What fails here is
//! no fault of glis.

use super::Real;
use crate::support::house::Outcome;
use glis_stub_model::installed::{CLAUDE, CODEX, GEMINI, OPENCODE, RealAgent};
use glis_stub_model::{Step, Voice, prompt};
use serde_json::{Value, json};

/// Runs the agent once with a prompt that has it write a file, and looks at what the model was
/// asked.
fn works(agent: RealAgent, words: &[&str], tool: &str, input: Value) -> Outcome<Option<Real>> {
    let Some(real) = Real::with(agent)? else { return Ok(None) };
    let repo = real.house.repo();
    let steps = [
        Step { tool: Some(tool.to_owned()), input, ..Step::default() },
        Step { text: Some("it is written".to_owned()), ..Step::default() },
    ];
    let mut command = real.bare(&repo);
    let output = command.args(words).arg(prompt("write it", &steps)).output()?;
    let told = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{told}\n{errors}", output.status);
    assert!(told.contains("it is written"), "{told}\n{errors}");
    assert_eq!(std::fs::read_to_string(repo.join("new.txt"))?.trim_end(), "fresh");
    let turns = real.model.turns();
    assert_eq!(turns.len(), 2, "{turns:#?}");
    assert!(turns[1].turns.iter().any(|turn| turn.voice == Voice::Tool), "{:#?}", turns[1].turns);
    Ok(Some(real))
}

/// The conversation lies in the folder that the test gave the agent, not in the user's.
fn keeps_to_itself(real: Option<Real>, folder: &str) -> Outcome {
    let Some(real) = real else { return Ok(()) };
    let kept = std::fs::read_dir(real.config().join(folder))?;
    assert!(kept.count() > 0, "{folder}");
    Ok(())
}

#[test]
fn claude_works_with_the_stub() -> Outcome {
    let input = json!({"command": "echo fresh > new.txt", "description": "writes"});
    let real = works(CLAUDE, &["-p", "--allowedTools=Bash"], "Bash", input)?;
    keeps_to_itself(real, "projects")
}

#[test]
fn codex_works_with_the_stub() -> Outcome {
    let input = json!({"cmd": "echo fresh > new.txt"});
    let words = ["exec", "--json", "--dangerously-bypass-approvals-and-sandbox"];
    keeps_to_itself(works(CODEX, &words, "exec_command", input)?, "sessions")
}

#[test]
fn opencode_works_with_the_stub() -> Outcome {
    let input = json!({"command": "echo fresh > new.txt", "description": "writes"});
    let real = works(OPENCODE, &["run", "--format", "json"], "bash", input)?;
    keeps_to_itself(real, "../../.local/share/opencode")
}

#[test]
fn gemini_works_with_the_stub() -> Outcome {
    let input = json!({"command": "echo fresh > new.txt", "description": "writes"});
    let words = ["--yolo", "-o", "stream-json", "-p"];
    keeps_to_itself(works(GEMINI, &words, "run_shell_command", input)?, "tmp")
}
