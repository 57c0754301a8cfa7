//! What the agent does wrong on request, as real agents do by accident.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process};
use serde_json::json;

use crate::agent::{Agent, Helper, HelperKind};
use crate::face::Mode;
use crate::flow::{self, Flow, unless_interrupted};
use crate::tool;

/// How long the agent goes on working after it printed what looks like a prompt.
const AFTER_NOISE: Duration = Duration::from_secs(1);

/// Between two looks at the input, so much is printed: often enough to be interrupted at once.
const FLOOD_BYTES: usize = 64 * 1024;

const MEGABYTE: usize = 1_000_000;

/// Starts a process that outlives the turn, the agent, and a kill of the agent's group.
pub(crate) fn orphan(agent: &mut Agent, time: Duration) -> Flow {
    let mut sleep = sleep(time);
    glis_os::in_own_session(&mut sleep);
    start(agent, "orphan", time, &mut sleep, HelperKind::Orphan)
}

/// Starts a process that outlives the turn, and says when it ends.
pub(crate) fn background(agent: &mut Agent, time: Duration) -> Flow {
    let mut sleep = sleep(time);
    sleep.process_group(0);
    start(agent, "background", time, &mut sleep, HelperKind::Background)
}

/// Takes memory and keeps it.
pub(crate) fn hold(agent: &mut Agent, megabytes: usize) -> Flow {
    agent.weigh(megabytes * MEGABYTE);
    unless_interrupted(agent)
}

/// Kills itself in a way that nothing can be done about.
pub(crate) fn crash() -> ! {
    let _ = kill_process(getpid(), Signal::KILL);
    // Not reached: the signal cannot be caught, and comes before the call returns.
    glis_os::exit_now(137)
}

pub(crate) fn noise(agent: &mut Agent) -> Flow {
    agent.show(|face, out| face.noise(out))?;
    flow::work(agent, AFTER_NOISE)
}

/// Prints bytes that are neither text nor sense, the same ones every time.
pub(crate) fn garbage(agent: &mut Agent, count: usize) -> Flow {
    let bytes: Vec<u8> = Noise::new().take(count).collect();
    agent.put(&bytes)?;
    agent.show(|face, out| face.recover(out))?;
    unless_interrupted(agent)
}

/// Prints coloured lines as fast as they are read; the transcript does not get them.
pub(crate) fn flood(agent: &mut Agent, megabytes: u32) -> Flow {
    let total = usize::try_from(megabytes).unwrap_or(usize::MAX).saturating_mul(MEGABYTE);
    let (mut printed, mut number) = (0, 0_u64);
    while printed < total && !agent.is_interrupted() {
        let wanted = FLOOD_BYTES.min(total - printed);
        agent.show(|face, out| {
            while out.len() < wanted {
                number += 1;
                let colour = 31 + number % 6;
                let line = format!("\x1b[{colour}mflood line {number} of many\x1b[0m");
                face.flood_line(&line, out);
            }
            printed += out.len();
        })?;
        agent.glance()?;
    }
    // The lines went over the footer, which has to come back.
    agent.show(|face, out| face.mode(Mode::Working, out))?;
    unless_interrupted(agent)
}

fn sleep(time: Duration) -> Command {
    let mut command = Command::new("sleep");
    command.arg(time.as_secs_f64().to_string());
    // Not the agent's own stdio: its reader would wait for the child instead.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn start(
    agent: &mut Agent,
    tool: &str,
    time: Duration,
    command: &mut Command,
    kind: HelperKind,
) -> Flow {
    let input = json!({ "secs": time.as_secs_f64() });
    tool::at_once(agent, tool, input, |agent| {
        let keep = |child: Child| -> io::Result<u32> {
            let pid = child.id();
            agent.add_helper(Helper { child, kind })?;
            Ok(pid)
        };
        let pid = command.spawn().and_then(keep).map_err(|error| error.to_string())?;
        Ok(format!("pid {pid}"))
    })
}

/// Bytes from a fixed seed (xorshift), drawn to what upsets readers: controls and broken UTF-8.
struct Noise {
    state: u32,
}

impl Noise {
    fn new() -> Self {
        Self { state: 0x9e37_79b9 }
    }
}

impl Iterator for Noise {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 17;
        self.state ^= self.state << 5;
        let [low, high, ..] = self.state.to_le_bytes();
        // Half controls, half bytes above ASCII, which are hardly ever valid in a row.
        Some(if high % 2 == 0 { low % 0x20 } else { low | 0x80 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn garbage_is_no_text_and_the_same_every_time() {
        let bytes: Vec<u8> = Noise::new().take(200).collect();
        assert!(std::str::from_utf8(&bytes).is_err());
        assert!(bytes.contains(&0x1b));
        assert_eq!(bytes, Noise::new().take(200).collect::<Vec<u8>>());
    }
}
