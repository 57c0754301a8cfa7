//! What is not killed but stopped, or taken away: a holder that hangs, and files that are deleted
//! under those who use them.

use super::Proof;
use super::deck::{Doing, LogLoss, Stall, Thing};
use super::victims;
use super::worker::{NEWS_TIME, Promise};
use crate::stage::Signals;
use anyhow::{Context as _, Result, ensure};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

impl Proof {
    /// Stops a holder, and asks something of its session that has to end in bounded time.
    pub(super) fn stall(&mut self, stall: Stall, who: usize, moment: Duration) -> Result<String> {
        let home = self.stage.home();
        let (name, id) = (self.workers[who].name.clone(), self.workers[who].id.clone());
        let daemon = self.stage.daemon()?;
        if stall == Stall::ForcedPause {
            self.prepare(Doing::PauseInTurn, who)?;
        }
        let agent = *victims::agents_of(&id).first().context("its agent")?;
        let holder = victims::holder_of(agent)?;
        ensure!(victims::stop(holder, &home), "the holder has gone");
        self.tally.fault("holder stopped");
        let done = match stall {
            Stall::Pause => self.pause(who, &[]).map(|_| "paused"),
            Stall::ForcedPause => self.pause(who, &["--mode", "force"]).map(|_| "paused by force"),
            Stall::Stop => self.stop(&name).map(|()| "session stopped"),
            Stall::DaemonDies => {
                ensure!(victims::kill(daemon, &home)?, "the daemon has gone");
                self.tally.kill("daemon");
                self.pause(who, &["--mode", "force"]).map(|_| "daemon killed, paused by force")
            }
            Stall::Passing => {
                let running = self.stage.start(&["--json", "pause", &name])?;
                // The moment is the point; nothing is waited for here.
                std::thread::sleep(moment);
                victims::go_on(holder, &home);
                let promise = Promise::of(&self.stage.finish(running, Signals::Heeded)?);
                ensure!(promise == Promise::Given, "the pause failed");
                self.tally.pauses += 1;
                Ok("continued in the middle of a pause")
            }
        };
        // Whatever came of it: nothing stays stopped for the rest of the proof.
        if done.is_err() {
            victims::go_on(holder, &home);
        }
        let done = done?;
        let left = victims::agents_of(&id);
        ensure!(left.is_empty(), "no process should be left, but {left:?} run");
        self.back(who)?;
        self.turn(who)?;
        Ok(format!("holder of `{name}` stopped (SIGSTOP), {done}; resumed, nothing is missing"))
    }

    fn stop(&self, name: &str) -> Result<()> {
        let stopped = self.stage.glis(&["stop", name])?;
        ensure!(stopped["status"] == "suspended", "it is {}", stopped["status"]);
        Ok(())
    }

    /// Deletes a file or folder while a process uses it.
    pub(super) fn delete(&mut self, thing: Thing, who: usize) -> Result<String> {
        let home = self.stage.home();
        let id = self.workers[who].id.clone();
        let daemon = self.stage.daemon()?;
        let before = victims::agents_of(&id);
        let folder = home.join("sessions").join(&id);
        let what = thing.story();
        match thing {
            Thing::DaemonSocket => remove(&home.join("daemon.sock"))?,
            Thing::DaemonLock => remove(&home.join("daemon.lock"))?,
            Thing::HolderSocket => remove(&folder.join("hold.sock"))?,
            Thing::HolderLock => remove(&folder.join("hold.lock"))?,
            Thing::SessionFolder => {
                remove_all(&folder).with_context(|| folder.display().to_string())?;
                // What was in it is gone with it; the agent's own record is not.
                self.workers[who].forget();
                let socket = folder.join("hold.sock");
                self.stage.until("the holder is to be found again", || Ok(socket.exists()))?;
            }
        }
        self.tally.fault(match thing {
            Thing::DaemonSocket | Thing::HolderSocket => "socket deleted",
            Thing::DaemonLock | Thing::HolderLock => "lock deleted",
            Thing::SessionFolder => "session's folder deleted",
        });
        if matches!(thing, Thing::HolderSocket | Thing::HolderLock) {
            ensure!(victims::kill(daemon, &home)?, "the daemon has gone");
            self.tally.kill("daemon");
        }
        if thing == Thing::SessionFolder {
            self.pause(who, &[])?;
            return self.comes_back(who, what);
        }
        self.turn(who)?;
        let daemons = self.one_daemon()?;
        if matches!(thing, Thing::DaemonSocket | Thing::DaemonLock) {
            ensure!(daemons == [daemon], "daemon {daemon} was replaced by {daemons:?}");
        }
        let after = victims::agents_of(&id);
        ensure!(before == after, "its agent was {before:?} and is {after:?}");
        self.pause(who, &[])?;
        self.comes_back(who, what)
    }

