//! A plan worked on by real agents: interrupted, and resumed by the id of its own conversation.

use super::Real;
use super::cast::{CLAUDE_HEADLESS, CODEX_HEADLESS, Part, held, times, walk};
use crate::support::clock::WallClock;
use crate::support::house::{Outcome, eventually};
use crate::support::planned::{Window, record_in, runs};
use crate::support::wreck::text_of;
use glis_stub_model::installed::CLAUDE;
use glis_stub_model::{Step, Voice, prompt};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// Ctrl+C in the middle of the first task of a plan: its record, and the house.
fn interrupted(part: Part) -> Outcome<Option<(Real, Value)>> {
    let Some(real) = Real::with(part.agent)? else { return Ok(None) };
    let (house, agent) = (&real.house, part.agent.name);
    let words = prompt("do the task", &[held("early", "first")]);
    house.ok(&["plan", "add", "long", "--agent", agent, "--prompt", &words])?;
    house.ok(&["plan", "add", "next", "--agent", agent, "--prompt", "something else"])?;
    let window = Window::open(house, &[])?;
    real.model.until_held("first")?;
    // What was cut before it was in a transcript is no conversation, and is said again.
    let is_transcript = |path: &PathBuf| {
        path.iter().any(|part| part == "projects" || part == "sessions")
            && std::fs::read_to_string(path).is_ok_and(|text| text.contains("do the task"))
    };
    eventually("it is written down", || {
        walk(&real.config()).is_ok_and(|files| files.iter().any(is_transcript))
    })?;
    window.interrupt()?;
    let (status, said, beside) = window.end()?;
    assert_eq!(status, Some(130), "{said}{beside}");
    let last: Vec<&str> = said.lines().rev().take(2).collect();
    assert_eq!(
        last,
        ["Restart with: glis restart long", "Paused. Resume with: glis resume long"],
        "{said}"
    );
    let paused = record_in(house, "plan", "long-1")?;
    real.model.open("first");
    Ok(Some((real, paused)))
}

fn ctrl_c_pauses_and_persists(part: Part) -> Outcome {
    let Some((real, paused)) = interrupted(part)? else { return Ok(()) };
    for (field, wanted) in [
        ("state", json!("paused")),
        ("pause_reason", json!("user_interrupt")),
        ("provider", json!(part.agent.name)),
        ("resumable", json!(true)),
        ("superseded_by_run_id", Value::Null),
    ] {
        assert_eq!(paused[field], wanted, "{field}: {paused}");
    }
    for field in ["provider_session_ref", "repo_root", "paused_at"] {
        assert!(paused[field].is_string(), "{field}: {paused}");
    }
    assert_eq!(real.house.show("long")?["pid"], Value::Null, "its agent has ended");
    assert_eq!(runs(&real.house, "long")?, [paused]);
    Ok(())
}

#[test]
fn claude_ctrl_c_pauses_execution_and_persists_a_paused_run_record() -> Outcome {
    ctrl_c_pauses_and_persists(CLAUDE_HEADLESS)
}

#[test]
fn codex_ctrl_c_pauses_execution_and_persists_a_paused_run_record() -> Outcome {
    ctrl_c_pauses_and_persists(CODEX_HEADLESS)
}

/// Not even by the next daemon, nor when the paused task is done; only when a person asks for it.
fn no_further_tasks_are_started(part: Part) -> Outcome {
    let Some((real, _)) = interrupted(part)? else { return Ok(()) };
    let house = &real.house;
    house.kill_daemon()?;
    house.ok(&["resume", "long"])?;
    house.follow(1)?.until(|event| event["event"] == "run_succeeded")?;
    assert_eq!(runs(house, "next")?.len(), 0);
    house.ok(&["execute"])?;
    assert_eq!(record_in(house, "plan", "next-1")?["state"], "succeeded");
    Ok(())
}

#[test]
fn claude_after_pausing_no_further_tasks_are_started_automatically() -> Outcome {
    no_further_tasks_are_started(CLAUDE_HEADLESS)
}

#[test]
fn codex_after_pausing_no_further_tasks_are_started_automatically() -> Outcome {
    no_further_tasks_are_started(CODEX_HEADLESS)
}

