//! A restore never overwrites, and HEAD goes only where it fits.

use crate::house::{House, Outcome, SESSION, assert_same, git, portrait, put};
use glis_snapshot::{
    Change, ChangeKind, Difference, HeadState, Limits, RestoreRequest, SaveRequest, SnapshotFault,
    Stand, compare, restore, save, verify,
};
use std::fs;

#[test]
fn a_worktree_in_the_way_is_saved_and_set_aside() -> Outcome {
    let house = House::new()?;
    house.put("a.txt", "first\n")?;
    let saved = house.save()?;
    house.put("a.txt", "second\n")?;
    house.put("newer", "newer\n")?;
    let restored = house.restore(&saved.reference, &house.tree)?;
    assert_eq!(fs::read_to_string(house.tree.join("a.txt"))?, "first\n");
    assert_eq!(restored.head, HeadState::OnBranch("refs/heads/work".to_owned()));
    let aside = restored.set_aside.ok_or("nothing was set aside")?;
    assert_eq!(fs::read_to_string(aside.path.join("newer"))?, "newer\n");
    assert_eq!(git(&aside.path, &["status", "--short"])?, " M a.txt\n?? newer\n");
    let reference = aside.reference.ok_or("it was not saved")?;
    verify(&house.repo, &reference)?;
    Ok(())
}

#[test]
fn a_folder_or_a_file_in_the_way_is_set_aside() -> Outcome {
    for folder in [true, false] {
        let house = House::new()?;
        let saved = house.save()?;
        house.destroy()?;
        if folder {
            put(&house.tree, "precious", "p")?;
        } else {
            fs::write(&house.tree, "p")?;
        }
        let restored = house.restore(&saved.reference, &house.tree)?;
        let aside = restored.set_aside.ok_or("nothing was set aside")?.path;
        let file = if folder { aside.join("precious") } else { aside };
        assert_eq!(fs::read_to_string(file)?, "p");
        assert!(house.tree.join("a.txt").exists());
    }
    Ok(())
}

#[test]
fn the_main_worktree_is_never_moved() -> Outcome {
    let house = House::new()?;
    let saved = house.save()?;
    let fault = house.restore(&saved.reference, &house.repo).err().ok_or("it was restored")?;
    let fault = fault.downcast::<SnapshotFault>()?;
    assert!(matches!(*fault, SnapshotFault::InTheWay { .. }), "{fault}");
    assert!(house.repo.join("a.txt").exists());
    Ok(())
}

#[test]
fn a_worktree_whose_folder_was_removed_by_hand_comes_back() -> Outcome {
    let house = House::new()?;
    house.put("a.txt", "changed\n")?;
    let saved = house.save()?;
    house.put("late.txt", "staged after the snapshot\n")?;
    house.git(&["add", "late.txt"])?;
    fs::remove_dir_all(&house.tree)?;
    let restored = house.restore(&saved.reference, &house.tree)?;
    assert_eq!(restored.head, HeadState::OnBranch("refs/heads/work".to_owned()));
    assert_eq!(house.git(&["status", "--short"])?, " M a.txt\n");
    let note = restored.notes.iter().find(|note| note.contains("index of the lost worktree"));
    let reference = note.and_then(|note| note.rsplit(' ').next()).ok_or("no note")?;
    let kept = git(&house.repo, &["show", &format!("{reference}:staged/late.txt")])?;
    assert_eq!(kept, "staged after the snapshot\n");
    Ok(())
}

#[test]
fn a_branch_that_moved_is_left_alone() -> Outcome {
    let house = House::new()?;
    house.put("n", "n")?;
    let saved = house.save()?;
    git(&house.repo, &["worktree", "remove", "-f", "-f", &house.tree.to_string_lossy()])?;
    git(&house.repo, &["branch", "-f", "work", "HEAD~1"])?;
    let was = git(&house.repo, &["rev-parse", "work"])?;
    let restored = house.restore(&saved.reference, &house.tree)?;
    assert_eq!(restored.head, HeadState::CutOff { branch: "refs/heads/work".to_owned() });
    assert!(restored.notes.iter().any(|note| note.contains("has moved")), "{:?}", restored.notes);
    assert_eq!(git(&house.repo, &["rev-parse", "work"])?, was);
    Ok(())
}

#[test]
fn a_branch_that_is_out_elsewhere_stays_there() -> Outcome {
    let house = House::new()?;
    let saved = house.save()?;
    let to = house.dir.path().join("second");
    let restored = house.restore(&saved.reference, &to)?;
    assert_eq!(restored.head, HeadState::CutOff { branch: "refs/heads/work".to_owned() });
    assert_eq!(house.git(&["symbolic-ref", "--short", "HEAD"])?.trim(), "work");
    Ok(())
}

