//! A worktree's work as a commit, and merged: the user's checkout is never touched, no branch ever
//! goes back, and what cannot be merged changes nothing.

use crate::house::{self, House, Outcome};
use glis_snapshot::{
    CommitFault, CommitRequest, Committed, MergeFault, MergeRequest, Merged, checked_out,
    commit_work, merge,
};
use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// What git says, without its last newline.
fn git(dir: &Path, args: &[&str]) -> Outcome<String> {
    Ok(house::git(dir, args)?.trim_end().to_owned())
}

fn commit(house: &House) -> Result<Committed, CommitFault> {
    commit_work(&CommitRequest {
        worktree: &house.tree,
        branch: "work",
        message: "some work",
        hooks: None,
    })
}

fn merged(house: &House, work: &str, into: &str) -> Result<Merged, MergeFault> {
    let (repo, message) = (house.repo.as_path(), "the merge");
    merge(&MergeRequest { repo, work, into, aside: "glis/merge/x", message, hooks: None })
}

/// Everything that a merge could have changed of the user's.
fn checkout(repo: &Path) -> Outcome<(String, String, String)> {
    let refs = git(repo, &["for-each-ref", "refs/heads"])?;
    let head = std::fs::read_to_string(repo.join(".git/HEAD"))?;
    Ok((refs, head, git(repo, &["status", "--porcelain"])?))
}

#[test]
fn everything_that_is_not_ignored_is_committed_and_no_byte_of_the_worktree_moves() -> Outcome {
    let house = House::new()?;
    house.put(".gitignore", "*.log\n")?;
    house.put("a.txt", "changed\n")?;
    house.put("fresh/file.txt", "fresh\n")?;
    house.put("noise.log", "noise\n")?;
    std::fs::remove_file(house.tree.join("gone.txt"))?;
    let work = commit(&house)?;
    assert!(work.fresh);
    assert_eq!(git(&house.tree, &["status", "--porcelain"])?, "");
    assert_eq!(git(&house.tree, &["rev-parse", "work"])?, work.commit);
    let changed = git(&house.tree, &["diff", "--name-status", "main", "work"])?;
    assert_eq!(changed, "A\t.gitignore\nM\ta.txt\nA\tfresh/file.txt\nD\tgone.txt");
    assert!(house.tree.join("noise.log").exists());
    assert_eq!(commit(&house)?, Committed { fresh: false, ..work });
    Ok(())
}

/// Git knows times by the second. What is written in the second that the index was is told from its bytes alone.
#[test]
fn a_change_of_the_same_size_in_the_second_of_the_index_is_committed() -> Outcome {
    let house = House::new()?;
    // The time of a file's entry cannot be set.
    git(&house.tree, &["config", "core.trustctime", "false"])?;
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let index = git(&house.tree, &["rev-parse", "--git-path", "index"])?;
    let index = house.tree.join(index);
    let at_once = |path: &Path| -> Outcome {
        Ok(File::options().write(true).open(path)?.set_modified(then)?)
    };
    for (text, path) in [("old\n", "a.txt"), ("new\n", "a.txt"), ("one\n", "a.txt")] {
        house.put(path, text)?;
        at_once(&house.tree.join(path))?;
        commit(&house)?;
        assert_eq!(git(&house.tree, &["show", "work:a.txt"])?, text.trim_end());
        at_once(&index)?;
    }
    Ok(())
}

#[test]
fn a_branch_goes_forward_and_has_everything_of_both() -> Outcome {
    let house = House::new()?;
    git(&house.repo, &["branch", "target"])?;
    house.put("a.txt", "changed\n")?;
    let work = commit(&house)?.commit;
    let forward = merged(&house, &work, "target")?;
    assert_eq!(
        (&forward.commit, forward.already),
        (&work, false),
        "no commit where none is needed"
    );
    assert!(merged(&house, &work, "target")?.already);

    git(&house.repo, &["branch", "other", "main"])?;
    house.put("dir/b.txt", "mine\n")?;
    let work = commit(&house)?.commit;
    // Something else has gone into the other branch meanwhile.
    let tree = git(&house.repo, &["rev-parse", "main^{tree}"])?;
    let theirs = git(&house.repo, &["commit-tree", &tree, "-p", "main", "-m", "theirs"])?;
    git(&house.repo, &["update-ref", "refs/heads/other", &theirs])?;
    let both = merged(&house, &work, "other")?;
    let parents = git(&house.repo, &["rev-parse", "other^1", "other^2"])?;
    assert_eq!(parents, format!("{theirs}\n{work}"));
    assert_eq!(both.checked_out, None);
    assert_eq!(git(&house.repo, &["show", "other:dir/b.txt"])?, "mine");
    Ok(())
}

#[test]
fn a_branch_that_is_checked_out_stays_and_the_result_waits_beside_it() -> Outcome {
    let house = House::new()?;
    house.put("a.txt", "changed\n")?;
    let work = commit(&house)?.commit;
    let before = git(&house.repo, &["rev-parse", "main"])?;
    let aside = merged(&house, &work, "main")?;
    assert_eq!(
        (aside.branch.as_str(), aside.checked_out),
        ("glis/merge/x", Some(house.repo.clone()))
    );
    assert_eq!(git(&house.repo, &["rev-parse", "main"])?, before);
    assert!(merged(&house, &work, "main")?.already);
    // The branch moves on, and so does the work: what waits is brought up to both.
    std::fs::write(house.repo.join("own.txt"), "own\n")?;
    git(&house.repo, &["add", "--all"])?;
    git(&house.repo, &["commit", "--quiet", "--message=own"])?;
    house.put("dir/b.txt", "more\n")?;
    let work = commit(&house)?.commit;
    merged(&house, &work, "main")?;
    git(&house.repo, &["merge", "--ff-only", "--quiet", "glis/merge/x"])?;
    assert_eq!(std::fs::read_to_string(house.repo.join("dir/b.txt"))?, "more\n");
    git(&house.repo, &["merge-base", "--is-ancestor", &aside.commit, "main"])?;
    Ok(())
}

