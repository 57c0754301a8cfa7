//! Submodules of a fresh worktree come from the main checkout and from nowhere else, and what is changed in them is told
//! before a commit that cannot hold it.

use crate::house::{House, Outcome, git, put};
use crate::nested::{dirty, make_repo};
use glis_snapshot::{CommitFault, CommitRequest, Committed, commit_work, submodules};
use std::fs;
use std::path::{Path, PathBuf};

const UMASK: u32 = 0o022;

fn add(to: &Path, from: &Path, name: &str) -> Outcome {
    let from = from.to_string_lossy();
    git(to, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &from, name])?;
    git(to, &["commit", "-q", "-m", name]).map(drop)
}

/// A house whose main checkout has the submodule `lib` with a submodule `deep` in it, and whose worktree has both empty.
/// Nobody can fetch them: where they came from is gone.
fn house() -> Outcome<House> {
    let house = House::new()?;
    let (deep, lib) = (house.dir.path().join("deep"), house.dir.path().join("lib"));
    make_repo(&deep)?;
    make_repo(&lib)?;
    add(&lib, &deep, "deep")?;
    add(&house.repo, &lib, "lib")?;
    let update = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init"];
    git(&house.repo.join("lib"), &update)?;
    fs::rename(&lib, house.dir.path().join("lib-away"))?;
    fs::rename(&deep, house.dir.path().join("deep-away"))?;
    house.git(&["reset", "-q", "--hard", "main"])?;
    assert_eq!(fs::read_dir(house.tree.join("lib"))?.count(), 0);
    Ok(house)
}

fn fill(house: &House) -> Outcome<PathBuf> {
    submodules::fill(&house.repo, &house.tree, UMASK)?;
    Ok(house.tree.join("lib"))
}

fn commit(house: &House) -> Result<Committed, CommitFault> {
    let worktree = house.tree.as_path();
    commit_work(&CommitRequest { worktree, branch: "work", message: "work", hooks: None })
}

#[test]
fn they_are_filled_from_the_main_checkout_with_those_inside_them() -> Outcome {
    let house = house()?;
    let lib = fill(&house)?;
    assert_eq!(fs::read_to_string(lib.join("in.txt"))?, "in\n");
    assert_eq!(fs::read_to_string(lib.join("deep/in.txt"))?, "in\n");
    assert_eq!(house.git(&["status", "--porcelain", "--ignore-submodules=none"])?, "");
    assert!(house.git(&["submodule", "status", "--recursive"])?.starts_with(' '));
    let url = |at: &Path| git(at, &["config", "--get", "remote.origin.url"]);
    assert_eq!(url(&lib)?, url(&house.repo.join("lib"))?);
    assert!(git(&lib, &["symbolic-ref", "-q", "HEAD"]).is_err(), "it is on no branch");
    assert_eq!(git(&lib, &["rev-parse", "origin/trunk"])?, git(&lib, &["rev-parse", "HEAD"])?);
    // What is done there reaches no other.
    put(&lib, "in.txt", "mine\n")?;
    git(&lib, &["commit", "-q", "-am", "mine"])?;
    assert_eq!(git(&house.repo.join("lib"), &["branch", "--all", "--list", "*work*"])?, "");
    assert_eq!(git(&house.repo, &["status", "--porcelain", "--ignore-submodules=none"])?, "");
    Ok(())
}

#[test]
fn a_snapshot_has_what_is_written_in_them_and_brings_it_back() -> Outcome {
    let house = house()?;
    let lib = fill(&house)?;
    dirty(&lib)?;
    dirty(&lib.join("deep"))?;
    let (saved, _) = house.round_trip()?;
    assert_eq!(saved.not_captured, []);
    for at in [lib.clone(), lib.join("deep")] {
        assert_eq!(fs::read_to_string(at.join("in.txt"))?, "unstaged\n");
        assert_eq!(git(&at, &["show", ":in.txt"])?, "staged\n");
        assert_eq!(fs::read_to_string(at.join("untracked"))?, "u\n");
    }
    Ok(())
}

