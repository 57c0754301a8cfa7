//! A plan worked on by real agents: interrupted, and resumed by the id of its own conversation.

use super::Real;
use super::cast::{CLAUDE_HEADLESS, CODEX_HEADLESS, Part, held, times};
use crate::support::house::Outcome;
use crate::support::planned::{Window, record_in, runs};
use crate::support::wreck::text_of;
use glis_stub_model::{Step, Voice, prompt};
use serde_json::{Value, json};
use std::process::Command;

/// Ctrl+C in the middle of the first task of a plan: its record, and the house.
fn interrupted(part: Part) -> Outcome<Option<(Real, Value)>> {
    let Some(real) = Real::with(part.agent)? else { return Ok(None) };
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
    let paused = record_in(house, "plan", "long-1")?;
    assert_eq!((&paused["state"], &paused["provider"]), (&json!("paused"), &json!(agent)));
    assert_eq!(paused["resumable"], true, "{paused}");
    real.model.open("first");
    Ok(Some((real, paused)))
}

/// Ctrl+C in the middle of a turn, then `resume`: the same run goes on, in the same conversation.
fn a_task_is_paused_and_resumed_natively(part: Part) -> Outcome {
    let Some((real, paused)) = interrupted(part)? else { return Ok(()) };
    let (house, agent) = (&real.house, part.agent.name);
    // "Resume requires same repo root as recorded."
    let other = house.folder().join("other");
    std::fs::create_dir(&other)?;
    let made = Command::new("git").args(["init", "--quiet", "."]).current_dir(&other).status()?;
    assert!(made.success());
    let elsewhere = house.glis().current_dir(&other).args(["resume", "long"]).output()?;
    assert_eq!(elsewhere.status.code(), Some(4));
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

/// "If resume is not possible, it errors with actionable diagnostics and points to restart", and
/// "restart starts a new run from scratch and preserves history of the paused run".
fn a_task_that_cannot_be_resumed_is_begun_anew(part: Part, transcripts: &str) -> Outcome {
    let Some((real, paused)) = interrupted(part)? else { return Ok(()) };
    let (house, agent) = (&real.house, part.agent.name);
    // The provider has lost the conversation, and so has our copy of it.
    std::fs::remove_dir_all(real.config().join(transcripts))?;
    let session = text_of(&paused, "session")?;
    std::fs::remove_dir_all(house.home().join("sessions").join(session).join("vault"))?;
    let (status, error) = house.fails(&["resume", "long"])?;
    assert_eq!(status, 6, "{error}");
    let told = text_of(&error, "message")?;
    let known = text_of(&paused, "provider_session_ref")?;
    for named in ["`long`", "long-1", agent, &known] {
        assert!(told.contains(named), "{named}: {told}");
    }
    assert!(text_of(&error, "hint")?.contains("glis restart long"), "{error}");
    assert_eq!(runs(house, "long")?.len(), 1, "nothing is begun anew by itself");
    house.ok(&["restart", "long", "--yes"])?;
    house.follow(1)?.until(|event| event["event"] == "run_succeeded")?;
    let (former, fresh) =
        (record_in(house, "plan", "long-1")?, record_in(house, "plan", "long-2")?);
    assert_eq!(
        (&former["state"], &former["superseded_by_run_id"], &fresh["restart_of_run_id"]),
        (&json!("paused"), &json!("long-2"), &json!("long-1"))
    );
    assert_ne!(fresh["provider_session_ref"], json!(known));
    assert_eq!(runs(house, "next")?.len(), 0, "nothing else has begun");
    Ok(())
}

#[test]
fn claude_that_lost_a_conversation_is_told_and_the_task_begun_anew() -> Outcome {
    a_task_that_cannot_be_resumed_is_begun_anew(CLAUDE_HEADLESS, "projects")
}

#[test]
fn codex_that_lost_a_conversation_is_told_and_the_task_begun_anew() -> Outcome {
    a_task_that_cannot_be_resumed_is_begun_anew(CODEX_HEADLESS, "sessions")
}

/// "Resumes waiting runs per existing behavior": what the agent asks is answered.
fn a_task_that_asks_is_answered_by_resume(part: Part) -> Outcome {
    let Some(real) = Real::with(part.agent)? else { return Ok(()) };
    let (house, agent) = (&real.house, part.agent.name);
    let words = prompt("make the file", &[part.asks_to_run("touch made.txt")]);
    house.ok(&["plan", "add", "ask", "--agent", agent, "--prompt", &words])?;
    let window = Window::open(house, &[])?;
    house.follow(1)?.until(|event| event["event"] == "asked")?;
    house.until("ask", "waiting")?;
    let waiting = runs(house, "ask")?;
    assert_eq!(waiting.last().map(|run| run["state"].clone()), Some(json!("waiting")));
    house.ok(&["resume", "ask", "--answer", "allow"])?;
    let (status, said, beside) = window.end()?;
    assert_eq!(status, Some(0), "{said}{beside}");
    house.git(&["cat-file", "-e", "glis/plan/plan:made.txt"])?;
    Ok(())
}

#[test]
fn claude_that_asks_in_a_task_is_answered_by_resume() -> Outcome {
    a_task_that_asks_is_answered_by_resume(CLAUDE_HEADLESS)
}

#[test]
fn codex_that_asks_in_a_task_is_answered_by_resume() -> Outcome {
    a_task_that_asks_is_answered_by_resume(CODEX_HEADLESS)
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
