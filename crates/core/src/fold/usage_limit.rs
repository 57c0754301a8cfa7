//! The fold, as far as usage limits are concerned.

use crate::event::Event;
use crate::pause::PauseReason;
use crate::session::{Phase, Rest, Session, StartCause, WallMs};

impl Session {
    /// Counts how often limits were met, and remembers what one has left unanswered.
    pub(super) fn note_limits(&mut self, event: &Event) {
        let limits = &mut self.limits;
        if matches!(event, Event::TurnBegan { .. }) {
            limits.unanswered = false;
        }
        if let Event::TurnEnded { limited, .. } = event {
            limits.unanswered |= limited;
            limits.tries = if *limited { limits.tries } else { 0 };
            if let Some(run) = &mut self.run {
                run.limited = *limited;
            }
        }
        if matches!(event, Event::PauseBegan { reason: PauseReason::RateLimit, .. }) {
            limits.tries += 1;
        }
        let starts = matches!(event, Event::StartBegan { .. });
        let by_itself = self.by_itself.due;
        // A person has said something, or has it go on. What a loop begins by itself is not a person's.
        let said = matches!(event, Event::MessageQueued { first: false, .. });
        let anew = said || matches!(event, Event::StartBegan { cause: StartCause::Restart, .. });
        let own = anew && self.looped.as_ref().is_some_and(|looped| looped.goes_on());
        if !own && (said || starts && !by_itself) {
            limits.returns = 0;
        }
    }

    pub(super) fn end_limit(&mut self, at: WallMs) {
        // Tries in vain are of one and the same limit, and so are starts that fail.
        if self.limits.tries <= 1 && self.by_itself.failed == 0 {
            self.limits.returns += 1;
        }
        self.limits.returned_at = Some(at);
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
            self.resume_at = None;
        }
    }
}
