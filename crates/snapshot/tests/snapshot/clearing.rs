//! A worktree is removed only if a snapshot holds all of it, and only if it is ours.

use crate::house::{House, Outcome, SESSION, as_nobody, assert_same, git, mode, portrait, put};
use crate::nested::{add_submodule, dirty};
use crate::skip::skip;
use glis_snapshot::{
    ClearRequest, Cleared, LeftOut, Limits, SaveRequest, Side, SnapshotFault, clear, diff_files,
    glance, patch, save,
};
use std::fs;
use std::path::{Path, PathBuf};

fn request<'a>(house: &'a House, reference: &'a str, left_out: LeftOut) -> ClearRequest<'a> {
    ClearRequest {
        repo_root: &house.repo,
        worktree: &house.tree,
        lock_owner: "owner",
        reference,
        left_out,
        limits: Limits::default(),
    }
}

fn stays(house: &House, reference: &str, left_out: LeftOut) -> Outcome<String> {
    let before = portrait(&house.tree)?;
    let fault = clear(&request(house, reference, left_out)).err().ok_or("it was removed")?;
    assert!(matches!(fault, SnapshotFault::InTheWay { .. }), "{fault}");
    assert_same(&before, &portrait(&house.tree)?);
    let siblings = fs::read_dir(house.dir.path())?.count();
    assert_eq!(siblings, 2, "only the repository and the worktree are there");
    Ok(fault.to_string())
}

#[test]
fn a_saved_worktree_goes_and_comes_back() -> Outcome {
    let house = House::new()?;
    house.put("a.txt", "staged\n")?;
    house.git(&["add", "a.txt"])?;
    house.put("a.txt", "unstaged\n")?;
    house.put("new/untracked", "u\n")?;
    let before = portrait(&house.tree)?;
    let saved = house.save()?;
    let request = request(&house, &saved.reference, LeftOut::Stays);
    clear(&request)?;
    assert!(!house.tree.exists());
    assert_eq!(fs::read_dir(house.dir.path())?.count(), 1);
    assert!(!git(&house.repo, &["worktree", "list"])?.contains("tree"));
    assert!(git(&house.repo, &["branch"])?.contains("work"), "the branch stays");
    clear(&request)?;
    house.restore(&saved.reference, &house.tree)?;
    assert_same(&before, &portrait(&house.tree)?);
    Ok(())
}

#[test]
fn a_worktree_with_a_submodule_goes_and_comes_back() -> Outcome {
    let house = House::new()?;
    let inner = add_submodule(&house)?;
    dirty(&inner)?;
    let before = (portrait(&house.tree)?, portrait(&inner)?);
    let saved = house.save()?;
    put(&inner, "untracked", "changed since\n")?;
    let told = clear(&request(&house, &saved.reference, LeftOut::Stays)).err().ok_or("gone")?;
    assert!(told.to_string().contains("sub/untracked"), "{told}");
    put(&inner, "untracked", "u\n")?;
    clear(&request(&house, &saved.reference, LeftOut::Stays))?;
    assert!(!house.tree.exists());
    house.restore(&saved.reference, &house.tree)?;
    assert_same(&before.0, &portrait(&house.tree)?);
    assert_same(&before.1, &portrait(&inner)?);
    Ok(())
}

#[test]
fn what_was_written_since_the_snapshot_keeps_the_worktree() -> Outcome {
    let house = House::new()?;
    let saved = house.save()?;
    house.put("a.txt", "later\n")?;
    let told = stays(&house, &saved.reference, LeftOut::Goes)?;
    assert!(told.contains("a.txt"), "{told}");
    Ok(())
}

#[test]
fn what_is_ignored_keeps_the_worktree_unless_it_may_go() -> Outcome {
    let house = House::new()?;
    house.put(".gitignore", ".env\n")?;
    let clean = house.save()?;
    house.put(".env", "SECRET=1\n")?;
    let told = stays(&house, &clean.reference, LeftOut::Stays)?;
    assert!(told.contains(".env"), "{told}");
    let saved = house.save()?;
    stays(&house, &saved.reference, LeftOut::Stays)?;
    clear(&request(&house, &saved.reference, LeftOut::Goes))?;
    assert!(!house.tree.exists());
    Ok(())
}

#[test]
fn a_file_above_the_limit_that_came_after_the_snapshot_keeps_the_worktree() -> Outcome {
    let house = House::new()?;
    let saved = house.save()?;
    house.put("large", &"l".repeat(3000))?;
    let before = portrait(&house.tree)?;
    let limits = Limits { file_bytes_max: 1000, ..Limits::default() };
    for left_out in [LeftOut::Stays, LeftOut::Goes] {
        let request = ClearRequest { limits, ..request(&house, &saved.reference, left_out) };
        let fault = clear(&request).err().ok_or("it was removed")?;
        assert!(fault.to_string().contains("large"), "{fault}");
        assert_same(&before, &portrait(&house.tree)?);
    }
    Ok(())
}

