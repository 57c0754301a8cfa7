//! Looks for problems, and says how to fix them.

mod agents;
mod chat;
mod finding;
mod log;
mod repository;
mod session;

use self::finding::{HUNG, bad, finding, warning};
use self::repository::Repository;
use crate::cards::sessions_folder;
use crate::launch::Launcher;
use crate::live::Live;
use crate::locks::is_locked;
use crate::mailbox::{Mailbox, Query};
use crate::naps;
use crate::pools::Kind;
use crate::settings::Settings;
use crate::strays::{self, Stray};
use crate::trees::Trees;
use crate::worktrees;
use glis_core::session::Session;
use glis_wire::hold::place;
use glis_wire::home::Home;
use glis_wire::view::{Finding, Health};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Below this, agents and snapshots begin to fail.
const DISK_BYTES_LOW: u64 = 512 * 1024 * 1024;

/// So many looks that hang, ten seconds each, tell what is wrong; the rest of that repository is not
/// looked at.
const HUNG_MAX: u32 = 3;

/// So far back it is told how often idle sessions were suspended.
const NAPS_TIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Who is woken within this time was suspended for nothing.
const NAP_SHORT: Duration = Duration::from_secs(5 * 60);
/// Fewer of those may be chance.
const NAPS_SOON_MAX: usize = 5;

/// Looks for what is wrong.
pub(crate) struct Doctor {
    pub(crate) home: Home,
    pub(crate) settings: Arc<Settings>,
    pub(crate) mailbox: Mailbox,
    pub(crate) trees: Arc<Trees>,
    pub(crate) launcher: Arc<Launcher>,
    pub(crate) live: Arc<Live>,
}

impl Doctor {
    pub(crate) async fn examine(&self) -> Vec<Finding> {
        let sessions = self.mailbox.query(Query::Living).await;
        let all = self.mailbox.query(Query::All).await;
        let known: Arc<BTreeSet<String>> = Arc::new(all.iter().map(|s| s.id.0.clone()).collect());
        let untested = self.untested(&sessions).await;
        let mut living = repository::by_path(sessions);
        // Those of removed sessions may hold what is of interest, too.
        for path in all.iter().map(|session| worktrees::repository(session)) {
            living.entry(path).or_default();
        }
        let mut findings = vec![self.ask(git).await.unwrap_or_else(|why| git_hangs(&why))];
        findings.extend(self.house(all, Arc::clone(&known)).await);
        findings.extend(untested);
        // A daemon that comes upon a damaged record ends, so that the next one mends the log: a look is not to do that.
        if findings
            .iter()
            .all(|found| found.subject != log::SUBJECT || found.health == Health::Good)
        {
            findings.extend(self.naps().await);
        }
        for (name, agent) in glis_agent::table() {
            // A program that does not answer says nothing about who is logged in.
            let login = self.ask(move || agents::login(name, *agent)).await;
            findings.extend(login.unwrap_or_default());
        }
        for (path, sessions) in living {
            // Whole sessions go through its hands, one after the other.
            findings.extend(Box::pin(self.repository(path, sessions, &known)).await);
        }
        findings
    }

    async fn ask<T: Send + 'static>(
        &self,
        look: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, String> {
        self.trees.jobs.ask(Kind::Ask, look).await
    }

    /// Programs of agents that are not as they were tested, each once.
    async fn untested(&self, sessions: &[Arc<Session>]) -> Vec<Finding> {
        let (launcher, sessions) = (Arc::clone(&self.launcher), sessions.to_vec());
        let look = move || -> BTreeSet<String> {
            sessions.iter().filter_map(|session| launcher.untested(session)).collect()
        };
        let hint = "a newer one mostly works, and one that is too old is refused when it starts; where it does not work, \
                    install the version that was tested";
        let told = |what| finding("agents", Health::Warning, what, Some(hint));
        // A program that hangs is told of with its sessions.
        self.ask(look).await.unwrap_or_default().into_iter().map(told).collect()
    }

    /// How often idle sessions were suspended of late, and whether that was too soon.
    async fn naps(&self) -> Option<Finding> {
        let week = i64::try_from(NAPS_TIME.as_millis()).unwrap_or(i64::MAX);
        let since = crate::clock::now().as_millisecond().saturating_sub(week);
        let naps = naps::since(&self.mailbox, since).await;
        let short = i64::try_from(NAP_SHORT.as_millis()).unwrap_or(i64::MAX);
        let woken =
            naps.iter().filter_map(|nap| nap.to.map(|to| to - nap.from)).collect::<Vec<_>>();
        let soon = woken.iter().filter(|time| **time < short).count();
        let told = format!(
            "in the last seven days {} times suspended, {} times woken, {soon} of them within five minutes",
            naps.len(),
            woken.len()
        );
        let hint = "`glis timeout NAME 30m` has one sleep later";
        let too_soon = soon >= NAPS_SOON_MAX && soon * 2 > naps.len();
        let (health, hint) =
            if too_soon { (Health::Warning, Some(hint)) } else { (Health::Good, None) };
        (!naps.is_empty()).then(|| finding("idle sessions", health, told, hint))
    }

