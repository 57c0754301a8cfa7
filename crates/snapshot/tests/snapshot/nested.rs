//! Repositories inside the worktree come back with their history, or are named.

use crate::house::{House, Outcome, assert_same, git, portrait, put};
use glis_snapshot::{NotCaptured, Why};
use std::fs;
use std::path::{Path, PathBuf};

/// Adds a submodule to a worktree, from a repository beside it, and says where it is.
pub(crate) fn add_submodule(house: &House) -> Outcome<PathBuf> {
    let origin = house.dir.path().join("origin");
    make_repo(&origin)?;
    let url = origin.to_string_lossy().into_owned();
    house.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "sub"])?;
    Ok(house.tree.join("sub"))
}

pub(crate) fn make_repo(at: &Path) -> Outcome {
    fs::create_dir_all(at)?;
    git(at, &["init", "-q", "-b", "trunk"])?;
    put(at, "in.txt", "in\n")?;
    git(at, &["add", "-A"])?;
    git(at, &["commit", "-q", "-m", "inner"])?;
    Ok(())
}

pub(crate) fn dirty(at: &Path) -> Outcome {
    put(at, "in.txt", "staged\n")?;
    git(at, &["add", "-A"])?;
    put(at, "in.txt", "unstaged\n")?;
    put(at, "untracked", "u\n")
}

#[test]
fn a_repository_inside_comes_back_with_all_it_has() -> Outcome {
    let house = House::new()?;
    let inner = house.tree.join("vendor/inner");
    make_repo(&inner)?;
    git(&inner, &["tag", "-a", "v1", "-m", "annotated"])?;
    git(&inner, &["checkout", "-q", "-b", "feature"])?;
    put(&inner, "f", "f\n")?;
    git(&inner, &["add", "-A"])?;
    git(&inner, &["commit", "-q", "-m", "never pushed"])?;
    for n in ["1", "2"] {
        put(&inner, "f", n)?;
        git(&inner, &["stash", "-q"])?;
    }
    git(&inner, &["remote", "add", "origin", "https://example.invalid/x"])?;
    dirty(&inner)?;
    house.put("a.txt", "outer\n")?;
    let before = portrait(&inner)?;
    let refs = git(&inner, &["for-each-ref"])?;
    let (saved, _) = house.round_trip()?;
    assert_eq!(saved.not_captured, []);
    assert_same(&before, &portrait(&inner)?);
    assert_eq!(git(&inner, &["for-each-ref"])?, refs);
    assert_eq!(git(&inner, &["stash", "list"])?.lines().count(), 2);
    assert_eq!(git(&inner, &["remote", "get-url", "origin"])?.trim(), "https://example.invalid/x");
    git(&inner, &["fsck", "--full"])?;
    Ok(())
}

#[test]
fn what_lies_in_the_git_folder_of_a_repository_inside_comes_back_or_is_named() -> Outcome {
    let house = House::new()?;
    let nest = house.tree.join("nest");
    make_repo(&nest)?;
    for n in ["1", "2", "3"] {
        git(&nest, &["commit", "-q", "--allow-empty", "-m", n])?;
    }
    git(&nest, &["reset", "-q", "--hard", "HEAD~2"])?;
    put(&nest, ".git/notes-of-mine.txt", "mine\n")?;
    put(&nest, ".git/tool.sh", "#!/bin/sh\n")?;
    crate::house::mode(&nest, ".git/tool.sh", 0o755)?;
    put(&nest, ".git/info/more", "more\n")?;
    let loose = house.dir.path().join("loose");
    fs::write(&loose, "staged once\n")?;
    let loose = git(&nest, &["hash-object", "-w", &loose.to_string_lossy()])?;
    let before = git(&nest, &["reflog", "trunk"])?;
    assert_eq!(before.lines().count(), 5);
    let saved = house.save()?;
    assert_eq!(saved.not_captured, []);

    put(&nest, ".git/lfs/objects/ab/cd/abcd", "large\n")?;
    fs::create_dir_all(nest.join(".git/lfs-empty/tmp"))?;
    let tree = git(&nest, &["write-tree"])?;
    git(&nest, &["commit-tree", "-m", "nobody knows it", tree.trim()])?;
    git(&nest, &["worktree", "add", "-q", "--detach", "../beside"])?;
    let saved = house.save()?;
    let named: Vec<String> = saved.not_captured.iter().map(NotCaptured::shown).collect();
    let lost = ["beside/.git", "nest/.git/lfs", "nest/.git/objects", "nest/.git/worktrees"];
    assert_eq!(named, lost, "{:?}", saved.not_captured);
    assert_eq!(glis_snapshot::losable(saved.not_captured.clone()).len(), 4);

    house.destroy()?;
    let restored = house.restore(&saved.reference, &house.tree)?;
    assert_eq!(restored.left_out, saved.not_captured);
    assert_eq!(git(&nest, &["reflog", "trunk"])?, before);
    assert_eq!(git(&nest, &["cat-file", "blob", loose.trim()])?, "staged once\n");
    assert_eq!(fs::read_to_string(nest.join(".git/notes-of-mine.txt"))?, "mine\n");
    assert_eq!(fs::read_to_string(nest.join(".git/info/more"))?, "more\n");
    let tool = fs::metadata(nest.join(".git/tool.sh"))?;
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&tool.permissions()) & 0o111, 0o111);
    git(&nest, &["fsck", "--full"])?;
    Ok(())
}

