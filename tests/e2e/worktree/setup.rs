//! What a fresh worktree gets: chosen files and a set-up; and what a hostile repository does not get.

use crate::support::house::{House, Outcome, eventually};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn a_fresh_worktree_gets_chosen_files_and_a_set_up() -> Outcome {
    let house = House::new()?;
    fs::write(house.repo().join(".gitignore"), ".env\nmodules\n")?;
    house.git(&["add", ".gitignore"])?;
    house.git(&["commit", "-qm", "ignore"])?;
    fs::write(house.repo().join(".env"), "KEY=1")?;
    fs::create_dir(house.repo().join("modules"))?;
    let repo = house.repo().canonicalize()?;
    house.configure(&format!(
        "[worktree]\ncopy = [\".env\"]\n[repository.{:?}]\nlink = [\"modules\"]\n\
         setup = \"pwd > where; umask > mask; echo $CALLERS > whose\"\n",
        repo.display().to_string()
    ))?;
    let made = house
        .glis()
        .args(["--json", "new", "blue", "--agent", "rehearsal", "--headless"])
        .env("CALLERS", "mine")
        .output()?;
    let made: Value = serde_json::from_slice(&made.stdout)?;
    assert_eq!(made["setup_notes"], json!([]), "{made}");
    let tree = house.file("blue", "")?;
    let read = |name: &str| fs::read_to_string(tree.join(name));
    assert_eq!(read(".env")?, "KEY=1");
    assert_eq!(fs::read_link(tree.join("modules"))?, repo.join("modules"));
    assert_eq!(PathBuf::from(read("where")?.trim()), tree.canonicalize()?);
    assert_eq!(read("whose")?, "mine\n");
    let mode = |path: &Path| Ok::<_, std::io::Error>(path.metadata()?.permissions().mode() & 0o777);
    assert_eq!(mode(&tree.join(".gitignore"))?, mode(&house.repo().join(".gitignore"))?);
    house.turn("blue", "write a.txt hello")?;
    house.json(&["pause", "blue", "--remove-worktree", "--force"])?;
    house.json(&["resume", "blue"])?;
    assert_eq!(read(".env")?, "KEY=1", "brought along again");
    Ok(())
}

#[test]
fn a_set_up_that_fails_or_hangs_is_told_and_holds_nothing_up() -> Outcome {
    for (setup, told) in [("echo no network >&2; exit 3", "no network"), ("sleep 77", "no end")] {
        let house = House::new()?;
        let repo = house.repo().canonicalize()?.display().to_string();
        house.configure(&format!(
            "[worktree]\nsetup_secs_max = 1\n[repository.{repo:?}]\nsetup = {setup:?}\n"
        ))?;
        let made = house.rehearsal("blue")?;
        let notes = made["setup_notes"].to_string();
        assert!(notes.contains(told), "{notes}");
        house.turn("blue", "say hello")?;
    }
    Ok(())
}

#[test]
fn a_stop_ends_a_set_up_that_runs() -> Outcome {
    let house = House::new()?;
    let repo = house.repo().canonicalize()?.display().to_string();
    let began = house.folder().join("began");
    // The next start runs it again: then it ends.
    let began = began.display().to_string();
    let setup = format!("[ -e {began} ] && exit; echo $$ > {began}; sleep 600 & wait");
    house.configure(&format!("[repository.{repo:?}]\nsetup = {setup:?}\n"))?;
    let words = ["new", "blue", "--agent", "rehearsal", "--headless", "--prompt", "say hello"];
    let mut new = house.glis().args(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let group = || fs::read_to_string(&began).unwrap_or_default();
    eventually("the set-up begins", || group().ends_with('\n'))?;
    let since = Instant::now();
    house.json(&["stop", "blue"])?;
    assert!(since.elapsed() < Duration::from_secs(30), "the stop waited for the set-up");
    assert!(!Path::new("/proc").join(group().trim()).exists(), "the set-up runs on");
    assert!(!new.wait()?.success(), "a start that was stopped is no success");
    let notes = house.show("blue")?["setup_notes"].to_string();
    assert!(notes.contains("stopped"), "{notes}");
    // What was said is kept, and the session can go on.
    house.json(&["resume", "blue"])?;
    house.until("blue", "idle")?;
    assert!(house.ok(&["log", "blue"])?.contains("say hello"));
    Ok(())
}

#[test]
fn a_hostile_repository_runs_nothing() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "write a.evil hello")?;
    let trap = house.repo().join("../sprung");
    let spring = format!("touch {}", trap.display());
    let hooks = house.repo().join(".git/hooks");
    fs::create_dir_all(&hooks)?;
    for hook in ["pre-commit", "post-checkout", "post-index-change", "reference-transaction"] {
        fs::write(hooks.join(hook), format!("#!/bin/sh\n{spring}\n"))?;
        fs::set_permissions(hooks.join(hook), fs::Permissions::from_mode(0o755))?;
    }
    for (key, value) in [
        ("core.fsmonitor", spring.as_str()),
        ("core.pager", &spring),
        ("filter.evil.clean", &spring),
        ("filter.evil.smudge", &spring),
        ("diff.evil.textconv", &spring),
        ("diff.evil.command", &spring),
        ("diff.external", &spring),
        ("core.sshCommand", &spring),
        ("gpg.program", &spring),
        ("core.alternateRefsCommand", &spring),
    ] {
        house.git(&["config", key, value])?;
    }
    let tree = house.file("blue", "")?;
    fs::write(tree.join(".gitattributes"), "*.evil filter=evil diff=evil\n")?;
    house.ok(&["snapshot", "blue"])?;
    house.ok(&["diff", "blue"])?;
    house.ok(&["pause", "blue", "--remove-worktree"])?;
    house.ok(&["snapshots", "blue"])?;
    house.ok(&["resume", "blue"])?;
    house.ok(&["stop", "blue"])?;
    house.ok(&["restore", "blue", "--to", house.repo().join("../copy").to_str().ok_or("path")?])?;
    house.ok(&["rm", "blue"])?;
    house.ok(&["trash", "restore", "blue"])?;
    house.ok(&["doctor"])?;
    assert!(!trap.exists(), "something of the repository was run");
    Ok(())
}
