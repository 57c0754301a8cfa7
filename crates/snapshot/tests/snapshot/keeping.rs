//! Lists, thinning, trash, and what is left of others.

use crate::house::{House, Outcome, SESSION, git};
use glis_snapshot::{FileDiff, Keep, Shelf, Side, SnapshotFault};
use std::fs;
use std::time::Duration;

fn three() -> Outcome<(House, Vec<String>)> {
    let house = House::new()?;
    let mut names = Vec::new();
    for text in ["1\n", "1\n2\n", "1\n2\n3\n"] {
        house.put("a.txt", text)?;
        house.put(&format!("new{}", text.len()), text)?;
        names.push(house.save()?.reference);
    }
    Ok((house, names))
}

#[test]
fn a_list_says_what_changed_since_the_one_before() -> Outcome {
    let (house, names) = three()?;
    let list = glis_snapshot::list(&house.repo, SESSION)?;
    assert_eq!(
        list.iter().map(|one| &one.reference).collect::<Vec<_>>(),
        names.iter().collect::<Vec<_>>()
    );
    assert_eq!(
        list.iter().map(|one| one.since_before.as_ref().map(Vec::len)).collect::<Vec<_>>(),
        [None, Some(2), Some(2)]
    );
    assert_eq!(list.iter().map(|one| one.changed).collect::<Vec<_>>(), [2, 3, 4]);
    assert!(list.iter().all(|one| one.why == "test" && one.taken_ms > 0));
    let paths = |at: usize| -> Vec<_> {
        let since = list[at].since_before.iter().flatten();
        since.map(|path| String::from_utf8_lossy(path).into_owned()).collect()
    };
    assert_eq!(
        (paths(1), paths(2)),
        (vec!["a.txt".into(), "new4".into()], vec!["a.txt".into(), "new6".into()])
    );
    let last = glis_snapshot::list_last(&house.repo, SESSION, Shelf::Snapshots, Some(2))?;
    assert_eq!(last, list[1..]);
    let (from, to) = (Side::Snapshot(&names[0]), Side::Snapshot(&names[2]));
    let files = glis_snapshot::diff_files(&house.repo, from, to)?;
    let sum = |number: fn(&FileDiff) -> Option<u64>| files.iter().filter_map(number).sum::<u64>();
    assert_eq!((files.len(), sum(|file| file.added), sum(|file| file.removed)), (3, 7, 0));
    Ok(())
}

/// Each is a pack, and every call of git would open all of them.
#[test]
fn many_snapshots_have_one_index() -> Outcome {
    let house = House::new()?;
    for number in 0..=51 {
        house.put("a.txt", &format!("{number}\n"))?;
        house.save()?;
    }
    let packs = house.repo.join(".git/objects/pack");
    assert!(packs.join("multi-pack-index").exists());
    house.git(&["multi-pack-index", "verify"])?;
    assert_eq!(glis_snapshot::list(&house.repo, SESSION)?.len(), 52);
    // A `gc` makes one pack of them, and none is missed.
    house.git(&["gc", "--quiet"])?;
    house.put("a.txt", "last\n")?;
    let saved = house.save()?;
    house.git(&["cat-file", "-e", &saved.commit])?;
    house.git(&["fsck"])?;
    Ok(())
}

/// Where a kill met a save while it put the index there, `git gc` would refuse to work ever after.
#[test]
fn the_lock_on_an_index_is_taken_away_where_it_is_ours() -> Outcome {
    let house = House::new()?;
    let git = house.repo.join(".git");
    let lock = git.join("objects/pack/multi-pack-index.lock");
    let killed = git.join("glis/tmp-1-0-1");
    let begin = || -> Outcome {
        fs::create_dir_all(killed.join("objects/pack"))?;
        fs::write(killed.join("alive"), "")?;
        Ok(fs::write(killed.join("objects/pack/multi-pack-index"), "half")?)
    };
    begin()?;
    fs::hard_link(killed.join("objects/pack/multi-pack-index"), &lock)?;
    assert_eq!(glis_snapshot::sweep(&house.repo)?.folders, 1);
    assert!(!lock.exists());
    begin()?;
    fs::write(&lock, "half")?;
    assert_eq!(glis_snapshot::sweep(&house.repo)?.folders, 1);
    assert!(lock.exists(), "another's");
    Ok(())
}

