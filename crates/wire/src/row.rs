//! A session as a list has it: what faces show of each of many. The field names are the contract's.

use crate::need::Need;
use glis_core::Status;
use glis_core::looping::{Breaker, LoopContext, LoopEnd};
use glis_core::merge::Unmerged;
use glis_core::pause::PauseReason;
use glis_core::session::Deferral;
use glis_core::spec::Mode;
use glis_core::spending::WARN_PERCENT;
use glis_core::talk::AskKind;
use glis_core::verdict::Want;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A row of a list of sessions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the contract explains each field under this very name")]
#[expect(clippy::struct_excessive_bools, reason = "the contract's flat JSON has them")]
pub struct SessionRow {
    pub id: String,
    pub name: String,
    pub status: Status,
    pub agent: String,
    pub mode: Mode,
    pub repo_root: String,
    /// The task of a plan that it works on.
    pub task: Option<String>,
    /// The plan of that task.
    pub plan: Option<String>,
    /// Why its work for that task is not merged, while that waits for a person.
    pub unmerged: Option<Unmerged>,
    pub worktree: Option<String>,
    pub branch: Option<String>,
    /// Its worktree stands on a commit and not on `branch`: commits go to no branch.
    pub detached: Option<DetachedView>,
    /// Its agent works outside of its worktree: what it makes there is in no snapshot and no difference.
    pub elsewhere: Option<ElsewhereView>,
    pub pid: Option<i32>,
    pub created_at: String,
    pub last_active_at: String,
    pub paused_at: Option<String>,
    pub pause_reason: Option<PauseReason>,
    pub resumed_at: Option<String>,
    /// 0: it is never suspended for idleness.
    pub idle_timeout_secs: u64,
    /// When it is suspended, if it stays idle.
    pub suspend_at: Option<String>,
    /// When its pause ends by itself.
    pub resume_at: Option<String>,
    /// What its process and everything that it started has to itself; none if nothing runs.
    pub memory_bytes: Option<u64>,
    pub can_pause: bool,
    pub can_resume: bool,
    pub last_action: Option<String>,
    pub pending_tasks: Vec<String>,
    pub queued: usize,
    /// Its prompt holds text that was not sent, and messages wait behind it.
    #[serde(default)]
    pub draft: bool,
    pub waiting_for: Option<WaitingFor>,
    /// Everything that it asks, oldest first.
    #[serde(default)]
    pub asks: Vec<WaitingFor>,
    /// What it asked when it was paused, until the agent has words again; it cannot be answered any more.
    #[serde(default)]
    pub was_asking: Vec<WaitingFor>,
    pub auto_yes: bool,
    pub generation: u32,
    /// Which rule decided the status.
    pub verdict: String,
    /// What is under way: a verb, or nothing.
    pub operation: Option<String>,
    /// Why it failed, where it did.
    pub failure: Option<String>,
    /// Its last turn was cut off by the end of its process.
    pub cut_off: bool,
    /// A usage limit lasts until then: RFC 3339, or the agent's own words, or `unknown`.
    pub limit_until: Option<String>,
    /// What the agent has used in all, where it tells.
    pub cost: Option<Used>,
    /// How far its budget is used, where it has one.
    pub budget: Option<BudgetView>,
    pub model: Option<String>,
    pub persona: Option<String>,
    /// What took the daemon down; nothing more is done with it until the user acknowledges it.
    pub barred: Option<String>,
    /// Records that may have been about it were lost to damage, which is not acknowledged yet.
    #[serde(default)]
    pub record_damaged: bool,
    /// Terminal output is missing from here on, because the disk was full.
    pub output_gap_at: Option<u64>,
    /// Starts that have failed in a row. After three a message no longer wakes it.
    #[serde(default)]
    pub failed_starts: u32,
    /// Its work for a task is being judged and merged.
    #[serde(default)]
    pub judging: bool,
    /// What a start of it waits for, which then begins by itself.
    pub waits_to_start: Option<Deferral>,
    /// When a person last looked at it.
    pub last_accessed_at: Option<String>,
    /// A person has looked at what it did last.
    #[serde(default)]
    pub seen: bool,
    /// How much it needs a person.
    #[serde(default)]
    pub need: Need,
    /// When its conversation was made short, last.
    #[serde(default)]
    pub compacted_at: Option<String>,
    #[serde(default)]
    pub labels: Vec<String>,
    /// It stands first in its group, and is never folded away.
    #[serde(default)]
    pub pinned: bool,
    /// It asks for nobody's attention until then: RFC 3339, or `change`.
    pub snoozed_until: Option<String>,
    /// Its pause has done so: the process is there, and so is the memory that it holds.
    #[serde(default)]
    pub process_kept: bool,
    /// How far it is, if it iterates.
    #[serde(default, rename = "loop")]
    pub looped: Option<Box<LoopView>>,
    /// Tasks on its check list, or on its agent's own list, that are done.
    #[serde(default)]
    pub tasks_done: u32,
    /// Those that are worked on.
    #[serde(default)]
    pub tasks_active: u32,
    /// Those that are left.
    #[serde(default)]
    pub tasks_open: u32,
    /// How many files differ from HEAD, as of the last time that the worktree was saved.
    pub changed_files: Option<u32>,
}

