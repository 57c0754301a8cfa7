//! The daemon, the window or both are killed at the steps of a plan of twenty tasks that need each other:
//! no task is done twice, none has failed for it, and what is merged in the end is the same.
//!
//! Here each kind of step is met once; `cargo xtask plan-kills` meets every step.

use crate::support::house::{House, Outcome};
use crate::support::planned::{BRANCH, Window, glis_among, plan, task};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// So many tasks has the plan.
const TASKS: usize = 20;

/// Set by `cargo xtask plan-kills`: every step is met.
const EVERY_STEP: &str = "GLIS_EVERY_STEP";

/// A daemon gets this many records further before the next is killed. What a start of the daemon records
/// itself is less, so that each comes further than the one before.
const GAP: u64 = 12;

/// What is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Killed {
    Daemon,
    Window,
    Both,
}

/// The kinds of steps on the way from the plan's beginning to its end.
const STEPS: [&str; 19] = [
    "plan_begun",
    "run_began",
    "session_created",
    "message_queued",
    "worktree_made",
    "start_began",
    "start_checked",
    "process_started",
    "start_ended",
    "delivery_began",
    "message_taken",
    "turn_ended",
    "run_finishing",
    "run_failed",
    "run_accepted",
    "run_succeeded",
    "stop_began",
    "process_ended",
    "suspended",
];

/// The task whose work is not accepted at first: what its `accept` prints has its agent mend it.
const MENDED: usize = 5;

/// Whether a person looks at each task before it is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Review {
    None,
    Each,
}

/// Each task leaves a line in a file of its own: done twice, it leaves two.
fn tidy_up(house: &House) -> Outcome {
    let name = |n: usize| format!("t{n:02}");
    let tasks: Vec<String> = (0..TASKS)
        .map(|n| {
            let needs = [n / 2, n / 3].into_iter().filter(|need| *need < n).map(name);
            let needs: Vec<String> = needs.collect();
            let needs: Vec<&str> = needs.iter().map(String::as_str).collect();
            let accept = match n {
                MENDED => {
                    Some("test -f t05ok.txt || { echo append t05ok.txt line; false; }".to_owned())
                }
                n => (n % 4 == 3).then(|| format!("test -f {}.txt", name(n / 2))),
            };
            let prompt = format!("append {}.txt line", name(n));
            task(&name(n), &prompt, &needs, accept.as_deref())
        })
        .collect();
    plan(house, &tasks)
}

/// A window that is killed when a daemon has come to a point.
struct Doomed(Arc<Mutex<Option<i32>>>);

impl Doomed {
    /// Listens on a pipe for what daemons come to.
    fn listen(folder: &Path) -> Outcome<Self> {
        let pipe = folder.join("told");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0)?;
        // Open for both, so that it never ends however many daemons write to it.
        let pipe = File::options().read(true).write(true).open(&pipe)?;
        let window: Arc<Mutex<Option<i32>>> = Arc::default();
        let own = Arc::clone(&window);
        drop(std::thread::spawn(move || {
            for _ in BufReader::new(pipe).lines().map_while(Result::ok) {
                let window = own.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let Some(pid) = window.and_then(rustix::process::Pid::from_raw) {
                    rustix::process::kill_process(pid, rustix::process::Signal::KILL).ok();
                }
            }
        }));
        Ok(Self(window))
    }

    fn is(&self, window: Option<i32>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = window;
    }
}

/// Executes the plan while everything dies at these points; says how often that was.
fn played(points: &str, killed: Killed, review: Review) -> Outcome<usize> {
    let house = House::new()?;
    tidy_up(&house)?;
    let folder: PathBuf = house.folder().join("points");
    std::fs::create_dir(&folder)?;
    std::fs::write(folder.join("points"), points)?;
    let doomed = if killed == Killed::Daemon { None } else { Some(Doomed::listen(&folder)?) };
    if killed == Killed::Window {
        std::fs::write(folder.join("spare"), "")?;
    }
    loop {
        let args: &[&str] = if review == Review::Each { &["--review"] } else { &[] };
        let window = Window::among(&house, &folder, args)?;
        if let Some(doomed) = &doomed {
            doomed.is(Some(window.pid()?));
        }
        let (status, said, beside) = window.end()?;
        match status {
            Some(0) => break,
            // It was killed: another one is opened.
            None if killed != Killed::Daemon => {}
            Some(1) if review == Review::Each => approve(&house, &folder)?,
            status => return Err(format!("{killed:?}: {status:?}: {said}{beside}").into()),
        }
    }
    if let Some(doomed) = &doomed {
        doomed.is(None);
    }
    check(&house).map_err(|fault| format!("{killed:?} at {points}: {fault}"))?;
    let reached = std::fs::read_dir(&folder)?.filter_map(Result::ok);
    let is_point = |name: &str| name.contains(':');
    Ok(reached.filter(|entry| is_point(&entry.file_name().to_string_lossy())).count())
}

