//! What the rules say about something that an agent asks, asked for and told.

use crate::common::Common;
use crate::failpoint;
use crate::holder::reads_terminal;
use crate::jobs::Jobs;
use crate::pools::Kind;
use crate::rules;
use glis_core::input::Outcome;
use glis_core::session::Session;
use glis_core::talk::Ask;
use glis_core::verdict::{Unruled, Verdict};
use std::sync::Arc;

pub(crate) struct Judging {
    pub(crate) common: Arc<Common>,
    pub(crate) jobs: Arc<Jobs>,
}

impl Judging {
    /// Judges a question by the rules that count now. A fault leaves it to a person.
    pub(crate) fn judge(&self, session: &Session, generation: u32, ask: Ask) {
        let (settings, asked) = (Arc::clone(&self.common.settings), ask.clone());
        let (jobs, dir) = (Arc::clone(&self.jobs), self.common.home.session(&session.id.0));
        let failed = move |_| Outcome::Judged {
            generation,
            ask: asked,
            verdict: Verdict::manual(Unruled::Fault),
        };
        self.jobs.blocking(session, (Kind::Look, "apply the rules"), failed, move |session| {
            failpoint::reach("judge", &session.name);
            let reads = || {
                let reads = |process| jobs.await_blocking(reads_terminal(&dir, process));
                session.process().is_some_and(reads)
            };
            let verdict = rules::verdict(&settings, session, &ask, reads);
            Some(Outcome::Judged { generation, ask, verdict })
        });
    }
}
