//! What goes wrong, as a person or a script is told: what happened, to what, and what to do next.

mod daemon;
mod failed;
pub mod gate;
mod kept;
mod loops;
mod merge;
mod plan;
mod resume;

use glis_core::name::BadName;
use glis_core::plain::{plain, shell_word};
use glis_core::queue;
use glis_core::reason::{Operation, Verb, Why};
use glis_core::refusal::InPlaceWish;
use glis_core::spec::Mode;
use glis_core::talk::ALLOW_FOR_SESSION;
use glis_core::tree::PathList;
use glis_core::{AskId, Refusal};
use glis_wire::client::Trouble;
use resume::Unresumable;
use schemars::JsonSchema;
use serde::Serialize;

/// The kinds of failure, each with the exit status of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Failed,
    /// Whether it was done is not known.
    Unknown,
    Usage,
    NotFound,
    Refused,
    /// The caller's scope does not include it.
    NotAllowed,
    NotSafe,
    /// With the word for the reason, so that a script can tell one from another.
    NotResumable(&'static str),
    /// A code pairs no device: the word tells whether it is wrong or used.
    NotPaired(&'static str),
    Busy,
    /// More is asked for at once than is taken.
    Crowded,
    TimedOut,
    NoDaemon,
    Interrupted,
    /// The reader of our output has seen enough. As in any pipe, that is no failure.
    ReaderGone,
}

impl Kind {
    pub fn exit_status(self) -> u8 {
        match self {
            Self::ReaderGone => 0,
            Self::Failed | Self::Unknown => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Refused | Self::NotAllowed | Self::NotPaired(_) => 4,
            Self::NotSafe => 5,
            Self::NotResumable(_) => 6,
            Self::Busy | Self::Crowded | Self::TimedOut => 7,
            Self::NoDaemon => 8,
            Self::Interrupted => 130,
        }
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Failed | Self::Unknown => "failed",
            Self::Usage => "usage",
            Self::NotFound => "not_found",
            Self::Refused => "refused",
            Self::NotAllowed => "not_allowed",
            Self::NotSafe => "not_safe",
            Self::NotResumable(why) | Self::NotPaired(why) => why,
            Self::Busy | Self::Crowded => "busy",
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
    pub kind: Kind,
    /// What happened, to which session.
    pub message: String,
    pub hint: Option<String>,
    /// It stands in the document that was printed; only the exit status is left to tell.
    pub told: bool,
}

/// What went wrong, for a script.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Failure {
    pub error: Wrong,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Wrong {
    /// A word for a program.
    pub kind: &'static str,
    /// What happened, to what.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

impl std::fmt::Display for Complaint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Complaint {}

impl Complaint {
    /// Why a new session was refused. The reasons of a resume are those of its first start, but there
    /// is nothing yet that could be resumed; and who makes a session in place may as well not.
    pub fn of_new(refusal: Refusal) -> Self {
        if let Refusal::NotResumable { session, agent, agent_ref, site, why } = refusal {
            return resume::not_started(&Unresumable { session, agent, agent_ref, site }, &why);
        }
        let in_place = matches!(refusal, Refusal::PlaceTaken { .. });
        let told = Self::from(refusal);
        let more = "or leave out --in-place: the session gets a worktree of its own";
        let hint = told.hint.map(|hint| if in_place { format!("{hint}, {more}") } else { hint });
        Self { hint, ..told }
    }

    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, told: false }
    }

    /// The house has a daemon already.
    pub fn second_daemon(message: String) -> Self {
        Self::new(Kind::Refused, message)
            .hint("`glis daemon stop` ends it; its agents keep running")
    }

    pub fn no_daemon(message: String) -> Self {
        Self::new(Kind::NoDaemon, message)
            .hint("fix this and retry; running agents are not affected")
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// For a script.
    pub fn json(&self) -> Failure {
        let (kind, message, hint) = (self.kind.word(), self.message.clone(), self.hint.clone());
        Failure { error: Wrong { kind, message, hint } }
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

    pub fn trouble(kind: Trouble, message: String) -> Self {
        match kind {
            Trouble::BadInput => Self::new(Kind::Usage, message)
                .hint("`glis help` lists the verbs, `glis help VERB` its options"),
            Trouble::NotAllowed => Self::new(Kind::NotAllowed, message)
                .hint("pair again, or issue a token, with the scope that it needs"),
            Trouble::Unknown => {
                Self::new(Kind::Unknown, message).hint("`glis show` tells how it stands")
            }
            Trouble::TimedOut => Self::new(Kind::TimedOut, format!("timed out: {message}"))
                .hint("`glis show` shows what it is doing"),
            Trouble::Storage => Self::new(Kind::Failed, message)
                .hint("free some space or fix the disk, then retry; `glis doctor` checks both"),
            Trouble::Internal => {
                Self::new(Kind::Failed, message).hint("`glis doctor` looks for the cause")
            }
        }
    }
}

fn no_such_session(given: &str) -> Complaint {
    Complaint::new(Kind::NotFound, format!("there is no session `{given}`"))
        .hint("`glis ls` lists them")
}

impl From<Refusal> for Complaint {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NoSuchSession { given } => no_such_session(&given),
            Refusal::NotInTrash { given } => not_in_trash(&given),
            Refusal::NoSuchTask { given } => plan::no_such_task(&given),
            Refusal::TaskIdle { task, run, state } => plan::nothing_to_resume(&task, &run, state),
            Refusal::TaskAtWork { task, run } => plan::at_work(&task, &run),
            Refusal::TaskNotBegun { task } => plan::not_begun(&task),
            Refusal::PlanFile(fault) => plan::file(&fault),
            Refusal::WrongRoot(place) => plan::elsewhere(&place),
            Refusal::WouldBeLost { session, left_out } => would_be_lost(&session, &left_out),
            Refusal::Ambiguous { given } => ambiguous(&given),
            Refusal::NameTaken { name } => name_taken(&name),
            Refusal::PlaceTaken { place, by } => place_taken(&place, &by),
            Refusal::BadName { name, why } => bad_name(&name, why),
            Refusal::WrongStatus { session, status, verb } => wrong_status(&session, status, &verb),
            Refusal::Busy { session, with } => busy(&session, &with),
            Refusal::QueueFull { session, messages } => queue_full(&session, messages),
            Refusal::IdleLimitOutOfRange => idle_limit_out_of_range(),
            Refusal::Full { session, live, holders } => gate::full(&session, live, &holders),
            Refusal::Shut { session } => gate::shut(&session),
            Refusal::NoLoop { session } => loops::no_loop(&session),
            Refusal::BudgetSpent { session } => loops::budget_spent(&session),
            Refusal::GateDamaged { path, why } => gate::damaged(&path, &why),
            Refusal::StillAtWork { session, doing } => gate::still_at_work(&session, &doing),
            Refusal::NotSafe { session, doing } => not_safe(&session, &doing),
            Refusal::TooLate { session } => Self::new(
                Kind::Refused,
                format!("too late to cancel: `{session}` is already being stopped"),
            )
            .hint(format!("run `glis resume {session}` once it is paused")),
            Refusal::Cancelled { session } => {
                Self::new(Kind::Refused, format!("the pause of `{session}` was cancelled"))
                    .hint(format!("`glis pause {session}` pauses it after all"))
            }
            Refusal::Stopped { session } => {
                Self::new(Kind::Refused, format!("`{session}` was stopped before it had started"))
                    .hint(format!("`glis resume {session}` starts it after all"))
            }
            Refusal::NotResumable { session, agent, agent_ref, site, why } => {
                resume::not_resumable(&Unresumable { session, agent, agent_ref, site }, &why)
            }
            Refusal::InPlace { session, wish } => in_place(&session, wish),
            Refusal::ProcessKept { session } => kept::process(&session),
            Refusal::NothingToKeep { agent, mode } => kept::nothing(&agent, mode),
            Refusal::NotMerged { session, into, worktree, why } => {
                merge::not_merged(&session, &into, worktree.as_deref().unwrap_or("-"), &why)
            }
            Refusal::NothingAsked { session } => {
                Self::new(Kind::Refused, format!("session `{session}` asks nothing right now"))
                    .hint(format!("`glis show {session}` shows what it is doing"))
            }
            Refusal::NotSent { session, why } => not_sent(&session, &why),
            Refusal::AttachedToItself { session } => endless(&session, &session),
            Refusal::ShowsCaller { session, inside } => endless(&session, &inside),
            Refusal::WrongAsk { session, open } => wrong_ask(&session, &open),
            Refusal::AnswerUnderWay { session } => {
                Self::new(Kind::Busy, format!("an answer for `{session}` is on its way already"))
                    .hint(format!("`glis show {session}` shows when it has arrived"))
            }
            Refusal::NotAChoice { session, mode, choices } => {
                not_a_choice(&session, mode, &choices)
            }
            Refusal::AnswerNotGiven { session, why } => not_given(&session, &why),
            Refusal::Failed { session, step, why, unsent } => {
                failed::told(&session, &step, &why, &unsent)
            }
        }
    }
}

fn not_safe(session: &str, doing: &str) -> Complaint {
    let message = format!("Agent not in safe state: {doing}; session `{session}` keeps running");
    Complaint::new(Kind::NotSafe, message).hint(format!(
        "`glis pause {session} --mode boundary` waits for its turn to end, `--mode force` stops it now"
    ))
}

fn idle_limit_out_of_range() -> Complaint {
    Complaint::new(Kind::Usage, "Timeout must be between 1 and 120 minutes")
        .hint("`glis timeout NAME off` never suspends it")
}

fn name_taken(name: &str) -> Complaint {
    Complaint::new(Kind::Refused, format!("there is a session `{name}` already"))
        .hint(format!("choose another name (`trash restore` takes --name), or `glis rm {name}`"))
}

/// What is under way may hang; a start and a pause can be ended.
fn busy(session: &str, with: &Operation) -> Complaint {
    let hint = match with {
        Operation::New | Operation::WakeUp | Operation::Resume | Operation::Restart => format!(
            "try again in a moment; if it hangs, `glis pause {session} --mode force` or `glis stop \
             {session}` calls it off"
        ),
        Operation::Pause => {
            format!("try again in a moment; if it hangs, `glis stop {session}` overrules it")
        }
        _ => "try again in a moment".to_owned(),
    };
    Complaint::new(Kind::Busy, format!("session `{session}` is busy with {with}")).hint(hint)
}

fn queue_full(session: &str, messages: usize) -> Complaint {
    let megabytes = queue::BYTES_MAX / (1024 * 1024);
    Complaint::new(
        Kind::Busy,
        format!(
            "the queue of session `{session}` is full: this message was not stored \
             ({messages} messages wait; the limit is {} messages or {megabytes} MB)",
            queue::MESSAGES_MAX
        ),
    )
    .hint(format!(
        "`glis show {session}` shows what it waits for; send again once some are delivered"
    ))
}

fn not_sent(session: &str, why: &str) -> Complaint {
    Complaint::new(Kind::Refused, format!("the message was not sent to `{session}`: {why}")).hint(
        format!(
            "send it in shorter lines, or put it into a file and send the file's name; \
             `glis log {session}` has its text"
        ),
    )
}

/// What is shown inside itself, or inside what it shows.
fn endless(session: &str, inside: &str) -> Complaint {
    let why = if session == inside {
        ": shown there, its output would repeat itself for ever".to_owned()
    } else {
        format!(", and `{session}` shows `{inside}` already: they would show each other for ever")
    };
    Complaint::new(Kind::Refused, format!("this command runs inside `{inside}`{why}"))
        .hint(format!("attach from another terminal; `glis screen {session}` works here too"))
}

fn wrong_ask(session: &str, open: &[AskId]) -> Complaint {
    let open: Vec<_> = open.iter().map(ToString::to_string).collect();
    Complaint::new(Kind::Refused, format!("session `{session}` asks: {}", open.join(", ")))
        .hint("name one of them with --request")
}

fn not_a_choice(session: &str, mode: Mode, choices: &[String]) -> Complaint {
    if choices.is_empty() {
        let message =
            format!("the question of `{session}` can only be answered at its own terminal");
        return Complaint::new(Kind::Refused, message).hint(format!("`glis attach {session}`"));
    }
    let choices = choices_of(choices);
    let message = format!("`{session}` does not take this answer; possible answers: {choices}");
    let hint = match mode {
        Mode::Terminal => format!("`glis attach {session}` for everything else"),
        Mode::Headless => format!("`glis show {session}` shows what it asks"),
    };
    Complaint::new(Kind::Refused, message).hint(hint)
}

/// Answers as they are given to a shell.
pub fn choices_of(choices: &[String]) -> String {
    let shown = choices.iter().map(|choice| match choice.as_str() {
        ALLOW_FOR_SESSION => "allow --for-session".to_owned(),
        words => shell_word(words),
    });
    shown.collect::<Vec<_>>().join("|")
}

fn not_given(session: &str, why: &Why) -> Complaint {
    Complaint::new(Kind::Refused, format!("the answer was not given to `{session}`: {why}"))
        .hint(format!("`glis show {session}` shows what it asks and what it is doing"))
}

fn place_taken(place: &str, by: &str) -> Complaint {
    let message = format!(
        "session `{by}` is already running in {place}; two agents there would overwrite each other"
    );
    Complaint::new(Kind::Refused, message).hint(format!("`glis pause {by}` first"))
}

fn in_place(session: &str, wish: InPlaceWish) -> Complaint {
    let (message, hint) = match wish {
        InPlaceWish::RemoveWorktree => (
            format!("`{session}` works in place, in a folder of yours, which is never removed"),
            format!("`glis pause {session}` pauses it and leaves the folder alone"),
        ),
        InPlaceWish::Restore => (
            format!("`{session}` works in place, in a folder of yours, which is never restored"),
            format!("`glis restore {session} --to DIR` puts the snapshot into another folder"),
        ),
        InPlaceWish::Merge => (
            format!("`{session}` works in place, in a folder of yours, where nothing is committed"),
            "commit there yourself, and merge that".to_owned(),
        ),
    };
    Complaint::new(Kind::Refused, message).hint(hint)
}

fn ambiguous(given: &str) -> Complaint {
    let message = format!("`{given}` means more than one session");
    Complaint::new(Kind::NotFound, message).hint(format!(
        "give more of the id, or the name; `session:{given}` is the session of that name, `PLAN/{given}` the \
         task"
    ))
}

fn not_in_trash(given: &str) -> Complaint {
    let message = format!("there is no session `{given}` in the trash");
    Complaint::new(Kind::NotFound, message).hint("`glis trash list` lists them")
}

fn would_be_lost(session: &str, left_out: &PathList) -> Complaint {
    let paths = left_out.line();
    let message =
        format!("these files of `{session}` are in no snapshot and would be lost: {paths}");
    Complaint::new(Kind::Refused, message).hint(format!(
        "`glis pause {session}` keeps the worktree; --remove-worktree --force removes it and these files"
    ))
}

fn bad_name(name: &str, why: BadName) -> Complaint {
    let shown: String = name.chars().take(40).flat_map(char::escape_debug).collect();
    let rule = match why {
        BadName::Empty => "it is empty",
        BadName::TooLong => "it is longer than 64 characters",
        BadName::BadStart => "it must begin with a lower-case letter or a digit",
        BadName::BadCharacter => "only lower-case letters, digits, `.`, `_` and `-` are allowed",
        BadName::ReservedForm => "git reserves `..`, `.lock` and a dot at the end",
    };
    Complaint::new(Kind::Usage, format!("`{shown}` cannot be a session's name: {rule}"))
        .hint("for example: `glis new fix-login`")
}

fn wrong_status(session: &str, status: glis_core::Status, verb: &Verb) -> Complaint {
    use glis_core::Status;
    let word = status.word();
    let message = if *verb == Verb::Resume {
        format!("nothing to resume in `{session}`: instance not paused, status: {word}")
    } else {
        format!("cannot {verb} `{session}`, status: {word}")
    };
    let hint = match status {
        Status::Busy | Status::Idle | Status::Waiting if *verb == Verb::Remove => {
            format!("`glis rm {session} --stop` stops it first; everything is kept in the trash")
        }
        Status::Busy | Status::Idle | Status::Waiting => {
            format!("`glis stop {session}` ends its process and keeps the session")
        }
        Status::Completed | Status::Failed => {
            format!("`glis restart {session}` begins anew, `glis screen {session}` shows its end")
        }
        Status::Created => format!("`glis send {session} TEXT` starts it"),
        Status::Pausing | Status::Resuming => "try again in a moment".to_owned(),
        Status::Paused | Status::Suspended | Status::Interrupted => {
            format!("`glis resume {session}` brings it back")
        }
        Status::Archived => {
            format!("`glis trash restore {session}` takes it back, if it is still there")
        }
    };
    Complaint::new(Kind::Refused, message).hint(hint)
}

#[cfg(test)]
mod tests;
