//! The fold, as far as resumes are concerned that no person has asked for.

use crate::by_itself::ByItself;
use crate::event::Event;

impl ByItself {
    /// Knows a start that a time has begun, and counts those that fail.
    pub(in crate::fold) fn note(&mut self, event: &Event) {
        if matches!(event, Event::ResumeFellDue | Event::LimitOver { .. }) {
            self.due = true;
        }
        if matches!(event, Event::StartBegan { .. } | Event::ThawBegan { .. }) {
            let by_itself = std::mem::take(&mut self.due);
            // A person who has it resumed begins anew.
            let failed = if by_itself { self.failed } else { 0 };
            *self = Self { due: false, under_way: by_itself, failed };
        }
        if matches!(event, Event::StartFailed { .. }) && std::mem::take(&mut self.under_way) {
            self.failed += 1;
        }
        // A time that is given after all that was in vain begins anew.
        if matches!(event, Event::ResumeAppointed { at: Some(_) }) && self.is_given_up() {
            self.failed = 0;
        }
        let over = matches!(
            event,
            Event::StartEnded { .. }
                | Event::StartForgone
                | Event::PauseBegan { .. }
                | Event::PauseTakenOver { .. }
                | Event::StopBegan { .. }
                | Event::RemovalBegan { .. }
        );
        if over {
            *self = Self::default();
        }
    }
}
