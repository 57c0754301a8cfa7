//! Each subsystem made alone, in a house of its own: what it is handed, it gets; what is beside it is
//! not there.

mod answers;
mod creator;
mod doctor;
mod launcher;
mod supervisor;
mod trees;
mod views;

use crate::common::Common;
use crate::environments::{Caller, Environments};
use crate::jobs::Jobs;
use crate::launch::Launcher;
use crate::log::Checked;
use crate::mailbox::{Mail, Mailbox};
use crate::pools::Pools;
use crate::provision::Provision;
use crate::settings::Settings;
use crate::strikes::Strikes;
use crate::timers::{Time, Timers};
use crate::trees::Trees;
use glis_agent::Said;
use glis_core::input::Outcome;
use glis_core::{House, Input, Origin, Recorded, Session, SessionId};
use glis_record::conversation::{Conversation, Heard};
use glis_snapshot::git;
use glis_wire::home::Home;
use glis_wire::view::Voice;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;

/// The mode of the user's own files.
const UMASK: u32 = 0o022;

/// A house without a daemon: a home, a repository with one commit, and what stands in for the
/// controller.
struct Bench {
    folder: tempfile::TempDir,
    home: Home,
    repo: PathBuf,
    settings: Arc<Settings>,
    environments: Arc<Environments>,
    pools: Pools,
    mailbox: Mailbox,
    /// What the subsystem has told.
    told: mpsc::Receiver<Input>,
    records: Arc<Mutex<Records>>,
}

/// What was decided.
#[derive(Default)]
struct Records {
    house: House,
    log: Vec<Recorded>,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::under(&folder.path().join("home"));
        std::fs::create_dir_all(&home.state).unwrap();
        let repo = folder.path().join("repo");
        std::fs::create_dir(&repo).unwrap();
        git::run(&repo, &["init", "--quiet", "--initial-branch=main"]).unwrap();
        for (name, value) in [("user.name", "t"), ("user.email", "t@example.org")] {
            git::run(&repo, &["config", name, value]).unwrap();
        }
        std::fs::write(repo.join("a.txt"), "one\n").unwrap();
        git::run(&repo, &["add", "."]).unwrap();
        git::run(&repo, &["commit", "--quiet", "--message", "one"]).unwrap();
        let settings = Settings::open(home.config_file(), crate::copies::folder(&home.state));
        let settings = Arc::new(settings.unwrap());
        let environments = Arc::new(Environments::new(home.clone()));
        let (mailbox, inbox) = Mailbox::new("a log");
        let (tell, told) = mpsc::channel(64);
        let records = Arc::default();
        drop(tokio::spawn(control(inbox, tell, Arc::clone(&records))));
        let pools = Pools::default();
        Self { folder, home, repo, settings, environments, pools, mailbox, told, records }
    }

    fn jobs(&self) -> Arc<Jobs> {
        let strikes = Strikes::open(&self.home.state, |_| Ok(()));
        let (settings, time) = (Arc::clone(&self.settings), Time::default());
        Jobs::new(self.mailbox.clone(), settings, strikes, self.pools.clone(), time)
    }

    fn common(&self) -> Arc<Common> {
        Arc::new(Common {
            home: self.home.clone(),
            settings: Arc::clone(&self.settings),
            environments: Arc::clone(&self.environments),
            umask: UMASK,
        })
    }

    fn trees(&self) -> Arc<Trees> {
        Trees::new(self.common(), self.jobs(), Provision::new(self.common()))
    }

    fn timers(&self) -> Arc<Timers> {
        let (mailbox, _) = Mailbox::new("a log");
        Arc::new(Timers::new(mailbox, Arc::clone(&self.settings), self.pools.clone()))
    }

    fn launcher(&self) -> Arc<Launcher> {
        Launcher::new(self.common(), self.trees())
    }

    /// A session of the rehearsal agent that runs, in a worktree of this repository that is still to be
    /// made. Its id is no other's, so that no process carries its mark.
    fn session(&self) -> Session {
        let mut session = crate::fill::session();
        session.id = SessionId(uuid::Uuid::new_v4().to_string());
        session.spec.in_place = false;
        session.spec.repo_root = self.repo.to_str().unwrap().to_owned();
        session.place.worktree = None;
        session
    }

    /// The agent of a session has said something, under the id that it has.
    fn speak(&self, session: &Session, words: &str) {
        let dir = self.home.session(&session.id.0);
        std::fs::create_dir_all(&dir).unwrap();
        let mut talk = Conversation::open(&dir, 1, crate::clock::now).unwrap();
        let said = Said::new(Voice::Assistant, words);
        talk.add(Heard::Stream(1), session.agent.agent_ref.as_deref(), said).unwrap();
    }

    /// The next thing that came of an effect.
    async fn outcome(&mut self) -> Outcome {
        match self.told.recv().await {
            Some(Input::Outcome { outcome, .. }) => outcome,
            other => panic!("no outcome: {other:?}"),
        }
    }

    /// What was decided so far.
    fn log(&self) -> Vec<Recorded> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner).log.clone()
    }
}

/// A caller with one folder on its path, in which these programs are.
fn caller(folder: &Path, programs: &[&str]) -> Caller {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::create_dir_all(folder).unwrap();
    for program in programs {
        let path = folder.join(program);
        std::fs::write(&path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = folder.to_str().unwrap().to_owned();
    Caller { env: vec![("PATH".to_owned(), path)], limits: Vec::new() }
}

/// Stands in for the controller: decides on commands, carries nothing out, and hands on what it is told.
async fn control(
    mut inbox: mpsc::Receiver<Mail>,
    tell: mpsc::Sender<Input>,
    records: Arc<Mutex<Records>>,
) {
    while let Some(mail) = inbox.recv().await {
        match mail {
            Mail::Input(input) => drop(tell.send(input).await),
            Mail::Ask(input, from, answer) => {
                drop(answer.send(decide(&records, input, from.as_ref())));
            }
            Mail::Together(commands, from, answer) => {
                let each = commands.into_iter();
                let decide = |command| decide(&records, Input::Command(command), from.as_ref());
                drop(answer.send(each.map(decide).collect()));
            }
            Mail::Look(look) => {
                look(&records.lock().unwrap_or_else(PoisonError::into_inner).house);
            }
            Mail::Check { after, answer, .. } => {
                drop(answer.send(Some(Checked { end: after, damaged: Vec::new() })));
            }
            Mail::Read { answer, .. } => drop(answer.send(Vec::new())),
            Mail::Close(_) | Mail::NotDurable(_) | Mail::Copy(_) | Mail::LookAtLog => {}
        }
    }
}

fn decide(
    records: &Mutex<Records>,
    input: Input,
    from: Option<&Origin>,
) -> Result<glis_core::Reply, glis_core::Refusal> {
    let mut records = records.lock().unwrap_or_else(PoisonError::into_inner);
    let decision = records.house.decide(input)?;
    for (subject, event) in decision.events {
        let recorded = records.house.record(0, subject, event, from);
        records.log.push(recorded);
    }
    Ok(decision.reply)
}
