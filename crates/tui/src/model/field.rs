//! The fields of the box for a new session: what they are called, and what can be chosen in them.

/// The agents that can be chosen; the first leaves it to the configuration.
pub(crate) const AGENTS: [Option<&str>; 7] = [
    None,
    Some("claude"),
    Some("codex"),
    Some("gemini"),
    Some("opencode"),
    Some("command"),
    Some("rehearsal"),
];

/// A field of the box.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Field {
    #[default]
    Prompt,
    Name,
    Agent,
    Model,
    Base,
    AutoYes,
    Repeat,
    Max,
    Until,
    Options,
    Persona,
    Command,
    Headless,
    Place,
    IdleTimeout,
    Worktree,
    KeepProcess,
    Spec,
    Context,
    AutoCommit,
    MaxCost,
    MaxFailures,
}

/// When a field is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Usual,
    OfLoop,
    /// Only of those who want all options.
    More,
    MoreOnce,
    MoreOfLoop,
}

impl Field {
    /// From the top of the box.
    pub(crate) const ALL: [Self; 22] = [
        Self::Prompt,
        Self::Name,
        Self::Agent,
        Self::Model,
        Self::Base,
        Self::AutoYes,
        Self::Repeat,
        Self::Max,
        Self::Until,
        Self::Options,
        Self::Persona,
        Self::Command,
        Self::Headless,
        Self::Place,
        Self::IdleTimeout,
        Self::Worktree,
        Self::KeepProcess,
        Self::Spec,
        Self::Context,
        Self::AutoCommit,
        Self::MaxCost,
        Self::MaxFailures,
    ];

    /// When it is asked for.
    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::Prompt
            | Self::Name
            | Self::Agent
            | Self::Model
            | Self::Base
            | Self::AutoYes
            | Self::Repeat
            | Self::Options => Kind::Usual,
            Self::Max | Self::Until => Kind::OfLoop,
            Self::Persona
            | Self::Command
            | Self::Headless
            | Self::Place
            | Self::IdleTimeout
            | Self::Worktree => Kind::More,
            Self::KeepProcess => Kind::MoreOnce,
            Self::Spec | Self::Context | Self::AutoCommit | Self::MaxCost | Self::MaxFailures => {
                Kind::MoreOfLoop
            }
        }
    }

    /// What is written before it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Name => "name",
            Self::Agent => "agent",
            Self::Model => "model",
            Self::Base => "base",
            Self::AutoYes => "auto-yes",
            Self::Repeat => "repeat",
            Self::Max => "at most",
            Self::Until => "until",
            Self::Options => "options",
            Self::Persona => "persona",
            Self::Command => "command",
            Self::Headless => "terminal",
            Self::Place => "works in",
            Self::IdleTimeout => "idle for",
            Self::Worktree => "a pause",
            Self::KeepProcess => "process",
            Self::Spec => "list",
            Self::Context => "knows",
            Self::AutoCommit => "commits",
            Self::MaxCost => "costs",
            Self::MaxFailures => "failures",
        }
    }

    /// What it is if nothing is typed.
    pub(crate) fn usual(self) -> &'static str {
        match self {
            Self::Name => "made from the prompt",
            Self::Model => "the agent's own choice",
            Self::Base => "the current commit",
            Self::Max => "as many iterations as it takes",
            Self::Until => "a command that succeeds, such as `cargo test`",
            Self::Persona => "none of the configuration's",
            Self::Command => "a program; else words for the agent's own command line",
            Self::IdleTimeout => "10 minutes, then it is suspended; 1 to 120",
            Self::Spec => "a file with a check list, in place of a prompt",
            Self::MaxCost => "dollars after which it pauses: no limit",
            Self::MaxFailures => "3 in a row, then it pauses",
            Self::Prompt
            | Self::Agent
            | Self::AutoYes
            | Self::Repeat
            | Self::Options
            | Self::Headless
            | Self::Place
            | Self::Worktree
            | Self::KeepProcess
            | Self::Context
            | Self::AutoCommit => "",
        }
    }

    /// What can be chosen, the usual first; nothing where a text is typed.
    pub(crate) fn choices(self) -> &'static [&'static str] {
        match self {
            Self::Agent => {
                &["as configured", "claude", "codex", "gemini", "opencode", "command", "rehearsal"]
            }
            Self::AutoYes => &["off: you are asked", "on: rules answer what they allow"],
            Self::Repeat => &["no: one conversation", "loop: the prompt again and again"],
            Self::Options => &["the usual ones", "all of them"],
            Self::Headless => &["yes, to look at and to attach to", "no: headless"],
            Self::Place => &["a worktree of its own", "the repository itself, in place"],
            Self::Worktree => &[
                "does with the worktree what is configured",
                "removes the worktree, if all is saved",
                "keeps the worktree",
            ],
            Self::KeepProcess => &["is ended by a pause", "is kept, stopped in place"],
            Self::Context => &["its files alone: a fresh conversation", "the whole conversation"],
            Self::AutoCommit => &["nothing by itself", "the work of every iteration"],
            Self::Prompt
            | Self::Name
            | Self::Model
            | Self::Base
            | Self::Max
            | Self::Until
            | Self::Persona
            | Self::Command
            | Self::IdleTimeout
            | Self::Spec
            | Self::MaxCost
            | Self::MaxFailures => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_is_a_choice_of_its_field() {
        let named = AGENTS.map(|agent| agent.unwrap_or("as configured"));
        assert_eq!(Field::Agent.choices(), named);
    }
}
