//! How fast a worktree is saved and restored, beside git's own ways of doing so.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use glis_snapshot::{Limits, RestoreRequest, SaveRequest, Saved, Stand, restore, save};

use super::Plan;
use super::board::{Board, Reading};
use super::house::Peer;
use crate::proc::Others;

/// Folders of the repository, and files in each: twenty thousand.
const FOLDERS: usize = 400;
const FILES: usize = 50;
/// How long is looked whether anybody else is at work.
const LOOK_TIME: Duration = Duration::from_millis(300);
/// The large file.
const LARGE_BYTES: u64 = 2 << 30;

/// Saving and restoring, on a repository of twenty thousand files.
pub(crate) fn kept(plan: &Plan, board: &mut Board) {
    if !plan.peers.contains(&Peer::Glis) {
        return;
    }
    match Repository::make(plan) {
        Ok(repository) => repository.measure(plan, board),
        Err(failure) => board.take("snapshot few", Peer::Glis, Err(failure)),
    }
    board.take("snapshot large", Peer::Glis, large(plan));
}

struct Repository {
    at: PathBuf,
    mark: String,
    files: Vec<PathBuf>,
}

impl Repository {
    fn make(plan: &Plan) -> Result<Self> {
        let at = plan.programs.root.join("kept");
        fs::create_dir(&at)?;
        git(&at, &["init", "--quiet", "--initial-branch=main", "."])?;
        // A collection in the background would be measured along with whatever runs beside it.
        git(&at, &["config", "maintenance.auto", "false"])?;
        git(&at, &["config", "gc.auto", "0"])?;
        let mut noise = 7_usize;
        let mut files = Vec::new();
        for folder in 0..FOLDERS / plan.divisor {
            let dir = at.join(format!("d{}/s{}", folder / 20, folder % 20));
            fs::create_dir_all(&dir)?;
            for file in 0..FILES {
                noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223) & 0xffff_ffff;
                let line = format!("{noise:x} some words of a line of text\n");
                let path = dir.join(format!("f{file}.txt"));
                fs::write(&path, line.repeat(noise % 200 + 20))?;
                files.push(path);
            }
        }
        git(&at, &["add", "--all"])?;
        git(&at, &["commit", "--quiet", "--message=all"])?;
        git(&at, &["gc", "--quiet"])?;
        Ok(Self { at, mark: plan.programs.mark(), files })
    }

    fn measure(&self, plan: &Plan, board: &mut Board) {
        for pass in 0..plan.passes {
            let (few, many) = (plan.tries(9), plan.tries(2).min(2));
            for turn in 0..few {
                board_all(board, self.few(pass * 1000 + turn));
            }
            for turn in 0..many {
                board_all(board, self.many(plan, pass * 1000 + 500 + turn));
            }
            for turn in 0..plan.tries(3).min(3) {
                board_all(board, self.back(plan, pass * 1000 + turn));
            }
        }
    }

    /// CPUs that others keep busy right now.
    fn others(&self) -> f64 {
        let others = Others::watch(&self.mark);
        std::thread::sleep(LOOK_TIME);
        others.cpus()
    }

    /// Changes tracked files and writes untracked ones.
    fn stir(&self, changed: usize, fresh: usize, turn: usize) -> Result<()> {
        for number in 0..changed.min(self.files.len()) {
            let at = (number * 9973 + turn * 131) % self.files.len();
            let file = self.files.get(at).context("a file")?;
            fs::write(file, format!("turn {turn} file {number}\n").repeat(100))?;
        }
        for number in 0..fresh {
            let dir = self.at.join(format!("new{}", number % 10));
            fs::create_dir_all(&dir)?;
            let text = format!("{turn} {number}\n").repeat(100);
            fs::write(dir.join(format!("n{number}.txt")), text)?;
        }
        Ok(())
    }

    fn clean(&self) -> Result<()> {
        git(&self.at, &["reset", "--quiet", "--hard"])?;
        git(&self.at, &["clean", "--quiet", "-fd"])
    }

    fn save(&self, session: &str) -> Result<Saved> {
        let limits = Limits { file_bytes_max: u64::MAX, ..Limits::default() };
        Ok(save(&SaveRequest { worktree: &self.at, session, why: "bench", limits, passing: None })?)
    }

    /// Fifty changed and twenty untracked: saved, saved again, stashed and popped, only looked at.
    fn few(&self, turn: usize) -> Result<Readings> {
        let others = self.others();
        self.stir(50, 20, turn)?;
        let session = format!("few{turn}");
        let (first, saved) = timed(|| self.save(&session))?;
        let before = objects(&self.at)?;
        let (again, same) = timed(|| self.save(&session))?;
        ensure!(saved.fresh && !same.fresh, "nothing has changed, and it was saved again");
        ensure!(objects(&self.at)? == before, "nothing has changed, and objects were made");
        let (floor, ()) = timed(|| self.look())?;
        // Other bytes: ours are in the repository now, and git would not have to write them.
        self.stir(50, 20, turn + 500_000)?;
        let (stash, ()) = timed(|| {
            git(&self.at, &["stash", "push", "--quiet", "--include-untracked"])?;
            git(&self.at, &["stash", "pop", "--quiet"])
        })?;
        self.clean()?;
        Ok(vec![
            ("snapshot few", Peer::Glis, first, others),
            ("snapshot few", Peer::Git, stash, others),
            ("snapshot few", Peer::Floor, floor, others),
            ("snapshot again", Peer::Glis, again / first, others),
        ])
    }

    /// Less cannot be done: one look at every file.
    fn look(&self) -> Result<()> {
        self.files.iter().try_for_each(|file| Ok(file.symlink_metadata().map(drop)?))
    }

    fn many(&self, plan: &Plan, turn: usize) -> Result<Readings> {
        let count = 2000 / plan.divisor;
        let others = self.others();
        self.stir(count, count, turn)?;
        let (ours, _) = timed(|| self.save(&format!("many{turn}")))?;
        self.stir(count, count, turn + 500_000)?;
        let add = ["-c", "core.fsync=loose-object", "-c", "core.fsyncMethod=fsync", "add", "--all"];
        let (theirs, ()) = timed(|| git(&self.at, &add))?;
        self.clean()?;
        git(&self.at, &["prune", "--expire=now"])?;
        Ok(vec![
            ("snapshot many", Peer::Glis, ours, others),
            ("snapshot many", Peer::Git, theirs, others),
        ])
    }

    /// Into an empty place. It stays until the end: file systems are slow to give out again what was
    /// freed a moment ago.
    fn back(&self, plan: &Plan, turn: usize) -> Result<Readings> {
        let others = self.others();
        let reference = self.save("clean")?.reference;
        let place = |name: &str| plan.programs.root.join(format!("{name}{turn}"));
        let (one, two) = (place("back"), place("added"));
        let bring = || {
            let request = RestoreRequest {
                repo_root: &self.at,
                reference: &reference,
                to: &one,
                lock_owner: "bench",
                stand: Stand::Detached,
                own: None,
            };
            let restored = restore(&request)?;
            ensure!(restored.set_aside.is_none(), "turn {turn}: something was in the way");
            Ok(())
        };
        let path = two.to_string_lossy().into_owned();
        let add = || git(&self.at, &["worktree", "add", "--quiet", "--detach", &path]);
        // Whoever comes second finds more room taken: they take turns at that as well.
        let (ours, theirs) = if turn.is_multiple_of(2) {
            let (ours, ()) = timed(bring)?;
            (ours, timed(add)?.0)
        } else {
            let (theirs, ()) = timed(add)?;
            (timed(bring)?.0, theirs)
        };
        Ok(vec![("restore", Peer::Glis, ours, others), ("restore", Peer::Git, theirs, others)])
    }
}

