//! The fold, as far as a loop is concerned.

use crate::event::Event;
use crate::ids::OpId;
use crate::looping::{Loop, LoopEvent, LoopStage, LoopTrace};
use crate::session::Ahead;

impl Ahead {
    pub(super) fn go_on_with_loop(&mut self, event: &LoopEvent) {
        let Some(looped) = &mut self.looped else { return };
        match event {
            LoopEvent::Began { iteration } => {
                // From the first one on everything counts anew, unless it is tried again.
                if *iteration <= 1 && !matches!(looped.stage, LoopStage::Due { .. }) {
                    (looped.failures, looped.stale, looped.broke) = (0, 0, None);
                }
                looped.iteration = *iteration;
                looped.stage = LoopStage::Open;
                (looped.worked, looped.awaited) = (false, false);
            }
            LoopEvent::NotBegun { iteration } => {
                looped.iteration = iteration.saturating_sub(1);
                looped.failures += 1;
                looped.stage = LoopStage::Looking { failed: true, again: true };
            }
            LoopEvent::Ended { failed, .. } => {
                looped.stage = LoopStage::Looking { failed: *failed, again: false };
            }
            LoopEvent::LookedBack { left, cost_micros, agent_ref, note, .. } => {
                looped.note.clone_from(note);
                if let LoopStage::Looking { failed, again: false } = looped.stage {
                    count(looped, failed, left.as_ref());
                }
                looped.cost_micros = looped.cost_micros.max(*cost_micros);
                looped.stage = LoopStage::Due { agent_ref: agent_ref.clone() };
            }
            LoopEvent::Done { by } => looped.stage = LoopStage::Done(*by),
            LoopEvent::Broke { by } => looped.broke = Some(*by),
            LoopEvent::Stopped => {
                let open = looped.stage == LoopStage::Open;
                looped.stage = LoopStage::Stopped { open };
            }
            // What was open goes on; else it is looked back at once more, and then the next is due.
            LoopEvent::Reopened => {
                (looped.failures, looped.stale, looped.broke) = (0, 0, None);
                let open = looped.stage == LoopStage::Stopped { open: true };
                let looking = LoopStage::Looking { failed: false, again: true };
                looped.stage = if open { LoopStage::Open } else { looking };
            }
            LoopEvent::PauseAsked(pause) => looped.pausing = Some(*pause),
            LoopEvent::PauseWithdrawn { .. } => {
                looped.pausing = None;
                // It was the time of that pause, also where a usage limit was faster.
                self.resume_at = None;
            }
            LoopEvent::Set { spec } => looped.spec = spec.clone(),
        }
    }

    /// Notes whether its agent has worked since the iteration began, or is about to.
    pub(super) fn note_loop(&mut self, event: &Event) {
        let Some(looped) = &mut self.looped else { return };
        let works = matches!(event, Event::TurnBegan { .. } | Event::TurnEnded { .. });
        looped.worked |= works;
        if matches!(event, Event::MessageTaken { .. }) {
            looped.awaited = true;
        } else if works || matches!(event, Event::StartBegan { .. }) {
            looped.awaited = false;
        }
    }

    /// The pause that waited for the end of an iteration has begun.
    pub(super) fn take_pause_to_come(&mut self, op: OpId) {
        if let Some(looped) = &mut self.looped
            && looped.pausing.is_some_and(|pause| pause.op == op)
        {
            looped.pausing = None;
        }
    }

    /// One that was paused by itself starts again, because a person wants it: what it was paused for
    /// counts from here on.
    pub(super) fn mend_loop(&mut self) {
        if let Some(looped) = &mut self.looped
            && looped.broke.is_some()
        {
            (looped.failures, looped.stale, looped.broke) = (0, 0, None);
        }
    }
}

/// Counts what an iteration has come to, in a row with those before it.
fn count(looped: &mut Loop, failed: bool, left: Option<&LoopTrace>) {
    let stale = is_same(looped.left.as_ref(), left) && !failed;
    looped.failures = if failed { looped.failures + 1 } else { 0 };
    looped.stale = if stale { looped.stale + 1 } else { 0 };
    looped.left = left.cloned();
}

/// Whether two iterations have left the same; of what could not be seen nothing is said.
fn is_same(former: Option<&LoopTrace>, left: Option<&LoopTrace>) -> bool {
    left.is_some() && former == left
}
