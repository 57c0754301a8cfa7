//! What a process of an agent is started with.

use crate::storage::FileLocation;

/// Folders that an agent's command line may need.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// The program that glis itself is.
    pub own_program: String,
    /// Where the rehearsal agent keeps its transcripts.
    pub rehearsal: String,
    /// What [`Agent::home`] said; empty if it said nothing.
    pub home: String,
    /// What stands in the file that [`Agent::settings`] named; empty if there is none.
    pub settings: String,
    /// The session's own folder.
    pub session: String,
}

/// How a process is to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approach {
    /// A conversation that does not exist yet.
    Fresh,
    /// The conversation under the session's `agent_ref`.
    Resume,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LaunchPlan {
    pub argv: Vec<String>,
    /// Variables added to the caller's environment.
    pub env: Vec<(String, String)>,
    /// Variables of the caller's that would mislead the agent.
    pub without: Vec<&'static str>,
    /// Variables that get a random value, unless the caller has set them.
    pub secrets: Vec<&'static str>,
    /// What its holder writes to it right after it was started.
    pub first_words: String,
    /// How its hooks tell what it does.
    pub hooks: Hooks,
    /// For an agent that lives for one message only.
    pub relay: Option<Relay>,
}

/// How an agent's hooks tell what it does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Hooks {
    /// It has none of ours.
    #[default]
    None,
    /// By lines in the session's file for them ([`hooks`]).
    File,
}

impl LaunchPlan {
    pub fn program(&self) -> &str {
        let later = self.relay.as_ref().and_then(|relay| relay.later.first());
        self.argv.first().or(later).map(String::as_str).unwrap_or_default()
    }

    /// Puts the place where the program was found in the place of its name.
    pub fn set_program(&mut self, program: &str) {
        let later = self.relay.as_mut().and_then(|relay| relay.later.first_mut());
        for name in self.argv.first_mut().into_iter().chain(later) {
            program.clone_into(name);
        }
    }
}

/// How an agent that lives for one message is started anew for each. The plan's own command line is
/// that of the first message; empty if there was one already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relay {
    /// The agent's name.
    pub agent: &'static str,
    pub id: String,
    /// The command line of every later message.
    pub later: Vec<String>,
    /// The file that holds the conversation once it has begun.
    pub kept: FileLocation,
}
