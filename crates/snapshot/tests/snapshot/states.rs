//! One state of a worktree per test: it comes back as it was.

use crate::house::{House, Outcome, git, mode, put, put_bytes};
use glis_snapshot::{HeadState, Limits, SaveRequest, Why, save};
use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, UNIX_EPOCH};

#[test]
fn a_clean_worktree_comes_back() -> Outcome {
    let house = House::new()?;
    let (saved, restored) = house.round_trip()?;
    assert_eq!(saved.changed, 0);
    assert_eq!(restored.head, HeadState::OnBranch("refs/heads/work".to_owned()));
    Ok(())
}

#[test]
fn an_index_that_git_has_only_refreshed_is_stored_once() -> Outcome {
    let house = House::new()?;
    let mut stored = Vec::new();
    for hours in [1, 2] {
        for name in house.git(&["ls-files"])?.lines() {
            let file = fs::File::options().append(true).open(house.tree.join(name))?;
            file.set_modified(UNIX_EPOCH + Duration::from_secs(hours * 3600))?;
        }
        house.git(&["update-index", "--refresh"])?;
        let raw = fs::read(house.git(&["rev-parse", "--git-path", "index"])?.trim())?;
        house.put("new.txt", &hours.to_string())?;
        let saved = house.save()?;
        stored.push((raw, house.git(&["rev-parse", &format!("{}:index", saved.reference)])?));
    }
    assert!(stored[0].0 != stored[1].0, "git has not refreshed its index");
    assert_eq!(stored[0].1, stored[1].1);
    house.round_trip()?;
    Ok(())
}

#[test]
fn staged_and_unstaged_changes_of_one_file_stay_apart() -> Outcome {
    let house = House::new()?;
    house.put("a.txt", "staged\n")?;
    house.git(&["add", "a.txt"])?;
    house.put("a.txt", "unstaged\n")?;
    house.put("dir/b.txt", "changed\n")?;
    assert_eq!(house.round_trip()?.0.changed, 2);
    Ok(())
}

#[test]
fn untracked_files_and_folders_come_back() -> Outcome {
    let house = House::new()?;
    house.put("new.txt", "new\n")?;
    house.put("fresh/deep/er/x", "x")?;
    house.put("dir/beside", "")?;
    assert_eq!(house.round_trip()?.0.changed, 3);
    Ok(())
}

#[test]
fn deleted_and_untracked_again_stay_what_they_are() -> Outcome {
    let house = House::new()?;
    fs::remove_file(house.tree.join("gone.txt"))?;
    fs::remove_dir_all(house.tree.join("dir"))?;
    house.git(&["rm", "-q", "--cached", "a.txt"])?;
    house.git(&["rm", "-q", "other/d.txt"])?;
    house.round_trip()?;
    Ok(())
}

#[test]
fn intent_to_add_is_kept_with_and_without_the_file() -> Outcome {
    let house = House::new()?;
    house.put("later.txt", "later\n")?;
    house.put("later2.txt", "later\n")?;
    house.git(&["add", "-N", "later.txt", "later2.txt"])?;
    fs::remove_file(house.tree.join("later2.txt"))?;
    house.round_trip()?;
    Ok(())
}

#[test]
fn rights_of_files_and_folders_come_back() -> Outcome {
    let house = House::new()?;
    mode(&house.tree, "run.sh", 0o644)?;
    mode(&house.tree, "a.txt", 0o755)?;
    mode(&house.tree, "dir/b.txt", 0o600)?;
    house.put("secret", "s")?;
    mode(&house.tree, "secret", 0o400)?;
    house.put("suid", "s")?;
    mode(&house.tree, "suid", 0o4751)?;
    mode(&house.tree, "other", 0o700)?;
    mode(&house.tree, "dir/sub", 0o555)?;
    house.round_trip()?;
    Ok(())
}

