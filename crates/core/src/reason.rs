//! Reasons as types: the rule that decided, the step that failed, the verb that was refused, the
//! operation that is under way. Each has the one text that it is stored and sent as; nothing but the
//! reading of that text looks at it. The core says nothing else in words.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// An enum whose members are stored as texts. Those behind `told` have something of their own to say,
/// between a beginning and an end. What another build says stays as it says it.
macro_rules! stored_as_text {
    (
        $(#[$doc:meta])* $name:ident { $($(#[$own:meta])* $member:ident = $text:literal,)* }
        $(told { $($(#[$tells:meta])* $told:ident = $begin:literal .. $end:literal,)* })?
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum $name {
            $($(#[$own])* $member,)*
            $($($(#[$tells])* $told(String),)*)?
            /// What has no name of its own here, or none that this build knows.
            Other(String),
        }

        impl $name {
            /// The text that it is stored as.
            pub fn stored(&self) -> Cow<'_, str> {
                match self {
                    $(Self::$member => Cow::Borrowed($text),)*
                    $($(Self::$told(what) => Cow::Owned(format!("{}{what}{}", $begin, $end)),)*)?
                    Self::Other(text) => Cow::Borrowed(text),
                }
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                match text.as_str() {
                    $($text => return Self::$member,)*
                    _ => {}
                }
                $($(
                    let what = text.strip_prefix($begin).and_then(|rest| rest.strip_suffix($end));
                    if let Some(what) = what {
                        return Self::$told(what.to_owned());
                    }
                )*)?
                Self::Other(text)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.stored())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.stored())
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
    told {
        /// Its screen is quiet and shows this prompt.
        AtPrompt = "quiet for 5 s with the prompt " .. " in the last line",
        /// Its screen is quiet and shows this question.
        AtQuestion = "quiet for 5 s with the question " .. " in the last line",
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
            | Self::AtPrompt(_)
            | Self::AtQuestion(_)
            | Self::Other(_) => false,
        }
    }
}

stored_as_text! {
    /// The step of an operation that failed.
    FailedStep {
        Capture = "capture PTY state",
        /// The conversation is made durable.
        Conversation = "save conversation",
        /// A pause saves the worktree.
        Stash = "stash changes",
        /// The agent is told to stop its turn.
        Interrupt = "interrupt agent",
        /// Every process of the session is ended.
        EndAll = "end every process",
        /// Every process of the session is stopped in place.
        Freeze = "stop every process in place",
        /// A snapshot is taken because somebody asked for it.
        Snapshot = "snapshot the worktree",
        /// The worktree is brought back to a snapshot.
        Restore = "restore the worktree",
        /// A session is taken out of the trash.
        Return = "take it out of the trash",
        /// What the trash has of it is deleted.
        Empty = "delete it from the trash",
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
    /// Why something failed: by name where the core says so or a front end goes by it, else as it was
    /// told.
    Why {
        /// The session works where there is nothing to save into.
        NoRepository = "it is not in a git repository",
        /// A stop won over it.
        StoppedInstead = "it was stopped instead",
        /// The session is gone for good.
        TrashEmptied = "the trash was emptied of it",
        /// The gate has to stop one more.
        FoundRunning = "an agent was found running",
        /// A question was answered as if it were asked for leave.
        NoLeaveAsked = "only leave to do something can hold for the whole session",
        /// A question was answered with nothing.
        EmptyAnswer = "the answer is empty",
        /// A yes came with a reason.
        ReasonForYes = "only a no has a reason",
        /// Our own question was answered with a reason.
        ReasonForUs = "glis asks this, and needs no reason",
        /// A program would take a reason for the next line of its input.
        ReasonForProgram = "a plain program takes no reason",
        /// A worktree that nothing could bring back stays.
        NoSnapshot = "Failed to remove worktree: there is no snapshot of it",
        /// The daemon died on the way to a process.
        NeverStarted = "the daemon ended before the process was started",
        /// The daemon died on the way to the first process.
        FirstStartCutShort = "its first start was cut short",
        /// The daemon died while it handed an answer over.
        AnswerCutShort = "the daemon ended while the answer was on its way",
        /// The process did not live to take an answer.
        EndedBeforeAnswer = "its process ended before it took the answer",
        /// The holder took the knowledge of the end with it.
        HolderGone = "its holder is gone",
        /// The machine ended, and everything on it.
        Rebooted = "the machine was restarted",
    }
    told {
        /// A process ended with this status.
        ExitStatus = "exit status " .. "",
        /// A signal of this number ended it.
        Signal = "killed by signal " .. "",
        /// It ended in this way before it could work.
        EndedEarly = "it ended before it was ready: " .. "",
        /// It said why it does not work.
        RefusedToBegin = "it refused to begin: " .. "",
        NotEnded = "could not be ended and still there: " .. "",
        /// Nothing tells whether something is still there.
        Unclear = "it is not known whether a process is left: " .. "",
        /// A pause did without its first snapshot.
        NoSnapshotBefore = "no snapshot before the stop: " .. "",
        /// A pause did without its second snapshot.
        NoSnapshotAfter = "no snapshot after the stop: " .. "",
        /// What a pause had kept is gone.
        KeptEnded = "the process that it kept has ended: " .. "",
        /// A pause did without the screen.
        NoScreen = "its screen was not kept: " .. "",
    }
}

impl Why {
    /// With what the process said last, if it said something.
    pub(crate) fn with_last_words(self, words: &str) -> Self {
        if words.is_empty() { self } else { Self::from(format!("{self}; it said: {words}")) }
    }

    /// It refused to begin, said why, and ended in this way.
    pub(crate) fn refused_and_ended(ending: &Self, said: &str) -> Self {
        Self::from(format!("it refused to begin ({ending}): {said}"))
    }

    /// It ended in this way before it could work, where that is why a start failed.
    pub(crate) fn ended_at_start(ending: &Self) -> Self {
        Self::from(format!("it ended before it was ready ({ending})"))
    }
}

stored_as_text! {
    /// What was asked of a session.
    Verb {
        Send = "send to",
        Pause = "pause",
        CancelPause = "cancel a pause of",
        Resume = "resume",
        Restart = "restart",
        LimitIdle = "set the idle timeout of",
        Budget = "set the budget of",
        Triage = "label, pin or snooze",
        Remove = "rm",
        Restore = "restore",
        Snapshot = "snapshot",
        Compact = "compact",
        Merge = "merge",
        /// `trash restore`.
        Return = "take out of the trash",
        Empty = "empty from the trash",
    }
}

stored_as_text! {
    /// What is under way on a session.
    Operation {
        New = "new",
        WakeUp = "a wake-up",
        Resume = "resume",
        Restart = "restart",
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
        /// One that has no name.
        Another = "another operation",
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

    #[test]
    fn what_it_tells_of_its_own_is_read_again() {
        let rule = SafeRule::AtPrompt("\"> \"".to_owned());
        assert_eq!(rule.stored(), "quiet for 5 s with the prompt \"> \" in the last line");
        assert_eq!(SafeRule::from(rule.stored().into_owned()), rule);
        let why = Why::from("killed by signal 9".to_owned());
        assert_eq!(why, Why::Signal("9".to_owned()));
    }
}
