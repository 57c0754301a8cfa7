//! A session that is paused for a usage limit, or until a time.

use crate::pause::{PauseReason, PauseRecord};
use crate::session::Session;
use crate::timer::WallMs;

impl Session {
    /// The pause that it is in, if that is for a usage limit.
    pub fn parked(&self) -> Option<&PauseRecord> {
        self.pause_record().filter(|record| record.reason == PauseReason::RateLimit)
    }

    /// Whether it is paused, and goes on by itself: at a time that is set, or that is about to be.
    pub fn comes_back(&self) -> bool {
        self.appointment().is_some() || self.parked().is_some() && !self.stays
    }

    /// When it is resumed by itself, if it is paused until then.
    pub fn appointment(&self) -> Option<WallMs> {
        self.resume_at.filter(|_| self.pause_record().is_some())
    }

    /// Whether it is paused, was to be resumed by itself in vain, and is to be once more.
    pub fn is_to_be_tried_again(&self) -> bool {
        self.pause_record().is_some() && self.by_itself.tries_again()
    }

    /// Whether it is parked, and goes on at this time.
    pub(crate) fn is_parked_until(&self, at: WallMs) -> bool {
        self.parked().is_some() && self.appointment() == Some(at)
    }

    /// When the limit that it is parked for may be over; nothing if it was tried often enough.
    pub fn limit_over_at(&self) -> Option<WallMs> {
        self.limits.over_at(self.parked()?.at, self.limit_until.as_deref())
    }
}