#[test]
fn a_file_above_the_limit_is_in_the_list_of_what_differs() -> Outcome {
    let house = House::new()?;
    let base = house.git(&["rev-parse", "HEAD"])?.trim().to_owned();
    house.put("a.txt", &"a".repeat(3000))?;
    house.put("large", &"l".repeat(3000))?;
    let limits = Limits { file_bytes_max: 1000, ..Limits::default() };
    let worktree = &house.tree;
    let request = SaveRequest { worktree, session: SESSION, why: "test", limits, passing: None };
    let saved = save(&request)?;
    let glance = glance(&house.tree, limits)?;
    let (base, kept) = (Side::Commit(&base), Side::Snapshot(&saved.reference));
    for to in [kept, Side::Now(&glance)] {
        let files = diff_files(&house.repo, base, to)?;
        let named: Vec<_> = files.iter().map(|file| String::from_utf8_lossy(&file.path)).collect();
        assert_eq!(named, ["a.txt", "large"]);
        assert!(files.iter().all(|file| (file.added, file.removed) == (None, None)));
    }
    // The same on both sides, as far as anybody can tell.
    assert_eq!(diff_files(&house.repo, kept, Side::Now(&glance))?, []);
    let listed = glis_snapshot::list(&house.repo, SESSION)?;
    assert_eq!(listed.last().map(|one| one.changed), Some(2));
    Ok(())
}

#[test]
fn write_protected_folders_go_too() -> Outcome {
    as_nobody("clearing::write_protected_folders_go_too", || {
        let house = House::new()?;
        house.put(".gitignore", "store\n")?;
        house.put("store/module/v1/file", "x")?;
        let saved = house.save()?;
        for folder in ["store/module/v1", "store/module", "store"] {
            mode(&house.tree, folder, 0o555)?;
        }
        let cleared = clear(&request(&house, &saved.reference, LeftOut::Goes))?;
        assert_eq!(cleared, Cleared { leftover: None });
        assert_eq!(fs::read_dir(house.dir.path())?.count(), 1);
        Ok(())
    })
}

#[test]
fn what_cannot_be_deleted_is_no_reason_to_say_that_the_worktree_stays() -> Outcome {
    let house = House::new()?;
    house.put("a.txt", "changed\n")?;
    fs::create_dir(house.tree.join("busy"))?;
    let mount = |verb: &str, args: &[&str]| {
        std::process::Command::new(verb).args(args).status().is_ok_and(|status| status.success())
    };
    let busy = house.tree.join("busy").to_string_lossy().into_owned();
    if !mount("mount", &["-t", "tmpfs", "none", &busy]) {
        return skip("no file system can be mounted here", None);
    }
    let before = portrait(&house.tree)?;
    let cleared = house.save().and_then(|saved| {
        let cleared = clear(&request(&house, &saved.reference, LeftOut::Stays))?;
        Ok((saved, cleared))
    });
    let doomed = house.tree.with_file_name(".tree.glis-doomed");
    let gone = !house.tree.exists();
    // The worktree may come back while there is still something to delete.
    let again = cleared.and_then(|(saved, cleared)| {
        house.restore(&saved.reference, &house.tree)?;
        Ok((clear(&request(&house, &saved.reference, LeftOut::Stays))?, saved, cleared))
    });
    let both = gone && !house.tree.exists();
    for at in [&house.tree.join("busy"), &doomed.join("busy")] {
        mount("umount", &[&at.to_string_lossy()]);
    }
    let (again, saved, cleared) = again?;
    assert!(both);
    assert_eq!(cleared.leftover.as_ref(), Some(&doomed));
    assert_eq!(again.leftover.as_ref(), Some(&doomed));
    assert!(!git(&house.repo, &["worktree", "list", "--porcelain"])?.contains("tree\n"));
    let last = clear(&request(&house, &saved.reference, LeftOut::Stays))?;
    assert_eq!(last, Cleared { leftover: None });
    assert_eq!(fs::read_dir(house.dir.path())?.count(), 1);
    house.restore(&saved.reference, &house.tree)?;
    assert_same(&before, &portrait(&house.tree)?);
    Ok(())
}

