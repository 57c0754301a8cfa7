//! What goes wrong, as a person or a script is told: what happened, to what, and what to do next.

use crate::words::{ask::choices_of, plain};
use glis_core::name::BadName;
use glis_core::refusal::ResumeFault;
use glis_core::spec::Mode;
use glis_core::tree::PathList;
use glis_core::{AskId, Refusal};
use glis_wire::client::Trouble;
use serde_json::{Value, json};

/// The kinds of failure, each with the exit status of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the contract's list of exit codes explains them")]
pub enum Kind {
    Failed,
    Usage,
    NotFound,
    Refused,
    NotSafe,
    NotResumable,
    Busy,
    TimedOut,
    NoDaemon,
    Interrupted,
    /// Whoever reads our output has seen enough. As in any pipe, that is no failure.
    ReaderGone,
}

impl Kind {
    /// The exit status.
    pub fn exit_status(self) -> u8 {
        match self {
            Self::ReaderGone => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Refused => 4,
            Self::NotSafe => 5,
            Self::NotResumable => 6,
            Self::Busy | Self::TimedOut => 7,
            Self::NoDaemon => 8,
            Self::Interrupted => 130,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::NotFound => "not_found",
            Self::Refused => "refused",
            Self::NotSafe => "not_safe",
            Self::NotResumable => "not_resumable",
            Self::Busy => "busy",
            Self::TimedOut => "timed_out",
            Self::NoDaemon => "no_daemon",
            Self::Interrupted => "interrupted",
            Self::ReaderGone => "reader_gone",
        }
    }
}

/// One failure, ready to be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// What kind.
    pub kind: Kind,
    /// What happened, to which session.
    pub message: String,
    /// The next step.
    pub hint: Option<String>,
    /// It stands in the document that was printed; only the exit status is left to tell.
    pub(crate) told: bool,
}

impl Complaint {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, told: false }
    }

    /// The house has a daemon already.
    pub fn second_daemon(message: String) -> Self {
        Self::new(Kind::Refused, message).hint("`glis daemon stop` ends it; its agents run on")
    }

    /// The daemon cannot start.
    pub fn no_daemon(message: String) -> Self {
        Self::new(Kind::NoDaemon, message).hint("mend that and ask again; agents that run, run on")
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// For a script.
    pub fn json(&self) -> Value {
        json!({"error": {"kind": self.kind.word(), "message": self.message, "hint": self.hint}})
    }

    /// For a person.
    pub fn text(&self) -> String {
        // What was typed, or what git or an agent said, may be in it.
        let message = plain(&self.message);
        match &self.hint {
            Some(hint) => format!("error: {message}\n hint: {}", plain(hint)),
            None => format!("error: {message}"),
        }
    }

    pub(crate) fn trouble(kind: Trouble, message: String) -> Self {
        match kind {
            Trouble::BadInput => Self::new(Kind::Usage, message)
                .hint("`glis help` lists the verbs, `glis help VERB` its options"),
            Trouble::TimedOut => Self::new(Kind::TimedOut, format!("timed out: {message}"))
                .hint("`glis show` tells what it is doing"),
            Trouble::Storage => Self::new(Kind::Failed, message)
                .hint("free some space or mend the disk, then ask again; `glis doctor` looks"),
            Trouble::Internal => Self::new(Kind::Failed, message).hint("`glis doctor` looks"),
        }
    }
}