    /// What belongs to no session and needs no git.
    async fn house(&self, all: Vec<Arc<Session>>, known: Arc<BTreeSet<String>>) -> Vec<Finding> {
        let log = log::examine(&self.home, &self.mailbox).await;
        let (home, settings) = (self.home.clone(), Arc::clone(&self.settings));
        let look = move || {
            let mut findings = vec![private(&home.state), disk(&home.state)];
            findings.extend(log);
            findings.extend(settings.fault().map(configuration));
            findings.extend(settings.unused().into_iter().map(unused));
            findings.extend(settings.outdated().into_iter().map(outdated));
            findings.extend(chat::examine(&home.state, &settings.now().chat.telegram));
            findings.extend(trash(&all, settings.now().trash.days));
            findings.extend(patterns(&all, &glis_os::terminal::ptrace_scope()));
            let folder = sessions_folder(&home);
            let strays = strays::find(&folder, &known);
            findings.extend(strays.iter().map(|found| stray(found, &folder)));
            findings.extend(strangers(&folder, &known, &strays));
            findings
        };
        let fault = |why| vec![finding("doctor", Health::Bad, why, None)];
        self.ask(look).await.unwrap_or_else(fault)
    }

    /// A repository and its sessions, one look each: one that hangs hides no other.
    async fn repository(
        &self,
        path: PathBuf,
        sessions: Vec<Arc<Session>>,
        known: &Arc<BTreeSet<String>>,
    ) -> Vec<Finding> {
        let sessions = Arc::new(sessions);
        let (own, of, known) = (path.clone(), Arc::clone(&sessions), Arc::clone(known));
        let open = move || {
            let repository = Repository::open(own, &of);
            let findings = repository.findings(&of, &known);
            (repository, findings)
        };
        let (mut repository, mut findings) = match self.ask(open).await {
            Ok(opened) => opened,
            Err(why) => return vec![repository::hangs(&path, &sessions, &why)],
        };
        let mut hung = 0;
        for session in sessions.iter().cloned() {
            let (trees, launcher) = (Arc::clone(&self.trees), Arc::clone(&self.launcher));
            let (dir, name) = (self.home.session(&session.id.0), session.name.clone());
            let told = self.live.folder(&session.id);
            let look = move || {
                let own = (&*session, dir.as_path(), told);
                let findings = session::examine(own, &trees, &launcher, &mut repository);
                (repository, findings)
            };
            match self.ask(look).await {
                Ok((back, found)) => {
                    repository = back;
                    findings.extend(found);
                }
                Err(why) => {
                    findings.push(session::hangs(&name, &why));
                    hung += 1;
                    // The former one is in the hands of what hangs.
                    let (own, of) = (path.clone(), Arc::clone(&sessions));
                    let again = self.ask(move || Repository::open(own, &of)).await;
                    match again {
                        Ok(again) if hung < HUNG_MAX => repository = again,
                        Ok(_) => {
                            let why = format!("{HUNG_MAX} looks at its sessions hang");
                            findings.push(repository::hangs(&path, &sessions, &why));
                            return findings;
                        }
                        Err(why) => {
                            findings.push(repository::hangs(&path, &sessions, &why));
                            return findings;
                        }
                    }
                }
            }
        }
        findings
    }
}

fn git_hangs(why: &str) -> Finding {
    bad("git", format!("`git --version`: {why}"), HUNG)
}

fn configuration(fault: String) -> Finding {
    bad("configuration", fault, "fix it; until then the former configuration is used")
}

fn unused(line: String) -> Finding {
    let hint = "fix it; until then you are asked, and the rest of the configuration counts";
    warning("configuration", line, hint)
}

fn outdated(line: String) -> Finding {
    warning("configuration", line, "use the new name; until then nothing else changes")
}

fn git() -> Finding {
    let hint = "install git; every session but those with --in-place needs it";
    match glis_snapshot::git::run(Path::new("/"), &["--version"]) {
        Ok(version) => finding("git", Health::Good, version, None),
        Err(fault) => bad("git", fault.to_string(), hint),
    }
}

