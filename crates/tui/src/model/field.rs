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

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Field {
    #[default]
    Prompt,
    Name,
    Agent,
    Model,
    Base,
    AutoYes,
    Repository,
    Repeat,
    Max,
    Until,
    Options,
    Persona,
    Command,
    Headless,
    Place,
    IdleTimeout,
    Budget,
    Worktree,
    KeepProcess,
    Spec,
    Context,
    AutoCommit,
    MaxCost,
    MaxFailures,
}

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
    /// From the top of the box: when each is asked for, and what is written before it.
    pub(crate) const ALL: [(Self, Kind, &str); 24] = [
        (Self::Prompt, Kind::Usual, "prompt"),
        (Self::Name, Kind::Usual, "name"),
        (Self::Agent, Kind::Usual, "agent"),
        (Self::Model, Kind::Usual, "model"),
        (Self::Base, Kind::Usual, "base"),
        (Self::AutoYes, Kind::Usual, "auto-yes"),
        (Self::Repository, Kind::Usual, "works on"),
        (Self::Repeat, Kind::Usual, "repeat"),
        (Self::Max, Kind::OfLoop, "at most"),
        (Self::Until, Kind::OfLoop, "until"),
        (Self::Options, Kind::Usual, "options"),
        (Self::Persona, Kind::More, "persona"),
        (Self::Command, Kind::More, "command"),
        (Self::Headless, Kind::More, "terminal"),
        (Self::Place, Kind::More, "works in"),
        (Self::IdleTimeout, Kind::More, "idle for"),
        (Self::Budget, Kind::More, "budget"),
        (Self::Worktree, Kind::More, "a pause"),
        (Self::KeepProcess, Kind::MoreOnce, "process"),
        (Self::Spec, Kind::MoreOfLoop, "list"),
        (Self::Context, Kind::MoreOfLoop, "knows"),
        (Self::AutoCommit, Kind::MoreOfLoop, "commits"),
        (Self::MaxCost, Kind::MoreOfLoop, "costs"),
        (Self::MaxFailures, Kind::MoreOfLoop, "failures"),
    ];

    pub(crate) fn word(self) -> &'static str {
        let own = Self::ALL.iter().find(|(field, ..)| *field == self);
        own.map_or("", |(_, _, word)| word)
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
            Self::Budget => "usd=5, tokens=200k, time=2h: then you are asked",
            Self::Spec => "a file with a check list, in place of a prompt",
            Self::MaxCost => "dollars after which it pauses: no limit",
            Self::MaxFailures => "3 in a row, then it pauses",
            _ => "",
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
            _ => &[],
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