#[test]
fn a_list_tells_hard_names_and_empty_snapshots_apart() -> Outcome {
    let house = House::new()?;
    house.save()?;
    // A name that looks like the beginning of an answer about the next two snapshots.
    let name = format!("{} {}\n:x", "0".repeat(40), "1".repeat(40));
    house.put(&name, "x")?;
    house.save()?;
    house.git(&["update-index", "--chmod=+x", "a.txt"])?;
    house.save()?;
    house.git(&["rm", "-rqf", "."])?;
    fs::remove_file(house.tree.join(&name))?;
    house.save()?;
    let list = glis_snapshot::list(&house.repo, SESSION)?;
    let counts: Vec<_> = list.iter().map(|one| one.since_before.as_ref().map(Vec::len)).collect();
    // What is only staged changes no file; in the end all eight and the odd one are gone.
    assert_eq!(counts, [None, Some(1), Some(0), Some(9)]);
    assert_eq!(list[1].since_before, Some(vec![name.into_bytes()]));
    Ok(())
}

#[test]
fn names_alone_are_had_without_a_comparison() -> Outcome {
    let (house, names) = three()?;
    let list = glis_snapshot::list(&house.repo, SESSION)?;
    let expected: Vec<_> = list.into_iter().map(|one| (one.reference, one.commit)).collect();
    assert_eq!(glis_snapshot::names(&house.repo, SESSION, Shelf::Snapshots)?, expected);
    assert_eq!(glis_snapshot::names(&house.repo, SESSION, Shelf::Trash)?, []);
    // Without the files of any snapshot there is nothing to compare, and still they are named.
    for entry in fs::read_dir(house.repo.join(".git/objects/pack"))? {
        fs::remove_file(entry?.path())?;
    }
    assert!(glis_snapshot::list(&house.repo, SESSION).is_err());
    let found = glis_snapshot::names(&house.repo, SESSION, Shelf::Snapshots)?;
    assert_eq!(found.into_iter().map(|(name, _)| name).collect::<Vec<_>>(), names);
    Ok(())
}

#[test]
fn thinning_keeps_the_latest() -> Outcome {
    let (house, names) = three()?;
    let keep =
        Keep { why: "test", latest: 1, younger_than: Duration::from_secs(3600), number_max: 2 };
    assert_eq!(glis_snapshot::thin(&house.repo, SESSION, &keep)?, [names[0].clone()]);
    let keep = Keep { why: "test", latest: 1, younger_than: Duration::ZERO, number_max: 9 };
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(glis_snapshot::thin(&house.repo, SESSION, &keep)?, [names[1].clone()]);
    assert_eq!(glis_snapshot::list(&house.repo, SESSION)?.len(), 1);
    Ok(())
}

#[test]
fn thinning_leaves_what_was_taken_for_another_reason() -> Outcome {
    let house = House::new()?;
    let mut names = Vec::new();
    for (n, why) in
        ["a turn ended", "pause", "a turn ended", "pause", "asked for"].iter().enumerate()
    {
        house.put("a.txt", &format!("{n}\n"))?;
        names.push(house.save_why(why)?.reference);
    }
    // Of the two at the end of a turn the later one is the latest, whatever came after it.
    let keep = Keep { why: "a turn ended", latest: 1, younger_than: Duration::ZERO, number_max: 1 };
    assert_eq!(glis_snapshot::thin(&house.repo, SESSION, &keep)?, [names[0].clone()]);
    assert_eq!(glis_snapshot::thin(&house.repo, SESSION, &keep)?, [""; 0]);
    let left = glis_snapshot::list(&house.repo, SESSION)?;
    let left: Vec<_> = left.into_iter().map(|one| one.reference).collect();
    assert_eq!(left, names[1..]);
    Ok(())
}

