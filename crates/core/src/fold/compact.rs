//! The fold, as far as compaction is concerned.

use crate::compaction::Compaction;
use crate::ids::OpId;
use crate::reason::Why;
use crate::session::{Session, WallMs};

impl Session {
    pub(super) fn begin_compaction(&mut self, op: OpId) {
        self.compaction.asked = Some(op);
    }

    pub(super) fn compact(&mut self, at: WallMs, op: Option<OpId>) {
        let asked = self.still_asked(op);
        *self.compaction = Compaction { at: Some(at), asked, ..Compaction::default() };
    }

    pub(super) fn fail_compaction(&mut self, op: Option<OpId>, why: &Why) {
        self.compaction.asked = self.still_asked(op);
        self.compaction.failures += 1;
        self.compaction.why = Some(why.clone());
    }

    /// What another caller waits for goes on.
    fn still_asked(&self, ended: Option<OpId>) -> Option<OpId> {
        self.compaction.asked.filter(|asked| Some(*asked) != ended)
    }
}