#[test]
fn a_worktree_that_came_back_is_looked_at_although_an_earlier_removal_is_not_over() -> Outcome {
    for word in ["doomed", "moving"] {
        let house = House::new()?;
        let saved = house.save()?;
        let left = house.tree.with_file_name(format!(".tree.glis-{word}"));
        fs::rename(&house.tree, &left)?;
        house.restore(&saved.reference, &house.tree)?;
        house.put("since", "precious\n")?;
        let fault = clear(&request(&house, &saved.reference, LeftOut::Goes)).err();
        let fault = fault.ok_or("it was removed")?.to_string();
        assert!(fault.contains("since"), "{fault}");
        assert_eq!(fs::read_to_string(house.tree.join("since"))?, "precious\n");
        assert!(!left.exists(), "{word}");
        let saved = house.save()?;
        clear(&request(&house, &saved.reference, LeftOut::Goes))?;
        assert!(!house.tree.exists());
    }
    Ok(())
}

#[test]
fn what_nobody_can_compare_any_more_is_set_aside() -> Outcome {
    let house = House::new()?;
    let saved = house.save()?;
    let moving = house.tree.with_file_name(".tree.glis-moving");
    fs::rename(&house.tree, &moving)?;
    put(&moving, "late", "precious\n")?;
    house.restore(&saved.reference, &house.tree)?;
    let cleared = clear(&request(&house, &saved.reference, LeftOut::Goes))?;
    assert!(!house.tree.exists() && !moving.exists());
    let kept = cleared.leftover.ok_or("nothing is said to be left")?;
    assert_eq!(fs::read_to_string(kept.join("late"))?, "precious\n");
    Ok(())
}

#[test]
fn a_worktree_of_somebody_else_stays() -> Outcome {
    let house = House::new()?;
    let saved = house.save()?;
    git(&house.repo, &["worktree", "unlock", &house.tree.to_string_lossy()])?;
    let told = stays(&house, &saved.reference, LeftOut::Goes)?;
    assert!(told.contains("not a worktree that was made for this session"), "{told}");
    Ok(())
}

#[test]
fn a_removal_that_was_cut_short_is_ended() -> Outcome {
    for word in ["moving", "doomed"] {
        let house = House::new()?;
        house.put("a.txt", "changed\n")?;
        let saved = house.save()?;
        fs::rename(&house.tree, house.dir.path().join(format!(".tree.glis-{word}")))?;
        if word == "doomed" {
            fs::remove_file(house.dir.path().join(".tree.glis-doomed/run.sh"))?;
        }
        clear(&request(&house, &saved.reference, LeftOut::Stays))?;
        assert_eq!(fs::read_dir(house.dir.path())?.count(), 1, "{word}");
        let restored = house.restore(&saved.reference, &house.tree)?;
        assert_eq!(fs::read_to_string(restored.path.join("a.txt"))?, "changed\n");
    }
    Ok(())
}

#[test]
fn what_was_written_into_a_moving_worktree_brings_it_back() -> Outcome {
    let house = House::new()?;
    let saved = house.save()?;
    let moving = house.dir.path().join(".tree.glis-moving");
    fs::rename(&house.tree, &moving)?;
    put(&moving, "late", "l\n")?;
    let fault = clear(&request(&house, &saved.reference, LeftOut::Goes)).err();
    assert!(fault.is_some_and(|fault| fault.to_string().contains("late")));
    assert_eq!(fs::read_to_string(house.tree.join("late"))?, "l\n");
    assert_eq!(house.git(&["status", "--short"])?, "?? late\n");
    Ok(())
}

#[test]
fn a_patch_that_git_complains_about_a_lot_ends() -> Outcome {
    let house = House::new()?;
    // Git complains about each of these lines, once for every process that reads them.
    fs::create_dir_all(house.repo.join(".git/info"))?;
    fs::write(house.repo.join(".git/info/attributes"), "!not text\n".repeat(4000))?;
    house.put("a.txt", &"many lines\n".repeat(20_000))?;
    let saved = house.save()?;
    let (from, to) = (Side::Beneath(&saved.reference), Side::Snapshot(&saved.reference));
    let mut text = Vec::new();
    patch(&house.repo, from, to, &mut text)?;
    assert!(!text.is_empty());
    Ok(())
}

