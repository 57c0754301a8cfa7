//! A holder's socket: its output from an offset on, and input for the agent.

use crate::incoming::{Incoming, Part};
use glis_os::descriptors::connect;
use glis_wire::frame::{encode_raw, encode_words};
use glis_wire::hold::{ExitRecord, Hello, Order, PROTOCOL, Report, Size, place};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// A connection to a session's holder. It does not block: the caller waits on its descriptor.
pub struct Holder {
    socket: OwnedFd,
    incoming: Incoming,
    outgoing: Vec<u8>,
    from: u64,
    /// Whether the holder has greeted: nothing is said to one that may speak another protocol.
    greeted: bool,
    /// The size that is wanted, until then.
    size: Option<Size>,
}

/// What a holder has said.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Heard<'h> {
    Output {
        /// Offset of the first byte.
        at: u64,
        bytes: &'h [u8],
    },
    /// The session has this size from this offset on.
    Resized { at: u64, size: Size },
    /// The agent's process has ended.
    Ended(Box<ExitRecord>),
    /// Nothing more for now.
    Nothing,
}

impl Holder {
    /// Connects to the holder of the session whose folder is `dir`, to follow its output from an offset
    /// on.
    pub fn follow(dir: &Path, from: u64) -> io::Result<Self> {
        let (socket, incoming, outgoing) =
            (connect(dir, place::SOCKET)?.into(), Incoming::new(), Vec::new());
        Ok(Self { socket, incoming, outgoing, from, greeted: false, size: None })
    }

    /// Whether a fault of [`Holder::follow`] means that there is no holder.
    pub fn is_absence(fault: &io::Error) -> bool {
        matches!(fault.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
    }

    /// Reads what has come. Returns false where the holder is gone.
    pub fn read(&mut self) -> io::Result<bool> {
        let socket = &self.socket;
        let came = self
            .incoming
            .fill(|space| Ok(rustix::net::recv(socket, space, RecvFlags::DONTWAIT)?.1));
        match came {
            Ok(count) => Ok(count > 0),
            Err(fault) if fault.kind() == io::ErrorKind::ConnectionReset => Ok(false),
            Err(fault) if is_patience(&fault) => Ok(true),
            Err(fault) => Err(fault),
        }
    }

    /// The next of what was read.
    pub fn hear(&mut self) -> io::Result<Heard<'_>> {
        loop {
            match self.incoming.next_part().map_err(io::Error::other)? {
                Part::Nothing => return Ok(Heard::Nothing),
                Part::Output { at, range } => {
                    return Ok(Heard::Output { at, bytes: self.incoming.bytes(range) });
                }
                Part::Report(report) => match *report {
                    Report::Hello(Hello { ended: Some(record), .. }) | Report::Ended(record) => {
                        return Ok(Heard::Ended(Box::new(record)));
                    }
                    Report::Hello(Hello { protocol, .. }) if protocol != PROTOCOL => {
                        return Err(io::Error::other(format!(
                            "the session's holder speaks protocol {protocol}, not {PROTOCOL}"
                        )));
                    }
                    Report::Hello(_) => {
                        self.greeted = true;
                        // The size first, so that what follows is made for it.
                        if let Some(size) = self.size {
                            self.resize(size);
                        }
                        let order = Order::Follow { from: self.from };
                        self.outgoing.extend_from_slice(&encode_words(&order));
                    }
                    Report::Resized { at, size } => return Ok(Heard::Resized { at, size }),
                    _ => {}
                },
            }
        }
    }

    /// Gives the session another size. Said right after connecting, what follows is made for it.
    pub fn resize(&mut self, size: Size) {
        if !self.greeted {
            self.size = Some(size);
            return;
        }
        self.outgoing.extend_from_slice(&encode_words(&Order::Resize(size)));
    }

    /// Hands input to the agent. It waits here until [`Holder::send`] gets rid of it.
    pub fn write(&mut self, input: &[u8]) {
        encode_raw(&mut self.outgoing, 0, input);
    }

    /// How much waits to be sent.
    pub fn waiting(&self) -> usize {
        self.outgoing.len()
    }

    /// Sends what the holder takes at once.
    pub fn send(&mut self) -> io::Result<()> {
        let mut sent = 0;
        while let Some(rest) = self.outgoing.get(sent..).filter(|rest| !rest.is_empty()) {
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            match rustix::net::send(&self.socket, rest, flags) {
                Ok(count) => sent += count,
                Err(Errno::INTR) => {}
                // A holder that hangs up has said its last words; reading will find them.
                Err(Errno::PIPE | Errno::CONNRESET) => sent = self.outgoing.len(),
                Err(Errno::AGAIN) => break,
                Err(fault) => return Err(fault.into()),
            }
        }
        self.outgoing.drain(..sent);
        Ok(())
    }
}

impl AsFd for Holder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn is_patience(fault: &io::Error) -> bool {
    matches!(fault.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