#[test]
fn links_come_back_wherever_they_point() -> Outcome {
    let house = House::new()?;
    symlink("nowhere", house.tree.join("dangling"))?;
    symlink("/etc/passwd", house.tree.join("absolute"))?;
    symlink("self", house.tree.join("self"))?;
    symlink("dir", house.tree.join("to-folder"))?;
    fs::remove_file(house.tree.join("link"))?;
    symlink("dir/b.txt", house.tree.join("link"))?;
    fs::remove_file(house.tree.join("a.txt"))?;
    symlink("run.sh", house.tree.join("a.txt"))?;
    house.round_trip()?;
    Ok(())
}

#[test]
fn a_folder_for_a_file_and_a_file_for_a_folder() -> Outcome {
    let house = House::new()?;
    fs::remove_file(house.tree.join("a.txt"))?;
    house.put("a.txt/inside", "x")?;
    fs::remove_dir_all(house.tree.join("dir"))?;
    house.put("dir", "now a file\n")?;
    fs::remove_dir_all(house.tree.join("other"))?;
    symlink("a.txt", house.tree.join("other"))?;
    house.round_trip()?;
    Ok(())
}

#[test]
fn line_ends_and_filters_do_not_touch_the_bytes() -> Outcome {
    let house = House::new()?;
    git(&house.repo, &["config", "filter.rot.clean", "tr a-z n-za-m"])?;
    git(&house.repo, &["config", "filter.rot.smudge", "tr a-z n-za-m"])?;
    house.put(".gitattributes", "*.crlf text eol=lf\n*.rot filter=rot\n*.id ident\n")?;
    house.put("x.crlf", "one\r\ntwo\r\n")?;
    house.put("y.rot", "hello\n")?;
    house.put("z.id", "$Id$\n")?;
    house.git(&["add", "-A"])?;
    house.git(&["commit", "-q", "-m", "converted"])?;
    house.put("w.crlf", "untracked\r\n")?;
    house.put("v.rot", "untracked")?;
    fs::remove_file(house.tree.join("z.id"))?;
    house.git(&["checkout", "-q", "z.id"])?;
    house.round_trip()?;
    Ok(())
}

#[test]
fn a_required_filter_that_is_missing_is_no_obstacle() -> Outcome {
    let house = House::new()?;
    house.put("big.bin", "version 1\n")?;
    house.git(&["add", "-A"])?;
    house.git(&["commit", "-q", "-m", "pointer"])?;
    git(&house.repo, &["config", "filter.lfs.clean", "/nonexistent/lfs"])?;
    git(&house.repo, &["config", "filter.lfs.required", "true"])?;
    house.put(".gitattributes", "*.bin filter=lfs\n")?;
    house.put("big.bin", "changed\n")?;
    house.put("new.bin", "new\n")?;
    house.round_trip()?;
    Ok(())
}

#[test]
fn names_of_any_bytes_come_back() -> Outcome {
    let house = House::new()?;
    let names: [&[u8]; 14] = [
        b"with space",
        b"new\nline",
        b"tab\there",
        b"\xff\xfe not utf8",
        b"quote\"d",
        b"back\\slash",
        b":(magic)",
        b"-rf",
        b"*",
        b"d\xc3\xa9j\xc3\xa0",
        b".GIT/config",
        b"git~1",
        b"!bang",
        b"#hash",
    ];
    for (at, name) in names.iter().enumerate() {
        put_bytes(&house.tree, name, name)?;
        if at % 2 == 0 && !name.starts_with(b".GIT") {
            use std::os::unix::ffi::OsStrExt as _;
            let path = std::ffi::OsStr::from_bytes(name);
            let done = crate::house::command(&house.tree, &["--literal-pathspecs", "add", "--"])
                .arg(path)
                .status()?;
            assert!(done.success());
        }
    }
    house.round_trip()?;
    Ok(())
}

