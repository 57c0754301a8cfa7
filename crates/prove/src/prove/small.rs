//! A small disk with a house of its own, to be filled to the brim.

use super::chance::Chance;
use super::dirt::{self, Dirt};
use super::tally::Tally;
use super::victims;
use super::worker::{Mode, Pace, Promise, Sent, Worker};
use crate::stage::{Signals, Stage};
use anyhow::{Context as _, Result, ensure};
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Tells a program that was started again that its mounts are its own.
const PRIVATE: &str = "GLIS_PROVE_PRIVATE";
/// Room for the house and a thousand rounds, and quickly filled.
const DISK: &str = "size=128m,mode=700";
/// More than the room that is left, so that some of it is always missing.
const NOISE_BYTES: usize = 100_000;

/// What is done while there is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attempt {
    Pause,
    Snapshot,
}

pub(super) struct Small {
    pub(super) stage: Stage,
    worker: Worker,
}

/// Starts this program again where its mounts are its own and end with it, if that is allowed.
/// Returns only if there is nothing to do or it is not.
pub(super) fn in_private() -> Result<(), String> {
    if std::env::var_os(PRIVATE).is_some() {
        return Ok(());
    }
    let probe = tempfile::tempdir().map_err(|fault| fault.to_string())?;
    let tries: [&[&str]; 2] = [&["--mount"], &["--user", "--map-root-user", "--mount"]];
    for flags in tries {
        let allowed = Command::new("unshare")
            .args(flags)
            .args(["mount", "-t", "tmpfs", "-o", DISK, "glis-prove"])
            .arg(probe.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        if allowed {
            let program = std::env::current_exe().map_err(|fault| fault.to_string())?;
            drop(probe);
            let fault = Command::new("unshare")
                .args(flags)
                .arg(program)
                .args(std::env::args_os().skip(1))
                .env(PRIVATE, "1")
                .exec();
            return Err(format!("unshare: {fault}"));
        }
    }
    Err("no file system can be mounted here, not even in a namespace of its own".to_owned())
}

impl Small {
    /// Sets up the house; only after [`in_private`].
    pub(super) fn set(main: &Stage, tally: &mut Tally) -> Result<Self> {
        let place = main.root().join("small-disk");
        std::fs::create_dir(&place)?;
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", DISK, "glis-prove"])
            .arg(&place)
            .stdin(Stdio::null())
            .output()?;
        let complaint = String::from_utf8_lossy(&mounted.stderr);
        ensure!(mounted.status.success(), "mount: {complaint}");
        let stage = main.beside(place)?;
        dirt::plant(&stage)?;
        let mut worker = Worker::hire(&stage, Dirt::Merge, Mode::Headless)?;
        let sent = Sent::new("word0x".to_owned(), Pace::Quick);
        stage.glis(&["send", &worker.name, &sent.text])?;
        worker.note(sent, Promise::Given);
        worker.bring_back(&stage, tally)?;
        worker.check(&stage, tally)?;
        Ok(Self { stage, worker })
    }

    /// Fills the disk but for some room, and tries something; then there is room again.
    pub(super) fn fill(
        &mut self,
        attempt: Attempt,
        room: u64,
        moment: Duration,
        tally: &mut Tally,
    ) -> Result<String> {
        tally.fault("disk full");
        let (stage, worker) = (&self.stage, &mut self.worker);
        let before = worker.show(stage)?;
        // Something that is in no snapshot yet, so that there is something to write.
        let noise = Chance::from(room ^ u64::from(tally.rounds)).bytes(NOISE_BYTES);
        std::fs::write(worker.tree.join("noise"), noise)?;
        worker.expected = stage.portrait(&worker.tree)?;
        let verb = match attempt {
            Attempt::Pause => "pause",
            Attempt::Snapshot => "snapshot",
        };
        // Most of it before, so that the last of it takes no time.
        let ballast = stuff(stage.root(), "ballast", room + NOISE_BYTES as u64 * 4)?;
        let running = stage.start(&["--json", verb, &worker.name])?;
        std::thread::sleep(moment);
        let last = stuff(stage.root(), "ballast too", room)?;
        let output = stage.finish(running, Signals::Heeded);
        let again = stage.start(&["--json", verb, &worker.name]);
        let again = again.and_then(|running| stage.finish(running, Signals::Heeded));
        let told = |output: &Result<std::process::Output>| {
            output.as_ref().is_ok_and(|output| output.status.success())
        };
        let done = told(&output) || told(&again);
        let agents = victims::agents_of(&worker.id);
        std::fs::remove_file(last)?;
        std::fs::remove_file(ballast)?;
        let shown = worker.settled(stage)?;
        if done && attempt == Attempt::Pause {
            ensure!(shown["status"] == "paused", "paused on a full disk: {}", shown["status"]);
            tally.pauses += 1;
        }
        // A pause whose agent has ended already goes on to its end, once there is room for the record.
        let paused = attempt == Attempt::Pause && shown["status"] == "paused";
        let lives = shown["pid"] == before["pid"] && !agents.is_empty();
        ensure!(paused || lives, "a full disk has ended the agent: {shown}");
        worker.bring_back(stage, tally)?;
        worker.compare_files(stage, tally)?;
        worker.check(stage, tally)?;
        let how = match (done, paused) {
            (true, _) => "it had room enough",
            (false, true) => "it went on when there was room",
            (false, false) => "refused, the agent kept running",
        };
        Ok(format!(
            "a full disk ({} kB left) {:.1} ms into the {verb} of `{}`: {how}; with room again, nothing is missing",
            room / 1024,
            moment.as_secs_f64() * 1000.0,
            worker.name
        ))
    }

    /// At the very end.
    pub(super) fn audit(&mut self, tally: &mut Tally) -> Result<()> {
        self.worker.bring_back(&self.stage, tally)?;
        self.worker.check(&self.stage, tally)?;
        self.worker.check_words(&self.stage)
    }

    /// Copies what lies on the disk to where it can be looked at: the disk goes with us.
    pub(super) fn copy_to(&self, beside: &Path) {
        let copy = Command::new("cp").arg("-a").arg(self.stage.root()).arg(beside).output();
        drop(copy);
    }
}

/// Leaves this much room on the disk; the file is to be removed to have it all back.
fn stuff(disk: &Path, name: &str, room: u64) -> Result<PathBuf> {
    let path = disk.join(name);
    let mut file = std::fs::File::create(&path).context("the ballast")?;
    for piece in [65536, 4096] {
        let bytes = vec![0; piece];
        while file.write(&bytes).is_ok_and(|written| written > 0) {}
    }
    let size = file.metadata()?.len();
    file.set_len(size.saturating_sub(room))?;
    Ok(path)
}
