//! The fold of what comes to the rescue of a log: processes that live beyond its end, and the
//! flags of sessions whose records were damaged.

use crate::rule::Rule;
use crate::session::{Chore, Damage, Phase, Process, Run, Session, Spoken};

impl Session {
    pub(super) fn note_damage(&mut self, lost: &[(u64, u64)], kept: &str) {
        let length = |(first, last): &(u64, u64)| last.saturating_sub(*first) + 1;
        let before = self.damage.as_ref().map_or(0, |former| former.lost);
        let lost = before + lost.iter().map(length).sum::<u64>();
        self.damage = Some(Damage { lost, kept: kept.to_owned() });
    }

    /// Whatever was under way by the log is long over: a later process lives, and so does the
    /// session. How far it is, it tells itself.
    pub(super) fn adopt(&mut self, generation: u32, process: &Process, began_at: u64) {
        // It was on its way out of the trash, and has got there.
        if matches!(&self.phase, Phase::Chore { chore: Chore::Return(_), .. }) {
            self.bring_back();
        }
        self.generation = generation;
        // It is unknown what was said to it.
        self.run = Some(Run { spoken: Spoken::Something, ..Run::of(process.clone()) });
        self.seen.stream = self.seen.stream.max(began_at);
        self.phase = Phase::Live;
        self.ran = true;
        self.failed_starts = 0;
        self.paused_at = None;
        self.former_refs.extend(self.set_aside.take().and_then(|aside| aside.agent_ref));
        self.rule = Rule::Adopted;
    }
}
