//! What can be done to a house, each an act of its own: something is under way, something is
//! killed or destroyed, the session comes back, and everything is compared.

use super::Proof;
use super::chance::Chance;
use super::tampering::{LogLoss, Stall, Thing};
use super::worker::{Pace, Promise, Sent, Worker};
use super::{dirt, victims};
use crate::stage::{Running, Signals};
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::time::Duration;

/// What is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Victim {
    Daemon,
    Holder,
    Both,
    /// The daemon, and every git that works for it.
    DaemonAndGit,
}

impl Victim {
    fn story(self) -> &'static str {
        match self {
            Self::Daemon => "the daemon",
            Self::Holder => "the holder",
            Self::Both => "the daemon and the holder",
            Self::DaemonAndGit => "the daemon and its git",
        }
    }
}

/// What is under way when somebody is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    Turn,
    Pause,
    /// A pause of a session in the middle of its turn.
    PauseInTurn,
    Resume,
    Send,
    Snapshot,
    PauseAll,
    /// It is paused, and nothing is under way.
    Paused,
}

/// How a worktree goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wreck {
    /// By git, by force.
    Removed,
    /// Its folder, behind git's back.
    Deleted,
    /// By glis itself, at the pause.
    Cleared,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Kill(Doing, Victim),
    Wreck(Wreck),
    /// Somebody works in the worktree of a paused session.
    Foreign,
    FullDisk,
    /// A holder hangs.
    Stall(Stall),
    /// A file or folder of the house is deleted.
    Delete(Thing),
    /// The event log is deleted.
    LoseLog(LogLoss),
}

/// Every act, the likelier ones more than once.
const ACTS: [Act; 38] = [
    Act::Kill(Doing::Turn, Victim::Daemon),
    Act::Kill(Doing::Turn, Victim::Holder),
    Act::Kill(Doing::Turn, Victim::Both),
    Act::Kill(Doing::Pause, Victim::Daemon),
    Act::Kill(Doing::Pause, Victim::Holder),
    Act::Kill(Doing::Pause, Victim::Both),
    Act::Kill(Doing::Pause, Victim::DaemonAndGit),
    Act::Kill(Doing::PauseInTurn, Victim::Daemon),
    Act::Kill(Doing::PauseInTurn, Victim::Holder),
    Act::Kill(Doing::PauseInTurn, Victim::Both),
    Act::Kill(Doing::Resume, Victim::Daemon),
    Act::Kill(Doing::Resume, Victim::Both),
    Act::Kill(Doing::Send, Victim::Daemon),
    Act::Kill(Doing::Send, Victim::Both),
    Act::Kill(Doing::Snapshot, Victim::Daemon),
    Act::Kill(Doing::Snapshot, Victim::DaemonAndGit),
    Act::Kill(Doing::PauseAll, Victim::Daemon),
    Act::Kill(Doing::Paused, Victim::Daemon),
    Act::Wreck(Wreck::Removed),
    Act::Wreck(Wreck::Removed),
    Act::Wreck(Wreck::Deleted),
    Act::Wreck(Wreck::Cleared),
    Act::Foreign,
    Act::FullDisk,
    Act::FullDisk,
    Act::FullDisk,
    Act::Stall(Stall::Pause),
    Act::Stall(Stall::ForcedPause),
    Act::Stall(Stall::Stop),
    Act::Stall(Stall::DaemonDies),
    Act::Stall(Stall::Passing),
    Act::Delete(Thing::DaemonSocket),
    Act::Delete(Thing::DaemonLock),
    Act::Delete(Thing::HolderSocket),
    Act::Delete(Thing::HolderLock),
    Act::Delete(Thing::SessionFolder),
    Act::LoseLog(LogLoss::AfterAStop),
    Act::LoseLog(LogLoss::BeforeAKill),
];

/// The next act: all of them in some order, and then all in another one, so that none is left to
/// luck.
pub(super) fn draw(deck: &mut Vec<Act>, chance: &mut Chance) -> Act {
    if deck.is_empty() {
        deck.extend(ACTS);
    }
    deck.swap_remove(chance.below(deck.len()))
}

