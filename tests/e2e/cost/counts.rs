//! What glis costs, counted: times are noisy and belong to the machine, counts do not.
//!
//! A house is traced from its birth, the daemon with everything that it starts, and a verb is
//! charged with what is called from the command until the house is at rest again. Counted are the
//! syncs, the processes that were started, and the bytes that were written into files below the
//! house. What the agent does is its own: the rehearsal agent's record is left out.
//!
//! `cargo nextest run -p glis --test e2e cost:: --no-capture` prints the table.

use crate::kill::calls::can_trace;
use crate::support::house::{House, Outcome, program};
use crate::support::wreck::Foreground;
use std::collections::BTreeMap;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// What is traced: what makes bytes last, what starts a process, what writes.
const CALLS: &str = "fsync,fdatasync,sync_file_range,syncfs,msync,clone,clone3,fork,vfork,write,\
                     writev,pwrite64,pwritev,pwritev2,sendfile,copy_file_range";

/// A house that calls nothing for this long is at rest: what it does beside a verb (a copy of a
/// transcript, a save at the end of a turn) is at most two seconds apart.
const REST: Duration = Duration::from_secs(3);
/// No verb keeps a house busy for longer.
const REST_MAX: Duration = Duration::from_secs(60);

/// What a verb may cost at most: what was counted, and room for a transaction or two more, since
/// two threads decide by their meeting how many events one transaction takes. And for one process a
/// save: where a file and git's index were written in the same instant, which chance decides, the
/// file is read again, and git is asked how it converts line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cost {
    syncs: u64,
    processes: u64,
    bytes: u64,
}

const MESSAGE: Cost = Cost { syncs: 7, processes: 5, bytes: 22_000 };
const SNAPSHOT: Cost = Cost { syncs: 10, processes: 11, bytes: 13_000 };
const PAUSE: Cost = Cost { syncs: 28, processes: 12, bytes: 48_000 };
const RESUME: Cost = Cost { syncs: 9, processes: 14, bytes: 22_000 };

/// A house whose every call is on record.
struct Traced {
    house: House,
    trace: PathBuf,
    /// How long the record was when the house rested last.
    seen: u64,
    _daemon: Foreground,
}

impl Traced {
    fn new() -> Outcome<Self> {
        let house = House::new()?;
        // Saves come when a verb asks for them, and at the end of a turn at once.
        house.configure("[snapshot]\ngap_secs = 0\n")?;
        let trace = house.folder().join("trace");
        let mut strace = Command::new("strace");
        strace.args(["-f", "-qq", "-y", "-s", "0", "--seccomp-bpf", "-e"]);
        strace.arg(format!("trace={CALLS}")).arg("-o").arg(&trace).arg(program());
        house.enter(&mut strace).current_dir(house.repo());
        let daemon = Foreground::of(strace, &house.home())?;
        Ok(Self { house, trace, seen: 0, _daemon: daemon })
    }

    /// Waits until nothing is called any more.
    fn rests(&mut self) -> Outcome {
        let began = Instant::now();
        let mut known = (self.len()?, Instant::now());
        while known.1.elapsed() < REST {
            if began.elapsed() > REST_MAX {
                return Err("the house does not come to rest".into());
            }
            std::thread::sleep(Duration::from_millis(100));
            let len = self.len()?;
            if len != known.0 {
                known = (len, Instant::now());
            }
        }
        self.seen = known.0;
        Ok(())
    }

    fn len(&self) -> Outcome<u64> {
        Ok(std::fs::metadata(&self.trace)?.len())
    }

    /// What a verb costs, from a house at rest to a house at rest.
    fn costs(&mut self, verb: impl FnOnce(&House) -> Outcome) -> Outcome<Cost> {
        let from = self.seen;
        verb(&self.house)?;
        self.rests()?;
        let mut file = std::fs::File::open(&self.trace)?;
        file.seek(SeekFrom::Start(from))?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let below = format!("{}/", self.house.folder().display());
        Ok(count(&text, &below))
    }
}