#[test]
fn a_branch_that_is_being_rebased_counts_as_checked_out() -> Outcome {
    let house = House::new()?;
    house.put("a.txt", "x\n")?;
    commit(&house)?;
    std::fs::write(house.repo.join("a.txt"), "y\n")?;
    git(&house.repo, &["commit", "--quiet", "--all", "--message=y"])?;
    assert!(git(&house.tree, &["rebase", "main"]).is_err(), "it should be in conflict");
    assert_eq!(checked_out(&house.repo, "work")?, Some(house.tree.clone()));
    assert_eq!(checked_out(&house.repo, "nothing")?, None);
    let unfinished = commit(&house).err().ok_or("it was committed")?;
    assert!(matches!(unfinished, CommitFault::Unfinished { what: "rebase", .. }), "{unfinished}");
    Ok(())
}

#[test]
fn a_conflict_names_the_files_and_changes_nothing() -> Outcome {
    let house = House::new()?;
    house.put("a.txt", "mine\n")?;
    house.put("dir/b.txt", "mine\n")?;
    let work = commit(&house)?.commit;
    std::fs::write(house.repo.join("a.txt"), "yours\n")?;
    git(&house.repo, &["commit", "--quiet", "--all", "--message=yours"])?;
    let before = checkout(&house.repo)?;
    let Err(MergeFault::Conflict { into, files }) = merged(&house, &work, "main") else {
        return Err("there is no conflict".into());
    };
    assert_eq!((into.as_str(), files), ("main", vec!["a.txt".to_owned()]));
    assert_eq!(checkout(&house.repo)?, before);
    assert!(matches!(merged(&house, &work, "nothing"), Err(MergeFault::NoBranch(_))));
    Ok(())
}

#[test]
fn nothing_that_the_repository_names_is_run() -> Outcome {
    let house = House::new()?;
    let ran = house.dir.path().join("ran");
    let touch = format!("touch {} #", ran.display());
    for name in
        ["pre-commit", "pre-merge-commit", "commit-msg", "post-commit", "reference-transaction"]
    {
        let hook = house.repo.join(".git/hooks").join(name);
        std::fs::create_dir_all(hook.parent().ok_or("no folder")?)?;
        std::fs::write(&hook, format!("#!/bin/sh\n{touch}\n"))?;
        std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    }
    for key in ["merge.own.driver", "filter.own.clean", "filter.own.smudge"] {
        git(&house.repo, &["config", key, &touch])?;
    }
    house.put(".gitattributes", "a.txt merge=own filter=own\n")?;
    house.put("a.txt", "one\ntwo\nthree\nfour\n")?;
    let work = commit(&house)?.commit;
    let yours = "zero\none\ntwo\nthree\n";
    std::fs::write(house.repo.join("a.txt"), yours)?;
    std::fs::write(house.repo.join(".gitattributes"), "a.txt merge=own\n")?;
    git(&house.repo, &["-c", "core.hooksPath=/dev/null", "add", "--all"])?;
    git(&house.repo, &["-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "yours"])?;
    drop(std::fs::remove_file(&ran));
    let conflict = merged(&house, &work, "main").err().ok_or("it was merged")?;
    assert!(matches!(conflict, MergeFault::Conflict { .. }), "{conflict}");
    assert!(!ran.exists(), "a program of the repository was run");
    Ok(())
}

#[test]
fn what_a_commit_would_not_hold_is_refused() -> Outcome {
    let house = House::new()?;
    git(&house.tree, &["switch", "--quiet", "--create", "elsewhere"])?;
    assert!(matches!(commit(&house), Err(CommitFault::OffBranch { .. })));
    git(&house.tree, &["switch", "--quiet", "work"])?;
    let inner = house.tree.join("inner");
    std::fs::create_dir(&inner)?;
    git(&inner, &["init", "--quiet"])?;
    std::fs::write(inner.join("x"), "x")?;
    git(&inner, &["add", "--all"])?;
    git(&inner, &["commit", "--quiet", "--message=x"])?;
    assert!(matches!(commit(&house), Err(CommitFault::Nested { .. })));
    assert_eq!(git(&house.tree, &["diff", "--cached", "--name-only"])?, "", "nothing is staged");
    Ok(())
}

#[test]
fn the_lock_of_a_commit_that_was_killed_is_in_nobodys_way_and_any_other_is() -> Outcome {
    let house = House::new()?;
    house.put("a.txt", "changed\n")?;
    let folder = git(&house.tree, &["rev-parse", "--absolute-git-dir"])?;
    let (own, lock) =
        (Path::new(&folder).join("index.glis"), Path::new(&folder).join("index.lock"));
    // Killed right before the lock became the index.
    std::fs::write(&own, "half")?;
    std::fs::hard_link(&own, &lock)?;
    let work = commit(&house)?;
    assert!(work.fresh && !own.exists() && !lock.exists());
    house.put("a.txt", "changed again\n")?;
    std::fs::write(&own, "half")?;
    std::fs::write(&lock, "half")?;
    let fault = commit(&house).err().map(|fault| fault.to_string());
    assert!(fault.as_deref().is_some_and(|fault| fault.contains("index.lock")), "{fault:?}");
    assert!(lock.exists() && !own.exists(), "the lock of a git that may live");
    std::fs::remove_file(&lock)?;
    assert!(commit(&house)?.fresh);
    Ok(())
}