#[test]
fn a_copy_takes_no_branch_and_makes_none() -> Outcome {
    let house = House::new()?;
    house.put("a.txt", "changed\n")?;
    let saved = house.save()?;
    git(&house.repo, &["worktree", "remove", "-f", "-f", &house.tree.to_string_lossy()])?;
    let copy = |to: &str, reference: &str| -> Outcome<_> {
        let to = house.dir.path().join(to);
        let request = house.way_back(reference, &to);
        let restored = restore(&RestoreRequest { stand: Stand::Detached, ..request })?;
        Ok((restored, git(&to, &["rev-parse", "--symbolic-full-name", "HEAD"])))
    };
    let before = git(&house.repo, &["for-each-ref", "refs/heads"])?;
    let (restored, head) = copy("free", &saved.reference)?;
    assert_eq!((restored.head, head?.trim()), (HeadState::Detached, "HEAD"));
    assert_eq!(git(&house.repo, &["for-each-ref", "refs/heads"])?, before);
    git(&house.repo, &["branch", "-q", "-D", "work"])?;
    copy("gone", &saved.reference)?.1?;
    assert!(!git(&house.repo, &["branch", "--list", "work"])?.contains("work"));
    house.restore(&saved.reference, &house.tree)?;
    assert_eq!(house.git(&["symbolic-ref", "--short", "HEAD"])?.trim(), "work");
    // Nothing was committed here: there is no commit for HEAD to stand on.
    house.git(&["checkout", "-q", "--orphan", "young"])?;
    let saved = house.save()?;
    let (restored, _) = copy("unborn", &saved.reference)?;
    assert_eq!(restored.head, HeadState::Unborn("refs/heads/young-restored-1".to_owned()));
    Ok(())
}

#[test]
fn nothing_is_restored_into_the_worktree_itself_or_into_gits_own_files() -> Outcome {
    let house = House::new()?;
    let saved = house.save()?;
    let through = house.dir.path().join("through");
    std::os::unix::fs::symlink(&house.tree, &through)?;
    let before = portrait(&house.tree)?;
    let git_dir = house.repo.join(".git");
    for to in [
        house.tree.join("deep/down"),
        through.join("linked"),
        git_dir.clone(),
        git_dir.join("copy"),
        git_dir.join("worktrees/x"),
    ] {
        let request = house.way_back(&saved.reference, &to);
        let fault = restore(&RestoreRequest { own: Some(&house.tree), ..request }).err();
        let fault = fault.ok_or("it was restored")?;
        assert!(matches!(fault, SnapshotFault::InTheWay { .. }), "{}: {fault}", to.display());
        assert!(to == git_dir || !to.exists());
    }
    assert_same(&before, &portrait(&house.tree)?);
    Ok(())
}

#[test]
fn a_branch_that_was_born_meanwhile_is_not_taken() -> Outcome {
    let house = House::new()?;
    house.git(&["checkout", "-q", "--orphan", "young"])?;
    let saved = house.save()?;
    git(&house.repo, &["worktree", "remove", "-f", "-f", &house.tree.to_string_lossy()])?;
    git(&house.repo, &["branch", "young", "main"])?;
    let restored = house.restore(&saved.reference, &house.tree)?;
    assert_eq!(restored.head, HeadState::Unborn("refs/heads/young-restored-1".to_owned()));
    Ok(())
}

#[test]
fn a_comparison_names_what_differs() -> Outcome {
    let house = House::new()?;
    house.put("untracked", "u")?;
    let saved = house.save()?;
    house.put("a.txt", "changed\n")?;
    house.put("new", "n")?;
    fs::remove_file(house.tree.join("untracked"))?;
    house.put("dir/b.txt", "staged\n")?;
    house.git(&["add", "dir/b.txt"])?;
    crate::house::mode(&house.tree, "other/d.txt", 0o600)?;
    let Difference::Changed(changes) =
        compare(&house.tree, &house.repo, &saved.reference, &Limits::default())?
    else {
        return Err("it is said to be untouched".into());
    };
    let change = |path: &str, kind| Change { path: path.as_bytes().to_vec(), kind };
    let expected = [
        change("a.txt", ChangeKind::Modified),
        change("dir/b.txt", ChangeKind::Modified),
        change("dir/b.txt", ChangeKind::Staged),
        change("new", ChangeKind::Added),
        change("other/d.txt", ChangeKind::Rights),
        change("untracked", ChangeKind::Removed),
    ];
    assert_eq!(changes, expected);
    house.git(&["commit", "-q", "-am", "moved on"])?;
    let Difference::Changed(changes) =
        compare(&house.tree, &house.repo, &saved.reference, &Limits::default())?
    else {
        return Err("it is said to be untouched".into());
    };
    assert!(changes.iter().any(|change| change.kind == ChangeKind::Head));
    Ok(())
}

#[test]
fn touching_a_file_is_no_change() -> Outcome {
    let house = House::new()?;
    let saved = house.save()?;
    house.put("a.txt", "one\ntwo\nthree\n")?;
    assert_eq!(
        compare(&house.tree, &house.repo, &saved.reference, &Limits::default())?,
        Difference::Untouched
    );
    assert!(!house.save()?.fresh);
    house.git(&["update-index", "-q", "--refresh"])?;
    assert!(!house.save()?.fresh);
    Ok(())
}

