//! `doctor --prove`: it says that nothing was lost where that is so, and finds what is lost.

use crate::support::house::Outcome;
use serde_json::Value;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Whoever needs longer than this for a proof of some seconds hangs.
const END_TIME: Duration = Duration::from_secs(150);

/// A proof in a folder of its own.
struct Proof {
    folder: tempfile::TempDir,
    child: Child,
}

impl Proof {
    fn begin(time: &str, seed: &str) -> Outcome<Self> {
        let folder = tempfile::Builder::new().prefix("glis-e2e-").tempdir()?;
        let child = Command::new(crate::support::house::program())
            .args(["--json", "doctor", "--prove", "--for", time, "--seed", seed])
            .env("TMPDIR", folder.path())
            .env_remove("GLIS_HOME")
            .env_remove("GLIS_SESSION")
            .current_dir(folder.path())
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        Ok(Self { folder, child })
    }

    /// Does something again and again until the proof ends.
    fn meanwhile(mut self, sabotage: impl Fn(&Path) + Sync) -> Outcome<Verdict> {
        let place = self.folder.path().to_owned();
        let done = AtomicBool::new(false);
        let output = std::thread::scope(|scope| -> Outcome<Output> {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    for house in houses(&place) {
                        // Only once all are at work: what was never whole is not missed.
                        if worktree(&house, "nested-").is_some() {
                            sabotage(&house);
                        }
                    }
                    std::thread::sleep(Duration::from_millis(10));
                }
            });
            let ended = wait(&mut self.child);
            done.store(true, Ordering::Relaxed);
            let status = ended?;
            let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
            let (out, err) = (self.child.stdout.take(), self.child.stderr.take());
            std::io::Read::read_to_end(&mut out.ok_or("no stdout")?, &mut stdout)?;
            std::io::Read::read_to_end(&mut err.ok_or("no stderr")?, &mut stderr)?;
            Ok(Output { status, stdout, stderr })
        })?;
        let document = serde_json::from_slice(&output.stdout)
            .map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())?;
        let left = processes(&place);
        Ok(Verdict { folder: self.folder, status: output.status, document, left })
    }
}

fn wait(child: &mut Child) -> Outcome<ExitStatus> {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if began.elapsed() > END_TIME {
            child.kill()?;
            child.wait()?;
            return Err("the proof does not end".into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

struct Verdict {
    folder: tempfile::TempDir,
    status: ExitStatus,
    document: Value,
    left: Vec<i32>,
}

impl Verdict {
    /// It was found, and there is something to look at.
    fn failed_over(&self, what: &str) {
        assert_eq!(self.status.code(), Some(1), "{}", self.document);
        assert_eq!(self.document["ok"], false);
        let failure = self.document["failure"].as_str().unwrap_or_default();
        assert!(failure.contains(what), "{failure}");
        let kept = PathBuf::from(self.document["kept"].as_str().unwrap_or_default());
        assert!(kept.join("project").is_dir() && kept.join("home").is_dir(), "{}", kept.display());
        assert!(kept.starts_with(self.folder.path()));
        assert!(self.document["seed"].is_u64());
        assert_eq!(self.left, Vec::<i32>::new(), "processes are left");
    }
}

fn houses(place: &Path) -> Vec<PathBuf> {
    let entries = place.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let mine = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("glis-prove-"))
    };
    entries.filter(mine).collect()
}

/// The worktree of a session in the house that is being broken.
fn worktree(house: &Path, session: &str) -> Option<PathBuf> {
    let all = house.join("home/worktrees/project").read_dir().ok()?.flatten();
    let mut all = all.map(|entry| entry.path());
    all.find(|path| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(session)))
}

/// Living processes that carry a home within this folder.
fn processes(place: &Path) -> Vec<i32> {
    let wanted = format!("GLIS_HOME={}/", place.display()).into_bytes();
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|e| e.ok()?.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| {
        let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environ.split(|b| *b == 0).any(|variable| variable.starts_with(&wanted))
    })
    .collect()
}

#[test]
fn a_proof_finds_nothing_and_leaves_nothing() -> Outcome {
    let proved = Proof::begin("6s", "11")?.meanwhile(|_| {})?;
    assert!(proved.status.success(), "{}", proved.document);
    assert_eq!(proved.document["ok"], true);
    assert_eq!(proved.document["seed"], 11);
    let tally = &proved.document["tally"];
    // How many rounds there are in some seconds is the machine's affair; the beginning and the end
    // alone compare more than this.
    assert!(tally["rounds"].as_u64() > Some(0), "{tally}");
    assert!(tally["bytes_compared"].as_u64() > Some(20_000), "{tally}");
    assert!(proved.document["steps"].as_array().ok_or("no steps")?.len() > 8);
    assert_eq!(proved.folder.path().read_dir()?.count(), 0, "it cleans up after itself");
    assert_eq!(proved.left, Vec::<i32>::new());
    Ok(())
}

#[test]
fn a_lost_byte_is_found() -> Outcome {
    let proved = Proof::begin("8s", "12")?.meanwhile(|house| {
        let file = worktree(house, "mixed-").map(|tree| tree.join("brand/new/file.txt"));
        if let Some(file) = file.filter(|file| std::fs::read(file).is_ok_and(|b| b.len() == 10)) {
            drop(std::fs::write(file, "untracke\n"));
        }
    })?;
    proved.failed_over("brand/new/file.txt: 9 bytes, were 10; they part at byte 8");
    Ok(())
}

#[test]
fn a_lost_stage_of_a_conflict_is_found() -> Outcome {
    let proved = Proof::begin("8s", "13")?.meanwhile(|house| {
        if let Some(tree) = worktree(house, "merge-") {
            let mut git = Command::new("git");
            git.args(["update-index", "--force-remove", "story.txt"]).current_dir(&tree);
            drop(git.stdin(Stdio::null()).output());
        }
    })?;
    proved.failed_over("git ls-files --stage");
    Ok(())
}

#[test]
fn a_lost_message_is_found() -> Outcome {
    let proved = Proof::begin("8s", "14")?.meanwhile(|house| {
        let records = house.join("home/rehearsal").read_dir().into_iter().flatten().flatten();
        for record in records.map(|entry| entry.path()) {
            // As if the first message had never been told.
            let text = std::fs::read_to_string(&record).unwrap_or_default();
            let hole = text.replacen("say word1x", "say nothing", 1);
            if hole != text {
                drop(std::fs::write(&record, hole));
            }
        }
    })?;
    proved.failed_over("was told 0 times");
    Ok(())
}

#[test]
fn a_proof_that_is_interrupted_ends_everything() -> Outcome {
    let mut proof = Proof::begin("120s", "15")?;
    let began = Instant::now();
    // In the middle: a session is at work.
    while !houses(proof.folder.path()).iter().any(|house| worktree(house, "odd-").is_some()) {
        assert!(began.elapsed() < END_TIME, "it does not begin");
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = i32::try_from(proof.child.id())?;
    let pid = rustix::process::Pid::from_raw(pid).ok_or("no pid")?;
    rustix::process::kill_process(pid, rustix::process::Signal::INT)?;
    let status = wait(&mut proof.child)?;
    assert_eq!(status.code(), Some(130));
    assert_eq!(proof.folder.path().read_dir()?.count(), 0, "it cleans up after itself");
    assert_eq!(processes(proof.folder.path()), Vec::<i32>::new());
    Ok(())
}