impl From<Refusal> for Complaint {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NoSuchSession { given } => {
                Self::new(Kind::NotFound, format!("there is no session `{given}`"))
                    .hint("`glis ls` lists them")
            }
            Refusal::NotInTrash { given } => not_in_trash(&given),
            Refusal::WouldBeLost { session, left_out } => would_be_lost(&session, &left_out),
            Refusal::Ambiguous { given } => Self::new(
                Kind::NotFound,
                format!("more than one session's id begins with `{given}`"),
            )
            .hint("give more of the id, or the name"),
            Refusal::NameTaken { name } => {
                Self::new(Kind::Refused, format!("there is a session `{name}` already")).hint(
                    format!(
                        "choose another name (`trash restore` takes --name), or `glis rm {name}`"
                    ),
                )
            }
            Refusal::PlaceTaken { place, by } => place_taken(&place, &by),
            Refusal::BadName { name, why } => bad_name(&name, why),
            Refusal::WrongStatus { session, status, verb } => wrong_status(&session, status, &verb),
            Refusal::Busy { session, with } => {
                Self::new(Kind::Busy, format!("session `{session}` is busy with {with}"))
                    .hint("ask again in a moment")
            }
            Refusal::NotSafe { session, doing } => Self::new(
                Kind::NotSafe,
                format!("Agent not in safe state: session `{session}` goes on, {doing}"),
            )
            .hint(format!(
                "`glis pause {session} --mode boundary` waits for its turn to end, \
                 `--mode force` stops it as it is"
            )),
            Refusal::TooLate { session } => Self::new(
                Kind::Refused,
                format!("session `{session}` is past the point of turning back"),
            )
            .hint(format!("`glis resume {session}` once it is paused")),
            Refusal::Cancelled { session } => Self::new(
                Kind::Refused,
                format!("the pause of `{session}` was cancelled; it goes on"),
            )
            .hint(format!("`glis pause {session}` pauses it after all")),
            Refusal::Stopped { session } => {
                Self::new(Kind::Refused, format!("`{session}` was stopped before it had started"))
                    .hint(format!("`glis resume {session}` starts it after all"))
            }
            Refusal::NotResumable { session, agent, agent_ref, why } => {
                not_resumable(&session, &agent, agent_ref.as_deref(), &why)
            }
            Refusal::NothingAsked { session } => {
                Self::new(Kind::Refused, format!("session `{session}` asks nothing right now"))
                    .hint(format!("`glis show {session}` tells what it is doing"))
            }
            Refusal::WrongAsk { session, open } => wrong_ask(&session, &open),
            Refusal::AnswerUnderWay { session } => {
                Self::new(Kind::Busy, format!("an answer for `{session}` is on its way already"))
                    .hint(format!("`glis show {session}` tells when it has arrived"))
            }
            Refusal::NotAChoice { session, mode, choices } => {
                not_a_choice(&session, mode, &choices)
            }
            Refusal::AnswerNotGiven { session, why } => not_given(&session, &why),
            Refusal::Failed { session, step, why } => {
                Self::new(Kind::Failed, format!("failed to {step} of `{session}`: {why}"))
                    .hint("nothing was lost; mend the reason and ask again")
            }
        }
    }
}

fn wrong_ask(session: &str, open: &[AskId]) -> Complaint {
    let open: Vec<_> = open.iter().map(ToString::to_string).collect();
    Complaint::new(Kind::Refused, format!("session `{session}` asks: {}", open.join(", ")))
        .hint("name one of them with --request")
}

fn not_a_choice(session: &str, mode: Mode, choices: &[String]) -> Complaint {
    if choices.is_empty() {
        let message = format!("what `{session}` asks is answered at its own terminal only");
        return Complaint::new(Kind::Refused, message).hint(format!("`glis attach {session}`"));
    }
    let choices = choices_of(choices);
    let message = format!("what `{session}` asks has no such answer; it takes {choices}");
    let hint = match mode {
        Mode::Terminal => format!("`glis attach {session}` for everything else"),
        Mode::Headless => format!("`glis show {session}` tells what it asks"),
    };
    Complaint::new(Kind::Refused, message).hint(hint)
}

fn not_given(session: &str, why: &str) -> Complaint {
    Complaint::new(Kind::Refused, format!("`{session}` was not answered: {why}"))
        .hint(format!("`glis show {session}` tells what it asks and what it is doing"))
}

fn place_taken(place: &str, by: &str) -> Complaint {
    let message = format!("session `{by}` is at work in {place}, and two would undo each other");
    Complaint::new(Kind::Refused, message).hint(format!(
        "`glis pause {by}` first, or leave out --in-place: the session gets a worktree of its own"
    ))
}

