//! The daemon: one controller that owns all state, and the adapters that act for it.
#![forbid(unsafe_code)]

mod access;
mod adapters;
mod bounds;
mod cards;
mod clock;
mod closing;
mod config;
mod controller;
mod copies;
mod doctor;
mod failpoint;
mod fill;
mod launch;
mod log;
mod nursery;
mod opening;
mod outfit;
mod peer;
mod premises;
mod program;
mod screens;
mod serve;
mod strikes;
mod tend;
mod timers;
mod trash;
mod trees;
mod view;
mod watch;
mod work;
mod worktrees;

pub use crate::fill::fill_log;
use glis_record::{conversation, durable, location, output, rows, search, vault};

use crate::adapters::Adapters;
use crate::closing::{Calls, Closing};
use crate::config::Settings;
use crate::controller::{Controller, Line, Mail};
use crate::copies::{Copies, clock};
use crate::log::LogFault;
use crate::premises::Premises;
use crate::serve::Door;
use crate::strikes::Strikes;
use glis_core::Session;
use glis_core::input::{Input, World};
use glis_core::leftover::Leftovers;
use glis_wire::build::Build;
use glis_wire::home::Home;
use rustix::fs::Mode;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::net::UnixListener;
use tokio::sync::{mpsc, oneshot};

