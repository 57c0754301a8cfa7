//! A plan of many tasks with `[plan] clean`: there are no more checkouts at its end than at its beginning, and the last
//! task costs what the first one did.
//!
//! Here it has a hundred tasks; `cargo xtask plan-many` plays a thousand.

use crate::support::house::{House, Outcome, eventually};
use crate::support::planned::{BRANCH, plan, task};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Set by `cargo xtask plan-many`: so many tasks.
const TASKS: &str = "GLIS_MANY_TASKS";
const USUAL_TASKS: usize = 100;

/// So many at a time.
const JOBS: usize = 3;

/// A task may begin while the checkout of one that is merged is on its way out, and here it takes no longer than that: as
/// many again as are at work were seen, and half as many more are for a busy machine.
const CHECKOUTS_MAX: usize = 3 * JOBS;

/// The plan is measured in four parts. If each task cost as much as there were before it, the last part would cost seven
/// times what the first one did; a busy machine was seen to make one and a half of it.
const PARTS: usize = 4;
const DEARER_MAX: f64 = 3.0;

/// What a task that is done may leave in the daemon's memory: its run, its session and its events were seen to take 20 KiB.
const KIB_PER_TASK: u64 = 60;

/// What was measured in a part of the plan.
struct Part {
    took: Duration,
    /// What the daemon and its git have computed, in ticks of the clock: however busy the machine is.
    ticks: u64,
    kib: u64,
}

fn name(number: usize) -> String {
    format!("t{number:04}")
}

/// How many checkouts git knows of besides the user's own, wherever they are.
fn checkouts(house: &House) -> usize {
    std::fs::read_dir(house.repo().join(".git/worktrees")).map_or(0, Iterator::count)
}

fn kib_of(daemon: i32) -> Outcome<u64> {
    let status = std::fs::read_to_string(format!("/proc/{daemon}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.split_whitespace().next().ok_or("no number")?.parse()?)
}

/// What a process and its children that have ended have computed so far.
fn ticks_of(daemon: i32) -> Outcome<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{daemon}/stat"))?;
    let (_, rest) = stat.rsplit_once(')').ok_or("no stat")?;
    // The fields 14 to 17; the first behind the name is 3.
    let times = rest.split_ascii_whitespace().skip(11).take(4).map(str::parse::<u64>);
    Ok(times.sum::<Result<_, _>>()?)
}

/// Looks on until all tasks are merged: the parts, and the most checkouts that were there at once.
fn watched(house: &House, tasks: usize) -> Outcome<(Vec<Part>, usize)> {
    let (mut events, daemon) = (house.follow(1)?, house.daemon_pid()?);
    let (mut parts, mut most, mut done) = (Vec::new(), 0, 0);
    let (mut began, mut before) = (Instant::now(), ticks_of(daemon)?);
    while done < tasks {
        let happens =
            |event: &Value| event["event"] == "worktree_made" || event["event"] == "run_succeeded";
        let event = events.until(happens)?;
        most = most.max(checkouts(house));
        assert!(most <= CHECKOUTS_MAX, "{most} checkouts when {done} tasks are done");
        if event["event"] == "run_succeeded" {
            done += 1;
            if done % (tasks / PARTS) == 0 {
                let (took, now) = (began.elapsed(), ticks_of(daemon)?);
                parts.push(Part { took, ticks: now - before, kib: kib_of(daemon)? });
                (began, before) = (Instant::now(), now);
            }
        }
    }
    Ok((parts, most))
}

/// Everything is merged, each task once, and nothing else is left.
fn check(house: &House, tasks: usize) -> Outcome {
    let files = house.git(&["ls-tree", "--name-only", BRANCH])?;
    assert_eq!(files.lines().filter(|file| file.starts_with('t')).count(), tasks);
    let runs = house.json(&["runs"])?;
    let runs = runs.as_array().ok_or("no runs")?;
    assert_eq!(runs.len(), tasks);
    assert!(runs.iter().all(|run| run["state"] == "succeeded"));
    eventually("no session is left", || house.json(&["ls"]).is_ok_and(|all| all == json!([])))?;
    assert_eq!(checkouts(house), 0);
    let branches = house.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads/glis"])?;
    assert_eq!(branches.trim(), BRANCH);
    Ok(())
}

#[test]
fn many_tasks_leave_no_checkout_and_the_last_costs_what_the_first_did() -> Outcome {
    let asked = std::env::var(TASKS).ok().and_then(|tasks| tasks.parse().ok());
    let tasks = asked.unwrap_or(USUAL_TASKS);
    let house = House::new()?;
    house.configure("[plan]\nclean = true\n")?;
    let all = (0..tasks).map(|number| {
        let name = name(number);
        task(&name, &format!("append {name}.txt line"), &[], None)
    });
    plan(&house, &all.collect::<Vec<_>>())?;
    house.ok(&["daemon", "start"])?;
    let execute = ["execute", "--jobs", &JOBS.to_string()];
    let (parts, most) = std::thread::scope(|scope| {
        let window = scope.spawn(|| house.ok(&execute).map_err(|fault| fault.to_string()));
        let watched = watched(&house, tasks);
        window.join().map_err(|_| "the window broke off")??;
        watched
    })?;
    check(&house, tasks)?;
    for (number, part) in parts.iter().enumerate() {
        let (to, secs) = ((number + 1) * (tasks / PARTS), part.took.as_secs_f64());
        let Part { ticks, kib, .. } = part;
        eprintln!("to {to:>5} tasks: {secs:>6.1} s, {ticks:>6} ticks, {kib:>7} KiB");
    }
    eprintln!("{most} checkouts at most, {JOBS} tasks at a time");
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else {
        return Err("nothing was measured".into());
    };
    let ticks = |part: &Part| u32::try_from(part.ticks).map(f64::from);
    let dearer = ticks(last)? / ticks(first)?;
    assert!(dearer <= DEARER_MAX, "the last part cost {dearer:.1} times what the first one did");
    let grown = last.kib.saturating_sub(first.kib) / u64::try_from(tasks - tasks / PARTS)?;
    assert!(grown <= KIB_PER_TASK, "{grown} KiB for each task");
    Ok(())
}
