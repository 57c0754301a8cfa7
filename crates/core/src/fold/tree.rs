//! The fold, as far as worktrees, snapshots and the trash are concerned.

use crate::ids::OpId;
use crate::session::{Chore, Phase, Rest, Session, Trashed, WallMs};
use crate::tree::{Found, Occasion, Restored, SnapshotRef};

impl Session {
    /// A save is over, whatever came of it.
    pub(super) fn end_save(&mut self, op: Option<OpId>) {
        self.upkeep.saving.take_if(|saving| Some(*saving) == op);
    }

    pub(super) fn take_save(&mut self, snapshot: &SnapshotRef, why: Occasion, generation: u32) {
        self.saved.snapshot = Some(snapshot.clone());
        self.upkeep.unsaved = None;
        // One that comes late may have been taken under the next process's hands.
        let is_left = match self.phase {
            Phase::Rest(_) | Phase::Stopping { .. } => !self.runs(),
            Phase::Starting(_) | Phase::Live | Phase::Pausing(_) | Phase::Chore { .. } => false,
        };
        if why == Occasion::ProcessEnded && generation == self.agent.generation && is_left {
            self.saved.baseline = Some(snapshot.clone());
        }
    }

    pub(super) fn take_restored(&mut self, snapshot: &SnapshotRef, notes: &[String]) {
        self.saved.baseline = Some(snapshot.clone());
        // What is there is what the snapshot holds.
        self.upkeep.unsaved = None;
        self.upkeep.found = None;
        self.upkeep.restored = Some(Restored { snapshot: snapshot.clone(), notes: notes.to_vec() });
        let mut rest = self.resting();
        if let Rest::Paused(record) = &mut rest {
            record.cleared = false;
        }
        self.rest_as(rest);
    }

    /// Takes in how the worktree was found before a start.
    pub(super) fn find_tree(&mut self, found: Option<&Found>) {
        self.upkeep.found = found.cloned();
        self.upkeep.restored = None;
        if found.is_some() {
            // However it was found, a snapshot holds it.
            self.upkeep.unsaved = None;
        }
        if let Some(Found::Changed { snapshot, paths }) = found {
            self.saved.snapshot = Some(snapshot.clone());
            // The user was told of it at the failed start already.
            self.saved.baseline = Some(snapshot.clone());
            self.upkeep.changed = Some(paths.clone());
        }
    }

    pub(super) fn begin_chore(&mut self, op: OpId, chore: Chore) {
        self.phase = Phase::Chore { op, chore, from: self.resting() };
    }

    pub(super) fn archive(&mut self, at: WallMs, place: &str) {
        let (place, from) = (place.to_owned(), self.resting());
        self.upkeep.trashed = Some(Trashed { at, place, from });
        self.rest_as(Rest::Archived);
    }

    /// A stop goes on without the removal that it was for; one that is over has suspended the session,
    /// unless something is left that may still write.
    pub(super) fn fall_back_from_removal(&mut self) {
        let stops = matches!(self.phase, Phase::Stopping { .. });
        if stops && self.starts.leftovers.trouble().is_none() && !self.runs() {
            self.suspend(None);
        } else if !stops || !self.runs() {
            self.rest_as(self.resting());
        }
    }

    pub(super) fn bring_back(&mut self) {
        if let Phase::Chore { chore: Chore::Return(name), .. } = &self.phase {
            self.name.clone_from(name);
        }
        let from = self.upkeep.trashed.take().map_or(Rest::Interrupted, |trashed| trashed.from);
        self.rest_as(from);
    }

    pub(super) fn empty(&mut self) {
        self.upkeep.trashed = None;
        self.rest_as(Rest::Archived);
    }
}