/// The same run goes on, in the same conversation, and nothing is told again.
fn a_paused_run_is_resumed_natively(part: Part) -> Outcome {
    let Some((real, paused)) = interrupted(part)? else { return Ok(()) };
    let house = &real.house;
    house.ok(&["resume", "long"])?;
    let request = real.model.until_prompt("Continue from where we left off.")?;
    assert_eq!(times(&request, Voice::User, "do the task"), 1, "{:#?}", request.turns);
    house.follow(1)?.until(|event| event["event"] == "run_succeeded")?;
    let after = runs(house, "long")?;
    let [run] = after.as_slice() else { return Err(format!("{after:?}").into()) };
    assert_eq!(run["provider_session_ref"], paused["provider_session_ref"]);
    assert_eq!((&run["state"], &run["session"]), (&json!("succeeded"), &paused["session"]));
    Ok(())
}

#[test]
fn claude_resume_resumes_a_paused_run_natively() -> Outcome {
    a_paused_run_is_resumed_natively(CLAUDE_HEADLESS)
}

#[test]
fn codex_resume_resumes_a_paused_run_natively() -> Outcome {
    a_paused_run_is_resumed_natively(CODEX_HEADLESS)
}

/// What came last in the very same folder is another conversation, and is let be.
fn only_the_own_conversation_is_resumed(part: Part, by_hand: &[&str]) -> Outcome {
    let Some((real, paused)) = interrupted(part)? else { return Ok(()) };
    let (house, folder) = (&real.house, text_of(&paused, "worktree")?);
    let newer = real.bare(Path::new(&folder)).args(by_hand).arg("a newer one").output()?;
    assert!(newer.status.success(), "{newer:?}");
    let again = prompt("go on with it", &[held("late", "second")]);
    house.ok(&["resume", "long", "--prompt", &again])?;
    real.model.until_held("second")?;
    let request = real.model.until_prompt("go on with it")?;
    let said = |words| times(&request, Voice::User, words);
    assert_eq!((said("do the task"), said("a newer one")), (1, 0), "{:#?}", request.turns);
    let pid = house.show("long")?["pid"].as_i64().ok_or("no process")?;
    let line = std::fs::read(format!("/proc/{pid}/cmdline"))?;
    let line = String::from_utf8_lossy(&line).replace('\0', " ");
    for word in ["continue", "last"] {
        assert!(!line.contains(&format!("--{word}")), "{line}");
    }
    let own = text_of(&paused, "provider_session_ref")?;
    // Codex is told the id once it runs.
    assert!(part.agent != CLAUDE || line.contains(&format!("--resume {own}")), "{line}");
    real.model.open("second");
    house.follow(1)?.until(|event| event["event"] == "run_succeeded")?;
    assert_eq!(record_in(house, "plan", "long-1")?["provider_session_ref"], json!(own));
    Ok(())
}

#[test]
fn claude_resume_never_uses_continue_only_explicit_session_resume() -> Outcome {
    only_the_own_conversation_is_resumed(CLAUDE_HEADLESS, &["-p"])
}

#[test]
fn codex_resume_never_uses_the_last_one_only_explicit_session_resume() -> Outcome {
    let by_hand = ["exec", "--skip-git-repo-check"];
    only_the_own_conversation_is_resumed(CODEX_HEADLESS, &by_hand)
}

/// What the agent asks is answered.
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
    // Nobody answers in a pipe: it has ended, and says how.
    let (status, said, beside) = window.end()?;
    assert_eq!(status, Some(1), "{said}{beside}");
    assert!(said.contains("`glis resume ask --answer yes|no`"), "{said}");
    house.ok(&["resume", "ask", "--answer", "allow"])?;
    house.ok(&["execute"])?;
    house.git(&["cat-file", "-e", "glis/plan/plan:made.txt"])?;
    Ok(())
}

#[test]
fn claude_resume_resumes_a_waiting_run_with_its_answer() -> Outcome {
    a_task_that_asks_is_answered_by_resume(CLAUDE_HEADLESS)
}