#[test]
fn a_patch_holds_what_was_committed_staged_written_and_left_untracked() -> Outcome {
    let house = House::new()?;
    let base = house.git(&["rev-parse", "HEAD"])?.trim().to_owned();
    house.put("a.txt", "committed\n")?;
    house.git(&["commit", "-qam", "work"])?;
    house.put("dir/b.txt", "staged\n")?;
    house.git(&["add", "dir/b.txt"])?;
    house.put("dir/sub/c.txt", "written\n")?;
    house.put("new", "n\n")?;
    fs::write(house.tree.join("blob"), [0, 1, 2, 255])?;
    let saved = house.save()?;
    let (from, to) = (Side::Commit(&base), Side::Snapshot(&saved.reference));
    let files = diff_files(&house.repo, from, to)?;
    let named: Vec<_> = files.iter().map(|file| String::from_utf8_lossy(&file.path)).collect();
    assert_eq!(named, ["a.txt", "blob", "dir/b.txt", "dir/sub/c.txt", "new"]);
    let numbers: Vec<_> = files.iter().map(|file| (file.added, file.removed)).collect();
    assert_eq!(numbers.first(), Some(&(Some(1), Some(3))));
    assert_eq!(numbers.get(1), Some(&(None, None)), "a binary file has no lines");
    let since = diff_files(&house.repo, Side::Beneath(&saved.reference), to)?;
    assert_eq!(since.len(), 4, "{since:?}");
    let mut text = Vec::new();
    patch(&house.repo, from, to, &mut text)?;
    fs::write(house.dir.path().join("patch"), &text)?;
    let other = house.dir.path().join("other").to_string_lossy().into_owned();
    git(&house.repo, &["worktree", "add", "-q", "--detach", &other, &base])?;
    git(other.as_ref(), &["apply", "../patch"])?;
    for path in ["a.txt", "blob", "dir/b.txt", "dir/sub/c.txt", "new"] {
        let there = fs::read(house.dir.path().join("other").join(path))?;
        assert_eq!(there, fs::read(house.tree.join(path))?, "{path}");
    }
    Ok(())
}

#[test]
fn a_glance_shows_what_a_snapshot_would_and_leaves_nothing() -> Outcome {
    let house = House::new()?;
    let base = house.git(&["rev-parse", "HEAD"])?.trim().to_owned();
    house.put("a.txt", "committed\n")?;
    house.git(&["commit", "-qam", "work"])?;
    house.put("dir/b.txt", "staged\n")?;
    house.git(&["add", "dir/b.txt"])?;
    house.put("dir/sub/c.txt", "written\n")?;
    house.put("inner/d.txt", "of another repository\n")?;
    git(&house.tree.join("inner"), &["init", "-q"])?;
    let mut before = Vec::new();
    everything(&house.repo.join(".git"), &mut before)?;
    let glance = glis_snapshot::glance(&house.tree, Limits::default())?;
    let now = Side::Now(&glance);
    let files = diff_files(&house.repo, Side::Commit(&base), now)?;
    let beneath = diff_files(&house.repo, Side::BeneathNow(&glance), now)?;
    let mut text = Vec::new();
    patch(&house.repo, Side::Commit(&base), now, &mut text)?;
    drop(glance);
    let mut after = Vec::new();
    everything(&house.repo.join(".git"), &mut after)?;
    assert_eq!(after, before);
    let saved = house.save()?;
    let to = Side::Snapshot(&saved.reference);
    assert_eq!(files, diff_files(&house.repo, Side::Commit(&base), to)?);
    assert_eq!(beneath, diff_files(&house.repo, Side::Beneath(&saved.reference), to)?);
    let mut kept = Vec::new();
    patch(&house.repo, Side::Commit(&base), to, &mut kept)?;
    assert_eq!(String::from_utf8(text)?, String::from_utf8(kept)?);
    Ok(())
}

/// Every file below a folder, with its bytes.
fn everything(folder: &Path, all: &mut Vec<(PathBuf, Vec<u8>)>) -> Outcome {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            everything(&path, all)?;
        } else {
            all.push((path.clone(), fs::read(&path)?));
        }
    }
    all.sort();
    Ok(())
}

#[test]
fn what_cannot_be_saved_is_known_before() -> Outcome {
    let house = House::new()?;
    house.put("a.txt", "changed\n")?;
    glis_snapshot::can_save(&house.tree, &house.repo)?;
    let other = House::new()?;
    let stranger = glis_snapshot::can_save(&other.tree, &house.repo);
    assert!(matches!(stranger, Err(SnapshotFault::InTheWay { .. })), "{stranger:?}");
    let nowhere = glis_snapshot::can_save(&house.dir.path().join("none"), &house.repo);
    assert!(matches!(nowhere, Err(SnapshotFault::Gone(_))), "{nowhere:?}");
    let away = house.dir.path().join("away");
    fs::rename(&house.repo, &away)?;
    assert!(glis_snapshot::can_save(&house.tree, &house.repo).is_err());
    fs::rename(&away, &house.repo)?;
    glis_snapshot::can_save(&house.tree, &house.repo)?;
    let left: Vec<_> = fs::read_dir(house.repo.join(".git/glis"))?.collect();
    assert!(left.is_empty(), "{left:?}");
    Ok(())
}