/// What a save with this limit leaves out, and what it finds to be changed after a turn of `then`.
fn after(limit: u64, then: impl Fn(&House) -> Outcome) -> Outcome<(Vec<String>, Vec<String>)> {
    let house = House::new()?;
    house.put("committed", &"c".repeat(3000))?;
    house.git(&["add", "committed"])?;
    house.git(&["commit", "-q", "-m", "large"])?;
    house.put("a.txt", &"a".repeat(3000))?;
    house.put("untracked", &"u".repeat(3000))?;
    let limits = Limits { file_bytes_max: limit, ..Limits::default() };
    let request =
        SaveRequest { worktree: &house.tree, session: SESSION, why: "test", limits, passing: None };
    let saved = save(&request)?;
    then(&house)?;
    let shown = |path: &[u8]| String::from_utf8_lossy(path).into_owned();
    let changed = match compare(&house.tree, &house.repo, &saved.reference, &limits)? {
        Difference::Untouched => Vec::new(),
        Difference::Changed(changes) => changes.iter().map(|change| shown(&change.path)).collect(),
        Difference::Gone => return Err("it is gone".into()),
    };
    // Whether a comparison and the next save agree.
    assert_eq!(save(&request)?.fresh, !changed.is_empty());
    Ok((saved.not_captured.iter().map(|item| shown(&item.path)).collect(), changed))
}

#[test]
fn a_file_above_the_limit_is_untouched_until_somebody_touches_its_bytes() -> Outcome {
    let none: [&str; 0] = [];
    let touch = |house: &House| {
        for name in ["committed", "a.txt", "untracked"] {
            let file = fs::File::options().append(true).open(house.tree.join(name))?;
            file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1))?;
        }
        Ok(())
    };
    let left_out = vec!["a.txt".to_owned(), "untracked".to_owned()];
    for then in [&|_: &House| Ok(()), &touch as &dyn Fn(&House) -> Outcome] {
        assert_eq!(after(1000, then)?, (left_out.clone(), vec![]));
        // A limit above what was once thought enough for everybody.
        assert_eq!(after(1 << 40, then)?.1, none);
    }
    let grown = |house: &House| {
        house.put("a.txt", &"a".repeat(3001))?;
        house.put("untracked", "small\n")?;
        house.put("committed", &"d".repeat(3000))?;
        house.put("later", &"l".repeat(3000))
    };
    let all = ["a.txt", "committed", "later", "untracked"];
    assert_eq!(after(1000, grown)?.1, all);
    assert_eq!(after(1 << 40, grown)?.1, all);
    Ok(())
}

#[test]
fn only_a_folder_in_no_repository_has_no_top() -> Outcome {
    let house = House::new()?;
    let found = |dir: &std::path::Path| glis_snapshot::top_of(dir);
    assert_eq!(found(&house.tree.join("dir/sub"))?, Some(house.tree.clone()));
    assert_eq!(found(&house.repo)?, Some(house.repo.clone()));
    let outside = house.dir.path().join("outside\nwith a line");
    fs::create_dir(&outside)?;
    assert_eq!(found(&outside)?, None);
    fs::create_dir(outside.join(".git"))?;
    assert_eq!(found(&outside)?, None, "an empty folder is no repository");
    git(&outside, &["init", "-q"])?;
    assert_eq!(found(&outside)?, Some(outside.canonicalize()?));
    let gone = found(&house.dir.path().join("none"));
    assert!(matches!(gone, Err(SnapshotFault::Gone(_))), "{gone:?}");
    // A worktree whose repository is gone, a repository without a HEAD, one that cannot be read.
    for (name, text) in [("a", "gitdir: /nonexistent\n"), ("b", "what?\n")] {
        put(house.dir.path(), &format!("{name}/.git"), text)?;
        assert!(found(&house.dir.path().join(name)).is_err(), "{name}");
    }
    fs::remove_file(outside.join(".git/HEAD"))?;
    assert!(found(&outside).is_err(), "without a HEAD");
    fs::write(house.repo.join(".git/config"), "[core\n")?;
    assert!(found(&house.repo).is_err(), "with a config that nobody understands");
    if rustix::process::geteuid().is_root() {
        let other = House::new()?;
        std::os::unix::fs::chown(&other.repo, Some(65534), Some(65534))?;
        assert!(found(&other.repo).is_err(), "somebody else's");
    }
    Ok(())
}

#[test]
fn a_folder_without_its_git_file_is_gone_and_not_its_parent() -> Outcome {
    let house = House::new()?;
    let inside = house.repo.join("inside");
    git(&house.repo, &["worktree", "add", "-q", "--detach", &inside.to_string_lossy()])?;
    let request = |worktree| glis_snapshot::SaveRequest {
        worktree,
        session: SESSION,
        why: "test",
        limits: glis_snapshot::Limits::default(),
        passing: None,
    };
    let saved = glis_snapshot::save(&request(&inside))?;
    fs::remove_file(inside.join(".git"))?;
    assert_eq!(
        compare(&inside, &house.repo, &saved.reference, &Limits::default())?,
        Difference::Gone
    );
    let fault = glis_snapshot::save(&request(&inside)).err().ok_or("the parent was saved")?;
    assert!(matches!(fault, SnapshotFault::Gone(_)), "{fault}");
    Ok(())
}