#[test]
fn a_submodule_comes_back_with_commits_that_nobody_else_has() -> Outcome {
    let house = House::new()?;
    let inner = add_submodule(&house)?;
    house.git(&["commit", "-q", "-m", "with sub"])?;
    put(&inner, "new", "new\n")?;
    git(&inner, &["add", "-A"])?;
    git(&inner, &["commit", "-q", "-m", "only here"])?;
    dirty(&inner)?;
    fs::remove_dir_all(house.dir.path().join("origin"))?;
    let before = portrait(&inner)?;
    let (saved, _) = house.round_trip()?;
    assert_eq!(saved.not_captured, []);
    assert_same(&before, &portrait(&inner)?);
    git(&inner, &["fsck", "--full"])?;
    assert!(house.git(&["submodule", "status"])?.contains("sub"));
    Ok(())
}

#[test]
fn a_repository_without_commits_and_one_in_another_come_back() -> Outcome {
    let house = House::new()?;
    let young = house.tree.join("young");
    fs::create_dir(&young)?;
    git(&young, &["init", "-q", "-b", "new"])?;
    put(&young, "x", "x\n")?;
    git(&young, &["add", "x"])?;
    let outer = house.tree.join("outer");
    make_repo(&outer)?;
    make_repo(&outer.join("inner"))?;
    dirty(&outer.join("inner"))?;
    let before = [portrait(&young)?, portrait(&outer)?, portrait(&outer.join("inner"))?];
    house.round_trip()?;
    assert_same(&before[0], &portrait(&young)?);
    assert_same(&before[1], &portrait(&outer)?);
    assert_same(&before[2], &portrait(&outer.join("inner"))?);
    Ok(())
}

#[test]
fn the_folder_of_a_repository_inside_keeps_its_rights() -> Outcome {
    let house = House::new()?;
    let deep = house.tree.join("some/where/young");
    fs::create_dir_all(&deep)?;
    git(&deep, &["init", "-q", "-b", "new"])?;
    house.git(&["worktree", "add", "-q", "-b", "topic", "inside"])?;
    for (path, rights) in [("some", 0o711), ("some/where/young", 0o750), ("inside", 0o705)] {
        crate::house::mode(&house.tree, path, rights)?;
    }
    let before = portrait(&house.tree)?;
    let saved = house.save()?;
    let inside = house.tree.join("inside").to_string_lossy().into_owned();
    git(&house.repo, &["worktree", "remove", "-f", "-f", &inside])?;
    house.destroy()?;
    house.restore(&saved.reference, &house.tree)?;
    assert_same(&before, &portrait(&house.tree)?);
    Ok(())
}

#[test]
fn a_worktree_of_the_same_repository_inside_comes_back_too() -> Outcome {
    let house = House::new()?;
    house.git(&["worktree", "add", "-q", "-b", "topic", "inside"])?;
    let inner = house.tree.join("inside");
    put(&inner, "a.txt", "inner change\n")?;
    let before = portrait(&inner)?;
    let saved = house.save()?;
    git(&house.repo, &["worktree", "remove", "-f", "-f", &inner.to_string_lossy()])?;
    house.destroy()?;
    house.restore(&saved.reference, &house.tree)?;
    assert_same(&before, &portrait(&inner)?);
    Ok(())
}

#[test]
fn a_repository_that_is_broken_is_named() -> Outcome {
    let house = House::new()?;
    fs::create_dir_all(house.tree.join("broken/.git"))?;
    house.put("broken/file", "x")?;
    house.put("dir/.git", "gitdir: /nonexistent\n")?;
    let saved = house.save()?;
    let named: Vec<String> = saved
        .not_captured
        .iter()
        .map(|item| {
            assert!(matches!(item.why, Why::Repository { .. }), "{item:?}");
            item.shown()
        })
        .collect();
    assert_eq!(named, ["broken/.git", "dir/.git"]);
    house.destroy()?;
    house.restore(&saved.reference, &house.tree)?;
    assert_eq!(fs::read_to_string(house.tree.join("broken/file"))?, "x");
    Ok(())
}
