//! The rehearsal agent: an honest little coding agent that needs no account.
//!
//! It keeps a transcript, can be resumed, interrupted and asked, and does what the verbs in a
//! message say. It also misbehaves on request, in the ways real agents do by accident.

mod agent;
mod args;
mod clock;
mod face;
mod flow;
mod mischief;
mod record;
mod script;
mod sys;
mod tool;
mod transcript;
mod turn;

use std::io::{self, Write as _};
use std::process::ExitCode;

use agent::{Agent, Hello};
use args::{Args, FaceKind, Identity, Misbehaviour};
use face::{Face, Headless, Terminal};
use record::Notice;
use transcript::Transcript;

/// Why the agent did not start: a kind for programs and a sentence for people.
struct Refusal {
    kind: &'static str,
    message: String,
}

/// Plays the agent until it ends; `args` are the words after the verb.
pub fn run(args: &[String]) -> ExitCode {
    let args = match Args::parse(args) {
        Ok(args) => args,
        Err(message) => {
            complain(&message);
            return ExitCode::from(2);
        }
    };
    if let Some(code) = args.exit_at_once() {
        return ExitCode::from(code);
    }
    match open(&args) {
        Ok(Ok((transcript, hello))) => live(&args, transcript, hello),
        Ok(Err(refusal)) => refuse(&args, &refusal),
        Err(error) => {
            complain(&format!("cannot use the transcript: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Finds the conversation `args` ask for, or says why there is none.
fn open(args: &Args) -> io::Result<Result<(Transcript, Hello), Refusal>> {
    let dir = transcript::directory();
    let hello = |id: &str, resumed| Hello { id: id.to_owned(), model: args.model.clone(), resumed };
    match &args.identity {
        Identity::Unnamed => {
            let id = uuid::Uuid::new_v4().to_string();
            Ok(Ok((Transcript::fresh(&dir, &id), hello(&id, false))))
        }
        Identity::Begin(id) if Transcript::exists(&dir, id) => Ok(Err(Refusal {
            kind: "session_in_use",
            message: format!("Session ID {id} is already in use."),
        })),
        Identity::Begin(id) => Ok(Ok((Transcript::fresh(&dir, id), hello(id, false)))),
        Identity::Resume(_) if args.has(Misbehaviour::RefuseResume) => {
            Ok(Err(Refusal { kind: "resume_refused", message: "cannot resume".to_owned() }))
        }
        Identity::Resume(id) if !Transcript::exists(&dir, id) => Ok(Err(Refusal {
            kind: "unknown_session",
            message: format!("No conversation found with session ID: {id}"),
        })),
        Identity::Resume(id) if args.has(Misbehaviour::ChangeId) => {
            let new = uuid::Uuid::new_v4().to_string();
            Transcript::copy(&dir, id, &new)?;
            Ok(Ok((Transcript::resume(&dir, &new)?, hello(&new, true))))
        }
        Identity::Resume(id) => Ok(Ok((Transcript::resume(&dir, id)?, hello(id, true)))),
    }
}

fn live(args: &Args, transcript: Transcript, hello: Hello) -> ExitCode {
    let raw = match args.face {
        FaceKind::Headless => None,
        FaceKind::Terminal => match sys::RawMode::enter() {
            Ok(raw) => Some(raw),
            Err(error) => {
                complain(&format!("stdin is not a terminal ({error}); try --headless"));
                return ExitCode::FAILURE;
            }
        },
    };
    let face: Box<dyn Face> = match args.face {
        FaceKind::Headless => Box::new(Headless::default()),
        FaceKind::Terminal if args.has(Misbehaviour::JoinedEnter) => {
            Box::new(Terminal::new(sys::columns()).losing_joined_enter())
        }
        FaceKind::Terminal => Box::new(Terminal::new(sys::columns())),
    };
    let lived = Agent::new(face, raw, transcript, hello, &args.misbehaviours)
        .and_then(|mut agent| agent.live(args.prompt.clone()));
    match lived {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn refuse(args: &Args, refusal: &Refusal) -> ExitCode {
    if args.face == FaceKind::Headless {
        let error =
            Notice::Error { kind: refusal.kind.to_owned(), message: refusal.message.clone() };
        // A reader that is gone cannot be told anything; the exit status remains.
        drop(io::stdout().write_all(&record::line(&error)));
        drop(io::stdout().flush());
    }
    complain(&refusal.message);
    ExitCode::FAILURE
}

/// Says `message` on stderr, where real agents put what they die of.
fn complain(message: &str) {
    drop(writeln!(io::stderr(), "{message}"));
}
