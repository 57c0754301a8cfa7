//! The fold, as far as pauses are concerned.

use crate::event::Ending;
use crate::ids::OpId;
use crate::leftover::Leftovers;
use crate::pause::{OnTimeout, PauseMode, PauseReason, PauseRecord, PauseStep, PauseWish};
use crate::reason::{SafeRule, Why};
use crate::rule::Rule;
use crate::session::{AfterStop, Pause, Phase, Rest, Session, WallMs};
use crate::talk::Ask;
use crate::tree::SnapshotRef;

/// What brings a pause from one step to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// The agent was told to stop its turn.
    Interrupted,
    /// The agent may be stopped.
    Safe,
    /// The screen is kept, or the pause goes on without it.
    Captured,
    /// The worktree is saved, and a process runs or has ended meanwhile.
    Saved {
        runs: bool,
    },
    /// The worktree is saved, and the process is to be stopped in place.
    Freezing,
    Frozen,
    ProcessEnded,
    /// The worktree was saved once more, and is to be removed.
    Sealed,
}

impl PauseStep {
    /// The step that follows. No step of a pause is decided on anywhere else.
    fn after(self, progress: Progress) -> Self {
        match progress {
            Progress::Interrupted => Self::Interrupting,
            Progress::Safe => Self::Capturing,
            Progress::Captured => Self::Saving,
            Progress::Saved { runs: true } => Self::Ending,
            Progress::Saved { runs: false } | Progress::Frozen => Self::Sealing,
            Progress::Freezing => Self::Freezing,
            // Of any other step, the outcome that is under way finds no process.
            Progress::ProcessEnded if matches!(self, Self::Ending | Self::Freezing) => {
                Self::Sealing
            }
            Progress::ProcessEnded => self,
            Progress::Sealed => Self::Clearing,
        }
    }
}

impl Session {
    /// An appointment lasts as long as its pause, from the beginning on: whatever ends that drops it.
    pub(super) fn keep_appointment(&mut self) {
        let pauses = match &self.phase {
            Phase::Pausing(_)
            | Phase::Rest(Rest::Paused(_))
            | Phase::Chore { from: Rest::Paused(_), .. }
            | Phase::Stopping {
                then: AfterStop::Pause { .. } | AfterStop::StayPaused(_), ..
            } => true,
            Phase::Starting(_)
            | Phase::Live
            | Phase::Stopping { .. }
            | Phase::Rest(_)
            | Phase::Chore { .. } => false,
        };
        if !pauses && self.pause_to_come().is_none() {
            self.ahead.resume_at = None;
            self.course.stays = false;
        }
    }

    fn pause(&mut self) -> Option<&mut Pause> {
        if let Phase::Pausing(pause) = &mut self.phase { Some(pause) } else { None }
    }

    pub(super) fn move_pause(&mut self, progress: Progress) {
        if let Some(pause) = self.pause() {
            pause.step = pause.step.after(progress);
        }
    }

    pub(super) fn begin_pause(&mut self, at: WallMs, op: OpId, wish: PauseWish) {
        let PauseWish { mode, reason, on_timeout, clearing } = wish;
        self.keep_asks();
        let from = (!self.expects_process()).then(|| self.resting());
        let record = if let Some(Rest::Paused(record)) = &from {
            // It is paused already; only its worktree is still to go.
            PauseRecord { snapshots: Vec::new(), warnings: Vec::new(), ..(**record).clone() }
        } else {
            PauseRecord {
                at,
                reason,
                rule: SafeRule::NotYet,
                forced: false,
                screen_at: 0,
                snapshots: Vec::new(),
                warnings: Vec::new(),
                cleared: false,
            }
        };
        let step = PauseStep::Boundary;
        let pause = Pause { op, mode, reason, on_timeout, step, record, from, clearing };
        self.phase = Phase::Pausing(Box::new(pause));
    }

    /// Keeps what the agent asks: an interrupt or the end of the process takes the question away.
    pub(super) fn keep_asks(&mut self) {
        let known = |ask: &&Ask| self.talk.was_asking.iter().any(|kept| kept.id == ask.id);
        let fresh: Vec<_> = self.asked().iter().filter(|ask| !known(ask)).cloned().collect();
        self.talk.was_asking.extend(fresh);
    }

    pub(super) fn hasten(&mut self, mode: PauseMode, on_timeout: OnTimeout) {
        if let Some(pause) = self.pause() {
            pause.mode = mode;
            pause.on_timeout = on_timeout;
        }
    }

