//! One turn: carries out the steps of a message, in order, until done or stopped.

use std::io;
use std::ops::ControlFlow;
use std::time::Instant;

use crate::agent::Agent;
use crate::flow::{Flow, GO_ON, unless_interrupted, work};
use crate::record::{ALLOW, AskKind, Body, Manner, Outcome};
use crate::script::{self, Rate, Reset, Step};
use crate::{clock, mischief, tool};

/// Carries out what `text` says.
pub(crate) fn perform(agent: &mut Agent, text: &str) -> io::Result<Outcome> {
    let steps = script::parse(text);
    let answer_only = steps.is_empty().then(|| Step::Say { text: format!("You said: {text}") });
    for step in steps.into_iter().chain(answer_only) {
        agent.glance()?;
        if let ControlFlow::Break(outcome) = unless_interrupted(agent)? {
            return Ok(outcome);
        }
        if let ControlFlow::Break(outcome) = carry_out(agent, step)? {
            return Ok(outcome);
        }
    }
    Ok(Outcome::Done)
}

fn carry_out(agent: &mut Agent, step: Step) -> Flow {
    match step {
        Step::Write { path, text } => tool::write(agent, &path, &text),
        Step::Append { path, text } => tool::append(agent, &path, &text),
        Step::Edit { path, old, new } => tool::edit(agent, &path, &old, &new),
        Step::Delete { path } => tool::delete(agent, &path),
        Step::Go { path } => {
            std::env::set_current_dir(path)?;
            GO_ON
        }
        Step::Run { command } => tool::run(agent, &command),
        Step::TouchSlowly { path, lines, rate } => tool::touch_slowly(agent, &path, lines, rate),
        Step::Say { text } => say(agent, text),
        Step::Stream { words, rate } => stream(agent, words, rate),
        Step::Approve { text } => approve(agent, &text),
        Step::Question { text } => question(agent, &text),
        Step::Work { time } => work(agent, time),
        Step::Todo { items } => {
            agent.record(Body::Todo { items })?;
            GO_ON
        }
        Step::Cost { usd } => {
            agent.record(Body::Cost { usd })?;
            GO_ON
        }
        Step::Limit { reset } => limit(agent, reset),
        Step::Fail { message } => {
            agent.record(Body::Fault { message })?;
            Ok(ControlFlow::Break(Outcome::Failed))
        }
        Step::Recall => recall(agent),
        Step::Hold { megabytes } => mischief::hold(agent, megabytes),
        Step::Ignore(what) => {
            agent.ignore(what);
            GO_ON
        }
        Step::Orphan { time } => mischief::orphan(agent, time),
        Step::Background { time } => mischief::background(agent, time),
        Step::Die { code } => glis_os::exit_now(code),
        Step::Crash => mischief::crash(),
        Step::Noise => mischief::noise(agent),
        Step::Garbage { bytes } => mischief::garbage(agent, bytes),
        Step::Flood { megabytes } => mischief::flood(agent, megabytes),
        Step::Misread { part } => say(agent, format!("I cannot make sense of `{part}`.")),
    }
}

fn say(agent: &mut Agent, text: String) -> Flow {
    agent.say(text)?;
    GO_ON
}

fn stream(agent: &mut Agent, words: u32, rate: Rate) -> Flow {
    let start = Instant::now();
    for index in 0..words {
        agent.work_until(start + rate.due(index))?;
        // A fast stream never pauses, and has to listen all the same.
        agent.glance()?;
        if agent.is_interrupted() {
            break;
        }
        let text = format!("word{}", index + 1);
        agent.record(Body::Text { text, manner: Manner::Piece })?;
    }
    unless_interrupted(agent)
}

fn approve(agent: &mut Agent, text: &str) -> Flow {
    let answer = agent.ask(AskKind::Approval, text)?;
    Ok(match answer.as_deref() {
        Some(ALLOW) => ControlFlow::Continue(()),
        Some(_) => ControlFlow::Break(Outcome::Refused),
        None => ControlFlow::Break(Outcome::Interrupted),
    })
}

fn question(agent: &mut Agent, text: &str) -> Flow {
    let answer = agent.ask(AskKind::Question, text)?;
    Ok(match answer {
        Some(_) => ControlFlow::Continue(()),
        None => ControlFlow::Break(Outcome::Interrupted),
    })
}

fn limit(agent: &mut Agent, reset: Reset) -> Flow {
    let reset_at = match reset {
        Reset::In(wait) => clock::after(wait),
        Reset::At(moment) => moment,
    };
    agent.record(Body::Limit { reset_at })?;
    Ok(ControlFlow::Break(Outcome::Limit))
}

/// Proves memory: reads the file, not what this process happens to know.
fn recall(agent: &mut Agent) -> Flow {
    let texts = agent.transcript().user_texts()?;
    let mut said = format!("I remember {} messages:", texts.len());
    for text in texts {
        said.push('\n');
        said.push_str(&text.replace('\n', "\\n"));
    }
    say(agent, said)
}
