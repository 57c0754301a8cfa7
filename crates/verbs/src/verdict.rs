//! How what the rules say reads to a person.

use glis_core::plain::plain;
use glis_core::verdict::{Author, Unruled, Verdict};
use glis_wire::view::VerdictView;
use schemars::JsonSchema;
use serde::Serialize;

/// A verdict in one line.
pub fn verdict(told: &Verdict) -> String {
    match told {
        Verdict::Accept { rule, author } => format!("accept: {}", by(rule, *author)),
        Verdict::Reject { rule, author } => format!("reject: {}", by(rule, *author)),
        Verdict::Manual { why, about } => format!("manual: {}", reason(*why, &plain(about))),
    }
}

/// The same for a script.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Ruled {
    Accept {
        rule: String,
        author: Author,
    },
    Reject {
        rule: String,
        author: Author,
    },
    /// A person has to say.
    Manual {
        rule: (),
        why: Unruled,
        about: String,
    },
}

impl From<Verdict> for Ruled {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Accept { rule, author } => Self::Accept { rule, author },
            Verdict::Reject { rule, author } => Self::Reject { rule, author },
            Verdict::Manual { why, about } => Self::Manual { rule: (), why, about },
        }
    }
}

/// One that was given, with what it was about.
#[derive(Serialize, JsonSchema)]
pub struct Judged {
    at: String,
    session: String,
    name: String,
    /// The request that was judged.
    request: String,
    text: String,
    /// No list of all sessions has shown it before.
    new: bool,
    #[serde(flatten)]
    verdict: Ruled,
}

pub(crate) fn judged(one: VerdictView) -> Judged {
    let VerdictView { at, session, name, request, text, verdict, new } = one;
    Judged { at, session, name, request, text, new, verdict: verdict.into() }
}

fn by(rule: &str, author: Author) -> String {
    let rule = plain(rule);
    match author {
        Author::Glis => format!("rule `{rule}`, which comes with glis"),
        Author::User => format!("rule `{rule}` of your configuration"),
    }
}

fn reason(why: Unruled, about: &str) -> String {
    match why {
        Unruled::Empty => "the command is empty".to_owned(),
        Unruled::TooLong => "it is too long to be read".to_owned(),
        Unruled::Character => format!("shells may read the character `{about}` in another way"),
        Unruled::OpenQuote => "a quote is not closed".to_owned(),
        Unruled::OddProgram => format!("shells may read `{about}` as something of their own"),
        Unruled::NoRule => format!("no rule is about `{about}`"),
        Unruled::Barred => {
            format!("your rule about `{about}` is not used; `glis config check` says why")
        }
        Unruled::NoFilter => format!("`{about}` behind a `|` may take what it reads for orders"),
        Unruled::NotLast => {
            format!("`{about}` before an `&&` may change what the commands behind it find")
        }
        Unruled::Word => format!("no rule allows the word `{about}`"),
        Unruled::WordsMissing => format!("the rule for `{about}` needs more words"),
        Unruled::NoProgram => format!("`{about}` is not on the agent's PATH"),
        Unruled::ProgramInside => format!("{about} lies in the worktree, where the agent writes"),
        Unruled::LoosePath => {
            format!("the agent's PATH has {about:?} in it, which depends on the folder")
        }
        Unruled::Variable => {
            format!("`{about}` in the agent's environment decides what its programs do")
        }
        Unruled::Git => format!("git may run files of the worktree here: {about}"),
        Unruled::PathOutside => format!("`{about}` leads out of the worktree, or nowhere"),
        Unruled::Steers => format!("`{about}` decides what other programs do, or is one"),
        Unruled::Unlisted => {
            format!("`{about}` is not tracked by git, or in no folder that auto_yes.edits names")
        }
        Unruled::NoPattern => "no pattern is about this prompt".to_owned(),
        Unruled::Rejectable => {
            format!("the reject pattern `{about}` fits, and the no is left to you")
        }
        Unruled::Edits => "edits are not allowed by rule (auto_yes.edits)".to_owned(),
        Unruled::NotReading => "its program does not wait for input at its terminal".to_owned(),
        Unruled::Unknown => "no rule is about requests of this kind".to_owned(),
        Unruled::Place => "it is not known where it would run, or with which PATH".to_owned(),
        Unruled::NotLive => "the session was being paused, stopped or started".to_owned(),
        Unruled::NoSuchAnswer => "it takes no plain yes or no".to_owned(),
        Unruled::Repeated => "the rules have answered the same too often in a row".to_owned(),
        Unruled::Overdue => "no answer by rule within the timeout".to_owned(),
        Unruled::Fault => "the rules could not be applied".to_owned(),
    }
}
