//! A restore that is cut short leaves no worktree, and the next one is as if nothing had been.

use crate::house::{House, Outcome, SESSION, SmallDisk, assert_same, git, portrait, put};
use crate::nested::{add_submodule, dirty, make_repo};
use crate::portrait::Portrait;
use glis_snapshot::{
    Difference, Limits, RestoreRequest, SnapshotFault, Stand, compare, restore, sweep,
};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Names the repository, the snapshot and the place for a copy of this test binary to restore.
const VICTIM: [&str; 3] = ["GLIS_COMING_REPO", "GLIS_COMING_NAME", "GLIS_COMING_TO"];
/// How many restores are killed.
const KILLS: u32 = 60;

/// Not a test of its own: what the killed child does.
#[test]
#[ignore = "started by the other tests, to be killed"]
fn victim_restores_until_it_is_killed() -> Outcome {
    let [Some(repo), Some(name), Some(to)] = VICTIM.map(std::env::var_os) else { return Ok(()) };
    let (repo, to) = (PathBuf::from(repo), PathBuf::from(to));
    let reference = name.to_string_lossy();
    restore(&RestoreRequest {
        repo_root: &repo,
        reference: &reference,
        to: &to,
        lock_owner: "owner",
        stand: Stand::AsItWas,
        own: None,
    })?;
    Ok(())
}

/// A worktree with something of everything: staged, changed, untracked, repositories inside.
fn full_house() -> Outcome<House> {
    let house = House::new()?;
    let sub = add_submodule(&house)?;
    house.git(&["commit", "-q", "-m", "with sub"])?;
    dirty(&sub)?;
    make_repo(&house.tree.join("own"))?;
    house.git(&["worktree", "add", "-q", "-b", "topic", "inside"])?;
    put(&house.tree, "inside/a.txt", "inner\n")?;
    house.put("a.txt", "staged\n")?;
    house.git(&["add", "a.txt"])?;
    house.put("a.txt", "unstaged\n")?;
    for n in 0..30 {
        house.put(&format!("many/{n}.txt"), &format!("{n}\n").repeat(500))?;
    }
    Ok(house)
}

fn portraits(house: &House) -> Outcome<Vec<Portrait>> {
    ["", "sub", "own", "inside"].iter().map(|name| portrait(&house.tree.join(name))).collect()
}

fn coming(house: &House) -> PathBuf {
    house.tree.with_file_name(".tree.glis-coming")
}

/// Removes the worktree and what is in it as no snapshot needs it any more.
fn wipe(house: &House) -> Outcome {
    fs::remove_dir_all(&house.tree)?;
    for entry in fs::read_dir(house.repo.join(".git/worktrees"))? {
        fs::remove_dir_all(entry?.path())?;
    }
    Ok(())
}

/// What git knows: the repository, the worktree and the one inside it, and nothing else.
fn assert_known(house: &House) -> Outcome {
    let list = git(&house.repo, &["worktree", "list", "--porcelain"])?;
    let mut known: Vec<_> = list.lines().filter_map(|l| l.strip_prefix("worktree ")).collect();
    known.sort_unstable();
    let inside = house.tree.join("inside");
    let expected: Vec<_> =
        [&house.repo, &house.tree, &inside].iter().map(|path| path.to_string_lossy()).collect();
    assert_eq!(known, expected, "{list}");
    assert!(list.contains("locked owner\n") && !list.contains("prunable"), "{list}");
    Ok(())
}

