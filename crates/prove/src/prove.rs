//! `doctor --prove`: breaks a temporary home on purpose and shows that nothing was lost.

mod acts;
mod chance;
mod deck;
mod dirt;
mod small;
mod tally;
mod tampering;
pub(crate) mod victims;
mod worker;

use crate::stage::{Stage, Voice, report, status_of};
use acts::VERB_TIME;
use anyhow::{Context as _, Result, ensure};
use chance::Chance;
use deck::{Act, Doing};
use dirt::Dirt;
use serde_json::{Value, json};
use small::{Attempt, Small};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use tally::Tally;
use worker::{Mode, Worker};

/// Room that is left on a full disk: some steps of a pause find enough, others do not.
const ROOM_KIB: [u64; 8] = [0, 0, 4, 12, 24, 48, 80, 160];

/// What it is called where it failed.
const PROOF: &str = "proof";

struct Proof {
    stage: Stage,
    workers: Vec<Worker>,
    /// The small disk, or why there is none.
    small: Result<Small, String>,
    tally: Tally,
    /// A process that has nothing to do with the house and must never notice anything.
    canary: Child,
    /// What must never change: the user's branch and the user's stash.
    theirs: Vec<u8>,
    seed: u64,
    /// The acts that are still to come before all come again.
    deck: Vec<Act>,
}

/// Proves it for this long, and says how it went.
pub fn run(voice: Voice, time: Duration, seed: Option<u64>) -> ExitCode {
    // Before anything else: it may start this program again.
    let private = small::in_private();
    let seed = seed.unwrap_or_else(chance::fresh_seed);
    let began = Instant::now();
    let mut proof = match Proof::set(voice, seed) {
        Ok(proof) => proof,
        Err(fault) => {
            let failed = report(voice, PROOF, &failed_early(seed, &fault));
            return status_of(&fault).unwrap_or(failed);
        }
    };
    let proved = proof.people(private).context("setting it up").and_then(|()| proof.play(time));
    let mut document = json!({
        "ok": proved.is_ok(),
        "seed": seed,
        "secs": began.elapsed().as_secs_f64(),
        "steps": std::mem::take(&mut proof.stage.printed),
        "tally": proof.tally.document(),
        "skipped": proof.small.as_ref().err().map(|why| format!("full disk: {why}")),
        "failure": proved.as_ref().err().map(|fault| format!("{fault:#}")),
        "kept": Value::Null,
    });
    if let Some(signal) = proof.stage.interrupted() {
        let ended = proof.strike();
        document["ok"] = false.into();
        document["failure"] = match ended {
            Ok(()) => "interrupted; everything that it started has ended".into(),
            Err(fault) => format!("interrupted; {fault:#}").into(),
        };
        report(voice, PROOF, &document);
        // As a shell tells of a signal.
        return ExitCode::from(128 + signal);
    }
    if proved.is_err() {
        document["kept"] = proof.leave().into();
    } else if let Err(fault) = proof.strike() {
        document["ok"] = false.into();
        document["failure"] = format!("{fault:#}").into();
    }
    report(voice, PROOF, &document)
}

fn failed_early(seed: u64, fault: &anyhow::Error) -> Value {
    json!({"ok": false, "seed": seed, "failure": format!("{fault:#}"), "kept": null})
}

impl Proof {
    fn set(voice: Voice, seed: u64) -> Result<Self> {
        let mut stage = Stage::set("glis-prove-", voice)?;
        stage.tell(&format!("a temporary home and repository in {}", stage.root().display()));
        stage.tell(&format!(
            "seed {seed}: `glis doctor --prove --seed {seed}` repeats the same order"
        ));
        let canary = Command::new("sleep").arg("86400").stdin(Stdio::null()).spawn()?;
        Ok(Self {
            stage,
            workers: Vec::new(),
            small: Err("it was not tried".to_owned()),
            tally: Tally::default(),
            canary,
            theirs: Vec::new(),
            seed,
            deck: Vec::new(),
        })
    }

    /// Sessions at work, each on a mess of its own.
    fn people(&mut self, private: Result<(), String>) -> Result<()> {
        dirt::plant(&self.stage)?;
        self.theirs = theirs(&self.stage)?;
        // Short times: the agents here are killed anyway.
        let config = "[pause]\nsafe_state_secs = 5\ninterrupt_secs = 2\nterminate_secs = 2\n\
                      [snapshot]\ngap_secs = 0\n";
        self.stage.configure(config)?;
        for (number, dirt) in Dirt::ALL.into_iter().enumerate() {
            let mode = if number % 2 == 0 { Mode::Headless } else { Mode::Terminal };
            let worker = Worker::hire(&self.stage, dirt, mode)
                .with_context(|| format!("session {}", dirt.name()))?;
            self.workers.push(worker);
            self.turn(number)?;
            let place = match mode {
                Mode::Headless => "without a terminal",
                Mode::Terminal => "in a terminal",
            };
            self.stage.tell(&format!("`{}` works {place}: {}", dirt.name(), dirt.story()));
        }
        self.small = match private {
            Ok(()) => Ok(Small::set(&self.stage, &mut self.tally)?),
            Err(why) => Err(why),
        };
        match &self.small {
            Ok(_) => self.stage.tell("a second home, on a disk of 128 MB"),
            Err(why) => self.stage.tell(&format!("skipped: full disks: {why}")),
        }
        Ok(())
    }

