//! What a session was asked to be, and what its agent can do.

use crate::budget::Budget;
use crate::loop_spec::LoopSpec;
use crate::task::TaskRef;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// How an agent is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    Terminal,
    /// By lines on its standard streams.
    Headless,
}

/// What an agent can do, as far as the lifecycle cares. Fixed at creation, so that a session
/// keeps its rules when the agent's table changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traits {
    /// Where its session id comes from.
    pub refs: RefOrigin,
    pub signs: SignSource,
    pub takes: Takes,
}

/// Where an agent's own session id comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefOrigin {
    /// We choose it and hand it over.
    Chosen,
    /// The agent tells it some time after its start.
    Learned,
    /// It has none: resuming starts the command again.
    None,
}

/// How an agent tells what it is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SignSource {
    /// By structured words in its stream or transcript.
    Structured,
    /// Not at all: only its screen can be looked at.
    Screen,
}

/// When an agent takes a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Takes {
    /// Between turns, and it shows that it has taken it.
    WhenIdle,
    /// Whenever it runs; handing it over is all that can be seen.
    Anytime,
}

/// What a session was asked to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// The agent's name in the table of agents.
    pub agent: String,
    pub mode: Mode,
    /// What the agent can do.
    pub traits: Traits,
    pub repo_root: String,
    /// The session runs in the repository itself.
    pub in_place: bool,
    pub base: Option<String>,
    /// The branch that it begins from, where it begins from one: what its work is merged into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_branch: Option<String>,
    /// What it is a run of, if it works on a task of a plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Box<TaskRef>>,
    /// Arguments or command after `--`.
    pub argv: Vec<String>,
    /// The first message, which a restart sends again.
    pub prompt: Option<String>,
    /// Model, where the agent has a choice.
    pub model: Option<String>,
    /// Persona, by name. What it stood for when the session was made is in the fields around it,
    /// so that a resume applies the same again.
    pub persona: Option<String>,
    /// Words added to the agent's own instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// What the agent may do unasked, in its own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// Idle time after which it may be suspended, as older builds have stored it; see
    /// [`Spec::idle_limit`].
    pub idle_timeout_secs: u64,
    /// What was asked for about it.
    #[serde(default, skip_serializing_if = "IdleLimit::is_usual")]
    pub idle: IdleLimit,
    /// Whether prompts are answered by rules.
    pub auto_yes: bool,
    /// Whether a pause removes its worktree; none leaves it to the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remove_worktree: Option<bool>,
    /// Whether a pause stops its process in place and keeps it, instead of ending it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_process: bool,
    /// It is a loop, and this is what it was asked to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looped: Option<Box<LoopSpec>>,
    /// What it may use before a person is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Box<Budget>>,
}

/// Idle time after which a session may be suspended, if nothing else is asked for: long enough to
/// read an answer.
pub const IDLE_TIMEOUT_SECS: u64 = 600;

/// How long a session may be idle before it is suspended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdleLimit {
    /// As long as the configuration says.
    #[default]
    Usual,
    /// So long, whatever the configuration says.
    Secs(u64),
    /// As long as it lives.
    Never,
}

impl IdleLimit {
    /// The shortest that can be asked for: who reads an answer is not idle.
    pub const SECS_MIN: u64 = 60;
    /// The longest: whoever wants more wants it never suspended.
    pub const SECS_MAX: u64 = 120 * 60;

    /// Whether nothing was asked for.
    pub fn is_usual(&self) -> bool {
        *self == Self::Usual
    }

    /// In seconds, 0 for never; nothing if the configuration says.
    pub fn secs(self) -> Option<u64> {
        match self {
            Self::Usual => None,
            Self::Secs(secs) => Some(secs),
            Self::Never => Some(0),
        }
    }

    /// Whether it can be asked for.
    pub fn is_in_range(self) -> bool {
        match self {
            Self::Usual | Self::Never => true,
            Self::Secs(secs) => (Self::SECS_MIN..=Self::SECS_MAX).contains(&secs),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoIdleTime;

impl FromStr for IdleLimit {
    type Err = NoIdleTime;

    /// Minutes, a number with its unit (`90s`, `5m`, `2h`), or `off`. Whether so long can be asked for is
    /// another question.
    fn from_str(text: &str) -> Result<Self, NoIdleTime> {
        if text == "off" {
            return Ok(Self::Never);
        }
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = match text.strip_prefix(digits) {
            Some("s") => 1,
            Some("" | "m") => 60,
            Some("h") => 3600,
            Some(_) | None => return Err(NoIdleTime),
        };
        let number: i128 = digits.parse().map_err(|_| NoIdleTime)?;
        let secs = number.saturating_mul(unit).clamp(0, i128::from(u64::MAX));
        Ok(Self::Secs(u64::try_from(secs).unwrap_or(u64::MAX)))
    }
}

impl Spec {
    /// Whether its process could be kept by a pause: it has a terminal, so that nothing waits for it at
    /// the other end of a pipe, and nothing to be resumed by but itself.
    pub fn can_keep_process(&self) -> bool {
        self.mode == Mode::Terminal
            && self.traits.refs == RefOrigin::None
            && self.task.is_none()
            && self.looped.is_none()
    }

    /// How long it may be idle. Older builds have not stored whether their number was asked for; one
    /// that is not theirs for everything was.
    pub fn idle_limit(&self) -> IdleLimit {
        match self.idle {
            IdleLimit::Usual if self.idle_timeout_secs != IDLE_TIMEOUT_SECS => {
                IdleLimit::Secs(self.idle_timeout_secs)
            }
            limit @ (IdleLimit::Usual | IdleLimit::Secs(_) | IdleLimit::Never) => limit,
        }
    }

    /// Takes down how long it may be idle, in both forms.
    pub fn limit_idle(&mut self, limit: IdleLimit) {
        self.idle = limit;
        self.idle_timeout_secs = match limit {
            IdleLimit::Secs(secs) => secs,
            IdleLimit::Usual | IdleLimit::Never => IDLE_TIMEOUT_SECS,
        };
    }

    /// A session of its own worktree, of which nothing is asked beyond what it cannot do without.
    pub fn plain(agent: &str, mode: Mode, traits: Traits, repo_root: &str) -> Self {
        Self {
            agent: agent.to_owned(),
            mode,
            traits,
            repo_root: repo_root.to_owned(),
            in_place: false,
            base: None,
            base_branch: None,
            task: None,
            argv: Vec::new(),
            prompt: None,
            model: None,
            persona: None,
            system_prompt: None,
            permission_mode: None,
            idle_timeout_secs: IDLE_TIMEOUT_SECS,
            idle: IdleLimit::Usual,
            auto_yes: false,
            remove_worktree: None,
            keep_process: false,
            looped: None,
            budget: None,
        }
    }
}
