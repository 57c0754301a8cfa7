//! What the real agents use and what they still have to do, as `show` tells it.

use super::Real;
use super::cast::{
    CLAUDE_HEADLESS, CLAUDE_TERMINAL, CODEX_HEADLESS, CODEX_TERMINAL, GEMINI_HEADLESS, NAME,
    OPENCODE_HEADLESS, Part, Play, text,
};
use crate::support::house::{Outcome, kill_and_wait};
use glis_stub_model::{Step, prompt};
use serde_json::{Value, json};

fn tool(name: &str, input: Value) -> Step {
    Step { tool: Some(name.to_owned()), input, ..Step::default() }
}

/// What every request to the stub counts for.
const TOKENS: (u64, u64) = (1234, 56);

/// Three requests before a crash of both, and one after it: each counts once.
fn what_is_used_is_added_up(part: Part) -> Outcome<Option<Value>> {
    let Some(play) = Play::with(part, &[])? else { return Ok(None) };
    play.turn(&prompt("write it", &[play.run("echo fresh > new.txt"), text("it is written")]))?;
    play.turn("first words")?;
    let pid = play.pid()?;
    play.house().kill_daemon()?;
    kill_and_wait(pid)?;
    play.until("interrupted,suspended")?;
    play.resume("after the deaths")?;
    let usage = play.show()?["cost"].clone();
    assert_eq!(play.real.model.turns().len(), 4);
    // Gemini CLI counts what it asks beside the conversation as well: which model fits.
    let counts_all = part.agent == GEMINI_HEADLESS.agent;
    let model = &play.real.model;
    let asked = if counts_all { model.requests() } else { model.turns() };
    let asked = u64::try_from(asked.len())?;
    assert_eq!(usage["tokens_in"], asked * TOKENS.0, "{usage}");
    assert_eq!(usage["tokens_out"], asked * TOKENS.1, "{usage}");
    let shown = play.house().ok(&["show", NAME])?;
    assert!(shown.contains(&format!("{} tokens in", asked * TOKENS.0)), "{shown}");
    Ok(Some(usage))
}

/// One of two is done; a resume changes nothing about that.
fn a_list_is_kept(part: Part, steps: &[Step]) -> Outcome {
    let Some(mut play) = Play::with(part, &[])? else { return Ok(()) };
    if part.agent.name == "claude" {
        play.real.house.surround("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1");
        if play.show()?["mode"] == "terminal" {
            // It runs already, without that variable.
            play.until("idle")?;
            play.pause()?;
            play.house().json(&["resume", NAME])?;
        }
    }
    let listed = play.turn(&prompt("keep a list", steps))?;
    assert_eq!(listed["pending_tasks"], json!(["two"]), "{listed}");
    let shown = play.house().ok(&["show", NAME])?;
    assert!(shown.contains("pending       two"), "{shown}");
    play.turn("a message is taken beside the list")?;
    play.pause()?;
    play.resume("and now?")?;
    assert_eq!(play.show()?["pending_tasks"], json!(["two"]));
    Ok(())
}

fn claude_tasks() -> Vec<Step> {
    vec![
        tool("TaskCreate", json!({"subject": "one", "description": "the first"})),
        tool("TaskCreate", json!({"subject": "two", "description": "the second"})),
        tool("TaskUpdate", json!({"taskId": "1", "status": "completed"})),
        text("listed"),
    ]
}

#[test]
fn claude_headless_adds_up() -> Outcome {
    let Some(usage) = what_is_used_is_added_up(CLAUDE_HEADLESS)? else { return Ok(()) };
    assert!(usage["usd"].as_f64().is_some_and(|dollars| dollars > 0.0), "{usage}");
    Ok(())
}

#[test]
fn claude_terminal_adds_up() -> Outcome {
    what_is_used_is_added_up(CLAUDE_TERMINAL).map(drop)
}

#[test]
fn codex_headless_adds_up() -> Outcome {
    what_is_used_is_added_up(CODEX_HEADLESS).map(drop)
}

#[test]
fn codex_terminal_adds_up() -> Outcome {
    what_is_used_is_added_up(CODEX_TERMINAL).map(drop)
}

#[test]
fn gemini_headless_adds_up() -> Outcome {
    what_is_used_is_added_up(GEMINI_HEADLESS).map(drop)
}

#[test]
fn claude_headless_keeps_a_list() -> Outcome {
    a_list_is_kept(CLAUDE_HEADLESS, &claude_tasks())
}

#[test]
fn claude_terminal_keeps_a_list() -> Outcome {
    a_list_is_kept(CLAUDE_TERMINAL, &claude_tasks())
}

#[test]
fn opencode_headless_keeps_a_list() -> Outcome {
    let task = |content: &str, status: &str| json!({"content": content, "status": status, "priority": "high", "id": content});
    let todos = json!({"todos": [task("one", "completed"), task("two", "pending")]});
    a_list_is_kept(OPENCODE_HEADLESS, &[tool("todowrite", todos), text("listed")])
}

#[test]
fn gemini_headless_keeps_a_list() -> Outcome {
    let task = |told: &str, status: &str| json!({"description": told, "status": status});
    let todos = json!({"todos": [task("one", "completed"), task("two", "pending")]});
    a_list_is_kept(GEMINI_HEADLESS, &[tool("write_todos", todos), text("listed")])
}

/// Codex offers its plans to some models only, unless it is told to.
const CODEX_PLANS: &[&str] = &["-c", "tools.update_plan.enabled=true"];

fn codex_plan() -> [Step; 2] {
    let step = |told: &str, status: &str| json!({"step": told, "status": status});
    let plan = json!({"plan": [step("one", "completed"), step("two", "pending")]});
    [tool("update_plan", plan), text("listed")]
}

#[test]
fn codex_headless_keeps_a_plan() -> Outcome {
    a_list_is_kept(CODEX_HEADLESS.told(CODEX_PLANS), &codex_plan())
}

#[test]
fn codex_terminal_keeps_a_plan() -> Outcome {
    a_list_is_kept(CODEX_TERMINAL.told(CODEX_PLANS), &codex_plan())
}

/// The list that Claude Code kept before it had tasks, and keeps again for whoever wants that.
fn claude_keeps_a_list_of_the_former_kind(part: Part) -> Outcome {
    let Some(mut real) = Real::with(part.agent)? else { return Ok(()) };
    real.house.surround("CLAUDE_CODE_ENABLE_TASKS", "0");
    let play = Play::of(real, part, &[])?;
    let task = |content: &str, status: &str| json!({"content": content, "status": status, "activeForm": content});
    let todos = json!({"todos": [task("one", "completed"), task("two", "pending")]});
    let listed = play.turn(&prompt("keep a list", &[tool("TodoWrite", todos), text("listed")]))?;
    assert_eq!(listed["pending_tasks"], json!(["two"]), "{listed}");
    Ok(())
}

#[test]
fn claude_headless_keeps_a_list_of_the_former_kind() -> Outcome {
    claude_keeps_a_list_of_the_former_kind(CLAUDE_HEADLESS)
}

#[test]
fn claude_terminal_keeps_a_list_of_the_former_kind() -> Outcome {
    claude_keeps_a_list_of_the_former_kind(CLAUDE_TERMINAL)
}
