//! A line for the shell that says whether a session's work is done: run in its worktree, within its time,
//! its output kept, never two of them at once, and ended when nobody waits for its word any more.

pub(crate) mod parent;

use crate::child::{end_all, last_words};
use crate::environments::Env;
use crate::kept_output::keep;
use crate::panics::held;
use glis_core::SessionId;
use glis_os::Handle;
use glis_os::process::OWN_PROGRAM;
use glis_record::durable;
use glis_snapshot::Task;
use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The parent of a line takes at most five seconds to end what that has left.
const PARENT_WAIT: Duration = Duration::from_secs(10);

/// What is needed to run it.
pub(crate) struct ShellLine {
    pub(crate) command: String,
    pub(crate) env: Env,
    pub(crate) worktree: PathBuf,
    /// The session's own folder.
    pub(crate) dir: PathBuf,
    /// The file in it that names the processes of the last one, which a daemon that died has left behind.
    pub(crate) mark: &'static str,
    /// Where its output is kept; its folder is there, or is `dir`.
    pub(crate) log: PathBuf,
    pub(crate) secs_max: u32,
    /// So much of the end of its output is told.
    pub(crate) told_bytes_max: u64,
    /// The mode of the user's own files: what it makes is theirs, not ours.
    pub(crate) umask: u32,
}

pub(crate) enum End {
    Well,
    Failed(ExitStatus),
    /// Not by itself: its time was over.
    TooLate,
    /// Nobody waits for its word any more.
    CutShort,
    /// Another one is wanted in its place, and will tell.
    Replaced,
}

/// The lines that are wanted, at most one a session.
#[derive(Debug, Default)]
pub(crate) struct ShellLines(Mutex<Slots>);

#[derive(Debug, Default)]
struct Slots {
    last: u64,
    slots: HashMap<SessionId, (u64, Wanted)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    ToCome,
    Runs(Pid),
    NoMore,
}

impl Wanted {
    /// Ends it if it runs. As long as the table is locked, the child is not collected: its number is its
    /// own.
    fn end(self) {
        if let Self::Runs(pid) = self {
            kill_process_group(pid, Signal::KILL).ok();
        }
    }
}

impl ShellLines {
    /// A line is wanted for a session from now on, in the place of any other.
    pub(crate) fn want(self: &Arc<Self>, session: &SessionId) -> Ticket {
        let mut known = held(&self.0);
        known.last += 1;
        let number = known.last;
        if let Some((_, former)) = known.slots.insert(session.clone(), (number, Wanted::ToCome)) {
            former.end();
        }
        Ticket { lines: Arc::clone(self), session: session.clone(), number }
    }

    /// Ends the line of a session, or keeps it from beginning.
    pub(crate) fn cut_short(&self, session: &SessionId) {
        if let Some((_, wanted)) = held(&self.0).slots.get_mut(session) {
            wanted.end();
            *wanted = Wanted::NoMore;
        }
    }
}

/// That a line is wanted, until this is dropped.
pub(crate) struct Ticket {
    lines: Arc<ShellLines>,
    session: SessionId,
    /// No other ticket of this daemon has it.
    pub(crate) number: u64,
}

impl Ticket {
    /// Starts it, unless it is not wanted any more: how it has ended then.
    fn begin(&self, command: &mut Command) -> io::Result<Result<Child, End>> {
        let mut known = held(&self.lines.0);
        match known.standing(self) {
            Ok(wanted) => {
                let child = command.spawn()?;
                *wanted = Wanted::Runs(Pid::from_child(&child));
                Ok(Ok(child))
            }
            Err(end) => Ok(Err(end)),
        }
    }

    /// It has ended and is about to be collected. How, if it was not wanted to its end.
    fn ended(&self) -> Option<End> {
        let mut known = held(&self.lines.0);
        known.standing(self).map(|wanted| *wanted = Wanted::ToCome).err()
    }
}

impl Slots {
    /// What is known of the line that this ticket is for, if it is still wanted.
    fn standing(&mut self, ticket: &Ticket) -> Result<&mut Wanted, End> {
        match self.slots.get_mut(&ticket.session) {
            Some((number, Wanted::NoMore)) if *number == ticket.number => Err(End::CutShort),
            Some((number, wanted)) if *number == ticket.number => Ok(wanted),
            Some(_) | None => Err(End::Replaced),
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut known = held(&self.lines.0);
        if known.slots.get(&self.session).is_some_and(|(number, _)| *number == self.number) {
            known.slots.remove(&self.session);
        }
    }
}

impl ShellLine {
    /// Ends what a former one has started: two at once would be in each other's way.
    pub(crate) fn end_former(&self) {
        if let Ok(mark) = std::fs::read_to_string(self.dir.join(self.mark)) {
            end_all(&Task::of_mark(mark));
        }
    }

    /// Runs it to its end, which comes with its last words. One that somebody has a ticket for is cut
    /// short by who takes that away. The error is why it could not be run.
    #[expect(clippy::disallowed_methods, reason = "the line is a process with a parent of its own")]
    pub(crate) fn run(&self, ticket: Option<&Ticket>) -> io::Result<(End, String)> {
        durable::private_folder(&self.dir)?;
        self.end_former();
        let task = Task::new();
        let (variable, mark) = task.variable();
        durable::write(&self.dir, self.mark, mark.as_bytes())?;
        let mut log = File::options();
        let log = log.create(true).truncate(true).read(true).write(true).mode(0o600);
        // A link in its place leads elsewhere.
        let log = log.custom_flags(OFlags::NOFOLLOW.bits().cast_signed()).open(&self.log)?;
        let (output, kept) = keep(log)?;
        // It is not our own child: whoever it takes for its parent, and whatever it leaves behind.
        let mut parent = Command::new(OWN_PROGRAM);
        parent.arg("adopt").arg(format!("umask {:04o}\n{}", self.umask, self.command));
        parent.current_dir(&self.worktree).env_clear().envs(self.env.clone());
        parent.env("PWD", &self.worktree).env(variable, &mark);
        parent.stdin(Stdio::null()).process_group(0);
        parent.stdout(output.try_clone()?).stderr(output);
        let child = match ticket {
            Some(ticket) => ticket.begin(&mut parent)?,
            None => Ok(parent.spawn()?),
        };
        let mut child = match child {
            Ok(child) => child,
            Err(end) => return Ok((end, String::new())),
        };
        // It has its own limit, and may well wait for something.
        let in_time = glis_snapshot::patiently(|| {
            glis_os::ends_within(&child, Duration::from_secs(self.secs_max.into()))
        });
        let unwanted = ticket.and_then(Ticket::ended);
        // The line is over, and its parent ends the rest, unless somebody has stopped it.
        if !Handle::of(&child)?.ends_within(PARENT_WAIT) {
            child.kill()?;
        }
        let status = child.wait()?;
        // A parent that was killed has left them.
        end_all(&task);
        drop(parent);
        let mut log = kept.end()?;
        std::fs::remove_file(self.dir.join(self.mark)).ok();
        let end = match (unwanted, in_time, status.success()) {
            (Some(end), _, _) => end,
            (None, true, true) => End::Well,
            (None, true, false) => End::Failed(status),
            (None, false, _) => End::TooLate,
        };
        Ok((end, last_words(&mut log, self.told_bytes_max)))
    }
}