/// When, within a verb: no pause or resume of a small tree takes longer.
pub(super) const VERB_TIME: Duration = Duration::from_millis(150);

impl Proof {
    fn worker(&mut self, who: usize) -> &mut Worker {
        let count = self.workers.len();
        &mut self.workers[who % count]
    }

    /// A message with a word of its own.
    pub(super) fn message(&mut self, pace: Pace) -> Sent {
        self.tally.messages += 1;
        Sent::new(format!("word{}x", self.tally.messages), pace)
    }

    /// Begins to send; the message counts from here on.
    fn begin_send(&mut self, who: usize, pace: Pace) -> Result<(Running, Sent)> {
        let sent = self.message(pace);
        let name = self.worker(who).name.clone();
        Ok((self.stage.start(&["--json", "send", &name, &sent.text])?, sent))
    }

    fn end_send(&mut self, who: usize, (running, sent): (Running, Sent)) -> Result<()> {
        let promise = Promise::of(&self.stage.finish(running, Signals::Heeded)?);
        self.worker(who).note(sent, promise);
        Ok(())
    }

    /// One whole turn in which nothing is broken.
    pub(super) fn turn(&mut self, who: usize, pace: Pace) -> Result<()> {
        let begun = self.begin_send(who, pace)?;
        self.end_send(who, begun)?;
        self.back(who)
    }

    pub(super) fn back(&mut self, who: usize) -> Result<()> {
        let count = self.workers.len();
        self.workers[who % count].bring_back(&self.stage, &mut self.tally)
    }

    pub(super) fn check(&mut self, who: usize) -> Result<()> {
        let count = self.workers.len();
        self.workers[who % count].check(&self.stage, &mut self.tally)
    }

    pub(super) fn daemon(&self) -> Result<i32> {
        let status = self.stage.glis(&["daemon", "status"])?;
        Ok(i32::try_from(status["pid"].as_i64().context("the daemon's pid")?)?)
    }

    /// Kills whom it is to kill, and says whether anybody was there.
    fn kill(&mut self, who: usize, victim: Victim, daemon: i32) -> Result<bool> {
        let home = self.stage.home();
        let agents = victims::agents_of(&self.worker(who).id);
        let holder = agents.first().and_then(|agent| victims::holder_of(*agent).ok());
        let mut hit = false;
        if victim != Victim::Holder {
            let gits = match victim {
                Victim::DaemonAndGit => victims::gits_of(daemon, VERB_TIME),
                Victim::Daemon | Victim::Holder | Victim::Both => Vec::new(),
            };
            // The gits first: they end by themselves when nobody listens any more.
            for git in gits {
                if victims::kill(git, &home)? {
                    self.tally.kill("git");
                }
            }
            if victims::kill(daemon, &home)? {
                self.tally.kill("daemon");
                hit = true;
            }
        }
        if let (Victim::Holder | Victim::Both, Some(holder)) = (victim, holder) {
            if victims::kill(holder, &home)? {
                self.tally.kill("holder");
                hit = true;
            }
            self.worker(who).cut();
        }
        Ok(hit)
    }

