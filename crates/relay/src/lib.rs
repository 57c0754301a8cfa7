//! The relay: one lasting process for an agent that lives for one message only.
//!
//! It reads requests, one JSON object a line: `{"type":"message","text":…}` starts the agent anew
//! and hands it the text, `{"type":"interrupt"}` asks the one that runs to stop. What the agent
//! prints is passed on as it is; lines of the relay's own have the type `relay`. When its input
//! ends it finishes what was begun and ends.
#![forbid(unsafe_code)]

mod course;
mod turn;

pub use course::{Course, Holds};

use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{BufRead as _, Write as _};
use std::process::ExitCode;
use std::sync::mpsc;
use turn::Current;

/// So many messages wait for their turn. Whoever sends one more waits at the pipe, and with it an interrupt: nothing is
/// lost, and an agent that so much waits for is ended by its process.
const MESSAGES_MAX: usize = 64;

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Request {
    Message { text: String },
    Interrupt,
}

/// Runs until its input ends or the agent cannot be started. `course` is a [`Course`] as JSON.
pub fn run(course: &str, holds: Holds) -> ExitCode {
    let course: Course = match serde_json::from_str(course) {
        Ok(course) => course,
        Err(fault) => {
            tell(&json!({"event": "rejected", "why": fault.to_string()}));
            return ExitCode::from(2);
        }
    };
    if let Some(why) = course.fault() {
        tell(&json!({"event": "rejected", "why": why}));
        return ExitCode::FAILURE;
    }
    tell(&json!({"event": "ready", "id": course.id}));
    let current = Current::default();
    let (messages, queue) = mpsc::sync_channel(MESSAGES_MAX);
    let for_turns = current.clone();
    let turns = std::thread::spawn(move || turns(course, holds, &queue, &for_turns));
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        match serde_json::from_str(&line) {
            Ok(Request::Message { text }) => {
                if messages.send(text).is_err() {
                    break;
                }
            }
            Ok(Request::Interrupt) => current.interrupt(),
            // A line that is no request is noise, as everywhere.
            Err(_) => {}
        }
    }
    drop(messages);
    turns.join().unwrap_or(ExitCode::FAILURE)
}

/// One message after the other. A turn in which the agent failed without a word ends the relay: the
/// message was not taken, and only its sender can decide what becomes of it.
fn turns(
    mut course: Course,
    holds: Holds,
    queue: &mpsc::Receiver<String>,
    current: &Current,
) -> ExitCode {
    for text in queue {
        let over = turn::run(course.next(holds), &text, current);
        let (status, why) = (over.status, over.last_words());
        let goes_on = status == Some(0) || over.spoke;
        tell(&json!({"event": "turn_over", "status": status, "why": why, "goes_on": goes_on}));
        if !goes_on {
            let status = status.and_then(|status| u8::try_from(status).ok()).unwrap_or(1);
            // Its complaint becomes ours, as if it had been started without us.
            drop(writeln!(std::io::stderr(), "{}", over.why));
            // The input may stay open for ever; the process must not.
            end(status);
        }
    }
    ExitCode::SUCCESS
}

#[expect(clippy::exit, reason = "another thread waits for input that may never come")]
fn end(status: u8) -> ! {
    std::process::exit(i32::from(status))
}

fn tell(words: &Value) {
    let mut words = words.clone();
    words["type"] = json!("relay");
    print(words.to_string().as_bytes());
}

/// Prints one line in one piece, so that lines of different threads never mix.
fn print(line: &[u8]) {
    let mut out = std::io::stdout().lock();
    let mut bytes = line.to_vec();
    bytes.push(b'\n');
    // The reader may be gone; then the end of the input follows.
    drop(out.write_all(&bytes).and_then(|()| out.flush()));
}
