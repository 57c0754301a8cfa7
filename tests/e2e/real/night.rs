//! A night that nobody watches: a plan of twelve tasks, three at a time, by Claude Code and Codex, meets an expired
//! login, a usage limit, a flaky check, a conflict, a killed daemon and a full disk.
//!
//! In the morning each task is merged, or waits with the true reason and a way on that works, and nothing was done
//! twice.

use super::Real;
use super::cast::{CLAUDE_HEADLESS, CODEX_HEADLESS, Part, held, text, times};
use crate::disk::full::Small;
use crate::support::clock::WallClock;
use crate::support::house::{House, Outcome, await_gone, eventually, kill_and_wait};
use crate::support::planned::{BRANCH, Window, plan, record, runs, task_by};
use crate::support::wreck::text_of;
use glis_stub_model::{Model, Received, Step, Voice, prompt};
use rustix::mount::MountFlags;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

/// Room for twelve sessions with their checkouts; filled within the blink of an eye.
const DISK: &str = "size=96m,mode=700";

/// Every task, in the order of the file.
const TASKS: [&str; 12] = [
    "login", "left", "right", "flaky", "air", "limit", "dark", "dust", "full", "late", "reply",
    "both",
];

/// A task whose prompt holds `steps`. Its words are its name with a mark that no other text has.
fn told(part: Part, id: &str, steps: &[Step], needs: &[&str], accept: Option<&str>) -> String {
    let who = format!("persona = {:?}", part.agent.name);
    task_by(&who, id, &prompt(&words(id), steps), needs, accept)
}

fn words(id: &str) -> String {
    format!("<{id}>")
}

/// Leaves a line in a file of its own: done twice, it leaves two.
fn work(part: Part, id: &str) -> Step {
    part.runs(&format!("echo x >> {id}.txt"))
}

fn twelve_tasks(house: &House) -> Outcome {
    let (claude, codex) = (CLAUDE_HEADLESS, CODEX_HEADLESS);
    let until = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() + 3600;
    let logged_out = Step { err: Some(401), ..Step::default() };
    let used_up = Step { err: Some(429), limit_until: Some(until), ..Step::default() };
    let tries = house.folder().join("tries");
    let flaky = format!("echo x >> {0}; test $(wc -l < {0}) -ge 2", tries.display());
    let plain = |part, id, needs| told(part, id, &[work(part, id), text("Done.")], needs, None);
    let waits = |part, id, needs| told(part, id, &[work(part, id), held("So", id)], needs, None);
    let same = |part: Part, id: &str| {
        let line = part.runs(&format!("echo {id} > file.txt"));
        told(part, id, &[work(part, id), line, held("So", id)], &[], None)
    };
    let tasks = [
        told(claude, "login", &[logged_out], &[], None),
        same(claude, "left"),
        same(codex, "right"),
        told(claude, "flaky", &[work(claude, "flaky"), text("Done.")], &[], Some(&flaky)),
        plain(codex, "air", &[]),
        // It keeps Codex back, and nobody else: all that follows tonight is done by Claude Code.
        told(codex, "limit", &[used_up], &[], None),
        waits(claude, "dark", &[]),
        plain(claude, "dust", &[]),
        waits(claude, "full", &["dark"]),
        plain(claude, "late", &["full"]),
        plain(codex, "reply", &["login"]),
        plain(claude, "both", &["left", "right"]),
    ];
    plan(house, &tasks)
}

/// Waits for what a run comes to as its record has it: no command starts a daemon for that.
fn until(house: &House, run: &str, state: &str) -> Outcome<Value> {
    let is_so = || record(house, run).is_ok_and(|run| run["state"] == state);
    eventually(&format!("{run} is {state}"), is_so)?;
    record(house, run)
}

/// Before anybody sleeps: what fails, waits, and everything else goes on.
fn evening(house: &House, model: &Model) -> Outcome {
    let login = until(house, "login-1", "paused")?;
    assert_eq!(login["pause_reason"], "error", "{login}");
    until(house, "flaky-2", "succeeded")?;
    until(house, "air-1", "succeeded")?;
    let limit = until(house, "limit-1", "paused")?;
    assert_eq!(limit["pause_reason"], "rate_limit", "{limit}");
    for task in ["left", "right", "dark"] {
        model.until_held(task)?;
    }
    // Codex is first, so that it is Claude Code whose work does not fit.
    model.open("right");
    until(house, "right-1", "succeeded")?;
    model.open("left");
    let left = until(house, "left-1", "waiting")?;
    assert_eq!(left["unmerged"]["conflict"]["files"]["first"], json!(["file.txt"]), "{left}");
    until(house, "dust-1", "succeeded").map(drop)
}

/// Nobody types a command: the daemon dies while a task is worked on, and the disk is full when another is done.
fn dark(house: &House, model: &Model, disk: &Small) -> Outcome {
    let daemon = || house.living_daemon().ok_or("no daemon");
    kill_and_wait(daemon()?)?;
    model.open("dark");
    until(house, "dark-1", "succeeded")?;
    model.until_held("full")?;
    let (daemon, ballast) = (daemon()?, disk.fill()?);
    model.open("full");
    await_gone(daemon)?;
    std::fs::remove_file(ballast)?;
    until(house, "full-1", "succeeded")?;
    until(house, "late-1", "succeeded").map(drop)
}

