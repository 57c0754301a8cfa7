//! The fold, as far as worktrees, snapshots and the trash are concerned.

use crate::event::Event;
use crate::session::{Chore, Phase, Rest, Session, Trashed, WallMs};
use crate::tree::{Found, Occasion, Restored, SnapshotRef};

impl Session {
    #[expect(clippy::wildcard_enum_match_arm, reason = "`apply` sends only this family here")]
    pub(super) fn apply_tree(&mut self, event: &Event) {
        match event {
            Event::SaveBegan { op } => self.saving = Some(*op),
            Event::WorktreeSaved { op, snapshot, occasion, generation } => {
                self.saving.take_if(|saving| Some(*saving) == *op);
                self.snapshot = Some(snapshot.clone());
                self.unsaved = None;
                // One that comes late may have been taken under the next process's hands.
                let is_left = match self.phase {
                    Phase::Rest(_) => true,
                    Phase::Stopping { .. } => !self.runs(),
                    Phase::Starting(_) | Phase::Live | Phase::Pausing(_) | Phase::Chore { .. } => {
                        false
                    }
                };
                if *occasion == Occasion::ProcessEnded && *generation == self.generation && is_left
                {
                    self.left_as = Some(snapshot.clone());
                }
            }
            Event::WorktreeNotSaved { op, why, .. } => {
                self.saving.take_if(|saving| Some(*saving) == *op);
                self.unsaved = Some(why.clone());
            }
            Event::RestoreBegan { op, snapshot } => {
                let (op, from) = (*op, self.resting());
                self.phase = Phase::Chore { op, chore: Chore::Restore(snapshot.clone()), from };
            }
            Event::WorktreeRestored { snapshot, notes, .. } => {
                self.left_as = Some(snapshot.clone());
                // What is there is what the snapshot holds.
                self.unsaved = None;
                self.found = None;
                self.restored = Some(Restored { snapshot: snapshot.clone(), notes: notes.clone() });
                let mut rest = self.resting();
                if let Rest::Paused(record) = &mut rest {
                    record.cleared = false;
                }
                self.phase = Phase::Rest(rest);
            }
            Event::RestoreFailed { .. } => self.phase = Phase::Rest(self.resting()),
            _ => {}
        }
    }

    /// Takes in how the worktree was found before a start.
    pub(super) fn find_tree(&mut self, found: Option<&Found>) {
        self.found = found.cloned();
        self.restored = None;
        if found.is_some() {
            // However it was found, a snapshot holds it.
            self.unsaved = None;
        }
        if let Some(Found::Changed { snapshot, paths }) = found {
            self.snapshot = Some(snapshot.clone());
            // The user was told of it at the failed start already.
            self.left_as = Some(snapshot.clone());
            self.changed = Some(paths.clone());
        }
    }

    /// Takes in a snapshot of a pause. Without one, nothing tells how the worktree was left.
    pub(super) fn keep_snapshot(&mut self, snapshot: Option<&SnapshotRef>) {
        if let Some(snapshot) = snapshot {
            self.snapshot = Some(snapshot.clone());
            self.unsaved = None;
        }
        self.left_as = snapshot.cloned();
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "`apply` sends only this family here")]
    pub(super) fn apply_trash(&mut self, at: WallMs, event: &Event) {
        let resting = self.resting();
        let chore = |op, chore| Phase::Chore { op, chore, from: resting.clone() };
        match event {
            Event::RemovalBegan { op } => self.phase = chore(*op, Chore::PutAside),
            Event::ReturnBegan { op, name } => {
                self.phase = chore(*op, Chore::Return(name.clone()));
            }
            Event::EmptyingBegan { op } => self.phase = chore(*op, Chore::Empty),
            Event::RemovalFailed { .. }
            | Event::ReturnFailed { .. }
            | Event::EmptyingFailed { .. } => self.phase = Phase::Rest(resting),
            Event::Archived { place, .. } => {
                let place = place.clone();
                self.trashed = Some(Box::new(Trashed { at, place, from: resting }));
                self.phase = Phase::Rest(Rest::Archived);
            }
            Event::Returned { .. } => {
                if let Phase::Chore { chore: Chore::Return(name), .. } = &self.phase {
                    self.name.clone_from(name);
                }
                let from = self.trashed.take().map_or(Rest::Interrupted, |trashed| trashed.from);
                self.phase = Phase::Rest(from);
            }
            Event::Emptied { .. } => {
                self.trashed = None;
                self.phase = Phase::Rest(Rest::Archived);
            }
            _ => {}
        }
    }
}