#[test]
fn codex_resume_resumes_a_waiting_run_with_its_answer() -> Outcome {
    a_task_that_asks_is_answered_by_resume(CODEX_HEADLESS)
}

fn another_repository_resumes_nothing(part: Part) -> Outcome {
    let Some((real, paused)) = interrupted(part)? else { return Ok(()) };
    let house = &real.house;
    let other = house.folder().join("other");
    std::fs::create_dir(&other)?;
    let made = Command::new("git").args(["init", "--quiet", "."]).current_dir(&other).status()?;
    assert!(made.success());
    let mut elsewhere = house.glis();
    let told = elsewhere.current_dir(&other).args(["--json", "resume", "long"]).output()?;
    assert_eq!(told.status.code(), Some(4));
    let error: Value = serde_json::from_slice(&told.stdout)?;
    let told = text_of(&error["error"], "message")?;
    let known = ["provider_session_ref", "repo_root"].map(|field| text_of(&paused, field));
    for named in known {
        let named = named?;
        assert!(told.contains(&named), "{named}: {told}");
    }
    assert_eq!(record_in(house, "plan", "long-1")?, paused, "nothing has changed");
    Ok(())
}

#[test]
fn claude_resume_requires_the_same_repo_root_as_recorded() -> Outcome {
    another_repository_resumes_nothing(CLAUDE_HEADLESS)
}

#[test]
fn codex_resume_requires_the_same_repo_root_as_recorded() -> Outcome {
    another_repository_resumes_nothing(CODEX_HEADLESS)
}

/// The provider has lost the conversation, and so has our copy of it.
fn a_lost_conversation_is_told(part: Part, transcripts: &str) -> Outcome {
    let Some((real, paused)) = interrupted(part)? else { return Ok(()) };
    let house = &real.house;
    std::fs::remove_dir_all(real.config().join(transcripts))?;
    let session = text_of(&paused, "session")?;
    std::fs::remove_dir_all(house.home().join("sessions").join(session).join("vault"))?;
    let (status, error) = house.fails(&["resume", "long"])?;
    assert_eq!(status, 6, "{error}");
    let told = text_of(&error, "message")?;
    let known = text_of(&paused, "provider_session_ref")?;
    for named in ["`long`", "long-1", part.agent.name, &known] {
        assert!(told.contains(named), "{named}: {told}");
    }
    assert!(text_of(&error, "hint")?.contains("glis restart long"), "{error}");
    assert_eq!(runs(house, "long")?.len(), 1, "nothing is begun anew by itself");
    Ok(())
}

#[test]
fn claude_if_resume_is_not_possible_it_errors_with_diagnostics_and_points_to_restart() -> Outcome {
    a_lost_conversation_is_told(CLAUDE_HEADLESS, "projects")
}

#[test]
fn codex_if_resume_is_not_possible_it_errors_with_diagnostics_and_points_to_restart() -> Outcome {
    a_lost_conversation_is_told(CODEX_HEADLESS, "sessions")
}

fn a_restart_is_a_new_run(part: Part) -> Outcome {
    let Some((real, paused)) = interrupted(part)? else { return Ok(()) };
    let house = &real.house;
    house.ok(&["restart", "long", "--yes"])?;
    house.follow(1)?.until(|event| event["event"] == "run_succeeded")?;
    let (former, fresh) =
        (record_in(house, "plan", "long-1")?, record_in(house, "plan", "long-2")?);
    assert_eq!(
        (&former["state"], &former["superseded_by_run_id"], &fresh["restart_of_run_id"]),
        (&json!("paused"), &json!("long-2"), &json!("long-1"))
    );
    assert_eq!(former["provider_session_ref"], paused["provider_session_ref"]);
    assert_ne!(fresh["provider_session_ref"], paused["provider_session_ref"]);
    // From scratch: whoever is asked last knows of one task, told once.
    let turns = real.model.turns();
    let last = turns.last().ok_or("nothing was asked")?;
    assert_eq!(times(last, Voice::User, "do the task"), 1, "{:#?}", last.turns);
    assert_eq!(runs(house, "next")?.len(), 0, "nothing else has begun");
    Ok(())
}

