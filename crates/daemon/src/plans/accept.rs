//! The command that says whether a task is done: run in its worktree, its output kept.

use crate::shell_line::{End, ShellLine, Ticket};

/// Names the processes of the last one, which a daemon that died has left behind.
pub(super) const MARK: &str = "accept.mark";

/// So much of the end of its output is told: an agent mends what it sees, and the whole is in the log.
pub(super) const TOLD_BYTES: u64 = 8 * 1024;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Acceptance {
    Accepted,
    Refused(String),
    /// A person did not wait for it.
    CutShort,
    /// It is judged once more, and what comes of that counts.
    Replaced,
}

/// Runs the command to its end. The error is why it could not be judged at all.
pub(super) fn run(line: &ShellLine, ticket: &Ticket) -> Result<Acceptance, String> {
    let (end, said) =
        line.run(Some(ticket)).map_err(|fault| format!("`accept` cannot be run: {fault}"))?;
    let how = match end {
        End::Well => return Ok(Acceptance::Accepted),
        End::CutShort => return Ok(Acceptance::CutShort),
        End::Replaced => return Ok(Acceptance::Replaced),
        End::Failed(status) => status.to_string(),
        End::TooLate => format!("no end after {} s", line.secs_max),
    };
    let said = if said.is_empty() { "it printed nothing".to_owned() } else { said };
    Ok(Acceptance::Refused(format!("`{}`: {how}\n{said}", line.command)))
}
