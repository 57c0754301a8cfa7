//! The command line's connections to the daemon, with a line for a person who has to wait for one.

use crate::progress::Progress;
use crate::words::plain;
use glis_client::{Client, Connector, Starter, Waiting, Watcher};
use glis_verbs::{Complaint, Kind};
use glis_wire::build::Build;
use glis_wire::call::{Face, Origin, Scope};
use glis_wire::home::Home;
use std::io::{self, Write as _};
use std::sync::OnceLock;
use std::time::Duration;

/// The build that this process is of.
static OWN: OnceLock<Build> = OnceLock::new();

/// Takes note of the build that this process is of. Only the program itself knows.
pub(crate) fn be(build: Build) {
    OWN.set(build).ok();
}

/// The key of the change that this process asks for.
static KEY: OnceLock<String> = OnceLock::new();

/// Takes note of the key of the change that this process asks for.
pub(crate) fn name_change(key: String) {
    KEY.set(key).ok();
}

/// Whether the change that this process asks for has a key.
pub(crate) fn names_change() -> bool {
    KEY.get().is_some()
}

/// The program's name, version and build.
pub(crate) fn version() -> String {
    format!("glis {}", own_build())
}

fn own_build() -> &'static Build {
    OWN.get_or_init(|| Build { version: env!("CARGO_PKG_VERSION").to_owned(), build: 0 })
}

pub fn find_home() -> Result<Home, Complaint> {
    Ok(glis_client::find_home()?)
}

/// Connects to the daemon, and starts it if there is none. One of an older build is replaced.
pub(crate) fn connect() -> Result<Client, Complaint> {
    let mut client = own()?.connect(&mut Watch::default())?;
    if let Some(key) = KEY.get() {
        client.name_next(key);
    }
    Ok(client)
}

/// Connects to a daemon that runs, of whatever build; `None` if there is none.
pub(crate) fn connect_running() -> Result<Option<Client>, Complaint> {
    Ok(own()?.connect_running(&mut Watch::default())?)
}

/// Before it is looked again whether another daemon follows one that has ended.
const FOLLOW_PACE: Duration = Duration::from_secs(1);

/// Connects once more, for what has shown something all the while. A daemon that died is started again; one that was
/// stopped is not, unless another follows at once, as the next build does.
pub(crate) fn connect_again() -> Result<Client, Complaint> {
    let own = own()?;
    for _ in 0..2 {
        if own.connect_running(&mut Watch::default())?.is_some() || !own.has_left() {
            return connect();
        }
        std::thread::sleep(FOLLOW_PACE);
    }
    Err(Complaint::new(Kind::NoDaemon, "the daemon was stopped; agents run on")
        .hint("`glis ls` starts it again"))
}

/// Ends a daemon that runs and does not understand us. Whether there was one.
pub(crate) fn end_foreign() -> Result<bool, Complaint> {
    Ok(own()?.end_foreign(&mut Watch::default())?)
}

/// Starts the next daemon if the one at whose pipe this process reads dies.
pub fn keep(umask: &str) -> Result<(), Complaint> {
    let home = find_home()?;
    glis_client::keep(&home, umask)
        .map_err(|fault| Complaint::new(Kind::Failed, format!("{}: {fault}", home.state.display())))
}

/// Has nothing start a daemon by itself.
pub(crate) fn dismiss_keeper() -> Result<(), Complaint> {
    own()?.dismiss_keeper();
    Ok(())
}

/// The way to the daemon for a face that this user has before them.
pub fn connector(face: Face, scope: Scope) -> Result<Connector, Complaint> {
    let (home, build) = (find_home()?, own_build().clone());
    let origin = Origin::new(face, user());
    Ok(Connector { home, build, origin, scope, starter: Starter::own() })
}

/// The command line's own.
fn own() -> Result<Connector, Complaint> {
    connector(Face::Cli, Scope::Manage)
}

/// Who uses the command line: the name that the environment has for the user, else the number.
fn user() -> String {
    let named = std::env::var("USER").ok().filter(|name| !name.is_empty());
    named.unwrap_or_else(|| rustix::process::getuid().as_raw().to_string())
}

/// Shows a person what is waited for.
#[derive(Default)]
struct Watch {
    progress: Option<(Waiting, Progress)>,
}

impl Watcher for Watch {
    fn waiting(&mut self, what: Waiting, since: Duration) {
        let known = self.progress.take().filter(|(shown, _)| *shown == what);
        let (_, progress) =
            self.progress.insert(known.unwrap_or_else(|| (what, Progress::new(line(what)))));
        progress.show(since);
    }

    fn note(&mut self, note: &str) {
        // A program that reads standard output must not find this in it.
        drop(writeln!(io::stderr(), "note: {}", plain(note)));
    }

    fn woken(&mut self, pid: i32) {
        self.note(&format!("the daemon (pid {pid}) had been stopped; it was woken"));
    }
}

fn line(what: Waiting) -> &'static str {
    match what {
        Waiting::ComingOrGoing => "waiting for the daemon to come or go",
        Waiting::Greeting => "waiting for the daemon",
        Waiting::OtherStart => "waiting for another command to start the daemon",
        Waiting::Start => "waiting for the daemon to start",
        Waiting::Replaced => "waiting for the daemon of another build to end",
    }
}
