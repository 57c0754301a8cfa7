//! What was spoken, as text: by a command of the user's own, which gets the recording and prints the words.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use std::io::{self, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
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
    Failed {
        /// The program.
        program: String,
        /// What became of it.
        why: String,
    },
    /// It printed nothing.
    #[error("No words were found in the voice message.")]
    Nothing,
}

impl Voice {
    /// This command; empty if there is none.
    pub fn new(command: &[String]) -> Self {
        Self { command: command.to_vec(), time_max: TIME_MAX }
    }

    /// Whether there is a command.
    pub fn is_set(&self) -> bool {
        !self.command.is_empty()
    }

    /// The words of a recording.
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
        let said = Said::of(&mut child);
        let in_time = self.await_end(&child);
        let ended = end(&mut child).map_err(|fault| failed(format!("was lost: {fault}")))?;
        if !in_time {
            return Err(failed(format!("took longer than {} s", self.time_max.as_secs())));
        }
        if !ended.success() {
            return Err(failed(format!("failed ({ended})")));
        }
        let said = crate::text::clean(said.all().trim());
        if said.is_empty() { Err(Unheard::Nothing) } else { Ok(said) }
    }

    /// Waits until the command has ended; whether it did in time. It is not reaped here: its number must stay its own
    /// until its group is ended.
    fn await_end(&self, child: &Child) -> bool {
        let ended = pidfd_open(Pid::from_child(child), PidfdFlags::empty()).and_then(|fd| {
            let most = Timespec::try_from(self.time_max).ok();
            poll(&mut [PollFd::new(&fd, PollFlags::IN)], most.as_ref())
        });
        ended.is_ok_and(|ready| ready > 0)
    }
}

/// What a command prints.
struct Said {
    bytes: Arc<Mutex<Vec<u8>>>,
    end: Receiver<()>,
}

impl Said {
    /// Reads beside everything else; a command that prints too much is cut off.
    fn of(child: &mut Child) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (ended, end) = mpsc::channel();
        if let Some(output) = child.stdout.take() {
            let bytes = Arc::clone(&bytes);
            std::thread::spawn(move || {
                let mut output = output.take(BYTES_MAX);
                let mut some = [0; 4096];
                while let Ok(read @ 1..) = output.read(&mut some) {
                    let mut bytes = bytes.lock().unwrap_or_else(PoisonError::into_inner);
                    bytes.extend_from_slice(some.get(..read).unwrap_or_default());
                }
                drop(ended);
            });
        }
        Self { bytes, end }
    }

    /// All of it, once the command has ended. One that it has started may have left its group and keep the pipe open:
    /// that is not waited for.
    fn all(&self) -> String {
        let _ = self.end.recv_timeout(LEFT_OPEN);
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Ends the command with all that it has started.
fn end(child: &mut Child) -> io::Result<ExitStatus> {
    // One that is empty by now is no fault.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    child.wait()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    fn heard(script: &str, time_max: Duration) -> Result<String, Unheard> {
        let folder = tempfile::tempdir().unwrap();
        let recording = folder.path().join("voice.ogg");
        std::fs::write(&recording, "spoken").unwrap();
        let command = ["sh", "-c", script, "hear"].map(str::to_owned).to_vec();
        Voice { command, time_max }.hear(&recording)
    }

    const LONG: Duration = Duration::from_secs(60);
    const LOOK: Duration = Duration::from_millis(20);

    #[test]
    fn a_command_prints_what_was_spoken() {
        assert_eq!(heard("echo \" $(cat \"$1\") words \"", LONG).unwrap(), "spoken words");
        assert_eq!(heard("true", LONG), Err(Unheard::Nothing));
        assert_eq!(Voice::new(&[]).hear(Path::new("x")), Err(Unheard::NoCommand));
        let told = heard("echo words; exit 3", LONG).unwrap_err().to_string();
        assert!(told.contains("exit status: 3"), "{told}");
        let none = Voice::new(&["/no/such/program".to_owned()]);
        let told = none.hear(Path::new("/x")).unwrap_err().to_string();
        assert!(told.contains("/no/such/program") && told.contains("cannot be run"), "{told}");
    }

    /// One that leaves something behind, in its group or out of it, has said what it has said.
    #[test]
    fn what_a_command_leaves_behind_is_not_waited_for() {
        for left in ["sleep 600 &", "setsid sleep 5 &"] {
            let began = Instant::now();
            assert_eq!(heard(&format!("echo spoken; {left}"), LONG).unwrap(), "spoken", "{left}");
            assert!(began.elapsed() < Duration::from_secs(4), "{left}");
        }
        let much = heard("yes words | head -c 5000000", LONG).unwrap_or_default();
        assert!(much.len() <= 64 * 1024);
    }

    #[test]
    fn a_command_that_hangs_is_ended_with_all_that_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        let made = Command::new("mkfifo").arg(&fifo).status().unwrap();
        assert!(made.success());
        // Its child has the other end of the pipe open for as long as it lives.
        let script = format!("exec 3<>'{}'; cat <&3 & wait", fifo.display());
        let told = heard(&script, Duration::from_millis(300)).unwrap_err().to_string();
        assert!(told.contains("took longer"), "{told}");
        // While a reader is left this succeeds; a process that was killed takes a moment to go.
        let flags = rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::NONBLOCK;
        let is_read = || rustix::fs::open(&fifo, flags, rustix::fs::Mode::empty()).is_ok();
        let end = Instant::now() + LONG;
        while is_read() {
            assert!(Instant::now() < end, "its child lives on");
            std::thread::sleep(LOOK);
        }
    }
}