/// Adds up what a record tells. A call that another one interrupts is told in two halves.
fn count(record: &str, below: &str) -> Cost {
    let mut cost = Cost { syncs: 0, processes: 0, bytes: 0 };
    let mut halves: BTreeMap<&str, &str> = BTreeMap::new();
    for line in record.lines() {
        let Some((pid, rest)) = line.split_once(' ') else { continue };
        let rest = rest.trim_start();
        if let Some(first) = rest.strip_suffix(" <unfinished ...>") {
            halves.insert(pid, first);
            continue;
        }
        let first = if rest.starts_with("<... ") { halves.remove(pid) } else { None };
        let Some((name, arguments)) = first.unwrap_or(rest).split_once('(') else { continue };
        let Some(result) = rest
            .rsplit_once(" = ")
            .and_then(|(_, result)| result.split([' ', '<']).next()?.parse::<u64>().ok())
        else {
            continue;
        };
        let path = arguments.split_once('<').and_then(|(_, rest)| rest.split_once('>'));
        let path = path.map_or("", |(path, _)| path);
        let ours = path.starts_with(below) && !path.contains("/rehearsal/");
        match name {
            "clone" | "clone3" | "fork" | "vfork" => {
                let thread = arguments.contains("CLONE_THREAD");
                cost.processes += u64::from(!thread && result > 0);
            }
            "fsync" | "fdatasync" | "sync_file_range" | "syncfs" | "msync" => {
                cost.syncs += u64::from(ours);
            }
            _ if ours => cost.bytes += result,
            _ => {}
        }
    }
    cost
}

fn within(verb: &str, cost: Cost, bar: Cost) -> Result<(), String> {
    let Cost { syncs, processes, bytes } = cost;
    eprintln!("{verb:>9}: {syncs:>3} syncs, {processes:>3} processes, {bytes:>7} bytes");
    if syncs > bar.syncs || processes > bar.processes || bytes > bar.bytes {
        return Err(format!("{verb} costs {cost:?}, and may cost {bar:?}"));
    }
    Ok(())
}

#[test]
fn verbs_cost_what_they_cost_before() -> Outcome {
    if !can_trace()? {
        return Ok(());
    }
    let mut traced = Traced::new()?;
    traced.house.rehearsal("blue")?;
    traced.house.turn("blue", "write a.txt one")?;
    traced.rests()?;
    let message = traced.costs(|house| house.turn("blue", "say hello").map(drop))?;
    let tree = traced.house.file("blue", "")?;
    std::fs::write(tree.join("b.txt"), "two\n")?;
    let snapshot = traced.costs(|house| house.ok(&["snapshot", "blue"]).map(drop))?;
    std::fs::write(tree.join("b.txt"), "three\n")?;
    let pause = traced.costs(|house| house.ok(&["pause", "blue"]).map(drop))?;
    let resume = traced.costs(|house| {
        house.ok(&["resume", "blue"])?;
        house.until("blue", "idle").map(drop)
    })?;
    let all = [
        within("message", message, MESSAGE),
        within("snapshot", snapshot, SNAPSHOT),
        within("pause", pause, PAUSE),
        within("resume", resume, RESUME),
    ];
    let faults: Vec<String> = all.into_iter().filter_map(Result::err).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(())
}

#[test]
fn a_record_is_counted_whole_although_its_calls_are_told_in_halves() {
    let record = "7 fsync(3</h/home/events.db>) = 0\n\
        7 pwrite64(3</h/home/events.db>, \"\"..., 40, 8) = 40\n\
        8 write(4</h/repo/x <unfinished ...>\n\
        7 clone3({flags=CLONE_VM|CLONE_VFORK, exit_signal=SIGCHLD}, 88) = 9\n\
        7 clone3({flags=CLONE_VM|CLONE_THREAD}, 88 <unfinished ...>\n\
        8 <... write resumed>, \"\"..., 2) = 2\n\
        7 <... clone3 resumed> => {parent_tid=[11]}) = 11\n\
        7 write(5<pipe:[12]>, \"\"..., 100) = 100\n\
        7 write(5</h/home/rehearsal/a.jsonl>, \"\"..., 100) = 100\n\
        7 fdatasync(5</h/home/rehearsal/a.jsonl>) = 0\n\
        7 fdatasync(6</elsewhere>) = 0\n\
        7 write(3</h/home/full>, \"\"..., 9) = -1 ENOSPC (No space left on device)\n";
    let record = record.replace("x <unfinished", "x>, <unfinished");
    assert_eq!(count(&record, "/h/"), Cost { syncs: 1, processes: 1, bytes: 42 });
}