    /// Does something to a session and kills somebody in the middle of it.
    pub(super) fn kill_while(
        &mut self,
        doing: Doing,
        victim: Victim,
        who: usize,
        moment: Duration,
    ) -> Result<String> {
        let name = self.worker(who).name.clone();
        let daemon = self.daemon()?;
        self.prepare(doing, who)?;
        let sending = match doing {
            Doing::Turn => {
                let begun = self.begin_send(who, Pace::Slow)?;
                self.end_send(who, begun)?;
                None
            }
            Doing::Send => Some(self.begin_send(who, Pace::Quick)?),
            Doing::Pause
            | Doing::PauseInTurn
            | Doing::Resume
            | Doing::Snapshot
            | Doing::PauseAll
            | Doing::Paused => None,
        };
        let verb = match doing {
            Doing::Pause | Doing::PauseInTurn => Some(vec!["--json", "pause", &name]),
            Doing::Resume => Some(vec!["--json", "resume", &name]),
            Doing::Snapshot => Some(vec!["--json", "snapshot", &name]),
            Doing::PauseAll => Some(vec!["--json", "pause", "--all"]),
            Doing::Turn | Doing::Send | Doing::Paused => None,
        };
        let running = verb.map(|args| self.stage.start(&args)).transpose()?;
        // The moment is the point; nothing is waited for here.
        std::thread::sleep(moment);
        let hit = self.kill(who, victim, daemon)?;
        if let Some(begun) = sending {
            self.end_send(who, begun)?;
            if matches!(victim, Victim::Holder | Victim::Both) {
                // What was just sent may have been in the middle of its turn.
                self.worker(who).cut();
            }
        }
        let promise = match running {
            Some(running) => Promise::of(&self.stage.finish(running, Signals::Heeded)?),
            None => Promise::None,
        };
        let after = self.after_kill(doing, who, promise)?;
        let whom = if hit { victim.story() } else { "nobody any more" };
        let ms = moment.as_secs_f64() * 1000.0;
        Ok(format!("kill -9 {whom}, {ms:.1} ms into {} `{name}`: {after}", story(doing)))
    }

    pub(super) fn prepare(&mut self, doing: Doing, who: usize) -> Result<()> {
        match doing {
            Doing::Resume | Doing::Paused => self.pause(who, &[]).map(drop),
            Doing::PauseInTurn => {
                let begun = self.begin_send(who, Pace::Slow)?;
                self.end_send(who, begun)?;
                // It is interrupted wherever it is.
                self.worker(who).cut();
                Ok(())
            }
            Doing::Turn | Doing::Pause | Doing::Send | Doing::Snapshot | Doing::PauseAll => Ok(()),
        }
    }

    /// What was promised must be so, whoever was killed.
    fn after_kill(&mut self, doing: Doing, who: usize, promise: Promise) -> Result<String> {
        let count = self.workers.len();
        let all = if doing == Doing::PauseAll { (0..count).collect() } else { vec![who % count] };
        let mut states = Vec::new();
        for &who in &all {
            let worker = &self.workers[who];
            let shown = worker.settled(&self.stage)?;
            let status = shown["status"].as_str().unwrap_or_default().to_owned();
            let pauses = matches!(doing, Doing::Pause | Doing::PauseInTurn | Doing::PauseAll);
            if pauses && status == "paused" {
                self.tally.pauses += 1;
            }
            ensure!(
                !(pauses && promise == Promise::Given) || status == "paused",
                "the pause was confirmed, and it is {status}"
            );
            ensure!(doing != Doing::Paused || status == "paused", "paused, and now {status}");
            states.push(status);
        }
        for &who in &all {
            self.back(who)?;
            self.check(who)?;
        }
        states.sort();
        states.dedup();
        Ok(format!("found {}, back, all as it was", states.join(" and ")))
    }

    /// Pauses a session; it has to succeed.
    pub(super) fn pause(&mut self, who: usize, more: &[&str]) -> Result<Value> {
        let name = self.worker(who).name.clone();
        let paused = self.stage.glis(&[&["pause", &name], more].concat())?;
        ensure!(paused["status"] == "paused", "it is {}", paused["status"]);
        ensure!(paused["pid"].is_null(), "a paused session has a process");
        self.tally.pauses += 1;
        Ok(paused)
    }

