//! Conversations that are made short: by an extract, or by asking the program that is configured for
//! it.

use crate::access::Accesses;
use crate::common::Common;
use crate::jobs::Jobs;
use crate::pools::Kind;
use crate::program::{self, End};
use glis_core::OpId;
use glis_core::input::Outcome;
use glis_core::plain::in_one_line;
use glis_core::session::Session;
use glis_core::timer::UNUSED_TIME;
use glis_record::conversation::{Plan, Summary};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A conversation with more entries than this is made short by itself.
const TRIGGER: usize = 100;
/// So much of what a program complains of is told.
const COMPLAINT_CHARS_MAX: usize = 200;

pub(crate) struct Compactor {
    pub(crate) common: Arc<Common>,
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) accesses: Arc<Accesses>,
}

impl Compactor {
    /// Makes a session's conversation short, if `op` asks for it or if it is long and not used.
    pub(crate) fn compact(self: &Arc<Self>, session: &Session, op: Option<OpId>) {
        let failed = move |why: String| Outcome::NotCompacted { op, why: why.into() };
        let own = Arc::clone(self);
        let what = (Kind::Compact, "compact its conversation");
        self.jobs.blocking(session, what, failed, move |session| match op {
            Some(_) => Some(own.make_short(session, op)),
            None => own.if_unused(session),
        });
    }

    /// Nothing to tell where nothing is to be done: while a session rests, its conversation does not
    /// grow.
    fn if_unused(&self, session: &Session) -> Option<Outcome> {
        if !self.common.settings.now().compact.automatic {
            return None;
        }
        let dir = self.folder(session);
        let looked = self.accesses.last(&dir, &session.id);
        let since = looked.map(|at| crate::clock::now().as_millisecond() - at);
        let since = since.map(|ms| Duration::from_millis(u64::try_from(ms).unwrap_or(0)));
        if let Some(wait) = since.and_then(|since| UNUSED_TIME.checked_sub(since))
            && !wait.is_zero()
        {
            return Some(Outcome::CompactionEarly { wait });
        }
        match Plan::of(&dir) {
            Ok(plan) if plan.entries <= TRIGGER => None,
            Ok(_) => Some(self.make_short(session, None)),
            Err(fault) => Some(Outcome::NotCompacted { op: None, why: fault.to_string().into() }),
        }
    }

    fn make_short(&self, session: &Session, op: Option<OpId>) -> Outcome {
        let done = || -> Result<_, String> {
            let told = |fault: std::io::Error| fault.to_string();
            let plan = Plan::of(&self.folder(session)).map_err(told)?;
            if !plan.is_worth_it() {
                return Err(format!("it has {} entries, and that many stay", plan.entries));
            }
            let summary = self.summary(session, &plan)?;
            let linked = || crate::failpoint::reach("compact", &session.name);
            plan.swap(summary, crate::clock::now(), linked).map_err(told)
        };
        match done() {
            Ok(done) => {
                let entries = u64::try_from(done.entries).unwrap_or(u64::MAX);
                Outcome::Compacted { op, entries, original: done.original }
            }
            Err(why) => Outcome::NotCompacted { op, why: why.into() },
        }
    }

    /// What the conversation comes down to: as the configured program says, or else as it is found
    /// without one.
    fn summary(&self, session: &Session, plan: &Plan) -> Result<Summary, String> {
        let config = self.common.settings.now();
        let Some((name, arguments)) = config.compact.command.split_first() else {
            return Ok(plan.extract.clone());
        };
        let question = plan.question().map_err(|fault| fault.to_string())?;
        let (env, _) = self.common.environments.of_next_start(session);
        // Away from the worktree, which it has no business in.
        let folder = self.folder(session);
        let path = program::find(name, &env, &folder).map_err(|fault| fault.to_string())?;
        let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
        let secs_max = config.compact.secs_max;
        let told = program::ask(&path, &arguments, &env, &folder, (secs_max, &question))
            .map_err(|fault| format!("{name}: {fault}"))?;
        let said = |text: &str| -> String {
            in_one_line(text).chars().take(COMPLAINT_CHARS_MAX).collect()
        };
        match told.end {
            End::TooLate => return Err(format!("{name} was not done after {secs_max} s")),
            End::Failed(status) => {
                let words = said(&format!("{} {}", told.errors, told.output));
                return Err(format!("{name} failed, {status}: {words}"));
            }
            End::Well => {}
        }
        plan.answered(&told.output).map_err(|heading| {
            format!("{name} gave no summary, there is no {heading:?} in: {}", said(&told.output))
        })
    }

    fn folder(&self, session: &Session) -> PathBuf {
        self.common.home.session(&session.id.0)
    }
}