    pub(super) fn reach_safe_state(&mut self, rule: &SafeRule, forced: bool) {
        self.keep_asks();
        self.move_pause(Progress::Safe);
        let Some(pause) = self.pause() else { return };
        if !pause.is_again() {
            pause.record.rule.clone_from(rule);
            pause.record.forced = forced;
        }
    }

    pub(super) fn keep_screen(&mut self, screen_at: u64) {
        self.move_pause(Progress::Captured);
        if let Some(pause) = self.pause() {
            pause.record.screen_at = screen_at;
        }
    }

    pub(super) fn miss_screen(&mut self, why: &Why) {
        self.move_pause(Progress::Captured);
        self.warn_of_pause(Why::NoScreen(why.to_string()));
    }

    /// Takes in a snapshot of a pause. Without one, nothing tells how the worktree was left.
    pub(super) fn keep_snapshot(&mut self, snapshot: Option<&SnapshotRef>, warning: Option<&Why>) {
        if let Some(snapshot) = snapshot {
            self.saved.snapshot = Some(snapshot.clone());
            self.upkeep.unsaved = None;
        }
        self.saved.baseline = snapshot.cloned();
        let Some(pause) = self.pause() else { return };
        pause.record.snapshots.extend(snapshot.cloned());
        // Said of both snapshots, it is said once.
        let known = |said: &&Why| pause.record.warnings.contains(said);
        let warning = warning.filter(|said| !known(said)).cloned();
        pause.record.warnings.extend(warning);
    }

    pub(super) fn clear_worktree(&mut self, leftover: Option<&Why>) {
        if let Some(pause) = self.pause() {
            pause.record.cleared = true;
            pause.record.warnings.extend(leftover.cloned());
        }
    }

    pub(super) fn warn_of_pause(&mut self, warning: Why) {
        if let Some(pause) = self.pause() {
            pause.record.warnings.push(warning);
        }
    }

    pub(super) fn end_pause(&mut self, at: WallMs) {
        if let Phase::Stopping { then: AfterStop::StayPaused(record), .. } = &self.phase {
            // It was paused all the time.
            self.phase = Phase::Rest(Rest::Paused(record.clone()));
            return;
        }
        let Phase::Pausing(pause) = &mut self.phase else { return };
        if !pause.is_again() {
            pause.record.at = at;
            self.course.paused_at = Some(at);
        }
        let parked = pause.record.reason == PauseReason::RateLimit;
        let safe = Rule::Paused(pause.record.rule.clone());
        self.course.rule = if parked { Rule::LimitReached } else { safe };
        self.phase = Phase::Rest(Rest::Paused(Box::new(pause.record.clone())));
    }

    pub(super) fn fall_back_from_pause(&mut self) {
        // What could not be parked, or was not to be, is not tried again.
        if let Some(run) = &mut self.run {
            run.limited = false;
        }
        if self.runs() {
            // It writes on, whatever the pause has saved.
            self.saved.baseline = None;
        }
        if let Some(run) = &self.run {
            self.talk.was_asking.retain(|kept| run.asks.iter().all(|ask| ask.id != kept.id));
        }
        if let Phase::Pausing(pause) = &mut self.phase {
            self.phase = match pause.from.take() {
                Some(rest) => Phase::Rest(rest),
                None if !self.runs() => Phase::Rest(Rest::Interrupted),
                None => Phase::Live,
            };
        }
    }

    /// Nothing of it moves any more, whatever an earlier process had left included.
    pub(super) fn freeze(&mut self) {
        self.starts.leftovers = Leftovers::default();
        self.move_pause(Progress::Frozen);
    }

    /// A pause is as good without the process that it kept, but what it was kept for is lost.
    pub(super) fn note_kept_end(&mut self, ending: &Ending) {
        let kept = self.is_frozen();
        if let (true, Phase::Rest(Rest::Paused(record))) = (kept, &mut self.phase) {
            record.warnings.push(Why::KeptEnded(ending.told().to_string()));
        }
    }

    /// The pause that it is in has another reason.
    pub(super) fn take_pause_over(&mut self, reason: PauseReason) {
        if let Phase::Rest(Rest::Paused(record)) = &mut self.phase {
            record.reason = reason;
        }
        if let Phase::Pausing(pause) = &mut self.phase {
            pause.reason = reason;
            pause.record.reason = reason;
        }
        // The time of the limit is none any more. The one that a loop's own pause was asked with stays.
        if self.pause_to_come().is_none() {
            self.ahead.resume_at = None;
        }
    }
}
