//! The holder's socket: bound by handle, so that a path of any length works.

use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};

use glis_wire::hold::place;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};

use crate::folder::Folder;

/// Connections that wait to be accepted. The daemon and a few terminals are all there ever are.
const BACKLOG: i32 = 16;

/// Listens in the session's folder. A file that lies in the way is a dead holder's: the caller
/// has the lock.
pub(crate) fn listen(folder: &Folder) -> io::Result<OwnedFd> {
    folder.remove(place::SOCKET)?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    // The address has room for 107 bytes; this way the folder's path does not count.
    let path = format!("/proc/self/fd/{}/{}", folder.as_fd().as_raw_fd(), place::SOCKET);
    rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(socket)
}

/// The next connection of our own user; others are closed without a word.
pub(crate) fn accept(socket: &OwnedFd) -> Result<Option<OwnedFd>, Errno> {
    loop {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        match rustix::net::accept_with(socket, flags) {
            Ok(client) => {
                let peer = sockopt::socket_peercred(&client)?;
                if peer.uid == rustix::process::geteuid() {
                    return Ok(Some(client));
                }
            }
            Err(Errno::AGAIN) => return Ok(None),
            Err(Errno::INTR | Errno::CONNABORTED) => {}
            Err(fault) => return Err(fault),
        }
    }
}
