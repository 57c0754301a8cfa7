//! What is known of a session, by subject. A card holds the first six of these as they are, so their
//! form is kept like that of an event.

use crate::by_itself::ByItself;
use crate::compaction::Compaction;
use crate::ids::OpId;
use crate::leftover::Leftovers;
use crate::looping::Loop;
use crate::phase::{Deferred, Rest};
use crate::queue::Queue;
use crate::rare::Seldom;
use crate::reason::Why;
use crate::rule::Rule;
use crate::talk::Ask;
use crate::timer::WallMs;
use crate::tree::{Found, PathList, Restored, SnapshotRef};
use crate::usage_limit::UsageLimits;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Where a session works, once that is there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Place {
    pub worktree: Option<String>,
    /// Its branch, if it has one of its own.
    pub branch: Option<String>,
}

/// Its agent, and the conversation that it is in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Agent {
    /// The agent's own session id.
    pub agent_ref: Option<String>,
    /// Ids it had before a restart or a rotation.
    pub former_refs: Vec<String>,
    /// A start has succeeded since the agent's conversation began: there is one to go on with.
    pub ran: bool,
    /// Goes up with every start of its process.
    pub generation: u32,
}

/// What was said and asked, and how far it is accounted for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Talk {
    /// Messages not yet taken, oldest first.
    pub queue: Queue,
    /// The last turn ended with the process, not by itself.
    pub cut_off: bool,
    /// Why the last turn came to nothing, in the agent's words, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_failed: Option<String>,
    /// What it asked when it was last paused or its process ended, until the agent has words again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub was_asking: Vec<Ask>,
    /// How far its stream and its transcript are accounted for.
    pub seen: Seen,
    /// How far the transcripts of conversations that it was in before are accounted for, by their ids.
    pub seen_before: BTreeMap<String, u64>,
}

/// Positions up to which an agent's signs are accounted for. A restarted daemon reads everything
/// again and leaves out what lies before them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Offset in the session's output.
    pub stream: u64,
    /// Offset in the agent's transcript of the present conversation.
    pub transcript: u64,
    /// Offset in what the agent's hooks have written.
    #[serde(default)]
    pub hooks: u64,
}

/// When a session began, and when something last happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Times {
    pub created_at: WallMs,
    pub last_active_at: WallMs,
    /// When a turn of it, or all of it, last came to an end: what a person may want to look at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<WallMs>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Saved {
    /// The latest snapshot of its worktree.
    pub snapshot: Option<SnapshotRef>,
    /// The snapshot of its worktree as the last process left it, while none runs.
    #[serde(rename = "left_as")]
    pub baseline: Option<SnapshotRef>,
    /// When its conversation was last made short.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compacted_at: Option<WallMs>,
}

impl Saved {
    /// What holds it as it was last left, as far as that is known.
    pub fn last(&self) -> Option<&SnapshotRef> {
        self.baseline.as_ref().or(self.snapshot.as_ref())
    }
}

/// What it goes on with by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ahead {
    /// When its pause, or the one under way, ends by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume_at: Option<WallMs>,
    /// What is remembered of usage limits, such as a turn that one has left unanswered.
    #[serde(skip_serializing_if = "UsageLimits::is_empty")]
    pub limits: UsageLimits,
    /// How its loop stands, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub looped: Option<Box<Loop>>,
}

/// How it came to be where it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Course {
    /// Which rule decided the last change of status.
    pub rule: Rule,
    /// How often it has become idle, or has got another time for it: each spell has its own timer.
    pub idle_spells: u64,
    pub resumed_at: Option<WallMs>,
    /// The last pause, while it lasts.
    pub paused_at: Option<WallMs>,
    /// It was found that the pause does not end by itself, by the user's bounds.
    pub stays: bool,
    /// Starts that have failed in a row.
    pub failed_starts: u32,
    /// What is remembered of resumes that no person has asked for.
    pub by_itself: ByItself,
}

/// What starts have met and left.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Starts {
    /// A start of it waits, and begins by itself as soon as it may.
    pub deferred: Option<Deferred>,
    /// What a restart has set aside, until it succeeds.
    pub set_aside: Option<SetAside>,
    /// What its worktree could not get when it was made.
    pub notes: Vec<String>,
    /// What the last process left behind.
    pub leftovers: Leftovers,
    /// What a person has allowed for the session, which is not asked about again.
    pub allowed: Vec<Ask>,
    /// Why the last message was not handed over, until another one is.
    pub undelivered: Option<String>,
    /// A usage limit lasts until then.
    pub limit_until: Option<String>,
}

/// What is done with what it holds, and what is in doubt about that.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upkeep {
    /// A caller waits for a snapshot by this operation.
    pub saving: Option<OpId>,
    /// Why the last attempt to save the worktree failed, until one succeeds.
    pub unsaved: Option<Why>,
    /// How the worktree was found before the last start.
    pub found: Option<Found>,
    /// What the worktree was restored to, until the next start.
    pub restored: Option<Restored>,
    /// What changed in the worktree behind the agent's back, until it is told.
    pub changed: Option<PathList>,
    /// How the compaction of its conversation stands.
    pub compaction: Compaction,
    /// Where it is, once it was removed and until that is emptied.
    pub trashed: Option<Trashed>,
    /// Its own folder was deleted under a running process, which the user has not acknowledged yet.
    pub folder_lost: bool,
    /// Records that may have been about it were lost, which the user has not acknowledged yet.
    pub damage: Option<Damage>,
    /// What was done with what it holds took the daemon down, which the user has not acknowledged yet.
    pub barred: Option<Bar>,
}

impl Seldom for Starts {
    fn nothing() -> &'static Self {
        static NOTHING: LazyLock<Starts> = LazyLock::new(Starts::default);
        &NOTHING
    }
}

impl Seldom for Upkeep {
    fn nothing() -> &'static Self {
        static NOTHING: LazyLock<Upkeep> = LazyLock::new(Upkeep::default);
        &NOTHING
    }
}

/// What damage to the log has done to a session's record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// Records that are lost, at most.
    pub lost: u64,
    pub kept: String,
}

/// Why nothing is done with what a session holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bar {
    pub what: String,
    pub why: String,
}

/// Where a removed session is until its trash is emptied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trashed {
    pub at: WallMs,
    pub place: String,
    pub from: Rest,
}

/// What was agreed with an agent before a restart, which counts again if the restart fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetAside {
    /// The first message of the fresh conversation, once it has begun.
    pub prompt: Option<String>,
    /// The agent's own session id.
    pub agent_ref: Option<String>,
    /// A process ran under it.
    pub ran: bool,
    /// Its last turn ended with the process.
    pub cut_off: bool,
    /// How far its transcript is accounted for.
    pub transcript: u64,
    /// A usage limit had ended its last turn.
    pub unanswered: bool,
}
