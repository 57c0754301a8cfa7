//! Worktrees of ours: made whole, moved with all that is inside, removed whatever git thinks of them.

use crate::house::{House, Outcome, alone, assert_same, git, portrait, put, user_config};
use crate::nested::{add_submodule, dirty};
use glis_snapshot::worktree::{Plan, find, make, remove, shift};
use std::fs;
use std::path::{Path, PathBuf};

const HALF: &str = "me, being made";

fn plan<'a>(house: &'a House, path: &'a Path) -> Plan<'a> {
    Plan { repo: &house.repo, path, branch: "fresh", base: None, owner: "me", umask: 0o027 }
}

fn is_whole(house: &House, path: &Path) -> Outcome {
    let made = make(&plan(house, path))?;
    assert_eq!((made.path.as_path(), made.branch.as_str()), (path, "fresh"));
    assert_eq!(git(path, &["status", "--porcelain"])?, "");
    assert_eq!(fs::read_to_string(path.join("dir/sub/c.txt"))?, "c\n");
    assert_eq!(git(path, &["symbolic-ref", "--short", "HEAD"])?.trim(), "fresh");
    assert_eq!(find(&house.repo, "me")?, Some(made));
    assert_eq!(git(&house.repo, &["branch", "--list", "fresh*"])?.lines().count(), 1);
    assert!(git(&house.repo, &["fsck", "--connectivity-only"]).is_ok());
    Ok(())
}

#[test]
fn a_worktree_is_made_once_with_the_rights_it_is_to_have() -> Outcome {
    use std::os::unix::fs::PermissionsExt as _;
    let house = House::new()?;
    let path = house.dir.path().canonicalize()?.join("new");
    is_whole(&house, &path)?;
    let mode = |name: &str| fs::metadata(path.join(name)).map(|m| m.permissions().mode() & 0o777);
    assert_eq!((mode("a.txt")?, mode("run.sh")?, mode("dir")?), (0o640, 0o750, 0o750));
    put(&path, "a.txt", "work\n")?;
    let made = make(&plan(&house, &path))?;
    assert_eq!(made.path, path);
    assert_eq!(fs::read_to_string(path.join("a.txt"))?, "work\n");
    Ok(())
}

#[test]
fn a_repository_without_commits_gets_an_empty_worktree() -> Outcome {
    let dir = tempfile::tempdir()?;
    let (repo, path) = (dir.path().join("repo"), dir.path().join("new"));
    fs::create_dir(&repo)?;
    git(&repo, &["init", "-q", "-b", "main"])?;
    let plan =
        Plan { repo: &repo, path: &path, branch: "fresh", base: None, owner: "me", umask: 0o022 };
    assert_eq!(make(&plan)?.branch, "fresh");
    assert_eq!(make(&plan)?.branch, "fresh");
    assert_eq!(git(&path, &["symbolic-ref", "--short", "HEAD"])?.trim(), "fresh");
    Ok(())
}

#[test]
fn half_of_a_worktree_is_made_again() -> Outcome {
    let house = House::new()?;
    let path = house.dir.path().canonicalize()?.join("new");
    let at = path.to_string_lossy().into_owned();
    let add = |more: &[&str]| {
        let args = [&["worktree", "add", "-q", "--lock", "--reason", HALF, "-b", "fresh"], more];
        git(&house.repo, &[&args.concat()[..], &[&at, "main"]].concat())
    };
    // Before the checkout.
    add(&["--no-checkout"])?;
    is_whole(&house, &path)?;
    remove(&house.repo, &path, "me")?;
    git(&house.repo, &["branch", "-q", "-D", "fresh"])?;
    // In the midst of it.
    add(&[])?;
    fs::remove_file(path.join("dir/b.txt"))?;
    fs::write(path.join("a.txt"), "on")?;
    is_whole(&house, &path)?;
    remove(&house.repo, &path, "me")?;
    git(&house.repo, &["branch", "-q", "-D", "fresh"])?;
    // Before git had written down where it would be.
    add(&["--no-checkout"])?;
    fs::remove_file(path.join(".git"))?;
    fs::remove_file(house.repo.join(".git/worktrees/new/gitdir"))?;
    is_whole(&house, &path)
}

#[test]
fn half_of_another_worktree_is_left_alone() -> Outcome {
    let house = House::new()?;
    let base = house.dir.path().canonicalize()?;
    let other = base.join("other").to_string_lossy().into_owned();
    git(
        &house.repo,
        &["worktree", "add", "-q", "--lock", "--reason", HALF, "-b", "theirs", &other, "main"],
    )?;
    is_whole(&house, &base.join("new"))?;
    assert!(base.join("other/a.txt").exists());
    assert!(git(&house.repo, &["branch"])?.contains("theirs"));
    Ok(())
}

