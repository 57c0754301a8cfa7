//! Why there is no response from the daemon, in the command line's sentences.

use super::{Complaint, Kind};
use glis_client::{Fault, HomeFault, Stuck};
use std::path::Path;

impl From<Fault> for Complaint {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Home(fault) => home(fault),
            Fault::NotStarted { state, why } => {
                Self::new(Kind::NoDaemon, format!("the daemon cannot be started: {why}"))
                    .hint(format!("{} must be a folder that you can write to", state.display()))
            }
            Fault::DoesNotStart { why, log } => {
                let why = why.as_deref().unwrap_or("it ended without a word");
                Self::new(Kind::NoDaemon, format!("the daemon does not start: {why}"))
                    .hint(format!("`glis daemon log` shows its last lines, of {}", log.display()))
            }
            Fault::NoRoom { state } => Self::new(
                Kind::NoDaemon,
                format!("the disk is full: the daemon cannot write to {}", state.display()),
            )
            .hint(
                "free some space, then look with `glis ls` before you repeat what was asked: it may \
                 have been done; agents keep running",
            ),
            Fault::Stuck { what, log } => stuck(&what, &log),
            Fault::NewerDaemon { daemon, own } => Self::new(
                Kind::NoDaemon,
                format!(
                    "the daemon is newer than this command: it is {daemon}, this is {own}; nothing \
                     was done"
                ),
            )
            .hint(
                "use the newer glis; to go back to this one, `glis daemon stop` ends that daemon \
                 (its agents keep running) and the next command starts its own",
            ),
            Fault::OtherProtocol { daemon } => Self::new(
                Kind::NoDaemon,
                format!("the daemon is {daemon}, which speaks another protocol"),
            )
            .hint(
                "`glis daemon stop` ends it, its agents keep running; the next command starts one",
            ),
            Fault::Garbled(why) => Self::new(Kind::NoDaemon, why),
            Fault::Lost(why) => Self::new(
                Kind::NoDaemon,
                format!("the daemon went away before it answered ({why})"),
            )
            .hint(
                "what was asked may have been done: look with `glis ls` or `glis show NAME` before \
                 you retry; agents keep running, and the next command starts a daemon that finds them",
            ),
            Fault::ReaderGone => Self::new(Kind::ReaderGone, "the reader of the output is gone"),
            Fault::Refused(refusal) => refusal.into(),
            Fault::Unusable { message, hint } => Self::new(Kind::Usage, message).hint(hint),
            Fault::Trouble { kind, message } => Self::trouble(kind, message),
        }
    }
}

fn home(fault: HomeFault) -> Complaint {
    match fault {
        HomeFault::NotText => Complaint::new(Kind::NoDaemon, "GLIS_HOME is not valid UTF-8")
            .hint("set GLIS_HOME to another folder"),
        HomeFault::Relative { value, meant } => Complaint::new(
            Kind::Usage,
            format!(
                "GLIS_HOME is {value:?}, which would be another home in every folder: it must begin \
                 with a slash"
            ),
        )
        .hint(format!("set GLIS_HOME={}", meant.display())),
        HomeFault::Unset => Complaint::new(Kind::NoDaemon, "neither GLIS_HOME nor HOME is set")
            .hint("set GLIS_HOME to a folder of your own"),
    }
}

/// Something takes longer than it ever should.
fn stuck(what: &Stuck, log: &Path) -> Complaint {
    let (text, next) = match what {
        Stuck::StartedUnreachable => {
            ("the daemon started, but cannot be reached".to_owned(), "retry".to_owned())
        }
        Stuck::RunsUnreachable => {
            ("a daemon runs, but cannot be reached".to_owned(), "retry".to_owned())
        }
        Stuck::Silent { pid, after } => (
            format!("the daemon (pid {pid}) does not answer for {} s", after.as_secs()),
            format!("`kill -9 {pid}` ends it, its agents keep running"),
        ),
        Stuck::OtherStart { after } => (
            format!("another command is starting the daemon, for over {} s", after.as_secs()),
            "end that command and retry".to_owned(),
        ),
        Stuck::NotReady { after } => (
            format!("the daemon is not ready after {} s", after.as_secs()),
            "retry in a while".to_owned(),
        ),
        Stuck::NotReplaced { daemon, why } => {
            (format!("the daemon {daemon} cannot be replaced: {why}"), "retry".to_owned())
        }
        Stuck::Unkillable { daemon } => (
            format!("the daemon {daemon} does not end, even when it is killed"),
            "its disk may hang; retry when it answers".to_owned(),
        ),
    };
    Complaint::new(Kind::NoDaemon, text)
        .hint(format!("`glis daemon log` may say why ({}); {next}", log.display()))
}
