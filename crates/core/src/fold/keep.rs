//! The fold, as far as processes are concerned that a pause has kept.

use super::pause::Progress;
use crate::event::Ending;
use crate::ids::OpId;
use crate::leftover::Leftovers;
use crate::reason::Why;
use crate::session::{Phase, Rest, Session, Start, StartCause, StartStep};

impl Session {
    /// Nothing of it moves any more, whatever an earlier process had left included.
    pub(super) fn freeze(&mut self) {
        self.leftovers = Leftovers::default();
        self.move_pause(Progress::Frozen);
    }

    /// What was stopped in place writes again from now on.
    pub(super) fn begin_thaw(&mut self, op: OpId, cause: StartCause) {
        let from = self.resting();
        self.baseline = None;
        self.found = None;
        self.phase = Phase::Starting(Start { op, cause, step: StartStep::Thaw, from });
    }

    /// A pause is as good without the process that it kept, but what it was kept for is lost.
    pub(super) fn note_kept_end(&mut self, ending: &Ending) {
        let kept = self.is_frozen();
        if let (true, Phase::Rest(Rest::Paused(record))) = (kept, &mut self.phase) {
            record.warnings.push(Why::KeptEnded(ending.told().to_string()));
        }
    }
}
