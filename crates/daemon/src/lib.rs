//! The daemon: one controller that owns all state, and the subsystems that act for it.
#![forbid(unsafe_code)]
// A new member of an enum of ours stops the compiler wherever it matters, and nothing silences that.
#![forbid(clippy::wildcard_enum_match_arm)]

mod access;
mod bounds;
mod cards;
mod check_list;
mod child;
mod clock;
mod common;
mod compact;
mod controller;
mod copies;
mod create;
mod day;
mod diagnostics;
mod dispatch;
mod doctor;
mod environments;
mod exit;
mod failpoint;
mod fault;
mod fill;
mod gate;
mod holder;
mod jobs;
mod judging;
mod keeper;
mod kept_output;
mod last_words;
mod launch;
mod links;
mod live;
mod locks;
mod log;
mod lookback;
mod looks;
mod mailbox;
mod naps;
mod notify;
mod nursery;
mod opening;
mod panics;
mod peer;
mod places;
mod plan_file;
mod plan_view;
mod plans;
mod pools;
mod premises;
mod pressure;
mod process;
mod program;
mod provision;
mod reading;
mod repo_hooks;
mod resets;
mod rest;
mod returns;
mod rooms;
mod rules;
mod run_records;
mod screens;
mod serve;
mod settings;
mod shell_line;
mod shutdown;
mod strays;
mod strikes;
mod supervise;
mod sweep;
mod tasks;
mod timers;
mod trash;
mod trees;
mod turns;
mod view;
mod views;
mod worktrees;

pub use crate::fault::DaemonFault;
pub use crate::fill::fill_log;
pub use crate::keeper::Standing;
pub use crate::shell_line::parent::run as run_line;

use crate::controller::Controller;
use crate::copies::{Copies, clock};
use crate::mailbox::Mailbox;
use crate::premises::Premises;
use crate::rooms::Rooms;
use crate::settings::Settings;
use crate::strikes::Strikes;
use crate::tasks::beside;
use glis_wire::build::Build;
use glis_wire::home::Home;
use rustix::fs::Mode;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, oneshot};
use tracing::{info, warn};

/// What only the program itself knows and can do.
pub struct Own {
    pub standing: Standing,
    pub build: Build,
    /// Has the first byte of a file set to `!` if this process ends itself by a fault.
    pub mark_death: fn(&File) -> io::Result<()>,
    /// Gives back memory that it does not need while it sleeps.
    pub give_back_memory: fn(),
}

/// Runs the daemon of this house until it is told to end, as this build of the program. `ready` is
/// called once front ends are let in, with what the command that started it should know.
pub fn run(home: &Home, own: Own, ready: &dyn Fn(Option<&str>)) -> Result<(), DaemonFault> {
    if own.standing == Standing::Alone {
        detach();
    }
    let umask = rustix::process::umask(Mode::from_raw_mode(0o077));
    prepare(&home.state)?;
    diagnostics::begin(&home.state);
    let premises = Arc::new(Premises::take(&home.state)?);
    let (settings, opened) = Settings::open(home.config_file(), copies::folder(&home.state))
        .map_err(DaemonFault::Config)
        .and_then(|settings| Ok((settings, opening::open(home)?)))
        // The command that started us may have gone before it could hear why we do not start.
        .inspect_err(|fault| warn!("{fault}"))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(pools::threads())
        // A thread that is there is there when the system has none left to give: what asks for one
        // then fails for its own reasons, and the runtime does not.
        .thread_keep_alive(THREADS_STAY)
        .build()?;
    let outcome = runtime.block_on(async {
        let (mailbox, inbox) = Mailbox::new(opened.log.id());
        let strikes = Strikes::open(&home.state, own.mark_death);
        let umask = umask.as_raw_mode();
        let rooms = Rooms::new(home, settings, strikes, mailbox.clone(), umask, own.standing);
        let rooms = Arc::new(rooms);
        let (news, last) = (mailbox.news.subscribe(), opened.house.last_seq());
        let all = opened.house.all_sessions();
        let unsettled: Vec<_> = all.filter_map(|s| opened.house.shared(&s.id)).collect();
        let copies = Copies::start(home, mailbox.clone(), &opened.log, opened.stale)?;
        let (actor, mail) = (rooms.dispatcher(), mailbox.clone());
        let controller = Controller::new(opened.house, opened.log, mail, actor, copies);
        beside(clock(mailbox.clone()));
        let (failed, failure) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("controller".to_owned())
            .spawn(move || drop(failed.send(controller.run(inbox))))?;
        info!("started, pid {}, version {}", std::process::id(), own.build);
        for note in &opened.notes {
            warn!("{note}");
        }
        let repositories = unsettled.iter().map(|session| worktrees::repository(session)).collect();
        rooms.sweep(repositories);
        beside(rooms.notifier().run(news, last));
        rooms.recover(unsettled).await;
        beside(rooms.plans().follow_files());
        let listener = premises.listen()?;
        ready(opened.told.as_deref());
        let called = Arc::new(Notify::new());
        let (news, calls) = (mailbox.news.subscribe(), Arc::clone(&called));
        let idle = Arc::clone(&rooms);
        beside(rest::after_each_burst(news, calls, move || {
            idle.forget();
            (own.give_back_memory)();
        }));
        let result = rooms.serve((&premises, own.build, called), listener, failure).await;
        // Closed in order, the log is one file again, with nothing beside it.
        drop(thread.join());
        result
    });
    premises.leave();
    runtime.shutdown_background();
    outcome
}

/// Leaves the terminal and the folder of the command that started us: both may go away.
pub fn detach() {
    // It fails only for a process that leads a session already, which is all that is wanted.
    rustix::process::setsid().ok();
    std::env::set_current_dir("/").ok();
}

/// The state folder: ours, private, not a link to somewhere else.
fn prepare(state: &Path) -> Result<(), DaemonFault> {
    let fault = |why: String| DaemonFault::Folder { path: state.to_owned(), why };
    glis_record::durable::private_folder(state).map_err(|f| fault(f.to_string()))?;
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

#[cfg(test)]
mod tests;
