//! One answer, from its first wait to its last byte.

use crate::gates::{Gates, Passage};
use crate::http::Reply;
use crate::ledger::Outcome;
use crate::protocol::{Call, Close, Failure, Speaker, TOO_LONG_STATUS};
use crate::script::{End, Step};
use serde_json::{Value, json};
use std::io;
use std::time::Duration;

/// No test waits on the name of this gate, so nobody opens it.
const NEVER: &str = "(never)";
/// Seconds before each slow word, where the script does not say.
const DELAY_SECS: f64 = 0.1;

/// How the answer travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    Streamed,
    Whole,
}

/// Says what the step says.
pub(crate) fn perform(
    step: &Step,
    tag: &str,
    manner: Manner,
    speaker: &mut dyn Speaker,
    reply: &mut Reply,
    gates: &Gates,
) -> io::Result<Outcome> {
    rest(step.wait);
    if step.end == End::TooLong {
        speaker.too_long(reply)?;
        return Ok(Outcome::Failed(TOO_LONG_STATUS));
    }
    if let Some(gate) = &step.hold_first
        && gates.pass(gate, reply.stream()) == Passage::ClientGone
    {
        return Ok(Outcome::ClientGone);
    }
    if manner == Manner::Streamed {
        speaker.begin(reply)?;
    }
    let mut text = String::new();
    let mut say = |piece: &str, speaker: &mut dyn Speaker, reply: &mut Reply| {
        text.push_str(piece);
        if manner == Manner::Streamed { speaker.text(reply, piece) } else { Ok(()) }
    };
    for piece in opening(step) {
        if step.slow.is_some() {
            rest(step.delay.or(Some(DELAY_SECS)));
        }
        say(&piece, speaker, reply)?;
    }
    if let Some(gate) = &step.hold
        && gates.pass(gate, reply.stream()) == Passage::ClientGone
    {
        return Ok(Outcome::ClientGone);
    }
    if let Some(more) = &step.more {
        say(more, speaker, reply)?;
    }
    let close = match step.end {
        End::Proper | End::TooLong => Close::Proper,
        End::Length => Close::Length,
        End::Refusal => Close::Refusal,
        End::Cut => return Ok(Outcome::Cut),
        End::Hang => {
            gates.pass(NEVER, reply.stream());
            return Ok(Outcome::ClientGone);
        }
    };
    let calls = calls(step, tag);
    match manner {
        Manner::Whole => reply.json(200, &[], &speaker.whole(&text, calls.first()))?,
        Manner::Streamed => {
            for call in &calls {
                speaker.call(reply, call)?;
            }
            speaker.end(reply, close)?;
        }
    }
    Ok(Outcome::Answered)
}

/// The tools that are called, each under a name of its own.
fn calls(step: &Step, tag: &str) -> Vec<Call> {
    let first = step.tool.iter().map(|tool| (tool, &step.input));
    let beside = step.beside.iter().map(|(tool, input)| (tool, input));
    let named = first.chain(beside).enumerate().map(|(at, (tool, input))| Call {
        // Claude Code takes a name with `_1` behind another one for a part of that one.
        id: if at == 0 { format!("call_{tag}") } else { format!("call_{at}of{tag}") },
        tool: tool.clone(),
        input: if input.is_null() { json!({}) } else { input.clone() },
    });
    named.collect()
}

/// Tells a failure instead of an answer.
pub(crate) fn fail(
    failure: Failure,
    speaker: &dyn Speaker,
    reply: &mut Reply,
) -> io::Result<Outcome> {
    let (headers, body): (Vec<(&str, String)>, Value) = speaker.failure(failure);
    reply.json(failure.status, &headers, &body)?;
    Ok(Outcome::Failed(failure.status))
}

/// The text before the gate, in the pieces that it is sent in.
fn opening(step: &Step) -> Vec<String> {
    let silent = step.more.is_none() && step.tool.is_none();
    match (&step.text, step.slow) {
        (text, Some(words)) => {
            let slow = (0..words).map(|n| format!("word{n} "));
            text.clone().into_iter().chain(slow).collect()
        }
        (Some(text), None) => vec![text.clone()],
        // An answer of nothing at all is a fault in the eyes of some agents.
        (None, None) if silent => vec!["Done.".to_owned()],
        (None, None) => Vec::new(),
    }
}

fn rest(secs: Option<f64>) {
    if let Some(secs) = secs {
        std::thread::sleep(Duration::try_from_secs_f64(secs).unwrap_or_default());
    }
}
