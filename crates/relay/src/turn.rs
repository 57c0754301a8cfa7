//! One turn: the agent is started, handed the message, listened to, and waited for.

use crate::print;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

/// A complaint may stand before pages of help. More than this is not looked through.
const COMPLAINT_BYTES_MAX: usize = 16 * 1024;
/// So much of its end is worth telling as the end of a turn; node prints pages of it.
const WHY_BYTES_MAX: usize = 2000;
/// What an agent left behind may hold its output open for ever. This is enough for what is still on
/// its way when the agent itself is gone.
const LAST_WORDS_WAIT: Duration = Duration::from_secs(2);

/// The agent that runs at the moment, while it has not been waited for.
#[derive(Clone, Default)]
pub(crate) struct Current(Arc<Mutex<Option<Pid>>>);

impl Current {
    fn lock(&self) -> MutexGuard<'_, Option<Pid>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the agent to stop. Its number cannot be another's: it is ours until it is waited for.
    pub(crate) fn interrupt(&self) {
        if let Some(pid) = *self.lock() {
            kill_process(pid, Signal::INT).ok();
        }
    }
}

pub(crate) struct End {
    /// The exit status; a signal counts from 128 on, as in a shell. `None` if nothing was started.
    pub(crate) status: Option<i32>,
    /// Whether the agent said anything at all.
    pub(crate) spoke: bool,
    /// Its complaints, where it failed.
    pub(crate) why: String,
}

impl End {
    /// The end of its complaints.
    pub(crate) fn last_words(&self) -> &str {
        let from = self.why.len().saturating_sub(WHY_BYTES_MAX);
        let from = (from..self.why.len()).find(|at| self.why.is_char_boundary(*at));
        from.and_then(|from| self.why.get(from..)).unwrap_or_default()
    }
}

/// Runs the agent with a message on its standard input.
pub(crate) fn run(argv: &[String], text: &str, current: &Current) -> End {
    let Some((program, arguments)) = argv.split_first() else {
        return End { status: None, spoke: false, why: "no command line".to_owned() };
    };
    let mut command = Command::new(program);
    command.args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    match command.spawn() {
        Ok(child) => accompany(child, text, current),
        Err(fault) => End { status: None, spoke: false, why: format!("{program}: {fault}") },
    }
}

fn accompany(mut child: Child, text: &str, current: &Current) -> End {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    *current.lock() = pid;
    // One word comes of each, so that nobody waits for room.
    let (words, last_word) = mpsc::sync_channel(1);
    let (complaints, last_complaint) = mpsc::sync_channel(1);
    if let Some(stdout) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut spoke = false;
            for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
                spoke = true;
                print(&line);
            }
            words.send(spoke).ok();
        });
    }
    if let Some(mut stderr) = child.stderr.take() {
        std::thread::spawn(move || {
            let (mut all, mut piece) = (Vec::new(), [0; 4096]);
            while let Ok(read @ 1..) = stderr.read(&mut piece) {
                all.extend_from_slice(piece.get(..read).unwrap_or_default());
                let surplus = all.len().saturating_sub(COMPLAINT_BYTES_MAX);
                all.drain(..surplus);
            }
            complaints.send(String::from_utf8_lossy(&all).trim().to_owned()).ok();
        });
    }
    if let Some(mut stdin) = child.stdin.take() {
        // An agent that is gone already has its exit status to say so.
        drop(stdin.write_all(text.as_bytes()));
    }
    if let Some(pid) = pid {
        // Waits without taking the status, so that the number stays this agent's until it
        // can no longer be signalled.
        waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).ok();
    }
    *current.lock() = None;
    let status = child.wait().ok();
    let spoke = last_word.recv_timeout(LAST_WORDS_WAIT).unwrap_or(true);
    let why = last_complaint.recv_timeout(LAST_WORDS_WAIT).unwrap_or_default();
    let status = status
        .map(|status| status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default()));
    End { why: if status == Some(0) { String::new() } else { why }, status, spoke }
}
