//! The agent's process and the streams between it and the holder.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use glis_wire::hold::{BirthFault, Face, Launch, MARK, MARK_GENERATION, Size};
use rustix::fs::OFlags;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::Pid;
use rustix::pty::OpenptFlags;
use rustix::termios::Winsize;

use crate::sys::{self, Controlling};
use crate::{limits, program};

/// What the holder has of the agent.
#[derive(Debug)]
pub(crate) struct Spawned {
    /// The agent's process, a child of ours.
    pub(crate) pid: Pid,
    pub(crate) ends: Ends,
}

#[derive(Debug)]
pub(crate) struct Ends {
    /// The terminal, or the pipe that the agent writes to.
    pub(crate) output: OwnedFd,
    /// The pipe that the agent reads from; with a terminal the output is the input as well.
    pub(crate) input: Option<OwnedFd>,
    pub(crate) errors: Option<OwnedFd>,
    /// The agent's end of the terminal. Held open, so that an agent that closes its last handle
    /// and opens the terminal again does not look like one that is gone.
    pub(crate) far_end: Option<OwnedFd>,
}

#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) kind: BirthFault,
    pub(crate) message: String,
}

impl Fault {
    /// A failure that the launch is not to blame for.
    pub(crate) fn system(what: &str, why: impl Into<io::Error>) -> Self {
        Self { kind: BirthFault::System, message: format!("{what}: {}", why.into()) }
    }
}

pub(crate) fn spawn(launch: &Launch) -> Result<Spawned, Fault> {
    let mut command = command(launch)?;
    let ([stdin, stdout, stderr], ends) =
        ends(launch.face).map_err(|why| Fault::system("no terminal or pipes", why))?;
    let controlling = match launch.face {
        Face::Terminal(_) => Controlling::Terminal,
        Face::Pipes => Controlling::Nothing,
    };
    sys::clean_slate(&mut command, controlling, launch.umask, limits::known_here(&launch.limits));
    command.stdin(Stdio::from(stdin)).stdout(Stdio::from(stdout)).stderr(Stdio::from(stderr));
    let child = command.spawn().map_err(|why| {
        let missing = [io::ErrorKind::NotFound, io::ErrorKind::PermissionDenied];
        let kind =
            if missing.contains(&why.kind()) { BirthFault::NoProgram } else { BirthFault::System };
        let name = launch.argv.first().map_or("", String::as_str);
        Fault { kind, message: format!("`{name}` could not be started: {why}") }
    })?;
    Ok(Spawned { pid: Pid::from_child(&child), ends })
}

fn command(launch: &Launch) -> Result<Command, Fault> {
    let cwd = Path::new(&launch.cwd);
    if !cwd.is_absolute() || !cwd.is_dir() {
        let message = format!("the working directory `{}` is not there", launch.cwd);
        return Err(Fault { kind: BirthFault::NoDirectory, message });
    }
    let (name, arguments) = launch.argv.split_first().ok_or_else(|| Fault {
        kind: BirthFault::NoProgram,
        message: "no program was named".to_owned(),
    })?;
    let program = program::find(name, &launch.env, cwd).ok_or_else(|| Fault {
        kind: BirthFault::NoProgram,
        message: format!("`{name}` is not a program on the agent's PATH"),
    })?;
    let mut command = Command::new(program);
    command.arg0(name).args(arguments).current_dir(cwd).env_clear();
    command.envs(launch.env.iter().map(|(key, value)| (key, value)));
    command.env(MARK, &launch.session).env("PWD", &launch.cwd);
    command.env(MARK_GENERATION, launch.generation.to_string());
    Ok(command)
}

/// The agent's standard streams, and our ends of them.
fn ends(face: Face) -> io::Result<([OwnedFd; 3], Ends)> {
    match face {
        Face::Terminal(size) => terminal(size),
        Face::Pipes => pipes(),
    }
}

fn terminal(size: Size) -> io::Result<([OwnedFd; 3], Ends)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let near = rustix::pty::openpt(flags)?;
    rustix::pty::grantpt(&near)?;
    rustix::pty::unlockpt(&near)?;
    let far = rustix::pty::ioctl_tiocgptpeer(&near, flags)?;
    rustix::termios::tcsetwinsize(&near, winsize(size.clamped()))?;
    without_blocking(&near)?;
    let agents = [far.try_clone()?, far.try_clone()?, far.try_clone()?];
    Ok((agents, Ends { output: near, input: None, errors: None, far_end: Some(far) }))
}

fn pipes() -> io::Result<([OwnedFd; 3], Ends)> {
    let (agent_in, input) = pipe_with(PipeFlags::CLOEXEC)?;
    let (output, agent_out) = pipe_with(PipeFlags::CLOEXEC)?;
    let (errors, agent_errors) = pipe_with(PipeFlags::CLOEXEC)?;
    for end in [&input, &output, &errors] {
        without_blocking(end)?;
    }
    let ends = Ends { output, input: Some(input), errors: Some(errors), far_end: None };
    Ok(([agent_in, agent_out, agent_errors], ends))
}

/// A size as the kernel takes it.
pub(crate) fn winsize(size: Size) -> Winsize {
    Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 }
}

fn without_blocking(end: &OwnedFd) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(end)?;
    Ok(rustix::fs::fcntl_setfl(end, flags | OFlags::NONBLOCK)?)
}