/// How often each thread of a process was woken, by itself or by others.
fn wakes(pid: i32) -> BTreeMap<String, u64> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let mut wakes = BTreeMap::new();
    for task in tasks {
        let status = std::fs::read_to_string(task.path().join("status")).unwrap_or_default();
        let name = status.lines().find_map(|line| line.strip_prefix("Name:\t")).unwrap_or_default();
        let switches = status.lines().filter(|line| line.contains("ctxt_switches:"));
        let counts =
            switches.filter_map(|line| line.split_whitespace().last()?.parse::<u64>().ok());
        let thread = task.file_name().to_string_lossy().into_owned();
        wakes.insert(format!("{name} {pid}/{thread}"), counts.sum());
    }
    wakes
}

/// The daemon, its nursery and the holders: everything of the house but its agents.
fn ours(house: &House) -> BTreeMap<String, u64> {
    let agent = |pid: &i32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).nth(1) == Some(b"rehearse".as_slice())
    };
    house.processes().into_iter().filter(|pid| !agent(pid)).flat_map(wakes).collect()
}

/// How long nothing may wake, in stretches: a minute, longer than any pace at which something would look
/// whether there is something to do, of which half a minute is the slowest that was ever here.
const IDLE_TIME: Duration = Duration::from_secs(8);
const IDLE_STRETCHES: usize = 8;
/// Threads that waited for work for ten seconds end, once; a copy of the last words is made.
const IDLE_TRIES: usize = 16;
/// Sessions that are paused until a time of day.
const APPOINTMENTS: usize = 90;

/// Makes sessions that are paused for two hours. They share a folder, in which none of them ever began.
fn appoint(house: &House) -> Outcome {
    let names: Vec<_> = (0..APPOINTMENTS).map(|number| format!("p{number}")).collect();
    for name in &names {
        house.ok(&["new", name, "--agent", "rehearsal", "--headless", "--in-place"])?;
    }
    let pause = ["pause"].into_iter().chain(names.iter().map(String::as_str));
    house.ok(&pause.chain(["--for", "2h"]).collect::<Vec<_>>())?;
    let sessions = house.json(&["ls"])?;
    let timed = |session: &&serde_json::Value| session["resume_at"].is_string();
    let timed = sessions.as_array().map(|all| all.iter().filter(timed).count());
    assert_eq!(timed, Some(APPOINTMENTS));
    Ok(())
}

#[test]
fn an_idle_house_never_wakes() -> Outcome {
    let house = House::new()?;
    for number in 0..5 {
        house.rehearsal(&format!("h{number}"))?;
        house.in_terminal(&format!("t{number}"))?;
        house.turn(&format!("h{number}"), "say hello")?;
        house.turn(&format!("t{number}"), "say hello")?;
    }
    // Each has a timer that will suspend it, and none of them is looked at before its time.
    let sessions = house.json(&["ls"])?;
    let timed = |session: &serde_json::Value| session["suspend_at"].is_string();
    assert_eq!(
        sessions.as_array().map(|all| all.iter().filter(|one| timed(one)).count()),
        Some(10)
    );
    appoint(&house)?;
    let (mut woken, mut quiet) = (BTreeMap::new(), 0);
    for _ in 0..IDLE_TRIES {
        let before = ours(&house);
        // Daemon and nursery and ten holders, each with a thread at least.
        assert!(before.len() >= 12, "{before:?}");
        // Nothing happens here: that is what is measured.
        std::thread::sleep(IDLE_TIME);
        let after = ours(&house);
        let wakes = after.into_iter().filter(|(who, times)| before.get(who) != Some(times));
        let wakes: BTreeMap<_, _> = wakes.collect();
        let gone = before.len() > ours(&house).len();
        quiet = if wakes.is_empty() && !gone { quiet + 1 } else { 0 };
        // What woke at last, whatever was quiet since.
        woken = if wakes.is_empty() { woken } else { wakes };
        if quiet == IDLE_STRETCHES {
            return Ok(());
        }
    }
    Err(format!("an idle house wakes all the time: {woken:?}").into())
}
