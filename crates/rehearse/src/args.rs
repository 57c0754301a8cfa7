//! The command line: what was typed, as the agent understands it.

use std::time::Duration;

/// What the command line asks for.
#[derive(Debug, PartialEq)]
pub(crate) struct Args {
    pub(crate) identity: Identity,
    pub(crate) face: FaceKind,
    pub(crate) model: String,
    pub(crate) misbehaviours: Vec<Misbehaviour>,
    pub(crate) prompt: Option<String>,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Identity {
    /// The agent makes an id itself.
    Unnamed,
    Begin(String),
    Resume(String),
}

/// Who sits at the other end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FaceKind {
    Headless,
    Terminal,
}

/// Faults the agent has from its start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Misbehaviour {
    NoTranscript,
    LateId(Duration),
    NeverId,
    ChangeId,
    RefuseResume,
    MuteResume,
    ExitAtOnce(u8),
    IgnoreInt,
    IgnoreTerm,
    /// So many messages are typed, entered, and lost without a trace.
    Swallow(u32),
    /// An Enter that is read together with a paste is lost.
    JoinedEnter,
}

const USAGE: &str = "usage: rehearse [--session-id ID | --resume ID] [--headless] [--model M] \
                     [--misbehave WHAT]... [PROMPT]";

impl Args {
    /// Reads the words after the verb; the error is a sentence for stderr.
    pub(crate) fn parse(words: &[String]) -> Result<Self, String> {
        let mut args = Self {
            identity: Identity::Unnamed,
            face: FaceKind::Terminal,
            model: "rehearsal-1".to_owned(),
            misbehaviours: Vec::new(),
            prompt: None,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word == "--" {
                words.try_for_each(|word| args.take_prompt(word))?;
                break;
            }
            if !word.starts_with("--") {
                args.take_prompt(word)?;
                continue;
            }
            let (flag, inline) = match word.split_once('=') {
                Some((flag, value)) => (flag, Some(value.to_owned())),
                None => (word.as_str(), None),
            };
            if flag == "--headless" {
                args.face = FaceKind::Headless;
                continue;
            }
            let value = inline
                .or_else(|| words.next().cloned())
                .ok_or_else(|| format!("{flag} needs a value; {USAGE}"))?;
            args.take_option(flag, value)?;
        }
        Ok(args)
    }

    pub(crate) fn has(&self, fault: Misbehaviour) -> bool {
        self.misbehaviours.contains(&fault)
    }

    pub(crate) fn exit_at_once(&self) -> Option<u8> {
        self.misbehaviours.iter().find_map(|fault| match fault {
            Misbehaviour::ExitAtOnce(code) => Some(*code),
            _ => None,
        })
    }

    fn take_prompt(&mut self, word: &str) -> Result<(), String> {
        if self.prompt.is_some() {
            return Err(format!("one PROMPT at most, and `{word}` is a second; {USAGE}"));
        }
        self.prompt = Some(word.to_owned());
        Ok(())
    }

    fn take_option(&mut self, flag: &str, value: String) -> Result<(), String> {
        match flag {
            "--session-id" | "--resume" => {
                if self.identity != Identity::Unnamed {
                    return Err(format!("--session-id or --resume, once; {USAGE}"));
                }
                check_id(&value)?;
                self.identity = if flag == "--resume" {
                    Identity::Resume(value)
                } else {
                    Identity::Begin(value)
                };
            }
            "--model" => self.model = value,
            "--misbehave" => self.misbehaviours.push(misbehaviour(&value)?),
            _ => return Err(format!("unknown option {flag}; {USAGE}")),
        }
        Ok(())
    }
}

/// Refuses ids that would name a file outside the transcripts' directory.
fn check_id(id: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if id.is_empty() || id.starts_with('.') || !id.chars().all(plain) {
        return Err(format!("`{id}` is no session ID: letters, digits, `-`, `_` and `.` only"));
    }
    Ok(())
}

fn misbehaviour(word: &str) -> Result<Misbehaviour, String> {
    let unknown = || format!("unknown misbehaviour `{word}`");
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    match (name, value) {
        ("no-transcript", "") => Ok(Misbehaviour::NoTranscript),
        ("never-id", "") => Ok(Misbehaviour::NeverId),
        ("change-id", "") => Ok(Misbehaviour::ChangeId),
        ("refuse-resume", "") => Ok(Misbehaviour::RefuseResume),
        ("mute-resume", "") => Ok(Misbehaviour::MuteResume),
        ("ignore-int", "") => Ok(Misbehaviour::IgnoreInt),
        ("ignore-term", "") => Ok(Misbehaviour::IgnoreTerm),
        ("joined-enter", "") => Ok(Misbehaviour::JoinedEnter),
        ("late-id", secs) => {
            let secs = secs.parse().map_err(|_| unknown())?;
            let wait = Duration::try_from_secs_f64(secs).map_err(|_| unknown())?;
            // A day is never, in a rehearsal, and no clock overflows from it.
            Ok(Misbehaviour::LateId(wait.min(Duration::from_secs(86_400))))
        }
        ("swallow", count) => Ok(Misbehaviour::Swallow(count.parse().map_err(|_| unknown())?)),
        ("exit-at-once", code) => {
            Ok(Misbehaviour::ExitAtOnce(code.parse().map_err(|_| unknown())?))
        }
        _ => Err(unknown()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Args, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Args::parse(&words)
    }

    #[test]
    fn a_full_command_line_is_understood() {
        let args =
            parse("--resume a-1 --headless --model=m --misbehave late-id=0.5 hello").unwrap();
        assert_eq!(args.identity, Identity::Resume("a-1".to_owned()));
        assert_eq!(args.face, FaceKind::Headless);
        assert_eq!(args.model, "m");
        assert_eq!(args.misbehaviours, [Misbehaviour::LateId(Duration::from_millis(500))]);
        assert_eq!(args.prompt.as_deref(), Some("hello"));
    }

    #[test]
    fn a_prompt_may_look_like_a_flag_after_two_dashes() {
        assert_eq!(parse("-- --headless").unwrap().prompt.as_deref(), Some("--headless"));
    }

    #[test]
    fn an_id_that_climbs_out_of_the_directory_is_refused() {
        assert!(parse("--session-id ../x").is_err());
        assert!(parse("--session-id ..").is_err());
    }

    #[test]
    fn two_identities_are_refused() {
        assert!(parse("--session-id a --resume a").is_err());
    }

    #[test]
    fn unknown_words_are_refused() {
        assert!(parse("--fast").is_err());
        assert!(parse("--misbehave sing").is_err());
        assert!(parse("one two").is_err());
    }
}
