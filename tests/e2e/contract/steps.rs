//! S1: every failing step of a pause and of a resume, broken on purpose, leads with its own words.

use crate::support::house::{House, Outcome};
use crate::support::wreck::text_of;
use std::fs;
use std::path::PathBuf;

fn folder(house: &House, name: &str) -> Outcome<PathBuf> {
    Ok(house.home().join("sessions").join(text_of(&house.show(name)?, "id")?))
}

/// A verb fails with these first words; the session is as it was.
fn leads(house: &House, args: &[&str], lead: &str) -> Outcome<String> {
    let name = args.get(1).ok_or("no name")?;
    let before = house.show(name)?;
    let (_, error) = house.fails(args)?;
    let message = text_of(&error, "message")?;
    assert!(message.starts_with(lead), "{message}");
    assert!(message.contains(&format!("`{name}`")), "{message}");
    let after = house.show(name)?;
    assert_eq!((&after["status"], &after["pid"]), (&before["status"], &before["pid"]), "{message}");
    text_of(&error, "kind")
}

#[test]
fn a_screen_that_cannot_be_kept() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    let file = folder(&house, "blue")?.join("screen.json");
    fs::create_dir_all(file.join("in the way"))?;
    leads(&house, &["pause", "blue"], "failed to capture PTY state: ")?;
    fs::remove_dir_all(file)?;
    house.json(&["pause", "blue"]).map(drop)
}

#[test]
fn a_conversation_that_cannot_be_made_to_last() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    house.turn("blue", "say hi")?;
    let file = folder(&house, "blue")?.join("conversation.jsonl");
    fs::rename(&file, file.with_extension("away"))?;
    // A link that leads to itself can be opened by nobody, not even by root.
    std::os::unix::fs::symlink("conversation.jsonl", &file)?;
    leads(&house, &["pause", "blue"], "failed to save conversation: ")?;
    fs::remove_file(&file)?;
    fs::rename(file.with_extension("away"), &file)?;
    house.json(&["pause", "blue"]).map(drop)
}

#[test]
fn a_worktree_that_cannot_be_saved() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "say hi")?;
    // A snapshot was taken after the turn; the next one has somewhere to fail.
    house.follow(1)?.until(|event| event["event"] == "worktree_saved")?;
    fs::write(house.file("blue", "a.txt")?, "changed")?;
    let objects = house.repo().join(".git/objects/pack");
    let away = objects.with_extension("away");
    fs::rename(&objects, &away)?;
    fs::write(&objects, "in the way")?;
    leads(&house, &["pause", "blue"], "failed to stash changes: ")?;
    Ok(())
}

/// A paused session whose worktree was removed.
fn cleared(house: &House) -> Outcome {
    house.rehearsal("blue")?;
    house.turn("blue", "write a.txt some words")?;
    house.json(&["pause", "blue", "--remove-worktree"]).map(drop)
}

#[test]
fn a_worktree_that_cannot_be_recreated() -> Outcome {
    let house = House::new()?;
    cleared(&house)?;
    house.forget_snapshots()?;
    let kind = leads(&house, &["resume", "blue"], "failed to recreate worktree: ")?;
    assert_eq!(kind, "no_directory");
    Ok(())
}

#[test]
fn a_snapshot_that_cannot_be_brought_back() -> Outcome {
    let house = House::new()?;
    cleared(&house)?;
    // The commit of the snapshot alone is written again; what it holds is gone with its pack.
    let commit = text_of(&house.show("blue")?["snapshot"], "commit")?;
    let text = house.git(&["cat-file", "commit", &commit])?;
    fs::remove_dir_all(house.repo().join(".git/objects/pack"))?;
    let file = house.folder().join("commit");
    fs::write(&file, text + "\n")?;
    let words = ["hash-object", "-w", "--literally", "-t", "commit", file.to_str().ok_or("path")?];
    assert_eq!(house.git(&words)?, commit, "the same commit");
    let kind = leads(&house, &["resume", "blue"], "failed to restore stash: ")?;
    assert_eq!(kind, "not_restored");
    Ok(())
}

#[test]
fn a_terminal_that_cannot_be_made() -> Outcome {
    let house = House::new()?;
    house.in_terminal("blue")?;
    house.json(&["pause", "blue"])?;
    let output = folder(&house, "blue")?.join("output");
    fs::rename(&output, output.with_extension("away"))?;
    fs::write(&output, "in the way")?;
    let kind = leads(&house, &["resume", "blue"], "failed to create tmux session: ")?;
    assert_eq!(kind, "no_terminal");
    fs::remove_file(&output)?;
    fs::rename(output.with_extension("away"), &output)?;
    house.json(&["resume", "blue"]).map(drop)
}

#[test]
fn a_conversation_that_is_gone() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "say hi")?;
    let paused = house.json(&["pause", "blue"])?;
    let id = text_of(&paused, "agent_session_ref")?;
    fs::remove_file(house.home().join("rehearsal").join(format!("{id}.jsonl")))?;
    fs::remove_dir_all(folder(&house, "blue")?.join("vault"))?;
    let kind = leads(&house, &["resume", "blue"], "failed to replay context: ")?;
    assert_eq!(kind, "no_transcript");
    Ok(())
}

#[test]
fn a_program_that_is_gone() -> Outcome {
    let house = House::new()?;
    let program = house.folder().join("program");
    fs::copy("/bin/cat", &program)?;
    house.command("tool", &[program.to_str().ok_or("path")?])?;
    house.json(&["pause", "tool", "--mode", "force"])?;
    fs::remove_file(&program)?;
    let kind = leads(&house, &["resume", "tool"], "failed to start command: ")?;
    assert_eq!(kind, "not_installed");
    Ok(())
}
