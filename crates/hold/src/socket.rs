//! The holder's socket: bound by handle, so that a path of any length works.

use std::io;
use std::os::fd::OwnedFd;

use glis_os::descriptors::{peer, short_path};
use glis_wire::hold::place;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use crate::folder::Folder;

/// Connections that wait to be accepted. The daemon and a few terminals are all there ever are.
const BACKLOG: i32 = 16;

/// Listens in the session's folder. A file that lies in the way is a dead holder's: the caller
/// has the lock.
pub(crate) fn listen(folder: &Folder) -> io::Result<OwnedFd> {
    folder.remove(place::SOCKET)?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(short_path(folder, place::SOCKET))?)?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(socket)
}

/// The next connection of our own user; others are closed without a word.
pub(crate) fn accept(socket: &OwnedFd) -> io::Result<Option<OwnedFd>> {
    loop {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        match rustix::net::accept_with(socket, flags) {
            Ok(client) => {
                if peer(&client)?.is_own_user {
                    return Ok(Some(client));
                }
            }
            Err(Errno::AGAIN) => return Ok(None),
            Err(Errno::INTR | Errno::CONNABORTED) => {}
            Err(fault) => return Err(fault.into()),
        }
    }
}
