//! Kills, full disks, other writers: no snapshot is broken and nobody else is disturbed.

use crate::house::{House, Outcome, SESSION, SmallDisk, as_nobody, command, git, put, stamps};
use glis_snapshot::worktree::{Plan, make};
use glis_snapshot::{Limits, SaveRequest, SnapshotFault, save, sweep, verify};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Names the worktree that a copy of this test binary is to save until it is killed.
const VICTIM: &str = "GLIS_SNAPSHOT_VICTIM";
/// How many savers each of the four tests below kills: five hundred in all.
const KILLS: u32 = 125;

/// Who is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    /// The saver; its gits live on for a moment.
    Saver,
    /// The saver and all of its gits, as when a machine kills a whole group.
    Group,
}

fn request<'a>(worktree: &'a Path, session: &'a str) -> SaveRequest<'a> {
    SaveRequest { worktree, session, why: "test", limits: Limits::default(), passing: None }
}

/// Not a test of its own: what the killed child does.
#[test]
#[ignore = "started by the other tests, to be killed"]
fn victim_saves_until_it_is_killed() -> Outcome {
    let Some(tree) = std::env::var_os(VICTIM) else { return Ok(()) };
    let tree = std::path::PathBuf::from(tree);
    for n in 0_u32.. {
        // What changes is outside of git's sight for the worktree's stamps: a session of its own.
        let session = format!("{SESSION}-{}-{n}", std::process::id());
        save(&request(&tree, &session))?;
    }
    Ok(())
}

#[test]
fn a_kill_at_any_moment_leaves_nothing_broken() -> Outcome {
    kill_savers(Victim::Saver, Duration::ZERO)
}

#[test]
fn a_kill_at_any_other_moment_leaves_nothing_broken() -> Outcome {
    kill_savers(Victim::Saver, Duration::from_micros(430))
}

#[test]
fn a_kill_of_saver_and_git_leaves_nothing_broken() -> Outcome {
    kill_savers(Victim::Group, Duration::ZERO)
}

#[test]
fn another_kill_of_saver_and_git_leaves_nothing_broken() -> Outcome {
    kill_savers(Victim::Group, Duration::from_micros(430))
}