#[test]
fn a_restore_that_is_killed_at_any_moment_leaves_no_half_worktree() -> Outcome {
    let house = full_house()?;
    let before = portraits(&house)?;
    let saved = house.save()?;
    let untouched = || -> Outcome<bool> {
        let found = compare(&house.tree, &house.repo, &saved.reference, &Limits::default())?;
        Ok(found == Difference::Untouched)
    };
    wipe(&house)?;
    let victim = || {
        Command::new(std::env::current_exe()?)
            .args([
                "--ignored",
                "--exact",
                "coming::victim_restores_until_it_is_killed",
                "--nocapture",
            ])
            .env(VICTIM[0], &house.repo)
            .env(VICTIM[1], &saved.reference)
            .env(VICTIM[2], &house.tree)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
    };
    let begun = Instant::now();
    assert!(victim()?.wait()?.success());
    let one = begun.elapsed();
    assert!(untouched()?);
    wipe(&house)?;
    let (mut halves, mut swept) = (0, 0);
    for n in 0..KILLS {
        let mut child = victim()?;
        // Spread over one restore, in steps that no clock divides.
        std::thread::sleep(one * (n * 37 % KILLS) / KILLS);
        child.kill()?;
        child.wait()?;
        halves += u32::from(coming(&house).exists());
        if house.tree.exists() {
            assert!(untouched()?, "it has arrived, but not as a whole");
            assert_known(&house)?;
            wipe(&house)?;
        } else if n % 3 == 0 {
            swept += sweep(&house.repo)?.comings;
        }
    }
    assert!(halves > KILLS / 6, "too few kills hit a restore: {halves}");
    assert!(swept > 0);
    house.restore(&saved.reference, &house.tree)?;
    for (was, is) in before.iter().zip(&portraits(&house)?) {
        assert_same(was, is);
    }
    assert_known(&house)?;
    assert!(!coming(&house).exists());
    assert_eq!(fs::read_dir(house.repo.join(".git/glis"))?.count(), 0);
    Ok(())
}

#[test]
fn what_is_known_to_git_and_has_not_arrived_is_brought_back_again() -> Outcome {
    for sweeping in [true, false] {
        let house = full_house()?;
        let before = portraits(&house)?;
        let saved = house.save()?;
        wipe(&house)?;
        house.restore(&saved.reference, &house.tree)?;
        assert_known(&house)?;
        // One step before the end.
        fs::rename(&house.tree, coming(&house))?;
        if sweeping {
            assert_eq!(sweep(&house.repo)?.comings, 1);
            assert!(!coming(&house).exists());
            let list = git(&house.repo, &["worktree", "list"])?;
            assert_eq!(list.lines().count(), 1, "{list}");
            assert_eq!(sweep(&house.repo)?.comings, 0);
        }
        let restored = house.restore(&saved.reference, &house.tree)?;
        assert_eq!(restored.notes, [""; 0]);
        for (was, is) in before.iter().zip(&portraits(&house)?) {
            assert_same(was, is);
        }
        assert_known(&house)?;
        assert!(!coming(&house).exists());
    }
    Ok(())
}

/// As above, and git's lock still says that it is on its way.
#[test]
fn what_git_was_told_of_before_its_lock_was_changed_is_no_riddle() -> Outcome {
    let house = full_house()?;
    let before = portraits(&house)?;
    let saved = house.save()?;
    wipe(&house)?;
    house.restore(&saved.reference, &house.tree)?;
    let place = house.tree.canonicalize()?;
    let named = house.repo.join("place");
    fs::write(&named, place.as_os_str().as_encoded_bytes())?;
    let name = git(&house.repo, &["hash-object", "place"])?;
    fs::remove_file(named)?;
    git(&house.repo, &["worktree", "unlock", &place.to_string_lossy()])?;
    let mark: String = name.chars().take(16).collect();
    let reason = format!("glis brings it back, {mark}, for owner");
    git(&house.repo, &["worktree", "lock", "--reason", &reason, &place.to_string_lossy()])?;
    fs::rename(&house.tree, coming(&house))?;
    assert_eq!(sweep(&house.repo)?.comings, 1);
    assert!(!coming(&house).exists(), "it is swept with its record");
    house.restore(&saved.reference, &house.tree)?;
    for (was, is) in before.iter().zip(&portraits(&house)?) {
        assert_same(was, is);
    }
    assert_known(&house)
}

