//! What becomes of a repository: moved away, taken by another, its branches used by somebody else.

use crate::support::house::{House, Outcome, eventually};
use crate::support::planned::{BRANCH, Window, plan, record, task};
use crate::support::wreck::text_of;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

fn git(dir: &Path, args: &[&str]) -> Outcome<String> {
    let identity = ["-c", "user.name=n", "-c", "user.email=e"];
    let output = Command::new("git")
        .args(identity)
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()?;
    if !output.status.success() {
        return Err(format!("{args:?}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// Commits everything in a folder, as an agent would.
fn commit(tree: &Path, name: &str) -> Outcome<String> {
    fs::write(tree.join(name), name)?;
    git(tree, &["add", "--all"])?;
    git(tree, &["commit", "-qm", name])?;
    git(tree, &["rev-parse", "HEAD"])
}

/// What doctor has to say that is not good, as lines of message and hint.
fn complaints(house: &House) -> Outcome<Vec<String>> {
    let output = house.glis().args(["--json", "doctor"]).current_dir(house.folder()).output()?;
    let findings: Vec<Value> = serde_json::from_slice(&output.stdout)?;
    let bad = findings.iter().filter(|finding| finding["health"] != "good");
    Ok(bad.map(|f| format!("{}: {} | {}", f["subject"], f["message"], f["hint"])).collect())
}

#[test]
fn a_pause_that_could_not_save_does_not_disturb_the_agent() -> Outcome {
    let house = House::new()?;
    house.configure("[snapshot]\nat_turn_end = false\n")?;
    let id = house.rehearsal("blue")?["id"].as_str().ok_or("no id")?.to_owned();
    house.turn("blue", "write a.txt hello")?;
    house.ok(&["send", "blue", "work 600"])?;
    let pid = house.until("blue", "busy")?["pid"].clone();
    let away = house.folder().join("away");
    fs::rename(house.repo(), &away)?;
    let mut verbs = Vec::new();
    for mode in ["interrupt", "force"] {
        let mut command = house.glis();
        command.current_dir(house.folder());
        verbs.push(command.args(["--json", "pause", "blue", "--mode", mode]).output()?);
    }
    fs::rename(&away, house.repo())?;
    for refused in verbs {
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
        let told = String::from_utf8(refused.stdout)?;
        assert!(told.contains("is missing"), "{told}");
        assert!(told.contains(house.repo().to_str().ok_or("path")?), "{told}");
    }
    let session = house.show("blue")?;
    assert_eq!((text_of(&session, "status")?, &session["pid"]), ("busy".to_owned(), &pid));
    let events = house.events(&id)?;
    assert!(!events.iter().any(|event| event == "interrupt_began"), "{events:?}");
    assert_eq!(house.json(&["pause", "blue"])?["status"], "paused");
    Ok(())
}

/// A session that came back while its branch was checked out in the main worktree, and runs.
fn cut_off(house: &House) -> Outcome<PathBuf> {
    house.configure("[snapshot]\nat_turn_end = false\n")?;
    house.rehearsal("blue")?;
    house.turn("blue", "write a.txt hello")?;
    let tree = house.file("blue", "")?;
    house.json(&["pause", "blue", "--remove-worktree"])?;
    house.git(&["checkout", "--quiet", "glis/blue"])?;
    let session = house.json(&["resume", "blue"])?;
    assert!(session["found"].to_string().contains("HEAD is detached"), "{session}");
    Ok(tree)
}

#[test]
fn a_worktree_on_no_branch_is_told_and_goes_back_when_its_branch_is_free() -> Outcome {
    let house = House::new()?;
    let tree = cut_off(&house)?;
    let told = house.show("blue")?;
    assert!(text_of(&told["detached"], "why")?.contains("is checked out in"), "{told}");
    house.git(&["checkout", "--quiet", "main"])?;
    let work = commit(&tree, "work")?;
    let told = house.show("blue")?;
    assert_eq!(text_of(&told["detached"], "commit")?, work);
    let way_out = text_of(&told["detached"], "way_out")?;
    assert!(house.ok(&["ls"])?.contains("glis/blue (detached)"));
    assert!(house.ok(&["show", "blue"])?.contains(&way_out));
    let all = complaints(&house)?;
    assert!(all.iter().any(|f| f.contains("detached") && f.contains(&way_out)), "{all:?}");
    house.json(&["pause", "blue"])?;
    assert_ne!(house.show("blue")?["detached"], Value::Null, "as long as it is");
    let back = house.json(&["resume", "blue"])?;
    assert_eq!(back["detached"], Value::Null, "{back}");
    assert_eq!(git(&tree, &["symbolic-ref", "HEAD"])?, "refs/heads/glis/blue");
    assert_eq!(house.git(&["rev-parse", "glis/blue"])?, work);
    assert!(!house.ok(&["ls"])?.contains("detached"));
    assert_eq!(complaints(&house)?, Vec::<String>::new());
    Ok(())
}

#[test]
fn a_branch_that_others_have_moved_is_left_alone_and_the_way_out_leads_back_to_it() -> Outcome {
    let house = House::new()?;
    let tree = cut_off(&house)?;
    let theirs = commit(&house.repo(), "theirs")?;
    house.git(&["checkout", "--quiet", "main"])?;
    let ours = commit(&tree, "ours")?;
    house.json(&["pause", "blue"])?;
    let back = house.json(&["resume", "blue"])?;
    assert_eq!(text_of(&back["detached"], "commit")?, ours);
    assert_eq!(house.git(&["rev-parse", "glis/blue"])?, theirs);
    house.json(&["pause", "blue"])?;
    let way_out = text_of(&back["detached"], "way_out")?;
    let typed = Command::new("sh")
        .args(["-ec", &way_out])
        .envs([("GIT_AUTHOR_NAME", "n"), ("GIT_AUTHOR_EMAIL", "e")])
        .envs([("GIT_COMMITTER_NAME", "n"), ("GIT_COMMITTER_EMAIL", "e")])
        .output()?;
    assert!(typed.status.success(), "{typed:?}");
    assert_eq!(house.show("blue")?["detached"], Value::Null);
    for commit in [&theirs, &ours] {
        house.git(&["merge-base", "--is-ancestor", commit, "glis/blue"])?;
    }
    Ok(())
}

#[test]
fn a_head_that_a_rebase_holds_is_left_alone() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "say hello")?;
    let tree = house.file("blue", "")?;
    commit(&tree, "one")?;
    fs::write(tree.join("file.txt"), "ours\n")?;
    commit(&tree, "two")?;
    fs::write(house.repo().join("file.txt"), "theirs\n")?;
    commit(&house.repo(), "three")?;
    assert!(git(&tree, &["rebase", "main"]).is_err(), "a conflict");
    assert_eq!(house.show("blue")?["detached"], Value::Null);
    house.json(&["pause", "blue"])?;
    house.json(&["resume", "blue"])?;
    assert!(git(&tree, &["symbolic-ref", "--quiet", "HEAD"]).is_err());
    git(&tree, &["rebase", "--abort"])?;
    assert_eq!(git(&tree, &["symbolic-ref", "HEAD"])?, "refs/heads/glis/blue");
    Ok(())
}

#[test]
fn a_foreign_repository_in_the_place_of_a_worktree_is_told_with_what_to_move_away() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "write a.txt hello")?;
    let tree = house.file("blue", "")?;
    house.json(&["pause", "blue"])?;
    let aside = house.folder().join("aside");
    fs::rename(&tree, &aside)?;
    fs::create_dir(&tree)?;
    git(&tree, &["init", "--quiet"])?;
    commit(&tree, "foreign")?;
    let place = tree.to_str().ok_or("path")?.trim_end_matches('/');
    let told = complaints(&house)?;
    let [one] = told.as_slice() else { return Err(format!("{told:?}").into()) };
    assert!(one.contains(place) && one.contains("another repository"), "{one}");
    assert!(one.contains("move it away"), "{one}");
    let (status, error) = house.fails(&["resume", "blue"])?;
    assert_eq!(status, 6, "{error}");
    assert!(error["message"].to_string().contains(place), "{error}");
    assert!(error["hint"].to_string().contains("move away what is there"), "{error}");
    assert!(!error["hint"].to_string().contains("retry"), "{error}");
    fs::rename(&tree, house.folder().join("foreign"))?;
    house.json(&["resume", "blue"])?;
    assert_eq!(fs::read_to_string(tree.join("a.txt"))?.trim_end(), "hello");
    Ok(())
}

