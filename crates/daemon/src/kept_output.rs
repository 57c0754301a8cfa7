//! What a command writes, kept up to a bound: its beginning, and its end.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::thread::JoinHandle;

/// So much of the beginning is kept, and as much of the end.
const HALF: usize = 512 * 1024;

/// A thread that keeps what is written, until it is told that nothing more counts.
pub(crate) struct KeptOutput {
    thread: JoinHandle<io::Result<File>>,
    over: PipeWriter,
}

/// Keeps in a file what is written into the end that is handed out.
pub(crate) fn keep(log: File) -> io::Result<(PipeWriter, KeptOutput)> {
    let (written, writer) = io::pipe()?;
    let (ended, over) = io::pipe()?;
    let keeps = move || Keeping { written, log, size: 0, last: VecDeque::new() }.until(&ended);
    let thread = std::thread::Builder::new().name("output".to_owned()).spawn(keeps)?;
    Ok((writer, KeptOutput { thread, over }))
}

impl KeptOutput {
    /// The command has ended: the file with what it has written until now.
    pub(crate) fn end(self) -> io::Result<File> {
        drop(self.over);
        self.thread.join().map_err(|_| io::Error::other("its output was not read"))?
    }
}

struct Keeping {
    written: PipeReader,
    log: File,
    /// How much was written in all.
    size: usize,
    /// The end of what is not in the file yet.
    last: VecDeque<u8>,
}

impl Keeping {
    fn until(mut self, ended: &PipeReader) -> io::Result<File> {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let mut wait =
                [PollFd::new(&self.written, PollFlags::IN), PollFd::new(ended, PollFlags::IN)];
            match poll(&mut wait, None) {
                Err(Errno::INTR) => continue,
                other => other?,
            };
            let (more, over) = (!wait[0].revents().is_empty(), !wait[1].revents().is_empty());
            // A pipe holds as much as one read takes: what comes behind that was not written in time.
            let size = if more { self.written.read(&mut buffer)? } else { 0 };
            self.take(&buffer[..size])?;
            if over || size == 0 {
                break;
            }
        }
        let left_out = self.size.saturating_sub(2 * HALF);
        if left_out > 0 {
            writeln!(self.log, "\n[glis: {left_out} bytes are left out here]")?;
        }
        let (front, back) = self.last.as_slices();
        self.log.write_all(front)?;
        self.log.write_all(back)?;
        self.log.sync_all()?;
        Ok(self.log)
    }

    fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        let room = HALF.saturating_sub(self.size).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.log.write_all(first)?;
        self.size += bytes.len();
        self.last.extend(rest);
        let too_much = self.last.len().saturating_sub(HALF);
        self.last.drain(..too_much);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek as _, SeekFrom};

    fn kept(bytes: &[u8]) -> String {
        let (mut writer, keeps) = keep(tempfile::tempfile().unwrap()).unwrap();
        writer.write_all(bytes).unwrap();
        drop(writer);
        let mut log = keeps.end().unwrap();
        log.seek(SeekFrom::Start(0)).unwrap();
        let mut text = String::new();
        log.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn a_little_is_kept_whole_and_much_by_its_ends() {
        assert_eq!(kept(b"a\nb\n"), "a\nb\n");
        let much = [&b"first"[..], &vec![b'x'; 3 * HALF], b"last"].concat();
        let text = kept(&much);
        assert!(text.starts_with("first") && text.ends_with("last"));
        let left_out = format!("[glis: {} bytes are left out here]", much.len() - 2 * HALF);
        assert!(text.contains(&left_out) && text.len() < 2 * HALF + 100);
    }

    #[test]
    fn whoever_keeps_the_pipe_open_is_not_waited_for() {
        let (mut writer, keeps) = keep(tempfile::tempfile().unwrap()).unwrap();
        writer.write_all(b"all").unwrap();
        assert_eq!(keeps.end().unwrap().metadata().unwrap().len(), 3);
        drop(writer);
    }
}