fn kill_savers(victim: Victim, shift: Duration) -> Outcome {
    use std::os::unix::process::CommandExt as _;
    let house = House::new()?;
    for n in 0..40 {
        house.put(&format!("many/{n}.txt"), &format!("{n}\n").repeat(200))?;
    }
    house.put("a.txt", "staged\n")?;
    house.git(&["add", "a.txt"])?;
    house.put("a.txt", "unstaged\n")?;
    let before = stamps(&house.tree)?;
    let measure = |n: u32| -> Outcome<Duration> {
        let begun = Instant::now();
        save(&request(&house.tree, &format!("measure{n}")))?;
        Ok(begun.elapsed())
    };
    let mut one = measure(0)?;
    let mut swept = (0, 0);
    for n in 0..KILLS {
        let mut child = Command::new(std::env::current_exe()?)
            .args([
                "--ignored",
                "--exact",
                "faults::victim_saves_until_it_is_killed",
                "--nocapture",
            ])
            .env(VICTIM, &house.tree)
            .process_group(0)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        // Spread over three saves, in steps that no clock divides.
        std::thread::sleep(Duration::from_millis(3) + shift + one * 3 * (n * 37 % KILLS) / KILLS);
        if victim == Victim::Group {
            let group = rustix::process::Pid::from_child(&child);
            rustix::process::kill_process_group(group, rustix::process::Signal::KILL)?;
        }
        child.kill()?;
        child.wait()?;
        if n % 10 == 9 {
            let found = sweep(&house.repo)?;
            swept = (swept.0 + found.folders, swept.1 + found.locks);
            // The machine may have other things to do by now.
            one = measure(n)?;
        }
    }
    assert_eq!(before, stamps(&house.tree)?, "the worktree was touched");
    // The last orphaned git may live for a moment.
    let deadline = Instant::now() + Duration::from_secs(10);
    while fs::read_dir(house.repo.join(".git/glis"))?.count() > 0 && Instant::now() < deadline {
        sweep(&house.repo)?;
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(fs::read_dir(house.repo.join(".git/glis"))?.count(), 0, "left-overs");
    // A sweep leaves alone what is younger than itself.
    std::thread::sleep(Duration::from_millis(100));
    sweep(&house.repo)?;
    assert!(swept.0 > 0, "no kill hit a save: {swept:?}");
    let refs = git(&house.repo, &["for-each-ref", "--format=%(refname)", "refs/glis"])?;
    let by_victims = refs.lines().filter(|name| name.contains(&format!("/{SESSION}-"))).count();
    assert!(by_victims > 5, "too few were published to say anything: {by_victims}");
    for reference in refs.lines() {
        verify(&house.repo, reference)?;
    }
    git(&house.repo, &["fsck", "--connectivity-only"])?;
    let locks = Command::new("find")
        .arg(house.repo.join(".git"))
        .args(["-name", "*.lock", "-o", "-name", "*.keep", "-o", "-name", "tmp_*"])
        .output()?;
    assert!(locks.stdout.is_empty(), "{}", String::from_utf8_lossy(&locks.stdout));
    Ok(())
}

#[test]
fn two_sessions_of_one_repository_save_at_once() -> Outcome {
    let house = House::new()?;
    let other = house.dir.path().join("other");
    git(&house.repo, &["worktree", "add", "-q", "-b", "side", &other.to_string_lossy()])?;
    let save_many = |tree: &Path, session: &str| -> Result<(), String> {
        for n in 0..15 {
            put(tree, "n", &format!("{session} {n}")).map_err(|error| error.to_string())?;
            let saved = save(&request(tree, session)).map_err(|error| error.to_string())?;
            assert!(saved.fresh);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let one = scope.spawn(|| save_many(&house.tree, "one"));
        let two = scope.spawn(|| save_many(&other, "two"));
        let sweeping = scope.spawn(|| (0..20).all(|_| sweep(&house.repo).is_ok()));
        one.join().map_err(|_| "panic")??;
        two.join().map_err(|_| "panic")??;
        assert!(sweeping.join().map_err(|_| "panic")?);
        Ok::<_, Box<dyn std::error::Error>>(())
    })?;
    for session in ["one", "two"] {
        let list = glis_snapshot::list(&house.repo, session)?;
        assert_eq!(list.len(), 15);
        for one in list {
            verify(&house.repo, &one.reference)?;
        }
    }
    Ok(())
}

#[test]
fn an_agent_that_commits_all_the_time_never_fails_because_of_us() -> Outcome {
    let house = House::new()?;
    let done = AtomicBool::new(false);
    let commits = std::thread::scope(|scope| {
        let agent = scope.spawn(|| -> Result<u32, String> {
            let mut commits = 0;
            while !done.load(Ordering::Relaxed) {
                put(&house.tree, "a.txt", &format!("{commits}\n")).map_err(|e| e.to_string())?;
                for args in [&["add", "-A"][..], &["commit", "-q", "-m", "x"]] {
                    let output = command(&house.tree, args).output().map_err(|e| e.to_string())?;
                    if !output.status.success() {
                        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
                    }
                }
                commits += 1;
            }
            Ok(commits)
        });
        let saves = (0..40).try_for_each(|_| save(&request(&house.tree, SESSION)).map(drop));
        done.store(true, Ordering::Relaxed);
        (saves, agent.join())
    });
    commits.0?;
    let commits = commits.1.map_err(|_| "panic")??;
    assert!(commits > 5);
    for one in glis_snapshot::list(&house.repo, SESSION)? {
        verify(&house.repo, &one.reference)?;
    }
    Ok(())
}

#[test]
fn a_gc_that_never_rests_takes_nothing_away() -> Outcome {
    let house = House::new()?;
    let done = AtomicBool::new(false);
    let (saves, turns) = std::thread::scope(|scope| {
        let cleaner = scope.spawn(|| {
            let mut turns = 0;
            while !done.load(Ordering::Relaxed) {
                turns += u32::from(git(&house.repo, &["gc", "-q", "--prune=now"]).is_ok());
            }
            turns
        });
        let saves = (0..25).try_for_each(|n| -> Result<(), String> {
            house.put("n", &format!("{n}")).map_err(|error| error.to_string())?;
            save(&request(&house.tree, SESSION)).map(drop).map_err(|error| error.to_string())
        });
        done.store(true, Ordering::Relaxed);
        (saves, cleaner.join())
    });
    saves?;
    assert!(turns.map_err(|_| "panic")? > 2);
    git(&house.repo, &["gc", "-q", "--prune=now"])?;
    let list = glis_snapshot::list(&house.repo, SESSION)?;
    assert_eq!(list.len(), 25);
    for one in list {
        verify(&house.repo, &one.reference)?;
    }
    Ok(())
}

#[test]
fn a_changed_file_that_cannot_be_read_is_named() -> Outcome {
    as_nobody("faults::a_changed_file_that_cannot_be_read_is_named", may_not_read)
}

fn may_not_read() -> Outcome {
    let house = House::new()?;
    house.put("a.txt", "changed\n")?;
    crate::house::mode(&house.tree, "a.txt", 0o000)?;
    house.put("secret", "untracked\n")?;
    crate::house::mode(&house.tree, "secret", 0o000)?;
    let fault = save(&request(&house.tree, SESSION)).err().ok_or("it was read")?;
    let SnapshotFault::Unreadable { path, .. } = &fault else { return Err(fault.into()) };
    assert_eq!(path, Path::new("a.txt"));
    let limits = Limits { unreadable: glis_snapshot::Unreadable::List, ..Limits::default() };
    let saved = save(&SaveRequest { limits, ..request(&house.tree, SESSION) })?;
    let named: Vec<String> =
        saved.not_captured.iter().map(glis_snapshot::NotCaptured::shown).collect();
    assert_eq!(named, ["a.txt", "secret"]);
    Ok(())
}

#[test]
fn a_full_disk_publishes_nothing_and_a_retry_works() -> Outcome {
    let Some(disk) = SmallDisk::mount(c"size=6m")? else { return Ok(()) };
    let repo = disk.path().join("repo");
    fs::create_dir(&repo)?;
    git(&repo, &["init", "-q", "-b", "main"])?;
    put(&repo, "a", "a")?;
    git(&repo, &["add", "-A"])?;
    git(&repo, &["commit", "-q", "-m", "a"])?;
    let elsewhere = tempfile::tempdir()?;
    let tree = elsewhere.path().join("tree");
    git(&repo, &["worktree", "add", "-q", "--detach", &tree.to_string_lossy()])?;
    let mut noise = 1_u64;
    let bytes: Vec<u8> = (0..2_000_000_u32)
        .map(|_| {
            noise ^= noise << 13;
            noise ^= noise >> 7;
            noise ^= noise << 17;
            u8::try_from(noise & 255).unwrap_or(0)
        })
        .collect();
    crate::house::put_bytes(&tree, b"noise", &bytes)?;
    // At every size that is left, from nothing to nearly enough.
    for room in [0, 4, 16, 64, 256, 1024, 1900] {
        disk.fill_up(room * 1024)?;
        let fault = save(&request(&tree, SESSION)).err().ok_or("there was room")?;
        assert!(matches!(fault, SnapshotFault::DiskFull(_)), "with {room}: {fault:?}");
        assert_eq!(git(&repo, &["for-each-ref", "refs/glis"])?, "");
    }
    fs::remove_file(disk.fill_up(0)?)?;
    let saved = save(&request(&tree, SESSION))?;
    verify(&repo, &saved.reference)?;
    assert_eq!(fs::read_dir(repo.join(".git/glis"))?.count(), 0);
    git(&repo, &["fsck"])?;
    Ok(())
}

/// The most memory this process had, in KiB.
fn peak_kib() -> Outcome<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.split_whitespace().nth(1).ok_or("no number")?.parse()?)
}

