//! How much a session needs a person: the groups that every face shows, in their order.

use crate::row::SessionRow;
use glis_core::Status;
use serde::{Deserialize, Serialize};

/// How much a session needs a person, most first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// It asks something, or nobody has said how it goes on.
    You,
    /// Its process or its last turn came to no good end.
    Failed,
    /// It has come to an end that no person has looked at.
    New,
    /// It does something.
    Working,
    /// It waits for words, and what it did was looked at.
    Idle,
    /// Nothing of it runs.
    #[default]
    Rest,
}

impl Need {
    /// All of them, most first.
    pub const ALL: [Self; 6] =
        [Self::You, Self::Failed, Self::New, Self::Working, Self::Idle, Self::Rest];

    /// What stands above a group.
    pub fn words(self) -> &'static str {
        match self {
            Self::You => "needs you",
            Self::Failed => "failed",
            Self::New => "new",
            Self::Working => "working",
            Self::Idle => "idle",
            Self::Rest => "at rest",
        }
    }

    /// Whether a person has to do something before it goes on.
    pub fn is_for_a_person(self) -> bool {
        self <= Self::Failed
    }

    /// The group of a session.
    pub fn of(row: &SessionRow) -> Self {
        // What it asked and nobody answered, and the middle of a turn that it came back to, are for a person still.
        let is_open = !row.was_asking.is_empty() || row.unmerged.is_some();
        match row.status {
            Status::Waiting => Self::You,
            Status::Idle | Status::Suspended if is_open => Self::You,
            Status::Paused if !row.was_asking.is_empty() => Self::You,
            Status::Idle if row.cut_off => Self::You,
            Status::Failed | Status::Interrupted => Self::Failed,
            // What it has done for a plan, the plan tells.
            Status::Idle | Status::Completed if !row.seen && row.task.is_none() => Self::New,
            // It was put to sleep, and nobody has asked for that.
            Status::Suspended if !row.seen && row.task.is_none() && row.pause_reason.is_some() => {
                Self::New
            }
            Status::Idle => Self::Idle,
            // It begins by itself as soon as there is a place.
            _ if row.waits_to_start.is_some() => Self::Working,
            Status::Busy | Status::Pausing | Status::Resuming => Self::Working,
            Status::Created
            | Status::Paused
            | Status::Suspended
            | Status::Completed
            | Status::Archived => Self::Rest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glis_core::merge::Unmerged;
    use glis_core::pause::PauseReason;

    /// A session that a person has looked at.
    fn row(status: Status) -> SessionRow {
        let mut row = serde_json::json!({
            "id": "1", "name": "x", "status": status, "agent": "claude", "mode": "terminal", "repo_root": "/r",
            "created_at": "", "last_active_at": "", "seen": true, "idle_timeout_secs": 600, "can_pause": true,
            "can_resume": true, "pending_tasks": [], "queued": 0, "auto_yes": false, "generation": 1, "verdict": "",
            "cut_off": false,
        });
        for none in
            ["worktree", "branch", "pid", "paused_at", "pause_reason", "resumed_at", "last_action"]
        {
            row[none] = serde_json::Value::Null;
        }
        serde_json::from_value(row).unwrap()
    }

    fn need(status: Status, change: impl FnOnce(&mut SessionRow)) -> Need {
        let mut row = row(status);
        change(&mut row);
        Need::of(&row)
    }

    #[test]
    fn who_needs_a_person_comes_first() {
        use Status::{Busy, Completed, Failed, Idle, Interrupted, Paused, Suspended, Waiting};
        let order = [Waiting, Failed, Interrupted, Busy, Idle, Paused, Suspended, Completed];
        let needs: Vec<Need> = order.into_iter().map(|status| need(status, |_| ())).collect();
        assert!(needs.is_sorted(), "{needs:?}");
    }

    #[test]
    fn what_came_to_an_end_unseen_is_new_wherever_it_is_now() {
        let unseen = |status| need(status, |row| row.seen = false);
        assert_eq!((unseen(Status::Idle), unseen(Status::Completed)), (Need::New, Need::New));
        let asleep = need(Status::Suspended, |row| {
            (row.seen, row.pause_reason) = (false, Some(PauseReason::IdleTimeout));
        });
        assert_eq!(asleep, Need::New);
        // Who stops it or pauses it has put it aside.
        assert_eq!((unseen(Status::Suspended), unseen(Status::Paused)), (Need::Rest, Need::Rest));
        let of_a_plan = need(Status::Idle, |row| {
            (row.seen, row.task) = (false, Some("dust".to_owned()));
        });
        assert_eq!(of_a_plan, Need::Idle);
    }

    #[test]
    fn what_goes_on_only_with_a_person_needs_one() {
        assert_eq!(need(Status::Idle, |row| row.cut_off = true), Need::You);
        assert_eq!(need(Status::Busy, |row| row.cut_off = true), Need::Working);
        let conflict =
            |row: &mut SessionRow| row.unmerged = Some(Unmerged::OffBranch { found: None });
        assert_eq!(need(Status::Suspended, conflict), Need::You);
        assert!(Need::You.is_for_a_person() && Need::Failed.is_for_a_person());
        assert!(!Need::New.is_for_a_person());
    }
}