#[test]
fn a_repository_that_is_another_one_now_is_no_place_to_resume_in() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "write a.txt hello")?;
    let tree = house.file("blue", "")?;
    house.json(&["pause", "blue"])?;
    // The repository goes elsewhere, its worktrees are told, and another one takes its place.
    let moved = house.folder().join("moved");
    fs::rename(house.repo(), &moved)?;
    git(&moved, &["worktree", "repair", tree.to_str().ok_or("path")?])?;
    fs::create_dir(house.repo())?;
    git(&house.repo(), &["init", "--quiet", "--initial-branch=main"])?;
    commit(&house.repo(), "another")?;
    let (status, error) = house.fails(&["resume", "blue"])?;
    assert_eq!(status, 6, "{error}");
    let told = error["message"].to_string();
    assert!(told.contains("does not belong to its repository"), "{told}");
    assert_eq!(house.show("blue")?["status"], "paused");
    fs::rename(house.repo(), house.folder().join("another"))?;
    fs::rename(&moved, house.repo())?;
    git(&house.repo(), &["worktree", "repair", tree.to_str().ok_or("path")?])?;
    house.json(&["resume", "blue"])?;
    Ok(())
}

#[test]
fn a_branch_in_the_way_of_ours_is_named_with_the_setting_that_helps() -> Outcome {
    let house = House::new()?;
    house.git(&["branch", "glis"])?;
    let (_, error) = house.fails(&["new", "blue", "--agent", "rehearsal", "--headless"])?;
    let told = error["message"].to_string();
    assert!(told.contains("`glis` is in the way of `glis/blue`"), "{told}");
    assert!(told.contains("branch_prefix"), "{told}");
    house.configure("[worktree]\nbranch_prefix = \"work/\"\n")?;
    assert_eq!(house.rehearsal("blue")?["branch"], "work/blue");
    Ok(())
}