#[test]
fn a_large_file_is_not_held_in_memory() -> Outcome {
    let house = House::new()?;
    house.save()?;
    let before = peak_kib()?;
    fs::File::create(house.tree.join("large"))?.set_len(72 << 20)?;
    let limits = Limits { file_bytes_max: 1 << 40, ..Limits::default() };
    let saved = save(&SaveRequest { limits, ..request(&house.tree, SESSION) })?;
    let grown = peak_kib()? - before;
    assert!(grown < 64 * 1024, "{grown} KiB");
    let size =
        git(&house.repo, &["cat-file", "-s", &format!("{}:worktree/large", saved.reference)])?;
    assert_eq!(size.trim(), (72 << 20).to_string());
    Ok(())
}

#[test]
fn a_file_that_grows_and_shrinks_while_it_is_read_is_whole_or_named() -> Outcome {
    let house = House::new()?;
    let path = house.tree.join("moving");
    fs::write(&path, vec![b'x'; 9 << 20])?;
    let done = AtomicBool::new(false);
    let saved = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut turn = 0_u64;
            while !done.load(Ordering::Relaxed) {
                turn += 1;
                let len = (5 << 20) + (turn % 7) * (1 << 20);
                drop(fs::write(&path, vec![b'x'; usize::try_from(len).unwrap_or(0)]));
            }
        });
        let saved = save(&request(&house.tree, SESSION));
        done.store(true, Ordering::Relaxed);
        saved
    })?;
    let name = format!("{}:worktree/moving", saved.reference);
    let kept = command(&house.repo, &["cat-file", "blob", &name]).output()?;
    // Zeros are what a padded blob would hold.
    assert!(kept.stdout.iter().all(|byte| *byte == b'x'));
    let named = saved.not_captured.iter().any(|item| item.path == b"moving");
    assert!(named || kept.status.success());
    verify(&house.repo, &saved.reference)?;
    Ok(())
}

