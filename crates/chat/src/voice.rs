//! What was spoken, as text: by a command of the user's own, which gets the recording and prints the words.

use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{self, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

/// A recording of a minute takes a small model some seconds; what takes longer than this hangs.
const TIME_MAX: Duration = Duration::from_secs(120);
/// More was not spoken.
const BYTES_MAX: u64 = 64 * 1024;
/// What was printed by a command that has ended is here within this, whoever holds its pipe.
const LEFT_OPEN: Duration = Duration::from_secs(1);

/// The command, if there is one.
#[derive(Debug, Clone)]
pub struct Voice {
    command: Vec<String>,
    time_max: Duration,
}

/// Why there are no words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unheard {
    /// No command is set.
    #[error(
        "Voice messages need a command that turns them into text: set `voice_command` in [chat.telegram]."
    )]
    NoCommand,
    /// It could not be run, or it failed.
    #[error("The voice message was not understood: `{program}` {why}.")]
    Failed { program: String, why: String },
    #[error("No words were found in the voice message.")]
    Nothing,
}

impl Voice {
    /// This command; empty if there is none.
    pub fn new(command: &[String]) -> Self {
        Self { command: command.to_vec(), time_max: TIME_MAX }
    }

    pub fn is_set(&self) -> bool {
        !self.command.is_empty()
    }

    pub fn hear(&self, recording: &Path) -> Result<String, Unheard> {
        let Some((program, words)) = self.command.split_first() else {
            return Err(Unheard::NoCommand);
        };
        let program = crate::home::expand(program);
        let failed = |why: String| Unheard::Failed { program: crate::home::text(&program), why };
        let mut command = Command::new(&program);
        command.args(words).arg(recording);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        // In a group of its own, so that what it has started is ended with it.
        command.process_group(0).env_remove("CREDENTIALS_DIRECTORY");
        if let Some(folder) = recording.parent() {
            command.current_dir(folder);
        }
        let mut child =
            command.spawn().map_err(|fault| failed(format!("cannot be run: {fault}")))?;
        let said = read(&mut child);
        // It is not reaped here: its number must stay its own until its group is ended.
        let in_time = glis_os::ends_within(&child, self.time_max);
        let ended = end(&mut child).map_err(|fault| failed(format!("was lost: {fault}")))?;
        if !in_time {
            return Err(failed(format!("took longer than {} s", self.time_max.as_secs())));
        }
        if !ended.success() {
            return Err(failed(format!("failed ({ended})")));
        }
        let said = crate::text::clean(all(&said).trim());
        if said.is_empty() { Err(Unheard::Nothing) } else { Ok(said) }
    }
}

/// Reads what a command prints beside everything else; one that prints too much is cut off.
fn read(child: &mut Child) -> Receiver<Vec<u8>> {
    let (send, pieces) = mpsc::channel();
    if let Some(output) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut output = output.take(BYTES_MAX);
            let mut some = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut some) {
                drop(send.send(some.get(..read).unwrap_or_default().to_vec()));
            }
        });
    }
    pieces
}

/// All of it, once the command has ended. One that it has started may have left its group and keep the pipe open:
/// that is not waited for.
fn all(pieces: &Receiver<Vec<u8>>) -> String {
    let began = std::time::Instant::now();
    let left = || LEFT_OPEN.saturating_sub(began.elapsed());
    let bytes: Vec<u8> =
        std::iter::from_fn(|| pieces.recv_timeout(left()).ok()).flatten().collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Ends the command with all that it has started.
fn end(child: &mut Child) -> io::Result<ExitStatus> {
    // One that is empty by now is no fault.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    child.wait()
}

#[cfg(test)]
mod tests;