impl SessionRow {
    /// How much it needs a person, by all that is told of it here.
    pub fn needs(&self) -> Need {
        if self.snoozed_until.is_some() {
            return Need::Rest;
        }
        if self.waits_for_a_person() {
            return Need::You;
        }
        let goes_on = self.judging
            || self.operation.is_some()
            // It begins by itself as soon as there is a place.
            || self.waits_to_start == Some(Deferral::Limit)
            || self.looped.as_ref().is_some_and(|own| own.state == "running");
        // What it has done for a plan, the plan tells.
        let is_new = !self.seen && self.task.is_none();
        match self.status {
            Status::Failed | Status::Interrupted => Need::Failed,
            Status::Idle if self.failure.is_some() => Need::Failed,
            Status::Busy | Status::Pausing | Status::Resuming => Need::Working,
            Status::Created | Status::Idle | Status::Suspended if goes_on => Need::Working,
            Status::Idle | Status::Completed if is_new => Need::New,
            // It was put to sleep, and nobody has asked for that.
            Status::Suspended if is_new && self.pause_reason.is_some() => Need::New,
            Status::Idle => Need::Idle,
            _ => Need::Rest,
        }
    }

    /// Whether all of these words are in its name, agent, branch, state, repository or labels.
    pub fn fits(&self, words: &str) -> bool {
        let repo = self.repo_root.rsplit('/').next().unwrap_or_default();
        let branch = self.branch.as_deref().unwrap_or_default();
        let mut texts = vec![self.name.to_lowercase(), self.agent.to_lowercase()];
        texts.extend([branch.to_lowercase(), self.status.word().to_owned(), repo.to_lowercase()]);
        texts.extend(self.labels.iter().map(|label| format!("#{}", label.to_lowercase())));
        let mut words = words.split_whitespace().map(str::to_lowercase);
        words.all(|word| texts.iter().any(|text| text.contains(&word)))
    }

    /// Whether something stands in it that a person can answer.
    pub fn asks_a_person(&self) -> bool {
        self.status == Status::Waiting || self.status == Status::Paused && !self.asks.is_empty()
    }

    /// Whether it goes on only when a person has said how.
    fn waits_for_a_person(&self) -> bool {
        let left_open = !self.was_asking.is_empty() || self.unmerged.is_some();
        let limited = self.limit_until.is_some() && self.resume_at.is_none();
        match self.status {
            Status::Waiting => true,
            Status::Archived => false,
            _ if self.barred.is_some() => true,
            Status::Idle => left_open || limited || self.cut_off,
            Status::Suspended => left_open,
            Status::Paused => {
                let by_us =
                    matches!(self.pause_reason, Some(PauseReason::Error | PauseReason::Budget));
                let parked = self.pause_reason == Some(PauseReason::RateLimit);
                by_us || !self.was_asking.is_empty() || parked && self.resume_at.is_none()
            }
            _ => false,
        }
    }

    /// Its place in a list: by need, with what is pinned first; what waits for a person by the time since when, and
    /// everything else as it was made, so that nothing moves without a reason.
    pub fn place(&self) -> (Need, bool, &str, &str, &str) {
        let need = self.needs();
        let asked = self.asks.first().and_then(|ask| ask.since.as_deref());
        let since = asked.unwrap_or(&self.last_active_at);
        let since = if need == Need::You { since } else { "" };
        (need, !self.pinned, since, &self.created_at, &self.id)
    }
}

/// A worktree that stands on no branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DetachedView {
    /// The commit that it stands on.
    pub commit: String,
    /// Why it is not on its branch.
    pub why: String,
    /// What to type to get out of it.
    pub way_out: String,
}

/// A folder outside of its worktree that an agent works in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ElsewhereView {
    /// Where that is.
    pub folder: String,
    /// What to type so that the worktree has what was made there, if git can bring it.
    pub way_back: Option<String>,
}

/// How far a budget is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Spending")]
pub struct BudgetView {
    /// As it is typed: `usd=5,time=2h`.
    pub allowed: String,
    /// Of the part that goes furthest.
    pub percent: u64,
    /// What of that is used: `$4.10 of $5`.
    pub used: String,
}

impl BudgetView {
    /// Whether it goes towards its end.
    pub fn is_nearly_used(&self) -> bool {
        self.percent >= WARN_PERCENT
    }
}

/// What an agent has used, by its own count.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Used {
    /// Tokens that went in.
    pub tokens_in: u64,
    /// Tokens that came out.
    pub tokens_out: u64,
    /// What it has cost, in dollars, where the agent tells.
    pub usd: Option<f64>,
    /// How much of what its vendor allows in a time was used up then, where the agent tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_percent: Option<u8>,
}