#[test]
fn git_that_is_missing_is_said_to_be_missing() -> Outcome {
    let house = House::new()?;
    let output = Command::new(std::env::current_exe()?)
        .args(["--ignored", "--exact", "faults::victim_saves_until_it_is_killed", "--nocapture"])
        .env(VICTIM, &house.tree)
        .env("PATH", "/nonexistent")
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("GitMissing"), "{said}");
    Ok(())
}

#[test]
fn a_path_with_a_line_break_is_refused_with_the_cause() -> Outcome {
    let dir = tempfile::tempdir()?;
    let base = dir.path().canonicalize()?;
    let told = |fault: &dyn std::fmt::Display| {
        let said = fault.to_string();
        assert!(said.contains("line break") && !said.contains('\n'), "{said}");
    };
    for (repo, tree) in [("re\npo", "tree"), ("repo\n", "tree"), ("repo", "tr\nee")] {
        let (repo, tree) = (base.join(repo).join("r"), base.join(tree).join("t"));
        crate::nested::make_repo(&repo)?;
        let (path, umask) = (tree.as_path(), 0o022);
        let plan = Plan { repo: &repo, path, branch: "b", base: None, owner: "me", umask };
        told(&make(&plan).err().ok_or("it was made")?);
        assert!(!tree.exists());
        git(&repo, &["worktree", "add", "-q", "--detach", &tree.to_string_lossy()])?;
        let limits = Limits::default();
        let request =
            SaveRequest { worktree: &tree, session: "s", why: "test", limits, passing: None };
        told(&save(&request).err().ok_or("it was saved")?);
        fs::remove_dir_all(base.join(&repo))?;
        fs::remove_dir_all(&tree)?;
    }
    Ok(())
}
