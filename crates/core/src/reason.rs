//! Reasons as types: the rule that decided, the step that failed, the verb that was refused, the
//! operation that is under way. Each has the one text that it is stored and sent as; nothing but the
//! reading of that text looks at it.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An enum whose members are stored as texts. What another build says stays as it says it.
macro_rules! stored_as_text {
    ($(#[$doc:meta])* $name:ident { $($(#[$own:meta])* $member:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum $name {
            $($(#[$own])* $member,)*
            /// What has no name of its own here, or none that this build knows.
            Other(String),
        }

        impl $name {
            /// The text that it is stored as.
            pub fn stored(&self) -> &str {
                match self {
                    $(Self::$member => $text,)*
                    Self::Other(text) => text,
                }
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                match text.as_str() {
                    $($text => Self::$member,)*
                    _ => Self::Other(text),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.stored())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.stored())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(Self::from)
            }
        }
    };
}

stored_as_text! {
    /// Why a pause may stop an agent, or does so all the same. What a screen shows is told in full.
    SafeRule {
        /// It has not come to that yet.
        NotYet = "",
        /// There is no process to be stopped.
        NothingRuns = "no process runs",
        /// A start was under way, and was called off.
        StartCalledOff = "its start was called off",
        /// The process has ended by itself.
        ProcessEnded = "the process has ended",
        /// The agent asks something and does nothing meanwhile.
        WaitsForAnswer = "the agent waits for an answer",
        /// Its turn has ended.
        TurnEnded = "the agent's turn has ended",
        /// Its turn has ended because the pause interrupted it.
        TurnInterrupted = "the agent's turn was interrupted",
        /// The pause was forced from the beginning.
        Forced = "forced",
        /// It was forced later, while it waited.
        ForcedWhileWaiting = "forced while waiting for a safe state",
        /// The safe state did not come in time.
        ForcedAfterWaiting = "Agent did not reach safe state, forcing pause",
    }
}

impl SafeRule {
    /// Whether the agent was stopped without having come to a safe state.
    pub fn is_forced(&self) -> bool {
        match self {
            Self::Forced | Self::ForcedWhileWaiting | Self::ForcedAfterWaiting => true,
            Self::NotYet
            | Self::NothingRuns
            | Self::StartCalledOff
            | Self::ProcessEnded
            | Self::WaitsForAnswer
            | Self::TurnEnded
            | Self::TurnInterrupted
            | Self::Other(_) => false,
        }
    }
}

stored_as_text! {
    /// The step of an operation that failed.
    FailedStep {
        /// The screen is kept.
        Capture = "capture PTY state",
        /// The conversation is made durable.
        Conversation = "save conversation",
        /// A pause saves the worktree.
        Stash = "stash changes",
        /// The agent is told to stop its turn.
        Interrupt = "interrupt agent",
        /// Every process of the session is ended.
        EndAll = "end every process",
        /// A snapshot is taken because somebody asked for it.
        Snapshot = "snapshot the worktree",
        /// The worktree is brought back to a snapshot.
        Restore = "restore the worktree",
        /// A session is taken out of the trash.
        Return = "take it out of the trash",
        /// What the trash has of it is deleted.
        Empty = "delete it from the trash",
        /// A worktree is made.
        MakeWorktree = "create the worktree",
        /// Everything that it holds is put aside.
        PutAside = "put the session aside",
        /// The conversation is made short.
        Compact = "compact the conversation",
        /// The daemon decides on a request.
        Decide = "decide on it",
        /// The daemon learns how an operation ended.
        LearnEnd = "learn of the end",
    }
}

stored_as_text! {
    /// Why something outside failed: as it was told, or by name where a front end goes by it.
    Why {
        /// The session works where there is nothing to save into.
        NoRepository = "it is not in a git repository",
    }
}

stored_as_text! {
    /// What was asked of a session.
    Verb {
        /// `send`.
        Send = "send to",
        /// `pause`.
        Pause = "pause",
        /// `pause --cancel`.
        CancelPause = "cancel a pause of",
        /// `resume`.
        Resume = "resume",
        /// `restart`.
        Restart = "restart",
        /// `timeout`.
        LimitIdle = "set the idle timeout of",
        /// `rm`.
        Remove = "rm",
        /// `restore`.
        Restore = "restore",
        /// `snapshot`.
        Snapshot = "snapshot",
        /// `compact`.
        Compact = "compact",
        /// `merge`.
        Merge = "merge",
        /// `trash restore`.
        Return = "take out of the trash",
        /// `trash empty`.
        Empty = "empty from the trash",
    }
}

stored_as_text! {
    /// What is under way on a session.
    Operation {
        /// It is being made.
        New = "new",
        /// A message starts it.
        WakeUp = "a wake-up",
        /// It is being resumed.
        Resume = "resume",
        /// It begins anew.
        Restart = "restart",
        /// It is being paused.
        Pause = "pause",
        /// Its process is being ended.
        Stop = "stop",
        /// It goes into the trash.
        Remove = "rm",
        /// Its worktree is brought back to a snapshot.
        Restore = "restore",
        /// It is taken out of the trash.
        Return = "trash restore",
        /// What the trash has of it is deleted.
        Empty = "trash empty",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_another_build_stays_what_it_is() {
        assert_eq!(SafeRule::from("forced".to_owned()), SafeRule::Forced);
        let strange = SafeRule::from("it looked safe".to_owned());
        assert_eq!(strange, SafeRule::Other("it looked safe".to_owned()));
        assert_eq!(strange.stored(), "it looked safe");
    }
}
