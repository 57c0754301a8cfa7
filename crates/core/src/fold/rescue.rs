//! The fold of what comes to the rescue of a log: processes that live beyond its end, and the
//! flags of sessions whose records were damaged.

use crate::event::Event;
use crate::session::{Bar, Damage, FolderState, Phase, Process, Run, Session, Spoken};

impl Session {
    #[expect(clippy::wildcard_enum_match_arm, reason = "`apply` sends only this family here")]
    pub(super) fn apply_rescue(&mut self, event: &Event) {
        match event {
            Event::ProcessAdopted { generation, process, began_at } => {
                self.adopt(*generation, process, *began_at);
            }
            Event::RecordDamaged { lost, kept } => {
                let length = |(first, last): &(u64, u64)| last.saturating_sub(*first) + 1;
                let before = self.damage.as_ref().map_or(0, |former| former.lost);
                let lost = before + lost.iter().map(length).sum::<u64>();
                self.damage = Some(Damage { lost, kept: kept.clone() });
            }
            Event::FolderLost => self.folder = FolderState::Lost,
            Event::DamageAcknowledged => {
                self.damage = None;
                self.folder = FolderState::Whole;
            }
            Event::Barred { what, why } => {
                self.barred = Some(Bar { what: what.clone(), why: why.clone() });
            }
            Event::BarLifted => self.barred = None,
            _ => {}
        }
    }

    /// Whatever was under way by the log is long over: a later process lives, and so does the
    /// session. How far it is, it tells itself.
    fn adopt(&mut self, generation: u32, process: &Process, began_at: u64) {
        self.generation = generation;
        // It is unknown what was said to it.
        self.run = Some(Run { spoken: Spoken::Something, ..Run::of(process.clone()) });
        self.seen.stream = self.seen.stream.max(began_at);
        self.phase = Phase::Live;
        self.ran = true;
        self.failed_starts = 0;
        self.paused_at = None;
        self.former_refs.extend(self.set_aside.take().and_then(|aside| aside.agent_ref));
        "it was found running, of a start that is not on record".clone_into(&mut self.rule);
    }
}
