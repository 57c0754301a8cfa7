//! Where holders are born: one process that is ready to be a holder, and forks for each session.
//!
//! A program that is started anew pays for its libraries, its relocations and its first
//! allocations with memory of its own. A fork shares all of that with its siblings until it writes
//! to it, so that a hundred idle holders cost little more than one. The nursery ends with the
//! daemon that started it; its holders do not notice.

use std::io;
use std::process::ExitCode;

use glis_wire::hold::{Birth, BirthFault, Launch};
use rustix::io::retry_on_intr;
use rustix::pipe::{PipeFlags, pipe_with};

use crate::sys::{self, Forked};
use crate::{announce, hold, say};

/// A launch with environment is some kilobytes; one of megabytes is a mistake.
const LINE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Reads launches from standard input, one JSON document a line, and answers each with the
/// [`Birth`] of its holder. Returns in the nursery when there are no more, and in each holder when
/// its work is done.
pub fn run_nursery() -> ExitCode {
    // A hang-up or a ^C is meant for the command that started the daemon.
    rustix::process::setsid().ok();
    sys::close_inherited();
    sys::leave_children_to_the_kernel();
    let mut pending = Vec::new();
    loop {
        let line = match read_line(&mut pending) {
            Ok(Some(line)) => line,
            Ok(None) => return ExitCode::SUCCESS,
            Err(_) => return ExitCode::FAILURE,
        };
        match bear(line) {
            Ok(Some(code)) => return code,
            Ok(None) => {}
            Err(fault) => {
                let message = format!("no holder was born: {fault}");
                announce(&Birth::Failed { kind: BirthFault::System, message });
            }
        }
    }
}

/// Forks. In the holder this returns when its work is done; in the nursery, once the holder has
/// said its first word, with nothing.
fn bear(line: Vec<u8>) -> io::Result<Option<ExitCode>> {
    let launch: Launch = serde_json::from_slice(&line)?;
    drop(line);
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
    match sys::fork()? {
        Forked::Child => {
            sys::await_own_children();
            let nothing = std::fs::File::open("/dev/null")?;
            rustix::stdio::dup2_stdin(&nothing)?;
            rustix::stdio::dup2_stdout(&writer)?;
            drop((nothing, reader, writer));
            Ok(Some(hold(launch)))
        }
        Forked::Parent => {
            drop(writer);
            let word = crate::birth::read_whole(&reader)?;
            if word.is_empty() {
                return Err(io::Error::other("it ended without a word"));
            }
            say(String::from_utf8_lossy(&word).trim_end());
            Ok(None)
        }
    }
}

/// The next line of standard input, straight from the descriptor.
fn read_line(pending: &mut Vec<u8>) -> io::Result<Option<Vec<u8>>> {
    let mut piece = [0; 4096];
    loop {
        if let Some(end) = pending.iter().position(|b| *b == b'\n') {
            let rest = pending.split_off(end + 1);
            return Ok(Some(std::mem::replace(pending, rest)));
        }
        if pending.len() > LINE_BYTES_MAX {
            return Err(io::ErrorKind::InvalidData.into());
        }
        match retry_on_intr(|| rustix::io::read(rustix::stdio::stdin(), &mut piece))? {
            0 => return Ok(None),
            len => pending.extend_from_slice(&piece[..len]),
        }
    }
}