type Readings = Vec<(&'static str, Peer, f64, f64)>;

fn board_all(board: &mut Board, readings: Result<Readings>) {
    match readings {
        Ok(readings) => {
            for (key, peer, value, others) in readings {
                board.take(key, peer, Ok(Reading { value, others }));
            }
        }
        Err(failure) => board.take("snapshot few", Peer::Glis, Err(failure)),
    }
}

/// Milliseconds that something takes, and what came of it. What others wrote before is on the disk
/// by then: whoever syncs would have to wait for it.
fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(f64, T)> {
    rustix::fs::sync();
    let began = Instant::now();
    let done = work()?;
    Ok((began.elapsed().as_secs_f64() * 1000.0, done))
}

/// How many objects there are, loose ones and packs.
fn objects(at: &Path) -> Result<String> {
    let mut count = Command::new("git");
    count.args(["count-objects", "-v"]).current_dir(at).env("GIT_CONFIG_GLOBAL", "/dev/null");
    Ok(String::from_utf8(count.output()?.stdout)?)
}

/// As a user has it, with nothing of the user's own settings.
fn git(at: &Path, args: &[&str]) -> Result<()> {
    let mut command = Command::new("git");
    command.args(args).current_dir(at).stdin(Stdio::null());
    for (name, value) in [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_AUTHOR_NAME", "Bench"),
        ("GIT_AUTHOR_EMAIL", "bench@example.org"),
        ("GIT_COMMITTER_NAME", "Bench"),
        ("GIT_COMMITTER_EMAIL", "bench@example.org"),
    ] {
        command.env(name, value);
    }
    let output = command.output().context("git")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "git {}: {said}", args.join(" "));
    Ok(())
}

/// Megabytes that a large untracked file adds to a process that saves it.
fn large(plan: &Plan) -> Result<Reading> {
    let at = plan.programs.root.join("large");
    fs::create_dir(&at)?;
    git(&at, &["init", "--quiet", "--initial-branch=main", "."])?;
    fs::write(at.join("small"), "small\n")?;
    let others = Others::watch(&plan.programs.mark());
    std::thread::sleep(LOOK_TIME);
    let others = others.cpus();
    let bytes = LARGE_BYTES / plan.divisor as u64;
    let mut saver = Command::new(&plan.programs.xtask);
    saver.arg("save-large").arg(&at).arg(bytes.to_string()).stdin(Stdio::null());
    let said = saver.output()?;
    ensure!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    fs::remove_dir_all(&at)?;
    let kib: f64 = String::from_utf8(said.stdout)?.trim().parse()?;
    Ok(Reading { value: kib / 1024.0, others })
}

/// `save-large REPOSITORY BYTES`: saves, puts a file of so many bytes there, saves again, and
/// prints by how many KiB its peak has risen.
pub(crate) fn save_large(arguments: &[std::ffi::OsString]) -> Result<()> {
    let [at, bytes] = arguments else { bail!("save-large REPOSITORY BYTES") };
    let (at, bytes) = (Path::new(at), bytes.to_string_lossy().parse::<u64>()?);
    let limits = Limits { file_bytes_max: u64::MAX, ..Limits::default() };
    let request =
        SaveRequest { worktree: at, session: "large", why: "bench", limits, passing: None };
    save(&request)?;
    let before = peak_kib()?;
    fs::File::create(at.join("large"))?.set_len(bytes)?;
    let saved = save(&request)?;
    ensure!(saved.not_captured.is_empty(), "the large file was left out");
    println!("{}", peak_kib()? - before);
    Ok(())
}

/// The most memory that this process had.
fn peak_kib() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).context("no VmHWM")?;
    Ok(line.split_whitespace().nth(1).context("no number")?.parse()?)
}