#[test]
fn the_trash_gives_back_what_it_took() -> Outcome {
    let (house, names) = three()?;
    assert_eq!(glis_snapshot::to_trash(&house.repo, SESSION)?, 3);
    assert!(glis_snapshot::list(&house.repo, SESSION)?.is_empty());
    git(&house.repo, &["gc", "-q", "--prune=now"])?;
    assert_eq!(glis_snapshot::from_trash(&house.repo, SESSION)?, 3);
    for name in &names {
        glis_snapshot::verify(&house.repo, name)?;
    }
    glis_snapshot::to_trash(&house.repo, SESSION)?;
    assert_eq!(glis_snapshot::delete(&house.repo, SESSION, Shelf::Trash)?, 3);
    assert_eq!(git(&house.repo, &["for-each-ref", "refs/glis"])?, "");
    Ok(())
}

#[test]
fn a_missing_snapshot_and_an_incomplete_one_are_told_apart() -> Outcome {
    let (house, names) = three()?;
    let missing = glis_snapshot::verify(&house.repo, "refs/glis/snap/s1/none");
    assert!(matches!(missing, Err(SnapshotFault::Missing(_))));
    for entry in fs::read_dir(house.repo.join(".git/objects/pack"))? {
        fs::remove_file(entry?.path())?;
    }
    let broken = glis_snapshot::verify(&house.repo, &names[0]);
    assert!(broken.is_err());
    let broken = house.restore(&names[0], &house.dir.path().join("x"));
    assert!(broken.is_err());
    assert!(!house.dir.path().join("x").exists());
    Ok(())
}

#[test]
fn the_shared_stash_is_never_touched() -> Outcome {
    let house = House::new()?;
    house.put("a.txt", "stashed\n")?;
    house.git(&["stash", "-q"])?;
    let before = git(&house.repo, &["stash", "list", "--format=%H %gd %s"])?;
    house.put("a.txt", "other\n")?;
    let saved = house.save()?;
    house.destroy()?;
    // The worst that `destroy` does takes the stash's log; the stash itself is a ref.
    let kept = git(&house.repo, &["rev-parse", "refs/stash"])?;
    assert!(before.starts_with(kept.trim()));
    house.restore(&saved.reference, &house.tree)?;
    assert_eq!(git(&house.repo, &["rev-parse", "refs/stash"])?, kept);
    Ok(())
}

#[test]
fn names_that_could_escape_are_refused() -> Outcome {
    let house = House::new()?;
    for name in ["../x", "", "-x", "a/b", "a..b", "x.lock", "a b", "\u{e9}", "x.", &"x".repeat(200)]
    {
        let fault = glis_snapshot::save(&glis_snapshot::SaveRequest {
            worktree: &house.tree,
            session: name,
            why: "test",
            limits: glis_snapshot::Limits::default(),
            passing: None,
        });
        assert!(matches!(fault, Err(SnapshotFault::BadName(_))), "{name}");
    }
    Ok(())
}

#[test]
fn a_stale_lock_is_set_aside_and_saving_does_not_mind_it() -> Outcome {
    let house = House::new()?;
    let lock = house.repo.join(".git/worktrees/tree/index.lock");
    fs::write(&lock, "half")?;
    house.put("a.txt", "changed\n")?;
    assert!(house.save()?.fresh);
    assert!(lock.exists());
    assert!(house.git(&["add", "a.txt"]).is_err());
    let aside = glis_snapshot::set_stale_lock_aside(&house.tree)?.ok_or("there was no lock")?;
    assert_eq!(fs::read_to_string(aside)?, "half");
    house.git(&["add", "a.txt"])?;
    assert_eq!(glis_snapshot::set_stale_lock_aside(&house.tree)?, None);
    Ok(())
}

#[test]
fn a_second_snapshot_of_the_same_state_writes_nothing() -> Outcome {
    let house = House::new()?;
    house.put("a.txt", "changed\n")?;
    let first = house.save()?;
    let count = || git(&house.repo, &["count-objects", "-v"]);
    let before = count()?;
    let second = house.save()?;
    assert_eq!((second.fresh, &second.reference), (false, &first.reference));
    assert_eq!(count()?, before);
    Ok(())
}