/// The main checkout has a submodule `sub`.
fn with_submodule() -> Outcome<House> {
    let house = House::new()?;
    let inner = house.folder().join("inner");
    fs::create_dir(&inner)?;
    git(&inner, &["init", "--quiet"])?;
    commit(&inner, "inner.txt")?;
    let from = inner.to_str().ok_or("path")?;
    let local = ["-c", "protocol.file.allow=always"];
    git(&house.repo(), &[&local[..], &["submodule", "add", "--quiet", from, "sub"]].concat())?;
    git(&house.repo(), &["commit", "-qm", "a submodule"])?;
    Ok(house)
}

#[test]
fn what_is_changed_in_a_submodule_is_told_before_the_merge() -> Outcome {
    let house = with_submodule()?;
    // It comes from the main checkout, wherever that has it from.
    fs::rename(house.folder().join("inner"), house.folder().join("away"))?;
    assert_eq!(house.rehearsal("blue")?["setup_notes"].to_string(), "[]");
    assert!(house.file("blue", "sub/inner.txt")?.is_file());
    house.turn("blue", "write sub/inner.txt changed")?;
    let (status, error) = house.fails(&["merge", "blue"])?;
    let told = error.to_string();
    assert_eq!(status, 4, "{told}");
    assert!(told.contains("the submodule sub in ") && told.contains("discard them"), "{told}");

    plan(&house, &[task("a", "write sub/new.txt yes ;; write a.txt yes", &[], None)])?;
    let (_, said, _) = Window::open(&house, &[])?.end()?;
    assert!(said.contains("the submodule sub in ") && said.contains("glis resume a"), "{said}");
    let run = record(&house, "a-1")?;
    assert_eq!(
        (&run["state"], &run["unmerged"]["submodule"]["path"]),
        (&"waiting".into(), &"sub".into())
    );
    fs::remove_file(house.file("a-1", "sub/new.txt")?)?;
    house.ok(&["resume", "a"])?;
    let done = || record(&house, "a-1").is_ok_and(|run| run["state"] == "succeeded");
    eventually("it is merged", done)?;
    assert_eq!(house.git(&["show", &format!("{BRANCH}:a.txt")])?, "yes");
    Ok(())
}

#[test]
fn empty_submodules_are_told_with_the_command_that_fills_them() -> Outcome {
    let house = with_submodule()?;
    house.configure("[worktree]\nsubmodules = false\n")?;
    let notes = house.rehearsal("blue")?["setup_notes"].to_string();
    assert!(notes.contains("submodules are empty (sub)"), "{notes}");
    assert!(notes.contains("submodule update --init --recursive"), "{notes}");
    house.configure(&format!(
        "[worktree]\nsubmodules = false\n[repository.\"{}\"]\nsetup = \"git -c protocol.file.allow=always submodule update --init\"\n",
        house.repo().display()
    ))?;
    let filled = house.rehearsal("red")?;
    assert_eq!(filled["setup_notes"].to_string(), "[]");
    assert!(house.file("red", "sub/inner.txt")?.is_file());
    Ok(())
}