/// A checkout that is killed leaves nothing that could be taken for a worktree.
#[test]
fn a_checkout_that_dies_is_no_worktree() -> Outcome {
    alone("making::a_checkout_that_dies_is_no_worktree", deadly_checkout)
}

fn deadly_checkout() -> Outcome {
    let house = House::new()?;
    put(&house.repo, ".gitattributes", "*.txt filter=deadly\n")?;
    git(&house.repo, &["add", "-A"])?;
    git(&house.repo, &["commit", "-q", "-m", "deadly"])?;
    user_config(&["filter.deadly.smudge", "kill -9 $PPID; cat"])?;
    user_config(&["filter.deadly.required", "true"])?;
    let path = house.dir.path().canonicalize()?.join("new");
    assert!(make(&plan(&house, &path)).is_err());
    assert!(!path.exists());
    assert_eq!(find(&house.repo, "me")?, None);
    user_config(&["--unset", "filter.deadly.smudge"])?;
    user_config(&["filter.deadly.required", "false"])?;
    is_whole(&house, &path)
}

#[test]
fn filters_of_the_user_run_and_those_of_the_repository_do_not() -> Outcome {
    let test = "making::filters_of_the_user_run_and_those_of_the_repository_do_not";
    alone(test, filtered_checkout)
}

fn filtered_checkout() -> Outcome {
    let house = House::new()?;
    put(
        &house.repo,
        ".gitattributes",
        "*.mine filter=mine\n*.evil filter=evil\n*.both filter=both\n*.odd filter=o.d=d\n",
    )?;
    for name in ["x.mine", "x.evil", "x.both", "x.odd"] {
        put(&house.repo, name, "raw\n")?;
    }
    git(&house.repo, &["add", "-A"])?;
    git(&house.repo, &["commit", "-q", "-m", "filtered"])?;
    let snapped = house.dir.path().join("snapped");
    let trap = format!("echo evil >> '{}'; echo evil", snapped.display());
    user_config(&["filter.mine.smudge", "sed s/raw/mine/"])?;
    user_config(&["filter.mine.clean", "sed s/mine/raw/"])?;
    user_config(&["filter.both.smudge", "sed s/raw/both/"])?;
    user_config(&["filter.both.clean", "sed s/both/raw/"])?;
    user_config(&["filter.both.required", "true"])?;
    git(&house.repo, &["config", "extensions.worktreeConfig", "true"])?;
    for (scope, name) in [("--local", "evil"), ("--local", "both"), ("--worktree", "o.d=d")] {
        for setting in ["smudge", "clean"] {
            git(&house.repo, &["config", scope, &format!("filter.{name}.{setting}"), &trap])?;
        }
        git(&house.repo, &["config", scope, &format!("filter.{name}.required"), "true"])?;
    }
    git(&house.repo, &["config", "filter.evil.process", &trap])?;
    // The trap works: plain git falls into it.
    let plain = house.dir.path().join("plain").to_string_lossy().into_owned();
    drop(git(&house.repo, &["worktree", "add", "-q", "--detach", &plain]));
    assert!(snapped.exists(), "the trap must be able to snap");
    fs::remove_file(&snapped)?;
    let path = house.dir.path().canonicalize()?.join("new");
    make(&plan(&house, &path))?;
    let said = fs::read_to_string(&snapped).unwrap_or_default();
    assert_eq!(said, "", "something ran");
    for (name, text) in
        [("x.mine", "mine\n"), ("x.evil", "raw\n"), ("x.both", "both\n"), ("x.odd", "raw\n")]
    {
        assert_eq!(fs::read_to_string(path.join(name))?, text, "{name}");
    }
    Ok(())
}

/// The house with a submodule that has work in it.
fn with_submodule() -> Outcome<(House, PathBuf)> {
    let house = House::new()?;
    let sub = add_submodule(&house)?;
    house.git(&["commit", "-q", "-m", "with sub"])?;
    dirty(&sub)?;
    house.git(&["worktree", "add", "-q", "-b", "topic", "inside"])?;
    put(&house.tree, "inside/a.txt", "inner\n")?;
    let to = house.dir.path().canonicalize()?.join("deep/down/moved");
    fs::create_dir_all(to.parent().ok_or("no parent")?)?;
    Ok((house, to))
}

#[test]
fn a_worktree_with_repositories_inside_is_moved_and_moved_back() -> Outcome {
    let (house, to) = with_submodule()?;
    let inner = |root: &Path| -> Outcome<_> {
        Ok([portrait(root)?, portrait(&root.join("sub"))?, portrait(&root.join("inside"))?])
    };
    let before = inner(&house.tree)?;
    for (from, to) in [(&house.tree, &to), (&to, &house.tree)] {
        shift(&house.repo, from, to)?;
        assert!(!from.exists());
        for (was, is) in before.iter().zip(&inner(to)?) {
            assert_same(was, is);
        }
        let list = git(&house.repo, &["worktree", "list", "--porcelain"])?;
        assert!(list.contains(&format!("worktree {}\n", to.display())), "{list}");
        assert!(list.contains(&format!("worktree {}/inside\n", to.display())), "{list}");
        assert!(!list.contains("prunable"), "{list}");
    }
    Ok(())
}