    fn play(&mut self, time: Duration) -> Result<()> {
        let mut chance = Chance::from(self.seed);
        let began = Instant::now();
        while began.elapsed() < time {
            ensure!(self.stage.interrupted().is_none(), "interrupted");
            self.tally.rounds += 1;
            self.round(&mut chance).with_context(|| format!("round {}", self.tally.rounds))?;
        }
        self.audit().context("at the end")?;
        self.stage.tell("nothing was lost");
        for line in self.tally.lines() {
            self.stage.tell(&line);
        }
        Ok(())
    }

    /// One thing is broken. All that is left to chance is drawn first, so that the order does not
    /// depend on how anything went.
    fn round(&mut self, chance: &mut Chance) -> Result<()> {
        let act = deck::draw(&mut self.deck, chance);
        let who = chance.below(self.workers.len());
        let moment = chance.moment(VERB_TIME);
        let room = ROOM_KIB[chance.below(ROOM_KIB.len())] * 1024;
        let attempt = [Attempt::Pause, Attempt::Snapshot][chance.below(2)];
        let bystander = self.bystander(who, act);
        let before = bystander.map(|other| self.glimpse(other)).transpose()?;
        let name = self.workers[who].name.clone();
        let outcome = match act {
            Act::Kill(doing, victim) => self.kill_while(doing, victim, who, moment),
            Act::Wreck(wreck) => self.wreck(wreck, who),
            Act::Foreign => self.foreign(who),
            Act::Stall(stall) => self.stall(stall, who, moment),
            Act::Delete(thing) => self.delete(thing, who),
            Act::LoseLog(loss) => self.lose_log(loss),
            Act::FullDisk => match &mut self.small {
                Ok(small) => small.fill(attempt, room, moment / 4, &mut self.tally),
                Err(_) => return Ok(()),
            },
        };
        let outcome = outcome.with_context(|| format!("session `{name}`, {act:?}"))?;
        if let (Some(other), Some(before)) = (bystander, before) {
            let after = self.glimpse(other)?;
            self.tally.bytes += after.to_string().len() as u64;
            ensure!(
                before == after,
                "`{}` was not involved and has changed: {before} became {after}",
                self.workers[other].name
            );
        }
        ensure!(
            matches!(self.canary.try_wait(), Ok(None)),
            "a process that is not ours was killed"
        );
        let round = self.tally.rounds;
        self.stage.tell(&format!("{round:>3}  {outcome}"));
        Ok(())
    }

    /// A session in a terminal that the act has nothing to do with.
    fn bystander(&self, who: usize, act: Act) -> Option<usize> {
        if matches!(act, Act::Kill(Doing::PauseAll, _) | Act::LoseLog(_)) {
            return None;
        }
        let others = 0..self.workers.len();
        let mut others = others.filter(|other| *other != who);
        others.find(|other| self.workers[*other].mode == Mode::Terminal)
    }

    /// What must be the same about a session that was left alone: its process and its screen.
    fn glimpse(&self, who: usize) -> Result<Value> {
        let worker = &self.workers[who];
        let shown = worker.show(&self.stage)?;
        let screen = self.stage.glis(&["screen", &worker.name])?;
        Ok(json!({"pid": shown["pid"], "generation": shown["generation"], "screen": screen}))
    }

    /// Everything once more, and what only the end can tell.
    fn audit(&mut self) -> Result<()> {
        for worker in &mut self.workers {
            let name = worker.name.clone();
            worker
                .bring_back(&self.stage, &mut self.tally)
                .and_then(|()| worker.check(&self.stage, &mut self.tally))
                .and_then(|()| worker.check_words(&self.stage))
                .with_context(|| format!("session `{name}`"))?;
        }
        if let Ok(small) = &mut self.small {
            small.audit(&mut self.tally).context("on the small disk")?;
        }
        ensure!(theirs(&self.stage)? == self.theirs, "the user's own branch or stash has changed");
        self.stage.git(&["fsck", "--connectivity-only", "--no-dangling"])?;
        self.check_events()
    }

    /// The events have no gap.
    fn check_events(&self) -> Result<()> {
        let running = self.stage.start(&["events"])?;
        let output = self.stage.finish(running, crate::stage::Signals::Heeded)?;
        for (line, expected) in String::from_utf8(output.stdout)?.lines().zip(1_u64..) {
            let event: Value = serde_json::from_str(line)?;
            ensure!(event["seq"] == expected, "event {expected} is missing");
        }
        Ok(())
    }

    fn end(&mut self) {
        drop(self.canary.kill());
        drop(self.canary.wait());
    }

    /// Ends everything and removes every trace.
    fn strike(mut self) -> Result<()> {
        self.end();
        let home = self.stage.home();
        let small = self.small.map(|small| {
            victims::kill_all(&small.stage.home());
            // The disk goes before the folder it is mounted on.
            drop(Command::new("umount").arg("--lazy").arg(small.stage.root()).status());
        });
        drop(small);
        victims::kill_all(&home);
        self.stage.discard()
    }

    /// Ends everything, keeps the folder, and says where it is.
    fn leave(mut self) -> String {
        self.end();
        if let Ok(small) = &self.small {
            victims::kill_all(&small.stage.home());
            small.copy_to(&self.stage.root().join("small-disk-kept"));
        }
        victims::kill_all(&self.stage.home());
        self.stage.into_kept().display().to_string()
    }
}

/// The user's branch and stash.
fn theirs(stage: &Stage) -> Result<Vec<u8>> {
    stage.git(&["rev-parse", "refs/heads/main", "refs/stash"])
}