fn conflict(house: &House) -> Outcome {
    house.git(&["checkout", "-q", "-b", "side", "HEAD~1"])?;
    house.put("a.txt", "one\nTWO\n")?;
    house.put("dir/b.txt", "side\n")?;
    house.git(&["rm", "-q", "gone.txt"])?;
    house.git(&["commit", "-q", "-am", "side"])?;
    house.git(&["checkout", "-q", "work"])?;
    house.put("a.txt", "one\nzwei\n")?;
    house.put("gone.txt", "still here\n")?;
    house.git(&["commit", "-q", "-am", "work"])?;
    Ok(())
}

#[test]
fn a_merge_with_conflicts_comes_back_with_all_its_stages() -> Outcome {
    let house = House::new()?;
    conflict(&house)?;
    assert!(house.git(&["merge", "-q", "side"]).is_err());
    house.put("extra", "x")?;
    house.put("dir/b.txt", "on top\n")?;
    house.round_trip()?;
    house.put("a.txt", "resolved\n")?;
    house.git(&["rm", "-q", "gone.txt"])?;
    house.git(&["add", "-A"])?;
    house.git(&["commit", "-q", "--no-edit"])?;
    assert_eq!(house.git(&["rev-list", "--parents", "-1", "HEAD"])?.split(' ').count(), 3);
    Ok(())
}

#[test]
fn a_resolved_conflict_can_still_be_undone() -> Outcome {
    let house = House::new()?;
    conflict(&house)?;
    assert!(house.git(&["merge", "-q", "side"]).is_err());
    house.put("a.txt", "resolved\n")?;
    house.git(&["add", "a.txt"])?;
    house.round_trip()?;
    house.git(&["checkout", "-m", "a.txt"])?;
    Ok(())
}

#[test]
fn a_rebase_goes_on_where_it_was() -> Outcome {
    let house = House::new()?;
    conflict(&house)?;
    house.put("later", "x")?;
    house.git(&["add", "later"])?;
    house.git(&["commit", "-q", "-m", "later"])?;
    assert!(house.git(&["rebase", "-q", "side"]).is_err());
    house.round_trip()?;
    for text in ["resolved\n", "again\n"] {
        house.put("a.txt", text)?;
        house.git(&["add", "-A"])?;
        drop(house.git(&["rebase", "--continue"]));
    }
    assert_eq!(house.git(&["symbolic-ref", "--short", "HEAD"])?.trim(), "work");
    assert!(house.git(&["log", "--format=%s"])?.starts_with("later\nwork\nsecond\nside\n"));
    Ok(())
}

#[test]
fn a_rebase_with_an_autostash_keeps_the_stash() -> Outcome {
    let house = House::new()?;
    conflict(&house)?;
    house.put("dir/sub/c.txt", "uncommitted\n")?;
    assert!(house.git(&["rebase", "-q", "--autostash", "side"]).is_err());
    house.round_trip()?;
    house.git(&["rebase", "--abort"])?;
    assert_eq!(fs::read_to_string(house.tree.join("dir/sub/c.txt"))?, "uncommitted\n");
    Ok(())
}

#[test]
fn a_cherry_pick_and_a_revert_come_back() -> Outcome {
    for verb in ["cherry-pick", "revert"] {
        let house = House::new()?;
        conflict(&house)?;
        house.git(&["checkout", "-q", "-B", "side", "side"])?;
        house.put("n", "n")?;
        house.git(&["add", "n"])?;
        house.git(&["commit", "-q", "-m", "n"])?;
        house.git(&["checkout", "-q", "work"])?;
        let range = if verb == "revert" { "HEAD~2..HEAD~1" } else { "side~2..side" };
        let picked = house.git(&[verb, range]);
        assert!(picked.is_err(), "{verb} must stop");
        house.round_trip()?;
        assert!(house.git(&["status"])?.contains(verb));
        house.git(&[verb, "--abort"])?;
    }
    Ok(())
}

