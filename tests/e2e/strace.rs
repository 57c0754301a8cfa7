//! The real daemon, killed or lied to by the kernel at its own system calls, in the middle of a
//! pause. Needs `strace`; where there is none, that is said aloud.

use crate::house::{House, Outcome, lives};
use crate::wreck::{Foreground, SETTLED, agents, each_entry_once, pid_of, text_of};
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};

/// A tracer that does something at the N-th call of a kind. It follows the daemon's threads, not
/// the holders, which were born before it came.
struct Tracer(Child);

impl Tracer {
    fn attach(pid: i32, calls: &str, deed: &str) -> Outcome<Self> {
        let child = Command::new("strace")
            // Our own calls, and not those of the programs that we run.
            .args(["-f", "-b", "execve", "-o", "/dev/null", "-e", &format!("trace={calls}")])
            .args(["-e", &format!("inject={calls}:{deed}"), "-p", &pid.to_string()])
            .stderr(Stdio::piped())
            .spawn()?;
        let mut tracer = Self(child);
        let stderr = tracer.0.stderr.take().ok_or("no stderr")?;
        let mut said = String::new();
        let mut lines = BufReader::new(stderr);
        lines.read_line(&mut said)?;
        if !said.contains("attached") {
            return Err(format!("strace: {said}").into());
        }
        // Whatever else it says must not fill the pipe.
        std::thread::spawn(move || lines.lines().for_each(drop));
        Ok(tracer)
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Whether there is a `strace` that may trace; says so if not.
fn can_trace() -> bool {
    let able = Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).status();
    let able = able.is_ok_and(|status| status.success());
    if !able {
        eprintln!("SKIPPED: strace is missing or may not trace");
    }
    able
}

/// What came of a pause under the tracer.
struct Attempt {
    name: String,
    before: Value,
    paused: bool,
    /// How the daemon ended, if it did.
    end: Option<ExitStatus>,
}

fn attempt(house: &House, name: &str, calls: &str, deed: &str) -> Outcome<Attempt> {
    house.rehearsal(name)?;
    house.turn(name, &format!("write a.txt {name}"))?;
    house.ok(&["send", name, "touch-slowly slow.txt 100000 50"])?;
    let id = house.show(name)?["id"].clone();
    house.follow(1)?.until(|e| e["event"] == "turn_ended" && e["session"] == id)?;
    let before = house.until(name, "busy")?;
    house.ok(&["daemon", "stop"])?;
    let daemon = Foreground::start(house, &[])?;
    let tracer = Tracer::attach(daemon.pid()?, calls, deed)?;
    let output = house.glis().args(["--json", "pause", name]).output()?;
    let paused = output.status.success();
    if paused && lives(daemon.pid()?) {
        drop(tracer);
        house.ok(&["daemon", "stop"])?;
        return Ok(Attempt { name: name.to_owned(), before, paused, end: None });
    }
    let refused = serde_json::from_slice::<Value>(&output.stdout)?["error"]["kind"] == "failed";
    if refused && lives(daemon.pid()?) && deed.contains("error") {
        drop(tracer);
        // It may be on its way out.
        if house.glis().args(["daemon", "stop"]).output()?.status.success() {
            let end = Some(daemon.end()?).filter(|end| !end.success());
            return Ok(Attempt { name: name.to_owned(), before, paused, end });
        }
    }
    let end = Some(daemon.end().map_err(|fault| format!("{calls} {deed}: {fault}: {output:?}"))?);
    Ok(Attempt { name: name.to_owned(), before, paused, end })
}

/// Whatever was answered is true, and whatever was not comes to an end of its own.
fn check(house: &House, attempt: &Attempt) -> Outcome {
    let after = house.until(&attempt.name, SETTLED)?;
    assert!(!attempt.paused || after["status"] == "paused", "{after}");
    let running = agents(&text_of(&after, "id")?);
    assert!(running.len() <= 1, "{running:?}");
    let file = house.file(&attempt.name, "a.txt")?;
    assert_eq!(std::fs::read_to_string(file)?, attempt.name);
    each_entry_once(house, &attempt.name)?;
    assert_eq!(house.json(&["pause", &attempt.name])?["status"], "paused");
    assert!(!lives(pid_of(&attempt.before)?));
    Ok(())
}

/// Kills at these calls, one after the other, until one comes too late to matter.
fn kill_at(calls: &str, steps: impl Iterator<Item = usize>) -> Outcome {
    if !can_trace() {
        return Ok(());
    }
    let house = House::new()?;
    house.configure("[pause]\nsafe_state_secs = 2\n")?;
    let mut kills = 0;
    for at in steps {
        let deed = format!("signal=SIGKILL:when={at}");
        let attempt = attempt(&house, &format!("n{at}"), calls, &deed)?;
        let Some(end) = attempt.end else {
            check(&house, &attempt)?;
            break;
        };
        assert_eq!(end.signal(), Some(9), "{calls} {at}: {end}");
        kills += 1;
        check(&house, &attempt).map_err(|fault| format!("{calls} {at}: {fault}"))?;
    }
    eprintln!("{calls}: {kills} kills");
    assert!(kills > 0, "nobody was killed at {calls}");
    Ok(())
}

#[test]
fn a_pause_survives_a_kill_at_each_sync() -> Outcome {
    kill_at("fsync,fdatasync", 1..40)
}

#[test]
fn a_pause_survives_a_kill_at_many_writes() -> Outcome {
    kill_at("write,pwrite64,writev", [1, 2, 3, 5, 8, 13, 21, 34, 55, 89].into_iter())
}

#[test]
fn a_pause_survives_a_kill_at_each_rename() -> Outcome {
    kill_at("rename,renameat,renameat2", 1..10)
}

/// The kernel fails these calls from the N-th on.
fn fail_at(calls: &str, error: &str, steps: &[usize]) -> Outcome {
    if !can_trace() {
        return Ok(());
    }
    let house = House::new()?;
    house.configure("[pause]\nsafe_state_secs = 2\n")?;
    for at in steps {
        let deed = format!("error={error}:when={at}+");
        let attempt = attempt(&house, &format!("n{at}"), calls, &deed)?;
        assert!(!attempt.paused, "{calls} {at}: confirmed");
        if let Some(end) = attempt.end {
            assert!(end.code().is_some_and(|code| code != 0), "{calls} {at}: {end}");
        }
        let agent = pid_of(&attempt.before)?;
        // Before the stop was ordered nothing happens to the agent.
        assert!(*at > 3 || lives(agent), "{calls} {at}: the agent was touched");
        check(&house, &attempt).map_err(|fault| format!("{calls} {at}: {fault}"))?;
    }
    Ok(())
}

#[test]
fn a_sync_that_fails_confirms_nothing() -> Outcome {
    fail_at("fsync,fdatasync", "EIO", &[1, 2, 3])?;
    // The conversation is synced once, when the turn has ended.
    fail_at("fdatasync", "EIO", &[1])
}

#[test]
fn a_log_that_cannot_be_written_confirms_nothing() -> Outcome {
    fail_at("pwrite64", "ENOSPC", &[1, 3])?;
    fail_at("pwrite64", "EIO", &[1, 3])
}