fn private(state: &Path) -> Finding {
    let (mode, at) =
        (state.metadata().map(|facts| facts.permissions().mode() & 0o777), state.display());
    match mode {
        Ok(0o700) => finding("home", Health::Good, at.to_string(), None),
        Ok(mode) => {
            let hint = "other users can read it: `chmod 700` it";
            warning("home", format!("{at} has mode {mode:o}"), hint)
        }
        Err(fault) => {
            bad("home", format!("{at}: {fault}"), "the state folder must be readable and writable")
        }
    }
}

fn disk(state: &Path) -> Finding {
    match rustix::fs::statvfs(state) {
        Ok(facts) => {
            let free = facts.f_bavail.saturating_mul(facts.f_frsize);
            let message = format!("{} MB free", free / 1_000_000);
            if free == 0 || (facts.f_files > 0 && facts.f_favail == 0) {
                let what = format!("the disk of {} is full", state.display());
                let hint = "free some space: until then nothing can be changed or recorded";
                bad("disk", what, hint)
            } else if free < DISK_BYTES_LOW {
                warning("disk", message, "free some space before it runs out")
            } else {
                finding("disk", Health::Good, message, None)
            }
        }
        Err(fault) => finding("disk", Health::Warning, fault.to_string(), None),
    }
}

/// Removed sessions that are kept longer than was promised.
fn trash(all: &[Arc<Session>], days: u32) -> Option<Finding> {
    let now = jiff::Timestamp::now().as_millisecond();
    let due = |at: i64| at + i64::from(days) * 24 * 60 * 60 * 1000 <= now;
    let past =
        all.iter().filter(|s| s.upkeep.trashed.as_ref().is_some_and(|trashed| due(trashed.at)));
    let count = past.count();
    let message = format!("{count} removed sessions are past their deadline");
    let hint = "`glis trash list` shows them, `glis trash empty` deletes them for good";
    (count > 0).then(|| warning("trash", message, hint))
}

/// Patterns that can accept nothing: from 2 on not even a holder sees whether its program reads.
fn patterns(all: &[Arc<Session>], scope: &str) -> Option<Finding> {
    let scope: u8 = scope.trim().parse().ok()?;
    let concerned =
        |session: &Arc<Session>| session.spec.auto_yes && session.upkeep.trashed.is_none();
    let message = format!(
        "kernel.yama.ptrace_scope is {scope}: glis cannot see whether a program waits for input, so \
         accept_patterns answer nothing"
    );
    let hint = "such questions wait for you; with a value of 1 or 0 patterns answer them";
    (scope > 1 && all.iter().any(concerned)).then(|| warning("auto-yes", message, hint))
}

/// An agent that the log does not know.
fn stray(found: &Stray, folder: &Path) -> Finding {
    let Stray { session, holder, agent, .. } = found;
    let pid = agent.unwrap_or(*holder);
    let message = format!(
        "process {pid} of session {session} runs, and the event log does not know the session: its \
         home was deleted while it ran, or its log was replaced"
    );
    let output = folder.join(session).join(place::OUTPUT);
    let hint = format!(
        "put the former home or log back, if there is one; else `kill {pid}` ends it. What it printed \
         last is in {}",
        output.display()
    );
    bad("agents", message, &hint)
}

/// Folders of sessions that the log does not know: it lost them, or is another one.
fn strangers(folder: &Path, known: &BTreeSet<String>, strays: &[Stray]) -> Vec<Finding> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir());
    let told = |name: &str| known.contains(name) || strays.iter().any(|s| s.session == name);
    let strange = paths
        .filter(|path| path.file_name().is_none_or(|name| !told(name.to_string_lossy().as_ref())));
    let told = strange.map(|path| {
        let runs = is_locked(&path);
        let (health, what) =
            if runs { (Health::Bad, ", and its agent runs") } else { (Health::Warning, "") };
        let message = format!("the event log does not know {}{what}", path.display());
        let hint = "it was lost from the log: look for a log that was moved or kept aside";
        finding("sessions", health, message, Some(hint))
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_can_accept_nothing_are_told_to_whom_they_concern() {
        let mut session = crate::fill::session();
        session.spec.auto_yes = true;
        let mut off = session.clone();
        off.spec.auto_yes = false;
        let (on, off) = (&[Arc::new(session)], &[Arc::new(off)]);
        let told = patterns(on, "2\n").unwrap();
        assert!(told.message.contains("ptrace_scope is 2"), "{}", told.message);
        for (all, scope) in [(on, "1\n"), (on, "0\n"), (on, ""), (off, "3\n")] {
            assert!(patterns(all, scope).is_none(), "{scope:?}");
        }
    }
}
