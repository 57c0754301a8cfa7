//! Thirty sessions in a storm: what was accepted arrives once and in order, and what was saved comes back.
//!
//! People send messages and use verbs all the time, while an adversary kills, stops, deletes and fills the disk.
//! `cargo xtask storm --for 10m` plays it for minutes on the release build, and `cargo xtask test` for one; among the
//! tests it is short.

mod adversary;
mod audit;
mod people;

use crate::disk::full::Small;
use crate::support::dice::Dice;
use crate::support::held::BOUND;
use crate::support::house::{House, Outcome};
use crate::support::seeds;
use crate::support::wreck::text_of;
use rustix::mount::MountFlags;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Output;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Scope, ScopedJoinHandle, scope};
use std::time::{Duration, Instant};

/// A third of them are shells, a third are agents in a terminal, a third agents without one.
const SESSIONS: usize = 30;
/// So many people send messages, and so many use other verbs. A session is in the hands of one of these.
const SENDERS: usize = 4;
const HANDS: usize = 2;
/// How long it lasts among the tests: every kind of blow falls several times.
const SHORT: Duration = Duration::from_secs(20);
/// Room for what ten minutes leave, and filled within a moment.
const DISK: &str = "size=256m,mode=700";
/// The file in a worktree that an agent adds a line to with every message.
const JOURNAL: &str = "journal.txt";

/// What runs in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Headless,
    Terminal,
    Shell,
}

struct Member {
    name: String,
    id: String,
    kind: Kind,
    worktree: PathBuf,
    /// The journal when it was last confirmed to be saved.
    kept: Mutex<Vec<u8>>,
}

/// What was done, and how long the slowest verb took.
#[derive(Debug, Default)]
struct Tally {
    verbs: usize,
    slowest: (Duration, String),
    blows: BTreeMap<String, usize>,
}

struct Storm {
    // Unmounted before the house is removed that it lies in.
    disk: Option<Small>,
    house: House,
    members: Vec<Member>,
    until: Instant,
    over: AtomicBool,
    tally: Mutex<Tally>,
}

/// What a thread of a test comes to: an error that may leave it.
type Fallible<T = ()> = Result<T, String>;

