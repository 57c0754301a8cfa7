//! What an agent on pipes writes to its standard error, capped.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;

use glis_wire::hold::place;
use rustix::io::Errno;

use crate::folder::Folder;

/// Two files of this size at most: the one that grows and the one before it.
const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// The file before the one that grows.
const BEFORE: &str = "errors.old";

/// As much as is read at once. Errors are few; a larger piece would only cost stack.
const PIECE_BYTES: usize = 4096;

/// As many as a pipe holds, and some.
const PIECES_PER_TURN: u32 = 32;

/// The pipe and the file that it is drained into.
#[derive(Debug)]
pub(crate) struct Errors {
    /// The pipe's end; `None` once the other end is closed.
    pub(crate) source: Option<OwnedFd>,
    file: Option<File>,
    bytes: u64,
    /// Where in the file that grows those of this agent begin.
    pub(crate) began: Option<u64>,
}

impl Errors {
    pub(crate) fn new(source: OwnedFd) -> Self {
        Self { source: Some(source), file: None, bytes: 0, began: None }
    }

    /// The folder is another one: so is the file.
    pub(crate) fn begin_anew(&mut self) {
        self.file = None;
        self.began = Some(0);
    }

    /// Drains what is there, up to a bound: a process that writes without end must not keep the holder
    /// from everything else. A disk that takes nothing does not stop the agent: what cannot be
    /// kept is lost.
    pub(crate) fn drain(&mut self, folder: &Folder) {
        let mut piece = [0; PIECE_BYTES];
        for _ in 0..PIECES_PER_TURN {
            let Some(source) = &self.source else { return };
            match rustix::io::read(source, &mut piece) {
                Ok(0) => self.source = None,
                Ok(len) => self.append(folder, &piece[..len]),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => self.source = None,
            }
        }
    }

    fn append(&mut self, folder: &Folder, bytes: &[u8]) {
        if self.bytes > FILE_BYTES_MAX {
            self.file = None;
            drop(folder.rename(place::ERRORS, BEFORE));
            self.began = Some(0);
        }
        if self.file.is_none() {
            self.file = folder.append(place::ERRORS).ok();
            let metadata = self.file.as_ref().and_then(|file| file.metadata().ok());
            self.bytes = metadata.map_or(0, |metadata| metadata.len());
            self.began.get_or_insert(self.bytes);
        }
        if let Some(file) = &mut self.file {
            match file.write_all(bytes) {
                Ok(()) => self.bytes += bytes.len() as u64,
                Err(_) => self.file = None,
            }
        }
    }
}
