//! The real daemon, killed or lied to by the kernel at its own system calls, in the middle of a
//! pause. Needs `strace`; where there is none, that is said aloud.

use crate::support::house::{House, Outcome, lives};
use crate::support::skip::skip;
use crate::support::wreck::{Foreground, SETTLED, agents, each_entry_once, pid_of, text_of};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

/// Whose system calls are meant. The tracer counts each thread's calls apart, so every thread is
/// aimed at by itself; and it follows no children, whose calls are their own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Whose {
    /// All threads of the daemon, and whatever it starts.
    All,
    /// The one thread of this name: the first one answers front ends, `controller` keeps the log.
    Thread(&'static str),
    /// Whichever thread works on this file of the house. Those come and go. Ids in it are written as in
    /// [`ids`].
    File(String),
}

/// What stands for the ids of whichever session is paused: its own, and its conversation's.
fn ids(session: &Value) -> Outcome<[(&'static str, String); 2]> {
    let of = |field| text_of(session, field);
    Ok([("<ID>", of("id")?), ("<REF>", of("agent_session_ref")?)])
}

/// A tracer that does something at the N-th call of a kind. Holders are not its business: they were
/// born before it came.
struct Tracer(Child);

impl Tracer {
    fn attach(
        daemon: &Foreground,
        (home, session): (&Path, &Value),
        aim: (&Whose, &str),
        deed: &str,
    ) -> Outcome<Self> {
        let (whose, calls) = aim;
        let mut strace = Command::new("strace");
        // Our own calls, and not those of the programs that we run.
        strace.args(["-b", "execve", "-o", "/dev/null", "-e", &format!("trace={calls}")]);
        strace.args(["-e", &format!("inject={calls}:{deed}")]);
        let pid = daemon.pid()?;
        let whom = match whose {
            Whose::All => {
                strace.arg("-f");
                pid
            }
            Whose::Thread(name) => {
                let threads = threads(pid)?;
                let named = threads.iter().find(|(_, known)| known == name);
                *named.ok_or_else(|| format!("no {name} in {threads:?}"))?.0
            }
            Whose::File(name) => {
                let name = ids(session)?
                    .iter()
                    .fold(name.clone(), |name, (sign, id)| name.replace(sign, id));
                strace.arg("-f").arg("-P").arg(home.join(name));
                pid
            }
        };
        Self::start(strace.args(["-p", &whom.to_string()]))
    }

    fn start(strace: &mut Command) -> Outcome<Self> {
        let mut tracer = Self(strace.stderr(Stdio::piped()).spawn()?);
        let stderr = tracer.0.stderr.take().ok_or("no stderr")?;
        let mut said = String::new();
        let mut lines = BufReader::new(stderr);
        // A path that it aims at is spoken of first.
        while !said.contains("attached") {
            said.clear();
            if lines.read_line(&mut said)? == 0 {
                return Err("strace has gone".into());
            }
        }
        // Whatever else it says must not fill the pipe.
        std::thread::spawn(move || lines.lines().for_each(drop));
        Ok(tracer)
    }
}

/// The daemon's threads by name. The first one has the program's, whatever that is.
fn threads(pid: i32) -> Outcome<BTreeMap<i32, String>> {
    let mut threads = BTreeMap::new();
    for entry in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        let entry = entry?;
        let thread: i32 = entry.file_name().to_string_lossy().parse()?;
        let name = std::fs::read_to_string(entry.path().join("comm"))?.trim().to_owned();
        threads.insert(thread, if thread == pid { "first".to_owned() } else { name });
    }
    Ok(threads)
}

impl Drop for Tracer {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Whether there is a `strace` that may trace; the test is left out if not.
pub(crate) fn can_trace() -> Outcome<bool> {
    let able = Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).status();
    match able {
        Ok(status) if status.success() => return Ok(true),
        Ok(_) => skip("strace may not trace here", None)?,
        Err(fault) => skip(&format!("strace: {fault}"), Some("strace"))?,
    }
    Ok(false)
}

/// What came of a pause under the tracer.
struct Attempt {
    name: String,
    before: Value,
    paused: bool,
    /// How the daemon ended, if it did.
    end: Option<ExitStatus>,
}

/// A session in the middle of a turn.
fn at_work(house: &House, name: &str) -> Outcome<Value> {
    house.rehearsal(name)?;
    house.turn(name, &format!("write a.txt {name}"))?;
    house.ok(&["send", name, "touch-slowly slow.txt 100000 50"])?;
    let id = house.show(name)?["id"].clone();
    house.follow(1)?.until(|e| e["event"] == "turn_ended" && e["session"] == id)?;
    house.until(name, "busy")
}

