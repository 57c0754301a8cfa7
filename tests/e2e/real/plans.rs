//! A plan worked on by real agents: interrupted, and resumed by the id of its own conversation.

use super::Real;
use super::cast::{CLAUDE_HEADLESS, CODEX_HEADLESS, Part, held, times};
use crate::support::house::Outcome;
use crate::support::planned::{Window, record, runs};
use crate::support::wreck::text_of;
use glis_stub_model::{Step, Voice, prompt};
use serde_json::json;

/// Ctrl+C in the middle of a turn, then `resume`: the same run goes on, in the same conversation.
fn a_task_is_paused_and_resumed_natively(part: Part) -> Outcome {
    let Some(real) = Real::with(part.agent)? else { return Ok(()) };
    let (house, agent) = (&real.house, part.agent.name);
    let words = prompt("do the task", &[held("early", "first")]);
    house.ok(&["plan", "add", "long", "--agent", agent, "--prompt", &words])?;
    house.ok(&["plan", "add", "next", "--agent", agent, "--prompt", "something else"])?;
    let window = Window::open(house, &[])?;
    real.model.until_held("first")?;
    window.interrupt()?;
    let (status, said, beside) = window.end()?;
    assert_eq!(status, Some(130), "{said}{beside}");
    assert!(said.contains("Paused. Resume with: glis resume long"), "{said}");
    let paused = record(house, "long-1")?;
    assert_eq!((&paused["state"], &paused["provider"]), (&json!("paused"), &json!(agent)));
    assert_eq!(paused["resumable"], true, "{paused}");
    real.model.open("first");
    let again = prompt("go on with it", &[held("late", "second")]);
    house.ok(&["resume", "long", "--prompt", &again])?;
    real.model.until_held("second")?;
    let request = real.model.until_prompt("go on with it")?;
    assert_eq!(times(&request, Voice::User, "do the task"), 1, "{:#?}", request.turns);
    let pid = house.show("long")?["pid"].as_i64().ok_or("no process")?;
    let line = std::fs::read(format!("/proc/{pid}/cmdline"))?;
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    // Whatever came last is never gone on with.
    for word in ["continue", "last"] {
        assert!(!line.contains(&format!("--{word}")), "{line}");
    }
    real.model.open("second");
    house.follow(1)?.until(|event| event["event"] == "run_succeeded")?;
    let known = text_of(&paused, "provider_session_ref")?;
    let after = runs(house, "long")?;
    assert_eq!(after.len(), 1, "{after:?}");
    assert_eq!(after.first().map(|run| run["provider_session_ref"].clone()), Some(json!(known)));
    assert!(agent != "claude" || line.contains(&known), "{line}");
    assert_eq!(runs(house, "next")?.len(), 0, "nothing else has begun");
    Ok(())
}

#[test]
fn claude_resume_never_uses_continue_only_explicit_session_resume() -> Outcome {
    a_task_is_paused_and_resumed_natively(CLAUDE_HEADLESS)
}

#[test]
fn codex_resumes_a_paused_task_in_its_own_thread() -> Outcome {
    a_task_is_paused_and_resumed_natively(CODEX_HEADLESS)
}

/// The agent is asked in its own words, and what it says is written once it is approved.
fn an_agent_drafts_a_plan(part: Part) -> Outcome {
    let Some(real) = Real::with(part.agent)? else { return Ok(()) };
    let (house, agent) = (&real.house, part.agent.name);
    let draft = "[[task]]\nid = \"dust\"\nprompt = \"Dust everything.\"\n";
    let text = Some(format!("Here it is:\n```toml\n{draft}```\n"));
    let goal = prompt("a clean house", &[Step { text, ..Step::default() }]);
    house.ok(&["plan", "new", &goal, "--agent", agent, "--yes"])?;
    assert_eq!(std::fs::read_to_string(house.repo().join(".glis/plan.toml"))?, draft);
    let request = real.model.until_prompt("a clean house")?;
    assert_eq!(times(&request, Voice::User, "Change no file"), 1, "{:#?}", request.turns);
    house.ok(&["plan", "check"])?;
    Ok(())
}

#[test]
fn claude_drafts_a_plan() -> Outcome {
    an_agent_drafts_a_plan(CLAUDE_HEADLESS)
}

#[test]
fn codex_drafts_a_plan() -> Outcome {
    an_agent_drafts_a_plan(CODEX_HEADLESS)
}