fn not_in_trash(given: &str) -> Complaint {
    let message = format!("there is no session `{given}` in the trash");
    Complaint::new(Kind::NotFound, message).hint("`glis trash list` lists them")
}

fn would_be_lost(session: &str, left_out: &PathList) -> Complaint {
    let paths = left_out.line();
    let message = format!("the worktree of `{session}` has what is in no snapshot: {paths}");
    Complaint::new(Kind::Refused, message).hint(format!(
        "`glis pause {session}` keeps the worktree; --remove-worktree --force removes it with them"
    ))
}

fn bad_name(name: &str, why: BadName) -> Complaint {
    let shown: String = name.chars().take(40).flat_map(char::escape_default).collect();
    let rule = match why {
        BadName::Empty => "it is empty",
        BadName::TooLong => "it is longer than 64 characters",
        BadName::BadStart => "it must begin with a lower-case letter or a digit",
        BadName::BadCharacter => "only lower-case letters, digits, `.`, `_` and `-` are allowed",
        BadName::ReservedForm => "git reserves `..`, `.lock` and a dot at the end",
    };
    Complaint::new(Kind::Usage, format!("`{shown}` cannot be a session's name: {rule}"))
        .hint("for example: glis new fix-login")
}

fn wrong_status(session: &str, status: glis_core::Status, verb: &str) -> Complaint {
    use glis_core::Status;
    let message = match (verb, status) {
        ("resume", _) => {
            let status = status.word();
            format!("nothing to resume in `{session}`: instance not paused, status: {status}")
        }
        _ => format!("cannot {verb} `{session}`, status: {}", status.word()),
    };
    let hint = match status {
        Status::Busy | Status::Idle | Status::Waiting => {
            format!("`glis stop {session}` ends its process and keeps the session")
        }
        Status::Completed | Status::Failed => {
            format!("`glis restart {session}` begins anew, `glis screen {session}` shows its end")
        }
        Status::Created => format!("`glis send {session} TEXT` starts it"),
        Status::Pausing | Status::Resuming => "ask again in a moment".to_owned(),
        Status::Paused | Status::Suspended | Status::Interrupted => {
            format!("`glis resume {session}` brings it back")
        }
        Status::Archived => {
            format!("`glis trash restore {session}` takes it back, if it is still there")
        }
    };
    Complaint::new(Kind::Refused, message).hint(hint)
}

fn not_resumable(
    session: &str,
    agent: &str,
    agent_ref: Option<&str>,
    why: &ResumeFault,
) -> Complaint {
    let mend = match why {
        ResumeFault::NoRef | ResumeFault::Rejected(_) => None,
        ResumeFault::WrongRoot(_) => Some(
            "move what is there away, and resume again: the worktree comes back from its snapshot \
             (or, if the repository was moved, move it back)",
        ),
        ResumeFault::NoDirectory(_) => {
            Some("no snapshot holds it; bring it back with `git worktree add`")
        }
        ResumeFault::NotInstalled(_) => Some("install it, or mend PATH, and resume again"),
        ResumeFault::WrongVersion(_) => Some("install another version and resume again"),
        ResumeFault::NoTranscript(_) => Some("put the file back and resume again"),
        ResumeFault::Locked(_) => Some("end that process, then resume again"),
        ResumeFault::NotReady(_) => Some("`glis screen` shows what it said; nothing was lost"),
        ResumeFault::System(_) => Some("nothing was lost; ask again"),
    };
    let id = agent_ref.unwrap_or("none");
    let restart = format!("`glis restart {session}` begins a fresh conversation");
    let hint = mend.map_or(restart.clone(), |mend| format!("{mend}; {restart}"));
    Complaint::new(
        Kind::NotResumable,
        format!("session `{session}` cannot be resumed: {why} (agent {agent}, session id {id})"),
    )
    .hint(hint)
}
