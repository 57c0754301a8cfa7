//! What a box of one line asks for: the words that a deed still needs.

use crate::deed::{Deed, PauseWith, Reply};
use crate::remarks::Comment;
use glis_core::amount;
use glis_core::looping::LoopChange;
use glis_core::spec::IdleLimit;
use glis_wire::view::SessionRow;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// After how long it is suspended.
    Timeout,
    /// Labels that come and go.
    Labels,
    /// For how long it needs nobody.
    Snooze,
    /// What it may use.
    Budget,
    /// What it is told when it is back.
    ResumeWords,
    /// The branch that its work is merged into.
    MergeInto,
    /// How long it is paused.
    PauseFor,
    /// The answer to this request.
    Answer { request: String },
    /// Why the answer to it is no.
    WhyNot { request: String },
    /// Where a copy of this snapshot goes.
    CopyTo { snapshot: String },
    /// How often a loop goes round at most.
    LoopMax,
    /// What is said of a line of a diff.
    Remark { comment: Comment },
    /// Another name for what is taken out of the trash.
    NewName,
}

impl Wanted {
    /// The request that is answered with it.
    pub(crate) fn request(&self) -> Option<&str> {
        if let Self::Answer { request } | Self::WhyNot { request } = self {
            return Some(request);
        }
        None
    }

    pub(crate) fn title(&self, name: &str) -> String {
        match self {
            Self::Timeout => format!("suspend {name} after"),
            Self::Labels => format!("labels of {name}"),
            Self::Snooze => format!("snooze {name}"),
            Self::Budget => format!("budget of {name}"),
            Self::ResumeWords => format!("resume {name} with these words"),
            Self::MergeInto => format!("merge {name} into the branch"),
            Self::PauseFor => format!("pause {name} for"),
            Self::Answer { .. } => format!("answer to {name}"),
            Self::WhyNot { .. } => format!("deny {name}, because"),
            Self::CopyTo { .. } => format!("copy a snapshot of {name} to the new folder"),
            Self::Remark { comment } => format!("comment on {}:{}", comment.path, comment.number),
            Self::NewName => format!("take {name} out of the trash as"),
            Self::LoopMax => format!("iterations of {name} at most, or another limit"),
        }
    }

    /// What can be typed.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Timeout => "minutes that it may be idle, 1 to 120; `off`: never",
            Self::Labels => "auth comes, -auth goes",
            Self::Snooze => "2h, 3d, 18:00, `change` (until it asks or ends) or `off`",
            Self::Budget => "usd=5, tokens=200k, time=2h, several with commas, or `off`",
            Self::ResumeWords => "nothing: it goes on where it was",
            Self::MergeInto => "nothing: the one that it began from; `--hooks` runs its hooks",
            Self::PauseFor => "30s, 10m, 2h: then it resumes by itself",
            Self::Answer { .. } | Self::WhyNot { .. } => "the agent is told",
            Self::CopyTo { .. } => "an absolute path; the session is left as it is",
            Self::Remark { .. } => "sent with all others as one message; nothing takes it away",
            Self::NewName => "a name: lower-case letters, digits, `.`, `_`, `-`",
            Self::LoopMax => "a number or `off`; or max-cost=5, max-failures=2, until=CMD",
        }
    }

    /// What it is at present, where that is known.
    pub(crate) fn present(&self, session: &SessionRow) -> Option<String> {
        match self {
            Self::Timeout if session.idle_timeout_secs == 0 => Some("off".to_owned()),
            Self::Timeout => Some((session.idle_timeout_secs / 60).to_string()),
            Self::Labels => Some(session.labels.join(" ")).filter(|labels| !labels.is_empty()),
            Self::Snooze => session.snoozed_until.clone(),
            Self::Budget => session.budget.as_ref().map(|budget| budget.allowed.clone()),
            Self::LoopMax => {
                let own = session.looped.as_ref()?;
                Some(own.max.map_or_else(|| "off".to_owned(), |max| max.to_string()))
            }
            _ => None,
        }
    }

    /// What is to be done with what was typed, or why that cannot be.
    pub(crate) fn deed(&self, text: &str) -> Result<Deed, String> {
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        Ok(match self {
            Self::Timeout => Deed::LimitIdle { limit: idle_limit(text)? },
            Self::Labels => {
                let words = some(text).ok_or("a word, such as auth")?;
                Deed::Label { words: words.split_whitespace().map(str::to_owned).collect() }
            }
            Self::Snooze => Deed::Snooze { until: some(text).ok_or("say how long, as in 2h")? },
            Self::Budget => Deed::Budget { budget: some(text).ok_or("say how much, as in usd=5")? },
            Self::ResumeWords => Deed::Resume { prompt: some(text) },
            Self::MergeInto => {
                let hooks = text.split_whitespace().any(|word| word == "--hooks");
                let branch = text.split_whitespace().find(|word| *word != "--hooks");
                Deed::Merge { branch: branch.map(ToOwned::to_owned), hooks }
            }
            Self::PauseFor => {
                let for_secs = Some(seconds(text)?);
                Deed::Pause(PauseWith { for_secs, ..PauseWith::USUAL })
            }
            Self::Answer { request } => {
                let answer = Reply::Words(text.to_owned());
                Deed::Answer { request: request.clone(), answer }
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
            Self::LoopMax => Deed::SetLoop { change: loop_limit(text)? },
            // It is kept beside the diff, and done by the message that it becomes a part of.
            Self::Remark { .. } => return Err("it goes with the other comments".to_owned()),
        })
    }
}

