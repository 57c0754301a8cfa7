//! The tools: files and commands, each with a start and an end in the transcript.

use std::fs::{self, OpenOptions};
use std::io::{self, PipeReader, Read as _, Write as _};
use std::ops::ControlFlow;
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

use crate::agent::Agent;
use crate::flow::{Flow, GO_ON, unless_interrupted};
use crate::record::{Body, Outcome};
use crate::script::Rate;
use crate::sys;

/// What a tool has to show for itself: its output, or why it failed.
pub(crate) type Shown = Result<String, String>;

/// Real agents cut long outputs too; a transcript line has to stay readable.
const OUTPUT_BYTES_MAX: usize = 30_000;

pub(crate) fn write(agent: &mut Agent, path: &str, text: &str) -> Flow {
    let input = json!({ "path": path, "text": text });
    at_once(agent, "write", input, |_| {
        make_room(path).and_then(|()| fs::write(path, text)).map_err(|error| error.to_string())?;
        Ok(format!("wrote {} bytes to {path}", text.len()))
    })
}

pub(crate) fn append(agent: &mut Agent, path: &str, text: &str) -> Flow {
    let input = json!({ "path": path, "text": text });
    at_once(agent, "append", input, |_| {
        add(path, text).map_err(|error| error.to_string())?;
        Ok(format!("appended {} bytes to {path}", text.len()))
    })
}

pub(crate) fn edit(agent: &mut Agent, path: &str, old: &str, new: &str) -> Flow {
    let input = json!({ "path": path, "old": old, "new": new });
    at_once(agent, "edit", input, |_| {
        let before = fs::read_to_string(path).map_err(|error| error.to_string())?;
        if !before.contains(old) {
            return Err(format!("{path} does not contain the old text"));
        }
        fs::write(path, before.replacen(old, new, 1)).map_err(|error| error.to_string())?;
        Ok(format!("edited {path}"))
    })
}

pub(crate) fn delete(agent: &mut Agent, path: &str) -> Flow {
    at_once(agent, "delete", json!({ "path": path }), |_| {
        fs::remove_file(path).map_err(|error| error.to_string())?;
        Ok(format!("deleted {path}"))
    })
}

/// Appends line by line, slowly enough to be caught in the middle.
pub(crate) fn touch_slowly(agent: &mut Agent, path: &str, lines: u32, rate: Rate) -> Flow {
    let input = json!({ "path": path, "lines": lines });
    let id = begin(agent, "touch-slowly", input)?;
    let start = Instant::now();
    for index in 0..lines {
        agent.work_until(start + rate.due(index))?;
        agent.glance()?;
        if agent.is_interrupted() {
            end(agent, id, Err(format!("interrupted after {index} lines")))?;
            return Ok(ControlFlow::Break(Outcome::Interrupted));
        }
        if let Err(error) = add(path, &format!("line {}\n", index + 1)) {
            end(agent, id, Err(error.to_string()))?;
            return GO_ON;
        }
    }
    end(agent, id, Ok(format!("appended {lines} lines to {path}")))?;
    GO_ON
}

/// Runs a shell command in a process group of its own and waits for it.
pub(crate) fn run(agent: &mut Agent, command: &str) -> Flow {
    let id = begin(agent, "run", json!({ "command": command }))?;
    match spawn(command) {
        Ok((mut child, pipe)) => {
            let group = Pid::from_child(&child);
            agent.set_tool(Some(group));
            let shown = attend(agent, &mut child, pipe);
            agent.set_tool(None);
            end(agent, id, shown?)?;
            unless_interrupted(agent)
        }
        Err(error) => {
            end(agent, id, Err(error.to_string()))?;
            GO_ON
        }
    }
}

/// Does something that takes no time worth interrupting.
pub(crate) fn at_once(
    agent: &mut Agent,
    tool: &str,
    input: Value,
    work: impl FnOnce(&mut Agent) -> Shown,
) -> Flow {
    let id = begin(agent, tool, input)?;
    let shown = work(agent);
    end(agent, id, shown)?;
    GO_ON
}

fn begin(agent: &mut Agent, tool: &str, input: Value) -> io::Result<String> {
    let id = agent.fresh_id("tool");
    agent.record(Body::ToolStarted { id: id.clone(), tool: tool.to_owned(), input })?;
    Ok(id)
}

fn end(agent: &mut Agent, id: String, shown: Shown) -> io::Result<()> {
    let ok = shown.is_ok();
    agent.record(Body::ToolEnded { id, output: shown.unwrap_or_else(|failed| failed), ok })
}

fn make_room(path: &str) -> io::Result<()> {
    Path::new(path).parent().map_or(Ok(()), fs::create_dir_all)
}

fn add(path: &str, text: &str) -> io::Result<()> {
    make_room(path)?;
    OpenOptions::new().append(true).create(true).open(path)?.write_all(text.as_bytes())
}

fn spawn(command: &str) -> io::Result<(Child, PipeReader)> {
    let (reader, writer) = io::pipe()?;
    let child = Command::new("sh")
        .arg("-c")
        .arg(command)
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .process_group(0)
        .spawn()?;
    Ok((child, reader))
}

/// Reads along until the command ends, or ends it when the turn is interrupted.
///
/// The shell's end counts, not the pipe's: a process it left behind may hold the pipe for hours.
fn attend(agent: &mut Agent, child: &mut Child, pipe: PipeReader) -> io::Result<Shown> {
    let mut pipe = Some(pipe);
    let mut output = Vec::new();
    loop {
        if agent.is_interrupted() {
            // It may have ended just now, and that is as good.
            let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
            child.wait()?;
            return Ok(Err(format!("{}[interrupted]", text(&output))));
        }
        if let Some(status) = child.try_wait()? {
            while pipe.as_ref().is_some_and(has_bytes) {
                read_some(&mut pipe, &mut output);
            }
            return Ok(result(status, &output));
        }
        if agent.wait(None, pipe.as_ref().map(PipeReader::as_fd))? {
            read_some(&mut pipe, &mut output);
        }
    }
}

fn has_bytes(pipe: &PipeReader) -> bool {
    let mut fds = [PollFd::new(pipe, PollFlags::IN)];
    let no_wait = Timespec { tv_sec: 0, tv_nsec: 0 };
    sys::wait(&mut fds, Some(&no_wait)).is_ok() && fds.iter().all(sys::is_ready)
}

/// Takes what is there; a pipe that ended is put away, so that it is not polled in circles.
fn read_some(pipe: &mut Option<PipeReader>, output: &mut Vec<u8>) {
    let mut bytes = [0; 8192];
    match pipe.as_mut().map(|pipe| pipe.read(&mut bytes)) {
        Some(Ok(count @ 1..)) => {
            let room = OUTPUT_BYTES_MAX.saturating_sub(output.len());
            output.extend(bytes.iter().take(count.min(room)));
        }
        Some(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
        Some(Ok(_) | Err(_)) | None => *pipe = None,
    }
}

fn result(status: ExitStatus, output: &[u8]) -> Shown {
    let output = text(output);
    if status.success() { Ok(output) } else { Err(format!("{output}[{status}]")) }
}

fn text(output: &[u8]) -> String {
    String::from_utf8_lossy(output).into_owned()
}