/// Why the daemon does not run.
#[derive(Debug, thiserror::Error)]
pub enum DaemonFault {
    /// Another one serves this house.
    #[error("already running (pid {pid})")]
    AlreadyRunning {
        /// Its process.
        pid: String,
    },
    /// The state folder is not usable.
    #[error("{}: {why}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The configuration has a fault.
    #[error("{0}")]
    Config(String),
    /// The event log cannot be used.
    #[error("{0}")]
    Log(String),
    /// The operating system refused something.
    #[error("{0}")]
    System(#[from] io::Error),
}

/// What only the program itself knows and can do.
pub struct Own {
    /// The build that it is of.
    pub build: Build,
    /// Has the first byte of a file set to `!` if this process ends itself by a fault.
    pub mark_death: fn(&File) -> io::Result<()>,
}

/// Runs the daemon of this house until it is told to end, as this build of the program. `ready` is
/// called once front ends are let in, with what whoever started it should know.
pub fn run(home: &Home, own: Own, ready: impl FnOnce(Option<&str>)) -> Result<(), DaemonFault> {
    let umask = rustix::process::umask(Mode::from_raw_mode(0o077));
    prepare(&home.state)?;
    let premises = Arc::new(Premises::take(&home.state)?);
    let (settings, opened) = Settings::read(home.config_file())
        .map_err(DaemonFault::Config)
        .and_then(|settings| Ok((settings, opening::open(home)?)))
        // Whoever started us may have gone before it could hear why we do not start.
        .inspect_err(|fault| diary(&fault.to_string()))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(work::THREADS)
        // A thread that is there is there when the system has none left to give: what asks for one
        // then fails for its own reasons, and the runtime does not.
        .thread_keep_alive(THREADS_STAY)
        .build()?;
    let outcome = runtime.block_on(async {
        let (line, inbox) = Line::new(opened.log.id());
        let strikes = Strikes::open(&home.state, own.mark_death);
        let umask = umask.as_raw_mode();
        let hands = Adapters::new(home.clone(), settings, strikes, line.clone(), umask);
        let unsettled: Vec<Session> = opened.house.all_sessions().cloned().collect();
        let copies = Copies::start(home, line.clone(), &opened.log, opened.stale)?;
        let controller = Controller::new(opened.house, opened.log, Arc::clone(&hands), copies);
        drop(tokio::spawn(clock(line.clone())));
        let (failed, failure) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("controller".to_owned())
            .spawn(move || drop(failed.send(controller.run(inbox))))?;
        diary(&format!("started, pid {}, version {}", std::process::id(), own.build));
        for note in &opened.notes {
            diary(note);
        }
        let repositories = unsettled.iter().map(trees::repository).collect();
        drop(tokio::task::spawn_blocking(move || trees::sweep(repositories)));
        recover(&hands, unsettled).await;
        let listener = premises.listen()?;
        ready(opened.told.as_deref());
        let result = serve_until_closed(&hands, (&premises, own.build), listener, failure).await;
        // Closed in order, the log is one file again, with nothing beside it.
        drop(thread.join());
        result
    });
    premises.leave();
    runtime.shutdown_background();
    outcome
}

/// Leaves the terminal and the folder of whoever started us: both may go away.
pub fn detach() {
    // It fails only for who leads a session already, which is all that is wanted.
    rustix::process::setsid().ok();
    std::env::set_current_dir("/").ok();
}

/// Where every session has its folder.
fn sessions_folder(home: &Home) -> PathBuf {
    home.state.join("sessions")
}

/// Finds out what became of everything that was under way, before anybody is let in.
async fn recover(hands: &Arc<Adapters>, sessions: Vec<Session>) {
    // Beside a session at rest nobody lives, unless the log has lost its end.
    let at_rest = |session: &Session| {
        matches!(session.phase, glis_core::Phase::Rest(_))
            && !session.expects_process()
            && session.saving.is_none()
            && !tend::is_locked(&hands.home.session(&session.id.0))
    };
    bar(hands).await;
    let mut tasks = tokio::task::JoinSet::new();
    for session in sessions {
        if !at_rest(&session) {
            let hands = Arc::clone(hands);
            tasks.spawn(async move { tend::recover(&hands, session).await });
        } else if session.is_left_unsaved() {
            let world = World::Gone { left: Leftovers::default() };
            hands.line.tell(Input::Observed { session: session.id, world }).await;
        }
    }
    while tasks.join_next().await.is_some() {}
}

/// What has taken the daemon down twice is not gone on with: that is on record before anything else
/// happens.
async fn bar(hands: &Arc<Adapters>) {
    let out = hands.strikes.out();
    if out.is_empty() {
        return;
    }
    for (session, strike) in out {
        let why = "the daemon died of it twice".to_owned();
        crate::diary(&format!("session {session}: {}: {why}", strike.what));
        hands.line.tell(Input::Broke { session, what: strike.what, why }).await;
    }
    // Questions are answered after everything before them is durable.
    drop(hands.line.look(controller::Look::Living).await);
    hands.strikes.forget_out();
}

async fn serve_until_closed(
    hands: &Arc<Adapters>,
    (premises, build): (&Arc<Premises>, Build),
    listener: UnixListener,
    failure: oneshot::Receiver<Result<(), LogFault>>,
) -> Result<(), DaemonFault> {
    let (close, wishes) = mpsc::channel(4);
    let (fresh, listeners) = mpsc::channel(1);
    let (moved, homeless) = oneshot::channel();
    let mut calls = Calls::new(wishes, homeless, failure)?;
    let (guard, guarded) = (Arc::clone(premises), Arc::clone(hands));
    let guarding = tokio::spawn(async move {
        moved.send(guard.guard(&guarded.home, &guarded.settings, &guarded.line, fresh).await).ok();
    });
    let (since, ending) = (Instant::now(), AtomicBool::new(false));
    let door = Arc::new(Door { hands: Arc::clone(hands), build, since, close, ending });
    let serving = tokio::spawn(serve::serve(Arc::clone(&door), listener, listeners));
    let called = match calls.next().await {
        // The log is the first to miss the folder that it lies in.
        Err(_) if !premises.is_in_place() => {
            serving.abort();
            guarding.abort();
            diary(&format!("{}; the agents run on", premises.moved()));
            return Ok(());
        }
        called => called?,
    };
    let left = match called {
        Closing::LeaveAgents => Vec::new(),
        Closing::SuspendAgents => {
            // Whatever began from now on would only have to be ended too.
            door.ending.store(true, Ordering::Relaxed);
            calls.suspend(hands).await?
        }
    };
    calls.tell(&left).await;
    serving.abort();
    guarding.abort();
    let (answer, closed) = oneshot::channel();
    drop(hands.line.mail.send(Mail::Close(answer)).await);
    drop(closed.await);
    diary("ended");
    Ok(())
}

/// The state folder: ours, private, not a link to somewhere else.
fn prepare(state: &Path) -> Result<(), DaemonFault> {
    let fault = |why: String| DaemonFault::Folder { path: state.to_owned(), why };
    durable::private_folder(state).map_err(|f| fault(f.to_string()))?;
    let facts = state.symlink_metadata().map_err(|f| fault(f.to_string()))?;
    if facts.is_symlink() {
        return Err(fault("it is a symbolic link; name its target instead".to_owned()));
    }
    if facts.uid() != rustix::process::getuid().as_raw() {
        return Err(fault("it belongs to another user".to_owned()));
    }
    if facts.mode() & 0o077 != 0 {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(state, mode).map_err(|f| fault(f.to_string()))?;
    }
    Ok(())
}

/// Longer than any daemon lives.
const THREADS_STAY: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// Standard error is a file: whoever starts the daemon sees to that. What git, an agent or a file
/// said may be in the text, and with it a secret.
fn diary(text: &str) {
    let text = glis_core::redact::redact(text);
    // A disk that is full is told of elsewhere; for want of a line nothing ends.
    drop(writeln!(io::stderr(), "{} {text}", clock::stamp()));
}
