//! The fold, as far as resumes are concerned that no person has asked for.

use crate::by_itself::ByItself;
use crate::event::Event;
use crate::session::Session;

impl Session {
    /// Knows a start that a time has begun, and counts those that fail.
    pub(super) fn note_return(&mut self, event: &Event) {
        let own = &mut self.by_itself;
        if matches!(event, Event::ResumeFellDue | Event::LimitOver { .. }) {
            own.due = true;
        }
        if matches!(event, Event::StartBegan { .. } | Event::ThawBegan { .. }) {
            let by_itself = std::mem::take(&mut own.due);
            // A person who has it resumed begins anew.
            let failed = if by_itself { own.failed } else { 0 };
            *own = ByItself { due: false, under_way: by_itself, failed };
        }
        if matches!(event, Event::StartFailed { .. }) && std::mem::take(&mut own.under_way) {
            own.failed += 1;
        }
        // A time that is given after all that was in vain begins anew.
        if matches!(event, Event::ResumeAppointed { at: Some(_) }) && own.is_given_up() {
            own.failed = 0;
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
            *own = ByItself::default();
        }
    }
}
