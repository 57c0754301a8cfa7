//! The agents that glis knows.

use crate::agent::Agent;
use crate::{claude, codex, command, gemini, opencode, rehearsal};

pub fn table() -> &'static [(&'static str, &'static dyn Agent)] {
    &[
        ("claude", &claude::Claude),
        ("codex", &codex::Codex),
        ("command", &command::AnyCommand),
        ("gemini", &gemini::Gemini),
        ("opencode", &opencode::OpenCode),
        ("rehearsal", &rehearsal::Rehearsal),
    ]
}

pub fn find(name: &str) -> Option<&'static dyn Agent> {
    table().iter().find(|(known, _)| *known == name).map(|(_, agent)| *agent)
}

/// Whether a transcript of the agent of this name holds a message that it can go on from.
pub fn holds_messages(name: &str, transcript: &[u8]) -> bool {
    find(name).is_none_or(|agent| agent.holds_messages(transcript))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_of_the_table_is_found_by_its_name() {
        for (name, _) in table() {
            assert!(find(name).is_some(), "{name}");
        }
        assert!(find("unknown").is_none());
    }
}
