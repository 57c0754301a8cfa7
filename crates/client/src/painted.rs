//! A session's screen as the daemon paints it once; from there on its holder is followed.

use crate::connection::{Client, Streamed};
use crate::fault::Fault;
use glis_wire::client::{Request, Response};
use glis_wire::hold::Size;
use glis_wire::view::SessionView;
use std::path::PathBuf;

/// A session's screen, and the way to its holder.
#[derive(Debug)]
pub struct Painted {
    /// The session.
    pub session: SessionView,
    /// What makes an empty terminal show it.
    pub bytes: Vec<u8>,
    /// The offset that it is as of.
    pub from: u64,
    /// How large it is.
    pub size: Size,
    /// The folder of its holder, if anything runs.
    pub holder_dir: Option<PathBuf>,
}

impl Client {
    /// Asks for a session's screen. As long as this connection is open the daemon knows who shows it.
    pub fn paint(&mut self, session: &str) -> Result<Painted, Fault> {
        let mut bytes = Vec::new();
        let request = Request::Attach { session: session.to_owned() };
        let answer = self.call_seeing(request, |streamed| {
            if let Streamed::Bytes(_, part) = streamed {
                bytes.extend(part);
            }
            Ok::<(), Fault>(())
        })?;
        let Response::Attached { session, from, size, holder_dir } = answer else {
            return Err(Fault::unfit());
        };
        let holder_dir = holder_dir.map(PathBuf::from);
        Ok(Painted { session: *session, bytes, from, size, holder_dir })
    }
}
