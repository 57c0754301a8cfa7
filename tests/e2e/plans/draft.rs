//! `plan new`: drafted by an agent, shown, approved, and only then written.

use crate::support::house::{House, Outcome};
use crate::support::planned::{record_in, task};
use crate::support::tmux::Tmux;
use crate::support::wreck::text_of;
use serde_json::json;
use std::path::{Path, PathBuf};

/// A goal that has the rehearsal agent say this draft.
fn goal(draft: &str) -> String {
    let escaped = draft.replace('\\', "\\\\").replace('\n', "\\n");
    format!("say Here it is:\\n```toml\\n{escaped}```\\nThat is all.")
}

fn two() -> String {
    let first = task("dust", "write dust.txt a", &[], None);
    format!("[plan]\ntitle = \"Dust\"\n\n{first}{}", task("wax", "write w.txt b", &["dust"], None))
}

fn file(house: &House) -> PathBuf {
    house.repo().join(".glis/plan.toml")
}

fn new<'a>(goal: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["plan", "new", goal, "--agent", "rehearsal"], more].concat()
}

#[test]
fn a_draft_that_is_approved_is_written_and_can_be_executed() -> Outcome {
    let house = House::new()?;
    let written = house.json(&new(&goal(&two()), &["--yes"]))?;
    assert_eq!(std::fs::read_to_string(file(&house))?, two());
    assert_eq!(written["former"], json!(null));
    assert_eq!(std::fs::read_to_string(text_of(&written, "draft")?)?, two(), "{written}");
    assert_eq!(house.show(&text_of(&written, "session")?)?["status"], "suspended");
    house.ok(&["execute"])?;
    assert_eq!(record_in(&house, "dust", "wax-1")?["state"], "succeeded");
    // It is not drafted over without a word.
    let (status, error) = house.fails(&new(&goal("x = 1\n"), &["--yes"]))?;
    assert!(status == 4 && text_of(&error, "hint")?.contains("--replace"), "{error}");
    assert_eq!(house.json(&["ls"])?.as_array().map(Vec::len), Some(3), "no agent was asked");
    let third = task("air", "write air.txt c", &[], None);
    let replaced = house.json(&new(&goal(&third), &["--yes", "--replace"]))?;
    assert_eq!(std::fs::read_to_string(file(&house))?, third);
    assert_eq!(std::fs::read_to_string(text_of(&replaced, "former")?)?, two());
    Ok(())
}

#[test]
fn a_draft_that_is_no_plan_is_told_with_its_faults_kept_and_mended() -> Outcome {
    let house = House::new()?;
    let draft = task("dust", "x", &["nothing"], None);
    let (status, error) = house.fails(&new(&goal(&draft), &["--yes"]))?;
    let message = text_of(&error, "message")?;
    assert!(status == 1 && message.contains("there is no such task"), "{error}");
    let line = message.lines().nth(1).ok_or("no fault")?;
    let (kept, _) = line.split_once(':').ok_or("no path")?;
    assert_eq!(std::fs::read_to_string(kept)?, draft, "{message}");
    assert!(!house.repo().join(".glis").exists(), "the user's checkout was touched");
    // Its agent is told what to change, and what it says then is taken.
    let name = Path::new(kept).file_stem().and_then(|stem| stem.to_str()).ok_or("no name")?;
    house.turn(name, &goal(&two()))?;
    house.ok(&["plan", "new", "--from", name, "--yes"])?;
    assert_eq!(std::fs::read_to_string(file(&house))?, two());
    Ok(())
}

#[test]
fn nothing_is_drafted_that_nobody_can_approve_and_no_words_are_no_plan() -> Outcome {
    let house = House::new()?;
    let (status, error) = house.fails(&new(&goal(&two()), &[]))?;
    assert!(status == 2 && text_of(&error, "hint")?.contains("--yes"), "{error}");
    let (status, error) = house.fails(&new("tidy up", &["--yes"]))?;
    assert!(status == 1 && text_of(&error, "message")?.contains("no plan"), "{error}");
    // What an agent asks is nothing that `--yes` answers.
    let (status, error) = house.fails(&new("question Which colour?", &["--yes"]))?;
    assert!(status == 4 && text_of(&error, "message")?.contains("Which colour?"), "{error}");
    assert!(!file(&house).exists());
    Ok(())
}

#[test]
fn on_a_terminal_it_is_shown_changed_and_approved() -> Outcome {
    let house = House::new()?;
    let Some(tmux) = Tmux::start(&house)? else { return Ok(()) };
    tmux.open("wide", 200, 50)?;
    let asked = |screen: &str, times: usize| screen.matches("or what to change]").count() == times;
    let first = goal("[[task]]\nid = \"dust\"\nprompt = \"x\"\n");
    tmux.line(
        "wide",
        &format!("glis plan new --agent rehearsal '{first}'; echo left-$((0+1)) $?"),
    )?;
    let shown = tmux.until("wide", |screen| asked(screen, 1))?;
    assert!(shown.lines().any(|line| line == "id = \"dust\""), "{shown}");
    assert!(!file(&house).exists(), "it was written before it was approved");
    tmux.line("wide", &goal("[[task]]\nid = \"wax\"\nprompt = \"y\"\n"))?;
    let shown = tmux.until("wide", |screen| asked(screen, 2))?;
    assert!(shown.lines().any(|line| line == "id = \"wax\""), "{shown}");
    tmux.line("wide", "n")?;
    tmux.sees("wide", "left-1 4")?;
    assert!(!file(&house).exists());
    let name = house.json(&["ls"])?[0]["name"].as_str().ok_or("no session")?.to_owned();
    tmux.line("wide", &format!("clear; glis plan new --from {name}; echo left-$((1+1)) $?"))?;
    tmux.until("wide", |screen| asked(screen, 1) && !screen.contains("left-1"))?;
    // Somebody else was faster.
    std::fs::create_dir_all(house.repo().join(".glis"))?;
    std::fs::write(file(&house), "# mine\n")?;
    tmux.line("wide", "y")?;
    tmux.sees("wide", "left-2 4")?;
    assert_eq!(std::fs::read_to_string(file(&house))?, "# mine\n");
    let editor = "EDITOR='sed -i s/wax/polish/'";
    let again =
        format!("clear; {editor} glis plan new --from {name} --replace; echo left-$((1+2)) $?");
    tmux.line("wide", &again)?;
    tmux.until("wide", |screen| screen.contains("in place of the plan there"))?;
    // The person changes it first.
    tmux.line("wide", "e")?;
    let shown = tmux.until("wide", |screen| asked(screen, 2))?;
    assert!(shown.contains("\u{25cb} polish"), "as a tree: {shown}");
    tmux.line("wide", "y")?;
    tmux.sees("wide", "left-3 0")?;
    assert!(std::fs::read_to_string(file(&house))?.contains("polish"));
    Ok(())
}
