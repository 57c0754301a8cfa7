//! What can be done to a house, each an act of its own: something is under way, something is
//! killed or destroyed, the session comes back, and everything is compared.

use super::Proof;
use super::deck::{Doing, Victim, Wreck};
use super::worker::{Pace, Promise, Sent, Worker};
use super::{dirt, victims};
use crate::stage::{Running, Signals};
use anyhow::{Result, ensure};
use serde_json::Value;
use std::time::Duration;

/// When, within a verb: no pause or resume of a small tree takes longer.
pub(super) const VERB_TIME: Duration = Duration::from_millis(150);

impl Proof {
    /// A message with a word of its own.
    pub(super) fn message(&mut self, pace: Pace) -> Sent {
        self.tally.messages += 1;
        Sent::new(format!("word{}x", self.tally.messages), pace)
    }

    /// Begins to send; the message counts from here on.
    fn begin_send(&mut self, who: usize, pace: Pace) -> Result<(Running, Sent)> {
        let sent = self.message(pace);
        let name = &self.workers[who].name;
        Ok((self.stage.start(&["--json", "send", name, &sent.text])?, sent))
    }

    fn end_send(&mut self, who: usize, (running, sent): (Running, Sent)) -> Result<()> {
        let promise = Promise::of(&self.stage.finish(running, Signals::Heeded)?);
        self.workers[who].note(sent, promise);
        Ok(())
    }

    fn send(&mut self, who: usize, pace: Pace) -> Result<()> {
        let begun = self.begin_send(who, pace)?;
        self.end_send(who, begun)
    }

    /// One whole turn in which nothing is broken, and whether all is as it must be.
    pub(super) fn turn(&mut self, who: usize) -> Result<()> {
        self.send(who, Pace::Quick)?;
        self.back(who)
    }

    /// Brings a session back, and looks whether all is as it must be.
    pub(super) fn back(&mut self, who: usize) -> Result<()> {
        let worker = &mut self.workers[who];
        worker.bring_back(&self.stage, &mut self.tally)?;
        worker.check(&self.stage, &mut self.tally)
    }

    /// Kills whom it is to kill, and says whether anybody was there.
    fn kill(&mut self, who: usize, victim: Victim, daemon: i32) -> Result<bool> {
        let home = self.stage.home();
        let agents = victims::agents_of(&self.workers[who].id);
        let holder = agents.first().and_then(|agent| victims::holder_of(*agent).ok());
        let mut hit = false;
        if victim != Victim::Holder {
            let gits = match victim {
                Victim::DaemonAndGit => victims::gits_of(daemon, VERB_TIME),
                Victim::Daemon | Victim::Holder | Victim::Both => Vec::new(),
            };
            // The gits first: they end by themselves once the daemon is gone.
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
            self.workers[who].cut();
        }
        Ok(hit)
    }

    /// Does something to a session and kills a process in the middle of it.
    pub(super) fn kill_while(
        &mut self,
        doing: Doing,
        victim: Victim,
        who: usize,
        moment: Duration,
    ) -> Result<String> {
        let name = self.workers[who].name.clone();
        let daemon = self.stage.daemon()?;
        self.prepare(doing, who)?;
        let sending = match doing {
            Doing::Turn => {
                self.send(who, Pace::Slow)?;
                None
            }
            Doing::Send => Some(self.begin_send(who, Pace::Quick)?),
            _ => None,
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
                self.workers[who].cut();
            }
        }
        let promise = match running {
            Some(running) => Promise::of(&self.stage.finish(running, Signals::Heeded)?),
            None => Promise::None,
        };
        let after = self.after_kill(doing, who, promise)?;
        let whom = if hit { victim.story() } else { "nothing (already gone)" };
        let ms = moment.as_secs_f64() * 1000.0;
        Ok(format!("kill -9 {whom}, {ms:.1} ms into {} `{name}`: {after}", doing.story()))
    }

    pub(super) fn prepare(&mut self, doing: Doing, who: usize) -> Result<()> {
        match doing {
            Doing::Resume | Doing::Paused => self.pause(who, &[]).map(drop),
            Doing::PauseInTurn => {
                self.send(who, Pace::Slow)?;
                // It is interrupted wherever it is.
                self.workers[who].cut();
                Ok(())
            }
            Doing::Turn | Doing::Pause | Doing::Send | Doing::Snapshot | Doing::PauseAll => Ok(()),
        }
    }

    /// What was promised must be so, whatever was killed.
    fn after_kill(&mut self, doing: Doing, who: usize, promise: Promise) -> Result<String> {
        let all = if doing == Doing::PauseAll { 0..self.workers.len() } else { who..who + 1 };
        let mut states = Vec::new();
        for who in all.clone() {
            let shown = self.workers[who].settled(&self.stage)?;
            let status = shown["status"].as_str().unwrap_or_default().to_owned();
            let pauses = matches!(doing, Doing::Pause | Doing::PauseInTurn | Doing::PauseAll);
            if pauses && status == "paused" {
                self.tally.pauses += 1;
            }
            ensure!(
                !(pauses && promise == Promise::Given) || status == "paused",
                "the pause was confirmed, but the session is {status}"
            );
            ensure!(doing != Doing::Paused || status == "paused", "it was paused and is {status}");
            states.push(status);
        }
        if doing == Doing::PauseAll {
            // While everything is paused, nothing goes on alone.
            self.stage.glis(&["resume", "--all"])?;
        }
        for who in all {
            self.back(who)?;
        }
        states.sort();
        states.dedup();
        Ok(format!("then {}; nothing is missing", states.join(" and ")))
    }

    /// Pauses a session; it has to succeed.
    pub(super) fn pause(&mut self, who: usize, more: &[&str]) -> Result<Value> {
        let name = &self.workers[who].name;
        let paused = self.stage.glis(&[&["pause", name], more].concat())?;
        ensure!(paused["status"] == "paused", "it is {}", paused["status"]);
        ensure!(paused["pid"].is_null(), "a paused session has a process");
        self.tally.pauses += 1;
        Ok(paused)
    }

    /// Takes everything away from a paused session that git can take.
    pub(super) fn wreck(&mut self, wreck: Wreck, who: usize) -> Result<String> {
        let Worker { name, tree, branch, .. } = &self.workers[who];
        let (name, tree, branch) = (name.clone(), tree.clone(), branch.clone());
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
                "its worktree removed by the pause"
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
        self.workers[who].compare_files(&self.stage, &mut self.tally)?;
        self.turn(who)?;
        let files = self.workers[who].expected.files();
        Ok(format!(
            "`{name}` paused, {how}, its branch deleted, reflogs expired, gc --prune=now: \
             {files} files and the index restored, byte for byte"
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

    /// Another program writes into the worktree while the session is paused.
    pub(super) fn foreign(&mut self, who: usize) -> Result<String> {
        self.pause(who, &[])?;
        self.tally.fault("foreign change");
        let worker = &mut self.workers[who];
        let (name, number) = (worker.name.clone(), self.tally.rounds);
        dirt::put(&worker.tree, "foreign.txt", &format!("written in round {number}\n"))?;
        worker.expected = self.stage.portrait(&worker.tree)?;
        let resumed = self.stage.glis(&["resume", &name])?;
        self.tally.resumes += 1;
        let found = resumed["found"].to_string();
        ensure!(found.contains("foreign.txt"), "the foreign file was not noticed: {found}");
        self.turn(who)?;
        Ok(format!("a file was written into the paused `{name}`: resume reported it and kept it"))
    }
}
