//! The fold, as far as pauses are concerned.

use crate::event::Event;
use crate::pause::{PauseRecord, PauseStep};
use crate::reason::SafeRule;
use crate::session::{Pause, Phase, Rest, Session, WallMs};

impl Session {
    #[expect(clippy::wildcard_enum_match_arm, reason = "`apply` sends only this family here")]
    pub(super) fn apply_pause(&mut self, at: WallMs, event: &Event) {
        match event {
            Event::PauseBegan { .. } => self.begin_pause(at, event),
            Event::PauseCancelled { .. }
            | Event::PauseRefused { .. }
            | Event::PauseFailed { .. }
            | Event::PauseBarred { .. } => self.fall_back_from_pause(),
            Event::SnapshotTaken { snapshot, .. } => {
                self.keep_snapshot(snapshot.as_ref());
                self.go_on_with_pause(at, event);
            }
            _ => self.go_on_with_pause(at, event),
        }
    }

    fn begin_pause(&mut self, at: WallMs, event: &Event) {
        let Event::PauseBegan { op, mode, reason, on_timeout, clearing } = event else { return };
        let from = (!self.expects_process()).then(|| self.resting());
        let record = match &from {
            // It is paused already; only its worktree is still to go.
            Some(Rest::Paused(record)) => {
                PauseRecord { snapshots: Vec::new(), warnings: Vec::new(), ..(**record).clone() }
            }
            _ => PauseRecord {
                at,
                reason: *reason,
                rule: SafeRule::Other(String::new()),
                forced: false,
                screen_at: 0,
                question: self.question(),
                snapshots: Vec::new(),
                warnings: Vec::new(),
                cleared: false,
            },
        };
        self.phase = Phase::Pausing(Pause {
            op: *op,
            mode: *mode,
            reason: *reason,
            on_timeout: *on_timeout,
            step: PauseStep::Boundary,
            record,
            from,
            clearing: *clearing,
        });
    }

    fn question(&self) -> Option<String> {
        self.asked().first().map(|ask| ask.text.clone())
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "`apply_pause` sends only steps here")]
    fn go_on_with_pause(&mut self, at: WallMs, event: &Event) {
        let asks = self.question();
        let runs = self.runs();
        let Phase::Pausing(pause) = &mut self.phase else { return };
        let again = matches!(pause.from, Some(Rest::Paused(_)));
        match event {
            Event::PauseHastened { mode, on_timeout, .. } => {
                pause.mode = *mode;
                pause.on_timeout = *on_timeout;
            }
            Event::InterruptBegan { .. } => pause.step = PauseStep::Interrupting,
            Event::SafeStateReached { rule, forced, .. } => {
                pause.step = PauseStep::Capturing;
                if !again {
                    pause.record.rule.clone_from(rule);
                    pause.record.forced = *forced;
                }
                pause.record.question = pause.record.question.take().or(asks);
            }
            Event::TerminalCaptured { screen_at, .. } => {
                pause.step = PauseStep::Saving;
                pause.record.screen_at = *screen_at;
            }
            Event::CaptureMissed { why, .. } => {
                pause.step = PauseStep::Saving;
                pause.record.warnings.push(format!("its screen was not kept: {why}"));
            }
            Event::SnapshotTaken { snapshot, warning, .. } => {
                pause.record.snapshots.extend(snapshot.clone());
                // Said of both snapshots, it is said once.
                let known = |said: &String| pause.record.warnings.contains(said);
                let warning = warning.clone().filter(|said| !known(said));
                pause.record.warnings.extend(warning);
            }
            Event::EndBegan { .. } => {
                pause.step = if runs { PauseStep::Ending } else { PauseStep::Sealing };
            }
            Event::ClearingBegan { .. } => pause.step = PauseStep::Clearing,
            Event::WorktreeCleared { leftover, .. } => {
                pause.record.cleared = true;
                pause.record.warnings.extend(leftover.clone());
            }
            Event::WorktreeStays { why, .. } => pause.record.warnings.push(why.clone()),
            Event::Paused { .. } => {
                if !again {
                    pause.record.at = at;
                    self.paused_at = Some(at);
                }
                self.rule = pause.record.rule.to_string();
                self.phase = Phase::Rest(Rest::Paused(Box::new(pause.record.clone())));
            }
            _ => {}
        }
    }

    fn fall_back_from_pause(&mut self) {
        if let Phase::Pausing(pause) = &mut self.phase {
            self.phase = match pause.from.take() {
                Some(rest) => Phase::Rest(rest),
                None if !self.runs() => Phase::Rest(Rest::Interrupted),
                None => Phase::Live,
            };
        }
    }
}