/// Approves what waits for it. A daemon that dies meanwhile leaves it for the next time.
fn approve(house: &House, folder: &Path) -> Outcome {
    let told = glis_among(house, folder).args(["--json", "runs"]).output()?;
    let runs: Value = serde_json::from_slice(&told.stdout).unwrap_or_default();
    let waits = |run: &&Value| run["state"] == "waiting" && run["unmerged"] == "review";
    for run in runs.as_array().into_iter().flatten().filter(waits) {
        let task = run["task_id"].as_str().ok_or("no task")?;
        glis_among(house, folder).args(["accept", task]).output()?;
    }
    Ok(())
}

/// Every task was done once, and what is merged is what an undisturbed plan leads to, byte for byte.
fn check(house: &House) -> Outcome {
    let listed = house.git(&["ls-tree", BRANCH])?;
    let before = house.git(&["ls-tree", "HEAD", "file.txt"])?;
    let line = house.folder().join("line");
    std::fs::write(&line, "line")?;
    let line = house.git(&["hash-object", &line.to_string_lossy()])?;
    let file = |name: String| format!("100644 blob {}\t{name}.txt", line.trim());
    let mended = |n: usize| (n == MENDED).then(|| format!("t{n:02}ok"));
    let names = (0..TASKS).flat_map(|n| std::iter::once(format!("t{n:02}")).chain(mended(n)));
    let files = names.map(file);
    let wanted: Vec<String> = std::iter::once(before.trim().to_owned()).chain(files).collect();
    assert_eq!(listed.lines().collect::<Vec<_>>(), wanted);
    let runs = asked(house, "runs")?;
    let runs = runs.as_array().cloned().unwrap_or_default();
    let state = |run: &Value| (run["task_id"].clone(), run["state"].clone());
    let mut states: Vec<_> = runs.iter().map(state).collect();
    states.sort_by_key(|(task, _)| task.to_string());
    let runs = |n: usize| {
        let failed = (n == MENDED).then_some("failed");
        failed
            .into_iter()
            .chain(["succeeded"])
            .map(move |state| (json!(format!("t{n:02}")), json!(state)))
    };
    assert_eq!(states, (0..TASKS).flat_map(runs).collect::<Vec<_>>());
    let sessions = asked(house, "ls")?;
    assert_eq!(sessions.as_array().map(Vec::len), Some(TASKS), "a run has one session");
    Ok(())
}

/// What a verb tells. The plan is done, but some of its sessions are still being ended: a daemon that dies at one
/// of those steps, in the middle of its answer, is asked again.
fn asked(house: &House, verb: &str) -> Outcome<Value> {
    for _ in 0..TASKS {
        match house.json(&[verb]) {
            Err(fault) if fault.to_string().contains("no_daemon") => {}
            told => return told,
        }
    }
    house.json(&[verb])
}

/// A line for each kind of step at each of these sides.
fn each_kind(sides: &[&str]) -> String {
    let kinds =
        STEPS.iter().flat_map(|step| sides.iter().map(move |side| format!("{side}:{step}")));
    kinds.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_daemon_is_killed_at_each_kind_of_step() -> Outcome {
    let reached = played(&each_kind(&["before", "after"]), Killed::Daemon, Review::None)?;
    assert_eq!(reached, 2 * STEPS.len(), "not every kind of step was met");
    Ok(())
}

#[test]
fn the_daemon_and_the_window_are_killed_at_each_kind_of_step() -> Outcome {
    let reached = played(&each_kind(&["after"]), Killed::Both, Review::None)?;
    assert_eq!(reached, STEPS.len(), "not every kind of step was met");
    Ok(())
}

/// What waits for a person waits beyond every death, and is merged once.
#[test]
fn the_daemon_is_killed_at_each_kind_of_step_of_a_plan_that_is_reviewed() -> Outcome {
    let points = format!("{}\nafter:run_waits\nbefore:run_waits\n", each_kind(&["after"]));
    let reached = played(&points, Killed::Daemon, Review::Each)?;
    assert_eq!(reached, STEPS.len() + 2, "not every kind of step was met");
    Ok(())
}

/// Every step by its number: in each of these lives of a plan every twelfth, so that in all of them
/// together each is met. Without the variable, one of these lives.
#[test]
fn everything_is_killed_at_every_step() -> Outcome {
    let every = std::env::var_os(EVERY_STEP).is_some();
    let lives = if every { 0..GAP } else { 5..6 };
    let (whom, sides): (&[Killed], &[&str]) = if every {
        (&[Killed::Daemon, Killed::Window, Killed::Both], &["before", "after"])
    } else {
        (&[Killed::Daemon], &["after"])
    };
    for killed in whom {
        for side in sides {
            for at in lives.clone() {
                // A person who looks at each task has a window that lives: every other life of those is reviewed.
                let reviewed = *killed == Killed::Daemon && at % 2 == 0;
                let review = if reviewed { Review::Each } else { Review::None };
                let met = played(&format!("{side}:every:{GAP}:{at}\n"), *killed, review)?;
                println!("{killed:?} {side} every {GAP} from {at}: killed {met} times");
                assert!(met > TASKS / 2, "{met}");
            }
        }
    }
    Ok(())
}
