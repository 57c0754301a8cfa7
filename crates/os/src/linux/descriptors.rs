//! What descriptors lead to: the other end of a socket, a folder that lies deep, a file without a name.

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::net::sockopt::socket_peercred;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// The process at the other end of a socket, as it was when it connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    pub pid: i32,
    pub is_own_user: bool,
}

/// Who is at the other end of this socket.
pub fn peer(socket: &impl AsFd) -> io::Result<Peer> {
    let peer = socket_peercred(socket)?;
    let is_own_user = peer.uid == rustix::process::geteuid();
    Ok(Peer { pid: peer.pid.as_raw_pid(), is_own_user })
}

/// A path to `name` in a folder, for as long as that is open. It fits into the address of a socket, which has room for
/// 107 bytes, however deep the folder lies.
pub fn short_path(folder: &impl AsFd, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}/{name}", folder.as_fd().as_raw_fd()))
}

/// Connects to the socket `name` in a folder.
pub fn connect(folder: &Path, name: &str) -> io::Result<UnixStream> {
    let folder = File::open(folder)?;
    UnixStream::connect(short_path(&folder, name))
}

/// Opens the file of a descriptor once more, to be read: also one that was deleted.
pub fn reopened(file: &File) -> io::Result<File> {
    File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// A file that is in memory alone.
pub fn in_memory(name: &str) -> io::Result<File> {
    Ok(File::from(memfd_create(name, MemfdFlags::CLOEXEC)?))
}