/// What a session asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WaitingFor {
    /// The request, for `answer --request`.
    pub request: String,
    /// Approval, question or doubt.
    pub kind: AskKind,
    /// What it asks.
    pub text: String,
    /// What can be answered, where that is not any text; empty if only the agent's terminal takes it.
    pub choices: Option<Vec<String>>,
    /// The command or the files that it is about, where the agent tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wants: Option<Want>,
    /// What the agent said with it, in its own form: the text of an edit, the options of a choice.
    pub input: Option<serde_json::Value>,
    /// Since when it is asked, RFC 3339.
    pub since: Option<String>,
    /// Of a doubt: why the message is not delivered, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_delivered: Option<String>,
}

/// A loop as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoopView {
    /// The iteration that is open, or was last; counted from one.
    pub iteration: u32,
    /// How many there are at most.
    pub max: Option<u32>,
    /// `running`, `pausing`, `paused`, `done` or `stopped`.
    pub state: String,
    /// How many in a row have failed.
    pub failures: u32,
    /// What it has cost, in dollars; none where the agent does not tell.
    pub cost: Option<f64>,
    /// What it may cost.
    pub max_cost: Option<f64>,
    /// After how many failures in a row it is paused.
    pub max_failures: u32,
    /// How many in a row have left everything as it was.
    pub without_progress: u32,
    /// The line for the shell that ends it when it succeeds.
    pub until: Option<String>,
    /// What an iteration knows of those before it.
    pub context: LoopContext,
    /// Whether the work of every iteration is committed.
    pub auto_commit: bool,
    /// The file that it works from, seen from its worktree.
    pub spec: Option<String>,
    /// What has ended it.
    pub done_by: Option<LoopEnd>,
    /// Why it was paused by itself, until it is resumed.
    pub broke: Option<Breaker>,
    /// What could not be done or seen after the last iteration.
    pub note: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

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
        row.needs()
    }

    #[test]
    fn who_needs_a_person_comes_first() {
        use Status::{Busy, Completed, Failed, Idle, Interrupted, Paused, Suspended, Waiting};
        let order = [Waiting, Failed, Interrupted, Busy, Idle, Paused, Suspended, Completed];
        let needs = order.map(|status| need(status, |_| ()));
        let rest = [Need::Rest; 3];
        let first = [Need::You, Need::Failed, Need::Failed, Need::Working, Need::Idle];
        assert_eq!((&needs[..5], &needs[5..]), (&first[..], &rest[..]));
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
        let paused_for = |reason| need(Status::Paused, |row| row.pause_reason = Some(reason));
        assert_eq!(paused_for(PauseReason::Budget), Need::You);
        assert_eq!(paused_for(PauseReason::Error), Need::You);
        assert_eq!(paused_for(PauseReason::RateLimit), Need::You);
        let parked = need(Status::Paused, |row| {
            row.pause_reason = Some(PauseReason::RateLimit);
            row.resume_at = Some("2026-01-01T00:00:00Z".to_owned());
        });
        assert_eq!((parked, paused_for(PauseReason::User)), (Need::Rest, Need::Rest));
        assert_eq!(need(Status::Suspended, |row| row.barred = Some("x".to_owned())), Need::You);
        assert_eq!(need(Status::Idle, |row| row.failure = Some("x".to_owned())), Need::Failed);
    }

    #[test]
    fn who_is_snoozed_needs_nobody_and_who_is_pinned_stands_first() {
        let snoozed = need(Status::Waiting, |row| row.snoozed_until = Some("change".to_owned()));
        assert_eq!(snoozed, Need::Rest);
        let (mut late, early) = (row(Status::Idle), row(Status::Idle));
        late.created_at = "2026-01-02T00:00:00Z".to_owned();
        assert!(early.place() < late.place());
        late.pinned = true;
        assert!(late.place() < early.place() && row(Status::Waiting).place() < late.place());
    }

    #[test]
    fn a_row_is_found_by_words_of_what_it_shows() {
        let mut row = row(Status::Idle);
        (row.name, row.repo_root) = ("Login".to_owned(), "/home/me/shop".to_owned());
        row.labels = vec!["auth".to_owned()];
        for fits in ["", "log", "SHOP idle", "#auth claude"] {
            assert!(row.fits(fits), "{fits}");
        }
        for other in ["home", "#aut busy", "codex"] {
            assert!(!row.fits(other), "{other}");
        }
    }

    #[test]
    fn what_goes_on_by_itself_works() {
        let judged = need(Status::Idle, |row| (row.judging, row.seen) = (true, false));
        let made = need(Status::Created, |row| row.operation = Some("new".to_owned()));
        let waits = |why| need(Status::Suspended, |row| row.waits_to_start = Some(why));
        assert_eq!((judged, made), (Need::Working, Need::Working));
        // Behind the gate it is a person who has to open that.
        assert_eq!((waits(Deferral::Limit), waits(Deferral::Gate)), (Need::Working, Need::Rest));
    }
}