#[test]
fn what_is_in_the_way_moves_with_all_that_is_inside() -> Outcome {
    let house = full_house()?;
    let saved = house.save()?;
    house.put("a.txt", "later\n")?;
    let before = portraits(&house)?;
    let restored = house.restore(&saved.reference, &house.tree)?;
    let aside = restored.set_aside.ok_or("nothing was set aside")?.path;
    assert_eq!(fs::read_to_string(aside.join("a.txt"))?, "later\n");
    assert_same(&before[1], &portrait(&aside.join("sub"))?);
    assert_same(&before[3], &portrait(&aside.join("inside"))?);
    assert_eq!(fs::read_to_string(house.tree.join("a.txt"))?, "unstaged\n");
    assert_same(&before[1], &portrait(&house.tree.join("sub"))?);
    Ok(())
}

#[test]
fn a_folder_of_that_name_that_is_not_ours_stays() -> Outcome {
    let house = House::new()?;
    let saved = house.save()?;
    house.destroy()?;
    put(&coming(&house), "precious", "p")?;
    let fault = house.restore(&saved.reference, &house.tree).err().ok_or("it was restored")?;
    let fault = fault.downcast::<SnapshotFault>()?;
    assert!(matches!(*fault, SnapshotFault::InTheWay { .. }), "{fault}");
    sweep(&house.repo)?;
    assert_eq!(fs::read_to_string(coming(&house).join("precious"))?, "p");
    Ok(())
}

#[test]
fn a_restore_that_runs_is_not_swept() -> Outcome {
    let house = full_house()?;
    let before = portraits(&house)?;
    let saved = house.save()?;
    wipe(&house)?;
    std::thread::scope(|scope| {
        let sweeping = scope.spawn(|| {
            while !house.tree.exists() {
                sweep(&house.repo).map_err(|fault| fault.to_string())?;
            }
            Ok::<_, String>(())
        });
        let restored = house.restore(&saved.reference, &house.tree).map_err(|e| e.to_string());
        // So that the other one ends, too.
        fs::create_dir_all(&house.tree)?;
        restored?;
        sweeping.join().map_err(|_| "panic")??;
        Ok::<_, Box<dyn std::error::Error>>(())
    })?;
    for (was, is) in before.iter().zip(&portraits(&house)?) {
        assert_same(was, is);
    }
    assert_known(&house)
}

#[test]
fn a_restore_to_a_full_disk_leaves_nothing_and_a_retry_works() -> Outcome {
    let Some(disk) = SmallDisk::mount(c"size=2m")? else { return Ok(()) };
    let house = House::new()?;
    for n in 0..20 {
        house.put(&format!("many/{n}.txt"), &format!("{n}\n").repeat(15_000))?;
    }
    let before = portrait(&house.tree)?;
    let saved = house.save()?;
    git(&house.repo, &["worktree", "remove", "-f", "-f", &house.tree.to_string_lossy()])?;
    let to = disk.path().join("tree");
    put(&to, "in the way", "precious")?;
    for room in [0, 8, 64, 256, 512] {
        disk.fill_up(room * 1024)?;
        let fault = house.restore(&saved.reference, &to).err().ok_or("there was room")?;
        let fault = fault.downcast::<SnapshotFault>()?;
        assert!(matches!(*fault, SnapshotFault::DiskFull(_)), "with {room}: {fault:?}");
        assert_eq!(fs::read_to_string(to.join("in the way"))?, "precious", "with {room}");
        assert_eq!(fs::read_dir(disk.path())?.count(), 2, "with {room}");
        let list = git(&house.repo, &["worktree", "list"])?;
        assert_eq!(list.lines().count(), 1, "with {room}: {list}");
    }
    fs::remove_file(disk.fill_up(0)?)?;
    let restored = house.restore(&saved.reference, &to)?;
    assert_same(&before, &portrait(&to)?);
    let aside = restored.set_aside.ok_or("nothing was set aside")?.path;
    assert_eq!(fs::read_to_string(aside.join("in the way"))?, "precious");
    let list = glis_snapshot::list(&house.repo, SESSION)?;
    assert_eq!(list.len(), 1, "what is no worktree is not saved");
    Ok(())
}
