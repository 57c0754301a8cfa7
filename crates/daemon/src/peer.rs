//! One connection over a Unix socket, frame by frame.

use glis_os::descriptors::{peer, short_path};
use glis_wire::frame::{Decoder, Frame, encode_raw, encode_words};
use serde::Serialize;
use std::fs::File;
use std::io;
use std::path::Path;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

const READ_BYTES: usize = 64 * 1024;

/// A connection that speaks frames.
pub(crate) struct Peer {
    stream: UnixStream,
    decoder: Decoder,
}

impl Peer {
    pub(crate) fn new(stream: UnixStream) -> Self {
        Self { stream, decoder: Decoder::default() }
    }

    /// Connects to the socket `name` in `dir`, however long that path is.
    pub(crate) async fn connect(dir: &Path, name: &str) -> io::Result<Self> {
        let folder = File::open(dir)?;
        Ok(Self::new(UnixStream::connect(short_path(&folder, name)).await?))
    }

    /// The process at the other end, as it was when it connected.
    pub(crate) fn pid(&self) -> Option<i32> {
        peer(&self.stream).ok().map(|peer| peer.pid)
    }

    /// The next frame; `None` when the other side is gone. Nothing is lost if this is dropped
    /// before it is ready.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Frame>> {
        loop {
            let found = self.decoder.next_frame();
            if let Some(frame) = found.map_err(|f| io::Error::new(io::ErrorKind::InvalidData, f))? {
                return Ok(Some(frame));
            }
            self.stream.readable().await?;
            // The buffer lives only while there is something to read: an idle connection costs
            // no memory.
            let mut bytes = vec![0; READ_BYTES];
            match self.stream.try_read(&mut bytes) {
                Ok(0) => return Ok(None),
                Ok(read) => self.decoder.feed(bytes.get(..read).unwrap_or_default()),
                Err(fault) if fault.kind() == io::ErrorKind::WouldBlock => {}
                Err(fault) => return Err(fault),
            }
        }
    }

    pub(crate) async fn send<T: Serialize + Sync>(&mut self, words: &T) -> io::Result<()> {
        let frame = encode_words(words);
        self.stream.write_all(&frame).await
    }

    pub(crate) async fn send_raw(&mut self, tag: u64, bytes: &[u8]) -> io::Result<()> {
        let mut frame = Vec::with_capacity(bytes.len() + 16);
        encode_raw(&mut frame, tag, bytes);
        self.stream.write_all(&frame).await
    }

    /// Waits until the other side says something it should not say now, or goes away.
    pub(crate) async fn gone(&mut self) {
        let mut byte = [0; 1];
        drop(self.stream.read(&mut byte).await);
    }
}