/// What is behind a lock, also if another thread has failed with it.
fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Storm {
    fn new() -> Outcome<Self> {
        let house = House::new()?;
        let disk = Small::at(&house.home(), DISK, MountFlags::empty())?;
        house.configure(
            "[pause]\nsafe_state_secs = 2\ninterrupt_secs = 1\nterminate_secs = 1\n[concurrency]\nlive = 0\n",
        )?;
        let (over, tally) = (AtomicBool::new(false), Mutex::default());
        let until = Instant::now();
        let mut storm = Self { disk, house, members: Vec::new(), until, over, tally };
        std::fs::create_dir(storm.said())?;
        for number in 0..SESSIONS {
            let member = storm.member(number)?;
            storm.members.push(member);
        }
        for member in storm.members.iter().filter(|member| member.kind != Kind::Shell) {
            storm.house.until(&member.name, "idle")?;
        }
        Ok(storm)
    }

    /// A session with a journal that is saved.
    fn member(&self, number: usize) -> Outcome<Member> {
        let kind = [Kind::Headless, Kind::Terminal, Kind::Shell][number % 3];
        let name = format!("m{number}");
        let begin = ["--agent", "rehearsal"];
        let made = match kind {
            Kind::Headless => {
                self.house.json(&[&["new", &name, "--headless"], &begin[..]].concat())
            }
            Kind::Terminal => self.house.json(&[&["new", &name], &begin[..]].concat()),
            Kind::Shell => self.house.command(&name, &["bash", "--norc"]),
        }?;
        let (id, worktree) = (text_of(&made, "id")?, PathBuf::from(text_of(&made, "worktree")?));
        let begun = b"begun\n".to_vec();
        std::fs::write(worktree.join(JOURNAL), &begun)?;
        self.house.json(&["snapshot", &name])?;
        if kind != Kind::Shell {
            self.house.json(&["send", &name, "say begun"])?;
        }
        Ok(Member { name, id, kind, worktree, kept: Mutex::new(begun) })
    }

    /// Where the shells write what they were told: not on the disk that is filled.
    fn said(&self) -> PathBuf {
        self.house.folder().join("said")
    }

    fn lasts(&self) -> bool {
        Instant::now() < self.until && !self.over.load(Ordering::Relaxed)
    }

    /// Runs a verb, which may fail, but neither hangs nor panics, and never says that there is no such session.
    fn verb(&self, args: &[&str]) -> Outcome<Output> {
        let began = Instant::now();
        let output = self.house.glis().arg("--json").args(args).output()?;
        let (took, code) = (began.elapsed(), output.status.code());
        if took > BOUND || !matches!(code, Some(0 | 1 | 4..=8)) {
            let told = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{args:?} took {took:?}: {}: {told}", output.status).into());
        }
        let mut tally = locked(&self.tally);
        tally.verbs += 1;
        if took > tally.slowest.0 {
            tally.slowest = (took, args.join(" "));
        }
        Ok(output)
    }

    /// Does something in a thread of its own. The first fault ends the storm for all.
    fn beside<'scope, T: Send + 'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        act: impl FnOnce() -> Outcome<T> + Send + 'scope,
    ) -> ScopedJoinHandle<'scope, Fallible<T>> {
        scope.spawn(move || {
            let done = act().map_err(|fault| fault.to_string());
            if done.is_err() {
                self.over.store(true, Ordering::Relaxed);
            }
            done
        })
    }

    /// Everybody at once, for as long as it lasts; what was sent.
    fn rage(&mut self, seed: u64, time: Duration) -> Outcome<Vec<people::Sent>> {
        self.until = Instant::now() + time;
        let storm = &*self;
        // Each thread has dice of its own, so that it plays the same however the others fare.
        let dice = |which: usize| Dice::of(seed.rotate_left(7) ^ (which as u64 + 1));
        scope(|scope| {
            let senders: Vec<_> = (0..SENDERS)
                .map(|who| storm.beside(scope, move || storm.send_on(who, &mut dice(who))))
                .collect();
            let others: Vec<_> = (0..HANDS)
                .map(|who| storm.beside(scope, move || storm.meddle(who, &mut dice(SENDERS + who))))
                .collect();
            let blows = storm.beside(scope, move || storm.strike_on(&mut dice(SENDERS + HANDS)));
            let sent = senders.into_iter().map(joined).collect::<Fallible<Vec<_>>>();
            others.into_iter().try_for_each(joined).and(joined(blows)).and(sent)
        })
        .map(|sent| sent.into_iter().flatten().collect())
        .map_err(Into::into)
    }

    /// What a verb printed as JSON.
    fn look(&self, args: &[&str]) -> Outcome<Value> {
        Ok(serde_json::from_slice(&self.verb(args)?.stdout)?)
    }
}

/// What became of a thread.
fn joined<T>(thread: ScopedJoinHandle<'_, Fallible<T>>) -> Fallible<T> {
    thread.join().unwrap_or_else(|_| Err("a thread of the test has panicked".to_owned()))
}

#[test]
fn thirty_sessions_in_a_storm_lose_no_message_and_no_file() -> Outcome {
    let asked = std::env::var("GLIS_STORM_SECS").ok().and_then(|secs| secs.parse().ok());
    let time = asked.map_or(SHORT, Duration::from_secs);
    let wish = std::env::var("GLIS_SEED").ok();
    for seed in seeds::fresh(wish.as_deref(), 1)? {
        eprintln!("GLIS_SEED={seed} plays this again");
        let mut storm = Storm::new()?;
        let sent = storm.rage(seed, time)?;
        let accepted = sent.iter().filter(|sent| sent.message.is_some()).count();
        eprintln!("{accepted} messages accepted; {:#?}", locked(&storm.tally));
        assert!(accepted > SENDERS, "{accepted} messages make no storm");
        storm.audit(&sent)?;
    }
    Ok(())
}
