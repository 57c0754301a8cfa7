//! The speed bars. Not part of the usual run: it takes minutes and wants a quiet machine.
//! `cargo test --release -p glis-snapshot speed -- --ignored --nocapture`

use crate::house::{Outcome, git, put};
use glis_snapshot::{Limits, RestoreRequest, SaveRequest, Stand, restore, save};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

const FOLDERS: u32 = 400;
const FILES: u32 = 50;

fn big(at: &Path) -> Outcome {
    fs::create_dir_all(at)?;
    git(at, &["init", "-q", "-b", "main"])?;
    let mut noise = 7_u32;
    for folder in 0..FOLDERS {
        for file in 0..FILES {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let line = format!("{noise:x} some words of a line of text\n");
            let path = format!("d{}/s{}/f{file}.txt", folder / 20, folder % 20);
            put(at, &path, &line.repeat(usize::try_from(noise % 200)? + 20))?;
        }
    }
    git(at, &["add", "-A"])?;
    git(at, &["commit", "-q", "-m", "all"])?;
    git(at, &["gc", "-q"])?;
    Ok(())
}

/// Changes `changed` tracked files and writes `fresh` untracked ones.
fn stir(at: &Path, changed: u32, fresh: u32, turn: u32) -> Outcome {
    for n in 0..changed {
        let at_folder = (n * 7 + turn) % FOLDERS;
        let path = format!("d{}/s{}/f{}.txt", at_folder / 20, at_folder % 20, n / 8 % FILES);
        put(at, &path, &format!("turn {turn} file {n}\n").repeat(100))?;
    }
    for n in 0..fresh {
        put(at, &format!("new{}/n{n}.txt", n % 10), &format!("{turn} {n}\n").repeat(100))?;
    }
    std::thread::sleep(Duration::from_millis(60));
    Ok(())
}

fn time(mut work: impl FnMut() -> Outcome) -> Outcome<Duration> {
    let begun = Instant::now();
    work()?;
    Ok(begun.elapsed())
}

fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn save_it(at: &Path, session: &str) -> Outcome<String> {
    let limits = Limits { file_bytes_max: 1 << 40, ..Limits::default() };
    Ok(save(&SaveRequest { worktree: at, session, why: "speed", limits, passing: None })?.reference)
}

#[expect(clippy::print_stdout, reason = "numbers for people")]
fn ratio(name: &str, ours: Duration, theirs: Duration, bar: f64) {
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    println!("{name}: {ours:?} / {theirs:?} = {ratio:.2} (bar {bar})");
}

#[test]
#[ignore = "takes minutes"]
fn the_speed_bars() -> Outcome {
    let dir = tempfile::tempdir()?;
    let at = dir.path().canonicalize()?.join("big");
    big(&at)?;
    let (mut ours, mut same, mut stash) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 0..9 {
        stir(&at, 50, 20, turn)?;
        let session = format!("few{turn}");
        ours.push(time(|| save_it(&at, &session).map(drop))?);
        same.push(time(|| save_it(&at, &session).map(drop))?);
        // Other bytes: ours are in the repository now, and git would not have to write them.
        stir(&at, 50, 20, 1000 + turn)?;
        stash.push(time(|| {
            git(&at, &["stash", "push", "-q", "-u"])?;
            git(&at, &["stash", "pop", "-q"]).map(drop)
        })?);
        git(&at, &["reset", "-q", "--hard"])?;
        git(&at, &["clean", "-q", "-fd"])?;
    }
    let few = middle(ours);
    ratio("50 changed, 20 new, against stash push and pop", few, middle(stash), 0.4);
    ratio("the same again, against the first", middle(same), few, 0.5);

    let (mut ours, mut add) = (Vec::new(), Vec::new());
    for turn in 0..3 {
        stir(&at, 2000, 2000, 100 + turn)?;
        let session = format!("many{turn}");
        ours.push(time(|| save_it(&at, &session).map(drop))?);
        stir(&at, 2000, 2000, 2000 + turn)?;
        let fsync = ["-c", "core.fsync=loose-object", "-c", "core.fsyncMethod=fsync"];
        add.push(time(|| git(&at, &[&fsync[..], &["add", "-A"]].concat()).map(drop))?);
        git(&at, &["reset", "-q", "--hard"])?;
        git(&at, &["clean", "-q", "-fd"])?;
        git(&at, &["prune", "--expire=now"])?;
    }
    ratio("2000 changed, 2000 new, against add -A with fsync", middle(ours), middle(add), 0.5);

    let (mut back, mut plain) = (Vec::new(), Vec::new());
    let reference = save_it(&at, "clean")?;
    for turn in 0..5 {
        let (one, two) = (dir.path().join(format!("r{turn}")), dir.path().join(format!("w{turn}")));
        plain.push(time(|| {
            git(&at, &["worktree", "add", "-q", "--detach", &two.to_string_lossy()]).map(drop)
        })?);
        let request = RestoreRequest {
            repo_root: &at,
            reference: &reference,
            to: &one,
            lock_owner: "x",
            stand: Stand::AsItWas,
            own: None,
        };
        back.push(time(|| Ok(restore(&request).map(drop)?))?);
    }
    ratio("restore against worktree add", middle(back), middle(plain), 1.5);
    Ok(())
}

#[test]
#[ignore = "writes two gigabytes"]
fn two_gigabytes_go_through_in_little_memory() -> Outcome {
    let dir = tempfile::tempdir()?;
    let at = dir.path().join("repo");
    fs::create_dir(&at)?;
    git(&at, &["init", "-q"])?;
    put(&at, "a", "a")?;
    save_it(&at, "x")?;
    let peak = || -> Outcome<u64> {
        let status = fs::read_to_string("/proc/self/status")?;
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).ok_or("no VmHWM")?;
        Ok(line.split_whitespace().nth(1).ok_or("no number")?.parse()?)
    };
    let before = peak()?;
    fs::File::create(at.join("large"))?.set_len(2 << 30)?;
    let took = time(|| save_it(&at, "x").map(drop))?;
    println!("2 GiB in {took:?}, {} KiB more", peak()? - before);
    let again = time(|| save_it(&at, "x").map(drop))?;
    println!("again in {again:?}");
    assert!(peak()? - before < 64 * 1024);
    Ok(())
}
