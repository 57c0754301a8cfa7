//! Which sessions are suspended when they are idle.

use crate::safe::ScreenState;
use crate::session::{Phase, Session, Spoken};
use crate::spec::{IdleLimit, RefOrigin, SignSource};
use crate::status::Status;

impl Session {
    /// The spell of idleness that it is in, if it may be suspended at the end of one.
    ///
    /// Where an agent has no conversation to come back to, ending it loses what it holds: then only
    /// who has asked for it gets it. A program that is known by its screen alone is idle only at its
    /// empty prompt.
    pub fn idle_spell(&self) -> Option<u64> {
        let run = self.run.as_ref()?;
        let idle = self.phase == Phase::Live
            && self.status() == Status::Idle
            && self.queue.is_empty()
            && !self.iterates()
            && self.barred.is_none()
            && run.rejected.is_none();
        let known = match self.spec.traits.signs {
            SignSource::Structured => true,
            SignSource::Screen => matches!(run.screen, ScreenState::AtPrompt { .. }),
        };
        let comes_back = match self.spec.traits.refs {
            RefOrigin::Chosen | RefOrigin::Learned => {
                self.agent_ref.is_some() || run.spoken != Spoken::Something
            }
            RefOrigin::None => false,
        };
        let wanted = match self.spec.idle_limit() {
            IdleLimit::Usual => comes_back,
            // A command starts anew; an agent whose conversation has no name could not be resumed.
            IdleLimit::Secs(_) => comes_back || self.spec.traits.refs == RefOrigin::None,
            IdleLimit::Never => false,
        };
        (idle && known && wanted).then_some(self.idle_spells)
    }
}
