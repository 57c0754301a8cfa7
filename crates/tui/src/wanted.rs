//! What a box of one line asks for: the words that a deed still needs.

use crate::deed::{Deed, PauseWith, Reply};
use glis_core::looping::LoopChange;
use glis_core::pause::PauseMode;
use glis_core::spec::IdleLimit;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// After how long it is suspended.
    Timeout,
    /// What it is told when it is back.
    ResumeWords,
    /// The branch that its work is merged into.
    MergeInto,
    /// How long it is paused.
    PauseFor,
    /// Why the answer to this request is no.
    WhyNot { request: String },
    /// Where a copy of this snapshot goes.
    CopyTo { snapshot: String },
    /// How often a loop goes round at most.
    LoopMax,
    /// Another name for what is taken out of the trash.
    NewName,
}

impl Wanted {
    /// The title of the box.
    pub(crate) fn title(&self, name: &str) -> String {
        match self {
            Self::Timeout => format!("suspend {name} after"),
            Self::ResumeWords => format!("resume {name} with these words"),
            Self::MergeInto => format!("merge {name} into the branch"),
            Self::PauseFor => format!("pause {name} for"),
            Self::WhyNot { .. } => format!("deny {name}, because"),
            Self::CopyTo { .. } => format!("copy a snapshot of {name} to the new folder"),
            Self::NewName => format!("take {name} out of the trash as"),
            Self::LoopMax => format!("iterations of {name} at most"),
        }
    }

    /// What can be typed.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Timeout => "minutes that it may be idle, 1 to 120; `off`: never",
            Self::ResumeWords => "nothing: it goes on where it was",
            Self::MergeInto => "nothing: the branch that it began from",
            Self::PauseFor => "30s, 10m, 2h: then it resumes by itself",
            Self::WhyNot { .. } => "the agent is told",
            Self::CopyTo { .. } => "an absolute path; the session is left as it is",
            Self::NewName => "a name: lower-case letters, digits, `.`, `_`, `-`",
            Self::LoopMax => "a number; `off`: as many as it takes",
        }
    }

    /// What is to be done with what was typed, or why that cannot be.
    pub(crate) fn deed(&self, text: &str) -> Result<Deed, String> {
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        Ok(match self {
            Self::Timeout => Deed::LimitIdle { limit: idle_limit(text)? },
            Self::ResumeWords => match some(text) {
                Some(prompt) => Deed::ResumeWith { prompt },
                None => Deed::Resume,
            },
            Self::MergeInto => match some(text) {
                Some(branch) => Deed::MergeInto { branch },
                None => Deed::Merge,
            },
            Self::PauseFor => {
                let for_secs = Some(seconds(text)?);
                let mode = PauseMode::Interrupt;
                Deed::PauseWith(PauseWith { mode, for_secs, clearing: None })
            }
            Self::WhyNot { request } => {
                let reason = some(text).ok_or("say why")?;
                Deed::Answer { request: request.clone(), answer: Reply::DenyBecause(reason) }
            }
            Self::CopyTo { snapshot } => {
                let to = some(text).filter(|to| to.starts_with('/'));
                let to = to.ok_or("an absolute path begins with /")?;
                Deed::CopySnapshot { snapshot: snapshot.clone(), to }
            }
            Self::NewName => {
                let name = some(text).filter(|name| glis_core::name::check(name).is_ok());
                let name = name.ok_or("letters, digits, `.`, `_` and `-`, as in `fix-login`")?;
                Deed::Undelete { name: Some(name) }
            }
            Self::LoopMax => Deed::SetLoop { change: loop_max(text)? },
        })
    }
}

fn idle_limit(text: &str) -> Result<IdleLimit, String> {
    if text == "off" {
        return Ok(IdleLimit::Never);
    }
    let secs = text.parse::<u64>().ok().and_then(|minutes| minutes.checked_mul(60));
    let limit = secs.map(IdleLimit::Secs).filter(|limit| limit.is_in_range());
    limit.ok_or_else(|| "Timeout must be between 1 and 120 minutes".to_owned())
}

fn loop_max(text: &str) -> Result<LoopChange, String> {
    let max = match text {
        "off" => None,
        number => Some(number.parse().map_err(|_| format!("`{number}` is no number"))?),
    };
    Ok(LoopChange { max: Some(max), ..LoopChange::default() })
}

/// A number with its unit. A bare number is seconds.
fn seconds(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text.strip_prefix(digits).unwrap_or_default() {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        unit => return Err(format!("`{unit}` is no unit of time; there are s, m, h")),
    };
    let number = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    number.filter(|secs| *secs > 0).ok_or_else(|| format!("`{text}` is no time; try 30s or 10m"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_becomes_a_deed_or_says_why_not() {
        let line = |wanted: &Wanted, text: &str| wanted.deed(text).map(|deed| deed.line("blue"));
        let ok = |text: &str| Ok(text.to_owned());
        assert_eq!(line(&Wanted::Timeout, "30"), ok("glis timeout blue 30"));
        assert_eq!(line(&Wanted::Timeout, "off"), ok("glis timeout blue off"));
        assert!(line(&Wanted::Timeout, "121").is_err());
        assert_eq!(line(&Wanted::ResumeWords, ""), ok("glis resume blue"));
        assert_eq!(line(&Wanted::ResumeWords, "go on"), ok("glis resume blue --prompt 'go on'"));
        assert_eq!(line(&Wanted::MergeInto, "dev"), ok("glis merge blue --into dev"));
        assert_eq!(line(&Wanted::PauseFor, "2h"), ok("glis pause blue --for 7200s"));
        assert!(line(&Wanted::PauseFor, "2y").is_err());
        assert_eq!(line(&Wanted::LoopMax, "9"), ok("glis loop blue --set max=9"));
        let why = Wanted::WhyNot { request: "r1".to_owned() };
        assert_eq!(line(&why, "no"), ok("glis answer blue deny --reason no --request r1"));
        assert!(line(&why, "").is_err());
        let copy = Wanted::CopyTo { snapshot: "s1".to_owned() };
        assert_eq!(line(&copy, "/tmp/x"), ok("glis restore blue --snapshot s1 --to /tmp/x"));
        assert!(line(&copy, "x").is_err());
    }
}
