//! Twenty agents at work for long: the daemon's memory and its descriptors do not grow.
//!
//! `cargo xtask soak --for 5m` plays it for minutes on the release build; among the tests it is
//! short. The time is cut into five parts: the first one warms up, and the last one is compared
//! with the second.

use crate::support::house::{House, Lines, Outcome};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// How many agents; every other one in a terminal.
const AGENTS: usize = 20;
/// How many of them are paused and resumed in each round.
const PAUSES: usize = 2;
/// So many parts; in five minutes each is a minute.
const PARTS: u32 = 5;
/// So many rounds at least, however long one takes: two in each part.
const ROUNDS_MIN: usize = 10;
/// How long a part is among the tests.
const PART: Duration = Duration::from_secs(6);
/// The last part may have so much of the second one's memory, if a part is a minute.
const GROWTH: f64 = 1.05;
/// Some seconds after its start a daemon still fills its buffers; this was seen to be half of it.
/// What is lost in every turn is more, and descriptors are counted exactly all the same.
const GROWTH_EARLY: f64 = 1.2;

/// The daemon as it is between two rounds, when nobody asks anything of it.
#[derive(Debug, Clone, Copy)]
struct Sample {
    at: Duration,
    kib: u64,
    descriptors: usize,
}

struct Soak {
    house: House,
    names: Vec<String>,
    events: Lines,
    daemon: i32,
}

impl Soak {
    fn new() -> Outcome<Self> {
        let mut house = House::new()?;
        // The copies of the log keep a file open from their first on. After a thousand events that
        // would be in the middle of a run on a busy machine, and look like a leak.
        house.surround("GLIS_COPY_AFTER", "50");
        house.configure("[pause]\nsafe_state_secs = 20\n[concurrency]\nlive = 0\n")?;
        let mut names = Vec::new();
        for number in 0..AGENTS {
            let name = format!("a{number}");
            if number % 2 == 0 {
                house.rehearsal(&name)?
            } else {
                house.in_terminal(&name)?
            };
            names.push(name);
        }
        let (events, daemon) = (house.follow(1)?, house.daemon_pid()?);
        Ok(Self { house, names, events, daemon })
    }

    /// Every agent takes a message and ends its turn; two are paused and come back; people look.
    fn round(&mut self, number: usize) -> Outcome {
        let mut due = BTreeSet::new();
        for name in &self.names {
            let text = format!("stream 20 400 ;; write note.txt round-{number} ;; say {number}");
            let sent = self.house.json(&["send", name, &text])?;
            due.insert(sent["message"].to_string());
        }
        let mut ended = BTreeSet::new();
        while !due.is_empty() || ended.len() < AGENTS {
            let turns = |e: &Value| e["event"] == "message_taken" || e["event"] == "turn_ended";
            let event = self.events.until(turns)?;
            if event["event"] == "message_taken" {
                due.remove(&event["message"].to_string());
                // A turn that ends now is that of this message.
                ended.remove(&event["session"].to_string());
            } else {
                ended.insert(event["session"].to_string());
            }
        }
        for which in 0..PAUSES {
            let name = &self.names[(number * PAUSES + which) % AGENTS];
            self.house.ok(&["pause", name])?;
            self.house.ok(&["resume", name])?;
            self.house.until(name, "idle")?;
        }
        for look in [&["ls"][..], &["screen", "a1"], &["log", "a0"], &["diff", "a2"]] {
            self.house.ok(look)?;
        }
        Ok(())
    }

    fn sample(&self, at: Duration) -> Outcome<Sample> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.daemon))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
        let kib = line.split_whitespace().next().ok_or("no number")?.parse()?;
        let open = || std::fs::read_dir(format!("/proc/{}/fd", self.daemon)).map(Iterator::count);
        // Clients that have their answer are on their way out: the least of several looks counts.
        let mut descriptors = open()?;
        for _ in 0..20 {
            std::thread::sleep(Duration::from_millis(10));
            descriptors = descriptors.min(open()?);
        }
        Ok(Sample { at, kib, descriptors })
    }
}

/// The median of a part, which is given by its number: an answer that is just being made up costs
/// half a megabyte for its moment, and says nothing about what stays.
fn median<T: Ord + Copy>(
    samples: &[Sample],
    (part, number): (Duration, u32),
    of: fn(&Sample) -> T,
) -> Outcome<T> {
    let within = |sample: &&Sample| sample.at >= part * number && sample.at < part * (number + 1);
    let mut all: Vec<T> = samples.iter().filter(within).map(of).collect();
    all.sort_unstable();
    Ok(*all.get(all.len() / 2).ok_or_else(|| format!("no round ended in part {number}"))?)
}

#[test]
fn twenty_agents_at_work_cost_no_more_memory_and_descriptors_in_the_end() -> Outcome {
    let asked = std::env::var("GLIS_STEADY_SECS").ok().and_then(|secs| secs.parse().ok());
    let part = asked.map_or(PART, |secs| Duration::from_secs(secs) / PARTS);
    let mut soak = Soak::new()?;
    let began = Instant::now();
    let mut samples: Vec<Sample> = Vec::new();
    while began.elapsed() < part * PARTS || samples.len() < ROUNDS_MIN {
        soak.round(samples.len())?;
        samples.push(soak.sample(began.elapsed())?);
    }
    // On a slow machine it took longer.
    let part = began.elapsed() / PARTS;
    for sample in &samples {
        let Sample { at, kib, descriptors } = sample;
        eprintln!("{:>6.1} s: {kib:>7} KiB, {descriptors:>3} descriptors", at.as_secs_f64());
    }
    let kib = |number| median(&samples, (part, number), |sample| sample.kib);
    // On a busy machine a client may take long to go: the least of a part counts, and a descriptor
    // that is never closed is in every one.
    let least = |number: u32| {
        let of_part =
            samples.iter().filter(|s| s.at >= part * number && s.at < part * (number + 1));
        of_part.map(|sample| sample.descriptors).min()
    };
    let (second, last) = (kib(1)?, kib(PARTS - 1)?);
    let growth = f64::from(u32::try_from(last)?) / f64::from(u32::try_from(second)?);
    eprintln!("{} rounds: {second} KiB became {last} KiB, {growth:.3} times", samples.len());
    assert_eq!(least(1), least(PARTS - 1), "descriptors");
    let bar = if asked.is_none_or(|secs: u64| secs < 60 * u64::from(PARTS)) {
        GROWTH_EARLY
    } else {
        GROWTH
    };
    assert!(growth <= bar, "{second} KiB became {last} KiB");
    Ok(())
}