#[test]
fn a_bisect_comes_back_with_its_refs() -> Outcome {
    let house = House::new()?;
    for n in 0..4 {
        house.put("n", &n.to_string())?;
        house.git(&["add", "n"])?;
        house.git(&["commit", "-q", "-m", "n"])?;
    }
    house.git(&["bisect", "start", "HEAD", "HEAD~4"])?;
    house.put("n", "probe")?;
    house.round_trip()?;
    house.git(&["checkout", "-q", "n"])?;
    house.git(&["bisect", "reset"])?;
    assert_eq!(house.git(&["symbolic-ref", "--short", "HEAD"])?.trim(), "work");
    Ok(())
}

#[test]
fn a_sparse_checkout_stays_sparse() -> Outcome {
    for index in ["--no-sparse-index", "--sparse-index"] {
        let house = House::new()?;
        house.git(&["sparse-checkout", "set", "--cone", index, "dir"])?;
        house.put("dir/b.txt", "changed\n")?;
        house.put("dir/new", "new\n")?;
        house.round_trip()?;
        assert!(!house.tree.join("other").exists());
    }
    Ok(())
}

#[test]
fn a_split_index_is_put_together() -> Outcome {
    let house = House::new()?;
    house.git(&["update-index", "--split-index"])?;
    house.put("a.txt", "staged\n")?;
    house.git(&["add", "a.txt"])?;
    house.put("dir/b.txt", "changed\n")?;
    house.round_trip()?;
    Ok(())
}

#[test]
fn every_version_of_the_index_is_understood() -> Outcome {
    for version in ["2", "3", "4"] {
        let house = House::new()?;
        house.git(&["update-index", "--index-version", version])?;
        house.put("dir/later", "x")?;
        house.git(&["add", "-N", "dir/later"])?;
        house.put("a.txt", "staged\n")?;
        house.git(&["add", "a.txt"])?;
        house.round_trip()?;
    }
    Ok(())
}

#[test]
fn assume_unchanged_hides_nothing_from_us() -> Outcome {
    let house = House::new()?;
    house.git(&["update-index", "--assume-unchanged", "a.txt"])?;
    house.git(&["update-index", "--skip-worktree", "dir/b.txt"])?;
    house.put("a.txt", "hidden change\n")?;
    house.put("dir/b.txt", "hidden change\n")?;
    house.round_trip()?;
    Ok(())
}

#[test]
fn before_the_first_commit_there_is_something_to_save_too() -> Outcome {
    let house = House::new()?;
    house.git(&["checkout", "-q", "--orphan", "empty"])?;
    house.git(&["rm", "-q", "-r", "--cached", "dir"])?;
    let (_, restored) = house.round_trip()?;
    assert_eq!(restored.head, HeadState::Unborn("refs/heads/empty".to_owned()));
    Ok(())
}

#[test]
fn a_detached_head_stays_detached() -> Outcome {
    let house = House::new()?;
    house.git(&["checkout", "-q", "--detach"])?;
    house.put("n", "n")?;
    house.git(&["add", "n"])?;
    house.git(&["commit", "-q", "-m", "only here"])?;
    house.put("n", "m")?;
    let (_, restored) = house.round_trip()?;
    assert_eq!(restored.head, HeadState::Detached);
    Ok(())
}

#[test]
fn a_repository_with_longer_names_works_the_same() -> Outcome {
    let house = House::with(&["--object-format=sha256"])?;
    house.put("a.txt", "changed\n")?;
    house.put("new", "new\n")?;
    house.git(&["add", "new"])?;
    house.round_trip()?;
    Ok(())
}

#[test]
fn refs_in_tables_are_no_obstacle() -> Outcome {
    let house = House::with(&["--ref-format=reftable"])?;
    conflict(&house)?;
    assert!(house.git(&["cherry-pick", "side"]).is_err());
    house.put("new", "new\n")?;
    house.git(&["add", "new"])?;
    house.round_trip()?;
    assert!(house.git(&["status"])?.contains("cherry-pick"));
    let house = House::with(&["--ref-format=reftable"])?;
    house.git(&["bisect", "start", "HEAD", "HEAD~1"])?;
    house.round_trip()?;
    Ok(())
}