fn attempt(house: &House, name: &str, aim: (&Whose, &str), deed: &str) -> Outcome<Attempt> {
    let before = at_work(house, name)?;
    house.ok(&["daemon", "stop"])?;
    let daemon = Foreground::start(house, &[])?;
    // Whoever has answered has a name.
    house.ok(&["daemon", "status"])?;
    let tracer = Tracer::attach(&daemon, (&house.home(), &before), aim, deed)?;
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
    let end = Some(daemon.end().map_err(|fault| format!("{aim:?} {deed}: {fault}: {output:?}"))?);
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

/// Everything by which a thread of the daemon keeps or tells something.
const WRITES: &str = "writev,pwrite64,pwritev,pwritev2,sendto,sendmsg,sendmmsg";
/// A file that is written from its beginning; and how one thread wakes another, as often as the
/// other sleeps.
const PLAIN_WRITES: &str = "write";
const SYNCS: &str = "fsync,fdatasync,sync_file_range,msync";
const RENAMES: &str = "rename,renameat,renameat2,link,linkat,unlink,unlinkat";

/// How often each thread calls these in a pause, as it is today: what comes later is found by
/// itself. Of threads that come and go, the files of the house that they work on.
fn calls_of_a_pause(house: &House, calls: &str) -> Outcome<BTreeMap<Whose, usize>> {
    let ids = ids(&at_work(house, "dry")?)?;
    house.ok(&["daemon", "stop"])?;
    let daemon = Foreground::start(house, &[])?;
    // Whoever has answered has a name.
    house.ok(&["daemon", "status"])?;
    let notes = house.home().join("trace");
    let mut strace = Command::new("strace");
    strace.args(["-f", "-b", "execve", "-y", "-s", "0", "-e", &format!("trace={calls}")]);
    let pid = daemon.pid()?.to_string();
    let tracer = Tracer::start(strace.arg("-o").arg(&notes).args(["-p", &pid]))?;
    house.ok(&["pause", "dry"])?;
    let threads = threads(daemon.pid()?)?;
    drop(tracer);
    house.ok(&["daemon", "stop"])?;
    let inside = format!("{}/", house.home().display());
    let mut counts = BTreeMap::new();
    for line in std::fs::read_to_string(notes)?.lines() {
        let Some((thread, call)) = line.split_once(' ') else { continue };
        // Children have numbers of their own, and a call that goes on is told twice.
        let thread: i32 = thread.parse()?;
        let Some(name) = threads.get(&thread) else { continue };
        if call.contains("resumed>") || !call.contains('(') {
            continue;
        }
        let whose = match name.as_str() {
            "first" => Whose::Thread("first"),
            "controller" => Whose::Thread("controller"),
            // What it writes is no part of the pause, and mostly comes after its answer.
            "copies" => continue,
            _ => {
                let Some((_, rest)) = call.split_once(&inside) else { continue };
                let file = rest.split(['"', '>']).next().unwrap_or_default().to_owned();
                Whose::File(ids.iter().fold(file, |file, (sign, id)| file.replace(id, sign)))
            }
        };
        *counts.entry((whose, thread)).or_insert(0) += 1;
    }
    // Where several threads work on a file, the N-th call is that of whichever comes so far.
    let mut most = BTreeMap::new();
    for ((whose, _), count) in counts {
        let known = most.entry(whose).or_insert(count);
        *known = count.max(*known);
    }
    Ok(most)
}

/// How often a call is waited for: two threads that meet otherwise than under the first tracer make some
/// calls fewer, and the next time they may not.
const TRIES: usize = 4;

/// Kills the daemon at every single one of these calls that a pause makes, and looks what is left.
/// `part` of so many parts is done here, for tests that share the work.
fn kill_at_each(calls: &str, (part, parts): (usize, usize)) -> Outcome {
    if !can_trace()? {
        return Ok(());
    }
    let house = House::new()?;
    house.configure("[pause]\nsafe_state_secs = 2\n")?;
    let counts = calls_of_a_pause(&house, calls)?;
    let (mut due, mut missed) = (0, Vec::new());
    for (whose, count) in &counts {
        for at in (1..=*count).filter(|at| at % parts == part) {
            due += 1;
            let mut tries = 0;
            while tries < TRIES
                && !is_killed_at(&house, &format!("n{due}-{tries}"), (whose, calls), at)?
            {
                tries += 1;
            }
            if tries == TRIES {
                missed.push((whose, at));
            }
        }
    }
    eprintln!("{calls}: missed {missed:?} of {due} calls of {counts:?}");
    // Some come once in a while: a thread that wakes another only if that sleeps, which is oftener where
    // the machine is busy.
    assert!(due > 0 && missed.len() <= due / 4, "of {due} calls not met: {missed:?}");
    Ok(())
}

/// Whether a pause made this call, at which its daemon was killed.
fn is_killed_at(house: &House, name: &str, aim: (&Whose, &str), at: usize) -> Outcome<bool> {
    let attempt = attempt(house, name, aim, &format!("signal=SIGKILL:when={at}"))?;
    if let Some(end) = attempt.end {
        assert_eq!(end.signal(), Some(9), "{aim:?} {at}: {end}");
    }
    check(house, &attempt).map_err(|fault| format!("{aim:?} {at}: {fault}"))?;
    Ok(attempt.end.is_some())
}

#[test]
fn a_pause_survives_a_kill_at_each_sync() -> Outcome {
    kill_at_each(SYNCS, (0, 1))
}

#[test]
fn a_pause_survives_a_kill_at_each_second_write() -> Outcome {
    kill_at_each(WRITES, (0, 2))
}

#[test]
fn a_pause_survives_a_kill_at_each_other_write() -> Outcome {
    kill_at_each(WRITES, (1, 2))
}

#[test]
fn a_pause_survives_a_kill_at_each_second_plain_write() -> Outcome {
    kill_at_each(PLAIN_WRITES, (0, 2))
}

#[test]
fn a_pause_survives_a_kill_at_each_other_plain_write() -> Outcome {
    kill_at_each(PLAIN_WRITES, (1, 2))
}

#[test]
fn a_pause_survives_a_kill_at_each_rename() -> Outcome {
    kill_at_each(RENAMES, (0, 1))
}

/// The kernel fails these calls from the N-th on.
fn fail_at(calls: &str, error: &str, steps: &[usize]) -> Outcome {
    if !can_trace()? {
        return Ok(());
    }
    let house = House::new()?;
    house.configure("[pause]\nsafe_state_secs = 2\n")?;
    for at in steps {
        let deed = format!("error={error}:when={at}+");
        let attempt = attempt(&house, &format!("n{at}"), (&Whose::All, calls), &deed)?;
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