#[test]
fn claude_restart_starts_a_new_run_from_scratch_and_preserves_the_history() -> Outcome {
    a_restart_is_a_new_run(CLAUDE_HEADLESS)
}

#[test]
fn codex_restart_starts_a_new_run_from_scratch_and_preserves_the_history() -> Outcome {
    a_restart_is_a_new_run(CODEX_HEADLESS)
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

/// A limit in the second task of three: it is waited for, also over the daemon's death; at the reset the
/// same run goes on in the same conversation, and only then the third begins.
fn a_limit_in_a_task_is_waited_for(part: Part) -> Outcome {
    let Some(mut real) = Real::with(part.agent)? else { return Ok(()) };
    let clock = WallClock::of(&mut real.house)?;
    real.house.configure("[usage_limit]\nresume = true\n")?;
    if part.agent == CLAUDE {
        // It would try again for minutes, and tells a time only to who has a subscription.
        real.house.surround("CLAUDE_CODE_MAX_RETRIES", "1");
        real.house.spare("ANTHROPIC_API_KEY");
        real.house.surround("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-stub");
    }
    let (house, agent) = (&real.house, part.agent.name);
    let until = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() + 3600;
    let used_up = Step { err: Some(429), limit_until: Some(until), ..Step::default() };
    let words = prompt("too much", &[used_up]);
    for (id, words) in [("a", "something"), ("b", words.as_str()), ("c", "something else")] {
        house.ok(&["plan", "add", id, "--agent", agent, "--prompt", words])?;
    }
    let window = Window::open(house, &[])?;
    house.follow(1)?.until(|event| event["event"] == "resume_appointed")?;
    let parked = record_in(house, "plan", "b-1")?;
    assert_eq!(
        (&parked["state"], &parked["pause_reason"]),
        (&json!("paused"), &json!("rate_limit")),
        "{parked}"
    );
    assert_eq!(runs(house, "c")?.len(), 0, "it waits for its turn");
    house.kill_daemon()?;
    eventually("its timer is set", || house.timers_set("resume_at") > 0)?;
    clock.ahead(house, 3665)?;
    let (status, said, beside) = window.end()?;
    assert_eq!(status, Some(0), "{said}{beside}");
    assert!(said.contains("b: paused, and goes on by itself"), "{said}");
    let request = real.model.until_prompt("The usage limit that ended your last turn is over.")?;
    assert_eq!(times(&request, Voice::User, "too much"), 1, "{:#?}", request.turns);
    for id in ["a", "b", "c"] {
        assert_eq!(runs(house, id)?.len(), 1, "{id}");
    }
    let after = record_in(house, "plan", "b-1")?;
    assert_eq!(
        (&after["state"], &after["provider_session_ref"]),
        (&json!("succeeded"), &parked["provider_session_ref"])
    );
    Ok(())
}

#[test]
fn claude_story_10_a_limit_in_a_task_pauses_it_and_the_same_run_goes_on_at_the_reset() -> Outcome {
    a_limit_in_a_task_is_waited_for(CLAUDE_HEADLESS)
}

#[test]
fn codex_story_10_a_limit_in_a_task_pauses_it_and_the_same_run_goes_on_at_the_reset() -> Outcome {
    a_limit_in_a_task_is_waited_for(CODEX_HEADLESS)
}

/// Nobody has logged in: the first thing that a newcomer meets.
#[test]
fn claude_without_a_login_does_no_task() -> Outcome {
    let Some(mut real) = Real::with(CLAUDE)? else { return Ok(()) };
    real.house.spare("ANTHROPIC_API_KEY");
    let house = &real.house;
    house.ok(&["plan", "add", "a", "--agent", "claude", "--prompt", "do the task"])?;
    house.ok(&["plan", "add", "b", "--agent", "claude", "--prompt", "go on", "--needs", "a"])?;
    let (status, error) = house.fails(&["execute"])?;
    assert_eq!(status, 1, "{error}");
    let why = text_of(&error, "message")?;
    assert!(why.contains("plan.toml:1: `a` cannot be worked on: claude: not logged in"), "{why}");
    assert_eq!(house.json(&["runs"])?, json!([]), "and nothing has begun");
    Ok(())
}