/// What is not merged says why, and how it goes on.
fn morning(house: &House) -> Outcome {
    let shown = house.json(&["plan", "show"])?;
    let tasks = shown["tasks"].as_array().ok_or("no tasks")?;
    let state = |task: &Value| Some((text_of(task, "id").ok()?, text_of(task, "state").ok()?));
    let open: Vec<_> =
        tasks.iter().filter_map(state).filter(|(_, state)| state != "succeeded").collect();
    let open: Vec<_> = open.iter().map(|(id, state)| (id.as_str(), state.as_str())).collect();
    let wanted = [("login", "paused"), ("left", "waiting"), ("reply", "todo"), ("both", "todo")];
    assert_eq!(open, wanted, "{shown}");
    let (login, left) = (house.show("login")?, house.show("left")?);
    assert!(text_of(&login, "failure")?.contains("API Error: 401"), "{login}");
    assert!(left["unmerged"]["conflict"].is_object(), "{left}");
    let (status, said, _) = Window::open(house, &[])?.end()?;
    assert_eq!(status, Some(1), "{said}");
    for told in [
        "login: paused, its turn has failed: Failed to authenticate. API Error: 401",
        "`glis resume login` goes on",
        "left: waiting: its work and the plan's branch have changed the same: file.txt",
        "`glis resume left` has its agent resolve that",
    ] {
        assert!(said.contains(told), "{told}: {said}");
    }
    Ok(())
}

/// The ways on, as they were told: the same agents go on in the same conversations.
fn ways_on(house: &House, model: &Model) -> Outcome {
    let claude = CLAUDE_HEADLESS;
    let merge = claude.runs(&format!("git merge --strategy-option=ours {BRANCH} --message=both"));
    model.learn("Continue from where we left off.", &[work(claude, "login"), text("Done.")]);
    model.learn("resolve the conflicts", &[merge, text("Done.")]);
    for task in ["login", "left"] {
        house.ok(&["resume", task])?;
        until(house, &format!("{task}-1"), "succeeded")?;
    }
    let said = house.ok(&["execute"])?;
    assert!(said.contains("12 of 12 tasks are done"), "{said}");
    Ok(())
}

/// Each task has one conversation, which was told it once, and one commit; only what was not accepted ran again.
fn nothing_was_done_twice(house: &House, model: &Model) -> Outcome {
    let turns = model.turns();
    let merged = house.git(&["log", "--format=%(trailers:key=Task,valueonly)", BRANCH])?;
    for task in TASKS {
        let words = words(task);
        let of_it: Vec<&Received> =
            turns.iter().filter(|turn| turn.says(Voice::User, &words)).collect();
        let conversations: BTreeSet<_> = of_it.iter().map(|turn| &turn.conversation).collect();
        assert_eq!(conversations.len(), 1, "{task}: {conversations:?}");
        let last = of_it.last().ok_or("it was not asked")?;
        assert_eq!(times(last, Voice::User, &words), 1, "{task}: {:#?}", last.turns);
        assert_eq!(house.git(&["show", &format!("{BRANCH}:{task}.txt")])?, "x", "{task}");
        assert_eq!(merged.lines().filter(|line| line == &task).count(), 1, "{task}: {merged}");
        let states: Vec<Value> =
            runs(house, task)?.iter().map(|run| run["state"].clone()).collect();
        let wanted: &[&str] =
            if task == "flaky" { &["failed", "succeeded"] } else { &["succeeded"] };
        assert_eq!(states, wanted, "{task}");
    }
    assert_eq!(house.git(&["show", &format!("{BRANCH}:file.txt")])?, "left");
    Ok(())
}

#[test]
fn a_plan_is_left_alone_for_a_night_and_in_the_morning_all_is_merged_or_says_what_it_waits_for()
-> Outcome {
    let (claude, codex) = (CLAUDE_HEADLESS, CODEX_HEADLESS);
    let Some(mut real) = Real::with_both(claude.agent, codex.agent)? else { return Ok(()) };
    let clock = WallClock::of(&mut real.house)?;
    // It would try again for minutes.
    real.house.surround("CLAUDE_CODE_MAX_RETRIES", "1");
    let (house, model) = (&real.house, &real.model);
    let Some(disk) = Small::at(&house.home(), DISK, MountFlags::empty())? else { return Ok(()) };
    let persona = |part: Part, args: &[&str]| {
        let name = part.agent.name;
        format!("[persona.{name}]\nagent = \"{name}\"\nargs = {}\n", json!(args))
    };
    house.configure(&(persona(claude, claude.manners.args) + &persona(codex, &[])))?;
    twelve_tasks(house)?;
    let window = Window::open(house, &["--jobs", "3"])?;
    evening(house, model)?;
    kill_and_wait(window.pid()?)?;
    dark(house, model, &disk)?;
    // Its first turn came to nothing: the work is done in the one that follows the limit.
    let over = "The usage limit that ended your last turn is over.";
    model.learn(over, &[work(codex, "limit"), text("Done.")]);
    clock.ahead(house, 3665)?;
    until(house, "limit-1", "succeeded")?;
    morning(house)?;
    ways_on(house, model)?;
    nothing_was_done_twice(house, model)
}
