//! From a launch to a holder, in an order that leaves nothing behind when a step fails.

use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use glis_wire::hold::{BirthFault, Face, Launch, Process, place};
use rustix::fs::Mode;
use rustix::io::retry_on_intr;
use rustix::process::Signal;

use crate::environment::Environment;
use crate::family::{self, Family};
use crate::folder::{Folder, LockFault, lock_at};
use crate::holder::{Facts, Holder, Parts};
use crate::log::Log;
use crate::output::Output;
use crate::spawn::{self, Fault, Spawned};
use crate::{kill, mend, sizes, socket, sys};

pub(crate) fn begin(launch: &Launch) -> Result<Holder, Fault> {
    own_session().map_err(|why| Fault::system("no session of its own", why))?;
    rustix::process::umask(Mode::from_raw_mode(0o077));
    let signals =
        sys::signals_as_file().map_err(|why| Fault::system("signals cannot be read", why))?;
    let folder = Folder::open(Path::new(&launch.dir))
        .map_err(|why| Fault::system("the session's folder cannot be used", why))?;
    let locks = take_locks(&folder, launch)?;
    refuse_leftovers(&launch.session, &launch.kept)?;
    // Everything is reached by handle from here on, and no folder is kept from being removed.
    rustix::process::chdir("/").map_err(|why| Fault::system("no root folder", why))?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|why| Fault::system("orphans cannot be adopted", why))?;

    let output = open_output(&folder, launch)
        .map_err(|why| Fault::system("the log cannot be opened", why))?;
    let listener =
        socket::listen(&folder).map_err(|why| Fault::system("the socket cannot be bound", why))?;
    let epoll = rustix::event::epoll::create(rustix::event::epoll::CreateFlags::CLOEXEC)
        .map_err(|why| Fault::system("no event queue", why))?;
    let spawned = spawn::spawn(launch).inspect_err(|_| drop(folder.remove(place::SOCKET)))?;
    let pid = spawned.pid;
    let facts = facts(launch, &spawned, output.end());
    let parts = Parts { folder, locks, epoll, signals, listener, output };
    let mut holder = Holder::begin(facts, parts, spawned).map_err(|why| {
        let _ = rustix::process::kill_process_group(pid, Signal::KILL);
        Fault::system("events cannot be awaited", why)
    })?;
    // Nothing was read yet, so this comes before the agent's first byte; and it comes only now,
    // because a start that fails must leave no trace in the log.
    holder.put_seam(launch.seam.as_deref().unwrap_or_default());
    holder.say_first(&launch.first_words);
    Ok(holder)
}

/// A holder whose parent has made it a leader of its session already is fine as it is.
fn own_session() -> io::Result<()> {
    match rustix::process::setsid() {
        Ok(_) => Ok(()),
        Err(_) if rustix::process::getsid(None)? == rustix::process::getpid() => Ok(()),
        Err(fault) => Err(fault.into()),
    }
}

pub(crate) fn read_launch() -> Result<Launch, Fault> {
    let text = read_whole(rustix::stdio::stdin())
        .map_err(|why| Fault::system("the launch could not be read", why))?;
    serde_json::from_slice(&text).map_err(|why| Fault::system("the launch is not understood", why))
}

/// Straight from the descriptor: the buffers of the standard streams are never given back.
pub(crate) fn read_whole(from: impl AsFd) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut piece = [0; 4096];
    loop {
        match retry_on_intr(|| rustix::io::read(&from, &mut piece))? {
            0 => return Ok(text),
            len => text.extend_from_slice(&piece[..len]),
        }
    }
}

fn take_locks(folder: &Folder, launch: &Launch) -> Result<Vec<(String, std::fs::File)>, Fault> {
    let refused = |what: &str, fault: LockFault| match fault {
        LockFault::Taken => Fault { kind: BirthFault::Locked, message: format!("{what} is taken") },
        LockFault::System(why) => Fault::system(what, why),
    };
    let mut own = folder.lock().map_err(|fault| refused("the session's lock", fault))?;
    mend::sign(&mut own);
    let mut locks = vec![(String::new(), own)];
    if let Some(path) = &launch.ref_lock {
        let lock = lock_at(path).map_err(|fault| refused("the agent session's lock", fault))?;
        locks.push((path.clone(), lock));
    }
    Ok(locks)
}

/// A holder that was killed leaves an agent that may live on: two must never run at once.
fn refuse_leftovers(session: &str, kept: &[Process]) -> Result<(), Fault> {
    let members = Family::marked(session).members();
    // What a pause has left running on purpose, and whatever that has started, is no agent.
    let left = members.iter().find(|member| !member.is_over() && !kill::is_kept(kept, member));
    let Some(left) = left else { return Ok(()) };
    let message = format!(
        "process {} of an earlier start still runs: {}",
        left.pid,
        family::command_of(left.pid)
    );
    Err(Fault { kind: BirthFault::Locked, message })
}

/// What the last generation could not write has used up its offsets all the same, and so has what was
/// deleted since.
fn open_output(folder: &Folder, launch: &Launch) -> io::Result<Output> {
    let recorded = folder.exit_record().map_or(0, |record| record.log_end);
    let used = recorded.max(sizes::last_offset(folder)).max(launch.output_from);
    Output::new(Log::open(folder.below(place::OUTPUT)?, launch.log_bytes_max, used)?)
}

fn facts(launch: &Launch, spawned: &Spawned, began_at: u64) -> Facts {
    let pid = spawned.pid.as_raw_pid();
    let nameless = || Process { pid, start_ticks: 0, boot_id: String::new() };
    Facts {
        session: launch.session.clone(),
        generation: launch.generation,
        process: family::mark_of(pid).unwrap_or_else(nameless),
        began_at,
        size: match launch.face {
            Face::Terminal(size) => Some(size.clamped()),
            Face::Pipes => None,
        },
        environment: Environment::of(&launch.env),
        limits: launch.limits.clone(),
        dir: launch.dir.clone(),
        log_bytes_max: launch.log_bytes_max,
    }
}