    /// Takes everything away from a paused session that git can take.
    pub(super) fn wreck(&mut self, wreck: Wreck, who: usize) -> Result<String> {
        let (name, tree, branch) = {
            let worker = self.worker(who);
            (worker.name.clone(), worker.tree.clone(), worker.branch.clone())
        };
        let more: &[&str] = if wreck == Wreck::Cleared { &["--remove-worktree"] } else { &[] };
        self.pause(who, more)?;
        let path = tree.to_string_lossy().into_owned();
        let how = match wreck {
            Wreck::Removed => {
                self.stage.git(&["worktree", "remove", "--force", "--force", &path])?;
                self.tally.fault("worktree removed by force");
                "its worktree removed by force"
            }
            Wreck::Deleted => {
                std::fs::remove_dir_all(&tree)?;
                self.stage.git(&["worktree", "unlock", &path])?;
                self.stage.git(&["worktree", "prune", "--expire=now"])?;
                self.tally.fault("worktree deleted and pruned");
                "its worktree deleted and pruned"
            }
            Wreck::Cleared => {
                self.tally.fault("worktree given up by the pause");
                "its worktree given up by the pause"
            }
        };
        ensure!(tree.symlink_metadata().is_err(), "{path} is still there");
        for branch in [branch.as_str(), "side"] {
            // A branch that another act has taken is gone already.
            if self
                .stage
                .git_output(&self.stage.repo(), &["branch", "-D", branch])?
                .status
                .success()
            {
                self.tally.fault("branch deleted");
            }
        }
        self.prune()?;
        let resumed = self.stage.glis(&["resume", &name])?;
        self.tally.resumes += 1;
        ensure!(resumed["found"].to_string().contains("restored"), "found {}", resumed["found"]);
        self.tally.restores += 1;
        let count = self.workers.len();
        self.workers[who % count].compare_files(&self.stage, &mut self.tally)?;
        self.turn(who, Pace::Quick)?;
        self.check(who)?;
        let files = self.worker(who).expected.files();
        Ok(format!(
            "`{name}` paused, {how}, its branch deleted, reflogs expired, gc --prune=now: \
             {files} files back, byte for byte, index and all"
        ))
    }

    /// Everything that no ref leads to is gone for good.
    fn prune(&mut self) -> Result<()> {
        let expire = ["reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all"];
        self.stage.git(&expire)?;
        self.stage.git(&["gc", "--quiet", "--prune=now"])?;
        self.tally.fault("reflogs expired");
        self.tally.fault("gc --prune=now");
        Ok(())
    }

    /// Somebody else works in the worktree while the session is paused.
    pub(super) fn foreign(&mut self, who: usize) -> Result<String> {
        self.pause(who, &[])?;
        self.tally.fault("foreign change");
        let (name, tree) = (self.worker(who).name.clone(), self.worker(who).tree.clone());
        let number = self.tally.rounds;
        dirt::put(&tree, "foreign.txt", &format!("somebody was here in round {number}\n"))?;
        let seen = crate::portrait::Portrait::of(&self.stage, &tree)?;
        self.worker(who).expected = seen;
        let resumed = self.stage.glis(&["resume", &name])?;
        self.tally.resumes += 1;
        let found = resumed["found"].to_string();
        ensure!(found.contains("foreign.txt"), "nobody noticed the foreign file: {found}");
        self.turn(who, Pace::Quick)?;
        self.check(who)?;
        Ok(format!("somebody wrote into the paused `{name}`: noticed, told, nothing overwritten"))
    }
}

fn story(doing: Doing) -> &'static str {
    match doing {
        Doing::Turn => "a turn of",
        Doing::Pause => "the pause of",
        Doing::PauseInTurn => "a pause in the middle of a turn of",
        Doing::Resume => "the resume of",
        Doing::Send => "a message to",
        Doing::Snapshot => "a snapshot of",
        Doing::PauseAll => "the pause of all, at",
        Doing::Paused => "the sleep of",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_act_comes_before_any_comes_again() {
        let (mut deck, mut chance) = (Vec::new(), Chance::from(3));
        for _ in 0..2 {
            let drawn: Vec<Act> = ACTS.iter().map(|_| draw(&mut deck, &mut chance)).collect();
            let times = |all: &[Act], act: &Act| all.iter().filter(|one| *one == act).count();
            for act in &ACTS {
                assert_eq!(times(&drawn, act), times(&ACTS, act), "{act:?}");
            }
            assert_ne!(drawn, ACTS);
        }
    }
}