#[test]
fn a_move_that_was_cut_short_is_ended() -> Outcome {
    let (house, to) = with_submodule()?;
    let before = [portrait(&house.tree)?, portrait(&house.tree.join("sub"))?];
    // Git moves the folder first and writes it down afterwards.
    fs::rename(&house.tree, &to)?;
    shift(&house.repo, &house.tree, &to)?;
    assert_same(&before[0], &portrait(&to)?);
    assert_same(&before[1], &portrait(&to.join("sub"))?);
    let list = git(&house.repo, &["worktree", "list", "--porcelain"])?;
    assert!(list.contains(&format!("worktree {}\n", to.display())), "{list}");
    // Both there, or neither: nothing is guessed.
    fs::create_dir(&house.tree)?;
    assert!(shift(&house.repo, &house.tree, &to).is_err());
    let none = house.dir.path().join("none");
    assert!(shift(&house.repo, &none, &house.dir.path().join("nowhere")).is_err());
    Ok(())
}

#[test]
fn a_worktree_whose_repository_was_replaced_is_moved_and_removed_as_it_is() -> Outcome {
    let house = House::new()?;
    house.put("a.txt", "precious\n")?;
    let base = house.dir.path().canonicalize()?;
    let clone = base.join("clone").to_string_lossy().into_owned();
    git(&house.repo, &["clone", "-q", ".", &clone])?;
    fs::remove_dir_all(&house.repo)?;
    fs::rename(&clone, &house.repo)?;
    let to = base.join("moved");
    shift(&house.repo, &house.tree, &to)?;
    assert_eq!(fs::read_to_string(to.join("a.txt"))?, "precious\n");
    shift(&house.repo, &to, &house.tree)?;
    remove(&house.repo, &house.tree, "owner")?;
    assert!(!house.tree.exists());
    Ok(())
}

#[test]
fn the_main_worktree_is_never_moved_or_removed() -> Outcome {
    let house = House::new()?;
    let to = house.dir.path().join("moved");
    assert!(shift(&house.repo, &house.repo, &to).is_err());
    assert!(remove(&house.repo, &house.repo, "owner").is_err());
    assert!(house.repo.join("a.txt").exists() && !to.exists());
    Ok(())
}

#[test]
fn what_git_refuses_to_remove_is_removed_with_its_record() -> Outcome {
    let listed = |house: &House| git(&house.repo, &["worktree", "list", "--porcelain"]);
    // Without its `.git`.
    let house = House::new()?;
    fs::remove_file(house.tree.join(".git"))?;
    remove(&house.repo, &house.tree, "owner")?;
    assert!(!house.tree.exists() && !listed(&house)?.contains("owner"));
    // With submodules, and moved without git's knowledge.
    let (house, to) = with_submodule()?;
    fs::rename(&house.tree, &to)?;
    remove(&house.repo, &to, "owner")?;
    assert!(!to.exists() && !listed(&house)?.contains("locked owner"), "{}", listed(&house)?);
    assert!(git(&house.repo, &["branch"])?.contains("work"), "the branch stays");
    // What somebody else has locked is not ours to forget.
    let house = House::new()?;
    fs::remove_file(house.tree.join(".git"))?;
    remove(&house.repo, &house.tree, "another")?;
    assert!(listed(&house)?.contains("locked owner"));
    Ok(())
}

#[test]
fn many_are_made_at_once_and_another_git_in_the_middle_of_one_is_waited_for() -> Outcome {
    let house = House::new()?;
    // What `git worktree add` leaves for a moment: the file is there, and nothing is in it.
    let half = house.repo.join(".git/worktrees/others");
    let tree = house.tree.with_file_name("others");
    git(&house.repo, &["worktree", "add", "--quiet", "-b", "others", &tree.to_string_lossy()])?;
    let common = half.join("commondir");
    let text = fs::read(&common)?;
    fs::write(&common, "")?;
    std::thread::scope(|scope| -> Outcome {
        let makers: Vec<_> = (0..8)
            .map(|n| {
                let path = house.tree.with_file_name(format!("tree-{n}"));
                let (repo, owner) = (&house.repo, format!("me-{n}"));
                scope.spawn(move || {
                    let (base, umask) = (None, 0o022);
                    let branch = &owner;
                    make(&Plan { repo, path: &path, branch, base, owner: &owner, umask })
                })
            })
            .collect();
        std::thread::sleep(std::time::Duration::from_millis(50));
        fs::write(&common, text)?;
        for maker in makers {
            maker.join().map_err(|_| "a maker panicked")??;
        }
        Ok(())
    })
}