#[test]
fn a_repository_that_was_moved_is_told_as_such_and_not_as_broken_snapshots() -> Outcome {
    let house = House::new()?;
    for name in ["blue", "red"] {
        house.rehearsal(name)?;
        house.turn(name, "write a.txt hello")?;
        house.json(&["pause", name])?;
    }
    let away = house.folder().join("away");
    fs::rename(house.repo(), &away)?;
    let told = complaints(&house)?;
    fs::rename(&away, house.repo())?;
    let [one] = told.as_slice() else { return Err(format!("{told:?}").into()) };
    assert!(one.contains("was moved away") && one.contains("blue, red"), "{one}");
    assert_eq!(complaints(&house)?, Vec::<String>::new());
    Ok(())
}

#[test]
fn a_copy_of_a_repository_and_another_home_are_no_alarm() -> Outcome {
    let house = House::new()?;
    house.rehearsal("blue")?;
    house.turn("blue", "write a.txt hello")?;
    house.json(&["pause", "blue"])?;
    let copy = house.folder().join("copy");
    let copied = Command::new("cp").arg("-a").arg(house.repo()).arg(&copy).status()?;
    assert!(copied.success());
    let place = copy.to_str().ok_or("path")?;
    house.json(&["new", "red", "--agent", "rehearsal", "--headless", "--repo", place])?;
    house.turn("red", "write b.txt hello")?;
    house.json(&["pause", "red"])?;
    assert_eq!(complaints(&house)?, Vec::<String>::new());
    // The same repository, seen from another home.
    let other = House::new()?;
    other.json(&["new", "green", "--agent", "rehearsal", "--headless", "--repo", place])?;
    other.turn("green", "write c.txt hello")?;
    other.json(&["pause", "green"])?;
    assert_eq!(complaints(&other)?, Vec::<String>::new());
    Ok(())
}

#[test]
fn a_doctor_asks_git_as_often_for_many_sessions_as_for_few() -> Outcome {
    let mut house = House::new()?;
    let (bin, calls) = (house.folder().join("bin"), house.folder().join("calls"));
    let path = std::env::var("PATH")?;
    let real = Command::new("sh").args(["-c", "command -v git"]).output()?;
    let real = String::from_utf8(real.stdout)?.trim().to_owned();
    fs::create_dir(&bin)?;
    let script = format!("#!/bin/sh\necho \"$@\" >> {}\nexec {real} \"$@\"\n", calls.display());
    fs::write(bin.join("git"), script)?;
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755))?;
    house.surround("PATH", format!("{}:{path}", bin.display()));
    // Rules of git that a comparison has to respect, and work of every kind.
    fs::write(house.repo().join(".gitignore"), "*.log\n")?;
    fs::write(house.repo().join(".gitattributes"), "* text=auto\n")?;
    commit(&house.repo(), "rules")?;
    let asked = |names: &[&str]| -> Outcome<usize> {
        for name in names {
            house.rehearsal(name)?;
            house
                .turn(name, "write a.txt hello ;; write x.log ignored ;; edit file.txt one two")?;
            house.json(&["pause", name])?;
        }
        fs::write(&calls, "")?;
        assert_eq!(complaints(&house)?, Vec::<String>::new());
        Ok(fs::read_to_string(&calls)?.lines().count())
    };
    let few = asked(&["one"])?;
    let many = asked(&["two", "three", "four", "five", "six"])?;
    assert!(few > 0 && few == many, "{few} calls for one, {many} for six");
    // What has changed is still seen.
    fs::write(house.file("three", "a.txt")?, "somebody else\n")?;
    fs::write(house.file("four", "new.txt")?, "new\n")?;
    git(&house.file("five", "")?, &["add", "a.txt"])?;
    fs::remove_file(house.file("six", "a.txt")?)?;
    let told = complaints(&house)?;
    for name in ["three", "four", "five", "six"] {
        let changed = |f: &String| f.contains(name) && f.contains("1 changes in its worktree");
        assert!(told.iter().any(changed), "{name}: {told:?}");
    }
    assert_eq!(told.len(), 4, "{told:?}");
    Ok(())
}