#[test]
fn commits_that_only_the_log_of_head_knows_stay_alive() -> Outcome {
    let house = House::new()?;
    house.put("n", "n")?;
    house.git(&["add", "n"])?;
    house.git(&["commit", "-q", "-m", "thrown away"])?;
    let lost = house.git(&["rev-parse", "HEAD"])?;
    house.git(&["reset", "-q", "--hard", "HEAD~1"])?;
    house.round_trip()?;
    assert_eq!(house.git(&["rev-parse", "HEAD@{1}"])?, lost);
    Ok(())
}

#[test]
fn what_cannot_be_captured_is_listed() -> Outcome {
    let house = House::new()?;
    house.put(".gitignore", "ignored*\n!ignored-not\ntarget/\n")?;
    house.put("ignored.log", "x")?;
    house.put("ignored-not", "kept")?;
    house.put("target/deep/x.o", "x")?;
    fs::create_dir_all(house.tree.join("empty/inner"))?;
    rustix::fs::mkfifoat(rustix::fs::CWD, house.tree.join("pipe"), 0o644.into())?;
    let _socket = std::os::unix::net::UnixListener::bind(house.tree.join("socket"))?;
    fs::File::create(house.tree.join("large"))?.set_len(2 << 20)?;
    house.put("a.txt", &"x".repeat(3 << 20))?;
    let limits = Limits { file_bytes_max: 1 << 20, ..Limits::default() };
    let saved = save(&SaveRequest {
        worktree: &house.tree,
        session: "s1",
        why: "limits",
        limits,
        passing: None,
    })?;
    let list: Vec<(String, Why)> =
        saved.not_captured.iter().map(|item| (item.shown(), item.why.clone())).collect();
    let expected = [
        ("a.txt", Why::TooLarge { bytes: 3 << 20 }),
        ("empty/inner", Why::EmptyFolder),
        ("ignored.log", Why::Ignored),
        ("large", Why::TooLarge { bytes: 2 << 20 }),
        ("pipe", Why::NotAFile),
        ("socket", Why::NotAFile),
        ("target", Why::Ignored),
    ];
    assert_eq!(list, expected.map(|(path, why)| (path.to_owned(), why)));
    assert_eq!(glis_snapshot::not_captured(&house.repo, &saved.reference)?, saved.not_captured);
    house.destroy()?;
    let restored = house.restore(&saved.reference, &house.tree)?;
    let missing = saved.not_captured.iter().filter(|item| item.why != Why::EmptyFolder);
    assert_eq!(restored.left_out, missing.cloned().collect::<Vec<_>>());
    assert!(house.tree.join("empty/inner").is_dir());
    assert_eq!(fs::read_to_string(house.tree.join("ignored-not"))?, "kept");
    // The old bytes would be a lie.
    assert!(!house.tree.join("a.txt").exists());
    Ok(())
}

#[test]
fn the_main_worktree_can_be_saved_and_restored_elsewhere() -> Outcome {
    let house = House::new()?;
    put(&house.repo, "a.txt", "changed\n")?;
    put(&house.repo, "new", "new\n")?;
    let saved = save(&SaveRequest {
        worktree: &house.repo,
        session: "main",
        why: "test",
        limits: Limits::default(),
        passing: None,
    })?;
    let to = house.dir.path().join("copy");
    let restored = house.restore(&saved.reference, &to)?;
    assert_eq!(restored.head, HeadState::CutOff { branch: "refs/heads/main".to_owned() });
    assert_eq!(fs::read_to_string(to.join("a.txt"))?, "changed\n");
    assert_eq!(git(&to, &["status", "--short"])?, " M a.txt\n?? new\n");
    Ok(())
}