    /// The one daemon of the house. What it starts looks like it until it has become another program,
    /// so two are looked at again.
    fn one_daemon(&self) -> Result<Vec<i32>> {
        let began = Instant::now();
        loop {
            let daemons = victims::daemons_of(&self.stage.home());
            if daemons.len() == 1 {
                return Ok(daemons);
            }
            ensure!(began.elapsed() < NEWS_TIME, "there should be one daemon: {daemons:?}");
            std::thread::sleep(NEWS_TIME / 100);
        }
    }

    /// Brings a paused session back under which something was deleted.
    fn comes_back(&mut self, who: usize, what: &str) -> Result<String> {
        self.back(who)?;
        self.turn(who)?;
        let name = &self.workers[who].name;
        Ok(format!("`{name}` runs, {what} deleted; paused, resumed, nothing is missing"))
    }
}

impl Proof {
    /// Deletes the event log; every session has to be known again.
    pub(super) fn lose_log(&mut self, loss: LogLoss) -> Result<String> {
        let home = self.stage.home();
        let daemon = self.stage.daemon()?;
        let before: Vec<_> = self.workers.iter().map(|w| victims::agents_of(&w.id)).collect();
        if loss == LogLoss::AfterAStop {
            self.stage.glis(&["daemon", "stop"])?;
        }
        for name in ["events.db", "events.db-wal", "events.db-shm"] {
            // The last two are there only while it runs.
            drop(std::fs::remove_file(home.join(name)));
        }
        self.tally.fault("event log deleted");
        if loss == LogLoss::BeforeAKill && victims::kill(daemon, &home)? {
            self.tally.kill("daemon");
        }
        for (who, before) in before.into_iter().enumerate() {
            let shown = self.workers[who].settled(&self.stage)?;
            if shown["record_damaged"] == true {
                ensure!(loss == LogLoss::BeforeAKill, "it is flagged, but nothing is missing");
                self.stage.glis(&["acknowledge", &self.workers[who].name])?;
            }
            let after = victims::agents_of(&self.workers[who].id);
            ensure!(before == after, "its agent was {before:?} and is {after:?}");
            self.turn(who)?;
        }
        let how = match loss {
            LogLoss::AfterAStop => "while no daemon ran",
            LogLoss::BeforeAKill => "while the daemon ran, then the daemon killed",
        };
        Ok(format!("event log deleted {how}; every session was found again, no agent disturbed"))
    }
}

/// Deletes a folder that others write to: what comes into it meanwhile is deleted as well.
fn remove_all(folder: &Path) -> io::Result<()> {
    let not_empty = |done: &io::Result<()>| {
        done.as_ref().is_err_and(|fault| fault.kind() == io::ErrorKind::DirectoryNotEmpty)
    };
    let mut tries = std::iter::repeat_with(|| std::fs::remove_dir_all(folder)).take(50);
    tries.find(|done| !not_empty(done)).unwrap_or_else(|| std::fs::remove_dir_all(folder))
}

fn remove(file: &Path) -> Result<()> {
    std::fs::remove_file(file).with_context(|| file.display().to_string())
}