#[test]
fn one_that_was_left_half_filled_is_filled_anew() -> Outcome {
    let house = house()?;
    let lib = house.tree.join("lib");
    git(&lib, &["init", "-q"])?;
    put(&lib, "half.txt", "half\n")?;
    fill(&house)?;
    assert!(lib.join("in.txt").exists() && !lib.join("half.txt").exists());
    // One that is whole stays as it is.
    put(&lib, "mine.txt", "mine\n")?;
    fill(&house)?;
    assert!(lib.join("mine.txt").exists());
    Ok(())
}

/// A commit may say of a submodule what it wants: none of it is read.
#[test]
fn nothing_that_a_commit_says_is_run_or_fetched() -> Outcome {
    let house = house()?;
    let ran = house.dir.path().join("ran");
    let touch = format!("touch {}", ran.display());
    let text = format!(
        "[submodule \"lib\"]\npath = lib\nurl = ext::sh -c '{touch}'\nupdate = !{touch}\n\
         [submodule \"../../x\"]\npath = new\nurl = ext::sh -c '{touch}'\n"
    );
    house.put(".gitmodules", &text)?;
    let hooks = house.repo.join(".git/modules/lib/hooks");
    fs::create_dir_all(&hooks)?;
    put(&hooks, "post-checkout", &format!("#!/bin/sh\n{touch}\n"))?;
    git(&house.repo, &["config", "core.fsmonitor", &touch])?;
    git(&house.repo.join("lib"), &["config", "core.fsmonitor", &touch])?;
    let head = git(&house.repo, &["rev-parse", "HEAD"])?;
    let link = format!("160000,{},new", head.trim());
    house.git(&["-c", "core.fsmonitor=", "update-index", "--add", "--cacheinfo", &link])?;
    fs::create_dir(house.tree.join("new"))?;
    // The user has something there that is no submodule.
    make_repo(&house.repo.join("new"))?;
    drop(fs::remove_file(&ran));
    let lib = fill(&house)?;
    assert!(lib.join("in.txt").exists());
    assert_eq!(fs::read_dir(house.tree.join("new"))?.count(), 0);
    assert!(!ran.exists(), "something was run");
    Ok(())
}

#[test]
fn one_whose_commit_the_main_checkout_lacks_stays_empty() -> Outcome {
    let house = house()?;
    let link = format!("160000,{},lib", "1".repeat(40));
    house.git(&["update-index", "--cacheinfo", &link])?;
    let lib = fill(&house)?;
    assert_eq!(fs::read_dir(lib)?.count(), 0);
    Ok(())
}

#[test]
fn what_is_changed_in_one_is_told_before_a_commit_that_cannot_hold_it() -> Outcome {
    let house = house()?;
    let lib = fill(&house)?;
    let refuses = |what: &str| match commit(&house) {
        Err(CommitFault::Submodule { path }) => assert_eq!(path, "lib", "{what}"),
        other => panic!("{what}: {other:?}"),
    };
    put(&lib, "new.txt", "new\n")?;
    refuses("a new file");
    git(&lib, &["add", "-A"])?;
    git(&lib, &["commit", "-q", "-m", "only here"])?;
    refuses("a commit that nobody else has");
    assert_eq!(house.git(&["diff", "--cached", "--name-only"])?, "", "nothing is staged");
    house.git(&["commit", "-q", "-am", "by the agent"])?;
    refuses("a commit that nobody else has, named by one of the agent's");
    house.git(&["reset", "-q", "--soft", "HEAD~1"])?;
    git(&lib, &["reset", "-q", "--hard", "origin/trunk"])?;
    put(&lib.join("deep"), "in.txt", "changed\n")?;
    refuses("a change in the one inside");
    git(&lib.join("deep"), &["checkout", "-q", "in.txt"])?;
    assert!(!commit(&house)?.fresh, "nothing is left");
    // What lies in the place of one that is not there is in no commit either.
    fs::remove_dir_all(lib.join("deep"))?;
    fs::rename(&lib, house.dir.path().join("filled"))?;
    fs::create_dir(&lib)?;
    put(&lib, "new.txt", "new\n")?;
    refuses("a file where none is filled");
    fs::remove_dir_all(&lib)?;
    fs::rename(house.dir.path().join("filled"), &lib)?;
    // A commit that a remote has may be named by ours.
    git(&lib, &["checkout", "-q", "origin/trunk~1"])?;
    assert!(commit(&house)?.fresh);
    Ok(())
}