fn idle_limit(text: &str) -> Result<IdleLimit, String> {
    let limit = text.parse::<IdleLimit>().ok().filter(|limit| limit.is_in_range());
    limit.ok_or_else(|| "Timeout must be between 1 and 120 minutes".to_owned())
}

/// Seconds that a new session may be idle.
pub(crate) fn idle_secs(text: &str) -> Result<u64, String> {
    match idle_limit(text)? {
        IdleLimit::Secs(secs) => Ok(secs),
        IdleLimit::Never | IdleLimit::Usual => {
            Err("1 to 120 minutes; `t` can lift it once it is there".to_owned())
        }
    }
}

/// A limit of a loop: how often it goes round, or another one by its name.
fn loop_limit(text: &str) -> Result<LoopChange, String> {
    let (limit, value) = text.split_once('=').unwrap_or(("max", text));
    let value = Some(value.trim()).filter(|value| !["off", "none", ""].contains(value));
    let number = |value: &str| count(value).ok_or_else(|| format!("`{value}` is no number"));
    let mut change = LoopChange::default();
    match limit.trim() {
        "max" => change.max = Some(value.map(number).transpose()?),
        "max-cost" => change.max_cost_micros = Some(value.map(dollars).transpose()?),
        "max-failures" => change.max_failures = Some(number(value.unwrap_or_default())?),
        "until" => change.until = Some(value.map(ToOwned::to_owned)),
        other => return Err(format!("`{other}` is none of max, max-cost, max-failures, until")),
    }
    Ok(change)
}

/// A number of something, of which there is one at least.
pub(crate) fn count(text: &str) -> Option<u32> {
    text.parse().ok().filter(|number| *number > 0)
}

/// Dollars as they are typed, in millionths.
pub(crate) fn dollars(text: &str) -> Result<u64, String> {
    amount::dollars(text).ok_or_else(|| format!("`{text}` are no dollars"))
}

/// A command line as words: parted by blanks, but not within quotes.
pub(crate) fn words(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (own, Some(open)) if own == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(letters.next()),
            (blank, None) if blank.is_whitespace() => words.extend(word.take()),
            (other, _) => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    if quote.is_some() { Err("a quote is not closed".to_owned()) } else { Ok(words) }
}

fn seconds(text: &str) -> Result<u64, String> {
    amount::seconds(text).ok_or_else(|| format!("`{text}` is no time; try 30s or 10m"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_parted_as_a_shell_does() {
        let parted = |text| words(text).map(|words| words.join("|"));
        assert_eq!(parted("a  b"), Ok("a|b".to_owned()));
        assert_eq!(
            parted(r#"sh -c 'x "y"' "a \"b" c\ d ''"#),
            Ok(r#"sh|-c|x "y"|a "b|c d|"#.to_owned())
        );
        assert!(parted("'a").is_err());
    }

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
        assert_eq!(
            line(&Wanted::MergeInto, "dev --hooks"),
            ok("glis merge blue --into dev --hooks")
        );
        assert_eq!(line(&Wanted::MergeInto, "--hooks"), ok("glis merge blue --hooks"));
        assert_eq!(line(&Wanted::PauseFor, "2h"), ok("glis pause blue --for 7200s"));
        assert!(line(&Wanted::PauseFor, "2y").is_err());
        assert_eq!(line(&Wanted::LoopMax, "9"), ok("glis loop blue --set max=9"));
        for (text, set) in [
            ("off", "max=none"),
            ("max-cost=2.50", "max-cost=2.5"),
            ("max-failures=2", "max-failures=2"),
            ("until=make test", "'until=make test'"),
            ("until=none", "until=none"),
        ] {
            assert_eq!(line(&Wanted::LoopMax, text), ok(&format!("glis loop blue --set {set}")));
        }
        for text in ["0", "max-cost=1.2.3", "max-failures=off", "min=3"] {
            assert!(line(&Wanted::LoopMax, text).is_err(), "{text}");
        }
        let why = Wanted::WhyNot { request: "r1".to_owned() };
        assert_eq!(line(&why, "no"), ok("glis answer blue deny --reason no --request r1"));
        assert!(line(&why, "").is_err());
        let copy = Wanted::CopyTo { snapshot: "s1".to_owned() };
        assert_eq!(line(&copy, "/tmp/x"), ok("glis restore blue --snapshot s1 --to /tmp/x"));
        assert!(line(&copy, "x").is_err());
    }
}
